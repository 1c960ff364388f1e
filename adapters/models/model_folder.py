"""How a model's folder is to be used: pooling, layers, prefixes, length, prompt, as its files and the options say.

Besides the files that published models have, a folder may hold ``mrag.json``; what it says comes first:

    kind            "encoder", "cross-encoder" or "llm-reranker"
    max_length      tokens that are read of a text
    precision       "float32", "float16" or "int8", of model.onnx
    source          where the model is from;  weights: a hash of its weights, the same for every precision
    encoder         pooling ("mean", "cls", "last", "max"), normalise, metric ("cosine", "dot"), query_prefix,
                    passage_prefix
    cross-encoder   temperature: the scores are sigmoid(logit / temperature)
    llm-reranker    temperature, prompt, separator, query_prefix, passage_prefix, bos_id, yes_id
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from mrag.adapters.models.batching import Padding
from mrag.adapters.models.model_files import ModelFiles, get, get_choice, inside, read_json, read_settings
from mrag.adapters.models.pooling import POOLINGS, Activation, Dense, Pooling
from mrag.adapters.models.safetensors import read_tensors
from mrag.errors import InputError

Kind = Literal["encoder", "cross-encoder", "llm-reranker"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Metric = Literal["cosine", "dot"]
METRICS: tuple[Metric, ...] = get_args(Metric)

_POOLING_MODES: Mapping[str, Pooling] = {"mean": "mean", "cls": "cls", "lasttoken": "last", "max": "max"}
_POOLING_SWITCHES = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "lasttoken",
    "pooling_mode_max_tokens": "max",
}
_ACTIVATIONS: Mapping[str, Activation] = {
    "torch.nn.modules.linear.Identity": "identity",
    "torch.nn.modules.activation.Tanh": "tanh",
    "torch.nn.modules.activation.ReLU": "relu",
    "torch.nn.modules.activation.Sigmoid": "sigmoid",
}
_PASSAGE_PROMPTS = ("document", "passage", "corpus")  # as sentence-transformers looks for them

_USUAL_LENGTH = 512
_LEAST_LENGTH, _MOST_LENGTH = 8, 131_072
_PADS_FIRST = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer")
"""Model types whose positions begin behind the one of the pad."""


@dataclass(frozen=True, slots=True)
class EncoderRecipe:
    """From a text to its vector: what stands before it, how many of its tokens count, and what follows the graph.

    ``pooling`` None: the folder says nothing, so the graph's own sentence vectors are taken, or else the mean.
    ``layers`` come after the pooling, ``normalised`` after them; ``lower`` texts are put into lower case.
    """

    max_length: int
    padding: Padding
    pooling: Pooling | None
    layers: tuple[Dense, ...]
    normalised: bool
    metric: Metric
    query_prefix: str
    passage_prefix: str
    lower: bool


@dataclass(frozen=True, slots=True)
class PairRecipe:
    """From a query and a text to a score, by a cross-encoder."""

    max_length: int
    padding: Padding
    temperature: float


@dataclass(frozen=True, slots=True)
class PromptRecipe:
    """From a query and a text to a score, by a language model.

    The tokens: ``bos_id``, query_prefix query, separator, passage_prefix text, separator, prompt. ``yes_id`` is the
    token whose logit counts, where the graph gives those of the whole vocabulary.
    """

    max_length: int
    padding: Padding
    temperature: float
    prompt: str
    separator: str
    query_prefix: str
    passage_prefix: str
    bos_id: int | None
    yes_id: int | None


def kind_of(files: ModelFiles) -> Kind:
    """What a folder holds, by mrag.json or by the architecture that config.json names."""
    told = get_choice(files.told, "kind", KINDS, files.folder / "mrag.json")
    if told is not None:
        return cast(Kind, told)
    names = get(files.config, "architectures", list, files.folder / "config.json") or []
    if any(str(name).endswith("ForSequenceClassification") for name in names):
        return "cross-encoder"
    return "encoder"


# --- encoders ------------------------------------------------------------------------------------


def encoder_recipe(
    files: ModelFiles,
    *,
    pooling: Pooling | None = None,
    metric: Metric | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
    max_length: int | None = None,
) -> EncoderRecipe:
    """The recipe of an encoder; options that are given stand for what the folder says.

    Without modules.json and without word from mrag.json it is Contriever's way: the dot product of vectors that are
    not normalised. Raises InputError for a folder of another kind and for modules that cannot be applied.
    """
    if (kind := kind_of(files)) != "encoder":
        raise InputError(f"{files.folder}: a {kind}, no encoder: it can be a reranker (--reranker)")
    path, folder = files.folder / "mrag.json", files.folder
    found, layers, normalised = _modules(folder)
    told = cast("Pooling | None", get_choice(files.told, "pooling", POOLINGS, path))
    if (switch := get(files.told, "normalise", bool, path)) is not None:
        normalised = switch
    prefixes = _prefixes(files)
    lower = read_settings(folder / "sentence_bert_config.json").get("do_lower_case")
    return EncoderRecipe(
        _max_length(files, max_length),
        _padding(files),
        pooling or told or found,
        layers,
        normalised,
        metric or _metric(files, normalised),
        prefixes[0] if query_prefix is None else query_prefix,
        prefixes[1] if passage_prefix is None else passage_prefix,
        lower is True,
    )


def _modules(folder: Path) -> tuple[Pooling | None, tuple[Dense, ...], bool]:
    """Pooling, dense layers, and whether vectors are normalised after them, as modules.json has it."""
    path = folder / "modules.json"
    if not path.is_file():
        return None, (), False
    rows = read_json(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: not a list of modules")
    kinds = [(get(row, "type", str, path) or "?").rsplit(".", 1)[-1] for row in rows]
    folders = [_module_folder(folder, row, path) for row in rows]
    unknown = [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Dense", "Normalize", "Dropout")]
    if unknown:
        raise InputError(f"{path}: the module {unknown[0][:60]} cannot be applied: choose another model")
    steps = [(kind, place) for kind, place in zip(kinds, folders, strict=True) if kind != "Dropout"]  # of training
    order = [kind for kind, _ in steps]
    normalised = order[-1:] == ["Normalize"]
    middle = order[2:-1] if normalised else order[2:]
    if order[:2] != ["Transformer", "Pooling"] or set(middle) - {"Dense"}:
        raise InputError(
            f"{path}: modules in the order {', '.join(order)[:200]}; "
            "what can be applied is Transformer, Pooling, any Dense, Normalize"
        )
    if folders[0] != folder:
        raise InputError(
            f"{path}: its Transformer lies in {folders[0].name}: copy that folder's files beside modules.json"
        )
    layers = tuple(_dense(place) for kind, place in steps if kind == "Dense")
    return _pooling(steps[1][1]), layers, normalised


def _module_folder(folder: Path, row: Mapping[str, object], path: Path) -> Path:
    name = get(row, "path", str, path)
    return inside(folder, name, path) if name else folder


def _pooling(folder: Path) -> Pooling:
    path = folder / "config.json"
    if not path.is_file():
        raise InputError(f"{path} is missing, which says how the model pools")
    row = read_settings(path)
    if row.get("include_prompt") is False:
        raise InputError(f"{path}: pooling leaves out the tokens of the prompt, which cannot be done here")
    modes = [key for key, value in row.items() if key.startswith("pooling_mode_") and value]
    if "pooling_mode" in row:
        modes = row["pooling_mode"] if isinstance(row["pooling_mode"], list) else [str(row["pooling_mode"])]
    names = [_POOLING_SWITCHES.get(str(mode), str(mode)) for mode in modes]
    if len(names) != 1 or names[0] not in _POOLING_MODES:
        what = " and ".join(names)[:200] or "nothing"
        raise InputError(f"{path}: pooling by {what}; what can be applied is one of {', '.join(_POOLING_MODES)}")
    return _POOLING_MODES[names[0]]


def _dense(folder: Path) -> Dense:
    path, weights = folder / "config.json", folder / "model.safetensors"
    if not path.is_file() or not weights.is_file():
        raise InputError(
            f"{folder}: a dense layer needs config.json and model.safetensors here; pytorch_model.bin, "
            "a pickle, is not read: mrag export writes what is needed"
        )
    row = read_settings(path)
    for key, usual in (("module_input_name", "sentence_embedding"), ("module_output_name", "sentence_embedding")):
        if row.get(key, usual) not in (usual, None):
            raise InputError(f"{path}: a dense layer with {key} {str(row[key])[:60]!r} cannot be applied")
    if row.get("use_residual"):
        raise InputError(f"{path}: a dense layer with a residual connection cannot be applied")
    name = get(row, "activation_function", str, path) or "torch.nn.modules.activation.Tanh"
    if name not in _ACTIVATIONS:
        raise InputError(f"{path}: activation {name[:60]}; there are {', '.join(_ACTIVATIONS)}")
    tensors = read_tensors(weights)
    weight, bias = tensors.pop("linear.weight", None), tensors.pop("linear.bias", None)
    if weight is None or weight.ndim != 2 or not weight.size or tensors:
        raise InputError(f"{weights}: not the weights of one dense layer (linear.weight and linear.bias)")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise InputError(f"{weights}: {len(weight)} rows of weights and a bias of shape {list(bias.shape)}")
    return Dense(weight, bias, _ACTIVATIONS[name])


def _metric(files: ModelFiles, normalised: bool) -> Metric:
    told = get_choice(files.told, "metric", METRICS, files.folder / "mrag.json")
    if told is not None:
        return cast(Metric, told)
    path = files.folder / "config_sentence_transformers.json"
    named = get(read_settings(path), "similarity_fn_name", str, path)
    if named not in (None, *METRICS) and not normalised:
        raise InputError(f"{path}: vectors compared by {named!r}, which is not known here ({', '.join(METRICS)})")
    if normalised or named == "cosine":
        return "cosine"
    with_modules = (files.folder / "modules.json").is_file()
    return "cosine" if with_modules and named is None else "dot"


def _prefixes(files: ModelFiles) -> tuple[str, str]:
    """What stands before a query and before a passage: mrag.json, or sentence-transformers' prompts."""
    path = files.folder / "mrag.json"
    told = [get(files.told, key, str, path) for key in ("query_prefix", "passage_prefix")]
    path = files.folder / "config_sentence_transformers.json"
    prompts = get(read_settings(path), "prompts", dict, path) or {}
    found = [get(prompts, key, str, path) or "" for key in ("query", *_PASSAGE_PROMPTS)]
    query, passage = found[0], next(filter(None, found[1:]), "")
    return query if told[0] is None else told[0], passage if told[1] is None else told[1]


