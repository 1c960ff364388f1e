"""What a text states: the numbers, names and dates of its words, and what each date dates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.answers.stated import Stated, clauses, denials, read, sentences


def stated(text: str) -> Stated:
    return read(text, None)


def periods(text: str) -> list[list[str]]:
    return [[str(period) for period in date.periods] for date in stated(text).dates]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("He left on 9 May 2018.", [["2018-05-09"]]),
        ("He stayed from 1990 to May 1993.", [["1990", "1993-05"]]),
        ("Odd Lie (1990–93)", [["1990", "1993"]]),
        ("He has led it since 2011.", [["2011"]]),
        ("He led it until 2003.", [["2003"]]),
        ("It was so in the 1990s.", [["1990..1999"]]),
        ("It was so in early 2018.", [["2018-01..2018-04"]]),
        ("It was so in mid-2018.", [["2018-05..2018-08"]]),
        ("It won in 1948, 1951 and 2012.", [["1948"], ["1951"], ["2012"]]),
    ],
)
def test_a_range_names_its_ends_and_a_decade_the_whole(text: str, found: list[list[str]]) -> None:
    assert periods(text) == found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("They hosted the 1988 Summer Games.", [["game", "summer"]]),
        ("They met in the 2009 and 2018 Alder Cup playoffs.", [["alder", "cup"]] * 2),
        ("They met in the 2009, 2012 and 2018 Alder Cup playoffs.", [["alder", "cup"]] * 3),
        ("They rowed in the Boat Race 2017.", [["boat", "race"]]),
        ("They met in 2009 and in the 2018 Alder Cup.", [[], ["alder", "cup"]]),
        ("The 1972 crash ended it.", [[]]),
        ("In 1988 Summer left.", [[]]),
    ],
)
def test_a_date_inside_a_name_knows_it(text: str, names: list[list[str]]) -> None:
    assert [sorted(date.name) for date in stated(text).dates] == names


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("24 clubs", [24]),
        ("the 24th club", [24]),
        ("the twenty-fourth club", [24, 24]),
        ("twenty four", [20, 4]),
        ("a sixth of one of the first", [6]),
        ("9999999999999", []),
    ],
)
def test_numbers_are_read_in_figures_and_words(text: str, numbers: list[int]) -> None:
    assert [word.number for word in stated(text).words if word.number is not None] == numbers


def test_words_know_what_they_belong_to() -> None:
    found = {word.text: word for word in stated("Ida Moe won three cups in May 1999.").words}
    assert [text for text, word in found.items() if word.named and not word.dated] == ["Ida", "Moe"]
    assert [text for text, word in found.items() if word.dated] == ["May", "1999"]
    assert [text for text, word in found.items() if word.common] == ["won", "cups"]
    assert [text for text, word in found.items() if word.past] == ["won"]


def parts(text: str) -> list[tuple[str, str, str]]:
    return [
        (
            clause.date.text,
            " ".join(word.text for word in clause.words),
            ("all of " if clause.together else "") + " ".join(word.text for word in clause.relation),
        )
        for clause in clauses(text, stated(text))
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ida Moe won the cup in 1999 again.", [("1999", "Ida Moe won the cup in again", "won")]),
        ("Norfield won in 1979, Lund in 1982.", [("1979", "Norfield won in", "won"), ("1982", "Lund in", "won")]),
        ("In 1979 Ida won, and in 1982 Odd.", [("1979", "In Ida won and in", "won"), ("1982", "Odd", "won")]),
        ("She won. He left in 1982.", [("1982", "He left in", "left")]),
        ("Ida was head coach of Lund in 1982.", [("1982", "Ida was head coach of Lund in", "all of head coach")]),
        ("Ida won.", []),
    ],
)
def test_a_date_dates_the_clause_that_it_ends_or_opens(text: str, found: list[tuple[str, str, str]]) -> None:
    assert parts(text) == found


def test_sentences_keep_their_own_words_and_dates() -> None:
    text = "Ida won in 1999. Odd left in 2006."
    found = sentences(text, stated(text))
    assert [sorted(sentence.terms) for sentence in found] == [["1999", "ida", "won"], ["2006", "left", "odd"]]
    assert [[date.text for date in sentence.dates] for sentence in found] == [["1999"], ["2006"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ida did not really win the cup in 1979.", ["win"]),
        ("She hasn’t won, couldn't sing and cannot row.", ["won", "sing", "row"]),
        ("She neither sang nor danced.", ["sang", "danced"]),
        ("Nobody led it, without a ship.", ["led", "ship"]),
        ("No club won it.", ["club"]),
        ("She failed to win and refused to leave.", ["win", "leave"]),
        ("She failed in 1979, and refused it.", []),
        ("She was not only mayor, with no fewer than two ships.", []),
        ("She did not leave until 1995.", []),
        ("Dr. No stood at No. 5 in 1962.", []),
        ("She could not, however.", [None]),
    ],
)
def test_a_negation_denies_the_word_behind_it(text: str, found: list[str | None]) -> None:
    assert [denial.word and denial.word.text for denial in denials(text, stated(text))] == found


def test_what_was_so_for_a_time_is_not_wholly_denied() -> None:
    for text, whole in [
        ("She did not win.", True),
        ("She was no longer mayor.", False),
        ("She has not won since 1990.", False),
        ("She was not the first to win.", False),
    ]:
        assert [denial.whole for denial in denials(text, stated(text))] == [whole]


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    found = stated(text)
    assert sum(len(sentence.words) for sentence in sentences(text, found)) == len(found.words)
    assert len(list(clauses(text, found))) == len(found.dates)
    assert sum(len(denial.words) for denial in denials(text, found)) <= len(found.words)
