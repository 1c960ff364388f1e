"""Pulling a model from a hub with Hugging Face's layout: what it needs, checked, into the cache in one step."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from mrag.adapters.index import lock
from mrag.adapters.models import model_cache
from mrag.adapters.models.downloads import RemoteFile, fetch, intact, part_of
from mrag.adapters.models.model_cache import Cached
from mrag.adapters.models.model_names import COMMIT, Precision, Wanted, check_revision, read_name
from mrag.adapters.models.onnx_external import external_files
from mrag.adapters.models.repository import Listing, beside, check_sizes, choose, read_listing
from mrag.adapters.serving.web import DownloadError, RefusedError, Server, get_json, session
from mrag.errors import IndexFormatError, InputError

if TYPE_CHECKING:
    import requests

Note = Callable[[str], None]
Progress = Callable[[int, int], None]

_ENDPOINT = "https://huggingface.co"
_MOST_LIST_BYTES = 2**25
_ROLES = "config_sentence_transformers.json"


def server_from_environment() -> Server:
    """The server that HF_ENDPOINT names, with the token of HF_TOKEN."""
    endpoint = os.environ.get("HF_ENDPOINT", "").strip() or _ENDPOINT
    return Server(endpoint.rstrip("/"), os.environ.get("HF_TOKEN", "").strip())


def offline() -> bool:
    """Whether HF_HUB_OFFLINE forbids to ask any server."""
    return os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in ("1", "ON", "YES", "TRUE")


def pull(
    name: str,
    *,
    revision: str | None = None,
    precision: Precision | None = None,
    server: Server | None = None,
    note: Note | None = None,
    progress: Progress | None = None,
) -> Cached:
    """Brings a model into the cache, if it is not there, and makes it the one that its name stands for.

    The commit is asked for first, and all files are those of this commit. What an interrupted pull left is gone on
    with; a second pull of the same model waits for the first. ``progress`` hears bytes done and bytes in all.
    Raises InputError for a name that cannot be pulled and DownloadError for what network or disk refuse.
    """
    wanted = _read_wanted(name, revision, precision)
    cache = model_cache.cache_folder()
    with _disk_errors(cache):
        here = model_cache.find(wanted)
        if here is None and offline():
            raise DownloadError(
                f"{wanted} is not in the cache ({cache}) and HF_HUB_OFFLINE forbids to ask for it: unset that, "
                "or copy a model's folder from another machine and name the folder"
            )
        if here is not None and (offline() or COMMIT.fullmatch(wanted.revision or "")):
            commit = model_cache.describe(here).revision
        else:
            server = server or server_from_environment()
            try:
                with session(server) as connection:
                    commit = _bring(_Pull(server, connection, wanted, note or _silent, progress or _silent), cache)
            except DownloadError as error:
                still = f"; {wanted} as it was pulled before can still be used" if here is not None else ""
                raise DownloadError(f"{error}{still}") from None
        folder = model_cache.model_folder(wanted.repo, commit, wanted.precision, cache)
        if not model_cache.is_latest(wanted, commit, cache):
            with _alone(folder.parent, note or _silent):
                model_cache.write_latest(wanted, commit, cache)
        return model_cache.describe(folder)


def _read_wanted(name: str, revision: str | None, precision: Precision | None) -> Wanted:
    wanted = read_name(name)
    if revision is not None:
        check_revision(revision)
        wanted = replace(wanted, revision=revision)
    if precision is not None:
        wanted = replace(wanted, precision=precision)
    if wanted.model is not None and wanted.model.export is not None:
        raise InputError(model_cache.how_to_get(wanted))
    return wanted


def _silent(*_: object) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class _Pull:
    """What one pull works with."""

    server: Server
    connection: requests.Session
    wanted: Wanted
    note: Note
    progress: Progress


def _bring(pull: _Pull, cache: Path) -> str:
    """Asks which commit is wanted and brings it into the cache unless it is there; the commit."""
    wanted = pull.wanted
    with _refusals(pull):
        path = f"api/models/{wanted.repo}/revision/{quote(wanted.revision or 'main', safe='')}?blobs=true"
        answer = get_json(pull.server, pull.connection, path, most=_MOST_LIST_BYTES)
    listing = read_listing(answer, wanted.repo)
    chosen, graph = choose(listing, wanted)
    folder = model_cache.model_folder(wanted.repo, listing.commit, wanted.precision, cache)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(folder.parent, pull.note):
        if not model_cache.is_whole(folder):
            half = _unfinished_folder(folder)
            files = _bring_files(pull, listing, chosen, graph, half)
            _add_roles(half, wanted)
            model_cache.write_manifest(half, wanted, listing.commit, files)
            half.replace(folder)
    return listing.commit


def _unfinished_folder(folder: Path) -> Path:
    """The folder in which a model's files gather, with what is left of an earlier pull, or of a damaged model."""
    half = folder.with_name(folder.name + model_cache.UNFINISHED)
    if folder.exists():
        shutil.rmtree(half, ignore_errors=True)
        folder.replace(half)
    half.mkdir(exist_ok=True)
    (half / model_cache.MANIFEST).unlink(missing_ok=True)
    return half


