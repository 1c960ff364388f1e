"""Encoders and rerankers that run on ONNX Runtime, out of a model's folder."""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mrag.adapters.index.folder import file_hash
from mrag.adapters.models.batching import Inputs, Tokens
from mrag.adapters.models.model_cache import MANIFEST as PULLED
from mrag.adapters.models.model_files import ModelFiles, find_files, get, read_settings
from mrag.adapters.models.model_folder import (
    EncoderRecipe,
    Metric,
    PairRecipe,
    PromptRecipe,
    encoder_recipe,
    scorer_recipe,
)
from mrag.adapters.models.model_names import Precision
from mrag.adapters.models.onnx_run import Finish, Runner
from mrag.adapters.models.onnx_session import ProviderName, Tell, open_session
from mrag.adapters.models.pooling import Pooling, last_tokens, normalise, pool, sigmoid
from mrag.adapters.models.tokens import Tokeniser, load_tokeniser
from mrag.adapters.workers import cores
from mrag.columns import Float32
from mrag.errors import InputError, MragError
from mrag.strategies import Role, Scorer

RULES = "onnx-1"
"""By which rules texts become vectors here; part of every fingerprint, changed with the rules."""

MOST_TOKENS: Mapping[Literal["cpu", "cuda"], int] = {"cpu": 512, "cuda": 16_384}
"""Tokens of a run, pads included. Measured on a CPU: from 256 to 1,024 it is all the same, 4,096 are slower."""

_AT_A_TIME = 4_096  # texts that are tokenised, sorted by length and encoded together
_TOKEN_VECTORS = ("last_hidden_state", "token_embeddings", "hidden_states")
_SENTENCE_VECTORS = "sentence_embedding"


# --- encoders ------------------------------------------------------------------------------------


class OnnxEncoder:
    """An Encoder: texts to vectors. What it is made of, load_encoder brings; threads may share it.

    ``metric``: how its vectors are compared; ``dimension``: numbers a vector; ``provider``: what it runs on, "cpu" or
    "cuda"; ``pooling``: None where the graph pools itself.
    """

    def __init__(
        self,
        files: ModelFiles,
        recipe: EncoderRecipe,
        tokeniser: Tokeniser,
        runner: Runner,
        provider: Literal["cpu", "cuda"],
        pooling: Pooling | None,
    ) -> None:
        """Encodes one word, so that a folder whose files do not fit together is refused at once."""
        self._files, self._recipe, self._tokeniser, self._runner = files, recipe, tokeniser, runner
        self.name = files.name
        self.provider: Literal["cpu", "cuda"] = provider
        self.pooling = pooling
        self.metric: Metric = recipe.metric
        self.max_length = recipe.max_length
        self.dimension = self._encode(["word"]).shape[1]

    def __call__(self, texts: Sequence[str], *, role: Role = "passage") -> Float32:
        """float32[n, d], a row a text, of length 1 where the model normalises.

        Texts are cut to ``max_length`` tokens; a query or a passage gets its prefix. Raises MragError for what the
        model cannot compute, such as numbers beyond float16.
        """
        if isinstance(texts, str):
            raise InputError("an encoder takes a list of texts, not a text")
        prefixes = {"query": self._recipe.query_prefix, "passage": self._recipe.passage_prefix}
        if role not in prefixes:
            raise InputError(f"no role {role!r}; there are {' and '.join(prefixes)}")
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _AT_A_TIME):
            some = [prefixes[role] + text for text in texts[start : start + _AT_A_TIME]]
            out[start : start + len(some)] = self._encode(some)
        return out

    def _encode(self, texts: list[str]) -> Float32:
        if self._recipe.lower:
            texts = [text.lower() for text in texts]
        vectors = self._runner(self._tokeniser.texts(texts))
        _check_finite(vectors, texts, self._files)
        return vectors

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides over a vector: graph, weights, tokeniser, and how they are used."""
        return _fingerprint(self._files, self._recipe, [file_hash(path) for path in _weights(self._files)])

    @cached_property
    def family_fingerprint(self) -> str:
        """The fingerprint without the model's numeric precision, where its files say what they were made from."""
        source = _source(self._files)
        return self.fingerprint if source is None else _fingerprint(self._files, self._recipe, [source])

    @cached_property
    def usual_square(self) -> float:
        """The usual dot product of a text with itself: what dot products are measured by to come into [0, 1]."""
        return float(np.square(self(_USUAL_TEXTS)).sum(axis=1).mean()) or 1.0


_USUAL_TEXTS = (
    "The bridge over the river was opened in May 1931.",
    "She was the mayor of the town from 1999 to 2006.",
    "In the final they lost to the club from the capital.",
    "It is a species of beetle in the family Carabidae.",
)


