"""A server's models in the place of local ones: vectors over /v1/embeddings, scores over /rerank."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrag.adapters import remote_models
from mrag.adapters.index.encoding import OtherPrecision
from mrag.adapters.remote_models import RemoteEncoder, RemoteScorer, is_remote, read_embeddings, read_scores
from mrag.adapters.serving.web import DownloadError
from mrag.adapters.store import Index, build
from mrag.corpus import Passage
from mrag.errors import InputError, MragError

KEY = "sk-thisIsTheSecret"
Play = Callable[..., Any]

# Answers in the shapes that the interfaces document.
OPENAI_EMBEDDINGS = {
    "object": "list",
    "data": [
        {"object": "embedding", "index": 0, "embedding": [0.6, -0.8, 0.0]},
        {"object": "embedding", "index": 1, "embedding": [0.0, 0.0, 2.0]},
    ],
    "model": "text-embedding-3-small",
    "usage": {"prompt_tokens": 8, "total_tokens": 8},
}
TEI_RERANK = [{"index": 1, "score": 0.9976}, {"index": 0, "score": 0.0125}]
TEI_REFUSAL = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 60"
JINA_RERANK = {
    "model": "jina-reranker-v2-base-multilingual",
    "object": "list",
    "usage": {"total_tokens": 815},
    "results": [
        {"index": 1, "document": {"text": "Anna Lie was mayor."}, "relevance_score": 0.8783142566680908},
        {"index": 0, "document": {"text": "The mill burnt down."}, "relevance_score": 0.02},
    ],
}
COHERE_RERANK = {
    "id": "07734bd2-2473-4f07-94e1-0d9f0e6843cf",
    "results": [{"index": 1, "relevance_score": 0.999071}, {"index": 0, "relevance_score": 0.32713068}],
    "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
}
LLAMA_CPP_RERANK = {
    "model": "bge-reranker",
    "object": "list",
    "usage": {"prompt_tokens": 41, "total_tokens": 41},
    "results": [{"index": 0, "relevance_score": 7.741800308227539}, {"index": 1, "relevance_score": -2.33689022064209}],
}


def vector(text: str, size: int = 16) -> list[float]:
    """Counts of letters: texts that share letters lie near each other."""
    counts = [1.0] * size
    for char in text.lower():
        counts[ord(char) % size] += 1
    return counts


def embeddings(exchange: Any) -> None:
    """As a server of embeddings, but in reverse order, which "index" allows."""
    texts = exchange.asked.body["input"]
    rows = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
    exchange.say({"object": "list", "data": rows[::-1], "model": exchange.asked.body["model"]})


def likeness(query: str, text: str) -> float:
    """The share of a query's words that a text holds."""
    words = query.lower().strip("?").split()
    return sum(word in text.lower() for word in words) / len(words)


def jina(exchange: Any) -> None:
    asked = exchange.asked.body
    if "documents" not in asked:
        return exchange.say({"detail": "documents is missing"}, 422)
    scores = [likeness(asked["query"], text) for text in asked["documents"]]
    rows = [{"index": at, "relevance_score": scores[at]} for at in np.argsort(scores)[::-1].tolist()]
    return exchange.say({"model": asked.get("model"), "object": "list", "results": rows})


def tei(exchange: Any) -> None:
    asked = exchange.asked.body
    if exchange.asked.path != "/rerank":
        return exchange.say(b"", 404)
    if "texts" not in asked:
        return exchange.say(TEI_REFUSAL.encode(), 422)
    if len(asked["texts"]) > 32:
        return exchange.say({"error": "batch size > maximum allowed batch size 32", "error_type": "Validation"}, 413)
    scores = [likeness(asked["query"], text) for text in asked["texts"]]
    return exchange.say([{"index": at, "score": scores[at]} for at in np.argsort(scores)[::-1].tolist()])


def logits(exchange: Any) -> None:
    asked = exchange.asked.body
    scores = [20 * likeness(asked["query"], text) - 10 for text in asked["documents"]]
    exchange.say({"results": [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]})


