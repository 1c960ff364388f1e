"""What an export reads out of a model's own files, what it refuses, and how it compares; no torch needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import mrag.export
from mrag.adapters.models.model_names import ExportKind
from mrag.cli.commands import cli
from mrag.errors import InputError, MissingExtraError, MragError
from mrag.export import parity
from mrag.export.recipe import AS_PUBLISHED, RERANKER_PROMPT, Dense, Options, Recipe, read_recipe
from mrag.export.sources import open_source, read_source, weights_hash

BERT: dict[str, Any] = {"model_type": "bert", "architectures": ["BertModel"], "max_position_embeddings": 512}
PAIRS = {**BERT, "architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0"}}
GEMMA = {"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "max_position_embeddings": 8192}
POOLING, LINEAR = "sentence_transformers.models.Pooling", "sentence_transformers.models.Dense"
TRANSFORMER, NORMALIZE = "sentence_transformers.models.Transformer", "sentence_transformers.models.Normalize"


def folder(path: Path, config: dict[str, Any], **files: object) -> Path:
    """A model's folder of JSON files; a double underscore in a name stands for a slash."""
    for name, row in {"config": config, **files}.items():
        file = path / f"{name.replace('__', '/')}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(row), encoding="utf-8")
    return path


def modules(*kinds: str) -> list[dict[str, str]]:
    return [{"path": f"{i}_{kind.rsplit('.')[-1]}" if i else "", "type": kind} for i, kind in enumerate(kinds)]


def recipe(path: Path, kind: ExportKind, options: Options = AS_PUBLISHED, name: str = "a model") -> Recipe:
    return read_recipe(read_source(name, path, kind), kind, options)


def test_without_modules_an_encoder_is_read_as_contriever_is(tmp_path: Path) -> None:
    found = recipe(folder(tmp_path, BERT), "encoder")
    assert found == Recipe("encoder", 512, pooling="mean", normalise=False, metric="dot")


