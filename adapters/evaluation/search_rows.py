"""What `mrag search --json` printed for a question -> the evidence that it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import cast, get_args

from mrag.adapters.datasets import first_line, json_object, passage_of
from mrag.adapters.reading.lines import decode, read_lines
from mrag.dates.context import Kind
from mrag.errors import InputError
from mrag.interval import Interval, join, parse_iso, since, until
from mrag.pipeline import Evidence
from mrag.timex import Mention, Source

_FIELDS = ("rank", "id", "text", "sentence", "score", "semantic", "temporal")
_OWN = ("id", "title", "text")  # fields of the passage that stand in the row itself


def is_search(path: str | Path) -> bool:
    """Whether a file holds such rows, by its first line."""
    first, lines = first_line(read_lines(Path(path)))
    if not first.startswith(b"{"):
        return False
    number, raw = next(item for item in lines if item[1].strip())
    fields = json_object(decode(raw, f"{path}:{number}"), f"{path}:{number}")
    return all(name in fields for name in _FIELDS)


def read_search(path: str | Path, k: int) -> list[Evidence]:
    """The first ``k`` pieces of evidence of a file, in its order; their ``row`` is -1, since it names no index.

    Raises InputError with the line for what is no such row.
    """
    found = []
    told = ((number, raw) for number, raw in read_lines(Path(path)) if raw.strip())
    for number, raw in islice(told, k):
        place = f"{path}:{number}"
        found.append(_evidence(json_object(decode(raw, place), place), place))
    return found


def _evidence(row: Mapping[str, object], place: str) -> Evidence:
    if not all(name in row for name in _FIELDS):
        raise InputError(f"{place}: no row of `mrag search --json` (it has {', '.join(_FIELDS)})")
    brought = row.get("passage")
    passage = {**(brought if isinstance(brought, dict) else {}), **{name: row.get(name) for name in _OWN}}
    mention = row.get("mention")
    return Evidence(
        passage_of(passage, place, place),
        -1,
        _text(row, "sentence", place),
        _number(row, "semantic", place),
        _number(row, "temporal", place),
        _number(row, "score", place),
        mention=_mention(mention, place) if isinstance(mention, dict) else None,
        ranks={},
        summarised=row.get("summarised") is True,
    )


def _mention(row: Mapping[str, object], place: str) -> Mention:
    kind, source = row.get("kind"), row.get("source")
    if kind not in get_args(Kind) or source not in get_args(Source):
        raise InputError(f'{place}: "mention" is of kind {str(kind)[:40]!r} and source {str(source)[:40]!r}')
    text = _text(row, "text", place)
    return Mention(text, (0, len(text)), _interval(row, place), cast(Kind, kind), cast(Source, source))


def _interval(row: Mapping[str, object], place: str) -> Interval:
    try:
        start, end = (parse_iso(_text(row, name, place)) if row.get(name) else None for name in ("start", "end"))
        if start and end:
            return join(start, end)
    except InputError as error:
        raise InputError(f'{place}: "mention": {error}') from None
    return since(start) if start else until(end) if end else Interval()


def _text(row: Mapping[str, object], name: str, place: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise InputError(f'{place}: "{name}" is no string')
    return value


def _number(row: Mapping[str, object], name: str, place: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f'{place}: "{name}" is no number')
    return float(value)
