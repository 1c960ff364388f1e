"""From the vectors of a text's tokens to one vector: pooling, dense layers, normalising; and logits to scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from mrag.columns import Float32, Int64

Pooling = Literal["mean", "cls", "last", "max"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)

Activation = Literal["identity", "tanh", "relu", "sigmoid"]


def pool(hidden: Float32, mask: Int64, how: Pooling) -> Float32:
    """float32[n, d] out of the token vectors float32[n, s, d]; ``mask`` int64[n, s] is 1 where there is a token.

    A text's pads may stand on either side. A text without any token gives zeros by mean and max.

    >>> hidden = np.array([[[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]]], dtype=np.float32)
    >>> {how: pool(hidden, np.array([[1, 1, 0]]), how).tolist() for how in ("mean", "cls", "last", "max")}
    {'mean': [[2.0, 4.0]], 'cls': [[1.0, 2.0]], 'last': [[3.0, 6.0]], 'max': [[3.0, 6.0]]}
    """
    return _POOLINGS[how](hidden, mask)


def _mean(hidden: Float32, mask: Int64) -> Float32:
    counts = np.maximum(mask.sum(axis=1, keepdims=True), 1).astype(np.float32)
    kept = hidden if mask.all() else np.where(mask[:, :, None] > 0, hidden, np.float32(0.0))
    means: Float32 = kept.sum(axis=1, dtype=np.float32) / counts
    return means


def _cls(hidden: Float32, mask: Int64) -> Float32:
    out: Float32 = hidden[np.arange(len(hidden)), mask.argmax(axis=1)]
    return out


def _last(hidden: Float32, mask: Int64) -> Float32:
    out: Float32 = hidden[np.arange(len(hidden)), last_tokens(mask)]
    return out


def _max(hidden: Float32, mask: Int64) -> Float32:
    largest = np.where(mask[:, :, None] > 0, hidden, -np.inf).max(axis=1)
    some = mask.max(axis=1, keepdims=True, initial=0) > 0
    out: Float32 = np.where(some, largest, 0.0).astype(np.float32)
    return out


_POOLINGS: Mapping[Pooling, Callable[[Float32, Int64], Float32]] = {
    "mean": _mean,
    "cls": _cls,
    "last": _last,
    "max": _max,
}


def last_tokens(mask: Int64) -> Int64:
    """int64[n]: the place of each text's last token in ``mask`` int64[n, s]; 0 without any.

    >>> last_tokens(np.array([[1, 1, 0], [0, 1, 1]])).tolist()
    [1, 2]
    """
    out: Int64 = (mask * np.arange(mask.shape[1])).argmax(axis=1)
    return out


def normalise(vectors: Float32) -> Float32:
    """float32[n, d], each vector at length 1; a vector of zeros stays as it is.

    >>> normalise(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6..., 0.8...], [0.0, 0.0]]
    """
    with np.errstate(over="ignore", invalid="ignore"):  # infinite numbers become NaN, which the encoder speaks of
        lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True, dtype=np.float32))
        out: Float32 = vectors / np.maximum(lengths, np.float32(1e-12))
    return out


@dataclass(frozen=True, slots=True)
class Dense:
    """A linear layer: ``weight`` float32[out, in], ``bias`` float32[out] or None, and what follows."""

    weight: Float32
    bias: Float32 | None
    activation: Activation

    def __call__(self, vectors: Float32) -> Float32:
        """float32[n, out] of float32[n, in]."""
        out = np.empty((len(vectors), len(self.weight)), dtype=np.float32)
        for at, vector in enumerate(vectors):  # one product for all rows would give a row other last bits beside others
            np.matmul(self.weight, vector, out=out[at])
        if self.bias is not None:
            out += self.bias
        return _ACTIVATIONS[self.activation](out)


def sigmoid(logits: Float32, temperature: float = 1.0) -> Float32:
    """float32[n] in [0, 1] of logits; a higher temperature keeps high ones apart.

    >>> sigmoid(np.array([0.0, 2.0, -2000.0], dtype=np.float32), 2.0).round(3).tolist()
    [0.5, 0.731..., 0.0]
    """
    scaled = np.clip(logits.astype(np.float64) / temperature, -700.0, 700.0)
    out: Float32 = (1.0 / (1.0 + np.exp(-scaled))).astype(np.float32)
    return out


def _identity(values: Float32) -> Float32:
    return values


def _relu(values: Float32) -> Float32:
    out: Float32 = np.maximum(values, np.float32(0.0))
    return out


_ACTIVATIONS: Mapping[Activation, Callable[[Float32], Float32]] = {
    "identity": _identity,
    "tanh": np.tanh,
    "relu": _relu,
    "sigmoid": sigmoid,
}
