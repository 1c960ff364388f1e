"""Names: runs of capitalised words and what they could be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.names import NAME_LONG, NAME_PERSON, NAME_PLACE, names
from mrag.text import words


def found(text: str) -> dict[str, int]:
    tokens = words(text)
    return {text[tokens[n.first][1] : tokens[n.last - 1][2]]: n.flags for n in names(text, tokens)}


def test_a_name_runs_over_its_connectors() -> None:
    assert list(found("He met Ludwig van der Rohe there.")) == ["Ludwig van der Rohe"]


def test_commas_and_full_stops_end_a_name() -> None:
    assert list(found("In Oslo, Norway. Ida Moe sang.")) == ["Oslo", "Norway", "Ida Moe"]


def test_initials_belong_to_a_name() -> None:
    assert list(found("It was John F. Kennedy who spoke.")) == ["John F. Kennedy"]


@pytest.mark.parametrize(
    "text", ["During the war he sang.", "The club won.", "In May they left.", "However, it rained."]
)
def test_words_that_open_a_sentence_are_no_names(text: str) -> None:
    assert found(text) == {}


def test_a_person_has_two_to_five_words_and_none_of_an_organisation() -> None:
    assert found("Ida Moe left.")["Ida Moe"] & NAME_PERSON
    assert not found("He left Lund University.")["Lund University"] & NAME_PERSON
    assert not found("He met Ida.")["Ida"] & (NAME_PERSON | NAME_LONG)


@pytest.mark.parametrize("text", ["She lived in Oslo.", "She moved to Oslo.", "She lived in the Oslo."])
def test_a_place_stands_behind_its_preposition(text: str) -> None:
    assert found(text)["Oslo"] & NAME_PLACE


def test_other_names_are_no_places() -> None:
    assert not found("She met Oslo fans.")["Oslo"] & NAME_PLACE


@given(st.text(max_size=200))
def test_names_of_any_text_lie_in_order(text: str) -> None:
    tokens = words(text)
    at = 0
    for name in names(text, tokens):
        assert at <= name.first < name.last <= len(tokens)
        at = name.last
