"""What a language model's reply says of a question, taken only where it holds against the question.

The reply is what a stranger may have had a hand in: the question can hold instructions. So nothing of it is believed
that the question's own words, its dates, the calendar and the table of periods do not bear out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mrag.errors import InputError
from mrag.interval import Interval, civil, join, parse_iso, since
from mrag.question import RELATIONS, Constraint, Question, Relation, bound, bounds
from mrag.questions import anchors, periods
from mrag.questions.asked import LOWER, UPPER, Span, asked_dates, event_date, titles
from mrag.questions.implicit import CONDITIONS, Condition, past
from mrag.text import term, words
from mrag.timex import Timex, scan

Word = tuple[str, int, int]  # as text.words gives them


class RefusedError(Exception):
    """A reply that is not taken; its message says why."""


class Claim(NamedTuple):
    """What the reply says, each part of the right type and nothing of it checked yet."""

    main_content: str
    relation: Relation | None
    implicit: Condition | None
    start: str | None
    end: str | None
    event: str | None
    keywords: tuple[str, ...]


def accept(rules: Question, reply: str, *, reference: Interval | None = None) -> tuple[Question, tuple[str, ...]]:
    """The question as the reply reads it, and its keywords; RefusedError where the reply does not hold.

    ``rules``: the question as the rules read it. A reply may not deny a time that the rules found.
    """
    claim = read_claim(reply)
    text = " ".join(rules.text.split())
    dates = scan(text, reference=reference)
    constraint: Constraint | None = None
    cut: list[Span] = []
    if claim.relation is None:
        if claim.start or claim.end or claim.event:
            raise RefusedError("it gives a date without a relation")
        if rules.constraint is not None and rules.constraint.relation is not None:
            raise RefusedError("it leaves out the time that the question asks for")
    elif claim.event is None:
        constraint, cut = _dated(text, dates, claim, claim.relation)
    else:
        constraint, cut = _resolved(text, dates, claim, claim.event, claim.relation, reference)
    if claim.implicit is not None:
        if not _SAYS[claim.implicit].search(text.lower()):
            raise RefusedError(f"the question asks for no {claim.implicit} of several")
        constraint = replace(constraint or Constraint(None, None, Interval()), implicit=claim.implicit)
    content = _main_content(text, claim, cut)
    if constraint is None:
        content = text
    return Question(rules.text, content, constraint), _keywords(text, cut, claim.keywords)


# --- the JSON object in a reply ------------------------------------------------------------------------

_MOST_REPLY = 8_000  # characters
_DEEPEST = 4
_MOST_TRIES = 8  # opening braces at which an object is looked for
_BRACKETS = re.compile(r"[\[\]{}]")
_MOST_KEYWORDS = 40


def read_claim(reply: str) -> Claim:
    """The claim in a reply: its first JSON object with a main content, whatever stands around it.

    >>> read_claim('Here: {"main_content": "Who led it?", "relation": "in", "start": "2010", "end": "2010"}').end
    '2010'
    """
    found = _found_object(reply)
    main_content = found.get("main_content")
    if not isinstance(main_content, str) or not main_content.strip():
        raise RefusedError("its main content is no text")
    relation, implicit = _text(found, "relation"), _text(found, "implicit")
    known = next((name for name in RELATIONS if name == relation), None)
    if relation is not None and known is None:
        raise RefusedError("its relation is none that there is")
    if implicit not in (None, "first", "last"):
        raise RefusedError('its implicit condition is neither "first" nor "last"')
    keywords = found.get("keywords", [])
    if not isinstance(keywords, list) or len(keywords) > _MOST_KEYWORDS:
        raise RefusedError("its keywords are no short list")
    if not all(isinstance(word, str) for word in keywords):
        raise RefusedError("its keywords are no texts")
    return Claim(
        " ".join(main_content.split()),
        known,
        "first" if implicit == "first" else "last" if implicit == "last" else None,
        _date(found, "start"),
        _date(found, "end"),
        _text(found, "event"),
        tuple(keywords),
    )


def _found_object(reply: str) -> dict[str, object]:
    """The first JSON object with a "main_content" in a reply, in time linear in its length."""
    if len(reply) > _MOST_REPLY:
        raise RefusedError(f"it is longer than {_MOST_REPLY} characters")
    reply = reply.rpartition("</think>")[2]
    depth = 0
    for match in _BRACKETS.finditer(reply):
        depth += 1 if match.group() in "[{" else -1
        if depth > _DEEPEST:
            raise RefusedError("it is nested too deep")
    at = reply.find("{")
    for _ in range(_MOST_TRIES):
        if at < 0:
            break
        try:
            found, behind = _DECODER.raw_decode(reply, at)
        except ValueError:
            behind = at + 1
        else:
            if isinstance(found, dict) and "main_content" in found:
                return found
        at = reply.find("{", behind)
    raise RefusedError("it holds no JSON object with a main content")


def _pairs(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RefusedError("it gives a key twice")
    return found


def _year(digits: str) -> int:
    """The only number that has a place in a reply is a year."""
    if len(digits) > 6:
        raise RefusedError("it holds a number that is no year")
    return int(digits)


def _no_number(text: str) -> object:
    raise RefusedError("it holds a number that is no year")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_year, parse_float=_no_number, parse_constant=_no_number
)


def _text(found: dict[str, object], key: str) -> str | None:
    """A text of the reply; nothing, and the words for nothing, are None."""
    value = found.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise RefusedError(f"its {key} is no text")
    value = value.strip()
    return None if value.lower() in ("", "null", "none") else value


def _date(found: dict[str, object], key: str) -> str | None:
    """A date of the reply, nothing of it checked; a year may be a number."""
    value = found.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"-{-value:04d}" if value < 0 else f"{value:04d}"
    return _text(found, key)


def _iso(text: str) -> Interval:
    try:
        return parse_iso(text)
    except InputError as error:
        raise RefusedError("it gives a date that is none") from error


# --- dates of the question ------------------------------------------------------------------------------

_AGREES: dict[str | None, tuple[str, ...]] = {  # an operator -> the relations that it can say; the others say their own
    None: ("in", "on"),
    "in": ("in", "on"),
    "on": ("in", "on"),
    "from to": ("from to", "between"),
    "between": ("between", "from to"),
    "during": ("in", "on"),
    "under": ("in", "on"),
    "when": ("in", "on"),
    "at": ("in", "on"),
}


def _check_relation(operator: str | None, relation: Relation) -> None:
    if relation not in _AGREES.get(operator, (operator,)):
        raise RefusedError(f'its relation is not the question\'s: "{relation}"')


def _dated(text: str, dates: Sequence[Timex], claim: Claim, relation: Relation) -> tuple[Constraint, list[Span]]:
    """The constraint from dates that stand in the question, and the spans of their words."""
    start = _iso(claim.start) if claim.start else None
    end = _iso(claim.end) if claim.end else None
    if start is None and end is None:
        raise RefusedError("it gives a relation without a date")
    if start and end and start.start > end.end:
        raise RefusedError("it ends before it starts")
    quoted = titles(text)
    usable = [
        (date, found)
        for date in dates
        if not any(a <= date.core[0] and date.core[1] <= b for a, b in quoted)
        and (found := event_date(text, [date], quoted) if date.name_like else date) is not None
    ]
    for date, found in usable:
        if _is_named(found.named, start, end):
            _check_relation(found.operator, relation)
            cut = [] if date.name_like else [date.span]  # a year in the name of an event stays in it
            return bound(text, replace(found, operator=relation)), cut
    lower = next((d for d, _ in usable if start and d.operator in LOWER and d.named.start == start.start), None)
    upper = next((d for d, _ in usable if end and d.operator in UPPER and d.named.end == end.end), None)
    if lower and upper and lower.named.end < upper.named.start and relation in ("between", "from to"):
        return bounds(text, lower, upper), [lower.span, upper.span]
    raise RefusedError("it gives a date that the question does not hold")


def _is_named(named: Interval, start: Interval | None, end: Interval | None) -> bool:
    """Whether each date given is one of the sides of what the question names."""
    return all(given is None or given.start == named.start or given.end == named.end for given in (start, end))


# --- events of the question -------------------------------------------------------------------------------

_LONGEST_EVENT = 12  # words
_EARLIEST, _LATEST = -5_000, 2_100  # years in which an event is believed
_ABOUT = 366  # days by which a model may miss what the table of periods knows
_ASKS = frozenset("who whom whose what which how why".split())
_ARTICLES = frozenset("the a an his her its their".split())
_NEEDS = {  # what the words behind an operator that is hardly ever one of time must show
    "in": re.compile(
        r"\b(?:era|age|period|times|years|days|reign|rule|presidency|premiership|time|war|crisis|dynasty|wake|aftermath)\b"
    ),
    "on": re.compile(r"\b(?:day|night|eve)\b"),
    "at": re.compile(r"(?:time|start|beginning|outbreak|onset|height|end|close|conclusion) of\b"),
    "under": re.compile(r"\b(?:rule|reign|government|administration|presidency|occupation|king|queen|president)\b"),
}
_NEEDS |= dict.fromkeys(("by", "as of", "around"), _NEEDS["at"]) | dict.fromkeys(
    ("between", "from to"), re.compile("(?!)")
)


def _resolved(
    text: str, dates: Sequence[Timex], claim: Claim, event: str, relation: Relation, reference: Interval | None
) -> tuple[Constraint, list[Span]]:
    """The constraint from an event that the reply dates, and the span of its words."""
    if asked_dates(text, dates, titles(text)):
        raise RefusedError("it dates an event of a question that names a date")
    operator, span, named = _placed(text, event)
    _check_relation(operator, relation)
    interval = _believed(text[named[0] : named[1]], claim, reference)
    timex = Timex(span, (named[1], named[1]), relation, interval)
    for anchor in anchors.find(text):
        if anchor.timex.span[0] < named[1] and named[0] < anchor.timex.span[1]:
            if not anchor.timex.named.overlaps(interval):
                raise RefusedError("it dates an event otherwise than the table of periods")
            timex = anchor.timex
    return bound(text, timex), [span]


def _placed(text: str, event: str) -> tuple[str, Span, Span]:
    """The operator before an event's words in the question, the span of all that, and of the event alone."""
    tokens, asked = words(text), [word.lower() for word, _, _ in words(event)]
    said = [word.lower() for word, _, _ in tokens]
    if not asked or len(asked) > _LONGEST_EVENT or _ASKS & set(asked):
        raise RefusedError("its event is no short phrase")
    at = _place(said, asked)
    if at < 0:
        raise RefusedError("its event does not stand in the question")
    last = at + len(asked)
    first = at
    while first < last and (size := _operator_size(said, first, last)):
        first += size  # "when Ida became mayor": the reply may hold the word of time
    while first < last and said[first] in _ARTICLES:
        first += 1
    if not any(term(word) for word, _, _ in tokens[first:last]):
        raise RefusedError("its event says nothing")
    before = first
    while before and said[before - 1] in _ARTICLES:
        before -= 1
    sizes = (size for size in (4, 3, 2, 1) if size <= before)
    size = next((size for size in sizes if " ".join(said[before - size : before]) in anchors.OPERATORS), 0)
    if not size:
        raise RefusedError("no word of time stands before its event")
    operator = anchors.OPERATORS[" ".join(said[before - size : before])]
    named = (tokens[first][1], tokens[last - 1][2])
    if operator in _NEEDS and not _NEEDS[operator].search(text[named[0] : named[1]].lower()):
        raise RefusedError("its event is no time in the question")
    if any(a < named[1] and named[0] < b for a, b in titles(text)):
        raise RefusedError("its event is a title in the question")
    return operator, (tokens[before - size][1], named[1]), named


