"""What each constant of the interval profile is worth: one row for each left out or moved.

python benchmarks/ablation.py FOLDER

The pages are halved by a hash of their title (A, B), so that a gain on one half can be seen to hold on the other. The
target is .7 perturbed + .3 hard of (.4 AR@1 + .4 ER@1 + .1 AR@5 + .1 ER@5), in percent.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

from quality import Bench, Row, load, mean

from mrag.pipeline import DEFAULTS, LEXICAL, Settings

WEIGHTS = {"perturbed": 0.7, "hard": 0.3}
TARGET = {"AR@1": 0.4, "ER@1": 0.4, "AR@5": 0.1, "ER@5": 0.1}


def variants() -> Iterator[tuple[str, Settings]]:
    """The defaults, then each constant at 0, at two thirds and at one and a half times its value."""
    yield "defaults", DEFAULTS
    yield "no temporal score", replace(DEFAULTS, temporal=False)
    for group, constants in (("mix", LEXICAL), ("spline", DEFAULTS.spline)):
        for constant in fields(constants):
            value = getattr(constants, constant.name)
            if not value:
                continue
            steps = (0.0, value / 1.5, value * 1.5) if group == "mix" else (value / 1.5, value * 1.5)
            for step in steps:
                changed = replace(constants, **{constant.name: step})
                yield f"{group}.{constant.name} {value:g} -> {step:.3g}", replace(DEFAULTS, **{group: changed})
    for size in ("first_stage", "passages", "sentences"):
        value = getattr(DEFAULTS, size)
        for step in (value // 2, value * 2):
            yield f"{size} {value} -> {step}", replace(DEFAULTS, **{size: step})


def halves(bench: Bench) -> dict[str, list[str]]:
    """For each set the half, A or B, of each question's page."""
    corpus = bench.index.corpus
    titles = {corpus.ids[i]: corpus.titles[i] for i in range(len(corpus))}

    def half(passage: str) -> str:
        return "AB"[int(hashlib.md5(titles[passage].encode()).hexdigest(), 16) % 2]

    return {name: [half(q["gold_passages"][0]) for q in questions] for name, questions in bench.questions.items()}


def main() -> None:
    """Prints a row for each variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    bench = load(parser.parse_args().folder, WEIGHTS)
    sides = halves(bench)
    print(f"{'':<40} {'A':>6} {'B':>6}   perturbed AR@1 ER@1   hard AR@1 ER@1")
    for label, settings in variants():
        runs = {name: bench.run(name, Row(settings)) for name in WEIGHTS}
        target = {}
        for side in "AB":
            of_side = {n: mean([r for r, s in zip(runs[n], sides[n], strict=True) if s == side]) for n in WEIGHTS}
            target[side] = sum(w * sum(v * of_side[n][m] for m, v in TARGET.items()) for n, w in WEIGHTS.items())
        figures = [mean(runs[name])[metric] for name in WEIGHTS for metric in ("AR@1", "ER@1")]
        print(
            f"{label:<40} {target['A']:6.2f} {target['B']:6.2f}   " + " ".join(f"{f:6.1f}" for f in figures), flush=True
        )


if __name__ == "__main__":
    main()
