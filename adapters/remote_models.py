"""Models behind a server in the place of local ones: an encoder over /v1/embeddings, a scorer over /rerank."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mrag.adapters.index.manifest import Metric
from mrag.adapters.models.model_names import known
from mrag.adapters.models.pooling import normalise, sigmoid
from mrag.adapters.serving.llm_settings import key_for
from mrag.adapters.serving.model_server import ModelServer
from mrag.adapters.serving.side_by_side import Rest, side_by_side
from mrag.adapters.serving.web import RefusedError
from mrag.columns import Float32
from mrag.errors import InputError, MragError

Role = Literal["query", "passage"]
Float64 = NDArray[np.float64]

RULES = 1
"""Part of every fingerprint, changed with what is sent or made of the answers."""

_MOST_BYTES = 2**26  # of an answer: 32 vectors of 4,096 numbers are 3 MB, texts that come back with their scores less
_BATCH = 32  # texts of a request: what text-embeddings-inference takes at most unless told otherwise
_MOST_CHARACTERS = 16_000  # of a text: about 4,000 tokens, below what servers with long contexts refuse
_NEARLY = 1e-3  # so far outside [0, 1] may a probability be for its number format


# --- names -----------------------------------------------------------------------------------------


def is_remote(name: str) -> bool:
    """Whether the name of a model is that of one behind a server: URL#MODEL.

    >>> is_remote("http://localhost:8080/v1#bge-small"), is_remote("minilm")
    (True, False)
    """
    return name.strip().lower().startswith(("http://", "https://"))


def load_encoder(name: str, environ: Mapping[str, str] | None = None) -> RemoteEncoder:
    """The encoder URL#MODEL, with the key that the environment has for its server: MRAG_ENCODER_KEY, or the LLM's."""
    url, model = _split(name)
    if not model:
        raise InputError(f"{name}: write which model it is: {url}#MODEL")
    return RemoteEncoder(
        url, model, key=key_for(url, os.environ if environ is None else environ, own="MRAG_ENCODER_KEY")
    )


def load_scorer(name: str, environ: Mapping[str, str] | None = None) -> RemoteScorer:
    """The scorer URL#MODEL, or URL of a server with one model; its key is MRAG_RERANKER_KEY, or the LLM's."""
    url, model = _split(name)
    return RemoteScorer(
        url, model, key=key_for(url, os.environ if environ is None else environ, own="MRAG_RERANKER_KEY")
    )


def _split(name: str) -> tuple[str, str]:
    url, _, model = name.strip().partition("#")
    return url, model.strip()


# --- encoders --------------------------------------------------------------------------------------


class RemoteEncoder:
    """An Encoder over POST /v1/embeddings (OpenAI, vLLM, text-embeddings-inference, llama.cpp, Ollama).

    ``metric`` is cosine: vectors are brought to length 1. ``dimension``: numbers a vector. Texts are cut after 16,000
    characters, and an empty one is sent as a space, since servers refuse none. Threads may share it.
    """

    metric: Metric = "cosine"

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        concurrency: int = 4,
        timeout: tuple[float, float] = (10.0, 60.0),
        tries: int = 5,
    ) -> None:
        """Encodes a few sentences, so that a server that has no such model is known at once.

        Prefixes that are None are those of the table of models, "" for one that is not in it. Raises InputError for
        what is no address or key, MragError for a server that does not answer or answers something else.
        """
        table = known(model)
        self.model = model
        self.query_prefix = (table.query_prefix if table else "") if query_prefix is None else query_prefix
        self.passage_prefix = (table.passage_prefix if table else "") if passage_prefix is None else passage_prefix
        self._server = ModelServer(url, key, timeout=timeout, tries=tries, connections=concurrency)
        self._concurrency = concurrency
        self.name = f"{model} at {self._server.host}"
        self._probe = self._encode(_PROBES)
        self.dimension = self._probe.shape[1]

    def __call__(self, texts: Sequence[str], *, role: Role = "passage") -> Float32:
        """float32[n, d], a row a text, each of length 1; a query or a passage gets its prefix.

        Raises MragError for a server that does not answer, whatever the tries, or gives other vectors than it should.
        """
        if isinstance(texts, str):
            raise InputError("an encoder takes a list of texts, not a text")
        prefixes = {"query": self.query_prefix, "passage": self.passage_prefix}
        if role not in prefixes:
            raise InputError(f"no role {role!r}; there are {' and '.join(prefixes)}")
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        out = self._encode([prefixes[role] + text for text in texts])
        if out.shape[1] != self.dimension:
            raise MragError(f"{self.name}: gave {out.shape[1]} numbers a text, and {self.dimension} before")
        return out

    @cached_property
    def family_fingerprint(self) -> str:
        """SHA-256 of the model's name, prefixes and dimension: the same wherever it is served."""
        return self._hash([])

    @cached_property
    def fingerprint(self) -> str:
        """The family's, and how the model sees four fixed sentences lie to each other, to one decimal.

        A server may put other weights behind a name, or lesser ones. This tells most of them, and is mostly too coarse
        for what another machine or batch does to the last digits; so it is no more than a warning when an index is
        opened whose vectors such a server made.
        """
        apart = normalise(self._probe - self._probe.mean(axis=0))  # in some models all sentences lie near each other
        alike = (apart @ apart.T)[np.triu_indices(len(_PROBES), 1)]
        return self._hash([f"{value:.1f}".replace("-0.0", "0.0") for value in alike.tolist()])

    def _hash(self, more: Sequence[str]) -> str:
        prefixes = [self.query_prefix, self.passage_prefix]
        row = [RULES, self.model, *prefixes, self.dimension, _MOST_CHARACTERS, *more]
        return hashlib.sha256(json.dumps(row).encode()).hexdigest()

    def _encode(self, texts: Sequence[str]) -> Float32:
        return np.concatenate(_in_batches(self._ask, texts, self._concurrency))

    def _ask(self, texts: Sequence[str], rest: Rest) -> Float32:
        path = self._server.address.path("openai", "embeddings")
        sent = {"model": self.model, "input": _sendable(texts)}
        answer = self._server.post(path, sent, most=_MOST_BYTES, rest=rest)
        return read_embeddings(answer, len(texts), self.name)


