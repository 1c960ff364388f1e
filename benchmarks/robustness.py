"""How much hangs on the numbers that a user may choose: how many passages are read (k), and the sizes of the stages.

python benchmarks/robustness.py QUESTIONS --index DIR [--encoder NAME=MODEL …] [--reranker NAME=MODEL …] [-o RESULTS]
                                [--plot FILE.png]

First AR@k and ER@k of each system for k up to 100; then MRAG with other numbers of passages from the first stage, of
passages that are looked into, and, where a reranker reads them, of sentences, as differences to its defaults (paired,
in points). Intervals: 95 %, from resampling facts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from charts import kind_of, save
from harness import Bench, NotRun, bench, parser, run
from paper import MEASURES
from question_pairs import Pair
from systems import System, sized, usual
from tables import Cell, Table, json_figures, markdown, signed

from mrag.evaluation.bootstrap import Estimate
from mrag.metrics import Scores, compare, tabulate
from mrag.settings import DEFAULTS

KS = (1, 2, 3, 5, 10, 20, 50, 100)

SIZES: Mapping[str, Sequence[int]] = {
    "first_stage": (100, 300, 3000),
    "passages": (10, 25, 50, 200, 400),
    "sentences": (50, 100, 400, 1000),
}
"""Sizes of the stages beside the defaults. That of sentences plays a part where a reranker reads them, and is all that
is varied there, since a reranker takes its time; words and stored vectors score every sentence."""


def to_k(measure: str, scores: Mapping[str, Scores | NotRun], seed: int) -> tuple[Table, dict[str, object]]:
    """AR@k or ER@k of each system for each k."""
    rows: list[list[Cell]] = []
    record: dict[str, object] = {}
    for label, one in scores.items():
        if isinstance(one, NotRun):
            rows.append([label, *[None] * len(KS), f"not run: {one.reason}"])
            record[label] = {"not run": one.reason}
        else:
            figures = tabulate(one, seed=seed)[0].figures
            shown = {f"{measure}@{k}": figures[f"{measure}@{k}"] for k in KS if f"{measure}@{k}" in figures}
            rows.append([label, *(shown.get(f"{measure}@{k}") for k in KS)])
            record[label] = json_figures(shown)
    return Table(f"{measure}@k", [], [f"{measure}@", *map(str, KS)], rows), record


def variants(system: System) -> dict[str, System]:
    """The system with each size in turn, by "name: value"."""
    found = {}
    for name, values in SIZES.items():
        if (name == "sentences") != (system.reranker is not None):
            continue
        for value in values:
            found[f"{name} {getattr(DEFAULTS, name):,} → {value:,}"] = sized(system, **{name: value})
    return found


def to_sizes(bench: Bench, label: str, system: System, pair: Pair) -> tuple[Table, dict[str, object]]:
    """The defaults, and the differences that other sizes make."""
    found = bench.scores({"defaults": system, **variants(system)}, pair.names[1], pair.perturbed)
    usual_one = found.pop("defaults")
    head = [label, *MEASURES]
    if isinstance(usual_one, NotRun):
        reason = f"not run: {usual_one.reason}"
        return Table(f"Sizes of the stages: {label}", [], head, [["defaults", *[None] * len(MEASURES), reason]]), {
            "not run": usual_one.reason
        }
    figures = tabulate(usual_one, seed=bench.seed)[0].figures
    rows: list[list[Cell]] = [["defaults", *(figures.get(measure) for measure in MEASURES)]]
    record: dict[str, object] = {"defaults": json_figures(figures)}
    for name, one in found.items():
        if isinstance(one, NotRun):
            rows.append([name, *[None] * len(MEASURES), f"not run: {one.reason}"])
            record[name] = {"not run": one.reason}
            continue
        apart = compare(one, usual_one, seed=bench.seed)[0].figures
        rows.append([name, *(signed(apart[measure]) if measure in apart else None for measure in MEASURES)])
        record[name] = json_figures(apart)
    return Table(f"Sizes of the stages: {label}", [], head, rows), record


def draw(charts: Mapping[str, Mapping[str, Mapping[str, Estimate]]], path: Path) -> None:
    """Curves over k, a panel for each set and measure: set -> system -> "AR@1" -> figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4 * len(charts)), layout="constrained")
    panels: Any = figure.subplots(len(charts), 2, squeeze=False)
    for row, (name, systems) in zip(panels, charts.items(), strict=True):
        for axes, measure in zip(row, ("AR", "ER"), strict=True):
            for label, figures in systems.items():
                ends = [figures[f"{measure}@{k}"] for k in KS if f"{measure}@{k}" in figures]
                if ends:
                    axes.plot(KS, [100 * one.value for one in ends], marker=".", label=label)
                    low, high = ([100 * getattr(one, end) for one in ends] for end in ("low", "high"))
                    axes.fill_between(KS, np.nan_to_num(low), np.nan_to_num(high), alpha=0.15)
            axes.set(xscale="log", xticks=KS, xticklabels=KS, xlabel="k", ylabel="percent", ylim=(0, 100))
            axes.set_title(f"{name}: {measure}@k", fontsize="medium", parse_math=False)
            axes.legend(fontsize="small")
    save(figure, path)


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of the tables."""
    if options.plot is not None:
        kind_of(options.plot)
    opened = bench(options, stack)
    systems = usual(opened.encoders(), opened.rerankers())
    record: dict[str, object] = {}
    charts: dict[str, dict[str, dict[str, Estimate]]] = {}
    for pair in opened.pairs:
        name = pair.names[1]
        yield from (f"## Robustness: {name}, {opened.title}", "")
        yield from (f"{len(pair.perturbed):,} questions.", "")
        scores = opened.scores(systems, name, pair.perturbed, KS)
        told: dict[str, object] = {}
        for measure in ("AR", "ER"):
            made, told[f"{measure}@k"] = to_k(measure, scores, opened.seed)
            yield from markdown(made)
        charts[name] = {
            label: tabulate(one, samples=400, seed=opened.seed)[0].figures
            for label, one in scores.items()
            if not isinstance(one, NotRun)
        }
        for label, system in systems.items():
            if label.startswith("MRAG"):
                made, told[f"sizes: {label}"] = to_sizes(opened, label, system, pair)
                yield from markdown(made)
        record[name] = told
    if options.plot is not None:
        draw(charts, options.plot)
    return {"about": opened.title, "sets": record}


def main(argv: list[str] | None = None) -> int:
    """Prints the tables."""
    made = parser(__doc__)
    made.add_argument("--plot", type=Path, metavar="FILE", help="a chart: .png, .svg or .pdf (needs mrag[plot])")
    return run("robustness", command, made.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
