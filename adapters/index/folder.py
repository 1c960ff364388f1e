"""An index folder, read: mapping the corpus and the vectors of its live generation, and checking all of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mrag.adapters.index import manifest
from mrag.adapters.index.layout import (
    FILES,
    GRAPH,
    PASSAGE_FILES,
    Column,
    check_ranges,
    from_files,
    table_sizes,
    vector_files,
)
from mrag.adapters.index.manifest import FileEntry, Manifest, VectorEntry, read_manifest
from mrag.adapters.index.vector_texts import TEXTS, Digests
from mrag.adapters.index.vectors import Vectors
from mrag.corpus import RULES, Corpus, Passage
from mrag.errors import IndexFormatError

_HASH_STEP = 2**22


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """The vectors of an index, mapped: of each table, ``passages`` and perhaps ``sentences``, a row a vector.

    ``digests``: those of the texts; ``graph``: the file of hnswlib's graph over the passages, None without one, and
    what the manifest says of it.
    """

    entry: VectorEntry
    tables: dict[str, Vectors]
    digests: dict[str, Digests]
    graph: Path | None
    graph_entry: FileEntry | None


def map_index(folder: Path) -> tuple[Corpus, StoredVectors | None]:
    """The corpus and the vectors of an index, mapped, not read: they cost nothing until they are used.

    Raises IndexFormatError for an index that is missing, damaged, foreign, of another version, or made by other rules.
    It looks at sizes, types and the ends of columns; check_folder looks at all of it.
    """
    found, columns = _map(folder, FILES)
    made_by = found.rules if found.vectors is None else f"{found.rules} {found.vectors.texts}"
    rules = RULES if found.vectors is None else f"{RULES} {TEXTS}"
    if made_by != rules:
        raise IndexFormatError(
            f"{folder}: made by other rules for dates and words ({made_by}; this program: {rules}): "
            f"mrag index --upgrade {folder}"
        )
    return from_files(columns), _stored_vectors(folder, found, columns)


def map_corpus(folder: Path) -> Corpus:
    """The corpus of an index alone, as map_index gives it."""
    return map_index(folder)[0]


def map_generation(path: Path, counts: dict[str, int], files: dict[str, FileEntry]) -> Corpus:
    """The corpus of a generation that has been written but not committed."""
    written = Manifest(path.name, counts, files)
    return from_files({name: _column(path.parent, written, name, FILES[name].dtype) for name in FILES})


def stored_passages(folder: Path) -> tuple[int, Iterator[Passage]]:
    """How many passages an index holds, and each of them as it came, whatever the rules that it was made by."""
    _, columns = _map(folder, PASSAGE_FILES, older=True)
    corpus = from_files(columns)
    return len(corpus), (corpus.passage(row) for row in range(len(corpus)))


def stored_vectors(folder: Path) -> StoredVectors | None:
    """The vectors of an index, whatever the rules that it was made by; None where there are none that can be used."""
    try:
        found, columns = _map(folder, PASSAGE_FILES, older=True)
    except IndexFormatError:
        return None
    return _stored_vectors(folder, found, columns)


def check_folder(folder: Path) -> None:
    """Raises IndexFormatError unless every byte of an index is as it was written and every number points into range."""
    found, columns = _map(folder, FILES)
    for name, entry in found.files.items():
        path = _file(folder, found, name)
        if file_hash(path) != entry.sha256:
            raise _damaged(path, "its bytes are not those that were written")
    try:
        check_ranges({name: columns[name] for name in FILES})
    except ValueError as error:
        raise _damaged(folder, str(error)) from None


def _stored_vectors(folder: Path, found: Manifest, columns: dict[str, Column]) -> StoredVectors | None:
    if found.vectors is None:
        return None
    tables = [spec.table for spec in vector_files(found.vectors).values() if spec.width]
    return StoredVectors(
        found.vectors,
        {table: Vectors(columns[f"{table}.vectors"], columns.get(f"{table}.scales")) for table in tables},
        {table: columns[f"{table}.digests"] for table in tables},
        _file(folder, found, GRAPH) if GRAPH in found.files else None,
        found.files.get(GRAPH),
    )


def _map(folder: Path, names: Iterable[str], *, older: bool = False) -> tuple[Manifest, dict[str, Column]]:
    """The manifest and the named columns of an index, and those of its vectors."""
    for _ in range(10):
        found = read_manifest(folder, older=older)
        vectors = vector_files(found.vectors) if found.vectors is not None else {}
        try:
            columns = {name: _column(folder, found, name, FILES[name].dtype) for name in names}
            sizes = table_sizes(columns)
            for name, spec in vectors.items():
                columns[name] = _column(folder, found, name, spec.dtype, spec.width)
                sizes[spec.table] = sizes.get(spec.table, len(columns[name]))
                if sizes[spec.table] != len(columns[name]):
                    raise ValueError(f"{name} has {len(columns[name])} rows, not one for each of the {spec.table}")
            if GRAPH in found.files:
                _check_size(_file(folder, found, GRAPH), found.files[GRAPH])
        except FileNotFoundError as error:
            if read_manifest(folder, older=older).generation == found.generation:
                raise _damaged(Path(str(error.filename)), "it is missing") from None
            continue  # a writer has put a new generation in place since we read the manifest
        except ValueError as error:
            raise _damaged(folder, str(error)) from None
        if any(found.counts.get(table) != size for table, size in sizes.items() if not table.endswith(".blob")):
            raise _damaged(folder / manifest.NAME, "its counts are not those of the files")
        return found, columns
    raise IndexFormatError(f"{folder}: is written again and again: try again")


def _file(folder: Path, found: Manifest, name: str) -> Path:
    return folder / found.generation / (name if name == GRAPH else f"{name}.npy")


def _check_size(path: Path, entry: FileEntry | None) -> FileEntry:
    """What the manifest says of a file; IndexFormatError for one that is not as long, FileNotFoundError without one."""
    if entry is None:
        raise _damaged(path, "the manifest does not know it")
    size = path.stat().st_size
    if size != entry.bytes:
        raise _damaged(path, f"{size:,} bytes where {entry.bytes:,} were written")
    return entry


def _column(folder: Path, found: Manifest, name: str, dtype: str, width: int = 0) -> Column:
    """A column mapped read-only; a plain array over the map, since numpy's memmap slows every slice."""
    path = _file(folder, found, name)
    entry = _check_size(path, found.files.get(name))
    shape = [entry.length, width] if width else [entry.length]
    try:
        column: Column = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise
    except (ValueError, OSError, OverflowError, EOFError, SyntaxError) as error:
        raise _damaged(path, f"cannot be mapped ({error})") from None
    if column.dtype.str != dtype or list(column.shape) != shape:
        raise _damaged(path, f"{column.dtype.str}{list(column.shape)} where {dtype}{shape} belongs")
    return column


def _damaged(path: Path, what: str) -> IndexFormatError:
    return IndexFormatError(f"{path}: {what}: the index is damaged; copy it again or build it again")


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_HASH_STEP):
            digest.update(block)
    return digest.hexdigest()
