"""How a question about a time is put into words: the question without it, the words of the date, where they stand."""

from __future__ import annotations

import re
from typing import Literal

from mrag.contrast.first_last import BASE_FORMS, ORDERED, PREPOSITIONS, is_past, lacks_its_verb, with_condition
from mrag.contrast.proof import AskedTime
from mrag.interval import Interval, Precision, civil
from mrag.questions.implicit import past
from mrag.timex import scan

Place = Literal["front", "middle", "end"]
PLACES: tuple[Place, ...] = ("front", "middle", "end")

MOST_QUESTION = 600  # characters of a question that is worded anew

# --- the question without a time -----------------------------------------------------------------------------

_ASKS = re.compile(r"\b(?:who|whom|whose|what|which|where|when|how)\b", re.IGNORECASE)
_TELLS = re.compile(r"(?:Name|Identify|Tell me|Give) the ")  # Name the mayor of Lund.
_PRESENT = re.compile(  # Who is the mayor? Which bank has owned the tower? Where does she work?
    r"(?:(?:in|at|on|for|to|under|with) )?(?:who|whom|what|which|where)"
    r"(?: (?!was\b|were\b|did\b|had\b)[\w’'-]+){0,4}? (?P<verb>is|are|has|have|does|do)\b",
    re.IGNORECASE,
)
_IS_WHAT = re.compile(  # The mill is owned by which bank?
    r"(?!(?:who|what|which|where)\b).{0,200}? (?P<verb>is|are) (?:[\w’'-]+ ){0,6}?(?:who|whom|what|which|where)\b",
    re.IGNORECASE,
)
_HELD = re.compile(  # Who leads the club? Which bank owns the tower?
    r"(?:Who|What|Which [a-z]+(?: (?!(?:was|were|had|did)\b)[a-z]+)?) (?P<verb>[a-z]+)s (?=(?:as|in|the|an?)\b|[A-Z\"])"
)
_WAS = {"is": "was", "are": "were", "has": "had", "have": "had", "does": "did", "do": "did"}
_DOES_NOT_END = re.compile(  # what is left where a date has been cut out
    r"\b(?:(?<!come )(?<!came )from|between|until|since|during|and|or|the|an?)\W{0,3}$|\bthat lasted\b", re.IGNORECASE
)
_OWN_TIME = re.compile(  # a time that is no date: after the club was founded, when they won
    r"^(?:When|After|Before|Once|While|Following|During)\b"
    r"|\b(?:after|before|when|while|once|following|during|until|since|upon)"
    r" (?:the|their|his|her|its|he|she|they|it|being)\b"
    r"|\b(?:from|until|since|between|before|after|to|year|in) \d{1,4}\b"
)
_MISMADE = re.compile(  # Did she play for which club? She owned the mill, what was her name?
    r"(?:Did|Was|Were|Is|Are|Will|Can|Could|Would|He|She|It|They)\b"
    r"|(?!Wh|In |At |On |For |To ).{0,200}?\b(?:was|were|held|had|led|owned)\b.{0,200}?, (?:who|what|which|where) was\b"
)
_SENTENCES = re.compile(r"[.?!] [A-Z]")
_NO_STOP = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Jr|Sr|No|Co|Inc|vs)\.")


def asked_in_the_past(question: str) -> str | None:
    """A question without a time as it stands before one is put in: one sentence, in the past; None for what is none.

    >>> asked_in_the_past("who is the mayor of Lund"), asked_in_the_past("Who leads the club?")
    ('Who was the mayor of Lund?', 'Who led the club?')
    >>> asked_in_the_past("Lund has a mayor.") is None
    True
    """
    text = " ".join(question.split()).rstrip(" ?.!")
    if not text or len(text) > MOST_QUESTION or not (_ASKS.search(text) or _TELLS.match(text[0].upper() + text[1:])):
        return None
    if _SENTENCES.search(_NO_STOP.sub("", text)) or "?" in text or _DOES_NOT_END.search(text):
        return None
    if _MISMADE.match(text) or lacks_its_verb(text):
        return None
    text = _in_the_past(text[0].upper() + text[1:])
    return f"{text}{'.' if _TELLS.match(text) else '?'}"


def _in_the_past(text: str) -> str:
    """A question with its verb in the past, where it is a verb whose past is known."""
    match = _PRESENT.match(text) or _IS_WHAT.match(text)
    if match:
        return f"{text[: match.start('verb')]}{_WAS[match['verb'].lower()]}{text[match.end('verb') :]}"
    match = _HELD.match(text)
    if match and match["verb"] in BASE_FORMS:
        return f"{text[: match.start('verb')]}{past(match['verb'])}{text[match.end('verb') + 1 :]}"
    return text


