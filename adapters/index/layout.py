"""Which file of an index holds which column, and what must hold between them; nothing here touches a disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrag.adapters.index.manifest import Precision, VectorEntry
from mrag.bm25 import Bm25
from mrag.columns import Strings
from mrag.corpus import FIELDS, Corpus, Field

Column = NDArray[Any]

STEP = 2**20
"""Numbers that are looked at or written at a time: what a pass over a column of any length takes of memory."""


def _files() -> Iterator[tuple[str, Field]]:
    for name, spec in FIELDS.items():
        if spec.kind == "strings":
            yield f"{name}.blob", Field("values", "|u1", f"{name}.blob")
            yield f"{name}.offsets", Field("pointers", "<i8", spec.table, f"{name}.blob")
        elif spec.kind == "bytes":
            yield name, spec._replace(into=f"{spec.into}.blob")
        elif spec.kind == "terms":
            yield name, spec._replace(into="terms")
        else:
            yield name, spec
    yield "lexicon.terms.blob", Field("values", "|u1", "lexicon.terms.blob")
    yield "lexicon.terms.offsets", Field("pointers", "<i8", "terms", "lexicon.terms.blob")
    yield "lexicon.postings", Field("pointers", "<i8", "terms", "postings")
    yield "lexicon.rows", Field("rows", "<i4", "postings", "passages")
    yield "lexicon.counts", Field("values", "<u2", "postings")
    yield "lexicon.lengths", Field("values", "<i4", "passages")


FILES: dict[str, Field] = dict(_files())
"""Every file of an index without its ending .npy: what it holds, a row of which table, and what it points into."""

PASSAGE_FILES = tuple(
    f"{name}.{part}" for name, spec in FIELDS.items() if spec.kind == "strings" for part in ("blob", "offsets")
)
"""The files that hold the passages as they came; all others follow from them by the rules."""


class VectorFile(NamedTuple):
    """A file of vectors: the ``dtype`` of its numbers, the ``table`` that it has a row for, numbers a row (0: flat)."""

    dtype: str
    table: str
    width: int = 0


VECTOR_DTYPES: dict[Precision, str] = {"float32": "<f4", "float16": "<f2", "int8": "|i1"}

GRAPH = "passages.hnsw"
"""The one file that is no .npy: hnswlib's graph over the vectors of the passages, in an index that is large enough."""


def vector_files(entry: VectorEntry) -> dict[str, VectorFile]:
    """The files that hold the vectors of an index: the vectors, what int8 is multiplied by, the texts' digests."""
    out = {}
    for table in ("passages", "sentences") if entry.level == "sentences" else ("passages",):
        out[f"{table}.vectors"] = VectorFile(VECTOR_DTYPES[entry.precision], table, entry.dimension)
        out[f"{table}.digests"] = VectorFile("|S16", table)
        if entry.precision == "int8":
            out[f"{table}.scales"] = VectorFile("<f4", table)
    return out


def to_files(corpus: Corpus) -> dict[str, Column]:
    """The columns of a corpus by the names of their files."""
    out: dict[str, Column] = {}
    for name in FIELDS:
        value = getattr(corpus, name)
        out.update({f"{name}.blob": value.blob, f"{name}.offsets": value.offsets} if _is_text(name) else {name: value})
    lexicon = corpus.lexicon
    out.update({"lexicon.terms.blob": lexicon.terms.blob, "lexicon.terms.offsets": lexicon.terms.offsets})
    out.update({f"lexicon.{name}": getattr(lexicon, name) for name in ("postings", "rows", "counts", "lengths")})
    return out


def from_files(columns: Mapping[str, Column]) -> Corpus:
    """The corpus that some columns make; the inverse of to_files. Columns that are not given are empty."""
    given = {name: columns.get(name, _empty(spec)) for name, spec in FILES.items()}
    values = {name: _strings(given, name) if _is_text(name) else given[name] for name in FIELDS}
    numbers = {name: given[f"lexicon.{name}"] for name in ("postings", "rows", "counts", "lengths")}
    return Corpus(**values, lexicon=Bm25(_strings(given, "lexicon.terms"), **numbers))  # type: ignore[arg-type]


def _is_text(name: str) -> bool:
    return FIELDS[name].kind == "strings"


def _strings(columns: Mapping[str, Column], name: str) -> Strings:
    return Strings(columns[f"{name}.blob"], columns[f"{name}.offsets"])


def _empty(spec: Field) -> Column:
    return np.zeros(1 if spec.kind == "pointers" else 0, dtype=np.dtype(spec.dtype))


def table_sizes(columns: Mapping[str, Column]) -> dict[str, int]:
    """How many rows each table has.

    Raises ValueError where two columns of a table differ, and where pointers do not start at 0 and end at the end of
    what they point into. It looks at the ends of columns only.
    """
    sizes: dict[str, int] = {}
    for name, column in columns.items():
        table = FILES[name].table
        rows = len(column) - (FILES[name].kind == "pointers")
        if rows < 0 or sizes.setdefault(table, rows) != rows:
            raise ValueError(f"{name} has {rows} rows where the table of {table} has {sizes.get(table)}")
    for name, column in columns.items():
        spec = FILES[name]
        if spec.kind == "pointers" and (column[0] != 0 or column[-1] != sizes[spec.into]):
            raise ValueError(f"{name} runs from {column[0]} to {column[-1]}, not from 0 to {sizes[spec.into]}")
    return sizes


def check_ranges(columns: Mapping[str, Column]) -> None:
    """Raises ValueError for a number that points outside of its target, and for pointers that run backwards."""
    sizes = table_sizes(columns)
    for name, column in columns.items():
        spec = FILES[name]
        if spec.kind == "values":
            continue
        low = -1 if spec.kind == "rows" else 0
        high = sizes[spec.into] - (spec.kind in ("rows", "terms"))
        before = low
        for at in range(0, len(column), STEP):
            part = column[at : at + STEP]
            if int(part.min()) < low or int(part.max()) > high:
                raise ValueError(f"{name} points outside {low} ... {high}")
            if spec.kind == "pointers":
                if part[0] < before or np.any(part[1:] < part[:-1]):
                    raise ValueError(f"{name} runs backwards")
                before = part[-1]
