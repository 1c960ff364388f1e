"""The paper's section 6.1: reading the whole page against reading what retrieval finds, EM and F1.

python benchmarks/long_document.py QUESTIONS --index DIR --llm URL --llm-model NAME [--encoder NAME=MODEL]
                                   [--passages 5] [--page-passages 200] [--sample N] [-o RESULTS]

The page is that of the gold passage, which retrieval has to find first: all its passages, in their order, cut behind
--page-passages. Questions whose gold passage the index lacks are left out of all rows. The paper says that retrieval
answers better than the whole page, its figures are not in its text.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from harness import Bench, NotRun, bench, parser, run
from question_pairs import Questions
from systems import DEPTH, PLAIN, Given, System, open_index
from table3 import USUAL, finder, models_of
from tables import Cell, Table, json_figures, markdown

from mrag.adapters.evaluation.outputs import Output
from mrag.corpus import Corpus
from mrag.evaluation.token_runs import fold, holds
from mrag.metrics import EvalQuestion, tabulate
from mrag.pipeline import Evidence, Ranking
from mrag.question import Question
from mrag.reader import Answer, answer_many
from mrag.strategies import LanguageModel


def pages_of(bench: Bench, questions: Questions) -> dict[str, list[int]]:
    """The page of each question whose gold passage is in the index: by its id, else by a gold sentence in what BM25
    finds for it."""
    corpus = bench.index().corpus
    gold = {question.gold_passages[0] for question in questions if question.gold_passages}
    by_id = {identity: row for row in range(len(corpus)) if gold and (identity := corpus.ids[row]) in gold}
    titles: dict[str, list[str]] = {}
    for question in questions:
        row = next((by_id[identity] for identity in question.gold_passages if identity in by_id), None)
        row = _by_sentence(bench, question) if row is None else row
        if row is not None:
            titles.setdefault(corpus.titles[row] or corpus.ids[row], []).append(question.question)
    found: dict[str, list[int]] = {}
    for row in range(len(corpus)):
        for text in titles.get(corpus.titles[row] or corpus.ids[row], ()):
            found.setdefault(text, []).append(row)
    return found


def _by_sentence(bench: Bench, question: EvalQuestion) -> int | None:
    """The first passage that holds a gold sentence, of those that BM25 finds."""
    sentences = [fold(sentence) for sentence in question.gold_evidence]
    if not sentences:
        return None
    for evidence in bench.index().search(question.question, DEPTH, settings=PLAIN).evidence:
        text = fold(f"{evidence.passage.title} {evidence.passage.text}")
        if any(holds(text, sentence) for sentence in sentences):
            return evidence.row
    return None


def whole_page(corpus: Corpus, pages: Mapping[str, Sequence[int]], system: System, model: LanguageModel) -> Given:
    """Reads the whole page of each question."""

    def given(questions: Sequence[Question]) -> Iterator[tuple[list[str], Answer | None]]:
        read = [
            Ranking(
                question,
                tuple(
                    Evidence(corpus.passage(row), row, "", 0.0, 0.0, 0.0, None, {})
                    for row in pages[question.text][: system.reads]
                ),
            )
            for question in questions
        ]
        answers = answer_many(read, model=model, strategy="rag-concat", passages=system.reads)
        for ranking, answer in zip(read, answers, strict=True):
            yield [evidence.passage.id for evidence in ranking.evidence], answer

    return given


def rows_of(bench: Bench, reader: str, reads: int, page: int) -> dict[str, System]:
    """The rows of a reader: the whole page, then what is found."""
    mrag = replace(finder(bench), reader=reader, reads=reads)
    plain = replace(mrag, settings=PLAIN, retriever="dense" if mrag.encoder else "bm25")
    whole = System(PLAIN, reading="page", strategy="rag-concat", reads=page, reader=reader)
    return {
        f"whole page, at most {page} passages": whole,
        f"rag-concat, {reads} passages": replace(plain, strategy="rag-concat"),
        f"mrag-concat, {reads} passages": replace(mrag, strategy="mrag-concat"),
        f"self-mrag, {reads} passages": replace(mrag, strategy="self-mrag"),
    }


def outputs(
    bench: Bench, systems: Mapping[str, System], name: str, questions: Questions, pages: Mapping[str, Sequence[int]]
) -> dict[str, Output | NotRun]:
    """What each row gives."""
    found = {}
    for label, system in systems.items():
        work = None
        if system.reading == "page" and not bench.models.missing(system):
            corpus = open_index(bench.models.folder(system)).corpus
            work = whole_page(corpus, pages, system, bench.models.language_model)
        found[label] = bench.output(system, name, questions, work)
    return found


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of the table."""
    opened, sets = bench(options, stack), []
    readers = opened.readers() or ["Llama-3.1-8B"]
    yield from (f"## Long documents: {opened.title}", "")
    yield from (f"Passages are found by {models_of(finder(opened))}.", "")
    for pair in opened.pairs:
        pages = pages_of(opened, pair.perturbed)
        questions = tuple(question for question in pair.perturbed if question.question in pages)
        cells: list[list[Cell]] = []
        record: dict[str, object] = {}
        for reader in readers:
            systems = rows_of(opened, reader, options.passages, options.page_passages)
            given = outputs(opened, systems, f"{pair.names[1]} with pages", questions, pages)
            for label, one in opened.scored(given, questions).items():
                if isinstance(one, NotRun):
                    cells.append([reader, label, None, None, f"not run: {one.reason}"])
                    record[f"{reader}: {label}"] = {"not run": one.reason}
                    continue
                figures = tabulate(one, seed=opened.seed)[0].figures
                cells.append([reader, label, figures["EM"], figures["F1"]])
                record[f"{reader}: {label}"] = json_figures({name: figures[name] for name in ("EM", "F1")})
        sizes = [len(pages[question.question]) for question in questions]
        mean = sum(sizes) / max(len(sizes), 1)
        notes = [
            f"{len(questions):,} of {len(pair.perturbed):,} questions have their page here, of {mean:.0f} passages"
            f" (at most {max(sizes, default=0):,})."
        ]
        yield from markdown(Table(pair.names[1], notes, ["reader", "reads", "EM", "F1"], cells, 2))
        sets.append({"questions": pair.names[1], "n": len(questions), "rows": record})
    return {"about": opened.title, "sets": sets}


def main(argv: list[str] | None = None) -> int:
    """Prints the table."""
    made = parser(__doc__)
    made.add_argument("--passages", type=int, default=USUAL, metavar="N", help="how many found ones are read")
    made.add_argument("--page-passages", type=int, default=200, metavar="N", help="where a page is cut")
    return run("long_document", command, made.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
