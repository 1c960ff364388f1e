"""How an answer is shown: as a JSON object, and to people."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from mrag.cli import output as show

if TYPE_CHECKING:
    from mrag.decompose import Reading
    from mrag.reader import Answer, Fact


def answer_row(answer: Answer, reading: Reading) -> dict[str, object]:
    """An answer as its JSON object."""
    constraint = answer.question.constraint
    return {
        "question": answer.question.text,
        "main_content": answer.question.main_content,
        "implicit": constraint and constraint.implicit,
        "relation": constraint and constraint.relation,
        "start": constraint and constraint.interval.start_iso,
        "end": constraint and constraint.interval.end_iso,
        "parsed_by": reading.by,
        "answer": answer.text,
        "by": answer.by,
        "strategy": answer.strategy,
        "fits": answer.fits,
        "evidence": [show.evidence_row(place, evidence) for place, evidence in enumerate(answer.evidence, 1)],
        "timeline": [_fact_row(fact) for fact in answer.timeline],
        "own_knowledge": answer.own,
        "conflict": answer.conflict,
        "notes": list(answer.notes),
    }


def _fact_row(fact: Fact) -> dict[str, object]:
    return {
        "start": fact.interval.start_iso,
        "end": fact.interval.end_iso,
        "text": fact.text,
        "id": fact.passage.id,
    }


def answer_text(answer: Answer, *, show_timeline: bool = False) -> str:
    """An answer for people: what it is, who says so, what it rests on, and what is to be known of it."""
    room = show.width()
    said = textwrap.wrap(show.on_one_line(answer.text or "no answer"), room) or ["no answer"]
    who = "the best sentence, as it stands" if answer.by == "extract" else f"the language model, {answer.strategy}"
    lines = [*map(show.bold, said), show.dim(f"{who}; {show.asked_text(answer.question)}")]
    lines += [
        show.dim(line) for note in answer.notes for line in textwrap.wrap(f"note: {show.on_one_line(note)}", room)
    ]
    if show_timeline and answer.timeline:
        lines += [
            "",
            show.columns([(show.when(fact.interval), show.on_one_line(fact.text)) for fact in answer.timeline]),
        ]
    if answer.evidence:
        lines += ["", *(show.evidence_text(place, evidence) for place, evidence in enumerate(answer.evidence, 1))]
    return "\n".join(lines)
