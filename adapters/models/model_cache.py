"""Models on this machine: where pulled ones lie, which are here, and the folder that a name stands for."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mrag.adapters.models.downloads import RemoteFile
from mrag.adapters.models.model_names import COMMIT, MODELS, PRECISIONS, Model, Precision, Wanted, read_name
from mrag.errors import InputError

MANIFEST = "mrag-pulled.json"
"""The file in a pulled folder that says where it is from; it is written last, so what has it is whole."""

UNFINISHED = ".part"
_LATEST = ".latest"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Cached:
    """A model in the cache: its repository, the commit, and the bytes of its files."""

    repo: str
    revision: str
    precision: Precision
    folder: Path
    size: int


def cache_folder() -> Path:
    """The folder of all pulled models: $XDG_CACHE_HOME/mrag/models, by default ~/.cache/mrag/models."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # the specification of XDG: relative paths are to be ignored
        base = Path.home() / ".cache"
    return base / "mrag" / "models"


def resolve(name: str | Path) -> Path:
    """The folder of a model: a folder that exists, or else the model of this name in the cache; asks no network.

    A name is a short one or OWNER/NAME, with @REVISION and :PRECISION where wanted. Without @REVISION it is the
    revision that was pulled last. Raises InputError that says how the model is got.
    """
    text = name.as_posix() if isinstance(name, Path) else name
    path = Path(name)
    if text.strip() and path.is_dir():
        return path
    if path.is_file():
        raise InputError(f"{text}: a file: name the folder that it lies in")
    if text.startswith((".", "/", "~")) or text.count("/") > 1 or "\\" in text:
        raise InputError(f"{text}: no such folder")
    wanted = read_name(text)
    found = find(wanted)
    if found is not None:
        return found
    raise InputError(f"{text!r} is neither a folder here nor in the cache: {how_to_get(wanted)}")


def find(wanted: Wanted, cache: Path | None = None) -> Path | None:
    """The folder of a model in the cache, None if it is not there as a whole."""
    cache = cache or cache_folder()
    if wanted.model is not None and wanted.model.export is not None:
        folder = exported_folder(wanted, cache)
        return folder if folder.is_dir() else None
    names = _commits(wanted, cache)
    folders = [model_folder(wanted.repo, name, wanted.precision, cache) for name in names]
    return next(filter(is_whole, folders), None)


def how_to_get(wanted: Wanted) -> str:
    """The command that brings a model into the cache, in a sentence."""
    if wanted.model is not None and wanted.model.export is not None:
        return (
            f"{wanted.repo} is not published as ONNX; on a machine with pip install 'mrag[export]' run "
            f"{export_command(wanted)}"
        )
    return pull_command(wanted)


def pull_command(wanted: Wanted) -> str:
    """``mrag models pull …`` for a model."""
    revision = f" --revision {shlex.quote(wanted.revision)}" if wanted.revision else ""
    precision = "" if wanted.precision == "float32" else f" --precision {wanted.precision}"
    return f"mrag models pull {wanted.model.name if wanted.model else wanted.repo}{revision}{precision}"


def export_command(wanted: Wanted) -> str:
    """``mrag export …`` for a model of the table; the folder that it names is where its short name is looked for."""
    if wanted.model is None or wanted.model.export is None:
        raise ValueError(f"{wanted} has no kind to export")
    folder = shlex.quote(str(exported_folder(wanted, cache_folder())))
    flag = {"float32": "", "float16": " --fp16", "int8": " --int8"}[wanted.precision]
    return f"mrag export {wanted.model.export} {wanted.repo} -o {folder}{flag}"


# --- the cache's layout ---------------------------------------------------------------------------


def repository_folder(repo: str, cache: Path) -> Path:
    """The folder of all that is here of a repository: OWNER--NAME."""
    return cache / repo.replace("/", "--")


def model_folder(repo: str, revision: str, precision: Precision, cache: Path) -> Path:
    """The folder of one commit of a repository in one precision."""
    suffix = "" if precision == "float32" else f"-{precision}"
    return repository_folder(repo, cache) / f"{revision}{suffix}"


def exported_folder(wanted: Wanted, cache: Path) -> Path:
    """Where a model that was exported here lies under its short name."""
    if wanted.model is None:
        raise ValueError(f"{wanted} has no short name")
    suffix = "" if wanted.precision == "float32" else f"-{wanted.precision}"
    return cache / f"{wanted.model.name}{suffix}"


def is_whole(folder: Path) -> bool:
    """Whether all files of a pulled model are there in their sizes."""
    found = _read_manifest(folder)
    return found is not None and all(
        (folder / name).is_file() and (folder / name).stat().st_size == size for name, size in found[1].items()
    )


