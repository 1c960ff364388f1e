"""Nearest vectors: exact search and hnswlib as MRAG uses them, beside usearch and faiss at equal recall, in one run.

    python benchmarks/vectors.py [--vectors 100000] [--dimension 384] [--k 1000] [--recall 0.98] [--queries 100]
    python benchmarks/vectors.py --sentences 1000000      scores of 200 sentences out of so many stored vectors

Vectors are made up: clusters of unequal size, with a spectrum that falls as that of text embeddings. Graphs have the
same links (M = 16) and breadth of building (200) and are built over all cores; the breadth of a search is raised until
the recall is reached. Queries go one at a time through one core, in CPU time; exact search also takes 64 of them in one
pass over the vectors, as a batch of questions does. Memory is what the process grew by.
Each row is a process of its own. A library that is not installed gives a row "not run".
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from mrag.adapters import hnsw
from mrag.adapters.index.retrievers import row_scorer
from mrag.adapters.index.vectors import Vectors, nearest, normalised, quantised
from mrag.adapters.workers import cores

ROWS = ("exact float32", "exact float16", "exact int8", "hnswlib", "usearch", "faiss")
LADDER = (0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 12, 16)  # breadth of a search over k
Search = Callable[[np.ndarray, int], np.ndarray]


def main() -> None:
    options = arguments()
    if options.row:
        print(json.dumps(row(options)))
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.sentences:
            sentences(Path(folder), options)
            return
        base, queries = made_up(options.vectors + options.queries, options)
        np.save(Path(folder) / "base.npy", base)
        np.save(Path(folder) / "queries.npy", queries)
        np.save(Path(folder) / "truth.npy", nearest(Vectors(base), queries, options.k)[0])
        del base
        print(f"{options.vectors:,} vectors of {options.dimension}, k = {options.k}, {cores()} cores")
        print(
            f"{'':16}{'build s':>9}{'breadth':>9}{'recall':>8}{'query ms':>10}{'of 64 ms':>10}"
            f"{'memory MB':>11}{'file MB':>9}"
        )
        for name in ROWS:
            show(name, folder, options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--k", type=int, default=1_000)
    parser.add_argument("--recall", type=float, default=0.98)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--sentences", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--row", default="", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def made_up(n: int, options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """float32 vectors of length 1, and queries that are drawn like them."""
    rng = np.random.default_rng(options.seed)
    spectrum = (1.0 / np.sqrt(np.arange(options.dimension) + 10.0)).astype(np.float32)
    centres = rng.standard_normal((max(n // 200, 1), options.dimension)).astype(np.float32) * spectrum
    weights = 1.0 / (np.arange(len(centres)) + 10.0)
    of = rng.choice(len(centres), n, p=weights / weights.sum())
    noise = rng.standard_normal((n, options.dimension), dtype=np.float32) * spectrum
    vectors = normalised(0.7 * centres[of] + noise)
    return vectors[: -options.queries], vectors[-options.queries :]


def show(name: str, folder: str, options: argparse.Namespace) -> None:
    """One line of the table, measured in its own process."""
    library = name.split()[0]
    if library in ("usearch", "faiss") and find_spec(library) is None:
        print(f"{name:16}{'not run':>9}  (pip install {'faiss-cpu' if library == 'faiss' else library})")
        return
    settings = [f"--{key}={getattr(options, key)}" for key in ("k", "recall", "dimension")]
    command = [sys.executable, __file__, f"--row={name}", f"--folder={folder}", *settings]
    one_core = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} if library == "exact" else {}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **one_core})
    if done.returncode:
        print(f"{name:16}{'failed':>9}  {done.stderr.strip().splitlines()[-1:]}")
        return
    got = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{name:16}{got['build']:>9.1f}{got['breadth'] or '':>9}{got['recall']:>8.3f}{got['query']:>10.2f}"
        f"{got['together']:>10}{got['memory']:>11.0f}{got['file']:>9.0f}",
        flush=True,
    )


def row(options: argparse.Namespace) -> dict[str, float | str]:
    """What one row of the table says."""
    base = np.load(options.folder / "base.npy", mmap_mode="r")
    queries, truth = (np.load(options.folder / f"{name}.npy") for name in ("queries", "truth"))
    kind, _, precision = options.row.partition(" ")
    build = {"exact": exact, "hnswlib": hnswlib, "usearch": usearch, "faiss": faiss}[kind]
    before, start = memory(), time.perf_counter()
    search, size = build(base, options.folder, precision)
    built, grown = time.perf_counter() - start, memory() - before
    breadths = [0] if kind == "exact" else [max(int(options.k * factor), 10) for factor in LADDER]
    for breadth in breadths:
        start = time.process_time()
        found = [search(query, breadth) for query in queries[:, None]]
        spent = (time.process_time() - start) / len(queries)
        shares = [len(set(a[0].tolist()) & set(b.tolist())) / len(b) for a, b in zip(found, truth, strict=True)]
        if np.mean(shares) >= options.recall:
            break
    together = ""
    if kind == "exact":
        start = time.process_time()
        search(queries[:64], 0)
        together = f"{1e3 * (time.process_time() - start) / len(queries[:64]):.2f}"
    return {
        "build": built,
        "breadth": breadth,
        "recall": float(np.mean(shares)),
        "query": 1e3 * spent,
        "together": together,
        "memory": grown / 1e6,
        "file": size / 1e6,
    }


def memory() -> int:
    """Bytes of this process that are its own, not mapped files; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def exact(base: np.ndarray, folder: Path, precision: Any) -> tuple[Search, int]:
    stored = quantised(np.asarray(base), precision)
    path = folder / f"{precision}.npy"
    np.save(path, stored.values)
    vectors = Vectors(np.asarray(np.load(path, mmap_mode="r")), stored.scales)
    k = len(np.load(folder / "truth.npy", mmap_mode="r")[0])
    return lambda query, _: nearest(vectors, query, k)[0], path.stat().st_size


