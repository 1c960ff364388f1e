"""The paper's stages in order, strategies handed in: question -> ranked evidence.

first stage -> passage keyword rank -> sentences (and summaries) -> sentence keyword rank -> semantic x temporal ->
passages by their best sentences. Each stage is a pure function of ranking.py; the scores of every stage are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from mrag import bm25, ranking, spline
from mrag.columns import Array, Bool, Float32, Int64, gather
from mrag.corpus import Corpus, Passage, analyse, within
from mrag.errors import InputError
from mrag.interval import OPEN_END, OPEN_START, Interval
from mrag.question import Constraint, Question, Relation, parse
from mrag.strategies import Retriever, RowScorer, Scorer
from mrag.text import tokenise
from mrag.timex import Mention

ProfileName = Literal["interval", "paper"]


@dataclass(frozen=True, slots=True)
class Mix:
    """How a passage's score is made of its parts (interval profile). benchmarks/ablation.py has a row for each.

    The keyword rank of passages: first-stage score + ``keywords`` x keyword score, each over its maximum.
    A sentence: ``meaning`` x the score of the scorer handed in + ``overlap`` x idf share of the question's words
    + ``relation`` where it speaks of the asked relation + ``kind`` x fit of a new name to the kind of answer + ``name``
    for a new long name + ``brevity`` x minus the logarithm of its length, times ``back_matter`` in a list of
    literature; that times the temporal score.
    A passage: its best sentence + ``second`` x the next + ``passage`` x what the passage scorer gives it + ``first`` x
    its first-stage score + ``title`` x share of its title + ``page`` x the first-stage scores of the page's best
    passages (first-stage scores over their maximum).
    """

    keywords: float
    meaning: float
    overlap: float
    relation: float
    kind: float
    name: float
    brevity: float
    back_matter: float
    second: float
    passage: float
    first: float
    title: float
    page: float


LEXICAL = Mix(
    keywords=1.0,
    meaning=0.0,
    overlap=0.52,
    relation=0.16,
    kind=0.1,
    name=0.05,
    brevity=0.05,
    back_matter=0.5,
    second=0.2,
    passage=0.0,
    first=0.25,
    title=0.2,
    page=0.3,
)
"""The mix of the base install, where words are all that is known of a sentence's meaning."""

MEANING = replace(LEXICAL, keywords=0.0, meaning=0.5, overlap=0.1, second=0.15, passage=0.4, first=0.2, page=0.45)
"""The mix where a scorer of sentences is handed in."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The sizes of the stages (defaults of the paper, section 5.1) and what scores time.

    ``temporal=False`` is exactly the plain first stage over the question as it was asked.
    """

    profile: ProfileName = "interval"
    temporal: bool = True
    first_stage: int = 1000
    passages: int = 100
    sentences: int = 200
    k1: float = 0.9
    b: float = 0.4
    mix: Mix | None = None  # None: LEXICAL, or MEANING where a scorer is handed in
    spline: spline.Profile = spline.PROFILE

    def __post_init__(self) -> None:
        if self.profile not in get_args(ProfileName):
            raise InputError(f"there is no profile {self.profile!r}: it is {' or '.join(get_args(ProfileName))}")
        if min(self.first_stage, self.passages, self.sentences) < 1:
            raise InputError("the stages keep one passage and one sentence at least")


DEFAULTS = Settings()

FITS = 0.5
"""From this temporal score on a sentence may well hold at the asked time; what cannot hold gets at most 0.25."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage with the sentence that decided its place: why it stands where it stands.

    ``score`` orders the ranking; ``semantic`` and ``temporal`` in [0, 1] are those of the sentence; ``mention`` is the
    date that gave the temporal score (None: undated, or no time asked); ``ranks`` the place of the passage after each
    stage, from 1.
    """

    passage: Passage
    row: int
    sentence: str
    semantic: float
    temporal: float
    score: float
    mention: Mention | None
    ranks: dict[str, int]

    @property
    def fits(self) -> bool:
        """Whether what the sentence says may well hold at the time asked for: a temporal score of FITS or more."""
        return self.temporal >= FITS


