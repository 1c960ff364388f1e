"""Finding dates: tokens in, each date with its rule and its days out, before anything around it is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.dates.calendar_words import CLASS
from mrag.dates.readings import Parts, is_day_first, whole, year_parts
from mrag.dates.rules import LEAD, RELATIVE_SCANNER, SCANNER, Rule
from mrag.dates.tokens import Tokens
from mrag.interval import MAX_YEAR, Interval

_THE, _WEEKDAY, _FULLDATE = CLASS["THE"], CLASS["WEEKDAY"], CLASS["FULLDATE"]
_LEAD_ENDS = frozenset(
    CLASS[name] for name in ("THE", "PART", "DASH", "IN", "OF", "YEARWORD", "WEEKDAY", "DOT", "COMMA", "FISCAL")
)
_LONGEST_LEAD = 9  # tokens that "the early to mid-" and its like may take


@dataclass(slots=True)
class Date:
    """A date found: tokens ``first`` ... ``last`` - 1, its rule and named tokens, and its interval if it has a year.

    ``relative``: dated against the reference. The rest is filled in by date_context.py: the ``operator`` before it,
    whose first token is ``outset``, and the first token of an "about" between the two (``circa``, -1 without).
    """

    rule: Rule
    first: int
    last: int
    parts: Parts
    interval: Interval | None
    relative: bool = False
    operator: str | None = None
    outset: int = 0
    circa: int = -1

    def in_year(self, year: int) -> Interval | None:
        """The interval of a date whose year is borrowed."""
        if self.rule.reading is None or abs(year) >= MAX_YEAR:
            return None
        return self.rule.reading({**self.parts, **year_parts(year)})

    @property
    def is_range(self) -> bool:
        """Whether it is a range by itself (1990-93), and no month that only looks like one (2014-01)."""
        interval = self.interval
        return self.rule.shape == "range" and interval is not None and interval.start_iso != interval.end_iso


def find(tokens: Tokens, reference: Interval | None) -> list[Date]:
    """The dates of a text in order, each by the first rule that fits; time is linear in the tokens."""
    scanner, rules = SCANNER if reference is None else RELATIVE_SCANNER
    found: list[Date] = []
    border = 0
    for match in scanner.finditer(tokens.classes):
        rule = rules[(match.lastindex or 1) - 1]
        if rule.reading is not None or rule.relative is not None or rule.shape == "open":
            date = _date(tokens, rule, match.start(), border, reference)
            if date is not None:
                found.append(date)
        border = match.end()
    return _in_one_order(found) if tokens.classes.count(_FULLDATE) > 1 else found


def _in_one_order(dates: list[Date]) -> list[Date]:
    """The dates with those in slashes read day first where one of them can only be read so: 01/04/2015–31/03/2018."""
    slashed = [date for date in dates if "/" in date.parts.get("i", "")]
    if any(is_day_first(date.parts["i"]) for date in slashed):
        for date in slashed:
            turned = whole({**date.parts, "o": "day"})
            date.interval = turned or date.interval
    return dates


def _date(tokens: Tokens, rule: Rule, first: int, border: int, reference: Interval | None) -> Date | None:
    """The date that a rule reads at token ``first``; what leads up to it may reach back to ``border``."""
    match = rule.regex.match(tokens.classes, first)
    if match is None:  # cannot be: the scanner has matched the same pattern here
        return None
    parts = {name: tokens.words[place] for name in rule.names if (place := match.start(name)) >= 0}
    start, led = _lead(tokens, rule, first, border, is_day="d" in parts or "i" in parts)
    parts.update(led)
    interval: Interval | None = None
    if rule.relative is not None and reference is not None:
        interval = rule.relative(parts, reference)
    elif rule.reading is not None:
        interval = rule.reading(parts)
    if interval is None and rule.shape != "open" and ("y" in parts or not rule.borrows):
        return None
    return Date(rule, start, match.end(), parts, interval, relative=rule.relative is not None)


def _lead(tokens: Tokens, rule: Rule, first: int, border: int, *, is_day: bool) -> tuple[int, dict[str, str]]:
    """Where the words that lead up to a date begin ("the", "early", a weekday), and the "early" among them."""
    if first > border and tokens.classes[first - 1] in _LEAD_ENDS:
        lead = LEAD.search(tokens.classes, max(border, first - _LONGEST_LEAD), first)
        if lead is not None and (rule.the or lead.group() != _THE):
            led = {name: tokens.words[place] for name in ("k", "p") if (place := lead.start(name)) >= 0}
            has_weekday = tokens.classes[lead.start()] == _WEEKDAY
            if not (led if is_day else has_weekday):  # no day is early, and no year a Monday
                return lead.start(), led
    return first, {}
