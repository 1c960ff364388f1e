"""Implicit conditions: where "first" and "last" are a condition of a question, and how it reads without them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Literal, NamedTuple

from mrag.questions.wording import Edit

Condition = Literal["first", "last"]
Span = tuple[int, int]


class Found(NamedTuple):
    """A condition and the edit that takes its words out of the question."""

    condition: Condition
    edit: Edit


class Rule(NamedTuple):
    """What makes a marker no condition: a pattern for the words beside it, and a question that shows it."""

    markers: str  # "any", or the markers it is for
    pattern: str
    example: str


CONDITIONS: dict[str, Condition] = {
    "first": "first",
    "first-ever": "first",
    "first and only": "first",
    "earliest": "first",
    "last": "last",
    "last-ever": "last",
    "latest": "last",
    "recent": "last",
    "recently": "last",
    "most recent": "last",
    "most recently": "last",
    "final": "last",
}

_NUMBER = (
    r"(?:(?:\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|few|couple of|several|\w{3,9}teen|\w{3,6}ty) )?"
)
_GAP = r"(?:(?!(?:of|in|on|at|to|for|from|by|with|the|an?|and|who|that|which|is|was|did)\b)[\w'’&.-]{1,30} ){0,4}"
_RANKED = r"\b(?:came?|comes?|coming|finish(?:ed|es)?|placed|ranked|ended)"

NOT_BEHIND = (  # markers behind these words are no condition
    Rule("any", r"\b(?:an?|another|every|each|no)", "Who drew a first map of the isle?"),
    Rule("any", r"\bat(?: the(?: very)?)?", "Who at last reached the pole?"),
    Rule("any", _RANKED, "Who finished last at the regatta?"),
    Rule("any", r"\b(?:in|place)", "Who drove off in first gear?"),
    Rule("last", r"\b(?:to|not|will|would|can|could|may|might|must|should|shall)", "Which treaty would last?"),
    Rule("last", r"n['’]t", "Which bridge didn't last?"),
)
NOT_BEFORE = (  # markers before these words are no condition
    Rule(
        "any",
        _NUMBER + r"(?:(?:year|month|week|night|day|decade|century|millennium|quarter|weekend|hour|minute|second|half|"
        r"(?:summer|autumn|winter|spring)(?! olympic)|morning|evening|afternoon|"
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|"
        r"september|october|november|december)s?|centuries|halves|seasons?(?! of\b)|may(?! \w))",
        "Who won the harbour cup last year?",
    ),
    Rule("first last", r"names?", "What is the last name of the emir?"),
    Rule("first last recent latest final", r"(?:and|or|but|of)", "What are the first and last stops of the line?"),
    Rule("first", r"(?:lad(?:y|ies)|gentlem[ae]n|ministers?|lords?)", "who is the first minister of wales"),
    Rule("first", r"(?:officers?|mates?|lieutenants?|violins?)", "Who was the first mate of the Ida?"),
    Rule("first", r"(?:class|floor|grade|graders?|division|tier|league|gear)", "Who rents the first floor?"),
    Rule("first", r"(?:team|eleven|string|base|baseman|draft|overall|pick)", "Who plays first base for Ulm?"),
    Rule("first", r"(?:cousins?|language|languages|degree|born|hand|rate)", "Who was a cousin in the first degree?"),
    Rule("first", r"(?:nations?|world(?= (?:war|countr))|amendment|fleet)", "Who entered the first world war?"),
    Rule("first", r"(?:infantry|cavalry|armou?red|airborne|marine)", "Who led the first infantry division?"),
    Rule("first", r"(?:aid|refusal|responders?|strike|impressions?|principles?|things?)", "Who teaches first aid?"),
    Rule("first", r"person(?= (?:shooter|narrat|perspective|view))", "Who wrote the first person narrator?"),
    Rule(
        "first",
        _GAP + r"(?:season|episode|edition|chapter|act|round|volume|issue|part|series|stage|leg|innings?|period|"
        r"instal?lment)s?",
        "Who starred in the first season of Dark Pines?",
    ),
    Rule("last", r"(?:minute|stops?|mile|exit|lap|leg)", "What is the last stop of line 4?"),
    Rule("last", r"(?:words?|rites|supper|orders?|post|call|will|breath|laugh)", "What were her last words?"),
    Rule("last", r"(?:resort|straw|judge?ment|ditch|born)", "What was the court of last resort?"),
    Rule("last", r"(?:for|longer|long)", "How did the regime last for decades?"),
    Rule("recent", r"(?:times?|history)", "Who holds the largest estate in the recent history of Fife?"),
    Rule(
        "final",
        r"(?:season|episode|game|match|score|round|table|cut|draft|version|results?|exams?|whistle|battle|chapter|"
        r"scene|act|stage|phase|frontier|destination|solution|four|standings|position|place|ranking|series)",
        "Who scored in the final match?",
    ),
)

_MARKER = re.compile(  # of a text in lower case; begins with letters, which is what makes it fast
    r"(?:first(?:-ever| and only)?|last(?:-ever)?|latest|earliest|most recent(?:ly)?|recent(?:ly)?|final)\b"
    r"(?![\w-]|['’]s)"
)
_IN_WORD = re.compile(r"[\w'’-]")  # a character before a marker that makes it a part of a word
_BESIDE = frozenset(("first", "last", "recently", "most recently"))  # directly before a date: "sang for last in 1990"
_MOST_MARKERS = 50  # of one question that are looked at: keeps "last last last ..." linear
_LEFT, _RIGHT = 48, 80  # characters of context that the rules may look at


def _patterns(rules: Sequence[Rule], form: str) -> dict[str, re.Pattern[str]]:
    """For each marker the alternatives of its rules, in a pattern of the given form."""
    patterns = {}
    for marker in CONDITIONS:
        name = marker.split("-")[0].split(" ")[0]
        alternatives = [rule.pattern for rule in rules if {"any", name} & set(rule.markers.split())]
        patterns[marker] = re.compile(form.format("|".join(alternatives)), re.IGNORECASE)
    return patterns


_BEHIND = _patterns(NOT_BEHIND, "(?:{}) $")
_BEFORE = _patterns(NOT_BEFORE, r" (?:{})\b")

_BEHIND_RANK = re.compile(_RANKED + " $", re.IGNORECASE)
_MEANT_TO = re.compile(  # was to last until 1950, would last until 1950
    r"(?:\b(?:is|are|was|were|has|have|had|supposed|expected|meant|set|going|likely|able) to|"
    r"\b(?:not|will|would|can|could|may|might|must|should|shall)|n['’]t) $",
    re.IGNORECASE,
)
_DURATION = re.compile(r"\bhow (?:long|many (?:\w+ ){0,2}(?:days|weeks|months|years|hours|minutes))\b", re.IGNORECASE)
_DETERMINER = re.compile(r"(?:\b(?:the|his|her|their|its|our|my|your)(?: very)?|['’]s|s['’]) $", re.IGNORECASE)
_DESCRIBING = re.compile(  # a recently found comet
    r"(?:\b(?:the|his|her|their|its|which|what|whose)|['’]s) $", re.IGNORECASE
)
_PLACE = re.compile(r" place\b", re.IGNORECASE)
_PLACE_TAKEN = re.compile(  # took the last place in the race; but: the last place in which they met
    r" place(?: (?:in|at)\b(?! which)|[ ?.!,]{0,3}$)", re.IGNORECASE
)
_WORK = re.compile(  # the first Harry Potter film: one of a series
    rf" {_GAP}(?:book|novel|album|movie|film|song|single|game|sequel|comic|match)s?\b", re.IGNORECASE
)
_ASKED_FOR = re.compile(  # ... but: the first team to win, the first album that she made; not: first aid to the king
    r" [\w'’&.-]{1,30}(?: [\w'’&.-]{1,30})? "
    r"(?:to (?!(?:the|an?|his|her|its|their)\b)[a-z]|ever\b|that\b|he\b|she\b|they\b)"
)
_OF_SOMEONE = re.compile(r"(?:\b(?:his|her|their|its)|['’]s|s['’]) $", re.IGNORECASE)
_PREPOSITION = re.compile(  # what a marker stands before that is a noun itself: the last in Rome
    r" (?:in|on|at|of|for|from|to|by|with|as|before|after|since|until|till|between|during|around|under)\b|[?.!,;]|$",
    re.IGNORECASE,
)

# what the edits need
_TIME = re.compile(r" time\b(?: ever)?(?: that| when)?", re.IGNORECASE)
_WHEN_WAS = re.compile(r"\b(?:(when)|what)(['’]?s| is| was| were) (?:the )?(?:very )?$", re.IGNORECASE)
_THE_TIME = re.compile(r"\b(?:(for )?the |for )?(?:very )?$", re.IGNORECASE)
_WAS_THE = re.compile(r"\b(?:is|was|are|were|became|has become) (?:the )?(?:very )?$", re.IGNORECASE)
_TO_DO = re.compile(r"(?: ever)? to ([a-z]{2,20})(?: (been?)\b)?")
_THE = re.compile(r"\bthe (?:very )?$", re.IGNORECASE)
_VERY = re.compile(r"\bvery $", re.IGNORECASE)
_EVER = re.compile(r" ever\b")

_PAST = dict(
    pair.split(":")
    for pair in (
        "beat:beat become:became begin:began break:broke bring:brought build:built buy:bought catch:caught choose:chose"
        " come:came cut:cut do:did draw:drew drive:drove eat:ate fall:fell fight:fought find:found fly:flew get:got"
        " give:gave go:went grow:grew have:had hear:heard hit:hit hold:held keep:kept know:knew lead:led leave:left"
        " let:let lose:lost make:made meet:met pay:paid put:put read:read ride:rode rise:rose run:ran say:said see:saw"
        " sell:sold send:sent set:set shoot:shot sing:sang sit:sat speak:spoke spend:spent stand:stood steal:stole"
        " strike:struck swim:swam take:took teach:taught tell:told think:thought throw:threw understand:understood"
        " wear:wore win:won write:wrote"
    ).split()
)


def find_condition(
    text: str, *, taken: Sequence[Span] = (), before: int | None = None, dated: bool = False, lower: bool = False
) -> Found | None:
    """The implicit condition of a question, or None.

    ``taken``: spans that are no words of the question's own (dates, quoted titles). ``before``: where the temporal
    constraint starts; a marker directly before it is always a condition ("play for last from 1972 to 1984").
    ``dated``: the question has a constraint; ``lower``: and that one has a lower bound.

    >>> find_condition("Who was the last emir?")
    Found(condition='last', edit=Edit(start=12, end=16, text=''))
    >>> find_condition("What is the last name of the emir?") is None
    True
    """
    found: Found | None = None
    lowered = text.lower()
    for match in islice(_MARKER.finditer(lowered if len(lowered) == len(text) else text), _MOST_MARKERS):
        start, end = match.span()
        marker = match.group()
        beside = end + 1 == before and marker in _BESIDE
        if (found and not beside) or any(a < end and start < b for a, b in taken):
            continue
        if start and _IN_WORD.match(text, start - 1):
            continue
        left, right = text[max(0, start - _LEFT) : start], text[end : end + _RIGHT]
        if marker == "last" and _DURATION.search(text, max(0, start - 500), start) and not _DETERMINER.search(left):
            continue
        if beside:
            counts = not (_BEHIND_RANK.search(left) or (marker == "last" and _MEANT_TO.search(left)))
        else:
            counts = _is_word(text, start, right) and not _is_part(marker, left, right, dated=dated, lower=lower)
        if counts:
            found = Found(CONDITIONS[marker], _edit(match, left, right, beside=beside))
    return found


def _is_word(text: str, start: int, right: str) -> bool:
    """Whether a marker is a common word and not the start or a part of a name (First Lady, Last Week Tonight)."""
    return not text[start].isupper() or (start == 0 and not right[1:2].isupper())


def _is_part(marker: str, left: str, right: str, *, dated: bool, lower: bool) -> bool:
    """Whether a marker belongs to the words beside it: "last name", "finished last", "the first Dune film"."""
    if _BEHIND[marker].search(left):
        return True
    if marker == "recently":
        return bool(_DESCRIBING.search(left))
    if marker in ("recent", "final") and not (dated and _DETERMINER.search(left)):
        return True
    if marker == "final" and _PREPOSITION.match(right):
        return True
    if _TIME.match(right):
        return False
    if _PLACE.match(right):
        return not _DETERMINER.search(left) or _PLACE_TAKEN.match(right) is not None
    if right.startswith(" of ") and dated and _WAS_THE.search(left):
        return False  # Who was the last of the Stuarts before 1720?
    if _BEFORE[marker].match(right):
        return not _ASKED_FOR.match(right)
    if marker == "first" and _WORK.match(right):
        return not (lower or _OF_SOMEONE.search(left) or _ASKED_FOR.match(right))
    return False


def _edit(match: re.Match[str], left: str, right: str, *, beside: bool) -> Edit:
    """What to do with a condition's words; ``left`` and ``right`` are the text beside the marker."""
    start, end = match.span()
    offset = start - len(left)
    time = None if beside else _TIME.match(right)
    if time:
        return _edit_time(left, offset, end + time.end(), right[time.end() :])
    doing = None if beside or match.group() == "recently" else _TO_DO.match(right)
    if doing:
        return _edit_doing(left, offset, end, doing)
    the = _THE.search(left)
    if the and (beside or _PREPOSITION.match(right)):  # "Who was the last in Rome?": the article must not stand alone
        return Edit(offset + the.start() if right.startswith(" of ") else start, end, "one")
    very, ever = _VERY.search(left), _EVER.match(right)
    return Edit(offset + very.start() if very else start, end + ever.end() if ever else end)


