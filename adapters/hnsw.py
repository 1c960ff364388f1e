"""hnswlib's graph over vectors: approximate search in time that hardly grows with their number."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import Any

import numpy as np

from mrag.adapters.index.vectors import Vectors, blocks
from mrag.adapters.workers import cores
from mrag.columns import Float32, Int64
from mrag.errors import IndexFormatError, MissingExtraError

EXACT_BELOW = 100_000
"""Up to so many vectors there is no graph: looking at each of them takes some milliseconds, and misses none."""

LINKS = 16
"""hnswlib's M: links of a vector in each layer; twice as many in the lowest one."""

BREADTH = 200
"""hnswlib's ef_construction: candidates among which the links of a new vector are chosen."""

STEP = 8_192
"""Vectors that are put in at a time, by all cores together."""


def breadth(k: int) -> int:
    """hnswlib's ef for the k nearest: the candidates that a search keeps.

    k = 1,000 wants 2,000 for a recall of 0.98; a small k wants relatively more.

    >>> breadth(10), breadth(1000)
    (120, 2100)
    """
    return 2 * k + 100


def library() -> Any:
    """hnswlib; MissingExtraError without it."""
    try:
        import hnswlib
    except ImportError as error:
        raise MissingExtraError(
            f"an index of this size needs hnswlib, which cannot be loaded ({error}): pip install hnswlib "
            "(it is compiled: a C++ compiler must be there)"
        ) from None
    return hnswlib


def write_graph(
    path: Path, vectors: Vectors, *, old: Path | None = None, told: Callable[[int, int], None] | None = None
) -> None:
    """Writes the graph over all vectors, their inner product being what is compared.

    ``old`` is the graph over the first of them, which grows. Beyond the first STEP all cores share the work, in an
    order that is theirs: two graphs over the same vectors find the same but for a few. Raises OSError when the disk is
    full.
    """
    n = len(vectors)
    index = library().Index(space="ip", dim=vectors.dimension)
    done = 0
    if old is None:
        index.init_index(max_elements=n, M=LINKS, ef_construction=BREADTH, random_seed=100)
    else:
        index.load_index(str(old), max_elements=n)
        done = index.element_count
    for at in blocks(n - done, STEP):
        rows = np.arange(done + at.start, done + at.stop)
        first = done + at.start == 0  # put in one by one: a graph that many begin at once has gaps for good
        index.add_items(vectors.take(rows), rows, num_threads=1 if first else cores())
        if told is not None:
            told(done + at.stop, n)
    index.save_index(str(path))  # says nothing when the disk is full
    if not path.exists() or path.stat().st_size != index.index_file_size():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


class Graph:
    """A graph in memory; several threads may search it at once."""

    def __init__(self, path: Path, n: int, dimension: int) -> None:
        """Loads the graph over n vectors; IndexFormatError for a file that holds no such graph."""
        self._index = library().Index(space="ip", dim=dimension)
        try:
            self._index.load_index(str(path), max_elements=n)
        except RuntimeError as error:
            raise IndexFormatError(f"{path}: cannot be loaded ({error}): build the index again") from None
        if self._index.element_count != n:
            raise IndexFormatError(f"{path}: {self._index.element_count:,} vectors where {n:,} belong: build it again")
        self._turn = Condition()
        self._ef, self._searching = 0, 0

    def nearest(self, queries: Float32, k: int) -> Int64 | None:
        """int64[q, k]: about the k nearest of each query, in no particular order; None where so many are not found."""
        with self._searching_with(breadth(k)):
            try:
                rows, _ = self._index.knn_query(queries, k)
            except RuntimeError:  # links do not reach k of them
                return None
        found: Int64 = rows.astype(np.int64)
        return found

    @contextmanager
    def _searching_with(self, ef: int) -> Iterator[None]:
        """Holds ``ef``, which is one for all threads: those that want another wait until nobody searches."""
        with self._turn:
            self._turn.wait_for(lambda: self._ef == ef or self._searching == 0)
            if self._ef != ef:
                self._index.set_ef(ef)
                self._ef = ef
            self._searching += 1
        try:
            yield
        finally:
            with self._turn:
                self._searching -= 1
                self._turn.notify_all()
