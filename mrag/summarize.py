"""Query-focused summaries: what a passage says about a main content in one dated sentence (the paper's section 4.2).

Offline, a sentence of the passage joined with the one that dates it; with a language model its own sentence, where that
stands in the passage (support.py). A passage whose best sentence has a date of its own needs no summary, since that
sentence competes by itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from mrag.answers.quoting import one_line, quoted_passage
from mrag.answers.replies import MOST_REASON, admits_nothing, ask_model, sentence_of, why
from mrag.answers.stated import PAST
from mrag.answers.support import unsupported, written
from mrag.corpus import Passage
from mrag.keywords import Asked, keywords, related
from mrag.keywords import asked as kind_of_answer
from mrag.names import NAME_LONG, NAME_PERSON, NAME_PLACE, names
from mrag.prompts import summary as prompts
from mrag.strategies import Failure, LanguageModel, Summariser, Summary
from mrag.text import Span, split_sentences, term, words
from mrag.timex import Mention, find_dates

__all__ = ["MOST_WORDS", "by_model", "extract", "extractor", "unsupported"]

MOST_WORDS = 60
"""Words of a summary; a model's that has more is no sentence."""

_TOKENS = 128

# --- by extraction --------------------------------------------------------------------------------------

_MOST_TAKEN = 50  # words of each of the two sentences
_RELATION, _KIND = 0.1, 0.15  # what the asked relation, and a name of the asked kind, weigh beside the words asked for
_NOW = re.compile(r"\b(?:is|are|has|have|will|now|currently|today|still)\b")
_THEN = re.compile(rf"\b(?:was|were|had|did|{PAST})\b")
_EDITION = re.compile(r"^\d{4}\b|\b(?:season|series|cycle|edition)\W{0,2}\d", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;:](?= )|(?<= )[–—-](?= )")


class _Sentence(NamedTuple):
    """A sentence [start, end) of a passage as a main content sees it, in [0, 1].

    ``own``: the share of the main content's weight that stands in the sentence and neither in title nor section;
    ``related``: whether it speaks of the asked relation; ``fit``: how well a new name in it is of the asked kind.
    """

    start: int
    end: int
    own: float
    related: bool
    fit: float

    @property
    def score(self) -> float:
        """How much it says of what is asked."""
        return self.own + _RELATION * self.related + _KIND * self.fit


def extract(main_content: str, passage: Passage) -> Summary:
    """The sentence that says most of the main content, joined with the one that dates it; no model is needed.

    What such a join misdates costs more in a ranking than it brings, so there is none (None) unless the sentence tells
    of the past, has no date of its own, and holds a word of the main content, or of its relation, that title and
    section do not. It is dated by the sentence before it; else by the only dated one of the passage before it, or by
    the one behind it where none before is dated. But where the title names one edition of something ("season 24"), a
    dated sentence before it that names the title dates all of the passage.

    >>> text = "The sixth Baker's Bowl was held on 9 May 2018. The winner of the contest was Ida Moe."
    >>> extract("Who won the Baker's Bowl?", Passage("1", text, title="Baker's Bowl")).text == text
    True
    """
    sentences = _read(main_content, passage)
    best = max(range(len(sentences)), key=lambda at: sentences[at].score, default=-1)  # of equals the first
    if best < 0 or not (sentences[best].own or sentences[best].related):
        return Summary(None, "extract")
    said = passage.text[sentences[best].start : sentences[best].end]
    if _NOW.search(said) or not _THEN.search(said):
        return Summary(None, "extract")
    dates: list[list[Mention]] = [[] for _ in sentences]
    starts = [sentence.start for sentence in sentences]
    for mention in find_dates(passage.text, reference=written(passage)):
        dates[max(bisect_right(starts, mention.span[0]) - 1, 0)].append(mention)
    dating = -1 if dates[best] else _dating(best, passage, sentences, dates)
    if dating < 0:
        return Summary(None, "extract")
    dated = sentences[dating]
    parts = {
        dating: _taken(passage.text, (dated.start, dated.end), dates[dating][0].span[0]),
        best: _taken(passage.text, (sentences[best].start, sentences[best].end), sentences[best].start),
    }
    return Summary(" ".join(parts[at] for at in sorted(parts)), "extract")


def extractor(asked: Sequence[tuple[str, Passage]]) -> list[Summary]:
    """``extract`` for each main content with its passage: the Summariser of the base install."""
    return [extract(main_content, passage) for main_content, passage in asked]


@lru_cache(maxsize=1 << 8)
def _wanted(main_content: str) -> tuple[tuple[tuple[frozenset[str], float], ...], frozenset[str], Asked]:
    """The words of a main content as index terms with their weights (a sum of 1), the terms of its relation, and the
    kind of answer that it asks for."""
    found = [
        (frozenset(slot), keyword.weight / len(keyword.slots) ** 0.5)
        for keyword in keywords(main_content)
        for slot in keyword.slots
    ]
    whole = sum(weight for _, weight in found)
    slots = tuple((slot, weight / whole) for slot, weight in found)
    return slots, frozenset(related(main_content)), kind_of_answer(main_content)


