"""What dates a text names, as evidence: the specification of find_dates."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.dates.calendar_words import CONNECTORS, OPERATORS, SUFFIXES, TOKEN_CLASSES
from mrag.dates.rules import BY_NUMBER, BY_WORD, NO_DATES, RELATIVE
from mrag.interval import MAX_YEAR, MIN_YEAR, Interval, parse_iso, period
from mrag.timex import KINDS, SOURCES, Mention, Timex, find_dates, scan


def dates(text: str, reference: str | None = None) -> list[str]:
    """What is found, as printed intervals: "1990..1993", "2011..", "..2003"."""
    found = find_dates(text, reference=parse_iso(reference) if reference else None)
    return [str(mention.interval) for mention in found]


def texts(text: str, reference: str | None = None) -> list[str]:
    return [mention.text for mention in find_dates(text, reference=parse_iso(reference) if reference else None)]


def test_the_tables_of_kinds_and_sources_are_stored_by_position() -> None:
    assert KINDS == ("event", "state", "start", "end", "life")
    assert SOURCES == ("own", "previous", "heading", "title", "document")
    assert Mention("1990", (0, 4), parse_iso("1990")).source == "own"


# --- single dates ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The bridge opened on 3 March 1998.", "1998-03-03"),
        ("The bridge opened on March 3, 1998, at noon.", "1998-03-03"),
        ("The bridge opened March 3rd 1998.", "1998-03-03"),
        ("The bridge opened on the 3rd of March, 1998.", "1998-03-03"),
        ("the 3rd day of March in the year 1998", "1998-03-03"),
        ("the third of March 1998", "1998-03-03"),
        ("March the third, 1998", "1998-03-03"),
        ("3. März 1998: die Brücke", "1998-03-03"),
        ("3 mars 1998", "1998-03-03"),
        ("3 de marzo de 1998", "1998-03-03"),
        ("on Tuesday, March 3, 1998", "1998-03-03"),
        ("Tue 3 Mar 1998", "1998-03-03"),
        ("opened 1998 Mar 3", "1998-03-03"),
        ("as of march 3 1998", "1998-03-03"),
        ("as of 3 march 1998", "1998-03-03"),
        ("03-MAR-1998", "1998-03-03"),
        ("3-Mar-98", "1998-03-03"),
        ("3-Mar-21", "2021-03-03"),
        ("1998-Mar-03", "1998-03-03"),
        ("1998-03-03", "1998-03-03"),
        ("1998/03/03", "1998-03-03"),
        ("1998-03-03T23:30:00-05:00", "1998-03-03"),
        ("03/03/1998 14:30", "1998-03-03"),
        ("2019-W12-3", "2019-03-20"),
        ("2019-W12", "2019-03-18..2019-03-24"),
        ("March 1998", "1998-03"),
        ("March of 1998", "1998-03"),
        ("in Sept. 1998", "1998-09"),
        ("in 1998-03", "1998-03"),
        ("since 03/1998", "1998-03.."),
        ("Jan-1998", "1998-01"),
        ("in May ’98", "1998-05"),
        ("in 1998", "1998"),
        ("in ’98", "1998"),
        ("the year 1998", "1998"),
        ("in the year 12000", "12000"),
        ("on 1 January 3000", "3000-01-01"),
        ("in 1998[12]", "1998"),
        ("cited as Lee 1998a", "1998"),
    ],
)
def test_a_date_in_any_written_order(text: str, expected: str) -> None:
    assert dates(text) == [expected]


def test_with_slashes_the_month_comes_first_and_with_dots_the_day() -> None:
    assert dates("03/04/2019, 03.04.2019, 3-4-2019") == ["2019-03-04", "2019-04-03", "2019-04-03"]


def test_an_order_that_cannot_be_is_turned() -> None:
    assert dates("31/10/2019, 10.31.2019") == ["2019-10-31", "2019-10-31"]


def test_a_day_that_the_month_has_not_leaves_the_month() -> None:
    assert dates("on 30 February 2010 and February 29, 1900") == ["2010-02", "1900-02"]


def test_an_impossible_numeric_date_is_never_rolled_over() -> None:
    assert dates("14/31/2019, 31.02.2010, 2010-13-01") == []


@pytest.mark.parametrize("year", ["２０１９", "٢٠١٩"])
def test_digits_of_any_script_count(year: str) -> None:
    assert texts(f"They moved there in {year}.") == [f"in {year}"]
    assert dates(f"They moved there in {year}.") == ["2019"]


def test_no_break_spaces_are_spaces() -> None:
    assert dates("6\xa0May\u202f2021") == ["2021-05-06"]


# --- longer periods ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in the 1970s", "1970..1979"),
        ("a 1970s trio", "1970..1979"),
        ("the 1970's", "1970..1979"),
        ("the ’70s", "1970..1979"),
        ("the seventies", "1970..1979"),
        ("the 830s", "0830..0839"),
        ("the 1800s", "1800..1899"),
        ("the early 1970s", "1970..1973"),
        ("the mid-1970s", "1974..1976"),
        ("the late 1970s", "1977..1979"),
        ("the mid to late 1970s", "1974..1979"),
        ("the 19th century", "1801..1900"),
        ("nineteenth-century art", "1801..1900"),
        ("the twenty-first century", "2001..2100"),
        ("the late 19th century", "1868..1900"),
        ("the second half of the 19th century", "1851..1900"),
        ("the last quarter of the 18th century", "1776..1800"),
        ("the first decade of the 20th century", "1901..1910"),
        ("the 3rd century BC", "-0299..-0200"),
        ("the second millennium BC", "-1999..-1000"),
        ("im 19. Jahrhundert", "1801..1900"),
        ("early 1990", "1990-01..1990-04"),
        ("in late 1990", "1990-09..1990-12"),
        ("mid-July 1990", "1990-07-11..1990-07-20"),
        ("the summer of 1967", "1967-06..1967-08"),
        ("winter 1946/47", "1946-12..1947-02"),
        ("Fall 2019", "2019-09..2019-11"),
        ("Q3 2010", "2010-07..2010-09"),
        ("2025Q01", "2025-01..2025-03"),
        ("the third quarter of 2010", "2010-07..2010-09"),
        ("H2 2016", "2016-07..2016-12"),
        ("the first half of 2012", "2012-01..2012-06"),
        ("FY2019/20", "2019..2020"),
        ("fiscal year 2019", "2019"),
        ("the 2019–20 season", "2019..2020"),
        ("the academic year 2005–06", "2005..2006"),
        ("born 1974/1975", "1974..1975"),
    ],
)
def test_a_period_covers_its_days(text: str, expected: str) -> None:
    assert dates(text) == [expected]


def test_a_decade_without_an_article_is_a_number_of_things() -> None:
    assert dates("She is in her 80s and flew in 737-800s.") == []


# --- eras and old years ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 44 BC", "-0043"),
        ("in 10,000 BC", "-9999"),
        ("15 March 44 B.C.", "-0043-03-15"),
        ("AD 14", "0014"),
        ("14 CE", "0014"),
        ("1 BC", "0000"),
        ("AD 284–305", "0284..0305"),
        ("9–4 BC", "-0008..-0003"),
        ("1340/36 BC", "-1339..-1335"),
        ("from 336 to 323 BC", "-0335..-0322"),
        ("27 BC – AD 14", "-0026..0014"),
        ("the 480s BC", "-0488..-0479"),
        ("in 830 he fell", "0830"),
        ("on 9 August 378 (aged 49)", "0378-08-09"),
        ("in November 887", "0887-11"),
        ("on 13 October 54.", "0054-10-13"),
    ],
)
def test_years_before_1000_need_an_era_or_a_place_for_a_year(text: str, expected: str) -> None:
    assert dates(text) == [expected]


def test_small_numbers_are_no_years_by_themselves() -> None:
    assert dates("by 412 votes, in 830 cases, from 120 to 150, 41 ships on 5 May 12") == []


# --- ranges ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1990–93", "1990..1993"),
        ("1912-35", "1912..1935"),
        ("1924–5", "1924..1925"),
        ("1999–00", "1999..2000"),
        ("1990 – 1993", "1990..1993"),
        ("from 1999 to 2006", "1999..2006"),
        ("from 1999 through to 2006", "1999..2006"),
        ("1999-05-01/2006-05-31", "1999-05-01..2006-05-31"),
        ("from 1999 until about 2006", "1999..2006"),
        ("From October 1985 to June 1987", "1985-10..1987-06"),
        ("between 1853 and 1855", "1853..1855"),
        ("between about 1620 and c. 1650", "1620..1650"),
        ("4–9 August 1983", "1983-08-04..1983-08-09"),
        ("January 5–7, 1979", "1979-01-05..1979-01-07"),
        ("5 March – 18 April 1983", "1983-03-05..1983-04-18"),
        ("between 6 and 21 October 2008", "2008-10-06..2008-10-21"),
        ("20 December – 4 January 2012", "2011-12-20..2012-01-04"),
        ("from 20 December 2011 until 4 January", "2011-12-20..2012-01-04"),
        ("2 May to 9 May in 1998", "1998-05-02..1998-05-09"),
        ("May to August 1990", "1990-05..1990-08"),
        ("between Q2 and Q3 2015", "2015-04..2015-09"),
        ("from spring to autumn 1940", "1940-03..1940-11"),
        ("June 1993 – July 1994", "1993-06..1994-07"),
        ("from the 1880s to the early 1890s", "1880..1893"),
        ("16th–17th centuries", "1501..1700"),
        ("(1 March 1996 – 30 November 2004)", "1996-03-01..2004-11-30"),
        ("r. 1066–87", "1066..1087"),
        ("from two thousand and one to two thousand and ten", "2001..2010"),
        ("von 1990 bis 1995", "1990..1995"),
        ("May 13, 1895November 7, 1954", "1895-05-13..1954-11-07"),
    ],
)
def test_two_dates_of_a_range_are_one_mention(text: str, expected: str) -> None:
    assert dates(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "2001–present",
        "2001 to date",
        "from 2001 until now",
        "2001 to the present day",
        "(2001–)",
        "- 2001–: Ann",
        "2001–heute",
    ],
)
def test_what_goes_on_has_an_open_end(text: str) -> None:
    assert dates(text) == ["2001.."]


def test_a_missing_start_is_open() -> None:
    assert dates("(–1999)") == dates("?–1999") == ["..1999"]


def test_a_range_does_not_run_backwards() -> None:
    assert dates("1990–1985") == ["1990", "1985"]


def test_listed_years_are_mentions_of_their_own() -> None:
    assert dates("in 1948, 1949, 1951 and 2012") == ["1948", "1949", "1951", "2012"]


def test_listed_days_share_month_and_year() -> None:
    assert dates("on 5, 7 and 9 May 1940") == ["1940-05-05", "1940-05-07", "1940-05-09"]
    assert dates("on 5 May and 3 June 1940") == ["1940-05-05", "1940-06-03"]
    assert dates("in May and June 1940") == ["1940-05", "1940-06"]


def test_a_score_before_a_date_is_no_day() -> None:
    assert dates("They lost 2–1 May 12, 1990.") == ["1990-05-12"]


# --- relative dates ---

FRIDAY = "2024-03-15"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today", "2024-03-15"),
        ("yesterday", "2024-03-14"),
        ("the day before yesterday", "2024-03-13"),
        ("last week", "2024-03-04..2024-03-10"),
        ("this month", "2024-03"),
        ("last quarter", "2023-10..2023-12"),
        ("last year’s catch", "2023"),
        ("next year", "2025"),
        ("last decade", "2010..2019"),
        ("last Friday", "2024-03-08"),
        ("next Friday", "2024-03-22"),
        ("on Tuesday", "2024-03-12"),
        ("last May", "2023-05"),
        ("last summer", "2023-06..2023-08"),
        ("two weeks ago", "2024-03-01"),
        ("a month ago", "2024-02"),
        ("3 years ago", "2021"),
        ("since last year", "2023.."),
        ("between May 2017 and today", "2017-05..2024-03-15"),
    ],
)
def test_relative_dates_are_counted_from_the_reference(text: str, expected: str) -> None:
    assert dates(text, FRIDAY) == [expected]
    (timex,) = scan(text, reference=parse_iso(FRIDAY))
    assert timex.relative


def test_without_a_reference_nothing_is_relative() -> None:
    assert dates("last year, yesterday, two weeks ago, on Tuesday, next May") == []


def test_what_a_story_counts_from_elsewhere_is_not_counted() -> None:
    assert dates("three years earlier, the next year, two years later, the last week of it", FRIDAY) == []


def test_relative_words_in_titles_are_no_dates() -> None:
    assert dates("the show Last Week Tonight and the paper As Of Today", FRIDAY) == []


# --- no dates ---


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t ",
        "1,500 people and 1.500 Leute",
        "They fed 1862 people and 1500 horses.",
        "More than 1500 came, nearly 2000, some 1800.",
        "Boeing 747, Windows 2000, Flight 1549, Route 1995, page 1920, pp. 1920–25, No. 1984, room 1812",
        "Nos. 1901, 1905 and 1910–1919 were scrapped.",
        "Blade Runner 2049 and Cyberpunk 2077",
        "1941: A Winter Tale",
        "The Second World War and Area 51",
        "It cost $1999 or 1999 dollars or EUR 2000.",
        "1967 km2, 2000 feet, 1200 kWh, a 2000-seat hall, a 1000-year reign",
        "We leave at 1745 hours, at 17:45 or at 1745 GMT.",
        "ISBN 978-3-16-148410-0, call 555-1234",
        "version 2.11.30, firmware 14.3.1",
        "https://example.org/2019/05/06 and archive/1999/list and report-2019.pdf",
        "example.net/item/519204/",
        "Reply to 1755 Upper Mill Road, Hull.",
        "He was aged 51 after 20-25 years, 3 to 5 days and a 14-year period.",
        "He won 3–1, 21-15 and by 537 votes.",
        "1920 × 1080 pixels",
        "She may sing, and April may dance. An august man will march.",
        "the second half, the first quarter, spring water, the fall of Rome",
        "two thousand people and nineteen eighty-four things",
        "They filmed Nineteen Eighty-Four.",
        "every May, each March",
        "9" * 1000,
        "a rating that rose from 1945 to 2333",
    ],
)
def test_numbers_and_words_that_only_look_like_dates(text: str) -> None:
    assert dates(text) == []


# --- properties ---

_PIECES = [
    *sorted(TOKEN_CLASSES),
    *sorted(OPERATORS),
    *sorted(CONNECTORS),
    *sorted(SUFFIXES),
    *[rule.example for rule in NO_DATES + BY_NUMBER + BY_WORD + RELATIVE],
    *"0 5 12 31 99 830 1990 1993 2049 10000 99999 1st 1970s ’98 2019-13-45 0.0.0000 99/99/9999 2019-W99".split(),
]
date_like = st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from(["", " ", "\n", "\xa0"]))).map(
    lambda pieces: "".join(piece + blank for piece, blank in pieces)
)
any_text = st.text() | date_like
references = st.none() | st.sampled_from(
    [period(2024, 3, 15), period(2020, 2), period(1), period(-43, 3, 15), period(MIN_YEAR), period(MAX_YEAR, 12, 31)]
)


@given(any_text, references)
@settings(max_examples=400)
def test_spans_lie_in_the_text_in_order(text: str, reference: Interval | None) -> None:
    end = 0
    for mention in find_dates(text, reference=reference):
        first, last = mention.span
        assert end <= first < last <= len(text)
        assert mention.text == text[first:last] == mention.text.strip()
        assert mention.interval.start <= mention.interval.end
        assert mention.kind in KINDS
        end = last


@given(any_text, references)
def test_the_core_lies_in_the_span(text: str, reference: Interval | None) -> None:
    for timex in scan(text, reference=reference):
        assert timex.span[0] <= timex.core[0] < timex.core[1] <= timex.span[1]


@given(any_text)
def test_the_same_text_gives_the_same_dates(text: str) -> None:
    assert find_dates(text) == find_dates(text)


@given(date_like)
def test_nothing_relative_without_a_reference(text: str) -> None:
    assert not any(timex.relative for timex in scan(text))


def _names(timexes: list[Timex]) -> list[str]:
    return [str(timex.named) for timex in timexes]


@given(date_like, date_like)
def test_a_line_break_parts_dates(before: str, after: str) -> None:
    """What a line says does not hang on the words of the next one, but for the year that it borrows."""
    both = _names(scan(f"{before}\n\n{after}"))
    assert _names(scan(before)) == both[: len(_names(scan(before)))]


REPEATED = (
    "9|0| |-|–|1990 |1990-|5, |the early |from 1990 to |Ann (1900–1980) |May 5, |1/2/|first |twenty-|born in Ulm, |1.|a"
    "|A.|until about |1990 or before |\n- 1990|\u200b|(|’60s |the week before |http://|1-1-|and |5 and |Q1 and "
)


@pytest.mark.parametrize("unit", REPEATED.split("|"))
def test_a_long_text_of_anything_is_read_once(unit: str) -> None:
    """100,000 characters: a rule that went back over what it has read would not end."""
    text = (unit * (100_000 // len(unit) + 1))[:100_000]
    half = len(find_dates(text[:50_000], reference=parse_iso(FRIDAY)))
    assert abs(len(find_dates(text, reference=parse_iso(FRIDAY))) - 2 * half) <= 2
