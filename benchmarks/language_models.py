"""What a language model adds: valid decompositions, EM and F1 of the five ways to answer, calls and seconds a question.

python benchmarks/language_models.py QUESTIONS --index DIR --llm URL --llm-model NAME --cache DIR
                                     [--sample 100] [--passages 5]

QUESTIONS: any question set that `mrag eval` reads. Replies are kept in a cache of their own (--cache), so that an
interrupted run goes on; each row is run a second time from it, which is the column "cached".
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from mrag.adapters.llm import HttpLanguageModel, connect
from mrag.adapters.question_sets import read_question_set
from mrag.adapters.serving.llm_settings import llm_settings
from mrag.adapters.store import Index
from mrag.decompose import Reading, read
from mrag.metrics import EvalQuestion, answer_scores
from mrag.pipeline import Ranking
from mrag.question import Question, parse
from mrag.reader import STRATEGIES, Answer, answer_many
from mrag.settings import DEFAULTS, Settings
from mrag.strategies import LanguageModel
from mrag.summarize import by_model

_FEW = 10  # questions in one call, so that what is done is kept and shown


class Timed(NamedTuple):
    """What came out, calls to the server a question, and seconds a question: as it ran, and again from the cache."""

    found: list[object]
    calls: float
    cold: float
    cached: float


def timed(model: HttpLanguageModel, asked: Sequence[object], work: Callable[[Sequence[object]], list[object]]) -> Timed:
    """Does the work twice, a few questions at a time; the second time every reply is on disk."""
    before, start = model.asked, time.perf_counter()
    found: list[object] = []
    for at in range(0, len(asked), _FEW):
        found += work(asked[at : at + _FEW])
        print(f"\r{len(found)} of {len(asked)}", end="", file=sys.stderr)
    cold, calls = time.perf_counter() - start, model.asked - before
    print("\r", end="", file=sys.stderr)
    start, before = time.perf_counter(), model.asked
    for at in range(0, len(asked), _FEW):
        work(asked[at : at + _FEW])
    if model.asked != before:
        print(f"{model.asked - before} prompts had failed and were asked again", file=sys.stderr)
    n = max(len(asked), 1)
    return Timed(found, calls / n, cold / n, (time.perf_counter() - start) / n)


def decompositions(model: HttpLanguageModel, questions: Sequence[EvalQuestion]) -> None:
    """How many of the model's decompositions hold against their question, and why the others do not."""

    def work(asked: Sequence[object]) -> list[object]:
        return [*read([str(text) for text in asked], model=model, mode="llm")]

    run = timed(model, [question.question for question in questions], work)
    readings = [reading for reading in run.found if isinstance(reading, Reading)]
    valid = [reading for reading in readings if reading.by == "llm"]
    alike = sum(reading.question.constraint == parse(reading.question.text).constraint for reading in valid)
    share = 100 * len(valid) / max(len(readings), 1)
    print(f"decompositions that hold: {share:.0f} % ({alike} of {len(valid)} with the constraint that the rules read)")
    print(f"  {run.calls:.2f} calls, {run.cold:.2f} s a question, {1000 * run.cached:.2f} ms cached")
    for reason, count in Counter(r.reason for r in readings if r.by == "rules").most_common(8):
        print(f"  {count:>4}  {reason}")


def answers(model: HttpLanguageModel, index: Index, questions: Sequence[EvalQuestion], passages: int) -> None:
    """EM and F1 of each strategy, over plain retrieval for rag-concat and over ours for the others."""
    parsed = [parse(question.question) for question in questions]
    rows = "strategy", "EM", "F1", "unanswered", "calls", "s", "ms cached"
    print(("{:<14}" + "{:>11}" * (len(rows) - 1)).format(*rows))
    for strategy in STRATEGIES:
        settings = Settings(temporal=False) if strategy == "rag-concat" else DEFAULTS
        rankings = list(index.search_many(parsed, passages, settings=settings))

        def work(asked: Sequence[object], strategy: object = strategy) -> list[object]:
            some = [ranking for ranking in asked if isinstance(ranking, Ranking)]
            return [*answer_many(some, model=model, strategy=strategy, passages=passages)]  # type: ignore[arg-type]

        run = timed(model, rankings, work)
        given = [answer for answer in run.found if isinstance(answer, Answer)]
        replies = {
            question.id: (answer.text or "") if answer.by == "llm" else ""
            for question, answer in zip(questions, given, strict=True)
        }
        scores = answer_scores(questions, replies)
        empty = sum(not reply for reply in replies.values())
        em, f1 = (100 * float(scores.values[name].mean()) for name in ("EM", "F1"))
        cost = f"{run.calls:>11.1f}{run.cold:>11.2f}{1000 * run.cached:>11.1f}"
        print(f"{strategy:<14}{em:>11.1f}{f1:>11.1f}{empty:>11}{cost}", flush=True)


def summaries(model: LanguageModel, index: Index, parsed: Sequence[Question]) -> None:
    """How many summaries of the best passage stand in it, and why the others do not."""
    settings = Settings(summaries=1)
    found = index.search_many(parsed, 1, settings=settings, summariser=by_model(model))
    told = [summary for ranking in found for summary in ranking.summaries]
    kinds = Counter(summary.reason if summary.reason else ("kept" if summary.text else "None") for summary in told)
    print(f"summaries of {len(told)} best passages: " + ", ".join(f"{n} {kind}" for kind, n in kinds.most_common(8)))


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--llm", help="the server; or MRAG_LLM_URL")
    parser.add_argument("--llm-model", help="the model's name there; or MRAG_LLM_MODEL")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--passages", type=int, default=5)
    parser.add_argument("--requests", type=int, default=2, help="how many at a time")
    parser.add_argument("--cache", type=Path, required=True, help="a folder for the replies")
    args = parser.parse_args()
    named = llm_settings(args.llm, args.llm_model, os.environ)
    if named is None:
        sys.exit("name a server: --llm URL --llm-model NAME")
    chosen = [q for q in read_question_set(args.questions).questions if q.answers and q.exact is not True]
    chosen = random.Random(1).sample(chosen, min(args.sample, len(chosen)))
    index = Index.open(args.index)
    patient = (10.0, 600.0)  # a small machine takes minutes for a long prompt
    with closing(
        connect(named.url, named.model, key=named.key, concurrency=args.requests, timeout=patient, cache=args.cache)
    ) as model:
        print(f"{len(chosen)} questions, {named.model}")
        decompositions(model, chosen)
        summaries(model, index, [parse(question.question) for question in chosen])
        answers(model, index, chosen, args.passages)


if __name__ == "__main__":
    main()
