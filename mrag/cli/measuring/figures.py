"""The figures of an evaluation: of each system in each group, and of differences, as JSON, as text and as Markdown.

A row as JSON (`mrag eval --json` and figures.json); these names are a contract:

| field | what it holds |
|---|---|
| system | "mrag", or the name of a run's file or folder |
| minus | null, or the system that is taken from it: the figures are then means of paired differences |
| by, label | the group: what it is made by (relation, implicit …) and its name there; "" and "all": every question |
| n | its questions |
| figures | for each measure an object: value, low and high, the 95 % interval by fact (shares, not percent; null: |
|  | none, as of a single fact), and n and facts: the questions that it can be judged by, and the facts they ask for |
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from mrag.cli import output as show
from mrag.errors import InputError
from mrag.evaluation.bootstrap import Estimate
from mrag.metrics import Row, Scores, compare, tabulate

Systems = Mapping[str, Scores]

_GAP = "  "


class Line(NamedTuple):
    """A row of a table: the figures of ``system``, or of it ``minus`` another one."""

    system: str
    minus: str | None
    row: Row

    @property
    def name(self) -> str:
        """The system, or the difference, in words."""
        return self.system if self.minus is None else f"{self.system} - {self.minus}"

    @property
    def group(self) -> str:
        """The group in words: "relation before", or "all"."""
        return f"{self.row.by} {self.row.label}".strip()


def lines(systems: Systems, baseline: str | None, by: Sequence[str], seed: int) -> list[Line]:
    """The rows of a table: in each group all systems, and then each of them minus the ``baseline``, one of them.

    Raises InputError where a system has no measure in common with the baseline.
    """
    tables = {(name, ""): tabulate(scores, by, seed=seed) for name, scores in systems.items()}
    for name, scores in systems.items():
        if baseline is not None and name != baseline:
            if not scores.values.keys() & systems[baseline].values.keys():
                raise InputError(f"{name} and {baseline} have no measure in common: rankings cannot meet answers")
            tables[name, baseline] = compare(scores, systems[baseline], by, seed=seed)
    blocks = zip(*tables.values(), strict=True)
    return [
        Line(system, minus or None, row) for block in blocks for (system, minus), row in zip(tables, block, strict=True)
    ]


# --- JSON ----------------------------------------------------------------------------------------------------


def json_row(line: Line) -> dict[str, object]:
    """A row as its JSON object; the module's docstring has the fields."""
    return {
        "system": line.system,
        "minus": line.minus,
        "by": line.row.by,
        "label": line.row.label,
        "n": line.row.n,
        "figures": {measure: _json_figure(figure) for measure, figure in line.row.figures.items()},
    }


def _json_figure(figure: Estimate) -> dict[str, float | int | None]:
    low, high = figure.interval or (None, None)
    return {
        "value": None if math.isnan(figure.value) else figure.value,
        "low": low,
        "high": high,
        "n": figure.n,
        "facts": figure.facts,
    }


# --- tables --------------------------------------------------------------------------------------------------


def measures(systems: Systems) -> list[str]:
    """The measures that a table for people shows: all, but R@k where it is the same as ER@k to the last question."""
    names = dict.fromkeys(name for scores in systems.values() for name in scores.values)
    return [name for name in names if not all(_twice(scores, name) for scores in systems.values())]


def _twice(scores: Scores, name: str) -> bool:
    """Whether a measure is absent, or is R@k and the same as ER@k: every question has one gold passage."""
    column, other = scores.values.get(name), scores.values.get(f"E{name}")
    return column is None or (other is not None and np.array_equal(column, other, equal_nan=True))


def markdown(table: Sequence[Line], shown: Sequence[str]) -> list[str]:
    """The lines of a Markdown table: percent, intervals in brackets."""
    head = ["system", "questions", "n", *shown]
    body = [[line.name, line.group, f"{line.row.n:,}", *(_cell(line, measure) for measure in shown)] for line in table]
    rule = ["---", "---", *("---:" for _ in head[2:])]
    return ["| " + " | ".join(map(_escaped, row)) + " |" for row in (head, rule, *body)]


