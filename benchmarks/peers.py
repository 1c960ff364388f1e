"""The same questions through other retrievers: what people use today, as it comes, beside MRAG.

python benchmarks/peers.py QUESTIONS --index DIR --encoder MODEL [--sample 500] [--only NAME]

pip install 'mrag[bench]' has all of them; a row whose package is missing says so. Every peer gets the same passages
("title text"), the same vectors where it wants vectors (those of the index), and what it cannot know by itself:
- a passage's date is the latest date of its own text, so that peers that weigh recency have a date to weigh;
- their "now" is the last day of the time asked for, and what is dated later counts as dated that day;
- the hard filter keeps the passages with a date inside the time asked for, and asks for the main content.
AR@k: an answer stands in one of the first k passages; ER@k: a gold passage is among them; percent.
"""

from __future__ import annotations

import argparse
import datetime
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mrag.adapters.index.encoding import StoredEncoder
from mrag.adapters.models.model_cache import resolve
from mrag.adapters.onnx import load_encoder
from mrag.adapters.question_sets import read_question_set
from mrag.adapters.store import Index
from mrag.columns import Float32, Int64
from mrag.interval import OPEN_END, OPEN_START
from mrag.metrics import EvalQuestion, retrieval_scores
from mrag.pipeline import Ranking
from mrag.question import Question, parse
from mrag.settings import DEFAULTS, Settings
from mrag.text import tokenise
from mrag.timex import KINDS, SOURCES

MEASURES = ("AR@1", "AR@5", "ER@1", "ER@5")
DEPTH = 20
_POOL = 100  # passages that a peer reorders
_EPOCH = datetime.datetime(1970, 1, 1)
_DAYS = (datetime.datetime(1700, 1, 1) - _EPOCH).days, (datetime.datetime(2200, 1, 1) - _EPOCH).days


@dataclass
class Shared:
    """What every peer is given: an index with vectors, its encoder, the passages' texts and dates."""

    index: Index
    encoder: StoredEncoder

    @cached_property
    def texts(self) -> list[str]:
        """ "title text" of every passage."""
        corpus = self.index.corpus
        return [f"{corpus.titles[row]} {corpus.texts[row]}".strip() for row in range(len(corpus))]

    @cached_property
    def days(self) -> Int64:
        """int64[n]: the last day that a passage's own text names, in days since 1970; 1700 for none."""
        corpus = self.index.corpus
        own = (corpus.mention_sources == SOURCES.index("own")) & (corpus.mention_kinds != KINDS.index("life"))
        ends = np.where(corpus.mention_ends == OPEN_END, corpus.mention_starts, corpus.mention_ends).astype(np.int64)
        ends = np.where(own & (ends != OPEN_START), np.clip(ends, *_DAYS), _DAYS[0])
        latest = np.full(len(corpus), _DAYS[0], dtype=np.int64)
        sentence = np.repeat(np.arange(len(corpus.sentence_starts)), np.diff(corpus.mention_rows))
        passage = np.searchsorted(corpus.sentence_rows, sentence, side="right") - 1
        np.maximum.at(latest, passage, ends)
        return latest

    def dense(self, query: str, k: int) -> tuple[Int64, Float32]:
        """The k passages with the nearest vectors, and their cosines."""
        meaning = self.index.meaning(self.encoder)
        rows, scores = meaning.retriever("dense", meaning.retriever("bm25", _nothing))([query], k)
        return rows[0], scores[0]


def _nothing(*_: object, **__: object) -> Any:
    raise AssertionError("not asked")


Search = Callable[[Question, int], Sequence[int]]
"""A question and the last day of the time that it asks for -> rows of passages, best first."""


def bm25_okapi(shared: Shared) -> Search:
    """rank_bm25's BM25Okapi over our tokens."""
    from rank_bm25 import BM25Okapi

    model = BM25Okapi([tokenise(text) for text in shared.texts])
    return lambda question, _: np.argsort(-model.get_scores(tokenise(question.text)), kind="stable")[:DEPTH].tolist()


