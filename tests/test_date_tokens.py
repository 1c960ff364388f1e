"""A text as tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.dates.calendar_words import CLASS
from mrag.dates.tokens import Tokens, classify, split_words


def classes(text: str) -> list[str]:
    names = {character: name for name, character in CLASS.items()}
    return [names[character] for character in Tokens(text).classes]


@given(st.text())
def test_tokens_stand_where_they_say(text: str) -> None:
    tokens = Tokens(text)
    assert len(tokens.words) == len(tokens.classes) == len(tokens.starts[:-1]) == len(tokens.ends)
    end = 0
    for word, start, stop in zip(tokens.words, tokens.starts, tokens.ends, strict=False):
        assert end <= start < stop <= len(text)
        assert stop - start == len(word)
        end = stop


@given(st.text())
def test_only_blanks_and_invisible_signs_stand_between_tokens(text: str) -> None:
    rest = list(text)
    tokens = Tokens(text)
    for start, stop in zip(tokens.starts, tokens.ends, strict=False):
        rest[start:stop] = " " * (stop - start)
    assert "\n" not in rest
    assert all(sign.isspace() or not sign.isprintable() for sign in rest)


@pytest.mark.parametrize("digits", ["２０１９", "٢٠١٩", "२०१९", "𝟚𝟘𝟙𝟡"])
def test_digits_of_any_script_are_digits(digits: str) -> None:
    tokens = Tokens(f"in {digits}!")
    assert tokens.words[1] == "2019"
    assert (tokens.starts[1], tokens.ends[1]) == (3, 7)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1990", "YEAR"),
        ("2049", "LATEYEAR"),
        ("3000", "NUM4"),
        ("0830", "OTHER"),
        ("830", "NUM3"),
        ("31", "DAY"),
        ("32", "NUM2"),
        ("10000", "NUM5"),
        ("100000", "OTHER"),
        ("12th", "ORDINAL"),
        ("1970s", "DECADE"),
        ("1970's", "DECADE"),
        ("830s", "OLDDECADE"),
        ("’60s", "SHORTDECADE"),
        ("'98", "SHORTYEAR"),
        ("2018’s", "YEAR"),
        ("2019-12-31T23:30:00-05:00", "FULLDATE"),
        ("2019-W12-3", "FULLDATE"),
        ("31.10.2021", "FULLDATE"),
        ("03/04/2019", "FULLDATE"),
        ("2025Q01", "FULLDATE"),
        ("FY2019", "FISCALYEAR"),
        ("B.C.E.", "BC"),
        ("1,500", "GROUPED"),
        ("1,500,000", "OTHER"),
        ("16.5.2", "OTHER"),
        ("978-3-16-148410-0", "OTHER"),
        ("555-1234", "OTHER"),
        ("2019.pdf", "OTHER"),
        ("U-1942", "OTHER"),
        ("km2", "UNIT"),
        ("3:02", "CLOCK"),
        ("²", "OTHER"),
        ("https://example.org/2019/05/06", "OTHER"),
    ],
)
def test_one_token_has_one_class(text: str, name: str) -> None:
    assert classes(text) == [name]


def test_a_unit_glued_to_a_number_makes_it_no_year() -> None:
    assert classes("1600m") == ["OTHER"]
    assert classes("1858repairs") == ["YEAR", "LOWER"]  # a lost blank


def test_a_line_break_is_a_token() -> None:
    assert classes("a\nB") == ["ARTICLE", "NEWLINE", "CAPITAL"]


def test_invisible_signs_do_not_part_a_word_from_its_blank() -> None:
    assert classes("6\u200b May\xa02021") == ["DAY", "MONTH", "YEAR"]


def test_a_long_token_is_just_other() -> None:
    assert classify("1" * 100_000) == CLASS["OTHER"]
    assert classify("x1" * 50_000) == CLASS["OTHER"]


def test_phrases_split_like_texts() -> None:
    assert split_words("No later  than") == ("no", "later", "than")
    assert split_words("ca.") == ("ca", ".")
