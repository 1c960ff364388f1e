"""The lexical index against a plain reading of the formula, against bm25s, and against itself in parts."""

import math
from collections import Counter
from collections.abc import Sequence
from random import Random

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag import bm25
from mrag.columns import Strings, pointers

K1, B = 1.2, 0.6

passages = st.lists(st.lists(st.sampled_from(["a", "b", "bb", "c", "é", "z"]), max_size=8), max_size=12)


def index_of(texts: Sequence[Sequence[str]]) -> bm25.Bm25:
    terms = sorted({word for text in texts for word in text}, key=str.encode)
    ids = np.array([terms.index(word) for text in texts for word in text], dtype=np.int64)
    return bm25.build(ids, pointers([len(text) for text in texts]), Strings.of(terms))


def scores_of(index: bm25.Bm25, query: Sequence[str]) -> np.ndarray:
    return bm25.scores(index, bm25.term_ids(index, query), bm25.norms(index, K1, B))


def by_the_formula(texts: Sequence[Sequence[str]], query: Sequence[str]) -> list[float]:
    mean = sum(map(len, texts)) / max(len(texts), 1)
    out = []
    for text in texts:
        counts, score = Counter(text), 0.0
        for word in query:
            df = sum(word in other for other in texts)
            idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
            score += idf * counts[word] / (counts[word] + K1 * (1 - B + B * len(text) / (mean or 1)))
        out.append(score)
    return out


def assert_same(one: bm25.Bm25, other: bm25.Bm25) -> None:
    assert [one.terms[i] for i in range(len(one.terms))] == [other.terms[i] for i in range(len(other.terms))]
    for name in ("postings", "rows", "counts", "lengths"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype and a.tolist() == b.tolist(), name


@given(passages, st.lists(st.sampled_from(["a", "b", "é", "absent"]), max_size=5))
def test_scores_are_those_of_the_formula(texts: list[list[str]], query: list[str]) -> None:
    found = scores_of(index_of(texts), query)
    assert found.dtype == np.float32 and found.shape == (len(texts),)
    assert found == pytest.approx(by_the_formula(texts, query), abs=1e-5)


def test_scores_are_those_of_bm25s() -> None:
    rng = np.random.default_rng(7)
    texts = [[f"w{i}" for i in rng.zipf(1.3, rng.integers(1, 120)) if i < 5_000] or ["w1"] for _ in range(2_000)]
    theirs = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
    theirs.index(texts, show_progress=False)
    index = index_of(texts)
    for _ in range(50):
        query = [f"w{i}" for i in rng.zipf(1.3, 8) if i < 5_000] + ["w1", "w1"]
        assert np.abs(scores_of(index, query) - theirs.get_scores(query)).max() < 1e-5


@given(passages, st.randoms())
def test_the_index_does_not_depend_on_the_order_of_words_in_a_passage(texts: list[list[str]], random: Random) -> None:
    shuffled = [random.sample(text, len(text)) for text in texts]
    assert_same(index_of(texts), index_of(shuffled))


@given(st.lists(passages, max_size=4))
def test_merged_parts_are_the_index_of_all(parts: list[list[list[str]]]) -> None:
    indexes = [index_of(part) for part in parts]
    merged, new_ids = bm25.merge(indexes)
    assert_same(merged, index_of([text for part in parts for text in part]))
    for index, new in zip(indexes, new_ids, strict=True):
        assert new.dtype == np.int32
        assert [merged.terms[int(i)] for i in new] == [index.terms[i] for i in range(len(index.terms))]


@given(passages, st.permutations(["a", "b", "bb", "a"]))
def test_scores_do_not_depend_on_the_order_of_the_question(texts: list[list[str]], query: list[str]) -> None:
    index = index_of(texts)
    assert scores_of(index, query).tobytes() == scores_of(index, ["a", "a", "b", "bb"]).tobytes()


def test_counts_stop_at_65535() -> None:
    index = bm25.build(np.zeros(70_000, dtype=np.int64), np.array([0, 70_000]), Strings.of(["a"]))
    assert index.counts.tolist() == [65_535] and index.lengths.tolist() == [70_000]


def test_an_absent_term_has_no_id_scores_nothing_and_is_the_rarest() -> None:
    index = index_of([["a", "b"], ["a"]])
    ids = bm25.term_ids(index, ["a", "absent", "b"])
    assert ids.tolist() == [0, -1, 1]
    assert bm25.idf(index, ids) == pytest.approx([math.log(1 + 0.5 / 2.5), math.log(1 + 2.5 / 0.5), math.log(2)])
    assert not scores_of(index, ["absent"]).any()


def test_an_id_that_is_no_term_is_refused() -> None:
    with pytest.raises(ValueError, match=r"token ids -1 \.\.\. 3 for 2 terms"):
        bm25.build(np.array([3, -1]), np.array([0, 2]), Strings.of(["a", "b"]))


@pytest.mark.parametrize("texts", [[], [[]], [[], []]])
def test_an_index_without_words_answers_with_nothing(texts: list[list[str]]) -> None:
    index = index_of(texts)
    assert len(index) == len(texts)
    assert scores_of(index, ["a"]).tolist() == [0.0] * len(texts)
    assert bm25.idf(index, np.array([-1])) == pytest.approx([math.log(1 + (len(texts) + 0.5) / 0.5)])
    assert_same(bm25.merge([index, index_of([["a"]])])[0], index_of([*texts, ["a"]]))


some_scores = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]), max_size=40)


@given(some_scores, st.integers(0, 45), st.none() | st.randoms())
def test_top_is_the_head_of_the_full_sort_with_ties_by_row(values: list[float], k: int, random: Random | None) -> None:
    allowed = None if random is None else np.array([random.random() < 0.5 for _ in values], dtype=bool)
    rows, best = bm25.top(np.array(values, dtype=np.float32), k, allowed)
    fit = [row for row, value in enumerate(values) if value > 0 and (allowed is None or allowed[row])]
    expected = sorted(fit, key=lambda row: (-values[row], row))[:k]
    assert rows.dtype == np.int64 and best.dtype == np.float32
    assert rows.tolist() == expected and best.tolist() == [values[row] for row in expected]
