"""Where a person puts "first" or "last" into a question: "the first mayor", "did she last play", "who last owned".

Rules are tried in order; each says with an example where the word goes ("|"). They know verbs by a closed list and by
their ending, and leave alone what they do not know: a question without a natural place gets no condition.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from mrag.questions.implicit import Condition, past

_VERBS = (  # what holds, begins or happens at a time, as it stands behind "did"
    "achieve acquire act administer affiliate air anchor appear assume attain attend back bear beat become begin "
    "belong berth border box broadcast build buy call captain carry chair coach command compete compose conduct "
    "consider control defeat defend design direct display distribute do dock drive earn edit employ end enjoy "
    "enrol enroll exhibit fight fill finance fly form found fund garrison get give govern graduate have head hold "
    "host house identify include inhabit join keep lead learn lease leave license live lose make manage "
    "manufacture marry meet moor move name occupy open operate oversee own paint participate patrol patronise "
    "perform play portray possess practice practise preach present produce publish race read receive record reign "
    "release rent report represent reside ride rule run sail see sell serve service settle share sign sing sit "
    "speak sponsor staff stand star start stay stop study supervise supply support take teach terminate train "
    "transfer use visit voice wear wed win work write"
).split()
_PARTICIPLES = (  # that are no past forms as well
    "begun chosen done drawn driven flown given known laid overseen paid seen shown spoken sung sworn taken worn "
    "written"
).split()
BASE_FORMS = frozenset(_VERBS)
_PAST_FORMS = frozenset((*map(past, _VERBS), *_PARTICIPLES)) | {"oversaw", "bore", "enrolled", "transferred"}
_NO_VERBS = frozenset("united hundred sacred naked wicked red bed seed speed indeed shed feed breed".split())
_DETERMINERS = frozenset("the a an of his her its their for in by and to with on as from".split())
PREPOSITIONS = frozenset("to for as with by in at under of on into after from over".split())
_WH = frozenset("who whom whose what which where".split())
_BE = frozenset(("was", "were"))

ORDERED = re.compile(  # what a question says that has an order or a length of its own
    r"\b(?:first|last|second|third|fourth|fifth|sixth|earliest|latest|final(?:ly)?|next|new|newly|former(?:ly)?|"
    r"original(?:ly)?|current(?:ly)?|previous(?:ly)?|eventual(?:ly)?|again|briefly|newest|oldest|longest|shortest|"
    r"greatest|best|ever|for (?:\w+ ){1,2}(?:years?|months?|days?))\b"
)
_NAMED_FIRST = re.compile(r"\b(?:First|Last|Second|Third)\b")  # the First Army: another "first" is hard to tell from it
_WORD = re.compile(r"[^\s?,;()\"]+")


class _Word(NamedTuple):
    text: str
    start: int


def is_past(word: str) -> bool:
    """Whether a word is a past form or a participle.

    >>> [is_past(word) for word in ("owned", "held", "relocated", "Fred", "united")]
    [True, True, True, False, False]
    """
    return word in _PAST_FORMS or (len(word) > 4 and word.islower() and word.endswith("ed") and word not in _NO_VERBS)


def lacks_its_verb(question: str) -> bool:
    """Whether a question with "did" has a past form in the place of the verb that belongs to it.

    >>> lacks_its_verb("Which team did Ida Moe played for"), lacks_its_verb("Which team did Ida Moe play for")
    (True, False)
    """
    words = [match.group() for match in _WORD.finditer(question)]
    if "did" not in words:
        return False
    behind = words[words.index("did") + 1 :]
    return not any(word in BASE_FORMS for word in behind) and any(word in _BE or is_past(word) for word in behind)


def _is_going_on(word: str) -> bool:
    """Whether a word is a present participle: recording, living."""
    return len(word) > 5 and word.islower() and word.endswith("ing")


def with_condition(base: str, condition: Condition) -> str | None:
    """A question with "first" or "last" where a person would put it; None where no rule knows.

    >>> with_condition("Who was the mayor of Lund?", "first")
    'Who was the first mayor of Lund?'
    >>> with_condition("Which team did Ida Moe play for?", "last")
    'Which team did Ida Moe last play for?'
    """
    words = [_Word(match.group(), match.start()) for match in _WORD.finditer(base)]
    if not words or ORDERED.search(base) or _NAMED_FIRST.search(base):
        return None
    for rule in _RULES:
        at = rule(base, words)
        if at is not None:
            return f"{base[:at]}{condition} {base[at:]}"
    return None


def _before_the_verb_of_did(base: str, words: list[_Word]) -> int | None:
    """Which team did Ida Moe | play for?"""
    did = next((at for at, word in enumerate(words) if word.text == "did"), None)
    if did is None:
        return None
    for at in range(did + 2, len(words)):
        if words[at].text in BASE_FORMS and words[at - 1].text.lower() not in _DETERMINERS:
            return _before_adverb(words, at)
    return None


def _before_the_last_participle(base: str, words: list[_Word]) -> int | None:
    """Where was Ida Moe | employed? What was the club that Ida Moe | played for?"""
    at = len(words) - 1
    while at > 2 and words[at].text in PREPOSITIONS and len(words) - at < 3:
        at -= 1
    helped = any(word.text.lower() in (*_BE, "had", "that", "which", "whom") for word in words[1 : at - 1])
    if helped and is_past(words[at].text):
        return _before_adverb(words, at)
    goes_on = _is_going_on(words[at].text) and words[at - 1].text.lower() not in _DETERMINERS | PREPOSITIONS
    return words[at].start if goes_on and any(word.text in _BE for word in words[1:5]) else None


_OF_OWNER = re.compile(  # Who was Lund's | mayor? What was the name of Ida Moe's | wife?
    r"\b(?:was|were) (?:the name of )?"
    r"(?:(?!(?:of|in|for|to|at|on|by|with|within|from|used|who|that|which)\b)[^\s?]+ ){0,6}?[^\s?]+(?:['’]s|s['’]) "
    r"(?=[^?]{1,40}\?$)"
)


def _behind_the_owner(base: str, words: list[_Word]) -> int | None:
    """Who was Lund's | mayor?"""
    match = _OF_OWNER.search(base)
    return match.end() if match else None


