"""Exports: tiny random models of each architecture, with their own tokenisers, against transformers itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from mrag.adapters.models.model_names import ExportKind, Precision
from mrag.cli.commands import cli
from mrag.errors import InputError, MragError
from mrag.export.parity import Parity
from mrag.export.recipe import AS_PUBLISHED, Options, Recipe

pytestmark = pytest.mark.export  # needs torch and transformers: pytest -m export

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "initializer_range": 0.3,  # ten times the usual one: random models that do tell texts apart
}
GEMMA: dict[str, Any] = {**SIZES, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 256}
POOLING = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "last": "pooling_mode_lasttoken"}


def demo_texts() -> list[str]:
    path = Path(__file__).parents[1] / "adapters" / "demo.jsonl"
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


def bert_tokenizer() -> Any:
    """Characters and common words; a trained vocabulary would be another one in every process."""
    from tokenizers import normalizers, pre_tokenizers
    from transformers import BertTokenizer

    text = normalizers.BertNormalizer().normalize_str(" ".join(demo_texts()))
    counts = Counter(word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text))
    characters = sorted({character for word in counts for character in word})
    common = sorted((word for word in counts if len(word) > 1), key=lambda word: (-counts[word], word))[:400]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [*special, *characters, *(f"##{character}" for character in characters), *common]
    return BertTokenizer(vocab={word: number for number, word in enumerate(words)}, model_max_length=64)


def xlm_roberta_tokenizer() -> Any:
    from tokenizers import SentencePieceUnigramTokenizer
    from transformers import XLMRobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained = SentencePieceUnigramTokenizer()
    trained.train_from_iterator(demo_texts(), vocab_size=500, special_tokens=special, unk_token="<unk>")
    vocabulary = [(word, score) for word, score in json.loads(trained.to_str())["model"]["vocab"]]
    return XLMRobertaTokenizer(vocab=vocabulary, model_max_length=64)


def gemma_tokenizer(**options: bool) -> Any:
    from tokenizers import Tokenizer, models, normalizers, trainers
    from transformers import GemmaTokenizer

    trained = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    trained.normalizer = normalizers.Replace(" ", "▁")
    bytes_ = [f"<0x{number:02X}>" for number in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=["<pad>", "<eos>", "<bos>", "<unk>", *bytes_])
    trained.train_from_iterator([*demo_texts(), *["Yes", "No"] * 100], trainer)
    model = json.loads(trained.to_str())["model"]
    return GemmaTokenizer(vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]], **options)


def save(folder: Path, model: Any, tokenizer: Any) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def add_modules(folder: Path, pooling: str, *, dense: int = 0, normalise: bool = True, **prompts: str) -> None:
    import torch
    from safetensors.torch import save_file

    kinds = ["Transformer", "Pooling", *["Dense"] * dense, *["Normalize"] * normalise]
    rows = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    write(folder / "modules.json", rows)
    write(folder / "1_Pooling" / "config.json", {key: pooling == name for name, key in POOLING.items()})
    write(folder / "sentence_bert_config.json", {"max_seq_length": 48})
    if prompts:
        write(folder / "config_sentence_transformers.json", {"prompts": prompts, "similarity_fn_name": "cosine"})
    size = 32
    for number in range(2, 2 + dense):
        settings = {"in_features": size, "out_features": 40, "bias": number == 2}
        activation = "torch.nn.modules.activation.Tanh" if number == 2 else "torch.nn.modules.linear.Identity"
        write(folder / f"{number}_Dense" / "config.json", {**settings, "activation_function": activation})
        weights = {"linear.weight": torch.randn(40, size)} | ({"linear.bias": torch.randn(40)} if number == 2 else {})
        save_file(weights, folder / f"{number}_Dense" / "model.safetensors")
        size = 40


def write(path: Path, row: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(row), encoding="utf-8")


def bert_encoder(folder: Path) -> Path:
    from transformers import BertConfig, BertModel

    tokenizer = bert_tokenizer()
    save(folder, BertModel(BertConfig(**SIZES, vocab_size=len(tokenizer), max_position_embeddings=64)), tokenizer)
    add_modules(folder, "cls", query="represent this for search: ", document="")
    return folder


def contriever(folder: Path) -> Path:
    from transformers import BertConfig, BertModel

    tokenizer = bert_tokenizer()
    config = BertConfig(**SIZES, vocab_size=len(tokenizer), max_position_embeddings=64)
    return save(folder, BertModel(config), tokenizer)


def electra_encoder(folder: Path) -> Path:
    from transformers import ElectraConfig, ElectraModel

    tokenizer = bert_tokenizer()
    config = ElectraConfig(**SIZES, vocab_size=len(tokenizer), embedding_size=16, max_position_embeddings=64)
    save(folder, ElectraModel(config), tokenizer)
    add_modules(folder, "mean")
    return folder


def bert_cross_encoder(folder: Path) -> Path:
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = bert_tokenizer()
    config = BertConfig(**SIZES, vocab_size=len(tokenizer), max_position_embeddings=64, num_labels=1)
    return save(folder, BertForSequenceClassification(config), tokenizer)


def electra_cross_encoder(folder: Path) -> Path:
    from transformers import ElectraConfig, ElectraForSequenceClassification

    tokenizer = bert_tokenizer()
    sizes = {**SIZES, "vocab_size": len(tokenizer), "embedding_size": 16, "max_position_embeddings": 64}
    return save(folder, ElectraForSequenceClassification(ElectraConfig(**sizes, num_labels=1)), tokenizer)


def xlm_roberta_cross_encoder(folder: Path) -> Path:
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

    tokenizer = xlm_roberta_tokenizer()
    sizes = {**SIZES, "vocab_size": len(tokenizer), "max_position_embeddings": 66, "type_vocab_size": 1}
    config = XLMRobertaConfig(**sizes, num_labels=1, pad_token_id=tokenizer.pad_token_id)
    return save(folder, XLMRobertaForSequenceClassification(config), tokenizer)


def gemma_reranker(folder: Path) -> Path:
    from transformers import GemmaConfig, GemmaForCausalLM

    tokenizer = gemma_tokenizer()
    return save(folder, GemmaForCausalLM(GemmaConfig(**GEMMA, vocab_size=len(tokenizer))), tokenizer)


def gemma2_reranker(folder: Path) -> Path:
    from transformers import Gemma2Config, Gemma2ForCausalLM

    tokenizer = gemma_tokenizer()
    config = Gemma2Config(**GEMMA, vocab_size=len(tokenizer), sliding_window=24, final_logit_softcapping=2.0)
    return save(folder, Gemma2ForCausalLM(config), tokenizer)


def gemma_encoder(folder: Path) -> Path:
    from transformers import Gemma3TextConfig, Gemma3TextModel

    tokenizer = gemma_tokenizer(add_bos_token=True, add_eos_token=True)
    layers = ["sliding_attention", "full_attention"]
    sizes = {**GEMMA, "vocab_size": len(tokenizer), "sliding_window": 24, "layer_types": layers}
    save(folder, Gemma3TextModel(Gemma3TextConfig(**sizes, use_bidirectional_attention=True)), tokenizer)
    add_modules(folder, "mean", dense=2, query="task: search result | query: ", document="title: none | text: ")
    return folder


def gemma2_encoder(folder: Path) -> Path:
    from transformers import Gemma2Config, Gemma2Model

    tokenizer = gemma_tokenizer(add_bos_token=True, add_eos_token=True)
    save(folder, Gemma2Model(Gemma2Config(**GEMMA, vocab_size=len(tokenizer), sliding_window=24)), tokenizer)
    add_modules(folder, "last")
    return folder


MODELS: dict[str, tuple[ExportKind, Callable[[Path], Path]]] = {
    "bert": ("encoder", bert_encoder),
    "contriever": ("encoder", contriever),
    "electra": ("encoder", electra_encoder),
    "bert-pairs": ("cross-encoder", bert_cross_encoder),
    "electra-pairs": ("cross-encoder", electra_cross_encoder),
    "xlm-roberta-pairs": ("cross-encoder", xlm_roberta_cross_encoder),
    "gemma": ("gemma-reranker", gemma_reranker),
    "gemma2": ("gemma-reranker", gemma2_reranker),
    "gemma3": ("gemma-encoder", gemma_encoder),
    "gemma2-last": ("gemma-encoder", gemma2_encoder),
}


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The folder of a tiny model, made when it is first asked for."""
    import torch

    torch.set_num_threads(1)  # threads that wait for each other cost more than such small models
    made: dict[str, str] = {}

    def find(name: str) -> str:
        if name not in made:
            torch.manual_seed(1 + list(MODELS).index(name))
            made[name] = str(MODELS[name][1](tmp_path_factory.mktemp(name)))
        return made[name]

    return find


