"""Two annotators are held against chance, and systems against what people say of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.evaluation.agreement import agreement, both, cohens_kappa, relevance
from mrag.metrics import EvalQuestion

WORDS = st.sampled_from([True, False, None])
JUDGEMENTS = st.dictionaries(st.tuples(st.sampled_from("abcd"), st.sampled_from("12345")), WORDS)
TABLES = st.lists(st.integers(0, 40), min_size=4, max_size=4)


# --- two annotators ------------------------------------------------------------------------------------------


def by_definition(table: list[int]) -> float:
    """Kappa as Cohen wrote it: observed and expected agreement."""
    n = sum(table)
    both_yes, ours, theirs, both_no = table
    observed = (both_yes + both_no) / n
    first, second = (both_yes + ours) / n, (both_yes + theirs) / n
    expected = first * second + (1 - first) * (1 - second)
    return (observed - expected) / (1 - expected)


@given(TABLES)
def test_kappa_is_cohens(table: list[int]) -> None:
    both_yes, ours, theirs, both_no = table
    one_word_only = (ours + theirs + both_no == 0) or (both_yes + ours + theirs == 0)
    assert math.isnan(cohens_kappa(table)) == one_word_only
    if not one_word_only:
        assert cohens_kappa(table) == pytest.approx(by_definition(table))


@pytest.mark.parametrize(
    ("table", "kappa"),
    [([5, 0, 0, 5], 1.0), ([0, 5, 5, 0], -1.0), ([25, 25, 25, 25], 0.0), ([45, 15, 25, 15], 0.130435)],
)
def test_kappa_of_well_known_tables(table: list[int], kappa: float) -> None:
    assert cohens_kappa(table) == pytest.approx(kappa, abs=1e-6)


def test_agreement_counts_what_both_decided() -> None:
    ida = {("q1", "a"): True, ("q1", "b"): True, ("q2", "c"): False, ("q2", "d"): None, ("q3", "e"): False}
    odd = {("q1", "a"): True, ("q1", "b"): False, ("q2", "c"): False, ("q2", "d"): True, ("q4", "f"): True}
    found = agreement(ida, odd)
    assert found.table == (1, 1, 0, 1)
    assert found.raw.value == pytest.approx(2 / 3)
    assert (found.raw.n, found.skipped, found.alone) == (3, 1, 2)
    assert found.disagreements == (("q1", "b"),)


def test_questions_about_one_fact_are_no_independent_evidence() -> None:
    ida = {(f"q{n}", "a"): n % 4 < 2 for n in range(40)}
    odd = {pair: word if n % 4 else not word for n, (pair, word) in enumerate(ida.items())}
    alone = agreement(ida, odd)
    together = agreement(ida, odd, {f"q{n}": f"fact {n % 4}" for n in range(40)})
    assert alone.raw.value == together.raw.value == 0.75
    assert together.raw.high - together.raw.low > alone.raw.high - alone.raw.low
    assert together.kappa.high - together.kappa.low > alone.kappa.high - alone.kappa.low


def test_the_interval_of_kappa_narrows_with_the_number_of_questions() -> None:
    few, many = (
        agreement(
            {(f"q{n}", "a"): n % 2 == 0 for n in range(count)}, {(f"q{n}", "a"): n % 10 < 5 for n in range(count)}
        ).kappa
        for count in (40, 360)
    )
    assert few.value == pytest.approx(many.value)
    assert 2.5 < (few.high - few.low) / (many.high - many.low) < 3.5


def test_annotators_who_always_say_no_agree_without_a_kappa() -> None:
    no = {("q1", "a"): False, ("q2", "b"): False}
    found = agreement(no, no)
    assert found.raw.value == 1.0
    assert math.isnan(found.kappa.value)


def test_without_a_common_passage_there_is_no_figure() -> None:
    found = agreement({("q1", "a"): True}, {("q1", "b"): True})
    assert math.isnan(found.raw.value) and math.isnan(found.kappa.value)
    assert (found.raw.n, found.alone) == (0, 2)


@given(JUDGEMENTS, JUDGEMENTS)
def test_agreement_is_the_same_from_both_sides(
    first: dict[tuple[str, str], bool | None], second: dict[tuple[str, str], bool | None]
) -> None:
    ours, theirs = agreement(first, second), agreement(second, first)
    assert (ours.table[1], ours.table[2]) == (theirs.table[2], theirs.table[1])
    assert set(ours.disagreements) == set(theirs.disagreements)
    assert (ours.skipped, ours.alone) == (theirs.skipped, theirs.alone)
    for mine, other in ((ours.raw.value, theirs.raw.value), (ours.kappa.value, theirs.kappa.value)):
        assert mine == pytest.approx(other, nan_ok=True)


def test_both_say_yes_where_each_does() -> None:
    first = {("q", "a"): True, ("q", "b"): True, ("q", "c"): True, ("q", "d"): None, ("q", "e"): True}
    second = {("q", "a"): True, ("q", "b"): False, ("q", "c"): None, ("q", "d"): False}
    assert both(first, second) == {("q", "a"): True, ("q", "b"): False, ("q", "c"): None, ("q", "d"): False}


# --- systems -------------------------------------------------------------------------------------------------

QUESTIONS = [EvalQuestion(f"q{n}", "Who led the club?") for n in range(4)]
OURS = {"q0": ("a", "b"), "q1": ("a",), "q2": ("c",), "q3": ("a",)}
THEIRS = {"q0": ("b",), "q1": ("a",), "q2": ("d",)}
SAID = {
    ("q0", "a"): True,
    ("q0", "b"): False,
    ("q1", "a"): True,
    ("q2", "c"): None,
    ("q2", "d"): True,
    ("q3", "a"): False,
}


def test_a_system_is_relevant_where_its_first_passage_is() -> None:
    found = relevance(QUESTIONS[:2], {"ours": OURS, "theirs": THEIRS}, SAID)
    assert {name: share.value for name, share in found.shares.items()} == {"ours": 1.0, "theirs": 0.5}
    assert found.differences["ours", "theirs"].value == 0.5
    assert found.left_out == 0


def test_every_system_is_measured_by_the_same_questions() -> None:
    found = relevance(QUESTIONS, {"ours": OURS, "theirs": THEIRS}, SAID)
    assert found.left_out == 1  # the question of which one passage was skipped
    assert [share.n for share in found.shares.values()] == [3, 3]


def test_a_question_that_a_system_left_out_is_a_miss() -> None:
    found = relevance(QUESTIONS[3:], {"ours": {"q3": ("b",)}, "theirs": {}}, {("q3", "b"): True})
    assert {name: share.value for name, share in found.shares.items()} == {"ours": 1.0, "theirs": 0.0}


def test_one_relevant_passage_among_the_first_k_is_enough() -> None:
    system = {"q0": ("b", "a")}
    said: dict[tuple[str, str], bool | None] = {("q0", "b"): None, ("q0", "a"): True}
    assert relevance(QUESTIONS[:1], {"one": system}, said, 2).shares["one"].value == 1.0
    assert relevance(QUESTIONS[:1], {"one": system}, said, 1).left_out == 1


def test_each_two_systems_are_compared() -> None:
    found = relevance(QUESTIONS[:2], {"a": OURS, "b": THEIRS, "c": {}}, SAID)
    assert list(found.differences) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found.differences["b", "c"].value == 0.5
