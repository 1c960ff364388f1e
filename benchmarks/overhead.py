"""What time costs on top of plain dense retrieval: whole questions over an index with vectors, one by one in turn.

python benchmarks/overhead.py QUESTIONS.jsonl --index DIR --encoder MODEL [--number N]

Each question is asked in every way right after the other, so that the ratios hold on a busy machine. The encoder's
remembered queries are forgotten before each, but in the rows "query encoded before".
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

from mrag.adapters.model_cache import resolve
from mrag.adapters.onnx import OnnxEncoder, load_encoder
from mrag.adapters.retrievers import RetrieverName
from mrag.adapters.store import Index
from mrag.pipeline import DEFAULTS, Settings

WAYS: dict[str, tuple[Settings, RetrieverName]] = {
    "plain dense": (Settings(temporal=False), "dense"),
    "interval, dense": (DEFAULTS, "dense"),
    "interval, hybrid": (DEFAULTS, "hybrid"),
    "paper, dense": (Settings(profile="paper"), "dense"),
    "words alone": (DEFAULTS, "bm25"),
}


def ask(folder: Path, encoder: OnnxEncoder, opened: Index, text: str, way: str, *, fresh: bool) -> float:
    """Milliseconds of one question; ``fresh``: its vector is not known yet."""
    settings, retriever = WAYS[way]
    index = Index.open(folder) if fresh else opened
    wanted = None if retriever == "bm25" else encoder
    if wanted is not None:
        index.meaning(wanted)
    start = time.perf_counter()
    index.search(text, 10, settings=settings, retriever=retriever, encoder=wanted)
    return 1000 * (time.perf_counter() - start)


def main() -> None:
    """Prints the medians and their ratios to plain dense retrieval."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--number", type=int, default=150)
    args = parser.parse_args()
    texts = [json.loads(line)["question"] for line in args.questions.read_text("utf-8").splitlines()][: args.number]
    encoder, opened = load_encoder(resolve(args.encoder)), Index.open(args.index)
    spent: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for at, text in enumerate(texts):
        for way in WAYS:
            for fresh in (True, False):
                ask(args.index, encoder, opened, text, way, fresh=False)
                value = ask(args.index, encoder, opened, text, way, fresh=fresh)
                if at >= 10:  # the first ones load what later ones find
                    spent[way, fresh].append(value)
    print(f"{'ms a question, median':<24} {'whole':>8} {'ratio':>6}   query encoded before {'ratio':>6}")
    for way in WAYS:
        whole, before = median(spent[way, True]), median(spent[way, False])
        base = median(spent["plain dense", True]), median(spent["plain dense", False])
        print(f"{way:<24} {whole:8.2f} {whole / base[0]:6.2f}   {before:20.2f} {before / base[1]:6.2f}")


if __name__ == "__main__":
    main()
