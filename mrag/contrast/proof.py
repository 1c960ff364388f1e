"""What a question about a time admits, and whether a fact is provably the only answer to it.

W is the window of the question's constraint (question.Constraint.window), D its date, A and B the two dates of a
range; F is the fact, and the others are the facts of its timeline with other answers. A fact "surely" or "may" do
something according to what is known of its dates (facts.Span): what is known by years proves little about months.

No implicit condition: what holds at the time is asked for, and the question is made if nothing else can be meant.

    relation             F surely                                    no other may hold
    in                   held on a day of D                          on a day of D
    as of, on            held on every day of D                      on a day of D
    around               held on a day of D, or lies in D widened    on a day of D widened (spline.asked_period)
    between              held on a day of A and of B, or lies in W   on a day of W
    before, after        held on a day of W                          on a day of W
    by                   held before and in D, or happened before D  on a day of W
    from to              held on a day of A and of B                 on a day of W, but for a neighbour
    until                held before and in D                        on a day of W, but for F's successor
    since                held on a day of D                          on a day of W, but for F's predecessor

A neighbour shares only the period in which F itself began or ended: who led "from 1999 to 2006" is not in doubt
because another led until 1999. "Between" is not that lenient: it can be read as "at some time between".

First and last: what *began* in the window is asked for, and who may read it as "what held" gets the same answer.

    condition   F surely began in N, and each of the others surely
    first       began after F, or did not hold in W at all: nothing was there before F
    last        began after W, or began before F and had ended when F began

N is W without the bounds that can be read either way: without D for as of, until, by and since, without A and B for
between. "Since 1990" may take in 1990 or not, so the fact begins later; from which the others stay away in any case.

Equal starts, overlaps and unknown dates so make a question ambiguous, and it is not made. A fact with the same answer
contradicts nothing, but of several that fit only the first, or the last, is asked for: its evidence is what counts.
"First as of", "first until" and first or last "on" or "around" a date are left out: nobody asks so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mrag.contrast.facts import Others, Span
from mrag.interval import OPEN_END, OPEN_START, Interval, join, since, until
from mrag.question import RELATIONS, Constraint, Relation
from mrag.questions.implicit import Condition
from mrag.spline import asked_period

_RANGES = ("from to", "between")


@dataclass(frozen=True, slots=True)
class AskedTime:
    """When a question asks for: a relation, one date (two for a range, in order), and an implicit condition or None."""

    relation: Relation
    implicit: Condition | None
    dates: tuple[Interval, ...]

    @property
    def constraint(self) -> Constraint:
        """The constraint as question.parse reads it from such a question.

        >>> from mrag.interval import period
        >>> from mrag.question import parse
        >>> AskedTime("before", "last", (period(1990),)).constraint == parse("Who last won before 1990?").constraint
        True
        """
        date = self.dates[0]
        if self.relation in _RANGES:
            return Constraint(self.relation, self.implicit, join(*self.dates))
        if self.relation in ("as of", "until", "before", "by"):
            return Constraint(self.relation, self.implicit, until(date), end_included=self.relation != "before")
        if self.relation in ("after", "since"):
            return Constraint(self.relation, self.implicit, since(date), start_included=self.relation != "after")
        return Constraint(self.relation, self.implicit, date)

    @property
    def window(self) -> Interval:
        """The days that the constraint admits: those of its ``window()``."""
        first, last = self.dates[0], self.dates[-1]
        if self.relation == "before":
            return Interval(end=first.start - 1)
        if self.relation == "after":
            return Interval(start=first.end + 1)
        start = OPEN_START if self.relation in ("as of", "until", "by") else first.start
        return Interval(start, OPEN_END if self.relation == "since" else last.end)

    @property
    def narrowest(self) -> Interval | None:
        """The window without the bounds that not everybody counts in; None where nothing is left of it."""
        start, end = self.window.start, self.window.end
        if self.relation in ("as of", "until", "by", "between"):
            end = self.dates[-1].start - 1
        if self.relation in ("since", "between"):
            start = self.dates[0].end + 1
        return Interval(start, end) if start <= end else None


def is_proved(held: Span, beside: Others, asked: AskedTime) -> bool:
    """Whether a fact that held so is the only answer, whatever the unknown days of its and the others' dates are.

    >>> from mrag.contrast.facts import span
    >>> from mrag.interval import period
    >>> fact, next_one = span(period(1990), period(1995)), span(period(1995), period(1999))
    >>> [is_proved(fact, Others((next_one,)), AskedTime("in", None, (period(year),))) for year in (1993, 1995)]
    [True, False]
    """
    if not RULES[asked.relation, asked.implicit](held, beside.rivals, asked):
        return False
    if asked.implicit == "first":
        return all(one.begins.start > held.begins.end or not one.may_touch(asked.window) for one in beside.same)
    if asked.implicit == "last":
        return all(one.begins.end < held.begins.start or one.begins.start > asked.window.end for one in beside.same)
    return True


def _none_may_touch(others: Sequence[Span], days: Interval) -> bool:
    return not any(other.may_touch(days) for other in others)


def _in(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    return held.touches(asked.dates[0]) and _none_may_touch(others, asked.dates[0])


def _on_every_day(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    return held.covers(asked.dates[0]) and _none_may_touch(others, asked.dates[0])


def _around(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    widened = Interval(*asked_period(asked.constraint))
    return (held.touches(asked.dates[0]) or held.lies_in(widened)) and _none_may_touch(others, widened)


def _between(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    days = asked.window
    held_throughout = all(held.touches(date) for date in asked.dates)
    return (held_throughout or held.lies_in(days)) and _none_may_touch(others, days)


def _by(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    return (_is_held_up_to(held, asked) or _happened(held, asked)) and _none_may_touch(others, asked.window)


def _is_held_up_to(held: Span, asked: AskedTime) -> bool:
    """Whether a fact surely held before a date and on a day of it."""
    return held.touches(asked.dates[0]) and held.begins.end < asked.dates[0].start


def _happened(held: Span, asked: AskedTime) -> bool:
    """Whether a fact is an event, which began and ended in one period, and that before a date."""
    return held.begins == held.ends and held.ends.end < asked.dates[0].start


def _in_the_window(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    days = asked.window
    return held.touches(days) and _none_may_touch(others, days)


def _from_to(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    return all(held.touches(date) for date in asked.dates) and all(
        not other.may_touch(asked.window) or _made_way(other, held) or _took_over(other, held) for other in others
    )


def _until(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    return _is_held_up_to(held, asked) and all(
        not other.may_touch(asked.window) or _took_over(other, held) for other in others
    )


def _since(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    return held.touches(asked.dates[0]) and all(
        not other.may_touch(asked.window) or _made_way(other, held) for other in others
    )


def _made_way(other: Span, held: Span) -> bool:
    """Whether another fact had ended when this one began, or ended in the period in which this one began.

    It surely ended before this one did: what began and ended in that same period may have lain before or beside it.
    """
    return other.ends.end <= held.begins.end and other.ends.end < held.ends.start


def _took_over(other: Span, held: Span) -> bool:
    """Whether another fact began when this one had ended, or in the period of its end, and surely after its start."""
    return other.begins.start >= held.ends.start and other.begins.start > held.begins.end


def _is_first(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    return _began_in(held, asked.narrowest) and all(
        other.begins.start > held.begins.end or not other.may_touch(asked.window) for other in others
    )


def _is_last(held: Span, others: Sequence[Span], asked: AskedTime) -> bool:
    return _began_in(held, asked.narrowest) and all(
        other.begins.start > asked.window.end or (other.begins.end < held.begins.start and _made_way(other, held))
        for other in others
    )


def _began_in(held: Span, days: Interval | None) -> bool:
    return days is not None and days.start <= held.begins.start and held.begins.end <= days.end


_Rule = Callable[[Span, Sequence[Span], AskedTime], bool]

_HOLDS: dict[Relation, _Rule] = {
    "as of": _on_every_day,
    "from to": _from_to,
    "until": _until,
    "before": _in_the_window,
    "after": _in_the_window,
    "around": _around,
    "between": _between,
    "by": _by,
    "in": _in,
    "on": _on_every_day,
    "since": _since,
}
_NOT_FIRST = ("as of", "until", "on", "around")
_NOT_LAST = ("on", "around")

RULES: dict[tuple[Relation, Condition | None], _Rule] = {
    **{(relation, None): _HOLDS[relation] for relation in RELATIONS},
    **{(relation, "first"): _is_first for relation in RELATIONS if relation not in _NOT_FIRST},
    **{(relation, "last"): _is_last for relation in RELATIONS if relation not in _NOT_LAST},
}
"""The kinds of question that are made, each with its rule."""
