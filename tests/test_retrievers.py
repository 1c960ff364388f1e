"""One contract for every first stage: BM25, exact and over hnswlib's graph by vectors, and their hybrid."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrag import bm25
from mrag.adapters import hnsw, store
from mrag.adapters.index import retrievers
from mrag.adapters.index.encoding import encode
from mrag.adapters.index.folder import StoredVectors
from mrag.adapters.index.manifest import VectorEntry
from mrag.adapters.index.meaning import Meaning
from mrag.adapters.index.retrievers import REFERENCE_FUSION, RETRIEVERS, hybrid_retriever
from mrag.adapters.index.vector_texts import TEXTS, texts_of
from mrag.adapters.index.vectors import Vectors
from mrag.corpus import Corpus, Passage, analyse, within
from mrag.interval import join, period
from mrag.pipeline import bm25_retriever
from mrag.strategies import Retriever
from mrag.text import tokenise

N = 400
QUERIES = ["Who led the chess club of Bergen?", "When did Ida Moe win the cup?", "rowing in the north", "Åse Ødegård"]
WINDOW = join(period(1950), period(1960))  # about a third of the passages
NARROW = join(period(1950), period(1950))

MODELS = ["toy", *(["minilm"] if os.environ.get("MRAG_TEST_MINILM") else [])]


def passages(n: int, first: int = 0) -> list[Passage]:
    """Passages about a few clubs, towns and people; every tenth has the text of the one before."""
    names = "Ida Moe|Odd Lie|Jo Dahl|Liv Berg|Åse Ødegård|Per Gynt|Eva Vik|Nils Ås".split("|")
    clubs = "chess|rowing|skating|choir|football|reading|sailing".split("|")
    towns = "Bergen|Oslo|Tromsø|Bodø|Hamar|Molde|Narvik|Alta|Skien|Moss|Drammen".split("|")
    out = []
    for i in range(first, first + n):
        j = i - 1 if i % 10 == 9 else i
        text = f"{names[j % 8]} led the {clubs[j % 7]} club of {towns[j % 11]} from {1940 + j % 31}. It won {j} cups."
        out.append(Passage(f"p{i}", text, f"The {clubs[j % 7]} club", "North" if j % 3 else ""))
    return out


@pytest.fixture(params=MODELS, scope="module")
def encoder(request: pytest.FixtureRequest) -> Any:
    if request.param == "toy":
        return request.getfixturevalue("toy")()
    from mrag.adapters.onnx import load_encoder

    return load_encoder(Path(os.environ["MRAG_TEST_MINILM"]))


@pytest.fixture(scope="module", autouse=True)
def graphs_of_few() -> Iterator[None]:
    """A graph that is searched although a corpus of a test is small enough to be looked through."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hnsw, "EXACT_BELOW", 20)
        patch.setattr(retrievers, "EXACT_RATIO", 0)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, encoder: Any) -> Path:
    path = tmp_path_factory.mktemp("retrievers") / "i"
    store.build(passages(N), path, encoder=encoder)
    return path


@pytest.fixture(scope="module")
def index(folder: Path) -> store.Index:
    return store.Index.open(folder)


@pytest.fixture(params=RETRIEVERS)
def name(request: pytest.FixtureRequest) -> Any:
    return request.param


def opened(index: store.Index, name: Any, encoder: Any) -> Retriever:
    return index.meaning(encoder).retriever(name, bm25_retriever(index.corpus))


@pytest.fixture
def retriever(index: store.Index, name: Any, encoder: Any) -> Retriever:
    return opened(index, name, encoder)


def listed(found: tuple[np.ndarray, np.ndarray]) -> list[list[list[float]]]:
    return [part.tolist() for part in found]


# --- the oracle --------------------------------------------------------------------------------


