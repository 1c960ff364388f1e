"""The files of a model's folder: the graph, its weights beside it, the tokeniser, and JSON files read with distrust."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar, cast

from mrag.adapters.models.model_names import PRECISIONS, Precision
from mrag.adapters.models.onnx_external import external_files
from mrag.errors import InputError

Value = TypeVar("Value", str, int, float, bool, list[Any], dict[str, Any])

_GRAPHS: dict[Precision, tuple[str, ...]] = {
    "float32": ("model",),
    "float16": ("model_fp16", "model_float16"),
    "int8": ("model_int8", "model_quantized", "model_quint8_avx2", "model_qint8_avx512_vnni", "model_qint8_arm64"),
}
"""How published folders call the ONNX file of a precision."""

_PLACES = ("", "onnx/")

_MOST_JSON = 2**22
_MOST_TOKENIZER = 2**27  # Gemma's tokenizer.json has 33 MB

_REMOTE_CODE = (
    "needs Python code of its own (auto_map in config.json), which is never run: serve it with a program that does and "
    "reach it over HTTP (the HTTP adapter, mrag.adapters.llm); where an ONNX graph is whole without that code, an "
    'mrag.json with its "kind" beside it says so'
)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What there is: the graph, the files ``beside`` it that hold its weights, the tokeniser, and the settings.

    ``config`` is config.json; ``told`` is mrag.json, empty where there is none.
    """

    folder: Path
    graph: Path
    beside: tuple[Path, ...]
    tokenizer: Path
    config: Mapping[str, object]
    told: Mapping[str, object]

    @property
    def name(self) -> str:
        """What a person calls the model: where it is from, or its folder."""
        return get(self.told, "source", str, self.folder / "mrag.json") or self.folder.resolve().name


def find_files(folder: Path, precision: Precision | None = None) -> ModelFiles:
    """The files of a model; without a precision its float32 graph, or else the only one that is there.

    Raises InputError for what is missing, damaged, or leads out of the folder, and for models that need remote code.
    """
    if not folder.is_dir():
        what = "a file: name the folder that it lies in" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {what}")
    told = read_settings(folder / "mrag.json")
    config = _config(folder)
    if "auto_map" in config and "kind" not in told:
        raise InputError(f"{folder}: this model {_REMOTE_CODE}")
    graph = _graph(folder, precision, told)
    return ModelFiles(folder, graph, _beside(graph), _tokenizer(folder), config, told)


def _config(folder: Path) -> Mapping[str, object]:
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder}: no config.json: this is not the folder of a model")
    return read_settings(folder / "config.json")


def _graph(folder: Path, precision: Precision | None, told: Mapping[str, object]) -> Path:
    found = {
        one: path
        for one in PRECISIONS
        for path in reversed([folder / f"{place}{stem}.onnx" for place in _PLACES for stem in _GRAPHS[one]])
        if path.is_file()
    }
    if "float32" in found and told.get("precision") in PRECISIONS:  # mrag export calls every graph model.onnx
        found = {cast(Precision, told["precision"]): found["float32"]}
    if precision is not None and precision not in found:
        there = f" (there is {', '.join(found)})" if found else ""
        raise InputError(f"{folder}: no ONNX file in {precision}{there}: mrag export makes one")
    wanted = precision or ("float32" if "float32" in found else None)
    if wanted is None and len(found) != 1:
        if found:
            raise InputError(f"{folder}: several ONNX files, {' and '.join(found)}: name the precision")
        raise InputError(f"{folder}: no model.onnx and no onnx/model.onnx: {_how_to_get_graph(folder)}")
    return found[wanted] if wanted else next(iter(found.values()))


def _how_to_get_graph(folder: Path) -> str:
    weights = any((folder / name).is_file() for name in ("model.safetensors", "pytorch_model.bin"))
    return f"make them with mrag export KIND {folder} -o DIR" if weights else "this is not the folder of an ONNX model"


def _beside(graph: Path) -> tuple[Path, ...]:
    found = []
    for location in external_files(graph):
        path = inside(graph.parent, location, graph)
        if not path.is_file():
            raise InputError(f"{graph}: its weights lie in {location!r}, which is missing: copy that file too")
        found.append(path)
    return tuple(found)


def _tokenizer(folder: Path) -> Path:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise InputError(f"{folder}: no tokenizer.json: mrag export writes one; older tokeniser files are not read")
    if path.stat().st_size > _MOST_TOKENIZER:
        raise InputError(f"{path}: {path.stat().st_size:,} bytes, more than any tokeniser has")
    return path


def inside(folder: Path, name: str, said_by: Path) -> Path:
    """The path of a name that a file of a model gives; InputError for one that could lead out of the folder.

    >>> inside(Path("m"), "1_Pooling", Path("m/modules.json")).as_posix()
    'm/1_Pooling'
    """
    parts = name.split("/")
    if not all(parts) or {".", ".."} & set(parts) or any(sign in name for sign in "\\:\0"):
        raise InputError(f"{said_by}: names {name[:100]!r}, which is not a path inside the model's folder: refused")
    return folder / PurePosixPath(name)


# --- settings ------------------------------------------------------------------------------------


def read_settings(path: Path) -> Mapping[str, object]:
    """The JSON object of a file, empty where there is no such file; InputError for anything else."""
    found = read_json(path) if path.is_file() else {}
    if not isinstance(found, dict):
        raise InputError(f"{path}: not a JSON object")
    return found


def read_json(path: Path) -> object:
    """What a JSON file of a model holds; InputError for one that is missing, damaged or too large."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_JSON + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > _MOST_JSON:
        raise InputError(f"{path}: more than {_MOST_JSON:,} bytes, which no such file has")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from None


_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def get(row: Mapping[str, object], key: str, kind: type[Value], path: Path) -> Value | None:
    """The value of a setting, None where it is missing or null; InputError for a value of another kind."""
    value = row.get(key)
    if value is None:
        return None
    if kind is float and type(value) is int and abs(value) < 2**63:
        value = float(value)
    if type(value) is not kind:
        raise InputError(f'{path}: "{key}" is {str(value)[:60]!r}, not {_NAMES[kind]}')
    return value


def get_choice(row: Mapping[str, object], key: str, choices: Sequence[str], path: Path) -> str | None:
    """The value of a setting that is one of some words, None where it is missing; InputError for another word."""
    value = get(row, key, str, path)
    if value is not None and value not in choices:
        raise InputError(f'{path}: "{key}" is {value[:60]!r}; there are {", ".join(choices)}')
    return value
