"""A loaded model as an ONNX graph: what each kind computes, and how it is traced."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import torch

from mrag.errors import MragError
from mrag.export.recipe import Recipe
from mrag.export.reference import Loaded, yes_id
from mrag.export.sources import first_line

_OPSET = 17
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_SAMPLE = ("Who ran the mill in 1931?", "The mill burnt down.")  # of unequal length, so that one is padded


class _Graph(torch.nn.Module):
    """What is traced; ``inputs`` names its arguments, ``output`` what it gives."""

    output = "last_hidden_state"

    def __init__(self, loaded: Loaded) -> None:
        super().__init__()
        self.model = loaded.model
        takes = inspect.signature(loaded.model.forward).parameters
        self.inputs = [name for name in _INPUTS if name in loaded.tokenizer.model_input_names and name in takes]


class _HiddenStates(_Graph):
    """An encoder: float32[batch, sequence, hidden]; pooling is the run time's."""

    def forward(self, *inputs: Any) -> Any:
        return self.model(**dict(zip(self.inputs, inputs, strict=True))).last_hidden_state


class _GemmaStates(_Graph):
    """A Gemma as an encoder. Where it looks both ways, its two masks are made here: transformers builds them with
    torch.vmap, which the tracer does not know."""

    def forward(self, *inputs: Any) -> Any:
        ids, mask = inputs
        if getattr(self.model.config, "use_bidirectional_attention", False):
            mask = self._masks(mask)
        return self.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state

    def _masks(self, mask: Any) -> dict[str, Any]:
        places = torch.arange(mask.shape[1])
        near = (places[:, None] - places[None, :]).abs() < self.model.config.sliding_window
        real = mask[:, None, None, :].bool()
        lowest = torch.finfo(torch.float32).min
        kinds = {"full_attention": real & torch.ones_like(near), "sliding_attention": real & near}
        return {kind: torch.where(allowed, 0.0, lowest) for kind, allowed in kinds.items()}


class _PairLogit(_Graph):
    """A cross-encoder: float32[batch, 1]."""

    output = "logits"

    def forward(self, *inputs: Any) -> Any:
        return self.model(**dict(zip(self.inputs, inputs, strict=True))).logits


class _YesLogit(_Graph):
    """The logit of "Yes" after the last real token, on whichever side the batch is padded: float32[batch, 1].

    Only one row of the vocabulary's matrix is multiplied: the whole of it would be stored a second time.
    """

    output = "logits"

    def __init__(self, loaded: Loaded) -> None:
        super().__init__(loaded)
        weight = loaded.model.get_output_embeddings().weight[yes_id(loaded.tokenizer)]
        self.yes = torch.nn.Parameter(weight.detach().clone()[:, None], requires_grad=False)
        self.cap = getattr(loaded.model.config, "final_logit_softcapping", None)

    def forward(self, *inputs: Any) -> Any:
        ids, mask = inputs
        hidden = self.model.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        last = (mask * torch.arange(mask.shape[1])).argmax(dim=1)
        logits = hidden[torch.arange(hidden.shape[0]), last] @ self.yes
        return torch.tanh(logits / self.cap) * self.cap if self.cap else logits


_GRAPHS = {
    "encoder": _HiddenStates,
    "gemma-encoder": _GemmaStates,
    "cross-encoder": _PairLogit,
    "gemma-reranker": _YesLogit,
}


def write_graph(loaded: Loaded, recipe: Recipe, path: Path) -> None:
    """Traces the model into an ONNX file, beyond 2 GB with its weights in files beside it.

    The older exporter is used: it takes seconds where the newer one takes minutes, and the graph is compared anyway.
    Raises MragError for a model that cannot be traced.
    """
    graph = _GRAPHS[recipe.kind](loaded).eval()
    sample = loaded.tokenizer(list(_SAMPLE), padding=True, return_tensors="pt")
    axes = {name: {0: "batch", 1: "sequence"} for name in graph.inputs}
    axes[graph.output] = {0: "batch"} if graph.output == "logits" else {0: "batch", 1: "sequence"}
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # of the tracer: what it may have got wrong, the comparison would find
            torch.onnx.export(
                graph,
                tuple(sample[name] for name in graph.inputs),
                str(path),
                input_names=graph.inputs,
                output_names=[graph.output],
                dynamic_axes=axes,
                opset_version=_OPSET,
                dynamo=False,
            )
    except Exception as error:
        name = type(loaded.model).__name__
        raise MragError(f"{name} cannot be traced into an ONNX graph: {first_line(error)}") from error
