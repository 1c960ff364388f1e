"""Build time, query time and scores of mrag.bm25 beside bm25s' numpy back end: one run, the same tokens, one core.

    python benchmarks/bm25.py [--passages 100000] [--k 1000] [--queries 200] [CORPUS.jsonl[.gz]]

Passages are drawn anew from the word counts of the corpus, or of a made-up Zipf vocabulary. Times are CPU time.
Exits 1 when a score differs by more than 1e-5 or when MRAG is the slower one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import bm25s
import numpy as np

from mrag import bm25
from mrag.columns import Strings, pointers
from mrag.text import tokenise

K1, B = 1.5, 0.75
WORDS_A_PASSAGE = 60  # index terms of about 100 words
WORDS_A_QUERY = 8


def main() -> int:
    options = arguments()
    rng = np.random.default_rng(options.seed)
    terms, weights = vocabulary(options.corpus)
    chance = weights / weights.sum()
    lengths = np.maximum(rng.poisson(WORDS_A_PASSAGE, options.passages), 1)
    flat = rng.choice(len(terms), size=int(lengths.sum()), p=chance)
    passages = [part.tolist() for part in np.split(flat, np.cumsum(lengths)[:-1])]
    queries = [[terms[i] for i in rng.choice(len(terms), WORDS_A_QUERY, p=chance)] for _ in range(options.queries)]
    sizes = f"{len(passages):,} passages, {len(flat):,} tokens, {len(terms):,} terms"
    print(f"{sizes}; {len(queries)} queries of {WORDS_A_QUERY} terms, k = {options.k}")

    theirs, their_build = timed(lambda: build_theirs(passages, terms))
    ours, our_build = timed(lambda: build_ours(passages, terms))
    norms = bm25.norms(ours, K1, B)
    their_top, their_query = timed(lambda: [ask_theirs(theirs, query, options.k) for query in queries])
    our_top, our_query = timed(lambda: [ask_ours(ours, norms, query, options.k) for query in queries])

    worst = max(
        float(np.abs(bm25.scores(ours, bm25.term_ids(ours, query), norms) - theirs.get_scores(query)).max())
        for query in queries[:50]
    )
    ranks = max(float(np.abs(np.sort(a)[::-1][: len(b)] - b).max()) for a, b in zip(their_top, our_top, strict=True))
    print(f"{'':8}{'bm25s':>12}{'mrag':>12}{'ratio':>9}")
    print(f"{'build':8}{their_build:>10.2f} s{our_build:>10.2f} s{their_build / our_build:>8.1f}x")
    per_query = (1e3 * their_query / len(queries), 1e3 * our_query / len(queries))
    print(f"{'query':8}{per_query[0]:>9.2f} ms{per_query[1]:>9.2f} ms{per_query[0] / per_query[1]:>8.1f}x")
    print(f"largest difference of a score {worst:.1e}, of a score in the top {options.k} {ranks:.1e}")
    return int(worst > 1e-5 or ranks > 1e-5 or our_build > their_build or our_query > their_query)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", type=Path, help="lines with a field text; without it a Zipf vocabulary")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--k", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def vocabulary(corpus: Path | None) -> tuple[list[str], np.ndarray]:
    """Terms in the order of their bytes, and how often each stands in the corpus."""
    if corpus is None:
        size = 100_000
        return [f"w{i:06d}" for i in range(size)], 1.0 / (np.random.default_rng(1).permutation(size) + 20.0)
    counts: Counter[str] = Counter()
    with gzip.open(corpus, "rt") if corpus.suffix == ".gz" else corpus.open() as lines:
        for line in lines:
            counts.update(tokenise(json.loads(line)["text"]))
    terms = sorted(counts, key=str.encode)
    return terms, np.array([counts[term] for term in terms], dtype=float)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def build_ours(passages: list[list[int]], terms: list[str]) -> bm25.Bm25:
    ids = np.fromiter((i for passage in passages for i in passage), np.int64)
    return bm25.build(ids, pointers([len(passage) for passage in passages]), Strings.of(terms))


def build_theirs(passages: list[list[int]], terms: list[str]) -> bm25s.BM25:
    index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
    index.index((passages, {term: i for i, term in enumerate(terms)}), show_progress=False)
    return index


def ask_ours(index: bm25.Bm25, norms: np.ndarray, query: list[str], k: int) -> np.ndarray:
    return bm25.top(bm25.scores(index, bm25.term_ids(index, query), norms), k)[1]


def ask_theirs(index: bm25s.BM25, query: list[str], k: int) -> np.ndarray:
    return index.retrieve([query], k=k, show_progress=False, backend_selection="numpy", n_threads=0)[1][0]


if __name__ == "__main__":
    sys.exit(main())