_PROBES = (
    "The bridge over the river was opened in May 1931.",
    "She was the mayor of the town from 1999 to 2006.",
    "The new bridge was opened to traffic in the spring of 1931.",
    "It is a species of beetle in the family Carabidae.",
)


def read_embeddings(answer: object, count: int, name: str) -> Float32:
    """float32[count, d], each of length 1, of an answer of /v1/embeddings, in the order of its "index".

    MragError, with the name of who answered, for too few or too many, for what is no number, and for other lengths.
    """
    rows = answer.get("data") if isinstance(answer, dict) else None
    vectors = [_numbers(row, name) for row in _in_order(rows, count, "embedding", name)]
    if len({len(vector) for vector in vectors}) != 1 or not len(vectors[0]):
        raise MragError(f"{name}: its vectors are not all of one length")
    with np.errstate(over="ignore"):
        found = np.stack(vectors).astype(np.float32)
    if not np.isfinite(found).all():
        raise MragError(f"{name}: its vectors hold what is no finite number")
    return normalise(found)


def _numbers(row: object, name: str) -> Float64:
    """float64[d] of a list of numbers; MragError for anything else."""
    try:
        found = np.asarray(row if isinstance(row, list) else None)
    except ValueError:
        found = np.asarray(None)
    if found.ndim != 1 or found.dtype.kind not in "if":
        raise MragError(f"{name}: answers with something else than lists of numbers")
    return found.astype(np.float64)


# --- scorers ---------------------------------------------------------------------------------------


