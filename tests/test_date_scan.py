"""Finding dates, and the words that lead up to them."""

from __future__ import annotations

import pytest

from mrag.dates.scanning import find
from mrag.dates.tokens import Tokens
from mrag.interval import MAX_YEAR, period


def found(text: str) -> list[str]:
    tokens = Tokens(text)
    return [text[tokens.starts[date.first] : tokens.ends[date.last - 1]] for date in find(tokens, None)]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("in the early 1970s", "the early 1970s"),
        ("in the mid-to-late 1970s", "the mid-to-late 1970s"),
        ("at the end of the year 1990", "the end of the year 1990"),
        ("on Monday, the 5th of May 1990", "Monday, the 5th of May 1990"),
        ("in the fiscal year 1990", "the fiscal year 1990"),
        ("in the 1990 election", "1990"),  # the article is the noun's
        ("early 5 May 1990", "5 May 1990"),
        ("Easter Sunday 1916", "1916"),
    ],
)
def test_what_leads_up_to_a_date_belongs_to_it(text: str, date: str) -> None:
    assert found(text) == [date]


def test_a_lead_does_not_reach_into_the_date_before() -> None:
    assert found("in May 1990 late 1991") == ["May 1990", "late 1991"]


def test_a_year_beyond_the_calendar_is_not_borrowed() -> None:
    (date,) = find(Tokens("on 5 May"), None)
    assert date.interval is None
    assert date.in_year(2000) == period(2000, 5, 5)
    assert date.in_year(MAX_YEAR + 1) is None


def test_a_month_that_looks_like_a_range_is_none() -> None:
    month, years = find(Tokens("2014-01 and 2014-16"), None)
    assert (month.is_range, years.is_range) == (False, True)
