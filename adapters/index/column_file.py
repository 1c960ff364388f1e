"""A column on its way to the disk: a .npy file that grows part by part."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from mrag.adapters.index.folder import file_hash
from mrag.adapters.index.layout import STEP, Column
from mrag.adapters.index.manifest import FileEntry


class ColumnFile:
    """A .npy file of numbers, or of rows of ``width`` numbers, that grows; nothing of it stays in memory.

    Its header is written again when the length is known.
    """

    def __init__(self, path: Path, dtype: str, width: int = 0) -> None:
        self.path, self.dtype, self.width, self.length = path, np.dtype(dtype), width, 0
        self._stream = path.open("w+b")
        self._write_header()
        self._data = self._stream.tell()

    def append(self, column: Column, shift: int = 0) -> None:
        """Puts numbers behind those that are there, ``shift`` added to all that are not negative (-1 is "none")."""
        for at in range(0, len(column), STEP):
            part = np.ascontiguousarray(column[at : at + STEP], dtype=self.dtype)
            if shift:
                part = np.where(part >= 0, part + self.dtype.type(shift), part)
            self._stream.write(part.reshape(-1).view(np.uint8).data if len(part) else b"")
        self.length += len(column)

    def translate(self, start: int, end: int, table: Column) -> None:
        """Replaces each number i between two rows by ``table[i]``."""
        for at in range(start, end, STEP):
            size = min(STEP, end - at)
            place = self._data + at * self.dtype.itemsize
            self._stream.seek(place)
            old = np.frombuffer(self._stream.read(size * self.dtype.itemsize), dtype=self.dtype)
            self._stream.seek(place)
            self._stream.write(table[old].astype(self.dtype).data.cast("B"))
        self._stream.seek(0, os.SEEK_END)

    def finish(self) -> None:
        """Writes the header and hands all of it to the system."""
        self._stream.seek(0)
        self._write_header()
        self._stream.flush()

    def sync(self) -> None:
        """Has the system put all of it on the disk."""
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Closes the file as it is."""
        self._stream.close()

    def entry(self) -> FileEntry:
        """What the manifest says of the finished file."""
        return FileEntry(self.path.stat().st_size, file_hash(self.path), self.dtype.str, self.length)

    def _write_header(self) -> None:
        shape = (self.length, self.width) if self.width else (self.length,)
        description = {"descr": self.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._stream, description)  # leaves room for any length
