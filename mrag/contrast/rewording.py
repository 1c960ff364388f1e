"""Questions worded anew by a language model, where its wording asks for the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mrag.answers.replies import sentence_of
from mrag.contrast.phrasing import MOST_QUESTION
from mrag.evaluation.token_runs import fold, holds
from mrag.prompts import perturb as prompts
from mrag.question import parse
from mrag.strategies import Failure, LanguageModel

_MOST_TOKENS = 120
_NAMES = re.compile(r"(?<![\w'’-])(?:[^\W\d_a-z][\w'’.&-]*|\d[\d.,-]*)")  # capitalised words and numbers
_OPENING = frozenset(
    "who whom whose what which where when how in at on from by for to the a an as name tell until before after since "
    "between around during".split()
)


class Worded(NamedTuple):
    """A question, and what must not stand in it."""

    question: str
    answers: Sequence[str]


def reworded(model: LanguageModel, asked: Sequence[Worded]) -> list[str | None]:
    """For each question the model's wording, or None where it gave none that asks for the same; one call for all."""
    replies = model([prompts.rewrite(one.question) for one in asked], max_tokens=_MOST_TOKENS, stop=prompts.STOP)
    texts = ("" if isinstance(reply, Failure) else sentence_of(reply) for reply in replies)
    return [text if asks_the_same(text, one) else None for text, one in zip(texts, asked, strict=True)]


def asks_the_same(text: str, one: Worded) -> bool:
    """Whether a wording asks for the same time and condition, names the same things, and gives no answer away.

    >>> moe = Worded("Ida Moe last led what club before 1990?", ["Lund"])
    >>> asks_the_same("Which club did Ida Moe last lead before 1990?", moe)
    True
    >>> asks_the_same("Which club did Ida Moe lead before 1990?", moe)
    False
    """
    if not text.endswith("?") or len(text) > MOST_QUESTION or parse(text).constraint != parse(one.question).constraint:
        return False
    folded = fold(text)
    return _named(text) == _named(one.question) and not any(holds(folded, fold(answer)) for answer in one.answers)


def _named(text: str) -> list[str]:
    """The names and numbers of a text by the alphabet, without words that are capitalised because they open it."""
    found = (word.rstrip(".,-").removesuffix("'s").removesuffix("’s") for word in _NAMES.findall(text))
    return sorted({word for word in found if word.lower() not in _OPENING})
