"""Which files beside an ONNX file hold its weights: read from the graph itself, without loading it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from mrag.errors import InputError

Buffer: TypeAlias = "mmap.mmap | bytes"

# onnx.proto: for each message the fields that can lead to a tensor, by number, and the message that each one holds.
_FIELDS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "function": {7: "node"},
    "graph": {1: "node", 5: "tensor", 15: "sparse tensor"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse tensor", 23: "sparse tensor"},
    "sparse tensor": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def external_files(path: Path) -> list[str]:
    """The locations, relative to the file's folder, of the data that an ONNX file keeps outside itself; sorted.

    They are as the file says them: who opens them checks them. Raises InputError for a file that is no ONNX model.
    """
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return sorted(set(_locations(data)))
    except (ValueError, IndexError):  # mmap refuses an empty file so
        raise InputError(f"{path}: no ONNX model, or a damaged one") from None


def _locations(data: Buffer) -> Iterator[str]:
    waiting = [("model", 0, len(data))]  # a stack, not recursion: graphs nest as deep as their writer likes
    while waiting:
        message, start, end = waiting.pop()
        inner = _FIELDS[message]
        for number, first, last in _fields(data, start, end):
            if number not in inner:
                continue
            if inner[number] == "entry":
                entry = {key: bytes(data[low:high]) for key, low, high in _fields(data, first, last)}
                if entry.get(1) == b"location":
                    yield entry.get(2, b"").decode("utf-8")
            else:
                waiting.append((inner[number], first, last))


def _fields(data: Buffer, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The number and the bounds of each length-delimited field of a message; the others are passed over."""
    at = start
    while at < end:
        tag, at = _varint(data, at, end)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _varint(data, at, end)
        elif kind == _BYTES:
            size, at = _varint(data, at, end)
            if size > end - at:
                raise ValueError("a field reaches beyond its message")
            yield tag >> 3, at, at + size
            at += size
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        else:
            raise ValueError("no field begins so")
    if at != end:
        raise ValueError("a field reaches beyond its message")


def _varint(data: Buffer, at: int, end: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number without an end")
