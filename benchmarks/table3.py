"""The paper's Table 3: answers of language models by strategy and by how many passages they read, EM and F1.

python benchmarks/table3.py QUESTIONS --index DIR [--encoder NAME=MODEL] [--reranker NAME=MODEL] [--llm URL
                            --llm-model NAME] [--passages 3,5,20] [--sample N] [-o RESULTS]

The language model that is given gets rows of its own, those of the paper's reader where its name says that it is one
(Llama-3.1-8B-Instruct, gpt-4o-mini …); the paper's readers that have not run are rows "not run". rag-concat reads from
plain retrieval by the encoder (else BM25), put into order by the reranker where one is given; mrag-concat and self-mrag
from MRAG by the same models. As in the paper, whose EM are multiples of 1 / 500, original and perturbed questions count
together. Temperature 0 (the paper: 0.2). EM and F1 in percent, with 95 % intervals from resampling facts. Replies are
kept in RESULTS: a command that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import paper
from harness import Bench, NotRun, bench, parser, run
from question_pairs import Pair
from systems import PLAIN, System
from table2 import corpus_note
from tables import Cell, Table, json_figures, markdown

from mrag.metrics import Scores, tabulate
from mrag.reader import STRATEGIES, Strategy

USUAL = 5
"""Passages that a reader gets if nothing is said."""

HEAD = ("reader", "strategy", "# Docs", "EM", "paper", "F1", "paper", "paper's # Docs")


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table: who reads how many passages in which way."""

    reader: str
    strategy: Strategy
    system: System

    @property
    def passages(self) -> str:
        """How many passages are read, "-" for none."""
        return str(self.system.reads) if self.system.searches else "-"


def lines(bench: Bench, counts: Sequence[int], subset: str) -> list[Line]:
    """The rows: the paper's readers, those that are given or have run, each with every strategy.

    Without ``counts`` a reader of the paper's reads as many passages as there, of that subset, and another one 5.
    """
    readers = dict.fromkeys([*paper.READERS, *bench.readers()])
    return [line for reader in readers for line in _of_reader(reader, bench, counts, subset)]


def _of_reader(reader: str, bench: Bench, counts: Sequence[int], subset: str) -> Iterator[Line]:
    mrag = finder(bench)
    plain = replace(mrag, settings=PLAIN, retriever="dense" if mrag.encoder else "bm25")
    for strategy in STRATEGIES:
        if reader in paper.READERS and (reader, strategy) not in paper.TABLE3 and bench.models.reader != reader:
            continue  # the paper has GPT-4o mini with the direct prompt alone
        found = plain if strategy == "rag-concat" else mrag
        system = replace(found, strategy=strategy, reader=reader)
        if not system.searches:
            yield Line(reader, strategy, replace(System(), strategy=strategy, reader=reader))
            continue
        theirs = paper.TABLE3.get((reader, strategy), {}).get(subset or "timeqa", (USUAL, 0, 0))[0]
        for count in counts or [theirs]:
            yield Line(reader, strategy, replace(system, reads=count))


def finder(bench: Bench) -> System:
    """MRAG by the models that are given, or that have run."""
    encoder, reranker = (next(iter(names), None) for names in (bench.encoders(), bench.rerankers()))
    return System(retriever="hybrid" if encoder else "bm25", encoder=encoder, reranker=reranker)


def table(pair: Pair, rows: Mapping[Line, Scores | NotRun], seed: int) -> tuple[Table, dict[str, object]]:
    """The table of a set of questions, and what it says as JSON."""
    cells: list[list[Cell]] = []
    record: list[dict[str, object]] = []
    for line, scores in rows.items():
        theirs = paper.TABLE3.get((line.reader, line.strategy), {}).get(pair.subset)
        told: dict[str, object] = {"reader": line.reader, "strategy": line.strategy, "passages": line.passages}
        told["paper"] = theirs
        figures = {}
        if isinstance(scores, NotRun):
            told["not run"] = scores.reason
        else:
            figures = {name: tabulate(scores, seed=seed)[0].figures[name] for name in ("EM", "F1")}
            told["figures"] = json_figures(figures)
        shown: list[Cell] = [line.reader, line.strategy, line.passages]
        for at, measure in enumerate(("EM", "F1"), 1):
            shown += [figures.get(measure), theirs[at] if theirs else None]
        shown.append((theirs[0] or "-") if theirs else None)
        cells.append([*shown, f"not run: {scores.reason}"] if isinstance(scores, NotRun) else shown)
        record.append(told)
    name, questions = pair.both()
    notes = [f"{len(questions):,} questions. {corpus_note(pair, 'all')}"]
    return Table(name, notes, HEAD, cells, 3), {"questions": name, "n": len(questions), "rows": record}


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of the table."""
    opened, sets = bench(options, stack), []
    found_by = finder(opened)
    yield from (f"## Table 3: {opened.title}", "")
    yield f"Passages: rag-concat from plain retrieval, mrag-concat and self-mrag from MRAG, by {models_of(found_by)}."
    yield ""
    for pair in opened.pairs:
        wanted = lines(opened, options.passages, pair.subset)
        found = opened.scores({line.system.name: line.system for line in wanted}, *pair.both())
        made, record = table(pair, {line: found[line.system.name] for line in wanted}, opened.seed)
        yield from markdown(made)
        sets.append(record)
    return {"about": opened.title, "sets": sets}


def models_of(system: System) -> str:
    """The models that find passages, in words."""
    return " and ".join(filter(None, (system.encoder, system.reranker))) or "words"


def counts(text: str) -> list[int]:
    """The numbers of --passages."""
    found = [int(part) for part in text.split(",")]
    if min(found) < 1:
        raise ValueError(text)
    return found


def main(argv: list[str] | None = None) -> int:
    """Prints the table."""
    made = parser(__doc__)
    made.add_argument(
        "--passages", type=counts, default=[], metavar="N[,N …]", help="how many are read, a row for each number"
    )
    return run("table3", command, made.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
