"""What people's judgements say: how far two annotators agree, and how often what a system found is relevant.

A judgement is True (yes), False (no) or None (skipped: the annotator cannot tell), by question id and passage id.
Values are taken together by fact, as in bootstrap.py, since questions about one fact are right and wrong together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations as pairs_of

import numpy as np

from mrag.evaluation.bootstrap import Estimate, Float64, Part, combinations, estimate
from mrag.metrics import EvalQuestion

Pair = tuple[str, str]
"""The ids of a question and of a passage that is judged for it."""

Judgements = Mapping[Pair, bool | None]


# --- two annotators ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two annotators agree on the pairs that both said yes or no to.

    ``raw``: the share on which they said the same, with its bootstrap interval; ``kappa``: Cohen's, which takes off
    what chance would give, with its jackknife interval, NaN where neither ever said the one or the other.
    ``table``: the counts yes-yes, yes-no, no-yes, no-no, the first annotator's word first. ``disagreements`` in the
    order of the first annotator; ``skipped``: pairs that one of them skipped; ``alone``: pairs that only one judged.
    """

    raw: Estimate
    kappa: Estimate
    table: tuple[int, int, int, int]
    disagreements: tuple[Pair, ...]
    skipped: int
    alone: int


def agreement(first: Judgements, second: Judgements, facts: Mapping[str, str] | None = None) -> Agreement:
    """The agreement of two annotators; ``facts``: the fact of each question, the question itself if it is not there.

    >>> ida = {("q1", "a"): True, ("q1", "b"): False, ("q2", "c"): False, ("q2", "d"): None}
    >>> odd = {("q1", "a"): True, ("q1", "b"): False, ("q2", "c"): True, ("q2", "d"): True, ("q3", "e"): True}
    >>> found = agreement(ida, odd)
    >>> round(found.raw.value, 3), round(found.kappa.value, 3), found.disagreements, found.skipped, found.alone
    (0.667, 0.4, (('q2', 'c'),), 1, 1)
    """
    shared = [pair for pair in first if pair in second]
    decided = [pair for pair in shared if first[pair] is not None and second[pair] is not None]
    about = [(facts or {}).get(question, question) for question, _ in decided]
    cells = [(0 if first[pair] else 2) + (0 if second[pair] else 1) for pair in decided]
    tables: dict[str, list[int]] = {fact: [0] * 4 for fact in about}
    for fact, cell in zip(about, cells, strict=True):
        tables[fact][cell] += 1
    return Agreement(
        raw=estimate(np.array([cell in (0, 3) for cell in cells], dtype=np.float64), about),
        kappa=_kappa(list(tables.values())),
        table=(cells.count(0), cells.count(1), cells.count(2), cells.count(3)),
        disagreements=tuple(pair for pair, cell in zip(decided, cells, strict=True) if cell in (1, 2)),
        skipped=len(shared) - len(decided),
        alone=len(first) + len(second) - 2 * len(shared),
    )


def cohens_kappa(table: Sequence[int]) -> float:
    """Cohen's kappa of the counts yes-yes, yes-no, no-yes, no-no; NaN where one word alone was ever said.

    >>> round(cohens_kappa([20, 5, 10, 15]), 6)
    0.4
    """
    both, ours, theirs, neither = table
    most = (both + ours) * (ours + neither) + (both + theirs) * (theirs + neither)
    return 2 * (both * neither - ours * theirs) / most if most else math.nan


def _kappa(tables: Sequence[Sequence[int]]) -> Estimate:
    """Kappa over the tables of all facts; its interval from leaving out each fact once (the jackknife)."""
    whole = [sum(column) for column in zip(*tables, strict=True)] or [0] * 4
    value, m = cohens_kappa(whole), len(tables)
    without = [cohens_kappa([all_ - one for all_, one in zip(whole, table, strict=True)]) for table in tables]
    low = high = math.nan
    if m > 1 and not any(map(math.isnan, without)):
        mean = math.fsum(without) / m
        error = math.sqrt((m - 1) / m * math.fsum((other - mean) ** 2 for other in without))
        low, high = max(-1.0, value - 1.96 * error), min(1.0, value + 1.96 * error)
    return Estimate(value, low, high, sum(whole), m)


def both(first: Judgements, second: Judgements) -> dict[Pair, bool | None]:
    """The judgements of two annotators as one: yes where both say yes, no where one says no, else None.

    Pairs that only one of them judged are left out.
    """
    said = {pair: (first[pair], second[pair]) for pair in first if pair in second}
    return {pair: False if False in words else None if None in words else True for pair, words in said.items()}


# --- systems -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Relevance:
    """For how many questions a system's first passages hold a relevant one, as people judged them.

    ``shares`` by system, and ``differences`` by two systems, the first minus the second, paired by question; over the
    same questions for all, those that are judged for every system. ``left_out``: how many are not.
    """

    shares: Mapping[str, Estimate]
    differences: Mapping[tuple[str, str], Estimate]
    left_out: int


def relevance(
    questions: Sequence[EvalQuestion],
    systems: Mapping[str, Mapping[str, Sequence[str]]],
    judgements: Judgements,
    k: int = 1,
    *,
    seed: int = 0,
) -> Relevance:
    """The relevance of systems (name -> question id -> passage ids, best first) by their first ``k`` passages.

    A question counts 1 where one of them is judged relevant, 0 where all are judged not to be, or none was found.
    """
    values = {
        name: np.array([_value(question.id, rankings.get(question.id, ())[:k], judgements) for question in questions])
        for name, rankings in systems.items()
    }
    open_ = np.zeros(len(questions), dtype=np.bool_)
    for column in values.values():
        open_ |= np.isnan(column)
    judged: dict[str, Float64] = {name: np.where(open_, np.nan, column) for name, column in values.items()}
    facts = [question.fact for question in questions]
    parts = [[Part(column, facts)] for column in judged.values()]
    against = list(pairs_of(judged, 2))
    parts += [[Part(judged[a] - judged[b], facts)] for a, b in against]
    figures = list(combinations({str(number): part for number, part in enumerate(parts)}, seed=seed).values())
    return Relevance(
        dict(zip(judged, figures, strict=False)),
        dict(zip(against, figures[len(judged) :], strict=True)),
        int(open_.sum()),
    )


def _value(question: str, passages: Sequence[str], judgements: Judgements) -> float:
    """1.0, 0.0, or NaN where a passage that could make it 1 is not judged."""
    words = [judgements.get((question, passage)) for passage in passages]
    return 1.0 if True in words else math.nan if None in words else 0.0
