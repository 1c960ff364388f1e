"""The paper's Figures 2 and 6: how much retrieval loses from original to perturbed questions, and who loses less.

python benchmarks/figure2.py QUESTIONS --index DIR [--encoder NAME=MODEL …] [--reranker NAME=MODEL …] [-o RESULTS]
                             [--plot FILE.png]

Only facts that both sides ask for count, so that both sides are about the same. "change" is perturbed minus original;
"loses more than MRAG by" is the difference between the losses of the system and of MRAG, in points. Intervals: 95 %,
from resampling facts, each drawn with its questions of both sides and for both systems at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import paper
from charts import grouped_bars, kind_of, save
from harness import Bench, NotRun, bench, parser, run
from paper import MEASURES
from question_pairs import Pair, Questions
from systems import System, usual
from tables import Cell, Table, json_figures, markdown, signed

from mrag.evaluation.bootstrap import Estimate, Part, combinations
from mrag.metrics import Scores

Sides = tuple[Scores, Scores]
"""The scores of a system on the original and on the perturbed questions."""

Figures = dict[tuple[str, str], Estimate]
"""(system, "original" | "perturbed" | "change" | another system) -> its figure."""

Chart = tuple[Pair, dict[str, Figures]]
"""A pair, and the figures of each measure."""

_HEADLINE = "the paper's Contriever + Gemma, TempRAGEval-SituatedQA over Wikipedia"


def both_sides(bench: Bench, systems: Mapping[str, System], pair: Pair, matched: Pair) -> dict[str, Sides | NotRun]:
    """The scores of the systems on both sides of a pair.

    They run over all questions of a side, as in the other tables, so that these find what is done here.
    """
    before = _matched(bench.scores(systems, pair.names[0], pair.original), matched.original)
    after = _matched(bench.scores(systems, pair.names[1], pair.perturbed), matched.perturbed)
    found: dict[str, Sides | NotRun] = {}
    for label in systems:
        old, new = before[label], after[label]
        found[label] = old if isinstance(old, NotRun) else new if isinstance(new, NotRun) else (old, new)
    return found


def _matched(scores: Mapping[str, Scores | NotRun], wanted: Questions) -> dict[str, Scores | NotRun]:
    """The scores on the wanted questions alone."""
    ids = {question.id for question in wanted}
    return {
        label: one
        if isinstance(one, NotRun)
        else one.at(np.array([row for row, question in enumerate(one.questions) if question.id in ids]))
        for label, one in scores.items()
    }


def figures_of(sides: Mapping[str, Sides], measure: str, seed: int) -> Figures:
    """The figures of a measure, all over the same draws of facts.

    That of a system and another one is the loss of the system over that of the other.
    """
    wanted: dict[str, list[Part]] = {}
    for label, (before, after) in sides.items():
        if measure not in before.values or measure not in after.values:
            continue
        old, new = Part(before.values[measure], before.facts), Part(after.values[measure], after.facts)
        wanted[f"{label}\noriginal"] = [old]
        wanted[f"{label}\nperturbed"] = [new]
        wanted[f"{label}\nchange"] = [new, old._replace(weight=-1.0)]
        for other, (theirs_before, theirs_after) in sides.items():
            if other.startswith("MRAG") and other != label:
                wanted[f"{label}\n{other}"] = [
                    new._replace(values=theirs_after.values[measure] - new.values),
                    old._replace(values=theirs_before.values[measure] - old.values, weight=-1.0),
                ]
    found = combinations(wanted, seed=seed)
    return {(label, what): figure for key, figure in found.items() for label, what in [key.split("\n")]}


def table(
    pair: Pair, sides: Mapping[str, Sides | NotRun], figures: Figures, measure: str
) -> tuple[Table, dict[str, object]]:
    """The table of a measure, and what it says as JSON."""
    rivals = [label for label, found in sides.items() if label.startswith("MRAG") and not isinstance(found, NotRun)]
    rows: list[list[Cell]] = []
    record: dict[str, object] = {}
    for label, found in sides.items():
        if isinstance(found, NotRun):
            rows.append([label, *[None] * (3 + len(rivals)), f"not run: {found.reason}"])
            record[label] = {"not run": found.reason}
            continue
        told = {what: figure for (system, what), figure in figures.items() if system == label}
        shown: list[Cell] = [label, told.get("original"), told.get("perturbed")]
        shown += [signed(told[what]) if what in told else None for what in ("change", *rivals)]
        rows.append(shown)
        record[label] = json_figures(told)
    theirs = paper.FIGURE2["situatedqa"].get(measure)
    if theirs is not None and pair.subset:
        rows.append([_HEADLINE, *theirs, f"{theirs[1] - theirs[0]:+.1f}", *[None] * len(rivals)])
    head = [measure, *pair.names, "change", *(f"loses more than {label} by" for label in rivals)]
    return Table(f"{measure}: {pair.names[0]} → {pair.names[1]}", [], head, rows), record


def draw(charts: Sequence[Chart], path: Path) -> None:
    """A row of panels for each pair, a panel a measure, a bar a side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(MEASURES), 4.2 * len(charts)), layout="constrained")
    panels = figure.subplots(len(charts), len(MEASURES), squeeze=False)
    for axes, (pair, measures) in zip(panels, charts, strict=True):
        for one, (measure, figures) in zip(axes, measures.items(), strict=True):
            labels = list(dict.fromkeys(system for system, _ in figures))
            bars = {
                name: [figures[label, side] for label in labels]
                for name, side in zip(pair.names, ("original", "perturbed"), strict=True)
            }
            grouped_bars(one, measure, labels, bars)
    save(figure, path)


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of the tables."""
    if options.plot is not None:
        kind_of(options.plot)
    opened = bench(options, stack)
    record: list[dict[str, object]] = []
    charts: list[Chart] = []
    for pair in opened.pairs:
        matched = pair.matched()
        if matched is None:
            yield from (f"{pair.names[1]}: not run: no fact is asked for by an original question, too", "")
            continue
        facts = len({question.fact for question in matched.perturbed})
        yield from (f"## Figure 2: {pair.names[0]} → {pair.names[1]}, {opened.title}", "")
        yield (
            f"{len(matched.original):,} {pair.names[0]} and {len(matched.perturbed):,} {pair.names[1]} questions about"
            f" {facts:,} facts that both ask for."
        )
        yield ""
        sides = both_sides(opened, usual(opened.encoders(), opened.rerankers()), pair, matched)
        told: dict[str, object] = {}
        charts.append((pair, {}))
        for measure in MEASURES:
            ran = {label: found for label, found in sides.items() if not isinstance(found, NotRun)}
            charts[-1][1][measure] = figures = figures_of(ran, measure, opened.seed)
            made, told[measure] = table(pair, sides, figures, measure)
            yield from markdown(made)
        record.append({"pair": pair.names, "facts": facts, "measures": told})
    if options.plot is not None and charts:
        draw(charts, options.plot)
    return {"about": opened.title, "pairs": record}


def main(argv: list[str] | None = None) -> int:
    """Prints the tables."""
    made = parser(__doc__)
    made.add_argument("--plot", type=Path, metavar="FILE", help="a chart: .png, .svg or .pdf (needs mrag[plot])")
    return run("figure2", command, made.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
