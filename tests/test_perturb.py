"""Contrast sets: which questions are made of dated facts, and that their answers are the facts' own."""

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.contrast.facts import Fact, span
from mrag.contrast.proof import RULES
from mrag.errors import InputError
from mrag.interval import parse_iso
from mrag.perturb import (
    AMBIGUOUS,
    GIVEN_AWAY,
    NO_QUESTION,
    OWN_TIME,
    UNDATED,
    ContrastSet,
    Perturbed,
    perturb,
    reads_back,
    row,
)
from mrag.question import parse
from mrag.strategies import Failure


def fact(name: str, when: str, *answers: str, question: str = "Who owned the mill in Sandvik?", line: str = "") -> Fact:
    start, end = when.split("..")
    held = span(parse_iso(start) if start != "?" else None, parse_iso(end) if end != "?" else None)
    return Fact(name, line or "mill", question, answers, held)


MILL = [
    fact("a", "1931..1948", "Ida Moe"),
    fact("b", "1948..1960-05", "Odd Lie"),
    fact("c", "1960-05..1974", "Siv Berg"),
    fact("d", "1979-02..1990", "Ida Moe"),
    fact("e", "1990..2003", "Jon Falk"),
]
TEAMS = [
    fact(
        str(at), f"{1950 + 6 * at}..{1955 + 6 * at}", f"Team {at}", question="Which team did Eva play for?", line="eva"
    )
    for at in range(8)
]


DAY = timedelta(1)


def of(made: ContrastSet, name: str) -> list[Perturbed]:
    return [one for one in made.questions if one.fact.id == name]


# --- what is made ----------------------------------------------------------------------------------------


def test_each_fact_gets_as_many_questions_as_asked_for() -> None:
    made = perturb(MILL, per_fact=4)
    assert {name: len(of(made, name)) for name in "abcde"} == dict.fromkeys("abcde", 4)
    assert [one.id for one in of(made, "b")] == ["b~0", "b~1", "b~2", "b~3"]
    assert (made.facts, made.dropped) == (5, {})


def test_all_kinds_of_questions_come_about_as_often() -> None:
    counts = Counter((one.asked.relation, one.asked.implicit) for one in perturb(TEAMS + MILL, per_fact=6).questions)
    assert max(counts.values()) <= 4
    assert len(counts) >= 20


def test_dates_come_at_every_precision() -> None:
    made = perturb(TEAMS + MILL, per_fact=12).questions
    assert len({one.asked.dates[0].start_precision for one in made}) == 3


def test_a_question_reads_back_as_it_is_meant() -> None:
    for one in perturb(TEAMS + MILL, per_fact=20).questions:
        read = parse(one.question)
        assert read.constraint == one.asked.constraint, one.question
        assert read.main_content == one.base
        assert reads_back(one.question, one.asked, one.base)


def test_reading_back_sees_another_time_and_another_question() -> None:
    one = next(one for one in perturb(MILL, per_fact=20).questions if one.asked.relation == "before")
    assert not reads_back(one.question.replace("efore", "y").replace("B", "b", 1), one.asked, one.base)
    assert not reads_back(one.question.replace("mill", "inn"), one.asked, one.base)


def test_times_stand_in_all_places() -> None:
    made = [one.question for one in perturb(MILL, per_fact=20).questions]
    assert any(text.startswith(("In ", "Before ", "From ")) for text in made)
    assert any(text.startswith("Who, ") for text in made)
    assert any(text.startswith("Who owned the mill in Sandvik ") for text in made)
    assert any(text.startswith("Who last owned the mill in Sandvik ") for text in made)


def test_no_time_lies_beyond_what_the_facts_tell_of() -> None:
    made = perturb(TEAMS, per_fact=20).questions
    assert max(one.asked.dates[-1].end for one in made) <= parse_iso("1997").end


def test_exact_is_a_question_for_a_boundary_year_or_one_of_the_evidence() -> None:
    for one in perturb(MILL, per_fact=20).questions:
        years = {int((asked.start_iso or "")[:4]) for asked in one.asked.dates}
        assert one.exact == bool(years & set(one.fact.span.boundary_years()))
    told = Fact("f", "inn", "Who ran the inn?", ("Kai",), MILL[0].span, ("Kai ran it until the fire of 1939.",))
    exact = {int((one.asked.dates[0].start_iso or "")[:4]): one.exact for one in perturb([told], per_fact=27).questions}
    assert all(value for year, value in exact.items() if year in (1931, 1939, 1948))
    assert not all(exact.values())


