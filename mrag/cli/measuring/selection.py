"""The questions of a set that are evaluated: read, and chosen by --only and --sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mrag.cli import output as show
from mrag.errors import InputError
from mrag.metrics import GROUPINGS, EvalQuestion, described

Condition = tuple[str, str]

_EXACT = {"1": "original", "true": "original", "0": "perturbed", "false": "perturbed"}
_MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class Choice:
    """Which questions of which set: the conditions of --only, how many of --sample, drawn by ``seed``."""

    path: Path
    only: tuple[Condition, ...] = ()
    sample: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions that are evaluated, and of how many of their set, in which ``format``, why none came of them."""

    choice: Choice
    format: str
    questions: tuple[EvalQuestion, ...]
    left_out: Mapping[str, int]

    @property
    def facts(self) -> int:
        """How many facts they ask for."""
        return len({question.fact for question in self.questions})


def asked(choice: Choice, *, split: str | None, qrels: Path | None, timeless: bool) -> Asked:
    """The questions of the choice; what is left out of the set is said on standard error. Errors of both."""
    from mrag.adapters.question_sets import read_question_set

    found = read_question_set(choice.path, split=split, qrels=qrels, timeless=timeless)
    for reason, count in found.left_out.items():
        show.note(f"note: {count:,} questions are left out: {reason}")
    questions = chosen(list(map(described, found.questions)), choice.only, choice.sample, choice.seed)
    return Asked(choice, found.format, questions, found.left_out)


def chosen(
    questions: Sequence[EvalQuestion], only: Sequence[Condition] = (), sample: int | None = None, seed: int = 0
) -> tuple[EvalQuestion, ...]:
    """The questions that meet the conditions, and of these a sample by the seed, in the order of the set.

    Of several conditions on one name one must hold, of those on several names all. A smaller sample is a part of every
    larger one. Raises InputError for a name that no question has, and for conditions that none meets.
    """
    kept = list(questions)
    for name in dict.fromkeys(name for name, _ in only):
        wanted = {_value(name, value) for other, value in only if other == name}
        labels = {question.id: _label(question, name) for question in kept}
        there = sorted({label for label in labels.values() if label is not None})
        kept = [question for question in kept if (labels[question.id] or "").lower() in wanted]
        if not kept:
            listed = ", ".join(there[:_MOST_LISTED]) + (", …" if len(there) > _MOST_LISTED else "")
            what = f"its values are {listed}" if there else f"there is no such field: take {', '.join(GROUPINGS)}"
            raise InputError(f"--only {name}={' or '.join(sorted(wanted))} leaves no question: {what}")
    if sample is not None and sample < len(kept):
        drawn = sorted(range(len(kept)), key=lambda row: _lot(seed, kept[row].id))[:sample]
        kept = [kept[row] for row in sorted(drawn)]
    return tuple(kept)


def _value(name: str, value: str) -> str:
    value = value.lower()
    return _EXACT.get(value, value) if name == "exact" else value


def _label(question: EvalQuestion, name: str) -> str | None:
    """What a question is by a name: that of a grouping, or of another field of its set; None where it has none."""
    if name in GROUPINGS:
        return GROUPINGS[name](question)
    return str(question.extra[name]) if name in question.extra else None


def _lot(seed: int, identity: str) -> bytes:
    return sha256(f"{seed}\n{identity}".encode("utf-8", "surrogatepass")).digest()
