"""What an index is built from: paths, passages, records, or several of these; every passage with its place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from mrag.adapters.datasets import OnBad, locate_passages, passage_of
from mrag.adapters.reading.documents import Located
from mrag.corpus import Passage
from mrag.errors import InputError

Item = str | Path | Passage | Mapping[str, object]
Source = Item | Iterable[Item]
"""Passages: the path of a file or folder (see datasets.read_passages), a passage or record, or several of these."""


def located(source: Source, on_bad: OnBad | None = None) -> Iterator[Located]:
    """The passages of a source; InputError for one that cannot be used, which ``on_bad`` may take instead."""
    if isinstance(source, (str, Path)):
        yield from locate_passages(Path(source), on_bad=on_bad)
    elif isinstance(source, (Passage, Mapping)):
        yield _handed_in(source, 1)
    else:
        several = isinstance(source, Sequence) and sum(isinstance(item, (str, Path)) for item in source) > 1
        for number, item in enumerate(_read(source), 1):
            if isinstance(item, (str, Path)):
                yield from locate_passages(Path(item), on_bad=on_bad, named=several)
            else:
                yield _handed_in(item, number)


def _handed_in(item: Passage | Mapping[str, object], number: int) -> Located:
    """A passage that came as an object; InputError for what an index cannot hold."""
    file = "passages handed in"
    place = f"{file}:{number}"
    if isinstance(item, Mapping):
        item = passage_of(item, place, str(number))
    if not isinstance(item, Passage):
        raise InputError(f"{place}: {type(item).__name__} is no passage: hand in paths, passages or records")
    if not all(isinstance(value, str) for value in (item.id, item.text, item.title, item.section)):
        raise InputError(f"{place}: id, text, title and section of a passage are strings")
    try:
        json.dumps(dict(item.extra), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{place}: its other fields cannot be kept as JSON: {error}") from None
    return Located(item, file, number)


def _read(items: Iterable[Item]) -> Iterator[Item]:
    """The items; where reading them fails that is told apart from a disk that cannot be written."""
    try:
        yield from items
    except OSError as error:
        raise InputError(f"the passages handed in cannot be read: {error}") from error