def bm25s_lucene(shared: Shared) -> Search:
    """bm25s with its defaults over our tokens."""
    import bm25s

    model = bm25s.BM25()
    model.index([tokenise(text) for text in shared.texts], show_progress=False)

    def search(question: Question, _: int) -> list[int]:
        rows, _scores = model.retrieve([tokenise(question.text)], k=DEPTH, show_progress=False)
        return [int(row) for row in rows[0]]

    return search


def sentence_transformers_dense(shared: Shared) -> Search:
    """sentence_transformers.util.semantic_search over the vectors of the index."""
    import torch
    from sentence_transformers import util

    corpus = torch.from_numpy(shared.encoder(shared.texts))

    def search(question: Question, _: int) -> list[int]:
        query = torch.from_numpy(shared.encoder([question.text], role="query"))
        return [int(hit["corpus_id"]) for hit in util.semantic_search(query, corpus, top_k=DEPTH)[0]]

    return search


def langchain_time_weighted(shared: Shared, decay_rate: float = 0.01) -> Search:
    """LangChain's TimeWeightedVectorStoreRetriever; its default decay is for hours, the slow one halves in 79 years."""
    from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore

    class Store(VectorStore):  # type: ignore[misc, unused-ignore]
        def similarity_search_with_relevance_scores(
            self, query: str, k: int = 4, **_: object
        ) -> list[tuple[Document, float]]:
            rows, scores = shared.dense(query, k)
            return [
                (Document("", metadata={"buffer_idx": int(row)}), float(score))
                for row, score in zip(rows, scores, strict=True)
            ]

        def similarity_search(self, query: str, k: int = 4, **_: object) -> list[Document]:
            return [document for document, _ in self.similarity_search_with_relevance_scores(query, k)]

        @classmethod
        def from_texts(cls, *_: object, **__: object) -> Store:
            return cls()

    stream = [Document(text, metadata={"buffer_idx": row}) for row, text in enumerate(shared.texts)]
    retriever = TimeWeightedVectorStoreRetriever(
        vectorstore=Store(), memory_stream=stream, decay_rate=decay_rate, k=DEPTH, search_kwargs={"k": _POOL}
    )

    def search(question: Question, today: int) -> list[int]:
        rows, _scores = shared.dense(question.text, _POOL)
        now = datetime.datetime.now()
        for row in {*rows.tolist(), *range(len(stream) - DEPTH, len(stream))}:  # those that it may look at
            age = max(today - int(shared.days[row]), 0)
            stream[row].metadata["last_accessed_at"] = now - datetime.timedelta(days=age)
        return [document.metadata["buffer_idx"] for document in retriever.invoke(question.text)]

    return search


def llamaindex(shared: Shared, kind: str) -> Search:
    """LlamaIndex's postprocessors over the nearest passages: FixedRecency (20), and TimeWeighted (100, decay 1e-6)."""
    from llama_index.core import postprocessor
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    def search(question: Question, today: int) -> list[int]:
        rows, scores = shared.dense(question.text, DEPTH if kind == "FixedRecencyPostprocessor" else _POOL)
        nodes = []
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            day = min(int(shared.days[row]), today)
            date = (_EPOCH + datetime.timedelta(days=day)).date().isoformat()
            metadata = {"date": date, "__last_accessed__": day * 86400.0}
            nodes.append(NodeWithScore(node=TextNode(text="", id_=str(row), metadata=metadata), score=score))
        options: dict[str, Any] = {"top_k": DEPTH}
        if kind == "TimeWeightedPostprocessor":
            options |= {"now": today * 86400.0, "time_decay": 1e-6}
        found = getattr(postprocessor, kind)(**options).postprocess_nodes(nodes, QueryBundle(question.text))
        return [int(node.node.node_id) for node in found]

    return search


