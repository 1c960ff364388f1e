"""Alternative dates: times near a fact at which it is provably the only answer, drawn by a seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from mrag.contrast.facts import Others, Span
from mrag.contrast.proof import RULES, AskedTime, is_proved
from mrag.interval import OPEN_END, OPEN_START, Precision, civil, day_number, period
from mrag.question import Relation
from mrag.questions.implicit import Condition

Kind = tuple[Relation, Condition | None]

TRIES = 32  # dates drawn for a kind of question before it is given up
REACH = 3652  # days around a fact in which they are drawn, where it need not hold
NEAR = 730  # and where it must almost
_PRECISIONS = (Precision.YEAR,) * 5 + (Precision.MONTH,) * 3 + (Precision.DAY,) * 2
_EARLIEST, _LATEST = day_number(-2999), day_number(9998, 12, 31)
_INSIDE = frozenset(("as of", "in", "on", "from to", "until", "since"))
_NEAR = frozenset(("around", "between"))


class Draw:
    """Numbers that hang on nothing but a seed and what they are drawn for: the same on every machine."""

    def __init__(self, *seed: object) -> None:
        self._seed = repr(seed)

    def three(self, *what: object) -> tuple[float, float, float]:
        """Three numbers in [0, 1)."""
        drawn = blake2b(f"{self._seed}{what}".encode("utf-8", "replace"), digest_size=18).digest()
        one, two, three = (int.from_bytes(drawn[at : at + 6], "big") / 2**48 for at in (0, 6, 12))
        return one, two, three


def latest(spans: Iterable[Span]) -> int:
    """The last day that is known of some facts: what they tell of ends there, and so do the times asked for."""
    ends = (day for held in spans for day in (held.begins.start, held.begins.end, held.ends.start, held.ends.end))
    return max((day for day in ends if OPEN_START < day < OPEN_END), default=_LATEST)


def proved_times(held: Span, beside: Others, draw: Draw, *, until: int = _LATEST) -> list[AskedTime]:
    """For each kind of question, in the order of proof.RULES, a time at which a fact is the only answer, where one is.

    None is later than the day ``until``; none at all for a fact of which no date is known.
    """
    zone = _zone(held)
    if zone is None:
        return []
    drawn = (_times(kind, held, zone, min(until, _LATEST), draw) for kind in RULES)
    found = (next((asked for asked in times if is_proved(held, beside, asked)), None) for times in drawn)
    return [asked for asked in found if asked is not None]


def _zone(held: Span) -> tuple[int, int] | None:
    """The days from the start of a fact to its end, of what is known of them; None where nothing is."""
    sides = (held.begins.start, held.begins.end, held.ends.start, held.ends.end)
    days = [day for day in sides if OPEN_START < day < OPEN_END]
    if not days:
        return None
    low, high = min(days), max(days)
    if held.ends.start == OPEN_END:  # it goes on
        high += REACH
    if held.begins.end == OPEN_START:
        low -= REACH
    return low, high


def _times(kind: Kind, held: Span, zone: tuple[int, int], until: int, draw: Draw) -> Iterator[AskedTime]:
    """Times of a kind to try, at every precision: only a proof knows how exact a date may be."""
    relation, implicit = kind
    low, high = _reached(kind, held, zone)
    low, high = max(low, _EARLIEST), min(high, until)
    if low > high:
        return
    ends = 2 if relation in ("from to", "between") else 1
    for attempt in range(TRIES):
        exactly, *where = draw.three(relation, implicit, attempt)
        precision = _PRECISIONS[int(exactly * len(_PRECISIONS))]
        if relation == "on":
            precision = Precision.DAY
        elif relation == "in":
            precision = min(precision, Precision.MONTH)
        days = sorted(low + int(at * (high - low + 1)) for at in where[:ends])
        dates = tuple(period(*civil(day)[: precision + 1]) for day in days)
        if ends == 1 or dates[0].end < dates[1].start:
            yield AskedTime(relation, implicit, dates)


def _reached(kind: Kind, held: Span, zone: tuple[int, int]) -> tuple[int, int]:
    """The days among which the dates of a kind of question are drawn."""
    relation, implicit = kind
    low, high = zone
    if implicit is None and relation in _NEAR:
        low, high = low - NEAR, high + NEAR
    elif implicit is not None and relation == "in":
        low, high = max(low, held.begins.start), min(high, held.begins.end)
    elif implicit is not None or relation not in _INSIDE:
        low, high = low - REACH, high + REACH
    return low, high
