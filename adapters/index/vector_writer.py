"""The vectors of an index, written while it is built: what was encoded before is found again, what is new is encoded.

Found again by the digest of the text: in the index that the folder holds, and in the blocks that a build which was
stopped has left in its work folder. So adding, upgrading and going on are one and the same.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from mrag.adapters import hnsw
from mrag.adapters.index.column_file import ColumnFile
from mrag.adapters.index.encoding import Plan, StoredEncoder, encode, name_of
from mrag.adapters.index.folder import StoredVectors, file_hash
from mrag.adapters.index.generations import WORK
from mrag.adapters.index.layout import GRAPH, VECTOR_DTYPES, vector_files
from mrag.adapters.index.manifest import FileEntry, Precision, VectorEntry
from mrag.adapters.index.vector_texts import Digests, digests, texts_of
from mrag.adapters.index.vectors import Vectors, blocks, quantised
from mrag.columns import Bool, Int64, pointers
from mrag.corpus import Corpus
from mrag.errors import IndexFormatError

BLOCK = 2_048
"""Texts that are encoded at a time, and kept when a build is stopped."""


class Progress(Protocol):
    """Told now and then how many are done, and of how many, where that is known; ``what`` they are."""

    def __call__(self, done: int, total: int | None, what: str = "passages", /) -> None:
        """``what``: passages, vectors, or links (passages in the graph)."""


# --- what was encoded before ---------------------------------------------------------------------

Source = tuple[Digests, Callable[[Int64], Vectors]]
"""The digests of some texts, and what gives the vectors of some of their rows."""


class Known:
    """Vectors that are there already, found by the digest of their text."""

    def __init__(self, sources: Sequence[Source]) -> None:
        marks = np.concatenate([np.zeros(0, "S16"), *(marks for marks, _ in sources)])
        self._order = np.argsort(marks, kind="stable")
        self._marks = marks[self._order]
        self._starts = pointers([len(marks) for marks, _ in sources])
        self._takes = [take for _, take in sources]

    def fill(self, out: Vectors, marks: Digests) -> Bool:
        """Writes the vectors of the digests ``marks`` [n] into ``out`` [n] where they are known; bool[n]: where."""
        if not len(self._marks):
            return np.zeros(len(marks), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self._marks, marks), len(self._marks) - 1)
        known: Bool = self._marks[at] == marks
        rows = self._order[at]
        owner = np.searchsorted(self._starts, rows, side="right") - 1
        for source in np.unique(owner[known]).tolist():
            mine = np.flatnonzero(known & (owner == source))
            _put(out, mine, self._takes[source](rows[mine] - self._starts[source]))
        return known


def _put(out: Vectors, at: Int64, vectors: Vectors) -> None:
    out.values[at] = vectors.values
    if out.scales is not None and vectors.scales is not None:
        out.scales[at] = vectors.scales


def _in_index(live: StoredVectors | None, wanted: VectorEntry) -> Iterator[Source]:
    """The vectors of an index, as far as they are what is wanted or can be made so without a loss."""
    if live is None or live.entry.fingerprint != wanted.fingerprint:
        return
    if live.entry.precision not in (wanted.precision, "float32"):
        return
    for table, vectors in live.tables.items():
        yield live.digests[table], partial(_take_as, vectors, wanted.precision)


def _take_as(vectors: Vectors, precision: Precision, rows: Int64) -> Vectors:
    found = vectors.rows(rows)
    return found if found.precision == precision else quantised(found.values, precision)


class Work:
    """Blocks of finished vectors in a folder, each a file that is there as a whole or not at all."""

    def __init__(self, folder: Path, entry: VectorEntry, encoder: StoredEncoder | None) -> None:
        mark = entry.fingerprint if encoder is None else encoder.fingerprint
        key = hashlib.blake2b(f"{mark} {entry.precision} {entry.dimension}".encode(), digest_size=8).hexdigest()
        self._folder = folder / key
        parts = [("digest", "S16"), ("scale", "<f4"), ("vector", VECTOR_DTYPES[entry.precision], (entry.dimension,))]
        self._dtype = np.dtype(parts)
        self._next = 0

    def sources(self) -> Iterator[Source]:
        """The blocks that stopped builds have left; a damaged one counts as not there."""
        for path in sorted(self._folder.glob("*.npy")):
            self._next = max(self._next, int(path.stem) + 1 if path.stem.isdecimal() else 0)
            try:
                block = np.load(path, mmap_mode="r", allow_pickle=False)
            except (OSError, ValueError, OverflowError, EOFError, SyntaxError):
                continue
            if block.ndim == 1 and block.dtype == self._dtype:
                yield np.array(block["digest"]), partial(self._take, path)

    def _take(self, path: Path, rows: Int64) -> Vectors:
        block = np.load(path, allow_pickle=False)[rows]  # opened anew: thousands of maps are more than a system holds
        return Vectors(block["vector"], block["scale"] if block["vector"].dtype == np.int8 else None)

    def save(self, marks: Digests, vectors: Vectors) -> None:
        """Keeps a block."""
        block = np.zeros(len(marks), dtype=self._dtype)
        block["digest"], block["vector"] = marks, vectors.values
        if vectors.scales is not None:
            block["scale"] = vectors.scales
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{self._next:06d}.npy"
        temporary = path.with_suffix(".new")
        written = io.BytesIO()
        np.save(written, block)
        with temporary.open("wb") as stream:
            stream.write(written.getbuffer())  # np.save itself does not say what is wrong with the disk
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        self._next += 1


# --- making them ---------------------------------------------------------------------------------


def write_vectors(
    path: Path, corpus: Corpus, wanted: Plan, live: StoredVectors | None, progress: Progress | None
) -> dict[str, FileEntry]:
    """Writes the vectors of a corpus into the generation ``path``; what the manifest says of the files.

    ``live`` are those of the index that is there. Raises IndexFormatError where a text is new and there is no encoder
    for it, and MissingExtraError, before anything is encoded, where a graph is needed and hnswlib is missing.
    """
    with_graph = len(corpus) > hnsw.EXACT_BELOW
    if with_graph:
        hnsw.library()
    work = Work(path.parent / WORK, wanted.entry, wanted.encoder)
    known = Known([*_in_index(live, wanted.entry), *work.sources()])
    files = _write_files(path, corpus, wanted, known, work, progress)
    if with_graph:
        files[GRAPH] = _write_graph(path, wanted.entry, live, progress)
    return files


def _write_files(
    path: Path, corpus: Corpus, wanted: Plan, known: Known, work: Work, progress: Progress | None
) -> dict[str, FileEntry]:
    specs = vector_files(wanted.entry)
    sizes = {"passages": len(corpus), "sentences": len(corpus.sentence_starts)}
    tables = [spec.table for spec in specs.values() if spec.width]
    total, done = sum(sizes[table] for table in tables), 0
    with ExitStack() as stack:
        files = {}
        for name, spec in specs.items():
            files[name] = ColumnFile(path / f"{name}.npy", spec.dtype, spec.width)
            stack.callback(files[name].close)
        for table in tables:
            for at in blocks(sizes[table], BLOCK):
                marks, vectors = _block(texts_of(corpus, table, at), wanted, known, work, path.parent)
                files[f"{table}.digests"].append(marks)
                files[f"{table}.vectors"].append(vectors.values)
                if vectors.scales is not None:
                    files[f"{table}.scales"].append(vectors.scales)
                done += len(marks)
                if progress is not None:
                    progress(done, total, "vectors")
        for file in files.values():
            file.finish()
        for file in files.values():
            file.sync()
        return {name: file.entry() for name, file in files.items()}


def _write_graph(path: Path, entry: VectorEntry, live: StoredVectors | None, progress: Progress | None) -> FileEntry:
    """Writes the graph over the passages; that of the index which is there grows, where its passages come first."""
    columns = {
        name: np.asarray(np.load(path / f"{name}.npy", mmap_mode="r"))
        for name in vector_files(entry)
        if name.startswith("passages.")
    }
    vectors = Vectors(columns["passages.vectors"], columns.get("passages.scales"))
    old = None
    if live is not None and live.graph is not None and live.entry.fingerprint == entry.fingerprint:
        marks = live.digests["passages"]
        whole = live.graph_entry is not None and file_hash(live.graph) == live.graph_entry.sha256
        if whole and np.array_equal(marks, columns["passages.digests"][: len(marks)]):
            old = live.graph
    target = path / GRAPH
    told = None if progress is None else lambda done, total: progress(done, total, "links")
    hnsw.write_graph(target, vectors, old=old, told=told)
    return FileEntry(target.stat().st_size, file_hash(target), "hnsw", len(vectors))


def _block(texts: list[str], wanted: Plan, known: Known, work: Work, folder: Path) -> tuple[Digests, Vectors]:
    """The digests and the vectors of some texts, each new text being encoded once."""
    entry, marks = wanted.entry, digests(texts)
    values = np.zeros((len(texts), entry.dimension), dtype=VECTOR_DTYPES[entry.precision])
    out = Vectors(values, np.zeros(len(texts), dtype=np.float32) if entry.precision == "int8" else None)
    missing = np.flatnonzero(~known.fill(out, marks))
    if len(missing):
        if wanted.encoder is None:
            raise IndexFormatError(
                f"{folder}: some of its texts are new to its vectors, which were made by {name_of(entry)}: "
                f"name that encoder with --encoder DIR"
            )
        new, first, place = np.unique(marks[missing], return_index=True, return_inverse=True)
        encoded = encode(wanted.encoder, [texts[at] for at in missing[first].tolist()])
        vectors = quantised(encoded, entry.precision)
        work.save(new, vectors)
        _put(out, missing, vectors.rows(place))
    return marks, out
