"""Annotating gold evidence, the paper's section 3.2: a search proposes, a person keeps two passages at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.adapters.evaluation.judgements import JudgementFile
from mrag.cli import output as show
from mrag.cli import searches
from mrag.cli.llm import connected
from mrag.cli.measuring import pipeline_run
from mrag.cli.measuring.dialogue import Task, hold
from mrag.cli.options import read_date
from mrag.settings import Settings

if TYPE_CHECKING:
    from mrag.adapters.evaluation.judgements import Judged
    from mrag.cli.measuring.selection import Asked
    from mrag.corpus import Passage
    from mrag.metrics import EvalQuestion
    from mrag.strategies import LanguageModel

MOST_GOLD = 2
"""Gold passages of a question."""

ASKS = "Can the answer be read from this passage?"

_NOT_ASKED_FOR = {"mrag", "answer", *(field.name for field in fields(Settings))} - {"temporal", "profile"}
"""What else decides what a search finds: the version of mrag and its defaults."""


def judge(
    asked: Asked, search: searches.Search, output: Path, annotator: str | None, write: Path | None, *, as_json: bool
) -> None:
    """Holds the dialogue about the passages that the search finds for each question, and reports.

    ``write``: where the questions that are done go, with their gold.
    """
    with (
        connected(search.llm) as model,
        JudgementFile(output, "evidence", how(search, asked.questions, model), annotator) as file,
    ):
        found = _Proposals(search, searches.open_here(search, model), model)
        hold(Task(asked.questions, found.for_question, ASKS, MOST_GOLD, found.by), file)
    report(file.judged, asked.questions, as_json=as_json)
    if write is not None:
        done = [question.id for question in asked.questions if is_done(file.judged, question.id)]
        write_gold(write, asked.questions, {name: list(file.judged.yes.get(name, ())) for name in done})


@dataclass(frozen=True, slots=True)
class _Proposals:
    search: searches.Search
    opened: searches.Opened
    model: LanguageModel | None

    def for_question(self, question: EvalQuestion) -> list[Passage]:
        """The passages that are proposed for a question."""
        return self.by(question, question.question)

    def by(self, question: EvalQuestion, words: str) -> list[Passage]:
        """The passages that some words find on the day of a question, best first."""
        search = self.search
        if question.reference:
            search = replace(search, reference=read_date(question.reference))
        asked = [reading.question for reading in searches.read(search, [words], self.model)]
        [ranking] = searches.rankings(search, self.opened, asked)
        return [evidence.passage for evidence in ranking.evidence]


def how(search: searches.Search, questions: Sequence[EvalQuestion], model: LanguageModel | None) -> dict[str, object]:
    """The questions, and what was asked for to find the passages that are proposed, for JudgementFile.

    The version of mrag and its defaults are no part of it: what a person has judged holds with every one.
    """
    told = pipeline_run.how(pipeline_run.Pipeline(search), questions, model)
    return {name: value for name, value in told.items() if value is not None and name not in _NOT_ASKED_FOR}


# --- what came of it -----------------------------------------------------------------------------------------


def report(judged: Judged, questions: Sequence[EvalQuestion], *, as_json: bool) -> None:
    """How many questions are done and how many gold passages they have, on standard output."""
    done = [question for question in questions if is_done(judged, question.id)]
    golds = [len(judged.yes.get(question.id, ())) for question in done]
    words = list(judged.judgements.values())
    row = {
        "annotator": judged.annotator,
        "questions": len(questions),
        "done": len(done),
        "gold": {str(count): golds.count(count) for count in range(MOST_GOLD + 1)},
        "judged": {"yes": words.count(True), "no": words.count(False), "skip": words.count(None)},
    }
    if as_json:
        show.write_json(row)
        return
    with_gold = ", ".join(f"{golds.count(count):,} with {count or 'no'} gold" for count in range(MOST_GOLD, -1, -1))
    said = f"{words.count(True):,} yes, {words.count(False):,} no, {words.count(None):,} skipped"
    rows = [
        ("annotator", show.on_one_line(judged.annotator)),
        ("questions", f"{len(done):,} of {len(questions):,} done ({with_gold})"),
        ("passages", said),
    ]
    show.write(show.fields(rows))


def is_done(judged: Judged, question: str) -> bool:
    """Whether an annotator has nothing left to judge for a question."""
    full = judged.about == "evidence" and len(judged.yes.get(question, ())) >= MOST_GOLD
    return full or question in judged.done


def write_gold(path: Path, questions: Iterable[EvalQuestion], gold: Mapping[str, Sequence[str]]) -> None:
    """Writes the questions that ``gold`` names, each with its gold passages in the place of all gold that it had."""
    from mrag.adapters.evaluation.question_files import write_question_set

    kept = [
        replace(question, gold_passages=tuple(gold[question.id]), gold_evidence=(), grades={})
        for question in questions
        if question.id in gold
    ]
    if not kept:
        show.note(f"{path} is not written: no question is done yet")
        return
    write_question_set(path, kept)
    bare = sum(not question.gold_passages for question in kept)
    without = f", {bare:,} of them without gold" if bare else ""
    show.note(f"wrote {path}: {len(kept):,} questions{without}")
