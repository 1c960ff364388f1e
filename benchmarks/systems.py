"""Ways to rank and to answer, as the tables name them, and the models that they are made of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from mrag.adapters import onnx, remote_models
from mrag.adapters.index.encoding import StoredEncoder
from mrag.adapters.index.manifest import read_manifest
from mrag.adapters.index.retrievers import RetrieverName
from mrag.adapters.llm import HttpLanguageModel, connect
from mrag.adapters.models.model_cache import resolve
from mrag.adapters.models.model_files import find_files
from mrag.adapters.models.model_folder import kind_of
from mrag.adapters.serving.llm_settings import LlmSettings
from mrag.adapters.store import Index
from mrag.cli.searches import SummaryMode
from mrag.errors import InputError
from mrag.pipeline import Ranking
from mrag.question import Question
from mrag.ranking import best_first
from mrag.reader import Answer, Strategy, answer_many
from mrag.settings import DEFAULTS, LEXICAL, MEANING, Mix, Settings
from mrag.strategies import Scorer
from mrag.summarize import by_model, extractor

DEPTH = 100
"""Passages of a ranking: those that the paper's second stage puts into order."""

PLAIN = Settings(temporal=False)
PAPER = Settings(profile="paper")
PAPER_PLAIN = Settings(profile="paper", temporal=False)
"""Plain, with the paper's way of joining dense and BM25 in a hybrid."""

_PATIENT = (10.0, 600.0)  # a small machine takes minutes for a long prompt

Given = Callable[[Sequence[Question]], Iterator[tuple[list[str], Answer | None]]]
"""Questions -> for each the ids of its passages, best first, and the answer where there is to be one."""


@dataclass(frozen=True, slots=True)
class System:
    """A way to rank, and to answer; ``encoder``, ``reranker`` and ``reader`` are names that models are given under.

    - A plain ranking (settings.temporal False) is put into order by its ``reranker``, the first DEPTH passages, by
      "title text" against the question as it stands. MRAG scores its sentences by the reranker, or by the vectors of
      its encoder.
    - ``summariser`` writes summaries of the best settings.summaries passages.
    - ``reading``: "timeless" takes the time out of the question, "whole" matches it as it stands, its time as well;
      "page" reads the page that the answer stands on (long_document.py).
    - ``strategy``: answers from the first ``reads`` passages, by the language model named ``reader``.
    """

    settings: Settings = DEFAULTS
    retriever: RetrieverName = "bm25"
    encoder: str | None = None
    reranker: str | None = None
    summariser: SummaryMode = "none"
    reading: Literal["", "timeless", "whole", "page"] = ""
    strategy: Strategy | None = None
    reads: int = 5
    reader: str | None = None

    @property
    def searches(self) -> bool:
        """Whether passages play a part."""
        return self.strategy not in ("direct", "direct-cot")

    @property
    def asks(self) -> bool:
        """Whether a language model plays a part."""
        return self.strategy is not None or self.summariser == "llm"

    @property
    def name(self) -> str:
        """A name for its folder: other systems have another one.

        >>> System().name, System(PLAIN, "dense", "minilm", "gemma").name
        ('interval.bm25', 'plain.dense.minilm.gemma')
        >>> System(Settings(passages=50), summariser="extract").name
        'interval.bm25.extract5.passages-50'
        """
        profile: str = self.settings.profile if self.settings.temporal else "plain"
        if not self.settings.temporal and self.retriever == "hybrid" and self.settings.profile == "paper":
            profile = "plain-paper"
        parts = [profile, self.retriever, self.encoder, self.reranker]
        if self.summariser != "none":
            parts.append(f"{self.summariser}{self.settings.summaries}")
        if self.summariser == "llm" and self.strategy is None:
            parts.append(self.reader)
        parts += [self.reading, *_changed(self.settings)]
        if self.strategy is not None:
            parts = [self.reader, self.strategy, *([str(self.reads), *parts] if self.searches else [])]
        return ".".join(re.sub(r"[^\w-]+", "-", part) for part in parts if part)