# --- rerankers -----------------------------------------------------------------------------------


def scorer_recipe(
    files: ModelFiles, *, max_length: int | None = None, temperature: float | None = None
) -> PairRecipe | PromptRecipe:
    """The recipe of a reranker; options that are given stand for what the folder says.

    Raises InputError for a folder of another kind, and for a language model without the prompt it was trained with.
    """
    kind, path = kind_of(files), files.folder / "mrag.json"
    if kind == "encoder":
        raise InputError(f"{files.folder}: an encoder, no reranker: use it with --encoder")
    if temperature is None:
        temperature = get(files.told, "temperature", float, path)
    if temperature is None:
        temperature = 1.0
    if not (math.isfinite(temperature) and temperature > 0):
        raise InputError(f"{files.folder}: a temperature of {temperature:g}; it must be above 0")
    if kind == "cross-encoder":
        return PairRecipe(_max_length(files, max_length), _padding(files), temperature)
    prompt = get(files.told, "prompt", str, path)
    if prompt is None:
        raise InputError(f'{path}: no "prompt", which this language model was trained with: mrag export writes it')
    separator, query, passage = (
        get(files.told, key, str, path) or "" for key in ("separator", "query_prefix", "passage_prefix")
    )
    bos_id, yes_id = (_token_id(files, key) for key in ("bos_id", "yes_id"))
    return PromptRecipe(
        _max_length(files, max_length),
        _padding(files, "left"),
        temperature,
        prompt,
        separator,
        query,
        passage,
        bos_id,
        yes_id,
    )


