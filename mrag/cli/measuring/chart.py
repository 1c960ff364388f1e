"""The figures of an evaluation as a chart: original against perturbed questions (the paper's Figures 2 and 6), and AR@k
and ER@k in each relation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mrag.cli import output as show
from mrag.cli.measuring.figures import Systems
from mrag.errors import InputError, MissingExtraError
from mrag.metrics import Row, Scores, tabulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("png", "svg", "pdf")

_COMPARED = ("AR@1", "AR@5", "AR@20", "ER@1", "ER@5", "ER@20")
_BY_RELATION = ("AR@1", "AR@5", "ER@1", "ER@5")
_PAIR = ("original", "perturbed")


def kind_of(path: Path) -> str:
    """The kind of picture that a file's name asks for; InputError for another, MissingExtraError without matplotlib."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise InputError(f"{path}: a chart is written as {', '.join(f'.{kind}' for kind in KINDS)}")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError("drawing a chart needs matplotlib: pip install 'mrag[plot]'") from None
    return kind


def draw(systems: Systems, path: Path, seed: int) -> None:
    """Draws a row of panels for each system, bars with their intervals; errors as of kind_of, and of the disk.

    Raises InputError where no system has rankings.
    """
    kind = kind_of(path)
    from matplotlib.figure import Figure

    ranked = {name: scores for name, scores in systems.items() if set(_COMPARED) & scores.values.keys()}
    if not ranked:
        raise InputError("a chart shows AR@k and ER@k, and there are none: answers alone have no rankings")
    tables = {name: tabulate(scores, ("exact", "relation"), seed=seed) for name, scores in ranked.items()}
    paired = all(_of(rows, "exact", _PAIR) for rows in tables.values())
    relations = len(_of(next(iter(tables.values())), "relation"))
    width = max(7.0, 0.9 * relations + 2)
    figure = Figure(figsize=(width + 5 * paired, 3.6 * len(ranked)), layout="constrained")
    panels = figure.subplots(len(ranked), 1 + paired, squeeze=False, width_ratios=[5, width] if paired else [1])
    for (name, scores), axes in zip(ranked.items(), panels, strict=True):
        if paired:
            _original_against_perturbed(axes[0], name, tables[name], scores)
        _by_relation(axes[-1], name, tables[name], scores)
    try:
        figure.savefig(path, dpi=150, format=kind)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _of(rows: Sequence[Row], by: str, labels: Sequence[str] = ()) -> list[Row]:
    """The rows of a grouping, or those of some of its labels in their order, () if one is not there."""
    found = {row.label: row for row in rows if row.by == by}
    if not labels:
        return list(found.values())
    return [found[label] for label in labels] if all(label in found for label in labels) else []


def _original_against_perturbed(axes: Axes, name: str, rows: Sequence[Row], scores: Scores) -> None:
    """A group of bars a measure, a bar a kind of question."""
    shown = [measure for measure in _COMPARED if measure in scores.values]
    pair = _of(rows, "exact", _PAIR)
    bars = {f"{row.label} ({row.n:,})": [row.figures[measure] for measure in shown] for row in pair}
    _grouped_bars(axes, f"{name}: original and perturbed dates", shown, bars)


def _by_relation(axes: Axes, name: str, rows: Sequence[Row], scores: Scores) -> None:
    """A group of bars a relation, a bar a measure."""
    groups = _of(rows, "relation")
    shown = [measure for measure in _BY_RELATION if measure in scores.values]
    bars = {measure: [row.figures[measure] for row in groups] for measure in shown}
    labels = [f"{show.shorten(row.label, 14)}\n{row.n:,}" for row in groups]
    _grouped_bars(axes, f"{name}: relations, and the questions of each", labels, bars)


def _grouped_bars(axes: Axes, title: str, labels: Sequence[str], bars: dict[str, list[Any]]) -> None:
    """Bars of Estimates side by side over each label, with the whiskers of their intervals; a legend names them."""
    places = np.arange(len(labels))
    size = 0.8 / max(len(bars), 1)
    for number, (name, figures) in enumerate(bars.items()):
        ends = 100 * np.array([[figure.value, figure.low, figure.high] for figure in figures]).reshape(-1, 3)
        value, low, high = np.nan_to_num(ends.T)
        whiskers = np.maximum([value - low, high - value], 0)
        at = places + size * (number - (len(bars) - 1) / 2)
        axes.bar(at, value, size, yerr=whiskers, label=name, error_kw={"elinewidth": 0.8, "capsize": 1.5})
    axes.set_xticks(places, labels, fontsize="small", parse_math=False)
    axes.set(ylabel="percent", ylim=(0, 118), yticks=range(0, 101, 20))  # room for the legend
    axes.set_title(title, fontsize="medium", parse_math=False)
    axes.legend(fontsize="small", ncols=len(bars), loc="upper right")
