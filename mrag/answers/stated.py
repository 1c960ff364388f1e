"""What a text states, in the terms of support.py: its words, names and numbers, its dates, and what each date dates."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from mrag.dates.calendar_words import NUMBERS, ORDINALS
from mrag.interval import OPEN_END, OPEN_START, Interval, Precision, civil, period
from mrag.keywords import slot
from mrag.names import names
from mrag.text import Span, split_sentences, term, words
from mrag.timex import scan

PAST = (
    r"became|began|begun|bore|bought|broke|brought|built|came|caught|chose|chosen|drew|drawn|drove|driven|fell|fallen|"
    r"felt|flew|flown|fought|found|gave|given|got|grew|grown|held|kept|knew|known|laid|led|left|lent|lost|made|met|"
    r"paid|put|ran|rode|rose|risen|said|sang|sat|saw|seen|sent|set|shot|sold|spent|spoke|spoken|stood|struck|swam|took|"
    r"taken|taught|thought|threw|thrown|told|went|won|wore|worn|wrote|written|[a-z]{2,30}ed"
)
"""A verb in a past form, as a pattern; "was" and "had" say nothing by themselves and are left out."""

_PAST = re.compile(PAST)
_DIGITS = re.compile(r"([0-9]{1,9})(?:st|nd|rd|th)?", re.IGNORECASE)
_TENS = range(20, 100, 10)
_NO_NUMBERS = frozenset(("a", "an", "one", "first"))  # "one of the", "was first shown"
_LISTED = re.compile(r"\s{0,2}(?:,|,? ?and|,? ?or|&|/)\s{1,2}")  # "the 2009 and 2018 Alder Cup"
_RANGE = re.compile(r"\b(?:to|until|till|through|and)\b|[–—]|(?<!mid)-(?=\w)")
_LEAD = 2  # words that may stand before a date that opens a sentence


class Date(NamedTuple):
    """A date of a text [start, end): the ``periods`` that its words name (both ends of a range), the operator before
    it, and the index terms of a longer ``name`` that it stands in ("the 1988 Summer Games"), none for none."""

    text: str
    start: int
    end: int
    periods: tuple[Interval, ...]
    operator: str | None = None
    name: frozenset[str] = frozenset()


class Word(NamedTuple):
    """A word [start, end) of a text; ``terms`` stand for it in an index, none for a word of the stop list.

    ``named``: part of a name; ``dated``: part of a date; ``number``: its value, None for no number.
    """

    text: str
    start: int
    end: int
    terms: tuple[str, ...]
    named: bool
    dated: bool
    number: int | None

    @property
    def common(self) -> bool:
        """Whether it says something and is neither a name, nor a number, nor part of a date."""
        return bool(self.terms) and not self.named and not self.dated and self.number is None

    @property
    def past(self) -> bool:
        """Whether it is a verb in a past form."""
        return not self.named and _PAST.fullmatch(self.text) is not None

    def stands_in(self, terms: frozenset[str]) -> bool:
        """Whether one of its terms is among them."""
        return not terms.isdisjoint(self.terms)


class Stated(NamedTuple):
    """A text, or a sentence of it, as its words and its dates; ``terms`` are the index terms of all its words."""

    words: Sequence[Word]
    dates: Sequence[Date]
    terms: frozenset[str]


class Clause(NamedTuple):
    """What a date dates: the words of it, and those of the relation that it states.

    ``together``: only all words of the relation make it ("was head coach of"), and not each of them ("signed and
    played").
    """

    date: Date
    words: Sequence[Word]
    relation: Sequence[Word]
    together: bool


def read(text: str, reference: Interval | None) -> Stated:
    """The words and the dates of a text; ``reference`` is the day of it, for relative dates.

    >>> found = read("Ida Moe won the 2009 and 2018 Coast Games.", None)
    >>> [(date.text, sorted(date.name)) for date in found.dates]
    [('2009', ['coast', 'game']), ('2018', ['coast', 'game'])]
    """
    tokens = words(text)
    runs = [(tokens[run.first][1], tokens[run.last - 1][2]) for run in names(text, tokens)]
    dates: list[Date] = []
    for timex in reversed(scan(text, reference=reference)):
        start, end = timex.core
        name = _name_beside(text, start, end, runs) if timex.name_like else frozenset()
        if not name and dates and timex.operator is None and _LISTED.fullmatch(text, end, dates[-1].start):
            name = dates[-1].name
        dates.append(Date(text[start:end], start, end, _periods(timex.named, text[start:end]), timex.operator, name))
    dates.reverse()
    named, dated = _covers(runs), _covers([(date.start, date.end) for date in dates])
    found = [
        Word(word, start, end, slot(word), named(start), dated(start), number)
        for (word, start, end), number in zip(tokens, _numbers(text, tokens), strict=True)
    ]
    return Stated(found, dates, terms_of(found))


def sentences(text: str, stated: Stated) -> list[Stated]:
    """A text sentence by sentence."""
    starts = [start for start, _ in split_sentences(text)]
    parts: list[tuple[list[Word], list[Date]]] = [([], []) for _ in starts]
    for word in stated.words:
        parts[max(bisect_right(starts, word.start) - 1, 0)][0].append(word)
    for date in stated.dates:
        parts[max(bisect_right(starts, date.start) - 1, 0)][1].append(date)
    return [Stated(own, dates, terms_of(own)) for own, dates in parts]


def clauses(text: str, stated: Stated) -> Iterator[Clause]:
    """Each date of a text with what it dates.

    In a sentence a date dates what stands before it, back to the date before; where a date opens the sentence, all of
    them date what stands behind. The relation is said by verbs in a past form, carried on where there is none
    ("Norfield won in 1979, Carrow Town in 1982"), else by all common words ("was mayor of").

    >>> text = "Norfield won in 1979, Carrow Town in 1982."
    >>> [" ".join(word.text for word in clause.words) for clause in clauses(text, read(text, None))]
    ['Norfield won in', 'Carrow Town in']
    """
    for sentence in sentences(text, stated):
        if not sentence.dates:
            continue
        plain = [word for word in sentence.words if not word.dated]
        starts = [date.start for date in sentence.dates]
        leads = sum(word.start < starts[0] for word in plain) <= _LEAD
        borders = [-1, *(starts[1:] if leads else [date.end for date in sentence.dates[:-1]]), math.inf]
        verbs: list[Word] = []
        for date, (first, last) in zip(sentence.dates, pairwise(borders), strict=True):
            own = [word for word in plain if first <= word.start < last]
            common = [word for word in own if word.common]
            verbs = [word for word in common if word.past] or verbs
            yield Clause(date, own, verbs or common, not verbs)


_NOT = frozenset("not never no nor neither none nobody nothing nowhere without cannot".split())
_IN_NAMES = frozenset("no not never nothing".split())  # that open a name: "Never Say Never"
_NOT_TO = frozenset("fail fails failed failing unable refuse refuses refused decline declines declined".split())
_NOT_DENIED = {  # words behind a negation with which it denies nothing
    "not": frozenset("only just merely least".split()),
    "no": frozenset("fewer less later earlier sooner".split()),
}
_UNTIL = frozenset(("until", "till"))  # "did not win until 1995" says that it did
_IN_PART = frozenset(  # "no longer", "not since 1990", "not the first to win": it was so
    "again all alone always anymore another before except first last longer more only other since than yet".split()
)
_ASIDE = frozenset("again also ever even longer one re".split())  # "was not even mayor"
_GOES_ON = frozenset("and but although though while whereas who which".split())
_PAUSE = re.compile(r"[,;:!?()–—]")
NEGATIONS = frozenset(value for word in _NOT | _NOT_TO if (value := term(word)) is not None)
"""The index terms of negations themselves."""


class Denial(NamedTuple):
    """A negation: the ``word`` that it denies, None where none follows, and all ``words`` that it may, to the end of
    its clause, with their index ``terms``.

    ``whole``: whether nothing of it was ever so; "no longer" and "not since 1990" do not say that.
    """

    word: Word | None
    words: Sequence[Word]
    terms: frozenset[str]
    whole: bool


def denials(text: str, stated: Stated) -> Iterator[Denial]:
    """What a sentence of a text says is not so.

    >>> text = "Ida Moe led it, and did not really win in 1979."
    >>> [(denial.word.text, len(denial.words)) for denial in denials(text, read(text, None)) if denial.word]
    [('win', 4)]
    """
    found = stated.words
    marks = [at for at in range(len(found)) if _denies(text, found, at)]
    for at, limit in pairwise([*marks, len(found)]):
        end = next((n for n in range(at + 1, limit) if _parted(text, found[n - 1], found[n])), limit)
        behind = found[at + 1 : end]
        low = {word.text.lower() for word in behind}
        if low.isdisjoint(_UNTIL):
            told = [word for word in behind if word.terms and not word.dated and word.text.lower() not in _ASIDE]
            aside = (word for word in told if word.named or not word.text.endswith("ly"))
            yield Denial(next(aside, told[0] if told else None), behind, terms_of(behind), low.isdisjoint(_IN_PART))


def _denies(text: str, found: Sequence[Word], at: int) -> bool:
    """Whether a word is a negation; not "not only", "no fewer than", "No. 5" and a part of a name ("Dr No")."""
    word = found[at]
    low = word.text.lower().replace("’", "'")
    follows = found[at + 1] if at + 1 < len(found) else None
    if word.named and (at > 0 or (low in _IN_NAMES and follows is not None and follows.named)):
        return False
    if low in _NOT_TO:
        return follows is not None and follows.text.lower() == "to"
    if low == "no" and (text.startswith(".", word.end) or (follows is not None and follows.text.isdigit())):
        return False
    if follows is not None and follows.text.lower() in _NOT_DENIED.get(low, ()):
        return False
    return low in _NOT or low.endswith("n't")


def _parted(text: str, before: Word, word: Word) -> bool:
    """Whether a clause ends between two words."""
    return word.text.lower() in _GOES_ON or _PAUSE.search(text, before.end, word.start) is not None


def terms_of(found: Sequence[Word]) -> frozenset[str]:
    """The index terms of some words."""
    return frozenset(word.terms[0] for word in found if word.terms)


def _covers(spans: Sequence[Span]) -> Callable[[int], bool]:
    """Whether one of the spans, in order and apart, holds a place."""
    starts = [start for start, _ in spans]

    def covers(place: int) -> bool:
        at = bisect_right(starts, place) - 1
        return at >= 0 and place < spans[at][1]

    return covers


def _name_beside(text: str, start: int, end: int, runs: Sequence[Span]) -> frozenset[str]:
    """The terms of the name right behind a date ("1988 Summer Games"), or right before it ("Boat Race 2017")."""
    at = bisect_right(runs, (end, end))
    for first, last in (*runs[at : at + 1], *runs[max(at - 1, 0) : at]):
        gap = text[end:first] if first >= end else text[last:start] if last <= start else "in it"
        if not gap.strip():
            return frozenset(value for word, _, _ in words(text[first:last]) if (value := term(word)) is not None)
    return frozenset()


def _periods(named: Interval, core: str) -> tuple[Interval, ...]:
    """The periods that a date's words name: of "1990–93" both years, of "the 1990s" and "early 2018" the whole."""
    if named.start == OPEN_START:
        return (_period(named.end, named.end_precision),)
    first = _period(named.start, named.start_precision)
    if named.end == OPEN_END:
        return (first,)
    return (first, _period(named.end, named.end_precision)) if _RANGE.search(core) else (named,)


def _period(day: int, precision: Precision) -> Interval:
    """The year, month or day, by its precision, that a day lies in."""
    return period(*civil(day)[: precision + 1])


def _numbers(text: str, tokens: Sequence[tuple[str, int, int]]) -> list[int | None]:
    """The number that each word is: of "24th" 24, of "sixth" 6, of both words of "twenty-four" 24."""
    out: list[int | None] = []
    for at, (word, start, _) in enumerate(tokens):
        low = word.lower()
        match = _DIGITS.fullmatch(word)
        number = int(match[1]) if match else None if low in _NO_NUMBERS else NUMBERS.get(low, ORDINALS.get(low))
        tens = out[-1] if out and text[tokens[at - 1][2] : start] == "-" else None
        if number is not None and number < 10 and tens in _TENS and match is None:
            out[-1] = number = number + (tens or 0)
        out.append(number)
    return out
