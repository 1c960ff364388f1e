"""An export from beginning to end: load, write, compare end to end, and only then give the folder its name."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from mrag.adapters.models.model_names import ExportKind, Precision
from mrag.columns import Float32
from mrag.errors import InputError, MragError
from mrag.export import parity, reference
from mrag.export.folder import write_files
from mrag.export.graphs import write_graph
from mrag.export.parity import QUESTIONS, Parity
from mrag.export.precision import write_model
from mrag.export.recipe import AS_PUBLISHED, ENCODERS, Options, Recipe, read_recipe
from mrag.export.sources import Source, open_source

Note = Callable[[str], None]
Answers = tuple[Float32, ...]
"""Of an encoder the vectors of questions and those of passages; of a reranker the logits of each with each."""


def export_model(
    kind: ExportKind,
    source: str,
    output: Path,
    *,
    precision: Precision = "float32",
    options: Options = AS_PUBLISHED,
    revision: str | None = None,
    called: str | None = None,
    note: Note | None = None,
) -> Parity:
    """Makes ``output`` the ONNX folder of a published model and says how close it is to transformers' own numbers.

    ``source`` is a folder or a repository; ``called`` is its name where the folder's would say nothing. Questions and
    passages are given to transformers and to the adapter that will serve the folder; beyond ``parity.BOUNDS`` the
    export is refused with MragError and nothing is left. InputError for a source that cannot be exported and for an
    ``output`` that is taken. ``note`` hears what is being done.
    """
    note = note or _unheard
    _refuse_taken(output)
    published = open_source(source, kind, revision=revision, called=called)
    recipe = read_recipe(published, kind, options)
    with _unfinished(output) as folder:
        theirs = _write(published, recipe, precision, folder, note)
        note("comparing the two, text in, answer out")
        try:
            found = _compare(precision, theirs, _our_answers(recipe, folder))
        except MragError as error:
            raise MragError(f"{published.name} is not exported: {error}") from error
        if not found.kept:
            raise MragError(f"{published.name} is not exported: {found}")
        _name(folder, output)
    return found


def _write(source: Source, recipe: Recipe, precision: Precision, folder: Path, note: Note) -> Answers:
    """Writes the folder and gives transformers' answers; the torch model is gone when it returns."""
    with reference.quiet():
        note(f"loading {source.name}")
        loaded = reference.load(source, recipe.kind)
        note("asking transformers")
        theirs = _their_answers(loaded, source, recipe)
        note("writing the graph")
        write_files(loaded, source, recipe, precision, folder)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as scratch:
            graph = Path(scratch) / "graph.onnx"
            write_graph(loaded, recipe, graph)
            del loaded
            gc.collect()
            write_model(graph, folder, precision)
    return theirs


def _their_answers(loaded: reference.Loaded, source: Source, recipe: Recipe) -> Answers:
    passages = parity.sample(recipe.max_length)
    if recipe.kind in ENCODERS:
        return (
            reference.vectors(loaded, recipe, source.folder, recipe.query_prefix, QUESTIONS),
            reference.vectors(loaded, recipe, source.folder, recipe.passage_prefix, passages),
        )
    return (np.stack([reference.logits(loaded, recipe, question, passages) for question in QUESTIONS]),)


def _our_answers(recipe: Recipe, folder: Path) -> Answers:
    from mrag.adapters.onnx import load_encoder, load_scorer

    passages = parity.sample(recipe.max_length)
    if recipe.kind in ENCODERS:
        encode = load_encoder(folder, provider="cpu")
        return encode(QUESTIONS, role="query"), encode(passages, role="passage")
    scorer = load_scorer(folder, provider="cpu")
    return (np.stack([scorer.logits(question, passages) for question in QUESTIONS]),)


def _compare(precision: Precision, theirs: Answers, ours: Answers) -> Parity:
    if len(theirs) == 1:
        return parity.compare_logits(precision, theirs[0], ours[0])
    return parity.compare_vectors(precision, theirs, ours)


def _refuse_taken(output: Path) -> None:
    if output.exists() and not (output.is_dir() and not any(output.iterdir())):
        raise InputError(f"{output} is there already: name another folder, or remove it")


@contextmanager
def _unfinished(output: Path) -> Iterator[Path]:
    """A folder beside ``output`` that is gone at the end, whatever happens, unless it has got its name."""
    output.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _name(folder: Path, output: Path) -> None:
    """Gives a whole folder its name, readable for whom the user's umask lets read."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)
    for path in folder.rglob("*"):  # onnx writes weights for its user alone
        path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)
    if output.is_dir():  # an empty one
        output.rmdir()
    folder.rename(output)


def _unheard(text: str) -> None:
    """Where nobody listens."""
