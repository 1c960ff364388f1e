"""What lies beside ``model.onnx`` in an exported folder: tokeniser, sentence-transformers' files, and ``mrag.json``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from mrag.adapters.models.model_names import Precision
from mrag.export.recipe import ENCODERS, POOLINGS, Recipe
from mrag.export.reference import Loaded, read_weights, yes_id
from mrag.export.sources import Source, read_json, weights_hash

MANIFEST = "mrag.json"
FORMAT = 1

_COPIED = (
    "config.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
    "README.md",
)


def write_files(loaded: Loaded, source: Source, recipe: Recipe, precision: Precision, folder: Path) -> None:
    """Writes all that the run time reads except the graph; ``folder`` exists."""
    for name in _COPIED:
        if (source.folder / name).is_file():
            shutil.copyfile(source.folder / name, folder / name)
    _write_tokenizer(loaded.tokenizer, folder)
    if recipe.kind in ENCODERS:
        _write_modules(source, recipe, folder)
    row = _manifest(loaded, recipe)
    write_json(
        folder / MANIFEST,
        {
            "format": FORMAT,
            **row,
            "source": source.name,
            "weights": weights_hash(source.folder),
            "precision": precision,
        },
    )


def write_json(path: Path, row: object) -> None:
    """Writes a JSON file that a person can read."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _manifest(loaded: Loaded, recipe: Recipe) -> dict[str, Any]:
    """What only we know of a model, by its kind."""
    prefixes = {"query_prefix": recipe.query_prefix, "passage_prefix": recipe.passage_prefix}
    if recipe.kind in ENCODERS:
        return {"kind": "encoder", "max_length": recipe.max_length, "metric": recipe.metric, **prefixes}
    if recipe.kind == "cross-encoder":
        return {"kind": "cross-encoder", "max_length": recipe.max_length, "temperature": recipe.temperature}
    return {
        "kind": "llm-reranker",
        "max_length": recipe.max_length,
        "temperature": recipe.temperature,
        "prompt": recipe.prompt,
        "separator": recipe.separator,
        **prefixes,
        "bos_id": loaded.tokenizer.bos_token_id,
        "yes_id": yes_id(loaded.tokenizer),
    }


def _write_tokenizer(tokenizer: Any, folder: Path) -> None:
    """tokenizer.json with the pad it was trained with, and without a length: that one is the run time's."""
    written = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    written.no_truncation()
    written.enable_padding(
        direction=tokenizer.padding_side, pad_id=tokenizer.pad_token_id, pad_token=tokenizer.pad_token
    )
    written.save(str(folder / "tokenizer.json"))


def _write_modules(source: Source, recipe: Recipe, folder: Path) -> None:
    """modules.json and its folders in sentence-transformers' layout, which other programs read too."""
    from safetensors.torch import save_file

    kinds = ["Transformer", "Pooling", *["Dense"] * len(recipe.dense), *["Normalize"] * recipe.normalise]
    names = ["", *(f"{number}_{kind}" for number, kind in enumerate(kinds[1:], 1))]
    modules = [
        {"idx": number, "name": str(number), "path": name, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, name) in enumerate(zip(kinds, names, strict=True))
    ]
    write_json(folder / "modules.json", modules)
    switches = {key: value == recipe.pooling for key, value in POOLINGS.items() if key.startswith("pooling_mode_")}
    size = source.config.get("hidden_size")
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": size, **switches})
    for name, dense in zip(names[2:], recipe.dense, strict=False):
        write_json(folder / name / "config.json", read_json(source.folder / dense.folder / "config.json"))
        save_file(read_weights(source.folder / dense.folder), folder / name / "model.safetensors")
