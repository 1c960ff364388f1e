"""Retrieval quality in one table: plain retrievers, the paper's profile and the interval profile.

python benchmarks/quality.py FOLDER [--by relation] [--sets perturbed,hard] [--json FILE]
python benchmarks/quality.py FOLDER --index DIR --encoder MODEL     the rows with a model, by the vectors of an index

FOLDER holds a corpus (corpus.jsonl.gz), question files (dev_*.jsonl with gold passages and answers) and their scorer
(score.py). AR@k: an answer stands in one of the first k passages; ER@k: a gold passage is among them; percent.
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
from mrag.adapters.index.encoding import StoredEncoder
from mrag.adapters.index.retrievers import RetrieverName
from mrag.adapters.models.model_cache import resolve
from mrag.adapters.onnx import load_encoder
from mrag.adapters.store import Index
from mrag.corpus import analyse
from mrag.question import Question, parse
from mrag.settings import DEFAULTS, Settings
from mrag.summarize import extractor

METRICS = ("AR@1", "AR@5", "ER@1", "ER@5", "ER@20")
SETS = {
    "perturbed": ("dev_perturbed.jsonl", 0),
    "original": ("dev_perturbed.jsonl", 1),
    "hard": ("dev_hard.jsonl", None),
    "easy": ("dev_easy.jsonl", None),
}
"""Name -> file and the value of `exact` that a row must have."""


@dataclass(frozen=True)
class Row:
    """A way to rank: settings, a first stage (None: BM25, and no vectors), and whether passages are summed up."""

    settings: Settings
    retriever: RetrieverName | None = None
    extracts: bool = False


LEXICAL_ROWS = {
    "BM25": Row(Settings(temporal=False)),
    "paper": Row(Settings(profile="paper")),
    "interval": Row(DEFAULTS),
    "interval + extracts": Row(DEFAULTS, extracts=True),
}
MODEL_ROWS = {
    "dense": Row(Settings(temporal=False), "dense"),
    "hybrid": Row(Settings(temporal=False), "hybrid"),
    "paper, dense": Row(Settings(profile="paper"), "dense"),
    "paper, hybrid": Row(Settings(profile="paper"), "hybrid"),
    "interval, dense": Row(DEFAULTS, "dense"),
    "interval, hybrid": Row(DEFAULTS, "hybrid"),
    "interval, hybrid + extracts": Row(DEFAULTS, "hybrid", extracts=True),
}


@dataclass
class Bench:
    """An index, its questions parsed once, and the scorer that lies beside them."""

    index: Index
    questions: dict[str, list[dict[str, Any]]]
    score: Callable[[dict[str, Any], list[str]], dict[str, float]]
    encoder: StoredEncoder | None = None
    parsed: dict[str, Question] = field(default_factory=dict)

    def run(self, name: str, row: Row) -> list[dict[str, float]]:
        """The metrics of each question of a set."""
        asked = self.questions[name]
        questions = [self.parsed.setdefault(one["question"], parse(one["question"])) for one in asked]
        found = self.index.search_many(
            questions,
            20,
            settings=row.settings,
            retriever=row.retriever,
            encoder=self.encoder if row.retriever else None,
            summariser=extractor if row.extracts else None,
        )
        return [
            self.score(one, [evidence.passage.id for evidence in ranking.evidence])
            for one, ranking in zip(asked, found, strict=True)
        ]


def load(folder: Path, sets: Iterable[str] = SETS, index: Path | None = None, encoder: str | None = None) -> Bench:
    """The bench over a folder of data; without an index its corpus is analysed."""
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
    opened = Index.open(index) if index else Index(folder, analyse(read_passages(path)))
    return Bench(opened, questions, scorer.one, load_encoder(resolve(encoder)) if encoder else None)


def mean(rows: list[dict[str, float]]) -> dict[str, float]:
    """Percent, for each metric."""
    return {metric: 100 * sum(row[metric] for row in rows) / len(rows) for metric in METRICS}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--by", action="append", default=[], help="a field of the questions to split by: relation")
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, with commas between")
    parser.add_argument("--index", type=Path, help="an index of the corpus with vectors")
    parser.add_argument("--encoder", help="the encoder of its vectors: a folder or a name")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    args = parser.parse_args()
    start = time.perf_counter()
    bench = load(args.folder, args.sets.split(","), args.index, args.encoder)
    print(f"{len(bench.index)} passages analysed and read in {time.perf_counter() - start:.1f} s")
    figures: dict[str, dict[str, dict[str, float]]] = {}
    print(f"{'set':<10} {'':<28} {'n':>5} " + " ".join(f"{metric:>6}" for metric in METRICS) + "  ms/question")
    for name, questions in bench.questions.items():
        for row, how in (MODEL_ROWS if args.encoder else LEXICAL_ROWS).items():
            start = time.perf_counter()
            results = bench.run(name, how)
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
    return f"{name:<10} {row:<28} {len(results):>5} " + " ".join(f"{values[metric]:6.1f}" for metric in METRICS)


if __name__ == "__main__":
    main()