def ours(shared: Shared, settings: Settings, *, vectors: bool, filtered: bool = False) -> Search:
    """MRAG's own ways: the plain retriever, behind a hard date filter, and the interval profile."""

    def search(question: Question, _: int) -> list[int]:
        window = question.constraint.window() if filtered and question.constraint is not None else None
        asked = Question(question.main_content, question.main_content, None) if filtered else question
        encoder = shared.encoder if vectors else None
        ranking: Ranking = shared.index.search(asked, DEPTH, settings=settings, encoder=encoder, window=window)
        return [evidence.row for evidence in ranking.evidence]

    return search


PLAIN = Settings(temporal=False)
PEERS: dict[str, Callable[[Shared], Search]] = {
    "rank_bm25": bm25_okapi,
    "bm25s": bm25s_lucene,
    "sentence-transformers": sentence_transformers_dense,
    "LangChain time-weighted": langchain_time_weighted,
    "LangChain, slow decay": lambda shared: langchain_time_weighted(shared, 1e-6),
    "LlamaIndex FixedRecency": lambda shared: llamaindex(shared, "FixedRecencyPostprocessor"),
    "LlamaIndex TimeWeighted": lambda shared: llamaindex(shared, "TimeWeightedPostprocessor"),
    "BM25, hard date filter": lambda shared: ours(shared, PLAIN, vectors=False, filtered=True),
    "hybrid, hard date filter": lambda shared: ours(shared, PLAIN, vectors=True, filtered=True),
    "mrag, words": lambda shared: ours(shared, DEFAULTS, vectors=False),
    "mrag, vectors": lambda shared: ours(shared, DEFAULTS, vectors=True),
}


def last_day(question: Question) -> int:
    """The last day of the time asked for, as days since 1970; 2200 for an open end or none."""
    end = OPEN_END if question.constraint is None else question.constraint.window().end
    return int(np.clip(end, *_DAYS))


def rows_of(shared: Shared, questions: Sequence[EvalQuestion], names: Sequence[str]) -> Iterator[str]:
    """A line of the table for each peer."""
    corpus = shared.index.corpus
    place = {corpus.ids[row]: row for row in range(len(corpus))}
    asked = [(question.id, parse(question.question)) for question in questions]
    for name in names:
        try:
            search = PEERS[name](shared)
        except ImportError as error:
            yield f"{name:<26} not run: no {error.name}: pip install 'mrag[bench]'"
            continue
        start = time.perf_counter()
        run = {key: [corpus.ids[row] for row in search(parsed, last_day(parsed))] for key, parsed in asked}
        spent = 1000 * (time.perf_counter() - start) / len(asked)
        values = retrieval_scores(questions, run, lambda key: shared.texts[place[key]], ks=(1, 5)).values
        figures = " ".join(f"{100 * float(np.nanmean(values[measure])):6.1f}" for measure in MEASURES)
        yield f"{name:<26} {figures}  {spent:8.1f}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--index", type=Path, required=True, help="an index with vectors of passages")
    parser.add_argument("--encoder", required=True, help="the encoder of its vectors: a folder or a name")
    parser.add_argument("--sample", type=int, help="so many questions, drawn by seed 1")
    parser.add_argument("--only", action="append", choices=PEERS, help="one of the rows; may be given twice")
    args = parser.parse_args()
    questions = [q for q in read_question_set(args.questions).questions if q.exact is not True]
    if args.sample is not None and args.sample < len(questions):
        questions = random.Random(1).sample(questions, args.sample)
    shared = Shared(Index.open(args.index), load_encoder(resolve(args.encoder)))
    print(f"{len(questions)} questions, {len(shared.texts)} passages")
    print(f"{'':<26} " + " ".join(f"{measure:>6}" for measure in MEASURES) + "  ms/question")
    for line in rows_of(shared, questions, args.only or list(PEERS)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
