"""Models are pulled from a hub, whatever the network does, and their names stand for folders; all on a local server."""

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from mrag.adapters import hub
from mrag.adapters.models import model_cache
from mrag.adapters.models.model_names import MODELS, read_name
from mrag.adapters.models.onnx_external import external_files
from mrag.adapters.models.repository import check_file_name
from mrag.adapters.serving.web import DownloadError, Server
from mrag.errors import InputError, MragError

REPO = "owner/name"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NEXT = "89abcdef0123456789abcdef0123456789abcdef"
TOKEN = "hf_thisIsTheSecret"


# --- a hub in a thread ----------------------------------------------------------------------------


def proto(number: int, content: bytes) -> bytes:
    """A length-delimited field of a protocol buffer."""
    size, out = len(content), bytearray([number << 3 | 2])
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*out, size]) + content


def graph(weights: bytes = b"", external: tuple[str, ...] = ()) -> bytes:
    """An ONNX file as far as its tensors go: one with data inside, and one for each file beside it."""
    tensors = proto(5, proto(8, b"inside") + proto(9, weights))
    for name in external:
        entry = proto(13, proto(1, b"location") + proto(2, name.encode())) + proto(
            13, proto(1, b"offset") + proto(2, b"0")
        )
        tensors += proto(5, proto(8, b"outside") + entry)
    return proto(2, b"test") + proto(7, tensors)


WEIGHTS = graph(bytes(range(256)) * 12_000)
FILES = {
    "onnx/model.onnx": WEIGHTS,
    "onnx/model_fp16.onnx": graph(b"half"),
    "config.json": b'{"model_type": "bert"}',
    "tokenizer.json": b'{"version": "1.0"}',
    "1_Pooling/config.json": b'{"pooling_mode_mean_tokens": true}',
    "pytorch_model.bin": b"a pickle",
    "README.md": b"# a model",
}
Answer = Callable[["Handler"], bool]


@dataclass
class Hub:
    """What the server holds, what it was asked, and how it is to misbehave."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(FILES))
    commit: str = COMMIT
    repo: str = REPO
    ranges: bool = True
    redirect: str = ""
    token: str = ""
    edit: Callable[[dict[str, object]], object] | None = None
    faults: list[tuple[str, Answer]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def begun(self) -> list[int]:
        """The first byte of each request that asked for the rest of a file."""
        ranges = [headers["Range"] for _, headers in self.asked if "Range" in headers]
        return [int(asked.removeprefix("bytes=").removesuffix("-")) for asked in ranges]

    def fault(self, where: str, answer: Answer) -> None:
        """The next request for a path that ends so is answered so; True: and no more is said."""
        self.faults.append((where, answer))

    def listing(self) -> dict[str, object]:
        siblings = []
        for name, content in self.files.items():
            row: dict[str, object] = {"rfilename": name, "size": len(content)}
            if len(content) > 1000 or name.endswith((".onnx", ".onnx_data")):
                row |= {
                    "lfs": {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)},
                    "blobId": "f" * 40,
                }
            else:
                row["blobId"] = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            siblings.append(row)
        answer: dict[str, object] = {"id": self.repo, "sha": self.commit, "siblings": siblings}
        if self.edit is not None:
            self.edit(answer)
        return answer


class Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append((path, dict(self.headers)))
        for number, (where, answer) in enumerate(self.hub.faults):
            if path.endswith(where):
                del self.hub.faults[number]
                if answer(self):
                    return None
                break
        if self.hub.token and self.headers.get("Authorization") != f"Bearer {self.hub.token}":
            return self.say(401)
        if path.startswith(f"/api/models/{self.hub.repo}/revision/"):
            if path.endswith(("/main", self.hub.commit)):
                return self.say(200, json.dumps(self.hub.listing()).encode())
            return self.say(404, headers={"X-Error-Code": "RevisionNotFound"})
        name = path.removeprefix(f"/{self.hub.repo}/resolve/{self.hub.commit}/")
        if name not in self.hub.files:
            return self.say(404, headers={"X-Error-Code": "EntryNotFound"})
        if self.hub.redirect:
            return self.say(302, headers={"Location": self.hub.redirect + self.path + "?signature=secret"})
        return self.say_file(self.hub.files[name])

    def say_file(self, content: bytes, *, stop: int | None = None) -> None:
        """A file, or what a range asks of it; ``stop``: the connection is closed behind so many bytes."""
        asked, start = self.headers.get("Range"), 0
        if asked and self.hub.ranges:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                return self.say(416)
        rest = content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(rest[:stop])
        if stop is not None:
            self.close_connection = True
        return None

    def say(self, status: int, content: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that hung up is no news."""


