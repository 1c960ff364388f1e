"""First stages by stored vectors, exact or over hnswlib's graph, their hybrid with BM25, and scores of sentences."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Literal, NamedTuple, get_args

import numpy as np

from mrag.adapters import hnsw
from mrag.adapters.hnsw import Graph
from mrag.adapters.index.encoding import StoredEncoder, encode
from mrag.adapters.index.vectors import Vectors, nearest, put
from mrag.columns import Float32, Int64
from mrag.corpus import Corpus, within
from mrag.interval import Interval
from mrag.strategies import Retriever, RowScorer, Scorer

RetrieverName = Literal["bm25", "dense", "hnsw", "hybrid", "hybrid-hnsw"]
RETRIEVERS: tuple[RetrieverName, ...] = get_args(RetrieverName)

EXACT_RATIO = 100
"""So many vectors for each one that is wanted are looked at one by one: for k = 1,000 a graph pays from 100,000 on."""

Queries = Callable[[Sequence[str]], Float32]
"""Queries to their vectors, float32[q, d]."""


class QueryVectors:
    """Encodes queries; the last ``size`` are remembered, and all of the last call, since one stage asks as another."""

    def __init__(self, encoder: StoredEncoder, size: int = 256) -> None:
        self._encoder, self._size = encoder, size
        self._known: OrderedDict[str, Float32] = OrderedDict()
        self._lock = Lock()

    def __call__(self, queries: Sequence[str]) -> Float32:
        """float32[q, d], of length 1 where the encoder compares by cosine."""
        with self._lock:
            found = {query: self._known[query] for query in queries if query in self._known}
        new = [query for query in dict.fromkeys(queries) if query not in found]
        if new:
            encoded = dict(zip(new, encode(self._encoder, new, "query"), strict=True))
            found |= encoded
            with self._lock:
                self._known |= encoded
                while len(self._known) > max(self._size, len(encoded)):
                    self._known.popitem(last=False)
        return (
            np.stack([found[query] for query in queries]) if queries else np.zeros((0, self._encoder.dimension), "f4")
        )


def exact_retriever(corpus: Corpus, vectors: Vectors, queries: Queries) -> Retriever:
    """The passages with the nearest vectors; every vector is looked at."""
    return partial(_exact, corpus, vectors, queries)


def _exact(
    corpus: Corpus,
    vectors: Vectors,
    queries: Queries,
    texts: Sequence[str],
    k: int,
    *,
    window: Interval | None = None,
) -> tuple[Int64, Float32]:
    among = None if window is None else np.flatnonzero(within(corpus, window))
    return nearest(vectors, queries(texts), k, among)


def hnsw_retriever(corpus: Corpus, vectors: Vectors, graph: Graph, queries: Queries) -> Retriever:
    """About the same passages out of the graph over the same vectors, with the same scores.

    Where few passages are admitted, or many of them wanted, it looks at every vector, as exact_retriever does.
    """
    return partial(_hnsw, corpus, vectors, graph, queries)


def _hnsw(
    corpus: Corpus,
    vectors: Vectors,
    graph: Graph,
    queries: Queries,
    texts: Sequence[str],
    k: int,
    *,
    window: Interval | None = None,
) -> tuple[Int64, Float32]:
    encoded = queries(texts)
    allowed = None if window is None else within(corpus, window)
    among = None if allowed is None else np.flatnonzero(allowed)
    n, admitted = len(vectors), len(vectors) if among is None else len(among)
    # hnswlib could ask a Python function about every candidate, slowly; so more are fetched, and the others dropped
    fetched = k if among is None else math.ceil(1.25 * k * n / max(admitted, 1)) + 20
    found = None
    if admitted > max(hnsw.EXACT_BELOW, EXACT_RATIO * fetched):
        found = graph.nearest(encoded, fetched)
    if found is None:
        return nearest(vectors, encoded, k, among)
    rows = np.full((len(encoded), k), -1, dtype=np.int64)
    scores = np.zeros((len(encoded), k), dtype=np.float32)
    for at, query in enumerate(encoded):
        fit = found[at] if allowed is None else found[at][allowed[found[at]]]
        if len(fit) >= k:
            put(vectors, query, fit, rows[at], scores[at])
        else:  # its neighbours lie outside the window
            rows[at : at + 1], scores[at : at + 1] = nearest(vectors, query[None], k, among)
    return rows, scores


class Fusion(NamedTuple):
    """How ranks are joined: each passage scores the sum of ``weight / (constant + its rank)``, for dense and BM25."""

    weights: tuple[float, float]
    constant: float


RANK_FUSION = Fusion((1.0, 1.0), 20.0)
"""The usual reciprocal rank fusion."""
REFERENCE_FUSION = Fusion((0.8, 0.2), 0.0)
"""That of the paper's own code."""


