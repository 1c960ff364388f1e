"""What the command line prints: JSON lines for programs, tables for people."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mrag.corpus import Passage
    from mrag.decompose import Reading
    from mrag.interval import Interval
    from mrag.pipeline import Evidence, Ranking
    from mrag.question import Constraint, Question
    from mrag.timex import Mention


def prepare() -> None:
    """Standard output and error that print what their encoding lacks as "?", instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def write(text: str) -> None:
    """A line of the result; colours only on a terminal that wants them."""
    click.echo(text, color=None if colours() else False)


def note(text: str) -> None:
    """A line for the person, beside the result."""
    click.echo(text, err=True)


def write_json(row: Mapping[str, object]) -> None:
    """A JSON object on a line of its own, in letters where the encoding has them all, else escaped."""
    line = json.dumps(row, ensure_ascii=not utf8())
    click.echo(line.translate(_LINE_ENDS), color=True)


_LINE_ENDS = str.maketrans({char: f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"})
"""Characters at which some readers end a line although JSON leaves them as they are."""


def utf8() -> bool:
    """Whether standard output takes every letter."""
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"


def colours() -> bool:
    """Whether the result goes to a terminal that shows colours (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and sys.stdout is not None and sys.stdout.isatty()


def width() -> int:
    """Columns of the terminal; 100 where there is none."""
    return max(40, shutil.get_terminal_size((100, 24)).columns)


def bold(text: str) -> str:
    """Set off from its surroundings."""
    return click.style(text, bold=True)


def dim(text: str) -> str:
    """Set back behind its surroundings."""
    return click.style(text, dim=True)


def on_one_line(text: str) -> str:
    """White space and control characters folded, so that a text cannot break a table or steer the terminal."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def shorten(text: str, room: int) -> str:
    """A text on one line, cut at ``room`` characters with an ellipsis.

    >>> shorten("one two  three", 9)
    'one two …'
    """
    line = on_one_line(text[: 4 * room + 1000])
    return line if len(line) <= room else line[: max(room - 1, 0)] + "…"


def fields(rows: Sequence[tuple[str, str]]) -> str:
    """Labels with their texts, which are wrapped beside them."""
    left = max(len(label) for label, _ in rows) + 2
    out = []
    for label, text in rows:
        body = textwrap.wrap(text, width() - left) or [""]
        out.append(f"{dim(label.ljust(left))}{body[0]}".rstrip())
        out += [" " * left + line for line in body[1:]]
    return "\n".join(out)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns are as wide as their widest cell; the last one is cut at the terminal's edge."""
    if not rows:
        return ""
    sizes = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    room = max(width() - sum(sizes) - 2 * len(sizes), 20)
    return "\n".join(
        "  ".join(
            [*(cell.ljust(size) for cell, size in zip(row, sizes, strict=False)), shorten(row[-1], room)]
        ).rstrip()
        for row in rows
    )


@contextmanager
def progress(what: str, *, among_results: bool = False) -> Iterator[Callable[..., None]]:
    """A counter on standard error, if that is a terminal: tell what it gives how many are done, of how many, of what.

    ``among_results``: results are written meanwhile, so there is no counter where they go to a terminal, too.
    """
    live = sys.stderr is not None and sys.stderr.isatty() and not (among_results and sys.stdout.isatty())
    line, shown_at, shown = "", 0.0, what

    def tell(done: int, total: int | None = None, what: str = what) -> None:
        nonlocal line, shown_at, shown
        if live and line and what != shown:
            click.echo(line, err=True)
        line, shown = f"\r{done:,}{f' of {total:,}' if total else ''} {what}", what
        if live and time.monotonic() - shown_at > 0.1:
            shown_at = time.monotonic()
            click.echo(line, err=True, nl=False)

    try:
        yield tell
    finally:
        if live and line:
            click.echo(line, err=True)


# --- questions ------------------------------------------------------------------------------------


def question_row(question: Question, keywords: Sequence[str]) -> dict[str, object]:
    """A question as its JSON object; the first six fields and ``keywords`` are a contract."""
    constraint = question.constraint
    return {
        "text": question.text,
        "main_content": question.main_content,
        "implicit": constraint and constraint.implicit,
        "relation": constraint and constraint.relation,
        "start": constraint and constraint.interval.start_iso,
        "end": constraint and constraint.interval.end_iso,
        "keywords": list(keywords),
        "window": window_row(constraint),
    }


def window_row(constraint: Constraint | None) -> dict[str, str | None] | None:
    """The admissible days of a constraint, first and last; None when it names no time."""
    if constraint is None or constraint.relation is None:
        return None
    window = constraint.window()
    return {"start": window.start_iso, "end": window.end_iso}


def constraint_text(constraint: Constraint | None) -> str:
    """A constraint in words: ``last, before 2010``."""
    if constraint is None:
        return "none"
    when = [constraint.relation, str(constraint.interval).strip(".")] if constraint.relation else []
    return ", ".join(part for part in (constraint.implicit, " ".join(when)) if part)


def question_table(question: Question, keywords: Sequence[str]) -> str:
    """A question taken apart, for people."""
    window = window_row(question.constraint)
    rows = [
        ("question", on_one_line(question.text)),
        ("main content", on_one_line(question.main_content)),
        ("constraint", constraint_text(question.constraint)),
    ]
    if window is not None:
        rows.append(("days", f"{window['start'] or 'any'} to {window['end'] or 'any'}"))
    return fields([*rows, ("keywords", ", ".join(keywords))])


def asked_text(question: Question) -> str:
    """What is asked and when, on one line."""
    return f"{on_one_line(question.main_content)}  time: {constraint_text(question.constraint)}"


def say_how_it_was_read(reading: Reading, as_of: Interval | None) -> None:
    """Says on standard error where a language model had a part in reading a question, and where --as-of has none."""
    constraint = reading.question.constraint
    if as_of is not None and constraint is not None and constraint.interval.end != as_of.end:
        note(f"note: --as-of plays no part: the question asks for {constraint_text(constraint)}")
    if reading.by == "llm":
        note(f"note: read by the language model: {asked_text(reading.question)}")
    elif reading.reason:
        note(f"note: read by the rules: {on_one_line(reading.reason)}")


# --- dates ----------------------------------------------------------------------------------------


def mention_row(mention: Mention) -> dict[str, object]:
    """A date in a text as its JSON object."""
    return {
        "text": mention.text,
        "span": list(mention.span),
        "start": mention.interval.start_iso,
        "end": mention.interval.end_iso,
        "kind": mention.kind,
    }


def when(interval: Interval) -> str:
    """An interval in words: ``2019``, ``2019-03 to 2020``, ``from 2011``, ``to 2003``."""
    start, end = interval.start_iso, interval.end_iso
    if start == end:
        return start or "any time"
    if start is None or end is None:
        return f"from {start}" if end is None else f"to {end}"
    return f"{start} to {end}"


def mentions_table(mentions: Sequence[Mention]) -> str:
    """The dates of a text, for people."""
    if not mentions:
        return dim("no dates")
    return columns([(when(m.interval), m.kind, m.text) for m in mentions])


# --- evidence -------------------------------------------------------------------------------------


def scores_row(evidence: Evidence) -> dict[str, object]:
    """The three scores of a piece of evidence and the date behind them."""
    mention = evidence.mention
    return {
        "score": round(evidence.score, 6),
        "semantic": round(evidence.semantic, 6),
        "temporal": round(evidence.temporal, 6),
        "mention": mention and {**mention_row(mention), "source": mention.source},
    }


def passage_row(passage: Passage) -> dict[str, object]:
    """A passage with the fields that it came with."""
    named = {name: getattr(passage, name) for name in ("title", "section", "date", "valid_from", "valid_to")}
    return {"id": passage.id, **{name: value for name, value in named.items() if value}, **passage.extra}


def evidence_row(rank: int, evidence: Evidence, *, explain: bool = False) -> dict[str, object]:
    """A place of a search's result as its JSON object; what the passage brought along stands under "passage"."""
    row = {
        "rank": rank,
        "id": evidence.passage.id,
        "title": evidence.passage.title,
        "text": evidence.passage.text,
        "sentence": evidence.sentence,
        **scores_row(evidence),
        "fits": evidence.fits,
        "passage": passage_row(evidence.passage),
    }
    if evidence.summarised:
        row["summarised"] = True
    return {**row, "ranks": evidence.ranks} if explain else row


def scores_text(evidence: Evidence) -> str:
    """``0.87 = meaning ...``: the scores of a piece of evidence for people, and the date that decided."""
    mention = evidence.mention
    dated = "undated"
    if mention is not None:
        told = {"own": "", "previous": " of the sentence before", "document": " of the document"}
        where = told.get(mention.source, f" of the {mention.source}")
        dated = f"dated {when(mention.interval)}{where}"
    return f"score {evidence.score:.2f}  meaning {evidence.semantic:.2f}  time {evidence.temporal:.2f}  {dated}"


def evidence_text(rank: int, evidence: Evidence, *, explain: bool = False) -> str:
    """A place of a search's result for people: the sentence that decided, where it stands, and its scores."""
    passage = evidence.passage
    where = " · ".join(filter(None, (passage.title, passage.section)))
    told = f"(summed up) {evidence.sentence}" if evidence.summarised else evidence.sentence
    sentence = textwrap.wrap(on_one_line(told), width() - 4) or [""]
    below = [shorten(f"{where} [{passage.id}]" if where else f"[{passage.id}]", width() - 4), scores_text(evidence)]
    if explain:
        below.append("ranks: " + ", ".join(f"{stage} {place}" for stage, place in evidence.ranks.items()))
    lines = [*map(bold, sentence), *map(dim, below)]
    return f"{rank:>2}  " + "\n    ".join(lines)


def say_if_nothing_fits(ranking: Ranking, *, windowed: bool = False) -> None:
    """Says on standard error that nothing was found, or nothing that is dated to fit."""
    constraint = ranking.question.constraint
    if not ranking.evidence:
        within = " and a date inside --within" if windowed else ""
        note(f"nothing found: no passage holds a word of the question{within}")
    elif constraint is not None and constraint.relation is not None and not ranking.fits:
        note(f"note: nothing found is dated to fit the time asked for ({constraint_text(constraint)})")


def say_why_not_summarised(rankings: Iterable[Ranking]) -> None:
    """Says on standard error how many summaries of the language model were not taken, and why."""
    reasons = Counter(summary.reason for ranking in rankings for summary in ranking.summaries if summary.reason)
    for reason, count in sorted(reasons.items()):
        note(f"note: {count:,} of the summaries are extracts: {on_one_line(reason)}")
