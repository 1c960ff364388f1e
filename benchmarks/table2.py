"""The paper's Table 2: first stages, second stages, and MRAG with and without summaries, on perturbed questions.

python benchmarks/table2.py QUESTIONS --index DIR [--encoder NAME=MODEL …] [--reranker NAME=MODEL …]
                            [--llm URL --llm-model NAME] [-o RESULTS]

The names of the paper's models are contriever (--encoder), and electra, minilm, jina, bge, nv-embed and gemma
(--reranker); a row whose model is not given says so, and a later call that gives it fills it in. Models under other
names get rows of their own. An encoder's vectors lie in --index DIR, or in an index of its own: --index NAME=DIR.

AR@k: an answer stands in one of the first k passages; ER@k: one of them is gold; percent, with 95 % intervals from
resampling the facts that are asked for. Every second stage puts the first 100 passages into order.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import paper
from harness import Bench, NotRun, bench, parser, run
from paper import MEASURES
from question_pairs import Pair
from systems import PAPER, PAPER_PLAIN, PLAIN, System
from tables import Cell, Table, json_figures, markdown

from mrag.metrics import Scores, tabulate
from mrag.settings import DEFAULTS

HEAD = ("1st", "2nd", "# QFS", *(name for measure in MEASURES for name in (measure, "paper")))

RERANKERS = {
    "electra": "ELECTRA",
    "minilm": "MiniLM",
    "jina": "Jina",
    "bge": "BGE",
    "nv-embed": "NV-Embed",
    "gemma": "Gemma",
}
"""The paper's second stages, by the name that --reranker gives them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table: what its first three columns say, the system, and the row of the paper's that it is."""

    first: str
    second: str
    summaries: str
    system: System
    paper: tuple[str, str, str] | None = None

    @property
    def name(self) -> str:
        """The row in words."""
        return " | ".join((self.first, self.second, self.summaries))


def lines(bench: Bench) -> list[Line]:
    """The rows: the paper's own, then words alone, then each encoder that is given or has run."""
    readers: Sequence[str | None] = bench.readers() or [None]
    rows = [*_of_paper(readers), *_of_words(readers)]
    for encoder in bench.encoders() or ["minilm"]:
        rows += _of_encoder(encoder, bench.rerankers(), readers)
    return rows


def _of_paper(readers: Sequence[str | None]) -> Iterator[Line]:
    dense = System(PLAIN, "dense", "contriever")
    yield Line("BM25", "-", "-", System(PLAIN), ("BM25", "-", "-"))
    yield Line("Contriever", "-", "-", dense, ("Contriever", "-", "-"))
    yield Line("Hybrid", "-", "-", System(PAPER_PLAIN, "hybrid", "contriever"), ("Hybrid", "-", "-"))
    for name, title in RERANKERS.items():
        yield Line("Contriever", title, "-", replace(dense, reranker=name), ("Contriever", title, "-"))
    ours = System(PAPER, "dense", "contriever", "gemma")
    yield Line("Contriever", "MRAG as in the paper (Gemma)", "-", ours, ("Contriever", "MRAG", "-"))
    for count in (5, 10):
        for reader in readers:
            summed = replace(ours, settings=replace(PAPER, summaries=count), summariser="llm", reader=reader)
            label = f"{count} ({reader})" if reader else str(count)
            yield Line("Contriever", "MRAG as in the paper (Gemma)", label, summed, ("Contriever", "MRAG", str(count)))


def _of_words(readers: Sequence[str | None]) -> Iterator[Line]:
    yield Line("BM25", "MRAG as in the paper (words)", "-", System(PAPER))
    yield from _mrag("BM25", "MRAG (words)", System(), readers)


