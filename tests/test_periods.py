"""What the table of well-known periods holds, and that each of its lines is sound and can be asked with."""

import pytest

from mrag.interval import OPEN_END, OPEN_START, period
from mrag.question import parse
from mrag.questions import periods
from mrag.questions.periods import Row, folded, known_at, named, names_one, rows

BLOCKS = [periods.HAPPENINGS, periods.ERAS, periods.STATES, periods.POINTS, *(block for _, _, block in periods.TERMS)]
ROWS = [row for block in BLOCKS for row in rows(block)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.names[0])
def test_the_example_of_each_line_makes_it_the_time_of_a_question(row: Row) -> None:
    question = parse(f"Who led the Ulm guild {row.example}?")
    assert question.main_content == "Who led the Ulm guild?"
    found = question.constraint
    assert found is not None
    bounds = {found.interval.start, found.interval.end} - {OPEN_START, OPEN_END}
    assert bounds
    assert all(row.interval.start <= bound <= row.interval.end for bound in bounds)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.names[0])
def test_each_name_of_a_line_is_found_in_a_text(row: Row) -> None:
    for name in row.names:
        text = f"Who led it at the {name.strip('*?')}?"
        assert names_one(text)
        assert any(known.name == name.strip("*?").lower() for known in named(text))


def test_no_name_stands_for_two_things() -> None:
    names = [name.strip("*?") for row in ROWS for name in row.names]
    assert len(names) == len(set(names))


def test_names_have_no_article() -> None:
    for row in ROWS:
        assert all(name == name.strip() and not name.startswith("the ") for name in row.names)


@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("second world war", "1939-09-01..1945-09-02"),
        ("World War I", "1914-07-28..1918-11-11"),
        ("fall of the Berlin Wall", "1989-11-09"),
        ("9/11", "2001-09-11"),
        ("Cold War", "1947..1991"),
        ("Weimar Republic", "1918-11-09..1933"),
        ("Obama", "2009-01-20..2017-01-20"),
        ("Reiwa era", "2019-05-01.."),
        ("Han dynasty", "-0201..0220"),
    ],
)
def test_days_are_given_as_exactly_as_they_are_agreed_on(name: str, days: str) -> None:
    hit = known_at(name, folded(name), 0)
    assert hit is not None
    assert (str(hit[0].interval), hit[1]) == (days, len(name))


def test_the_longest_name_counts() -> None:
    assert [known.name for known in named("World War II")] == ["world war ii"]
    assert [known.name for known in named("when Kennedy was assassinated")] == ["kennedy was assassinated"]


def test_a_name_ends_with_its_last_word() -> None:
    assert named("the Cold Warrior") == []
    assert named("the Cold War-era depot") != []


@pytest.mark.parametrize(
    ("text", "found"),
    [("during Prohibition", True), ("during prohibition", False), ("the blitz", False), ("in the cold war", True)],
)
def test_a_name_that_is_a_common_word_as_well_needs_its_capital(text: str, found: bool) -> None:
    assert names_one(text) is found


def test_dashes_and_apostrophes_are_written_in_any_way() -> None:
    assert [known.name for known in named("the Franco–Prussian War and the Hundred Years’ War")] == [
        "franco-prussian war",
        "hundred years' war",
    ]


def test_a_line_is_days_names_and_an_example() -> None:
    assert rows("2019-05-01.. | reiwa era, reiwa period | since the Reiwa era")[0].interval.end == OPEN_END
    assert rows("1917 | russian revolution | before it")[0].interval == period(1917)


@pytest.mark.usefixtures("linear_time")
def test_a_text_of_any_length_takes_linear_time() -> None:
    for piece in ("world war ", "second ", "fall of the ", "9/", "hundred years "):
        named(piece * (200_000 // len(piece)))
