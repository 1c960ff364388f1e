"""The paper's stages in order, strategies handed in: question -> ranked evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from mrag import bm25, ranking
from mrag.columns import Float32, Int64
from mrag.corpus import Corpus, Passage, analyse, within
from mrag.interval import OPEN_END, OPEN_START, Interval
from mrag.question import Constraint, Question, Relation, parse
from mrag.settings import DEFAULTS, Settings
from mrag.stages import Ranked, Scored, finish, first_query, prepare, score, texts_asked, to_summarise
from mrag.strategies import NOTHING, Retriever, Strategies, Summary
from mrag.text import tokenise
from mrag.timex import Mention

FITS = 0.5
"""From this temporal score on a sentence may well hold at the asked time; what cannot hold gets at most 0.25."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage with the sentence that decided its place: why it stands where it stands.

    ``score`` orders the ranking; ``semantic`` and ``temporal`` in [0, 1] are those of the sentence; ``mention`` is the
    date that gave the temporal score (None: undated, or no time asked); ``ranks`` the place of the passage after each
    stage, from 1. ``summarised``: the deciding sentence is a summary of the passage, and stands nowhere in it.
    """

    passage: Passage
    row: int
    sentence: str
    semantic: float
    temporal: float
    score: float
    mention: Mention | None
    ranks: dict[str, int]
    summarised: bool = False

    @property
    def fits(self) -> bool:
        """Whether what the sentence says may well hold at the time asked for: a temporal score of FITS or more."""
        return self.temporal >= FITS


@dataclass(frozen=True, slots=True)
class Ranking:
    """What comes out: the question as it was read, and the evidence, best first.

    ``summaries`` are those that were written for it, used or not, with why the model's own were not.
    """

    question: Question
    evidence: tuple[Evidence, ...]
    summaries: tuple[Summary, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether any evidence is dated inside the time that was asked for."""
        return any(evidence.fits for evidence in self.evidence)


def bm25_retriever(corpus: Corpus, k1: float = DEFAULTS.k1, b: float = DEFAULTS.b) -> Retriever:
    """The first stage of the base install: BM25 over title, section and text."""
    return partial(_bm25, corpus, bm25.norms(corpus.lexicon, k1, b))


def _bm25(
    corpus: Corpus, norms: Float32, queries: Sequence[str], k: int, *, window: Interval | None = None
) -> tuple[Int64, Float32]:
    allowed = None if window is None else within(corpus, window)
    rows = np.full((len(queries), k), -1, dtype=np.int64)
    scores = np.zeros((len(queries), k), dtype=np.float32)
    for i, query in enumerate(queries):
        ids = bm25.term_ids(corpus.lexicon, tokenise(query))
        found, values = bm25.top(bm25.scores(corpus.lexicon, ids[ids >= 0], norms), k, allowed)
        rows[i, : len(found)], scores[i, : len(found)] = found, values
    return rows, scores


# --- one question, and many --------------------------------------------------------------------------


def retrieve(
    question: str | Question,
    corpus: Corpus,
    *,
    k: int = 10,
    reference: Interval | None = None,
    settings: Settings = DEFAULTS,
    given: Strategies = NOTHING,
    window: Interval | None = None,
) -> Ranking:
    """The k best passages for a question, each with the sentence and the date that decided.

    ``given``: what finds and scores in place of words, see Strategies. ``reference`` is what "today" is for a question
    given as text; ``window`` admits only passages with a date in it.
    """
    return next(
        retrieve_many(
            [question], corpus, k=k, reference=reference, settings=settings, given=given, window=window, batch=1
        )
    )


def retrieve_many(
    questions: Iterable[str | Question],
    corpus: Corpus,
    *,
    k: int = 10,
    reference: Interval | None = None,
    settings: Settings = DEFAULTS,
    given: Strategies = NOTHING,
    window: Interval | None = None,
    batch: int = 64,
) -> Iterator[Ranking]:
    """``retrieve`` for each question, in order; the retriever and the summariser are called once for a ``batch``."""
    retriever = given.retriever or bm25_retriever(corpus, settings.k1, settings.b)
    remaining = iter(questions)
    while taken := list(islice(remaining, batch)):
        asked = [_asked(question, reference, window, settings) for question in taken]
        found = _scored(asked, corpus, retriever, settings, given, window)
        written = _summaries(found, corpus, given)
        for question, scored, summaries in zip(asked, found, written, strict=True):
            ranked = finish(scored, corpus, summaries, settings=settings, given=given)
            shown = range(min(k, len(ranked.rows)))
            yield Ranking(question, tuple(evidence(corpus, ranked, i) for i in shown), tuple(summaries))


