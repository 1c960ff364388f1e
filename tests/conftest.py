"""What several suites share: an encoder that needs no model, and a server of models that does as a test wants."""

import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest

PROJECTION = np.random.default_rng(7).standard_normal((997, 32)).astype(np.float32)


class ToyEncoder:
    """A text's character trigrams through a fixed random projection: texts that share words lie near each other.

    ``precision`` is that of an encoder's numbers: one family, other last bits. ``seen`` are the texts it was given.
    """

    def __init__(
        self,
        name: str = "toy",
        metric: Literal["cosine", "dot"] = "cosine",
        precision: str = "fp32",
        fails_after: int = -1,
    ) -> None:
        self.name, self.metric, self.precision = name, metric, precision
        self.dimension = PROJECTION.shape[1]
        self.family_fingerprint = f"{zlib.crc32(f'{name} {metric}'.encode()):08x}"
        self.fingerprint = f"{self.family_fingerprint}-{precision}"
        self.fails_after = fails_after
        self.seen: list[str] = []

    def __call__(self, texts: Sequence[str], *, role: Literal["query", "passage"] = "passage") -> np.ndarray:
        if 0 <= self.fails_after < len(self.seen) + len(texts):
            raise KeyboardInterrupt
        self.seen += texts
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for at, text in enumerate(texts):
            codes = [ord(char) for char in f" {text.lower()} "]
            grams = [(a * 31 * 31 + b * 31 + c) % 997 for a, b, c in zip(codes, codes[1:], codes[2:], strict=False)]
            out[at] = PROJECTION[grams].sum(axis=0)
        return out if self.precision == "fp32" else out.astype(np.float16).astype(np.float32)


@pytest.fixture
def linear_time() -> Iterator[None]:
    """A test of long or hostile input: where any step takes more than linear time, it would take minutes.

    It counts this process's own time, which nothing else on the machine changes.
    """
    began = time.process_time()
    yield
    assert time.process_time() - began < 30.0


@pytest.fixture(scope="session")
def toy() -> Callable[..., ToyEncoder]:
    """Makes a ToyEncoder."""
    return ToyEncoder


# --- a server in a thread -------------------------------------------------------------------------


class Asked(NamedTuple):
    """A request as it came; ``body`` is its JSON, None for a GET."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Exchange(BaseHTTPRequestHandler):
    """One request and its answer."""

    played: "PlayedServer"
    asked: Asked
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self._do(None)

    def do_POST(self) -> None:
        self._do(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _do(self, body: Any) -> None:
        self.asked = Asked(self.command, self.path, dict(self.headers), body)
        with self.played.lock:
            self.played.asked.append(self.asked)
            answer = self.played.next.pop(0) if self.played.next else self.played.answer
            self.played.busy += 1
            self.played.most_busy = max(self.played.most_busy, self.played.busy)
        try:
            with suppress(ConnectionError):
                answer(self)
        finally:
            with self.played.lock:
                self.played.busy -= 1

    def say(self, content: Any, status: int = 200, **headers: str) -> None:
        """Answers with JSON, or with bytes as they are."""
        sent = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def hang_up(self) -> None:
        self.close_connection = True


Answer = Callable[[Exchange], None]


@dataclass
class PlayedServer:
    """A server under the test's control: what it was asked, and how it answers; ``next`` come first, each once."""

    answer: Answer = Exchange.hang_up
    next: list[Answer] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    busy: int = 0
    most_busy: int = 0
    lock: Any = field(default_factory=threading.Lock)
    url: str = ""

    def start(self, port: int = 0) -> ThreadingHTTPServer:
        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: object) -> None:
                """A client that hung up is no news."""

        server = Quiet(("127.0.0.1", port), type("Bound", (Exchange,), {"played": self}))
        self.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return server


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., PlayedServer]]:
    """Starts servers, each with its usual answer; no setting of this machine and no waiting plays a part."""
    import os

    for name in [name for name in os.environ if name.upper().endswith("_PROXY")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr("mrag.adapters.serving.web.random.uniform", lambda low, high: 0.0)  # the waits between tries
    started: list[ThreadingHTTPServer] = []

    def start(answer: Answer, port: int = 0) -> PlayedServer:
        played = PlayedServer(answer)
        started.append(played.start(port))
        return played

    yield start
    for server in started:
        server.shutdown()
        server.server_close()
