"""The stages behind the first, over the columns of a corpus: passages with their scores -> their final order.

prepare: passage keyword rank; score: sentences -> sentence keyword rank -> semantic x temporal; to_summarise: the best
passages; finish: summaries compete -> passages by their best sentences. It is cut where summaries are written, so that
one call of a language model can write those of many questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mrag import ranking, spline
from mrag.columns import Array, Bool, Float32, Int64, gather
from mrag.corpus import Corpus, Passage, analyse
from mrag.errors import InputError
from mrag.keywords import relation_text
from mrag.question import Constraint, Question
from mrag.settings import DEFAULTS, LEXICAL, MEANING, Mix, Settings
from mrag.strategies import NOTHING, Strategies, Summary
from mrag.text import split_sentences


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with its n passages in the order of the keyword rank, before their sentences are looked at.

    ``constraint`` and ``content`` are what is scored; ``rows`` int64[n] and ``first`` float32[n] the passages as the
    first stage gave them, ``page`` float32[n] the scores of their pages; ``order`` int64[n] their places in the
    keyword rank, of which the first ``kept`` go on; ``meaning`` float32[kept] what the passage scorer, if there is one,
    gives those for the content, and ``related`` float32[kept] for the relation alone.
    """

    question: Question
    constraint: Constraint | None
    content: str
    terms: ranking.Terms
    mix: Mix
    rows: Int64
    first: Float32
    page: Float32
    order: Int64
    kept: int
    meaning: Float32 | None
    related: Float32 | None

    @property
    def chosen(self) -> Int64:
        """int64[kept]: the places, in ``rows``, of the passages that go on."""
        return self.order[: self.kept]


@dataclass(frozen=True, slots=True)
class Pool:
    """s scored sentences: ``rows`` int64[s], each with its ``owner`` int64[s], ``semantic`` and ``temporal``
    float32[s], and the ``mentions`` int64[s] (-1: none) that gave the temporal scores."""

    rows: Int64
    owner: Int64
    semantic: Float32
    temporal: Float32
    mentions: Int64


@dataclass(frozen=True, slots=True)
class Scored:
    """The sentences of a question's passages with their scores, before summaries compete with them.

    Of each of the passages that go on: ``best`` int64[kept] its best sentence, as a place in the ``pool`` (-1: none),
    ``top`` float32[kept] that one's score, and ``rest`` float32[kept] what the whole passage adds. ``places`` int64[m]:
    which of them are to be summarised.
    """

    prepared: Prepared
    pool: Pool
    best: Int64
    top: Float32
    rest: Float32
    places: Int64


@dataclass(frozen=True, slots=True)
class Ranked:
    """n passages in their final order, as arrays: a row of the corpus, its score, and the sentence that decided.

    ``rows``, ``sentences`` (-1: none), ``mentions`` (-1: none) int64[n]; ``scores``, ``semantic``, ``temporal``
    float32[n]; ``ranks``: for each stage the place of each passage, from 1, int64[n]. Sentences and mentions behind
    the last of the corpus are those of ``written``, the summaries.
    """

    rows: Int64
    scores: Float32
    sentences: Int64
    semantic: Float32
    temporal: Float32
    mentions: Int64
    ranks: dict[str, Int64]
    written: Corpus | None = None


def first_query(question: Question, settings: Settings = DEFAULTS) -> str:
    """What the first stage looks for: the main content, or where time plays no part the question as it stands."""
    return (question.main_content if settings.temporal else "") or question.text


def texts_asked(question: Question, settings: Settings = DEFAULTS) -> list[str]:
    """All texts that an encoder meets in the stages of a question but for summaries; some may be the same."""
    _, content = _when_and_what(question, settings)
    related = [relation_text(content)] if settings.temporal and settings.profile == "interval" else []
    return [first_query(question, settings), content, *related]


def _when_and_what(question: Question, settings: Settings) -> tuple[Constraint | None, str]:
    """The constraint and the content that are scored; the paper's profile takes what it has no curve for as words."""
    constraint = question.constraint
    if not settings.temporal:
        return None, question.text
    if settings.profile == "paper" and constraint is not None and spline.paper_window(constraint) is None:
        return None, question.text
    return constraint, question.main_content