def answers(content: object, status: int = 200) -> Callable[[Any], None]:
    return lambda exchange: exchange.say(content, status)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "remote"),
    [("http://h:1/v1#m", True), ("HTTPS://h#m", True), ("minilm", False), ("./http", False), ("owner/name", False)],
)
def test_a_name_with_a_url_is_that_of_a_remote_model(name: str, remote: bool) -> None:
    assert is_remote(name) is remote


def test_an_encoder_is_loaded_by_url_and_model(play: Play) -> None:
    played = play(embeddings)
    encoder = remote_models.load_encoder(f"{played.url}/v1#intfloat/e5-small-v2", {})
    encoder(["Who?"], role="query")
    encoder(["Anna."])
    assert [asked.body["input"] for asked in played.asked[1:]] == [["query: Who?"], ["passage: Anna."]]
    assert encoder.name == f"intfloat/e5-small-v2 at {played.url.removeprefix('http://')}"


def test_a_scorer_is_loaded_by_url_with_or_without_a_model(play: Play) -> None:
    played = play(jina)
    assert remote_models.load_scorer(f"{played.url}#bge", {}).model == "bge"
    assert played.asked[-1].body["model"] == "bge"
    assert remote_models.load_scorer(played.url, {}).model == ""
    assert "model" not in played.asked[-1].body


def test_an_encoder_without_a_model_is_refused() -> None:
    with pytest.raises(InputError, match="write which model it is: http://localhost:1/v1#MODEL"):
        remote_models.load_encoder("http://localhost:1/v1", {})


def test_a_remote_model_gets_its_own_key_or_that_of_the_same_server(play: Play) -> None:
    played, other = play(embeddings), play(embeddings)
    for environ, sent in (
        ({"MRAG_ENCODER_KEY": KEY}, True),
        ({"MRAG_LLM_KEY": KEY, "MRAG_LLM_URL": played.url}, True),
        ({"MRAG_LLM_KEY": KEY, "MRAG_LLM_URL": other.url}, False),
        ({"MRAG_LLM_KEY": KEY}, False),
        ({"OPENAI_API_KEY": KEY}, False),
        ({"MRAG_RERANKER_KEY": KEY}, False),
    ):
        remote_models.load_encoder(f"{played.url}/v1#m", environ)
        assert ("Authorization" in played.asked[-1].headers) is sent, environ


# --- encoders -------------------------------------------------------------------------------------


def test_the_exchange_that_openai_documents(play: Play) -> None:
    assert read_embeddings(OPENAI_EMBEDDINGS, 2, "m").tolist() == [
        [pytest.approx(0.6), pytest.approx(-0.8), 0],
        [0, 0, 1],
    ]
    played = play(embeddings)
    RemoteEncoder(played.url, "text-embedding-3-small", key=KEY)(["The mill was sold."])
    asked = played.asked[-1]
    assert (asked.method, asked.path) == ("POST", "/v1/embeddings")
    assert asked.body == {"model": "text-embedding-3-small", "input": ["The mill was sold."]}
    assert asked.headers["Authorization"] == f"Bearer {KEY}"


def test_vectors_come_in_the_order_of_the_texts_and_of_length_1(play: Play) -> None:
    played = play(embeddings)
    encoder = RemoteEncoder(f"{played.url}/v1", "m", concurrency=3)
    texts = [f"text {number} {'x' * (number % 7)}" for number in range(200)]
    found = encoder(texts)
    wanted = np.array([vector(text) for text in texts], dtype=np.float32)
    assert found.dtype == np.float32 and found.shape == (200, encoder.dimension) == (200, 16)
    np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), rtol=1e-6)
    assert max(len(asked.body["input"]) for asked in played.asked) == 32
    assert np.array_equal(encoder(texts[::-1]), found[::-1])
    assert encoder([]).shape == (0, 16)


def test_texts_are_sent_so_that_servers_take_them(play: Play) -> None:
    played = play(embeddings)
    RemoteEncoder(played.url, "m")(["", "x" * 100_000])
    empty, long = played.asked[-1].body["input"]
    assert empty == " " and len(long) == 16_000


