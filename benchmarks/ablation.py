"""The paper's section 6.1: each stage left out, each size varied, and what each constant is worth.

python benchmarks/ablation.py QUESTIONS --index DIR [--encoder NAME=MODEL] [--reranker NAME=MODEL]
                              [--only stages|sizes|constants] [-o RESULTS]

Without models words alone are ablated (ablation-words.md in RESULTS), with an encoder its vectors, over the hybrid
first stage, and with a reranker what it reads. The pages are halved by a hash of their title (A, B), so that a gain on
one half can be seen to hold on the other. A and B are the target, in points: .4 AR@1 + .4 ER@1 + .1 AR@5 + .1 ER@5, of
a folder with perturbed and hard questions .7 of the one + .3 of the other, else the mean over the sets. All rows but
the first are differences to the defaults, paired, with 95 % intervals from resampling facts.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from itertools import chain

import numpy as np
from harness import Bench, NotRun, bench, parser, run
from question_pairs import Pair
from systems import PAPER, PLAIN, System, sized, usual_mix
from tables import Cell, json_figures, signed, table_lines

from mrag.evaluation.bootstrap import Float64, Part, combinations
from mrag.metrics import EvalQuestion, Scores
from mrag.settings import DEFAULTS, Mix

WEIGHTS = {"perturbed": 0.7, "hard": 0.3}
TARGET = {"AR@1": 0.4, "ER@1": 0.4, "AR@5": 0.1, "ER@5": 0.1}
SHOWN = ("AR@1", "AR@5", "ER@1", "ER@5")

Variants = Iterator[tuple[str, System]]


# --- what is changed -----------------------------------------------------------------------------------------


def mixed(system: System, **changed: float) -> System:
    """The system with some of the weights of its mix changed."""
    mix = usual_mix(system)
    return replace(system, settings=replace(system.settings, mix=replace(mix, **changed)))


def stages(system: System) -> Variants:
    """Each stage, and each source of evidence, left out."""
    mix = usual_mix(system)
    yield "no temporal score", replace(system, reading="timeless")
    yield "no decomposition: the question as it stands is matched", replace(system, reading="whole")
    yield "neither: the plain first stage", replace(system, settings=PLAIN, reranker=None)
    if mix.keywords:
        yield "no passage keyword rank", mixed(system, keywords=0.0)
    yield "no cut to 100 passages", sized(system, passages=1000)
    if system.reranker:
        yield "no sentence keyword rank", sized(system, sentences=10**6)
    if system.encoder or system.reranker:
        by = "reranker's scores" if system.reranker else "vectors"
        yield f"no {by} of sentences", mixed(system, meaning=0.0)
        yield "no words in the score of sentences", mixed(system, overlap=0.0)
    if system.encoder:
        yield "no vectors of passages behind the first stage", mixed(system, passage=0.0)
        yield "first stage: dense alone", replace(system, retriever="dense")
        yield "first stage: BM25 alone", replace(system, retriever="bm25")
    yield (
        "sentences by meaning alone: no relation, kind, name, brevity",
        mixed(system, relation=0.0, kind=0.0, name=0.0, brevity=0.0, back_matter=1.0),
    )
    yield (
        "passages by their best sentence alone",
        mixed(system, second=0.0, passage=0.0, first=0.0, title=0.0, page=0.0),
    )
    spline = replace(DEFAULTS.spline, previous=0.0, heading=0.0, title=0.0, document=0.0, validity=0.0)
    yield "no inherited dates", replace(system, settings=replace(DEFAULTS, spline=spline))
    yield "the paper's profile", replace(system, settings=PAPER)


def sizes(system: System) -> Variants:
    """Each size at half and at twice its value, and summaries."""
    read = ["sentences"] if system.reranker else []  # words and stored vectors score every sentence
    for size in ("first_stage", "passages", *read):
        value = getattr(DEFAULTS, size)
        for step in (value // 2, value * 2):
            yield f"{size} {value:,} → {step:,}", sized(system, **{size: step})
    for count in (5, 10, 20):
        yield f"extracts of {count} passages", replace(sized(system, summaries=count), summariser="extract")


def constants(system: System) -> Variants:
    """Each constant of the mix at 0, and of mix and temporal score at two thirds and at one and a half times."""
    mix = usual_mix(system)
    for one in fields(Mix):
        value = getattr(mix, one.name)
        for step in (0.0, value / 1.5, value * 1.5) if value else ():
            yield f"mix.{one.name} {value:g} → {step:.3g}", mixed(system, **{one.name: step})
    for one in fields(DEFAULTS.spline):
        value = getattr(DEFAULTS.spline, one.name)
        for step in (value / 1.5, value * 1.5):
            spline = replace(DEFAULTS.spline, **{one.name: step})
            changed = replace(system, settings=replace(DEFAULTS, spline=spline))
            yield f"spline.{one.name} {value:g} → {step:.3g}", changed


GROUPS = {"stages": stages, "sizes": sizes, "constants": constants}


# --- what it does --------------------------------------------------------------------------------------------


def halves(bench: Bench, questions: Sequence[EvalQuestion]) -> list[str]:
    """The half, A or B, of each question's page; of one whose gold names no passage by the fact."""
    corpus = bench.index().corpus
    gold = {question.gold_passages[0] for question in questions if question.gold_passages}
    titles = {corpus.ids[row]: corpus.titles[row] for row in range(len(corpus))} if gold else {}
    pages = (titles.get(next(iter(question.gold_passages), ""), question.fact) for question in questions)
    return ["AB"[int(hashlib.md5(page.encode()).hexdigest(), 16) % 2] for page in pages]


