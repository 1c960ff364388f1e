"""The contracts of what is handed in: plain functions satisfy them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from mrag.columns import Float32, Int64
from mrag.interval import Interval

Role = Literal["query", "passage"]


class Retriever(Protocol):
    """The first stage: the best ``k`` passages for each query, by meaning or by words."""

    def __call__(self, queries: Sequence[str], k: int, *, window: Interval | None = None) -> tuple[Int64, Float32]:
        """rows int64[q, k] (-1: none left) and scores float32[q, k], best first; with a window only passages that
        hold a date in it."""


class Encoder(Protocol):
    """Texts to vectors."""

    metric: Literal["cosine", "dot"]

    def __call__(self, texts: Sequence[str], *, role: Role = "passage") -> Float32:
        """float32[n, d], a row a text."""


class Scorer(Protocol):
    """How well each text answers the query by its meaning."""

    def __call__(self, query: str, texts: Sequence[str]) -> Float32:
        """float32[n] in [0, 1], in the order of the texts."""


class RowScorer(Protocol):
    """A Scorer that knows the sentences (or the passages) of a corpus by their row, as stored vectors do."""

    def __call__(self, query: str, rows: Int64) -> Float32:
        """float32[n] in [0, 1]: how well each of them, rows int64[n] of the corpus, answers the query."""