def export(kind: ExportKind, source: str, output: Path, options: Options = AS_PUBLISHED, **more: Any) -> Parity:
    from mrag.export import export_model

    if kind == "gemma-reranker":
        options = replace(options, max_length=64)  # its own 1,024 take their time
    return export_model(kind, source, output, options=options, **more)


# --- what is kept --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_an_export_answers_as_transformers_does(name: str, source: Callable[[str], str], tmp_path: Path) -> None:
    found = export(MODELS[name][0], source(name), tmp_path / "made")
    assert found.difference < 1e-5
    assert found.agreement > 0.99


@pytest.mark.parametrize("name", MODELS)
def test_half_precision_stays_within_its_bound(name: str, source: Callable[[str], str], tmp_path: Path) -> None:
    found = export(MODELS[name][0], source(name), tmp_path / "made", precision="float16")
    assert 1e-6 < found.difference < 1e-2


@pytest.mark.parametrize("name", ["contriever", "electra-pairs", "gemma", "gemma3"])
def test_int8_ranks_as_the_source_does(name: str, source: Callable[[str], str], tmp_path: Path) -> None:
    found = export(MODELS[name][0], source(name), tmp_path / "made", precision="int8")
    assert found.difference > 1e-4
    assert found.agreement > 0.9


def test_the_folder_holds_what_the_run_time_reads_and_nothing_of_torch(
    source: Callable[[str], str], tmp_path: Path
) -> None:
    export("gemma-encoder", source("gemma3"), tmp_path / "made", called="google/tiny")
    found = {path.relative_to(tmp_path / "made").as_posix() for path in (tmp_path / "made").rglob("*.*")}
    assert found == {
        "config.json",
        "config_sentence_transformers.json",
        "modules.json",
        "1_Pooling/config.json",
        "2_Dense/config.json",
        "2_Dense/model.safetensors",
        "3_Dense/config.json",
        "3_Dense/model.safetensors",
        "model.onnx",
        "mrag.json",
        "sentence_bert_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    row = json.loads((tmp_path / "made" / "mrag.json").read_text(encoding="utf-8"))
    assert len(row.pop("weights")) == 64
    assert row == {
        "format": 1,
        "kind": "encoder",
        "max_length": 48,
        "metric": "cosine",
        "query_prefix": "task: search result | query: ",
        "passage_prefix": "title: none | text: ",
        "source": "google/tiny",
        "precision": "float32",
    }


def test_all_precisions_of_a_model_name_the_same_weights(source: Callable[[str], str], tmp_path: Path) -> None:
    precisions: list[Precision] = ["float32", "float16"]
    for precision in precisions:
        export("encoder", source("bert"), tmp_path / precision, precision=precision)
    export("encoder", source("contriever"), tmp_path / "other")
    rows = [json.loads((tmp_path / name / "mrag.json").read_text()) for name in (*precisions, "other")]
    assert rows[0]["weights"] == rows[1]["weights"] != rows[2]["weights"]


def test_a_model_too_large_for_one_file_has_its_weights_in_a_second_one(
    source: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrag.export.precision._MOST_IN_ONE_FILE", 10_000)
    found = export("gemma-reranker", source("gemma"), tmp_path / "made")
    assert found.difference < 1e-5
    data, model = (tmp_path / "made" / name for name in ("model.onnx.data", "model.onnx"))
    assert data.stat().st_size > model.stat().st_size
    assert data.stat().st_mode == model.stat().st_mode == (Path(source("gemma")) / "config.json").stat().st_mode


def test_options_stand_for_what_the_files_leave_open(source: Callable[[str], str], tmp_path: Path) -> None:
    told = Options(pooling="cls", metric="cosine", query_prefix="q: ", passage_prefix="p: ", max_length=32)
    assert export("encoder", source("contriever"), tmp_path / "made", told).difference < 1e-5
    row = json.loads((tmp_path / "made" / "mrag.json").read_text())
    assert {key: row[key] for key in ("metric", "query_prefix", "passage_prefix", "max_length")} == {
        "metric": "cosine",
        "query_prefix": "q: ",
        "passage_prefix": "p: ",
        "max_length": 32,
    }


@pytest.mark.parametrize(
    ("flags", "precision", "bound"), [([], "float32", 1e-4), (["--fp16"], "float16", 1e-2), (["--int8"], "int8", 0.1)]
)
def test_the_command_prints_the_difference_and_nothing_else(
    flags: list[str], precision: str, bound: float, source: Callable[[str], str], tmp_path: Path
) -> None:
    made = str(tmp_path / "models" / "made")
    run = CliRunner().invoke(cli, ["export", "cross-encoder", source("bert-pairs"), "-o", made, "--json", *flags])
    assert run.exit_code == 0, run.stderr
    row = json.loads(run.stdout)
    assert 0 < row.pop("difference") < 1
    assert 0.9 < row.pop("agreement") <= 1
    assert row == {"model": made, "kind": "cross-encoder", "precision": precision, "bound": bound}


# --- what is refused -----------------------------------------------------------------------------


def wrong(name: str, source: Callable[[str], str], folder: Path) -> None:
    """Exports a model although something is wrong: it must be refused, and nothing may be left."""
    with pytest.raises(MragError, match=r"^/.* is not exported: "):
        export(MODELS[name][0], source(name), folder / "made", Options(max_length=48))
    assert list(folder.iterdir()) == []


def change_recipe(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Makes the folder say something else than what transformers was asked."""
    from mrag.export import build, folder

    def write_files(loaded: Any, source: Any, recipe: Recipe, *rest: Any) -> None:
        folder.write_files(loaded, source, replace(recipe, **changes), *rest)

    monkeypatch.setattr(build, "write_files", write_files)


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_a_wrong_yes_is_refused(
    precision: Precision, source: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrag.export.graphs.yes_id", lambda tokenizer: tokenizer("No")["input_ids"][0])
    with pytest.raises(MragError, match="is not exported"):
        export("gemma-reranker", source("gemma"), tmp_path / "made", precision=precision)
    assert list(tmp_path.iterdir()) == []


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("gemma", {"prompt": "Does B answer A? 'Yes' or 'No'."}),
    ("gemma", {"query_prefix": "Q: "}),
    ("gemma", {"passage_prefix": ""}),
    ("gemma", {"separator": " "}),
    ("gemma", {"max_length": 44}),
    ("bert", {"query_prefix": ""}),
    ("bert", {"passage_prefix": "passage: "}),
    ("bert", {"pooling": "mean"}),
    ("bert", {"max_length": 47}),
    ("electra", {"pooling": "last"}),
    ("gemma3", {"dense": ()}),
    ("contriever", {"normalise": True}),
    ("electra-pairs", {"max_length": 40}),
]


@pytest.mark.parametrize(("name", "change"), CHANGES, ids=[f"{name}-{'-'.join(change)}" for name, change in CHANGES])
def test_a_folder_that_says_something_else_is_refused(
    name: str,
    change: dict[str, Any],
    source: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change_recipe(monkeypatch, **change)
    wrong(name, source, tmp_path)


def test_forgotten_token_types_are_refused(
    source: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrag.export.graphs._INPUTS", ("input_ids", "attention_mask"))
    wrong("bert-pairs", source, tmp_path)


def test_another_tokeniser_is_refused(
    source: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mrag.export import folder

    def cased(tokenizer: Any, made: Path) -> None:
        _write_tokenizer(tokenizer, made)
        row = json.loads((made / "tokenizer.json").read_text())
        row["normalizer"]["lowercase"] = False
        (made / "tokenizer.json").write_text(json.dumps(row))

    _write_tokenizer = folder._write_tokenizer
    monkeypatch.setattr(folder, "_write_tokenizer", cased)
    wrong("bert", source, tmp_path)


def test_broken_numbers_are_refused(
    source: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mrag.export import build

    monkeypatch.setattr(build, "_our_answers", lambda *_: (np.full((4, 16), np.nan, dtype=np.float32),))
    wrong("bert-pairs", source, tmp_path)


def test_a_model_without_the_weights_of_its_head_is_refused(source: Callable[[str], str], tmp_path: Path) -> None:
    import shutil

    shutil.copytree(source("bert"), tmp_path / "bert")
    config = json.loads((tmp_path / "bert" / "config.json").read_text())
    write(
        tmp_path / "bert" / "config.json",
        {**config, "architectures": ["BertForSequenceClassification"], "id2label": {"0": "score"}},
    )
    with pytest.raises(InputError, match="lacks weights of a cross-encoder: classifier"):
        export("cross-encoder", str(tmp_path / "bert"), tmp_path / "made")


def test_a_folder_that_is_taken_is_left_alone(source: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is there already: name another folder, or remove it"):
        export("encoder", source("bert"), tmp_path / "made")
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["mine.txt"]


def test_an_empty_folder_is_filled(source: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    export("encoder", source("bert"), tmp_path / "made")
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    assert (tmp_path / "made" / "model.onnx").is_file()


def test_an_interrupted_export_leaves_nothing(
    source: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mrag.export.build.write_model", interrupt)
    with pytest.raises(KeyboardInterrupt):
        export("encoder", source("bert"), tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


@contextmanager
def hub(folder: Path, repository: str, cache: Path) -> Iterator[tuple[dict[str, str], list[str]]]:
    """A hub with one repository, in Hugging Face's layout: the environment that names it, and what was asked of it."""
    asked: list[str] = []
    commit = "c" * 40

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.split("?")[0].lstrip("/")
            resolve = f"{repository}/resolve/{commit}/"
            if path == f"api/models/{repository}/revision/main":
                self.answer(json.dumps({"id": repository, "sha": commit}).encode())
            elif path == f"api/models/{repository}/tree/{commit}":
                files = [file for file in folder.rglob("*") if file.is_file()]
                rows = [{"path": file.relative_to(folder).as_posix(), "size": file.stat().st_size} for file in files]
                self.answer(json.dumps([{"type": "file", "oid": "0" * 40, **row} for row in rows]).encode())
            elif path.startswith(resolve):
                asked.append(path.removeprefix(resolve))
                self.answer((folder / path.removeprefix(resolve)).read_bytes())
            else:
                self.send_error(404)

        do_HEAD = do_GET

        def answer(self, body: bytes) -> None:
            self.send_response(200)
            headers = {"ETag": f'"{sha256(body).hexdigest()}"', "X-Repo-Commit": commit, "Content-Length": len(body)}
            for name, value in headers.items():
                self.send_header(name, str(value))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Into nowhere."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    yield {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(cache)}, asked
    server.shutdown()


def command(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from mrag.cli import main; main()", "export", *words]
    return subprocess.run(program, capture_output=True, text=True, env={**os.environ, **environment})


def test_a_repository_is_fetched_and_nothing_but_the_result_is_printed(
    source: Callable[[str], str], tmp_path: Path
) -> None:
    made = tmp_path / "made"
    with hub(Path(source("bert")), "owner/tiny", tmp_path / "cache") as (environment, _):
        run = command(environment, "encoder", "owner/tiny", "-o", str(made))
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"{made}: encoder, float32; largest difference from transformers ")
    assert len(run.stdout.splitlines()) == 1
    assert len(run.stderr.splitlines()) == 4, run.stderr


def test_a_repository_that_is_refused_is_refused_before_its_weights_are_fetched(
    source: Callable[[str], str], tmp_path: Path
) -> None:
    with hub(Path(source("bert")), "owner/tiny", tmp_path / "cache") as (environment, asked):
        run = command(environment, "gemma-encoder", "owner/tiny", "-o", str(tmp_path / "made"))
    assert run.returncode == 1
    assert run.stderr == "error: owner/tiny is of type bert, no Gemma: use mrag export encoder\n"
    assert "config.json" in asked
    assert "model.safetensors" not in asked


def test_a_repository_that_cannot_be_reached_is_an_error_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"nobody/nothing is no folder here and cannot be fetched: .+") as error:
        export("encoder", "nobody/nothing", tmp_path / "made")
    assert "\n" not in str(error.value)