def write_manifest(folder: Path, wanted: Wanted, revision: str, files: Mapping[str, RemoteFile]) -> None:
    """Says in a pulled folder where it is from, and of each file what it was there and how long it is here."""
    rows = {
        name: {"from": file.path, "bytes": (folder / name).stat().st_size, "sha256": file.sha256, "git": file.git_sha1}
        for name, file in files.items()
    }
    row = {"format": _FORMAT, "repo": wanted.repo, "revision": revision, "precision": wanted.precision, "files": rows}
    with (folder / MANIFEST).open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(row, indent=1) + "\n")
        stream.flush()
        os.fsync(stream.fileno())


def is_latest(wanted: Wanted, revision: str, cache: Path) -> bool:
    """Whether the model's name, and the branch or tag that is asked for, stand for this commit already."""
    known = _latest(repository_folder(wanted.repo, cache))
    return all(known.get(key) == revision for key in _latest_keys(wanted))


def write_latest(wanted: Wanted, revision: str, cache: Path) -> None:
    """Makes a commit the one that the model's name, and the branch or tag that is asked for, stand for."""
    folder = repository_folder(wanted.repo, cache)
    known = {**_latest(folder), **dict.fromkeys(_latest_keys(wanted), revision)}
    temporary = folder / f"{_LATEST}.new"
    temporary.write_text(json.dumps(known, indent=1), encoding="utf-8")
    temporary.replace(folder / _LATEST)


def _latest_keys(wanted: Wanted) -> tuple[str, str]:
    """What is kept of a wanted model: its precision and revision, and the precision alone."""
    return f"{wanted.precision}@{wanted.revision or ''}", f"{wanted.precision}@"


def _commits(wanted: Wanted, cache: Path) -> list[str]:
    """The commits that a name may stand for: what its branch or tag was when it was pulled, or what begins so."""
    folder, revision = repository_folder(wanted.repo, cache), wanted.revision
    latest = _latest(folder).get(_latest_keys(wanted)[0])
    begun = re.fullmatch(r"[0-9a-f]{7,64}", revision or "")
    suffix = "" if wanted.precision == "float32" else f"-{wanted.precision}"
    names = [path.name.removesuffix(suffix) for path in _entries(folder, f"{revision}*{suffix}")] if begun else []
    return [*([latest] if latest else []), *filter(COMMIT.fullmatch, names)]


def _latest(folder: Path) -> dict[str, str]:
    try:
        row = json.loads((folder / _LATEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    pairs = row.items() if isinstance(row, dict) else ()
    return {key: value for key, value in pairs if isinstance(value, str) and COMMIT.fullmatch(value)}


def _read_manifest(folder: Path) -> tuple[Wanted, dict[str, int]] | None:
    """Where a pulled folder is from, and the bytes of each of its files; None for any other folder."""
    try:
        row = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files = {str(name): int(file["bytes"]) for name, file in row["files"].items()}
        if row["format"] != _FORMAT or row["precision"] not in PRECISIONS:
            return None
        return Wanted(str(row["repo"]), str(row["revision"]), cast(Precision, row["precision"])), files
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


# --- what is here ---------------------------------------------------------------------------------


def describe(folder: Path) -> Cached:
    """What a pulled folder holds; InputError for another folder."""
    read = _read_manifest(folder)
    if read is None:
        raise InputError(f"{folder}: not a folder of mrag models pull")
    wanted, files = read
    return Cached(wanted.repo, str(wanted.revision), wanted.precision, folder, sum(files.values()))


def cached(cache: Path | None = None) -> list[Cached]:
    """All pulled models that are whole, by repository, precision and commit."""
    folders = _entries(cache or cache_folder(), "*--*/*")
    found = [describe(folder) for folder in folders if folder.suffix != UNFINISHED and is_whole(folder)]
    return sorted(found, key=lambda one: (one.repo, PRECISIONS.index(one.precision), one.revision))


def exported(cache: Path | None = None) -> list[tuple[Model, Precision, Path]]:
    """The models of the table that were exported here."""
    cache = cache or cache_folder()
    wanted = [
        Wanted(model.repo, None, precision, model) for model in MODELS if model.export for precision in PRECISIONS
    ]
    folders = [(one, exported_folder(one, cache)) for one in wanted]
    return [(one.model, one.precision, folder) for one, folder in folders if one.model and folder.is_dir()]


def unfinished(cache: Path | None = None) -> list[Path]:
    """The folders of pulls that were stopped; pulling again goes on from there."""
    return _entries(cache or cache_folder(), f"*--*/*{UNFINISHED}")


def folder_size(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _entries(cache: Path, pattern: str) -> list[Path]:
    return sorted(path for path in cache.glob(pattern) if path.is_dir()) if cache.is_dir() else []
