"""Means come with intervals that know which questions ask for the same fact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.errors import InputError
from mrag.evaluation.bootstrap import Estimate, Part, combination, combinations, difference, estimate

COIN = np.array([1.0, 0.0] * 50)


def test_a_mean_lies_in_its_interval() -> None:
    found = estimate(COIN, [str(n) for n in range(100)])
    assert found.value == 0.5
    assert 0.38 < found.low < 0.43
    assert 0.57 < found.high < 0.62
    assert (found.n, found.facts) == (100, 100)


def test_the_same_seed_gives_the_same_interval_and_another_seed_nearly() -> None:
    facts = [str(n % 30) for n in range(100)]
    first, again, other = (estimate(COIN, facts, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first.low == pytest.approx(other.low, abs=0.03)


def test_the_draws_are_pinned_whatever_the_version_of_numpy() -> None:
    found = estimate(np.array([1.0, 0.0, 0.0, 1.0, 1.0]), list("abcde"), samples=50, seed=7)
    assert (round(found.low, 3), round(found.high, 3)) == (0.2, 1.0)
    assert found == Estimate(0.6, found.low, found.high, 5, 5)


def test_questions_about_one_fact_are_no_independent_evidence() -> None:
    values = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0], 20)
    by_question = estimate(values, [str(n) for n in range(160)])
    by_fact = estimate(values, [str(n // 20) for n in range(160)])
    assert by_fact.value == by_question.value
    assert by_fact.high - by_fact.low > 3 * (by_question.high - by_question.low)


def test_a_fact_with_many_questions_weighs_as_many() -> None:
    assert estimate(np.array([1.0, 1.0, 1.0, 0.0]), ["a", "a", "a", "b"]).value == 0.75


def test_a_difference_is_paired() -> None:
    theirs = np.array([1.0, 0.0] * 50)
    ours = theirs.copy()
    ours[1:21:2] = 1.0  # better at ten questions, worse at none
    facts = [str(n) for n in range(100)]
    found = difference(ours, theirs, facts)
    assert found.value == pytest.approx(0.1)
    assert found.sure
    unpaired = combination([Part(ours, [f"a{n}" for n in facts]), Part(theirs, [f"b{n}" for n in facts], -1.0)])
    assert found.high - found.low < 0.5 * (unpaired.high - unpaired.low)


def test_two_equal_runs_do_not_differ() -> None:
    found = difference(COIN, COIN, ["a", "b"] * 50)
    assert (found.value, found.low, found.high, found.sure) == (0.0, 0.0, 0.0, False)


def test_a_loss_draws_a_fact_with_its_original_and_its_perturbed_questions() -> None:
    rng = np.random.default_rng(3)
    easy = rng.integers(0, 2, 60).astype(np.float64)
    facts = [str(n) for n in range(60)]
    loss = combination([Part(easy, facts), Part(np.repeat(easy, 2), list(np.repeat(facts, 2)), -1.0)])
    assert (loss.value, loss.low, loss.high) == pytest.approx((0.0, 0.0, 0.0))


def test_the_difference_of_two_losses() -> None:
    original, perturbed = Part(np.array([0.0, 0.0]), ["a", "b"]), Part(np.array([1.0, 1.0]), ["a", "b"], -1.0)
    assert combination([original, perturbed]).value == -1.0


def test_what_is_not_judged_is_in_no_mean() -> None:
    found = estimate(np.array([1.0, np.nan, 0.0, np.nan]), ["a", "b", "c", "c"])
    assert (found.value, found.n, found.facts) == (0.5, 2, 2)
    empty = estimate(np.array([np.nan]), ["a"])
    assert math.isnan(empty.value) and math.isnan(empty.low) and empty.n == 0
    assert math.isnan(estimate(np.array([]), []).value)


def test_without_resamples_there_is_a_mean_and_no_interval() -> None:
    found = estimate(COIN, ["a"] * 100, samples=0)
    assert found.value == 0.5 and math.isnan(found.low) and not found.sure


def test_of_a_single_fact_there_is_no_interval() -> None:
    one = difference(np.array([1.0, 1.0, 0.0]), np.zeros(3), ["a", "a", "a"])
    assert one.value == pytest.approx(2 / 3)
    assert one.interval is None and not one.sure
    two = estimate(np.array([1.0, 1.0]), ["a", "b"])
    assert two.interval == (1.0, 1.0) and two.sure
    assert estimate(COIN, ["a", "b"] * 50, samples=0).interval is None
    assert estimate(np.array([]), []).interval is None


def test_a_figure_is_the_same_alone_and_in_a_table() -> None:
    facts = [str(n % 7) for n in range(100)]
    holes = np.where(np.arange(100) % 5 == 0, np.nan, COIN)
    table = combinations({"a": [Part(COIN, facts)], "b": [Part(holes, facts)]}, seed=5)
    assert table == {"a": estimate(COIN, facts, seed=5), "b": estimate(holes, facts, seed=5)}


def test_blocks_of_resamples_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = [str(n % 30) for n in range(100)]
    whole = estimate(COIN, facts, samples=200)
    monkeypatch.setattr("mrag.evaluation.bootstrap._BLOCK", 1000)
    assert estimate(COIN, facts, samples=200) == whole


def test_the_sum_has_no_order() -> None:
    values = np.array([0.1, 1e9, -1e9, 0.2])
    assert estimate(values, list("abcd"), samples=0).value == estimate(values[::-1], list("dcba"), samples=0).value


def test_a_value_without_a_fact_is_named() -> None:
    with pytest.raises(InputError, match="2 values, but 1 facts"):
        estimate(np.array([1.0, 0.0]), ["a"])


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=30))
def test_an_interval_never_leaves_the_values(rows: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in rows])
    found = estimate(values, [str(fact) for _, fact in rows], samples=60)
    assert values.min() - 1e-12 <= found.low <= found.high <= values.max() + 1e-12
