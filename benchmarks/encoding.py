"""Sentences a second of MRAG's encoder beside fastembed and sentence-transformers on the same weights, in one run.

    python benchmarks/encoding.py MODELS [CORPUS.jsonl[.gz]] [--questions QUESTIONS.jsonl] [--sentences 1000]

MODELS is the folder that benchmarks/fetch_minilm.py makes. Rounds go through all encoders in turn, so that a busy
neighbour slows each of them alike; shown is the median round. All use their defaults and all cores. The second table
is how far float16 and int8 rank as float32 does: same best sentence, share of the best ten, and Spearman's
correlation over all sentences, a question at a time.

The peers are optional (pip install fastembed-gpu sentence-transformers); without one its row is "not run". Exits 1
when a peer that ran is the faster one.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from fetch_minilm import fetch

from mrag.adapters.datasets import read_passages
from mrag.adapters.onnx import load_encoder
from mrag.adapters.workers import cores
from mrag.text import split_sentences

Encode = Callable[[Sequence[str]], np.ndarray]

OURS = {
    "mrag float32": ("minilm", None),
    "mrag float16": ("minilm-fp16", None),
    "mrag int8": ("minilm-int8", None),
    "mrag int8, in batches": ("minilm-int8", 512),
}
QUESTIONS = (
    "Who was the prime minister of the United Kingdom in 2020?",
    "Which team did the player join after the World Cup?",
    "When was the bridge over the river opened?",
    "What office did she hold from 1999 to 2006?",
    "Who owned the newspaper before the war?",
    "Where did the composer live as a child?",
    "Which party won the election in the spring?",
    "Who directed the film that was shot in the desert?",
)


def main() -> int:
    options = arguments()
    texts = sentences(options)
    print(f"{len(texts):,} sentences of {statistics.mean(map(len, texts)):.0f} characters, {cores()} cores")
    with tempfile.TemporaryDirectory() as scratch:
        encoders = {name: ours(options.models, *row) for name, row in OURS.items()}
        peers = {"fastembed": fastembed, "sentence-transformers": sentence_transformers}
        encoders |= {name: peer(options.models, Path(scratch)) for name, peer in peers.items()}
        rates = measure({name: encode for name, encode in encoders.items() if encode}, texts, options.rounds)
    print(f"{'':24}{'sentences/s':>12}{'CPU ms each':>13}{'of float32':>12}")
    base = rates["mrag float32"][0]
    for name in encoders:
        if name in rates:
            rate, cpu = rates[name]
            print(f"{name:24}{rate:>12,.0f}{cpu:>13.2f}{rate / base:>11.2f}x")
        else:
            print(f"{name:24}{'not run':>12}")
    agreement({name: encoders[name] for name in OURS}, texts, questions(options))
    return int(any(rates[name][0] > base for name in peers if name in rates))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, metavar="MODELS")
    parser.add_argument("corpus", nargs="?", type=Path, help="passages; without it those of `mrag demo`")
    parser.add_argument("--questions", type=Path, help="lines with a field question")
    parser.add_argument("--sentences", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def sentences(options: argparse.Namespace) -> list[str]:
    """Sentences of a corpus with their title before them, from all over the corpus."""
    with resources.as_file(resources.files("mrag.adapters") / "demo.jsonl") as demo:
        passages = list(islice(read_passages(options.corpus or demo), 20_000))
    every = [
        f"{passage.title}: {passage.text[start:end]}" if passage.title else passage.text[start:end]
        for passage in passages
        for start, end in split_sentences(passage.text)
    ]
    chosen = np.random.default_rng(0).permutation(len(every))[: options.sentences]
    return [every[at] for at in chosen]


def questions(options: argparse.Namespace) -> list[str]:
    if options.questions is None:
        return list(QUESTIONS)
    with options.questions.open(encoding="utf-8") as lines:
        return [json.loads(line)["question"] for line in islice(lines, 200)]


# --- the encoders --------------------------------------------------------------------------------


def ours(models: Path, name: str, batch_tokens: int | None) -> Encode | None:
    return load_encoder(models / name, batch_tokens=batch_tokens) if (models / name).is_dir() else None


def fastembed(models: Path, scratch: Path) -> Encode | None:
    """The same ONNX file in fastembed."""
    try:
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType
    except ImportError:
        return None
    source = ModelSource(hf="local/minilm")
    TextEmbedding.add_custom_model(
        "local/minilm", pooling=PoolingType.MEAN, normalization=True, sources=source, dim=384, model_file="model.onnx"
    )
    model = TextEmbedding(
        "local/minilm", specific_model_path=str(models / "minilm"), providers=["CPUExecutionProvider"]
    )
    return lambda texts: np.stack(list(model.embed(texts)))


def sentence_transformers(models: Path, scratch: Path) -> Encode | None:
    """The weights that the ONNX file was made from, in torch."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except ImportError:
        return None
    disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    model: Any = SentenceTransformer(str(fetch(scratch)), device="cpu")
    return partial(model.encode, show_progress_bar=False)


# --- the tables ----------------------------------------------------------------------------------


def measure(encoders: dict[str, Encode], texts: list[str], rounds: int) -> dict[str, tuple[float, float]]:
    """Sentences a second and CPU milliseconds a sentence of each encoder: the medians of some rounds."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in encoders}
    for encode in encoders.values():
        encode(texts[:64])
    for _ in range(rounds):
        for name, encode in encoders.items():
            wall, cpu = time.perf_counter(), time.process_time()
            vectors = encode(texts)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            assert vectors.shape == (len(texts), 384)
            found[name].append((len(texts) / wall, 1e3 * cpu / len(texts)))
    return {name: tuple(map(statistics.median, zip(*rows, strict=True))) for name, rows in found.items()}  # type: ignore[misc]


def agreement(encoders: dict[str, Encode | None], texts: list[str], asked: list[str]) -> None:
    """Prints how far each encoder ranks the sentences as the first one does."""
    print(f"{'':24}{'top 1':>12}{'top 10':>13}{'Spearman':>12}")
    wanted: np.ndarray | None = None
    for name, encode in encoders.items():
        if encode is None:
            continue
        scores = np.asarray(encode(asked)) @ np.asarray(encode(texts)).T
        wanted = scores if wanted is None else wanted
        print(f"{name:24}{same_best(wanted, scores, 1):>12.2f}{same_best(wanted, scores, 10):>13.3f}", end="")
        ranks = [np.argsort(np.argsort(rows, axis=1), axis=1) for rows in (wanted, scores)]
        print(f"{np.mean([np.corrcoef(*pair)[0, 1] for pair in zip(*ranks, strict=True)]):>12.3f}")


def same_best(wanted: np.ndarray, found: np.ndarray, k: int) -> float:
    """The share of the best k that two score matrices have in common, mean over their rows."""
    best = [np.argsort(-scores, axis=1)[:, :k] for scores in (wanted, found)]
    return float(np.mean([len(np.intersect1d(*pair)) / k for pair in zip(*best, strict=True)]))


if __name__ == "__main__":
    sys.exit(main())
