"""An index folder: mapping a corpus from its live generation, checking it, and committing a new one."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from mrag.adapters import lock, manifest
from mrag.adapters.layout import FILES, PASSAGE_FILES, Column, check_ranges, from_files, table_sizes
from mrag.adapters.manifest import FileEntry, Manifest, generation_name, generation_number, read_manifest
from mrag.corpus import RULES, Corpus, Passage
from mrag.errors import IndexFormatError

_TEMPORARY = f"{manifest.NAME}.new"
_HASH_STEP = 2**22


# --- reading -----------------------------------------------------------------------------------


def map_corpus(folder: Path) -> Corpus:
    """The corpus of an index, mapped, not read: it costs neither time nor memory until its columns are used.

    Raises IndexFormatError for an index that is missing, damaged, foreign, of another version, or made by other rules.
    It looks at sizes, types and the ends of columns; check_folder looks at all of it.
    """
    found, columns = _map(folder, FILES)
    if found.rules != RULES:
        raise IndexFormatError(
            f"{folder}: made by other rules for dates and words ({found.rules}; this program: {RULES}): "
            f"mrag index --upgrade {folder}"
        )
    return from_files(columns)


def stored_passages(folder: Path) -> tuple[int, Iterator[Passage]]:
    """How many passages an index holds, and each of them as it came, whatever the rules that it was made by."""
    _, columns = _map(folder, PASSAGE_FILES, older=True)
    corpus = from_files(columns)
    return len(corpus), (corpus.passage(row) for row in range(len(corpus)))


def check_folder(folder: Path) -> None:
    """Raises IndexFormatError unless every byte of an index is as it was written and every number points into range."""
    found, columns = _map(folder, FILES)
    for name, entry in found.files.items():
        path = _file(folder, found, name)
        if file_hash(path) != entry.sha256:
            raise _damaged(path, "its bytes are not those that were written")
    try:
        check_ranges(columns)
    except ValueError as error:
        raise _damaged(folder, str(error)) from None


def _map(folder: Path, names: Iterable[str], *, older: bool = False) -> tuple[Manifest, dict[str, Column]]:
    for _ in range(10):
        found = read_manifest(folder, older=older)
        try:
            columns = {name: _column(_file(folder, found, name), found.files.get(name), name) for name in names}
            sizes = table_sizes(columns)
        except FileNotFoundError as error:
            if read_manifest(folder, older=older).generation == found.generation:
                raise _damaged(Path(str(error.filename)), "it is missing") from None
            continue  # a writer has put a new generation in place since we read the manifest
        except ValueError as error:
            raise _damaged(folder, str(error)) from None
        if any(found.counts.get(table) != size for table, size in sizes.items() if not table.endswith(".blob")):
            raise _damaged(folder / manifest.NAME, "its counts are not those of the files")
        return found, columns
    raise IndexFormatError(f"{folder}: is written again and again: try again")


def _file(folder: Path, found: Manifest, name: str) -> Path:
    return folder / found.generation / f"{name}.npy"


def _column(path: Path, entry: FileEntry | None, name: str) -> Column:
    """A column mapped read-only; a plain array over the map, since numpy's memmap slows every slice."""
    if entry is None:
        raise _damaged(path, "the manifest does not know it")
    size = path.stat().st_size
    if size != entry.bytes:
        raise _damaged(path, f"{size:,} bytes where {entry.bytes:,} were written")
    try:
        column: Column = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise
    except (ValueError, OSError, OverflowError, EOFError, SyntaxError) as error:
        raise _damaged(path, f"cannot be mapped ({error})") from None
    if column.ndim != 1 or column.dtype.str != FILES[name].dtype or len(column) != entry.length:
        raise _damaged(
            path, f"{column.dtype.str}{list(column.shape)} where {FILES[name].dtype}[{entry.length}] belongs"
        )
    return column


def _damaged(path: Path, what: str) -> IndexFormatError:
    return IndexFormatError(f"{path}: {what}: the index is damaged; copy it again or build it again")


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_HASH_STEP):
            digest.update(block)
    return digest.hexdigest()


# --- writing -----------------------------------------------------------------------------------


@contextmanager
def new_generation(folder: Path) -> Iterator[Path]:
    """A sub-folder for the next generation, the lock being held; what is not committed when this ends is removed.

    Makes the folder where there is none, and sweeps what killed builds left in it. Raises IndexFormatError for a
    folder that holds something else, for a second writer, and for what the disk refuses.
    """
    with disk_errors(folder):
        _check_target(folder)
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with lock.locked(folder):
                try:
                    live = _live(folder)
                    _sweep(folder, keep=live)
                    path = folder / generation_name((generation_number(live) or 0) + 1)
                    path.mkdir()
                    yield path
                finally:
                    live = _live(folder)
                    _sweep(folder, keep=live)
                    if not live:
                        with suppress(OSError):
                            (folder / lock.NAME).unlink()
        finally:
            with suppress(OSError):
                for made_path in made:
                    made_path.rmdir()  # only an empty one goes


def commit(path: Path, counts: dict[str, int], files: dict[str, FileEntry]) -> None:
    """Makes a written generation the live one, in one step: the manifest is replaced when all else is on the disk."""
    folder = path.parent
    temporary = folder / _TEMPORARY
    with temporary.open("w", encoding="utf-8") as stream:
        stream.write(Manifest(path.name, counts, files).to_json())
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
    return name in (lock.NAME, lock.FALLBACK, _TEMPORARY) or generation_number(name) is not None


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