def test_a_row_has_the_fields_that_question_sets_have() -> None:
    known = Fact("a", "inn", "Who ran the inn?", ("Kai",), MILL[0].span, (), {"gold_passages": ["p1"], "id": "x"})
    made = row(perturb([known], per_fact=1).questions[0])
    expected = {"id": "a~0", "source_id": "a", "answers": ["Kai"], "gold_passages": ["p1"], "start": "1931"}
    assert {name: made[name] for name in expected} == expected
    assert (made["end"], made["base"], made["by"]) == ("1948", "Who ran the inn?", "rules")
    assert set(made) >= {"question", "relation", "implicit", "years", "dates", "exact"}
    assert [len(date) for date in made["dates"]] == [3] * len(made["years"])  # type: ignore[attr-defined, arg-type]


# --- what is not -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("The mill was sold.", "Ida Moe", NO_QUESTION),
        ("Who owned the mill in 1950?", "Ida Moe", OWN_TIME),
        ("Who was the last owner of the mill?", "Ida Moe", OWN_TIME),
        ("Who owned the mill of Ida Moe?", "Ida Moe", GIVEN_AWAY),
    ],
)
def test_a_question_that_cannot_take_a_time_is_dropped_with_the_reason(question: str, answer: str, reason: str) -> None:
    made = perturb([fact("a", "1931..1948", answer, question=question)])
    assert made.questions == ()
    assert made.dropped == {reason: 1}


def test_facts_of_one_time_are_ambiguous() -> None:
    twins = [fact("a", "1931..1948", "Ida Moe"), fact("b", "1931..1948", "Odd Lie")]
    assert perturb(twins).dropped == {AMBIGUOUS: 2}


def test_facts_of_unknown_time_make_no_questions_and_all_others_ambiguous() -> None:
    made = perturb([*MILL, fact("f", "?..?", "Liv Dahl")])
    assert made.questions == ()
    assert made.dropped == {AMBIGUOUS: 5, UNDATED: 1}


def test_a_fact_without_a_question_or_an_answer_only_competes() -> None:
    other = [fact("b", "1940..1945", "Odd Lie", question=""), fact("c", "1946..1947")]
    made = perturb([fact("a", "1931..1948", "Ida Moe"), *other], per_fact=27)
    assert (made.facts, {one.fact.id for one in made.questions}) == (1, {"a"})
    assert all(not one.asked.window.overlaps(other[0].span.longest) for one in made.questions if not one.asked.implicit)


def test_timelines_do_not_meet() -> None:
    one = [fact("a", "1931..1948", "Ida Moe", line="mill")]
    inn = [fact("b", "1931..1948", "Odd Lie", line="inn")]
    assert len(perturb(one + inn).questions) == 8


def test_unknown_gaps_prove_no_first_that_was_before_all_facts() -> None:
    made = perturb(MILL, per_fact=27, gaps="unknown").questions
    kinds = {(one.asked.relation, one.asked.implicit) for one in made}
    assert not kinds & {("before", "first"), ("after", "last"), ("before", None), ("since", None)}
    assert kinds < {(one.asked.relation, one.asked.implicit) for one in perturb(MILL, per_fact=27).questions}


def test_no_questions_of_each_fact_are_refused() -> None:
    with pytest.raises(InputError, match="ask for 1 at least"):
        perturb(MILL, per_fact=0)


# --- by seed -------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_and_another_one_others() -> None:
    assert perturb(MILL, seed=5) == perturb(MILL, seed=5)
    assert {one.question for one in perturb(MILL, seed=5).questions} != {
        one.question for one in perturb(MILL, seed=6).questions
    }


@settings(max_examples=20, deadline=None)
@given(st.permutations(TEAMS + MILL))
def test_the_order_of_the_facts_plays_no_part(facts: list[Fact]) -> None:
    assert perturb(facts, per_fact=2) == perturb(TEAMS + MILL, per_fact=2)


