"""A search as the command line asks for it: one question, or many of them over all cores."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path

from mrag.adapters.datasets import read_passages
from mrag.adapters.store import Index
from mrag.adapters.workers import in_order
from mrag.corpus import analyse
from mrag.interval import Interval, until
from mrag.pipeline import Ranking, Settings
from mrag.question import Constraint, Question, parse

_CHUNK = 32  # questions that a worker takes at a time
_FEW = 400  # so few are answered before workers would have started


@dataclass(frozen=True, slots=True)
class Search:
    """All that a question is asked with; ``index`` None is the demo corpus."""

    index: Path | None
    k: int
    settings: Settings
    reference: Interval | None = None
    assume_present: bool = False
    as_of: Interval | None = None
    window: Interval | None = None


def open_index(folder: Path | None) -> Index:
    """The index in a folder, mapped; without one the demo corpus, analysed."""
    if folder is not None:
        return Index.open(folder)
    with resources.as_file(resources.files("mrag.adapters") / "demo.jsonl") as path:
        return Index(path, analyse(read_passages(path)))


def read(search: Search, text: str) -> Question:
    """The question as it is asked: with --as-of where it names no time itself."""
    question = parse(text, reference=search.reference, assume_present=search.assume_present)
    if search.as_of is None or (question.constraint and question.constraint.relation):
        return question
    implicit = question.constraint.implicit if question.constraint else None
    return replace(question, constraint=Constraint("as of", implicit, until(search.as_of)))


def ask(search: Search, index: Index, question: Question) -> Ranking:
    """The evidence for one question."""
    return index.search(question, search.k, settings=search.settings, window=search.window)


def rankings(search: Search, questions: Sequence[str], workers: int) -> Generator[list[str], None, None]:
    """The passage ids for each question, best first, in the order of the questions.

    Each worker opens the index for itself; it is mapped, not copied.
    """
    if len(questions) <= _FEW:
        workers = 1
    chunks = [questions[at : at + _CHUNK] for at in range(0, len(questions), _CHUNK)]
    for found in in_order(partial(_chunk, search), chunks, workers):
        yield from found


_open_once = lru_cache(maxsize=1)(open_index)  # a process answers chunk after chunk from one index


def _chunk(search: Search, texts: Sequence[str]) -> list[list[str]]:
    """The work that a process takes at a time."""
    index = _open_once(search.index)
    found = (ask(search, index, read(search, text)) for text in texts)
    return [[evidence.passage.id for evidence in ranking.evidence] for ranking in found]
