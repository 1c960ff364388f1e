"""Dated facts in the order of time: where each lies to the time that is asked for is calendar arithmetic, not reading.

The paper's reader sorts by year and leaves the rest to the model. Here the dates are read by timex.py, whichever form
they are written in, and each fact says whether it lies before, in or after the asked time, which small models get
wrong most. None is left out for it: what lies before may still have held, and a date can be read wrongly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mrag import spline
from mrag.answers.quoting import MOST_SENTENCE, one_line
from mrag.answers.support import written
from mrag.corpus import Passage
from mrag.interval import OPEN_END, OPEN_START, Interval, Precision, civil, iso_day, period
from mrag.pipeline import Evidence
from mrag.prompts import answer as prompts
from mrag.question import Constraint, Question
from mrag.ranking import about_a_life
from mrag.timex import KINDS, SOURCES, Mention, find_dates

Place = Literal["before", "in", "after", ""]


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence with the date that counts in it, and the passage that it is from."""

    interval: Interval
    text: str
    passage: Passage


def dated(text: str, passage: Passage, question: Question) -> Fact | None:
    """The text, on one line, as a fact; None where it names no date.

    Of several dates the one that fits the question best counts (Appendix G), of equals the first; the dates of a life
    count only where a life is asked for. Relative dates are dated against the date of the passage.

    >>> from mrag.question import parse
    >>> fact = dated("Moe led it in 1999 and 2006.", Passage("1", ""), parse("Who led it as of 2010?"))
    >>> str(fact.interval)
    '2006'
    """
    line = one_line(text, MOST_SENTENCE)
    life = _asks_a_life(question)
    mentions = [m for m in find_dates(line, reference=written(passage)) if life or m.kind != "life"]
    return Fact(_best(mentions, question.constraint, life).interval, line, passage) if mentions else None


def _asks_a_life(question: Question) -> bool:
    return about_a_life(question.main_content)


def _best(mentions: list[Mention], constraint: Constraint | None, life: bool) -> Mention:
    if constraint is None or len(mentions) == 1:
        return mentions[0]
    scores = spline.interval_scores(
        constraint,
        np.array([mention.interval.start for mention in mentions], dtype=np.int32),
        np.array([mention.interval.end for mention in mentions], dtype=np.int32),
        np.array([KINDS.index(mention.kind) for mention in mentions], dtype=np.uint8),
        np.array([SOURCES.index(mention.source) for mention in mentions], dtype=np.uint8),
        life=life,
    )
    return mentions[int(np.argmax(scores))]


def of_evidence(found: Iterable[Evidence], question: Question) -> tuple[Fact, ...]:
    """The timeline without a model: the deciding sentences that name a date themselves.

    The date is the one that decided, which may lean on the text around it ("In May", in a passage about 1999).
    """
    facts = []
    for evidence in found:
        fact = dated(evidence.sentence, evidence.passage, question)
        decided = evidence.mention
        if decided is not None and decided.source == "own" and (decided.kind != "life" or _asks_a_life(question)):
            fact = Fact(decided.interval, one_line(evidence.sentence, MOST_SENTENCE), evidence.passage)
        if fact is not None:
            facts.append(fact)
    return in_order(facts)


def in_order(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Facts by their first day; what is held until a year stands by that year. Of two that say the same the first."""

    def days(fact: Fact) -> tuple[int, int]:
        start, end = fact.interval.start, fact.interval.end
        if start == OPEN_START and end != OPEN_END:
            start = period(*civil(end)[: fact.interval.end_precision + 1]).start
        return start, end

    told: dict[tuple[Interval, str], Fact] = {}
    for fact in facts:
        told.setdefault((fact.interval, fact.text), fact)
    return tuple(sorted(told.values(), key=days))


# --- to the asked time ---------------------------------------------------------------------------------


def place(interval: Interval, question: Question) -> Place:
    """Where a date lies to the time that a question asks for; "" where it asks for none.

    >>> from mrag.interval import parse_iso
    >>> from mrag.question import parse
    >>> [place(parse_iso(year), parse("Who led it before 2010?")) for year in ("1999", "2010")]
    ['in', 'after']
    """
    if question.constraint is None or question.constraint.relation is None:
        return ""
    asked = question.constraint.window()
    return "before" if interval.end < asked.start else "after" if interval.start > asked.end else "in"


def line(fact: Fact, question: Question) -> str:
    """A fact as a prompt has it: "1990 to 1998 (in the asked time): Lise Holm was mayor ..."."""
    return prompts.fact(spoken(fact.interval), place(fact.interval, question), fact.text)


def spoken(interval: Interval) -> str:
    """An interval in words: 2019-03, 1990 to 1998, since 2011, until 44 BC.

    >>> from mrag.interval import parse_iso
    >>> spoken(parse_iso("2019-03")), spoken(Interval(end=parse_iso("-0043").end, end_precision=Precision.YEAR))
    ('2019-03', 'until 44 BC')
    """
    start, end = _ends(interval)
    if start and end:
        return start if start == end else f"{start} to {end}"
    return f"since {start}" if start else f"until {end}" if end else "at any time"


def asked_time(constraint: Constraint | None) -> str:
    """The time that is asked for, in words: as of 2010, between 1999 and 2006; "" where none is.

    >>> from mrag.question import parse
    >>> asked_time(parse("Who led it after May 2010?").constraint)
    'after 2010-05'
    """
    if constraint is None or constraint.relation is None:
        return ""
    start, end = _ends(constraint.interval)
    if start and end and start != end:
        return f"between {start} and {end}"
    relation = "in" if constraint.relation in ("from to", "between") else constraint.relation
    return f"{relation} {start or end or 'any time'}"


def _ends(interval: Interval) -> tuple[str, str]:
    """Both ends in words, "" where open."""
    return (
        "" if interval.start == OPEN_START else _named(interval.start, interval.start_precision),
        "" if interval.end == OPEN_END else _named(interval.end, interval.end_precision),
    )


def _named(day: int, precision: Precision) -> str:
    year = civil(day)[0]
    return f"{1 - year} BC" if year < 1 else iso_day(day, precision)