def test_the_modules_of_sentence_transformers_are_carried_over(tmp_path: Path) -> None:
    path = folder(
        tmp_path,
        {**GEMMA, "model_type": "gemma3_text"},
        modules=modules(TRANSFORMER, POOLING, LINEAR, LINEAR, NORMALIZE),
        sentence_bert_config={"max_seq_length": 2048},
        config_sentence_transformers={"prompts": {"query": "q: ", "document": "d: "}, "similarity_fn_name": "cosine"},
        **{
            "1_Pooling__config": {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
            "2_Dense__config": {"activation_function": "torch.nn.modules.linear.Identity"},
            "3_Dense__config": {"activation_function": "torch.nn.modules.activation.Tanh"},
        },
    )
    assert recipe(path, "gemma-encoder") == Recipe(
        "gemma-encoder",
        2048,
        query_prefix="q: ",
        passage_prefix="d: ",
        pooling="mean",
        dense=(
            Dense("2_Dense", "torch.nn.modules.linear.Identity"),
            Dense("3_Dense", "torch.nn.modules.activation.Tanh"),
        ),
        normalise=True,
        metric="cosine",
    )


@pytest.mark.parametrize(
    ("settings", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_lasttoken": True}, "last"),
        ({"pooling_mode_max_tokens": True}, "max"),
        ({"pooling_mode": "mean", "include_prompt": True}, "mean"),
    ],
)
def test_the_pooling_is_the_one_that_is_switched_on(tmp_path: Path, settings: dict[str, Any], pooling: str) -> None:
    path = folder(tmp_path, BERT, modules=modules(TRANSFORMER, POOLING), **{"1_Pooling__config": settings})
    assert recipe(path, "encoder").pooling == pooling


@pytest.mark.parametrize(
    "settings",
    [
        {"pooling_mode_weightedmean_tokens": True},
        {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
        {"pooling_mode_mean_tokens": True, "include_prompt": False},
        {},
    ],
)
def test_a_pooling_that_cannot_be_carried_over_is_refused(tmp_path: Path, settings: dict[str, Any]) -> None:
    path = folder(tmp_path, BERT, modules=modules(TRANSFORMER, POOLING), **{"1_Pooling__config": settings})
    with pytest.raises(InputError, match=r"1_Pooling/config\.json: "):
        recipe(path, "encoder")


@pytest.mark.parametrize(
    "kinds",
    [
        (TRANSFORMER,),
        (TRANSFORMER, POOLING, NORMALIZE, LINEAR),
        (TRANSFORMER, POOLING, "sentence_transformers.models.LayerNorm"),
        ("sentence_transformers.models.StaticEmbedding", NORMALIZE),
        (),
    ],
)
def test_modules_that_cannot_be_carried_over_are_refused_by_name(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    settings = {"1_Pooling__config": {"pooling_mode_mean_tokens": True}}
    named = ", ".join(kind.rsplit(".")[-1] for kind in kinds)
    with pytest.raises(InputError, match=rf"modules\.json: the modules \[{named}\]; mrag can carry over"):
        recipe(folder(tmp_path, BERT, modules=modules(*kinds), **settings), "encoder")


@pytest.mark.parametrize(
    ("config", "told", "length"),
    [
        ({**BERT, "max_position_embeddings": 128}, 512, 128),
        (BERT, 10**30, 512),
        (BERT, 256, 256),
        ({**BERT, "model_type": "xlm-roberta", "max_position_embeddings": 514}, 8192, 512),
        ({**BERT, "model_type": "xlm-roberta", "max_position_embeddings": 66}, 8192, 64),
        ({**BERT, "max_position_embeddings": 8192}, 8192, 512),
    ],
)
def test_the_length_is_what_tokeniser_and_model_take_within_what_passages_need(
    tmp_path: Path, config: dict[str, Any], told: int, length: int
) -> None:
    assert recipe(folder(tmp_path, config, tokenizer_config={"model_max_length": told}), "encoder").max_length == length


def test_prefixes_that_only_a_models_description_says_are_known(tmp_path: Path) -> None:
    found = recipe(folder(tmp_path, BERT), "encoder", name="intfloat/e5-small-v2")
    assert (found.query_prefix, found.passage_prefix) == ("query: ", "passage: ")


def test_the_reranker_has_the_prompt_that_it_was_trained_with(tmp_path: Path) -> None:
    found = recipe(folder(tmp_path, GEMMA), "gemma-reranker")
    assert found.prompt == RERANKER_PROMPT
    assert (found.query_prefix, found.passage_prefix, found.separator, found.max_length) == ("A: ", "B: ", "\n", 1024)


def test_options_win_over_the_files_and_the_empty_prefix_is_one(tmp_path: Path) -> None:
    told = Options(max_length=64, query_prefix="", pooling="last")
    found = recipe(folder(tmp_path, BERT), "encoder", told, name="intfloat/e5-small-v2")
    assert (found.max_length, found.query_prefix, found.passage_prefix, found.pooling) == (64, "", "passage: ", "last")


def test_a_reranker_keeps_its_temperature(tmp_path: Path) -> None:
    assert recipe(folder(tmp_path, PAIRS), "cross-encoder", Options(temperature=2.5)).temperature == 2.5


def test_an_option_that_a_kind_has_no_use_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a cross-encoder has no pooling and no query_prefix"):
        recipe(folder(tmp_path, PAIRS), "cross-encoder", Options(query_prefix="q: ", pooling="cls"))


@pytest.mark.parametrize(
    ("config", "kind", "message"),
    [
        ({**PAIRS, "auto_map": {"AutoModel": "x--y.Z"}}, "cross-encoder", "code of its own .* over HTTP"),
        (BERT, "gemma-encoder", "of type bert, no Gemma: use mrag export encoder"),
        (PAIRS, "gemma-reranker", "of type bert, no Gemma: use mrag export cross-encoder"),
        (GEMMA, "encoder", "is a Gemma: use mrag export gemma-encoder"),
        (GEMMA, "cross-encoder", "is a Gemma: use mrag export gemma-reranker"),
        (BERT, "cross-encoder", "is a BertModel: a cross-encoder is a …ForSequenceClassification"),
        ({**GEMMA, "architectures": ["GemmaModel"]}, "gemma-reranker", "a gemma-reranker is a …ForCausalLM"),
        ({**PAIRS, "id2label": {"0": "a", "1": "b", "2": "c"}}, "cross-encoder", "gives 3 labels"),
        ({**PAIRS, "id2label": None}, "cross-encoder", "gives 2 labels"),
        ({**BERT, "model_type": "t5", "is_encoder_decoder": True}, "encoder", "encoder-decoder"),
    ],
)
def test_what_cannot_be_exported_is_refused_by_name(
    tmp_path: Path, config: dict[str, Any], kind: ExportKind, message: str
) -> None:
    with pytest.raises(InputError, match=f"^jina/one .*{message}"):
        read_source("jina/one", folder(tmp_path, config), kind)


def test_a_folder_without_a_model_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no config\.json"):
        read_source("x", tmp_path, "encoder")
    (tmp_path / "config.json").write_text("[")
    with pytest.raises(InputError, match=r"config\.json: no JSON"):
        read_source("x", tmp_path, "encoder")


def test_a_source_is_a_folder_or_a_repository(tmp_path: Path) -> None:
    assert open_source(str(folder(tmp_path, BERT)), "encoder", called="ours").name == "ours"
    for name in (str(tmp_path / "other"), "./x", "a/b/c"):
        with pytest.raises(InputError, match="no such folder"):
            open_source(name, "encoder")
    with pytest.raises(InputError, match="is no model"):
        open_source("two words", "encoder")


def test_weights_are_told_apart_by_their_bytes_alone(tmp_path: Path) -> None:
    found: list[str] = []
    for name, data in (("a", b"1"), ("b", b"1"), ("c", b"2")):
        (tmp_path / name / "2_Dense").mkdir(parents=True)
        (tmp_path / name / "model.safetensors").write_bytes(b"0")
        (tmp_path / name / "2_Dense" / "model.safetensors").write_bytes(data)
        (tmp_path / name / "config.json").write_text(name)
        (tmp_path / name / "pytorch_model.bin").write_text(name)  # not used beside a safe file
        found.append(weights_hash(tmp_path / name))
    assert found[0] == found[1] != found[2]


# --- comparing ------------------------------------------------------------------------------------


def test_a_difference_is_relative_to_the_numbers_own_size() -> None:
    theirs = np.float32([[0.01, 0.02, 0.03]])
    assert parity.compare_logits("float32", theirs, theirs + np.float32(2e-5)).difference == pytest.approx(1e-3, 1e-2)
    questions, passages = np.float32([[300, 400]]), np.float32([[3, 4], [0, 1]])
    found = parity.compare_vectors("float32", (questions, passages), (questions, passages + np.float32([[0, 0.05]])))
    assert found.difference == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("precision", "difference", "agreement", "kept"),
    [
        ("float32", 9e-5, 1.0, True),
        ("float32", 2e-4, 1.0, False),
        ("float16", 9e-3, 1.0, True),
        ("float16", 2e-2, 1.0, False),
        ("int8", 0.3, 0.95, True),
        ("int8", 0.3, 0.85, False),
        ("float32", float("nan"), 1.0, False),
        ("int8", 0.1, float("nan"), False),
    ],
)
def test_each_precision_has_its_bound(precision: Any, difference: float, agreement: float, kept: bool) -> None:
    assert parity.Parity(precision, difference, agreement).kept is kept


def test_answers_of_another_shape_are_an_error() -> None:
    with pytest.raises(MragError, match=r"shape \(1, 2\) where transformers gives \(1, 3\)"):
        parity.compare_logits("float32", np.float32([[1, 2, 3]]), np.float32([[1, 2]]))


@pytest.mark.parametrize("length", [16, 512, 8192])
def test_the_sample_has_a_text_that_is_cut_where_that_can_be_afforded(length: int) -> None:
    longest = max(len(text.split()) for text in parity.sample(length))
    assert longest > min(length, 1024)
    assert longest < 1100


# --- the command without torch --------------------------------------------------------------------


def test_without_torch_the_error_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mrag.export, "find_spec", lambda name: None if name == "torch" else object())
    with pytest.raises(MissingExtraError, match=r"needs torch: pip install 'mrag\[export\]'"):
        mrag.export.export_model  # noqa: B018
    run = CliRunner().invoke(cli, ["export", "encoder", "facebook/contriever", "-o", str(tmp_path / "made")])
    assert (run.exit_code, run.stdout) == (1, "")
    assert run.stderr == "error: exporting a model needs torch: pip install 'mrag[export]'\n"


def test_two_precisions_are_wrong_usage(tmp_path: Path) -> None:
    run = CliRunner().invoke(cli, ["export", "encoder", "x", "-o", str(tmp_path / "made"), "--fp16", "--int8"])
    assert run.exit_code == 2
    assert "Choose --fp16 or --int8, not both." in run.stderr


def test_the_help_needs_nothing_of_the_extra() -> None:
    code = """
import sys
from click.testing import CliRunner
from mrag.cli.commands import cli
assert "gemma-reranker" in CliRunner().invoke(cli, ["export", "--help"]).stdout
print(sorted({"torch", "transformers", "onnx", "mrag.export"} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
