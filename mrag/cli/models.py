"""``mrag models``: pulling models, the list of those that are here, and whether one works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mrag.cli import output as show
from mrag.cli.options import as_json

if TYPE_CHECKING:
    from mrag.adapters.models.model_cache import Cached
    from mrag.adapters.models.model_names import Model, Precision
    from mrag.adapters.models.onnx_session import ProviderName
    from mrag.cli.model_check import Checked


@click.group()
def models() -> None:
    """Get models, list those that are here, and see whether one works.

    A model is named by a folder, by a short name of `mrag models list`, or by its repository OWNER/NAME; @REVISION and
    :float16 or :int8 may follow. Such a name works wherever a folder of a model does.

    \b
    Examples:
      mrag models pull minilm
      mrag models list
      mrag models check minilm
    """


@models.command()
@click.argument("name", metavar="REPO|NAME")
@click.option("--revision", metavar="NAME", help="A branch, tag or commit; else what is newest now.")
@click.option(
    "--precision", type=click.Choice(["float32", "float16", "int8"]), help="Which of its files; else float32."
)
@as_json
def pull(name: str, revision: str | None, precision: Precision | None, as_json: bool) -> None:
    """Bring a model into the cache: the ONNX file, its tokeniser and settings, each one checked.

    What was interrupted goes on where it was. The cache is $XDG_CACHE_HOME/mrag or ~/.cache/mrag. HF_ENDPOINT names
    another server than https://huggingface.co, HF_TOKEN opens private models, HF_HUB_OFFLINE=1 forbids to ask.

    \b
    Examples:
      mrag models pull minilm
      mrag models pull BAAI/bge-small-en-v1.5 --revision main
      mrag models pull ms-marco-minilm --precision int8
    """
    from mrag.adapters import hub

    with show.progress(f"MB of {show.on_one_line(name)}") as tell:
        got = hub.pull(
            name,
            revision=revision,
            precision=precision,
            note=show.note,
            progress=lambda done, total: tell(done // 10**6, max(total // 10**6, 1)),
        )
    if as_json:
        show.write_json(_cached_row(got))
    else:
        show.write(f"{got.repo} {got.revision[:12]} ({got.precision}, {_megabytes(got.size)}): {got.folder}")


@models.command(name="list")
@as_json
def list_command(as_json: bool) -> None:
    """List the short names of models, and all that is in the cache: size, revision, folder.

    \b
    Examples:
      mrag models list
      mrag models list --json
    """
    from mrag.adapters.models import model_cache

    rows = list(_rows())
    if as_json:
        for row in rows:
            show.write_json(row)
        return
    cells = [[_text(row[key]) for key in ("name", "kind")] + [_where(row), _what(row)] for row in rows]
    show.write(show.columns([["name", "kind", "here", "model"], *cells]))
    show.note(f"cache: {model_cache.cache_folder()}")
    if any(row["get"] for row in rows):
        show.note("mrag models pull NAME brings a model; one to be exported is told how")


@models.command()
@click.argument("model", metavar="DIR|NAME")
@click.option(
    "--provider",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Where to run it; auto takes CUDA if it can be had.",
)
@as_json
def check(model: str, provider: ProviderName, as_json: bool) -> None:
    """Load a model and ask it: what it is, how it is used, how quick it is here, and whether it tells right from wrong.

    \b
    Examples:
      mrag models check minilm
      mrag models check ./exported --provider cuda
      mrag models check bge-reranker --json
    """
    from mrag.adapters.models.model_cache import resolve
    from mrag.cli import model_check

    found = model_check.check(resolve(model), provider, show.note)
    if as_json:
        show.write_json(_checked_row(found))
    else:
        show.write(show.bold(str(found.folder)))
        show.write(show.fields(_checked_fields(found)))
    if found.right <= found.wrong:
        show.note("warning: it puts a text about something else before the one that answers: do not trust it")


def _checked_row(found: Checked) -> dict[str, object]:
    query, passage = found.prefixes or (None, None)
    return {
        "folder": str(found.folder),
        "kind": found.kind,
        "provider": found.provider,
        "dimension": found.dimension,
        "pooling": found.pooling,
        "metric": found.metric,
        "query_prefix": query,
        "passage_prefix": passage,
        "max_length": found.max_length,
        "seconds_to_load": round(found.seconds_to_load, 3),
        "texts_per_second": round(found.texts_per_second, 1),
        "score_of_answer": round(found.right, 4),
        "score_of_other": round(found.wrong, 4),
    }


def _checked_fields(found: Checked) -> list[tuple[str, str]]:
    rows = [("kind", found.kind), ("provider", found.provider)]
    if found.prefixes is not None:
        rows += [
            ("dimension", str(found.dimension)),
            ("pooling", found.pooling or "in the graph"),
            ("metric", _text(found.metric)),
            ("prefixes", f"query {found.prefixes[0]!r}, passage {found.prefixes[1]!r}"),
        ]
    return [
        *rows,
        ("max length", f"{found.max_length} tokens"),
        ("loaded in", f"{found.seconds_to_load:.1f} s"),
        ("speed", f"{found.texts_per_second:,.0f} texts a second"),
        ("scores", f"{found.right:.2f} for a text that answers, {found.wrong:.2f} for one about something else"),
    ]


def _rows() -> Iterator[dict[str, object]]:
    """The models of the table, here or not, then the others in the cache, then what was not finished."""
    from mrag.adapters.models import model_cache
    from mrag.adapters.models.model_names import MODELS, known, read_name

    pulled = model_cache.cached()
    exported = model_cache.exported()
    for model in MODELS:
        here = [_cached_row(one) for one in pulled if one.repo == model.repo]
        here += [_exported_row(*one) for one in exported if one[0] == model]
        state = "to export" if model.export else "to pull"
        get = (model_cache.export_command if model.export else model_cache.pull_command)(read_name(model.name))
        yield from here or [_row(model, model.repo, state=state, get=get)]
    yield from (_cached_row(one) for one in pulled if known(one.repo) is None)
    for folder in model_cache.unfinished():
        size = model_cache.folder_size(folder)
        yield _row(None, folder.parent.name.replace("--", "/"), state="unfinished", folder=folder, size=size)


def _row(
    model: Model | None,
    repo: str,
    *,
    state: str = "here",
    get: str | None = None,
    revision: str | None = None,
    precision: str | None = None,
    folder: Path | None = None,
    size: int | None = None,
) -> dict[str, object]:
    return {
        "name": model and model.name,
        "kind": model and model.kind,
        "state": state,
        "repo": repo,
        "revision": revision,
        "precision": precision,
        "bytes": size,
        "folder": folder and str(folder),
        "about": model and model.about,
        "get": get,
    }


def _cached_row(one: Cached) -> dict[str, object]:
    from mrag.adapters.models.model_names import known

    model = known(one.repo)
    found = {"revision": one.revision, "precision": one.precision, "folder": one.folder, "size": one.size}
    return _row(model, one.repo, **found)  # type: ignore[arg-type]


def _exported_row(model: Model, precision: Precision, folder: Path) -> dict[str, object]:
    from mrag.adapters.models import model_cache

    return _row(model, model.repo, precision=precision, folder=folder, size=model_cache.folder_size(folder))


def _text(value: object) -> str:
    return str(value) if value is not None else ""


def _where(row: dict[str, object]) -> str:
    """``90.9 MB`` for what is here, else what is to be done."""
    size = row["bytes"]
    state = "" if row["state"] == "here" else f"{row['state']} "
    return f"{state}{_megabytes(size)}".strip() if isinstance(size, int) else str(row["state"])


def _what(row: dict[str, object]) -> str:
    """``owner/name@0123456789ab:int8``, or the folder of what was not finished."""
    if row["state"] == "unfinished":
        return str(row["folder"])
    revision = f"@{str(row['revision'])[:12]}" if row["revision"] else ""
    precision = "" if row["precision"] in (None, "float32") else f":{row['precision']}"
    about = f" ({row['about']})" if row["about"] else ""
    return f"{row['repo']}{revision}{precision}{about}"


def _megabytes(size: int) -> str:
    """Bytes as megabytes, for people.

    >>> _megabytes(90_859_559)
    '90.9 MB'
    """
    return f"{size / 10**6:,.1f} MB"