def _asked(
    question: str | Question, reference: Interval | None, window: Interval | None, settings: Settings
) -> Question:
    """The question taken apart; one that names no time is asked for the window, so that the deciding sentence is one
    of that time."""
    asked = parse(question, reference=reference) if isinstance(question, str) else question
    if window is None or not settings.temporal or (asked.constraint is not None and asked.constraint.relation):
        return asked
    implicit = asked.constraint.implicit if asked.constraint else None
    relation: Relation = "since" if window.end == OPEN_END else "by" if window.start == OPEN_START else "from to"
    return replace(asked, constraint=Constraint(relation, implicit, window))


def _scored(
    asked: Sequence[Question],
    corpus: Corpus,
    retriever: Retriever,
    settings: Settings,
    given: Strategies,
    window: Interval | None,
) -> list[Scored]:
    """The passages of the first stage for each question, with their sentences scored."""
    if given.ahead is not None:
        given.ahead([text for question in asked for text in texts_asked(question, settings)])
    queries = [first_query(question, settings) for question in asked]
    rows, scores = retriever(queries, min(settings.first_stage, max(len(corpus), 1)), window=window)
    found = []
    for question, of, by in zip(asked, rows, scores, strict=True):
        kept = of >= 0
        prepared = prepare(question, corpus, of[kept], by[kept], settings=settings, given=given)
        found.append(score(prepared, corpus, settings=settings, given=given))
    return found


def _summaries(found: Sequence[Scored], corpus: Corpus, given: Strategies) -> list[list[Summary]]:
    """The summaries for each question, all of them written by one call of the summariser."""
    if given.summariser is None:
        return [[] for _ in found]
    asked = [to_summarise(scored, corpus) for scored in found]
    flat = iter(given.summariser([pair for pairs in asked for pair in pairs]))
    return [list(islice(flat, len(pairs))) for pairs in asked]


def evidence(corpus: Corpus, ranked: Ranked, i: int) -> Evidence:
    """The passage at place ``i`` with what decided it, as an object."""
    row, sentence, mention = int(ranked.rows[i]), int(ranked.sentences[i]), int(ranked.mentions[i])
    source, passage = corpus, row
    summarised = ranked.written is not None and sentence >= len(corpus.sentence_starts)
    if summarised and ranked.written is not None:
        source = ranked.written
        sentence -= len(corpus.sentence_starts)
        mention -= len(corpus.mention_starts) if mention >= 0 else 0
        passage = int(np.searchsorted(source.sentence_rows, sentence, side="right")) - 1
    return Evidence(
        corpus.passage(row),
        row,
        source.sentence(sentence) if sentence >= 0 else "",
        float(ranked.semantic[i]),
        float(ranked.temporal[i]),
        float(ranked.scores[i]),
        source.mention(mention, passage) if mention >= 0 else None,
        {stage: int(places[i]) for stage, places in ranked.ranks.items()},
        summarised,
    )


def rank_texts(
    question: str | Question,
    passages: Sequence[Passage],
    *,
    reference: Interval | None = None,
    settings: Settings = DEFAULTS,
    given: Strategies = NOTHING,
) -> Ranking:
    """All of the given passages in the order of their fit, none dropped: for texts that are already at hand.

    >>> ranking = rank_texts("Who led the club as of 2003?", [
    ...     Passage("1", "Odd Lie led the club in 1971."), Passage("2", "Ida Moe led the club from 1999 to 2006.")])
    >>> [(e.passage.id, str(e.mention.interval)) for e in ranking.evidence]
    [('2', '1999..2006'), ('1', '1971')]
    """
    asked = parse(question, reference=reference) if isinstance(question, str) else question
    corpus = analyse(passages)
    ids = bm25.term_ids(corpus.lexicon, tokenise(asked.main_content or asked.text))
    scores = bm25.scores(corpus.lexicon, ids[ids >= 0], bm25.norms(corpus.lexicon, settings.k1, settings.b))
    order = ranking.best_first(scores)
    everyone = replace(settings, passages=max(len(passages), 1))
    prepared = prepare(asked, corpus, order, scores[order], settings=everyone, given=given)
    scored = score(prepared, corpus, settings=everyone, given=given)
    [summaries] = _summaries([scored], corpus, given)
    ranked = finish(scored, corpus, summaries, settings=everyone, given=given)
    return Ranking(asked, tuple(evidence(corpus, ranked, i) for i in range(len(ranked.rows))), tuple(summaries))
