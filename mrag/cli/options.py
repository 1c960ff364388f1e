"""Dates and windows of time on the command line, and the options that several commands share."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mrag.errors import InputError

if TYPE_CHECKING:
    from mrag.interval import Interval

Command = TypeVar("Command", bound=Callable[..., Any])


def read_date(text: str) -> Interval:
    """The day, month or year that a date on the command line names; ``today`` is the only reading of the clock.

    Raises InputError for what is no date, names no year, or can be read in two ways.

    >>> str(read_date("6 May 2021")), str(read_date("May 2021")), str(read_date("-0043"))
    ('2021-05-06', '2021-05', '-0043')
    """
    from mrag.adapters.reading import field_dates
    from mrag.interval import period

    if text.strip().lower() == "today":
        now = datetime.date.today()
        return period(now.year, now.month, now.day)
    return field_dates.read_date(text)


def read_window(text: str) -> Interval:
    """The window START..END, either of them left out for an open side; a single date is its own window.

    >>> str(read_window("2019..2021-03")), str(read_window("..2021")), str(read_window("2019-05"))
    ('2019..2021-03', '..2021', '2019-05')
    """
    from mrag.interval import join, since, until

    if ".." not in text:
        return read_date(text)
    start, end = (part.strip(". ") for part in text.split("..", 1))
    if not start and not end:
        raise InputError(f"{text!r} is no window: write 2019..2021, 2019.. or ..2021")
    if not start:
        return until(read_date(end))
    return join(read_date(start), read_date(end)) if end else since(read_date(start))


def date(ctx: click.Context, param: click.Parameter, value: str | None) -> Interval | None:
    """A click callback: the value of an option as a date; a usage error for what is none."""
    return _read(read_date, ctx, param, value)


def window(ctx: click.Context, param: click.Parameter, value: str | None) -> Interval | None:
    """A click callback: the value of an option as a window START..END; a usage error for what is none."""
    return _read(read_window, ctx, param, value)


def _read(
    reader: Callable[[str], Interval], ctx: click.Context, param: click.Parameter, value: str | None
) -> Interval | None:
    try:
        return None if value is None else reader(value)
    except InputError as error:
        raise click.BadParameter(str(error), ctx, param) from None


class NamedPath(click.Path):
    """A path that is named: "" would be the current folder, and mostly comes from a variable that is not set."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; a usage error for an empty one."""
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


def as_json(command: Command) -> Command:
    """The option --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line instead of a table.")(
        command
    )


def reference(command: Command) -> Command:
    """The option --reference."""
    return click.option(
        "--reference",
        callback=date,
        metavar="DATE",
        help="The day that 'today', 'last year' and the like are counted from: 2021-05-06, '6 May 2021' or today. "
        "Without it such words stay undated.",
    )(command)


def assume_present(command: Command) -> Command:
    """The option --assume-present."""
    help_text = "Take a question in the present tense, without a date, as of --reference."
    return click.option("--assume-present", is_flag=True, help=help_text)(command)


def profile(command: Command) -> Command:
    """The option --profile."""
    return click.option(
        "--profile",
        type=click.Choice(["interval", "paper"]),
        default="interval",
        show_default=True,
        help="How time is scored: by intervals of days, or by the years and curves of the paper.",
    )(command)


def need_reference(assume_present: bool, reference: Interval | None) -> None:
    """A usage error for a present that is not said to be when."""
    if assume_present and reference is None:
        raise click.UsageError("--assume-present needs --reference: the day that is the present.")


def parse_mode(command: Command) -> Command:
    """The option --parse."""
    return click.option(
        "--parse",
        "parse_mode",
        type=click.Choice(["auto", "rules", "llm"]),
        default="auto",
        show_default=True,
        help="Who takes questions apart: the rules, the --llm, or (auto) the --llm where the rules are unsure.",
    )(command)
