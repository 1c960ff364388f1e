"""The models that a command works with: their options, loading them, and saying where they run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from mrag.cli import output as show

if TYPE_CHECKING:
    from mrag.adapters.index.encoding import StoredEncoder
    from mrag.adapters.index.retrievers import RetrieverName
    from mrag.strategies import Scorer

Command = TypeVar("Command", bound=Callable[..., Any])
Provider = Literal["auto", "cpu", "cuda"]


@dataclass(frozen=True, slots=True)
class Models:
    """What a search is to use: a first stage, an encoder and a reranker, each by its folder, its name or (behind a
    server) its URL#MODEL, None for none.

    ``threads``: processor threads of each model, None for as many as there are cores.
    """

    retriever: RetrieverName | None = None
    encoder: str | None = None
    reranker: str | None = None
    provider: Provider = "auto"
    threads: int | None = None


NO_MODELS = Models()


Tell = Callable[[str], None]
"""Hears where a model runs and what had to be assumed."""


def load_encoder(models: Models, tell: Tell | None = None) -> StoredEncoder | None:
    """The encoder, here or behind a server (URL#MODEL); None where none is named."""
    name = models.encoder
    if name is None:
        return None
    from mrag.adapters import onnx, remote_models
    from mrag.adapters.models.model_cache import resolve

    if remote_models.is_remote(name):
        return remote_models.load_encoder(name)
    tell = _of("encoder", name, tell)
    return onnx.load_encoder(resolve(name), provider=models.provider, threads=models.threads, tell=tell)


def load_reranker(models: Models, tell: Tell | None = None) -> Scorer | None:
    """The reranker, here or behind a server (URL#MODEL); None where none is named."""
    name = models.reranker
    if name is None:
        return None
    from mrag.adapters import onnx, remote_models
    from mrag.adapters.models.model_cache import resolve

    if remote_models.is_remote(name):
        return remote_models.load_scorer(name)
    tell = _of("reranker", name, tell)
    return onnx.load_scorer(resolve(name), provider=models.provider, threads=models.threads, tell=tell)


def _of(what: str, name: str, tell: Tell | None) -> Tell | None:
    """``tell`` with the name of the model before all that is told."""
    return None if tell is None else lambda text: tell(f"{what} {name}: {text}")


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Says once, as a note, what the library warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                show.note(f"note: {message}")


def encoder_option(command: Command) -> Command:
    """The option --encoder."""
    help_text = "The encoder of the index's vectors: its folder, a name of `mrag models list`, or a server's URL#MODEL."
    return click.option("--encoder", metavar="MODEL", help=help_text)(command)


def provider_option(command: Command) -> Command:
    """The option --provider."""
    return click.option(
        "--provider",
        type=click.Choice(["auto", "cpu", "cuda"]),
        default="auto",
        show_default=True,
        help="Where models run; auto takes CUDA where it really can.",
    )(command)
