"""The command line: commands, their options, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from mrag import __version__
from mrag.cli import output as show
from mrag.cli import texts as take
from mrag.cli.export import export
from mrag.cli.loading import Models, Provider, encoder_option, provider_option
from mrag.cli.models import models
from mrag.cli.options import NamedPath, as_json, assume_present, date, profile, reference, window
from mrag.errors import InputError, MragError

if TYPE_CHECKING:
    from mrag.adapters.manifest import Level, Precision
    from mrag.adapters.retrievers import RetrieverName
    from mrag.cli.searches import Search
    from mrag.interval import Interval
    from mrag.pipeline import ProfileName, Ranking

INTERRUPTED = 130


class Commands(click.Group):
    """A group whose commands end in an exit code and one clear line, whatever happens in them."""

    def invoke(self, ctx: click.Context) -> object:
        """Runs a command; 0 done, 1 error, 2 wrong usage, 130 interrupted."""
        show.prepare()
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, click.Abort):
            self._fail("interrupted", INTERRUPTED)
        except MragError as error:
            self._fail(f"error: {error}")
        except OSError as error:
            if error.errno == errno.EPIPE:
                _leave_quietly()
            self._fail(f"error: {_os_message(error)}")
        except MemoryError:
            self._fail("error: out of memory: hand in fewer or shorter texts at a time")
        except Exception as error:
            if ctx.params["debug"]:
                raise
            kind = type(error).__name__
            self._fail(f"error: unexpected {kind}: {error} (a bug: please report it, with what mrag --debug shows)")

    @staticmethod
    def _fail(message: str, code: int = 1) -> NoReturn:
        try:
            show.note(message)
        finally:
            raise click.exceptions.Exit(code)


def _os_message(error: OSError) -> str:
    """An operating system's error as a sentence that names the file, if there is one."""
    reason = error.strerror or str(error)
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else f"cannot go on: {reason}"