def prepare(
    question: Question,
    corpus: Corpus,
    rows: Int64,
    first: Float32,
    *,
    settings: Settings = DEFAULTS,
    given: Strategies = NOTHING,
) -> Prepared:
    """The keyword rank of ``rows`` int64[n], passages with their first-stage scores float32[n], best first."""
    constraint, content = _when_and_what(question, settings)
    terms = ranking.terms_of(content, corpus, question.keywords)
    known = given.scorer is not None or given.row_scorer is not None
    mix = settings.mix or (MEANING if known else LEXICAL)
    unit = _unit(first)
    page = np.zeros_like(unit)
    order: Int64 = np.arange(len(rows), dtype=np.int64)
    if settings.temporal:
        keyword = _unit(ranking.passage_keyword_scores(terms, corpus, rows))
        if settings.profile == "paper":
            order = ranking.best_first(keyword + unit)
        else:
            page = ranking.page_scores(corpus, rows, unit)
            order = ranking.best_first(mix.keywords * keyword + unit + mix.page * page)
    kept = min(settings.passages, len(order))
    meaning = related = None
    if given.passage_scorer is not None and settings.temporal:
        meaning = _clipped(given.passage_scorer(content, rows[order[:kept]]))
        if settings.profile == "interval":
            related = _clipped(given.passage_scorer(relation_text(content), rows[order[:kept]]))
    return Prepared(question, constraint, content, terms, mix, rows, first, page, order, kept, meaning, related)


def _clipped(scores: Float32) -> Float32:
    clipped: Float32 = np.clip(scores, 0.0, 1.0).astype(np.float32)
    return clipped


def score(prepared: Prepared, corpus: Corpus, *, settings: Settings = DEFAULTS, given: Strategies = NOTHING) -> Scored:
    """The sentences of the passages that go on, semantic x temporal, and which passages are worth a summary."""
    passages = prepared.rows[prepared.chosen]
    candidates = ranking.sentences_of(corpus, passages)
    present = ranking.sentence_presence(prepared.terms, corpus, candidates)
    read = given.scorer is not None and given.row_scorer is None  # words and stored vectors cost next to nothing
    if read or settings.profile == "paper":
        keyword = ranking.keyword_scores(prepared.terms, present)
        kept = np.sort(ranking.best_first(keyword, settings.sentences))
        candidates, present = candidates.take(kept), present[kept]
    meaning = _meaning(prepared.content, corpus, candidates, given)
    pool = _scored(prepared, corpus, candidates, present, meaning, settings)
    best, top, second = ranking.best_sentences(pool.semantic * pool.temporal, candidates.owner, len(passages))
    rest = np.zeros(len(passages), dtype=np.float32)
    if settings.profile == "interval":
        rest = _passage_scores(prepared, corpus, second)
    places = _worth_a_summary(prepared, top + rest, settings)
    return Scored(prepared, pool, best, top, rest, places)


def to_summarise(scored: Scored, corpus: Corpus) -> list[tuple[str, Passage]]:
    """The main content with each of the passages to be summarised, best first."""
    prepared = scored.prepared
    rows = prepared.rows[prepared.chosen[scored.places]]
    return [(prepared.content, corpus.passage(int(row))) for row in rows]


def finish(
    scored: Scored,
    corpus: Corpus,
    summaries: Sequence[Summary] = (),
    *,
    settings: Settings = DEFAULTS,
    given: Strategies = NOTHING,
) -> Ranked:
    """The hybrid rank; ``summaries`` are those of ``to_summarise``, in its order, or none at all."""
    prepared, pool, best, top = scored.prepared, scored.pool, scored.best, scored.top
    written = None
    if any(summary.text for summary in summaries):
        written, more = _summaries(scored, corpus, summaries, settings, given)
        best, top = _the_better(best, top, more, len(pool.semantic))
        pool = _joined(pool, more, corpus)
    scores = top + scored.rest if settings.temporal else prepared.first[prepared.chosen]
    final = ranking.best_first(scores) if settings.temporal else np.arange(prepared.kept)
    return replace(_ranked(prepared, final, scores, best, pool), written=written)


def _worth_a_summary(prepared: Prepared, scores: Float32, settings: Settings) -> Int64:
    """int64[m]: places, among the chosen, of the passages to summarise; none where time plays no part.

    The best of the hybrid rank as it is without summaries; with the paper's profile those of its passage semantic rank.
    """
    if not settings.temporal:
        return np.zeros(0, dtype=np.int64)
    if settings.profile == "interval":
        return ranking.best_first(scores, settings.summaries)
    if prepared.meaning is None:
        return np.arange(min(settings.summaries, prepared.kept), dtype=np.int64)
    return ranking.best_first(prepared.meaning, settings.summaries)


def _passage_scores(prepared: Prepared, corpus: Corpus, second: Float32) -> Float32:
    """float32[kept]: what is known of the whole passage, beside its best sentence (interval profile)."""
    mix, passages = prepared.mix, prepared.rows[prepared.chosen]
    title = ranking.title_share(prepared.terms, corpus, passages)
    unit, page = _unit(prepared.first)[prepared.chosen], prepared.page[prepared.chosen]
    scores: Float32 = mix.second * second + mix.first * unit + mix.title * title + mix.page * page
    scores += mix.length * ranking.fullness(corpus, passages)
    if prepared.related is not None:
        scores += mix.passage * prepared.related
    return scores