def _token_id(files: ModelFiles, key: str) -> int | None:
    path = files.folder / "mrag.json"
    value = get(files.told, key, int, path)
    if value is not None and not 0 <= value < 2**31:
        raise InputError(f'{path}: "{key}" is {value}, which is no token')
    return value


# --- both ----------------------------------------------------------------------------------------


def _max_length(files: ModelFiles, wanted: int | None) -> int:
    """Tokens that are read of a text: an option's, mrag.json's, sentence-transformers', the tokeniser's, within what
    the model has positions for. InputError for an option beyond that."""
    places = _positions(files)
    if wanted is not None:
        if not _LEAST_LENGTH <= wanted <= places:
            raise InputError(
                f"{files.folder}: max_length {wanted}; this model can read {_LEAST_LENGTH} to {places:,} tokens"
            )
        return wanted
    told = get(files.told, "max_length", int, files.folder / "mrag.json")
    path = files.folder / "sentence_bert_config.json"
    told = told or get(read_settings(path), "max_seq_length", int, path)
    length = told or min(_tokenizer_length(files), _USUAL_LENGTH)
    if length < _LEAST_LENGTH:
        raise InputError(f"{files.folder}: a maximum length of {length} tokens: give another one (max_length)")
    return min(length, places)


def _tokenizer_length(files: ModelFiles) -> int:
    value = read_settings(files.folder / "tokenizer_config.json").get("model_max_length")
    # 1e30 stands for "no limit", as an int or a float
    return int(value) if isinstance(value, int | float) and 0 < value < _MOST_LENGTH else _MOST_LENGTH


def _positions(files: ModelFiles) -> int:
    path = files.folder / "config.json"
    places = get(files.config, "max_position_embeddings", int, path)
    if places is None or places <= 0:  # relative positions
        return _MOST_LENGTH
    if get(files.config, "model_type", str, path) in _PADS_FIRST:
        places -= 1 + (get(files.config, "pad_token_id", int, path) or 0)
    return min(places, _MOST_LENGTH)


def _padding(files: ModelFiles, usual: Literal["left", "right"] = "right") -> Padding:
    """The pad of config.json, on the side that tokenizer_config.json names."""
    path = files.folder / "tokenizer_config.json"
    left = (get_choice(read_settings(path), "padding_side", ("left", "right"), path) or usual) == "left"
    pad = get(files.config, "pad_token_id", int, files.folder / "config.json")
    return Padding(pad if pad is not None and pad >= 0 else 0, left)
