"""A pipeline over a set of questions, as `mrag eval` runs it: batch by batch, kept in a folder, gone on with later."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from mrag import __version__
from mrag.adapters.evaluation.outputs import Answers, Output
from mrag.adapters.runs import Rankings
from mrag.adapters.serving.llm_settings import llm_settings
from mrag.cli import output as show
from mrag.cli import searches
from mrag.cli.options import read_date
from mrag.corpus import RULES
from mrag.errors import InputError, MragError
from mrag.metrics import EvalQuestion
from mrag.pipeline import Ranking
from mrag.reader import Answer, Strategy, answer_many
from mrag.strategies import Failure, LanguageModel

if TYPE_CHECKING:
    from mrag.adapters.evaluation.run_folder import RunFolder
    from mrag.decompose import Reading

_KEPT = 16  # rankings that are kept at a time
_BATCH = 64  # questions that a language model is asked about at a time
_IN_VAIN = 64  # prompts without a reply among them, after which it is given up


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A search, and how its passages are read: by a ``strategy`` (None: not at all), the first ``passages`` of them."""

    search: searches.Search
    strategy: Strategy | None = None
    passages: int = 5
    workers: int = 1


@dataclass(slots=True)
class Run:
    """What a pipeline gave. ``failed``: prompts without a reply, with the ``reason`` of the last; ``unkept``: questions
    that no folder keeps for that, so that they are asked again."""

    rankings: Rankings = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)
    failed: int = 0
    reason: str = ""
    unkept: int = 0

    def output(self, answered: bool) -> Output:
        """The rankings, and the answers where there are to be any."""
        return Output(self.rankings, self.answers if answered else None)


def how(pipeline: Pipeline, questions: Sequence[EvalQuestion], model: LanguageModel | None) -> dict[str, object]:
    """All that decides what the pipeline gives, for RunFolder; None where something plays no part."""
    search = pipeline.search
    named = None if model is None else llm_settings(search.llm.url, search.llm.model, os.environ)
    return {
        "mrag": __version__,
        "questions": fingerprint(questions),
        "index": _index(search),
        "k": search.k,
        "retriever": search.models.retriever,
        "encoder": search.models.encoder,
        "reranker": search.models.reranker,
        "parse": search.parse_mode,
        "summariser": None if search.summaries == "none" else search.summaries,
        "language model": None if named is None else f"{named.model} at {named.url}",
        "answer": pipeline.strategy and f"{pipeline.strategy} from {pipeline.passages} passages",
        "reference": search.reference and str(search.reference),
        "assume present": search.assume_present,
        "as of": search.as_of and str(search.as_of),
        "within": search.window and str(search.window),
        **asdict(search.settings),
    }


def fingerprint(questions: Sequence[EvalQuestion]) -> str:
    """How many questions, and a hash of what is asked: their ids, words and dates, not what they are judged by."""
    asked = json.dumps([(question.id, question.question, question.reference) for question in questions])
    return f"{len(questions):,} ({hashlib.sha256(asked.encode()).hexdigest()[:12]})"


def _index(search: searches.Search) -> str:
    """The index by what it holds, wherever it lies: a hash of its manifest."""
    if search.index is None:
        return f"demo ({RULES})"
    from mrag.adapters.index.manifest import read_manifest

    return hashlib.sha256(read_manifest(search.index).to_json().encode()).hexdigest()[:12]


# --- running it ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Batch:
    """What the pipeline gave to some questions, and the prompts that got no reply meanwhile."""

    rankings: dict[str, tuple[str, ...]]
    answers: dict[str, dict[str, object]] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()


def run(
    pipeline: Pipeline, questions: Sequence[EvalQuestion], model: LanguageModel | None, folder: RunFolder | None
) -> Run:
    """What the pipeline gives to each question; with a folder to those that it does not hold already.

    A batch in which the language model owed a reply is not kept: asked again, it costs little, since the replies that
    came are cached. Raises InputError for a pipeline that cannot be, and MragError where the model does not reply at
    all; what was done until then, and until Ctrl-C, is kept.
    """
    if model is None and (pipeline.strategy or "").startswith("direct"):
        raise InputError(f"--answer {pipeline.strategy} needs a language model: name its server with --llm URL")
    if model is None and pipeline.strategy is not None:
        show.note("note: no language model is named (--llm): the answers are sentences as they stand")
    done = Run() if folder is None else Run(dict(folder.rankings), dict(folder.answers))
    left = [question for question in questions if question.id not in done.rankings]
    if len(left) < len(questions):
        show.note(f"{len(questions) - len(left):,} of {len(questions):,} questions are there already")
    try:
        with closing(_batches(pipeline, left, model)) as batches, show.progress("questions") as tell:
            for batch in batches:
                if folder is not None and not batch.failures:
                    folder.add(batch.rankings, batch.answers)
                done.rankings.update(batch.rankings)
                done.answers |= {name: _text(row) for name, row in batch.answers.items()}
                if batch.failures:
                    done.failed += len(batch.failures)
                    done.reason = batch.failures[-1].reason
                    done.unkept += len(batch.rankings)
                tell(len(done.rankings), len(questions))
    except (KeyboardInterrupt, MragError):
        if folder is not None and folder.rankings:
            kept = f"{len(folder.rankings):,} of {len(questions):,} questions"
            show.note(f"{folder.path} keeps {kept}: the same command goes on with the others")
        raise
    return done


