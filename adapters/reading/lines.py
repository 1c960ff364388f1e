"""The lines of a file, each with its number: plain or gzip; errors name the file, the line and the way out."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from mrag.errors import InputError

Lines = Iterator[tuple[int, bytes]]

MAX_LINE = 64 * 2**20
"""Bytes of the longest line that is read: one passage or question stands on a line, so a longer one is no such file."""

_GZIP = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_lines(path: Path) -> Lines:
    """Number (from 1) and bytes of each line, without its end; a byte order mark goes.

    Gzip is known by its first bytes, not by its name. Raises InputError for a file that cannot be opened, is cut off,
    is UTF-16, or has a line of more than MAX_LINE bytes.
    """
    number = 0
    try:
        with _open(path) as stream:
            while line := stream.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise InputError(f"{path}:{number}: a line of more than {MAX_LINE >> 20} MB: write one item a line")
                if number == 1:
                    line = _without_mark(path, line)
                yield number, line.removesuffix(b"\n").removesuffix(b"\r")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path}:{number + 1}: the gzip data ends or breaks here: copy the file again") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a file, which is opened once only: it may be a pipe."""
    with path.open("rb") as stream:
        if stream.peek(2)[:2] == _GZIP:
            with gzip.GzipFile(fileobj=stream) as unpacked:
                yield cast("IO[bytes]", unpacked)
        else:
            yield stream


def _without_mark(path: Path, line: bytes) -> bytes:
    if line.startswith(_UTF16_MARKS):
        raise InputError(f"{path}: UTF-16, not UTF-8: convert it (iconv -f UTF-16 -t UTF-8)")
    return line.removeprefix(_UTF8_MARK)


def decode(line: bytes, place: str) -> str:
    """A line as text; ``place`` ("passages.jsonl:17") names it in the InputError for what is no UTF-8 text."""
    if b"\0" in line:
        raise InputError(f"{place}: binary data, not text: name a text file (JSON lines, a table, .txt, .md)")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{place}: byte {error.start + 1} of the line (0x{line[error.start]:02x}) is not UTF-8: "
            "convert the file (iconv -f ISO-8859-1 -t UTF-8)"
        ) from None
