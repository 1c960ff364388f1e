"""Questions taken apart by the rules, and by a language model where those are not enough (the paper's section 4.1).

The model proposes; claims.py takes what holds against the question; anything else falls back to the rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

from mrag.answers.quoting import MOST_QUESTION
from mrag.errors import InputError
from mrag.interval import Interval
from mrag.prompts.question import STOP, decomposition
from mrag.question import Question, parse
from mrag.questions.asked import titles
from mrag.questions.claims import RefusedError, accept
from mrag.strategies import Failure, LanguageModel
from mrag.timex import scan

ParseMode = Literal["auto", "rules", "llm"]

_MOST_TOKENS = 320  # of a reply: one JSON object


@dataclass(frozen=True, slots=True)
class Reading:
    """A question taken apart, and by whom; with "llm" its keywords are those that the model lists.

    ``reason``: with "llm" why the model was asked; with "rules" why its reply was not taken, "" where it was not asked.
    """

    question: Question
    by: Literal["rules", "llm"] = "rules"
    reason: str = ""


def read(
    questions: Sequence[str],
    *,
    model: LanguageModel | None = None,
    mode: ParseMode = "auto",
    reference: Interval | None = None,
    assume_present: bool = False,
) -> list[Reading]:
    """The questions taken apart, in their order; all prompts go to the model in one call.

    ``mode``: "rules" asks no model, "llm" asks for every question, "auto" for those of which ``unsure`` says why.
    ``reference`` and ``assume_present`` as in ``question.parse``. InputError for a mode that there is none of, or
    "llm" without a model.

    >>> read(["Who led the guild in 2010?"])[0].by
    'rules'
    """
    if mode not in get_args(ParseMode):
        raise InputError(f"there is no way of parsing {mode!r}: it is {', '.join(get_args(ParseMode))}")
    if mode == "llm" and model is None:
        raise InputError("parsing by a language model needs one: hand in a model, or parse by rules")
    parsed = [parse(text, reference=reference, assume_present=assume_present) for text in questions]
    readings = [Reading(question) for question in parsed]
    if model is None or mode == "rules":
        return readings
    asked: list[tuple[int, str]] = []
    for number, question in enumerate(parsed):
        why = "every question is asked" if mode == "llm" else unsure(question)
        if why and len(question.text) > MOST_QUESTION:
            readings[number] = Reading(
                question, reason=f"longer than the {MOST_QUESTION} characters that a model is asked"
            )
        elif why:
            asked.append((number, why))
    if asked:
        today = (reference and reference.end_iso) or ""
        prompts = [decomposition(parsed[number].text, today) for number, _ in asked]
        replies = model(prompts, max_tokens=_MOST_TOKENS, stop=STOP)
        if len(replies) != len(prompts):
            raise InputError(f"the language model gave {len(replies)} replies to {len(prompts)} prompts")
        for (number, why), reply in zip(asked, replies, strict=True):
            readings[number] = _judged(parsed[number], reply, why, reference)
    return readings


def _judged(rules: Question, reply: str | Failure, why: str, reference: Interval | None) -> Reading:
    """The model's reading where its reply holds, else the rules'."""
    if isinstance(reply, Failure):
        return Reading(rules, reason=f"the model gave no reply: {reply.reason}")
    try:
        question, keywords = accept(rules, reply, reference=reference)
    except RefusedError as refused:
        return Reading(rules, reason=f"the model's reply was not taken: {refused}")
    return Reading(replace(question, keywords=keywords), "llm", why)


# --- where the rules are unsure --------------------------------------------------------------------------


class Clue(NamedTuple):
    """Words that may say a time which the rules do not know: their pattern, what to call them, and a question."""

    pattern: str
    name: str
    example: str


CLUES = (  # of what is left in the main content; the first that is found counts
    Clue(
        r"\b(?:last|this|next|past|previous) "
        r"(?:year|month|week|decade|century|season|summer|autumn|winter|spring|night)s?\b|\b(?:yesterday|today|tomorrow|tonight|ago)\b",
        "a time that hangs on today's date",
        "Who won the harbour cup last year?",
    ),
    Clue(
        r"\b(?:before|after|since|until|till|prior to|during|throughout|amid)(?: \w|$)|\b(?<!the )following \w",
        "before, after or during something",
        "What happened after the fish market opened?",
    ),
    Clue(
        r"(?<=[^\s.?!:] )\b(?:when|while|once) (?!did\b|does\b|do\b|was\b|were\b|is\b|are\b|has\b|will\b|can\b)\w"
        r"|^(?:when|while|once) [^,?]{3,80}, ",
        "a clause of time",
        "Who led the guild when the mill burnt down?",
    ),
    Clue(
        r"\bunder (?:the |a |his |her )?(?:\w{1,20} )?(?:rule|reign|leadership|government|administration|presidency|"
        r"premiership|occupation|king|queen|emperor|president|prime minister|mayor|chairman|director|dynasty)\b",
        "under someone",
        "Who minted the coins under King Olaf?",
    ),
    Clue(
        r"\b(?:at|by|around|from) (?:the )?(?:time|start|beginning|outbreak|onset|height|end|close|turn) of\b"
        r"|\bin (?:the )?(?:time|times|days|age|years|midst|course|aftermath|wake|run-up) (?:of|to)\b"
        r"|\bon the eve of\b",
        "the time of something",
        "Who was abbot at the time of the great flood?",
    ),
    Clue(
        r"\b(?:era|reign|dynasty|presidency|premiership|interwar|wartime|(?:pre|post)-?war|antebellum|wars?|revolution|"
        r"crisis|uprising|occupation)\b",
        "a period",
        "Who ran the ferries in the Hanoverian era?",
    ),
)
_CLUES = tuple((re.compile(clue.pattern), clue.name) for clue in CLUES)
_LOOKED_AT = 2_000  # characters of a main content


def unsure(question: Question) -> str:
    """Why the rules may have missed the time of a question; "" where they are sure.

    >>> unsure(parse("Who led the guild before the flood?"))
    'the rules found no date, but it says before, after or during something'
    >>> unsure(parse("Who led the guild in 2010?")), unsure(parse("Who led the guild?"))
    ('', '')
    """
    text = question.main_content[:_LOOKED_AT]
    for start, end in reversed(titles(text)):
        text = text[:start] + text[end:]
    left = [date for date in scan(text) if not date.name_like]
    if question.constraint is not None and question.constraint.relation is not None:
        return "several dates are left in the main content" if len(left) > 1 else ""
    if left:
        return "the rules took no date of it for the asked time"
    lowered = text.lower()
    found = next((name for pattern, name in _CLUES if pattern.search(lowered)), "")
    return found and f"the rules found no date, but it says {found}"