@dataclass(frozen=True, slots=True)
class Ranking:
    """What comes out: the question as it was read, and the evidence, best first."""

    question: Question
    evidence: tuple[Evidence, ...]

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


# --- one question over the columns of a corpus ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ranked:
    """n passages in their final order, as arrays: a row of the corpus, its score, and the sentence that decided.

    ``rows``, ``sentences`` (-1: none), ``mentions`` (-1: none) int64[n]; ``scores``, ``semantic``, ``temporal``
    float32[n]; ``ranks``: for each stage the place of each passage, from 1, int64[n].
    """

    rows: Int64
    scores: Float32
    sentences: Int64
    semantic: Float32
    temporal: Float32
    mentions: Int64
    ranks: dict[str, Int64]


def rank(
    question: Question,
    corpus: Corpus,
    *,
    settings: Settings = DEFAULTS,
    retriever: Retriever | None = None,
    scorer: Scorer | None = None,
    row_scorer: RowScorer | None = None,
    passage_scorer: RowScorer | None = None,
    window: Interval | None = None,
) -> Ranked:
    """All stages for one question; every passage of the first stage comes out, best first.

    ``scorer`` scores sentences by their text, ``row_scorer`` by their row in the corpus, and ``passage_scorer`` whole
    passages by theirs; each is optional.
    """
    retriever = retriever or bm25_retriever(corpus, settings.k1, settings.b)
    query = question.main_content or question.text
    if not settings.temporal:
        query = question.text
    rows, scores = retriever([query], min(settings.first_stage, max(len(corpus), 1)), window=window)
    kept = rows[0] >= 0
    return rank_passages(
        question,
        corpus,
        rows[0][kept],
        scores[0][kept],
        settings=settings,
        scorer=scorer,
        row_scorer=row_scorer,
        passage_scorer=passage_scorer,
    )


def rank_passages(
    question: Question,
    corpus: Corpus,
    rows: Int64,
    first: Float32,
    *,
    settings: Settings = DEFAULTS,
    scorer: Scorer | None = None,
    row_scorer: RowScorer | None = None,
    passage_scorer: RowScorer | None = None,
) -> Ranked:
    """The stages behind the first: ``rows`` int64[n] passages with their first-stage scores float32[n], best first."""
    constraint = question.constraint if settings.temporal else None
    content = question.main_content if settings.temporal else question.text
    if settings.profile == "paper" and constraint is not None and spline.paper_window(constraint) is None:
        constraint, content = None, question.text
    terms = ranking.terms_of(content, corpus)

    known = scorer is not None or row_scorer is not None
    mix = settings.mix or (MEANING if known else LEXICAL)
    order: Int64 = np.arange(len(rows), dtype=np.int64)
    if settings.temporal:
        keyword = ranking.passage_keyword_scores(terms, corpus, rows)
        weight = mix.keywords if settings.profile == "interval" else 1.0
        order = ranking.best_first(weight * _unit(keyword) + _unit(first))
    chosen = order[: settings.passages]
    candidates = ranking.sentences_of(corpus, rows[chosen])
    present = ranking.sentence_presence(terms, corpus, candidates)
    if row_scorer is None or settings.profile == "paper":  # what is scored by its row costs next to nothing
        kept = np.sort(ranking.best_first(ranking.keyword_scores(terms, present), settings.sentences))
        candidates, present = candidates.take(kept), present[kept]
    meaning = _meaning(content, corpus, candidates, scorer, row_scorer)
    semantic = _semantic(mix, meaning, terms, present, corpus, candidates)
    if settings.profile == "paper":
        semantic = ranking.share(terms, present) if meaning is None else meaning
    temporal, mentions = _temporal(constraint, content, corpus, candidates, settings)
    sentence_scores = semantic * temporal
    best, top, second = ranking.best_sentences(sentence_scores, candidates.owner, len(chosen))
    if not settings.temporal:
        scores = first[chosen]
    elif settings.profile == "paper":
        scores = top
    else:
        title = ranking.title_share(terms, corpus, rows[chosen])
        unit = _unit(first)[chosen]
        page = ranking.page_scores(corpus, rows[chosen], unit)
        scores = top + mix.second * second + mix.first * unit + mix.title * title + mix.page * page
        if passage_scorer is not None:
            scores += mix.passage * np.clip(passage_scorer(content, rows[chosen]), 0.0, 1.0)
    final = ranking.best_first(scores) if settings.temporal else np.arange(len(chosen))
    return _ranked(rows, first, order, final, scores, best, candidates.rows, semantic, temporal, mentions)