class RemoteScorer:
    """A Scorer over POST /rerank: text-embeddings-inference's shape, or Jina's and Cohere's (vLLM, llama.cpp).

    Which one the server takes, and whether its scores lie in [0, 1] or are logits, is seen from what it says to a fixed
    question with a text that answers it and others that do not. Texts are cut as those of RemoteEncoder. Threads may
    share it.
    """

    def __init__(
        self,
        url: str,
        model: str = "",
        *,
        key: str = "",
        scores: Literal["auto", "probability", "logit"] = "auto",
        temperature: float = 1.0,
        concurrency: int = 4,
        timeout: tuple[float, float] = (10.0, 60.0),
        tries: int = 5,
    ) -> None:
        """Scores a few sentences, so that a server that has no such model is known at once.

        ``scores``: what the server's scores are, where that is known; ``temperature`` divides logits. Raises InputError
        for what is no address or key, MragError for a server that does not answer or answers something else.
        """
        self.model, self.temperature = model, temperature
        self._server = ModelServer(url, key, timeout=timeout, tries=tries, connections=concurrency)
        self._concurrency = concurrency
        self.name = f"{model or 'the reranker'} at {self._server.host}"
        self._path, self._texts, found = self._find()
        self.scores: Literal["probability", "logit"] = (
            scores if scores != "auto" else "probability" if _probable(found) else "logit"
        )

    def __call__(self, query: str, texts: Sequence[str]) -> Float32:
        """float32[n] in [0, 1], in the order of the texts: what the server says, or sigmoid(logit / temperature).

        Raises MragError for a server that does not answer, whatever the tries, or gives no finite number for a text.
        """
        if isinstance(texts, str):
            raise InputError("a reranker takes a list of texts, not a text")
        if not texts:
            return np.zeros(0, dtype=np.float32)
        ask = partial(self._ask, self._path, self._texts, query)
        found = np.concatenate(_in_batches(ask, texts, self._concurrency))
        if self.scores == "logit":
            return sigmoid(found, self.temperature)
        if not _probable(found):
            raise MragError(f"{self.name}: gives scores outside [0, 1], and gave none before: they may be logits")
        clipped: Float32 = np.clip(found, 0.0, 1.0)
        return clipped

    def _find(self) -> tuple[str, Literal["documents", "texts"], Float32]:
        """The path and the field for texts that the server takes, and what it said to the probe."""
        address = self._server.address
        paths = dict.fromkeys((address.path("openai", "rerank"), "rerank"))
        refused: RefusedError | None = None
        for path in paths:
            for field in _FIELDS:
                try:
                    return path, field, self._ask(path, field, _QUESTION, _PROBES)
                except RefusedError as error:
                    if refused is None or refused.status in _NOTHING_THERE:
                        refused = error
                    if error.status in _NOTHING_THERE:
                        break
                    if error.status not in _NOT_UNDERSTOOD:
                        raise
        raise refused or MragError(f"{self.name}: does not answer")

    def _ask(
        self,
        path: str,
        field: Literal["documents", "texts"],
        query: str,
        texts: Sequence[str],
        rest: Rest | None = None,
    ) -> Float32:
        sent = {"query": query, field: _sendable(texts)}
        if field == "documents" and self.model:
            sent["model"] = self.model
        answer = self._server.post(path, sent, most=_MOST_BYTES, rest=rest)
        return read_scores(answer, len(texts), self.name)


_QUESTION = "When was the bridge over the river opened?"
_FIELDS: tuple[Literal["documents", "texts"], ...] = ("documents", "texts")
_NOTHING_THERE = (404, 405)
_NOT_UNDERSTOOD = (400, 422)


def read_scores(answer: object, count: int, name: str) -> Float32:
    """float32[count] of an answer of /rerank, in the order of its "index", as they came.

    MragError, with the name of who answered, for too few or too many and for what is no finite number.
    """
    rows = answer
    if isinstance(answer, dict):
        rows = answer.get("results", answer.get("data"))
    listed = rows if isinstance(rows, list) else []
    field = "relevance_score" if any(isinstance(row, dict) and "relevance_score" in row for row in listed) else "score"
    with np.errstate(over="ignore"):
        found = _numbers(_in_order(rows, count, field, name), name).astype(np.float32)
    if not np.isfinite(found).all():
        raise MragError(f"{name}: gives a score that is no finite number")
    return found


def _probable(scores: Float32) -> bool:
    """Whether all scores lie in [0, 1], but for what a number format does to them."""
    return bool(np.all((scores >= -_NEARLY) & (scores <= 1 + _NEARLY)))


# --- both ------------------------------------------------------------------------------------------


def _in_batches(ask: Callable[[Sequence[str], Rest], Float32], texts: Sequence[str], most: int) -> list[Float32]:
    """What is answered to the texts, a batch at a time and several batches side by side, in their order."""
    batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
    with closing(side_by_side(ask, batches, most)) as answers:
        found = dict(answers)
    return [found[at] for at in range(len(batches))]


def _sendable(texts: Sequence[str]) -> list[str]:
    return [text[:_MOST_CHARACTERS] or " " for text in texts]


def _in_order(rows: object, count: int, field: str, name: str) -> list[object]:
    """A field of each row, in the order of their "index", or in their own where none has one."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) and field in row for row in rows):
        raise MragError(f"{name}: its answer holds no list with a {field!r} for each text: is it such a server?")
    if len(rows) != count:
        raise MragError(f"{name}: answers {len(rows)} times to {count} texts")
    places = [row.get("index", at) for at, row in enumerate(rows)]
    if any(isinstance(place, bool) or not isinstance(place, int) for place in places):
        raise MragError(f"{name}: has an index that is no number")
    if sorted(places) != list(range(count)):
        raise MragError(f"{name}: answers to some texts twice and to others not at all")
    found: list[object] = [None] * count
    for place, row in zip(places, rows, strict=True):
        found[place] = row[field]
    return found
