"""mrag search and mrag rank: the passages of an index, or the lines of a file, that answer a question."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mrag.cli import output as show
from mrag.cli import texts as take
from mrag.cli.llm import connected
from mrag.cli.options import NamedPath, as_json, assume_present, need_reference, profile, reference
from mrag.cli.search_options import search_options

if TYPE_CHECKING:
    from mrag.cli.searches import Search
    from mrag.interval import Interval
    from mrag.settings import ProfileName
    from mrag.strategies import LanguageModel


@click.command()
@click.argument("question")
@click.argument("file", metavar="FILE|-")
@profile
@reference
@assume_present
@as_json
def rank(
    question: str, file: str, profile: ProfileName, reference: Interval | None, assume_present: bool, as_json: bool
) -> None:
    """Put the lines of a file into the order in which they answer a question; none is dropped.

    Lines are texts, or JSON objects with a "text" (and "title", "date" ...); - reads them from standard input.

    \b
    Examples:
      grep -h mill notes/*.txt | mrag rank "Who owned the mill as of 1850?" -
      mrag rank --json "Who led the club before 2003?" passages.jsonl
    """
    from mrag.pipeline import rank_texts
    from mrag.question import parse
    from mrag.settings import Settings

    need_reference(assume_present, reference)
    asked = parse(take.question(question), reference=reference, assume_present=assume_present)
    ranking = rank_texts(asked, take.passages(file), settings=Settings(profile=profile))
    for place, evidence in enumerate(ranking.evidence, 1):
        if as_json:
            row = {"rank": place, "id": evidence.passage.id, "text": evidence.passage.text, **show.scores_row(evidence)}
            show.write_json(row)
        else:
            show.write(f"{place:>3}  {evidence.score:.2f}  {show.shorten(evidence.passage.text, show.width() - 11)}")
    show.say_if_nothing_fits(ranking)


@click.command()
@click.argument("question", required=False)
@click.option("-k", type=click.IntRange(1), default=10, show_default=True, help="How many passages to show.")
@click.option("--no-temporal", is_flag=True, help="The plain retriever: time plays no part.")
@search_options
@click.option("--explain", is_flag=True, help="Show the place of each passage after every stage.")
@as_json
@click.option("--queries", type=NamedPath(), metavar="FILE", help="Ask every question of a file (-: standard input).")
@click.option("--workers", type=click.IntRange(1), help="Processes for --queries; as many as there are cores.")
def search(
    question: str | None,
    k: int,
    no_temporal: bool,
    search: Search,
    explain: bool,
    as_json: bool,
    queries: Path | None,
    workers: int | None,
) -> None:
    """Find the passages that answer a question about a point in time.

    Each comes with the sentence that decided, its date, and its scores: meaning, time, and the score that orders the
    list. Without --index a small corpus inside the package is searched. --queries reads JSON lines
    {"id", "question"} or {"_id", "text"} and gives the ids of the passages for each.

    \b
    Examples:
      mrag search "Who was the UK prime minister as of 6 May 2021?"
      mrag search --index club.index --within 1990..1999 "Who led the club?"
      mrag search --index club.index --encoder minilm "Who led the club before 1950?"
      mrag search --index club.index --queries questions.jsonl -k 20 --json > run.jsonl
    """
    from mrag.adapters.workers import cores

    if (question is None) == (queries is None):
        raise click.UsageError("Ask a QUESTION, or name a file of them with --queries.")
    search = replace(search, k=k, settings=replace(search.settings, temporal=not no_temporal))
    text = "" if question is None else take.question(question)
    with connected(search.llm) as model:
        if queries is not None:
            _search_all(search, queries, workers or cores(), as_json, model)
        else:
            _search_one(search, text, explain, as_json, model)


def _search_one(search: Search, text: str, explain: bool, as_json: bool, model: LanguageModel | None) -> None:
    from mrag.cli import searches

    [reading] = searches.read(search, [text], model)
    show.say_how_it_was_read(reading, search.as_of)
    [ranking] = searches.rankings(search, searches.open_here(search, model), [reading.question])
    if not as_json:
        show.write(show.dim(show.asked_text(reading.question)))
    for place, evidence in enumerate(ranking.evidence, 1):
        if as_json:
            show.write_json(show.evidence_row(place, evidence, explain=explain))
        else:
            show.write(show.evidence_text(place, evidence, explain=explain))
    if search.settings.temporal or not ranking.evidence:
        show.say_if_nothing_fits(ranking, windowed=search.window is not None)
    show.say_why_not_summarised([ranking])


def _search_all(search: Search, queries: Path, workers: int, as_json: bool, model: LanguageModel | None) -> None:
    from mrag.cli import searches

    asked = take.questions(queries)
    readings = searches.read(search, [text for _, text in asked], model)
    answers = closing(searches.found_ids(search, [reading.question for reading in readings], workers, model))
    with answers as found, show.progress("questions", among_results=True) as tell:
        for done, ((identity, _), passages) in enumerate(zip(asked, found, strict=True), 1):
            if as_json:
                show.write_json({"id": identity, "ranking": passages})
            else:
                show.write("\t".join([identity, *passages]))
            tell(done, len(asked))
