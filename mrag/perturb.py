"""Dated facts -> questions about other times with the same answers: a contrast set like TempRAGEval (section 3.2).

For each fact a time is drawn for every kind of question (a relation with an implicit condition, proof.RULES) at which
the fact is provably the only answer. Of these kinds so many as are wanted are made, the ones made least so far first.
A question that ``parse`` does not read back to the same time and to the question it was made of is worded otherwise, or
dropped. All that is drawn hangs on the seed and the fact: the order of the facts plays no part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from mrag.contrast.alternatives import Draw, Kind, latest, proved_times
from mrag.contrast.facts import Fact, Gaps, others, span, timelines
from mrag.contrast.facts import gaps as gaps_of
from mrag.contrast.phrasing import PLACES, asked_in_the_past, has_own_time, wordings
from mrag.contrast.proof import AskedTime
from mrag.contrast.rewording import Worded, reworded
from mrag.errors import InputError
from mrag.evaluation.token_runs import fold, holds
from mrag.interval import OPEN_END, OPEN_START, Interval, civil
from mrag.question import parse
from mrag.strategies import LanguageModel

NO_QUESTION = "its question is none that a time can be put into"
OWN_TIME = "its question names a time, a first or a last itself"
GIVEN_AWAY = "its question holds the answer"
UNDATED = "when it held is not known: name its start and end"
AMBIGUOUS = "there is no time at which it alone is known to be the answer"
NOT_READ_BACK = "no wording reads back as meant"


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A question made of a fact. ``base`` is it without its time.

    ``exact``: a year of ``asked`` is one in which the fact began or ended, or stands in its evidence, so that matching
    dates finds it. ``by``: whether the wording is the rules' or the language model's.
    """

    id: str
    fact: Fact
    question: str
    asked: AskedTime
    exact: bool
    base: str
    by: Literal["rules", "llm"] = "rules"


@dataclass(frozen=True, slots=True)
class ContrastSet:
    """The questions made, by timeline and fact. ``facts``: of how many it was tried; ``dropped``: why of how many of
    them none was made; ``kept_wording``: how many of a language model's wordings were not taken."""

    questions: tuple[Perturbed, ...]
    facts: int
    dropped: Mapping[str, int]
    kept_wording: int = 0


def perturb(
    facts: Iterable[Fact],
    *,
    seed: int = 1,
    per_fact: int = 4,
    gaps: Gaps = "empty",
    model: LanguageModel | None = None,
) -> ContrastSet:
    """At most ``per_fact`` questions of each fact, spread evenly over relations and implicit conditions.

    ``gaps``: whether nothing held on the days that no fact of a timeline covers ("empty": the timelines are whole) or
    something that is not known may have ("unknown"). ``model`` words the questions anew; a wording that asks for
    another time, or names other things, is not taken. Raises InputError for an id that comes twice.
    """
    if per_fact < 1:
        raise InputError(f"{per_fact} questions of each fact are none: ask for 1 at least")
    made: list[Perturbed] = []
    dropped: Counter[str] = Counter()
    used: Counter[Kind] = Counter()
    tried = 0
    grouped = timelines(facts)
    until = latest(fact.span for timeline in grouped for fact in timeline)
    for timeline in grouped:
        unknown = gaps_of(timeline) if gaps == "unknown" else ()
        for fact in timeline:
            if fact.question and fact.answers:
                tried += 1
                draw = Draw(seed, fact.timeline, fact.id)
                times = proved_times(fact.span, others(fact, timeline, unknown=unknown), draw, until=until)
                found, reason = _questions(fact, times, draw, per_fact, used)
                used.update((one.asked.relation, one.asked.implicit) for one in found)
                made += found
                dropped.update([reason] if reason else [])
    if model is None or not made:
        return ContrastSet(tuple(made), tried, dict(dropped))
    texts = reworded(model, [Worded(one.question, one.fact.answers) for one in made])
    worded = tuple(
        one if text is None else replace(one, question=text, by="llm") for one, text in zip(made, texts, strict=True)
    )
    return ContrastSet(worded, tried, dict(dropped), texts.count(None))


# --- the questions of one fact -----------------------------------------------------------------------------


