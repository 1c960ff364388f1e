"""Readings of dates: from the tokens that a rule has named to the days they cover.

A reading gets its tokens by the one-letter names of the rule's pattern: y, f = first and last year;
m = month; d, f = days; o = ordinal of a century; n = which half (h), quarter (q) or decade (z); s = season;
k, p = "early", "mid", "late"; e = era; i = a token that is a date by itself; w, c, t, u = words.
It returns None when the calendar has no such date, or when the year is still to be borrowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from mrag.dates.calendar_words import DECADES, MONTHS, NUMBERS, ORDINALS, PARTS, SEASONS, WEEKDAYS
from mrag.interval import MAX_YEAR, MIN_YEAR, Interval, civil, day_number, join, month_length, period

Parts = Mapping[str, str]  # name in the pattern -> token as written
Reading = Callable[[Parts], "Interval | None"]
RelativeReading = Callable[[Parts, Interval], "Interval | None"]

_DIGITS = re.compile(r"\d{1,6}")
_NEAR = 25  # years between a year and one of two digits that leans on it
_FURTHEST = 999  # years that one range of two bare years may span


def _int(token: str) -> int:
    if token.isdecimal():
        return int(token)
    match = _DIGITS.search(token.replace(",", ""))
    return int(match.group()) if match else 0


def _before_christ(parts: Parts) -> bool:
    return parts.get("e", "")[:1] in ("B", "b")


def _year(parts: Parts) -> int:
    """The astronomical year that ``y`` names under the era ``e``; '69 is 1969."""
    token = parts["y"]
    year = _int(token) if token[0].isdigit() else _short_year(token)
    return 1 - year if _before_christ(parts) else year


def _short_year(token: str) -> int:
    """A year of two digits: 69-99 are 1969-1999, 00-68 are 2000-2068 (as POSIX has it)."""
    year = _int(token)
    return year if year >= 100 else year + (1900 if year >= 69 else 2000)


def year_parts(year: int) -> dict[str, str]:
    """The names ``y`` and ``e`` for an astronomical year, as a text would give it."""
    return {"y": str(year)} if year > 0 else {"y": str(1 - year), "e": "BC"}


def _ordinal(token: str) -> int:
    return ORDINALS.get(token.lower()) or _int(token)


def _span(first: int, last: int) -> Interval | None:
    """Whole years first ... last."""
    return join(period(first), period(last)) if MIN_YEAR <= first <= last <= MAX_YEAR else None


