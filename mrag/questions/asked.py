"""Which of the dates in a question say when the answer must hold, and which only tell what is talked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mrag.interval import join
from mrag.questions.wording import CONNECTOR
from mrag.timex import OPERATORS, Timex

Span = tuple[int, int]

UPPER = frozenset(("as of", "until", "before", "by"))  # relations that bound the asked time above only
LOWER = frozenset(("after", "since"))  # and below only
_MOST_DATES = 100  # of one question that are looked at

# --- dates that are not asked for: each pattern with an example -----------------------------------------

_QUOTE = re.compile("[\"“«‘']")
_QUOTED = re.compile(  # Who wrote "1984"?
    r"\"[^\"]{1,200}\"|“[^“”]{1,200}”|«[^«»]{1,200}»|‘[^‘’]{1,80}’(?!\w)|(?<!\w)'[^']{1,80}'(?!\w)"
)
_QUESTION = re.compile(r"(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)
_SUPPOSED = re.compile(r"[iI]f |[sS]uppos|[aA]ssuming")
_COUNTERFACTUAL = re.compile(  # if he had joined in 2011
    r"\bif (?:[^\s,?;]{1,30} ){1,8}?(?:had|were|hadn['’]t|would)\b[^,?;]{0,300}"
    r"|, (?:if|suppos(?:e|ing)|assuming)\b[^,?;]{0,300}",
    re.IGNORECASE,
)
_EXCEPTED = re.compile(r"\b(?:not|except|excluding|besides|other than|apart from) $", re.IGNORECASE)  # but not in 1996
_BOTH_SIDES = re.compile(  # before and after 2010
    r"\b(?:before|after|during|since|until),? (?:and|or|&) $", re.IGNORECASE
)
_DESCRIBES = re.compile(  # the sculptor born in 1870
    r"(?<!was )(?<!were )(?<!been )(?<!be )(?<!is )(?<!are )\b(?:born|died|founded|established|built|published) $",
    re.IGNORECASE,
)

# --- dates without a preposition -------------------------------------------------------------------------

_BARE_BEFORE = re.compile(r"(?:^|\b(?:of|for|at|em|nel|dans) |[,([] ?)$", re.IGNORECASE)  # champion of 2012
_BARE_BEHIND = re.compile(  # who won the race 2012
    r"[\W_]{0,20}$|[,)\]]|['’]s\b| (?:in|on|at|by|for|from|to|of|and|as|with|who|which|what|did|was|is)\b",
    re.IGNORECASE,
)
_LIST = re.compile(r"(?:,|,? and|,? or| &|/) ?(?:in |on )?", re.IGNORECASE)  # in 1990, 1991 and 1995

_END_OF_RANGE = re.compile(r"\b(?:to|through|till|until)(?: the)? $", re.IGNORECASE)  # from the flood to 1865

# --- dates in the names of events --------------------------------------------------------------------------

HAPPENING = (
    r"(?:olympics?|games|cups?|championships?|tour|races?|regatta|marathon|rally|prix|opens?|masters|league|finals?|"
    r"bowl|tournaments?|contests?|festivals?|awards?|ceremon(?:y|ies)|eurovision|elections?|referendum|vote|census|"
    r"congress|conference|summit|convention|expo|fair|exhibition|season|draft|series|wars?|revolution|rebellion|"
    r"uprising|revolt|invasion|siege|crisis|crash|earthquake|fire|flood|coup|treaty|armistice|truce|ceasefire|accords?|"
    r"battle|massacre|riots?|strikes?|mutiny|putsch|protests?|boycott|blockade|famine|drought|plague|epidemic|pandemic|"
    r"outbreak|bombings?|attacks?|raid|landings?|eruption|hurricane|explosion|disaster|scandal|merger|takeover|buyout|"
    r"recession|partition|(?:re)?unification|independence|abdication|assassination|coronation|collapse|genocide)"
)
_EVENT_BEHIND = re.compile(  # the 2003 Tour of Kent, in 2010 world cup
    r"(?: (?!(?:in|on|at|of|for|to|by|with|from|the|an?|who|what|which|did|was|is|and|or)\b)[\w'’&.-]{1,30}){0,4}?"
    rf" {HAPPENING}\b",
    re.IGNORECASE,
)
_EVENT_BEFORE = re.compile(  # World Cup 2014, the Tour of Kent 2003
    rf"\b{HAPPENING}(?: of(?: the)?(?: [A-Z][\w'’-]{{1,30}}){{0,2}}| [A-Z][\w'’-]{{1,30}})? $", re.IGNORECASE
)
_BESIDE = re.compile(r"the (?:day|week|month|year|decade|century) (?:before|after) ", re.IGNORECASE)
_BEHIND_THE = re.compile(r"\bthe $", re.IGNORECASE)
_EVENT_OF = re.compile(rf"\b{HAPPENING} of $", re.IGNORECASE)  # the rebellion of 1857
_TOPIC = re.compile(
    r"\b(?:about|on|regarding|called|titled|named)(?: the)? $", re.IGNORECASE
)  # a film about the 1972 crash

# --- one of several dates ------------------------------------------------------------------------------------

_ASKED_NEXT = re.compile(  # In 1993, which club ...
    r",? (?:(?:in|at|for|to|on|by|from) )?(?:who|what|which|when|where|why|how)", re.IGNORECASE
)
_FOLLOWS = re.compile(r",? (?:and|but|or)(?: not)? ", re.IGNORECASE)  # before 1990 but not in 1985
_NOTHING_BEHIND = re.compile(r"[\W_]{0,20}$")


def titles(text: str) -> list[Span]:
    """The spans in quotation marks, but for questions that are quoted whole."""
    if not _QUOTE.search(text):
        return []
    return [match.span() for match in _QUOTED.finditer(text) if not _QUESTION.match(text, match.start() + 1)]


def asked_dates(text: str, dates: Sequence[Timex], quoted: Sequence[Span]) -> list[Timex]:
    """The dates of the asked time: one, or a lower and an upper bound in text order; empty when there is none.

    Of more dates than the scheme holds the rest counts as text.
    """
    if not dates:
        return []
    barred = list(quoted)
    if _SUPPOSED.search(text):
        barred += [match.span() for match in _COUNTERFACTUAL.finditer(text)]
    usable = [
        date
        for date in dates[:_MOST_DATES]
        if not date.name_like
        and (date.operator or stands_alone(text, date))
        and not _EXCEPTED.search(text, max(0, date.span[0] - 16), date.span[0])
        and not _BOTH_SIDES.search(text, max(0, date.span[0] - 16), date.span[0])
        and not _within(date.span, barred)
    ]
    if len(usable) < 2:
        return [_with_list(text, usable[0], dates)] if usable else []
    usable = _without_descriptions(text, [date for date in usable if date.operator] or usable)
    first = _asked_date(text, [date for date in usable if date.operator == "as of"] or usable)
    for date in usable:
        if _bound_a_window(first, date) or _bound_a_window(date, first):
            return sorted((first, date), key=lambda date: date.span)
    return [_with_list(text, first, dates)]


def event_date(text: str, dates: Sequence[Timex], quoted: Sequence[Span]) -> Timex | None:
    """The date in the name of an event, with the relation before the name: "before the 2012 Olympics"."""
    for date in dates[:_MOST_DATES]:
        named = date.name_like or (
            date.operator is None and _BEHIND_THE.search(text, max(0, date.core[0] - 5), date.core[0])
        )
        if named and names_event(text, date) and not _within(date.core, quoted):
            before = text[max(0, date.core[0] - 32) : date.core[0]].lower().split()
            if before[-1:] == ["the"]:
                before.pop()
            said = (OPERATORS.get(" ".join(before[-size:])) for size in (3, 2, 1))
            operator = next((name for name in said if name), "in")
            return replace(date, operator="in" if operator in ("by", "from to", "between") else operator)
    return None


def names_event(text: str, date: Timex) -> bool:
    """Whether a date stands in the name of an event: the 1998 election, World Cup 2014, the rebellion of 1857."""
    start, end = date.core
    if date.operator in ("in", "on") and date.span[0] > 0:
        return bool(_EVENT_BEHIND.match(text, end))
    if date.operator is not None or _TOPIC.search(text, max(0, start - 16), start):
        return False
    before = _EVENT_BEFORE if date.name_like else _EVENT_OF
    return bool(_EVENT_BEHIND.match(text, end) or before.search(text, max(0, start - 80), start))


def is_cut(text: str, date: Timex) -> bool:
    """Whether the words of an asked date leave the text; not those of a name, nor an object: "won the 2010 season"."""
    if names_event(text, date):
        return False
    start = date.core[0]
    if date.operator is not None or text[start : start + 4].lower() != "the ":
        return True
    return bool(_BARE_BEFORE.search(text, max(0, start - 8), start) or _BESIDE.match(text, start))


def _within(span: Span, spans: Sequence[Span]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in spans)


def stands_alone(text: str, date: Timex) -> bool:
    """Whether a date without a preposition can be the asked time: "who won the race 2012", "2012: who won?"."""
    start, end = date.span
    if _END_OF_RANGE.search(text, max(0, start - 16), start):
        return False
    return bool(_BARE_BEFORE.search(text, max(0, start - 8), start) or _BARE_BEHIND.match(text, end, end + 24))


def _without_descriptions(text: str, dates: list[Timex]) -> list[Timex]:
    """The dates less those of "born in 1870", unless there are no others."""
    kept: list[Timex] = []
    behind, describing = 0, False
    for date in dates:
        start = date.span[0]
        goes_on = describing and CONNECTOR.fullmatch(text, behind, start) is not None
        describing = goes_on or _DESCRIBES.search(text, max(0, start - 24), start) is not None
        behind = date.span[1]
        if not describing:
            kept.append(date)
    return kept or dates


def _asked_date(text: str, dates: Sequence[Timex]) -> Timex:
    """Of several dates the one in front of the question word, else the one at the end, else the first.

    Dates in between tell what is talked about ("the coach who left in 2004"). Of a chain ("after 2009 or before
    1999") the first counts.
    """
    chains: list[list[Timex]] = []
    for date in dates:
        gap = (chains[-1][-1].span[1], date.span[0]) if chains else (0, 0)
        if gap[1] - gap[0] > 1 and CONNECTOR.fullmatch(text, *gap):
            chains[-1].append(date)
        else:
            chains.append([date])
    front = chains[0][0]
    if front.span[0] == 0 and _ASKED_NEXT.match(text, chains[0][-1].span[1]):
        return front
    return chains[-1][0] if _NOTHING_BEHIND.match(text, chains[-1][-1].span[1]) else front


def _bound_a_window(lower: Timex, upper: Timex) -> bool:
    """Whether two dates are a lower and an upper bound with a day between them."""
    if lower.operator not in LOWER or upper.operator not in UPPER:
        return False
    start = lower.named.end + 1 if lower.operator == "after" else lower.named.start
    end = upper.named.start - 1 if upper.operator == "before" else upper.named.end
    return start <= end


def _with_list(text: str, first: Timex, dates: Sequence[Timex]) -> Timex:
    """A date with those that a list adds to it: "in 1990 and 1991" asks for 1990 to 1991.

    So does the second date of a range that was written backwards, "between 2010 and 2005".
    """
    for date in dates:
        gap = (first.span[1], date.span[0])
        if gap[0] > gap[1] or date.operator not in (None, first.operator):
            continue
        if first.operator == "between":
            joins = text[gap[0] : gap[1]].lower() == " and "
        else:
            joins = first.operator in ("in", "on", None) and _LIST.fullmatch(text, *gap) is not None
        if joins:
            early, late = sorted((first.named, date.named), key=lambda named: (named.start, named.end))
            named = join(early, late) if early.end <= late.end else early
            first = replace(first, span=(first.span[0], date.span[1]), named=named)
    return first


def with_followers(text: str, asked: Sequence[Timex], dates: Sequence[Timex]) -> list[Timex]:
    """The asked dates and those that hang on behind: the "or before 1990" of "after 2010 or before 1990"."""
    chain = list(asked)
    for date in dates[:_MOST_DATES]:
        if chain and date.span[0] >= chain[-1].span[1] and _FOLLOWS.fullmatch(text, chain[-1].span[1], date.span[0]):
            chain.append(date)
    return chain