def _leave_quietly() -> NoReturn:
    """Ends a command whose reader has gone: nobody is left to tell, and what is buffered must not fail at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        raise click.exceptions.Exit(0)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mrag", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, envvar="MRAG_DEBUG", help="Show where an unexpected error came from.")
def cli(debug: bool) -> None:
    """Find the evidence for questions about a point in time.

    What is asked is matched by meaning, when by calendar arithmetic. Results go to standard output, as a table or,
    with --json, as one JSON object a line; everything else goes to standard error.

    \b
    Examples:
      mrag search "Who was the UK prime minister as of 6 May 2021?"
      mrag parse "Who last won the cup before 2010?"
      mrag dates "She chaired the board from 1999 to 2006."
    """


@cli.command(name="parse")
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION...|-")
@as_json
@reference
@assume_present
def parse_command(questions: tuple[str, ...], as_json: bool, reference: Interval | None, assume_present: bool) -> None:
    """Take questions apart: what is asked, and the time it is asked for.

    A - stands for the lines of standard input, a question a line; every line gives one result. A question that
    begins with a dash comes after --.

    \b
    Examples:
      mrag parse "Who was the last to own the mill before 1981?"
      mrag parse --json --reference 2021-05-06 "Who won last year?"
      mrag parse --json - < questions.txt
    """
    from mrag.keywords import keywords, shown
    from mrag.question import parse

    _need_reference(assume_present, reference)
    for number, text in enumerate(take.texts(questions)):
        question = parse(text, reference=reference, assume_present=assume_present)
        words = shown(keywords(question.main_content))
        if as_json:
            show.write_json(show.question_row(question, words))
        else:
            show.write(("\n" if number else "") + show.question_table(question, words))


@cli.command()
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


@cli.command()
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
    from mrag.pipeline import Settings, rank_texts
    from mrag.question import parse

    _need_reference(assume_present, reference)
    asked = parse(_question(question), reference=reference, assume_present=assume_present)
    ranking = rank_texts(asked, take.passages(file), settings=Settings(profile=profile))
    for place, evidence in enumerate(ranking.evidence, 1):
        if as_json:
            row = {"rank": place, "id": evidence.passage.id, "text": evidence.passage.text, **show.scores_row(evidence)}
            show.write_json(row)
        else:
            show.write(f"{place:>3}  {evidence.score:.2f}  {show.shorten(evidence.passage.text, show.width() - 11)}")
    _say_if_nothing_fits(ranking)


@cli.command()
@click.argument("paths", nargs=-1, metavar="PATH...", type=NamedPath())
@click.option("-o", "--output", type=NamedPath(), metavar="DIR", help="The folder of the index.")
@click.option("--add", is_flag=True, help="Add the passages to the index in DIR; else it is built anew.")
@click.option("--skip-bad", is_flag=True, help="Leave out what cannot be used, and say so, instead of ending there.")
@click.option("--verify", type=NamedPath(), metavar="DIR", help="Check every byte of an index.")
@click.option("--upgrade", type=NamedPath(), metavar="DIR", help="Make an index of an older mrag anew.")
@encoder_option
@click.option(
    "--vectors",
    type=click.Choice(["passages", "sentences"]),
    help="What --encoder makes vectors of: passages alone, or their sentences too.  [default: passages]",
)
@click.option(
    "--precision",
    type=click.Choice(["float32", "float16", "int8"]),
    help="How the vectors are stored.  [default: float32]",
)
@provider_option
@click.option("--workers", type=click.IntRange(1), help="Processes that share the work; as many as there are cores.")
@as_json
def index(
    paths: tuple[Path, ...],
    output: Path | None,
    add: bool,
    skip_bad: bool,
    verify: Path | None,
    upgrade: Path | None,
    encoder: str | None,
    vectors: Level | None,
    precision: Precision | None,
    provider: Provider,
    workers: int | None,
    as_json: bool,
) -> None:
    """Build an index of passages, in which `mrag search --index` finds them.

    A PATH is a file of JSON lines (id, text; optionally title, section, date, valid_from, valid_to; .gz too), a BEIR
    folder, or .txt and .md files or a folder of them, which are cut into passages. Dates and sentences are found
    here, once. An index that was there stays whole until the new one is. With --encoder it holds vectors, so that
    `mrag search` can go by meaning, too; a build that was stopped meanwhile goes on where it was.

    \b
    Examples:
      mrag index passages.jsonl.gz -o club.index
      mrag index notes/ minutes/*.md -o club.index --add
      mrag index passages.jsonl.gz -o club.index --encoder minilm --vectors sentences
      mrag index --verify club.index
    """
    from mrag.adapters import store
    from mrag.adapters.workers import cores
    from mrag.cli import loading

    if [bool(paths or output or add), verify is not None, upgrade is not None].count(True) != 1:
        raise click.UsageError("Name PATHs and -o DIR, or --verify DIR, or --upgrade DIR.")
    if verify is None and upgrade is None and (not paths or output is None):
        raise click.UsageError("Name the PATHs to read and, with -o DIR, the folder to write.")
    if verify is not None and (encoder or vectors or precision):
        raise click.UsageError("--verify needs no --encoder: it checks the vectors as they are.")
    left_out = 0

    def tell_bad(error: InputError) -> None:
        nonlocal left_out
        left_out += 1
        show.note(f"left out: {error}")

    model = loading.load_encoder(Models(encoder=encoder, provider=provider), show.note)
    said = ""
    with loading.warnings_as_notes(), _going_on_said(model is not None), show.progress("passages") as tell:
        options: dict[str, Any] = {"encoder": model, "vectors": vectors, "precision": precision}
        options |= {"workers": workers or cores(), "progress": tell}
        if verify is not None:
            folder, said = verify, "is whole"
            store.verify(verify)
        elif upgrade is not None:
            folder, said = upgrade, "made anew" if store.upgrade(upgrade, **options) else "needs no upgrade"
        elif output is not None:
            folder = output
            options["on_bad"] = tell_bad if skip_bad else None
            store.add(output, paths, **options) if add else store.build(paths, output, **options)
            said = f"{left_out:,} left out" if left_out else ""
    held = {what: count for what, count in store.counts(folder).items() if count}
    if as_json:
        show.write_json({"index": str(folder), **held})
    else:
        shown = ", ".join(f"{count:,} {what}" for what, count in held.items())
        show.write(f"{folder}: {shown}" + (f", {said}" if said else ""))


@contextmanager
def _going_on_said(with_vectors: bool) -> Iterator[None]:
    """Says, where a build is interrupted, that its vectors are kept."""
    try:
        yield
    except KeyboardInterrupt:
        if with_vectors:
            show.note("the vectors made so far are kept: the same command goes on from there")
        raise


@cli.command()
@click.argument("question", required=False)
@click.option("--index", type=NamedPath(), metavar="DIR", help="The index to search; else a small demo.")
@click.option("-k", type=click.IntRange(1), default=10, show_default=True, help="How many passages to show.")
@profile
@click.option("--no-temporal", is_flag=True, help="The plain retriever: time plays no part.")
@reference
@assume_present
@click.option("--as-of", callback=date, metavar="DATE", help="The time asked for, if the question names none.")
@click.option("--within", callback=window, metavar="START..END", help="Only passages that hold a date in it.")
@click.option(
    "--retriever",
    type=click.Choice(["bm25", "dense", "hnsw", "hybrid", "hybrid-hnsw"]),
    help="What finds the first passages: their words, their vectors, both (hybrid); hnsw: about the same, for many "
    "questions to a large index.  [default: hybrid with --encoder, else bm25]",
)
@encoder_option
@click.option("--reranker", metavar="MODEL", help="A model that scores the sentences: its folder or its name.")
@provider_option
@click.option("--explain", is_flag=True, help="Show the place of each passage after every stage.")
@as_json
@click.option("--queries", type=NamedPath(), metavar="FILE", help="Ask every question of a file.")
@click.option("--workers", type=click.IntRange(1), help="Processes for --queries; as many as there are cores.")
def search(
    question: str | None,
    index: Path | None,
    k: int,
    profile: ProfileName,
    no_temporal: bool,
    reference: Interval | None,
    assume_present: bool,
    as_of: Interval | None,
    within: Interval | None,
    retriever: RetrieverName | None,
    encoder: str | None,
    reranker: str | None,
    provider: Provider,
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
    from mrag.cli import searches
    from mrag.pipeline import Settings

    if (question is None) == (queries is None):
        raise click.UsageError("Ask a QUESTION, or name a file of them with --queries.")
    _need_reference(assume_present, reference)
    settings = Settings(profile=profile, temporal=not no_temporal)
    chosen = Models(retriever, encoder, reranker, provider)
    asked = searches.Search(index, k, settings, reference, assume_present, as_of, within, chosen)
    text = "" if question is None else _question(question)
    if index is None:
        show.note("no --index given: searching the demo corpus of mrag")
    if queries is not None:
        _search_all(asked, queries, workers or cores(), as_json)
        return
    parsed = searches.read(asked, text)
    if as_of is not None and parsed.constraint is not None and parsed.constraint.interval.end != as_of.end:
        show.note(f"note: --as-of plays no part: the question asks for {show.constraint_text(parsed.constraint)}")
    ranking = searches.ask(asked, searches.open_here(asked), parsed)
    if not as_json:
        show.write(
            show.dim(f"{show.on_one_line(parsed.main_content)}  time: {show.constraint_text(parsed.constraint)}")
        )
    for place, evidence in enumerate(ranking.evidence, 1):
        if as_json:
            show.write_json(show.evidence_row(place, evidence, explain=explain))
        else:
            show.write(show.evidence_text(place, evidence, explain=explain))
    if not no_temporal or not ranking.evidence:
        _say_if_nothing_fits(ranking, windowed=within is not None)


def _search_all(search: Search, queries: Path, workers: int, as_json: bool) -> None:
    from mrag.adapters.datasets import read_questions
    from mrag.cli import searches

    questions = read_questions(queries)
    answers = closing(searches.rankings(search, [text for _, text in questions], workers))
    with answers as found, show.progress("questions", among_results=True) as tell:
        for done, ((identity, _), passages) in enumerate(zip(questions, found, strict=True), 1):
            if as_json:
                show.write_json({"id": identity, "ranking": passages})
            else:
                show.write("\t".join([identity, *passages]))
            tell(done, len(questions))


def _question(text: str) -> str:
    """A question that can be asked; InputError for a blank one."""
    if not text.strip():
        raise InputError("the question is empty: ask one, e.g. mrag search 'Who won in 1999?'")
    return take.whole(text)


def _need_reference(assume_present: bool, reference: Interval | None) -> None:
    if assume_present and reference is None:
        raise click.UsageError("--assume-present needs --reference: the day that is the present.")


def _say_if_nothing_fits(ranking: Ranking, *, windowed: bool = False) -> None:
    constraint = ranking.question.constraint
    if not ranking.evidence:
        within = " and a date inside --within" if windowed else ""
        show.note(f"nothing found: no passage holds a word of the question{within}")
    elif constraint is not None and constraint.relation is not None and not ranking.fits:
        show.note(f"note: nothing found is dated to fit the time asked for ({show.constraint_text(constraint)})")


@cli.command()
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


cli.add_command(export)
cli.add_command(models)


def main() -> None:
    """The console script."""
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: cleaned up
        cli(prog_name="mrag")
    except OSError as error:  # of --help and --version, which click writes before any command is invoked
        with suppress(OSError):
            show.note(f"error: {_os_message(error)}")
        raise SystemExit(1) from None
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not meet Python ending its workers
        raise
