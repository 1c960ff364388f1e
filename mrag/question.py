"""A question taken apart: what is asked (main content) and when (temporal constraint)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from mrag.interval import OPEN_END, OPEN_START, Interval, Precision, civil, join, period, since, until
from mrag.questions import anchors
from mrag.questions.asked import LOWER, UPPER, asked_dates, event_date, is_cut, titles, with_followers
from mrag.questions.implicit import Condition, find_condition
from mrag.questions.meant import meant
from mrag.questions.wording import Edit, apply_edits, date_edits
from mrag.timex import Timex, scan

Relation = Literal["as of", "from to", "until", "before", "after", "around", "between", "by", "in", "on", "since"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)

_RELATIONS: dict[str, Relation] = {name: name for name in RELATIONS}


@dataclass(frozen=True, slots=True)
class Constraint:
    """When: a relation to the dates named, and whether the first or the last of several answers is asked for.

    ``interval`` holds the dates as named: before, until, by and as of have only an end, after and since only a
    start, the others both. ``start_included`` and ``end_included`` say whether the period named at that end itself
    counts ("before 2010" and "by 2010" both name 2010). ``relation`` is None when there is only an implicit
    condition; the interval is then open on both sides.
    """

    relation: Relation | None
    implicit: Condition | None
    interval: Interval
    start_included: bool = True
    end_included: bool = True

    def window(self) -> Interval:
        """The admissible days as a closed interval.

        >>> [str(parse(f"Who led {w}?").constraint.window()) for w in ("before 2010", "by 2010", "after May 2010")]
        ['..2009', '..2010', '2010-06..']
        """
        start, end = self.interval.start, self.interval.end
        if not self.start_included:
            start = _named(start, self.interval.start_precision).end + 1
        if not self.end_included:
            end = _named(end, self.interval.end_precision).start - 1
        return replace(self.interval, start=start, end=end)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it came, what it asks without the when, and the when (None: there is none).

    ``keywords``: the words and names that count in the keyword rank; (): all content words (keywords.py).
    """

    text: str
    main_content: str
    constraint: Constraint | None
    keywords: tuple[str, ...] = ()


def parse(question: str, *, reference: Interval | None = None, assume_present: bool = False) -> Question:
    """The main content and the temporal constraint of a question; never raises.

    ``reference`` is what "today" is: without it "last year" stays in the text. ``assume_present`` takes a question
    in the present tense, or with "current" or "latest", and without a date "as of" the reference.

    >>> parse("As of 6 May 2021, who was the latest harbour minister?").main_content
    'Who was the harbour minister?'
    >>> parse("Who first climbed Lhotse after 2006 but before 2010?").constraint
    ... # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    Constraint(relation='between', implicit='first', interval=Interval(...), start_included=False, end_included=False)
    """
    text = " ".join(question.split())
    lead, asked, tail = _asked_sentence(text)
    content, constraint = _read(asked, reference, assume_present)
    if lead or tail:
        if constraint is None or constraint.relation is None or content == asked:
            content, constraint = _read(text, reference, assume_present)
        elif _POINTS_BACK.search(asked):
            content = " ".join(filter(None, (lead, content, tail)))
    return Question(question, content, constraint)


# --- which sentence is the question ------------------------------------------------------------------

_SENTENCE = re.compile(  # where one may begin: behind an end mark, with a word that questions begin with
    r"[.!?][\"”’)]? (?=[\"“(¿]?(?:[Ww](?:ho|hom|hose|hat|hich|hen|here|hy)|[Hh]ow|"
    r"Is|Are|Was|Were|Did|Does|Do|Has|Have|Had|Can|Could|Will|Would|Should|Name|List|Tell|Give|Find|"
    r"As|Since|Before|After|Until|Between|During|In|On|By|At|For|To|From|Around)\b)"
)
_SHORT = re.compile(r"\b(?:[A-Z]|Dr|Mr|Mrs|Ms|St|Prof|Inc|Co|Corp|Ltd|No|vs|Jr|Sr|Capt|Gen|Col|Lt|Sgt|Rev|Hon|Gov)\.$")
_ASKS = re.compile(r"[\"“(¿]?(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:he|she|they|it|him|her|his|their|its|them|this|these|those)\b", re.IGNORECASE)


