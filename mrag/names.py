"""Names in a text: runs of capitalised words, and what kind of thing each could be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mrag.text import term

NAME_LONG = 1  # two words or more
NAME_PERSON = 2  # shaped like a person's name: two to five words, none of an organisation
NAME_PLACE = 4  # stands behind a preposition of place

_JOINS = frozenset("of the de del della da di do du van von der den la le el al bin ibn and & y zu".split())
_PLACE_WORDS = frozenset("in at to from near into of".split())
_LEADS = frozenset(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday he she it they his her its their this that these those "
    "during following despite although though when while where after before since until from by in on at as for with "
    "however also both each many most some other there then thus upon under over between because".split()
)
_ORGANISATIONS = frozenset(
    "university college school institute academy club company corporation inc ltd group party ministry department "
    "office council committee commission union association federation league cup championship trophy award prize "
    "army navy force regiment squadron division brigade fleet team united city town county state republic kingdom "
    "museum gallery library hospital church cathedral bank press society foundation trust station airport stadium "
    "railway railroad airlines airways street road avenue bridge park river lake island islands".split()
)


class Name(NamedTuple):
    """A run of capitalised words: word positions [first, last) in the passage, and its NAME_* bits."""

    first: int
    last: int
    flags: int


def names(text: str, tokens: Sequence[tuple[str, int, int]]) -> list[Name]:
    """The runs of capitalised words in a text whose words are ``tokens``.

    >>> from mrag.text import words
    >>> text = "He met Ida de Vries in Oslo."
    >>> [text[words(text)[n.first][1] : words(text)[n.last - 1][2]] for n in names(text, words(text))]
    ['Ida de Vries', 'Oslo']
    """
    found: list[Name] = []
    at = 0
    while at < len(tokens):
        if not tokens[at][0][0].isupper() or tokens[at][0].lower() in _LEADS:
            at += 1
            continue
        last = at + 1
        while last < len(tokens):
            step = _next_of_name(text, tokens, last)
            if not step:
                break
            last = step
        if not (last == at + 1 and term(tokens[at][0]) is None):
            found.append(Name(at, last, _name_flags(tokens, at, last)))
        at = last
    return found


def _next_of_name(text: str, tokens: Sequence[tuple[str, int, int]], at: int) -> int:
    """The end of the name when it goes on with word ``at`` (perhaps over connectors), 0 when it ends before it."""
    for last in range(at, min(at + 3, len(tokens))):
        gap = text[tokens[last - 1][2] : tokens[last][1]]
        if gap.strip(" .'’&-\u00a0") or len(gap) > 3 or ("." in gap and tokens[last - 1][2] - tokens[last - 1][1] > 2):
            return 0
        word = tokens[last][0]
        if word[0].isupper():
            return last + 1
        if word.lower() not in _JOINS:
            return 0
    return 0


def _name_flags(tokens: Sequence[tuple[str, int, int]], first: int, last: int) -> int:
    size = last - first
    flags = NAME_LONG if size >= 2 else 0
    if 2 <= size <= 5 and not any(tokens[i][0].lower() in _ORGANISATIONS for i in range(first, last)):
        flags |= NAME_PERSON
    before = [tokens[i][0].lower() for i in range(max(0, first - 2), first)]
    if before and (before[-1] in _PLACE_WORDS or (before[-1] == "the" and before[0] in _PLACE_WORDS)):
        flags |= NAME_PLACE
    return flags
