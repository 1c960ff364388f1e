"""What transformers itself says: its tokenisation and its model, text in, vector or logit out. The exports' judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from mrag.adapters.models.model_names import ExportKind
from mrag.columns import Float32
from mrag.errors import InputError
from mrag.export.recipe import Dense, Recipe
from mrag.export.sources import Source, first_line

_AUTO: dict[ExportKind, str] = {
    "encoder": "AutoModel",
    "gemma-encoder": "AutoModel",
    "cross-encoder": "AutoModelForSequenceClassification",
    "gemma-reranker": "AutoModelForCausalLM",
}
_BATCH = 8


@dataclass(frozen=True, slots=True)
class Loaded:
    """A published model as transformers has it, in float32."""

    model: Any
    tokenizer: Any


@contextmanager
def quiet() -> Iterator[None]:
    """transformers without its bars and its advice, which would come between the lines that the user asked for."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def load(source: Source, kind: ExportKind) -> Loaded:
    """The model and the tokeniser; InputError where transformers cannot load them or weights are missing."""
    options = {"trust_remote_code": False, "local_files_only": True}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source.folder, **options)
        model, found = getattr(transformers, _AUTO[kind]).from_pretrained(
            source.folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True, **options
        )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        raise InputError(f"transformers cannot load {source.name}: {first_line(error)}") from error
    missing = sorted(key for key in found["missing_keys"] if "pooler" not in key)  # poolers are not used
    if missing:
        raise InputError(f"{source.name} lacks weights of a {kind}: {', '.join(missing[:3])}")
    if not tokenizer.is_fast:
        raise InputError(f"the tokeniser of {source.name} has no tokenizer.json form, which the run time needs")
    return Loaded(model.eval(), tokenizer)


def yes_id(tokenizer: Any) -> int:
    """The token whose logit is the score of the gemma-reranker: the first one of "Yes"."""
    return int(tokenizer("Yes", add_special_tokens=False)["input_ids"][0])


def vectors(loaded: Loaded, recipe: Recipe, folder: Path, prefix: str, texts: Sequence[str]) -> Float32:
    """float32[n, d]: the vectors of texts, each after the prefix; ``folder`` holds the dense layers."""
    layers = [_read_dense(folder, dense) for dense in recipe.dense]

    def encode(batch: Sequence[str]) -> Any:
        whole = [prefix + text for text in batch]
        inputs = _tokenised(loaded, [text.lower() for text in whole] if recipe.lower else whole, recipe.max_length)
        hidden = loaded.model(**inputs).last_hidden_state
        pooled = _pooled(hidden, inputs["attention_mask"], recipe)
        for weight, bias, activation in layers:
            pooled = activation(torch.nn.functional.linear(pooled, weight, bias))
        return torch.nn.functional.normalize(pooled, dim=1) if recipe.normalise else pooled

    return _in_batches(encode, texts)


def logits(loaded: Loaded, recipe: Recipe, query: str, texts: Sequence[str]) -> Float32:
    """float32[n]: what a reranker says of each text beside the query, before any squashing."""

    def score(batch: Sequence[str]) -> Any:
        if recipe.kind == "cross-encoder":
            pairs = _tokenised(loaded, [query] * len(batch), recipe.max_length, list(batch))
            return loaded.model(**pairs).logits[:, 0]
        prompts = _prompts(loaded.tokenizer, recipe, query, batch)
        return loaded.model(**prompts, use_cache=False, logits_to_keep=1).logits[:, -1, yes_id(loaded.tokenizer)]

    return _in_batches(score, texts)


def _tokenised(loaded: Loaded, texts: list[str], max_length: int, second: list[str] | None = None) -> Any:
    return loaded.tokenizer(texts, second, padding=True, truncation=True, max_length=max_length, return_tensors="pt")


def _prompts(tokenizer: Any, recipe: Recipe, query: str, texts: Sequence[str]) -> Any:
    """Pairs as bge-reranker-v2-gemma's own code writes them: the passage is cut, never the question's end."""

    def ids(text: str, most: int | None = None) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"][:most])

    start = [tokenizer.bos_token_id, *ids(recipe.query_prefix + query, recipe.max_length * 3 // 4)]
    room = recipe.max_length - len(start)
    end = ids(recipe.separator) + ids(recipe.prompt)
    pairs = [start + (ids(recipe.separator) + ids(recipe.passage_prefix + text))[:room] + end for text in texts]
    return tokenizer.pad({"input_ids": pairs}, padding_side="left", return_tensors="pt")


def _pooled(hidden: Any, mask: Any, recipe: Recipe) -> Any:
    rows = torch.arange(len(hidden))
    if recipe.pooling == "cls":
        return hidden[rows, mask.argmax(dim=1)]
    if recipe.pooling == "last":
        return hidden[rows, (mask * torch.arange(mask.shape[1])).argmax(dim=1)]
    if recipe.pooling == "max":
        return hidden.masked_fill(mask.unsqueeze(-1) == 0, -torch.inf).max(dim=1).values
    kept = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * kept).sum(dim=1) / kept.sum(dim=1).clamp(min=1e-9)


def _read_dense(folder: Path, dense: Dense) -> tuple[Any, Any, Any]:
    tensors = read_weights(folder / dense.folder)
    activation = getattr(torch.nn, dense.activation.rsplit(".", 1)[-1])
    return tensors["linear.weight"], tensors.get("linear.bias"), activation()


def read_weights(folder: Path) -> dict[str, Any]:
    """The tensors of a module such as ``2_Dense``, in float32; InputError where there are none."""
    from safetensors.torch import load_file

    if (folder / "model.safetensors").is_file():
        found = load_file(folder / "model.safetensors")
    elif (folder / "pytorch_model.bin").is_file():
        found = torch.load(folder / "pytorch_model.bin", weights_only=True)
    else:
        raise InputError(f"{folder} holds no weights")
    return {name: tensor.float() for name, tensor in found.items()}


def _in_batches(answer: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> Float32:
    with torch.no_grad():
        rows = [answer(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
    return np.asarray(torch.cat(rows).numpy(), dtype=np.float32)
