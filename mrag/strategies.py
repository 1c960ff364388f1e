"""The contracts of what is handed in: plain functions satisfy them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from mrag.columns import Float32, Int64
from mrag.corpus import Passage
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


class Ahead(Protocol):
    """Hears the texts of a batch of questions before the first is scored by them, so that an encoder takes all at once.

    It changes no score.
    """

    def __call__(self, queries: Sequence[str]) -> object:
        """``queries``: the same texts that the retriever and the row scorers are going to be asked for."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A prompt that got no reply: why, in a sentence."""

    reason: str


class LanguageModel(Protocol):
    """Prompts to replies; one that fails costs none of the others."""

    def __call__(
        self, prompts: Sequence[str], *, max_tokens: int = 256, temperature: float = 0.0, stop: Sequence[str] = ()
    ) -> list[str | Failure]:
        """For each prompt its reply, or why there is none, in the order of the prompts.

        ``max_tokens``: where a reply is cut; ``stop``: texts before which it ends.
        """


@dataclass(frozen=True, slots=True)
class Summary:
    """What a passage says about a question in one sentence; None: nothing.

    ``by``: "llm" or "extract"; ``reason``: why the model's summary was not taken, "" where it was.
    """

    text: str | None
    by: Literal["llm", "extract"]
    reason: str = ""


class Summariser(Protocol):
    """Query-focused summaries (the paper's section 4.2), which compete with the sentences in the hybrid rank."""

    def __call__(self, asked: Sequence[tuple[str, Passage]]) -> list[Summary]:
        """One summary for each main content with its passage, in their order."""


@dataclass(frozen=True, slots=True)
class Strategies:
    """What is handed in to a ranking, each of it optional.

    ``retriever`` finds the first passages, BM25 by default. ``scorer`` scores sentences by their text; ``row_scorer``
    by their row, and then ``scorer`` is only for the summaries; ``passage_scorer`` scores whole passages by their row.
    ``summariser`` writes the sentences that compete with those of the passages. ``ahead`` is told early what the
    retriever and the row scorers will be asked.
    """

    retriever: Retriever | None = None
    scorer: Scorer | None = None
    row_scorer: RowScorer | None = None
    passage_scorer: RowScorer | None = None
    summariser: Summariser | None = None
    ahead: Ahead | None = None


NOTHING = Strategies()