def oracle(name: str, corpus: Corpus, encoder: Any, query: str, k: int, window: Any = None) -> tuple[list[int], Any]:
    """The best rows by the definition of each first stage, and the score of every row."""
    allowed = np.ones(len(corpus), dtype=bool) if window is None else within(corpus, window)
    if name.startswith("hybrid"):
        scores = np.zeros(len(corpus))
        for part in ("dense", "bm25"):
            rows, _ = oracle(part, corpus, encoder, query, 1000, window)
            scores[rows] += 1.0 / (20 + np.arange(1, len(rows) + 1))
        allowed = scores > 0
    elif name == "bm25":
        ids = bm25.term_ids(corpus.lexicon, tokenise(query))
        scores = bm25.scores(corpus.lexicon, ids[ids >= 0], bm25.norms(corpus.lexicon, 0.9, 0.4))
        allowed = allowed & (scores > 0)
    else:
        texts = texts_of(corpus, "passages", slice(0, len(corpus)))
        scores = (encode(encoder, texts) * encode(encoder, [query], "query")).sum(axis=1, dtype=np.float32)
    order = np.lexsort((np.arange(len(corpus)), -scores))
    return [int(row) for row in order if allowed[row]][:k], scores


def recall(name: Any, found: tuple[np.ndarray, np.ndarray], index: store.Index, encoder: Any, window: Any) -> float:
    """The mean share of what should be found that is found."""
    shares = []
    for rows, query in zip(found[0], QUERIES, strict=True):
        wanted, _ = oracle(name, index.corpus, encoder, query, len(rows), window)
        shares.append(len(set(wanted) & set(rows.tolist())) / len(wanted) if wanted else 1.0)
    return float(np.mean(shares))


# --- what comes out ----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 10, 50])
def test_rows_and_scores_have_the_shape_of_the_contract(retriever: Retriever, k: int) -> None:
    rows, scores = retriever(QUERIES, k)
    assert (rows.dtype, rows.shape) == (np.int64, (4, k))
    assert (scores.dtype, scores.shape) == (np.float32, (4, k))
    for found, values in zip(rows, scores, strict=True):
        left = found[found >= 0]
        assert len(set(left.tolist())) == len(left)
        assert (found[len(left) :] == -1).all()
        assert (np.diff(values[: len(left)]) <= 0).all()


@pytest.mark.parametrize("window", [None, WINDOW, NARROW], ids=["all", "window", "narrow"])
@pytest.mark.parametrize("k", [1, 10, 100])
def test_what_should_be_found_is_found(
    retriever: Retriever, name: Any, index: store.Index, encoder: Any, window: Any, k: int
) -> None:
    exactly = not name.endswith("hnsw")
    assert recall(name, retriever(QUERIES, k, window=window), index, encoder, window) >= (1.0 if exactly else 0.97)


def test_scores_are_those_of_the_definition(retriever: Retriever, name: Any, index: store.Index, encoder: Any) -> None:
    rows, scores = retriever(QUERIES, 20)
    for found, values, query in zip(rows, scores, QUERIES, strict=True):
        _, expected = oracle(name, index.corpus, encoder, query, 20)
        left = found[found >= 0]
        assert np.allclose(values[: len(left)], expected[left], atol=0.02 if name.endswith("hnsw") else 1e-5)


def test_ties_go_by_row(retriever: Retriever) -> None:
    rows, scores = retriever(QUERIES, 100)
    for found, values in zip(rows, scores, strict=True):
        left = found[found >= 0]
        ties = np.diff(values[: len(left)]) == 0
        assert (np.diff(left)[ties] > 0).all()


def test_equal_passages_stand_side_by_side(retriever: Retriever, name: Any) -> None:
    rows, scores = retriever(QUERIES[:1], N)
    place = {row: at for at, row in enumerate(rows[0].tolist())}
    if name.startswith("hybrid"):  # ranks differ where scores do not
        return
    for twin in range(9, N, 10):
        if twin in place and twin - 1 in place:
            assert scores[0, place[twin]] == scores[0, place[twin - 1]]
            assert place[twin] > place[twin - 1]


@pytest.mark.parametrize("window", [WINDOW, NARROW], ids=["window", "narrow"])
def test_a_window_admits_only_passages_with_a_date_in_it(retriever: Retriever, index: store.Index, window: Any) -> None:
    allowed = within(index.corpus, window)
    for k in (5, N):
        rows, _ = retriever(QUERIES, k, window=window)
        assert allowed[rows[rows >= 0]].all()