def _changed(settings: Settings) -> list[str]:
    """The sizes and constants that are not the defaults; of whole groups of constants a hash."""
    told = []
    for one in fields(Settings):
        value = getattr(settings, one.name)
        if one.name in ("profile", "temporal", "summaries") or value == getattr(DEFAULTS, one.name):
            continue
        short = value if isinstance(value, int | float) else hashlib.sha256(repr(value).encode()).hexdigest()[:8]
        told.append(f"{one.name}-{short}")
    return told


# --- models --------------------------------------------------------------------------------------------------


@dataclass
class Models:
    """The models, each by its folder, its name of `mrag models list` or its server's URL#MODEL; loaded when wanted.

    ``indexes``: the index of each encoder's vectors, "" that of all others. ``replies``: where a language model's
    replies are kept.
    """

    indexes: Mapping[str, Path]
    encoders: Mapping[str, str] = field(default_factory=dict)
    rerankers: Mapping[str, str] = field(default_factory=dict)
    llm: LlmSettings | None = None
    reader: str = ""
    replies: Path | None = None
    requests: int = 8
    _connected: HttpLanguageModel | None = None

    def missing(self, system: System) -> str:
        """What a system needs that is not given, as options, "" where all is."""
        wanted = []
        if system.searches and system.encoder is not None and system.encoder not in self.encoders:
            wanted.append(f"--encoder {system.encoder}=…")
        if system.searches and system.reranker is not None and system.reranker not in self.rerankers:
            wanted.append(f"--reranker {system.reranker}=…")
        if system.asks and (self.llm is None or system.reader not in (None, self.reader)):
            wanted.append(f"--llm URL --llm-model {system.reader or 'NAME'}")
        return " ".join(wanted)

    def folder(self, system: System) -> Path:
        """The index that a system searches."""
        return self.indexes.get(system.encoder or "", self.indexes[""])

    def told(self, system: System) -> dict[str, object]:
        """Which models and which index a system is made of, for the record; an encoder is in its index's hash."""
        reranker = self.rerankers.get(system.reranker or "", "") if system.searches else ""
        return {
            "index": index_hash(self.folder(system)) if system.searches else None,
            "reranker model": (reranker if remote_models.is_remote(reranker) else Path(reranker).name) or None,
            "language model": self.llm.model if self.llm is not None and system.asks else None,
        }

    def encoder(self, name: str) -> StoredEncoder:
        """The encoder of that name."""
        return _encoder(self.encoders[name])

    def scorer(self, name: str) -> Scorer:
        """The reranker of that name: a cross-encoder, a language model with its prompt, or an encoder's cosines."""
        return _scorer(self.rerankers[name])

    @cached_property
    def language_model(self) -> HttpLanguageModel:
        """The language model; InputError where none is named."""
        if self.llm is None:
            raise InputError("name a language model: --llm URL --llm-model NAME")
        self._connected = connect(
            self.llm.url,
            self.llm.model,
            key=self.llm.key,
            concurrency=self.requests,
            timeout=_PATIENT,
            cache=self.replies,
        )
        return self._connected

    def close(self) -> None:
        """Closes the connections to the language model, if there are any."""
        if self._connected is not None:
            self._connected.close()


@lru_cache(maxsize=1)  # models may be large
def _encoder(name: str) -> StoredEncoder:
    return remote_models.load_encoder(name) if remote_models.is_remote(name) else onnx.load_encoder(resolve(name))


@lru_cache(maxsize=1)
def _scorer(name: str) -> Scorer:
    if remote_models.is_remote(name):
        return remote_models.load_scorer(name)
    folder = resolve(name)
    if kind_of(find_files(folder)) == "encoder":
        return onnx.text_scorer(onnx.load_encoder(folder))
    return onnx.load_scorer(folder)


@lru_cache(maxsize=8)
def open_index(folder: Path) -> Index:
    """The index in a folder, opened once."""
    return Index.open(folder)


@lru_cache(maxsize=8)
def index_hash(folder: Path) -> str:
    """An index by what it holds, wherever it lies: a hash of its manifest, as in the records of `mrag eval`."""
    return hashlib.sha256(read_manifest(folder).to_json().encode()).hexdigest()[:12]


