"""The questions that a table is about: perturbed ones, beside the original ones about the same facts where there are.

| what is given | pairs |
|---|---|
| a folder with a file that ends in ``perturbed.jsonl`` | its ``exact`` rows: original and perturbed |
| … and two that end in ``easy.jsonl`` and ``hard.jsonl`` | easy and hard |
| a question set with several sources (TempRAGEval) | original and perturbed of each source |
| a question set that does not mark ``exact`` | all its questions, beside none |
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mrag.adapters.question_sets import read_question_set
from mrag.errors import InputError
from mrag.metrics import EvalQuestion

Questions = tuple[EvalQuestion, ...]

_ENDINGS = {"": "perturbed.jsonl", "easy": "easy.jsonl", "hard": "hard.jsonl"}
_SUBSETS = ("timeqa", "situatedqa")


@dataclass(frozen=True, slots=True)
class Pair:
    """Questions and the harder ones about the same facts; a table is about the harder ones where it is about one side.

    ``names`` of both sides; ``subset``: the part of TempRAGEval whose figures in the paper stand beside, "" for none.
    """

    names: tuple[str, str]
    original: Questions
    perturbed: Questions
    subset: str = ""

    def both(self) -> tuple[str, Questions]:
        """All questions of one data set, original and perturbed, under their names; of easy and hard ones the hard."""
        if not self.subset:
            return self.names[1], self.perturbed
        return " and ".join(self.names), (*self.original, *self.perturbed)

    def matched(self) -> Pair | None:
        """The questions about facts that both sides ask for; None where there are none."""
        facts = {question.fact for question in self.original} & {question.fact for question in self.perturbed}
        if not facts:
            return None
        return self.about(facts)

    def about(self, facts: Container[str]) -> Pair:
        """The questions about some facts."""
        original, perturbed = (tuple(q for q in side if q.fact in facts) for side in (self.original, self.perturbed))
        return Pair(self.names, original, perturbed, self.subset)


def read_pairs(path: Path, sample: int | None = None, seed: int = 0) -> list[Pair]:
    """The pairs of what is given, the table above says how; of a ``sample`` only those about so many facts.

    Raises InputError for what holds no questions.
    """
    found = _of_folder(path) if path.is_dir() and not (path / "queries.jsonl").is_file() else _of_set(path)
    return found if sample is None else [_sampled(pair, sample, seed) for pair in found]


def _of_folder(folder: Path) -> list[Pair]:
    files: dict[str, Path] = {}
    for name, ending in _ENDINGS.items():
        there = sorted(folder.glob(f"*{ending}"))
        if len(there) > 1:
            raise InputError(f"{folder}: several files end in {ending}: name the file of questions itself")
        files |= dict.fromkeys([name], *there[:1]) if there else {}
    found = _of_set(files[""]) if "" in files else []
    if "easy" in files and "hard" in files:
        easy, hard = (read_question_set(files[name]).questions for name in ("easy", "hard"))
        found.append(Pair(("easy", "hard"), easy, hard))
    if not found:
        raise InputError(f"{folder}: no file ends in perturbed.jsonl, and no two in easy.jsonl and hard.jsonl")
    return found


def _of_set(path: Path) -> list[Pair]:
    questions = read_question_set(path).questions
    sources = list(dict.fromkeys(question.source for question in questions))
    titles = {source: (source or path.stem) if len(sources) > 1 else "" for source in sources}
    return [_of_source([q for q in questions if q.source == source], titles[source], path.stem) for source in sources]


def _of_source(questions: Sequence[EvalQuestion], title: str, stem: str) -> Pair:
    """The pair of a source, under a title where there are several.

    Beside a contrast set of another kind stand the figures of TempRAGEval-TimeQA, whose questions are the likest.
    """
    original = tuple(question for question in questions if question.exact is True)
    perturbed = tuple(question for question in questions if question.exact is not True)
    marked = any(question.exact is not None for question in questions)
    before = f"{title} " if title else ""
    names = (f"{before}original", f"{before}perturbed") if marked else (f"{before}original", title or stem)
    source = questions[0].source
    subset = source if source in _SUBSETS else "timeqa" if marked else ""
    return Pair(names, original, perturbed, subset)


def _sampled(pair: Pair, size: int, seed: int) -> Pair:
    """The questions about ``size`` facts, of those that both sides ask for where there are some."""
    facts = _facts((pair.matched() or pair).perturbed)
    return pair.about(sorted(facts, key=lambda fact: hashlib.sha256(f"{seed}\n{fact}".encode()).digest())[:size])


def _facts(questions: Iterable[EvalQuestion]) -> list[str]:
    return list(dict.fromkeys(question.fact for question in questions))