def _edit_time(left: str, offset: int, end: int, rest: str) -> Edit:
    """ "the last time they met" -> "when they met", "When was the last time they met" -> "When was it that they met".

    ``left`` ends before the marker, ``rest`` begins behind the words of time; ``offset`` is where ``left`` begins.
    """
    when = _WHEN_WAS.search(left)
    if when and rest.strip(" ?.!"):
        head = when.group(1) or ("When" if left[when.start()].isupper() else "when")
        return Edit(offset + when.start(), end, f"{head}{when.group(2)} it that")
    the = _THE_TIME.search(left)
    start = offset + the.start() if the else offset + len(left)
    if (the and the.group().lower().startswith("for")) or _PREPOSITION.match(rest):
        return Edit(start, end)
    return Edit(start, end, "when")


def _edit_doing(left: str, offset: int, end: int, doing: re.Match[str]) -> Edit:
    """ "was the last to own" -> "owned"; "was the first to be crowned" -> "was crowned"."""
    verb, passive = doing.groups()
    was, the = _WAS_THE.search(left), _THE.search(left)
    if was is None:
        return Edit(offset + len(left), end, "one" if the else "")
    if verb == "be":
        return Edit(offset + (the.start() if the else len(left)), end + doing.end())
    done = f"{past(verb)} {passive}" if passive else past(verb)
    return Edit(offset + was.start(), end + doing.end(), done)


def past(verb: str) -> str:
    """The past tense of an English verb.

    >>> [past(verb) for verb in ("own", "win", "ratify", "score", "plan")]
    ['owned', 'won', 'ratified', 'scored', 'planned']
    """
    if verb in _PAST:
        return _PAST[verb]
    if verb.endswith("e"):
        return verb + "d"
    if re.fullmatch(r"\w*[^aeiou]y", verb):
        return verb[:-1] + "ied"
    if re.fullmatch(r"[^aeiou]{1,5}[aeiou][^aeiouwxy]", verb):
        return f"{verb}{verb[-1]}ed"
    return verb + "ed"
