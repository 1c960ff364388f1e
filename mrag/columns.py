"""Columns: strings as one UTF-8 blob with offsets, and gathers over ragged rows.

A column maps from disk without parsing and is concatenated without touching its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Int16 = NDArray[np.int16]
Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]
Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Strings:
    """n strings: ``blob`` uint8 (UTF-8), ``offsets`` int64[n + 1] into it."""

    blob: UInt8
    offsets: Int64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        """String ``row``; IndexError outside 0 ... n - 1 (negative rows too: they are never meant)."""
        return self.raw(row).decode("utf-8", "replace")

    def raw(self, row: int) -> bytes:
        """String ``row`` as its UTF-8 bytes."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of a column of {len(self)}")
        return self.blob[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def raws(self, rows: Int64) -> list[bytes]:
        """The strings at ``rows`` int64[n] as their UTF-8 bytes; IndexError outside 0 ... n - 1."""
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < len(self):
            raise IndexError(f"rows {int(rows.min())} ... {int(rows.max())} of a column of {len(self)}")
        view = np.ascontiguousarray(self.blob).data
        bounds = zip(self.offsets[rows].tolist(), self.offsets[rows + 1].tolist(), strict=True)
        return [bytes(view[start:end]) for start, end in bounds]

    @staticmethod
    def of(values: Iterable[str]) -> Strings:
        """A column of the given strings; lone surrogates become "?".

        >>> column = Strings.of(["Köln", ""]); column[0], len(column)
        ('Köln', 2)
        """
        return Strings.of_bytes([value.encode("utf-8", "replace") for value in values])

    @staticmethod
    def of_bytes(values: Sequence[bytes]) -> Strings:
        """A column of strings that are UTF-8 already."""
        return Strings(np.frombuffer(b"".join(values), dtype=np.uint8), pointers([len(value) for value in values]))

    def find(self, value: str) -> int:
        """The row that holds ``value`` in a column sorted by bytes, or -1: a binary search, nothing is decoded."""
        wanted = value.encode("utf-8", "replace")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self.raw(low) == wanted else -1


def pointers(counts: Sequence[int] | Int64) -> Int64:
    """Row pointers int64[n + 1] of ragged rows that have the given lengths.

    >>> pointers([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    out = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(np.asarray(counts, dtype=np.int64), out=out[1:])
    return out


def gather(starts: Int64, ends: Int64) -> tuple[Int64, Int64]:
    """The positions starts[i] ... ends[i] - 1 of every row i in one array, and the row pointers into it.

    >>> positions, rows = gather(np.array([5, 0]), np.array([7, 1])); positions.tolist(), rows.tolist()
    ([5, 6, 0], [0, 2, 3])
    """
    rows = pointers(ends - starts)
    positions = np.arange(rows[-1], dtype=np.int64) + np.repeat(starts - rows[:-1], np.diff(rows))
    return positions, rows
