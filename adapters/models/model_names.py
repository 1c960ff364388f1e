"""Names of models: the short ones with what each needs, and how NAME[@REVISION][:PRECISION] is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast, get_args

from mrag.errors import InputError

Precision = Literal["float32", "float16", "int8"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

ExportKind = Literal["encoder", "cross-encoder", "gemma-reranker", "gemma-encoder"]


@dataclass(frozen=True, slots=True)
class Model:
    """A model with a short name: where it is published, and what its own files do not say.

    ``export`` is None for a model whose repository holds ONNX files, else the kind for ``mrag export``. The prefixes
    go before a query and before a passage; they are those of the model's own description.
    """

    name: str
    repo: str
    kind: Literal["encoder", "reranker"]
    about: str
    query_prefix: str = ""
    passage_prefix: str = ""
    export: ExportKind | None = None


_BGE_QUERY = "Represent this sentence for searching relevant passages: "

MODELS: tuple[Model, ...] = (
    Model("minilm", "sentence-transformers/all-MiniLM-L6-v2", "encoder", "small and quick, the usual choice; 90 MB"),
    Model("bge-small", "BAAI/bge-small-en-v1.5", "encoder", "small, trained for search; 130 MB", _BGE_QUERY),
    Model("e5-small", "intfloat/e5-small-v2", "encoder", "small, trained for search; 130 MB", "query: ", "passage: "),
    Model("contriever", "facebook/contriever", "encoder", "the paper's dense retriever; 440 MB", export="encoder"),
    Model(
        "embeddinggemma",
        "google/embeddinggemma-300m",
        "encoder",
        "multilingual, its terms are to be accepted; 1.2 GB",
        "task: search result | query: ",
        "title: none | text: ",
        export="gemma-encoder",
    ),
    Model("ms-marco-minilm", "cross-encoder/ms-marco-MiniLM-L6-v2", "reranker", "small and quick; 90 MB"),
    Model("bge-reranker", "BAAI/bge-reranker-base", "reranker", "better and slower; 1.1 GB"),
    Model(
        "gemma-reranker",
        "BAAI/bge-reranker-v2-gemma",
        "reranker",
        "the best and slowest, for a GPU; 5 GB as float16",
        export="gemma-reranker",
    ),
)

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""The full name of a commit."""

_OWNER_AND_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}")
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model as a user names it; ``revision`` None: the one that was pulled last, or the repository's main one."""

    repo: str
    revision: str | None = None
    precision: Precision = "float32"
    model: Model | None = None

    def __str__(self) -> str:
        """The name as it is typed; the short one where there is one."""
        revision = f"@{self.revision}" if self.revision else ""
        precision = "" if self.precision == "float32" else f":{self.precision}"
        return f"{self.model.name if self.model else self.repo}{revision}{precision}"


def read_name(text: str) -> Wanted:
    """The model that a name stands for; InputError, with what a name can be, for anything else.

    >>> read_name("minilm").repo, read_name("BAAI/bge-small-en-v1.5@c0ffee:int8").precision
    ('sentence-transformers/all-MiniLM-L6-v2', 'int8')
    """
    rest, colon, precision = text.partition(":")
    if colon and precision not in PRECISIONS:
        raise InputError(f"{text!r}: {precision!r} is no precision: write {rest}:float16 or {rest}:int8")
    name, at, revision = rest.partition("@")
    if at:
        check_revision(revision)
    model = known(name)
    if model is None:
        _check_repository(name)
    repo = model.repo if model else name
    return Wanted(repo, revision or None, cast(Precision, precision or "float32"), model)


def known(name: str) -> Model | None:
    """The model of the table with this short name or in this repository, None for another one."""
    return next((model for model in MODELS if name in (model.name, model.repo)), None)


def check_revision(text: str) -> None:
    """InputError for a text that can be no branch, tag or commit of a repository."""
    if not _REVISION.fullmatch(text) or ".." in text:
        raise InputError(f"{text!r} is no revision: write a branch, a tag or the 40 characters of a commit")


def _check_repository(name: str) -> None:
    if not _OWNER_AND_NAME.fullmatch(name) or ".." in name or "--" in name:
        names = ", ".join(model.name for model in MODELS)
        raise InputError(f"{name!r} is no model: write the OWNER/NAME of a repository, or one of {names}")
