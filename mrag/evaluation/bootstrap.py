"""How sure a mean is: means and differences of means with intervals, resampled by fact.

Several questions ask for one fact, so they are right and wrong together. Resampling questions would take them for
independent and make every interval too narrow; a resample here draws facts, each with all its questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrag.columns import Int64
from mrag.errors import InputError

Float64 = NDArray[np.float64]

SAMPLES = 2000
"""Resamples behind an interval."""

_BLOCK = 2**22  # counts that are held at a time: resamples x facts


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with the ends of its 95 % interval, over ``n`` values that belong to ``facts`` facts.

    Without values all three are NaN; without resamples ``low`` and ``high`` are.
    """

    value: float
    low: float
    high: float
    n: int
    facts: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends, None where they say nothing: without resamples, and of a single fact, which each resample draws."""
        return None if self.facts < 2 or math.isnan(self.low) else (self.low, self.high)

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out 0: of a difference, that it is no accident of the facts asked."""
        return self.interval is not None and (self.low > 0 or self.high < 0)


class Part(NamedTuple):
    """Values float64[n] (NaN: not judged, left out), the fact of each, and the weight of their mean in a sum."""

    values: Float64
    facts: Sequence[str]
    weight: float = 1.0


def estimate(values: Float64, facts: Sequence[str], *, samples: int = SAMPLES, seed: int = 0) -> Estimate:
    """The mean of float64[n], NaN left out.

    >>> found = estimate(np.array([1.0, 1.0, 0.0, np.nan]), ["a", "a", "b", "c"])
    >>> round(found.value, 3), found.low, found.high, found.n, found.facts
    (0.667, 0.0, 1.0, 3, 2)
    """
    return combination([Part(values, facts)], samples=samples, seed=seed)


def difference(
    ours: Float64, theirs: Float64, facts: Sequence[str], *, samples: int = SAMPLES, seed: int = 0
) -> Estimate:
    """The mean of ours - theirs, float64[n] of two runs over the same questions; NaN in either is left out.

    >>> found = difference(np.array([1.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0]), ["a", "b", "c"])
    >>> round(found.value, 3), found.sure
    (0.667, False)
    """
    return combination([Part(ours - theirs, facts)], samples=samples, seed=seed)


def combination(parts: Sequence[Part], *, samples: int = SAMPLES, seed: int = 0) -> Estimate:
    """The sum of weight x mean over parts; a fact that has values in several parts is drawn for all of them at once.

    So a loss between two sets of questions over the same facts is ``Part(original, facts), Part(perturbed, facts,
    -1.0)``, and the difference between the losses of two runs is the same of ours - theirs.

    >>> original, perturbed = np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])
    >>> round(combination([Part(original, "abc"), Part(perturbed, "aabc", -1.0)]).value, 3)
    0.417
    """
    return combinations({"": parts}, samples=samples, seed=seed)[""]


def combinations(
    figures: Mapping[str, Sequence[Part]], *, samples: int = SAMPLES, seed: int = 0
) -> dict[str, Estimate]:
    """Several combinations over the same draws of facts, which makes a table of them cheap.

    A resample in which a part got no value at all is left out. The same seed gives the same draws with every version
    of numpy. Raises InputError where a value has no fact.
    """
    parts = [part for several in figures.values() for part in several]
    number: dict[str, int] = {}
    for part in parts:
        if len(part.values) != len(part.facts):
            raise InputError(f"{len(part.values)} values, but {len(part.facts)} facts: name the fact of each value")
        for fact in part.facts:
            number.setdefault(fact, len(number))
    sums, counts = np.zeros((2, len(number), len(parts)))
    for column, part in enumerate(parts):
        judged = np.flatnonzero(~np.isnan(part.values))
        rows = np.array([number[fact] for fact in part.facts], dtype=np.int64)[judged]
        sums[:, column] = np.bincount(rows, part.values[judged], len(number))
        counts[:, column] = np.bincount(rows, minlength=len(number))
    means = _resampled(sums, counts, samples, seed)
    found, first = {}, 0
    for name, several in figures.items():
        columns = slice(first, first := first + len(several))
        weights = np.array([part.weight for part in several])
        found[name] = _estimate(several, counts[:, columns], means[:, columns] @ weights)
    return found


def _estimate(parts: Sequence[Part], counts: Float64, resampled: Float64) -> Estimate:
    """``counts`` float64[facts, parts]; ``resampled`` float64[samples], the figure in each resample."""
    value = sum(part.weight * _mean(part.values[~np.isnan(part.values)]) for part in parts)
    resampled = resampled[~np.isnan(resampled)]
    low, high = np.quantile(resampled, (0.025, 0.975)) if len(resampled) else (np.nan, np.nan)
    return Estimate(float(value), float(low), float(high), int(counts.sum()), int(counts.any(axis=1).sum()))


def _mean(values: Float64) -> float:
    """Summed without rounding, so that the order of the questions does not show in the last digit."""
    return math.fsum(values.tolist()) / len(values) if len(values) else math.nan


def _resampled(sums: Float64, counts: Float64, samples: int, seed: int) -> Float64:
    """The mean of each part in each resample, float64[samples, parts]; NaN where it got no value."""
    facts, parts = sums.shape
    draws = np.random.PCG64(seed)
    found = np.full((samples, parts), np.nan)
    step = max(1, _BLOCK // max(1, facts))
    for done in range(0, samples if facts else 0, step):
        times = _times_drawn(draws, min(step, samples - done), facts).astype(np.float64)
        with np.errstate(invalid="ignore"):
            found[done : done + step] = (times @ sums) / (times @ counts)
    return found


def _times_drawn(draws: np.random.PCG64, samples: int, facts: int) -> Int64:
    """How often each fact is drawn in each resample, int64[samples, facts].

    Taken from the raw bits: their stream is promised by numpy for ever, that of ``Generator.integers`` is not.
    """
    raw = draws.random_raw(samples * facts) >> np.uint64(32)
    picked = ((raw * np.uint64(facts)) >> np.uint64(32)).astype(np.int64)
    picked += np.repeat(np.arange(samples) * facts, facts)
    return np.bincount(picked, minlength=samples * facts).reshape(samples, facts)
