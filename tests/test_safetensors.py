"""safetensors files, whole and damaged."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from mrag.adapters.models.safetensors import read_tensors
from mrag.errors import InputError


def write(path: Path, header: object, numbers: bytes = b"") -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + numbers)
    return path


def row(dtype: str, shape: list[int], start: int, end: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


@pytest.mark.parametrize(("dtype", "kind"), [("F64", "<f8"), ("F32", "<f4"), ("F16", "<f2")])
def test_floats_are_read_as_float32(tmp_path, dtype, kind):
    numbers = np.array([[1.5, -2.0, 0.25]], dtype=kind).tobytes()
    found = read_tensors(write(tmp_path / "a", {"w": row(dtype, [1, 3], 0, len(numbers))}, numbers))
    assert found["w"].dtype == np.float32
    assert found["w"].tolist() == [[1.5, -2.0, 0.25]]


def test_bfloat16_is_the_upper_half_of_float32(tmp_path):
    numbers = np.array([1.5, -2.0], dtype="<f4").view("<u2")[1::2].tobytes()
    assert read_tensors(write(tmp_path / "a", {"w": row("BF16", [2], 0, 4)}, numbers))["w"].tolist() == [1.5, -2.0]


def test_several_tensors_and_what_is_said_about_them(tmp_path):
    numbers = np.array([1, 2, 3], dtype="<f4").tobytes()
    header = {"__metadata__": {"format": "pt"}, "b": row("F32", [1], 8, 12), "a": row("F32", [2], 0, 8)}
    found = read_tensors(write(tmp_path / "a", header, numbers))
    assert {name: values.tolist() for name, values in found.items()} == {"b": [3.0], "a": [1.0, 2.0]}


DAMAGED = {
    "not an object": [],
    "no shape": {"w": {"dtype": "F32", "data_offsets": [0, 4]}},
    "no row": {"w": 7},
    "negative size": {"w": row("F32", [-1], 0, 4)},
    "size that is no number": {"w": row("F32", ["1"], 0, 4)},  # type: ignore[list-item]
    "too few numbers": {"w": row("F32", [2], 0, 4)},
    "numbers beyond the end": {"w": row("F32", [2], 0, 8)},
    "offsets the wrong way": {"w": row("F32", [1], 4, 0)},
    "absurd size": {"w": row("F32", [2**40, 2**40], 0, 4)},
    "whole numbers": {"w": row("I64", [1], 0, 8)},
    "unknown type": {"w": {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]}},
    "three offsets": {"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4]}},
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("header", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_file_is_refused_by_name(tmp_path, header):
    with pytest.raises(InputError, match=r"a\.safetensors: "):
        read_tensors(write(tmp_path / "a.safetensors", header, b"\0" * 4))


@pytest.mark.parametrize("data", [b"", b"1234567", struct.pack("<Q", 2**63) + b"{}"])
def test_a_file_that_ends_too_soon_is_refused(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(InputError, match="no safetensors file"):
        read_tensors(tmp_path / "a")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone: cannot be read"):
        read_tensors(tmp_path / "gone")
