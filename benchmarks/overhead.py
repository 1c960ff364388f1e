"""What time costs on top of plain dense retrieval, whole questions over an index with vectors, and where it goes.

python benchmarks/overhead.py QUESTIONS --index DIR --encoder MODEL [--number N] [-o RESULTS]

Each question is asked in every way right after the other, so that the ratios hold on a busy machine. The encoder's
remembered queries are forgotten before each, but in the column "query encoded before". The paper's section 6.1 says
that its method costs about twice what a standard pipeline of retrieval and generation does; what a language model and
a reranker cost is in neither table here.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from harness import run
from tables import table_lines

from mrag.adapters.index.encoding import StoredEncoder
from mrag.adapters.index.retrievers import RetrieverName
from mrag.adapters.models.model_cache import resolve
from mrag.adapters.onnx import load_encoder
from mrag.adapters.question_sets import read_question_set
from mrag.adapters.store import Index
from mrag.pipeline import bm25_retriever, evidence
from mrag.question import parse
from mrag.settings import DEFAULTS, Settings
from mrag.stages import finish, prepare, score, texts_asked, to_summarise
from mrag.strategies import Strategies
from mrag.summarize import extractor

WAYS: dict[str, tuple[Settings, RetrieverName]] = {
    "plain dense": (Settings(temporal=False), "dense"),
    "interval, dense": (DEFAULTS, "dense"),
    "interval, hybrid": (DEFAULTS, "hybrid"),
    "paper, dense": (Settings(profile="paper"), "dense"),
    "words alone": (DEFAULTS, "bm25"),
}

STAGES = (
    "question taken apart",
    "query encoded",
    "first stage",
    "keyword rank of passages",
    "semantic scores, by vectors",
    "sentences: words, names, dates",
    "extracts of 5 passages",
    "hybrid rank",
    "evidence, 10 passages",
)

_LOADED = 10  # questions that load what later ones find, and are not counted
Result = TypeVar("Result")


def ask(folder: Path, encoder: StoredEncoder, opened: Index, text: str, way: str, *, fresh: bool) -> float:
    """Milliseconds of one question; ``fresh``: its vector is not known yet."""
    settings, retriever = WAYS[way]
    index = Index.open(folder) if fresh else opened
    wanted = None if retriever == "bm25" else encoder
    if wanted is not None:
        index.meaning(wanted)
    start = time.perf_counter()
    index.search(text, 10, settings=settings, retriever=retriever, encoder=wanted)
    return 1000 * (time.perf_counter() - start)


# --- by stage ------------------------------------------------------------------------------------------------


class Clock:
    """Milliseconds by stage; what a stage within another takes counts for the inner one alone."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._inner = 0.0

    def __call__(self, stage: str, work: Callable[[], Result]) -> Result:
        """Does the work, and counts its time for a stage."""
        before, self._inner = self._inner, 0.0
        start = time.perf_counter()
        result = work()
        whole = 1000 * (time.perf_counter() - start)
        self.spent[stage] += whole - self._inner
        self._inner = before + whole
        return result

    def timed(self, stage: str, function: Callable[..., Result]) -> Callable[..., Result]:
        """The function, with its time counted for a stage."""
        return lambda *args, **rest: self(stage, lambda: function(*args, **rest))


class TimedEncoder:
    """An encoder whose time counts."""

    def __init__(self, encoder: StoredEncoder, clock: Clock) -> None:
        self._encoder, self._clock = encoder, clock

    def __call__(self, *args: Any, **rest: Any) -> Any:
        return self._clock("query encoded", lambda: self._encoder(*args, **rest))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)


def by_stage(folder: Path, encoder: StoredEncoder, text: str) -> Mapping[str, float]:
    """Milliseconds of each of STAGES for one question, by the interval profile over the hybrid first stage."""
    clock, index = Clock(), Index.open(folder)
    corpus, meaning = index.corpus, index.meaning(TimedEncoder(encoder, clock))
    retriever = meaning.retriever("hybrid", bm25_retriever(corpus))
    given = Strategies(
        scorer=meaning.text_scorer,
        row_scorer=meaning.row_scorer and clock.timed(STAGES[4], meaning.row_scorer),
        passage_scorer=clock.timed(STAGES[4], meaning.passage_scorer),
    )
    question = clock(STAGES[0], lambda: parse(text))
    clock(STAGES[1], lambda: meaning.ahead(texts_asked(question)))
    rows, scores = clock(STAGES[2], lambda: retriever([question.main_content], DEFAULTS.first_stage))
    kept = rows[0] >= 0
    prepared = clock(STAGES[3], lambda: prepare(question, corpus, rows[0][kept], scores[0][kept], given=given))
    scored = clock(STAGES[5], lambda: score(prepared, corpus, given=given))
    clock(STAGES[6], lambda: extractor(to_summarise(scored, corpus)))
    ranked = clock(STAGES[7], lambda: finish(scored, corpus, given=given))
    clock(STAGES[8], lambda: [evidence(corpus, ranked, at) for at in range(min(10, len(ranked.rows)))])
    return clock.spent


# --- tables --------------------------------------------------------------------------------------------------


def whole(folder: Path, encoder: StoredEncoder, texts: Sequence[str]) -> dict[tuple[str, bool], float]:
    """(way, whether the query's vector was unknown) -> the median of milliseconds a question."""
    opened = Index.open(folder)
    spent: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for at, text in enumerate(texts):
        for way in WAYS:
            for fresh in (True, False):
                ask(folder, encoder, opened, text, way, fresh=False)
                value = ask(folder, encoder, opened, text, way, fresh=fresh)
                if at >= _LOADED or at == len(texts) - 1:
                    spent[way, fresh].append(value)
    return {key: median(values) for key, values in spent.items()}


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of both tables."""
    questions = read_question_set(options.questions).questions[: options.number]
    texts = [question.question for question in questions]
    encoder = load_encoder(resolve(options.encoder))
    found = whole(options.index, encoder, texts)
    base = {fresh: found["plain dense", fresh] for fresh in (True, False)}
    yield from (f"## Overhead: {options.questions.name}, {len(texts):,} questions", "")
    head = ["ms a question, median", "whole", "ratio", "query encoded before", "ratio"]
    rows = [
        [way, *(f"{value:.2f}" for new in (True, False) for value in (found[way, new], found[way, new] / base[new]))]
        for way in WAYS
    ]
    yield from (*table_lines(head, rows, 1), "")
    each = [by_stage(options.index, encoder, text) for text in texts]
    each = each[_LOADED:] or each[-1:]
    stages = {stage: median(one.get(stage, 0.0) for one in each) for stage in STAGES}
    total = sum(stages.values())
    shares = [[stage, f"{spent:.2f}", f"{100 * spent / total:.0f} %"] for stage, spent in stages.items()]
    yield from (*table_lines(["stage (interval, hybrid)", "ms, median", "share"], shares, 1), "")
    return {
        "about": options.questions.name,
        "whole": {way: {"ms": found[way, True], "ms encoded before": found[way, False]} for way in WAYS},
        "stages": stages,
    }


def main(argv: list[str] | None = None) -> int:
    """Prints the medians, their ratios to plain dense retrieval, and those of each stage."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("questions", type=Path)
    made.add_argument("--index", type=Path, required=True)
    made.add_argument("--encoder", required=True)
    made.add_argument("--number", type=int, default=150)
    made.add_argument("-o", "--output", type=Path, metavar="RESULTS", help="a folder for overhead.md and overhead.json")
    return run("overhead", command, made.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
