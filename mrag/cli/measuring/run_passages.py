"""What the systems of some runs found, and the passages that they name, out of an index."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.adapters.evaluation.outputs import read_output
from mrag.adapters.runs import Rankings
from mrag.errors import InputError

if TYPE_CHECKING:
    from mrag.corpus import Corpus
    from mrag.metrics import EvalQuestion


def read_systems(paths: Iterable[Path]) -> dict[str, Rankings]:
    """The rankings of each system by the path of its run (or of the folder of its evaluation), as it was given.

    Raises InputError for a file of answers without rankings, and for a path that comes twice.
    """
    systems: dict[str, Rankings] = {}
    for path in paths:
        if str(path) in systems:
            raise InputError(f"{path}: comes twice: name each run once")
        rankings = read_output(path).rankings
        if rankings is None:
            raise InputError(f"{path}: holds answers, but no rankings: name a run")
        systems[str(path)] = rankings
    return systems


def check_asked(name: str, rankings: Rankings, questions: Sequence[EvalQuestion]) -> None:
    """InputError for a run that holds none of the questions."""
    if not any(question.id in rankings for question in questions):
        theirs, ours = next(iter(rankings)), questions[0].id
        raise InputError(f"{name}: holds none of the questions (it has e.g. {theirs[:60]!r}, the set {ours[:60]!r})")


def rows_of(corpus: Corpus, passages: Collection[str]) -> dict[str, int]:
    """Passage id -> its row, for those that a corpus holds; its ids are read once, none is kept."""
    wanted = {identity.encode("utf-8", "replace"): identity for identity in passages}
    found: dict[str, int] = {}
    for row in range(len(corpus) if wanted else 0):
        identity = wanted.get(corpus.ids.raw(row))
        if identity is not None:
            found[identity] = row
            if len(found) == len(wanted):
                break
    return found