def _of_encoder(encoder: str, rerankers: list[str], readers: Sequence[str | None]) -> Iterator[Line]:
    """The rows of an encoder: its plain retrievers, those of the rerankers that are there, and MRAG."""
    if encoder != "contriever":
        yield Line(encoder, "-", "-", System(PLAIN, "dense", encoder))
        yield Line(f"hybrid 0.8 / 0.2, {encoder}", "-", "-", System(PAPER_PLAIN, "hybrid", encoder))
    yield Line(f"hybrid, {encoder}", "-", "-", System(PLAIN, "hybrid", encoder))
    for reranker in rerankers:
        if encoder != "contriever" or reranker not in RERANKERS:
            title = RERANKERS.get(reranker, reranker)
            yield Line(encoder, title, "-", System(PLAIN, "dense", encoder, reranker))
    yield Line(encoder, f"MRAG as in the paper ({encoder})", "-", System(PAPER, "dense", encoder))
    yield from _mrag(f"hybrid, {encoder}", f"MRAG ({encoder})", System(DEFAULTS, "hybrid", encoder), readers)
    for reranker in rerankers:
        title = f"MRAG ({RERANKERS.get(reranker, reranker)})"
        yield Line(f"hybrid, {encoder}", title, "-", System(DEFAULTS, "hybrid", encoder, reranker))


def _mrag(first: str, second: str, system: System, readers: Sequence[str | None]) -> Iterator[Line]:
    """Our MRAG without summaries, with extracts, and with those of a language model."""
    yield Line(first, second, "-", system)
    yield Line(first, second, "5 (extracts)", replace(system, summariser="extract"))
    for reader in readers:
        label = f"5 ({reader})" if reader else "5"
        yield Line(first, second, label, replace(system, summariser="llm", reader=reader))


def table(pair: Pair, rows: Mapping[Line, Scores | NotRun], bench: Bench) -> tuple[Table, dict[str, object]]:
    """The table of a set of questions, and what it says as JSON."""
    cells, record = [], []
    for line, scores in rows.items():
        theirs = _theirs(line, pair)
        shown: list[Cell] = [line.first, line.second, line.summaries]
        told: dict[str, object] = {"row": line.name, "run": line.system.name, "paper": theirs or None}
        if isinstance(scores, NotRun):
            told["not run"] = scores.reason
            figures = {}
        else:
            figures = tabulate(scores, seed=bench.seed)[0].figures
            told["figures"] = json_figures(figures)
        for at, measure in enumerate(MEASURES):
            shown += [figures.get(measure), theirs[at] if theirs else None]
        shown += [f"not run: {scores.reason}"] if isinstance(scores, NotRun) else []
        cells.append(shown)
        record.append(told)
    facts = len({question.fact for question in pair.perturbed})
    notes = [f"{len(pair.perturbed):,} questions about {facts:,} facts. {corpus_note(pair)}"]
    return Table(pair.names[1], notes, HEAD, cells, 3), {
        "questions": pair.names[1],
        "n": len(pair.perturbed),
        "facts": facts,
        "rows": record,
    }


def _theirs(line: Line, pair: Pair) -> tuple[float, ...]:
    return paper.TABLE2[line.paper][pair.subset] if line.paper is not None and pair.subset else ()


def corpus_note(pair: Pair, which: str = "the perturbed") -> str:
    """What the paper's figures beside ours are of, where there are some: of ``which`` questions."""
    if not pair.subset:
        return "The paper has no figures for such questions."
    name = {"timeqa": "TempRAGEval-TimeQA", "situatedqa": "TempRAGEval-SituatedQA"}[pair.subset]
    return (
        f"The paper's figures are of {which} questions of {name} over Wikipedia: where questions or"
        " passages are others here, rows can be compared with each other, not with the paper's figures."
    )


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of the table."""
    opened, sets = bench(options, stack), []
    yield from (f"## Table 2: {opened.title}", "")
    for pair in opened.pairs:
        wanted = lines(opened)
        found = opened.scores({line.name: line.system for line in wanted}, pair.names[1], pair.perturbed)
        made, record = table(pair, {line: found[line.name] for line in wanted}, opened)
        yield from markdown(made)
        sets.append(record)
    return {"about": opened.title, "sets": sets}


def main(argv: list[str] | None = None) -> int:
    """Prints the table."""
    return run("table2", command, parser(__doc__).parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
