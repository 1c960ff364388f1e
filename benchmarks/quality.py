"""Retrieval quality of the base install: plain BM25, the paper's profile and the interval profile in one table.

python benchmarks/quality.py FOLDER [--by relation] [--rows "interval,paper"] [--json FILE]

FOLDER holds a corpus (corpus.jsonl.gz), question files (dev_*.jsonl with gold passages and answers) and their scorer
FOLDER holds a corpus (corpus.jsonl.gz), question files (dev_*.jsonl with gold passages and answers) and a scorer
passage is among them; percent.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mrag.adapters.datasets import read_passages
from mrag.corpus import Corpus, analyse
from mrag.pipeline import DEFAULTS, Settings, bm25_retriever, rank
from mrag.question import Question, parse

METRICS = ("AR@1", "AR@5", "ER@1", "ER@5", "ER@20")
SETS = {
    "perturbed": ("dev_perturbed.jsonl", 0),
    "original": ("dev_perturbed.jsonl", 1),
    "hard": ("dev_hard.jsonl", None),
    "easy": ("dev_easy.jsonl", None),
}
"""Name -> file and the value of `exact` that a row must have."""
ROWS = {
    "BM25": Settings(temporal=False),
    "paper": Settings(profile="paper"),
    "interval": DEFAULTS,
}


@dataclass
class Bench:
    """A corpus analysed once, its questions parsed once, and the scorer that lies beside them."""

    corpus: Corpus
    questions: dict[str, list[dict[str, Any]]]
    score: Callable[[dict[str, Any], list[str]], dict[str, float]]
    parsed: dict[str, Question] = field(default_factory=dict)

    def run(self, name: str, settings: Settings) -> list[dict[str, float]]:
        """The metrics of each question of a set."""
        retriever = bm25_retriever(self.corpus, settings.k1, settings.b)
        out = []
        for row in self.questions[name]:
            question = self.parsed.setdefault(row["question"], parse(row["question"]))
            ranked = rank(question, self.corpus, settings=settings, retriever=retriever)
            out.append(self.score(row, [self.corpus.ids[int(i)] for i in ranked.rows[:20]]))
        return out


def load(folder: Path, sets: Iterable[str] = SETS) -> Bench:
    """The bench over a folder of data."""
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    if spec is None or spec.loader is None:
        sys.exit(f"{folder}: no score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path = folder / "corpus.jsonl.gz"
    scorer = module.Scorer({"id": p.id, "title": p.title, "text": p.text} for p in read_passages(path))
    questions = {}
    for name in sets:
        file, exact = SETS[name]
        rows = [json.loads(line) for line in (folder / file).read_text("utf-8").splitlines()]
        questions[name] = [row for row in rows if exact is None or row["exact"] == exact]
    return Bench(analyse(read_passages(path)), questions, scorer.one)


def mean(rows: list[dict[str, float]]) -> dict[str, float]:
    """Percent, for each metric."""
    return {metric: 100 * sum(row[metric] for row in rows) / len(rows) for metric in METRICS}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--by", action="append", default=[], help="a field of the questions to split by: relation")
    parser.add_argument("--rows", default=",".join(ROWS), help="which rows, with commas between")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    args = parser.parse_args()
    start = time.perf_counter()
    bench = load(args.folder)
    print(f"{len(bench.corpus)} passages analysed and read in {time.perf_counter() - start:.1f} s")
    figures: dict[str, dict[str, dict[str, float]]] = {}
    print(f"{'set':<10} {'':<22} {'n':>5} " + " ".join(f"{metric:>6}" for metric in METRICS) + "  ms/question")
    for name, questions in bench.questions.items():
        for row in args.rows.split(","):
            start = time.perf_counter()
            results = bench.run(name, ROWS[row])
            spent = 1000 * (time.perf_counter() - start) / len(results)
            figures.setdefault(name, {})[row] = mean(results)
            print(_line(name, row, results) + f"  {spent:.1f}", flush=True)
            for key in args.by:
                groups = defaultdict(list)
                for question, result in zip(questions, results, strict=True):
                    groups[f"{question.get('implicit') or ''} {question.get(key) or '-'}".strip()].append(result)
                for group, members in sorted(groups.items()):
                    print(_line("", f"  {group}", members))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def _line(name: str, row: str, results: list[dict[str, float]]) -> str:
    values = mean(results)
    return f"{name:<10} {row:<22} {len(results):>5} " + " ".join(f"{values[metric]:6.1f}" for metric in METRICS)


if __name__ == "__main__":
    main()
