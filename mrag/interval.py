"""Days, the precision they were written in, and closed intervals with open ends.

A day is an int, counted from 1970-01-01 in the proleptic Gregorian calendar. Years before
AD 1 are astronomical (1 BC is year 0, 44 BC is year -43), so no ``datetime`` is used: it
ends at year 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from mrag.errors import InputError

OPEN_START = -1_000_000_000  # far outside every year below, and small enough that int32 differences do not overflow
OPEN_END = 1_000_000_000
MIN_YEAR, MAX_YEAR = -99_999, 99_999

_KEPT = 1 << 14  # dates come back again and again; what is kept is never changed

_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ISO = re.compile(r"([+-]?\d{4,6})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)


class Precision(IntEnum):
    """How exactly an end was written; the value is what an index stores (uint8)."""

    YEAR = 0
    MONTH = 1
    DAY = 2


def is_leap(year: int) -> bool:
    """Whether an astronomical year has a 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    """Days in a month (1-12)."""
    return 29 if month == 2 and is_leap(year) else _MONTH_DAYS[month - 1]


def day_number(year: int, month: int = 1, day: int = 1) -> int:
    """Days since 1970-01-01.

    >>> day_number(1970), day_number(2000, 3, 1), day_number(-43, 3, 15)
    (0, 11017, -735160)
    """
    y = year - (month <= 2)
    era, yoe = divmod(y, 400)
    doy = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719_468


@lru_cache(maxsize=_KEPT)
def civil(day: int) -> tuple[int, int, int]:
    """The inverse of :func:`day_number`: year, month, day.

    >>> civil(11017)
    (2000, 3, 1)
    """
    era, doe = divmod(day + 719_468, 146_097)
    yoe = (doe - doe // 1_460 + doe // 36_524 - doe // 146_096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    month = mp + 3 if mp < 10 else mp - 9
    return yoe + era * 400 + (month <= 2), month, doy - (153 * mp + 2) // 5 + 1


def iso_day(day: int, precision: Precision = Precision.DAY) -> str:
    """A day printed at a precision: ``2019``, ``2019-03``, ``2019-03-04``, BC ``-0043``.

    >>> iso_day(day_number(2019, 3, 4), Precision.MONTH), iso_day(day_number(-43), Precision.YEAR)
    ('2019-03', '-0043')
    """
    year, month, dom = civil(day)
    text = f"-{-year:04d}" if year < 0 else f"{year:04d}"
    if precision >= Precision.MONTH:
        text += f"-{month:02d}"
    if precision >= Precision.DAY:
        text += f"-{dom:02d}"
    return text


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval of days: both ends belong to it; either may be open.

    ``start`` is the first day, or OPEN_START; ``end`` the last day, or OPEN_END. The precisions
    say how each end was written, so that "2019" is 2019-01-01 ... 2019-12-31 and prints as ``2019``.
    """

    start: int = OPEN_START
    end: int = OPEN_END
    start_precision: Precision = Precision.DAY
    end_precision: Precision = Precision.DAY

    def __post_init__(self) -> None:
        if self.start > self.end:
            raise InputError(f"an interval cannot end before it starts: {self.start_iso} ... {self.end_iso}")

    @property
    def start_iso(self) -> str | None:
        """The first day at its own precision, None when open."""
        return None if self.start == OPEN_START else iso_day(self.start, self.start_precision)

    @property
    def end_iso(self) -> str | None:
        """The last day at its own precision, None when open."""
        return None if self.end == OPEN_END else iso_day(self.end, self.end_precision)

    def __str__(self) -> str:
        """``2019``, ``2019-03..2020``, ``2011..`` (open end), ``..2003`` (open start)."""
        start, end = self.start_iso or "", self.end_iso or ""
        return start if start == end and start else f"{start}..{end}"

    def overlaps(self, other: Interval) -> bool:
        """Whether the two share a day."""
        return self.start <= other.end and other.start <= self.end


@lru_cache(maxsize=_KEPT)
def period(year: int, month: int | None = None, day: int | None = None) -> Interval:
    """The interval that a year, a month or a day covers.

    Raises InputError when the calendar has no such date or the year is outside MIN_YEAR ... MAX_YEAR.

    >>> str(period(2020, 2)), period(2020, 2).end == day_number(2020, 2, 29)
    ('2020-02', True)
    """
    if not MIN_YEAR <= year <= MAX_YEAR:
        raise InputError(f"year {year} is outside {MIN_YEAR} ... {MAX_YEAR}")
    if month is None:
        return Interval(day_number(year), day_number(year, 12, 31), Precision.YEAR, Precision.YEAR)
    if not 1 <= month <= 12:
        raise InputError(f"there is no month {month}")
    if day is None:
        last = month_length(year, month)
        return Interval(day_number(year, month), day_number(year, month, last), Precision.MONTH, Precision.MONTH)
    if not 1 <= day <= month_length(year, month):
        raise InputError(f"there is no day {day} in {year:04d}-{month:02d}")
    number = day_number(year, month, day)
    return Interval(number, number)


def join(first: Interval, last: Interval) -> Interval:
    """From the start of one interval to the end of another; InputError when that runs backwards.

    >>> str(join(period(1990), period(1993, 5)))
    '1990..1993-05'
    """
    return Interval(first.start, last.end, first.start_precision, last.end_precision)


def since(interval: Interval) -> Interval:
    """From the start of an interval on, with an open end."""
    return Interval(start=interval.start, start_precision=interval.start_precision)


def until(interval: Interval) -> Interval:
    """Up to the end of an interval, with an open start."""
    return Interval(end=interval.end, end_precision=interval.end_precision)


def parse_iso(text: str) -> Interval:
    """The period that an ISO date at year, month or day precision names.

    Raises InputError for anything else.

    >>> str(parse_iso("2019-03")), str(parse_iso("-0043"))
    ('2019-03', '-0043')
    """
    match = _ISO.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text!r} is no ISO date: write 2019, 2019-03 or 2019-03-04")
    year, month, day = match.groups()
    return period(int(year), int(month) if month else None, int(day) if day else None)
