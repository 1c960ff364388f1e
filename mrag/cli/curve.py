"""The temporal score over the years as a curve: its points, and how it is drawn in a terminal or as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mrag.columns import Float32
from mrag.errors import InputError, MissingExtraError
from mrag.interval import MAX_YEAR, MIN_YEAR, OPEN_END, OPEN_START, Interval, civil, period
from mrag.question import Constraint
from mrag.spline import interval_scores, paper_scores, paper_window
from mrag.timex import KINDS, SOURCES

_REACH, _MARGIN = 50, 10  # years shown on the open side of a bound, and beyond it
_BY_DAY, _BY_MONTH = 2, 15  # a curve over no more than so many years goes by days, by months
_HEIGHT = 10
_BLOCKS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Curve:
    """n dates, and the score float32[n] that each profile gives a sentence which holds this date alone.

    ``paper`` is None for the relations to which the paper gives no temporal score.
    """

    dates: tuple[Interval, ...]
    interval: Float32
    paper: Float32 | None


def curve(constraint: Constraint | None, first: Interval | None = None, last: Interval | None = None) -> Curve:
    """The curve of a constraint from the start of ``first`` to the end of ``last``, by default around its own bounds.

    It goes by years, over short stretches by months or days. Raises InputError where no time is asked for.
    """
    if constraint is None or constraint.relation is None:
        raise InputError("the question names no time, so its curve is flat: ask for one, such as 'before 1981'")
    low, high = _shown(constraint.interval)
    low = low if first is None else first.start
    high = high if last is None else last.end
    if low > high:
        raise InputError("--from lies behind --to")
    dates = _steps(low, high)
    scores = interval_scores(
        constraint,
        np.array([date.start for date in dates], dtype=np.int32),
        np.array([date.end for date in dates], dtype=np.int32),
        np.full(len(dates), KINDS.index("event"), dtype=np.uint8),
        np.full(len(dates), SOURCES.index("own"), dtype=np.uint8),
    )
    years = np.array([civil(date.start)[0] for date in dates])
    return Curve(dates, scores, None if paper_window(constraint) is None else paper_scores(constraint, years))


def _shown(named: Interval) -> tuple[int, int]:
    """The first and the last day that are worth seeing around the named bounds."""
    start = None if named.start == OPEN_START else civil(named.start)[0]
    end = None if named.end == OPEN_END else civil(named.end)[0]
    before = after = _MARGIN
    if start is None:
        before = _REACH
    elif end is None:
        after = _REACH
    else:
        before = after = max(_MARGIN, (end - start) // 2)
    low = (end or 0 if start is None else start) - before
    high = (start or 0 if end is None else end) + after
    return period(max(low, MIN_YEAR)).start, period(min(high, MAX_YEAR)).end


def _steps(low: int, high: int) -> tuple[Interval, ...]:
    """The days, months or years from day ``low`` to day ``high``."""
    (year, month, _), (last, last_month, _) = civil(low), civil(high)
    if last - year < _BY_DAY and high - low <= 366:
        return tuple(Interval(day, day) for day in range(low, high + 1))
    if last - year < _BY_MONTH:
        months = range(12 * year + month - 1, 12 * last + last_month)
        return tuple(period(at // 12, at % 12 + 1) for at in months)
    return tuple(period(at) for at in range(year, last + 1))


def rows(points: Curve) -> list[dict[str, object]]:
    """The points as JSON objects, scores with four decimals."""
    paper = [None] * len(points.dates) if points.paper is None else [round(float(y), 4) for y in points.paper]
    return [
        {"date": date.start_iso, "interval": round(float(y), 4), "paper": other}
        for date, y, other in zip(points.dates, points.interval, paper, strict=True)
    ]


def csv(points: Curve) -> str:
    """The points, one a line, under a line of their names; an empty field where there is no score."""
    cells = (["" if value is None else str(value) for value in row.values()] for row in rows(points))
    return "\n".join(("date,interval,paper", *map(",".join, cells)))


def drawing(points: Curve, profile: str, width: int, *, unicode: bool = True) -> str:
    """The curve of one profile as lines of at most ``width`` characters: bars over an axis of dates.

    Raises InputError for the paper's profile where it has no curve.

    >>> years = tuple(period(year) for year in (2001, 2002, 2003))
    >>> points = Curve(years, np.array([0, 0.5, 1], dtype=np.float32), None)
    >>> print(drawing(points, "interval", 29).splitlines()[0])
    1.0 │                ████████
    """
    scores = points.interval if profile == "interval" else points.paper
    if scores is None:
        raise InputError("the paper gives this relation no temporal score: see it with --profile interval")
    room = width - 5
    at = np.arange(room) * len(points.dates) // room  # the date under each column
    levels = np.rint(scores[at] * _HEIGHT * 8).astype(int)
    lines = []
    for row in range(_HEIGHT - 1, -1, -1):
        label = f"{(row + 1) / _HEIGHT:3.1f}" if row in (_HEIGHT - 1, _HEIGHT // 2 - 1) else "   "
        cells = "".join(_BLOCKS[min(max(level - 8 * row, 0), 8)] for level in levels.tolist())
        lines.append(f"{label} │{cells}".rstrip())
    lines.append("0.0 └" + "─" * room)
    lines.append("     " + _axis([points.dates[i].start_iso or "" for i in at.tolist()], room))
    text = "\n".join(lines)
    return text if unicode else text.translate(_ASCII)


_ASCII = str.maketrans(
    {"│": "|", "└": "+", "─": "-", "█": "#", **dict.fromkeys("▁▂▃", " "), **dict.fromkeys("▄▅▆▇", "#")}
)


def _axis(labels: Sequence[str], room: int) -> str:
    """Labels of some five columns in one line, none over another."""
    line = ""
    for column in range(0, room, max(room // 5, len(labels[0]) + 2)):
        if column + len(labels[column]) <= room:
            line = line.ljust(column) + labels[column]
    return line


def draw_file(points: Curve, title: str, path: Path, kind: str) -> None:
    """Both profiles as a picture of a kind ("png", "svg"); MissingExtraError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("drawing a picture needs matplotlib: pip install 'mrag[plot]'") from None
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    x = [_year(date) for date in points.dates]
    axes.plot(x, points.interval, label="interval")
    if points.paper is not None:
        axes.plot(x, points.paper, label="paper", linestyle="--")
    axes.set(xlabel="date of the evidence", ylabel="temporal score", ylim=(0, 1.05))
    axes.set_title(title, wrap=True, fontsize="medium", parse_math=False)
    axes.legend()
    figure.savefig(path, dpi=150, format=kind)


def _year(date: Interval) -> float:
    """A date as a decimal year: the middle of it."""
    day = (date.start + date.end) / 2
    year, _, _ = civil(int(day))
    whole = period(year)
    return year + (day - whole.start) / (whole.end - whole.start + 1)
