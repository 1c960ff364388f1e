"""What a person and a program see of ``mrag models``."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from mrag.cli import cli
from mrag.cli.models import models

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPO = "sentence-transformers/all-MiniLM-L6-v2"
TOKEN = "hf_thisIsTheSecret"
FILES = {"onnx/model.onnx": b"\x0a\xff\x7f" + b"w" * 16_383, "tokenizer.json": b"{}", "config.json": b"{}"}


class Hub(BaseHTTPRequestHandler):
    """The list of one model and its files; the ONNX file stops in its middle if ``stops`` is set."""

    stops = False

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        name = self.path.removeprefix(f"/{REPO}/resolve/{COMMIT}/")
        if self.path.startswith(f"/api/models/{REPO}/revision/main"):
            lfs = {
                name: {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
                for name, content in FILES.items()
            }
            self.say(
                json.dumps(
                    {"sha": COMMIT, "siblings": [{"rfilename": name, "lfs": lfs[name]} for name in FILES]}
                ).encode()
            )
        elif name in FILES:
            self.say(FILES[name], stop=type(self).stops and name.endswith(".onnx"))
        else:
            self.send_error(401)

    def say(self, content: bytes, *, stop: bool = False) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if stop else content)
        self.wfile.flush()
        if stop:
            time.sleep(20)


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    for name in [name for name in os.environ if name.upper().endswith("_PROXY") or name.startswith("HF_")]:
        monkeypatch.delenv(name)
    handler = type("Bound", (Hub,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    yield handler
    server.shutdown()
    server.server_close()


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, ["models", *args], prog_name="mrag")


def rows(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("name", sorted(models.commands))
def test_every_command_teaches_itself_with_an_example(name: str) -> None:
    command = models.commands[name]
    assert command.help and "Examples:" in command.help and f"mrag models {name}" in command.help
    assert all(parameter.help for parameter in command.params if isinstance(parameter, click.Option))


def test_pull_prints_where_the_model_is(tmp_path: Path) -> None:
    folder = tmp_path / "mrag" / "models" / REPO.replace("/", "--") / COMMIT
    result = run("pull", "minilm")
    assert result.exit_code == 0 and result.stderr == ""
    assert result.stdout == f"{REPO} {COMMIT[:12]} (float32, 0.0 MB): {folder}\n"
    (row,) = rows(run("pull", "--json", REPO))
    assert row["folder"] == str(folder) and row["revision"] == COMMIT
    assert row["bytes"] == sum(map(len, FILES.values()))


def test_list_says_what_is_here_and_how_the_rest_is_got(tmp_path: Path) -> None:
    before = {row["name"]: row for row in rows(run("list", "--json"))}
    assert before["minilm"]["state"] == "to pull" and before["minilm"]["get"] == "mrag models pull minilm"
    assert str(before["contriever"]["get"]).startswith("mrag export encoder facebook/contriever -o ")
    run("pull", "minilm")
    after = {row["name"]: row for row in rows(run("list", "--json"))}
    assert (after["minilm"]["state"], after["minilm"]["revision"], after["minilm"]["get"]) == ("here", COMMIT, None)
    (tmp_path / "mrag" / "models" / "owner--name" / f"{COMMIT}.part").mkdir(parents=True)
    assert rows(run("list", "--json"))[-1]["state"] == "unfinished"


def test_list_is_a_table_for_people(tmp_path: Path) -> None:
    run("pull", "minilm")
    result = run("list")
    lines = result.stdout.splitlines()
    assert lines[1].split()[:5] == ["minilm", "encoder", "0.0", "MB", f"{REPO}@{COMMIT[:12]}"]
    assert "to pull" in lines[2]
    assert str(tmp_path) in result.stderr


def test_what_cannot_be_pulled_is_one_line_and_exit_code_1() -> None:
    for name, said in {
        "contriever": "mrag export encoder",
        "owner/private": "set HF_TOKEN",
        "nosuch": "OWNER/NAME",
    }.items():
        result = run("pull", name)
        assert result.exit_code == 1 and result.stdout == ""
        assert said in result.stderr and result.stderr.count("\n") == 1


def test_the_token_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert TOKEN not in run("pull", "owner/private").output
    monkeypatch.setenv("HF_TOKEN", f"{TOKEN} {TOKEN}")
    result = run("pull", "minilm")
    assert "HF_TOKEN" in result.stderr and TOKEN not in result.output


# --- check: on a graph of one or two nodes, written by hand ---------------------------------------


def field(number: int, value: bytes | str | int) -> bytes:
    """A field of a protocol buffer whose numbers and lengths are below 16,384."""
    raw = value.encode() if isinstance(value, str) else value
    if isinstance(raw, int):
        return varint(number << 3) + varint(raw)
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 0x7F | 0x80, value >> 7])


def value_info(name: str, kind: int, *dimensions: str) -> bytes:
    shape = b"".join(field(1, field(2, dimension)) for dimension in dimensions)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def node(operator: str, inputs: list[str], output: str, attributes: bytes = b"") -> bytes:
    return b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, operator) + attributes


def onnx_file(nodes: list[bytes], table: np.ndarray[tuple[int, int], np.dtype[np.float32]], output: bytes) -> bytes:
    tensor = (
        field(1, table.shape[0])
        + field(1, table.shape[1])
        + field(2, 1)
        + field(8, "table")
        + field(9, table.tobytes())
    )
    graph = b"".join(field(1, one) for one in nodes) + field(2, "tiny") + field(5, tensor)
    graph += field(11, value_info("input_ids", 7, "batch", "sequence")) + field(12, output)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"the prime minister of united kingdom was mill spring burnt down".split()]


def folder_with(path: Path, onnx: bytes, **config: object) -> Path:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    path.mkdir(parents=True)
    tokenizer.save(str(path / "tokenizer.json"))
    (path / "model.onnx").write_bytes(onnx)
    (path / "config.json").write_text(json.dumps({"pad_token_id": 0, "max_position_embeddings": 64, **config}))
    return path


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """Every word has a direction of its own, unknown ones share one."""
    nodes = [node("Gather", ["table", "input_ids"], "last_hidden_state")]
    output = value_info("last_hidden_state", 1, "batch", "sequence", "hidden")
    folder = folder_with(tmp_path / "encoder", onnx_file(nodes, np.eye(len(WORDS), dtype=np.float32), output))
    prompts = {"query": "query: ", "document": "passage: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return folder


@pytest.fixture
def reranker(tmp_path: Path) -> Path:
    """The score is the mean over what each word is worth; the mill is worth nothing."""
    worth = np.array([[0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0, -9, -9, -9, -9]], dtype=np.float32).T
    axes = field(5, field(1, "axes") + field(8, 1) + field(20, 7)) + field(
        5, field(1, "keepdims") + field(3, 0) + field(20, 2)
    )
    nodes = [node("Gather", ["table", "input_ids"], "worth"), node("ReduceMean", ["worth"], "logits", axes)]
    onnx = onnx_file(nodes, worth, value_info("logits", 1, "batch", "one"))
    return folder_with(tmp_path / "reranker", onnx, architectures=["BertForSequenceClassification"])


def test_check_says_what_an_encoder_is_and_how_it_does(encoder: Path) -> None:
    (row,) = rows(run("check", "--json", "--provider", "cpu", str(encoder)))
    speed, right, wrong = (
        float(str(row.pop(key))) for key in ("texts_per_second", "score_of_answer", "score_of_other")
    )
    assert speed > 1 and 1 >= right > wrong >= 0
    assert float(str(row.pop("seconds_to_load"))) >= 0
    assert row == {
        "folder": str(encoder),
        "kind": "encoder",
        "provider": "cpu",
        "dimension": len(WORDS),
        "pooling": "mean",
        "metric": "dot",
        "query_prefix": "query: ",
        "passage_prefix": "passage: ",
        "max_length": 64,
    }


def test_check_asks_a_reranker(reranker: Path) -> None:
    result = run("check", "--provider", "cpu", str(reranker))
    assert result.exit_code == 0, result.output
    assert "cross-encoder" in result.stdout and "texts a second" in result.stdout
    assert "dimension" not in result.stdout and "warning" not in result.stderr


def test_check_takes_a_name_and_warns_of_a_model_that_tells_nothing_apart(encoder: Path, tmp_path: Path) -> None:
    path = encoder / "model.onnx"
    size = len(WORDS)
    path.write_bytes(
        path.read_bytes().replace(np.eye(size, dtype=np.float32).tobytes(), np.ones((size, size), np.float32).tobytes())
    )
    folder = tmp_path / "mrag" / "models" / "contriever"
    folder.parent.mkdir(parents=True)
    encoder.rename(folder)
    result = run("check", "contriever")
    assert result.exit_code == 0 and str(folder) in result.stdout
    assert "do not trust it" in result.stderr


def test_check_says_what_is_missing(tmp_path: Path) -> None:
    assert "mrag models pull minilm" in run("check", "minilm").stderr
    assert "not the folder of a model" in run("check", str(tmp_path)).stderr
    run("pull", "minilm")
    assert "error: " in run("check", "minilm").stderr, "its ONNX file is none"


# --- interrupted ----------------------------------------------------------------------------------


def test_ctrl_c_ends_in_one_line_and_the_next_pull_goes_on(hub: type[Hub], tmp_path: Path) -> None:
    hub.stops = True
    code = "from mrag.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "models", "pull", "minilm"], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 20
    while not list(tmp_path.rglob("model.onnx.part")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (130, "interrupted\n")
    assert rows(run("list", "--json"))[-1]["state"] == "unfinished"
    hub.stops = False
    assert run("pull", "minilm").exit_code == 0
    assert not list(tmp_path.rglob("*.part"))
