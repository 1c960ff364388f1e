"""The manifest of an index: what its folder holds, by which rules, and whether this program can serve it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from mrag import __version__
from mrag.corpus import RULES
from mrag.errors import IndexFormatError

Level = Literal["passages", "sentences"]
Precision = Literal["float32", "float16", "int8"]
Metric = Literal["cosine", "dot"]

NAME = "manifest.json"
VERSION = 1
"""The format of the folder; bumped when FILES in layout.py or the manifest's own fields change."""

_FORMAT = "mrag-index"
_MOST_BYTES = 2**20
_GENERATION = re.compile(r"gen-(\d{6,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the index: its size in bytes, the SHA-256 of its bytes, and the column's dtype and rows."""

    bytes: int
    sha256: str
    dtype: str
    length: int


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """The vectors of an index: of its passages alone or of its ``sentences`` too, and which encoder made them.

    ``fingerprint``: of the encoder, to the bit; ``family``: the same for other numeric precisions of one model;
    ``texts``: the rules by which the texts were made that were encoded (vector_texts.TEXTS); ``encoder``: a name for
    people.
    """

    level: Level
    precision: Precision
    metric: Metric
    dimension: int
    fingerprint: str
    family: str
    texts: str
    encoder: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """``generation``: the sub-folder that is live; ``rules``: those of corpus.RULES that made it; ``counts``: rows of
    each table; ``files``: one entry a file, by its name without .npy; ``vectors``: None for an index without."""

    generation: str
    counts: Mapping[str, int]
    files: Mapping[str, FileEntry]
    vectors: VectorEntry | None = None
    rules: str = RULES
    written_by: str = __version__
    version: int = VERSION

    def to_json(self) -> str:
        """The manifest as it stands in the folder: the same index gives the same bytes."""
        return json.dumps({"format": _FORMAT, **asdict(self)}, indent=1, sort_keys=True) + "\n"


def generation_number(name: str) -> int | None:
    """7 of "gen-000007"; None for any other name, which is none of ours."""
    match = _GENERATION.fullmatch(name)
    return int(match[1]) if match else None


def generation_name(number: int) -> str:
    """ "gen-000007" of 7."""
    return f"gen-{number:06d}"


def read_manifest(folder: Path, *, older: bool = False) -> Manifest:
    """The manifest of an index folder.

    Raises IndexFormatError where there is no index, where the file is damaged or not ours, and for a version that this
    program does not read; ``older`` lets older ones pass (to upgrade them).
    """
    path = folder / NAME
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        what = "holds no index" if folder.is_dir() else "there is no such folder"
        raise IndexFormatError(f"{folder}: {what}: make one with  mrag index PATH… -o {folder}") from None
    except NotADirectoryError:
        raise IndexFormatError(f"{folder}: a file, not an index folder") from None
    except OSError as error:
        raise IndexFormatError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        record = json.loads(raw.decode("utf-8"))
        if len(raw) > _MOST_BYTES or not isinstance(record, dict) or record.get("format") != _FORMAT:
            raise ValueError
        version = _whole(record["version"])
        if version > VERSION or (version < VERSION and not older):
            raise _version_error(folder, version, str(record.get("written_by")))
        return _manifest(record)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise IndexFormatError(
            f"{path}: damaged, or not MRAG's: choose another folder, or delete this one and build the index again"
        ) from None


def _version_error(folder: Path, version: int, written_by: str) -> IndexFormatError:
    if version > VERSION:
        return IndexFormatError(
            f"{folder}: written by the newer mrag {written_by} (format {version}, this program reads {VERSION}): "
            "update mrag, or build the index again in another folder"
        )
    return IndexFormatError(f"{folder}: an older index (format {version}): mrag index --upgrade {folder}")


def _manifest(record: Mapping[str, object]) -> Manifest:
    """The manifest in a JSON object; ValueError, KeyError or TypeError when something in it is not as it must be."""
    generation, counts, files = record["generation"], record["counts"], record["files"]
    if not isinstance(generation, str) or generation_number(generation) is None:
        raise ValueError("generation")
    if not isinstance(counts, dict) or not isinstance(files, dict):
        raise TypeError("counts and files")
    return Manifest(
        generation,
        {str(table): _whole(count) for table, count in counts.items()},
        {str(name): _entry(entry) for name, entry in files.items()},
        _vectors(record.get("vectors")),
        str(record["rules"]),
        str(record["written_by"]),
        _whole(record["version"]),
    )


def _entry(entry: object) -> FileEntry:
    if not isinstance(entry, dict):
        raise TypeError("file entry")
    return FileEntry(_whole(entry["bytes"]), str(entry["sha256"]), str(entry["dtype"]), _whole(entry["length"]))


def _vectors(entry: object) -> VectorEntry | None:
    if entry is None:
        return None
    if not isinstance(entry, dict) or _whole(entry["dimension"]) == 0:
        raise TypeError("vectors")
    for name, kinds in (("level", Level), ("precision", Precision), ("metric", Metric)):
        if entry[name] not in get_args(kinds):
            raise ValueError(name)
    return VectorEntry(
        *(entry[name] for name in ("level", "precision", "metric", "dimension")),
        *(str(entry[name]) for name in ("fingerprint", "family", "texts", "encoder")),
    )


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value
