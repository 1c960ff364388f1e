"""Tables with a header (CSV, TSV): their rows as fields by column, each with the line that it begins on."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

from mrag.adapters.reading.lines import Lines, decode
from mrag.errors import InputError

Row = tuple[int, dict[str, str]]
DELIMITERS = "\t,;"
_MOST_COLUMNS = 1000
_WAY = 'write a field with the delimiter, a quote or a line end in it as "…", and a quote inside as ""'


def columns_of(line: str) -> tuple[str, list[str]]:
    """The delimiter of a header (the one that comes most often) and the names of its columns.

    >>> columns_of("id\\ttext\\ttitle"), columns_of('id,"question"')
    (('\\t', ['id', 'text', 'title']), (',', ['id', 'question']))
    """
    delimiter = max(DELIMITERS, key=line.count)
    try:
        cells = next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:  # no header: there are no columns of that name then
        cells = line.split(delimiter)
    return delimiter, [cell.strip() for cell in cells]


def read_rows(path: Path, lines: Lines, on_bad: Callable[[InputError], None] | None = None) -> Iterator[Row]:
    """The rows below the header; blank lines are none, a quoted field may hold line ends.

    Raises InputError with the line for a row that has not the header's number of fields, for quotes that do not match
    and for a field of more than 131,072 characters, unless ``on_bad`` takes it and reading goes on behind it.
    """
    at = begin = 0  # the line read last, and the first of the row

    def refuse(error: InputError) -> None:
        if on_bad is None:
            raise error from None
        on_bad(error)

    def text() -> Iterator[str]:
        nonlocal at, begin
        for at, raw in lines:
            try:
                line = decode(raw, f"{path}:{at}")
            except InputError as error:
                refuse(error)
            else:
                begin = begin or at
                yield line + "\n"

    source = text()
    header = next((line for line in source if line.strip()), "")
    delimiter, columns = columns_of(header)
    _check(columns, f"{path}:{at}")
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    while True:
        begin = 0
        try:
            row = next(reader, None)
        except csv.Error as error:
            said = str(error).replace("\t", "\\t")
            refuse(InputError(f"{path}:{begin}: {said}: {_WAY}"))
            continue
        if row is None:
            return
        if len(row) == len(columns):
            yield begin, dict(zip(columns, row, strict=True))
        elif row:
            refuse(InputError(f"{path}:{begin}: {len(row)} fields, but the header names {len(columns)}: {_WAY}"))


def _check(columns: list[str], place: str) -> None:
    if len(columns) > _MOST_COLUMNS:
        raise InputError(f"{place}: a header of {len(columns)} columns: this is no table of passages or questions")
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise InputError(f"{place}: the column {twice[0]!r} comes twice: give each column its own name")
