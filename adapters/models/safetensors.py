"""The safetensors format in numpy: 8 bytes that hold the length of a JSON header, the header, the numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from mrag.columns import Float32
from mrag.errors import InputError

_MOST_HEADER = 2**24
_MOST_BYTES = 2**30  # of a dense layer; the largest known have some ten megabytes

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def read_tensors(path: Path) -> dict[str, Float32]:
    """All tensors of a file as float32 arrays, by their names.

    Raises InputError for a file that is damaged, too large, or holds numbers of another kind than floats.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path}: more than {_MOST_BYTES:,} bytes, which no dense layer has")
    try:
        size = int.from_bytes(data[:8], "little")
        if len(data) < 8 or size > min(_MOST_HEADER, len(data) - 8):
            raise ValueError("its header is longer than the file")
        header, numbers = json.loads(data[8 : 8 + size].decode("utf-8")), memoryview(data)[8 + size :]
        return {name: _tensor(row, numbers) for name, row in header.items() if name != "__metadata__"}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: no safetensors file, or a damaged one ({error})") from None


def _tensor(row: dict[str, Any], numbers: memoryview) -> Float32:
    shape, (start, end) = row["shape"], row["data_offsets"]
    if not all(type(size) is int and size >= 0 for size in [*shape, start, end]):
        raise ValueError("sizes and offsets are whole numbers")
    if row["dtype"] not in _DTYPES:
        raise ValueError(f"numbers of type {row['dtype']!r}; there are {', '.join(_DTYPES)}")
    dtype = np.dtype(_DTYPES[row["dtype"]])
    if not start <= end <= len(numbers) or math.prod(shape) * dtype.itemsize != end - start:
        raise ValueError(f"a tensor of shape {shape} does not fill bytes {start} to {end}")
    values = np.frombuffer(numbers[start:end], dtype=dtype)
    if row["dtype"] == "BF16":  # the upper half of a float32
        values = (values.astype("<u4") << 16).view("<f4")
    return np.ascontiguousarray(values.reshape(shape), dtype=np.float32)
