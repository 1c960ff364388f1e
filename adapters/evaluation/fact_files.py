"""Files of dated facts -> facts on their timelines; a file of questions that name their time is read as one, too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from mrag.adapters.reading.field_dates import read_date
from mrag.adapters.reading.records import Record, read_records
from mrag.contrast.facts import ALWAYS_WAS, STILL_IS, Fact, Span, span, within
from mrag.contrast.phrasing import asked_in_the_past
from mrag.errors import InputError
from mrag.interval import OPEN_END, OPEN_START, Interval, civil, period
from mrag.question import Constraint, parse

_OWN = frozenset(("id", "timeline", "source", "question", "answers", "answer", "start", "end", "evidence"))
_REPLACED = frozenset("source_id relation implicit years dates exact base by split truth".split())
_OPEN = ".."
UNKNOWN = span(None, None)


def read_facts(path: str | Path) -> list[Fact]:
    """The facts of a file: JSON lines, a JSON list, or a table with a header, plain or gzip.

    - A record with ``start`` or ``end`` is a fact: ``question`` (without a time; blank or missing: it only competes),
      ``answers`` (a list, or texts joined by " | "; none: not known), ``start`` and ``end`` (2019, 2019-03,
      2019-03-04; null or blank: not known; "..": it always was, it goes on), optionally ``evidence`` (texts).
    - Any other record is a question that names its own time, as in TimeQA's easy split: what it asks is the fact's
      question, the time it names is when the fact held.
    - ``timeline`` (of a fact also ``source``) says among which facts it stands; without it what stands before the
      last "#" of ``id``, and without that the question itself. What else a record holds is kept in ``extra``.
    - Where ids end in "#" and a number, a number that is missing is a fact of which nothing more is known.

    Raises InputError with the place for what cannot be used, an id that comes twice, and a file without facts.
    """
    path = Path(path)
    facts: list[Fact] = []
    places: dict[str, str] = {}
    for record in read_records(path):
        fact = _fact(record, f"{path.name}:{record.number}")
        if (earlier := places.setdefault(fact.id, record.place)) != record.place:
            raise InputError(f"{record.place}: the id {fact.id!r} is taken at {earlier}: give each fact its own")
        facts.append(fact)
    if not facts:
        raise InputError(f'{path}: holds no facts: write {{"id": …, "question": …, "answers": […], "start": …}} a line')
    return [*facts, *_missing(facts)]


def _fact(record: Record, default_id: str) -> Fact:
    fields, place = record.fields, record.place
    identity = _text(fields, "id", place) or default_id
    question = _text(fields, "question", place)
    answers = _texts(fields, "answers" if fields.get("answers") is not None else "answer", place)
    extra = {name: value for name, value in fields.items() if name not in _OWN | _REPLACED}
    named = _text(fields, "timeline", place)
    if "start" not in fields and "end" not in fields:
        if not question:
            raise InputError(
                f'{place}: no "start", "end" or "question": a fact needs its dates, or a question with them'
            )
        identity = _without_split(identity, fields)
        base, held = _taken_apart(question)
        evidence = _texts(fields, "evidence", place)
        return Fact(identity, named or _prefix(identity) or base, base, answers, held, evidence, extra)
    try:
        held = span(_date(fields, "start", ALWAYS_WAS, place), _date(fields, "end", STILL_IS, place))
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    timeline = named or _text(fields, "source", place) or _prefix(identity) or question
    return Fact(identity, timeline, question, answers, held, _texts(fields, "evidence", place), extra)


# --- fields ----------------------------------------------------------------------------------------------------


def _text(fields: Mapping[str, object], name: str, place: str) -> str:
    """A field as text, "" where it is missing."""
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(f'{place}: "{name}" is no text: write a string')
    return str(value).strip()


def _texts(fields: Mapping[str, object], name: str, place: str) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    items = value if isinstance(value, list) else str(value).split(" | ")
    if isinstance(value, (dict, bool)) or not all(isinstance(item, (str, int, float)) for item in items):
        raise InputError(f'{place}: "{name}" holds what is no text: write a list of strings')
    return tuple(text for item in items if (text := str(item).strip()))


def _date(fields: Mapping[str, object], name: str, opened: Interval, place: str) -> Interval | None:
    text = _text(fields, name, place)
    if not text:
        return None
    if text == _OPEN:
        return opened
    try:
        return read_date(text)
    except InputError as error:
        raise InputError(f'"{name}": {error}') from None


# --- questions that name their time ------------------------------------------------------------------------------

_LEFT_OVER = re.compile(  # of "In the period of time from 1990 to 1995, who ..."
    r"^(?:(?:in|during|over|for|spanning) the (?:period|stretch|duration|span|time period|time|months|years)"
    r"(?: of (?:time|years|months))?), ",
    re.IGNORECASE,
)


def _taken_apart(question: str) -> tuple[str, Span]:
    """What a question asks without its time, and when that held; unknown where it names none.

    One that asks for the first or the last of several stays as it is: without that it would ask for something else.
    """
    read = parse(question)
    if read.constraint is None or read.constraint.relation is None:
        return question, UNKNOWN
    if read.constraint.implicit is not None:
        return question, _held(read.constraint)
    base = _LEFT_OVER.sub("", read.main_content)
    return asked_in_the_past(base) or base, _held(read.constraint)


def _held(constraint: Constraint) -> Span:
    """When a fact held that answers a question for a time: as long as a range says, within a date, or unknown."""
    named = constraint.interval
    if constraint.relation in ("from to", "between"):
        return span(_period(named.start, named), _end_period(named))
    if constraint.relation in ("in", "on"):
        return within(named)
    if constraint.relation == "since":
        return span(_period(named.start, named), None)
    if constraint.relation == "until":
        return span(None, _end_period(named))
    return UNKNOWN


def _period(day: int, named: Interval) -> Interval:
    return period(*civil(day)[: named.start_precision + 1])


def _end_period(named: Interval) -> Interval:
    return period(*civil(named.end)[: named.end_precision + 1])


# --- numbered facts ------------------------------------------------------------------------------------------------

_NUMBERED = re.compile(r"(.*)#(\d{1,4})", re.DOTALL)


class _Place(NamedTuple):
    number: int
    held: Span


def _without_split(identity: str, fields: Mapping[str, object]) -> str:
    """An id without the "/easy" of TimeQA's splits, so that questions of one fact share it."""
    return identity.removesuffix(f"/{fields.get('split') or ''}")