def targets(scores: Mapping[str, Scores], sides: Mapping[str, Sequence[str]], weights: Mapping[str, float]) -> Float64:
    """The target on half A and on half B, in points."""
    found = []
    for half in "AB":
        rows = {name: np.array([side == half for side in sides[name]]) for name in scores}
        found.append(
            sum(
                weights[name] * weight * float(np.nanmean(one.values[measure][rows[name]]))
                for name, one in scores.items()
                for measure, weight in TARGET.items()
            )
        )
    return 100 * np.array(found)


def row(
    scores: Mapping[str, Scores], usual: Mapping[str, Scores] | None, bench: Bench
) -> tuple[list[Cell], dict[str, object]]:
    """The figures of each set, or their differences to the ``usual`` ones, and the same as JSON."""
    cells: list[Cell] = []
    record: dict[str, object] = {}
    for name, one in scores.items():
        base = None if usual is None else usual[name].values
        parts = {
            measure: [Part(one.values[measure] - (0.0 if base is None else base[measure]), one.facts)]
            for measure in SHOWN
        }
        figures = combinations(parts, seed=bench.seed)
        cells += figures.values() if base is None else map(signed, figures.values())
        record[name] = json_figures(figures)
    return cells, record


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of the table, a row as soon as it is known."""
    opened = bench(options, stack)
    encoder, reranker = (next(iter(names), None) for names in (opened.models.encoders, opened.models.rerankers))
    system = System(DEFAULTS, "hybrid" if encoder else "bm25", encoder, reranker)
    scored_by = "-".join(filter(None, (encoder, reranker))) or "words"
    sets = {pair.names[1]: pair for pair in opened.pairs}
    weights = WEIGHTS if sets.keys() == WEIGHTS.keys() else dict.fromkeys(sets, 1 / len(sets))
    sides = {name: halves(opened, pair.perturbed) for name, pair in sets.items()}
    yield from (f"## Ablation: {scored_by}, {opened.title}", "")
    yield ", ".join(f"{len(pair.perturbed):,} {name} questions" for name, pair in sets.items())
    yield ""
    head = ["what is changed", "A", "B", *(f"{name} {measure}" for name in sets for measure in SHOWN)]
    yield from table_lines(head, [], 1)
    record: dict[str, object] = {}
    usual: dict[str, Scores] | None = None
    base = np.zeros(2)
    groups = [GROUPS[name] for name in options.only or GROUPS]
    for label, variant in chain([("defaults", system)], *(group(system) for group in groups)):
        found = _scores(opened, variant, sets)
        if isinstance(found, NotRun):
            yield from table_lines([], [[label, *[None] * (len(head) - 1), f"not run: {found.reason}"]], 1)
            record[label] = {"not run": found.reason}
            continue
        target = targets(found, sides, weights)
        cells, told = row(found, usual, opened)
        shown = [f"{value:.2f}" if usual is None else f"{value:+.2f}" for value in target - base]
        yield from table_lines([], [[label, *shown, *cells]], 1)
        record[label] = {"A": round(float(target[0]), 3), "B": round(float(target[1]), 3), "sets": told}
        if usual is None:
            usual, base = found, target
    return {"table": f"ablation-{scored_by}", "about": opened.title, "rows": record}


def _scores(opened: Bench, system: System, sets: Mapping[str, Pair]) -> dict[str, Scores] | NotRun:
    """The scores of a system on each set."""
    found: dict[str, Scores] = {}
    for name, pair in sets.items():
        one = opened.scores({"": system}, name, pair.perturbed, (1, 5))[""]
        if isinstance(one, NotRun):
            return one
        found[name] = one
    return found


def main(argv: list[str] | None = None) -> int:
    """Prints the table."""
    made = parser(__doc__)
    made.add_argument("--only", action="append", choices=GROUPS, help="one of the groups of rows; repeatable")
    return run("ablation", command, made.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
