"""mrag parse, dates and spline: what questions and texts say about time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mrag.cli import output as show
from mrag.cli import texts as take
from mrag.cli.llm import Llm, connected, llm_options, need_model
from mrag.cli.options import as_json, assume_present, date, need_reference, parse_mode, profile, reference

if TYPE_CHECKING:
    from mrag.decompose import ParseMode, Reading
    from mrag.interval import Interval
    from mrag.settings import ProfileName

_BATCH = 64  # questions that a language model is asked about at a time


@click.command()
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION...|-")
@as_json
@reference
@assume_present
@parse_mode
@llm_options
def parse(
    questions: tuple[str, ...],
    as_json: bool,
    reference: Interval | None,
    assume_present: bool,
    parse_mode: ParseMode,
    llm: Llm,
) -> None:
    """Take questions apart: what is asked, and the time it is asked for.

    A - stands for the lines of standard input, a question a line; every line gives one result. A question that
    begins with a dash comes after --. With --llm a language model is asked what the rules are unsure of, such as
    "before the company was sold"; what it says is taken only where it holds against the question.

    \b
    Examples:
      mrag parse "Who was the last to own the mill before 1981?"
      mrag parse --json --reference 2021-05-06 "Who won last year?"
      mrag parse --json - < questions.txt
      mrag parse --llm http://localhost:11434 --llm-model llama3.1 "Who led France when the war broke out?"
    """
    from mrag.keywords import keywords, shown

    need_reference(assume_present, reference)
    for number, reading in enumerate(_readings(take.texts(questions), parse_mode, reference, assume_present, llm)):
        words = reading.question.keywords or shown(keywords(reading.question.main_content))
        if as_json:
            row = show.question_row(reading.question, words)
            show.write_json({**row, "by": reading.by, **({"reason": reading.reason} if reading.reason else {})})
        else:
            show.write(("\n" if number else "") + show.question_table(reading.question, words))
            if reading.by == "llm" or reading.reason:
                show.write(show.dim(show.on_one_line(f"read by {reading.by}  {reading.reason}")))


def _readings(
    texts: Iterator[str], mode: ParseMode, reference: Interval | None, assume_present: bool, llm: Llm
) -> Iterator[Reading]:
    """The questions taken apart, each as it comes, or with a language model a batch at a time."""
    from mrag import decompose

    with connected(llm, wanted=mode != "rules") as model:
        need_model("--parse", mode, model)
        size = 1 if model is None else _BATCH
        for first in texts:
            batch = [first, *islice(texts, size - 1)]
            yield from decompose.read(batch, model=model, mode=mode, reference=reference, assume_present=assume_present)


@click.command()
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...|-")
@as_json
@reference
def dates(texts: tuple[str, ...], as_json: bool, reference: Interval | None) -> None:
    """Find the dates in texts: what each one says, from when to when, and what it dates.

    A - stands for the lines of standard input, a text a line; every line gives one result. The kind of a date is
    event (happened within it), state (held throughout), start (since), end (until) or life (a person's dates).

    \b
    Examples:
      mrag dates "He was king (r. 1066-1087), born c. 1028."
      mrag dates --reference 2021-05-06 "The shop closed two weeks ago."
      mrag dates --json - < texts.txt
    """
    from mrag.timex import find_dates

    several = len(texts) > 1 or "-" in texts
    for number, text in enumerate(take.texts(texts)):
        mentions = find_dates(text, reference=reference)
        if as_json:
            show.write_json({"text": text, "mentions": [show.mention_row(mention) for mention in mentions]})
            continue
        if several:
            show.write(("\n" if number else "") + show.bold(show.shorten(text, show.width())))
        show.write(show.mentions_table(mentions))


@click.command()
@click.argument("question")
@profile
@click.option("--from", "first", callback=date, metavar="DATE", help="Where the curve begins, e.g. 1900.")
@click.option("--to", "last", callback=date, metavar="DATE", help="Where the curve ends, e.g. 2020.")
@click.option("--csv", "as_csv", is_flag=True, help="Print date,interval,paper a line: the scores of both profiles.")
@as_json
@click.option("--png", type=click.Path(dir_okay=False, path_type=Path), help="Write a picture (needs mrag[plot]).")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Write a drawing (needs mrag[plot]).")
@reference
def spline(
    question: str,
    profile: ProfileName,
    first: Interval | None,
    last: Interval | None,
    as_csv: bool,
    as_json: bool,
    png: Path | None,
    svg: Path | None,
    reference: Interval | None,
) -> None:
    """Draw how well each date fits the time that a question asks for.

    A point of the curve is the temporal score of a sentence that holds this date alone. It goes by years, over less
    than 15 of them by months, within one by days.

    \b
    Examples:
      mrag spline "Who was the last owner before 1981?"
      mrag spline --csv --from 1900 --to 2000 "Who was the first owner after 1931?"
      mrag spline --png curve.png "Who led the club between 1950 and 1960?"
    """
    from mrag.cli import curve
    from mrag.question import parse

    parsed = parse(take.whole(question), reference=reference)
    points = curve.curve(parsed.constraint, first, last)
    for path, kind in ((png, "png"), (svg, "svg")):
        if path is not None:
            curve.draw_file(points, show.on_one_line(parsed.text), path, kind)
            show.note(f"wrote {path}")
    if as_csv:
        show.write(curve.csv(points))
    elif as_json:
        for row in curve.rows(points):
            show.write_json(row)
    elif png is None and svg is None:
        show.write(f"{show.bold(show.constraint_text(parsed.constraint))}  temporal score of a date, profile {profile}")
        show.write(curve.drawing(points, profile, show.width(), unicode=show.utf8()))
