"""Columns out of passages: sentences, inherited dates, list headers, names, the reference's years."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.columns import Strings
from mrag.corpus import FIELDS, Corpus, Passage, analyse, reference_years, within
from mrag.errors import InputError
from mrag.interval import parse_iso

CLUB = Passage(
    "club",
    "The club was founded in 1901. It plays in green.\nPresidents:\n- 1901–1911: Ida Moe\n- 1911–1920: Odd Lie",
    title="Lund BK",
    section="History",
    extra={"url": "https://example.org/club", "n": 3},
)
OWNER = Passage(
    "owner", "Kari Aas (1909–1996) owned the mill from 1950 to 1980. She sold it.", title="Mill", date="1999-05-06"
)


def dates(corpus: Corpus, sentence: int, passage: int = 0) -> list[tuple[str, str, str]]:
    rows = range(int(corpus.mention_rows[sentence]), int(corpus.mention_rows[sentence + 1]))
    mentions = [corpus.mention(row, passage) for row in rows]
    return [(str(m.interval), m.kind, m.source) for m in mentions]


def test_many_strings_are_read_at_once_and_none_outside() -> None:
    column = Strings.of(["Köln", "", "Lund"])
    assert column.raws(np.array([2, 0, 1, 2])) == [b"Lund", "Köln".encode(), b"", b"Lund"]
    assert column.raws(np.array([], dtype=np.int64)) == []
    for row in (-1, 3):
        with pytest.raises(IndexError, match="of a column of 3"):
            column.raws(np.array([0, row]))


def test_every_column_is_described_and_has_its_dtype() -> None:
    corpus = analyse([CLUB, OWNER])
    assert {f.name for f in fields(Corpus)} == {*FIELDS, "lexicon"}
    for name, spec in FIELDS.items():
        column = getattr(corpus, name)
        assert (column.blob if isinstance(column, Strings) else column).dtype == np.dtype(spec.dtype), name


def test_a_passage_comes_back_as_it_came() -> None:
    corpus = analyse([CLUB, OWNER])
    assert corpus.passage(0) == CLUB
    assert corpus.passage(1) == OWNER


def test_list_items_are_sentences_and_know_the_line_above_their_list() -> None:
    corpus = analyse([CLUB])
    texts = [corpus.sentence(row) for row in range(len(corpus.sentence_starts))]
    assert texts[2:] == ["Presidents:", "- 1901–1911: Ida Moe", "- 1911–1920: Odd Lie"]
    assert corpus.sentence_headers.tolist() == [-1, -1, -1, 2, 2]


def test_an_undated_sentence_takes_the_date_before_it() -> None:
    corpus = analyse([CLUB])
    assert dates(corpus, 0) == [("1901", "event", "own")]
    assert dates(corpus, 1) == [("1901", "event", "previous")]


def test_life_dates_are_marked_and_not_inherited() -> None:
    corpus = analyse([OWNER])
    assert ("1909..1996", "life", "own") in dates(corpus, 0)
    assert dates(corpus, 1) == [("1950..1980", "state", "previous")]


def test_an_undated_sentence_takes_the_heading_then_the_title_then_the_document() -> None:
    text = "She won the cup."
    heading = analyse([Passage("a", text, title="Cup 1990", section="1995 season", date="1999-05-06")])
    title = analyse([Passage("a", text, title="Cup 1990", date="1999-05-06")])
    document = analyse([Passage("a", text, title="Cup", date="1999-05-06")])
    assert [d[2] for d in dates(heading, 0)] == ["heading"]
    assert dates(title, 0) == [("1990", "event", "title")]
    assert dates(document, 0) == [("1999-05-06", "event", "document")]


def test_the_document_date_dates_relative_words() -> None:
    assert dates(analyse([Passage("a", "He resigned yesterday.", date="2020-03-01")]), 0)[0][0] == "2020-02-29"


def test_a_validity_is_a_mention_of_the_whole_passage() -> None:
    corpus = analyse([Passage("a", "Ida is mayor.", valid_from="2001", valid_to="2004-06")])
    assert dates(corpus, 0) == [("2001..2004-06", "state", "document")]
    assert dates(analyse([Passage("a", "Ida is mayor.", valid_from="2001")]), 0) == [("2001..", "state", "document")]


@pytest.mark.parametrize(
    ("passage", "message"),
    [
        (Passage("a", "x", date="6 May"), "passage 'a': date: '6 May' is no ISO date"),
        (Passage("a", "x", valid_from="2004", valid_to="2001"), "valid_to 2001 is before valid_from 2004"),
    ],
)
def test_field_dates_that_cannot_be_are_named(passage: Passage, message: str) -> None:
    with pytest.raises(InputError, match=message):
        analyse([passage])


def test_mention_spans_count_characters_of_their_source() -> None:
    text = "Łódź grew. Żory was founded in 1272."
    mention = analyse([Passage("a", text)]).mention(0, 0)
    assert text[slice(*mention.span)] == mention.text
    assert "1272" in mention.text


@pytest.mark.parametrize(
    ("sentence", "years"),
    [
        ("page 1920", [1920]),
        ("the 1990s", [1990]),
        ("1990–93", [1990, 1991, 1992, 1993]),
        ("1990-1993", [1990, 1991, 1992, 1993]),
        ("from 1999 to 2006", [1999, 2006]),
        ("B1999 and 19999", []),
        ("1993–1990", [1990, 1993]),
    ],
)
def test_the_reference_sees_years_by_its_own_rule(sentence: str, years: list[int]) -> None:
    assert reference_years(sentence) == years


def test_window_admits_passages_with_a_date_in_it() -> None:
    corpus = analyse([CLUB, OWNER, Passage("none", "No date at all.")])
    assert within(corpus, parse_iso("1915")).tolist() == [True, False, False]
    assert within(corpus, parse_iso("1970")).tolist() == [False, True, False]
    assert within(corpus, parse_iso("1940")).tolist() == [
        False,
        False,
        False,
    ]  # the owner's life is no date of the mill


def test_an_open_start_does_not_reach_back_for_ever() -> None:
    corpus = analyse([Passage("king", "He reigned until 1952.")])
    assert within(corpus, parse_iso("1950")).tolist() == [True]
    assert within(corpus, parse_iso("1066")).tolist() == [False]


def test_degenerate_passages_have_rows() -> None:
    corpus = analyse([Passage("a", ""), Passage("b", " \n "), Passage("c", "\x00"), Passage("d", "\ud800 in 1990.")])
    assert len(corpus) == 4
    assert len(corpus.sentence_rows) == 5


def test_no_passages_make_an_empty_corpus() -> None:
    assert len(analyse([])) == 0


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_analysed(text: str) -> None:
    corpus = analyse([Passage("a", text, title=text[:20], section=text[-20:])])
    for row in range(len(corpus.sentence_starts)):
        assert corpus.sentence(row)
    for row in range(len(corpus.mention_starts)):
        mention = corpus.mention(row, 0)
        assert mention.interval.start <= mention.interval.end
