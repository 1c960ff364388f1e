"""What a person and a program learn from ``mrag doctor``."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from types import MappingProxyType

import pytest
from click.testing import CliRunner, Result

from mrag.adapters import store
from mrag.adapters.models import model_cache
from mrag.adapters.models.downloads import RemoteFile
from mrag.adapters.models.model_names import read_name
from mrag.adapters.models.onnx_session import open_session, why_no_cuda
from mrag.cli import checkup, cli
from mrag.errors import MissingExtraError

KEY = "sk-thisIsTheSecret"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
OURS = ("MRAG_", "OPENAI_", "HF_")
PASSAGES = [
    {"id": "a", "text": "Ida Moe led the rowing club from 1999 to 2006."},
    {"id": "b", "text": "Odd Lie has led the rowing club since 2007. He rows himself."},
]


class Lists(BaseHTTPRequestHandler):
    """A server that lists its models under one path; ``seen`` are the paths and keys that it was asked with."""

    answers: Mapping[str, object] = MappingProxyType({})
    status = 200
    sleep = 0.0
    seen: list[tuple[str, str | None]]

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        time.sleep(self.sleep)
        found = self.answers.get(self.path)
        body = json.dumps(found if found is not None else {"error": "no such path"}).encode()
        self.send_response(self.status if found is not None else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


OPENAI = {"/v1/models": {"object": "list", "data": [{"id": "tiny-chat"}, {"id": "large-chat"}]}}
OLLAMA = {"/api/tags": {"models": [{"name": "tiny-chat:latest"}]}}

Serve = Callable[..., tuple[str, type[Lists]]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server with these answers; its URL, and the class that holds what it was asked."""
    servers = []

    def start(answers: dict[str, object], *, status: int = 200, sleep: float = 0.0) -> tuple[str, type[Lists]]:
        handler = type("Bound", (Lists,), {"answers": answers, "status": status, "sleep": sleep, "seen": []})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}", handler

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that names no server, no key and no proxy, and an empty cache."""
    for name in [name for name in os.environ if name.startswith(OURS) or name.upper().endswith("_PROXY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, ["doctor", *args], prog_name="mrag")


def found(*args: str, code: int = 0) -> dict[tuple[str, str], dict[str, object]]:
    """The findings by part and name."""
    result = run("--json", *args)
    assert result.exit_code == code, result.output
    row = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1 and row["ok"] == (code == 0)
    return {(finding["part"], finding["name"]): finding for finding in row["findings"]}


# --- what is installed ----------------------------------------------------------------------------


def test_the_base_install_is_whole_and_each_package_has_its_version() -> None:
    rows = found()
    installed = {name: row for (part, name), row in rows.items() if part == "packages" and name != "CUDA"}
    assert len(installed) == len(checkup.NEEDED) == 8
    for name, row in installed.items():
        assert (row["state"], row["found"]) == ("ok", metadata.version(name))


def test_the_packages_that_are_looked_for_are_those_that_mrag_requires() -> None:
    required = [line for line in metadata.requires("mrag") or [] if "extra ==" not in line]
    names = {line.split(";")[0].split(">=")[0].strip() for line in required}
    assert names - {"onnxruntime"} == {needed.package for needed in checkup.NEEDED}


def test_a_missing_package_is_named_with_its_use_and_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    row = found(code=1)["packages", "hnswlib"]
    assert row["state"] == "wrong" and row["todo"] == "pip install 'hnswlib>=0.8'"
    assert row["found"] == "not installed; needed for --retriever hnsw, and indexes with very many vectors"


def installed(folder: Path, package: str, version: str) -> None:
    """Makes a folder on the path say that a package is installed."""
    info = folder / f"{package}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", encoding="utf-8")


def test_a_package_that_is_too_old_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "requests", "2.9.1")
    monkeypatch.syspath_prepend(tmp_path)
    row = found(code=1)["packages", "requests"]
    assert row["found"] == "2.9.1 is too old; needed for mrag models pull, and language models"
    assert row["todo"] == "pip install 'requests>=2.31'"


def test_a_package_that_cannot_be_loaded_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hnswlib.py").write_text("raise OSError('libgomp.so.1 is missing')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "hnswlib", raising=False)
    row = found(code=1)["packages", "hnswlib"]
    assert "cannot be loaded (OSError: libgomp.so.1 is missing)" in str(row["found"])
    assert row["todo"] == "pip install --force-reinstall hnswlib"


def test_two_packages_that_overwrite_each_other_are_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("onnxruntime", "onnxruntime_gpu"):
        installed(tmp_path, package, "1.23.0")
    monkeypatch.syspath_prepend(tmp_path)
    row = found(code=1)["packages", "onnxruntime-gpu"]
    assert row["found"] == "onnxruntime-gpu and onnxruntime overwrite each other"
    assert "uninstall both, then install one: pip install onnxruntime" in str(row["todo"])


def test_without_onnx_runtime_it_says_so_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    rows = found(code=1)
    assert [name for (_, name), row in rows.items() if row["state"] == "wrong"] in (
        ["onnxruntime-gpu"],
        ["onnxruntime"],
    )
    assert rows["packages", "CUDA"]["details"] == {"usable": False}


def test_cuda_is_usable_exactly_where_a_session_for_it_starts(tmp_path: Path) -> None:
    row = found()["packages", "CUDA"]
    reason = why_no_cuda()
    assert row["details"] == {"usable": not reason}
    if reason:
        assert row["state"] == "absent" and reason in str(row["found"]) and "pip install" in str(row["todo"])
        with pytest.raises(MissingExtraError, match="CUDA cannot be had") as error:
            open_session(tmp_path / "model.onnx", "cuda")
        assert reason in str(error.value)


def test_an_extra_that_is_not_there_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def without(package: str) -> str:
        if package in ("torch", "matplotlib"):
            raise metadata.PackageNotFoundError(package)
        return real(package)

    monkeypatch.setattr(metadata, "version", without)
    rows = found()
    for extra, missing in (("export", "torch"), ("plot", "matplotlib")):
        row = rows["extras", extra]
        assert row["state"] == "absent" and missing in str(row["found"])
        assert row["todo"] == f"pip install 'mrag[{extra}]'"


# --- models and index -----------------------------------------------------------------------------


def test_models_in_the_cache_are_listed_and_an_empty_one_says_what_to_do() -> None:
    assert found()["models", "cache"]["todo"] == "mrag models pull minilm"
    wanted, cache = read_name("minilm"), model_cache.cache_folder()
    folder = model_cache.model_folder(wanted.repo, COMMIT, "float32", cache)
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"graph")
    model_cache.write_manifest(folder, wanted, COMMIT, {"model.onnx": RemoteFile("onnx/model.onnx", 5)})
    (cache / "owner--name" / f"{COMMIT}.part").mkdir(parents=True)
    rows = found()
    assert rows["models", "minilm"]["state"] == "ok" and COMMIT[:12] in str(rows["models", "minilm"]["found"])
    assert rows["models", "owner/name"]["todo"] == "to go on: mrag models pull owner/name"
    assert ("models", "cache") not in rows


def test_an_index_that_opens_tells_what_it_holds(tmp_path: Path) -> None:
    store.build(PASSAGES, tmp_path / "club.index")
    rows = found("--index", str(tmp_path / "club.index"))
    details = rows["index", "folder"]["details"]
    assert rows["index", "folder"]["state"] == "ok" and isinstance(details, dict)
    assert (details["passages"], details["sentences"]) == (2, 3)
    assert rows["index", "vectors"]["state"] == "absent"
    assert "mrag index --upgrade" in str(rows["index", "vectors"]["todo"])


def test_the_vectors_of_an_index_are_told_with_their_encoder(tmp_path: Path, toy: Callable[..., object]) -> None:
    encoder = toy("harbour")
    store.build(PASSAGES, tmp_path / "club.index", encoder=encoder, vectors="sentences")  # type: ignore[arg-type]
    row = found("--index", str(tmp_path / "club.index"))["index", "vectors"]
    details = row["details"]
    assert row["state"] == "ok" and "name harbour with --encoder" in str(row["todo"])
    assert isinstance(details, dict) and details["fingerprint"] == encoder.fingerprint  # type: ignore[attr-defined]
    assert (details["level"], details["dimension"]) == ("sentences", 32)


def test_an_index_that_is_missing_is_wrong(tmp_path: Path) -> None:
    row = found("--index", str(tmp_path / "nosuch"), code=1)["index", "folder"]
    assert row["state"] == "wrong" and "there is no such folder: make one with mrag index" in " ".join(
        str(row["found"]).split()
    )


def test_an_index_of_other_rules_or_of_an_older_format_is_to_be_upgraded(tmp_path: Path) -> None:
    folder = tmp_path / "club.index"
    store.build(PASSAGES, folder)
    whole = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for change in ({"rules": "text-0 timex-0 corpus-0"}, {"version": 0}):
        (folder / "manifest.json").write_text(json.dumps({**whole, **change}), encoding="utf-8")
        row = found("--index", str(folder), code=1)["index", "folder"]
        assert row["state"] == "wrong" and f"mrag index --upgrade {folder}" in str(row["found"])


# --- the language model ---------------------------------------------------------------------------


def test_no_server_is_asked_that_is_not_named(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    url, server = serve(OPENAI)
    rows = found()
    assert server.seen == [] and rows["language model", "server"]["state"] == "absent"
    monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
    rows = found()
    assert [path for path, _ in server.seen] == ["/v1/models"]
    assert rows["language model", "server"]["details"] == {
        "url": f"{url}/v1",
        "named_by": "OPENAI_BASE_URL",
        "reachable": True,
        "api": "openai",
        "models": ["tiny-chat", "large-chat"],
    }
    assert rows["language model", "model"]["state"] == "note"  # the server is all that was asked for


@pytest.mark.parametrize(("answers", "protocol"), [(OPENAI, "OpenAI"), (OLLAMA, "Ollama")])
def test_a_server_is_known_by_its_protocol(answers: dict[str, object], protocol: str, serve: Serve) -> None:
    url, _ = serve(answers)
    rows = found("--llm", url, "--llm-model", "tiny-chat")
    assert f"speaks the {protocol} protocol and offers " in str(rows["language model", "server"]["found"])
    assert rows["language model", "model"]["found"] == "tiny-chat is there"


def test_a_model_that_the_server_lacks_is_wrong_and_the_nearest_is_named(serve: Serve) -> None:
    url, _ = serve(OPENAI)
    row = found("--llm", url, "--llm-model", "large-chatt", code=1)["language model", "model"]
    assert (row["state"], row["found"]) == ("wrong", "the server has no large-chatt")
    assert row["todo"] == "name one of the server's: --llm-model large-chat"


def test_a_server_that_lists_no_models_may_have_the_one_that_is_named(serve: Serve) -> None:
    url, _ = serve({"/v1/models": {"data": []}})
    assert found("--llm", url, "--llm-model", "tiny-chat")["language model", "model"]["state"] == "note"


def test_a_server_that_is_not_there_or_is_none_is_wrong(serve: Serve) -> None:
    for answers, said in (({}, "not as a model server does"), ({"/v1/models": {"hello": 1}}, "not as a model server")):
        url, _ = serve(answers)
        row = found("--llm", url, code=1)["language model", "server"]
        assert row["state"] == "wrong" and said in str(row["found"])
    row = found("--llm", "http://127.0.0.1:9", code=1)["language model", "server"]
    assert "cannot be reached" in str(row["found"]) and "named by --llm" in str(row["todo"])


def test_a_server_that_says_nothing_is_not_waited_for(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    url, _ = serve(OPENAI, sleep=3.0)
    monkeypatch.setattr(checkup, "_SECONDS", 0.2)
    assert "within 0.2 seconds" in str(found("--llm", url, code=1)["language model", "server"]["found"])


def test_what_is_no_address_is_wrong_and_not_shown() -> None:
    result = run("--llm", f"http://me:{KEY}@127.0.0.1:9/v1")
    assert result.exit_code == 1 and KEY not in result.output
    assert "address" in result.stdout


def test_a_key_is_told_to_be_set_and_sent_only_where_it_belongs(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    url, server = serve(OPENAI)
    other, stranger = serve(OPENAI)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    row = found()["language model", "keys"]
    assert row["state"] == "note" and "OPENAI_BASE_URL" in str(row["todo"])
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    own = found()["language model", "keys"]
    assert own["details"] == {"MRAG_LLM_KEY": False, "OPENAI_API_KEY": True, "sent": True}
    assert server.seen == [("/v1/models", f"Bearer {KEY}")]
    assert "sent none" in str(found("--llm", other)["language model", "keys"]["found"])
    assert stranger.seen == [("/v1/models", None)]


def test_a_key_is_never_shown_whatever_the_server_says(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    url, server = serve({"/v1/models": {"error": {"message": f"the key {KEY} is wrong"}}}, status=401)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    for options in ([], ["--json"]):
        result = run(*options)
        assert result.exit_code == 1 and "does not accept the key" in " ".join(result.stdout.split())
        assert KEY not in result.output
    assert server.seen


# --- the table ------------------------------------------------------------------------------------


def test_people_get_a_table_with_what_to_do_and_how_it_ended() -> None:
    result = run()
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == [
        "mrag",
        "packages",
        "extras",
        "models",
        "language model",
    ]
    numpy = next(line for line in lines if " numpy " in line)
    assert numpy.split() == ["ok", "numpy", metadata.version("numpy")]
    assert "→ mrag models pull minilm" in result.stdout
    assert result.stderr == "all that was asked for works\n"


def test_names_from_a_server_cannot_steer_the_terminal(serve: Serve) -> None:
    url, _ = serve({"/v1/models": {"data": [{"id": "evil\x1b[31m\n  ok      model"}]}})
    result = run("--llm", url)
    assert "\x1b" not in result.stdout
    assert not any(line.startswith("  ok      model") for line in result.stdout.splitlines())
    assert json.loads(run("--llm", url, "--json").stdout)["ok"]
