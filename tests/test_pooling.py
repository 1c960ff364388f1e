"""Pooling, dense layers, normalising and squashing, each against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mrag.adapters.models.pooling import POOLINGS, Dense, last_tokens, normalise, pool, sigmoid

NUMBERS = st.floats(-100, 100, width=32)


@st.composite
def padded(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Token vectors [n, s, d] and their mask: each text has at least one token, its pads stand on one side."""
    n, s, d = (draw(st.integers(1, most)) for most in (4, 6, 3))
    hidden = draw(arrays.arrays(np.float32, (n, s, d), elements=NUMBERS))
    lengths = draw(st.lists(st.integers(1, s), min_size=n, max_size=n))
    left = draw(st.booleans())
    mask = np.array([[0] * (s - m) + [1] * m if left else [1] * m + [0] * (s - m) for m in lengths])
    return hidden, mask


DEFINITIONS = {
    "mean": lambda tokens: tokens.mean(axis=0),
    "cls": lambda tokens: tokens[0],
    "last": lambda tokens: tokens[-1],
    "max": lambda tokens: tokens.max(axis=0),
}


@pytest.mark.parametrize("how", POOLINGS)
@given(padded())
def test_a_text_pools_over_its_own_tokens(how, texts):
    hidden, mask = texts
    wanted = [DEFINITIONS[how](tokens[kept > 0].astype(np.float64)) for tokens, kept in zip(hidden, mask, strict=True)]
    assert np.allclose(pool(hidden, mask, how), wanted, atol=1e-4)


@pytest.mark.parametrize("how", POOLINGS)
@given(padded())
def test_what_stands_in_pads_changes_nothing(how, texts):
    hidden, mask = texts
    other = np.where(mask[:, :, None] > 0, hidden, np.float32(77.0))
    assert np.array_equal(pool(hidden, mask, how), pool(other, mask, how))


@pytest.mark.parametrize("how", POOLINGS)
@given(padded())
def test_pooling_a_text_alone_gives_the_same_bits(how, texts):
    hidden, mask = texts
    together = pool(hidden, mask, how)
    for at in range(len(hidden)):
        assert np.array_equal(pool(hidden[at : at + 1], mask[at : at + 1], how)[0], together[at])


@pytest.mark.parametrize("how", POOLINGS)
def test_pooling_gives_float32(how):
    assert pool(np.ones((2, 3, 4), np.float32), np.ones((2, 3), np.int64), how).dtype == np.float32


@pytest.mark.parametrize("how", ["mean", "max"])
def test_a_text_without_tokens_is_zeros(how):
    assert pool(np.ones((1, 2, 3), np.float32), np.zeros((1, 2), np.int64), how).tolist() == [[0, 0, 0]]


def test_the_last_token_is_found_on_either_side_of_pads():
    assert last_tokens(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]])).tolist() == [1, 3, 3]


@given(arrays.arrays(np.float32, (5, 3), elements=NUMBERS))
def test_normalised_vectors_have_length_one_and_the_same_direction(vectors):
    vectors = vectors[np.abs(vectors).max(axis=1) > 1e-3]
    out = normalise(vectors)
    assert np.allclose(np.linalg.norm(out, axis=1), 1.0, atol=1e-5)
    assert (np.sum(out * vectors, axis=1) > 0).all()


def test_normalising_zeros_gives_zeros():
    assert normalise(np.zeros((1, 3), np.float32)).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("activation", "wanted"),
    [("identity", [-1.0, 3.0]), ("tanh", [-0.762, 0.995]), ("relu", [0.0, 3.0]), ("sigmoid", [0.269, 0.953])],
)
def test_a_dense_layer_multiplies_adds_and_activates(activation, wanted):
    weight = np.array([[1.0, -1.0], [1.0, 1.0]], dtype=np.float32)
    layer = Dense(weight, np.array([0.0, 0.0], np.float32), activation)
    assert layer(np.array([[1.0, 2.0]], np.float32)).round(3).tolist() == [pytest.approx(wanted)]


def test_a_dense_layer_adds_its_bias():
    layer = Dense(np.eye(2, dtype=np.float32), np.array([1.0, 2.0], np.float32), "identity")
    assert layer(np.zeros((1, 2), np.float32)).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("activation", ["identity", "tanh", "relu", "sigmoid"])
def test_a_dense_layer_gives_a_row_the_same_bits_in_any_company(activation):
    rng = np.random.default_rng(0)
    layer = Dense(rng.normal(size=(70, 50)).astype(np.float32), None, activation)
    rows = rng.normal(size=(37, 50)).astype(np.float32)
    together = layer(rows)
    assert np.array_equal(np.concatenate([layer(rows[at : at + 1]) for at in range(37)]), together)
    assert np.array_equal(layer(rows[::-1])[::-1], together)


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1), st.floats(0.1, 10))
def test_scores_of_logits_lie_in_zero_to_one_in_the_order_of_the_logits(logits, temperature):
    ordered = np.sort(np.array(logits, np.float32))
    scores = sigmoid(ordered, temperature)
    assert scores.dtype == np.float32
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (np.diff(scores) >= 0).all()


def test_a_higher_temperature_keeps_high_logits_apart():
    logits = np.array([18.0, 20.0], np.float32)
    assert np.ptp(sigmoid(logits)) == 0.0
    assert np.ptp(sigmoid(logits, 8.0)) > 0.01
