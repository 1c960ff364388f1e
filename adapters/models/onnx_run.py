"""Many texts through one session: in runs of one length, over several threads, in smaller runs when memory ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mrag.adapters.models.batching import Inputs, Padding, Tokens, arrays, batches, padded_lengths
from mrag.adapters.models.onnx_session import Tell, is_out_of_memory, run_error
from mrag.columns import Float32, Int64
from mrag.errors import InputError, MragError

Finish: TypeAlias = "Callable[[Float32, Inputs], Float32]"
"""What is made of a graph's output: float32[n, …] for n texts; each text's row is computed by itself."""

_INTS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_MADE_OF: Mapping[str, Callable[[Inputs], Int64]] = {
    "input_ids": lambda inputs: inputs.ids,
    "attention_mask": lambda inputs: inputs.mask,
    "token_type_ids": lambda inputs: inputs.types,
    "position_ids": lambda inputs: np.maximum(inputs.mask.cumsum(axis=1) - 1, 0),
}


class Runner:
    """Tokens of texts in, float32[n, …] out; any number of threads may call it at once.

    A text's row is the same whatever the other texts, their order and the number of threads: to the bit where the
    graph computes the rows of a run without regard to their number. On a CPU, ONNX Runtime does so for products,
    softmax and norms, and so for whole encoders; not for sums over tokens, nor, in general, on a GPU.
    """

    def __init__(
        self,
        session: Any,
        path: Path,
        output: str,
        finish: Finish,
        *,
        padding: Padding,
        most_tokens: int,
        threads: int,
        tell: Tell | None = None,
    ) -> None:
        """Raises InputError for a graph that wants other inputs than texts give."""
        self._session, self._path, self._output, self._finish = session, path, output, finish
        self._types = {found.name: _int_type(found, path) for found in session.get_inputs()}
        self._padding, self._most_tokens, self._tell = padding, most_tokens, tell
        self._memory = threading.Lock()
        self._pool = ThreadPoolExecutor(threads, "mrag-onnx") if threads > 1 else None

    def __call__(self, tokens: Tokens) -> Float32:
        """float32[n, …] for n ≥ 1 texts, in their order; MragError for a run that fails."""
        padded = padded_lengths(tokens.lengths)
        runs = batches(padded, self._most_tokens)

        def run(rows: Int64) -> Float32:
            return self._run(tokens, rows, int(padded[rows[0]]))

        results: Iterator[Float32] = (
            map(run, runs) if self._pool is None or len(runs) == 1 else self._pool.map(run, runs)
        )
        out: Float32 | None = None
        for rows, found in zip(runs, results, strict=True):
            if out is None:
                out = np.empty((len(tokens), *found.shape[1:]), dtype=np.float32)
            out[rows] = found
        assert out is not None, "no texts"
        return out

    def _run(self, tokens: Tokens, rows: Int64, length: int) -> Float32:
        if len(rows) > 1 and len(rows) * length > self._most_tokens:  # it has become smaller meanwhile
            return self._run_halves(tokens, rows, length)
        try:
            return self._run_once(arrays(tokens, rows.tolist(), length, self._padding))
        except MragError:
            raise
        except Exception as error:  # ONNX Runtime's errors have no other base
            if len(rows) == 1 or not is_out_of_memory(error):
                raise run_error(self._path, error, length) from error
        self._take_less(len(rows) * length // 2)
        return self._run_halves(tokens, rows, length)

    def _run_once(self, inputs: Inputs) -> Float32:
        feeds = {name: np.asarray(_MADE_OF[name](inputs), dtype=kind) for name, kind in self._types.items()}
        (found,) = self._session.run([self._output], feeds)
        return self._finish(np.asarray(found, dtype=np.float32), inputs)

    def _run_halves(self, tokens: Tokens, rows: Int64, length: int) -> Float32:
        halves = np.array_split(rows, 2)
        return np.concatenate([self._run(tokens, half, length) for half in halves])

    def _take_less(self, most_tokens: int) -> None:
        with self._memory:
            if most_tokens < self._most_tokens:
                self._most_tokens = most_tokens
                if self._tell is not None:
                    self._tell(f"out of memory: runs of at most {most_tokens:,} tokens from here on")


def _int_type(found: Any, path: Path) -> type[np.signedinteger[Any]]:
    if found.name not in _MADE_OF:
        raise InputError(
            f"{path}: wants the input {found.name!r}, which texts do not give: mrag export makes a graph that fits"
        )
    fixed = [size for size in found.shape if isinstance(size, int)]
    if fixed or found.type not in _INTS:
        what = f"of fixed size {found.shape}" if fixed else f"of {found.type}"
        raise InputError(f"{path}: its input {found.name!r} is {what}: export it with dynamic axes and whole numbers")
    return _INTS[found.type]