def load_encoder(
    folder: Path | str,
    *,
    provider: ProviderName = "auto",
    precision: Precision | None = None,
    threads: int | None = None,
    batch_tokens: int | None = None,
    pooling: Pooling | None = None,
    metric: Metric | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
    max_length: int | None = None,
    tell: Tell | None = None,
) -> OnnxEncoder:
    """The bi-encoder in a model's folder; options that are given stand for what the folder says.

    ``threads``: by default all cores; ``batch_tokens``: tokens of a run; ``tell`` hears on which provider it runs and
    what had to be assumed. A graph that quantises while running (int8) gives a text other numbers in other company, so
    each text has a run of its own, unless ``batch_tokens`` is given. Raises InputError for a folder that is no encoder
    or damaged, MissingExtraError for a library, or a CUDA, that cannot be had.
    """
    files = find_files(Path(folder), precision)
    recipe = encoder_recipe(
        files,
        pooling=pooling,
        metric=metric,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        max_length=max_length,
    )
    tokeniser = load_tokeniser(files.tokenizer, recipe.max_length)
    session, got = open_session(files.graph, provider, tell)
    output, how = _encoder_output(session, files, recipe)
    if recipe.pooling is None and tell is not None:
        tell(f"{folder}: nothing says how it pools: {how or 'the graph does it'}, compared by {recipe.metric}")
    runner = _runner(
        session, files, recipe, output, partial(_to_vectors, recipe, how), threads, batch_tokens, got, tell
    )
    return OnnxEncoder(files, recipe, tokeniser, runner, got, how)


def _encoder_output(session: Any, files: ModelFiles, recipe: EncoderRecipe) -> tuple[str, Pooling | None]:
    """The output of a graph to take, and how to pool it; None for one that holds the vectors of whole texts."""
    ranks = {found.name: len(found.shape) for found in session.get_outputs()}
    tokens = [name for name, rank in ranks.items() if rank == 3]
    whole = ranks.get(_SENTENCE_VECTORS) == 2
    if whole and (recipe.pooling is None or not tokens):
        return _SENTENCE_VECTORS, None
    named = [name for name in _TOKEN_VECTORS if name in tokens] or tokens
    if not named:
        raise InputError(
            f"{files.graph}: gives {', '.join(ranks)}: an encoder gives last_hidden_state [batch, sequence, hidden] "
            f"or {_SENTENCE_VECTORS} [batch, hidden]"
        )
    return named[0], recipe.pooling or "mean"


def _to_vectors(recipe: EncoderRecipe, pooling: Pooling | None, found: Float32, inputs: Inputs) -> Float32:
    """float32[n, d] of a graph's output: pooled, through the dense layers, normalised."""
    vectors = found
    if pooling is not None:
        if found.shape[:2] != inputs.ids.shape:
            raise MragError(f"the graph gave {list(found.shape)} numbers for {list(inputs.ids.shape)} tokens")
        vectors = pool(found, inputs.mask, pooling)
        for layer in recipe.layers:
            if layer.weight.shape[1] != vectors.shape[1]:
                raise InputError(f"a dense layer takes {layer.weight.shape[1]} numbers and gets {vectors.shape[1]}")
            vectors = layer(vectors)
    return normalise(vectors) if recipe.normalised else vectors


def text_scorer(encoder: OnnxEncoder) -> Scorer:
    """A Scorer by an encoder, where no vectors are stored: max(cosine, 0), or dot products over the usual one."""
    return partial(_similarities, encoder)


def _similarities(encoder: OnnxEncoder, query: str, texts: Sequence[str]) -> Float32:
    asked, found = encoder([query], role="query"), encoder(texts)
    scale = np.float32(1.0)
    if encoder.metric == "cosine":
        asked, found = normalise(asked), normalise(found)
    else:
        scale = np.float32(encoder.usual_square)
    scores: Float32 = np.clip((found * asked).sum(axis=1, dtype=np.float32) / scale, 0.0, 1.0)
    return scores


# --- rerankers -----------------------------------------------------------------------------------


class OnnxScorer:
    """A Scorer: a cross-encoder or a language model that reads a query and a text together. Threads may share it."""

    def __init__(
        self,
        files: ModelFiles,
        recipe: PairRecipe | PromptRecipe,
        tokeniser: Tokeniser,
        runner: Runner,
        provider: Literal["cpu", "cuda"],
    ) -> None:
        """Scores one pair, so that a folder whose files do not fit together is refused at once."""
        self._files, self._recipe, self._tokeniser, self._runner = files, recipe, tokeniser, runner
        self.name = files.name
        self.provider: Literal["cpu", "cuda"] = provider
        self.max_length = recipe.max_length
        self.temperature = recipe.temperature
        self.logits("word", ["word"])

    def __call__(self, query: str, texts: Sequence[str]) -> Float32:
        """float32[n] in [0, 1]: sigmoid(logit / temperature), in the order of the texts."""
        return sigmoid(self.logits(query, texts), self.temperature)

    def logits(self, query: str, texts: Sequence[str]) -> Float32:
        """float32[n]: what the model itself says of each text; MragError for what it cannot compute."""
        if isinstance(texts, str):
            raise InputError("a reranker takes a list of texts, not a text")
        out = np.empty(len(texts), dtype=np.float32)
        for start in range(0, len(texts), _AT_A_TIME):
            some = texts[start : start + _AT_A_TIME]
            found = self._runner(self._tokens(query, some))
            _check_finite(found, some, self._files)
            out[start : start + len(some)] = found
        return out

    def _tokens(self, query: str, texts: Sequence[str]) -> Tokens:
        if isinstance(self._recipe, PairRecipe):
            return self._tokeniser.pairs(query, texts)
        return self._tokeniser.prompts(self._recipe, query, texts)


