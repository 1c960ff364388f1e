"""Encoders whose vectors are stored: which ones an index is to hold, whether an encoder is the one that made them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from mrag.adapters.index.manifest import Level, Metric, Precision, VectorEntry
from mrag.adapters.index.vector_texts import TEXTS
from mrag.adapters.index.vectors import normalised
from mrag.columns import Float32
from mrag.errors import InputError, MragError


class StoredEncoder(Protocol):
    """An Encoder that says what it is, so that its vectors can be kept."""

    @property
    def metric(self) -> Metric:
        """How its vectors are compared."""

    @property
    def dimension(self) -> int:
        """Numbers a vector."""

    @property
    def fingerprint(self) -> str:
        """Another one for every encoder that gives other vectors, if only in their last bits."""

    @property
    def family_fingerprint(self) -> str:
        """The same for one model in several numeric precisions."""

    def __call__(self, texts: Sequence[str], *, role: Literal["query", "passage"] = "passage") -> Float32:
        """float32[n, d], a row a text."""


class OtherPrecision(UserWarning):
    """The encoder is the index's own in another numeric precision: close, but not the same vectors."""


# --- which vectors an index is to hold -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """The vectors that an index is to hold, and the encoder for those that are not there yet, if there is one."""

    entry: VectorEntry
    encoder: StoredEncoder | None


def plan_new(
    folder: Path, encoder: StoredEncoder | None, level: Level | None = None, precision: Precision | None = None
) -> Plan | None:
    """The vectors of an index that is built; None for one without. InputError for vectors without an encoder."""
    if encoder is not None:
        return Plan(_entry(encoder, level or "passages", precision or "float32"), encoder)
    if level or precision:
        raise InputError(f"vectors need an encoder: name it: mrag index … -o {folder} --encoder DIR")
    return None


def plan_added(
    folder: Path,
    old: VectorEntry | None,
    encoder: StoredEncoder | None,
    level: Level | None = None,
    precision: Precision | None = None,
) -> Plan | None:
    """The vectors of an index that passages are added to; what is not asked for stays as it is.

    Raises InputError without the encoder that made the vectors which are there; another precision of it will do.
    """
    if old is None:
        return plan_new(folder, encoder, level, precision)
    if encoder is None:
        raise InputError(f"{folder}: holds vectors made by {name_of(old)}: name that encoder for what is added")
    check_encoder(folder, old, encoder)
    return Plan(_changed(old, level, precision), encoder)


def plan_upgraded(
    folder: Path,
    old: VectorEntry | None,
    encoder: StoredEncoder | None,
    level: Level | None = None,
    precision: Precision | None = None,
) -> Plan | None:
    """The vectors of an index that is made anew; what is not asked for stays as it is. Another encoder makes them all.

    Raises InputError for vectors without an encoder.
    """
    if old is None:
        return plan_new(folder, encoder, level, precision)
    if encoder is None or encoder.family_fingerprint == old.family:
        if encoder is not None:
            check_encoder(folder, old, encoder)
        return Plan(_changed(old, level, precision), encoder)
    return plan_new(folder, encoder, level or old.level, precision or old.precision)


def _changed(old: VectorEntry, level: Level | None, precision: Precision | None) -> VectorEntry:
    return replace(old, level=level or old.level, precision=precision or old.precision, texts=TEXTS)


def check_encoder(folder: Path, entry: VectorEntry, encoder: StoredEncoder) -> None:
    """Raises InputError unless an encoder is the one that made the vectors; warns if it is of another precision."""
    same_shape = (encoder.metric, encoder.dimension) == (entry.metric, entry.dimension)
    if encoder.family_fingerprint != entry.family or not same_shape:
        raise InputError(
            f"{folder}: its vectors were made by {name_of(entry)}, not by {name_of(_entry(encoder))}: "
            f"name that encoder, or make them anew: mrag index --upgrade {folder} --encoder DIR"
        )
    if encoder.fingerprint != entry.fingerprint:
        warnings.warn(
            f"{folder}: its vectors were made by {name_of(entry)}, the same encoder in another numeric precision: "
            "scores differ a little",
            OtherPrecision,
            stacklevel=3,
        )


def _entry(encoder: StoredEncoder, level: Level = "passages", precision: Precision = "float32") -> VectorEntry:
    prints = encoder.fingerprint, encoder.family_fingerprint
    return VectorEntry(
        level, precision, encoder.metric, encoder.dimension, *prints, TEXTS, str(getattr(encoder, "name", ""))
    )


def name_of(entry: VectorEntry) -> str:
    """An encoder for people: ``minilm (384 numbers, cosine, 1f3a90bc)``."""
    mark = f"{entry.dimension} numbers, {entry.metric}, {entry.fingerprint[:12]}"
    return f"{entry.encoder} ({mark})" if entry.encoder else f"the encoder of {mark}"


def encode(encoder: StoredEncoder, texts: Sequence[str], role: Literal["query", "passage"] = "passage") -> Float32:
    """float32[n, d] of an encoder, of length 1 where it compares by cosine; MragError for what is no such vectors."""
    try:
        out = np.asarray(encoder(texts, role=role), dtype=np.float32)
    except OSError as error:  # not the disk of the index
        raise MragError(f"the encoder failed: {error}") from error
    if out.shape != (len(texts), encoder.dimension):
        raise MragError(f"the encoder gave {list(out.shape)} numbers for {len(texts)} texts of {encoder.dimension}")
    if not np.isfinite(out).all():
        bad = texts[int(np.flatnonzero(~np.isfinite(out).all(axis=1))[0])]
        raise MragError(f"the encoder gave no finite numbers for the text {bad[:80]!r}")
    return normalised(out) if encoder.metric == "cosine" else out
