"""Constraint x dates -> temporal scores in [0, 1]: the profile of the paper and the interval profile.

``paper`` is the paper's Figure 7 on the four-digit years of a sentence. ``interval``, the default, works on days
and on intervals: it asks whether what a date dates can hold at the time asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrag.columns import Float32, Int32, Int64, UInt8
from mrag.interval import OPEN_END, OPEN_START, Precision, civil, day_number
from mrag.question import Constraint
from mrag.timex import KINDS, SOURCES

Years = NDArray[np.float64]  # a time in years of 365.2425 days, counted from 1970

# --- the paper's profile: Figure 7 ---------------------------------------------------------------

PAPER_LOW = 0.6
PAPER_OUTSIDE = 0.5
PAPER_SPAN = 50

_PAPER_BEFORE = frozenset(("before", "as of", "by", "until"))
_PAPER_AFTER = frozenset(("from to", "since", "after"))


def paper_window(constraint: Constraint) -> tuple[int, int] | None:
    """The years [first, last] of the paper's scoring function; None for its type *other* (no temporal score).

    Two different years are `between` whatever the word; before is [Y - 50, Y], after [Y, Y + 50].
    """
    interval = constraint.interval
    first = None if interval.start == OPEN_START else civil(interval.start)[0]
    last = None if interval.end == OPEN_END else civil(interval.end)[0]
    if first is not None and last is not None:
        return (first, last) if first < last and constraint.relation not in ("in", "on", "around") else None
    if last is not None and constraint.relation in _PAPER_BEFORE:
        return last - PAPER_SPAN, last
    if first is not None and constraint.relation in _PAPER_AFTER:
        return first, first + PAPER_SPAN
    return None


def paper_scores(constraint: Constraint, years: NDArray[np.integer]) -> Float32:
    """float32[n]: the paper's temporal score of each year (Figure 7, Appendix G).

    Inside the window the score falls from 1 to 0.6 for `first`, and rises from 0.6 to 1 for `last` and for no
    implicit condition; outside it is 0.5. Raises ValueError for a constraint of type *other*.

    >>> from mrag.question import parse
    >>> paper_scores(parse("Who was the last owner before 1981?").constraint, np.array([1970, 1985])).round(3).tolist()
    [0.9120000004768372, 0.5]
    """
    window = paper_window(constraint)
    if window is None:
        raise ValueError(f"the paper gives the relation {constraint.relation!r} no temporal score")
    first, last = window
    rise = (years.astype(np.float64) - first) / (last - first)
    if constraint.implicit == "first":
        rise = 1.0 - rise
    inside = (years >= first) & (years <= last)
    return np.where(inside, PAPER_LOW + (1.0 - PAPER_LOW) * rise, PAPER_OUTSIDE).astype(np.float32)


# --- the interval profile ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Profile:
    """The constants of the interval profile; times in years. benchmarks/ablation.py has a row for each.

    ``memory``: how fast a date loses its force with its distance, as the tau of an exponential.
    ``outside``: the most that a date gets that cannot hold; ``undated``: a sentence without a date;
    ``ended``: a state that was over before the asked time; ``part``: a state that covers a part of it;
    ``open_state``: an open state ("since 1950") that began long ago; ``slope``: by how much `first` before and `last`
    after prefer the farther date; ``first_memory``: after so long a date has half its force for `first` after;
    ``until_reach``: how long what ended had held; ``previous``, ``heading``, ``title``, ``document``: how far an
    inherited date counts, between undated and own; ``validity``: the same for the time in which a document says that
    it holds as a whole; ``life``: how much of its score a life date keeps for a fact.
    """

    memory: float = 12.0
    outside: float = 0.25
    undated: float = 0.26
    ended: float = 0.45
    part: float = 0.6
    open_state: float = 0.5
    slope: float = 0.05
    first_memory: float = 4.0
    until_reach: float = 2.0
    previous: float = 0.6
    heading: float = 0.6
    title: float = 0.6
    document: float = 0.4
    validity: float = 0.85
    life: float = 0.45


PROFILE = Profile()

_DAYS_A_YEAR = 365.2425
_EVENT, _STATE, _START, _END, _LIFE = (KINDS.index(kind) for kind in ("event", "state", "start", "end", "life"))
_DOCUMENT = SOURCES.index("document")  # its day is an event, and how long it holds a state
_LONG_EVENT = 1.5  # an event dated by a longer period than this ("in the 1990s") is read as a state,
_SHORT_STATE = 0.5  # and what lasted shorter ("from 11 to 14 December") as an event


def _period_start(day: int, precision: Precision) -> int:
    year, month, dom = civil(day)
    return day_number(year, month if precision >= Precision.MONTH else 1, dom if precision == Precision.DAY else 1)


def _period_end(day: int, precision: Precision) -> int:
    year, month, _ = civil(day)
    if precision == Precision.DAY:
        return day
    if precision == Precision.YEAR:
        return day_number(year, 12, 31)
    return day_number(year + month // 12, month % 12 + 1) - 1


def asked_period(constraint: Constraint) -> tuple[int, int]:
    """The days [a, b] that the question points at: for a one-sided relation the period named at its bound.

    "before March 2019" and "as of March 2019" point at the edge of March 2019 and at March 2019; `around` takes in
    as much again on both sides; two bounds are the window between them.
    """
    named, window = constraint.interval, constraint.window()
    if constraint.relation == "before":
        return window.end, window.end
    if constraint.relation == "after":
        return window.start, window.start
    if named.start == OPEN_START:
        first = _period_start(named.end, named.end_precision)
        return first - (constraint.relation == "until"), named.end  # what held until 1999 held when it began
    if named.end == OPEN_END:
        last = _period_end(named.start, named.start_precision)
        return last, last
    if constraint.relation == "around":
        margin = {Precision.YEAR: 366, Precision.MONTH: 31, Precision.DAY: 7}[named.end_precision]
        return named.start - margin, named.end + margin
    return window.start, window.end


@dataclass(frozen=True, slots=True)
class _Dates:
    """Dates as the rules see them, in years: [lo, hi) and what they say."""

    lo: Years
    hi: Years
    state: NDArray[np.bool_]
    opened: NDArray[np.bool_]
    ended: NDArray[np.bool_]


def _near(gap: Years, memory: float) -> Years:
    return np.exp(-np.maximum(gap, 0.0) / memory)


def _hold(dates: _Dates, a: float, b: float, p: Profile) -> Years:
    """How likely what a date dates holds at some time in [a, b)."""
    floor = p.outside
    score = np.where(
        dates.lo >= b,
        floor * _near(dates.lo - b, p.memory),
        np.where(dates.hi > a, 1.0, floor + (1.0 - floor) * 0.95 * _near(a - dates.lo, p.memory)),
    )
    overlap = (dates.lo < b) & (dates.hi > a)
    covers = (dates.lo <= a) & (dates.hi >= b)
    over = floor + (1.0 - floor) * p.ended * _near(a - dates.hi, p.memory)
    score = np.where(dates.state & overlap, np.where(covers, 1.0, p.part), score)
    score = np.where(dates.state & (dates.hi <= a), over, score)
    held = p.open_state + (1.0 - p.open_state) * _near(a - dates.lo, p.memory)
    score = np.where(dates.opened & (dates.lo < b), held, score)
    until = floor + (0.95 - floor) * _near(2.0 * (dates.lo - b), p.memory)  # long before its end it had not begun
    return np.where(dates.ended, np.where(dates.hi >= a, until, floor * _near(a - dates.hi, p.memory)), score)


def _first(dates: _Dates, constraint: Constraint, a: float, b: float, p: Profile) -> Years:
    """`first`: before a bound any earlier date is nearly as good; after it the nearest; between, the earlier."""
    floor, lo = p.outside, dates.lo
    if constraint.interval.start == OPEN_START:
        return np.where(lo < b, 1.0 - p.slope * _near(b - lo, p.memory), floor * _near(lo - b, p.memory))
    if constraint.interval.end == OPEN_END:
        a = constraint.window().start / _DAYS_A_YEAR
        later = floor + (1.0 - floor) / (1.0 + np.maximum(lo - a, 0.0) / p.first_memory)
        return np.where(lo >= a, later, floor * _near(a - lo, p.memory))
    return _between(dates, a, b, 1.0 - (lo - a) / max(b - a, 1e-9), p)


def _last(dates: _Dates, constraint: Constraint, a: float, b: float, p: Profile) -> Years:
    """`last`: before a bound what holds at it; after it any later date is nearly as good; between, the later."""
    floor, lo = p.outside, dates.lo
    if constraint.interval.start == OPEN_START:
        return _hold(dates, a, b, p)
    if constraint.interval.end == OPEN_END:
        a = constraint.window().start / _DAYS_A_YEAR
        later = 1.0 - p.slope * _near(lo - a, p.memory)
        return np.where(lo >= a, later, np.where(dates.hi > a, floor, floor * _near(a - lo, p.memory)))
    return _between(dates, a, b, (lo - a) / max(b - a, 1e-9), p)


def _between(dates: _Dates, a: float, b: float, rise: Years, p: Profile) -> Years:
    floor, lo, hi = p.outside, dates.lo, dates.hi
    before = floor + 0.3 * _near(a - np.where(dates.state, hi, lo), p.memory)
    after = floor * _near(lo - b, p.memory)
    reaching = np.where((dates.state | dates.opened) & (hi > a), 0.7, before)
    return np.where(lo >= b, after, np.where(lo >= a, 0.75 + 0.25 * rise, reaching))


def interval_scores(
    constraint: Constraint,
    starts: Int32,
    ends: Int32,
    kinds: UInt8,
    sources: UInt8,
    *,
    life: bool = False,
    profile: Profile = PROFILE,
) -> Float32:
    """float32[m]: the temporal score of each mention under the interval profile.

    ``starts``, ``ends``: int32[m] days (open: OPEN_START, OPEN_END); ``kinds``, ``sources``: uint8[m], positions in
    timex.KINDS and SOURCES. Life dates date the person, and weakly what is said with them, unless the question is
    about a life (``life``).
    A constraint without a date scores 1 everywhere.
    """
    if constraint.relation is None:
        return np.ones(len(starts), dtype=np.float32)
    p = profile
    first, last = asked_period(constraint)
    a, b = first / _DAYS_A_YEAR, (last + 1) / _DAYS_A_YEAR
    lo = starts.astype(np.float64) / _DAYS_A_YEAR
    hi = (ends.astype(np.float64) + 1) / _DAYS_A_YEAR
    opened = (ends == OPEN_END) & (starts != OPEN_START)
    ended = starts == OPEN_START
    by = ended & (kinds == _EVENT) & (hi <= a)  # "by 1950 there were 640" still says something about 1955
    ended &= ~by
    lo = np.where(ended, hi - p.until_reach, np.where(by, hi - 1.0, lo))
    closed = ~opened & ~ended
    state = closed & (hi - lo > np.where(kinds == _STATE, _SHORT_STATE, _LONG_EVENT))
    dates = _Dates(lo, hi, state, opened, ended)
    if constraint.implicit == "first" and constraint.relation not in ("in", "on", "around"):
        scores = _first(dates, constraint, a, b, p)
    elif constraint.implicit == "last" and constraint.relation not in ("in", "on", "around"):
        scores = _last(dates, constraint, a, b, p)
    else:
        scores = _hold(dates, a, b, p)
        if constraint.interval.end == OPEN_END:
            later = p.outside + (1.0 - p.outside) * 0.8 * _near(lo - b, p.memory)
            scores = np.where(lo >= b, np.maximum(scores, later), scores)
    weights = np.ones(len(SOURCES))
    for source in ("previous", "heading", "title", "document"):
        weights[SOURCES.index(source)] = getattr(p, source)
    valid = (sources == _DOCUMENT) & (kinds == _STATE)
    scores = p.undated + np.where(valid, p.validity, weights[sources]) * (scores - p.undated)
    if not life:
        scores = np.where(kinds == _LIFE, np.maximum(p.undated, p.life * scores), scores)
    return np.clip(scores, 0.0, 1.0).astype(np.float32)


# --- sentences -----------------------------------------------------------------------------------


def best_of(scores: Float32, rows: Int64, missing: float) -> tuple[Float32, Int64]:
    """The best score of each ragged row: float32[n] scores and int64[n] positions, ``missing`` and -1 for empty rows.

    Several dates in a sentence: the highest temporal score counts (Appendix G); of equals the one written first.

    >>> best, at = best_of(np.array([0.2, 0.9, 0.9], dtype=np.float32), np.array([0, 3, 3]), 0.5)
    >>> best.round(2).tolist(), at.tolist()
    ([0.8999999761581421, 0.5], [1, -1])
    """
    n = len(rows) - 1
    best = np.full(n, missing, dtype=np.float32)
    at = np.full(n, -1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows) > 0)
    if len(filled):
        best[filled] = np.maximum.reduceat(scores, rows[filled])
        row = np.repeat(np.arange(n), np.diff(rows))
        hits = np.flatnonzero(scores == best[row])
        at[row[hits[::-1]]] = hits[::-1]  # the first hit of a row is written last
    return best, at