def _unit(scores: Float32) -> Float32:
    """Scores over their maximum, in [0, 1]."""
    top = float(np.max(scores, initial=0.0))
    unit: Float32 = np.maximum(scores, 0.0).astype(np.float32) / np.float32(top if top > 0 else 1.0)
    return unit


# --- semantic and temporal scores of sentences --------------------------------------------------------


def _scored(
    prepared: Prepared,
    corpus: Corpus,
    candidates: ranking.Candidates,
    present: Bool,
    meaning: Float32 | None,
    settings: Settings,
) -> Pool:
    semantic = _semantic(prepared.mix, meaning, prepared.terms, present, corpus, candidates)
    if settings.profile == "paper":
        semantic = ranking.share(prepared.terms, present) if meaning is None else meaning
    temporal, mentions = _temporal(prepared.constraint, prepared.content, corpus, candidates, settings)
    return Pool(candidates.rows, candidates.owner, semantic, temporal, mentions)


def _meaning(
    content: str, corpus: Corpus, candidates: ranking.Candidates, given: Strategies, *, by_row: bool = True
) -> Float32 | None:
    """float32[s] in [0, 1]: what the scorer that was handed in gives each sentence; None without one."""
    if given.row_scorer is not None and by_row:
        scores = given.row_scorer(content, candidates.rows)
    elif given.scorer is not None:
        scores = given.scorer(content, ranking.sentence_texts(corpus, candidates))
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


# --- summaries ----------------------------------------------------------------------------------------


def _summaries(
    scored: Scored, corpus: Corpus, summaries: Sequence[Summary], settings: Settings, given: Strategies
) -> tuple[Corpus, Pool]:
    """The summaries as a corpus of their own, a sentence each, and their scores.

    They are scored as sentences are: with the title, section and date of their passages, and with the weights that
    the question's words have in the corpus.
    """
    if given.row_scorer is not None and given.scorer is None:
        raise InputError("summaries have no stored vectors: hand in a scorer of texts beside the row_scorer")
    prepared = scored.prepared
    passages, owner = [], []
    for place, summary in zip(scored.places.tolist(), summaries, strict=True):
        if summary.text:
            whole = corpus.passage(int(prepared.rows[prepared.chosen[place]]))
            passages.append(replace(whole, text=_one_sentence(summary.text)))
            owner.append(place)
    written = analyse(passages)
    candidates = ranking.sentences_of(written, np.arange(len(passages), dtype=np.int64))
    terms = ranking.terms_elsewhere(prepared.terms, corpus, written)
    present = ranking.sentence_presence(terms, written, candidates)
    meaning = _meaning(prepared.content, written, candidates, given, by_row=False)
    pool = _scored(replace(prepared, terms=terms), written, candidates, present, meaning, settings)
    return written, replace(pool, owner=np.asarray(owner, dtype=np.int64)[pool.owner])


def _one_sentence(text: str) -> str:
    """A text of several sentences as one, so that what stands in them is found together."""
    flat = " ".join(text.split())
    parts = [flat[start:end] for start, end in split_sentences(flat)]
    return "; ".join([*(part.rstrip(".!?") for part in parts[:-1]), *parts[-1:]])


def _the_better(best: Int64, top: Float32, more: Pool, behind: int) -> tuple[Int64, Float32]:
    """The best sentence of each passage and its score, a summary where it scores higher; ``behind`` all sentences."""
    scores = more.semantic * more.temporal
    better = np.flatnonzero(scores > top[more.owner])  # a passage has one summary at most
    best, top = best.copy(), top.copy()
    best[more.owner[better]], top[more.owner[better]] = behind + better, scores[better]
    return best, top


def _joined(pool: Pool, more: Pool, corpus: Corpus) -> Pool:
    """Sentences and summaries together; rows and mentions of the summaries count on from those of the corpus."""
    sentences, mentions = len(corpus.sentence_starts), len(corpus.mention_starts)
    return Pool(
        np.concatenate((pool.rows, more.rows + sentences)),
        np.concatenate((pool.owner, more.owner)),
        np.concatenate((pool.semantic, more.semantic)),
        np.concatenate((pool.temporal, more.temporal)),
        np.concatenate((pool.mentions, np.where(more.mentions >= 0, more.mentions + mentions, -1))),
    )


# --- the final order ----------------------------------------------------------------------------------


def _ranked(prepared: Prepared, final: Int64, scores: Float32, best: Int64, pool: Pool) -> Ranked:
    """The chosen passages in their final order, the others of the first stage behind them with a score of 0."""
    order = prepared.order
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
        prepared.rows[everyone],
        np.concatenate((scores[final], np.zeros(n))).astype(np.float32),
        column(pool.rows, -1),
        column(pool.semantic, 0.0),
        column(pool.temporal, 0.0),
        column(pool.mentions, -1),
        {"first stage": everyone + 1, "keywords": keyword_place[everyone], "final": np.arange(1, len(order) + 1)},
    )