def hybrid_retriever(
    retrievers: Sequence[Retriever],
    weights: Sequence[float] = RANK_FUSION.weights,
    *,
    constant: float = RANK_FUSION.constant,
    depth: int = 1000,
) -> Retriever:
    """Several first stages as one: each passage scores the sum of ``weight / (constant + its rank)``, ties by row.

    Each gives at least ``depth`` passages, so that a small k gives the beginning of what a large one gives.

    >>> def first(queries, k, *, window=None):
    ...     return np.array([[4, 2]]), np.array([[0.9, 0.1]], dtype=np.float32)
    >>> def second(queries, k, *, window=None):
    ...     return np.array([[2, -1]]), np.array([[7.0, 0.0]], dtype=np.float32)
    >>> [part.tolist() for part in hybrid_retriever([first, second], (0.5, 0.5), constant=0)(["?"], 3)]
    [[[2, 4, -1]], [[0.75, 0.5, 0.0]]]
    """
    return partial(_hybrid, tuple(retrievers), tuple(weights), constant, depth)


def _hybrid(
    retrievers: Sequence[Retriever],
    weights: Sequence[float],
    constant: float,
    depth: int,
    texts: Sequence[str],
    k: int,
    *,
    window: Interval | None = None,
) -> tuple[Int64, Float32]:
    lists = [retriever(texts, max(k, depth), window=window)[0] for retriever in retrievers]
    rows = np.full((len(texts), k), -1, dtype=np.int64)
    scores = np.zeros((len(texts), k), dtype=np.float32)
    for at in range(len(texts)):
        found = [ranked[at][ranked[at] >= 0] for ranked in lists]
        parts = [weight / (constant + 1 + np.arange(len(some))) for weight, some in zip(weights, found, strict=True)]
        united, place = np.unique(np.concatenate(found), return_inverse=True)
        sums = np.bincount(place, np.concatenate(parts), len(united)).astype(np.float32)
        order = np.lexsort((united, -sums))[:k]
        rows[at, : len(order)], scores[at, : len(order)] = united[order], sums[order]
    return rows, scores


def row_scorer(sentences: Vectors, queries: Queries, scale: float = 1.0) -> RowScorer:
    """Scores of sentences by their stored vectors: max(cosine, 0), or of dot products over ``scale``; in [0, 1]."""
    return partial(_score_rows, sentences, queries, np.float32(scale))


def _score_rows(sentences: Vectors, queries: Queries, scale: np.float32, query: str, rows: Int64) -> Float32:
    products = sentences.dot(queries([query])[0], rows)
    scores: Float32 = np.clip(products / scale, 0.0, 1.0).astype(np.float32, copy=False)
    return scores


def text_scorer(encoder: StoredEncoder, queries: Queries, scale: float = 1.0) -> Scorer:
    """Scores of texts that have no stored vector, as ``row_scorer`` scores those that have one."""
    return partial(_score_texts, encoder, queries, np.float32(scale))


def _score_texts(
    encoder: StoredEncoder, queries: Queries, scale: np.float32, query: str, texts: Sequence[str]
) -> Float32:
    products = encode(encoder, texts) @ queries([query])[0]
    scores: Float32 = np.clip(products / scale, 0.0, 1.0).astype(np.float32, copy=False)
    return scores