def load_scorer(
    folder: Path | str,
    *,
    provider: ProviderName = "auto",
    precision: Precision | None = None,
    threads: int | None = None,
    batch_tokens: int | None = None,
    max_length: int | None = None,
    temperature: float | None = None,
    tell: Tell | None = None,
) -> OnnxScorer:
    """The reranker in a model's folder: a cross-encoder with one logit, or a language model with its prompt.

    Options and errors are those of load_encoder; ``temperature`` divides the logits.
    """
    files = find_files(Path(folder), precision)
    recipe = scorer_recipe(files, max_length=max_length, temperature=temperature)
    tokeniser = load_tokeniser(files.tokenizer, recipe.max_length if isinstance(recipe, PairRecipe) else None)
    session, got = open_session(files.graph, provider, tell)
    names = [found.name for found in session.get_outputs()]
    output = "logits" if "logits" in names else names[0]
    yes_id = recipe.yes_id if isinstance(recipe, PromptRecipe) else None
    runner = _runner(session, files, recipe, output, partial(_to_logits, yes_id), threads, batch_tokens, got, tell)
    return OnnxScorer(files, recipe, tokeniser, runner, got)


def _to_logits(yes_id: int | None, found: Float32, inputs: Inputs) -> Float32:
    """float32[n]: one number a text, or of float32[n, s, v] that of the token ``yes_id`` behind the last token."""
    n = len(inputs.ids)
    if found.ndim == 3 and yes_id is not None and len(found) == n and yes_id < found.shape[2]:
        last = last_tokens(inputs.mask) if found.shape[1] == inputs.mask.shape[1] else np.full(n, found.shape[1] - 1)
        picked: Float32 = found[np.arange(n), last, yes_id]
        return picked
    if found.shape not in ((n,), (n, 1)):
        raise InputError(
            f"the graph gives {list(found.shape)} numbers for {n} pairs: a reranker gives one for each; "
            "a language model needs its yes_id in mrag.json"
        )
    return found.reshape(n)


# --- both ----------------------------------------------------------------------------------------


def _runner(
    session: Any,
    files: ModelFiles,
    recipe: EncoderRecipe | PairRecipe | PromptRecipe,
    output: str,
    finish: Finish,
    threads: int | None,
    batch_tokens: int | None,
    provider: Literal["cpu", "cuda"],
    tell: Tell | None,
) -> Runner:
    for name, value in (("threads", threads), ("batch_tokens", batch_tokens)):
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}; it must be at least 1")
    if batch_tokens is None:
        batch_tokens = 1 if _quantises_while_running(files.graph) else MOST_TOKENS[provider]
    return Runner(
        session,
        files.graph,
        output,
        finish,
        padding=recipe.padding,
        most_tokens=batch_tokens,
        threads=1 if provider == "cuda" else threads or cores(),
        tell=tell,
    )


def _quantises_while_running(graph: Path) -> bool:
    """Whether a graph takes the scale of its int8 numbers from all that is in a run."""
    with graph.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"DynamicQuantize") >= 0


def _check_finite(found: Float32, texts: Sequence[str], files: ModelFiles) -> None:
    bad = np.flatnonzero(~np.isfinite(found.reshape(len(found), -1)).all(axis=1))
    if len(bad):
        raise MragError(
            f"{files.graph}: no finite numbers for the text {texts[int(bad[0])][:80]!r}: "
            "if this is a float16 file, use the float32 one"
        )


# --- fingerprints --------------------------------------------------------------------------------


def _weights(files: ModelFiles) -> Iterator[Path]:
    yield files.graph
    yield from files.beside


def _source(files: ModelFiles) -> str | None:
    """What a model was made from, whatever its precision: a hash of weights, or a commit; None if nothing says it."""
    weights = get(files.told, "weights", str, files.folder / "mrag.json")
    if weights:
        return f"weights {weights}"
    row = read_settings(files.folder / PULLED)
    repo, revision = row.get("repo"), row.get("revision")
    return f"commit {repo} {revision}" if isinstance(repo, str) and isinstance(revision, str) else None


def _fingerprint(files: ModelFiles, recipe: EncoderRecipe, model: Sequence[str]) -> str:
    layers = [[layer.activation, _array_hash(layer.weight), _array_hash(layer.bias)] for layer in recipe.layers]
    row = {
        "rules": RULES,
        "model": list(model),
        "tokenizer": file_hash(files.tokenizer),
        "layers": layers,
        **{name: getattr(recipe, name) for name in _USED},
        "padding": [recipe.padding.id, recipe.padding.left],
    }
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()


_USED = ("max_length", "pooling", "normalised", "metric", "query_prefix", "passage_prefix", "lower")


def _array_hash(values: Float32 | None) -> str | None:
    return None if values is None else hashlib.sha256(values.tobytes()).hexdigest()
