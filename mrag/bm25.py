"""The lexical index as arrays: built, merged and searched without an object for a passage or a term.

Lucene's variant of BM25: a passage of length l that holds a term c times gets idf · c / (c + k1 · (1 - b + b · l / mean
length)) for it, idf being log(1 + (n - df + 0.5) / (df + 0.5)) for a term in df of n passages. Counts are stored, not
scores, so that passages can be added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mrag.columns import Bool, Float32, Int32, Int64, Strings, pointers

UInt16 = NDArray[np.uint16]

_MOST = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class Bm25:
    """Postings of n passages and v terms.

    Term i (``terms``: distinct, ascending by their bytes) stands in the passages ``rows[postings[i]:postings[i + 1]]``,
    ascending, each time as often as ``counts`` says (65,535 stands for more). ``lengths``: tokens of each passage.
    """

    terms: Strings
    postings: Int64
    rows: Int32
    counts: UInt16
    lengths: Int32

    def __len__(self) -> int:
        return len(self.lengths)


def build(ids: Int32 | Int64, documents: Int64, terms: Strings) -> Bm25:
    """The index of n passages: passage i has the tokens ``ids[documents[i]:documents[i + 1]]``, rows of ``terms``.

    ``terms`` must be distinct and ascending by their bytes. Raises ValueError for an id that is no row of them.

    >>> index = build(np.array([1, 0, 1, 1]), np.array([0, 3, 4]), Strings.of(["club", "own"]))
    >>> index.postings.tolist(), index.rows.tolist(), index.counts.tolist(), index.lengths.tolist()
    ([0, 1, 3], [0, 0, 1], [1, 2, 1], [3, 1])
    """
    if len(ids) and not 0 <= int(np.min(ids)) <= int(np.max(ids)) < len(terms):
        raise ValueError(f"token ids {np.min(ids)} ... {np.max(ids)} for {len(terms)} terms")
    lengths = np.diff(documents)
    n = max(len(lengths), 1)
    # One number for each token, that orders by term, then by passage: equal numbers are the counts.
    keys = ids.astype(np.int64)
    keys *= n
    keys += np.repeat(np.arange(len(lengths)), lengths)
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(first, append=len(keys))
    term, row = np.divmod(keys[first], n)
    return Bm25(
        terms,
        pointers(np.bincount(term, minlength=len(terms))),
        row.astype(np.int32),
        np.minimum(counts, _MOST).astype(np.uint16),
        lengths.astype(np.int32),
    )


def merge(parts: Sequence[Bm25]) -> tuple[Bm25, list[Int32]]:
    """One index of the passages of all parts, in order, and for each part the new id of each of its terms.

    The result is that of ``build`` over all tokens at once.

    >>> a = build(np.array([0, 1]), np.array([0, 2]), Strings.of(["club", "own"]))
    >>> b = build(np.array([0]), np.array([0, 1]), Strings.of(["mayor"]))
    >>> index, new_ids = merge([a, b])
    >>> [index.terms[i] for i in range(3)], index.rows.tolist(), new_ids[1].tolist()
    (['club', 'mayor', 'own'], [0, 1, 0], [1])
    """
    union = sorted({value for part in parts for value in _values(part.terms)})
    place = {value: i for i, value in enumerate(union)}
    new_ids = [
        np.fromiter((place[value] for value in _values(part.terms)), np.int32, len(part.terms)) for part in parts
    ]
    frequencies = [np.diff(part.postings) for part in parts]
    totals = np.zeros(len(union), dtype=np.int64)
    for new, frequency in zip(new_ids, frequencies, strict=True):
        totals[new] += frequency
    postings = pointers(totals)
    rows = np.empty(postings[-1], dtype=np.int32)
    counts = np.empty(postings[-1], dtype=np.uint16)
    free, passages = postings[:-1].copy(), 0  # where the next posting of each term goes; passages so far
    for part, new, frequency in zip(parts, new_ids, frequencies, strict=True):
        to = np.repeat(free[new] - part.postings[:-1], frequency)
        to += np.arange(len(to))
        rows[to] = part.rows + np.int32(passages)
        counts[to] = part.counts
        free[new] += frequency
        passages += len(part)
    lengths = np.concatenate([part.lengths for part in parts]) if parts else np.zeros(0, dtype=np.int32)
    return Bm25(Strings.of_bytes(union), postings, rows, counts, lengths), new_ids


def _values(terms: Strings) -> Iterator[bytes]:
    blob, offsets = terms.blob.tobytes(), terms.offsets.tolist()
    return (blob[start:end] for start, end in pairwise(offsets))


def term_ids(index: Bm25, terms: Sequence[str]) -> Int64:
    """The row of each term in ``index.terms``, int64, -1 for one that no passage holds."""
    return np.array([index.terms.find(term) for term in terms], dtype=np.int64)


def idf(index: Bm25, ids: Int64) -> Float32:
    """Inverse document frequency of each term id, float32; an absent term (-1) counts as in no passage."""
    # For -1 this is the first pointer minus the last: below 0, and so no passage.
    frequency = np.maximum(index.postings[ids + 1] - index.postings[ids], 0)
    weight: Float32 = np.log1p((len(index) - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
    return weight


def norms(index: Bm25, k1: float = 1.5, b: float = 0.75) -> Float32:
    """What the length of each passage adds to a count in the denominator, float32[n]; the same for all questions."""
    mean = float(index.lengths.mean()) if index.lengths.any() else 1.0
    return (k1 * (1.0 - b + b * index.lengths / mean)).astype(np.float32)


def scores(index: Bm25, ids: Int64, norms: Float32) -> Float32:
    """The score of every passage for the terms of a question, float32[n]; a term given twice counts twice.

    ``norms`` are those of ``norms(index, k1, b)``. Ids of -1 are passed over. The order of the ids does not matter.
    """
    out = np.zeros(len(index), dtype=np.float32)
    known, times = np.unique(ids[ids >= 0], return_counts=True)
    weights = idf(index, known) * times.astype(np.float32)
    for start, end, weight in zip(index.postings[known], index.postings[known + 1], weights, strict=True):
        rows = index.rows[start:end].astype(np.intp)
        counts = index.counts[start:end].astype(np.float32)
        # "clip" only spares numpy the check of each row: the rows lie in range.
        part = norms.take(rows, mode="clip")
        part += counts
        np.divide(counts, part, out=part)
        part *= weight
        np.add.at(out, rows, part)
    return out


def top(scores: Float32, k: int, allowed: Bool | None = None) -> tuple[Int64, Float32]:
    """The at most ``k`` best rows and their scores, best first, ties by row; none with score 0, none not ``allowed``.

    >>> rows, best = top(np.array([0.5, 2, 0.5, 0, 2], dtype=np.float32), 3); rows.tolist(), best.tolist()
    ([1, 4, 0], [2.0, 2.0, 0.5])
    """
    if allowed is not None:
        scores = np.where(allowed, scores, np.float32(0))
    least = np.float32(0)
    if 0 < k < len(scores):
        # Negated, because most scores are 0 and numpy's partition is ten times as slow with those before the k-th.
        least = -np.partition(-scores, k - 1)[k - 1]
    # All rows at the least score compete for the last places, so that the lower rows win them.
    rows = np.flatnonzero(scores >= least if least > 0 else scores > 0)
    rows = rows[np.argsort(-scores[rows], kind="stable")][: max(k, 0)]
    return rows, scores[rows]
