"""mrag compare: what two systems put first for a question, side by side, and why (the paper's Figure 4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mrag.cli import texts as take
from mrag.cli.loading import Models, Provider, encoder_option, provider_option
from mrag.cli.measuring.evaluate import conditions
from mrag.cli.options import NamedPath, as_json, profile, reference

if TYPE_CHECKING:
    from mrag.cli.measuring.cases import Won
    from mrag.cli.measuring.selection import Condition
    from mrag.interval import Interval
    from mrag.settings import ProfileName


@click.command()
@click.argument("first", type=NamedPath(), metavar="A")
@click.argument("second", type=NamedPath(), metavar="B")
@click.argument("questions", type=NamedPath(), metavar="QUESTIONS", required=False)
@click.option("--question", metavar="TEXT", help="The question, in the place of QUESTIONS.")
@click.option("-k", type=click.IntRange(1, 100), default=1, show_default=True, help="How many passages of each system.")
@click.option("--only-different", is_flag=True, help="Only questions for which they put other passages first.")
@click.option(
    "--won-by",
    type=click.Choice(["first", "second"]),
    help="Only questions that A (first) or B (second) is right about, while the other has neither gold nor an answer.",
)
@click.option("--index", type=NamedPath(), metavar="DIR", help="The index that holds the passages; else a small demo.")
@profile
@reference
@encoder_option
@click.option("--reranker", metavar="MODEL", help="A model that scores the sentences: its folder, name or URL#MODEL.")
@provider_option
@click.option(
    "--only", multiple=True, callback=conditions, metavar="NAME=VALUE", help="Only such questions, as of `mrag eval`."
)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Only so many questions, drawn by the seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the sample.")
@as_json
def compare(
    first: Path,
    second: Path,
    questions: Path | None,
    question: str | None,
    k: int,
    only_different: bool,
    won_by: Won | None,
    index: Path | None,
    profile: ProfileName,
    reference: Interval | None,
    encoder: str | None,
    reranker: str | None,
    provider: Provider,
    only: tuple[Condition, ...],
    sample: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Show what two systems put first for each question, with the sentence that decides, its date and its scores.

    A and B are runs (TREC or JSON lines {id, ranking}, or the folder of an evaluation): their passages are scored here,
    all in the same way, so that it shows what speaks for each. For a single question they may also be what
    `mrag search --json` printed, which has its own sentences and scores. Right is a system with a gold passage among
    its first k, or, where the set names no gold, one that carries an answer.

    \b
    Examples:
      mrag compare results/bm25 results/words contrast.jsonl --index club.index --won-by second --sample 20
      mrag compare words.jsonl meaning.jsonl --question "Who led the club before 2003?"
    """
    from mrag.cli.measuring.case_report import Which, run
    from mrag.cli.measuring.selection import Choice
    from mrag.cli.measuring.selection import asked as read_asked
    from mrag.cli.searches import Search
    from mrag.metrics import EvalQuestion
    from mrag.settings import Settings

    if (questions is None) == (question is None):
        raise click.UsageError("Name a file of QUESTIONS, or ask a --question.")
    if questions is not None:
        choice = Choice(questions, only, sample, seed)
        asked = read_asked(choice, split=None, qrels=None, timeless=False).questions
    else:
        asked = (EvalQuestion("", take.question(question or "")),)
    models = Models(encoder=encoder, reranker=reranker, provider=provider)
    search = Search(index, k, Settings(profile=profile), reference, models=models)
    run((first, second), asked, search, Which(only_different, won_by), as_json=as_json)
