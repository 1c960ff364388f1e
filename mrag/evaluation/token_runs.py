"""Texts as runs of tokens: whether a text holds an answer or a gold sentence, letter for letter, word for word.

The rule of the paper's evaluation: NFD, lower case, a token is a run of letters, digits and marks, or any other
visible character; a phrase is held where its tokens stand in the text one behind the other.
"""

from __future__ import annotations

import unicodedata


class _Spacing(dict[int, str]):
    """For each character what stands for it: itself in a word, alone between spaces, or a space. A memo, filled as
    characters come."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.category(char)[0]
        self[code] = shown = char if kind in "LNM" else " " if kind in "ZC" else f" {char} "
        return shown


_SPACING = _Spacing()


def fold(text: str) -> str:
    """The tokens of a text with a space around each; "" for a text without any.

    >>> fold("Zoë's U.S. tour, 1999–2001")
    " zoe\\u0308 ' s u . s . tour , 1999 – 2001 "
    """
    tokens = unicodedata.normalize("NFD", text).lower().translate(_SPACING).split()
    return f" {' '.join(tokens)} " if tokens else ""


def holds(folded: str, phrase: str) -> bool:
    """Whether a folded text holds a folded phrase as a run of its tokens; no text holds the phrase "".

    >>> club = fold("The club of Lund (Sweden) won.")
    >>> holds(club, fold("lund (SWEDEN)")), holds(club, fold("und")), holds(club, fold(" "))
    (True, False, False)
    """
    return bool(phrase) and phrase in folded
