"""Dates in their context: operators, kinds of facts, borrowed years, names that hold a date."""

from __future__ import annotations

import pytest

from mrag.dates.calendar_words import OPERATORS, SUFFIXES
from mrag.interval import parse_iso
from mrag.timex import find_dates, scan


def dates(text: str) -> list[str]:
    return [str(mention.interval) for mention in find_dates(text)]


def texts(text: str) -> list[str]:
    return [mention.text for mention in find_dates(text)]


def kinds(text: str) -> list[str]:
    return [mention.kind for mention in find_dates(text)]


# --- operators ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("since 2011", "2011.."),
        ("from 2011", "2011.."),
        ("from September 2019 onwards", "2019-09.."),
        ("2011 onwards", "2011.."),
        ("from 2011 on", "2011.."),
        ("starting in 2011", "2011.."),
        ("since at least 2011", "2011.."),
        ("no earlier than 2011", "2011.."),
        ("after 2011", "2011.."),
        ("until 2003", "..2003"),
        ("till May 2003", "..2003-05"),
        ("through May 2020", "..2020-05"),
        ("up to and including 1934", "..1934"),
        ("before 1855", "..1855"),
        ("prior to 1855", "..1855"),
        ("pre-1855", "..1855"),
        ("by 2010", "..2010"),
        ("no later than 2012", "..2012"),
        ("by the end of 2010", "..2010-12"),
        ("c. 1860", "1860"),
        ("ca.1860", "1860"),
        ("c1860", "1860"),
        ("in or around 1860", "1860"),
        ("from about 1620", "1620"),
        ("until about 1620", "..1620"),
        ("dates from 1853", "1853"),
        ("in the year before 1990", "1989"),
        ("the week before 5 May 2014", "2014-04-28..2014-05-04"),
        ("She ran it until her retirement in 1971.", "..1971"),
        ("She ran it from 1950 until her sudden death on 3 May 1971.", "1950..1971-05-03"),
        ("They could not vote until 1971.", "1971"),
        ("after the 1960s", "1969.."),
        ("before the 1960s", "..1960"),
        ("two days after 5 May 2014", "2014-05-07"),
        ("three years after 1990", "1993"),
    ],
)
def test_an_operator_opens_or_moves_the_interval(text: str, expected: str) -> None:
    assert dates(text) == [expected]


def test_the_mention_holds_its_operator_words() -> None:
    assert texts("He stayed till the end of May 1921, and not longer.") == ["till the end of May 1921"]


@pytest.mark.parametrize("phrase", sorted(OPERATORS))
def test_scan_names_the_relation_of_every_operator_phrase(phrase: str) -> None:
    (timex,) = scan(f"{phrase} 1990")
    assert timex.operator == {"from to": "since"}.get(OPERATORS[phrase], OPERATORS[phrase])
    assert str(timex.named) == "1990"
    assert timex.span == (0, len(phrase) + 5)
    assert timex.core == (len(phrase) + 1, len(phrase) + 5)


def test_a_range_has_the_core_of_both_dates() -> None:
    text = "Who led it from May 1999 to c. 2006?"
    (timex,) = scan(text)
    assert (timex.operator, str(timex.named)) == ("from to", "1999-05..2006")
    assert text[slice(*timex.core)] == "May 1999 to c. 2006"


def test_the_named_date_is_not_the_evidence() -> None:
    (timex,) = scan("before 2010")
    assert (timex.operator, str(timex.named)) == ("before", "2010")


@pytest.mark.parametrize("phrase", sorted(SUFFIXES))
def test_a_suffix_says_a_relation_too(phrase: str) -> None:
    (timex,) = scan(f"1990 {phrase}")
    assert timex.operator == SUFFIXES[phrase]


def test_a_suffix_does_not_take_the_next_dates_operator() -> None:
    assert dates("before 1987 or before 1975") == ["..1987", "..1975"]


# --- kinds ---


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("It opened in 1950.", "event"),
        ("It went up before 1872.", "event"),
        ("She was mayor by 1990.", "event"),
        ("She ruled from 1999 to 2006.", "state"),
        ("mayor, 1990–93", "state"),
        ("mayor, 1990–present", "state"),
        ("He played there between 1990 and 1993.", "state"),
        ("He played in the 2019–20 season.", "state"),
        ("The mascot as of 1 August 2019 is Hennes.", "state"),
        ("Harun (r. 786–809) ruled.", "state"),
        ("Mayor since 2011.", "start"),
        ("Mayor from 2011.", "start"),
        ("Mayor until 2003.", "end"),
        ("Ann Lee (1909–1996) wrote it.", "life"),
        ("Ann Lee (12 May 1909 – 3 June 1996) wrote it.", "life"),
        ("Ann Lee (née Orr; 12 May 1909 – 3 June 1996) wrote it.", "life"),
        ("Ann Lee (b. 1950) wrote it.", "life"),
        ("Ann Lee (born 1950 in Ulm) wrote it.", "life"),
        ("She was born in Ulm on 5 May 1950.", "life"),
        ("She died on 5 May 1990.", "life"),
        ("Ann Lee (* 5. Mai 1912) wrote it.", "life"),
        ("Ann Lee (– 31 January 876) wrote it.", "life"),
        ("- Ann Lee (– 31 January 1976)", "end"),
        ("Ann Lee (–1976) led it.", "end"),
        ("- Ann Lee (1837–1926), painter", "life"),  # too long for a term of office
        ("- 1862–1879: Ann Lee", "state"),
    ],
)
def test_a_date_says_what_kind_of_fact_it_dates(text: str, kind: str) -> None:
    assert kinds(text) == [kind]