_OF_NOUN = re.compile(  # no name: What was the | Tower House called?
    r"(?:^(?:Who|What|Where|(?:Which|What)(?: [\w’'-]+){1,4}) (?:was|were) the |^(?:Name|Identify|Tell me|Give) the )"
    r"(?:(?:name|identity) of the )?"
    r"(?=(?:[A-Z][\w’'-]+ )?(?:[a-z][\w’'.-]* ){0,4}?[\w’'.-]+ (?:of|for|in|on|at|to|by|behind|who|that|which|where)\b)"
)


def _before_the_noun(base: str, words: list[_Word]) -> int | None:
    """Who was the | mayor of Lund? What was the name of the | bank that owned it?"""
    match = _OF_NOUN.search(base)
    return match.end() if match else None


_IS_PART = re.compile(  # What country was Ida Moe | a citizen of? Who was | in charge of the club?
    r"\b(?:was|were) (?:(?:(?!in\b|a\b|an\b|part\b)[^\s?]+ ){1,6})?"
    r"(?=(?:in charge|part|a part|an? [a-z]+) (?:of|at|in|for|on)\b)"
)


def _before_the_part(base: str, words: list[_Word]) -> int | None:
    """What country was Ida Moe | a citizen of?"""
    match = _IS_PART.search(base)
    return match.end() if match else None


def _before_the_verb_of_who(base: str, words: list[_Word]) -> int | None:
    """Who | owned the mill? Which bank had | owned the mill? Which title was | given to Ida Moe?"""
    if words[0].text.lower() not in ("who", "what", "which"):
        return None
    furthest = 2 if words[0].text.lower() == "who" else 7
    for at in range(1, min(furthest + 1, len(words) - 1)):
        word = words[at].text
        if word in _BE or (word == "had" and is_past(words[at + 1].text)):
            return words[at + 1].start if is_past(words[at + 1].text) else None
        if word == "did":
            return None
        if is_past(word) and not (at == 1 and any(other.text in (*_BE, "did") for other in words[2:5])):
            return _before_adverb(words, at)
    return None


def _before_the_verb_of_a_statement(base: str, words: list[_Word]) -> int | None:
    """Ida Moe | led what team? The mill was | owned by which bank?"""
    asked = next((at for at, word in enumerate(words) if word.text in _WH and at > 1), None)
    if asked is None or words[0].text.lower() in _WH | PREPOSITIONS or base[words[asked].start - 2] == ",":
        return None
    for at in range(asked - 1, 0, -1):
        word = words[at].text
        if word in _BE:
            return words[at + 1].start if at + 1 < asked else None
        if word == "had" or is_past(word):
            return _before_adverb(words, at)
    return None


def _before_adverb(words: list[_Word], at: int) -> int:
    """Where a word starts, or the adverb in front of it: was | officially named."""
    ahead = words[at - 1].text
    return words[at - 1].start if ahead.endswith("ly") and ahead.islower() and at > 1 else words[at].start


_RULES: tuple[Callable[[str, list[_Word]], int | None], ...] = (
    _before_the_verb_of_did,
    _before_the_last_participle,
    _behind_the_owner,
    _before_the_noun,
    _before_the_part,
    _before_the_verb_of_who,
    _before_the_verb_of_a_statement,
)
