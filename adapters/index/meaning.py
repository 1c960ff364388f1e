"""The vectors of an open index together with their encoder: what finds passages and scores sentences by meaning."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np

from mrag.adapters import hnsw
from mrag.adapters.index import retrievers
from mrag.adapters.index.encoding import StoredEncoder, check_encoder
from mrag.adapters.index.folder import StoredVectors, file_hash
from mrag.adapters.index.retrievers import RANK_FUSION, Fusion, QueryVectors, RetrieverName
from mrag.adapters.index.vectors import Vectors
from mrag.columns import Float32
from mrag.corpus import Corpus
from mrag.errors import IndexFormatError
from mrag.strategies import Ahead, Retriever, RowScorer, Scorer


class Meaning:
    """First stages and sentence scores by the vectors of an index; several threads may use it at once."""

    def __init__(self, folder: Path, corpus: Corpus, stored: StoredVectors, encoder: StoredEncoder) -> None:
        """Raises InputError for another encoder than the one that made the vectors; warns for another precision."""
        check_encoder(folder, stored.entry, encoder)
        self.encoder = encoder
        self._corpus, self._stored = corpus, stored
        self._queries = QueryVectors(encoder)
        self._graph_lock = Lock()

    def retriever(self, name: RetrieverName, lexical: Retriever, fusion: Fusion = RANK_FUSION) -> Retriever:
        """The first stage of that name; ``lexical`` is BM25, alone or as a part of a hybrid, joined by ``fusion``.

        Only those that are named after hnswlib use its graph: to load it takes as long as some fifty exact searches.
        """
        if name == "bm25":
            return lexical
        passages = self._stored.tables["passages"]
        dense = retrievers.exact_retriever(self._corpus, passages, self._queries)
        if name.endswith("hnsw"):
            with self._graph_lock:
                graph = self._graph
            if graph is not None:
                dense = retrievers.hnsw_retriever(self._corpus, passages, graph, self._queries)
        if not name.startswith("hybrid"):
            return dense
        return retrievers.hybrid_retriever([dense, lexical], fusion.weights, constant=fusion.constant)

    @cached_property
    def row_scorer(self) -> RowScorer | None:
        """Scores of sentences by their vectors; None where the index has vectors of passages alone."""
        sentences = self._stored.tables.get("sentences")
        if sentences is None:
            return None
        return retrievers.row_scorer(sentences, self._queries, self._scale(sentences))

    @cached_property
    def text_scorer(self) -> Scorer:
        """Scores of texts that stand in no passage, such as summaries, on the scale of ``row_scorer``."""
        table = self._stored.tables.get("sentences", self._stored.tables["passages"])
        return retrievers.text_scorer(self.encoder, self._queries, self._scale(table))

    @cached_property
    def passage_scorer(self) -> RowScorer:
        """Scores of whole passages by their vectors."""
        passages = self._stored.tables["passages"]
        return retrievers.row_scorer(passages, self._queries, self._scale(passages))

    @property
    def ahead(self) -> Ahead:
        """Encodes queries all at once before they are asked one by one."""
        return self._queries

    def _scale(self, vectors: Vectors) -> float:
        """What a score of 1 is: for dot products the usual one of a text with itself."""
        if self._stored.entry.metric == "cosine":
            return 1.0
        return getattr(self.encoder, "usual_square", None) or _usual_square(vectors)

    @cached_property
    def _graph(self) -> hnsw.Graph | None:
        """The graph, its bytes checked, since hnswlib trusts them; None when a writer has put a new index in place."""
        entry, path, passages = self._stored.graph_entry, self._stored.graph, self._stored.tables["passages"]
        if entry is None or path is None:
            return None
        try:
            if file_hash(path) != entry.sha256:
                raise IndexFormatError(f"{path}: its bytes are not those that were written: build the index again")
            return hnsw.Graph(path, len(passages), passages.dimension)
        except FileNotFoundError:
            return None


def _usual_square(vectors: Vectors) -> float:
    """The mean squared length of vectors, of some thousand of them: the usual dot product of a text with itself."""
    some = np.linspace(0, max(len(vectors) - 1, 0), min(len(vectors), 1000)).astype(np.int64)
    squares: Float32 = np.square(vectors.take(some)).sum(axis=1)
    return float(squares.mean()) if len(some) and squares.any() else 1.0
