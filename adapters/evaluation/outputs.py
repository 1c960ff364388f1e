"""What systems gave to the questions of a set: runs, files of answers, and folders of evaluations, told by content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mrag.adapters.datasets import first_line, json_object
from mrag.adapters.reading.lines import decode, read_lines
from mrag.adapters.runs import Rankings, read_run
from mrag.errors import InputError

Answers = dict[str, str | None]
"""Question id -> the answer given, None for none."""

RUN, ANSWERS = "run.jsonl", "answers.jsonl"
"""The files of an evaluation's folder (run_folder.py) that hold what its system gave."""


class Output(NamedTuple):
    """What a system gave, by question id; None where it gives no rankings, or no answers."""

    rankings: Rankings | None
    answers: Answers | None


def read_output(path: str | Path) -> Output:
    """What a file holds, or the folder of an evaluation, whether it has ended or not.

    - TREC's six columns, or JSON lines {"id", "ranking": [passage ids]}: rankings, as runs.read_run.
    - JSON lines {"id", "answer"}, as `mrag ask --queries FILE --json` prints them: answers; null is none.
    - JSON lines with both: both.

    Raises InputError for what is none of these.
    """
    path = Path(path)
    if path.is_dir():
        run, answers = path / RUN, path / ANSWERS
        if not run.is_file() and not answers.is_file():
            raise InputError(f"{path}: holds no {RUN} and no {ANSWERS}: name a run, or the folder of an evaluation")
        return Output(read_run(run) if _holds(run) else None, read_answers(answers) if _holds(answers) else None)
    fields = _first_fields(path)
    ranked, answered = "ranking" in fields or "answer" not in fields, "answer" in fields
    return Output(read_run(path) if ranked else None, read_answers(path) if answered else None)


def _holds(path: Path) -> bool:
    """Whether a file is there and not empty, as it is before the first question."""
    return path.is_file() and path.stat().st_size > 0


def _first_fields(path: Path) -> Mapping[str, object]:
    """The first JSON object of a file; none where its first line is another form."""
    line, lines = first_line(read_lines(path))
    if not line.startswith(b"{"):
        return {}
    number, raw = next(item for item in lines if item[1].strip())
    return json_object(decode(raw, f"{path}:{number}"), f"{path}:{number}")


def read_answers(path: str | Path) -> Answers:
    """The answers of JSON lines {"id", "answer"}, plain or gzip; other fields are not looked at.

    Raises InputError with the line for anything else, and for a question that comes twice.
    """
    path = Path(path)
    answers: Answers = {}
    for number, raw in read_lines(path):
        if not raw.strip():
            continue
        place = f"{path}:{number}"
        record = json_object(decode(raw, place), place)
        identity, answer = record.get("id"), record.get("answer")
        if isinstance(identity, bool) or not isinstance(identity, (str, int)) or "answer" not in record:
            raise InputError(f'{place}: no "id" and "answer": write {{"id": …, "answer": …}} a line')
        if isinstance(answer, bool) or not isinstance(answer, (str, int, float, type(None))):
            raise InputError(f'{place}: "answer" is no string: write a string, or null for none')
        if str(identity) in answers:
            raise InputError(f"{place}: question {str(identity)!r} comes twice")
        answers[str(identity)] = None if answer is None else str(answer)
    if not answers:
        raise InputError(f"{path}: holds no answer")
    return answers
