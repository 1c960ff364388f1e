"""Which texts share a run, and the arrays that they become."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.adapters.models.batching import Padding, Tokens, arrays, batches, padded_lengths

LENGTHS = st.lists(st.integers(0, 2000), min_size=1, max_size=50).map(np.array)


@given(LENGTHS)
def test_a_padded_length_depends_on_the_own_length_alone(lengths):
    together = padded_lengths(lengths)
    assert together.tolist() == [int(padded_lengths(np.array([length]))[0]) for length in lengths]


@pytest.mark.parametrize("lengths", [np.arange(1, 5000)])
def test_a_padded_length_wastes_little(lengths):
    padded = padded_lengths(lengths)
    assert (padded >= lengths).all()
    assert (padded - lengths < np.maximum(4, lengths / 8)).all()
    assert (np.diff(padded) >= 0).all()


def test_there_are_few_padded_lengths():
    assert len(np.unique(padded_lengths(np.arange(1, 513)))) == 40


@given(LENGTHS, st.integers(1, 3000))
def test_each_text_is_in_one_run_of_its_padded_length(lengths, most):
    padded = padded_lengths(lengths)
    runs = batches(padded, most)
    assert sorted(np.concatenate(runs).tolist()) == list(range(len(lengths)))
    for rows in runs:
        assert len(set(padded[rows].tolist())) == 1
        assert len(rows) == 1 or len(rows) * padded[rows[0]] <= most


@given(LENGTHS, st.integers(1, 3000))
def test_the_longest_texts_come_first(lengths, most):
    padded = padded_lengths(lengths)
    assert (np.diff([padded[rows[0]] for rows in batches(padded, most)]) <= 0).all()


def test_with_one_token_a_run_every_text_is_alone():
    assert [rows.tolist() for rows in batches(np.array([4, 8, 4]), 1)] == [[1], [0], [2]]


@pytest.mark.parametrize(
    ("left", "ids", "mask"),
    [(False, [[5, 6, 9], [7, 9, 9]], [[1, 1, 0], [1, 0, 0]]), (True, [[9, 5, 6], [9, 9, 7]], [[0, 1, 1], [0, 0, 1]])],
)
def test_pads_stand_on_the_side_that_is_wanted(left, ids, mask):
    inputs = arrays(Tokens([[5, 6], [7]]), [0, 1], 3, Padding(9, left))
    assert inputs.ids.tolist() == ids
    assert inputs.mask.tolist() == mask


def test_types_are_zero_where_none_are_given():
    assert arrays(Tokens([[5, 6]]), [0], 3, Padding()).types.tolist() == [[0, 0, 0]]


def test_types_of_pairs_stand_beside_their_tokens():
    inputs = arrays(Tokens([[5, 6, 7]], [[0, 1, 1]]), [0], 4, Padding())
    assert inputs.types.tolist() == [[0, 1, 1, 0]]


def test_rows_come_in_the_order_they_are_asked_for():
    assert arrays(Tokens([[1], [2], [3]]), [2, 0], 1, Padding()).ids.tolist() == [[3], [1]]
