"""mrag perturb: a contrast set of questions about other times, out of dated facts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mrag.cli import output as show
from mrag.cli import texts as take
from mrag.cli.llm import Llm, connected, llm_options
from mrag.cli.options import NamedPath
from mrag.errors import InputError

if TYPE_CHECKING:
    from mrag.contrast.facts import Gaps
    from mrag.perturb import ContrastSet


@click.command()
@click.argument("facts", metavar="FACTS|-", type=NamedPath())
@click.option("-o", "--output", type=NamedPath(), metavar="FILE", help="Where to write; else standard output.")
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed draws other times.")
@click.option("--per-fact", type=click.IntRange(1), default=4, show_default=True, help="Most questions of a fact.")
@click.option(
    "--gaps",
    type=click.Choice(["empty", "unknown"]),
    default="empty",
    show_default=True,
    help="What the days are on which no fact of a timeline held: empty, if FACTS are all there is; unknown, if some "
    "may be missing, which proves fewer answers.",
)
@click.option("--reword", is_flag=True, help="Let the --llm word each question anew; kept if it still asks the same.")
@llm_options
def perturb(facts: Path, output: Path | None, seed: int, per_fact: int, gaps: Gaps, reword: bool, llm: Llm) -> None:
    """Make questions about other times that have the same answers, such as "Who last owned it before 1990?".

    FACTS are JSON lines (a JSON list and a table do, too), a fact each; - reads them from standard input:

    \b
      id        its name
      timeline  the facts among which it is the answer at its time; without it what stands
                before the last "#" of id, else the question
      question  without a time: "Who owned the mill?"; a fact without one only competes
      answers   a list of strings, any of which counts; empty: not known
      start     2019, 2019-03 or 2019-03-04; null: not known; "..": it always was
      end       as start; "..": it goes on
      evidence  texts that state it (optional: a year that stands there makes a question exact)

    Other fields, such as gold_passages, are handed on. A line without start and end is a question that names its time
    itself ("Who owned the mill from 1981 to 1990?"), as in the easy questions of TimeQA.

    A question is made only where the fact is provably the only answer among the facts of its timeline, and where
    `mrag parse` reads it as meant. Relations (as of, from to, until, before, after, around, between, by, in, on, since)
    and conditions (none, first, last) come about equally often. Lines have id, source_id, question, answers, relation,
    implicit, years, dates, start, end, exact (1: a year asked for is one in which the fact began or ended), base, by.

    \b
    Examples:
      mrag perturb facts.jsonl -o contrast.jsonl
      mrag perturb facts.jsonl --per-fact 8 --seed 2 --gaps unknown -o contrast.jsonl
      zcat dev_easy.jsonl.gz | mrag perturb - | head
      mrag perturb facts.jsonl -o contrast.jsonl --reword --llm http://localhost:11434 --llm-model llama3.1
    """
    from mrag.adapters.evaluation.fact_files import read_facts
    from mrag.adapters.files import check_writable, write_whole
    from mrag.perturb import perturb as make
    from mrag.perturb import row

    if output is not None:
        check_writable(output)
    with connected(llm, wanted=reword) as model:
        if reword and model is None:
            raise InputError("--reword needs a language model: name its server with --llm URL --llm-model NAME")
        with take.file(facts) as path:
            dated = read_facts(path)
        made = make(dated, seed=seed, per_fact=per_fact, gaps=gaps, model=model)
    rows = [row(one) for one in made.questions]
    if not rows:
        _tell(made, None)
        where = "standard input" if str(facts) == "-" else facts
        raise InputError(f"{where}: no question could be made of these facts; above is why" + _as_it_was(output))
    if output is None:
        for one in rows:
            show.write_json(one)
    else:
        write_whole(output, (json.dumps(one, ensure_ascii=False) for one in rows))
    _tell(made, output)


def _as_it_was(output: Path | None) -> str:
    return f" ({output} is as it was)" if output is not None and output.exists() else ""


def _tell(made: ContrastSet, output: Path | None) -> None:
    """Says what was made, of how many facts, and why of the others none was."""
    exact = sum(one.exact for one in made.questions)
    used = len({one.fact.id for one in made.questions})
    where = f"{output}: " if output else ""
    show.note(f"{where}{len(made.questions):,} questions ({exact:,} exact) of {used:,} of {made.facts:,} facts")
    kinds = Counter(one.asked.implicit or "none" for one in made.questions)
    if kinds:
        show.note("conditions: " + ", ".join(f"{name} {kinds[name]:,}" for name in ("none", "first", "last")))
    for reason, count in sorted(made.dropped.items(), key=lambda item: -item[1]):
        show.note(f"none of {count:,} facts: {reason}")
