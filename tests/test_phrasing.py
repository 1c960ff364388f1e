"""How a question gets its time: what it is without it, the words of dates, where they stand."""

import pytest

from mrag.contrast.phrasing import asked_in_the_past, has_own_time, time_words, wordings
from mrag.contrast.proof import RULES, AskedTime
from mrag.interval import parse_iso
from mrag.question import Relation, parse


def when(relation: Relation, *dates: str, implicit: str | None = None) -> AskedTime:
    return AskedTime(relation, implicit, tuple(parse_iso(date) for date in dates))  # type: ignore[arg-type]


# --- the question without a time -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "base"),
    [
        ("who owned  the mill", "Who owned the mill?"),
        ("Who is the mayor of Lund?", "Who was the mayor of Lund?"),
        ("Which banks have shares in the mill?", "Which banks had shares in the mill?"),
        ("Where does Ida Moe work?", "Where did Ida Moe work?"),
        ("Which bank owns the mill?", "Which bank owned the mill?"),
        ("The mill is owned by which bank?", "The mill was owned by which bank?"),
        ("name the owner of the mill", "Name the owner of the mill."),
        ("Where did J. Moe come from?", "Where did J. Moe come from?"),
    ],
)
def test_a_question_is_one_sentence_in_the_past(question: str, base: str) -> None:
    assert asked_in_the_past(question) == base


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "The mill was sold.",
        "The mill burnt. Who owned it?",
        "Who owned the mill from?",
        "Did she play for which club?",
        "Ida Moe owned the mill, what was its name?",
        "Which club did Ida Moe played for?",
        "Who? " * 200,
    ],
)
def test_what_is_no_question_is_none(text: str) -> None:
    assert asked_in_the_past(text) is None


@pytest.mark.parametrize(
    ("base", "own"),
    [
        ("Who owned the mill?", False),
        ("Who owned the mill in 1990?", True),
        ("Who owned the mill that was built in 1870?", True),
        ("Who led the club when it won the cup?", True),
        ("After the war ended, who owned the mill?", True),
        ("Who owned the mill for two years?", True),
        ("What was the former name of the mill?", True),
        ("Who commanded the First Army?", False),
    ],
)
def test_a_question_with_a_time_of_its_own_takes_no_other(base: str, own: bool) -> None:
    assert has_own_time(base) is own


# --- words and places ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (when("as of", "1998"), "as of 1998"),
        (when("from to", "1998-03", "2001-05"), "from March 1998 to May 2001"),
        (when("between", "1998-03-05", "2001-05-03"), "between 5 March 1998 and 3 May 2001"),
        (when("on", "1998-03-05"), "on 5 March 1998"),
    ],
)
def test_dates_are_written_as_exactly_as_they_are_asked(asked: AskedTime, words: str) -> None:
    assert time_words(asked) == words


def test_the_month_may_come_first() -> None:
    assert time_words(when("on", "1998-03-05"), month_first=True) == "on March 5, 1998"


def test_the_time_stands_in_front_in_the_middle_or_at_the_end() -> None:
    assert wordings("Who was the mayor of Lund?", when("as of", "1998")) == {
        "front": "As of 1998, who was the mayor of Lund?",
        "middle": "Who was, as of 1998, the mayor of Lund?",
        "end": "Who was the mayor of Lund as of 1998?",
    }


def test_a_name_in_front_keeps_its_capital() -> None:
    assert wordings("Ida Moe led which club?", when("in", "1998"))["front"] == "In 1998, Ida Moe led which club?"


def test_two_prepositions_do_not_meet() -> None:
    found = wordings("Which town did Ida Moe live in?", when("in", "1998"))
    assert list(found.values()) == ["In 1998, which town did Ida Moe live in?"]


def test_no_time_stands_before_a_preposition_that_opens_the_question() -> None:
    assert list(wordings("In which town did Ida Moe live?", when("by", "1998"))) == ["end"]


def test_last_until_is_not_how_long_it_lasted() -> None:
    found = wordings("Who owned the mill?", when("until", "1998", implicit="last"))
    assert set(found) == {"front", "middle"}


def test_the_first_of_a_year_is_not_the_first_holder() -> None:
    assert wordings("Who was the mayor of Lund?", when("in", "1998", implicit="first")) == {}
    assert wordings("Who owned the mill?", when("in", "1998", implicit="first"))


def test_a_condition_without_a_place_gives_no_wording() -> None:
    assert wordings("The owner of the mill was who?", when("before", "1998", implicit="last")) == {}


BASES = ("Who owned the mill?", "Which team did Ida Moe play for?", "Ida Moe was a member of which party?")


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", sorted(RULES, key=str), ids=str)
@pytest.mark.parametrize(
    "dates", [("1998", "2003"), ("1998-03", "2003-06"), ("1998-03-05", "2003-06-07"), ("0850", "0872")]
)
def test_every_wording_reads_back(base: str, kind: tuple[Relation, str | None], dates: tuple[str, ...]) -> None:
    relation, implicit = kind
    if (relation == "on") != (len(dates[0]) > 7) and relation in ("on", "in"):
        return
    asked = when(relation, *dates[: 2 if relation in ("from to", "between") else 1], implicit=implicit)
    for month_first in (False, True):
        for text in wordings(base, asked, month_first=month_first).values():
            question = parse(text)
            assert question.constraint == asked.constraint, text
            assert question.main_content == base