def _piece(interval: Interval, first: int, last: int, count: int) -> Interval:
    """Pieces ``first`` ... ``last`` of an interval cut into ``count``: into whole years, else months, else days.

    The first pieces of years and months are the longer ones: a decade has thirds of 4, 3 and 3 years.
    """
    (year1, month1, _), (year2, month2, _) = civil(interval.start), civil(interval.end)
    months = (year2 - year1) * 12 + month2 - month1 + 1

    def bounds(size: int) -> tuple[int, int]:
        return -(-size * first // count), -(-size * (last + 1) // count) - 1

    if year2 - year1 + 1 >= count:
        low, high = bounds(year2 - year1 + 1)
        return join(period(year1 + low), period(year1 + high))
    if months >= count:
        low, high = (month1 - 1 + bound for bound in bounds(months))
        return join(period(year1 + low // 12, low % 12 + 1), period(year1 + high // 12, high % 12 + 1))
    size = interval.end - interval.start + 1  # of days the last piece is the longest: 1-10, 11-20, 21-31
    return Interval(interval.start + size * first // count, interval.start + size * (last + 1) // count - 1)


def _part(whole: Interval, parts: Parts) -> Interval:
    """The early, middle or late third of a period ("mid-to-late" is two of them)."""
    if "p" not in parts:
        return whole
    last = PARTS[parts["p"].lower()]
    first = PARTS[parts["k"].lower()] if "k" in parts else last
    return _piece(whole, min(first, last), max(first, last), 3)


def _fraction(whole: Interval, parts: Parts) -> Interval:
    """A half (h), quarter (q) or decade (z) of a period, by the ordinal ``n``; "last" is the last one."""
    count = next((count for name, count in (("h", 2), ("q", 4), ("z", 10)) if name in parts), 0)
    number = _ordinal(parts["n"]) or count if count else 0
    return _piece(whole, number - 1, number - 1, count) if 1 <= number <= count else whole


def date(parts: Parts) -> Interval | None:
    """Year, month and day as far as they are named; an impossible day leaves the month."""
    if "y" not in parts:
        return None
    year = _year(parts)
    if "m" not in parts:
        return _part(period(year), parts)
    month = MONTHS[parts["m"].lower()]
    if "d" not in parts:
        return _part(period(year, month), parts)
    day = _ordinal(parts["d"])
    return period(year, month, day) if 1 <= day <= month_length(year, month) else period(year, month)


def short_date(parts: Parts) -> Interval | None:
    """A date with dashes, where a year of two digits is one of our time."""
    return date({**parts, "y": str(_short_year(parts["y"]))})


def days(parts: Parts) -> Interval | None:
    """Two days of one month."""
    first, last = date(parts), date({**parts, "d": parts["f"]})
    return join(first, last) if first and last and first.start <= last.end else None


def slashed_month(parts: Parts) -> Interval | None:
    """A month and a year, 05/2010."""
    month = parts["w"]
    return period(_year(parts), int(month)) if len(month) == 2 and int(month) <= 12 else None


def years(parts: Parts) -> Interval | None:
    """Two years, the last perhaps by its end digits; what does not rise may be a month (2014-01).

    >>> str(years({"y": "1999", "f": "00"})), str(years({"y": "1240", "f": "35", "e": "BC"}))
    ('1999..2000', '-1239..-1234')
    """
    first, last, digits = _int(parts["y"]), _int(parts["f"]), len(parts["f"])
    kept = first - first % 10**digits if digits <= 2 and first >= 100 else 0  # what the last year leaves out
    if _before_christ(parts):
        last += kept if kept and first - kept > last else 0
        return _span(1 - first, 1 - last) if last < first else None
    if kept:
        if first % 100 == 99 and digits == 2 and last == 0:
            kept += 100
        elif first - kept >= last:
            return period(first, last) if digits == 2 and 1 <= last <= 12 else None
    last += kept
    return _span(first, last) if last - first <= _FURTHEST else None


def decade(parts: Parts) -> Interval | None:
    """Ten years: 1970s, 830s, '70s and the seventies (of the 20th century); the 1800s are a hundred."""
    if "w" in parts:
        first = 1900 + DECADES[parts["w"].lower()]
    else:
        first = _int(parts["y"])
        first += 1900 if first < 100 else 0
    size = 100 if first % 100 == 0 and 1000 <= first < 1900 else 10
    whole = _span(1 - first - size + 1, 1 - first) if _before_christ(parts) else _span(first, first + size - 1)
    return _part(whole, parts) if whole else None


def _hundreds(parts: Parts, size: int) -> Interval | None:
    number = _ordinal(parts["o"]) + (NUMBERS[parts["t"].lower()] if "t" in parts else 0)
    first, last = (number - 1) * size + 1, number * size
    whole = _span(1 - last, 1 - first) if _before_christ(parts) else _span(first, last)
    return _part(_fraction(whole, parts), parts) if whole and number > 0 else None


def century(parts: Parts) -> Interval | None:
    """A hundred years: the 19th century is 1801-1900."""
    return _hundreds(parts, 100)


def millennium(parts: Parts) -> Interval | None:
    """A thousand years: the 3rd millennium BC is 3000-2001 BC."""
    return _hundreds(parts, 1000)


def fraction(parts: Parts) -> Interval | None:
    """A half or a quarter of a year or a decade."""
    whole = decade(parts) if parts["y"].endswith("s") else date({"y": parts["y"]})
    return _fraction(whole, parts) if whole else None


def quarter(parts: Parts) -> Interval | None:
    """Three months, Q3 2010, or six, H1 2016."""
    if "y" not in parts:
        return None
    months = 6 if parts["q"][0] in "hH" else 3
    year, number = _year(parts), _int(parts["q"])
    return join(period(year, months * (number - 1) + 1), period(year, months * number))


def season(parts: Parts) -> Interval | None:
    """Three months, northern; a winter begins in December of the (first) year named."""
    if "y" not in parts:
        return None
    year, first = _year(parts), SEASONS[parts["s"].lower()]
    last = (year + 1, 2) if first == 12 else (year, first + 2)
    return _part(join(period(year, first), period(*last)), parts)


def whole(parts: Parts) -> Interval | None:
    """A token that is a date by itself: ISO date, date-time and week, numeric dates, 2025Q01, 2008年8月8日.

    With slashes the month comes first (but not beside ``o``), with dots and dashes the day; an order that cannot
    be is turned.
    """
    token = parts["i"]
    if token[:8].isdecimal():
        token = f"{token[:4]}-{token[4:6]}-{token[6:8]}"
    numbers = [int(number) for number in _DIGITS.findall(token)]
    if "年" in token and len(numbers) == 2:
        return period(*numbers) if 1 <= numbers[1] <= 12 else None
    if "W" in token:
        return _iso_week(numbers)
    if "Q" in token.upper():
        return quarter({"y": token[:4], "q": token[-1]})
    if token[:4].isdigit():
        year, month, day = numbers[:3]
    else:
        first, second, year = numbers
        month, day = (first, second) if "/" in token and "o" not in parts else (second, first)
        year = _short_year(token[-2:]) if token[-3] in "/." else year
        if month > 12 >= day:
            day, month = month, day
    return period(year, month, day) if 1 <= month <= 12 and 1 <= day <= month_length(year, month) else None


def is_day_first(token: str) -> bool:
    """Whether a date in slashes can only be read with its day first, 31/03/2018."""
    first, second, *_ = (int(number) for number in _DIGITS.findall(token))
    return second <= 12 < first <= 31


def _iso_week(numbers: list[int]) -> Interval | None:
    year, week, *day = numbers
    if not 1 <= week <= 53 or (day and not 1 <= day[0] <= 7):
        return None
    fourth = day_number(year, 1, 4)  # always in week 1
    monday = fourth - (fourth + 3) % 7 + 7 * (week - 1)
    return Interval(monday + day[0] - 1, monday + day[0] - 1) if day else Interval(monday, monday + 6)


def fiscal(parts: Parts) -> Interval | None:
    """A year of accounts, FY2019 or FY2019/20, at the years' precision."""
    year = _short_year(parts["y"])
    return years({"y": str(year), "f": parts["f"]}) if "f" in parts else period(year)


def spelled(parts: Parts) -> Interval | None:
    """A year in words: two thousand and seven, nineteen eighty-four; "Nineteen Eighty-Four" is a title."""
    low = [parts[name] for name in ("t", "u") if name in parts]
    thousands = NUMBERS[parts["k"].lower()] if "k" in parts else 0
    if thousands > 2 or not all(word.islower() for word in low):
        return None
    hundreds = 10 * thousands + (NUMBERS[parts["c"].lower()] if "c" in parts else 0)
    return period(hundreds * 100 + sum(NUMBERS[word] for word in low))


# --- against the day that a text was written ---


def today(parts: Parts, reference: Interval) -> Interval | None:
    """Today, yesterday, tomorrow; "the day before yesterday" (a) is one day further."""
    shift = {"yesterday": -1, "tomorrow": 1}.get(parts["w"].lower(), 0) * (2 if "a" in parts else 1)
    return Interval(reference.start + shift, reference.end + shift, reference.start_precision, reference.end_precision)


def this_or_last(parts: Parts, reference: Interval) -> Interval | None:
    """Last year, this month, next week, last Friday, last May."""
    step = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}.get(parts["w"].lower(), 0)
    unit = parts["u"].lower()
    if unit in WEEKDAYS:
        ahead = (WEEKDAYS[unit] - (reference.start + 3)) % 7
        day = reference.start + (ahead - 7 if step < 0 else (ahead or 7) if step > 0 else ahead)
        return Interval(day, day)
    if unit in SEASONS or unit in MONTHS:
        return _nearest(unit, reference, step)
    return shifted(reference, unit, step) if parts["u"] == unit else None  # "Last Week Tonight" is a name


def _nearest(unit: str, reference: Interval, step: int) -> Interval | None:
    """The month or season of the reference's year, or the nearest one wholly before or after it."""
    reading, name = (season, "s") if unit in SEASONS else (date, "m")
    year = civil(reference.start)[0]
    if abs(year) >= MAX_YEAR - 1:  # no room for the next one
        return None
    named = reading({name: unit, **year_parts(year)})
    if named and ((step < 0 and named.end >= reference.start) or (step > 0 and named.start <= reference.end)):
        named = reading({name: unit, **year_parts(year + step)})
    return named


def in_that_year(parts: Parts, reference: Interval) -> Interval | None:
    """A month or a day of last year, this year or next year."""
    year = this_or_last({**parts, "u": "year"}, reference)
    return date({**parts, **year_parts(civil(year.start)[0])}) if year else None


def short_year(token: str, near: int | None) -> int:
    """The year of two digits that lies near the year named before ("1934, ’36"), else one of our time."""
    year = _short_year(token)
    if near is not None:
        nearest = near + (year - near + 50) % 100 - 50
        year = nearest if abs(nearest - near) <= _NEAR else year
    return year


def weekday(parts: Parts, reference: Interval) -> Interval | None:
    """ "On Friday": the last Friday up to the reference."""
    day = reference.end - (reference.end + 3 - WEEKDAYS[parts["u"].lower()]) % 7
    return Interval(day, day)


def ago(parts: Parts, reference: Interval) -> Interval | None:
    """Two weeks ago, three years ago: a day for days and weeks, else the month, year or decade."""
    count = NUMBERS.get(parts["c"].lower()) or _int(parts["c"])
    unit = parts["u"].lower().rstrip("s")
    if unit == "week":
        unit, count = "day", 7 * count
    return shifted(reference, unit, -count)


def shifted(reference: Interval, unit: str, step: int) -> Interval | None:
    """The calendar day, week, month, quarter, year, decade or century ``step`` units from the reference.

    >>> str(shifted(period(2024, 3, 15), "month", -3))
    '2023-12'
    """
    year, month, _ = civil(reference.start)
    if unit in ("day", "week"):
        size = 7 if unit == "week" else 1
        first = reference.start - (reference.start + 3) % size + size * step
        return Interval(first, first + size - 1)
    if unit == "month":
        index = year * 12 + month - 1 + step
        return period(index // 12, index % 12 + 1) if abs(index) < MAX_YEAR * 12 else None
    if unit == "quarter":
        index = year * 4 + (month - 1) // 3 + step
        if abs(index) >= MAX_YEAR * 4:
            return None
        return quarter({"q": str(index % 4 + 1), **year_parts(index // 4)})
    size = {"year": 1, "decade": 10, "century": 100}.get(unit, 0)
    return _span(year - year % size + size * step, year - year % size + size * step + size - 1) if size else None


def beside(named: Interval, unit: str, step: int, *, whole: bool) -> Interval | None:
    """What lies ``step`` units before (negative) or after a date: "the week before", whole, or "two weeks before".

    >>> str(beside(period(2021, 6, 9), "week", -1, whole=True)), str(beside(period(1990), "year", 2, whole=False))
    ('2021-06-02..2021-06-08', '1992')
    """
    size = {"day": 1, "week": 7}.get(unit)
    if size is None:
        return shifted(named, unit, step)
    if not whole:
        return Interval(named.start + size * step, named.end + size * step)
    return Interval(named.start - size, named.start - 1) if step < 0 else Interval(named.end + 1, named.end + size)