def test_a_busy_server_is_asked_again(play: Play) -> None:
    played = play(embeddings)
    played.next = [answers({}, 503), answers({}, 429)]
    assert RemoteEncoder(played.url, "m").dimension == 16


@pytest.mark.parametrize(
    ("content", "said_so"),
    [
        ({}, "holds no list with a 'embedding'"),
        ([], "holds no list"),
        ({"data": {}}, "holds no list"),
        ({"data": [{"index": 0}, {"index": 1}]}, "holds no list"),
        ({"data": [1, 2]}, "holds no list"),
        ({"data": [{"embedding": [1.0]}]}, "answers 1 times to 2 texts"),
        ({"data": [{"embedding": [1.0]}] * 3}, "answers 3 times to 2 texts"),
        ({"data": [{"index": 1, "embedding": [1.0]}] * 2}, "to some texts twice"),
        ({"data": [{"index": 5, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}, "to some texts twice"),
        (
            {"data": [{"index": "0", "embedding": [1.0]}, {"index": "1", "embedding": [1.0]}]},
            "an index that is no number",
        ),
        ({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]}, "not all of one length"),
        (
            {"data": [{"embedding": []}, {"embedding": []}]},
            "something else than lists of numbers|not all of one length",
        ),
        ({"data": [{"embedding": "AAAA"}, {"embedding": "AAAA"}]}, "something else than lists of numbers"),
        ({"data": [{"embedding": ["1"]}, {"embedding": ["2"]}]}, "something else than lists of numbers"),
        ({"data": [{"embedding": [None]}, {"embedding": [1.0]}]}, "something else than lists of numbers"),
        ({"data": [{"embedding": [[1.0]]}, {"embedding": [[1.0]]}]}, "something else than lists of numbers"),
        ({"data": [{"embedding": [[1.0], 2]}, {"embedding": [1.0]}]}, "something else than lists of numbers"),
        ({"data": [{"embedding": [10**400]}, {"embedding": [1.0]}]}, "something else than lists of numbers"),
        ({"data": [{"embedding": [float("nan")]}, {"embedding": [1.0]}]}, "no finite number"),
        ({"data": [{"embedding": [1e300]}, {"embedding": [1.0]}]}, "no finite number"),
    ],
)
def test_vectors_that_are_none_are_an_error(content: object, said_so: str) -> None:
    with pytest.raises(MragError, match=said_so) as caught:
        read_embeddings(json.loads(json.dumps(content)), 2, "m at h")
    assert str(caught.value).startswith("m at h: ")


def test_another_dimension_than_before_is_an_error(play: Play) -> None:
    played = play(embeddings)
    encoder = RemoteEncoder(played.url, "m")
    played.answer = answers({"data": [{"embedding": [1.0, 2.0]}]})
    with pytest.raises(MragError, match="gave 2 numbers a text, and 16 before"):
        encoder(["a"])


def test_a_server_without_embeddings_is_an_error_at_once(play: Play) -> None:
    with pytest.raises(DownloadError, match="has no such model, or nothing at that path, says 404"):
        RemoteEncoder(play(answers({}, 404)).url, "m")
    with pytest.raises(DownloadError, match="cannot be reached"):
        RemoteEncoder("http://127.0.0.1:9", "m", tries=2)


def test_a_batch_that_fails_ends_the_others(play: Play) -> None:
    played = play(embeddings)
    encoder = RemoteEncoder(played.url, "m", concurrency=1)
    played.next = [embeddings, answers({"error": "too long"}, 413)]
    with pytest.raises(DownloadError, match="answers 413: too long"):
        encoder(["text"] * 320)
    assert len(played.asked) <= 4


def test_texts_and_roles_that_are_none_are_refused(play: Play) -> None:
    encoder = RemoteEncoder(play(embeddings).url, "m")
    with pytest.raises(InputError, match="a list of texts"):
        encoder("text")
    with pytest.raises(InputError, match="no role 'document'"):
        encoder(["text"], role="document")  # type: ignore[arg-type]


def test_the_same_model_elsewhere_has_the_same_fingerprints(play: Play) -> None:
    first, second = (RemoteEncoder(play(embeddings).url, "m") for _ in range(2))
    assert first.fingerprint == second.fingerprint
    assert first.family_fingerprint == second.family_fingerprint != first.fingerprint


def test_another_name_prefix_or_dimension_is_another_family(play: Play) -> None:
    played = play(embeddings)
    small = play(lambda e: e.say({"data": [{"embedding": vector(text, 8)} for text in e.asked.body["input"]]}))
    made = [
        RemoteEncoder(played.url, "m"),
        RemoteEncoder(played.url, "n"),
        RemoteEncoder(played.url, "m", query_prefix="q: "),
        RemoteEncoder(played.url, "m", passage_prefix="q: "),
        RemoteEncoder(small.url, "m"),
    ]
    assert len({encoder.family_fingerprint for encoder in made}) == len(made)


def test_other_weights_behind_a_name_change_the_fingerprint_and_noise_does_not(play: Play) -> None:
    def noisy(exchange: Any) -> None:
        texts = exchange.asked.body["input"]
        noise = np.random.default_rng(0).normal(scale=1e-4, size=(len(texts), 16))
        exchange.say({"data": [{"embedding": (vector(t) + n).tolist()} for t, n in zip(texts, noise, strict=True)]})

    def other(exchange: Any) -> None:
        texts = exchange.asked.body["input"]
        exchange.say({"data": [{"embedding": [value**3 for value in vector(text)]} for text in texts]})

    usual, again, changed = (RemoteEncoder(play(answer).url, "m") for answer in (embeddings, noisy, other))
    assert usual.fingerprint == again.fingerprint != changed.fingerprint
    assert usual.family_fingerprint == changed.family_fingerprint


def test_an_index_is_built_and_searched_with_a_remote_encoder(play: Play, tmp_path: Path) -> None:
    played = play(embeddings)
    passages = [Passage("a", "Anna Lie was mayor of Vik in 1990."), Passage("b", "The quick zebra jumps.")]
    build(passages, tmp_path / "index", encoder=RemoteEncoder(played.url, "m"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index = Index.open(tmp_path / "index")
        found = index.search("Who was mayor of Vik in 1990?", encoder=RemoteEncoder(played.url, "m"), retriever="dense")
    assert [evidence.passage.id for evidence in found.evidence] == ["a", "b"]
    with pytest.raises(InputError, match="made by m at 127"):
        index.meaning(RemoteEncoder(played.url, "another"))
    cubed = play(lambda e: e.say({"data": [{"embedding": [v**3 for v in vector(t)]} for t in e.asked.body["input"]]}))
    with pytest.warns(OtherPrecision):
        index.meaning(RemoteEncoder(cubed.url, "m"))


# --- scorers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        (TEI_RERANK, [0.0125, 0.9976]),
        (JINA_RERANK, [0.02, 0.8783142566680908]),
        (COHERE_RERANK, [0.32713068, 0.999071]),
        (LLAMA_CPP_RERANK, [7.741800308227539, -2.33689022064209]),
        ({"data": [{"index": 1, "score": 0.5}, {"index": 0, "score": 1}]}, [1.0, 0.5]),
    ],
)
def test_the_answers_that_rerankers_document(answer: object, scores: list[float]) -> None:
    assert read_scores(answer, 2, "m").tolist() == [pytest.approx(score) for score in scores]


@pytest.mark.parametrize("shape", [jina, tei])
@pytest.mark.parametrize("tail", ["", "/v1", "/v1/", "/rerank", "/v1/rerank"])
def test_the_shape_that_a_server_takes_is_found(play: Play, shape: Any, tail: str) -> None:
    played = play(shape)
    scorer = RemoteScorer(played.url + tail, "m")
    played.asked.clear()
    found = scorer("Who was mayor", ["The mill burnt down.", "She was mayor of Vik."])
    assert found.dtype == np.float32 and found.tolist() == [0.0, pytest.approx(2 / 3)]
    (asked,) = played.asked
    if shape is tei:
        texts = ["The mill burnt down.", "She was mayor of Vik."]
        assert (asked.path, asked.body) == ("/rerank", {"query": "Who was mayor", "texts": texts})
    else:
        assert set(asked.body) == {"model", "query", "documents"}


def test_scores_come_in_the_order_of_the_texts(play: Play) -> None:
    scorer = RemoteScorer(play(tei).url, concurrency=3)
    texts = [" ".join("abcdefghij"[: number % 11]) or "?" for number in range(150)]
    found = scorer("a b c d e f g h i j", texts)
    assert found.tolist() == [pytest.approx(number % 11 / 10) for number in range(150)]
    assert scorer("a", []).shape == (0,)


def test_logits_go_through_a_sigmoid(play: Play) -> None:
    played = play(logits)
    scorer = RemoteScorer(played.url, "m")
    assert scorer.scores == "logit"
    none, half, all_ = scorer("red boat", ["x", "a boat", "a red boat"]).tolist()
    assert (none, half, all_) == (pytest.approx(4.54e-5, rel=1e-2), 0.5, pytest.approx(0.99995, abs=1e-4))
    warm = RemoteScorer(played.url, "m", temperature=10.0)("red boat", ["a red boat"])
    assert warm.tolist() == [pytest.approx(0.731, abs=1e-3)]


def test_probabilities_stay_as_they_are(play: Play) -> None:
    scorer = RemoteScorer(play(jina).url, "m")
    assert scorer.scores == "probability"
    assert scorer("red boat", ["a boat"]).tolist() == [0.5]


def test_what_the_scores_are_can_be_said(play: Play) -> None:
    assert RemoteScorer(play(jina).url, "m", scores="logit")("red", ["x"]).tolist() == [0.5]


def test_a_probability_a_little_over_1_is_1_and_a_logit_among_them_is_an_error(play: Play) -> None:
    played = play(jina)
    scorer = RemoteScorer(played.url, "m")
    played.answer = answers({"results": [{"index": 0, "relevance_score": 1.0004}]})
    assert scorer("a", ["a"]).tolist() == [1.0]
    played.answer = answers({"results": [{"index": 0, "relevance_score": 3.2}]})
    with pytest.raises(MragError, match="gives scores outside"):
        scorer("a", ["a"])


@pytest.mark.parametrize(
    ("content", "said_so"),
    [
        ({}, "holds no list"),
        ("x", "holds no list"),
        ({"results": [{"index": 0, "relevance_score": 0.5}]}, "answers 1 times to 2 texts"),
        ([{"index": 0, "score": 0.5}, {"index": 0, "score": 0.5}], "to some texts twice"),
        ([{"index": 0, "score": None}, {"index": 1, "score": 0.5}], "something else than lists of numbers"),
        ([{"index": 0, "score": "0.5"}, {"index": 1, "score": 0.5}], "something else than lists of numbers"),
        ([{"index": 0, "score": float("nan")}, {"index": 1, "score": 0.5}], "no finite number"),
        ([{"index": 0, "score": float("inf")}, {"index": 1, "score": 0.5}], "no finite number"),
        ([{"index": 0.0, "score": 1}, {"index": True, "score": 0.5}], "an index that is no number"),
    ],
)
def test_scores_that_are_none_are_an_error(content: object, said_so: str) -> None:
    with pytest.raises(MragError, match=said_so):
        read_scores(content, 2, "m at h")


@pytest.mark.parametrize(
    ("answer", "said_so", "times"),
    [
        (answers({}, 404), "nothing at that path", 2),
        (answers({"detail": "unknown model"}, 400), "answers 400: unknown model", 4),
        (answers({}, 401), "wants a key", 1),
        (answers(b"<html>"), "no JSON", 1),
    ],
)
def test_a_server_without_a_reranker_is_an_error_at_once(play: Play, answer: Any, said_so: str, times: int) -> None:
    played = play(answer)
    with pytest.raises(MragError, match=said_so):
        RemoteScorer(played.url, "m")
    assert len(played.asked) == times


def test_a_text_is_no_list_of_texts(play: Play) -> None:
    with pytest.raises(InputError, match="a list of texts"):
        RemoteScorer(play(jina).url)("query", "text")
