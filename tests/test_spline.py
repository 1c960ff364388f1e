"""Temporal scores: the paper's Figure 7, and the interval profile as a specification."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.interval import OPEN_END, OPEN_START, Interval, join, parse_iso, since, until
from mrag.question import RELATIONS, Constraint, parse
from mrag.spline import (
    PAPER_OUTSIDE,
    PROFILE,
    asked_period,
    best_of,
    interval_scores,
    paper_scores,
    paper_window,
)
from mrag.timex import KINDS, SOURCES


def asked(phrase: str) -> Constraint:
    constraint = parse(f"Who was the {phrase}?").constraint
    assert constraint is not None
    return constraint


def paper(phrase: str, *years: int) -> list[float]:
    return paper_scores(asked(phrase), np.array(years, dtype=np.int16)).astype(float).round(4).tolist()


def score(phrase: str, interval: Interval, kind: str = "event", source: str = "own", *, life: bool = False) -> float:
    columns = (
        np.array([interval.start], dtype=np.int32),
        np.array([interval.end], dtype=np.int32),
        np.array([KINDS.index(kind)], dtype=np.uint8),
        np.array([SOURCES.index(source)], dtype=np.uint8),
    )
    return float(interval_scores(asked(phrase), *columns, life=life)[0])


def day(text: str) -> Interval:
    return parse_iso(text)


def span(first: str, last: str) -> Interval:
    return join(parse_iso(first), parse_iso(last))


# --- paper ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "year", "expected"),
    [
        ("last owner before 1981", 1970, 0.912),  # the paper's own figure
        ("last owner before 1981", 1981, 1.0),  # "before Y" admits Y itself
        ("last owner before 1981", 1931, 0.6),
        ("last owner before 1981", 1930, PAPER_OUTSIDE),
        ("last owner before 1981", 1982, PAPER_OUTSIDE),
        ("first owner before 1981", 1970, 0.688),
        ("first owner before 1981", 1931, 1.0),
        ("last owner after 1981", 1981, 0.6),
        ("last owner after 1981", 2031, 1.0),
        ("last owner after 1981", 2032, PAPER_OUTSIDE),
        ("first owner after 1981", 1981, 1.0),
        ("first owner after 1981", 2031, 0.6),
        ("first owner between 1940 and 1950", 1940, 1.0),
        ("first owner between 1940 and 1950", 1950, 0.6),
        ("last owner between 1940 and 1950", 1945, 0.8),
        ("last owner between 1940 and 1950", 1951, PAPER_OUTSIDE),
    ],
)
def test_paper_six_families(phrase: str, year: int, expected: float) -> None:
    assert paper(phrase, year) == [pytest.approx(expected)]


def test_paper_no_implicit_condition_scores_like_last() -> None:
    assert paper("owner as of 1981", 1970, 1931) == paper("last owner before 1981", 1970, 1931)


def test_paper_two_years_are_between_whatever_the_word() -> None:
    assert paper_window(asked("owner from 1940 to 1950")) == (1940, 1950)


@pytest.mark.parametrize(
    "phrase", ["owner in 1981", "owner on 6 May 1981", "owner around 1981", "owner from May 1981 to June 1981"]
)
def test_paper_gives_other_relations_no_temporal_score(phrase: str) -> None:
    assert paper_window(asked(phrase)) is None
    with pytest.raises(ValueError, match="no temporal score"):
        paper(phrase, 1981)


def test_paper_first_before_reads_several_years_as_the_paper_not_as_its_code() -> None:
    """first-before-1981 with 1900 and 1970: the code takes the earliest, 1900, which lies outside (0.5)."""
    scores = paper("first owner before 1981", 1900, 1970)
    assert scores == [pytest.approx(0.5), pytest.approx(0.688)]
    best, at = best_of(np.array(scores, dtype=np.float32), np.array([0, 2]), PAPER_OUTSIDE)
    assert (best[0], at[0]) == (pytest.approx(0.688), 1)
    assert scores[0] == pytest.approx(PAPER_OUTSIDE)  # what the code's reading of the same sentence gives


# --- interval ------------------------------------------------------------------------------------


def test_a_state_that_covers_the_asked_time_fits_fully() -> None:
    assert score("owner as of 2003", span("1999", "2006"), "state") == 1.0


def test_a_state_that_ended_before_fits_less_than_an_event_before() -> None:
    assert score("owner as of 2003", span("1995", "1999"), "state") < score("owner as of 2003", day("1999"))


def test_before_excludes_its_bound() -> None:
    assert score("last owner before 2010", day("2010")) < PROFILE.undated < score("last owner before 2010", day("2009"))


def test_by_includes_its_bound() -> None:
    assert score("owner by 2010", day("2010")) == 1.0


def test_after_excludes_its_bound_and_since_includes_it() -> None:
    assert score("first owner after 2010", day("2010")) < PROFILE.undated
    assert score("first owner since 2010", day("2010")) > 0.9


@pytest.mark.parametrize("phrase", ["owner in March 2003", "owner during March 2003", "owner on 6 March 2003"])
def test_in_on_and_during_are_scored(phrase: str) -> None:
    inside, outside = score(phrase, day("2003-03-06")), score(phrase, day("2003-09"))
    assert inside == 1.0 > outside


def test_around_takes_in_the_neighbouring_years() -> None:
    assert score("owner around 1350", day("1351")) == 1.0 > score("owner around 1350", day("1310"))


def test_months_and_days_count() -> None:
    assert score("owner as of May 2003", day("2003-04")) > score("owner as of May 2003", day("2003-06"))
    assert score("owner on 18 March 2026", day("2026-03-18")) > score("owner on 18 March 2026", day("2026-03-08"))


def test_a_year_that_holds_the_asked_day_is_not_read_as_january_first() -> None:
    assert score("owner as of 30 August 2026", day("2026")) == 1.0


def test_no_cliff_at_fifty_years() -> None:
    scores = [score("owner as of 2000", day(str(year))) for year in range(1990, 1900, -1)]
    steps = np.diff(scores)
    assert (steps < 0).all()
    assert (np.abs(steps) < 0.05).all()


def test_first_before_takes_the_earliest_however_far_back() -> None:
    assert 1.0 >= score("first owner before 1981", day("1703")) > score("first owner before 1981", day("1980")) > 0.9


def test_first_after_wants_the_nearest_and_last_after_any_later() -> None:
    assert score("first owner after 1981", day("1983")) > score("first owner after 1981", day("1999"))
    assert score("last owner after 1981", day("2015")) > score("last owner after 1981", day("1983"))


def test_last_before_wants_the_nearest() -> None:
    assert score("last owner before 1981", day("1975")) > score("last owner before 1981", day("1940"))


def test_first_and_last_between_prefer_their_end() -> None:
    early, late = day("1941"), day("1949")
    assert score("first owner between 1940 and 1950", early) > score("first owner between 1940 and 1950", late)
    assert score("last owner between 1940 and 1950", late) > score("last owner between 1940 and 1950", early)


def test_both_bounds_of_a_window_count() -> None:
    phrase = "owner after 2006 but before 2010"
    assert score(phrase, day("2008")) == 1.0
    assert max(score(phrase, day("2004")), score(phrase, day("2011"))) < 1.0


def test_open_states_hold_on_and_fade_slowly() -> None:
    near, far = since(day("2011")), since(day("1950"))
    assert score("owner as of 2018", near, "start") > score("owner as of 2018", far, "start") > 0.5
    assert score("owner as of 2018", since(day("2019")), "start") < PROFILE.undated


def test_until_says_what_held_before_it() -> None:
    until_2003 = until(day("2003"))
    assert score("owner as of 2001", until_2003, "end") > 0.9
    assert score("owner as of 2009", until_2003, "end") < PROFILE.undated


def test_until_fades_without_a_cliff_the_longer_before_its_end() -> None:
    until_1949 = until(day("1949"))
    scores = [score(f"owner in {year}", until_1949, "end") for year in range(1948, 1900, -1)]
    steps = np.diff(scores)
    assert (steps <= 0).all()
    assert (np.abs(steps) < 0.15).all()


def test_what_was_reached_by_a_date_still_says_something_later() -> None:
    assert score("owner in 1955", until(day("1950"))) > PROFILE.undated


def test_life_dates_hardly_date_facts_unless_asked_for() -> None:
    life = span("1909", "1996")
    assert score("owner as of 1950", life, "life") == pytest.approx(PROFILE.life)
    assert score("owner as of 2003", life, "life") == pytest.approx(PROFILE.undated)
    assert PROFILE.undated < PROFILE.life < 0.5  # never "may well hold", see pipeline.FITS
    assert score("owner as of 1950", life, "life", life=True) == 1.0


def test_undated_is_better_than_a_date_that_cannot_hold_and_worse_than_one_that_can() -> None:
    assert score("owner as of 2003", day("2015")) < PROFILE.undated < score("owner as of 2003", day("1990"))


@pytest.mark.parametrize("source", ["previous", "heading", "title", "document"])
def test_inherited_dates_count_less_than_own_and_more_than_none(source: str) -> None:
    assert PROFILE.undated < score("owner in 2003", day("2003"), source=source) < score("owner in 2003", day("2003"))


def test_what_a_document_says_of_its_validity_counts_nearly_as_a_sentence_of_its_own() -> None:
    holds, asked = span("1999", "2006"), "owner as of 2003"
    assert score(asked, holds, "state", source="title") < score(asked, holds, "state", source="document") < 1.0
    assert score(asked, holds, "state", source="document") > score(asked, day("1995"))


def test_years_before_christ() -> None:
    assert score("owner as of 40 BC", span("-0050", "-0029"), "state") == 1.0
    assert score("owner as of 40 BC", span("-0220", "-0203"), "state") < 0.5


def test_without_a_date_everything_scores_one() -> None:
    constraint = Constraint(None, "last", Interval())
    one = np.zeros(1, dtype=np.uint8)
    assert interval_scores(constraint, np.zeros(1, np.int32), np.zeros(1, np.int32), one, one).tolist() == [1.0]


def test_the_best_date_of_a_sentence_counts_and_is_named() -> None:
    best, at = best_of(np.array([0.1, 0.7, 0.7, 0.2], dtype=np.float32), np.array([0, 3, 3, 4]), 0.25)
    assert best.astype(float).round(2).tolist() == [0.7, 0.25, 0.2]
    assert at.tolist() == [1, -1, 3]


def test_asked_period_of_one_sided_relations_is_the_period_named() -> None:
    first, last = asked_period(asked("owner as of May 2003"))
    assert (first, last) == (day("2003-05").start, day("2003-05").end)
    edge = day("2003-05").start - 1
    assert asked_period(asked("owner before May 2003")) == (edge, edge)
    assert asked_period(asked("owner until May 2003")) == (edge, day("2003-05").end)


def test_until_a_year_is_who_ended_in_it_and_not_who_began() -> None:
    ended, began = span("1991", "1999"), span("1999", "2007")
    assert score("president until 1999", ended, "state") > score("president until 1999", began, "state")


days = st.integers(-1_000_000, 1_000_000)


@given(
    relation=st.sampled_from([*RELATIONS, None]),
    implicit=st.sampled_from(["first", "last", None]),
    bounds=st.tuples(days, days),
    mentions=st.lists(st.tuples(days, st.integers(0, 40_000), st.integers(0, 4), st.integers(0, 4), st.integers(0, 2))),
    life=st.booleans(),
)
def test_scores_lie_between_zero_and_one(relation, implicit, bounds, mentions, life) -> None:  # type: ignore[no-untyped-def]
    low, high = sorted(bounds)
    if relation in ("before", "until", "by", "as of", None):
        low = OPEN_START
    if relation in ("after", "since", None):
        high = OPEN_END
    constraint = Constraint(relation, implicit, Interval(low, high))
    starts = np.array([OPEN_START if side == 1 else start for start, _, _, _, side in mentions], dtype=np.int32)
    ends = np.array([OPEN_END if side == 2 else start + n for start, n, _, _, side in mentions], dtype=np.int32)
    kinds = np.array([kind for _, _, kind, _, _ in mentions], dtype=np.uint8)
    sources = np.array([source for _, _, _, source, _ in mentions], dtype=np.uint8)
    scores = interval_scores(constraint, starts, ends, kinds, sources, life=life)
    assert scores.dtype == np.float32
    assert ((scores >= 0) & (scores <= 1)).all()
    again = interval_scores(constraint, starts[::-1], ends[::-1], kinds[::-1], sources[::-1], life=life)
    assert (again[::-1] == scores).all()  # a mention's score does not depend on its neighbours
