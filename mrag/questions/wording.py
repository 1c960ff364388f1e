"""The words of a question that only say when: cut out, and the rest mended to a readable question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mrag.timex import Timex


class Edit(NamedTuple):
    """Put ``text`` in the place of the characters [start, end)."""

    start: int
    end: int
    text: str = ""


_THE_PERIOD = r"(?:in|during|over|for|within) the (?:(?:time )?period|years?|time|span)(?: of)?"
_LEAD = re.compile(  # what belongs to the date behind it: shortly before, back in, during the period from ... to
    r"\b(?:just|right|shortly|soon|immediately|back|ever|even|only|both|either|early|late|somewhere|"
    r"some ?time|exactly|precisely|probably|(?<!how )(?<!so )(?<!as )(?:not )?long|"
    r"in the (?:days|weeks|months|decades|centuries)|"
    rf"any ?time|at (?:any|some) (?:time|point)|{_THE_PERIOD}) $",
    re.IGNORECASE,
)
_LEAD_ENDS = frozenset(  # the last words of those, looked up first for speed
    "just right shortly soon immediately back ever even only both either early late somewhere sometime time anytime"
    " exactly precisely probably long days weeks months decades centuries point years year period span of".split()
)
_BARE_LEAD = re.compile(  # champion of 2012, the budget for 2012, during the years 1970 to 1975
    rf"\b(?:of|for|at|em|nel|dans|{_THE_PERIOD}) $", re.IGNORECASE
)
_TRAIL = re.compile(  # by 2010 at the latest, from 1970 until today
    r",? (?:at (?:the )?(?:very )?(?:latest|earliest)|inclusive(?:ly)?|exclusive(?:ly)?|"
    r"(?:until|till|to|through) (?:today|now|the present|present)(?: day)?)\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(  # no "Then" of a name: Who starred in Now and Then in 1995?
    r"[ ,;:–—-]{1,9}(?:(?:and|but|or|yet|then|AND|BUT|OR|YET|THEN)[ ,;:–—-]{0,9})?$"
)
CONNECTOR = re.compile(r"[\s,;]{0,3}(?:(?:(?:and|but|or|yet|then)(?: not)?|&)(?= |$))?[\s,;]{0,3}", re.IGNORECASE)


def date_edits(text: str, dates: Sequence[Timex]) -> list[Edit]:
    """The cuts that take dates out, each with the words that only serve it; neighbours are cut as one."""
    edits: list[Edit] = []
    for date in dates:
        start, end, instead = *date.span, ""
        lead = None
        if date.operator is None:
            lead = _BARE_LEAD.search(text, max(0, start - 32), start)
        elif text[max(0, start - 14) : max(0, start - 1)].rpartition(" ")[2].lower() in _LEAD_ENDS:
            lead = _LEAD.search(text, max(0, start - 32), start)
        if lead is not None:
            start = lead.start()
        trail = _TRAIL.match(text, end)
        if trail is not None:
            end = trail.end()
        if text.startswith(("'s ", "’s "), end):  # "last year's cup" -> "the cup"
            end, instead = end + 2, "the"
        if edits and CONNECTOR.fullmatch(text, edits[-1].end, start):
            edits[-1] = Edit(edits[-1].start, end, instead)
        else:
            edits.append(Edit(start, end, instead))
    return edits


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits in order, with its spaces, commas, brackets and its opening capital mended.

    A text of which nothing would be left comes back whole.

    >>> apply_edits("In 2010, who won (as of May)?", [Edit(0, 7), Edit(18, 27)])
    'Who won?'
    """
    if not edits:
        return text
    out = text[: edits[0].start]
    for number, edit in enumerate(edits):
        following = edits[number + 1].start if number + 1 < len(edits) else len(text)
        out = _mended(out.rstrip(), edit.text, text[edit.end : following].lstrip(), last=following == len(text))
    if not any(char.isalnum() for char in out):
        return text
    return out[0].upper() + out[1:] if text[0].isupper() and out[0].islower() else out


def _mended(left: str, instead: str, right: str, *, last: bool) -> str:
    """What stands left and right of a cut, put together."""
    if instead:
        left = f"{left} {instead}".lstrip()
    elif not left:
        right = right.lstrip(" ,;:–—-")
    elif left[-1] + right[:1] in ("()", "[]", ",,"):
        left, right = left[:-1].rstrip(), right[1:].lstrip()
    elif last and (not right or right[0] in "?.!"):
        dangling = _DANGLING.search(left, max(0, len(left) - 20))
        left = left[: dangling.start()] if dangling else left
    close = not left or not right or right[0] in ",;:?.!)]'’" or left[-1] in "([¿¡"
    return left + ("" if close else " ") + right