def _questions(
    fact: Fact, times: list[AskedTime], draw: Draw, most: int, used: Mapping[Kind, int]
) -> tuple[list[Perturbed], str]:
    """The questions of a fact, of the kinds made least so far, and why there is none."""
    base, reason = _base(fact)
    if reason:
        return [], reason
    made: list[Perturbed] = []
    made_so_far = [used[asked.relation, asked.implicit] for asked in times]
    drawn = [draw.three(asked.relation, asked.implicit, "kind") for asked in times]
    for _, _, asked in sorted(zip(made_so_far, drawn, times, strict=True), key=lambda one: one[:2]):
        text = _wording(base, asked, draw) if len(made) < most else None
        if text is not None:
            made.append(Perturbed(f"{fact.id}~{len(made)}", fact, text, asked, _is_exact(fact, asked), base))
    if not times:
        return [], UNDATED if fact.span == span(None, None) else AMBIGUOUS
    return made, "" if made else NOT_READ_BACK


def _base(fact: Fact) -> tuple[str, str]:
    """The question into which times are put, and why it cannot be used ("": it can)."""
    base = asked_in_the_past(fact.question)
    if base is None:
        return "", NO_QUESTION
    if has_own_time(base) or parse(base).constraint is not None:
        return base, OWN_TIME
    folded = fold(base)
    return base, GIVEN_AWAY if any(holds(folded, fold(answer)) for answer in fact.answers) else ""


_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")


def _is_exact(fact: Fact, asked: AskedTime) -> bool:
    """Whether a year that is asked for is a boundary year of the fact or stands in its evidence."""
    known = {*fact.span.boundary_years()}
    known.update(int(year) for text in fact.evidence for year in _YEAR.findall(text))
    return any(civil(date.start)[0] in known for date in asked.dates)


# --- wordings ------------------------------------------------------------------------------------------------

_FRONT, _MIDDLE = 0.35, 0.15  # how often the time stands there, where it can


def _wording(base: str, asked: AskedTime, draw: Draw) -> str | None:
    """A question for a time that reads back as meant, its time in front, in the middle or at the end; or None."""
    where, style, _ = draw.three(asked.relation, asked.implicit, "wording")
    found = wordings(base, asked, month_first=style < 0.5)
    wanted = "front" if where < _FRONT else "middle" if where < _FRONT + _MIDDLE else "end"
    for place in (wanted, *(place for place in reversed(PLACES) if place != wanted)):
        if place in found and reads_back(found[place], asked, base):
            return found[place]
    return None


def reads_back(text: str, asked: AskedTime, base: str) -> bool:
    """Whether a question is read as one that asks ``base`` for a time, and for no other one."""
    question = parse(text)
    return question.constraint == asked.constraint and _bare(question.main_content) == _bare(base)


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(" ?.!").casefold()


Row = dict[str, object]
"""A JSON object."""


def row(one: Perturbed) -> Row:
    """A question as a JSON object: the fields of its fact as they came, then what was made of it.

    ``dates`` are [year, month, day] with 0 for what is not asked, ``start`` and ``end`` those of the fact as ISO
    (null: not known, "..": open), ``implicit`` is "" for none.
    """
    held = one.fact.span
    first = {
        "id": one.id,
        "source_id": one.fact.id,
        "question": one.question,
        "answers": list(one.fact.answers),
    }
    return {
        **first,
        **{name: value for name, value in one.fact.extra.items() if name not in first},
        "relation": one.asked.relation,
        "implicit": one.asked.implicit or "",
        "years": [civil(date.start)[0] for date in one.asked.dates],
        "dates": [_parts(date) for date in one.asked.dates],
        "start": ".." if held.begins.end == OPEN_START else held.begins.start_iso,
        "end": ".." if held.ends.start == OPEN_END else held.ends.end_iso,
        "exact": int(one.exact),
        "base": one.base,
        "by": one.by,
    }


def _parts(date: Interval) -> list[int]:
    """A date as year, month, day, 0 for what it does not name."""
    known = date.start_precision + 1
    return [*civil(date.start)[:known], *(0,) * (3 - known)]
