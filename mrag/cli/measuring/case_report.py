"""The cases of `mrag compare` on standard output: which of them, as JSON and for people."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mrag.cli import output as show
from mrag.cli import searches
from mrag.cli.measuring.cases import Case, Passage, Won, cases
from mrag.metrics import EvalQuestion


class Which(NamedTuple):
    """The cases that are shown: those with ``different`` passages, and those that one system has ``won``."""

    different: bool = False
    won: Won | None = None


def run(
    files: tuple[Path, Path],
    questions: Sequence[EvalQuestion],
    search: searches.Search,
    which: Which,
    *,
    as_json: bool,
) -> None:
    """Shows the cases, and on standard error how many there are of each kind."""
    counts: Counter[str] = Counter()
    for case in cases(files, questions, search):
        counts.update(["all", *(["different"] if case.different else []), *([case.won] if case.won else [])])
        if (case.different or not which.different) and which.won in (None, case.won):
            counts["shown"] += 1
            if as_json:
                show.write_json(case_row(case))
            else:
                show.write(case_text(case))
    first, second = map(str, files)
    show.note(
        f"{counts['shown']:,} of {counts['all']:,} questions shown; {counts['different']:,} with different passages, "
        f"{counts['first']:,} won by {first}, {counts['second']:,} won by {second}"
    )


def case_row(case: Case) -> dict[str, object]:
    """A case as its JSON object; a passage is a row of `mrag search --json` with ``gold`` and ``answer``."""
    constraint = case.read.constraint
    return {
        "id": case.asked.id,
        "question": case.asked.question,
        "answers": list(case.asked.answers),
        "main_content": case.read.main_content,
        "constraint": show.constraint_text(constraint),
        "different": case.different,
        "won": case.won,
        **{
            name: {
                "system": case.systems[system],
                "right": case.right(system),
                "passages": [_passage_row(place, one) for place, one in enumerate(case.passages[system], 1)],
            }
            for system, name in enumerate(("first", "second"))
        },
    }


def _passage_row(place: int, passage: Passage) -> dict[str, object]:
    judged = {"gold": passage.gold, "answer": passage.answer}
    if passage.evidence is None:
        return {"rank": place, "id": passage.id, "text": None, **judged}
    return {**show.evidence_row(place, passage.evidence), **judged}


def case_text(case: Case) -> str:
    """A case for people."""
    name = f"{show.on_one_line(case.asked.id)}  " if case.asked.id else ""
    asked = f"{name}{show.on_one_line(case.asked.question)}"
    lines = [*map(show.bold, textwrap.wrap(asked, show.width()))]
    lines.append(show.dim(show.asked_text(case.read)))
    if case.asked.answers:
        lines.append(f"answers: {show.on_one_line(' | '.join(case.asked.answers))}")
    for system, passages in enumerate(case.passages):
        right = {True: ": right", False: ": wrong", None: ""}[case.right(system)]
        lines += ["", f"{show.on_one_line(case.systems[system])}{right}"]
        lines += [_passage_text(place, one) for place, one in enumerate(passages, 1)] or ["    found nothing"]
    return "\n".join([*lines, ""])


def _passage_text(place: int, passage: Passage) -> str:
    told = [word for word, holds in (("gold", passage.gold), ("carries an answer", passage.answer)) if holds]
    shown = f"{place:>2}  not in the index: [{show.on_one_line(passage.id)}]"
    if passage.evidence is not None:
        shown = show.evidence_text(place, passage.evidence)
    return "\n    ".join([shown, *([show.dim(", ".join(told))] if told else [])])
