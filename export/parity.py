"""Whether an exported folder gives what transformers gives: the same texts through both, and how far they are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from mrag.adapters.models.model_names import Precision
from mrag.columns import Float32
from mrag.errors import MragError

BOUNDS: dict[Precision, float] = {"float32": 1e-4, "float16": 1e-2, "int8": 0.1}
"""float32 and float16: the largest difference; int8, whose numbers are coarse: what rank agreement lacks to 1."""

QUESTIONS = (
    "Who was the prime minister as of 6 May 2021?",
    "When did the bridge over the river open?",
    "Which club won the cup for the last time before 1990, and in whose stadium?",
    "Qui était maire de Zürich en 1931 ?",
)

_EDGES = (
    "1999",
    "The café in Zürich – «naïve» as ever – closed on 3 May 1931; Ελλάδα, Москва and 東京 had theirs until 2003.",
    "Yes. No. A: B: 'Yes' or 'No' [SEP] <bos> </s>",
)
_PASSAGES = 12
_LONGEST = 1024  # words; where a model takes more, its full length is not compared: its attention would fill the memory


@dataclass(frozen=True, slots=True)
class Parity:
    """How far an export is from its source: the largest difference, relative to the numbers' own size, and the
    agreement of the ranks (Spearman, mean over questions)."""

    precision: Precision
    difference: float
    agreement: float

    @property
    def bound(self) -> float:
        """What must not be exceeded."""
        return BOUNDS[self.precision]

    @property
    def kept(self) -> bool:
        """Whether the export is within its bound."""
        found = 1 - self.agreement if self.precision == "int8" else self.difference
        return bool(found <= self.bound)  # NaN is not

    def __str__(self) -> str:
        """In a sentence."""
        if self.precision == "int8":
            within = f"rank agreement {self.agreement:.3f} (at least {1 - self.bound:g})"
        else:
            within = f"at most {self.bound:g}"
        return f"largest difference from transformers {self.difference:.1e}, {within}"


def sample(max_length: int) -> list[str]:
    """Passages of the demo corpus and edge cases, among them one that is longer than the model takes."""
    from mrag import adapters
    from mrag.adapters.datasets import read_passages

    demo = [passage.text for passage in read_passages(Path(adapters.__file__).with_name("demo.jsonl"))]
    chosen = demo[:: max(1, len(demo) // _PASSAGES)][:_PASSAGES]
    words = islice(cycle(" ".join(demo).split()), min(max_length, _LONGEST) + 20)  # a word is a token or more
    return [*chosen, *_EDGES, " ".join(words)]


def compare_vectors(precision: Precision, theirs: Sequence[Float32], ours: Sequence[Float32]) -> Parity:
    """Parity of an encoder; each side gives the vectors of the questions and those of the passages.

    The difference is that of a whole vector, relative to its length.
    """
    difference = max(_farthest(wanted, found) for wanted, found in zip(theirs, ours, strict=True))
    wanted, found = (questions @ passages.T for questions, passages in (theirs, ours))
    return Parity(precision, difference, agreement(wanted, found))


def compare_logits(precision: Precision, theirs: Float32, ours: Float32) -> Parity:
    """Parity of a reranker; float32[questions, passages] of both. The difference is relative to the range of scores."""
    _check_shapes(theirs, ours)
    spread = float(np.ptp(theirs)) or 1.0
    return Parity(precision, float(np.abs(theirs - ours).max()) / spread, agreement(theirs, ours))


def agreement(theirs: Float32, ours: Float32) -> float:
    """The mean Spearman correlation of the rows of two score matrices.

    >>> float(round(agreement(np.float32([[1, 2, 3]]), np.float32([[10, 30, 20]])), 3))
    0.5
    """
    ranks = [np.argsort(np.argsort(scores, axis=1, kind="stable"), axis=1) for scores in (theirs, ours)]
    return float(np.mean([np.corrcoef(wanted, found)[0, 1] for wanted, found in zip(*ranks, strict=True)]))


def _farthest(theirs: Float32, ours: Float32) -> float:
    _check_shapes(theirs, ours)
    lengths = np.maximum(np.linalg.norm(theirs, axis=1), 1e-12)
    return float((np.linalg.norm(theirs - ours, axis=1) / lengths).max())


def _check_shapes(theirs: Float32, ours: Float32) -> None:
    if theirs.shape != ours.shape:
        raise MragError(f"the export gives numbers of shape {ours.shape} where transformers gives {theirs.shape}")
