"""The ranks of MRAG, functions from arrays to arrays: keyword, semantic and hybrid rank, passages out of sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mrag import bm25
from mrag.columns import Bool, Float32, Int16, Int32, Int64, gather
from mrag.corpus import Corpus
from mrag.keywords import Asked, Keyword, asked, keywords, related
from mrag.names import NAME_LONG, NAME_PERSON, NAME_PLACE


def best_first(scores: Float32, keep: int | None = None) -> Int64:
    """Positions int64[min(keep, n)] of the best scores, best first; of equals the earlier.

    >>> best_first(np.array([0.1, 0.5, 0.5], dtype=np.float32), 2).tolist()
    [1, 2]
    """
    return np.argsort(-scores, kind="stable")[:keep].astype(np.int64)


# --- a question in the terms of a corpus ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Terms:
    """A main content as a corpus sees it: q slots, one for each content word that any passage holds.

    ``slot_of``: the slot of each term id of the lexicon, -1 for terms that the question does not hold, int16[v];
    ``idf``: float32[q]; ``keyword_of``: the keyword of each slot, int64[q]; ``keyword_weights``: float32[k];
    ``related``: bool[v], terms of the relations that the question names; ``asked``: the kind of answer.
    """

    slot_of: Int16
    idf: Float32
    keyword_of: Int64
    keyword_weights: Float32
    related: Bool
    asked: Asked


def terms_of(main_content: str, corpus: Corpus, listed: Sequence[str] = ()) -> Terms:
    """The slots of a main content in a corpus; words that no passage holds count in no score.

    ``listed``: the words and names that alone have a weight in the keyword rank, as a language model lists them.
    """
    lexicon = corpus.lexicon
    slot_of = np.full(len(lexicon.terms), -1, dtype=np.int16)
    idf: list[float] = []
    keyword_of: list[int] = []
    found: Sequence[Keyword] = keywords(main_content)
    for at, keyword in enumerate(found):
        for alternatives in keyword.slots:
            ids = bm25.term_ids(lexicon, alternatives)
            ids = ids[ids >= 0]
            ids = ids[slot_of[ids] < 0]
            if len(ids):
                slot_of[ids] = len(idf)
                frequency = min(len(corpus), int(np.sum(lexicon.postings[ids + 1] - lexicon.postings[ids])))
                idf.append(float(np.log1p((len(corpus) - frequency + 0.5) / (frequency + 0.5))))
                keyword_of.append(at)
    hints = bm25.term_ids(lexicon, related(main_content))
    flags = np.zeros(len(lexicon.terms), dtype=np.bool_)
    flags[hints[hints >= 0]] = True
    return Terms(
        slot_of,
        np.asarray(idf, dtype=np.float32),
        np.asarray(keyword_of, dtype=np.int64),
        np.asarray([_weight(keyword, listed) for keyword in found], dtype=np.float32),
        flags,
        asked(main_content),
    )


def _weight(keyword: Keyword, listed: Sequence[str]) -> float:
    """The weight of a keyword; 0 for one that stands in none of those that are listed, if any are."""
    own = keyword.text.lower()
    kept = not listed or any(own in other.lower() or other.lower() in own for other in listed)
    return keyword.weight if kept else 0.0


def terms_elsewhere(terms: Terms, corpus: Corpus, other: Corpus) -> Terms:
    """The slots of a question in the lexicon of another corpus, with the weights that they have in the first one."""
    lexicon = other.lexicon.terms
    ids = bm25.term_ids(corpus.lexicon, [lexicon[i] for i in range(len(lexicon))])
    known = ids >= 0
    slot_of = np.where(known, terms.slot_of[ids], -1).astype(np.int16)
    return replace(terms, slot_of=slot_of, related=known & terms.related[ids])


def held(terms: Terms, column: Int32, rows: Int64, wanted: Int64) -> Bool:
    """bool[n, q]: which slots each of the ``wanted`` rows of a ragged column of term ids holds."""
    positions, pointers = gather(rows[wanted], rows[wanted + 1])
    slots = terms.slot_of[column[positions]]
    out = np.zeros((len(wanted), len(terms.idf)), dtype=np.bool_)
    hits = np.flatnonzero(slots >= 0)
    out[np.repeat(np.arange(len(wanted)), np.diff(pointers))[hits], slots[hits]] = True
    return out


def share(terms: Terms, present: Bool) -> Float32:
    """float32[n]: the share of the question's idf that each row of bool[n, q] holds, in [0, 1]."""
    total = float(terms.idf.sum())
    return (present @ terms.idf / total if total else np.zeros(len(present))).astype(np.float32)


