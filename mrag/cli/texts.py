"""The texts and passages that the command line takes in: arguments, files, standard input."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from mrag.errors import InputError

if TYPE_CHECKING:
    from mrag.corpus import Passage


def texts(arguments: Sequence[str]) -> Iterator[str]:
    """The texts of the arguments in their order, ``-`` standing for the lines of standard input."""
    for argument in arguments:
        if argument == "-":
            yield from lines(stdin(), "standard input")
        else:
            yield whole(argument)


def stdin() -> IO[bytes]:
    """Standard input as bytes; InputError when it is closed."""
    if sys.stdin is None:
        raise InputError("standard input is closed: hand in a text or a file")
    return sys.stdin.buffer


@contextmanager
def file(path: Path) -> Iterator[Path]:
    """The file that a reader of files is to open: ``path``, or for ``-`` a copy of standard input.

    What is wrong with the copy is said of standard input.
    """
    if str(path) != "-":
        yield path
        return
    with TemporaryDirectory(prefix="mrag-") as folder:
        copy = Path(folder) / "stdin"
        with copy.open("wb") as stream:
            shutil.copyfileobj(stdin(), stream)
        try:
            yield copy
        except InputError as error:
            raise InputError(str(error).replace(str(copy), "standard input")) from None


def lines(stream: IO[bytes], name: str) -> Iterator[str]:
    """The lines of a stream as they come, blank ones too; broken UTF-8 becomes U+FFFD, a byte order mark goes."""
    for number, raw in enumerate(stream):
        line = raw.removeprefix(b"\xef\xbb\xbf") if number == 0 else raw
        yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")


def passages(name: str) -> list[Passage]:
    """The passages of a file or (``-``) of standard input: JSON objects a line, or a text a line, blank ones left out.

    A text's id is the number of its line. Raises InputError for binary data, a JSON line that cannot be used, and
    input without a text.
    """
    from mrag.adapters.datasets import json_object, passage_of
    from mrag.adapters.reading.lines import read_lines
    from mrag.corpus import Passage

    source = enumerate(stdin(), 1) if name == "-" else read_lines(Path(name))
    shown = "standard input" if name == "-" else name
    found: list[Passage] = []
    json_lines = name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson", ".json"))
    for number, raw in source:
        line = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").strip()
        place = f"{shown}:{number}"
        if "\0" in line:
            raise InputError(f"{place}: binary data, not text: hand in a text a line, or JSON objects")
        json_lines = json_lines or (not found and _is_object(line))
        if json_lines and line:
            found.append(passage_of(json_object(line, place), place, str(number)))
        elif line:
            found.append(Passage(str(number), line))
    if not found:
        raise InputError(f"{shown}: holds no text to rank: hand in a text a line, or JSON objects")
    return found


def questions(path: Path) -> list[tuple[str, str]]:
    """The ids and questions of a file, or of standard input (``-``), as datasets.read_questions reads them."""
    from mrag.adapters.datasets import read_questions

    with file(path) as found:
        return read_questions(found)


def _is_object(line: str) -> bool:
    """Whether a first line says that JSON objects follow."""
    try:
        return line.startswith("{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def whole(argument: str) -> str:
    """An argument as printable text: bytes that are no UTF-8, which Python hands over as surrogates, become U+FFFD."""
    if argument.isascii():
        return argument
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in argument)


def question(text: str) -> str:
    """A question that can be asked; InputError for a blank one."""
    if not text.strip():
        raise InputError("the question is empty: ask one, e.g. mrag search 'Who won in 1999?'")
    return whole(text)
