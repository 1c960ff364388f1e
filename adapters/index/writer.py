"""Parts of a corpus -> the files of one generation, in memory that does not grow with the corpus.

Columns go to the disk part by part, pointers shifted. The lexicon needs all parts at once: they are put by, and
merged in blocks of terms, each block small enough for memory.
"""

from __future__ import annotations

import shutil
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from mrag import bm25
from mrag.adapters.index.column_file import ColumnFile
from mrag.adapters.index.layout import FILES, table_sizes, to_files
from mrag.adapters.index.manifest import FileEntry
from mrag.bm25 import Bm25
from mrag.columns import Int32, Strings
from mrag.corpus import Corpus

BLOCK = 2**22
"""Postings of a block of terms that is merged in memory, about: some 100 MB."""

_MERGED = ("lexicon.terms.blob", "lexicon.terms.offsets", "lexicon.postings", "lexicon.rows", "lexicon.counts")


class GenerationWriter:
    """Writes a generation: ``append`` each part in order, then ``finish``; as a context manager it closes the files."""

    def __init__(self, path: Path) -> None:
        self._spool = path / "parts"
        self._spool.mkdir()
        self._files = {name: ColumnFile(path / f"{name}.npy", spec.dtype) for name, spec in FILES.items()}
        self._parts = {name: ColumnFile(self._spool / f"{name}.npy", FILES[name].dtype) for name in _MERGED}
        self._cuts: list[dict[str, slice]] = []  # where each part lies in the files of _parts
        self._ends = [{spec.table: 0 for spec in FILES.values()}]  # rows of each table at the start and after each part
        for name, spec in FILES.items():
            if spec.kind == "pointers":
                self._files[name].append(np.zeros(1, dtype=np.int64))

    def __enter__(self) -> GenerationWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (*self._files.values(), *self._parts.values()):
            file.close()

    def append(self, corpus: Corpus) -> None:
        """Puts the passages of a corpus behind those that are there."""
        columns = to_files(corpus)
        before = self._ends[-1]
        for name, column in columns.items():
            spec = FILES[name]
            if name in _MERGED:
                continue
            if spec.kind == "pointers":
                self._files[name].append(column[1:], before[spec.into])
            else:
                self._files[name].append(column, before[spec.into] if spec.kind in ("bytes", "rows") else 0)
        cuts = {}
        for name, file in self._parts.items():
            cuts[name] = slice(file.length, file.length + len(columns[name]))
            file.append(columns[name])
        self._cuts.append(cuts)
        self._ends.append({table: before[table] + size for table, size in table_sizes(columns).items()})

    def finish(self) -> tuple[dict[str, int], dict[str, FileEntry]]:
        """Merges the lexicons and puts all on the disk; the rows of each table, and what the manifest says of files."""
        for file in self._parts.values():
            file.finish()
            file.close()
        new_ids = self._merge()
        for name, spec in FILES.items():
            if spec.kind == "terms":
                for before, after in pairwise(self._ends):
                    table = new_ids[before["terms"] : after["terms"]]
                    self._files[name].translate(before[spec.table], after[spec.table], table)
        shutil.rmtree(self._spool)
        for file in self._files.values():
            file.finish()
        for file in self._files.values():  # all at once, not one by one: the disk has less to do
            file.sync()
        counts = {table: size for table, size in self._ends[-1].items() if not table.endswith(".blob")}
        counts["terms"] = self._files["lexicon.postings"].length - 1
        return counts, {name: file.entry() for name, file in self._files.items()}

    def _lexicons(self) -> list[Bm25]:
        """The lexicons of the parts, mapped. Of the passages' lengths, which are written already, only how many."""
        columns = {name: np.asarray(np.load(file.path, mmap_mode="r")) for name, file in self._parts.items()}
        out = []
        for cuts, before, after in zip(self._cuts, self._ends, self._ends[1:], strict=False):
            blob, offsets, postings, rows, counts = (columns[name][cuts[name]] for name in _MERGED)
            lengths = np.broadcast_to(np.int32(0), after["passages"] - before["passages"])
            out.append(Bm25(Strings(blob, offsets), postings, rows, counts, lengths))
        return out

    def _merge(self) -> Int32:
        """Writes the merged lexicon, a block of terms at a time; the new ids of all terms of all parts."""
        new_ids = np.empty(self._ends[-1]["terms"], dtype=np.int32)
        starts = [end["terms"] for end in self._ends[:-1]]
        terms = 0
        for bounds in pairwise(list(_edges(self._lexicons(), BLOCK))):
            parts = self._lexicons()  # mapped anew, so that pages of the block before do not stay in memory
            block, ids = bm25.merge([_between(part, *cut) for part, *cut in zip(parts, *bounds, strict=True)])
            for start, low, high, new in zip(starts, *bounds, ids, strict=True):
                new_ids[start + low : start + high] = new + terms
            self._append_block(block)
            terms += len(block.terms)
        return new_ids

    def _append_block(self, block: Bm25) -> None:
        blob, offsets, postings, rows, counts = (self._files[name] for name in _MERGED)
        offsets.append(block.terms.offsets[1:], blob.length)
        blob.append(block.terms.blob)
        postings.append(block.postings[1:], rows.length)
        rows.append(block.rows)
        counts.append(block.counts)


def _edges(parts: list[Bm25], most: int) -> Iterator[list[int]]:
    """Rows of each part's terms between which the parts hold about ``most`` postings together, from first to last.

    A cut lies before the same term in all parts. Terms are sampled for it, each standing for some postings.
    """
    step = max(most // (8 * max(len(parts), 1)), 1)
    samples: list[tuple[bytes, int]] = []
    for part in parts:
        at = np.arange(step, part.postings[-1], step)
        rows = np.unique(np.searchsorted(part.postings, at, side="right") - 1)  # the terms that those postings are of
        sizes = np.diff(part.postings[rows], prepend=0)
        samples += [(part.terms.raw(row), size) for row, size in zip(rows.tolist(), sizes.tolist(), strict=True)]
    yield [0] * len(parts)
    postings, last = 0, b""
    for term, size in sorted(samples):
        postings += size
        if postings >= most and term != last:
            yield [bisect_left(range(len(part.terms)), term, key=part.terms.raw) for part in parts]
            postings, last = 0, term
    yield [len(part.terms) for part in parts]


def _between(part: Bm25, low: int, high: int) -> Bm25:
    """The terms low ... high - 1 of a lexicon as a lexicon of the same passages."""
    offsets, postings = part.terms.offsets[low : high + 1], part.postings[low : high + 1]
    terms = Strings(part.terms.blob[offsets[0] : offsets[-1]], offsets - offsets[0])
    held = slice(int(postings[0]), int(postings[-1]))
    return Bm25(terms, postings - postings[0], part.rows[held], part.counts[held], part.lengths)
