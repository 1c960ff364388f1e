"""From the tokens that a rule has named to the days they cover."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.dates import readings as read
from mrag.interval import MAX_YEAR, MIN_YEAR, period


@pytest.mark.parametrize(
    ("first", "last", "era", "expected"),
    [
        ("1990", "93", "", "1990..1993"),
        ("1924", "5", "", "1924..1925"),
        ("1999", "00", "", "1999..2000"),
        ("1990", "2005", "", "1990..2005"),
        ("379", "95", "AD", "0379..0395"),
        ("485", "80", "BC", "-0484..-0479"),
        ("120", "35", "BC", "-0119..-0034"),
        ("27", "19", "BC", "-0026..-0018"),
        ("2014", "01", "", "2014-01"),
    ],
)
def test_the_last_year_may_leave_out_what_it_shares(first: str, last: str, era: str, expected: str) -> None:
    assert str(read.years({"y": first, "f": last, "e": era})) == expected


@pytest.mark.parametrize(
    ("first", "last", "era"), [("1990", "85", ""), ("1990", "1985", ""), ("5", "9", "BC"), ("5", "2000", "")]
)
def test_years_that_do_not_follow_each_other_are_no_range(first: str, last: str, era: str) -> None:
    assert read.years({"y": first, "f": last, "e": era}) is None


def test_a_decade_is_cut_into_4_3_and_3_years_and_a_month_into_10_10_and_the_rest() -> None:
    parts = [{"p": part} for part in ("early", "mid", "late")]
    assert [str(read.decade({"y": "1970s", **part})) for part in parts] == ["1970..1973", "1974..1976", "1977..1979"]
    assert [str(read.date({"y": "1970", "m": "may", **part})) for part in parts] == [
        "1970-05-01..1970-05-10",
        "1970-05-11..1970-05-20",
        "1970-05-21..1970-05-31",
    ]


@given(st.integers(1, 9999), st.sampled_from(["early", "mid", "late"]))
def test_thirds_lie_in_the_year(year: int, part: str) -> None:
    third = read.date({"y": str(year), "p": part})
    assert third is not None
    assert period(year).start <= third.start < third.end <= period(year).end


def test_a_two_digit_year_is_of_our_time() -> None:
    assert str(read.short_date({"d": "22", "m": "oct", "y": "13"})) == "2013-10-22"
    assert str(read.short_date({"d": "15", "m": "mar", "y": "98"})) == "1998-03-15"


@pytest.mark.parametrize(("token", "expected"), [("2020-W53-7", "2021-01-03"), ("2019-W01", "2018-12-31..2019-01-06")])
def test_iso_weeks_begin_on_monday_and_hold_the_fourth_of_january(token: str, expected: str) -> None:
    assert str(read.whole({"i": token})) == expected


@pytest.mark.parametrize("token", ["2019-W54", "2019-W12-8", "2019-13-01", "2019-02-30", "31/31/2019", "0.0.0000"])
def test_what_no_calendar_has_is_no_date(token: str) -> None:
    assert read.whole({"i": token}) is None


@given(st.integers(MIN_YEAR + 1, MAX_YEAR))
def test_a_borrowed_year_is_read_back(year: int) -> None:
    assert read.date(read.year_parts(year)) == period(year)


@pytest.mark.parametrize(
    ("unit", "step", "expected"),
    [
        ("day", -1, "2024-02-29"),
        ("week", 0, "2024-02-26..2024-03-03"),
        ("month", -3, "2023-12"),
        ("quarter", -1, "2023-10..2023-12"),
        ("year", 1, "2025"),
        ("decade", 0, "2020..2029"),
        ("century", -1, "1900..1999"),
        ("blink", 1, "None"),
    ],
)
def test_calendar_units_beside_a_reference(unit: str, step: int, expected: str) -> None:
    assert str(read.shifted(period(2024, 3, 1), unit, step)) == expected


def test_beyond_the_last_year_there_is_nothing() -> None:
    assert read.shifted(period(MAX_YEAR), "year", 1) is None
    assert read.shifted(period(MAX_YEAR, 12), "month", 1) is None
    assert read.shifted(period(MAX_YEAR, 12), "quarter", 1) is None