def _unit(scores: Float32) -> Float32:
    """Scores over their maximum, in [0, 1]."""
    top = float(np.max(scores, initial=0.0))
    unit: Float32 = np.maximum(scores, 0.0).astype(np.float32) / np.float32(top if top > 0 else 1.0)
    return unit


def _meaning(
    content: str,
    corpus: Corpus,
    candidates: ranking.Candidates,
    scorer: Scorer | None,
    row_scorer: RowScorer | None,
) -> Float32 | None:
    """float32[s] in [0, 1]: what the scorer that was handed in gives each sentence; None without one."""
    if row_scorer is not None:
        scores = row_scorer(content, candidates.rows)
    elif scorer is not None:
        scores = scorer(content, ranking.sentence_texts(corpus, candidates))
    else:
        return None
    meaning: Float32 = np.clip(scores, 0.0, 1.0).astype(np.float32)
    return meaning


def _semantic(
    mix: Mix,
    meaning: Float32 | None,
    terms: ranking.Terms,
    present: Bool,
    corpus: Corpus,
    candidates: ranking.Candidates,
) -> Float32:
    """float32[s]: how well each sentence answers the main content, in [0, 1]."""
    long_name, fit = ranking.name_evidence(terms, corpus, candidates)
    related = ranking.states_relation(terms, corpus, candidates)
    parts = mix.overlap * ranking.share(terms, present) + mix.relation * related + mix.kind * fit + mix.name * long_name
    parts += mix.brevity * ranking.brevity(corpus, candidates.rows)
    if meaning is not None:
        parts += mix.meaning * meaning
    back = ranking.back_matter(corpus, candidates.passages)[candidates.owner]
    semantic: Float32 = np.clip(np.where(back, mix.back_matter * parts, parts), 0.0, 1.0).astype(np.float32)
    return semantic


def _temporal(
    constraint: Constraint | None, content: str, corpus: Corpus, candidates: ranking.Candidates, settings: Settings
) -> tuple[Float32, Int64]:
    """float32[s] temporal scores of the sentences, and the row of the mention that gave each (int64[s], -1: none)."""
    n = len(candidates.rows)
    if constraint is None or constraint.relation is None:
        return np.ones(n, dtype=np.float32), np.full(n, -1, dtype=np.int64)
    positions, pointers = gather(corpus.mention_rows[candidates.rows], corpus.mention_rows[candidates.rows + 1])
    scores = spline.interval_scores(
        constraint,
        corpus.mention_starts[positions],
        corpus.mention_ends[positions],
        corpus.mention_kinds[positions],
        corpus.mention_sources[positions],
        life=ranking.about_a_life(content),
        profile=settings.spline,
    )
    best, at = spline.best_of(scores, pointers, settings.spline.undated)
    mentions = np.where(at >= 0, positions[at], -1) if len(positions) else at
    if settings.profile == "paper":
        years, pointers = gather(corpus.year_rows[candidates.rows], corpus.year_rows[candidates.rows + 1])
        best, _ = spline.best_of(spline.paper_scores(constraint, corpus.years[years]), pointers, spline.PAPER_OUTSIDE)
    return best, mentions