def hnswlib(base: np.ndarray, folder: Path, _: str) -> tuple[Search, int]:
    import hnswlib as library

    path = folder / "graph"
    hnsw.write_graph(path, Vectors(np.asarray(base)))
    index = library.Index(space="ip", dim=base.shape[1])
    index.load_index(str(path), max_elements=len(base))
    k = np.load(folder / "truth.npy", mmap_mode="r").shape[1]

    def search(query: np.ndarray, breadth: int) -> np.ndarray:
        index.set_ef(max(breadth, k))
        found: np.ndarray = index.knn_query(query, k, num_threads=1)[0].astype(np.int64)
        return found

    return search, path.stat().st_size


def usearch(base: np.ndarray, folder: Path, _: str) -> tuple[Search, int]:
    from usearch.index import Index

    index = Index(ndim=base.shape[1], metric="ip", dtype="f32", connectivity=16, expansion_add=200)
    index.add(np.arange(len(base)), np.asarray(base), threads=cores())
    path = folder / "usearch"
    index.save(str(path))
    k = np.load(folder / "truth.npy", mmap_mode="r").shape[1]

    def search(query: np.ndarray, breadth: int) -> np.ndarray:
        index.expansion_search = max(breadth, k)
        found: np.ndarray = np.asarray(index.search(query[0], k, threads=1).keys)[None].astype(np.int64)
        return found

    return search, path.stat().st_size


def faiss(base: np.ndarray, folder: Path, _: str) -> tuple[Search, int]:
    import faiss as library

    index = library.IndexHNSWFlat(base.shape[1], 16, library.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = 200
    library.omp_set_num_threads(cores())
    index.add(np.asarray(base))
    library.omp_set_num_threads(1)
    path = folder / "faiss"
    library.write_index(index, str(path))
    k = np.load(folder / "truth.npy", mmap_mode="r").shape[1]

    def search(query: np.ndarray, breadth: int) -> np.ndarray:
        index.hnsw.efSearch = max(breadth, k)
        found: np.ndarray = index.search(query, k)[1]
        return found

    return search, path.stat().st_size


def sentences(folder: Path, options: argparse.Namespace) -> None:
    """Scores of 200 sentences of a query by stored vectors, mapped: time, and what the process grows by."""
    rng = np.random.default_rng(options.seed)
    query = normalised(rng.standard_normal((1, options.dimension)).astype(np.float32))
    wanted = [np.sort(rng.choice(options.sentences, 200, replace=False)) for _ in range(options.queries)]
    print(f"200 of {options.sentences:,} sentence vectors of {options.dimension}")
    print(f"{'':16}{'first ms':>10}{'again ms':>10}{'memory MB':>11}{'file MB':>9}")
    for precision in ("float32", "float16", "int8"):
        path = folder / f"{precision}.npy"
        shape = (options.sentences, options.dimension)
        stored = quantised(normalised(rng.standard_normal((4096, options.dimension)).astype(np.float32)), precision)
        values = np.lib.format.open_memmap(path, mode="w+", dtype=stored.values.dtype, shape=shape)
        for start in range(0, options.sentences, 4096):
            values[start : start + 4096] = stored.values[: options.sentences - start]
        del values
        scales = None if stored.scales is None else np.resize(stored.scales, options.sentences)
        before = memory()
        vectors = Vectors(np.asarray(np.load(path, mmap_mode="r")), scales)
        score = row_scorer(vectors, lambda queries: np.repeat(query, len(queries), axis=0))
        times = []
        for _ in range(2):
            start_time = time.perf_counter()
            for rows in wanted:
                score("?", rows)
            times.append(1e3 * (time.perf_counter() - start_time) / len(wanted))
        grown = (memory() - before) / 1e6
        print(f"{precision:16}{times[0]:>10.2f}{times[1]:>10.2f}{grown:>11.0f}{path.stat().st_size / 1e6:>9.0f}")
        path.unlink()


if __name__ == "__main__":
    main()
