"""Days, precisions and closed intervals."""

from __future__ import annotations

import datetime
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.errors import InputError
from mrag.interval import (
    MAX_YEAR,
    MIN_YEAR,
    OPEN_END,
    OPEN_START,
    Interval,
    Precision,
    civil,
    day_number,
    is_leap,
    iso_day,
    join,
    month_length,
    parse_iso,
    period,
    since,
    until,
)

YEARS = st.integers(MIN_YEAR, MAX_YEAR)


@given(st.dates())
def test_days_agree_with_the_standard_library(date: datetime.date) -> None:
    assert day_number(date.year, date.month, date.day) == (date - datetime.date(1970, 1, 1)).days


@given(st.integers(day_number(MIN_YEAR), day_number(MAX_YEAR, 12, 31)))
def test_civil_inverts_day_number(day: int) -> None:
    assert day_number(*civil(day)) == day


@given(YEARS)
def test_a_year_is_its_twelve_months(year: int) -> None:
    months = [period(year, month) for month in range(1, 13)]
    assert join(months[0], months[-1]).start == period(year).start
    assert join(months[0], months[-1]).end == period(year).end
    assert all(later.start == earlier.end + 1 for earlier, later in itertools.pairwise(months))


def test_years_before_ad_1_are_astronomical() -> None:
    assert period(0).end + 1 == period(1).start
    assert str(period(-43, 3, 15)) == "-0043-03-15"


@pytest.mark.parametrize(
    ("year", "leap"), [(2000, True), (1900, False), (2024, True), (2023, False), (0, True), (-4, True)]
)
def test_leap_years_follow_the_gregorian_rule(year: int, leap: bool) -> None:
    assert is_leap(year) is leap
    assert month_length(year, 2) == (29 if leap else 28)


@pytest.mark.parametrize("text", ["2019", "2019-03", "2019-03-04", "-0043", "-0043-03-15", "0000", "10000"])
def test_iso_dates_print_at_the_precision_they_were_read(text: str) -> None:
    assert str(parse_iso(text)) == text


@pytest.mark.parametrize("text", ["", "19", "2019-13", "2019-02-30", "2019-3", "today", "2019-03-04T10:00", "1234567"])
def test_what_is_no_iso_date_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_iso(text)


def test_the_error_says_what_to_write() -> None:
    with pytest.raises(InputError, match="write 2019, 2019-03 or 2019-03-04"):
        parse_iso("next year")


@pytest.mark.parametrize(
    ("year", "month", "day"), [(2019, 13, None), (2019, 0, None), (2019, 2, 29), (2019, 4, 31), (100_000, None, None)]
)
def test_there_is_no_such_period(year: int, month: int | None, day: int | None) -> None:
    with pytest.raises(InputError):
        period(year, month, day)


def test_an_interval_cannot_run_backwards() -> None:
    with pytest.raises(InputError, match="cannot end before it starts"):
        Interval(2, 1)
    with pytest.raises(InputError):
        join(period(2000), period(1999))


def test_open_ends_print_as_nothing() -> None:
    assert str(since(period(2011))) == "2011.."
    assert str(until(period(2003, 5))) == "..2003-05"
    assert (Interval().start_iso, Interval().end_iso) == (None, None)


def test_open_ends_lie_outside_every_year() -> None:
    assert period(MIN_YEAR).start > OPEN_START
    assert period(MAX_YEAR).end < OPEN_END
    assert OPEN_END - OPEN_START < 2**31


def test_a_join_keeps_the_precision_of_each_end() -> None:
    assert str(join(period(1990), period(1993, 5))) == "1990..1993-05"


def test_intervals_that_share_a_day_overlap() -> None:
    assert period(2000).overlaps(period(2000, 12, 31))
    assert since(period(2000, 12, 31)).overlaps(period(2000))
    assert not period(2000).overlaps(period(2001))


def test_a_day_prints_at_any_precision() -> None:
    day = day_number(2019, 3, 4)
    assert [iso_day(day, precision) for precision in Precision] == ["2019", "2019-03", "2019-03-04"]
