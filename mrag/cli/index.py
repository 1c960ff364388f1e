"""mrag index: building an index of passages, adding to it, checking it and making it anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mrag.cli import output as show
from mrag.cli.loading import Models, Provider, encoder_option, provider_option
from mrag.cli.options import NamedPath, as_json
from mrag.errors import InputError

if TYPE_CHECKING:
    from mrag.adapters.index.manifest import Level, Precision


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...", type=NamedPath())
@click.option("-o", "--output", type=NamedPath(), metavar="DIR", help="The folder of the index.")
@click.option("--add", is_flag=True, help="Add the passages to the index in DIR; else it is built anew.")
@click.option("--skip-bad", is_flag=True, help="Leave out what cannot be used, and say so, instead of ending there.")
@click.option("--verify", type=NamedPath(), metavar="DIR", help="Check every byte of an index.")
@click.option("--upgrade", type=NamedPath(), metavar="DIR", help="Make an index of an older mrag anew.")
@encoder_option
@click.option(
    "--vectors",
    type=click.Choice(["passages", "sentences"]),
    help="What --encoder makes vectors of: passages alone, or their sentences too.  [default: passages]",
)
@click.option(
    "--precision",
    type=click.Choice(["float32", "float16", "int8"]),
    help="How the vectors are stored.  [default: float32]",
)
@provider_option
@click.option("--workers", type=click.IntRange(1), help="Processes that share the work; as many as there are cores.")
@as_json
def index(
    paths: tuple[Path, ...],
    output: Path | None,
    add: bool,
    skip_bad: bool,
    verify: Path | None,
    upgrade: Path | None,
    encoder: str | None,
    vectors: Level | None,
    precision: Precision | None,
    provider: Provider,
    workers: int | None,
    as_json: bool,
) -> None:
    """Build an index of passages, in which `mrag search --index` finds them.

    A PATH is a file of JSON lines (id, text; optionally title, section, date, valid_from, valid_to; .gz too), a BEIR
    folder, or .txt and .md files or a folder of them, which are cut into passages. Dates and sentences are found
    here, once. An index that was there stays whole until the new one is. With --encoder it holds vectors, so that
    `mrag search` can go by meaning, too; a build that was stopped meanwhile goes on where it was.

    \b
    Examples:
      mrag index passages.jsonl.gz -o club.index
      mrag index notes/ minutes/*.md -o club.index --add
      mrag index passages.jsonl.gz -o club.index --encoder minilm --vectors sentences
      mrag index --verify club.index
    """
    from mrag.adapters import store
    from mrag.adapters.workers import cores
    from mrag.cli import loading

    if [bool(paths or output or add), verify is not None, upgrade is not None].count(True) != 1:
        raise click.UsageError("Name PATHs and -o DIR, or --verify DIR, or --upgrade DIR.")
    if verify is None and upgrade is None and (not paths or output is None):
        raise click.UsageError("Name the PATHs to read and, with -o DIR, the folder to write.")
    if verify is not None and (encoder or vectors or precision):
        raise click.UsageError("--verify needs no --encoder: it checks the vectors as they are.")
    left_out = 0

    def tell_bad(error: InputError) -> None:
        nonlocal left_out
        left_out += 1
        show.note(f"left out: {error}")

    model = loading.load_encoder(Models(encoder=encoder, provider=provider), show.note)
    said = ""
    with loading.warnings_as_notes(), _going_on_said(model is not None), show.progress("passages") as tell:
        options: dict[str, Any] = {"encoder": model, "vectors": vectors, "precision": precision}
        options |= {"workers": workers or cores(), "progress": tell}
        if verify is not None:
            folder, said = verify, "is whole"
            store.verify(verify)
        elif upgrade is not None:
            folder, said = upgrade, "made anew" if store.upgrade(upgrade, **options) else "needs no upgrade"
        elif output is not None:
            folder = output
            options["on_bad"] = tell_bad if skip_bad else None
            store.add(output, paths, **options) if add else store.build(paths, output, **options)
            said = f"{left_out:,} left out" if left_out else ""
    held = {what: count for what, count in store.counts(folder).items() if count}
    if as_json:
        show.write_json({"index": str(folder), **held})
    else:
        shown = ", ".join(f"{count:,} {what}" for what, count in held.items())
        show.write(f"{folder}: {shown}" + (f", {said}" if said else ""))


@contextmanager
def _going_on_said(with_vectors: bool) -> Iterator[None]:
    """Says, where a build is interrupted, that its vectors are kept."""
    try:
        yield
    except KeyboardInterrupt:
        if with_vectors:
            show.note("the vectors made so far are kept: the same command goes on from there")
        raise