def _operator_size(said: Sequence[str], first: int, last: int) -> int:
    """The number of words of the operator that begins at a word; 0: none does."""
    return next(
        (n for n in (4, 3, 2, 1) if first + n < last and " ".join(said[first : first + n]) in anchors.OPERATORS), 0
    )


def _believed(event: str, claim: Claim, reference: Interval | None) -> Interval:
    """When an event was, if what the reply says of it can be."""
    if claim.start is None:
        raise RefusedError("it does not say when its event began")
    start = _iso(claim.start)
    end = _iso(claim.end) if claim.end else None
    years = [civil(day)[0] for day in (start.start, *([end.end] if end else []))]
    if not all(_EARLIEST <= year <= _LATEST for year in years):
        raise RefusedError("its event lies in no time that is known")
    if end is not None and start.start > end.end:
        raise RefusedError("its event ends before it starts")
    if reference is not None and any(given is not None and given.start > reference.end for given in (start, end)):
        raise RefusedError("its event lies in the future")
    interval = since(start) if end is None else join(start, end)
    dates = scan(event, reference=reference)
    rest = event
    for date in reversed(dates):
        rest = rest[: date.span[0]] + " " + rest[date.span[1] :]
        if not date.named.overlaps(interval):
            raise RefusedError("it dates its event otherwise than the question")
    if dates and not any(term(word) for word, _, _ in words(rest)):
        raise RefusedError("its event is a date")
    for known in periods.named(event):
        if known.kind == "term":
            continue
        if known.name == periods.folded(event):
            if not known.interval.overlaps(interval):
                raise RefusedError("it dates an event otherwise than the table of periods")
            return known.interval
        outside = interval.start < known.interval.start - _ABOUT or known.interval.end + _ABOUT < interval.end
        if outside:
            raise RefusedError("it dates an event otherwise than the table of periods")
    return interval