def _text(row: dict[str, object]) -> str | None:
    return None if row["answer"] is None else str(row["answer"])


def _batches(
    pipeline: Pipeline, questions: Sequence[EvalQuestion], model: LanguageModel | None
) -> Generator[_Batch, None, None]:
    if not questions:
        return
    if model is None and pipeline.strategy is None:
        yield from _ranked(pipeline, questions)
    else:
        yield from _answered(pipeline, questions, model)


def _ranked(pipeline: Pipeline, questions: Sequence[EvalQuestion]) -> Generator[_Batch, None, None]:
    """Rankings alone, by all processes."""
    asked = [reading.question for reading in _read(pipeline.search, questions, None)]
    with closing(searches.found_ids(pipeline.search, asked, pipeline.workers)) as found:
        ranked = zip((question.id for question in questions), found, strict=True)
        while batch := dict(islice(ranked, _KEPT)):
            yield _Batch({name: tuple(passages) for name, passages in batch.items()})


def _answered(
    pipeline: Pipeline, questions: Sequence[EvalQuestion], model: LanguageModel | None
) -> Generator[_Batch, None, None]:
    """Rankings for which a language model is asked, and answers; the prompts of a batch go to it together."""
    search = replace(pipeline.search, k=max(pipeline.search.k, pipeline.passages if pipeline.strategy else 0))
    counted = None if model is None else _Counted(model)
    opened = searches.open_here(search, counted)
    remaining = iter(questions)
    bare: list[Ranking] = []
    while batch := list(islice(remaining, _BATCH)):
        asked = [reading.question for reading in _read(search, batch, counted)]
        rankings = list(searches.rankings(search, opened, asked))
        bare += [replace(ranking, evidence=()) for ranking in rankings if ranking.summaries]
        answers: list[Answer] = []
        if pipeline.strategy is not None:
            answers = answer_many(rankings, model=counted, strategy=pipeline.strategy, passages=pipeline.passages)
        names = [question.id for question in batch]
        yield _Batch(
            {
                name: tuple(evidence.passage.id for evidence in ranking.evidence[: pipeline.search.k])
                for name, ranking in zip(names, rankings, strict=True)
            },
            {name: _answer_row(answer) for name, answer in zip(names, answers, strict=False)},
            () if counted is None else counted.settle(),
        )
    show.say_why_not_summarised(bare)


def _answer_row(answer: Answer) -> dict[str, object]:
    """An answer as answers.jsonl keeps it; ``evidence``: the ids of the passages that it rests on."""
    return {
        "answer": answer.text,
        "by": answer.by,
        "strategy": answer.strategy,
        "evidence": [evidence.passage.id for evidence in answer.evidence],
        "notes": list(answer.notes),
    }


def _read(search: searches.Search, questions: Sequence[EvalQuestion], model: LanguageModel | None) -> Iterator[Reading]:
    """The questions taken apart; one that has a date of its own is asked on that day."""
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(questions):
        rows.setdefault(question.reference, []).append(row)
    found: dict[int, Reading] = {}
    for day, several in rows.items():
        dated = replace(search, reference=read_date(day)) if day else search
        readings = searches.read(dated, [questions[row].question for row in several], model)
        found |= dict(zip(several, readings, strict=True))
    return (found[row] for row in range(len(questions)))


class _Counted:
    """A language model that remembers the failures of a batch, and gives up where nothing but failures comes."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._failures: list[Failure] = []
        self._replied = False
        self._vain = 0

    def __call__(
        self, prompts: Sequence[str], *, max_tokens: int = 256, temperature: float = 0.0, stop: Sequence[str] = ()
    ) -> list[str | Failure]:
        replies = self._model(prompts, max_tokens=max_tokens, temperature=temperature, stop=stop)
        failures = [reply for reply in replies if isinstance(reply, Failure)]
        self._failures += failures
        if len(failures) < len(replies):
            self._replied, self._vain = True, 0
        self._vain += len(failures)
        return replies

    def settle(self) -> tuple[Failure, ...]:
        """The failures of the batch; MragError where the model never replied so far, or not any more."""
        failures, self._failures = tuple(self._failures), []
        if failures and (not self._replied or self._vain >= _IN_VAIN):
            reason = show.on_one_line(failures[-1].reason)
            raise MragError(f"the language model replied to none of {self._vain:,} prompts: {reason}")
        return failures
