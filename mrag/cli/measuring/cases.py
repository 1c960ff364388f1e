"""A case: a question with the first passages of two systems, scored alike, and who of them is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from mrag.adapters.evaluation.search_rows import is_search, read_search
from mrag.adapters.runs import Rankings
from mrag.cli import output as show
from mrag.cli import searches
from mrag.cli.measuring.marked import carries
from mrag.cli.measuring.run_passages import check_asked, read_systems, rows_of
from mrag.cli.options import read_date
from mrag.columns import Float32, Int64
from mrag.errors import InputError
from mrag.interval import Interval
from mrag.metrics import EvalQuestion
from mrag.pipeline import Evidence
from mrag.question import Question

Won = Literal["first", "second"]

_EVERY_SENTENCE = 1_000_000  # none is left out before it is scored


class Passage(NamedTuple):
    """A passage of a system: its evidence, None where the index lacks it, whether it is gold, and carries an answer.

    ``gold`` is None where the set names none, ``answer`` where it has no answers, or the passage has no text here.
    """

    id: str
    evidence: Evidence | None
    gold: bool | None
    answer: bool | None


@dataclass(frozen=True, slots=True)
class Case:
    """A question with what each of two systems put first."""

    asked: EvalQuestion
    read: Question
    systems: tuple[str, str]
    passages: tuple[tuple[Passage, ...], tuple[Passage, ...]]

    @property
    def different(self) -> bool:
        """Whether they are other passages, or stand in another order."""
        first, second = ([passage.id for passage in several] for several in self.passages)
        return first != second

    def right(self, system: int) -> bool | None:
        """Whether a system has gold, or an answer where no gold is named; None where neither is."""
        several = self.passages[system]
        if self.asked.gold_passages or self.asked.gold_evidence:
            return any(passage.gold for passage in several)
        return any(passage.answer for passage in several) if self.asked.answers else None

    @property
    def won(self) -> Won | None:
        """The system that is right while the other has neither gold nor an answer."""
        nothing = [not any(passage.gold or passage.answer for passage in several) for several in self.passages]
        if self.right(0) and nothing[1]:
            return "first"
        return "second" if self.right(1) and nothing[0] else None


def cases(files: tuple[Path, Path], questions: Sequence[EvalQuestion], search: searches.Search) -> Iterator[Case]:
    """A case for each question, in order; the first ``search.k`` passages of each file.

    Raises InputError for a file of several questions' rows, and for a run that holds none of the questions.
    """
    systems = _systems(files, questions, search.k)
    runs = [system.rankings for system in systems if system.rankings is not None]
    scorer = _Scorer(search, runs, questions) if runs else None
    for question in questions:
        dated = read_date(question.reference) if question.reference else search.reference
        [reading] = searches.read(replace(search, reference=dated), [question.question])
        evidence = {} if scorer is None else scorer(question, reading.question)
        first, second = (_passages(system, question, evidence, search.k) for system in systems)
        yield Case(question, reading.question, (systems[0].name, systems[1].name), (first, second))


class _System(NamedTuple):
    """What a file holds: the rankings of a run, or the evidence of one question."""

    name: str
    rankings: Rankings | None
    evidence: tuple[Evidence, ...] = ()


def _systems(files: tuple[Path, Path], questions: Sequence[EvalQuestion], k: int) -> list[_System]:
    if files[0] == files[1]:
        raise InputError(f"{files[0]}: comes twice: name two runs")
    systems = []
    for path in files:
        if path.is_file() and is_search(path):
            if len(questions) != 1:
                raise InputError(f"{path}: answers one question: name it with --question, not a file of them")
            systems.append(_System(str(path), None, tuple(read_search(path, k))))
        else:
            [(name, rankings)] = read_systems([path]).items()
            check_asked(name, rankings, questions)
            systems.append(_System(name, rankings))
    return systems


class _Scorer:
    """Scores what runs name: their passages as if a first stage had found just these, all equally good."""

    def __init__(self, search: searches.Search, runs: Sequence[Rankings], questions: Sequence[EvalQuestion]) -> None:
        settings = replace(search.settings, passages=2 * search.k, sentences=_EVERY_SENTENCE)
        self._search = replace(search, k=2 * search.k, settings=settings)
        self._opened = searches.open_here(search)
        self._named = {
            question.id: list(dict.fromkeys(name for run in runs for name in run.get(question.id, ())[: search.k]))
            for question in questions
        }
        wanted = frozenset(name for several in self._named.values() for name in several)
        self._rows = rows_of(self._opened.index.corpus, wanted)
        missing = len(wanted) - len(self._rows)
        if missing and not self._rows:
            raise InputError(
                f"none of {missing:,} passages is in the index (e.g. {min(wanted)[:60]!r}): name the --index of the"
                " corpus that the runs were made over"
            )
        if missing:
            show.note(f"note: {missing:,} of {len(wanted):,} passages are not in the index")

    def __call__(self, question: EvalQuestion, read: Question) -> dict[str, Evidence]:
        """The evidence by passage id, for those that the index holds."""
        rows = [self._rows[name] for name in self._named[question.id] if name in self._rows]
        if not rows:
            return {}
        found = self._opened.index.search(
            read,
            self._search.k,
            settings=self._search.settings,
            retriever=_Given(rows),
            encoder=self._opened.encoder,
            scorer=self._opened.scorer,
        )
        return {evidence.passage.id: evidence for evidence in found.evidence}


@dataclass(frozen=True, slots=True)
class _Given:
    """A first stage that finds these rows, whatever it is asked."""

    rows: list[int]

    def __call__(self, queries: Sequence[str], k: int, *, window: Interval | None = None) -> tuple[Int64, Float32]:
        shape = (len(queries), len(self.rows))
        return np.broadcast_to(np.array(self.rows, dtype=np.int64), shape), np.ones(shape, dtype=np.float32)


def _passages(system: _System, question: EvalQuestion, evidence: Mapping[str, Evidence], k: int) -> tuple[Passage, ...]:
    if system.rankings is None:
        return tuple(_passage(one.passage.id, one, question) for one in system.evidence)
    return tuple(_passage(name, evidence.get(name), question) for name in system.rankings.get(question.id, ())[:k])


def _passage(identity: str, evidence: Evidence | None, question: EvalQuestion) -> Passage:
    text = "" if evidence is None else f"{evidence.passage.title} {evidence.passage.text}"
    gold = None
    if question.gold_passages or question.gold_evidence:
        gold = identity in question.gold_passages or carries(text, question.gold_evidence)
    answer = carries(text, question.answers) if question.answers and evidence is not None else None
    return Passage(identity, evidence, gold, answer)