def keyword_scores(terms: Terms, present: Bool) -> Float32:
    """float32[n]: the sum of the weights of the keywords that each row holds (the paper's keyword rank), softened.

    A name of several words counts by the share of its idf that the text holds, so that "Swedish Lapland Ranger
    Regiment" still finds the page that says "Lapland Ranger Regiment".
    """
    k = len(terms.keyword_weights)
    mass = np.zeros((len(terms.idf), k), dtype=np.float32)
    mass[np.arange(len(terms.idf)), terms.keyword_of] = terms.idf
    whole = mass.sum(axis=0)
    shares = (present @ mass) / np.where(whole > 0, whole, 1.0)
    scores: Float32 = (shares @ terms.keyword_weights).astype(np.float32)
    return scores


def passage_keyword_scores(terms: Terms, corpus: Corpus, passages: Int64) -> Float32:
    """float32[n]: the keyword score of whole passages (title, section and text), read off the postings."""
    lexicon = corpus.lexicon
    present = np.zeros((len(passages), len(terms.idf)), dtype=np.bool_)
    for term_id in np.flatnonzero(terms.slot_of >= 0):
        rows = lexicon.rows[lexicon.postings[term_id] : lexicon.postings[term_id + 1]]
        at = np.minimum(np.searchsorted(rows, passages), max(len(rows) - 1, 0))
        present[:, terms.slot_of[term_id]] |= rows[at] == passages
    return keyword_scores(terms, present)


def title_share(terms: Terms, corpus: Corpus, passages: Int64) -> Float32:
    """float32[n]: the share of each title's terms that the question holds, in [0, 1]; 0 without a title."""
    positions, pointers = gather(corpus.title_rows[passages], corpus.title_rows[passages + 1])
    counts = np.concatenate(([0], np.cumsum(terms.slot_of[corpus.title_terms[positions]] >= 0)))
    sizes = np.diff(pointers)
    shares: Float32 = (np.diff(counts[pointers]) / np.maximum(sizes, 1)).astype(np.float32)
    return shares


_LIFE = re.compile(r"\b(?:born|births?|die[ds]?|dead|deaths?|lived|buried)\b", re.IGNORECASE)


def about_a_life(content: str) -> bool:
    """Whether a question asks for a birth or a death, so that the dates of a life date the fact."""
    return _LIFE.search(content) is not None


# --- the lexical sentence scorer -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidates:
    """The sentences of some passages: ``rows`` int64[s], each with its ``owner`` int64[s], a place in ``passages``."""

    passages: Int64
    rows: Int64
    owner: Int64

    def take(self, places: Int64) -> Candidates:
        """Only the sentences at the given places, ascending."""
        return Candidates(self.passages, self.rows[places], self.owner[places])


def sentences_of(corpus: Corpus, passages: Int64) -> Candidates:
    """All sentences of the given passages, passage by passage."""
    rows, pointers = gather(corpus.sentence_rows[passages], corpus.sentence_rows[passages + 1])
    return Candidates(passages, rows, np.repeat(np.arange(len(passages)), np.diff(pointers)))