def test_another_process_with_another_hash_seed_gives_the_same() -> None:
    code = (
        "from mrag.contrast.facts import Fact, span; from mrag.interval import period\n"
        "from mrag.perturb import perturb, row\n"
        "facts = [Fact(str(y), 'm', 'Who led it?', (str(y % 3),), span(period(y), period(y + 5))) "
        "for y in range(1900, 1950, 5)]\n"
        "print([row(one) for one in perturb(facts).questions])"
    )
    env = {**os.environ}
    outputs = set()
    for seed in ("0", "7"):
        run = subprocess.run(
            [sys.executable, "-c", code], env={**env, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1


# --- over random timelines -------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_of_every_question_the_answer_is_the_one_on_each_day_that_it_can_mean(seed: int) -> None:
    """Over timelines of whole years, by the calendar of Python; test_proof.py has unknown days and ends."""
    chance = random.Random(seed)
    years: list[tuple[int, int, str]] = []
    year = 1900
    for _ in range(chance.randint(1, 7)):
        year += chance.choice((0, 1, 1, 1, 4, -2))
        last = year + chance.choice((0, 3, 8))
        years.append((year, last, chance.choice("ABCD")))
        year = last
    facts = [fact(str(at), f"{a}-01-01..{b}-12-31", f"Owner {who}") for at, (a, b, who) in enumerate(years)]
    held = [(date(a, 1, 1), date(b, 12, 31), who) for a, b, who in years]
    for one in perturb(facts, seed=seed, per_fact=27).questions:
        own = held[int(one.fact.id)]
        first, last = asked_days(one)
        if one.asked.implicit is None:
            assert {who for a, b, who in held if a <= last and first <= b} == {own[2]}, one.question
        else:
            began = [(a, who) for a, b, who in held if first <= a <= last]
            edge = (min if one.asked.implicit == "first" else max)(a for a, _ in began)
            assert {who for a, who in began if a == edge} == {own[2]}, one.question
            assert own[0] == edge


def asked_days(one: Perturbed) -> tuple[date, date]:
    """The days that a question asks about, read off its words' dates in the row, not off the proof."""
    parts = row(one)["dates"]
    assert isinstance(parts, list)
    starts = [date(year, month or 1, day or 1) for year, month, day in parts]
    ends = [
        starts[at]
        if day
        else (date(year, month, 28) + timedelta(4)).replace(day=1) - DAY
        if month
        else date(year, 12, 31)
        for at, (year, month, day) in enumerate(parts)
    ]
    match one.asked.relation:
        case "before":
            return date.min, starts[0] - DAY
        case "until" | "by":
            return date.min, ends[0]
        case "as of":
            return date.min if one.asked.implicit else starts[0], ends[0]
        case "after":
            return ends[0] + DAY, date.max
        case "since":
            return starts[0], date.max
        case "around":
            margin = timedelta(7 if parts[0][2] else 31 if parts[0][1] else 366)
            return starts[0] - margin, ends[0] + margin
    return starts[0], ends[-1]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.sampled_from(["who", "owned", "the", "mill", "first", "in 1990", "?", "Name", "was", "did"]), max_size=8
    ),
    st.text(max_size=12),
)
def test_any_question_and_any_answer_is_taken(words: list[str], answer: str) -> None:
    made = perturb([fact("a", "1931..1948", answer, question=" ".join(words))])
    for one in made.questions:
        assert reads_back(one.question, one.asked, one.base)


# --- a language model's wordings ----------------------------------------------------------------------------


def test_a_models_wordings_are_taken_where_they_ask_for_the_same() -> None:
    rules = perturb(TEAMS, per_fact=2)

    def model(
        prompts: Sequence[str], *, max_tokens: int = 256, temperature: float = 0.0, stop: Sequence[str] = ()
    ) -> list[str | Failure]:
        questions = [prompt.rpartition("<question>")[2].partition("</question>")[0] for prompt in prompts]
        assert questions == [one.question for one in rules.questions]
        return [
            question.replace("Which team did Eva", "For which team did Eva").replace(" play for", " play")
            if number % 2
            else "Who is Eva?"
            for number, question in enumerate(questions)
        ]

    made = perturb(TEAMS, per_fact=2, model=model)
    assert made.kept_wording >= len(made.questions) // 2
    assert {one.by for one in made.questions} == {"rules", "llm"}
    for one, before in zip(made.questions, rules.questions, strict=True):
        assert parse(one.question).constraint == one.asked.constraint
        assert (one.question == before.question) == (one.by == "rules")


def test_all_kinds_are_there() -> None:
    assert len(RULES) == 27