def _asked_sentence(text: str) -> tuple[str, str, str]:
    """What stands before the sentence that asks (the last one that does), that sentence, what stands behind it."""
    if ". " not in text and "? " not in text and not _SENTENCE.search(text):
        return "", text, ""
    starts = [0] + [
        match.end()
        for match in _SENTENCE.finditer(text)
        if not _SHORT.search(text, max(0, match.start() - 8), match.end() - 1)
    ]
    ends = [*(start - 1 for start in starts[1:]), len(text)]
    for start, end in zip(reversed(starts), reversed(ends), strict=True):
        mark = text.find("? ", start, end) + 1 or end
        if text[mark - 1 : mark] == "?" or _ASKS.match(text, start):
            return text[:start].rstrip(), text[start:mark], text[mark:].lstrip()
    return "", text, ""


# --- the sentence taken apart --------------------------------------------------------------------------

_NOW = re.compile(  # says of itself that the present is meant
    r"\b(?:current(?:ly)?|nowadays|at present|presently|at the moment|these days|right now|now(?=[ ?.!]{0,3}$))\b",
    re.IGNORECASE,
)
_PRESENT_TENSE = re.compile(  # Who is the mayor? Which bank owns the tower? Who leads the guild?
    r"^(?:who|what|which|where|whose|how (?:many|much|old))\b"
    r"(?:(?: [\w'’-]{1,30}){0,6}? (?:is|are|has|have|does|do|owns|holds|leads|runs)|['’]s| [a-z]{1,20}[^\Ws]s)\b",
    re.IGNORECASE,
)
_OTHER_TENSE = re.compile(r"\b(?:was|were|did|had|will|would|used to)\b", re.IGNORECASE)


def _read(text: str, reference: Interval | None, assume_present: bool) -> tuple[str, Constraint | None]:
    """The main content of one question, and its constraint or None."""
    seen = text.lower() if text.isupper() and text.isascii() else text  # WHO WON THE LAST CUP BEFORE 1990?
    dates = meant(seen, scan(seen, reference=reference))
    quoted = titles(seen)
    if any(date.relative for date in dates):
        dates = _without_names(dates, anchors.find(seen))
    asked = asked_dates(seen, dates, quoted)
    constraint = _constraint(seen, asked)
    edits = date_edits(seen, [date for date in with_followers(seen, asked, dates) if is_cut(seen, date)])
    if constraint is None:
        event = event_date(seen, dates, quoted)
        if event is not None:
            constraint = bound(seen, event)
        else:
            dates, constraint, edits = _anchored(seen, dates, quoted)
    before = edits[0].start if edits else None
    if constraint is None and assume_present and reference is not None and _is_present(seen):
        constraint = Constraint("as of", None, until(reference))
        edits = [Edit(*match.span()) for match in (_NOW.search(seen),) if match]
    found = find_condition(
        seen,
        taken=(*quoted, *(date.span for date in dates)),
        before=before,
        dated=bool(asked),
        lower=constraint is not None and constraint.interval.start != OPEN_START,
    )
    if found is not None:
        constraint = replace(constraint or Constraint(None, None, Interval()), implicit=found.condition)
        edits = sorted((*edits, found.edit))
    return apply_edits(text, edits), constraint


def _anchored(
    text: str, dates: Sequence[Timex], quoted: Sequence[tuple[int, int]]
) -> tuple[list[Timex], Constraint | None, list[Edit]]:
    """The constraint that well-known periods make, the dates with them, and the edits that cut their words.

    Words that say where as well ("under the Ming dynasty") are cut only where the rest of the question names something.
    """
    found = anchors.find(text)
    if not found:
        return [*dates], None, []
    periods = [anchor.timex for anchor in found]
    asked = asked_dates(text, periods, quoted)
    edits = date_edits(text, with_followers(text, asked, periods))
    if any(anchor.local for anchor in found if anchor.timex in asked):
        rest = apply_edits(text, edits)
        if not any(word[0].isupper() for word in rest.split()[1:]):
            edits = []
    return [*dates, *periods], _constraint(text, asked), edits


