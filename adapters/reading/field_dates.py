"""The date fields of records: what people and programs write in them, as an ISO date at the precision written."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from mrag.errors import InputError
from mrag.interval import Interval, parse_iso, period

_ISO = re.compile(r"[+-]?\d{4,5}(?:-\d{2}){0,2}", re.ASCII)
_DATE_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ]\d{2}:?\d{2}[0-9:.,+\-Z ]{0,24}", re.ASCII)
_DEFAULTS = (datetime(1996, 1, 1), datetime(1992, 3, 2))
"""What dateutil fills gaps with: they differ in every field, so a field that follows them was not written."""


@lru_cache(maxsize=4096)
def read_date(text: str) -> Interval:
    """The day, month or year that a lone date names, whatever the clock says.

    ISO dates and date-times first (the day as written, time zones are not reckoned with), the rest by python-dateutil.
    Raises InputError for what is no date, has no year of four digits, or could be either of two days.

    >>> str(read_date("2019-03")), str(read_date("2019-03-04T23:10:00Z")), str(read_date("4 March 2019"))
    ('2019-03', '2019-03-04', '2019-03-04')
    >>> str(read_date("March 2019")), str(read_date("2019/03/04")), str(read_date("13.3.2019"))
    ('2019-03', '2019-03-04', '2019-03-13')
    """
    text = text.strip()
    if _ISO.fullmatch(text):
        return parse_iso(text)
    if match := _DATE_TIME.fullmatch(text):
        return parse_iso(match[1])
    first, second = (_parsed(text, default, dayfirst=False) for default in _DEFAULTS)
    if first.year != second.year or f"{first.year:04d}" not in text:
        raise InputError(f"{text!r} names no year of four digits: write 2019, 2019-03 or 2019-03-04")
    if first.month != second.month:
        return period(first.year)
    if first.day != second.day:
        return period(first.year, first.month)
    other = _parsed(text, _DEFAULTS[0], dayfirst=True)
    if other.date() != first.date() and not text.startswith(f"{first.year:04d}"):
        raise InputError(f"{text!r} can be {first:%Y-%m-%d} or {other:%Y-%m-%d}: write the one that is meant")
    return period(first.year, first.month, first.day)


def _parsed(text: str, default: datetime, *, dayfirst: bool) -> datetime:
    from dateutil import parser

    try:
        if len(text) > 100:  # no date is that long, and the parser's time grows with the text
            raise ValueError
        return parser.parse(text, default=default, dayfirst=dayfirst, ignoretz=True)
    except (ValueError, OverflowError, TypeError):
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise InputError(f"{shown!r} is no date: write 2019, 2019-03 or 2019-03-04") from None
