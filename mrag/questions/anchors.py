"""Where a question's time is told by a well-known period: "during the Second World War", "when Obama was president".

A period counts as the asked time only behind words of time and where the sentence is over or goes on without it;
anything else ("Who started the Second World War?", "the Cold War museum") is what is talked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from mrag.interval import OPEN_END, Interval, civil, join, period
from mrag.questions.periods import Known, folded, known_at, named, names_one
from mrag.timex import Timex


class Anchor(NamedTuple):
    """A period with its relation, as a date has one; ``local``: its name says where as well ("the Ming dynasty")."""

    timex: Timex
    local: bool


class Rule(NamedTuple):
    """Words that make a period something else than the asked time, the relations that it is for, and a question."""

    operators: str  # "any", or some of OPERATORS
    pattern: str
    example: str


OPERATORS = {  # as they stand before a period -> what they say: the operator of a date, "under" or "when"
    "during": "during",
    "throughout": "during",
    "in the course of": "during",
    "in": "in",
    "under": "under",
    "on": "on",
    "at": "at",
    "by": "by",
    "as of": "as of",
    "around": "around",
    "before": "before",
    "prior to": "before",
    "ahead of": "before",
    "on the eve of": "before",
    "in the run-up to": "before",
    "after": "after",
    "following": "after",
    "in the aftermath of": "after",
    "in the wake of": "after",
    "since": "since",
    "ever since": "since",
    "until": "until",
    "up until": "until",
    "up to": "until",
    "till": "until",
    "when": "when",
    "while": "when",
    "between": "between",
    "from": "from to",
}
_EDGES = {  # the ... of a period -> which side of it, 0 is all of it
    "start": -1,
    "beginning": -1,
    "outbreak": -1,
    "onset": -1,
    "end": 1,
    "close": 1,
    "conclusion": 1,
    "time": 0,
    "height": 0,
}
_COURSE = re.compile(r" (?:(?P<begins>began|started|broke out)|ended|was over|came to an end)\b")
_CLAUSES = frozenset(("before", "after", "since", "until", "when"))  # what a clause may follow

# --- what period is no time: each rule with an example -------------------------------------------------

NOT_BEHIND = (  # directly before the operator
    Rule("any", r"\bset(?: (?:in|at|on)(?: the)? [\w'-]{1,30})?", "Which novel is set in Leeds during the Cold War?"),
    Rule("any", r"\b(?:from|about|based|than)", "Which bridges from before the Second World War still stand?"),
    Rule(
        "any",
        r"\b(?:depict|portray|describ|shown?)\w{0,3}(?: [\w'-]{1,30}){0,2}",
        "Which film depicts Paris during the Great Depression?",
    ),
    Rule("before after", r"\b(?:came|comes?|coming)", "Which dynasty came after the Ming dynasty?"),
    Rule(
        "before after since",
        r"\b(?:days?|weeks?|months?|years?|decades?|centur(?:y|ies)|generations?|hours?|long|how \w+)",
        "How long after the Second World War did rationing end?",
    ),
    Rule("after", r"\b(?:named|called|look\w{0,3}|is|are|was|were|be|been)", "Which pier is named after D-Day?"),
    Rule("until", r"\b(?:lead|leading|leads|led|build|building|built)", "Which events led up to the Korean War?"),
    Rule(
        "between",
        r"\b(?:difference|link|connection|relation|contrast|comparison|similarit|parallel|gap)\w{0,4}",
        "What is the difference between the First World War and the Second World War?",
    ),
    Rule("under", r"\b(?:serv|fought|fight|studi|stud[yi]|work|train|play|buried)\w{0,4}", "Who served under Hitler?"),
    Rule(
        "in",
        r"\b(?:interest|expert|speciali|result|involv|believ|role|part)\w{0,5}",
        "Who was interested in apartheid?",
    ),
    Rule("on", r"\b(?:book|film|report|article|lecture|documentar|work|essay)\w{0,3}", "Who made the film on D-Day?"),
)
NOT_WITH = (  # anywhere: who takes part in a happening cannot be asked without naming it
    Rule(
        "during in on at",
        r"\b(?:battles?|f[oi]ught|fight(?:ing)?|killed|dies?|died|deaths?|casualt\w{1,4}|soldiers?|troops|weapons?|allies|"
        r"wounded|captured|victims?|perished|hijack\w{0,3}|participat\w{1,4}|involved|sides?)\b",
        "How many soldiers died during the Vietnam War?",
    ),
)


def _patterns(rules: Sequence[Rule], form: str) -> dict[str, re.Pattern[str]]:
    """For each operator the alternatives of its rules."""
    return {
        operator: re.compile(form.format("|".join(rule.pattern for rule in rules if _is_for(rule, operator)) or "(?!)"))
        for operator in dict.fromkeys(OPERATORS.values())
    }


def _is_for(rule: Rule, operator: str) -> bool:
    return rule.operators == "any" or operator in rule.operators.split()


_BEHIND = _patterns(NOT_BEHIND, "(?:{}) $")
_WITH = _patterns(NOT_WITH, "(?:{})")
_LEFT = 80  # characters before an operator that the rules look at

_GOES_ON = re.compile(  # what may stand behind: the end, a pause, or words that begin something new
    r" ?(?:$|[?!.;:)\]\"”])"
    r"|,? (?:and|but|or) (?:not )?(?:before|after|since|until|till|prior|by|during)\b"
    r"|,(?! (?:and|or)\b)"
    r"| (?:who|whom|whose|which|what|where|why|how|did|do|does|in|on|at|to|for|as)\b"
)
_TURNS = re.compile(r" (?:was|were|is|are|had|has|have|could|would)\b")  # During the Blitz was there a curfew?
_SAYS_NOTHING = frozenset(
    "who whom whose what which when where why how much many a an the is are was were be been has have had do does did"
    " it there he she they of in on at to and or happen happened happens occur occurred take took place came come"
    " people things events thing event start started begin began end ended s".split()
)
_WORDS = re.compile(r"\w+")
_COMMA = re.compile(r", (?:the )?")
_INTERWAR = named("interwar period")[0]
_AROUND = 500  # characters on each side of a period in which its question is looked for
_MOST = 100  # operators of one question that are looked at: keeps "in the in the ..." linear

# --- terms of office ----------------------------------------------------------------------------------

_OFFICES = {
    "president": ("president", "head of state"),
    "prime minister": ("prime minister", "pm", "premier"),
    "chancellor": ("chancellor",),
    "crown": ("king", "queen", "monarch", "emperor", "empress", "tsar", "czar", "on the throne"),
    "leader": ("leader", "ruler", "dictator", "general secretary"),
}
_TENURES = {  # words for a term, and whose; "": anyone's
    "presidency": "president",
    "premiership": "prime minister",
    "chancellorship": "chancellor",
    "reign": "crown",
    "administration": "",
    "government": "",
    "rule": "",
    "leadership": "",
    "tenure": "",
    "era": "",
    "years": "",
    "time in office": "",
    "time in power": "",
}
_MEMBERS = frozenset(("administration", "government", "leadership"))  # "in the Nixon administration": a part of it
_SAID = "|".join(word for words in _OFFICES.values() for word in words)
_TITLE = re.compile(rf"(?:(?:us|u\.s\.) )?(?P<office>{_SAID}) ")
_TENURE_OF = re.compile(rf"(?P<tenure>{'|'.join(_TENURES)}) of (?:the )?")
_TENURE = re.compile(rf"(?:'s?)? (?P<tenure>{'|'.join(_TENURES)})(?![\w'-])")
_HELD = re.compile(
    rf" (?:(?:was|is|served as|(?P<became>became)) (?:the )?(?:(?P<land>[a-z.]{{2,12}}) )?(?P<office>{_SAID})"
    r"|(?P<begins>took office|took power|came to power|came to the throne)|(?P<ends>left office|stepped down)"
    r"|was in (?:office|power)|held office|ruled|reigned|governed)(?![\w'-])"
)

# --- the search ----------------------------------------------------------------------------------------

_OPERATOR = re.compile(
    rf"(?<![\w'-])(?P<operator>{'|'.join(sorted(OPERATORS, key=len, reverse=True))}) "
    rf"(?P<edge>(?:the )?(?:very )?(?P<side>{'|'.join(_EDGES)}) of )?(?:the )?"
)
_A_DAY = re.compile(r"day$|\d$")  # on D-Day, on 9/11; but: the attack on Pearl Harbor
_BETWEEN_THE_WARS = re.compile(r"(?:two )?(?:world )?wars\b")
_SECOND = {"between": re.compile(r" and (?:the )?"), "from to": re.compile(r" (?:to|until|till|through) (?:the )?")}
_WITHIN = frozenset(("during", "in", "under", "on", "at", "when"))


def find(text: str) -> list[Anchor]:
    """The periods that a question gives as its time, in text order; in linear time.

    >>> [(a.timex.operator, str(a.timex.named)) for a in find("Who led the guild before the fall of the Berlin Wall?")]
    [('before', '1989-11-09')]
    >>> find("Who started the Second World War?")
    []
    """
    if not names_one(text):
        return []
    low = folded(text)
    found: list[Anchor] = []
    for match in islice(_OPERATOR.finditer(low), _MOST):
        start = match.start()
        if found and start < found[-1].timex.span[1]:
            continue  # the attack on Pearl Harbor
        if start and text[start].isupper() and low[start - 1] not in '"(“':
            continue  # a title: Who sang Before the Fall of Rome?
        read = _read(text, low, match)
        if read is not None and _is_time(low, match, read):
            found.append(_anchor(match, read))
    return found


class _Read(NamedTuple):
    """The days that are meant, where their words end, and what was known; ``part``: they are one side of it."""

    days: Interval
    end: int
    known: Known
    part: bool = False


def _read(text: str, low: str, match: re.Match[str]) -> _Read | None:
    """What stands behind an operator, or None where the tables do not know it or it does not go with the operator."""
    operator, side, at = OPERATORS[match["operator"]], match["side"], match.end()
    if operator == "between" and (wars := _BETWEEN_THE_WARS.match(low, at)):
        return _Read(_INTERWAR.interval, wars.end(), _INTERWAR)
    read = _known(text, low, at, operator, side) or _term(text, low, at, operator, side)
    if read is None or side is None or _EDGES[side] == 0:
        return read
    if read.known.kind == "point":
        return None
    days = _first(read.days) if _EDGES[side] < 0 else _last(read.days)
    return read._replace(days=days, part=True) if days is not None else None


def _known(text: str, low: str, at: int, operator: str, side: str | None) -> _Read | None:
    """A war, an era, a state or an event: "World War II", "the Titanic sank", "World War II ended"."""
    hit = known_at(text, low, at)
    if hit is None or hit[0].kind == "term":
        return None
    known, end = hit
    days = known.interval
    clause = operator in _CLAUSES and side is None
    if known.clause:
        return _Read(days, end, known) if clause else None
    course = _COURSE.match(low, end) if clause and known.kind != "point" else None
    if course is not None:
        edge = _first(days) if course["begins"] else _last(days)
        return _Read(edge, course.end(), known, part=True) if edge is not None else None
    second = _SECOND[operator].match(low, end) if operator in _SECOND else None
    if second is not None:
        return _range(text, low, second.end(), operator, known)
    return _Read(days, end, known) if _suits(operator, side, known) else None


def _suits(operator: str, side: str | None, known: Known) -> bool:
    """Whether an operator makes a time of what is known: "in the Victorian era", not "in the Weimar Republic"."""
    if side is not None:
        return operator not in ("when", "under", "on", *_SECOND)
    kinds = {"in": ("era",), "under": ("state",), "during": ("happening", "era", "state")}
    if operator in kinds:
        return known.kind in kinds[operator]
    if operator == "on":
        return _A_DAY.search(known.name) is not None
    return operator in ("before", "after", "since", "until")


def _range(text: str, low: str, at: int, operator: str, lower: Known) -> _Read | None:
    """The range from one known thing to another, which stands at ``at``: "between D-Day and VE Day"."""
    hit = known_at(text, low, at)
    if hit is None or hit[0].kind == "term" or hit[0].clause:
        return None
    upper, end = hit
    left, right = lower.interval, upper.interval
    if operator == "between" and left.end <= right.start:
        left, right = _last(left) or left, _first(right)
    known = lower if lower.local else upper
    return _Read(join(left, right), end, known, part=True) if left.start <= right.end else None


def _term(text: str, low: str, at: int, operator: str, side: str | None) -> _Read | None:
    """A term of office: "the reign of Henry VIII", "Obama's presidency", "under Thatcher", "Reagan was president"."""
    tenure = _TENURE_OF.match(low, at)
    at = tenure.end() if tenure else at
    title = None
    hit = known_at(text, low, at)
    if hit is None and (title := _TITLE.match(low, at)):
        hit = known_at(text, low, title.end())
    if hit is None or hit[0].office is None:
        return None
    known, end = hit
    if title is not None and title["office"] not in _OFFICES[hit[0].office]:
        return None
    if operator in _CLAUSES and side is None and tenure is None:
        held = _HELD.match(low, end)
        if held is not None:
            return _held(low, held, known, titled=title is not None)
    if tenure is None and (tenure := _TENURE.match(low, end)):
        end = tenure.end()
    if tenure is not None:
        if _TENURES[tenure["tenure"]] not in ("", known.office) or (operator == "in" and tenure["tenure"] in _MEMBERS):
            return None
        fits = operator in ("in", "under", "during") or _suits(operator, side, known)
    else:
        fits = (operator == "under" or side == "time") and (title is not None or not known.unclear)
    return _Read(known.interval, end, known) if fits else None


def _held(low: str, held: re.Match[str], known: Known, *, titled: bool) -> _Read | None:
    """A clause that says when an office was held: it must be the right one, and of the right country."""
    end, office, land = held.end(), held["office"], held["land"]
    if known.office is None or (office and office not in _OFFICES[known.office]) or (land and land not in known.lands):
        return None
    if known.unclear and not office and not titled:
        return None
    if low.startswith(" of ", end):
        at = end + (8 if low.startswith(" of the ", end) else 4)
        end = max((at + len(land) for land in known.lands if low.startswith(land, at)), default=-1)
        if end < 0:
            return None  # when Obama was president of the Harvard Law Review
    if held["became"] or held["begins"]:
        return _Read(_first(known.interval), end, known, part=True)
    if held["ends"]:
        last = _last(known.interval)
        return _Read(last, end, known, part=True) if last is not None else None
    return _Read(known.interval, end, known)


def _is_time(low: str, match: re.Match[str], read: _Read) -> bool:
    """Whether what stands around a period makes it the asked time."""
    operator, start = OPERATORS[match["operator"]], match.start()
    left = low[max(0, start - _LEFT) : start]
    goes_on = _GOES_ON.match(low, read.end) or (
        start == 0 and operator in _WITHIN and operator != "when" and _TURNS.match(low, read.end)
    )
    if not goes_on or _BEHIND[operator].search(left) or _is_list(low, read.end):
        return False
    rest = low[max(0, start - _AROUND) : start] + " " + low[read.end : read.end + _AROUND]
    if read.known.kind in ("happening", "point") and not read.part and _WITH[operator].search(rest):
        return False
    return any(word not in _SAYS_NOTHING for word in _WORDS.findall(rest))


def _is_list(low: str, end: int) -> bool:
    """Whether a comma leads to another of the kind: "during the Blitz, the Cold War and ..."."""
    comma = _COMMA.match(low, end)
    return comma is not None and known_at(low, low, comma.end()) is not None


def _anchor(match: re.Match[str], read: _Read) -> Anchor:
    """The period as a date with its operator."""
    operator, days = OPERATORS[match["operator"]], read.days
    if not read.part:
        if operator in ("before", "until"):
            days = _first(days)
        elif operator == "since" and read.known.kind == "happening":
            days = _last(days) or days
    if operator in _WITHIN:
        operator = "on" if days.start == days.end else "in"
    core = match.start("edge") if match["edge"] else match.end()
    return Anchor(Timex((match.start(), read.end), (core, read.end), operator, days), read.known.local)


def _first(days: Interval) -> Interval:
    """The first day, month or year of a period, as exact as its start."""
    return period(*civil(days.start)[: days.start_precision + 1])


def _last(days: Interval) -> Interval | None:
    """The last day, month or year of a period; None where it goes on."""
    return period(*civil(days.end)[: days.end_precision + 1]) if days.end != OPEN_END else None