# --- main content and keywords ---------------------------------------------------------------------------

_SAYS = {
    side: re.compile("|".join(rf"\b{marker}\b" for marker, says in CONDITIONS.items() if says == side))
    for side in ("first", "last")
}
_CONDITION_WORDS = frozenset(word for marker in CONDITIONS for word in re.split(r"\W", marker)) | {"very", "time"}
_TIME_WORDS = frozenset(  # that may go with the time, wherever they stand
    "time year years period date day month currently current now today prior following throughout around ahead early"
    " late later earlier shortly soon just right immediately under ever back once still start end beginning".split()
)
_NEGATIONS = frozenset("not nor no never without except if but or".split())
_SIGNS = frozenset(" ?.,'’\"“”!:;-–—()")


def _main_content(text: str, claim: Claim, cut: Sequence[Span]) -> str:
    """The reply's main content: words of the question outside the time, in their order, with all of its names."""
    content = claim.main_content
    if not content.isprintable() or not {sign for sign in content if not sign.isalnum()} <= _SIGNS | set(text):
        raise RefusedError("its main content holds signs that the question does not")
    tokens = [token for token in words(text) if not any(a <= token[1] and token[2] <= b for a, b in cut)]
    kept = _kept(tokens, words(content))
    missing = names = asked = 0
    for number, (word, start, _) in enumerate(tokens):
        free = word.lower() in _TIME_WORDS or (claim.implicit is not None and word.lower() in _CONDITION_WORDS)
        if term(word) is None or free:
            continue
        asked += 1
        if number not in kept:
            missing += 1
            names += start > 0 and word[0].isupper() and not text.isupper()
    if names:
        raise RefusedError("its main content leaves out a name")
    if not kept or 3 * missing > asked:
        raise RefusedError("its main content leaves out what is asked")
    return content[0].upper() + content[1:] if text[0].isupper() else content