def test_a_window_without_a_passage_leaves_none(retriever: Retriever) -> None:
    rows, scores = retriever(QUERIES, 5, window=join(period(1700), period(1710)))
    assert (rows == -1).all()
    assert (scores == 0).all()


def test_k_may_be_larger_than_the_corpus(retriever: Retriever, name: Any) -> None:
    rows, _ = retriever(QUERIES, N + 50)
    assert rows.shape == (4, N + 50)
    if name != "bm25":  # which leaves out what holds no word of the question
        assert (np.sort(rows[:, :N]) == np.arange(N)).all()
    assert (rows[:, N:] == -1).all()


def test_a_small_k_is_the_beginning_of_a_large_one(retriever: Retriever, name: Any) -> None:
    small, large = retriever(QUERIES, 5)[0], retriever(QUERIES, 200)[0][:, :5]
    assert (small == large).mean() >= (0.9 if name.endswith("hnsw") else 1.0)


@pytest.mark.parametrize("queries", [[], [""], ["…"], ["zzz qqq"], ["x" * 20_000]])
def test_any_queries_are_answered(retriever: Retriever, queries: list[str]) -> None:
    rows, scores = retriever(queries, 7)
    assert rows.shape == scores.shape == (len(queries), 7)
    assert np.isfinite(scores).all()


def test_an_empty_corpus_gives_nothing(name: Any, encoder: Any) -> None:
    corpus = analyse([])
    entry = VectorEntry(
        "passages", "float32", "cosine", encoder.dimension, encoder.fingerprint, encoder.family_fingerprint, TEXTS
    )
    nothing = Vectors(np.zeros((0, encoder.dimension), dtype=np.float32))
    meaning = Meaning(Path(), corpus, StoredVectors(entry, {"passages": nothing}, {}, None, None), encoder)
    rows, scores = meaning.retriever(name, bm25_retriever(corpus))(QUERIES, 3)
    assert rows.tolist() == [[-1] * 3] * 4
    assert scores.tolist() == [[0] * 3] * 4


# --- the same, however it is asked -------------------------------------------------------------


def test_the_same_questions_give_the_same_to_the_bit(retriever: Retriever) -> None:
    assert listed(retriever(QUERIES, 50)) == listed(retriever(QUERIES, 50))


def test_the_order_of_a_batch_plays_no_part(retriever: Retriever) -> None:
    rows, scores = retriever(QUERIES, 30, window=WINDOW)
    for at, query in enumerate(QUERIES):
        alone = retriever([query], 30, window=WINDOW)
        assert alone[0][0].tolist() == rows[at].tolist()
        assert alone[1][0].tolist() == scores[at].tolist()
    assert [part[::-1].tolist() for part in retriever(QUERIES[::-1], 30, window=WINDOW)] == listed((rows, scores))


def test_an_index_that_is_opened_again_gives_the_same(
    retriever: Retriever, folder: Path, name: Any, encoder: Any
) -> None:
    again = opened(store.Index.open(folder), name, encoder)
    assert listed(again(QUERIES, 50)) == listed(retriever(QUERIES, 50))
    assert listed(again(QUERIES, 50, window=WINDOW)) == listed(retriever(QUERIES, 50, window=WINDOW))


def test_threads_with_their_own_k_give_the_same(retriever: Retriever) -> None:
    asks: list[Callable[[], Any]] = [
        lambda k=k, query=query: listed(retriever([query], k, window=WINDOW if k % 2 else None))
        for k in (1, 10, 25, 100)
        for query in QUERIES
    ] * 3
    alone = [ask() for ask in asks]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda ask: ask(), asks)) == alone