def _ranked(
    rows: Int64,
    first: Float32,
    order: Int64,
    final: Int64,
    scores: Float32,
    best: Int64,
    sentences: Int64,
    semantic: Float32,
    temporal: Float32,
    mentions: Int64,
) -> Ranked:
    """The chosen passages in their final order, the others of the first stage behind them with a score of 0."""
    chosen, behind = order[: len(final)][final], order[len(final) :]
    at = best[final]
    some = at >= 0
    n = len(behind)

    def column(values: Array, missing: float) -> Array:
        picked = np.where(some, values[at], missing) if len(values) else np.full(len(at), missing)
        whole: Array = np.concatenate((picked, np.full(n, missing))).astype(values.dtype)
        return whole

    everyone = np.concatenate((chosen, behind))
    keyword_place = np.empty(len(order), dtype=np.int64)
    keyword_place[order] = np.arange(1, len(order) + 1)
    return Ranked(
        rows[everyone],
        np.concatenate((scores[final], np.zeros(n))).astype(np.float32),
        column(sentences, -1),
        column(semantic, 0.0),
        column(temporal, 0.0),
        column(mentions, -1),
        {"first stage": everyone + 1, "keywords": keyword_place[everyone], "final": np.arange(1, len(order) + 1)},
    )


# --- results ----------------------------------------------------------------------------------------


def retrieve(
    question: str | Question,
    corpus: Corpus,
    *,
    k: int = 10,
    reference: Interval | None = None,
    settings: Settings = DEFAULTS,
    retriever: Retriever | None = None,
    scorer: Scorer | None = None,
    row_scorer: RowScorer | None = None,
    passage_scorer: RowScorer | None = None,
    window: Interval | None = None,
) -> Ranking:
    """The k best passages for a question, each with the sentence and the date that decided.

    What may be handed in is said at ``rank``.
    ``reference`` is what "today" is for a question given as text; ``window`` admits only passages with a date in it.
    """
    asked = parse(question, reference=reference) if isinstance(question, str) else question
    if window is not None and settings.temporal:
        asked = _asked_within(asked, window)
    ranked = rank(
        asked,
        corpus,
        settings=settings,
        retriever=retriever,
        scorer=scorer,
        row_scorer=row_scorer,
        passage_scorer=passage_scorer,
        window=window,
    )
    return Ranking(asked, tuple(evidence(corpus, ranked, i) for i in range(min(k, len(ranked.rows)))))


def _asked_within(question: Question, window: Interval) -> Question:
    """A question that names no time is asked for the window, so that the deciding sentence is one of that time."""
    if question.constraint is not None and question.constraint.relation is not None:
        return question
    implicit = question.constraint.implicit if question.constraint else None
    relation: Relation = "since" if window.end == OPEN_END else "by" if window.start == OPEN_START else "from to"
    return replace(question, constraint=Constraint(relation, implicit, window))


def retrieve_many(
    questions: Iterable[str | Question], corpus: Corpus, *, k: int = 10, **options: object
) -> Iterator[Ranking]:
    """``retrieve`` for each question, in order; the first stage is prepared once."""
    settings = options.get("settings", DEFAULTS)
    if options.get("retriever") is None and isinstance(settings, Settings):
        options["retriever"] = bm25_retriever(corpus, settings.k1, settings.b)
    for question in questions:
        yield retrieve(question, corpus, k=k, **options)  # type: ignore[arg-type]


def evidence(corpus: Corpus, ranked: Ranked, i: int) -> Evidence:
    """The passage at place ``i`` with what decided it, as an object."""
    row, sentence, mention = int(ranked.rows[i]), int(ranked.sentences[i]), int(ranked.mentions[i])
    return Evidence(
        corpus.passage(row),
        row,
        corpus.sentence(sentence) if sentence >= 0 else "",
        float(ranked.semantic[i]),
        float(ranked.temporal[i]),
        float(ranked.scores[i]),
        corpus.mention(mention, row) if mention >= 0 else None,
        {stage: int(places[i]) for stage, places in ranked.ranks.items()},
    )


def rank_texts(
    question: str | Question,
    passages: Sequence[Passage],
    *,
    reference: Interval | None = None,
    settings: Settings = DEFAULTS,
    scorer: Scorer | None = None,
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
    ranked = rank_passages(asked, corpus, order, scores[order], settings=everyone, scorer=scorer)
    return Ranking(asked, tuple(evidence(corpus, ranked, i) for i in range(len(ranked.rows))))
