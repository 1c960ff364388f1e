"""A model as it is published: where its files lie, its config.json, and what cannot be exported, refused by name."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mrag.adapters.models.model_names import ExportKind, read_name
from mrag.errors import InputError

GEMMAS = ("gemma", "gemma2", "gemma3_text")
"""The model types, as config.json has them, of the kinds gemma-reranker and gemma-encoder."""

_HEADS: dict[ExportKind, str] = {
    "cross-encoder": "ForSequenceClassification",
    "gemma-reranker": "ForCausalLM",
}
"""How the architecture of a kind ends; a model without that head would get one of random numbers."""

_MODULES = "[0-9]_*"  # sentence-transformers' folders, e.g. 2_Dense
_WEIGHTS, _OLD_WEIGHTS = "*.safetensors", "pytorch_model*.bin"
_SETTINGS = ("*.json", "*.txt", "*.model", "*.md", "LICENSE*")
_WEIGHT_FILES = (_WEIGHTS, f"{_MODULES}/{_OLD_WEIGHTS}")
_NOT_FETCHED = ("onnx/*", "openvino/*", "original/*", "*gguf*")
_BLOCK = 2**24


@dataclass(frozen=True, slots=True)
class Source:
    """A published model on disk: its name as the user gave it, its folder, and what its config.json holds."""

    name: str
    folder: Path
    config: dict[str, Any]

    @property
    def type(self) -> str:
        """The architecture, e.g. ``bert``."""
        return str(self.config.get("model_type", "unknown"))


def open_source(name: str, kind: ExportKind, *, revision: str | None = None, called: str | None = None) -> Source:
    """The model in the folder NAME, or else in the repository NAME as Hugging Face's own client fetches and keeps it
    (HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are heeded); its weights come only when its config.json has been accepted.

    ``called`` is its name in messages, by default NAME. Raises InputError for what is not there or cannot be exported.
    """
    if Path(name).is_dir():
        return read_source(called or name, Path(name), kind)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise InputError(f"{name}: no such folder")
    wanted = read_name(name)
    folder = _fetch(wanted.repo, revision or wanted.revision, _SETTINGS)
    source = read_source(called or wanted.repo, folder, kind)
    _fetch(wanted.repo, folder.name, _WEIGHT_FILES)  # that folder is named by its commit
    if not any(folder.glob(_WEIGHTS)):
        _fetch(wanted.repo, folder.name, (_OLD_WEIGHTS,))
    return source


def _fetch(repo: str, revision: str | None, patterns: tuple[str, ...]) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        found = snapshot_download(
            repo, revision=revision, allow_patterns=list(patterns), ignore_patterns=list(_NOT_FETCHED)
        )
    except Exception as error:  # the client's errors come from three libraries
        raise InputError(f"{repo} is no folder here and cannot be fetched: {first_line(error)}") from error
    return Path(found)


def first_line(error: BaseException) -> str:
    """What an error of another library says, without the pages that may follow.

    >>> first_line(ValueError("no such thing\\nhere is what to do")), first_line(KeyError())
    ('no such thing', 'KeyError')
    """
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def read_source(name: str, folder: Path, kind: ExportKind) -> Source:
    """The model in a folder; InputError for what is no model, needs its own code, or is not of this kind."""
    source = Source(name, folder, read_json(folder / "config.json"))
    _refuse_own_code(source)
    _refuse_other_kind(source, kind)
    _refuse_other_head(source, kind)
    return source


def read_json(path: Path) -> dict[str, Any]:
    """What a JSON file of a model says; InputError for a missing or damaged one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path.parent} holds no {path.name}: it is no folder of a model") from None
    except ValueError as error:
        raise InputError(f"{path}: no JSON ({error})") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: no JSON object")
    return found


def weight_files(folder: Path) -> list[Path]:
    """The files that hold a model's weights, its own and those of its modules: the safe ones where there are some."""
    found = []
    for part in (folder, *sorted(folder.glob(_MODULES))):
        found += sorted(part.glob(_WEIGHTS)) or sorted(part.glob(_OLD_WEIGHTS))
    return found


def weights_hash(folder: Path) -> str:
    """The SHA-256 over the names and bytes of all weight files: the same for every precision of one model."""
    total = hashlib.sha256()
    for path in weight_files(folder):
        total.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                total.update(block)
    return total.hexdigest()


def _refuse_own_code(source: Source) -> None:
    if "auto_map" in source.config:
        raise InputError(
            f"{source.name} runs only with Python code of its own (auto_map in its config.json), which mrag never "
            "executes: serve it with a program that does, and reach it over HTTP (the HTTP adapter, mrag.adapters.llm)"
        )


def _refuse_other_kind(source: Source, kind: ExportKind) -> None:
    if source.config.get("is_encoder_decoder"):
        raise InputError(f"{source.name} is an encoder-decoder ({source.type}), which mrag export does not know")
    gemma, asked = source.type in GEMMAS, kind.startswith("gemma")
    if asked and not gemma:
        other = "encoder" if kind == "gemma-encoder" else "cross-encoder"
        raise InputError(f"{source.name} is of type {source.type}, no Gemma: use mrag export {other}")
    if gemma and not asked:
        other = "gemma-encoder" if kind == "encoder" else "gemma-reranker"
        raise InputError(f"{source.name} is a Gemma: use mrag export {other}")


def _refuse_other_head(source: Source, kind: ExportKind) -> None:
    head = _HEADS.get(kind)
    names = [str(name) for name in source.config.get("architectures") or ["unknown"]]
    if head and not any(name.endswith(head) for name in names):
        raise InputError(f"{source.name} is a {names[0]}: a {kind} is a …{head}")
    labels = len(source.config.get("id2label") or ("no", "yes"))  # transformers' default is two
    if kind == "cross-encoder" and labels != 1:
        raise InputError(f"{source.name} gives {labels} labels for a pair: a reranker gives one score")
