"""What a date means in a question: relations that words of a question give it, and the event that it dates.

A text tells when something was; a question asks for it, and uses words for that that a text uses otherwise. What
these rules say stands above what the scan of the text has read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mrag.interval import Precision
from mrag.questions.asked import HAPPENING, names_event, stands_alone
from mrag.timex import Timex, scan


class Rule(NamedTuple):
    """Words before a date, the operators that the date may have by itself, what they say, and a question."""

    pattern: str
    operators: tuple[str | None, ...]
    operator: str
    example: str


_IN = (None, "in", "on")

WORDS = (  # they end where the date begins, or its "in" or "on"
    Rule(r"(?:as )?at the time of", _IN, "as of", "Who was captain at the time of 15 June 1981?"),
    Rule(r"as", ("on",), "as of", "Who was the owner as on 31 March 2015?"),
    Rule(r"by the time of", _IN, "by", "Which lines had closed by the time of 1968?"),
    Rule(r"preceding", _IN, "before", "Who ran the school preceding 1955?"),
    Rule(r"on the eve of", _IN, "before", "Which firms traded on the eve of 1914?"),
    Rule(r"in the (?:run|lead|build)[- ]", ("until",), "before", "Who led the army in the run-up to 1914?"),
    Rule(r"in the (?:wake|aftermath) of", _IN, "after", "Who fled in the wake of 1848?"),
    Rule(r"since(?: (?:way )?back)?", ("in", "on"), "since", "Who has led the choir since back in 2010?"),
    Rule(r"as far back as", _IN, "in", "Who ran the inn as far back as 1700?"),
    Rule(r"in the course of", _IN, "in", "Who left in the course of 1914?"),
    Rule(
        r"(?:during|for|in|over|throughout) (?:all|most|much|part|the whole|the rest) of",
        _IN,
        "in",
        "Who was in charge for most of 1914?",
    ),
    Rule(r"(?:in|for|during) (?:the )?fiscal", _IN, "in", "What were the profits in fiscal 2012?"),
    Rule(r"in the year of our lord", _IN, "in", "Who was bishop in the year of our Lord 1348?"),
    Rule(r"near", (None,), "around", "Who was abbot near 1250?"),
    Rule(r"(?:roughly|approximately)", ("in",), "around", "Who ruled roughly in 650 AD?"),
    # other languages
    Rule(r"(?:antes d[eo]l?(?: (?:año|ano))?|prima del|voor)", _IN, "before", "¿Quién fue rey antes de 1700?"),
    Rule(r"(?:despu[eé]s de(?:l año)?|depois de|dopo il|na)", _IN, "after", "Chi era papa dopo il 1958?"),
    Rule(r"(?:sinds|sedan)", _IN, "since", "Wie is burgemeester sinds 1995?"),
    Rule(r"dal", (None, "from to"), "since", "Chi è sindaco dal 1995?"),
    Rule(r"(?:von|van|de|du|da|del|desde)", ("from to",), "from to", "Wer führte die Firma von 1950 bis 1960?"),
    Rule(r"(?:el|il|den)", (None,), "on", "¿Quién era ministro el 6 de mayo de 2021?"),
)
_WORDS = re.compile(rf"\b(?:{'|'.join(f'({rule.pattern})' for rule in WORDS)}) ?$", re.IGNORECASE)
_LONGEST_WORDS = 32
_WORDS_END = frozenset(  # the last words of those, looked up first for speed
    "of as preceding run lead build since back fiscal lord near roughly approximately de do del año ano prima voor"
    " despues después depois il dopo na sinds sedan dal von van du da desde el den".split()
)
_LONGEST_END = 14

# --- what happened in the year named: "until the fire of 1904" asks for a time until 1904 -------------------

_BOUNDS = {
    "before": "before",
    "prior to": "before",
    "after": "after",
    "following": "after",
    "since": "since",
    "until": "until",
    "till": "until",
    "up to": "until",
    "from": "since",
}
_STEPS = (  # in a life, or of a firm or a state
    r"(?:death|birth|marriage|wedding|divorce|accession|retirement|resignation|departure|arrival|appointment|dismissal|"
    r"opening|closure|closing|found(?:ation|ing)|formation|creation|introduction|abolition|dissolution|sale|purchase|"
    r"acquisition|arrest|trial|execution|defeat|victory|launch|fall|signing|return|end|start|outbreak|loss|ban|"
    r"(?:privati|nationali|reorgani)[sz]ation)"
)
_WORD = r"(?!(?:who|whom|what|which|when|where|how|did|and|or|but|in|on|as)\b)[\w'’&.-]{1,30} "
_EVENT_BOUND = re.compile(  # after the crash of, since the war ended in, before the flood that struck in
    rf"(?<!long )(?<!named )(?<!called )\b(?P<bound>{'|'.join(_BOUNDS)}) "
    rf"(?:(?:the|an?|his|her|its|their|[\w-]{{1,30}}['’]s?) (?:{_WORD}){{0,4}}?(?:{HAPPENING}|{_STEPS}) "
    rf"(?:(?:of|with|by|on|at|in|to|from|between|against|that|which) (?:{_WORD}){{1,4}}?)?"
    rf"|(?:the )?(?:{_WORD}){{1,3}}?(?:was |were |had )?(?<!the )(?<! an )(?<! a )(?<!his )(?<!her )(?<!its )(?<!ly )"
    rf"(?-i:[a-z]{{2,20}}ed|began|broke|fell|left|struck|sank|sold|won|lost|came|took|became) (?:{_WORD}){{0,3}}?"
    rf"|(?:leaving|joining|becoming|retiring|resigning|moving|returning|arriving|emigrating|graduating|marrying|"
    rf"divorcing|founding|selling|buying|being [a-z]{{2,20}}) (?:{_WORD}){{0,4}}?)$",
    re.IGNORECASE,
)
_LONGEST_EVENT = 120
_TO = re.compile(r" (?:to|until|till) ", re.IGNORECASE)
_OF = re.compile(r"\bof (?:the )?$", re.IGNORECASE)

# --- a month that is a name or a verb: "Who advised Theresa May in 2017?" ------------------------------------

_MONTH_IN = re.compile(
    r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|january|february|march|april|may|june|july|august|september|"
    r"october|november|december) (?=in )",
    re.IGNORECASE,
)
_MONTH_BEHIND = re.compile(r"(?:^|\b(?:of|for|this|last|next|every|each|and|or|to) |[,(–—-] ?)$", re.IGNORECASE)

# --- a year in front of what there is one of a year: the 1990 population, 2003 winner ----------------------

_YEARLY = re.compile(
    r"(?: (?!(?:who|what|which|did|was|is|and|or|in|on|at|of|for|to|by|with|the)\b)[\w'’&.-]{1,30}){0,3}?"
    r" (?:population|gdp|revenues?|turnover|profits?|sales|budget|salary|winners?|champions?|runners?-up|finalists?|"
    r"mvp|laureates?|recipients?|nominees?|squad|line-?up|roster|captain|coach|manager|mayor|president|chair(?:man|woman)?|"
    r"ceo|minister|secretary|governor|chancellor|rates?|market cap|"
    r"inflation|unemployment|turnout|death toll)(?= (?:of|in|for|at|from|on|was|is|who)\b|[^\w ]*$)",
    re.IGNORECASE,
)


def meant(text: str, dates: Sequence[Timex]) -> list[Timex]:
    """The dates of a question as it means them; in linear time.

    >>> text = "Who ran it on the eve of 1914?"
    >>> [(date.operator, str(date.named)) for date in meant(text, scan(text))]
    [('before', '1914')]
    """
    alone = len(dates) == 1
    return [_meant(text, date, alone) for date in dates]


def _meant(text: str, date: Timex, alone: bool) -> Timex:
    if date.operator is None:
        date = _behind_name(text, date)
    start = date.span[0]
    words = None
    if text[max(0, start - _LONGEST_END) : start].rstrip(" -").rpartition(" ")[2].lower() in _WORDS_END:
        words = _WORDS.search(text, max(0, start - _LONGEST_WORDS), start)
    if words is not None:
        rule = WORDS[(words.lastindex or 1) - 1]
        if date.operator in rule.operators:
            return _with_words(text, date, words.start(), rule)
    if date.operator in (None, "in", "on"):
        return _of_event(text, date) or (_of_a_year(text, date) if alone else date)
    return date


def _with_words(text: str, date: Timex, start: int, rule: Rule) -> Timex:
    """A date with the words before it; without an operator of its own it must be no part of a phrase."""
    if date.operator is None and not stands_alone(text, date):
        return date
    if rule.operator == "on" and date.named.start_precision != Precision.DAY:
        return date  # el 2010, den 1990
    operator = "from to" if date.operator == "from to" else rule.operator  # dal 1958 al 1963
    return replace(date, span=(start, date.span[1]), operator=operator, name_like=False)


def _behind_name(text: str, date: Timex) -> Timex:
    """ "May in 2017" without a preposition is a name, or a verb, and a year."""
    start, end = date.span
    month = _MONTH_IN.match(text, date.core[0], end)
    if month is None or _MONTH_BEHIND.search(text, max(0, start - 8), start):
        return date
    at = month.end()
    years = scan(text[at:end])
    if len(years) != 1:
        return date
    (year,) = years
    return replace(
        year,
        span=(at + year.span[0], at + year.span[1]),
        core=(at + year.core[0], at + year.core[1]),
    )


def _of_event(text: str, date: Timex) -> Timex | None:
    """The date of an event that bounds the asked time, with that bound, or None."""
    start = date.span[0]
    if date.operator is None:
        of = _OF.search(text, max(0, start - 8), start)
        if of is None or date.name_like:
            return None
        start = of.start()
    event = _EVENT_BOUND.search(text, max(0, start - _LONGEST_EVENT), start)
    if event is None or (text[event.start()].isupper() and event.start() > 0):
        return None  # a title: Who starred in After the Wedding in 2006?
    if event["bound"].lower() == "from" and not _TO.search(text, *date.core):
        return None  # Who came home from the war in 1945?
    return replace(date, span=(start, date.span[1]), operator=_BOUNDS[event["bound"].lower()])


def _of_a_year(text: str, date: Timex) -> Timex:
    """The year of "the 1990 population" is the asked one."""
    if date.operator is None and not names_event(text, date) and _YEARLY.match(text, date.core[1]):
        return replace(date, operator="in", name_like=False)
    return date
