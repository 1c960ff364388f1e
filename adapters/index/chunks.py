"""Passages in chunks, each id once, and the analysis of the chunks."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrag.adapters.reading.documents import Located
from mrag.adapters.workers import in_order
from mrag.columns import Int64, Strings
from mrag.corpus import Corpus, Passage, analyse
from mrag.errors import InputError

PASSAGES = 2_000
CHARACTERS = 4_000_000
"""A chunk ends at whichever comes first, so that it fits into memory whatever the passages are like."""

Digests = NDArray[np.bytes_]


def chunks(items: Iterable[Located], known: Strings | None = None, name: str = "") -> Iterator[list[Passage]]:
    """Passages in lists for one analysis each.

    Raises InputError when an id comes twice, naming both places; ``known`` are the ids that the index ``name`` holds.
    """
    ids = _Ids(known, name)
    chunk: list[Located] = []
    size = 0
    for item in items:
        chunk.append(item)
        size += len(item.passage.text)
        if len(chunk) == PASSAGES or size >= CHARACTERS:
            yield ids.check(chunk)
            chunk, size = [], 0
    if chunk:
        yield ids.check(chunk)


class _Ids:
    """All ids so far as digests, and the place of each: 32 bytes a passage, so that millions fit."""

    def __init__(self, known: Strings | None, name: str) -> None:
        self._index = name
        self._known = len(known) if known is not None else 0
        self._runs: list[tuple[Digests, NDArray[np.int64]]] = []  # each sorted, each longer than the next
        self._lines = array("q")
        self._files: list[tuple[int, str]] = []  # the first row of each file
        if known is not None:
            self._put(_digests(known.raw(row) for row in range(len(known))), 0)

    def check(self, chunk: list[Located]) -> list[Passage]:
        """The passages of a chunk whose ids are all new; InputError for one that is not."""
        digests = _digests(item.passage.id.encode("utf-8", "replace") for item in chunk)
        first = self._known + len(self._lines)
        for row, item in enumerate(chunk, first):
            self._lines.append(item.line)
            if not self._files or self._files[-1][1] != item.file:
                self._files.append((row, item.file))
        for known, rows in self._runs:
            at = np.minimum(np.searchsorted(known, digests), len(known) - 1)
            if len(hits := np.flatnonzero(known[at] == digests)):
                raise self._taken(chunk[hits[0]], int(rows[at[hits[0]]]))
        order = np.argsort(digests, kind="stable")
        if len(hits := np.flatnonzero(digests[order][1:] == digests[order][:-1])):
            later, earlier = min((int(order[hit + 1]), int(order[hit])) for hit in hits)
            raise self._taken(chunk[later], first + earlier)
        self._put(digests, first)
        return [item.passage for item in chunk]

    def _put(self, digests: Digests, first: int) -> None:
        rows: Int64 = np.arange(first, first + len(digests), dtype=np.int64)
        while self._runs and len(self._runs[-1][0]) <= len(digests):  # as long as the new one: merged, so runs stay few
            known, known_rows = self._runs.pop()
            digests, rows = np.concatenate((known, digests)), np.concatenate((known_rows, rows))
        order = np.argsort(digests, kind="stable")
        if len(digests):
            self._runs.append((digests[order], rows[order]))

    def _taken(self, item: Located, row: int) -> InputError:
        if row < self._known:
            earlier = f"in the index {self._index}"
        else:
            file = next(name for start, name in reversed(self._files) if start <= row)
            earlier = f"at {Located(item.passage, file, self._lines[row - self._known]).place}"
        return InputError(f"{item.place}: the id {item.passage.id!r} is taken {earlier}: give each passage its own")


def _digests(ids: Iterable[bytes]) -> Digests:
    return np.array([hashlib.blake2b(value, digest_size=16).digest() for value in ids], dtype="S16")


def analysed(parts: Iterator[list[Passage]], workers: int) -> Generator[Corpus, None, None]:
    """The columns of each list of passages, in order, a few being under way at a time; the same for any ``workers``."""
    yield from in_order(_analyse, ([_fields(passage) for passage in part] for part in parts), workers)


def _fields(passage: Passage) -> tuple[Any, ...]:
    """A passage as a plain tuple, which travels to another process fast, whatever kind of mapping ``extra`` is."""
    dates = passage.date, passage.valid_from, passage.valid_to
    return passage.id, passage.text, passage.title, passage.section, *dates, dict(passage.extra)


def _analyse(rows: list[tuple[Any, ...]]) -> Corpus:
    return analyse(Passage(*row) for row in rows)
