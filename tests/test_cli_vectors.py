"""What a person and a program see of vectors on the command line: indexes that hold them, searches by them."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from mrag.adapters import store
from mrag.adapters.index.retrievers import RETRIEVERS
from mrag.cli import cli, loading

TEXTS = {
    "a": "Ida Moe led the club from 1999 to 2006.",
    "b": "Odd Lie led the club from 2007 to 2012.",
    "c": "The club was founded in 1950. It moved in 1971.",
}


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, args, prog_name="mrag")


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, toy: Callable[..., Any]) -> list[loading.Models]:
    """Stands for real models: --encoder NAME is a toy of this name, fp16 another precision of it; what was loaded."""
    loaded: list[loading.Models] = []

    def load_encoder(models: loading.Models, tell: Any = None) -> Any:
        if models.encoder is None:
            return None
        loaded.append(models)
        tell(f"encoder {models.encoder}: runs on the CPU")
        return toy(models.encoder.removesuffix("-fp16"), precision="fp16" if "fp16" in models.encoder else "fp32")

    def load_reranker(models: loading.Models, tell: Any = None) -> Any:
        class Reranker:
            def __call__(self, query: str, texts: Sequence[str]) -> np.ndarray:
                return np.array(["1950" in text for text in texts], dtype=np.float32)

        if models.reranker is None:
            return None
        tell(f"reranker {models.reranker}: runs on the CPU")
        return Reranker()

    monkeypatch.setattr(loading, "load_encoder", load_encoder)
    monkeypatch.setattr(loading, "load_reranker", load_reranker)
    return loaded


@pytest.fixture
def passages(tmp_path: Path) -> str:
    path = tmp_path / "passages.jsonl"
    path.write_text("".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in TEXTS.items()))
    return str(path)


@pytest.fixture
def index(tmp_path: Path, passages: str, models: list[loading.Models]) -> str:
    folder = str(tmp_path / "i")
    assert run("index", passages, "-o", folder, "--encoder", "toy", "--vectors", "sentences").exit_code == 0
    models.clear()
    return folder


def test_index_makes_vectors_and_says_where_the_encoder_runs(
    tmp_path: Path, passages: str, models: list[loading.Models]
) -> None:
    result = run("index", passages, "-o", str(tmp_path / "i"), "--encoder", "toy", "--provider", "cpu")
    assert result.stdout == f"{tmp_path / 'i'}: 3 passages, 3 vectors\n"
    assert result.stderr == "encoder toy: runs on the CPU\n"
    assert [(one.encoder, one.provider) for one in models] == [("toy", "cpu")]


def test_index_tells_programs_how_many_vectors_there_are(index: str) -> None:
    result = run("index", "--upgrade", index, "--precision", "int8", "--json")
    assert json.loads(result.stdout) == {"index": index, "passages": 3, "vectors": 7}
    assert json.loads(run("index", "--verify", index, "--json").stdout)["vectors"] == 7


def test_added_passages_need_the_encoder(index: str, tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text('{"id": "d", "text": "Jo Dahl has led it since 2013."}')
    more = str(tmp_path / "more.jsonl")
    refused = run("index", more, "-o", index, "--add")
    assert refused.exit_code == 1
    assert "holds vectors made by toy" in refused.stderr
    assert run("index", more, "-o", index, "--add", "--encoder", "toy").stdout == f"{index}: 4 passages, 9 vectors\n"


@pytest.mark.parametrize("option", [["--vectors", "sentences"], ["--precision", "int8"]])
def test_vectors_without_an_encoder_are_refused(tmp_path: Path, passages: str, option: list[str]) -> None:
    refused = run("index", passages, "-o", str(tmp_path / "i"), *option)
    assert refused.exit_code == 1
    assert "vectors need an encoder" in refused.stderr


def test_verify_takes_no_encoder(index: str) -> None:
    assert run("index", "--verify", index, "--encoder", "toy").exit_code == 2


@pytest.mark.parametrize("retriever", [[], *(["--retriever", name] for name in RETRIEVERS)])
def test_search_goes_by_meaning(index: str, retriever: list[str]) -> None:
    result = run("search", "--index", index, "--encoder", "toy", *retriever, "--json", "Who led the club as of 2010?")
    found = [json.loads(line)["id"] for line in result.stdout.splitlines()]
    assert found[0] == "b"
    assert sorted(found) == ["a", "b", "c"]
    assert result.stderr == "encoder toy: runs on the CPU\n"


def test_a_reranker_scores_the_sentences(index: str) -> None:
    result = run("search", "--index", index, "--reranker", "judge", "--json", "When was the club founded?")
    top = json.loads(result.stdout.splitlines()[0])
    assert top["id"] == "c"
    assert result.stderr == "reranker judge: runs on the CPU\n"


def test_another_encoder_is_an_error_and_another_precision_a_note(index: str) -> None:
    refused = run("search", "--index", index, "--encoder", "other", "Who led the club?")
    assert refused.exit_code == 1
    assert "its vectors were made by toy" in refused.stderr
    noted = run("search", "--index", index, "--encoder", "toy-fp16", "Who led the club?")
    assert noted.exit_code == 0
    assert noted.stderr.count("the same encoder in another numeric precision") == 1
    assert "\nnote: " in noted.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--retriever", "dense"], "--retriever dense needs --encoder MODEL"),
        (["--encoder", "toy"], "the demo corpus holds no vectors: name an --index"),
    ],
)
def test_what_a_search_by_meaning_needs_is_said(models: list[loading.Models], args: list[str], says: str) -> None:
    refused = run("search", *args, "Who led the club?")
    assert refused.exit_code == 1
    assert says in refused.stderr


def test_an_index_without_vectors_says_how_to_get_them(tmp_path: Path, models: list[loading.Models]) -> None:
    store.build([{"id": "a", "text": "It won."}], tmp_path / "i")
    refused = run("search", "--index", str(tmp_path / "i"), "--encoder", "toy", "What won?")
    assert refused.exit_code == 1
    assert f"mrag index --upgrade {tmp_path / 'i'} --encoder DIR" in refused.stderr


def test_all_questions_of_a_file_are_asked_with_models_that_are_loaded_once(
    index: str, tmp_path: Path, models: list[loading.Models]
) -> None:
    questions = tmp_path / "q.jsonl"
    asked = [{"id": str(i), "question": f"Who led the club as of {2000 + i}?"} for i in range(10)]
    questions.write_text("".join(json.dumps(row) + "\n" for row in asked))
    args = ["--index", index, "--encoder", "toy", "-k", "1", "--json", "--queries", str(questions)]
    result = run("search", *args)
    found = [json.loads(line)["ranking"] for line in result.stdout.splitlines()]
    assert found == [["a"]] * 7 + [["b"]] * 3
    assert len(models) == 1


@pytest.mark.skipif(not os.environ.get("MRAG_TEST_MINILM"), reason="MRAG_TEST_MINILM names no folder")
def test_a_real_encoder_over_workers(tmp_path: Path, passages: str) -> None:
    folder, model = str(tmp_path / "i"), os.environ["MRAG_TEST_MINILM"]
    made = run("index", passages, "-o", folder, "--encoder", model, "--vectors", "sentences", "--provider", "cpu")
    assert made.exit_code == 0, made.output
    assert "runs on the CPU" in made.stderr
    questions = tmp_path / "q.jsonl"
    asked = [{"id": str(i), "question": f"Who led the club as of {2000 + i % 10}?"} for i in range(410)]
    questions.write_text("".join(json.dumps(row) + "\n" for row in asked))
    args = ["--index", folder, "--encoder", model, "-k", "1", "--json", "--queries", str(questions)]
    several, one = (run("search", *args, "--workers", workers) for workers in ("2", "1"))
    assert several.exit_code == 0, several.output
    assert several.stdout == one.stdout
    assert json.loads(several.stdout.splitlines()[9]) == {"id": "9", "ranking": ["b"]}
