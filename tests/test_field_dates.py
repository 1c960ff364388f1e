"""Dates in the fields of records are read as written, or refused; the clock never plays a part."""

import pytest

from mrag.adapters.reading.field_dates import read_date
from mrag.errors import InputError


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2019", "2019"),
        ("2019-03", "2019-03"),
        (" 2019-03-04 ", "2019-03-04"),
        ("-0043-03-15", "-0043-03-15"),
        ("2019-03-04T23:10:00Z", "2019-03-04"),
        ("2019-03-04 23:10:00.123456-05:00", "2019-03-04"),
        ("20190304", "2019-03-04"),
        ("2019/03/04", "2019-03-04"),
        ("4 March 2019", "2019-03-04"),
        ("March 4th, 2019", "2019-03-04"),
        ("Mon, 04 Mar 2019 10:00:00 EST", "2019-03-04"),
        ("March 2019", "2019-03"),
        ("3/2019", "2019-03"),
        ("13/03/2019", "2019-03-13"),
        ("04.04.2019", "2019-04-04"),
    ],
)
def test_a_date_is_read_at_the_precision_written(written: str, iso: str) -> None:
    assert str(read_date(written)) == iso


@pytest.mark.parametrize("written", ["", "soon", "1551657600", "2019-W10", "2019-02-30", "2019-13", "x" * 100_000])
def test_what_is_no_date_is_refused(written: str) -> None:
    with pytest.raises(InputError):
        read_date(written)


@pytest.mark.parametrize("written", ["4 March", "March", "Monday", "10:30", "12 June 19", "5/6/19", "201903"])
def test_a_date_without_a_whole_year_is_refused(written: str) -> None:
    with pytest.raises(InputError, match=r"year|no date"):
        read_date(written)


def test_a_date_that_could_be_either_of_two_days_is_refused() -> None:
    with pytest.raises(InputError, match="2019-04-03 or 2019-03-04"):
        read_date("04/03/2019")
