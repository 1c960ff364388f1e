"""A float32 graph in the precision that is wanted, as one file and, beyond 2 GB, a second one for its weights."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnx

from mrag.adapters.models.model_names import Precision

MODEL = "model.onnx"
DATA = "model.onnx.data"

_MOST_IN_ONE_FILE = 2**31 - 2**24  # protobuf ends at 2 GB; the graph itself needs some of it


def write_model(graph: Path, folder: Path, precision: Precision) -> None:
    """Writes ``model.onnx`` into a folder from the float32 graph, whose weights may lie beside it in other files.

    float16 keeps float32 inputs and outputs, and computes norms in float32: Gemma's squares overflow in float16.
    int8 quantises weights per channel and activations while running; weights use 7 bits, so that the sums of
    processors without VNNI do not overflow.
    """
    if precision == "int8":
        _quantise(graph, folder / MODEL)
    else:
        _save(_halve(graph) if precision == "float16" else onnx.load(graph), folder / MODEL)


def _halve(graph: Path) -> Any:
    from onnxruntime.transformers.float16 import convert_float_to_float16

    nodes = onnx.load(graph, load_external_data=False).graph.node
    norms = [node.name for node in nodes if "norm/" in node.name.lower() and node.op_type != "LayerNormalization"]
    with _quiet():
        model = convert_float_to_float16(str(graph), keep_io_types=True, node_block_list=norms)
    made: set[str] = set()
    kept = []
    for node in model.graph.node:  # the converter of onnxruntime 1.31 writes a cast anew for each norm that reads it
        if not made.issuperset(node.output):
            kept.append(node)
        made.update(node.output)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


def _quantise(graph: Path, path: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    large = _bytes_beside(graph) > 0
    with _quiet():
        quantize_dynamic(
            graph,
            path,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
            use_external_data_format=large,
        )


def _save(model: Any, path: Path) -> None:
    weights = sum(len(tensor.raw_data) for tensor in model.graph.initializer)  # ByteSize() itself fails beyond 2 GB
    if weights <= _MOST_IN_ONE_FILE:
        onnx.save(model, path)
    else:
        onnx.save(model, path, save_as_external_data=True, all_tensors_to_one_file=True, location=DATA)


def _bytes_beside(graph: Path) -> int:
    return sum(file.stat().st_size for file in graph.parent.iterdir() if file != graph)


@contextmanager
def _quiet() -> Iterator[None]:
    """The two converters write advice into the root logger that a user can do nothing with."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
