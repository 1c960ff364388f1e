"""A passage as people judge it: sentence by sentence, those that carry an answer set off."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mrag.cli import output as show
from mrag.evaluation.token_runs import fold, holds
from mrag.text import split_sentences

if TYPE_CHECKING:
    from mrag.corpus import Passage

MARK = ">"
"""What stands before a sentence that is set off, where there is no bold."""

_MOST_SENTENCES = 40  # of a passage that are shown, beside those that carry an answer


def carries(text: str, answers: Sequence[str]) -> bool:
    """Whether an answer stands in a text, as AR@k has it."""
    folded = fold(text)
    return any(holds(folded, fold(answer)) for answer in answers)


def sentences(text: str, answers: Sequence[str]) -> list[tuple[str, bool]]:
    """The sentences of a text, each with whether it carries an answer, alone or together with the next one.

    >>> sentences("Ida Moe led it. She left. Odd Lie followed.", ["Odd Lie"])
    [('Ida Moe led it.', False), ('She left.', False), ('Odd Lie followed.', True)]
    """
    spans = split_sentences(text)
    marked = [carries(text[start:end], answers) for start, end in spans]
    alone = tuple(marked)
    for at in range(len(spans) - 1):
        if not (alone[at] or alone[at + 1]) and carries(text[spans[at][0] : spans[at + 1][1]], answers):
            marked[at] = marked[at + 1] = True
    return [(text[start:end], mark) for (start, end), mark in zip(spans, marked, strict=True)]


def passage_lines(passage: Passage, answers: Sequence[str], *, bold: bool, width: int) -> list[str]:
    """A passage for a terminal of ``width`` columns; ``bold``: sets off by bold type, else by a mark before it.

    Of a very long passage the first sentences are shown and those that carry an answer.
    """
    where = " · ".join(filter(None, (passage.title, passage.section))) or f"[{passage.id}]"
    rows = [(where, carries(where, answers))]
    hidden = False
    for number, (sentence, carrying) in enumerate(sentences(passage.text, answers)):
        if carrying or number < _MOST_SENTENCES:
            rows.append((sentence, carrying))
            hidden = False
        elif not hidden:
            rows.append(("…", False))
            hidden = True
    return [line for text, carrying in rows for line in _wrapped(text, carrying, bold, width)]


def _wrapped(text: str, carrying: bool, bold: bool, width: int) -> list[str]:
    lines = textwrap.wrap(show.on_one_line(text), width - 4) or [""]
    if carrying and bold:
        return [f"  {show.bold(line)}" for line in lines]
    mark = MARK if carrying else " "
    return [f"{mark} {line}".rstrip() for line in lines]
