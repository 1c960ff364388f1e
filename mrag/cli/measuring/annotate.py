"""mrag annotate: people judge passages, as gold evidence or as what systems found, and two of them are compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from mrag.cli.measuring.evaluate import conditions
from mrag.cli.options import NamedPath, as_json
from mrag.cli.search_options import search_options

if TYPE_CHECKING:
    from mrag.cli.measuring.selection import Condition
    from mrag.cli.searches import Search

_PROPOSED = 20
_FOR_RUNS = "questions runs index output annotator depth only sample seed as_json".split()
_FOR_AGREE = "questions agree runs index write only sample seed as_json".split()


@click.command()
@click.argument("questions", type=NamedPath(), metavar="QUESTIONS", required=False)
@click.option(
    "-o", "--output", type=NamedPath(), metavar="FILE", help="The judgements; the same command goes on there."
)
@click.option("--annotator", metavar="NAME", help="Who judges.  [default: the name of FILE]")
@click.option(
    "--run",
    "runs",
    type=NamedPath(),
    multiple=True,
    metavar="FILE",
    help="The human evaluation: judge, blind, what systems put first. FILE as of `mrag eval --run`. Repeatable.",
)
@click.option(
    "--agree", type=NamedPath(), nargs=2, metavar="FILE FILE", help="Compare the judgements of two annotators."
)
@click.option("--write", type=NamedPath(), metavar="FILE", help="Write the questions that are done with their gold.")
@click.option(
    "-k", "depth", type=click.IntRange(1), help="How many passages of a search, or of a --run.  [default: 20; --run: 1]"
)
@click.option("--no-temporal", is_flag=True, help="Propose what the plain retriever finds: time plays no part.")
@search_options
@click.option(
    "--only", multiple=True, callback=conditions, metavar="NAME=VALUE", help="Only such questions, as of `mrag eval`."
)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Only so many questions, drawn by the seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the sample, the order and the intervals.")
@as_json
@click.pass_context
def annotate(
    ctx: click.Context,
    questions: Path | None,
    output: Path | None,
    annotator: str | None,
    runs: tuple[Path, ...],
    agree: tuple[Path, Path] | None,
    write: Path | None,
    depth: int | None,
    no_temporal: bool,
    search: Search,
    only: tuple[Condition, ...],
    sample: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Judge passages in the terminal, key by key: y, n, s (skip), b (back), q (quit).

    For each question the first passages of a search are shown, the sentences that carry an answer set off. At most two
    passages are gold; where none is, other words can be searched for. With --run you judge instead, blind and in
    random order, what systems put first; when all is judged, the relevance of each system is told, with the difference
    and its 95 % interval. Every judgement is kept at once; Ctrl-C loses nothing.

    --agree compares two annotators (raw agreement, Cohen's kappa, disagreements); with QUESTIONS and --write the gold
    passages that both name are written, with --run the relevance is told by each of them and by both.

    \b
    Examples:
      mrag annotate contrast.jsonl --index club.index -o ida.jsonl --write gold.jsonl
      mrag annotate --agree ida.jsonl odd.jsonl contrast.jsonl --write gold.jsonl
      mrag annotate --run words.jsonl --run bm25.trec contrast.jsonl --index club.index -o ida.jsonl --sample 200
    """
    from mrag.cli.measuring import agree as comparison
    from mrag.cli.measuring import gold, human
    from mrag.cli.measuring.selection import Choice
    from mrag.cli.measuring.selection import asked as read_asked

    _check_usage(ctx, questions, output, runs, agree, write)
    asked = None
    if questions is not None:
        asked = read_asked(Choice(questions, only, sample, seed), split=None, qrels=None, timeless=False)
    if agree is not None:
        comparison.compare(agree, asked, runs, search.index, write, as_json=as_json)
    elif asked is not None and output is not None and runs:
        human.judge(asked, runs, search.index, output, annotator, depth or 1, as_json=as_json)
    elif asked is not None and output is not None:
        search = replace(search, k=depth or _PROPOSED, settings=replace(search.settings, temporal=not no_temporal))
        gold.judge(asked, search, output, annotator, write, as_json=as_json)


def _check_usage(
    ctx: click.Context,
    questions: Path | None,
    output: Path | None,
    runs: tuple[Path, ...],
    agree: tuple[Path, Path] | None,
    write: Path | None,
) -> None:
    """Usage errors for what is missing, and for options that would play no part; --write, whose file comes last, is
    tried before the work."""
    if agree is None and questions is None:
        raise click.UsageError("Name the QUESTIONS, or two files of judgements with --agree.")
    if agree is None and output is None:
        raise click.UsageError("Name the file of the judgements with -o FILE.")
    if agree is not None and questions is None:
        for name in ("runs", "write", "only", "sample"):
            if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError("With --agree, --run, --write, --only and --sample need the QUESTIONS, too.")
    if write is not None and write in (questions, output, *(agree or ())):
        raise click.UsageError("--write would take the place of a file that is read: name another.")
    known = _FOR_AGREE if agree is not None else _FOR_RUNS if runs else [param.name for param in ctx.command.params]
    for param in ctx.command.params:
        if param.name not in known and ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE:
            with_ = "--agree" if agree is not None else "--run"
            raise click.UsageError(f"{param.opts[-1]} plays no part with {with_}.")
    if write is not None:
        from mrag.adapters.files import check_writable

        check_writable(write)
