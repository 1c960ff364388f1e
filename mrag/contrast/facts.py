"""Dated facts on timelines: from when to when each held, as exactly as that is known, and which of them compete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from mrag.errors import InputError
from mrag.evaluation.token_runs import fold
from mrag.interval import OPEN_END, OPEN_START, Interval, civil

Gaps = Literal["empty", "unknown"]
"""What is on the days that no fact of a timeline covers: nothing, or what is not known."""

ALWAYS_WAS = Interval(OPEN_START, OPEN_START)
"""The start of what had no beginning, as far as the timeline goes."""
STILL_IS = Interval(OPEN_END, OPEN_END)
"""The end of what goes on."""
MOST_FACTS = 2_000
"""On one timeline: each is compared with all the others."""


@dataclass(frozen=True, slots=True)
class Span:
    """When something held: the days on one of which it began, and those on one of which it ended.

    "From 1999 to March 2006" began on some day of 1999 and ended on some day of March 2006, so it surely held from
    31 December 1999 to 1 March 2006, and may have held from 1 January 1999 to 31 March 2006. What happened in 2005
    began and ended on some day of 2005.
    """

    begins: Interval
    ends: Interval

    @property
    def longest(self) -> Interval:
        """All days on which it may have held."""
        return Interval(self.begins.start, self.ends.end, self.begins.start_precision, self.ends.end_precision)

    def may_touch(self, days: Interval) -> bool:
        """Whether it may have held on one of the days."""
        return self.longest.overlaps(days)

    def touches(self, days: Interval) -> bool:
        """Whether it surely held on at least one of the days.

        >>> from mrag.interval import period
        >>> held = span(period(1999), period(2006, 3))
        >>> [held.touches(days) for days in (period(1999), period(1999, 5), period(2002, 5), period(2007))]
        [True, False, True, False]
        """
        return self.ends.start >= days.start and self.begins.end <= days.end

    def covers(self, days: Interval) -> bool:
        """Whether it surely held on each of the days."""
        return self.begins.end <= days.start and self.ends.start >= days.end

    def lies_in(self, days: Interval) -> bool:
        """Whether it surely began and ended on some of the days."""
        return days.start <= self.begins.start and self.ends.end <= days.end

    def boundary_years(self) -> tuple[int, ...]:
        """The years in which it began and ended, those that are known."""
        sides = (self.begins.start, self.begins.end), (self.ends.start, self.ends.end)
        years = [civil(first)[0] for first, last in sides if _is_known(first, last)]
        return tuple(dict.fromkeys(years))


def _is_known(first: int, last: int) -> bool:
    """Whether a day between two is one of a single year."""
    return first > OPEN_START and last < OPEN_END and civil(first)[0] == civil(last)[0]


def span(start: Interval | None, end: Interval | None) -> Span:
    """The span of what is known of a start and an end; None is unknown, ALWAYS_WAS and STILL_IS are open.

    Raises InputError for an end before the start.

    >>> from mrag.interval import period
    >>> str(span(period(1999), period(2006)).longest), str(span(period(1999), None).longest)
    ('1999..2006', '1999..')
    """
    begins = start or Interval(OPEN_START, OPEN_END if end is None else end.end)
    ends = end or Interval(begins.start, OPEN_END)
    if begins.start > ends.end:
        raise InputError(f"it ends ({ends}) before it starts ({begins})")
    begins = Interval(begins.start, min(begins.end, ends.end), begins.start_precision, begins.end_precision)
    return Span(begins, Interval(max(ends.start, begins.start), ends.end, ends.start_precision, ends.end_precision))


def within(days: Interval) -> Span:
    """The span of what began and ended on some of the days."""
    return Span(days, days)


@dataclass(frozen=True, slots=True)
class Fact:
    """What answers a question for a time.

    ``timeline`` names the facts among which it stands: all that can answer the same question. ``question`` has no
    time in it; "" makes a fact that competes with the others and of which no question is made. ``answers`` mean the
    same thing, or any one of them will do; () is a fact of which is only known that there is one. ``evidence``: texts
    that state it. ``extra`` is handed on as it came.
    """

    id: str
    timeline: str
    question: str
    answers: tuple[str, ...]
    span: Span
    evidence: tuple[str, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)


def timelines(facts: Iterable[Fact]) -> list[tuple[Fact, ...]]:
    """The facts of each timeline, timelines and facts in the order of their names: the order handed in plays no part.

    Raises InputError for an id that comes twice, and for more than MOST_FACTS on a timeline.
    """
    found: dict[str, dict[str, Fact]] = {}
    seen: set[str] = set()
    for fact in facts:
        if fact.id in seen:
            raise InputError(f"the id {fact.id!r} comes twice: give each fact its own")
        seen.add(fact.id)
        found.setdefault(fact.timeline, {})[fact.id] = fact
    for name, held in found.items():
        if len(held) > MOST_FACTS:
            raise InputError(
                f"{len(held):,} facts on the timeline {name[:80]!r}: more than {MOST_FACTS:,} never compete"
            )
    return [tuple(found[name][key] for key in sorted(found[name])) for name in sorted(found)]


class Others(NamedTuple):
    """When the other facts of a timeline held: those with other answers or unknown ones, and those with the same."""

    rivals: tuple[Span, ...] = ()
    same: tuple[Span, ...] = ()


def others(fact: Fact, timeline: Sequence[Fact], *, unknown: Sequence[Span] = ()) -> Others:
    """The facts beside a fact on its timeline; ``unknown`` are rivals besides, such as its gaps.

    Answers are the same where they are so letter for letter, case and spacing aside: who led a club twice is one
    answer.
    """
    own = _form(fact)
    rivals: list[Span] = list(unknown)
    same: list[Span] = []
    for other in timeline:
        if other is not fact:
            (same if own and _form(other) == own else rivals).append(other.span)
    return Others(tuple(rivals), tuple(same))


def _form(fact: Fact) -> tuple[str, ...]:
    return tuple(sorted({fold(answer) for answer in fact.answers}))


def gaps(timeline: Sequence[Fact]) -> list[Span]:
    """The days that no fact may have held on: before the first fact, between facts, behind the last.

    Where a timeline may lack facts, these are rivals of which nothing is known.

    >>> from mrag.interval import period
    >>> one, two = (Fact(str(y), "", "", (), span(period(y), period(y + 1))) for y in (1990, 1995))
    >>> [str(gap.longest) for gap in gaps([one, two])]
    ['..1989-12-31', '1992-01-01..1994-12-31', '1997-01-01..']
    """
    found: list[Span] = []
    free = OPEN_START
    for held in sorted((fact.span.longest for fact in timeline), key=lambda held: held.start):
        if free < held.start:
            found.append(within(Interval(free, held.start - 1)))
        free = max(free, min(held.end, OPEN_END) + 1)
    if free <= OPEN_END:
        found.append(within(Interval(free, OPEN_END)))
    return found
