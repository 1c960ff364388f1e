"""A search as the command line asks for it: one question, or many of them over all cores."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path
from typing import Literal

from mrag.adapters.datasets import read_passages
from mrag.adapters.index.encoding import StoredEncoder
from mrag.adapters.store import Index
from mrag.adapters.workers import cores, in_order
from mrag.cli import loading
from mrag.cli import output as show
from mrag.cli.llm import NO_LLM, Llm, need_model
from mrag.cli.loading import NO_MODELS, Models
from mrag.corpus import analyse
from mrag.decompose import ParseMode, Reading
from mrag.decompose import read as decompose
from mrag.errors import InputError
from mrag.interval import Interval, until
from mrag.pipeline import Ranking
from mrag.question import Constraint, Question
from mrag.settings import Settings
from mrag.strategies import LanguageModel, Scorer, Summariser

SummaryMode = Literal["none", "extract", "llm"]

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
    parse_mode: ParseMode = "auto"
    summaries: SummaryMode = "none"
    llm: Llm = NO_LLM


@dataclass(frozen=True, slots=True)
class Opened:
    """An open index with the models that a search uses."""

    index: Index
    encoder: StoredEncoder | None
    scorer: Scorer | None
    summariser: Summariser | None = None


def open_all(search: Search, tell: loading.Tell | None = None, model: LanguageModel | None = None) -> Opened:
    """The index and the models of a search; ``tell`` hears where they run.

    Raises InputError for an encoder that did not make the vectors of the index, for a first stage that needs one, and
    for summaries by a language model where there is none.
    """
    index, models = search.index, search.models
    if index is None and models.encoder is not None:
        raise InputError("the demo corpus holds no vectors: name an --index that was built with --encoder")
    if models.retriever not in (None, "bm25") and models.encoder is None:
        raise InputError(f"--retriever {models.retriever} needs --encoder MODEL: the one that made the index's vectors")
    need_model("--summaries", search.summaries, model)
    found = open_index(index)
    encoder = loading.load_encoder(models, tell)
    if encoder is not None:
        found.meaning(encoder)
    summariser = None
    if search.summaries != "none":
        from mrag.summarize import by_model, extractor

        summariser = by_model(model) if search.summaries == "llm" and model is not None else extractor
    return Opened(found, encoder, loading.load_reranker(models, tell), summariser)


def open_here(search: Search, model: LanguageModel | None = None) -> Opened:
    """As open_all; says where the models run, and what is to be known of them."""
    if search.index is None:
        show.note("no --index given: searching the demo corpus of mrag")
    with loading.warnings_as_notes():
        return open_all(search, show.note, model)


def open_index(folder: Path | None) -> Index:
    """The index in a folder, mapped; without one the demo corpus, analysed."""
    if folder is not None:
        return Index.open(folder)
    with resources.as_file(resources.files("mrag.adapters") / "demo.jsonl") as path:
        return Index(path, analyse(read_passages(path)))


def read(search: Search, texts: Sequence[str], model: LanguageModel | None = None) -> list[Reading]:
    """The questions as they are asked: with --as-of where one names no time itself."""
    need_model("--parse", search.parse_mode, model)
    readings = decompose(
        texts,
        model=model,
        mode=search.parse_mode,
        reference=search.reference,
        assume_present=search.assume_present,
    )
    return [replace(reading, question=_as_of(search, reading.question)) for reading in readings]


def _as_of(search: Search, question: Question) -> Question:
    if search.as_of is None or (question.constraint and question.constraint.relation):
        return question
    implicit = question.constraint.implicit if question.constraint else None
    return replace(question, constraint=Constraint("as of", implicit, until(search.as_of)))


def rankings(search: Search, opened: Opened, questions: Sequence[Question]) -> Iterator[Ranking]:
    """The evidence for each question, in order."""
    return opened.index.search_many(
        questions,
        search.k,
        settings=search.settings,
        window=search.window,
        retriever=search.models.retriever,
        encoder=opened.encoder,
        scorer=opened.scorer,
        summariser=opened.summariser,
    )


def found_ids(
    search: Search, questions: Sequence[Question], workers: int, model: LanguageModel | None = None
) -> Generator[list[str], None, None]:
    """The passage ids for each question, best first, in the order of the questions.

    Each worker opens the index and loads the models for itself; the index is mapped, not copied, but for its graph.
    Where a language model writes summaries, this process does it all, and asks it for those of many questions at once.
    """
    opened = open_here(search, model)  # before processes start, so that it is said once what is wrong
    if workers == 1 or len(questions) <= _FEW or search.summaries == "llm":
        yield from map(_ids, rankings(search, opened, questions))
        return
    del opened
    shared = replace(search, models=replace(search.models, threads=max(1, cores() // workers)), llm=NO_LLM)
    chunks = [questions[at : at + _CHUNK] for at in range(0, len(questions), _CHUNK)]
    for found in in_order(partial(_chunk, shared), chunks, workers):
        yield from found


def _ids(ranking: Ranking) -> list[str]:
    return [evidence.passage.id for evidence in ranking.evidence]


_open_once = lru_cache(maxsize=1)(open_all)  # a process answers chunk after chunk from one index


def _chunk(search: Search, questions: Sequence[Question]) -> list[list[str]]:
    """The work that a process takes at a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the process that hands out the work has told
        opened = _open_once(search)
    return list(map(_ids, rankings(search, opened, questions)))
