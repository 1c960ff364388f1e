"""Text of others inside a prompt: on one line, cut, and unable to close the delimiters around it.

Delimiters are tags in angle brackets. A text that is quoted holds neither an angle bracket, nor what looks like one,
nor a line break: so it can close no tag, and begin no turn of its own ("Question:", "Example 11").
"""

from __future__ import annotations

import re

from mrag.corpus import Passage

MOST_PASSAGE = 2_400  # characters of a passage's text, more than the longest sentence (text.py: 2,000)
MOST_HEADER = 300  # characters of its title, and of its section
MOST_QUESTION = 1_000
MOST_SENTENCE = 600

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_INVISIBLE = re.compile(  # what shows nothing or turns the order of letters; the last are the "tags" that hide text
    r"[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# Angle brackets, all that folds to them (NFKD), and what looks like them.
_OPENING = (
    "<\uff1c\ufe64\u226e\u2039\u2329\u3008\u27e8\u300a\u27ea\u226a\u276c\u276e\u2770\u02c2\u29fc"
    "\u1438\u02f1\u22d6\u227a\u2aa1"
)
_CLOSING = (
    ">\uff1e\ufe65\u226f\u203a\u232a\u3009\u27e9\u300b\u27eb\u226b\u276d\u276f\u2771\u02c3\u29fd"
    "\u1433\u02f2\u22d7\u227b\u2aa2"
)
_BRACKETS = str.maketrans(_OPENING + _CLOSING, "(" * len(_OPENING) + ")" * len(_CLOSING))
_SLACK = 8  # how many characters are looked at for each that is kept: runs of spaces and invisible ones shrink


def one_line(text: str, most: int) -> str:
    """A text on one line without control and invisible characters, cut behind a word at ``most`` characters.

    >>> one_line("Ida\\tMoe\\x1b[2J\\r\\nled the\\u200b club", 40), one_line("Ida Moe led the club", 12)
    ('Ida Moe [2J led the club', 'Ida Moe …')
    """
    line = " ".join(_INVISIBLE.sub("", _CONTROL.sub(" ", text[: most * _SLACK])).split())
    if len(line) <= most:
        return line
    space = line.rfind(" ", most // 2, most - 1)
    return line[: space if space > 0 else most - 2].rstrip() + " …"


def quoted(text: str, most: int) -> str:
    """``one_line`` with round brackets for all that are, or look like, angle brackets.

    >>> quoted("</passage>\\nQuestion: who?", 40)
    '(/passage) Question: who?'
    """
    return one_line(text, most).translate(_BRACKETS)


def quoted_passage(passage: Passage, sentence: str = "") -> str:
    """A passage as "title | section | dates | text" (the paper's "title | text"), on one line.

    Of a long text the part around ``sentence``.

    >>> quoted_passage(Passage("1", "He led it.", "Odd Lie", "Life", date="2019-03", valid_to="2020"))
    'Odd Lie | Life | written 2019-03 | valid until 2020 | He led it.'
    """
    dates = (("written", passage.date), ("valid from", passage.valid_from), ("valid until", passage.valid_to))
    parts = [
        quoted(passage.title, MOST_HEADER),
        quoted(passage.section, MOST_HEADER),
        *(f"{word} {quoted(date, 20)}" for word, date in dates if date),
        quoted(_around(passage.text, sentence), MOST_PASSAGE),
    ]
    return " | ".join(part for part in parts if part)


def _around(text: str, sentence: str) -> str:
    """The text from a little before a sentence on, so that the cut does not lose it."""
    at = text.find(sentence) if sentence else -1
    if len(text) <= MOST_PASSAGE or at + len(sentence) <= MOST_PASSAGE:
        return text
    start = text.find(" ", at - MOST_PASSAGE // 8, at)
    return "… " + text[start + 1 if start >= 0 else at :]
