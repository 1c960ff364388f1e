"""What a model's reply says: yes or no, one sentence, an answer, that it does not know. A reply is text, never code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from mrag.answers.quoting import one_line
from mrag.metrics import normalised
from mrag.prompts.answer import STOP
from mrag.strategies import Failure, LanguageModel
from mrag.text import ABBREVIATIONS

Ask = Callable[[Sequence[str], int], list[str | Failure]]
"""Prompts, and the most tokens of a reply -> a reply for each."""

MOST_ANSWER = 200  # characters
MOST_SENTENCE = 1_000
MOST_REPLY = 20_000
MOST_REASON = 200

_ANSWER = re.compile(
    r"\W{0,8}(?:(?:so|thus|hence|therefore),? )?(?:(?:the|my) )?(?:final |short )?answer(?: is)?[ *_]{0,4}[:：]",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\b(?:the|final|short|correct) answer (?:to (?:the|this|your) question )?(?:is|was|would be):?(?= )", re.IGNORECASE
)
_SENTENCE = re.compile(r"\W{0,8}(?:dated )?sentence[ *_]{0,4}[:：]", re.IGNORECASE)
_ANOTHER = re.compile(r"\W{0,8}(?:question ?:|example \d)", re.IGNORECASE)  # a model that goes on with examples
_YES_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_FENCE = re.compile(r"[`~]{3,20}\w{0,20}$")
_BULLET = re.compile(r"[-•*] +")
_MARKUP = " \t*_`#"
_QUOTES = "\"'“”‘’«»"


def ask_model(model: LanguageModel, temperature: float, prompts: Sequence[str], most: int) -> list[str | Failure]:
    """A reply for each prompt, all of them asked in one call; no prompts are no call."""
    if not prompts:
        return []
    found = model(prompts, max_tokens=most, temperature=temperature, stop=STOP)
    found = [reply if isinstance(reply, (str, Failure)) else Failure("the reply is no text") for reply in found]
    return (found + [Failure("the model left it out")] * len(prompts))[: len(prompts)]


def why(failure: Failure) -> str:
    """The reason of a failure, as a part of a sentence."""
    return one_line(failure.reason, MOST_REASON).rstrip(".")


def answer_of(reply: str, *, reasoned: bool = False) -> str:
    """The answer that a reply gives, on one line of MOST_ANSWER characters at most; "" for none.

    What stands behind "Answer:", the last time that the model says it; without it the first line, or the last where
    the model ``reasoned``.

    >>> answer_of("**Tony Blair**."), answer_of("He led until 2007.\\nAnswer: Tony Blair", reasoned=True)
    ('Tony Blair', 'Tony Blair')
    """
    lines = _lines(reply)
    for at in reversed(range(len(lines))):
        if label := _ANSWER.match(lines[at]):
            return _bare(lines[at][label.end() :]) or (_bare(lines[at + 1]) if at + 1 < len(lines) else "")
    if not lines:
        return ""
    line = lines[-1 if reasoned else 0]
    said = _SAID.search(line)
    return _bare(line[said.end() :] if said else line)


def sentence_of(reply: str) -> str:
    """The sentence that a reply gives, on one line of MOST_SENTENCE characters at most; "" for none, and for "None".

    >>> sentence_of('Sentence: "Ida Moe led it in 1999."'), sentence_of("None.")
    ('Ida Moe led it in 1999.', '')
    """
    for line in _lines(reply):
        label = _SENTENCE.match(line)
        said = _unwrapped(one_line(line[label.end() :] if label else line, MOST_SENTENCE))
        if said and not said.endswith(":"):  # "Here is the sentence:"
            return "" if _NONE.match(said) else said
    return ""


def yes_or_no(reply: str) -> bool | None:
    """Whether a reply says yes; None where the first line that says either says both, and where none does.

    >>> yes_or_no("**Yes**, it does."), yes_or_no("Answer: no"), yes_or_no("Yes or no?"), yes_or_no("It may.")
    (True, False, None, None)
    """
    for line in _lines(reply):
        found = {word.lower() for word in _YES_NO.findall(line)}
        if found:
            return "yes" in found if len(found) == 1 else None
    return None


def _lines(reply: str) -> list[str]:
    """The lines of a reply that say something, up to where the model goes on with a question of its own."""
    text = reply[:MOST_REPLY].rpartition("</think>")[2]  # what a reasoning model thinks is not its answer
    if "<think>" in text:
        return []  # it was cut before it came to one
    lines: list[str] = []
    for line in text.splitlines():
        if lines and _ANOTHER.match(line):
            break
        line = _FENCE.sub("", one_line(line, MOST_REPLY))
        if line.strip(_MARKUP + _QUOTES):
            lines.append(line)
    return lines


def _unwrapped(line: str) -> str:
    """A line without the marks of Markdown, and the quotes, around the whole of it."""
    line = _BULLET.sub("", line.strip(), count=1) if _BULLET.match(line.strip()) else line
    line = line.strip(_MARKUP)
    while len(line) > 1 and line[0] in _QUOTES and line[-1] in _QUOTES:
        line = line[1:-1].strip(_MARKUP)
    return line


def _bare(text: str) -> str:
    """An answer without what is around it: Markdown, quotes, a full stop."""
    line = _unwrapped(one_line(text, MOST_ANSWER)).rstrip(",;:!?")
    if line.endswith(".") and not _needs_its_stop(line):
        line = line.rstrip(".")
    return _unwrapped(line)


_ABBREVIATED = frozenset(ABBREVIATIONS["before a name"].split())


def _needs_its_stop(line: str) -> bool:
    """Whether a full stop at the end belongs to the last word: "Harker Inc.", "the U.S."."""
    word = line.split()[-1]
    return "." in word[:-1].strip(".") or word[:-1].lower() in _ABBREVIATED


# --- nothing known ----------------------------------------------------------------------------------

_NONE = re.compile(r"\W{0,3}(?:none|null|nil|n/a|unknown)\b", re.IGNORECASE)

_SAY = "mention|say|state|specify|provide|contain|give|include|name|tell|indicate|know|reveal|answer|have"
_SAID_OF_IT = "mentioned|stated|specified|provided|given|known|available|found|indicated|clear|recorded"
_FIND = "determine|find|answer|say|tell|know|confirm|provide|identify"
_KNOWLEDGE = "information|info|mention|answer|evidence|record|data|knowledge|details|idea|facts"
ADMISSIONS = (  # in the normal form of an answer; each with one that it is there for
    (r"(?:none|null|nil|na|n a|no one knows|undetermined|insufficient|not applicable)$", "N/A"),
    (
        r"(?:(?:it|this|that|answer) )?(?:(?:is|remains) )?(?:unknown|unclear)(?:$| (?:to|as|from|based|because)\b)",
        "Unknown",
    ),
    (r"unknown (?:passages?|facts?|text|timeline|there|it|this|i)\b", "unknown (the passages are of another time)"),
    (r"(?:none|neither) of (?:these |those )?(?:passages|facts|documents|texts|sentences)\b", "None of the passages"),
    (rf"(?:.{{0,80}} )?(?:does|do|did) ?(?:not|nt) (?:\w{{1,20}} )?(?:{_SAY})\b", "The passages do not say"),
    (rf"(?:.{{0,80}} )?(?:not|never|\w{{2,6}}nt) (?:\w{{1,20}} )?(?:{_SAID_OF_IT})\b", "Not mentioned"),
    (rf"(?:.{{0,30}} )?(?:no|not enough|insufficient) (?:\w{{1,20}} )?(?:{_KNOWLEDGE})\b", "There is no information"),
    (
        rf"(?:.{{0,60}} )?(?:cant|can ?not|could ?(?:not|nt)) (?:be )?(?:\w{{1,20}} )?(?:{_FIND})",
        "It cannot be determined",
    ),
    (r"(?:(?:im|i am|it is|its|we are) )?not (?:sure|aware|certain|able|possible)\b", "I am not sure"),
    (rf"(?:.{{0,40}} )?(?:unable|impossible) to (?:{_FIND})\b", "I am unable to determine it"),
)
"""What a model says that does not know."""

_ADMITS = re.compile("|".join(f"(?:{pattern})" for pattern, _ in ADMISSIONS))


def admits_nothing(answer: str) -> bool:
    """Whether an answer says that there is none.

    >>> admits_nothing("Unknown."), admits_nothing("The passages don’t say."), admits_nothing("The Unknown Soldier")
    (True, True, False)
    """
    form = normalised(answer[:MOST_ANSWER].replace("’", "'"))
    return not form or _ADMITS.match(form) is not None


def stands_in(answer: str, texts: Iterable[str]) -> bool:
    """Whether any word of an answer stands in any of the texts: one of which none does is counted, or made up.

    >>> stands_in("Mayor Moe", ["Ida Moe led it."]), stands_in("Odd Lie", ["Ida Moe led it."])
    (True, False)
    """
    said = frozenset(normalised(answer).split())
    return any(not said.isdisjoint(normalised(text).split()) for text in texts)


def agree(one: str, other: str) -> bool:
    """Whether two answers are the same to Exact Match, or one holds all of the other, word for word.

    >>> agree("Tony Blair", "Blair"), agree("Tony Blair", "John Major"), agree("1999", "19")
    (True, False, False)
    """
    first, second = normalised(one), normalised(other)
    if not first or not second:
        return first == second
    return f" {first} " in f" {second} " or f" {second} " in f" {first} "
