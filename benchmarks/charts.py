"""Charts of the figures; matplotlib is loaded where it draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mrag.cli.measuring.chart import kind_of
from mrag.errors import InputError
from mrag.evaluation.bootstrap import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["grouped_bars", "kind_of", "save"]


def grouped_bars(axes: Axes, title: str, labels: Sequence[str], bars: Mapping[str, Sequence[Estimate]]) -> None:
    """Bars side by side over each label, in percent, with the whiskers of their intervals; a legend names them."""
    places = np.arange(len(labels))
    size = 0.8 / max(len(bars), 1)
    for number, (name, figures) in enumerate(bars.items()):
        ends = 100 * np.array([[figure.value, figure.low, figure.high] for figure in figures]).reshape(-1, 3)
        value, low, high = np.nan_to_num(ends.T)
        at = places + size * (number - (len(bars) - 1) / 2)
        whiskers = np.maximum([value - low, high - value], 0)
        axes.bar(at, value, size, yerr=whiskers, label=name, error_kw={"elinewidth": 0.8, "capsize": 1.5})
    axes.set_xticks(places, labels, fontsize="small", rotation=30, ha="right", parse_math=False)
    axes.set(ylabel="percent", ylim=(0, 118), yticks=range(0, 101, 20))  # room for the legend
    axes.set_title(title, fontsize="medium", parse_math=False)
    axes.legend(fontsize="small", ncols=len(bars), loc="upper right")


def save(figure: Figure, path: Path) -> None:
    """Writes a chart of the kind that the file's name asks for; InputError for what the disk refuses."""
    try:
        figure.savefig(path, dpi=150, format=kind_of(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
