"""Keywords of a question, the forms they may take, and what the question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.keywords import WEIGHTS, asked, keywords, related, relation_text, slot
from mrag.text import term


def kinds(question: str) -> list[tuple[str, str]]:
    return [(keyword.text, keyword.kind) for keyword in keywords(question)]


def test_names_are_runs_of_capitalised_words() -> None:
    assert ("Lapland Ranger Regiment", "special") in kinds("Who commanded the Lapland Ranger Regiment?")


def test_a_question_word_in_front_is_no_name() -> None:
    assert kinds("Who led Norway?") == [("led", "general"), ("Norway", "special")]


def test_a_name_in_front_is_one() -> None:
    assert kinds("Knox Cunningham held what position?")[0] == ("Knox Cunningham", "special")


def test_numbers_and_superlatives_are_their_own_kinds() -> None:
    found = kinds("What is the tallest of the 3 towers and the best of seven?")
    assert ("tallest", "superlative") in found
    assert ("3", "numeric") in found
    assert ("best", "superlative") in found
    assert ("seven", "numeric") in found


@pytest.mark.parametrize("word", ["forest", "interest", "contest", "west", "guest"])
def test_words_that_only_end_like_superlatives_are_general(word: str) -> None:
    assert kinds(f"the {word}")[-1] == (word, "general")


def test_weights_are_the_references() -> None:
    assert WEIGHTS == {"special": 1.0, "superlative": 0.7, "numeric": 0.5, "general": 0.4}


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("won", "win"),
        ("held", "hold"),
        ("led", "lead"),
        ("own", "owner"),
        ("directed", "director"),
        ("3", "three"),
        ("three", "3"),
        ("CEO", "executive"),
        ("UK", "British"),
    ],
)
def test_a_word_stands_for_its_other_forms(word: str, other: str) -> None:
    assert term(other) in slot(word)


def test_a_stop_word_is_no_keyword() -> None:
    assert slot("the") == ()
    assert keywords("of the and") == ()


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which school did Lena attend?", ("graduated", "university")),
        ("Who was the spouse of Ida?", ("married", "wife")),
        ("Who owned the mill?", ("bought", "sold")),
        ("Which team did Tom play for?", ("joined", "club")),
    ],
)
def test_a_question_names_a_relation_that_texts_word_otherwise(question: str, words: tuple[str, str]) -> None:
    assert {term(word) for word in words} <= set(related(question))


def test_names_name_no_relation() -> None:
    assert related("Who was School of Rock?") == related("Who was Xyz?")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Where did she live?", "place"),
        ("Which city hosted the fair?", "place"),
        ("Who owned it?", "who"),
        ("The court had which person heading it?", "who"),
        ("Which team did he play for?", "other"),
    ],
)
def test_the_kind_of_answer(question: str, kind: str) -> None:
    assert asked(question) == kind


def test_the_relation_is_asked_for_without_the_names() -> None:
    asks = relation_text("Which bank owned the Kolbe Mill of New Haven?").split()
    assert asks[:3] == ["bank", "owned", "bought"]
    assert not {"Kolbe", "Mill", "New", "Haven", "the", "of"} & set(asks)
    assert relation_text("How tall is the tower?") == "tall tower"


def test_a_question_of_names_alone_is_asked_for_as_it_is() -> None:
    assert relation_text("Kolbe Mill?") == "Kolbe Mill?"
    assert relation_text("") == ""


@given(st.text(max_size=200))
def test_any_text_has_keywords_that_stand_in_it(text: str) -> None:
    for keyword in keywords(text):
        assert keyword.text in text
        assert keyword.slots
        assert all(slots for slots in keyword.slots)
    related(text)
    relation_text(text)
    asked(text)