def _without_names(dates: Sequence[Timex], found: Sequence[anchors.Anchor]) -> list[Timex]:
    """The dates less those in the name of an event: "after the September 11 attacks" is no day of this year."""
    spans = [anchor.timex.span for anchor in found]
    return [date for date in dates if not any(a < date.core[1] and date.core[0] < b for a, b in spans)]


def _is_present(text: str) -> bool:
    """Whether a question asks about the present: "Who is the current mayor?", "Who leads the guild?"."""
    if _NOW.search(text) or "latest" in text:
        return True
    return bool(_PRESENT_TENSE.search(text)) and not _OTHER_TENSE.search(text)


_RANGE = re.compile(r" (?:to|until|till|through) ", re.IGNORECASE)  # starting from June 1993 to 1997
_OPENING = re.compile(r"(?:the )?(?:start|beginning) of ", re.IGNORECASE)  # after the start of 2010
_CLOSING = re.compile(r"(?:the )?(?:end|close) of ", re.IGNORECASE)  # before the end of 2010
_SPLIT_SEASON = re.compile(  # ends, and begins, in the middle of a year: after the 2018/19 season comes still 2019
    r"(?:the )?(?:season (?:of )?[0-9]{4}[/‐‑–—-][0-9]{2,4}|[0-9]{4}[/‐‑–—-][0-9]{2,4} season)", re.IGNORECASE
)


def _constraint(text: str, dates: Sequence[Timex]) -> Constraint | None:
    """What a date says, or a lower and an upper bound together; None for no date."""
    if len(dates) == 2:
        return bounds(text, *sorted(dates, key=lambda date: date.operator in UPPER))
    return bound(text, dates[0]) if dates else None


def bounds(text: str, lower: Timex, upper: Timex) -> Constraint:
    """What two dates say together: "after 2006 but before 2010"."""
    first, last = bound(text, lower), bound(text, upper)
    window = join(first.interval, last.interval)
    return Constraint("between", None, window, first.start_included, last.end_included)


def bound(text: str, date: Timex) -> Constraint:
    """What one date with its operator says."""
    named, relation = date.named, _relation(text, date)
    if relation in UPPER or relation in LOWER:
        if _OPENING.match(text, date.core[0]):
            named = _named(named.start, named.start_precision)
        elif _CLOSING.match(text, date.core[0]):
            named = _named(named.end, named.end_precision)
    within = date.name_like or _in_event(text, date) or _SPLIT_SEASON.fullmatch(text, *date.core) is not None
    if relation == "before":
        return Constraint(relation, None, until(_named(named.start, named.start_precision)), end_included=within)
    if relation == "after":
        bound = _named(named.end, named.end_precision) if named.end != OPEN_END else named
        return Constraint(relation, None, since(bound), start_included=within)
    if relation in UPPER:
        return Constraint(relation, None, until(named))
    return Constraint(relation, None, since(named) if relation in LOWER else named)


def _in_event(text: str, date: Timex) -> bool:
    """Whether the words of a bound stand before an event, not before its date: after the fire of 1904 is still 1904."""
    return text[date.span[0] : date.core[0]].lower().strip() in ("of", "of the", "in", "in the", "on", "on the")


def _relation(text: str, date: Timex) -> Relation:
    named, operator = date.named, date.operator
    if named.end == OPEN_END and operator != "after":
        return "since"
    if operator == "since" and _RANGE.search(text, *date.core):
        return "from to"
    if operator is None:
        return "on" if named.start == named.end else "in"
    if operator == "on" and (named.start_precision != Precision.DAY or named.start != named.end):
        return "in"
    return _RELATIONS[operator]


def _named(day: int, precision: Precision) -> Interval:
    """The day, month or year around a day."""
    return period(*civil(day)[: precision + 1])
