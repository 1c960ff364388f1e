"""Whether a model works: it is loaded, asked, and timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from mrag.adapters.datasets import read_passages
from mrag.adapters.models.model_files import find_files
from mrag.adapters.models.model_folder import Kind, encoder_recipe, kind_of
from mrag.adapters.models.onnx_session import ProviderName
from mrag.adapters.onnx import load_encoder, load_scorer, text_scorer
from mrag.strategies import Scorer

_QUESTION = "Who was the prime minister of the United Kingdom in 2020?"
_ANSWER = "Boris Johnson was the prime minister of the United Kingdom from July 2019 to September 2022."
_OTHER = "The old water mill burnt down in the spring and was never built again."

_SECONDS, _MOST_TEXTS, _BATCH = 3.0, 512, 16


@dataclass(frozen=True, slots=True)
class Checked:
    """What a model is, and what it did; the last four are None for a reranker.

    ``right`` and ``wrong``: its scores in [0, 1] for a text that answers a question and for one about something else.
    ``texts_per_second``: passages of the demo corpus, encoded, or read together with a question.
    """

    folder: Path
    kind: Kind
    provider: str
    max_length: int
    seconds_to_load: float
    texts_per_second: float
    right: float
    wrong: float
    dimension: int | None = None
    pooling: str | None = None
    metric: str | None = None
    prefixes: tuple[str, str] | None = None


def check(folder: Path, provider: ProviderName, tell: Callable[[str], None]) -> Checked:
    """Loads the model in a folder and asks it; InputError for a folder that is none, or is damaged."""
    files = find_files(folder)
    kind = kind_of(files)
    start = time.perf_counter()
    if kind != "encoder":
        scorer = load_scorer(folder, provider=provider, tell=tell)
        loaded = time.perf_counter() - start
        speed = _speed(lambda texts: scorer(_QUESTION, texts))
        return Checked(folder, kind, scorer.provider, scorer.max_length, loaded, speed, *_scores(scorer))
    encoder = load_encoder(folder, provider=provider, tell=tell)
    loaded = time.perf_counter() - start
    recipe = encoder_recipe(files)
    return Checked(
        folder,
        kind,
        encoder.provider,
        encoder.max_length,
        loaded,
        _speed(encoder),
        *_scores(text_scorer(encoder)),
        encoder.dimension,
        encoder.pooling,
        encoder.metric,
        (recipe.query_prefix, recipe.passage_prefix),
    )


def _scores(scorer: Scorer) -> tuple[float, float]:
    right, wrong = scorer(_QUESTION, [_ANSWER, _OTHER])
    return float(right), float(wrong)


def _speed(ask: Callable[[Sequence[str]], object]) -> float:
    """Texts a second, over a few seconds, a first batch left out."""
    batches = _batches()
    ask(next(batches))
    start, done = time.perf_counter(), 0
    for batch in batches:
        ask(batch)
        done += len(batch)
        if time.perf_counter() - start > _SECONDS or done >= _MOST_TEXTS:
            break
    return done / (time.perf_counter() - start)


def _batches() -> Iterator[list[str]]:
    """Passages of the demo corpus, again and again."""
    with resources.as_file(resources.files("mrag.adapters") / "demo.jsonl") as path:
        texts = [passage.text for passage in read_passages(path)]
    while True:
        yield from (texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH))
