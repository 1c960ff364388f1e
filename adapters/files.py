"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mrag.errors import InputError


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """A file with these lines; until the last is written the file of before stays. InputError where it cannot be.

    What UTF-8 cannot hold, half a character, becomes "?".
    """
    with _part_of(path) as part:
        with part.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in lines)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)


def check_writable(path: Path) -> None:
    """The InputError of ``write_whole`` for a place where it could write nothing, before there is anything to write.

    Nothing is left behind, and a file that is there stays as it is.
    """
    with _part_of(path) as part:
        part.touch()


@contextmanager
def _part_of(path: Path) -> Iterator[Path]:
    """Where the content of a file lies until it is whole; gone at the end. InputError for what the disk refuses."""
    part = None
    try:
        if not path.absolute().parent.is_dir():
            raise InputError(f"{path}: cannot be written: there is no folder {path.parent}: make it, or name another")
        if path.exists() and not path.is_file():  # a file would take the place of a device, too
            what = "Is a directory" if path.is_dir() else "Is no file"
            raise InputError(f"{path}: cannot be written: {what}: name a file")
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        yield part
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if part is not None:
            with suppress(OSError):
                part.unlink()