def _escaped(cell: str) -> str:
    return show.on_one_line(cell).replace("|", "\\|") or "-"


def text(table: Sequence[Line], shown: Sequence[str], width: int) -> str:
    """A table for people of at most ``width`` columns.

    Systems stand side by side, a line a measure, if there are no groups and there is room. Else a row has a line, and
    as many measures as there is room for; those of a family (AR@1, AR@5 …) stay together where they can.
    """
    if all(not line.row.by for line in table):
        upright = _upright(table, shown)
        if len(upright[0]) <= width:
            return "\n".join([show.bold(upright[0]) if len(table) > 1 else upright[0], *upright[1:]])
    names = dict.fromkeys(line.name for line in table)
    groups = ["", *(line.group if line.name == table[0].name else "" for line in table)]
    named = [[""], *([line.name] for line in table)] if len(names) > 1 else [[]] * len(groups)
    words = [[group, *name] for group, name in zip(groups, named, strict=True)]
    left = _aligned(words, [["n"], *([f"{line.row.n:,}"] for line in table)])
    cells = {measure: [measure, *(_cell(line, measure) for line in table)] for measure in shown}
    wide = {measure: max(map(len, column)) + len(_GAP) for measure, column in cells.items()}
    parts = []
    for band in _bands(shown, wide, width - len(left[0])):
        head, *rows = _aligned(
            [[start] for start in left], list(zip(*(cells[measure] for measure in band), strict=True))
        )
        parts.append("\n".join([show.bold(head), *rows]))
    return "\n\n".join(parts)


def _upright(table: Sequence[Line], shown: Sequence[str]) -> list[str]:
    """A line a measure, a column a system."""
    names = [["", *(show.shorten(line.name, 40) for line in table)]] if len(table) > 1 else []
    rows = [*names, *([measure, *(_cell(line, measure) for line in table)] for measure in shown)]
    return _aligned([row[:1] for row in rows], [row[1:] for row in rows])


def _aligned(words: Sequence[Sequence[str]], numbers: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, words to the left of their columns and numbers to the right."""
    left = [max(map(len, column)) for column in zip(*words, strict=True)]
    right = [max(map(len, column)) for column in zip(*numbers, strict=True)]
    return [
        _GAP.join(
            [
                *(cell.ljust(size) for cell, size in zip(row, left, strict=True)),
                *(cell.rjust(size) for cell, size in zip(figures, right, strict=True)),
            ]
        )
        for row, figures in zip(words, numbers, strict=True)
    ]


def _bands(shown: Sequence[str], wide: Mapping[str, int], room: int) -> Iterator[list[str]]:
    """The measures in bands that have room side by side, families whole where one fits."""
    band: list[str] = []
    used = 0
    for _, members in groupby(shown, _family):
        family = list(members)
        if band and used + sum(wide[measure] for measure in family) > room:
            yield band
            band, used = [], 0
        for measure in family:
            if band and used + wide[measure] > room:
                yield band
                band, used = [], 0
            band.append(measure)
            used += wide[measure]
    if band:
        yield band


def _family(measure: str) -> str:
    """What measures stand together by; MRR with nDCG, and EM with F1."""
    name = measure.partition("@")[0]
    return "MRR" if name == "nDCG" else "EM" if name == "F1" else name


def _cell(line: Line, measure: str) -> str:
    """A figure with its interval in percent, with signs where it is a difference; "-" without one.

    Of a single fact there is no interval: its resamples are all the same.
    """
    figure = line.row.figures.get(measure)
    if figure is None or math.isnan(figure.value):
        return "-"
    sign = "" if line.minus is None else "+"
    ends = [f"{100 * end:{sign}.1f}" for end in figure.interval or ()]
    return f"{100 * figure.value:{sign}.1f} [{', '.join(ends) or '–'}]"
