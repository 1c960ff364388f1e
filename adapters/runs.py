"""Runs and qrels in the forms of TREC and BEIR, and our own: rankings and gold passages, in and out.

A TREC run is ordered by its scores alone, as trec_eval does: scores as 32-bit floats, of equal scores the greater id
first, the column of ranks not looked at. Runs are therefore written with the scores n, n - 1 ... 1 of their n places,
which no program puts into another order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from mrag.adapters.datasets import first_line, json_object, read_passages
from mrag.adapters.files import write_whole
from mrag.adapters.reading.lines import Lines, decode, read_lines
from mrag.errors import InputError
from mrag.metrics import EvalQuestion

Rankings = dict[str, tuple[str, ...]]
"""Question id -> passage ids, best first."""

Qrels = dict[str, dict[str, int]]
"""Question id -> passage id -> grade; 0 and less is not gold."""

_BEIR_HEADER = ("query-id", "corpus-id", "score")


# --- runs ----------------------------------------------------------------------------------------------------


def read_run(path: str | Path) -> Rankings:
    """The rankings of a run, TREC's six columns or JSON lines {"id", "ranking"}, told by content; plain or gzip.

    Raises InputError with the line for what is no run, for a score that is no number, and for a passage that comes
    twice for a question (in TREC's form) or a question that comes twice (in ours).
    """
    path = Path(path)
    first, lines = first_line(read_lines(path))
    rankings = _json_run(path, lines) if first.startswith(b"{") else _trec_run(path, lines)
    if not rankings:
        raise InputError(f"{path}: holds no ranking")
    return rankings


def _json_run(path: Path, lines: Lines) -> Rankings:
    rankings: Rankings = {}
    for number, raw in lines:
        if not raw.strip():
            continue
        place = f"{path}:{number}"
        record = json_object(decode(raw, place), place)
        identity, ranking = record.get("id"), record.get("ranking")
        if isinstance(identity, bool) or not isinstance(identity, (str, int)) or not isinstance(ranking, list):
            raise InputError(f'{place}: no "id" and "ranking": write {{"id": …, "ranking": [passage ids]}} a line')
        if not all(isinstance(passage, (str, int)) and not isinstance(passage, bool) for passage in ranking):
            raise InputError(f'{place}: "ranking" holds something else than passage ids')
        if str(identity) in rankings:
            raise InputError(f"{place}: question {str(identity)!r} comes twice")
        rankings[str(identity)] = tuple(map(str, ranking))
    return rankings


def _trec_run(path: Path, lines: Lines) -> Rankings:
    scores: dict[str, dict[str, float]] = {}
    for number, raw in lines:
        if not raw.strip():
            continue
        place = f"{path}:{number}"
        columns = decode(raw, place).split()
        if len(columns) != 6:
            raise InputError(f"{place}: {len(columns)} columns: a TREC run has six (query Q0 passage rank score tag)")
        question, _, passage, _, written, _ = columns
        found = scores.setdefault(question, {})
        if passage in found:
            raise InputError(f"{place}: passage {passage!r} comes twice for question {question!r}")
        found[passage] = _score(written, place)
    return {question: _by_score(found) for question, found in scores.items()}


def _score(text: str, place: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise InputError(f"{place}: the score {text[:40]!r} is no number")
    return score


def _by_score(scores: Mapping[str, float]) -> tuple[str, ...]:
    with np.errstate(over="ignore"):  # beyond the largest float32 lies infinity, as in C
        rounded = np.array(list(scores.values())).astype(np.float32).tolist()
    order = sorted(zip(rounded, scores, strict=True), reverse=True)
    return tuple(passage for _, passage in order)


def write_run(
    path: str | Path,
    rankings: Mapping[str, Sequence[str]],
    *,
    tag: str = "mrag",
    form: Literal["trec", "json"] = "trec",
) -> None:
    """Writes the rankings, all or nothing; a passage that comes twice for a question is written at its first place.

    Raises InputError for an id that TREC's form cannot hold (blank, or with white space), and for a disk that fails.
    """
    if form == "trec":
        write_whole(Path(path), _trec_lines(rankings, _trec_id(tag, "tag")))
    else:
        rows = ({"id": question, "ranking": list(ranking)} for question, ranking in rankings.items())
        write_whole(Path(path), map(json.dumps, rows))


def _trec_lines(rankings: Mapping[str, Sequence[str]], tag: str) -> Iterator[str]:
    for question, ranking in rankings.items():
        name = _trec_id(question, "question id")
        passages = dict.fromkeys(ranking)
        for place, passage in enumerate(passages):
            yield f"{name} Q0 {_trec_id(passage, 'passage id')} {place + 1} {len(passages) - place} {tag}"


def _trec_id(identity: str, what: str) -> str:
    """The id, which a file with blanks between its columns has to be able to hold."""
    if identity.split() != [identity]:
        raise InputError(
            f"the {what} {identity[:80]!r} is blank or holds white space, which TREC's form cannot hold:"
            " write JSON lines, or give it another"
        )
    return _whole_characters(identity, what)


# --- qrels ---------------------------------------------------------------------------------------------------


def read_qrels(path: str | Path) -> Qrels:
    """The grades of a file of gold passages: TREC's four columns, or BEIR's three with their header; plain or gzip.

    Raises InputError with the line for what is neither, and for a pair that comes twice with another grade.
    """
    path = Path(path)
    first, lines = first_line(read_lines(path))
    beir = len(first.split(b"\t")) == 3
    qrels: Qrels = {}
    for number, raw in lines:
        place = f"{path}:{number}"
        line = decode(raw, place)
        columns = line.split("\t") if beir else line.split()
        if not line.strip() or (beir and not qrels and tuple(columns) == _BEIR_HEADER):
            continue
        if len(columns) != (3 if beir else 4):
            raise InputError(f"{place}: qrels have four columns (query 0 passage grade), or BEIR's three with tabs")
        question, passage, written = columns[0], columns[-2], columns[-1].strip()
        grade = _grade(written, place)
        if qrels.setdefault(question, {}).setdefault(passage, grade) != grade:
            raise InputError(f"{place}: passage {passage!r} has another grade for question {question!r} above")
    if not qrels:
        raise InputError(f"{path}: holds no gold passages")
    return qrels


def _grade(text: str, place: str) -> int:
    if len(text) > 9 or not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit():
        raise InputError(f"{place}: the grade {text[:40]!r} is no whole number")
    return int(text)


def write_qrels(
    path: str | Path, qrels: Mapping[str, Mapping[str, int]], *, form: Literal["trec", "beir"] = "trec"
) -> None:
    """Writes the grades, all or nothing. Raises InputError for an id that the form cannot hold."""
    rows = ((question, passage, grade) for question, grades in qrels.items() for passage, grade in grades.items())
    if form == "trec":
        write_whole(Path(path), (f"{_trec_id(q, 'question id')} 0 {_trec_id(p, 'passage id')} {g}" for q, p, g in rows))
    else:
        lines = (f"{_cell(question)}\t{_cell(passage)}\t{grade}" for question, passage, grade in rows)
        write_whole(Path(path), chain(["\t".join(_BEIR_HEADER)], lines))


def _cell(identity: str) -> str:
    if not identity or "\t" in identity or len(identity.splitlines()) != 1:
        raise InputError(
            f"the id {identity[:80]!r} is empty or holds a tab or a line end, which BEIR's form cannot hold"
        )
    return _whole_characters(identity, "id")


def _whole_characters(identity: str, what: str) -> str:
    """The id, which UTF-8 has to be able to hold."""
    try:
        identity.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"the {what} {identity[:80]!r} holds half a character, which UTF-8 cannot hold: give it another"
        ) from None
    return identity


def qrels_of(questions: Iterable[EvalQuestion]) -> Qrels:
    """The gold passages of the questions that name some, with their grades."""
    return {
        question.id: {passage: question.grades.get(passage, 1) for passage in question.gold_passages}
        for question in questions
        if question.gold_passages
    }


# --- the texts that a run is judged by -----------------------------------------------------------------------


def texts_of(corpus: str | Path, passages: Collection[str]) -> dict[str, str]:
    """Passage id -> "title text" for those of ``passages`` that a corpus holds, read in one pass."""
    wanted = frozenset(passages)
    found: dict[str, str] = {}
    for passage in read_passages(corpus):
        if passage.id in wanted:
            found.setdefault(passage.id, f"{passage.title} {passage.text}")
            if len(found) == len(wanted):
                break
    return found
