"""The paper's Table 4: what a question set holds: how many questions, how long, and how well known what they ask about.

python benchmarks/table4.py QUESTIONS [--tokenizer tokenizer.json] [--page-views FILE.csv] [--index DIR] [-o RESULTS]

--tokenizer: a tokenizer.json; the paper counts the tokens of GPT-2's. --page-views: a CSV with a column "views" (page
views a month) and a column "id", of a question or of its fact, or "title", of a page: a question is then about the page
that its gold passage in --index belongs to. Without them their rows say "not run".
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean

import paper
from harness import run
from question_pairs import Pair, Questions, read_pairs
from tables import Cell, Table, markdown

from mrag.adapters.models.tokens import load_tokeniser
from mrag.adapters.store import Index
from mrag.errors import InputError
from mrag.metrics import EvalQuestion

_MOST_VIEWS = 10**12


def token_counter(path: Path) -> Callable[[str], int]:
    """How many tokens a text has, without those that a model wants around it."""
    tokenizer = load_tokeniser(path).tokenizer
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def read_views(path: Path) -> dict[str, float]:
    """Page views a month by question id, fact or title; InputError with the line for what is no such file."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            name = next((column for column in ("id", "title") if column in (rows.fieldnames or ())), None)
            if name is None or "views" not in (rows.fieldnames or ()):
                raise InputError(f'{path}: no columns "views" and "id" or "title" (columns: {rows.fieldnames})')
            return {row[name]: _views(row["views"], f"{path}:{rows.line_num}") for row in rows}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


def _views(text: str | None, place: str) -> float:
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        value = -1.0
    if not 0 <= value <= _MOST_VIEWS:
        raise InputError(f"{place}: {text!r} is no number of views")
    return value


def pages(questions: Questions, index: Index | None) -> dict[str, str]:
    """Question id -> the title of its gold passage, for those whose gold passage the index holds."""
    wanted = {question.gold_passages[0]: "" for question in questions if question.gold_passages}
    corpus = None if index is None else index.corpus
    for row in range(0 if corpus is None or not wanted else len(corpus)):
        if corpus is not None and (identity := corpus.ids[row]) in wanted:
            wanted[identity] = corpus.titles[row]
    return {q.id: wanted[q.gold_passages[0]] for q in questions if q.gold_passages and wanted[q.gold_passages[0]]}


def popularity(questions: Questions, views: Mapping[str, float], titles: Mapping[str, str]) -> tuple[float, int]:
    """The mean views of what is asked about, and over how many questions."""
    found = [views[key] for question in questions if (key := _known(question, views, titles)) is not None]
    return (fmean(found) if found else float("nan")), len(found)


def _known(question: EvalQuestion, views: Mapping[str, float], titles: Mapping[str, str]) -> str | None:
    keys = (question.id, question.fact, titles.get(question.id, ""))
    spelt = (key for name in keys for key in (name, name.replace(" ", "_"), name.replace("_", " ")))
    return next((key for key in spelt if key and key in views), None)


def column(pair: Pair, options: argparse.Namespace, views: Mapping[str, float] | None) -> dict[str, float | str]:
    """The statistics of a pair; a text where one was not run."""
    questions = (*pair.original, *pair.perturbed)
    told: dict[str, float | str] = {
        f"# {pair.names[0]} questions": len(pair.original),
        f"# {pair.names[1]} questions": len(pair.perturbed),
        "# total questions": len(questions),
        "# facts": len({question.fact for question in questions}),
        "# with gold passages or sentences": sum(bool(q.gold_passages or q.gold_evidence) for q in questions),
        "words a question": fmean(len(question.question.split()) for question in questions),
    }
    tokens, known = "tokens a question", "page views a month of what is asked about"
    if options.tokenizer is None:
        told[tokens] = "not run: needs --tokenizer tokenizer.json"
    else:
        count = token_counter(options.tokenizer)
        told[tokens] = fmean(count(question.question) for question in questions)
    if views is None:
        told[known] = "not run: needs --page-views FILE.csv"
        return told
    index = None if options.index is None else Index.open(options.index)
    mean, n = popularity(questions, views, pages(questions, index))
    told[known] = mean if n else "not run: no question is in the page views by id, fact or title (--index DIR)"
    told["# questions with page views"] = n
    return told


def theirs(name: str, pair: Pair) -> float | None:
    """The paper's figure for a row."""
    found = paper.TABLE4.get(pair.subset, {})
    if name.startswith("# total"):
        return found.get("total")
    first, second = pair.names
    parts = {"tokens": "tokens", "page": "popularity", f"# {first}": "original", f"# {second}": "perturbed"}
    return next((found.get(key) for start, key in parts.items() if name.startswith(start)), None)


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of the table."""
    views = None if options.page_views is None else read_views(options.page_views)
    sets = []
    yield from (f"## Table 4: {options.questions.name}", "")
    for pair in read_pairs(options.questions):
        found = column(pair, options, views)
        rows: list[list[Cell]] = []
        for name, value in found.items():
            other = theirs(name, pair)
            shown = value if isinstance(value, str) else _number(value)
            rows.append([name, shown, "-" if other is None else _number(other)])
        note = (
            f"The paper's are of TempRAGEval's {pair.subset} questions, tokens by GPT-2's tokenizer."
            if pair.subset
            else "The paper has no such questions."
        )
        yield from markdown(Table(" and ".join(pair.names), [note], ["", "here", "paper"], rows))
        sets.append({"questions": pair.names, "subset": pair.subset, "figures": found})
    return {"about": options.questions.name, "sets": sets}


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def main(argv: list[str] | None = None) -> int:
    """Prints the table."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("questions", type=Path, help="a question set, or a folder of them: see question_pairs.py")
    made.add_argument("--tokenizer", type=Path, metavar="FILE", help="a tokenizer.json, such as that of GPT-2")
    made.add_argument("--page-views", type=Path, metavar="FILE", help="a CSV of page views a month")
    made.add_argument("--index", type=Path, metavar="DIR", help="an index with the gold passages, for their titles")
    made.add_argument("-o", "--output", type=Path, metavar="RESULTS", help="a folder for table4.md and table4.json")
    return run("table4", command, made.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