def test_birth_and_death_are_two_dates_of_a_life() -> None:
    text = "Ann Lee (born 8 June 1921; died 2 May 1993) led it."
    assert list(zip(dates(text), kinds(text), strict=True)) == [("1921-06-08", "life"), ("1993-05-02", "life")]


@pytest.mark.parametrize(
    "text",
    [
        "- Ann Lee (1909–1952)",  # in a list of office holders these are the years in office
        "Ann Lee (1990–1996) was mayor.",  # too short a life
        "The office (1909–1996) was closed.",  # no name before it
        "The foreign-born mayor served 1909–1996.",
    ],
)
def test_years_in_brackets_are_not_always_a_life(text: str) -> None:
    assert kinds(text) == ["state"]


# --- years that are borrowed ---


def test_a_day_takes_the_year_named_last() -> None:
    assert dates("In 1969 they landed. On July 20 they walked. In August they toured.") == [
        "1969",
        "1969-07-20",
        "1969-08",
    ]


def test_a_decade_names_no_year_to_borrow() -> None:
    assert dates("In the 1960s they trained. On July 20 they walked.") == ["1960..1969"]


def test_a_month_alone_needs_an_operator_and_is_no_first_name() -> None:
    assert dates("In 1987 April came, and in April Smith left.") == ["1987"]
    assert dates("In 1987 he came and in April left.") == ["1987", "1987-04"]


def test_without_a_year_a_day_is_nothing() -> None:
    assert dates("They walked on July 20.") == []


def test_with_a_reference_a_day_is_of_its_year() -> None:
    (timex,) = scan("They walked on July 20.", reference=parse_iso("1969-08-01"))
    assert (str(timex.named), timex.relative) == ("1969-07-20", True)


# --- names ---


def test_a_dated_event_is_named_by_its_year() -> None:
    text = "the 2012 Summer Olympics"
    (timex,) = scan(text)
    assert (str(timex.named), timex.name_like) == ("2012", True)


@pytest.mark.parametrize(
    "text",
    [
        "the 1956 Harbour fire",
        "the 1972 crash",
        "at the 1995 Festival of Kent",
        "who won the Boat Race 2017",
        "during the May 1968 protests",
        "her 1986 article",
    ],
)
def test_a_date_inside_a_longer_name_is_name_like(text: str) -> None:
    assert [timex.name_like for timex in scan(text)] == [True]


@pytest.mark.parametrize(
    "text", ["In 2012 Obama won.", "in the 1970s", "until 6 May 2021", "Active 1998–2003", "(1909–1996)"]
)
def test_a_date_by_itself_is_not(text: str) -> None:
    assert [timex.name_like for timex in scan(text)] == [False]


# --- forms met in logs, tables and biographies ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Democritus (c. 460 – c. 370 BC) laughed", ["-0459..-0369"]),  # the era of the last year is the first one's
        ("He died in August AD 14 at Nola", ["0014-08"]),
        ("2010-06 – 2012-09: engineer", ["2010-06..2012-09"]),
        ("2010-06 – present: engineer", ["2010-06.."]),
        ("01/04/2015-31/03/2018", ["2015-04-01..2018-03-31"]),  # no 31st month: both have their day first
        ("on 03/04/2019 and 25/04/2019", ["2019-04-03", "2019-04-25"]),
        ("between fiscal 2012 and fiscal 2015", ["2012..2015"]),
        ("It was held on June 4 and 18, 1995.", ["1995-06-04", "1995-06-18"]),
        ("between June 4 and 18, 1995", ["1995-06-04..1995-06-18"]),
        ("The ring is from 1250.", ["1250"]),  # made then; who "led it from 1250" began then
        ("The ban was from 1990 to 1995.", ["1990..1995"]),
        ("[12/Mar/2019:14:02:11 +0100] GET", ["2019-03-12"]),
        ("Mon Feb  3 09:12:44 UTC 2020", ["2020-02-03"]),
        ("2019:07:04 18:30:12", ["2019-07-04"]),
        ("Backup 20210314T020000Z finished.", ["2021-03-14"]),
        ("会议于2008年8月8日举行", ["2008-08-08"]),
        ("2008年8月、3000年", ["2008-08"]),
        ("2 de março de 1998, 5 мая 1998, 2 maart 1956", ["1998-03-02", "1998-05-05", "1956-03-02"]),
        ("с 2 августа 2007 г по 11 мая 2011г", ["2007-08-02", "2011-05-11"]),  # not 11 May of the year before
    ],
)
def test_a_form_is_read_whole(text: str, expected: list[str]) -> None:
    assert dates(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from 1934 to '38", ["1934..1938"]),
        ("1941–’45", ["1941..1945"]),
        ("Caps: 1934, '36 and '38.", ["1934", "1936", "1938"]),
        ("born in 1940, champion in '91", ["1940", "1991"]),  # too far to lean on it
        ("In 1999, '20 Years Later' was shot.", ["1999"]),
    ],
)
def test_a_short_year_is_near_the_year_before_it(text: str, expected: list[str]) -> None:
    assert dates(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Call 0800 1967 2010.",
        "+44 1865 270 000 or (212) 555 2010",
        "can't connect to '10.0.0.12'",
        "ERROR 2003 (HY000)",
        "42 U.S.C. § 1983",
        "ports 1900 and 2010",
        "postal code 1960",
        "It got 2014 responses and weighed 1900 grams.",
        "a crowd of about 1800",
    ],
)
def test_a_number_that_counts_or_names_is_no_year(text: str) -> None:
    assert dates(text) == []


def test_a_month_may_stand_in_last_year() -> None:
    found = find_dates("She left in March this year, he on 3 May last year.", reference=parse_iso("2018-09-30"))
    assert [str(mention.interval) for mention in found] == ["2018-03", "2017-05-03"]
