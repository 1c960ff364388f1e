"""Vectors as they are stored, float32, float16 or int8 with a scale a row, and exact search among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrag.adapters.index.layout import VECTOR_DTYPES
from mrag.adapters.index.manifest import Precision
from mrag.columns import Float32, Int64

NUMBERS = 2**18
"""Numbers that are looked at at a time for one query: so few that BLAS starts no threads, which under load wait for
each other ten times longer than they work."""

BATCH = 2**24
"""Numbers that are looked at at a time for several queries, and scores that a search holds: 64 MB each."""

TOGETHER = 64
"""Queries that a pass over the vectors serves."""

_SLACK = 2e-5  # what the scores of a pass may be off by, for the order of their sums, over the largest score


@dataclass(frozen=True, slots=True)
class Vectors:
    """n vectors of d numbers: ``values`` float32, float16 or int8[n, d]; ``scales`` float32[n] for int8, else None.

    >>> vectors = quantised(np.array([[3.0, -4.0]], dtype=np.float32), "int8")
    >>> vectors.values.tolist(), [round(float(number), 2) for number in vectors.take(slice(0, 1))[0]]
    ([[95, -127]], [2.99, -4.0])
    """

    values: NDArray[Any]
    scales: Float32 | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def dimension(self) -> int:
        """Numbers a vector."""
        return int(self.values.shape[1])

    @property
    def precision(self) -> Precision:
        """How the numbers are stored."""
        return next(name for name, dtype in VECTOR_DTYPES.items() if np.dtype(dtype) == self.values.dtype)

    def rows(self, at: Int64 | slice) -> Vectors:
        """The vectors of some rows as they are stored; a slice copies nothing."""
        return Vectors(self.values[at], None if self.scales is None else self.scales[at])

    def take(self, at: Int64 | slice) -> Float32:
        """The vectors of some rows, float32[n, d]."""
        found = widened(self.values[at])
        return found if self.scales is None else found * self.scales[at][:, None]

    def dot(self, query: Float32, at: Int64) -> Float32:
        """float32[n]: the dot products of ``query`` float32[d] with the vectors of some rows.

        Each depends on its two vectors alone, to the bit, whatever rows stand beside it: equal vectors tie.
        """
        out = np.empty(len(at), dtype=np.float32)
        for some in blocks(len(at), NUMBERS // self.dimension):
            found = widened(self.values[at[some]]) * query
            sums = found.sum(axis=1, dtype=np.float32)
            out[some] = sums if self.scales is None else sums * self.scales[at[some]]
        return out


def quantised(values: Float32, precision: Precision) -> Vectors:
    """float32[n, d] in the form in which they are stored."""
    if precision == "float16":
        values = values.clip(-65504, 65504)  # what it can hold
    if precision != "int8":
        return Vectors(values.astype(VECTOR_DTYPES[precision]))
    scales = (np.abs(values).max(axis=1, initial=0.0) / np.float32(127)).astype(np.float32)
    whole = np.rint(values / np.where(scales > 0, scales, 1)[:, None]).clip(-127, 127)
    return Vectors(whole.astype(np.int8), scales)


def widened(values: NDArray[Any], room: Float32 | None = None) -> Float32:
    """float32, float16 or int8 as float32, not copied where it is; float16 without infinities and NaN, five times
    faster than numpy does it. ``room``: where to, of the same shape; new memory costs more than the work in it.

    >>> widened(np.array([1.5, -6e-8], dtype=np.float16)).tolist() == [1.5, float(np.float16(-6e-8))]
    True
    """
    if values.dtype == np.float32:
        return values
    out: Float32 = np.empty(values.shape, dtype=np.float32) if room is None else room
    if values.dtype != np.float16:
        np.copyto(out, values)
        return out
    bits = out.view(np.int32)
    np.copyto(bits, values.view(np.int16))
    bits <<= 13  # sign and exponent stand where a float32 has them, the exponent too small by 112
    bits &= -0x70002000  # all but the copies of the sign
    out *= np.float32(2.0**112)
    return out


def normalised(values: Float32) -> Float32:
    """float32[n, d] of length 1; a vector of zeros stays one."""
    lengths = np.sqrt(np.square(values).sum(axis=1, keepdims=True))
    out: Float32 = (values / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)
    return out


def nearest(vectors: Vectors, queries: Float32, k: int, among: Int64 | None = None) -> tuple[Int64, Float32]:
    """The k rows of the largest dot product with each of ``queries`` float32[q, d], best first, ties by row.

    rows int64[q, k] (-1: none left) and scores float32[q, k]; ``among``: int64 rows, ascending, to choose from. Exact:
    every row is looked at, once for many queries. Memory does not grow with the number of vectors.

    >>> vectors = Vectors(np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32))
    >>> [part.tolist() for part in nearest(vectors, np.array([[1, 0]], dtype=np.float32), 4)]
    [[[0, 2, 1, -1]], [[1.0, 1.0, 0.0, 0.0]]]
    """
    n = len(vectors) if among is None else len(among)
    rows = np.full((len(queries), k), -1, dtype=np.int64)
    scores = np.zeros((len(queries), k), dtype=np.float32)
    for first in range(0, len(queries) if n and k else 0, TOGETHER):
        some = queries[first : first + TOGETHER]
        for at, near in enumerate(_candidates(vectors, some, among, n, k), first):
            put(vectors, queries[at], near if among is None else among[near], rows[at], scores[at])
    return rows, scores


def put(vectors: Vectors, query: Float32, found: Int64, rows: Int64, scores: Float32) -> None:
    """Writes the best of the ``found`` rows, as many as there is room for, and their scores, ties by row."""
    products = vectors.dot(query, found)
    order = np.lexsort((found, -products))[: len(rows)]
    rows[: len(order)], scores[: len(order)] = found[order], products[order]


def _candidates(vectors: Vectors, queries: Float32, among: Int64 | None, n: int, k: int) -> list[Int64]:
    """For each query the positions, below n, of all vectors that may belong to its k nearest; one pass for all."""
    found = [_NONE] * len(queries)
    for at in blocks(n, BATCH // len(queries)):
        part = _scan(vectors, queries, among, at)
        found = [_near(before, scores, at.start, k) for before, scores in zip(found, part, strict=True)]
    return [candidates.positions for candidates in found]


def _scan(vectors: Vectors, queries: Float32, among: Int64 | None, positions: slice) -> Float32:
    """float32[q, m]: about the dot products; their last bits may depend on what else is scanned."""
    out = np.empty((len(queries), positions.stop - positions.start), dtype=np.float32)
    step = max((NUMBERS if len(queries) == 1 else BATCH) // vectors.dimension, 1)
    room = np.empty((min(step, out.shape[1]), vectors.dimension), dtype=np.float32)
    for at in blocks(out.shape[1], step):
        rows = slice(positions.start + at.start, positions.start + at.stop)
        part = vectors.rows(rows if among is None else among[rows])
        out[:, at] = queries @ widened(part.values, room[: len(part)]).T
        if part.scales is not None:
            out[:, at] *= part.scales
    return out


class _Candidates(NamedTuple):
    """Ascending positions with about their scores, the ``largest`` of all scores as yet, and the ``bound`` below which
    a score is none of the k best."""

    positions: Int64
    scores: Float32
    bound: float
    largest: float


_NONE = _Candidates(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32), -np.inf, 0.0)


def _near(before: _Candidates, scores: Float32, start: int, k: int) -> _Candidates:
    """The candidates after the vectors from position ``start`` on, which have these ``scores`` float32[n]."""
    better = np.flatnonzero(scores >= before.bound)
    positions = np.concatenate((before.positions, better + start))
    kept = np.concatenate((before.scores, scores[better]))
    largest = max(before.largest, float(np.abs(scores).max()))
    if k >= len(kept):
        return _Candidates(positions, kept, before.bound, largest)
    bound = float(np.partition(kept, len(kept) - k)[len(kept) - k]) - _SLACK * largest
    still = kept >= bound
    return _Candidates(positions[still], kept[still], max(bound, before.bound), largest)


def blocks(n: int, step: int) -> Iterator[slice]:
    """Slices of at most ``step`` rows, at least one, that make up n."""
    step = max(step, 1)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