def test_added_passages_are_found_like_the_others(tmp_path: Path, name: Any, encoder: Any) -> None:
    store.build(passages(60), tmp_path / "grown", encoder=encoder)
    index = store.Index.open(tmp_path / "grown")
    before = listed(opened(index, name, encoder)(QUERIES, 20))
    grown = index.add(passages(60, first=60), encoder=encoder)
    assert listed(opened(index, name, encoder)(QUERIES, 20)) == before
    found = opened(grown, name, encoder)(QUERIES, 60)
    assert (found[0] >= 60).any()
    assert recall(name, found, grown, encoder, None) >= 0.97
    whole = store.Index.build(passages(120), tmp_path / "whole", encoder=encoder)
    together = opened(whole, name, encoder)(QUERIES, 60)
    assert (found[0] == together[0]).mean() >= (0.9 if name.endswith("hnsw") else 1.0)


# --- what one of them alone promises -----------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_smaller_vectors_find_almost_the_same(tmp_path: Path, encoder: Any, index: store.Index, precision: Any) -> None:
    small = store.Index.build(passages(N), tmp_path, encoder=encoder, precision=precision)
    for name in ("dense", "hnsw"):
        found = opened(small, name, encoder)(QUERIES, 20)
        assert recall("dense", found, index, encoder, None) >= 0.9


def test_the_graph_gives_the_scores_of_the_exact_search(index: store.Index, encoder: Any) -> None:
    graph, exact = (opened(index, name, encoder)(QUERIES, 20) for name in ("hnsw", "dense"))
    for at in range(len(QUERIES)):
        scores = dict(zip(exact[0][at].tolist(), exact[1][at].tolist(), strict=True))
        both = [
            (row, score) for row, score in zip(*(part[at].tolist() for part in graph), strict=True) if row in scores
        ]
        assert len(both) >= 18
        assert all(scores[row] == score for row, score in both)


def test_the_graph_is_what_is_searched(index: store.Index, encoder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[int] = []
    search = hnsw.Graph.nearest
    monkeypatch.setattr(hnsw.Graph, "nearest", lambda self, queries, k: fetched.append(k) or search(self, queries, k))
    for name in RETRIEVERS:
        opened(index, name, encoder)(QUERIES, 9, window=WINDOW)
    assert len(fetched) == 2
    assert fetched[0] > 9  # what lies outside the window is dropped


def test_where_the_graph_does_not_reach_every_vector_is_looked_at(index: store.Index, encoder: Any) -> None:
    meaning = index.meaning(encoder)

    class Lost:
        def nearest(self, queries: object, k: int) -> None:
            return None

    stored = meaning._stored.tables["passages"]
    lost = retrievers.hnsw_retriever(index.corpus, stored, Lost(), meaning._queries)  # type: ignore[arg-type]
    assert listed(lost(QUERIES, 9)) == listed(opened(index, "dense", encoder)(QUERIES, 9))


def test_the_texts_of_many_questions_are_encoded_in_one_call(
    index: store.Index, encoder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []
    encode_now = type(encoder).__call__

    def counted(self: Any, texts: Any, **rest: Any) -> Any:
        calls.append(list(texts))
        return encode_now(self, texts, **rest)

    monkeypatch.setattr(type(encoder), "__call__", counted)
    questions = [f"Who led {name} in 1999?" for name in ("Lund", "Ystad", "Ulm")] * 100
    found = list(store.Index.open(index.folder).search_many(questions, encoder=encoder, batch=300))
    (texts,) = calls
    assert len(texts) == len(set(texts)) == 4, "three main contents and one relation"
    assert found[:3] == found[3:6]


def test_the_fusion_of_the_paper_is_a_parameter(index: store.Index, encoder: Any) -> None:
    parts = [opened(index, name, encoder) for name in ("dense", "bm25")]
    rows, scores = hybrid_retriever(parts, REFERENCE_FUSION.weights, constant=0)(QUERIES[:1], 3)
    places = [{int(row): at for at, row in enumerate(part(QUERIES[:1], 1000)[0][0])} for part in parts]
    for row, score in zip(rows[0].tolist(), scores[0].tolist(), strict=True):
        assert score == pytest.approx(
            sum(weight / (1 + place[row]) for weight, place in zip((0.8, 0.2), places, strict=True) if row in place)
        )
