"""Temporal expressions in text: what they name, how they are bound, and what they say as evidence.

A text goes through date_tokens.py (tokens), date_scan.py (dates by the rules of date_rules.py, read by
date_readings.py) and date_context.py (operators, ranges, kinds); calendar_words.py holds the vocabulary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from mrag.dates.calendar_words import OPERATORS, may_spell_a_date
from mrag.dates.context import KINDS, Context, Kind, Timex
from mrag.dates.scanning import find
from mrag.dates.tokens import Tokens
from mrag.interval import OPEN_END, OPEN_START, Interval, civil, period, since, until

Source = Literal["own", "previous", "heading", "title", "document"]
SOURCES: tuple[Source, ...] = ("own", "previous", "heading", "title", "document")
FINGERPRINT = "timex-4"  # changes when the rules change: an index holds what they found

_DIGIT = re.compile(r"\d")

__all__ = ["FINGERPRINT", "KINDS", "OPERATORS", "SOURCES", "Kind", "Mention", "Source", "Timex", "find_dates", "scan"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A date that a text names, read as evidence: the words, where they stand, the days they cover.

    ``kind``: an event happened within the interval, a state was held throughout it, a start and an end
    are one side of something held, and a life dates a person and not the fact that is told.
    """

    text: str
    span: tuple[int, int]
    interval: Interval
    kind: Kind = "event"
    source: Source = "own"


def find_dates(text: str, *, reference: Interval | None = None) -> list[Mention]:
    """Every date that a text names, in text order, as evidence; spans do not overlap.

    Relative expressions ("last year") are dated against ``reference``, the day of the text, and
    passed over without one. Takes time linear in the length of the text, and raises on none.

    >>> [(m.text, str(m.interval), m.kind) for m in find_dates("She ruled from 1999 to 2006, and since 2011.")]
    [('from 1999 to 2006', '1999..2006', 'state'), ('since 2011', '2011..', 'start')]
    """
    return [
        Mention(text[timex.span[0] : timex.span[1]], timex.span, as_evidence(timex), timex.kind)
        for timex in scan(text, reference=reference)
    ]


def as_evidence(timex: Timex) -> Interval:
    """The days that an expression speaks of: what it names, or all days on one side of that.

    The bound itself counts on both sides: who was mayor "before 1855" may have been it in 1855.
    """
    named = timex.named
    if timex.operator == "after" and named.end != OPEN_END:  # "after the 1990s" is after 1999,
        named = period(*civil(named.end)[: named.end_precision + 1])
    elif timex.operator == "before" and named.start != OPEN_START:  # "before the 1990s" before 1990
        named = period(*civil(named.start)[: named.start_precision + 1])
    if timex.operator in ("since", "after"):
        return since(named)
    if timex.operator in ("until", "before", "by"):
        return until(named)
    return named


def scan(text: str, *, reference: Interval | None = None) -> list[Timex]:
    """Every temporal expression of a text with its operator, in text order; spans do not overlap.

    >>> [(t.operator, str(t.named)) for t in scan("Who led it after July 2019?")]
    [('after', '2019-07')]
    """
    if reference is None and not _DIGIT.search(text) and not may_spell_a_date(text):
        return []  # most sentences, and cheap to see
    tokens = Tokens(text)
    dates = find(tokens, reference)
    return Context(tokens, reference).read(dates) if dates else []
