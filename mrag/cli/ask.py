"""mrag ask: an answer, and the passages that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mrag.cli import output as show
from mrag.cli import texts as take
from mrag.cli.answers import answer_row, answer_text
from mrag.cli.llm import connected
from mrag.cli.options import NamedPath, as_json
from mrag.cli.search_options import search_options
from mrag.errors import InputError

if TYPE_CHECKING:
    from mrag.cli.searches import Search
    from mrag.decompose import Reading
    from mrag.reader import Answer, Strategy

_BATCH = 64  # questions that the language model is asked about at a time


@click.command()
@click.argument("question", required=False)
@click.option(
    "--strategy",
    type=click.Choice(["self-mrag", "mrag-concat", "rag-concat", "direct", "direct-cot"]),
    default="self-mrag",
    show_default=True,
    help="How the language model answers: from a timeline of dated facts (self-mrag), from the passages as they are "
    "(mrag-concat; rag-concat: those of plain retrieval), or from what it knows (direct; -cot: step by step).",
)
@click.option("--passages", type=click.IntRange(1, 100), default=5, show_default=True, help="How many it reads.")
@click.option("--show-timeline", is_flag=True, help="Show the dated facts of the passages in their order.")
@click.option(
    "--own-knowledge/--no-own-knowledge",
    default=None,
    help="Also ask the model without passages, and say where it disagrees.  [default: for a single QUESTION]",
)
@search_options
@as_json
@click.option(
    "--queries", type=NamedPath(), metavar="FILE", help="Answer every question of a file (-: standard input)."
)
def ask(
    question: str | None,
    strategy: Strategy,
    passages: int,
    show_timeline: bool,
    own_knowledge: bool | None,
    search: Search,
    as_json: bool,
    queries: Path | None,
) -> None:
    """Answer a question about a point in time, and show the passages that the answer rests on.

    With --llm a language model reads the passages that `mrag search` finds; without one the answer is the best
    sentence, as it stands. So it is where the model gives no reply, which a note says; with a direct strategy that is
    an error. Where no passage is dated to fit, or the model knows otherwise than the passages say, it says so.
    --queries reads the same files as that of `mrag search`.

    \b
    Examples:
      mrag ask "Who was the UK prime minister as of 6 May 2021?"
      mrag ask --llm http://localhost:11434 --llm-model llama3.1 --show-timeline "Who led the club before 1950?"
      mrag ask --index club.index --queries questions.jsonl --json > answers.jsonl
    """
    from mrag.cli import answering, searches

    if (question is None) == (queries is None):
        raise click.UsageError("Ask a QUESTION, or name a file of them with --queries.")
    asked = [("", take.question(question))] if question is not None else take.questions(queries or Path())
    search = replace(
        search,
        k=max(passages, 5),
        settings=replace(search.settings, temporal=strategy != "rag-concat"),
    )
    own = queries is None if own_knowledge is None else own_knowledge
    with connected(search.llm) as model, show.progress("questions", among_results=True) as tell:
        if model is None and strategy.startswith("direct"):
            raise InputError(f"--strategy {strategy} needs a language model: name its server with --llm URL")
        heard = None if model is None else answering.Heard(model)
        how = answering.How(strategy, passages, own)
        opened = searches.open_here(search, heard)
        done = 0
        for batch in _batches(asked):
            found = answering.answered(search, opened, [text for _, text in batch], heard, how)
            for (identity, _), one in zip(batch, found, strict=True):
                if queries is None:
                    show.say_how_it_was_read(one.reading, search.as_of)
                    show.say_why_not_summarised([one.ranking])
                _show(identity, one.answer, one.reading, as_json, show_timeline)
                tell(done := done + 1, len(asked))


def _batches(asked: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    remaining = iter(asked)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _show(identity: str, answer: Answer, reading: Reading, as_json: bool, show_timeline: bool) -> None:
    if as_json:
        row = answer_row(answer, reading)
        show.write_json({"id": identity, **row} if identity else row)
        return
    if identity:
        show.write(show.bold(f"{identity}  {show.on_one_line(answer.question.text)}"))
    show.write(answer_text(answer, show_timeline=show_timeline))