def usual(encoders: Sequence[str], rerankers: Sequence[str]) -> dict[str, System]:
    """The systems that figures compare: plain retrievers, the paper's best baseline, and MRAG by words and vectors."""
    found = {"BM25": System(PLAIN), "Contriever + Gemma": System(PLAIN, "dense", "contriever", "gemma")}
    for encoder in encoders or ["minilm"]:
        found[f"dense, {encoder}"] = System(PLAIN, "dense", encoder)
        found[f"hybrid, {encoder}"] = System(PLAIN, "hybrid", encoder)
        for reranker in rerankers:
            if (encoder, reranker) != ("contriever", "gemma"):
                found[f"dense, {encoder} + {reranker}"] = System(PLAIN, "dense", encoder, reranker)
    found["MRAG, words"] = System()
    for encoder in encoders or ["minilm"]:
        found[f"MRAG, {encoder}"] = System(DEFAULTS, "hybrid", encoder)
        for reranker in rerankers:
            found[f"MRAG, {encoder} + {reranker}"] = System(DEFAULTS, "hybrid", encoder, reranker)
    return found


# --- systems at work -----------------------------------------------------------------------------------------


def at_work(system: System, models: Models) -> Given:
    """The system as a function; its models are loaded when it is called.

    Raises InputError for an encoder that did not make the vectors of its index, or for models that cannot be used.
    """

    def given(questions: Sequence[Question]) -> Iterator[tuple[list[str], Answer | None]]:
        rankings = _rankings(system, models, questions)
        if system.strategy is None:
            yield from ((ids, None) for ids, _ in rankings)
            return
        found = list(rankings)
        answers = answer_many(
            [ranking for _, ranking in found],
            model=models.language_model,
            strategy=system.strategy,
            passages=system.reads,
        )
        yield from ((ids, answer) for (ids, _), answer in zip(found, answers, strict=True))

    return given


def _rankings(system: System, models: Models, questions: Sequence[Question]) -> Iterator[tuple[list[str], Ranking]]:
    """For each question the ids of its passages, and its ranking with the evidence in that order."""
    if not system.searches:
        yield from (([], Ranking(question, ())) for question in questions)
        return
    scorer = None if system.reranker is None else models.scorer(system.reranker)
    summariser = by_model(models.language_model) if system.summariser == "llm" else extractor
    found = open_index(models.folder(system)).search_many(
        [read_as(system, question) for question in questions],
        DEPTH,
        settings=system.settings,
        retriever=system.retriever,
        encoder=None if system.encoder is None else models.encoder(system.encoder),
        scorer=scorer if system.settings.temporal else None,
        summariser=None if system.summariser == "none" else summariser,
    )
    for ranking in found:
        ordered = ranking if scorer is None or system.settings.temporal else reranked(ranking, scorer)
        yield [evidence.passage.id for evidence in ordered.evidence], ordered


def reranked(ranking: Ranking, scorer: Scorer) -> Ranking:
    """The passages in the order of the scorer, "title text" against the question as it stands (the paper's 3.3)."""
    texts = [f"{evidence.passage.title} {evidence.passage.text}".strip() for evidence in ranking.evidence]
    order = best_first(scorer(ranking.question.text, texts)).tolist() if texts else []
    return replace(ranking, evidence=tuple(ranking.evidence[place] for place in order))


def read_as(system: System, question: Question) -> Question:
    """The question as the system is to read it."""
    if system.reading == "timeless":
        return replace(question, constraint=None)
    return replace(question, main_content=question.text) if system.reading == "whole" else question


def how_of(system: System) -> dict[str, object]:
    """A system as a flat record, with the weights that it really has."""
    settings = asdict(replace(system.settings, mix=system.settings.mix or usual_mix(system)))
    rest = {one.name: getattr(system, one.name) for one in fields(System) if one.name != "settings"}
    return {**settings, **rest}


def sized(system: System, **sizes: Any) -> System:
    """The system with other sizes of its stages."""
    return replace(system, settings=replace(system.settings, **sizes))


def usual_mix(system: System) -> Mix:
    """The weights that a system has where its settings name none."""
    return MEANING if system.encoder or system.reranker else LEXICAL