def has_own_time(base: str) -> bool:
    """Whether a question names a time or an order of its own, so that another one would contradict it.

    >>> [has_own_time(f"Who led the club{more}?") for more in (" when they won the cup", " in 1990", " for two years")]
    [True, True, True]
    """
    return bool(_OWN_TIME.search(base) or ORDERED.search(base) or scan(base))


# --- dates -----------------------------------------------------------------------------------------------------

_MONTHS = (
    "January February March April May June July August September October November December"  # as a question has them
).split()
_PLAIN_YEAR = 1000  # before it a year alone is read as a number
_TIMES = {
    "as of": "as of {0}",
    "from to": "from {0} to {1}",
    "until": "until {0}",
    "before": "before {0}",
    "after": "after {0}",
    "around": "around {0}",
    "between": "between {0} and {1}",
    "by": "by {0}",
    "in": "in {0}",
    "on": "on {0}",
    "since": "since {0}",
}


def date_words(date: Interval, *, month_first: bool = False) -> str:
    """A date in English.

    >>> from mrag.interval import period
    >>> [date_words(period(*date)) for date in ((1998,), (1998, 3), (1998, 3, 5), (850,), (-43,))]
    ['1998', 'March 1998', '5 March 1998', 'AD 850', '44 BC']
    """
    year, month, day = civil(date.start)
    name = _MONTHS[month - 1]
    said = str(year) if year > 0 else f"{1 - year} BC"
    if date.start_precision == Precision.YEAR:
        return f"AD {said}" if 0 < year < _PLAIN_YEAR else said
    if date.start_precision == Precision.MONTH:
        return f"{name} {said}"
    return f"{name} {day}, {said}" if month_first else f"{day} {name} {said}"


def time_words(asked: AskedTime, *, month_first: bool = False) -> str:
    """The words of an asked time, without its implicit condition: "from March 1990 to May 1995"."""
    return _TIMES[asked.relation].format(*(date_words(date, month_first=month_first) for date in asked.dates))


# --- where the time stands ---------------------------------------------------------------------------------------

_LOWERED = frozenset("who whom whose what which where when how the a an".split())
_PLAIN_START = re.compile(r"(?!In |At |On |For |To |Under |With |From |By |Name |Identify |Tell |Give |After |Before )")
_MIDDLE = (
    re.compile(  # Who was | the mayor of Lund?
        r"^Who (?:was|were)(?= the (?:[a-z][\w’'.-]* ){0,3}[\w’'.-]+ of [^,]{1,80}(?<!ed to)(?<!ed by)\?$)"
    ),
    re.compile(r"^Who(?= (?:first |last )?(\w+) )"),  # Who | owned the mill?
)
_RANKED = re.compile(r"(?:\bthe|['’]s?) (?:first|last) ")  # "the first owner in 1990" is the first of all, if at all
_CLASHES = frozenset(("in", "on", "by", "from", "at"))  # that no preposition stands before: "live in in 1990"


def wordings(base: str, asked: AskedTime, *, month_first: bool = False) -> dict[Place, str]:
    """A question for an asked time, worded once for each place where the time can stand; {} where none is natural.

    "Until 1990, who last owned it?", but not "who last owned it until 1990", which tells how long it lasted; nor "the
    first owner in 1990", which is no first of that year.

    >>> from mrag.interval import period
    >>> list(wordings("Who owned the mill?", AskedTime("in", "last", (period(1990),))).values())
    ['In 1990, who last owned the mill?', 'Who, in 1990, last owned the mill?', 'Who last owned the mill in 1990?']
    """
    text = base if asked.implicit is None else with_condition(base, asked.implicit)
    if text is None or (asked.relation == "in" and asked.implicit is not None and _RANKED.search(text)):
        return {}
    when = time_words(asked, month_first=month_first)
    found: dict[Place, str] = {}
    if _PLAIN_START.match(text):
        word = text.split()[0].rstrip(",?")
        found["front"] = f"{when[0].upper()}{when[1:]}, {_lowered(text) if word.lower() in _LOWERED else text}"
    for pattern in _MIDDLE:
        match = pattern.match(text)
        if match and (not match.groups() or is_past(match[1])):
            found["middle"] = f"{text[: match.end()]}, {when},{text[match.end() :]}"
            break
    last = text[:-1].split()[-1].lower()
    lasts = asked.relation == "until" and asked.implicit is not None and "front" in found
    if not lasts and not (last in PREPOSITIONS and when.split()[0] in _CLASHES):
        found["end"] = f"{text[:-1]} {when}{text[-1]}"
    return found


def _lowered(text: str) -> str:
    return text[0].lower() + text[1:]
