"""The paper's Figure 7: the temporal score over the date of a sentence, for each kind of constraint, and ours beside.

python benchmarks/figure7.py [QUESTION …] [-o RESULTS] [--plot FILE.png]

The paper's six kinds by default, or any questions. "paper" is its profile, "interval" ours, both for a sentence that
holds this year alone, as the time of an event. Nothing but the questions is needed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from charts import kind_of, save
from harness import run
from tables import Cell, Table, markdown

from mrag.cli.curve import Curve, curve
from mrag.interval import civil, period
from mrag.question import parse

QUESTIONS = (
    "Who was the last to win the cup before 1981?",
    "Who was the last to win the cup after 1981?",
    "Who was the last to win the cup between 1970 and 1990?",
    "Who was the first to win the cup before 1981?",
    "Who was the first to win the cup after 1981?",
    "Who was the first to win the cup between 1970 and 1990?",
)
"""A question of each kind that the paper has a function for."""

FIRST, LAST, _STEP = 1921, 2041, 10


def title_of(question: str) -> str:
    """The constraint in words, as the paper titles its panels: "last - before - 1981"."""
    constraint = parse(question).constraint
    if constraint is None or constraint.relation is None:
        return question
    parts = [constraint.implicit, constraint.relation, str(constraint.interval).strip(".")]
    return " - ".join(part for part in parts if part)


def table(question: str, points: Curve) -> Table:
    """The scores of some years of a curve."""
    years = [civil(date.start)[0] for date in points.dates]
    at = [years.index(year) for year in range(FIRST, LAST + 1, _STEP)]
    paper: list[Cell] = ["paper", *(None if points.paper is None else f"{points.paper[i]:.2f}" for i in at)]
    ours: list[Cell] = ["interval", *(f"{points.interval[i]:.2f}" for i in at)]
    return Table(title_of(question), [], ["profile", *(str(years[i]) for i in at)], [paper, ours])


def draw(curves: Mapping[str, Curve], path: Path) -> None:
    """A panel for each question, a curve a profile."""
    from matplotlib.figure import Figure

    columns = min(3, len(curves))
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(4.2 * columns, 3 * rows), layout="constrained")
    panels: Any = figure.subplots(rows, columns, squeeze=False)
    for axes, (question, points) in zip(panels.flat, curves.items(), strict=False):
        years = [civil(date.start)[0] for date in points.dates]
        if points.paper is not None:
            axes.plot(years, points.paper, linestyle="--", label="paper")
        axes.plot(years, points.interval, label="interval")
        axes.set(ylim=(0, 1.05))
        axes.set_title(title_of(question), fontsize="medium", parse_math=False)
        axes.legend(fontsize="small")
    for axes in panels.flat[len(curves) :]:
        axes.set_visible(False)
    save(figure, path)


def points_of(questions: Sequence[str]) -> dict[str, Curve]:
    """The curve of each question by years; InputError for a question that names no time."""
    return {text: curve(parse(text).constraint, period(FIRST), period(LAST)) for text in questions}


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of the tables."""
    if options.plot is not None:
        kind_of(options.plot)
    curves = points_of(options.questions or QUESTIONS)
    yield from ("## Figure 7: the temporal score over the date of a sentence", "")
    for question, points in curves.items():
        yield from markdown(table(question, points))
    if options.plot is not None:
        draw(curves, options.plot)
    return {
        "curves": [
            {
                "question": question,
                "years": [civil(date.start)[0] for date in points.dates],
                "interval": [round(float(value), 4) for value in points.interval],
                "paper": None if points.paper is None else [round(float(value), 4) for value in points.paper],
            }
            for question, points in curves.items()
        ]
    }


def main(argv: list[str] | None = None) -> int:
    """Prints the tables."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("questions", nargs="*", metavar="QUESTION")
    made.add_argument("-o", "--output", type=Path, metavar="RESULTS", help="a folder for figure7.md and figure7.json")
    made.add_argument("--plot", type=Path, metavar="FILE", help="a chart: .png, .svg or .pdf (needs mrag[plot])")
    return run("figure7", command, made.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
