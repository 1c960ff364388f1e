"""A search as the command line asks for it: one question, or many of them over all cores."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.adapters.datasets import read_passages
from mrag.adapters.store import Index
from mrag.adapters.workers import cores, in_order
from mrag.cli import loading
from mrag.cli import output as show
from mrag.cli.loading import NO_MODELS, Models
from mrag.corpus import analyse
from mrag.errors import InputError
from mrag.interval import Interval, until
from mrag.pipeline import Ranking, Settings
from mrag.question import Constraint, Question, parse

if TYPE_CHECKING:
    from mrag.adapters.onnx import OnnxEncoder, OnnxScorer

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
    models: Models = NO_MODELS


@dataclass(frozen=True, slots=True)
class Opened:
    """An open index with the models that a search uses."""

    index: Index
    encoder: OnnxEncoder | None
    scorer: OnnxScorer | None


def open_all(index: Path | None, models: Models, tell: loading.Tell | None = None) -> Opened:
    """The index and the models of a search; ``tell`` hears where they run.

    Raises InputError for an encoder that did not make the vectors of the index, and for a first stage that needs one.
    """
    if index is None and models.encoder is not None:
        raise InputError("the demo corpus holds no vectors: name an --index that was built with --encoder")
    if models.retriever not in (None, "bm25") and models.encoder is None:
        raise InputError(f"--retriever {models.retriever} needs --encoder MODEL: the one that made the index's vectors")
    found = open_index(index)
    encoder = loading.load_encoder(models, tell)
    if encoder is not None:
        found.meaning(encoder)
    return Opened(found, encoder, loading.load_reranker(models, tell))


def open_here(search: Search) -> Opened:
    """As open_all; says where the models run, and what is to be known of them."""
    with loading.warnings_as_notes():
        return open_all(search.index, search.models, show.note)


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


def ask(search: Search, opened: Opened, question: Question) -> Ranking:
    """The evidence for one question."""
    return opened.index.search(
        question,
        search.k,
        settings=search.settings,
        window=search.window,
        retriever=search.models.retriever,
        encoder=opened.encoder,
        scorer=opened.scorer,
    )


def rankings(search: Search, questions: Sequence[str], workers: int) -> Generator[list[str], None, None]:
    """The passage ids for each question, best first, in the order of the questions.

    Each worker opens the index and loads the models for itself; the index is mapped, not copied, but for its graph.
    """
    opened = open_here(search)  # before processes start, so that it is said once what is wrong
    if workers == 1 or len(questions) <= _FEW:
        yield from (_ids(search, opened, text) for text in questions)
        return
    del opened
    shared = replace(search, models=replace(search.models, threads=max(1, cores() // workers)))
    chunks = [questions[at : at + _CHUNK] for at in range(0, len(questions), _CHUNK)]
    for found in in_order(partial(_chunk, shared), chunks, workers):
        yield from found


def _ids(search: Search, opened: Opened, text: str) -> list[str]:
    return [evidence.passage.id for evidence in ask(search, opened, read(search, text)).evidence]


_open_once = lru_cache(maxsize=1)(open_all)  # a process answers chunk after chunk from one index


def _chunk(search: Search, texts: Sequence[str]) -> list[list[str]]:
    """The work that a process takes at a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the process that hands out the work has told
        opened = _open_once(search.index, search.models)
    return [_ids(search, opened, text) for text in texts]