def sentence_presence(terms: Terms, corpus: Corpus, candidates: Candidates) -> Bool:
    """bool[s, q]: the slots that a sentence holds together with its title, its section and the line above its list."""
    own = held(terms, corpus.sentence_terms, corpus.term_rows, candidates.rows)
    above = held(terms, corpus.title_terms, corpus.title_rows, candidates.passages)
    above |= held(terms, corpus.section_terms, corpus.section_rows, candidates.passages)
    own |= above[candidates.owner]
    headers = corpus.sentence_headers[candidates.rows]
    items = np.flatnonzero(headers >= 0)
    own[items] |= held(terms, corpus.sentence_terms, corpus.term_rows, headers[items])
    return own


def sentence_texts(corpus: Corpus, candidates: Candidates) -> list[str]:
    """Each sentence as a scorer should read it: "title - section: line above its list sentence"."""
    headings = []
    for row in candidates.passages.tolist():
        title, section = corpus.titles[row], corpus.sections[row]
        headings.append(" - ".join(part for part in (title, section) if part))
    out = []
    for row, owner in zip(candidates.rows.tolist(), candidates.owner.tolist(), strict=True):
        header = int(corpus.sentence_headers[row])
        above = corpus.sentence(header)[-_HEADER:] + " " if header >= 0 else ""
        out.append(
            f"{headings[owner]}: {above}{corpus.sentence(row)}" if headings[owner] else above + corpus.sentence(row)
        )
    return out


_HEADER = 80  # characters of the line above a list that go with each of its items


def states_relation(terms: Terms, corpus: Corpus, candidates: Candidates) -> Bool:
    """bool[s]: whether a sentence, or the section that it stands in, speaks of the relation that the question names."""

    def any_related(column: Int32, rows: Int64, wanted: Int64) -> Bool:
        positions, pointers = gather(rows[wanted], rows[wanted + 1])
        counts = np.concatenate(([0], np.cumsum(terms.related[column[positions]])))
        return np.diff(counts[pointers]) > 0

    sections = any_related(corpus.section_terms, corpus.section_rows, candidates.passages)
    return any_related(corpus.sentence_terms, corpus.term_rows, candidates.rows) | sections[candidates.owner]


def brevity(corpus: Corpus, rows: Int64) -> Float32:
    """float32[s]: minus the log of a sentence's distinct terms over a usual dozen: a long one says much besides."""
    sizes = np.maximum(corpus.term_rows[rows + 1] - corpus.term_rows[rows], 1)
    shortness: Float32 = -np.log(sizes / 12.0).astype(np.float32)
    return shortness


_BACK_MATTER = re.compile(
    r"\b(?:references|external links|further reading|notes|sources|see also|citations|bibliography)\b", re.IGNORECASE
)


def back_matter(corpus: Corpus, passages: Int64) -> Bool:
    """bool[n]: the passages of a section that lists literature, whose dates are those of books."""
    sections = (raw.decode("utf-8", "replace") for raw in corpus.sections.raws(passages))
    return np.array([_BACK_MATTER.search(section) is not None for section in sections], dtype=np.bool_)


def page_scores(corpus: Corpus, passages: Int64, first: Float32) -> Float32:
    """float32[n]: of each passage the best first-stage score of any with its title: the page that is asked about.

    Times the share of the passages that have another of their page beside them: where every text is a page of its
    own, a page says nothing that the first stage has not said.
    """
    pages: dict[bytes, int] = {}
    titles = (title or b"\0%d" % at for at, title in enumerate(corpus.titles.raws(passages)))
    owner = np.array([pages.setdefault(title, len(pages)) for title in titles], dtype=np.int64)
    best = np.zeros(len(pages), dtype=np.float32)
    np.maximum.at(best, owner, first)
    beside = np.bincount(owner)[owner] > 1
    scores: Float32 = best[owner] * np.float32(beside.mean() if len(beside) else 0.0)
    return scores


