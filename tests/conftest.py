"""What several suites share: an encoder that needs no model, so that vectors can be tested anywhere."""

import zlib
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pytest

PROJECTION = np.random.default_rng(7).standard_normal((997, 32)).astype(np.float32)


class ToyEncoder:
    """A text's character trigrams through a fixed random projection: texts that share words lie near each other.

    ``precision`` is that of an encoder's numbers: one family, other last bits. ``seen`` are the texts it was given.
    """

    def __init__(
        self,
        name: str = "toy",
        metric: Literal["cosine", "dot"] = "cosine",
        precision: str = "fp32",
        fails_after: int = -1,
    ) -> None:
        self.name, self.metric, self.precision = name, metric, precision
        self.dimension = PROJECTION.shape[1]
        self.family_fingerprint = f"{zlib.crc32(f'{name} {metric}'.encode()):08x}"
        self.fingerprint = f"{self.family_fingerprint}-{precision}"
        self.fails_after = fails_after
        self.seen: list[str] = []

    def __call__(self, texts: Sequence[str], *, role: Literal["query", "passage"] = "passage") -> np.ndarray:
        if 0 <= self.fails_after < len(self.seen) + len(texts):
            raise KeyboardInterrupt
        self.seen += texts
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for at, text in enumerate(texts):
            codes = [ord(char) for char in f" {text.lower()} "]
            grams = [(a * 31 * 31 + b * 31 + c) % 997 for a, b, c in zip(codes, codes[1:], codes[2:], strict=False)]
            out[at] = PROJECTION[grams].sum(axis=0)
        return out if self.precision == "fp32" else out.astype(np.float16).astype(np.float32)


@pytest.fixture(scope="session")
def toy() -> Callable[..., ToyEncoder]:
    """Makes a ToyEncoder."""
    return ToyEncoder