def _read(main_content: str, passage: Passage) -> list[_Sentence]:
    """The sentences of a passage as a main content sees them."""
    slots, relation, kind = _wanted(main_content)
    text = passage.text
    tokens = words(text)
    terms = [term(word) for word, _, _ in tokens]
    above = {term(word) for word, _, _ in words(f"{passage.title}\n{passage.section}")}
    free = [(slot, weight) for slot, weight in slots if slot.isdisjoint(above)]
    known = above.union(*(slot for slot, _ in slots))
    spans = split_sentences(text)
    starts = [start for start, _ in spans]
    held: list[set[str]] = [set() for _ in spans]
    for (_, start, _), value in zip(tokens, terms, strict=True):
        if value is not None:
            held[max(bisect_right(starts, start) - 1, 0)].add(value)
    fits = [0.0] * len(spans)
    for name in names(text, tokens):
        new = sum(terms[at] is not None and terms[at] not in known for at in range(name.first, name.last))
        at = max(bisect_right(starts, tokens[name.first][1]) - 1, 0)
        fits[at] = max(fits[at], _fit(kind, new, name.flags))
    return [
        _Sentence(
            *span,
            sum(weight for slot, weight in free if not slot.isdisjoint(own)),
            not relation.isdisjoint(own),
            fit,
        )
        for span, own, fit in zip(spans, held, fits, strict=True)
    ]


def _fit(kind: Asked, new: int, flags: int) -> float:
    """How well a name with so many new words answers a question for a person, a place or anything else, in [0, 1]."""
    if not new:
        return 0.0
    if kind == "place":
        return 1.0 if flags & NAME_PLACE else 0.5
    if kind == "who" and not flags & NAME_PERSON:
        return 0.0 if flags & NAME_LONG else 0.5
    return 1.0 if new >= 2 else 0.5


def _dating(best: int, passage: Passage, sentences: Sequence[_Sentence], dates: Sequence[list[Mention]]) -> int:
    """Which sentence dates sentence ``best``, -1 for none; a date of a person's life dates nothing else."""
    dated = [at for at, found in enumerate(dates) if any(mention.kind != "life" for mention in found)]
    before = [at for at in dated if at < best]
    if _EDITION.search(passage.title):
        title = {value for word, _, _ in words(passage.title) if (value := term(word)) is not None}
        for at in before:
            found = {term(word) for word, _, _ in words(passage.text[sentences[at].start : sentences[at].end])}
            if 2 * len(title & found) >= len(title):
                return at
    if best - 1 in before:
        return best - 1
    if before:
        return before[0] if len(dated) == 1 else -1
    return best + 1 if best + 1 in dated else -1


def _taken(text: str, span: Span, keep: int) -> str:
    """A sentence of a text; of one with more than _MOST_TAKEN words the clauses around the place ``keep``."""
    start, end = span
    if len(text[start:end].split()) <= _MOST_TAKEN:
        return text[start:end]
    borders = [start, *(match.end() for match in _CLAUSE_END.finditer(text, start, end)), end]
    sizes = [len(text[one:other].split()) for one, other in pairwise(borders)]
    first = max(bisect_right(borders, keep) - 1, 0)
    last, size = first + 1, sizes[first]
    while last < len(sizes) and size + sizes[last] <= _MOST_TAKEN:
        size += sizes[last]
        last += 1
    while first > 0 and size + sizes[first - 1] <= _MOST_TAKEN:
        first -= 1
        size += sizes[first]
    return " ".join(text[borders[first] : borders[last]].split()[:_MOST_TAKEN]).rstrip(" ,;:–—-")


# --- by a language model ----------------------------------------------------------------------------------


def by_model(model: LanguageModel) -> Summariser:
    """Summaries written by a language model, all that are asked for at once in one call of it.

    What the model says without it standing in its passage (``unsupported``), what is no sentence of MOST_WORDS words
    at most, and what failed gives way to ``extract``, with the reason; that a passage says nothing is taken as it is.
    """
    return partial(_by_model, model)


def _by_model(model: LanguageModel, asked: Sequence[tuple[str, Passage]]) -> list[Summary]:
    texts = [prompts.summary(main_content, _shown(main_content, passage)) for main_content, passage in asked]
    replies = ask_model(model, 0.0, texts, _TOKENS)
    return [
        _checked(reply, main_content, passage) for reply, (main_content, passage) in zip(replies, asked, strict=True)
    ]


def _shown(main_content: str, passage: Passage) -> str:
    """A passage as a prompt shows it: of a long one the part around the sentence that says most."""
    best = max(_read(main_content, passage), key=lambda sentence: sentence.score, default=None)
    return quoted_passage(passage, passage.text[best.start : best.end] if best else "")


def _checked(reply: str | Failure, main_content: str, passage: Passage) -> Summary:
    """The model's summary where it can be taken, else the extract with the reason."""
    if isinstance(reply, Failure):
        reason = f"the model gave no summary: {why(reply)}"
    else:
        said = sentence_of(reply)
        text = next((said[start:end] for start, end in split_sentences(said)), "")
        if not text or (admits_nothing(text) and not find_dates(text)):
            return Summary(None, "llm")
        if len(text.split()) > MOST_WORDS:
            reason = f"the model's summary has more than {MOST_WORDS} words"
        elif wrong := unsupported(text, passage, main_content):
            reason = f"the model's summary does not stand in the passage: {wrong}"
        else:
            return Summary(text, "llm")
    return Summary(extract(main_content, passage).text, "extract", one_line(reason, MOST_REASON))
