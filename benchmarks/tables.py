"""Tables as Markdown, and figures as they stand in them and in JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mrag.evaluation.bootstrap import Estimate

Cell = str | Estimate | float | int | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table: a title, what is to be known of it, the names of its columns, and its rows.

    The first ``words`` cells of a row are words, the others figures. A cell behind the last column is a remark, such as
    why a row was not run; remarks get a column of their own where there are some.
    """

    title: str
    notes: Sequence[str]
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    words: int = 1


def markdown(table: Table) -> Iterator[str]:
    """The lines of a table; figures in percent, intervals in brackets.

    >>> told = Estimate(0.5, 0.25, 0.75, 8, 4)
    >>> print(*markdown(Table("Short", [], ["system", "AR@1"], [["a|b", told], ["c", None], ["d"]])), sep="\\n")
    ### Short
    <BLANKLINE>
    | system | AR@1 |
    | --- | ---: |
    | a\\|b | 50.0 [25.0, 75.0] |
    | c | - |
    | d |  |
    <BLANKLINE>
    """
    yield f"### {table.title}"
    yield ""
    for note in table.notes:
        yield note
        yield ""
    yield from table_lines(table.head, table.rows, table.words)
    yield ""


def table_lines(head: Sequence[str], rows: Sequence[Sequence[Cell]], words: int) -> Iterator[str]:
    """The lines of a head, where there is one, and of rows, all as wide as the widest of them."""
    width = max(map(len, (head, *rows)))
    rule = ["---:" if words <= at < len(head) else "---" for at in range(width)]
    for row in (*((head, rule) if head else ()), *rows):
        cells = [cell_text(cell) for cell in row]
        yield "| " + " | ".join([*cells, *[""] * (width - len(cells))]) + " |"


def cell_text(cell: Cell) -> str:
    """A figure in percent with its interval, a number of the paper's in percent as it is, a count, or words."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return " ".join(cell.split()).replace("|", "\\|")
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return "-" if math.isnan(cell) else f"{cell:.1f}"
    if math.isnan(cell.value):
        return "-"
    return f"{100 * cell.value:.1f} [{100 * cell.low:.1f}, {100 * cell.high:.1f}]"


def signed(figure: Estimate) -> str:
    """A difference in points with its interval, and its sign.

    >>> signed(Estimate(-0.031, -0.05, 0.0, 8, 4))
    '-3.1 [-5.0, +0.0]'
    """
    if math.isnan(figure.value):
        return "-"
    value, low, high = (f"{100 * part:+.1f}" for part in (figure.value, figure.low, figure.high))
    return f"{value} [{low}, {high}]"


def json_figures(figures: Mapping[str, Estimate]) -> dict[str, dict[str, float | int | None]]:
    """Figures as shares, by their names; null where there is none."""
    return {
        name: {
            "value": _number(figure.value),
            "low": _number(figure.low),
            "high": _number(figure.high),
            "n": figure.n,
            "facts": figure.facts,
        }
        for name, figure in figures.items()
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
