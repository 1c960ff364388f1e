"""The texts that the vectors of an index stand for, and their digests, by which a vector is found again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mrag.columns import Int64
from mrag.corpus import Corpus
from mrag.ranking import Candidates, sentence_texts

TEXTS = "texts-1"
"""Bumped when the texts below change for any passage: vectors of other texts are refused or made again."""

Digests = NDArray[np.bytes_]


def passage_texts(corpus: Corpus, rows: Int64) -> list[str]:
    """Each passage as an encoder should read it: "title - section: text", without what it lacks."""
    out = []
    for row in rows.tolist():
        heading = " - ".join(part for part in (corpus.titles[row], corpus.sections[row]) if part)
        out.append(f"{heading}: {corpus.texts[row]}" if heading else corpus.texts[row])
    return out


def texts_of(corpus: Corpus, table: str, at: slice) -> list[str]:
    """The texts of some rows of the table ``passages`` or ``sentences``."""
    rows = np.arange(at.start, at.stop, dtype=np.int64)
    if table == "passages":
        return passage_texts(corpus, rows)
    owner = np.searchsorted(corpus.sentence_rows, rows, side="right") - 1
    passages, place = np.unique(owner, return_inverse=True)
    return sentence_texts(corpus, Candidates(passages, rows, place.astype(np.int64)))


def digests(texts: Iterable[str]) -> Digests:
    """S16[n]: what a text is known by; two texts that differ do not share one."""
    return np.array([hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts], dtype="S16")
