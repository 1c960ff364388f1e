"""A phrase is held where its tokens stand in the text, one behind the other."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.evaluation.token_runs import fold, holds


def tokens(text: str) -> list[str]:
    """The rule, character by character."""
    found, word = [], ""
    for char in unicodedata.normalize("NFD", text).lower():
        kind = unicodedata.category(char)[0]
        if kind in "LNM":
            word += char
            continue
        found += [word] if word else []
        word = ""
        found += [char] if kind not in "ZC" else []
    return found + ([word] if word else [])


def holds_by_the_rule(text: list[str], phrase: list[str]) -> bool:
    n = len(phrase)
    return n > 0 and any(text[at : at + n] == phrase for at in range(len(text) - n + 1))


@pytest.mark.parametrize(
    ("text", "phrase", "held"),
    [
        ("The mill was sold to Ida Moe in 1912.", "ida moe", True),
        ("The mill was sold to Ida Moe in 1912.", "Ida Moe in 1912.", True),
        ("The mill was sold to Ida Moe in 1912.", "da Moe", False),
        ("The mill was sold to Ida Moe in 1912.", "Moe 1912", False),
        ("It ran 1990–1993.", "1993", True),
        ("It ran 1990–1993.", "1990-1993", False),  # another character, another token
        ("The 1990s", "1990", False),
        ("Zo\u00eb Lindqvist", "ZOE\u0308 LINDQVIST", True),
        ("Zoe Lindqvist", "Zoë Lindqvist", False),  # an accent is part of its word
        ("AT&T", "at & t", True),
        ("snake_case", "case", True),  # "_" is a character like any other
        ("one\u00a0two\u200bthree\n\tfour", "one two three four", True),
        ("x² + 1", "x2", False),
        ("", "", False),
        ("anything", " \n", False),
    ],
)
def test_a_text_holds_a_phrase(text: str, phrase: str, held: bool) -> None:
    assert holds(fold(text), fold(phrase)) is held


WORDS = st.text(st.sampled_from("ab A.é\u0301-_²１ \u200b\n"), max_size=8)


@given(WORDS, WORDS)
def test_searching_folded_texts_is_searching_runs_of_tokens(text: str, phrase: str) -> None:
    assert holds(fold(text), fold(phrase)) is holds_by_the_rule(tokens(text), tokens(phrase))


@given(st.text(max_size=30))
def test_every_text_is_folded_to_its_tokens(text: str) -> None:
    assert fold(text).split(" ")[1:-1] == tokens(text)
