"""mrag eval: how well a pipeline, or the runs of other systems, answer the questions of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from mrag.cli.options import NamedPath, as_json
from mrag.cli.search_options import search_options

if TYPE_CHECKING:
    from mrag.cli.measuring.selection import Condition
    from mrag.cli.searches import Search
    from mrag.reader import Strategy

_DEPTH = 20
_FOR_RUNS = (  # the options that mean something where --run says what a system gave
    "questions runs index corpus qrels split timeless output depth by only sample seed compare markdown plot as_json"
).split()


def conditions(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[Condition, ...]:
    """A click callback: NAME=VALUE of each --only; a usage error for what is none."""
    found = []
    for value in values:
        name, between, wanted = (part.strip() for part in value.partition("="))
        if not (name and between and wanted):
            raise click.BadParameter(f"{value!r}: write NAME=VALUE, e.g. exact=0 or relation=before", ctx, param)
        found.append((name, wanted))
    return tuple(found)


@click.command("eval")
@click.argument("questions", type=NamedPath(), metavar="QUESTIONS")
@click.option(
    "--run",
    "runs",
    type=NamedPath(),
    multiple=True,
    metavar="FILE",
    help="Evaluate what another system gave, instead of a search: a run as TREC or JSON lines {id, ranking}, answers "
    "as JSON lines {id, answer}, or the folder of an evaluation. Repeatable.",
)
@click.option("--corpus", type=NamedPath(), metavar="PATH", help="The passages of a --run, where there is no --index.")
@click.option("-k", "depth", type=click.IntRange(1), help="How many passages a ranking has.  [default: 20; --run: all]")
@click.option("--no-temporal", is_flag=True, help="The plain retriever: time plays no part.")
@click.option(
    "--answer",
    "strategy",
    type=click.Choice(["self-mrag", "mrag-concat", "rag-concat", "direct", "direct-cot"]),
    help="Also answer the questions, as `mrag ask --strategy` does, for EM and F1.",
)
@click.option("--passages", type=click.IntRange(1, 100), default=5, show_default=True, help="How many --answer reads.")
@search_options
@click.option("--workers", type=click.IntRange(1), help="Processes without --llm and --answer; all cores by default.")
@click.option(
    "--only",
    multiple=True,
    callback=conditions,
    metavar="NAME=VALUE",
    help="Only such questions: exact=0 (1: original dates), relation=before, implicit=first, source=…, or another "
    "field of the set. Repeatable: one name several times means any of its values.",
)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Only so many questions, drawn by the seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the sample and the intervals.")
@click.option("--timeless", is_flag=True, help="Also the questions of TempRAGEval that name no time.")
@click.option("--qrels", type=NamedPath(), metavar="FILE", help="Gold passages for QUESTIONS: TREC's or BEIR's qrels.")
@click.option("--split", metavar="NAME", help="The split of a BEIR folder.  [default: test, dev, validation or train]")
@click.option(
    "--by",
    type=click.Choice(["relation", "implicit", "constraint", "exact", "source"]),
    multiple=True,
    help="Also the figures of each group; constraint is implicit and relation together. Repeatable.",
)
@click.option(
    "--compare",
    type=NamedPath(),
    metavar="FILE",
    help="Also the paired difference to what another system gave; FILE as of --run.",
)
@click.option(
    "-o",
    "--output",
    type=NamedPath(),
    metavar="DIR",
    help="A folder that keeps what is done: the same command goes on in it. At the end it has figures.json, table.md "
    "and run.trec.",
)
@click.option("--markdown", type=NamedPath(), metavar="FILE", help="Write the table as Markdown.")
@click.option("--plot", type=NamedPath(), metavar="FILE", help="Write a chart: .png, .svg or .pdf (needs mrag[plot]).")
@as_json
@click.pass_context
def evaluate(
    ctx: click.Context,
    questions: Path,
    runs: tuple[Path, ...],
    corpus: Path | None,
    depth: int | None,
    no_temporal: bool,
    strategy: Strategy | None,
    passages: int,
    search: Search,
    workers: int | None,
    only: tuple[Condition, ...],
    sample: int | None,
    seed: int,
    timeless: bool,
    qrels: Path | None,
    split: str | None,
    by: tuple[str, ...],
    compare: Path | None,
    output: Path | None,
    markdown: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure how well questions are answered: by a search with these options, or by the runs of other systems.

    QUESTIONS is TempRAGEval's CSV, a file of TimeQA or SituatedQA, a BEIR folder, what `mrag perturb` writes, or any
    JSON lines {id, question, answers, gold_passages, gold_evidence}. All figures are percent:

    \b
      AR@k    an answer stands in one of the first k passages
      ER@k    one of the first k passages is gold
      R@k     share of the gold passages among the first k
      MRR, nDCG@10
      EM, F1  of the answers (--answer)

    In brackets stands the 95 % interval, from resampling the facts that are asked for; of one fact there is none.
    Ctrl-C loses nothing that -o keeps. --json gives an object a row: system, minus, by, label, n, and figures with
    value, low, high, n and facts; figures.json has the same rows.

    \b
    Examples:
      mrag eval contrast.jsonl --index club.index --only exact=0 --by relation -o results/words
      mrag eval contrast.jsonl --index club.index --no-temporal -o results/bm25 --compare results/words
      mrag eval contrast.jsonl --run colbert.trec --run bm25.trec --corpus passages.jsonl --plot systems.png
      mrag eval TempRAGEval.csv --index wiki.index --answer self-mrag --llm http://localhost:8000 --llm-model llama
    """
    from mrag.adapters.workers import cores
    from mrag.cli.measuring import systems
    from mrag.cli.measuring.pipeline_run import Pipeline
    from mrag.cli.measuring.report import Wanted
    from mrag.cli.measuring.selection import Choice
    from mrag.cli.measuring.selection import asked as read_asked

    _check_usage(ctx, runs, corpus, markdown, plot)
    asked = read_asked(Choice(questions, only, sample, seed), split=split, qrels=qrels, timeless=timeless)
    wanted = Wanted(by, markdown, plot, as_json)
    if runs:
        systems.of_runs(runs, compare, asked, wanted, output, depth=depth, corpus=corpus, index=search.index)
        return
    temporal = not no_temporal and strategy != "rag-concat"
    search = replace(search, k=depth or _DEPTH, settings=replace(search.settings, temporal=temporal))
    pipeline = Pipeline(search, strategy, passages, workers or cores())
    systems.of_pipeline(pipeline, compare, asked, wanted, output)


def _check_usage(
    ctx: click.Context, runs: Sequence[Path], corpus: Path | None, markdown: Path | None, plot: Path | None
) -> None:
    """Errors that would otherwise come when all is done."""
    if runs:
        idle = [param for param in ctx.command.params if param.name not in _FOR_RUNS]
        given = [param for param in idle if ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE]
        if given:
            raise click.UsageError(f"{given[0].opts[-1]} plays no part with --run, which says what was found already.")
    elif corpus is not None:
        raise click.UsageError("--corpus is for --run: a search takes the texts from its --index.")
    if markdown or plot:
        from mrag.adapters.files import check_writable

        for path in filter(None, (markdown, plot)):
            check_writable(path)
    if plot is not None:
        from mrag.cli.measuring.chart import kind_of

        kind_of(plot)
