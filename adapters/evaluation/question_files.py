"""A question set on its way to the disk: EvalQuestions -> JSON lines of our own form, which question_formats reads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from mrag.adapters.files import write_whole
from mrag.metrics import EvalQuestion


def write_question_set(path: str | Path, questions: Iterable[EvalQuestion]) -> None:
    """Writes the questions, a line each, all or nothing. Raises InputError for a file that cannot be written."""
    write_whole(Path(path), (json.dumps(question_row(question)) for question in questions))


def question_row(question: EvalQuestion) -> dict[str, object]:
    """The fields of a question, what its set does not say left out; its own other fields come behind.

    >>> question_row(EvalQuestion("1", "Who led it?", ("Ida Moe",), ("p3",), exact=False, extra={"page": "Club"}))
    {'id': '1', 'question': 'Who led it?', 'answers': ['Ida Moe'], 'gold_passages': ['p3'], 'exact': 0, 'fact': '1', \
'page': 'Club'}
    """
    told: dict[str, object] = {
        "id": question.id,
        "question": question.question,
        "answers": list(question.answers),
        "gold_passages": list(question.gold_passages),
        "gold_evidence": list(question.gold_evidence) or None,
        "grades": dict(question.grades) or None,
        "relation": question.relation,
        "implicit": question.implicit,
        "exact": None if question.exact is None else int(question.exact),
        "source": question.source or None,
        "fact": question.fact,
        "base": question.base or None,
        "reference": question.reference or None,
    }
    return {**{name: value for name, value in told.items() if value is not None}, **_others(question, told)}


def _others(question: EvalQuestion, told: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in question.extra.items() if name not in told}
