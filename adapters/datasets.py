"""Corpora and question sets on disk -> passages and questions, one at a time, with the place of each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NoReturn

from mrag.adapters.reading.delimited import columns_of, read_rows
from mrag.adapters.reading.documents import Located, read_document
from mrag.adapters.reading.field_dates import read_date
from mrag.adapters.reading.lines import Lines, decode, read_lines
from mrag.corpus import Passage
from mrag.errors import InputError
from mrag.interval import parse_iso

OnBad = Callable[[InputError], None]
"""Told of each record or document that cannot be used; where there is one, reading goes on behind it."""

_JSON_LINES = (".jsonl", ".ndjson", ".json")
_TABLES = (".tsv", ".csv")
_DOCUMENTS = (".txt", ".md", ".markdown")
_WAYS = (
    "hand in JSON lines (.jsonl, .jsonl.gz), a table whose header names id, text and title (.tsv, .csv), a BEIR folder,"
    " or .txt and .md files"
)


def read_passages(path: str | Path, *, on_bad: OnBad | None = None) -> Iterator[Passage]:
    """The passages of a file or folder, in its order.

    - JSON lines, plain or gzip: ``id`` or ``_id``, ``text``, optionally ``title``, ``section``, ``date``,
      ``valid_from``, ``valid_to``; any other field is kept in ``extra`` as it came. Dates come out as ISO. Without an
      id, file name and line number are the id. (ATLAS's passages are of this form.)
    - A table with a header, plain or gzip, tabs or commas between its cells: its columns are such fields, an empty
      cell is none. (DPR's and Contriever's psgs_w100.tsv is one: id, text, title.)
    - A folder with corpus.jsonl (BEIR), or one of .txt and .md files at any depth, in the order of their names.
    - A single .txt or .md file.

    Raises InputError with file, line, problem and way out for what cannot be used, unless ``on_bad`` takes it.
    """
    return (item.passage for item in locate_passages(Path(path), on_bad=on_bad))


def locate_passages(path: Path, *, on_bad: OnBad | None = None, named: bool = False) -> Iterator[Located]:
    """As read_passages, each passage with the file and line that it comes from.

    ``named``: ids that are made of file names hold the path as it was given, so that several folders may be read.
    """
    if not _is_folder(path):
        return _file(path, path.as_posix() if named else path.name, on_bad)
    if corpus := _in_folder(path, "corpus"):
        return _json_lines(corpus, corpus.as_posix() if named else corpus.name, read_lines(corpus), on_bad)
    return _documents(path, f"{path.as_posix()}/" if named else "", on_bad)


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder or a file; InputError where it is neither."""
    try:
        if path.is_dir():
            return True
        if path.exists():
            return False
    except OSError as error:
        raise InputError(f"{str(path)[:200]}: cannot be read: {error.strerror or error}") from None
    raise InputError(f"{path}: no such file or folder")


def _in_folder(folder: Path, stem: str) -> Path | None:
    """A file of a BEIR folder."""
    candidates = [folder / f"{stem}{ending}" for ending in (".jsonl", ".jsonl.gz")]
    return next((path for path in candidates if path.is_file()), None)


def _file(path: Path, called: str, on_bad: OnBad | None) -> Iterator[Located]:
    """The passages of a file whose kind its name tells, or its first line."""
    name = path.name.lower().removesuffix(".gz")
    lines = read_lines(path)
    if name.endswith(_JSON_LINES):
        return _json_lines(path, called, lines, on_bad)
    if not name.endswith(_DOCUMENTS):
        first, lines = first_line(lines)
        if first.startswith(b"{"):
            return _json_lines(path, called, lines, on_bad)
        if name.endswith(_TABLES) or _names_text(first):
            return _table(path, called, lines, on_bad)
        if "." in name.lstrip("."):
            raise InputError(f"{path}: a kind of file that cannot be read: {_WAYS}")
    return _document(path, called, lines, on_bad)


def first_line(lines: Lines) -> tuple[bytes, Lines]:
    """The first line that is not blank, without the white space before it, and all the lines."""
    head: list[tuple[int, bytes]] = []
    for line in lines:
        head.append(line)
        if line[1].strip():
            return line[1].lstrip(), chain(head, lines)
    return b"", iter(head)


def _names_text(line: bytes) -> bool:
    """Whether a line is a table's header that names a column of texts."""
    return b"\t" in line and "text" in columns_of(line.decode("utf-8", "replace"))[1]


def _documents(folder: Path, prefix: str, on_bad: OnBad | None) -> Iterator[Located]:
    names = sorted(_document_names(folder, on_bad))
    if not names:
        raise InputError(f"{folder}: holds no corpus.jsonl and no .txt or .md file: name the files themselves")
    for name in names:
        yield from _document(folder / name, prefix + name, read_lines(folder / name), on_bad)


def _document_names(folder: Path, on_bad: OnBad | None = None) -> Iterator[str]:
    """The text files under a folder by their path in it; hidden ones are left out, links to folders not followed."""

    def refuse(error: OSError) -> None:
        unreadable = InputError(f"{error.filename}: cannot be read: {error.strerror}")
        if on_bad is None:
            raise unreadable from None
        on_bad(unreadable)

    for root, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.lower().endswith(_DOCUMENTS) and not name.startswith("."):
                yield Path(root, name).relative_to(folder).as_posix()


def _document(path: Path, name: str, lines: Lines, on_bad: OnBad | None) -> Iterator[Located]:
    try:
        yield from read_document(path, name, lines)
    except InputError as error:
        if on_bad is None:
            raise
        on_bad(error)


def _json_lines(path: Path, called: str, lines: Lines, on_bad: OnBad | None) -> Iterator[Located]:
    for number, raw in lines:
        if not raw.strip():
            continue
        place = f"{path}:{number}"
        try:
            passage = passage_of(json_object(decode(raw, place), place), place, f"{called}:{number}")
        except InputError as error:
            if on_bad is None:
                raise
            on_bad(error)
        else:
            yield Located(passage, str(path), number)


def _table(path: Path, called: str, lines: Lines, on_bad: OnBad | None) -> Iterator[Located]:
    for number, row in read_rows(path, lines, on_bad):
        fields = {name: cell for name, cell in row.items() if cell or name == "text"}
        try:
            passage = passage_of(fields, f"{path}:{number}", f"{called}:{number}")
        except InputError as error:
            if on_bad is None:
                raise
            on_bad(error)
        else:
            yield Located(passage, str(path), number)


def json_object(line: str, place: str) -> dict[str, object]:
    """The JSON object that stands on a line; ``place`` names the line in the InputError for anything else."""
    try:
        record = json.loads(line, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        hint = "" if line.lstrip()[:1] in "{[" else ": write one JSON object a line"
        raise InputError(f"{place}: broken JSON at column {error.colno} ({error.msg}){hint}") from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"{place}: JSON that cannot be read ({error})") from None
    if not isinstance(record, dict):
        kind = _kind(record)
        raise InputError(f"{place}: {kind}, not an object: write one JSON object a line (jq -c '.[]' unpacks a list)")
    return record


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(number: str) -> float:
    value = float(number)
    return value if abs(value) < float("inf") else _no_constant(number)


def passage_of(record: Mapping[str, object], place: str, default_id: str) -> Passage:
    """The passage that a record's fields make; InputError names ``place``.

    >>> passage = passage_of({"_id": 7, "text": "Opened.", "date": "4 March 1999", "lang": "en"}, "a.jsonl:1", "a:1")
    >>> passage.id, passage.date, passage.extra
    ('7', '1999-03-04', {'lang': 'en'})
    """
    rest = dict(record)
    key = "id" if rest.get("id") is not None else "_id"
    identity = _identity(rest.pop(key, None), key, place)
    if rest.get("text") is None:
        keys = ", ".join(list(map(str, record))[:8]) or "none"
        raise InputError(f'{place}: no "text" field (keys: {keys})')
    text, title, section = (_string(rest.pop(name, None), name, place) for name in ("text", "title", "section"))
    if not text.strip() and not title.strip():
        raise InputError(f'{place}: "text" is blank and there is no title: leave the passage out')
    date, first, last = (_date(rest.pop(name, None), name, place) for name in ("date", "valid_from", "valid_to"))
    if first and last and parse_iso(first).start > parse_iso(last).end:
        raise InputError(f'{place}: "valid_to" ({last}) is before "valid_from" ({first})')
    return Passage(identity or default_id, text, title, section, date, first, last, rest)


def _identity(value: object, name: str, place: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or value == "":
        raise InputError(f'{place}: "{name}" is {_kind(value)}: write a string or a number, or leave it out')
    return str(value)


def _string(value: object, name: str, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(f'{place}: "{name}" is {_kind(value)}, not a string')
    return str(value)


def _date(value: object, name: str, place: str) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InputError(f'{place}: "{name}" is {_kind(value)}: write 2019, 2019-03 or 2019-03-04')
    try:
        return str(read_date(str(value)))
    except InputError as error:
        raise InputError(f'{place}: "{name}": {error}') from None


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", bool: "true or false", type(None): "null", str: "a string"}
    return "an empty string" if value == "" else names.get(type(value), "a number")


def read_questions(path: str | Path) -> list[tuple[str, str]]:
    """(id, question) of each line of a question file, or of queries.jsonl in a BEIR folder.

    Lines are ``{"id", "question"}`` or BEIR's ``{"_id", "text"}``; without an id, file name and line number are the
    id. Raises InputError for a line that cannot be used, an id that comes twice, and a file without questions.
    """
    path = Path(path)
    if _is_folder(path):
        found = _in_folder(path, "queries")
        if found is None:
            raise InputError(f"{path}: a folder without queries.jsonl: name the file of questions")
        path = found
    places: dict[str, str] = {}
    questions = []
    for number, raw in read_lines(path):
        if not raw.strip():
            continue
        place = f"{path}:{number}"
        identity, question = question_of(json_object(decode(raw, place), place), place, f"{path.name}:{number}")
        if (earlier := places.setdefault(identity, place)) != place:
            raise InputError(f"{place}: the id {identity!r} is taken at {earlier}: give each question its own")
        questions.append((identity, question))
    if not questions:
        raise InputError(f'{path}: holds no questions: write {{"id": …, "question": …}} a line')
    return questions


def question_of(record: Mapping[str, object], place: str, default_id: str) -> tuple[str, str]:
    """The id and the question of a record; InputError names ``place``."""
    name = next((key for key in ("question", "text", "query") if record.get(key) is not None), None)
    if name is None:
        keys = ", ".join(list(map(str, record))[:8]) or "none"
        raise InputError(f'{place}: no "question" or "text" field (keys: {keys})')
    key = "id" if record.get("id") is not None else "_id"
    return _identity(record.get(key), key, place) or default_id, _string(record[name], name, place)
