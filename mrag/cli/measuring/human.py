"""The human evaluation of the paper's section 6.2: is what each system put first relevant? Judged blind.

All that the systems found for a question stands in one pool, each passage once, in an order by the seed: nothing that
is shown depends on which system found it. The report comes when all is judged, so that it cannot sway the annotator.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from mrag.adapters.evaluation.judgements import JudgementFile
from mrag.adapters.runs import Rankings
from mrag.cli import output as show
from mrag.cli.measuring import figures
from mrag.cli.measuring.dialogue import Task, hold
from mrag.cli.measuring.figures import Line
from mrag.cli.measuring.pipeline_run import fingerprint
from mrag.cli.measuring.run_passages import check_asked, read_systems, rows_of
from mrag.cli.searches import open_index
from mrag.errors import InputError
from mrag.evaluation.agreement import Judgements, relevance
from mrag.metrics import EvalQuestion, Row

if TYPE_CHECKING:
    from pathlib import Path

    from mrag.cli.measuring.selection import Asked
    from mrag.corpus import Corpus, Passage

Systems = Mapping[str, Rankings]

ASKS = "Can the answer be read from this passage?"


def judge(
    asked: Asked,
    runs: Sequence[Path],
    index: Path | None,
    output: Path,
    annotator: str | None,
    k: int,
    *,
    as_json: bool,
) -> None:
    """Holds the dialogue about the first ``k`` passages of each run, and reports when all of them are judged."""
    systems, seed = read_systems(runs), asked.choice.seed
    with JudgementFile(output, "runs", how(systems, asked.questions, k, seed), annotator) as file:
        whole = hold(task(systems, asked.questions, open_index(index).corpus, k, seed), file)
    if whole:
        annotator = show.on_one_line(file.judged.annotator)
        report(lines(systems, asked.questions, file.judged.judgements, annotator, k, seed), k, as_json=as_json)
    else:
        show.note("the relevance of the systems is told when all is judged")


def task(systems: Systems, questions: Sequence[EvalQuestion], corpus: Corpus, k: int, seed: int) -> Task:
    """The first ``k`` passages of the systems for each question.

    Raises InputError for a system that holds none of the questions, and for passages that the corpus lacks.
    """
    for name, rankings in systems.items():
        check_asked(name, rankings, questions)
    pools = {question.id: pool(systems, question.id, k, seed) for question in questions}
    rows = rows_of(corpus, frozenset(passage for several in pools.values() for passage in several))
    missing = [passage for several in pools.values() for passage in several if passage not in rows]
    if missing:
        raise InputError(
            f"{len(missing):,} of the passages to be judged are not in the index (e.g. {missing[0][:60]!r}):"
            " name the --index of the corpus that the runs were made over"
        )
    return Task(questions, partial(_passages, corpus, rows, pools), ASKS)


def _passages(
    corpus: Corpus, rows: Mapping[str, int], pools: Mapping[str, Sequence[str]], question: EvalQuestion
) -> list[Passage]:
    return [corpus.passage(rows[passage]) for passage in pools[question.id]]


def pool(systems: Systems, question: str, k: int, seed: int) -> list[str]:
    """The first ``k`` passages of all systems for a question, each once, in an order that does not tell whose they are.

    >>> pool({"a": {"q": ("p1", "p2")}, "b": {"q": ("p2", "p3")}}, "q", 1, seed=1)
    ['p2', 'p1']
    """
    found = {passage for rankings in systems.values() for passage in rankings.get(question, ())[:k]}
    return sorted(found, key=lambda passage: _hash(json.dumps([seed, question, passage])))


def how(systems: Systems, questions: Sequence[EvalQuestion], k: int, seed: int) -> dict[str, object]:
    """The questions, what the systems found and how it is drawn, for JudgementFile; names no system."""
    return {"questions": fingerprint(questions), "runs": run_hashes(systems), "k": k, "seed": seed}


def run_hashes(systems: Systems) -> list[str]:
    """What each system found, as a hash; in an order that does not tell which is which."""
    return sorted(_hash(json.dumps(sorted(rankings.items())))[:12] for rankings in systems.values())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --- the report ----------------------------------------------------------------------------------------------


def lines(
    systems: Systems, questions: Sequence[EvalQuestion], judgements: Judgements, annotator: str, k: int, seed: int
) -> list[Line]:
    """The relevance of each system by an annotator, and the differences of each two, as rows of a table."""
    found = relevance(questions, systems, judgements, k, seed=seed)
    if found.left_out:
        out = f"{found.left_out:,} of {len(questions):,} questions"
        show.note(f"note: {out} are in no figure of {annotator}: a passage that decides was skipped")
    measure, n = f"relevant@{k}", len(questions) - found.left_out
    rows = [Line(name, None, Row("annotator", annotator, n, {measure: share})) for name, share in found.shares.items()]
    return rows + [
        Line(ours, theirs, Row("annotator", annotator, n, {measure: difference}))
        for (ours, theirs), difference in found.differences.items()
    ]


def report(table: Sequence[Line], k: int, *, as_json: bool) -> None:
    """The rows on standard output: percent with 95 % intervals, or as `mrag eval --json` has its rows."""
    if as_json:
        for line in table:
            show.write_json(figures.json_row(line))
    else:
        show.write(show.dim(f"share of questions with a relevant passage among the first {k}; percent, 95 % interval"))
        show.write(figures.text(table, [f"relevant@{k}"], show.width()))