def _kept(tokens: Sequence[Word], content: Sequence[Word]) -> set[int]:
    """Which words of the question (their places in ``tokens``) make up the main content, in the same order."""
    said = {word.lower() for word, _, _ in tokens}
    kept: set[int] = set()
    at = 0
    for word, _, _ in content:
        found = term(word)
        if word.lower() in _NEGATIONS and word.lower() not in said:
            raise RefusedError("its main content says the contrary")
        if found is None or word.lower() == "one":
            continue
        while at < len(tokens) and found not in (term(tokens[at][0]), term(past(tokens[at][0].lower()))):
            at += 1
        if at == len(tokens):
            raise RefusedError("its main content holds words that the question does not, or in another order")
        kept.add(at)
        at += 1
    return kept


_NO_KEYWORDS = frozenset("time years for new recent current whom who out place not".split()) | _CONDITION_WORDS
_LONGEST_KEYWORD = 12  # words


def _keywords(text: str, cut: Sequence[Span], listed: Sequence[str]) -> tuple[str, ...]:
    """The keywords that stand in the question, as it writes them; those that only say when are none.

    Words are dropped from the end of one until it stands there (the reference's rule).
    """
    said = words(text)
    low = [word.lower() for word, _, _ in said]
    found: list[str] = []
    for keyword in listed:
        wanted = [word.lower() for word, _, _ in words(keyword)][:_LONGEST_KEYWORD]
        at = _place(low, wanted)
        while at < 0:
            wanted.pop()
            at = _place(low, wanted)
        if not any(term(word) for word in wanted) or " ".join(wanted) in _NO_KEYWORDS:
            continue
        start, end = said[at][1], said[at + len(wanted) - 1][2]
        if not any(a < end and start < b for a, b in cut):
            found.append(text[start:end])
    return tuple(dict.fromkeys(found))


def _place(said: Sequence[str], wanted: Sequence[str]) -> int:
    """Where some words stand one after the other; -1: nowhere."""
    size = len(wanted)
    return next((at for at in range(len(said) - size + 1) if said[at : at + size] == wanted), -1)