def serve(content: Hub) -> ThreadingHTTPServer:
    server = QuietServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": content}))
    content.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of this machine plays a part."""
    for name in [name for name in os.environ if name.upper().endswith("_PROXY") or name.startswith("HF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("NETRC", str(tmp_path / "no-netrc"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def remote() -> Iterator[Hub]:
    content = Hub()
    server = serve(content)
    yield content
    server.shutdown()
    server.server_close()


@pytest.fixture
def cdn() -> Iterator[Hub]:
    content = Hub()
    server = serve(content)
    yield content
    server.shutdown()
    server.server_close()


def at(remote: Hub, token: str = "", *, timeout: float = 5.0, tries: int = 3) -> Server:
    return Server(remote.url, token, timeout=(timeout, timeout), tries=tries, wait=0.01)


def pull(remote: Hub, name: str = REPO, **options: object) -> model_cache.Cached:
    options.setdefault("server", at(remote))
    return hub.pull(name, **options)  # type: ignore[arg-type]


def drop(stop: int, name: str = "onnx/model.onnx") -> Answer:
    """Hangs up behind so many bytes of a file."""

    def answer(handler: Handler) -> bool:
        handler.say_file(handler.hub.files[name], stop=stop)
        return True

    return answer


def status(code: int, **headers: str) -> Answer:
    def answer(handler: Handler) -> bool:
        handler.say(code, headers={name.replace("_", "-"): value for name, value in headers.items()})
        return True

    return answer


# --- pulling --------------------------------------------------------------------------------------


def test_a_pull_brings_what_a_model_needs_and_no_more(remote: Hub) -> None:
    got = pull(remote)
    assert (got.repo, got.revision, got.precision) == (REPO, COMMIT, "float32")
    assert got.folder == model_cache.cache_folder() / "owner--name" / COMMIT
    names = {path.relative_to(got.folder).as_posix() for path in got.folder.rglob("*") if path.is_file()}
    wanted = {"onnx/model.onnx", "config.json", "tokenizer.json", "1_Pooling/config.json"}
    assert names == wanted | {"mrag-pulled.json"}
    assert all((got.folder / name).read_bytes() == FILES[name] for name in wanted)
    assert got.size == sum(len(FILES[name]) for name in wanted)


def test_all_files_are_those_of_the_commit_that_was_asked_for_first(remote: Hub) -> None:
    pull(remote)
    first, *others = remote.paths()
    assert first == f"/api/models/{REPO}/revision/main"
    assert all(path.startswith(f"/{REPO}/resolve/{COMMIT}/") for path in others)


def test_a_model_in_the_cache_is_not_brought_again(remote: Hub) -> None:
    pull(remote)
    del remote.asked[:]
    pull(remote)
    assert remote.paths() == [f"/api/models/{REPO}/revision/main"]


def test_a_pinned_commit_in_the_cache_asks_nothing(remote: Hub) -> None:
    pull(remote, revision=COMMIT)
    del remote.asked[:]
    assert pull(remote, revision=COMMIT).revision == COMMIT
    assert remote.asked == []


def test_a_new_commit_comes_beside_the_old_one_and_the_name_follows_the_last_pull(remote: Hub) -> None:
    old = pull(remote)
    remote.commit = NEXT
    new = pull(remote)
    assert model_cache.resolve(REPO) == new.folder != old.folder
    assert model_cache.resolve(f"{REPO}@{COMMIT[:12]}") == old.folder
    pull(remote, revision=COMMIT)
    assert model_cache.resolve(REPO) == old.folder
    assert [one.revision for one in model_cache.cached()] == [COMMIT, NEXT]


def test_another_precision_is_a_model_of_its_own_under_the_usual_file_name(remote: Hub) -> None:
    half = pull(remote, precision="float16")
    assert (half.folder / "onnx" / "model.onnx").read_bytes() == FILES["onnx/model_fp16.onnx"]
    assert model_cache.resolve(f"{REPO}:float16") == half.folder
    with pytest.raises(InputError, match=f"mrag models pull {REPO}$"):
        model_cache.resolve(REPO)
    with pytest.raises(InputError, match=r"no ONNX file in int8 .*onnx/model.onnx.*mrag export KIND owner/name"):
        pull(remote, name=f"{REPO}:int8")


def test_weights_outside_of_the_onnx_file_come_with_it(remote: Hub) -> None:
    remote.files |= {
        "onnx/model.onnx": graph(external=("model.onnx_data", "Constant_7_attr__value")),
        "onnx/model.onnx_data": b"w" * 5000,
        "onnx/Constant_7_attr__value": b"c" * 500,
    }
    got = pull(remote)
    assert (got.folder / "onnx" / "model.onnx_data").read_bytes() == b"w" * 5000
    assert (got.folder / "onnx" / "Constant_7_attr__value").read_bytes() == b"c" * 500
    (got.folder / "onnx" / "model.onnx_data").unlink()
    assert model_cache.find(read_name(REPO)) is None, "a model without its weights is not whole"


def test_weights_that_the_repository_lacks_are_an_error(remote: Hub) -> None:
    remote.files["onnx/model.onnx"] = graph(external=("gone.data",))
    with pytest.raises(DownloadError, match=r"'onnx/gone\.data', which is not there"):
        pull(remote)


def test_a_lost_file_is_mended_by_pulling_again(remote: Hub) -> None:
    folder = pull(remote).folder
    (folder / "config.json").unlink()
    del remote.asked[:]
    assert pull(remote).folder == folder
    assert [path.rpartition("/")[2] for path in remote.paths()] == ["main", "config.json"]


def test_progress_is_told_in_bytes_up_to_the_end(remote: Hub) -> None:
    told: list[tuple[int, int]] = []
    got = pull(remote, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told) and told[-1] == (got.size, got.size)


def test_prefixes_of_the_table_come_into_the_folder(remote: Hub) -> None:
    remote.repo = "intfloat/e5-small-v2"
    folder = pull(remote, "e5-small").folder
    settings = json.loads((folder / "config_sentence_transformers.json").read_text())
    assert settings["prompts"] == {"query": "query: ", "document": "passage: "}
    assert model_cache.resolve("e5-small") == model_cache.resolve("intfloat/e5-small-v2") == folder


def test_prefixes_that_a_model_has_are_kept(remote: Hub) -> None:
    remote.repo = "BAAI/bge-small-en-v1.5"
    remote.files["config_sentence_transformers.json"] = b'{"prompts": {"query": "own: "}}'
    folder = pull(remote, "bge-small").folder
    assert json.loads((folder / "config_sentence_transformers.json").read_text())["prompts"] == {"query": "own: "}
    assert pull(remote, "bge-small").folder == folder


# --- resuming -------------------------------------------------------------------------------------


def test_a_dropped_connection_is_gone_on_with(remote: Hub) -> None:
    remote.fault("onnx/model.onnx", drop(1_000_000))
    assert (pull(remote).folder / "onnx" / "model.onnx").read_bytes() == WEIGHTS
    (begun,) = remote.begun()
    assert 900_000 < begun <= 1_000_000


def test_a_connection_that_brings_something_each_time_may_drop_often(remote: Hub) -> None:
    remote.files["onnx/model.onnx"] = graph(b"\1" * 9_000_000)
    for _ in range(6):
        remote.fault("onnx/model.onnx", drop(1_200_000))
    pull(remote, server=at(remote, tries=2))
    assert len(remote.begun()) == 6


def test_a_server_that_always_drops_is_given_up(remote: Hub) -> None:
    for _ in range(9):
        remote.fault("onnx/model.onnx", drop(1000))
    with pytest.raises(DownloadError, match="broke off"):
        pull(remote)
    assert remote.paths().count(f"/{REPO}/resolve/{COMMIT}/onnx/model.onnx") == 3


def test_a_server_without_ranges_begins_again(remote: Hub) -> None:
    remote.ranges = False
    remote.fault("onnx/model.onnx", drop(1_000_000))
    assert (pull(remote).folder / "onnx" / "model.onnx").read_bytes() == WEIGHTS


def test_a_server_without_ranges_that_always_drops_is_given_up(remote: Hub) -> None:
    remote.ranges = False
    for stop in (1_500_000, 2_800_000, 1_500_000, 2_800_000, 1_500_000, 2_800_000):
        remote.fault("onnx/model.onnx", drop(stop))
    with pytest.raises(DownloadError, match="broke off"):
        pull(remote, server=at(remote, tries=2))


def test_a_stopped_pull_leaves_no_model_and_is_gone_on_with(remote: Hub) -> None:
    def stop(done: int, total: int) -> None:
        if done > 2_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(remote, progress=stop)
    assert model_cache.cached() == []
    assert [folder.name for folder in model_cache.unfinished()] == [f"{COMMIT}.part"]
    del remote.asked[:]
    assert (pull(remote).folder / "onnx" / "model.onnx").read_bytes() == WEIGHTS
    assert [path.rpartition("/")[2] for path in remote.paths()] == ["main", "model.onnx"]
    (begun,) = remote.begun()
    assert begun > 1_900_000
    assert model_cache.unfinished() == []


@pytest.mark.parametrize("spoilt", [b"x" * 1_000_000, b"x" * len(WEIGHTS), b"x" * (len(WEIGHTS) + 5)])
def test_a_spoilt_rest_is_thrown_away(remote: Hub, spoilt: bytes) -> None:
    folder = model_cache.cache_folder() / "owner--name" / f"{COMMIT}.part" / "onnx"
    folder.mkdir(parents=True)
    (folder / "model.onnx.part").write_bytes(spoilt)
    assert (pull(remote).folder / "onnx" / "model.onnx").read_bytes() == WEIGHTS


def test_a_range_that_the_server_cannot_serve_begins_again(remote: Hub) -> None:
    remote.fault("onnx/model.onnx", drop(1_000_000))
    remote.fault("onnx/model.onnx", status(416))
    assert (pull(remote).folder / "onnx" / "model.onnx").read_bytes() == WEIGHTS


def test_a_range_from_another_place_is_not_taken(remote: Hub) -> None:
    def shifted(handler: Handler) -> bool:
        handler.say(206, b"?" * (len(WEIGHTS) - 5), {"Content-Range": f"bytes 5-{len(WEIGHTS) - 1}/{len(WEIGHTS)}"})
        return True

    remote.fault("onnx/model.onnx", drop(1_000_000))
    remote.fault("onnx/model.onnx", shifted)
    assert (pull(remote).folder / "onnx" / "model.onnx").read_bytes() == WEIGHTS


def test_two_pulls_at_once_bring_a_model_once(remote: Hub) -> None:
    notes: list[str] = []

    def slow(handler: Handler) -> bool:
        for _ in range(1000):
            if len(notes) == 3:
                break
            time.sleep(0.01)
        return False

    remote.fault("tokenizer.json", slow)
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda _: pull(remote, note=notes.append), range(4)))
    assert len(set(got)) == 1
    assert remote.paths().count(f"/{REPO}/resolve/{COMMIT}/onnx/model.onnx") == 1
    assert len(notes) == 3 and all("waiting for another pull" in note for note in notes)


# --- what is sent is checked ----------------------------------------------------------------------


def spoil(remote: Hub, name: str, content: bytes) -> None:
    """The list goes on announcing what the file was."""
    announced = remote.listing()
    remote.edit = lambda answer: answer.update(announced)
    remote.files[name] = content


@pytest.mark.parametrize("name", ["onnx/model.onnx", "config.json"])
def test_another_content_of_the_same_length_is_refused(remote: Hub, name: str) -> None:
    spoil(remote, name, b"?" * len(FILES[name]))
    with pytest.raises(DownloadError, match=f"'{name}' came with another hash"):
        pull(remote)
    assert model_cache.cached() == []
    half = model_cache.cache_folder() / "owner--name" / f"{COMMIT}.part"
    assert not (half / name).exists() and not (half / f"{name}.part").exists()


@pytest.mark.parametrize("change", [-1, 1])
def test_another_length_is_refused_before_it_is_read(remote: Hub, change: int) -> None:
    spoil(remote, "onnx/model.onnx", (WEIGHTS + b"?")[: len(WEIGHTS) + change])
    with pytest.raises(DownloadError, match=r"sends 3,072,\d\d\d bytes of 'onnx/model.onnx', which was announced with"):
        pull(remote)


def test_a_length_that_is_not_told_ends_at_what_was_announced(remote: Hub) -> None:
    def endless(handler: Handler) -> bool:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        with suppress(OSError):
            for _ in range(1000):
                handler.wfile.write(b"?" * 100_000)
        handler.close_connection = True
        return True

    remote.fault("onnx/model.onnx", endless)
    with pytest.raises(DownloadError, match="longer than announced"):
        pull(remote)


def test_a_list_without_hashes_is_taken_with_a_note(remote: Hub) -> None:
    remote.edit = lambda answer: answer.update(
        siblings=[{"rfilename": name, "size": len(content)} for name, content in FILES.items()]
    )
    notes: list[str] = []
    pull(remote, note=notes.append)
    assert len(notes) == 4 and "'onnx/model.onnx': its size alone was checked" in notes[-1]


@pytest.mark.parametrize("size", [None, -5, True, "12", 2**60])
def test_an_absurd_size_is_refused_before_a_byte_is_asked_for(remote: Hub, size: object) -> None:
    def edit(answer: dict[str, object]) -> None:
        answer["siblings"] = [{"rfilename": name, "size": size} for name in FILES]

    remote.edit = edit
    with pytest.raises(DownloadError, match="refused"):
        pull(remote)
    assert len(remote.asked) == 1


def test_absurdly_many_files_are_refused(remote: Hub) -> None:
    many = [{"rfilename": f"f{number}", "size": 1} for number in range(60_000)]
    remote.edit = lambda answer: answer.update(siblings=many)
    with pytest.raises(DownloadError, match="60,000 files"):
        pull(remote)


def test_an_absurdly_long_list_is_not_read_to_its_end(remote: Hub) -> None:
    remote.edit = lambda answer: answer.update(padding="x" * 40_000_000)
    with pytest.raises(DownloadError, match="more than 33,554,432 bytes"):
        pull(remote)


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "onnx/../../evil",
        "/etc/evil",
        "C:/evil",
        "c:evil",
        "..\\evil",
        "onnx\\model.onnx",
        "a\0b",
        "a\nb",
        "",
        ".",
        "a//b",
        "a/./b",
    ],
)
def test_a_name_that_leads_out_of_the_folder_is_refused(remote: Hub, name: str) -> None:
    with pytest.raises(DownloadError, match="could not stay in the model's folder"):
        check_file_name(name, REPO)
    remote.files[name] = b"evil"
    with pytest.raises(DownloadError, match="could not stay in the model's folder"):
        pull(remote)
    assert len(remote.asked) == 1 and not model_cache.cache_folder().exists()


def test_a_model_cannot_name_weights_outside_of_its_folder(remote: Hub) -> None:
    remote.files["onnx/model.onnx"] = graph(external=("../../../evil",))
    with pytest.raises(DownloadError, match="could not stay"):
        pull(remote)


def test_a_link_in_the_cache_is_not_followed(remote: Hub, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    half = model_cache.cache_folder() / "owner--name" / f"{COMMIT}.part"
    half.mkdir(parents=True)
    (half / "onnx").symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(DownloadError, match="a link leads out"):
        pull(remote)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "answer", ["[]", "{}", "not json", '{"sha": "../..", "siblings": []}', '{"sha": "' + COMMIT + '", "siblings": [7]}']
)
def test_an_answer_of_another_shape_is_an_error(remote: Hub, answer: str) -> None:
    def say(handler: Handler) -> bool:
        handler.say(200, answer.encode())
        return True

    remote.fault("/main", say)
    with pytest.raises(DownloadError, match=r"no list of its files|list of files is damaged|no JSON"):
        pull(remote)


def test_a_repository_without_a_tokenizer_is_refused(remote: Hub) -> None:
    del remote.files["tokenizer.json"]
    with pytest.raises(InputError, match=r"no tokenizer\.json"):
        pull(remote)


# --- the server and its moods ---------------------------------------------------------------------


def test_a_server_that_is_busy_is_asked_again(remote: Hub) -> None:
    remote.fault("/main", status(429, Retry_After="0"))
    remote.fault("/main", status(503))
    remote.fault("config.json", status(500))
    assert pull(remote).revision == COMMIT
    assert remote.paths().count(f"/api/models/{REPO}/revision/main") == 3


def test_the_server_says_how_long_to_wait(remote: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("mrag.adapters.serving.web.time.sleep", waits.append)
    remote.fault("/main", status(429, Retry_After="7"))
    remote.fault("/main", status(429, Retry_After="86400"))
    pull(remote)
    assert waits == [7.0, 60.0]


def test_a_server_that_stays_busy_is_given_up(remote: Hub) -> None:
    for _ in range(3):
        remote.fault("/main", status(429))
    with pytest.raises(DownloadError, match=r"answers 429 \(too many requests\): try again later"):
        pull(remote)


@pytest.mark.parametrize(
    ("code", "reason", "said"),
    [
        (404, "RepoNotFound", "has no model owner/name"),
        (404, "", "has no model owner/name"),
        (404, "RevisionNotFound", "has no revision 'main' of owner/name"),
        (401, "", "set HF_TOKEN"),
        (403, "GatedRepo", r"accept its terms at http://127\.0\.0\.1:\d+/owner/name, then set HF_TOKEN"),
        (418, "", "answers 418 when asked for owner/name"),
    ],
)
def test_a_refusal_says_what_to_do_and_is_not_asked_again(remote: Hub, code: int, reason: str, said: str) -> None:
    remote.fault("/main", status(code, X_Error_Code=reason))
    with pytest.raises(DownloadError, match=said):
        pull(remote)
    assert len(remote.asked) == 1


def test_a_gated_file_behind_an_open_list_says_what_to_do(remote: Hub) -> None:
    remote.fault("config.json", status(401, X_Error_Code="GatedRepo"))
    with pytest.raises(DownloadError, match="set HF_TOKEN to a token of the account"):
        pull(remote)


def test_a_revision_that_is_not_there_is_named(remote: Hub) -> None:
    with pytest.raises(DownloadError, match="has no revision 'refs/pr/7' of owner/name"):
        pull(remote, revision="refs/pr/7")
    assert remote.paths() == [f"/api/models/{REPO}/revision/refs/pr/7"]


@pytest.mark.parametrize("where", ["/main", "onnx/model.onnx"])
def test_a_server_that_falls_silent_is_given_up(remote: Hub, where: str) -> None:
    def silent(handler: Handler) -> bool:
        if where != "/main":
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(WEIGHTS)))
            handler.end_headers()
            handler.wfile.write(WEIGHTS[:1000])
            handler.wfile.flush()
        time.sleep(0.6)
        handler.close_connection = True
        return True

    for _ in range(2):
        remote.fault(where, silent)
    with pytest.raises(DownloadError, match=r"no byte for 0\.2 seconds"):
        pull(remote, server=at(remote, timeout=0.2, tries=2))


def test_a_machine_without_network_is_one_sentence(remote: Hub) -> None:
    closed = Server("http://127.0.0.1:9", tries=2, wait=0.01)
    with pytest.raises(
        DownloadError, match=r"^127\.0\.0\.1:9: cannot be reached, or hangs up: is this machine online\?$"
    ):
        pull(remote, server=closed)


def test_redirects_within_the_server_are_followed(remote: Hub) -> None:
    remote.fault("/main", status(307, Location=f"/api/models/{REPO}/revision/{COMMIT}?blobs=true"))
    assert pull(remote).revision == COMMIT


def test_redirects_without_end_are_refused(remote: Hub) -> None:
    remote.redirect = remote.url
    with pytest.raises(DownloadError, match="redirects again and again"):
        pull(remote)


@pytest.mark.parametrize("where", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_redirects_lead_to_web_servers_only(remote: Hub, where: str) -> None:
    remote.fault("/main", status(302, Location=where))
    with pytest.raises(DownloadError, match="redirects to"):
        pull(remote)


# --- the token ------------------------------------------------------------------------------------


def test_the_token_opens_a_private_model(remote: Hub) -> None:
    remote.token = TOKEN
    assert pull(remote, server=at(remote, TOKEN)).revision == COMMIT
    with pytest.raises(DownloadError, match="HF_TOKEN is set, but not accepted"):
        pull(remote, server=at(remote, "hf_another"))


def test_the_token_does_not_go_to_another_host(remote: Hub, cdn: Hub) -> None:
    remote.token, remote.redirect = TOKEN, cdn.url
    remote.fault("onnx/model.onnx", lambda _: False)
    cdn.fault("onnx/model.onnx", drop(1_000_000))
    assert (pull(remote, server=at(remote, TOKEN)).folder / "onnx" / "model.onnx").read_bytes() == WEIGHTS
    assert len(cdn.asked) == 5 and not any("Authorization" in headers for _, headers in cdn.asked)
    assert len(cdn.begun()) == 1
    assert all(headers["Authorization"] == f"Bearer {TOKEN}" for _, headers in remote.asked)


def test_no_password_of_netrc_is_sent(remote: Hub, cdn: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    remote.redirect = cdn.url
    pull(remote)
    assert not any("Authorization" in headers for _, headers in [*remote.asked, *cdn.asked])


@pytest.mark.parametrize("token", [TOKEN, f"{TOKEN}\nX: y", f"{TOKEN} ü"])
def test_the_token_is_in_no_message_and_no_traceback(remote: Hub, token: str) -> None:
    import traceback

    remote.token = "hf_another"
    with pytest.raises(MragError) as caught:
        pull(remote, server=at(remote, token))
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
    assert TOKEN not in repr(at(remote, TOKEN))


def test_a_signed_address_is_in_no_message(remote: Hub, cdn: Hub) -> None:
    import traceback

    remote.redirect = cdn.url
    cdn.files = {}
    with pytest.raises(DownloadError) as caught:
        pull(remote)
    assert "signature" not in "".join(traceback.format_exception(caught.value))


def test_the_environment_names_the_server(remote: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    remote.token = TOKEN
    monkeypatch.setenv("HF_ENDPOINT", f"{remote.url}/")
    monkeypatch.setenv("HF_TOKEN", f" {TOKEN}\n")
    assert hub.pull(REPO).revision == COMMIT
    monkeypatch.delenv("HF_ENDPOINT")
    assert hub.server_from_environment().endpoint == "https://huggingface.co"


@pytest.mark.parametrize(
    "address", ["huggingface.co", "ftp://x", "https://", "https://me:pw@x", "http://x:y", "http://a b"]
)
def test_an_address_that_is_none_is_an_error(address: str) -> None:
    with pytest.raises(InputError, match="HF_ENDPOINT") as caught:
        Server(address)
    assert "pw" not in str(caught.value)


# --- without a network ----------------------------------------------------------------------------


def test_offline_the_cache_is_used_and_nothing_is_asked(remote: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    got = pull(remote)
    del remote.asked[:]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert pull(remote) == got
    with pytest.raises(DownloadError, match=r"not in the cache .* HF_HUB_OFFLINE forbids"):
        pull(remote, "owner/other")
    assert remote.asked == []


def test_a_pull_that_fails_says_that_the_model_is_here(remote: Hub) -> None:
    got = pull(remote)
    remote.fault("/main", status(404))
    with pytest.raises(DownloadError, match="owner/name as it was pulled before can still be used"):
        pull(remote)
    assert model_cache.resolve(REPO) == got.folder


def test_offline_means_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, meant in {"1": True, "true": True, "Yes": True, "0": False, "": False, "no": False}.items():
        monkeypatch.setenv("HF_HUB_OFFLINE", value)
        assert hub.offline() is meant


def test_a_cache_that_cannot_be_written_is_named(remote: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(DownloadError, match=r"file/mrag.*XDG_CACHE_HOME"):
        pull(remote)


def test_the_cache_lies_at_home_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert model_cache.cache_folder() == tmp_path / "cache" / "mrag" / "models"
    for value in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert model_cache.cache_folder() == Path.home() / ".cache" / "mrag" / "models"


# --- names ----------------------------------------------------------------------------------------


def test_a_folder_that_exists_wins_over_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "minilm").mkdir()
    assert model_cache.resolve("minilm") == Path("minilm")
    assert model_cache.resolve(tmp_path / "minilm") == tmp_path / "minilm"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("minilm", "mrag models pull minilm$"),
        (Path("minilm"), "mrag models pull minilm$"),
        ("minilm@v1:int8", "mrag models pull minilm --revision v1 --precision int8$"),
        ("sentence-transformers/all-MiniLM-L6-v2", "mrag models pull minilm$"),
        ("owner/name", "mrag models pull owner/name$"),
        ("contriever", r"pip install 'mrag\[export\]' run mrag export encoder facebook/contriever -o .*/contriever$"),
        ("gemma-reranker:int8", "mrag export gemma-reranker BAAI/bge-reranker-v2-gemma -o .*-int8 --int8$"),
        ("embeddinggemma", "mrag export gemma-encoder google/embeddinggemma-300m -o "),
        ("nosuch", "write the OWNER/NAME of a repository, or one of minilm, bge-small"),
        ("./models/minilm", "no such folder"),
        (Path("/models/minilm"), "no such folder"),
        ("models/a/b", "no such folder"),
        ("", "no model"),
        ("owner/..", "no model"),
        ("owner/na--me", "no model"),
        ("minilm:int4", "'int4' is no precision"),
        ("minilm@", "no revision"),
        ("minilm@../x", "no revision"),
    ],
)
def test_a_name_without_a_model_says_how_to_get_it(name: str | Path, said: str) -> None:
    with pytest.raises(InputError, match=said):
        model_cache.resolve(name)


def test_a_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(InputError, match="name the folder that it lies in"):
        model_cache.resolve(tmp_path / "model.onnx")


def test_a_model_that_was_exported_into_the_cache_has_its_name() -> None:
    command = model_cache.export_command(read_name("contriever"))
    folder = Path(command.rpartition(" -o ")[2])
    folder.mkdir(parents=True)
    assert model_cache.resolve("contriever") == folder
    assert [(model.name, precision) for model, precision, _ in model_cache.exported()] == [("contriever", "float32")]


def test_what_must_be_exported_cannot_be_pulled(remote: Hub) -> None:
    for name in ("contriever", "facebook/contriever"):
        with pytest.raises(InputError, match="mrag export encoder facebook/contriever"):
            pull(remote, name)
    assert remote.asked == []


def test_short_names_are_distinct_and_read_back() -> None:
    assert len({model.name for model in MODELS}) == len({model.repo for model in MODELS}) == len(MODELS)
    for model in MODELS:
        assert read_name(model.name) == read_name(model.repo) and read_name(model.name).model is model
        assert str(replace(read_name(model.name), revision="v1", precision="int8")) == f"{model.name}@v1:int8"


# --- weights beside an ONNX file ------------------------------------------------------------------


def test_external_weights_are_found_in_nodes_and_subgraphs_too(tmp_path: Path) -> None:
    tensor = proto(13, proto(1, b"location") + proto(2, b"deep.data"))
    inner = proto(1, proto(5, proto(5, tensor)))  # a node of a subgraph with a tensor for an attribute
    (tmp_path / "m.onnx").write_bytes(proto(7, proto(1, proto(5, proto(6, inner)))) + graph(external=("b", "a", "b")))
    assert external_files(tmp_path / "m.onnx") == ["a", "b", "deep.data"]


def test_graphs_nested_without_measure_end_in_no_stack_overflow(tmp_path: Path) -> None:
    inner = b""
    for _ in range(3000):
        inner = proto(1, proto(5, proto(6, inner)))
    (tmp_path / "m.onnx").write_bytes(proto(7, inner))
    assert external_files(tmp_path / "m.onnx") == []


@pytest.mark.parametrize("content", [b"", b"\xff" * 50, b"\x3a\x7f", b"not an ONNX file", WEIGHTS[:-1]])
def test_what_is_no_onnx_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(InputError, match="no ONNX model"):
        external_files(tmp_path / "m.onnx")


def test_external_weights_of_a_file_that_onnx_wrote(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    import numpy as np

    weights = onnx.numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [64, 64])
    node = onnx.helper.make_node("Identity", ["w"], ["y"])
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], [output], [weights]))
    onnx.save_model(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=10)
    assert external_files(tmp_path / "m.onnx") == ["m.data"]
    onnx.save_model(model, tmp_path / "n.onnx")
    assert external_files(tmp_path / "n.onnx") == ["m.data"] or external_files(tmp_path / "n.onnx") == []