def _prefix(identity: str) -> str:
    return identity.rpartition("#")[0]


def _missing(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The facts whose numbers are missing on a timeline, and those without dates: somewhere between their neighbours.

    That is so where numbers go with time; where they do not, such a fact may have held at any time.
    """
    numbered: dict[str, list[_Place]] = {}
    taken = set()
    for fact in facts:
        match = _NUMBERED.fullmatch(fact.id)
        if match:
            taken.add(fact.id)
            numbered.setdefault(match[1], []).append(_Place(int(match[2]), fact.span))
    for prefix in sorted(numbered):
        places = sorted(numbered[prefix], key=lambda place: place.number)
        for number in range(places[-1].number):
            identity = f"{prefix}#{number}"
            if identity not in taken:
                timeline = next(fact.timeline for fact in facts if fact.id == f"{prefix}#{places[0].number}")
                yield Fact(identity, timeline, "", (), _between(number, places))


def _between(number: int, places: list[_Place]) -> Span:
    starts = [place.held.begins.start for place in places]
    if starts != sorted(starts) or OPEN_START in starts:
        return UNKNOWN
    before = [place.held for place in places if place.number < number]
    behind = [place.held for place in places if place.number > number]
    low = before[-1].ends.start if before else OPEN_START
    high = behind[0].begins.end
    if low > high and before:
        low = before[-1].begins.start
    return within(Interval(low, high)) if low <= high < OPEN_END else UNKNOWN
