"""An index folder, written: a new generation, its commit in one step, and the sweeping of what builds left behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mrag.adapters.index import lock, manifest
from mrag.adapters.index.manifest import (
    FileEntry,
    Manifest,
    VectorEntry,
    generation_name,
    generation_number,
    read_manifest,
)
from mrag.errors import IndexFormatError

WORK = "vectors.partial"
"""The sub-folder in which a build that is stopped leaves the vectors that it has made."""

_TEMPORARY = f"{manifest.NAME}.new"


@contextmanager
def new_generation(folder: Path) -> Iterator[Path]:
    """A sub-folder for the next generation, the lock being held; what is not committed when this ends is removed.

    What lies in the sub-folder WORK stays until a generation has been committed. Makes the folder where there is none,
    and sweeps what killed builds left in it. Raises IndexFormatError for a folder that holds something else, for a
    second writer, and for what the disk refuses.
    """
    with disk_errors(folder):
        _check_target(folder)
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with lock.locked(folder):
                before = _live(folder)
                try:
                    _sweep(folder, keep=before)
                    path = folder / generation_name((generation_number(before) or 0) + 1)
                    path.mkdir()
                    yield path
                finally:
                    live = _live(folder)
                    _sweep(folder, keep=live)
                    if live != before:
                        shutil.rmtree(folder / WORK, ignore_errors=True)
                    if not live:
                        with suppress(OSError):
                            (folder / lock.NAME).unlink()
        finally:
            with suppress(OSError):
                for made_path in made:
                    made_path.rmdir()  # only an empty one goes


def commit(path: Path, counts: dict[str, int], files: dict[str, FileEntry], vectors: VectorEntry | None = None) -> None:
    """Makes a written generation the live one, in one step: the manifest is replaced when all else is on the disk."""
    folder = path.parent
    temporary = folder / _TEMPORARY
    with temporary.open("w", encoding="utf-8") as stream:
        stream.write(Manifest(path.name, counts, files, vectors).to_json())
        stream.flush()
        os.fsync(stream.fileno())
    _sync(path)
    temporary.replace(folder / manifest.NAME)
    _sync(folder)


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turns what the system says about writing into an IndexFormatError that names the folder."""
    try:
        yield
    except OSError as error:
        place = error.filename or folder
        raise IndexFormatError(
            f"{place}: cannot be written: {error.strerror or error}: free space or choose another folder; "
            "an index that was there before is as it was"
        ) from error


def _check_target(folder: Path) -> None:
    """IndexFormatError for a folder that is not ours to write: it holds other things, or a newer index."""
    if (folder / manifest.NAME).exists():
        read_manifest(folder, older=True)
    elif folder.is_dir():
        foreign = sorted(entry.name for entry in folder.iterdir() if not _is_ours(entry.name))
        if foreign:
            shown = ", ".join(foreign[:3]) + (", …" if len(foreign) > 3 else "")
            raise IndexFormatError(f"{folder}: holds other files ({shown}): choose an empty or a new folder")
    elif folder.exists():
        raise IndexFormatError(f"{folder}: a file, not a folder: choose another place for the index")


def _is_ours(name: str) -> bool:
    return name in (lock.NAME, lock.FALLBACK, _TEMPORARY, WORK) or generation_number(name) is not None


def _live(folder: Path) -> str:
    """The name of the live generation, "" when there is none."""
    return read_manifest(folder, older=True).generation if (folder / manifest.NAME).exists() else ""


def _sweep(folder: Path, keep: str) -> None:
    """Removes all generations but one, and a manifest that was never put in place."""
    for entry in sorted(folder.iterdir()):
        if generation_number(entry.name) is not None and entry.name != keep:
            shutil.rmtree(
                entry, ignore_errors=True
            )  # where a reader keeps it mapped on Windows, the next writer does it
    (folder / _TEMPORARY).unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Puts a folder's entries on the disk; Windows has no such call and needs none."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
