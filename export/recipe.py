"""How a model's texts become its inputs and its output a vector or a score: read from its files and from options."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, cast, get_args

from mrag.adapters.models.model_names import ExportKind, known
from mrag.errors import InputError
from mrag.export.sources import Source, read_json

Pooling = Literal["mean", "cls", "last", "max"]
Metric = Literal["cosine", "dot"]

ENCODERS: tuple[ExportKind, ...] = ("encoder", "gemma-encoder")

POOLINGS: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
    "pooling_mode_max_tokens": "max",
    "mean": "mean",
    "cls": "cls",
    "lasttoken": "last",
    "max": "max",
}
"""A switch, or in newer files the word, in sentence-transformers' 1_Pooling/config.json -> pooling."""

ACTIVATIONS = (
    "torch.nn.modules.linear.Identity",
    "torch.nn.modules.activation.Tanh",
    "torch.nn.modules.activation.ReLU",
    "torch.nn.modules.activation.Sigmoid",
)
"""What may follow a dense layer, as its config.json names it."""

RERANKER_PROMPT = (
    "Given a query A and a passage B, determine whether the passage contains an answer to the query by providing a "
    "prediction of either 'Yes' or 'No'."
)
"""The instruction that bge-reranker-v2-gemma was trained with."""

_MOST_TOKENS = 512  # where the files name no length: a sentence or a passage is shorter, and time grows with its square
_RERANKER_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class Dense:
    """A linear layer after the pooling: its folder, e.g. ``2_Dense``, and what follows it."""

    folder: str
    activation: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that is between a text and a model's answer, except the tokeniser and the weights.

    Encoders use pooling, dense, normalise, metric and lower (texts in lower case); rerankers the temperature that
    their logits are divided by, the gemma-reranker prompt and separator. The prefixes go before a query and before a
    passage.
    """

    kind: ExportKind
    max_length: int
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: Pooling = "mean"
    dense: tuple[Dense, ...] = ()
    normalise: bool = False
    metric: Metric = "cosine"
    lower: bool = False
    temperature: float = 1.0
    prompt: str = ""
    separator: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """What a user says about a model that its files do not say, or say otherwise; None: as the files have it."""

    max_length: int | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    pooling: Pooling | None = None
    metric: Metric | None = None
    temperature: float | None = None
    prompt: str | None = None

    def given(self) -> dict[str, Any]:
        """The options that say something."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) is not None}


AS_PUBLISHED = Options()

_ALLOWED: dict[ExportKind, frozenset[str]] = {
    **{kind: frozenset({"max_length", "query_prefix", "passage_prefix", "pooling", "metric"}) for kind in ENCODERS},
    "cross-encoder": frozenset({"max_length", "temperature"}),
    "gemma-reranker": frozenset({"max_length", "query_prefix", "passage_prefix", "temperature", "prompt"}),
}


def read_recipe(source: Source, kind: ExportKind, options: Options) -> Recipe:
    """The recipe of a model; InputError for a module that cannot be carried over, and for an option that this kind
    has no use for."""
    given = options.given()
    if stray := sorted(given.keys() - _ALLOWED[kind]):
        raise InputError(f"a {kind} has no {' and no '.join(stray)}")
    found: dict[str, Any] = {"max_length": _length(source)}
    if kind in ENCODERS:
        found.update(_modules(source), **_prefixes(source))
    elif kind == "gemma-reranker":
        found.update(max_length=_RERANKER_TOKENS, query_prefix="A: ", passage_prefix="B: ", separator="\n")
        found.update(prompt=RERANKER_PROMPT)
    return Recipe(kind, **{**found, **given})


def _length(source: Source) -> int:
    """sentence-transformers' own length, or else the tokeniser's and the model's, within what passages need."""
    if length := _settings(source, "sentence_bert_config.json").get("max_seq_length"):
        return int(length)
    told = _settings(source, "tokenizer_config.json").get("model_max_length")
    places = source.config.get("max_position_embeddings", _MOST_TOKENS)
    if source.type in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        places -= 2  # their positions begin after the pad's
    return int(min(told or _MOST_TOKENS, places, _MOST_TOKENS))


def _prefixes(source: Source) -> dict[str, str]:
    """Before a query and a passage: as sentence-transformers' file has them, or as the model's description does."""
    prompts = _settings(source, "config_sentence_transformers.json").get("prompts") or {}
    model = known(source.name)
    passage = next(filter(None, (prompts.get(name) for name in ("document", "passage", "corpus"))), "")
    return {
        "query_prefix": prompts.get("query") or (model.query_prefix if model else ""),
        "passage_prefix": passage or (model.passage_prefix if model else ""),
    }


def _modules(source: Source) -> dict[str, Any]:
    """What comes after the hidden states. Without modules.json it is Contriever's way: mean pooling, a plain dot."""
    path = source.folder / "modules.json"
    if not path.is_file():
        return {"pooling": "mean", "normalise": False, "metric": "dot"}
    modules = [(str(row.get("type", "")).rsplit(".", 1)[-1], str(row.get("path", ""))) for row in _read_list(path)]
    kinds = [kind for kind, _ in modules]
    layers = kinds[2:-1] if kinds[-1:] == ["Normalize"] else kinds[2:]
    if kinds[:2] != ["Transformer", "Pooling"] or set(layers) - {"Dense"}:
        raise InputError(
            f"{path}: the modules [{', '.join(kinds)}]; mrag can carry over Transformer, Pooling, any Dense, Normalize"
        )
    normalise = kinds[-1] == "Normalize"
    return {
        "pooling": _pooling(source.folder / modules[1][1] / "config.json"),
        "dense": tuple(
            Dense(folder, _activation(source.folder / folder / "config.json"))
            for kind, folder in modules
            if kind == "Dense"
        ),
        "normalise": normalise,
        "metric": _metric(source, normalise),
        "lower": _settings(source, "sentence_bert_config.json").get("do_lower_case") is True,
    }


def _metric(source: Source, normalised: bool) -> Metric:
    told = _settings(source, "config_sentence_transformers.json").get("similarity_fn_name")
    if normalised or told is None:
        return "cosine"
    if told not in get_args(Metric):
        raise InputError(f"{source.name}: vectors are compared by {told!r}, which mrag does not know (cosine, dot)")
    return cast(Metric, told)


def _pooling(path: Path) -> Pooling:
    settings = read_json(path)
    if settings.get("include_prompt") is False:
        raise InputError(f"{path}: the pooling leaves out the prompt's tokens, which mrag cannot do")
    on = [key for key, value in settings.items() if key.startswith("pooling_mode_") and value]
    on = on or [str(settings.get("pooling_mode", "nothing"))]
    if len(on) != 1 or on[0] not in POOLINGS:
        raise InputError(f"{path}: pooling by {' and '.join(on)}; mrag knows mean, cls, last token and max")
    return POOLINGS[on[0]]


def _activation(path: Path) -> str:
    name = str(read_json(path).get("activation_function", "torch.nn.modules.activation.Tanh"))
    if name not in ACTIVATIONS:
        raise InputError(f"{path}: activation {name}; mrag knows {', '.join(ACTIVATIONS)}")
    return name


def _settings(source: Source, name: str) -> dict[str, Any]:
    path = source.folder / name
    return read_json(path) if path.is_file() else {}


def _read_list(path: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: no JSON ({error})") from None
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise InputError(f"{path}: no list of modules")
    return found