def fullness(corpus: Corpus, passages: Int64) -> Float32:
    """float32[n]: the log of the number of a passage's terms over a usual 80: a long one may say what is asked too."""
    logs: Float32 = np.log(np.maximum(corpus.lexicon.lengths[passages], 1) / 80.0).astype(np.float32)
    return logs


def name_evidence(terms: Terms, corpus: Corpus, candidates: Candidates) -> tuple[Float32, Float32]:
    """float32[s] twice: whether a sentence brings a new long name, and how well one fits the kind of answer asked for.

    New: words that the question does not hold, nor the title where the title is what the question asks about (a
    title that it does not name may itself be the answer).
    """
    rows = candidates.rows
    names, pointers = gather(corpus.name_rows[rows], corpus.name_rows[rows + 1])
    words, word_pointers = gather(corpus.name_word_rows[names], corpus.name_word_rows[names + 1])
    ids = corpus.name_terms[words]
    owner = np.repeat(np.repeat(candidates.owner, np.diff(pointers)), np.diff(word_pointers))
    fresh = (terms.slot_of[ids] < 0) & ~_in_asked_title(terms, corpus, candidates.passages, owner, ids)
    new = np.diff(np.concatenate(([0], np.cumsum(fresh)))[word_pointers])
    flags = corpus.name_flags[names]
    long_new = (new >= 2).astype(np.float32)
    if terms.asked == "who":
        single = (new == 1) & (flags & NAME_LONG == 0)
        fit = np.where((flags & NAME_PERSON > 0) & (new >= 2), 1.0, np.where(single, 0.4, 0.0))
    elif terms.asked == "place":
        fit = np.where(new == 0, 0.0, np.where(flags & NAME_PLACE > 0, 1.0, 0.5))
    else:
        fit = np.where(new >= 2, 1.0, np.where(new == 1, 0.6, 0.0))
    return _row_max(long_new, pointers), _row_max(fit.astype(np.float32), pointers)


def _in_asked_title(terms: Terms, corpus: Corpus, passages: Int64, owner: Int64, ids: Int32) -> Bool:
    """bool[w]: which of the terms ``ids``, each of the passage ``owner``, stand in a title that the question names."""
    titles, pointers = gather(corpus.title_rows[passages], corpus.title_rows[passages + 1])
    of = np.repeat(np.arange(len(passages)), np.diff(pointers))
    shares = np.zeros(len(passages), dtype=np.bool_)
    shares[of[terms.slot_of[corpus.title_terms[titles]] >= 0]] = True
    size = len(corpus.lexicon.terms)
    keys = of.astype(np.int64) * size + corpus.title_terms[titles]
    return np.isin(owner * size + ids, keys[shares[of]])


def _row_max(values: Float32, pointers: Int64) -> Float32:
    out = np.zeros(len(pointers) - 1, dtype=np.float32)
    filled = np.flatnonzero(np.diff(pointers) > 0)
    if len(filled):
        out[filled] = np.maximum.reduceat(values, pointers[filled])
    return out


# --- passages out of sentences -------------------------------------------------------------------


def best_sentences(scores: Float32, owner: Int64, n: int) -> tuple[Int64, Float32, Float32]:
    """For each of n passages: the position of its best sentence int64[n] (-1 none), its score, the second best score.

    Of equal sentences the first.
    """
    order = np.lexsort((np.arange(len(scores)), -scores, owner))
    ranked = owner[order]
    first = np.flatnonzero(np.diff(ranked, prepend=-1))
    best = np.full(n, -1, dtype=np.int64)
    top = np.zeros(n, dtype=np.float32)
    second = np.zeros(n, dtype=np.float32)
    best[ranked[first]] = order[first]
    top[ranked[first]] = scores[order[first]]
    follows = first + 1
    follows = follows[(follows < len(order))]
    follows = follows[ranked[follows] == ranked[follows - 1]]
    second[ranked[follows]] = scores[order[follows]]
    return best, top, second