def _bring_files(
    pull: _Pull, listing: Listing, chosen: Mapping[str, RemoteFile], graph: str, half: Path
) -> dict[str, RemoteFile]:
    """Brings all files of a model, and those that its ONNX file names, into a folder; all of them, by name."""
    files, waiting, done = dict(chosen), list(chosen), 0
    while waiting:
        name = waiting.pop(0)
        total = sum(file.size for file in files.values())
        _bring_file(pull, listing.commit, files[name], _inside(half, name), _from(done, total, pull.progress))
        done += files[name].size
        if name == graph:
            more = beside(listing, graph, external_files(half / graph))
            waiting += [path for path in more if path not in files]
            files.update(more)
            check_sizes(files, listing.repo)
    for name, file in files.items():
        if not (file.sha256 or file.git_sha1):
            pull.note(f"note: {pull.server.host} announced no hash for {name!r}: its size alone was checked")
    return files


def _from(done: int, total: int, progress: Progress) -> Callable[[int], None]:
    """Tells of the bytes of one file as of so many more in all."""
    return lambda now: progress(done + now, total)


def _bring_file(pull: _Pull, commit: str, file: RemoteFile, target: Path, tell: Callable[[int], None]) -> None:
    if target.exists() and intact(target, file):
        tell(file.size)
        return
    part = part_of(target)
    needed = file.size - (part.stat().st_size if part.exists() else 0)
    free = shutil.disk_usage(target.parent).free
    if needed > free:
        raise DownloadError(f"{target.parent}: {file.path} needs {needed:,} bytes, {free:,} are free: make room")
    with _refusals(pull):
        path = f"{pull.wanted.repo}/resolve/{commit}/{quote(file.path)}"
        fetch(pull.server, pull.connection, path, target, file, tell)


def _inside(folder: Path, name: str) -> Path:
    """The path of a checked name in a folder, its own folder made; DownloadError if a link leads elsewhere."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if (
        not target.parent.resolve().is_relative_to(folder.resolve())
        or target.is_symlink()
        or part_of(target).is_symlink()
    ):
        raise DownloadError(f"{target}: a link leads out of the model's folder: remove it")
    return target


def _add_roles(folder: Path, wanted: Wanted) -> None:
    """Writes the prefixes of the table where sentence-transformers keeps them, unless the model has its own."""
    model = wanted.model
    if model is None or not (model.query_prefix or model.passage_prefix):
        return
    path = folder / _ROLES
    try:
        row = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        raise DownloadError(f"{wanted.repo}: its {_ROLES} is no JSON") from None
    if isinstance(row, dict) and not row.get("prompts"):
        row["prompts"] = {"query": model.query_prefix, "document": model.passage_prefix}
        path.write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")


# --- what stands in the way -----------------------------------------------------------------------


@contextmanager
def _alone(folder: Path, note: Note) -> Iterator[None]:
    """Waits until no other pull writes in a repository's folder, and holds it."""
    with ExitStack() as stack:
        waits = False
        while True:
            try:
                stack.enter_context(lock.locked(folder))
                break
            except IndexFormatError:
                if not waits:
                    note(f"waiting for another pull of this model, which holds {folder}")
                waits = True
                time.sleep(0.1)
        yield


@contextmanager
def _refusals(pull: _Pull) -> Iterator[None]:
    """Turns a server's refusal into what to do about it."""
    try:
        yield
    except RefusedError as error:
        raise DownloadError(_refusal(pull.server, pull.wanted, error)) from None


def _refusal(server: Server, wanted: Wanted, error: RefusedError) -> str:
    repo, status = wanted.repo, f"{error.status}{f' {error.reason}' if error.reason.isalnum() else ''}"
    if error.status == 403 or error.reason == "GatedRepo":
        return (
            f"{repo} is not open to everyone ({status}): accept its terms at {server.url(repo)}, "
            "then set HF_TOKEN to a token of the account that did"
        )
    if error.status == 401:
        how = "HF_TOKEN is set, but not accepted for it" if server.token else "if it is private or gated, set HF_TOKEN"
        return f"{server.host} does not hand out {repo} ({status}): check the name; {how}"
    if error.status == 404 and (error.reason == "RevisionNotFound" or wanted.revision):
        return f"{server.host} has no revision {wanted.revision or 'main'!r} of {repo} ({status})"
    if error.status == 404:
        return f"{server.host} has no model {repo} ({status}): check the name"
    return f"{server.host} answers {status} when asked for {repo}"


@contextmanager
def _disk_errors(cache: Path) -> Iterator[None]:
    """Turns what the system says about reading and writing into a DownloadError that names the place."""
    try:
        yield
    except OSError as error:
        raise DownloadError(
            f"{error.filename or cache}: {error.strerror or error}: free space, or choose another place for models "
            "with XDG_CACHE_HOME; what came so far is kept"
        ) from None
