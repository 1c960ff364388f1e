"""The vocabulary of dates holds together."""

from __future__ import annotations

from collections import Counter

import pytest

from mrag.dates.calendar_words import (
    CLASS,
    CONNECTORS,
    DECADES,
    MONTHS,
    NUMBERS,
    OPERATORS,
    ORDINALS,
    PARTS,
    SEASONS,
    SUFFIXES,
    TOKEN_CLASSES,
    WEEKDAYS,
    WORDS,
    WORDS_AS_WRITTEN,
    may_spell_a_date,
)
from mrag.dates.tokens import split_words

RELATIONS = {"as of", "from to", "until", "before", "after", "around", "between", "by", "in", "on", "since"}


def test_no_word_stands_in_two_classes() -> None:
    for table in (WORDS, WORDS_AS_WRITTEN):
        counts = Counter(word for words in table.values() for word in words.split())
        assert [word for word, count in counts.items() if count > 1] == []


def test_every_class_has_a_character_of_its_own() -> None:
    assert len(set(CLASS.values())) == len(CLASS)
    assert all(character.isalpha() for character in CLASS.values())


def test_may_is_a_month_and_may_is_a_verb() -> None:
    assert TOKEN_CLASSES["May"] == TOKEN_CLASSES["january"] == CLASS["MONTH"]
    assert TOKEN_CLASSES["may"] == CLASS["LOWERMONTH"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("MONTH", MONTHS),
        ("LOWERMONTH", MONTHS),
        ("WEEKDAY", WEEKDAYS),
        ("SEASON", SEASONS),
        ("DECADEWORD", DECADES),
        ("ORDINALWORD", ORDINALS),
        ("UNITWORD", NUMBERS),
        ("TEENWORD", NUMBERS),
        ("TENSWORD", NUMBERS),
        ("PART", PARTS),
        ("PARTNOUN", PARTS),
    ],
)
def test_every_word_with_a_value_has_it(name: str, values: dict[str, int]) -> None:
    words = {word for word, character in TOKEN_CLASSES.items() if character == CLASS[name]}
    assert {word.lower() for word in words} <= set(values)


def test_numbers_count() -> None:
    assert (NUMBERS["one"], NUMBERS["nineteen"], NUMBERS["ninety"], DECADES["nineties"]) == (1, 19, 90, 90)
    assert (ORDINALS["twentieth"], MONTHS["december"], WEEKDAYS["sunday"]) == (20, 12, 6)


def test_operators_say_one_of_the_relations() -> None:
    assert set(OPERATORS.values()) <= RELATIONS
    assert set(SUFFIXES.values()) <= RELATIONS
    assert set(CONNECTORS.values()) == {"to", "and", "list"}


def test_phrases_are_in_lower_case_and_differ_as_tokens() -> None:
    for table in (OPERATORS, CONNECTORS, SUFFIXES):
        assert all(phrase == phrase.lower() for phrase in table)
        assert len({split_words(phrase) for phrase in table}) == len(table)


@pytest.mark.parametrize("name", ["CENTURY", "MILLENNIUM", "DECADEWORD", "THOUSAND", "HUNDRED", "TEENWORD"])
def test_a_text_that_spells_a_date_is_not_passed_over(name: str) -> None:
    assert all(may_spell_a_date(f"In the {word}.") for word in WORDS[name].split())
    assert not may_spell_a_date("Nobody knows when.")
