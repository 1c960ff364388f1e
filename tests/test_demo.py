"""The corpus inside the package: its form, and what a newcomer may ask it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mrag.adapters.datasets import read_passages
from mrag.corpus import Corpus, analyse
from mrag.interval import parse_iso
from mrag.pipeline import retrieve
from mrag.settings import Settings

DEMO = Path(__file__).parents[1] / "adapters" / "demo.jsonl"
FIELDS = {"id", "title", "section", "text", "date", "valid_from", "valid_to"}


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines()]


# --- form ------------------------------------------------------------------------------------


def test_it_is_small_enough_to_ship_and_large_enough_to_mislead() -> None:
    assert 140 <= len(lines()) <= 180
    assert DEMO.stat().st_size < 60_000


def test_every_line_has_an_id_a_title_and_a_text() -> None:
    for line in lines():
        assert {"id", "title", "text"} <= set(line) <= FIELDS, line["id"]
        assert all(isinstance(value, str) and value == value.strip() and value for value in line.values()), line["id"]


def test_ids_are_unique_words() -> None:
    ids = [line["id"] for line in lines()]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9-]{3,40}", name) for name in ids)


def test_no_text_stands_twice() -> None:
    texts = [line["text"] for line in lines()]
    assert len(set(texts)) == len(texts)


def test_passages_are_a_paragraph_or_a_list() -> None:
    for line in lines():
        assert 20 <= len(line["text"]) <= 700, line["id"]
        for row in line["text"].split("\n")[1:]:
            assert row.startswith("- "), line["id"]


def test_dates_in_fields_are_iso_and_in_order() -> None:
    for line in lines():
        for name in ("date", "valid_from", "valid_to"):
            if name in line:
                parse_iso(line[name])
        assert line.get("valid_from", "0000") <= line.get("valid_to", "9999"), line["id"]


def test_every_optional_field_is_shown() -> None:
    shown = {name for line in lines() for name in line}
    assert shown == FIELDS


def test_nothing_in_it_lies_after_2025() -> None:
    for line in lines():
        years = [int(year) for year in re.findall(r"\b\d{4}\b", line["text"])]
        assert max(years, default=0) <= 2025, line["id"]


# --- what a newcomer may ask -----------------------------------------------------------------

README = ("Who was the UK prime minister as of 6 May 2021?", "uk-johnson")

QUESTIONS = [
    README,
    # as of
    ("As of March 2017, who was prime minister of the UK?", "uk-may"),
    ("Who owned the Salvator Mundi as of 2015?", "salvator-mundi-rybolovlev"),
    ("Who was CEO of Nokia as of October 2011?", "nokia-elop"),
    ("Who held the women's marathon record as of May 2010?", "marathon-women"),
    # on
    ("Who chaired the Federal Reserve on December 16, 2008?", "fed-bernanke"),
    ("Who was the acting president of France on 1 May 1969?", "fr-poher"),
    ("Who held the world record over 100 metres on 1 January 2000?", "sprint-1996-2007"),
    # in, during
    ("Who was the CEO of Disney in 2021?", "disney-chapek"),
    ("Who was the UN secretary-general in 1958?", "un-hammarskjold"),
    ("What was the tallest building in the world in 1985?", "tallest-sears"),
    ("What was Saint Petersburg called in 1942?", "saint-petersburg"),
    ("Who won the Formula One world championship in 1992?", "f1-1988-1999"),
    ("Who was German chancellor in May 1972?", "de-1949-1982"),
    ("What was the capital of Brazil in 1900?", "brazil-capital"),
    ("What was the name of the capital of Kazakhstan in 2020?", "astana"),
    ("Who managed Manchester United in March 2014?", "united-managers"),
    ("Who was king of the United Kingdom in 1940?", "uk-king-1936"),
    ("Who was the administrator of NASA in the summer of 2019?", "nasa-administrators"),
    ("Who was Google's CEO in the early 2000s?", "google-1998-2015"),
    # around
    ("Who was the chief executive of IBM around 1999?", "ibm-gerstner"),
    # before, until, by
    ("Who was the last owner of The Washington Post before 1950?", "washington-post-meyer"),
    ("Who was the last world chess champion before 1960?", "chess-1886-1963"),
    ("Who held the world record over 100 metres prior to 1990?", "sprint-1968-1994"),
    ("Which film was the highest-grossing of all time until January 2010?", "film-titanic"),
    ("Which yacht club held the America's Cup until September 1983?", "americas-cup-australia"),
    ("Who was the first to run a mile in four minutes by 1960?", "mile-bannister"),
    # after, since
    ("Who was the first chair of the Federal Reserve after 2010?", "fed-yellen"),
    ("Who was the first woman to win the Nobel Prize in Physics after 1970?", "nobel-physics-women"),
    ("Who was the last Super Bowl winner after 2020?", "super-bowl"),
    ("Who has been the pope since June 2025?", "pope-leo-xiv"),
    ("Who has been the owner of Twitter since 2023?", "twitter"),
    # between, from to
    ("Who chaired the Federal Reserve between 1990 and 2000?", "fed-greenspan"),
    ("Which was the longest bridge span in the world between 1985 and 1995?", "longest-span"),
    ("Who owned the Salvator Mundi after 2005 but before 2010?", "salvator-mundi-dealers"),
    ("Who was the prime minister of Japan from 2002 to 2005?", "jp-koizumi"),
    ("Who owned Land Rover from 2001 to 2007?", "land-rover"),
    # dates that stand in the fields of a passage
    ("What was the standard rate of VAT in the UK as of June 2009?", "uk-vat-15"),
    ("What is the standard rate of VAT in the UK as of 2019?", "uk-vat-20"),
    ("Which computer won a match against the world chess champion in May 1997?", "chess-deep-blue"),
    # no time asked
    ("Where does the UK prime minister live?", "uk-office"),
    ("As of 6 January 2021, who was the president of the United States?", "us-trump-first"),
    ("Who was the chancellor of Germany on 9 November 1989?", "de-kohl"),
    ("On 10 May 2022, who was the president of France?", "fr-macron"),
    ("Who was the CEO of Microsoft during 2007?", "ms-ballmer"),
    ("Who was UK prime minister before June 2007?", "uk-blair"),
    ("Who led the UK as prime minister between August 2019 and May 2022?", "uk-johnson"),
    ("From 1967 to 1968, who was president of the United States?", "us-johnson"),
    ("Who was the last to walk on the Moon before 1980?", "apollo-17"),
    ("Who owned the Koh-i-Noor diamond after 1900?", "koh-i-noor-crown"),
    ("Who was prime minister of Japan between 2013 and 2019?", "jp-abe"),
]


@pytest.fixture(scope="module")
def demo() -> Corpus:
    return analyse(list(read_passages(DEMO)))


def first(question: str, demo: Corpus, settings: Settings) -> str:
    return retrieve(question, demo, k=1, settings=settings).evidence[0].passage.id


def test_every_expected_passage_exists() -> None:
    assert {expected for _, expected in QUESTIONS} <= {line["id"] for line in lines()}


@pytest.mark.parametrize(("question", "expected"), QUESTIONS, ids=[question for question, _ in QUESTIONS])
def test_the_right_passage_comes_first(question: str, expected: str, demo: Corpus) -> None:
    assert first(question, demo, Settings()) == expected


def test_the_readme_question_misleads_the_plain_retriever(demo: Corpus) -> None:
    assert first(README[0], demo, Settings(temporal=False)) == "uk-hartlepool"


def test_ordinary_retrieval_misses_many_of_these(demo: Corpus) -> None:
    missed = [
        question for question, expected in QUESTIONS if first(question, demo, Settings(temporal=False)) != expected
    ]
    assert len(missed) >= 10
