"""Dated facts: what is known of when they held, and what stands beside them on their timeline."""

import pytest

from mrag.contrast.facts import ALWAYS_WAS, MOST_FACTS, STILL_IS, Fact, Span, gaps, others, span, timelines, within
from mrag.errors import InputError
from mrag.interval import OPEN_END, OPEN_START, Interval, join, parse_iso


def held(text: str) -> Span:
    """The span of "1990..1995-03"; a "?" for what is not known."""
    start, end = text.split("..")
    return span(None if start == "?" else parse_iso(start), None if end == "?" else parse_iso(end))


def fact(name: str, when: str, *answers: str) -> Fact:
    return Fact(name, "mill", "Who owned the mill?", answers, held(when))


def test_a_fact_surely_holds_between_its_start_and_end_periods_only() -> None:
    owned = held("1990..1995-03")
    assert owned.covers(join(parse_iso("1991"), parse_iso("1994")))
    assert not owned.covers(parse_iso("1990"))
    assert owned.touches(parse_iso("1990"))
    assert not owned.touches(parse_iso("1990-06"))
    assert owned.may_touch(parse_iso("1990-06"))
    assert not owned.may_touch(parse_iso("1995-04"))


def test_what_happened_in_a_year_lies_in_it_on_an_unknown_day() -> None:
    won = within(parse_iso("2005"))
    assert won.touches(parse_iso("2005"))
    assert won.lies_in(join(parse_iso("2004"), parse_iso("2005")))
    assert not won.touches(parse_iso("2005-06"))


def test_an_unknown_end_may_be_any_day_and_an_open_one_is_none() -> None:
    assert not held("1990..?").covers(parse_iso("1991"))
    assert held("1990..?").may_touch(parse_iso("2500"))
    assert not held("1990..?").may_touch(parse_iso("1989"))
    assert held("?..1990").may_touch(parse_iso("0500"))
    assert span(parse_iso("1990"), STILL_IS).covers(Interval(parse_iso("1991").start, OPEN_END))
    assert span(ALWAYS_WAS, parse_iso("1990")).covers(Interval(OPEN_START, parse_iso("1989").end))


def test_an_end_within_the_start_year_narrows_the_start() -> None:
    brief = held("1990..1990-02")
    assert brief.begins.end == parse_iso("1990-02").end
    assert brief.ends.start == parse_iso("1990-02").start


def test_an_end_before_the_start_is_refused() -> None:
    with pytest.raises(InputError, match="ends \\(1989\\) before it starts \\(1990\\)"):
        held("1990..1989")


def test_boundary_years_are_those_that_are_known() -> None:
    assert held("1990..1995-03").boundary_years() == (1990, 1995)
    assert held("1990..?").boundary_years() == (1990,)
    assert within(parse_iso("1990")).boundary_years() == (1990,)


def test_the_same_answer_is_no_rival_and_an_unknown_one_is() -> None:
    timeline = [
        fact("a", "1950..1960", "Ida Moe"),
        fact("b", "1960..1970", "ida  moe"),
        fact("c", "1970..1980", "Odd Lie"),
        fact("d", "1980..1990"),
        fact("e", "1990..2000", "Ida Moe", "Odd Lie"),
    ]
    beside = others(timeline[0], timeline)
    assert beside.same == (timeline[1].span,)
    assert beside.rivals == tuple(one.span for one in timeline[2:])
    assert len(others(timeline[3], timeline).rivals) == 4


def test_gaps_are_the_days_that_no_fact_may_have_held_on() -> None:
    found = gaps([fact("a", "1950..1960"), fact("b", "1955..1970-05"), fact("c", "1970-06..1980")])
    assert [str(gap.longest) for gap in found] == ["..1949-12-31", "1981-01-01.."]
    assert gaps([fact("a", "?..?")]) == []


def test_timelines_stand_in_the_order_of_their_names_whatever_the_order_of_the_rows() -> None:
    rows = [Fact(name, line, "", (), held("1990..1991")) for name, line in (("b", "2"), ("c", "1"), ("a", "2"))]
    assert [[one.id for one in timeline] for timeline in timelines(rows)] == [["c"], ["a", "b"]]
    assert timelines(rows[::-1]) == timelines(rows)


def test_an_id_that_comes_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'a' comes twice"):
        timelines([fact("a", "1990..1991"), fact("a", "1992..1993")])


def test_a_timeline_of_any_length_is_refused() -> None:
    with pytest.raises(InputError, match="facts on the timeline 'mill'"):
        timelines(fact(str(number), "1990..1991") for number in range(MOST_FACTS + 1))
