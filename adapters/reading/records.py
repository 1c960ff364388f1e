"""The records of a file, each with its place: JSON lines, a JSON list, or a table with a header, told by content."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from mrag.adapters.datasets import first_line, json_object
from mrag.adapters.reading.delimited import columns_of, read_rows
from mrag.adapters.reading.lines import Lines, decode, read_lines
from mrag.errors import InputError

MOST_BYTES = 512 * 2**20
"""Of a JSON list, which has to be read whole; JSON lines and tables may be of any length."""


class Record(NamedTuple):
    """The fields of a record; ``place`` names it in errors ("a.csv:17"), ``number`` is its line or place in a list."""

    place: str
    number: int
    fields: Mapping[str, object]


def read_records(path: Path) -> Iterator[Record]:
    """The records in their order, plain or gzip; none for an empty file. Raises InputError for what cannot be read."""
    first, lines = first_line(read_lines(path))
    if first.startswith(b"["):
        return _json_list(path, lines)
    if first.startswith(b"{"):
        return _json_lines(path, lines)
    if first and len(columns_of(decode(first, str(path)))[1]) < 2:
        raise InputError(f"{path}: neither JSON nor a table with a header: hand in .jsonl, .json, .csv or .tsv")
    return (Record(f"{path}:{number}", number, row) for number, row in read_rows(path, lines))


def _json_lines(path: Path, lines: Lines) -> Iterator[Record]:
    for number, raw in lines:
        if raw.strip():
            place = f"{path}:{number}"
            yield Record(place, number, json_object(decode(raw, place), place))


def _json_list(path: Path, lines: Lines) -> Iterator[Record]:
    parts = []
    size = 0
    for number, raw in lines:
        size += len(raw) + 1
        if size > MOST_BYTES:
            raise InputError(f"{path}: a JSON list of more than {MOST_BYTES >> 20} MB: write one JSON object a line")
        parts.append(decode(raw, f"{path}:{number}"))
    try:
        items = json.loads("\n".join(parts))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: broken JSON at column {error.colno} ({error.msg})") from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path}: JSON that cannot be read ({error})") from None
    del parts
    for number, item in enumerate(items, 1):
        place = f"{path}, item {number}"
        if not isinstance(item, dict):
            raise InputError(f"{place}: no object: a list of questions holds one object for each")
        yield Record(place, number, item)
