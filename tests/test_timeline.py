"""Dated facts: which date counts, in which order, and where each lies to the asked time."""

from __future__ import annotations

import pytest

from mrag.answers.timeline import Fact, asked_time, dated, in_order, line, of_evidence, place, spoken
from mrag.corpus import Passage
from mrag.interval import Interval, join, parse_iso, since, until
from mrag.pipeline import rank_texts
from mrag.question import parse

NOWHERE = Passage("1", "")


@pytest.mark.parametrize(
    ("question", "text", "date"),
    [
        ("Who led it as of 2010?", "Moe led it in 1999 and 2006.", "2006"),
        ("Who led it before 2000?", "Moe led it in 1999 and 2006.", "1999"),
        ("Who was the first to lead it after 1950?", "Lie led it in 1938, Moe in 1954 and Aas in 1961.", "1954"),
        ("Who led it in 2003?", "Moe led it from 1999 to 2006.", "1999..2006"),
        ("Who led it?", "Moe led it in 1999 and 2006.", "1999"),
        ("Who led it in 1980?", "Odd Lie (1909–1996) led it in 1971.", "1971"),
        ("When was Odd Lie born?", "Odd Lie (1909–1996) led it in 1971.", "1909..1996"),
    ],
)
def test_of_several_dates_the_one_that_fits_best_counts(question: str, text: str, date: str) -> None:
    fact = dated(text, NOWHERE, parse(question))
    assert fact is not None
    assert str(fact.interval) == date


def test_a_sentence_without_a_date_is_no_fact() -> None:
    assert dated("Moe led it.", NOWHERE, parse("Who led it in 1999?")) is None
    assert dated("Odd Lie (1909–1996) led it.", NOWHERE, parse("Who led it in 1950?")) is None


def test_relative_dates_are_those_of_the_passage() -> None:
    question = parse("Who led it in 2018?")
    fact = dated("Moe led it last year.", Passage("1", "", date="2019-05-01"), question)
    assert fact is not None
    assert str(fact.interval) == "2018"
    assert dated("Moe led it last year.", NOWHERE, question) is None
    assert dated("Moe led it last year.", Passage("1", "", date="in spring"), question) is None


def fact(interval: Interval, text: str = "Moe led it.") -> Fact:
    return Fact(interval, text, NOWHERE)


def test_facts_are_in_the_order_of_their_first_day() -> None:
    days = [parse_iso(text) for text in ("2006", "1999-05", "1999", "-0043")]
    facts = [fact(since(days[0])), fact(days[1]), fact(until(days[0])), fact(days[2]), fact(days[3])]
    assert [str(f.interval) for f in in_order(facts)] == ["-0043", "1999", "1999-05", "..2006", "2006.."]


def test_facts_of_one_day_stay_in_their_order_and_the_same_is_told_once() -> None:
    year = parse_iso("1999")
    facts = [fact(year, "b"), fact(year, "a"), fact(year, "b")]
    assert [f.text for f in in_order(facts)] == ["b", "a"]


@pytest.mark.parametrize(
    ("question", "date", "where"),
    [
        ("Who led it before 2010?", "2009-12-31", "in"),
        ("Who led it before 2010?", "2010", "after"),
        ("Who led it as of May 2010?", "2010-06", "after"),
        ("Who led it after 2010?", "2010", "before"),
        ("Who led it after 2010?", "2011", "in"),
        ("Who led it in 2010?", "2009", "before"),
        ("Who led it between 1999 and 2006?", "2003", "in"),
        ("Who was the first to lead it?", "2003", ""),
        ("Who led it?", "2003", ""),
    ],
)
def test_the_place_of_a_date_is_arithmetic(question: str, date: str, where: str) -> None:
    assert place(parse_iso(date), parse(question)) == where


def test_a_line_says_date_place_and_sentence() -> None:
    assert line(fact(parse_iso("2003")), parse("Who led it in 2003?")) == "2003 (in the asked time): Moe led it."
    assert line(fact(parse_iso("2003")), parse("Who led it?")) == "2003: Moe led it."


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        (parse_iso("2019-03-04"), "2019-03-04"),
        (since(parse_iso("2019-03")), "since 2019-03"),
        (until(parse_iso("2019")), "until 2019"),
        (join(parse_iso("1990"), parse_iso("1998")), "1990 to 1998"),
        (Interval(), "at any time"),
    ],
)
def test_an_interval_in_words(interval: Interval, words: str) -> None:
    assert spoken(interval) == words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Who led it as of 6 May 2021?", "as of 2021-05-06"),
        ("Who led it before 2010?", "before 2010"),
        ("Who led it since 2010?", "since 2010"),
        ("Who led it in May 2010?", "in 2010-05"),
        ("Who led it on 3 May 2010?", "on 2010-05-03"),
        ("Who led it from 1999 to 2006?", "between 1999 and 2006"),
        ("Who led it after 1999 but before 2006?", "between 1999 and 2006"),
        ("Who was the first to lead it?", ""),
        ("Who led it?", ""),
    ],
)
def test_the_asked_time_in_words(question: str, words: str) -> None:
    assert asked_time(parse(question).constraint) == words


def test_evidence_makes_a_timeline_without_a_model() -> None:
    passages = [
        Passage("new", "Kari Aas became mayor of Lund in 2014."),
        Passage("old", "Ida Moe was mayor of Lund from 1999 to 2006."),
        Passage("fair", "The fair of 1971 was grand. In May the mayor of Lund opened it."),
        Passage("bare", "The mayor of Lund opens the fair."),
    ]
    ranking = rank_texts("Who was mayor of Lund?", passages)
    facts = of_evidence(ranking.evidence, ranking.question)
    assert [(f.passage.id, str(f.interval)) for f in facts if f.passage.id != "fair"] == [
        ("old", "1999..2006"),
        ("new", "2014"),
    ]


def test_the_date_that_decided_may_lean_on_the_text_around_it() -> None:
    passage = Passage("1", "In 1971 Lund had a fair. In May the mayor of Lund was Odd Lie.")
    ranking = rank_texts("Who was mayor of Lund in May 1971?", [passage])
    [fact] = of_evidence(ranking.evidence, ranking.question)
    assert (str(fact.interval), fact.text) == ("1971-05", "In May the mayor of Lund was Odd Lie.")


def test_the_dates_of_a_life_make_no_fact_unless_asked_for() -> None:
    passage = Passage("1", "Odd Lie (1909–1996) was mayor of Lund.")
    for question, dates in (("Who was mayor of Lund in 1950?", []), ("When was Odd Lie born?", ["1909..1996"])):
        ranking = rank_texts(question, [passage])
        assert [str(fact.interval) for fact in of_evidence(ranking.evidence, ranking.question)] == dates
