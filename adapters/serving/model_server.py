"""A server of models: its address as people write it, the key that may go there, and what it says of itself."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mrag.adapters.serving.llm_shapes import Api, one_line, refusal_message
from mrag.adapters.serving.web import Kind, RefusedError, Rest, Server, get_json, post_json, session
from mrag.errors import InputError, MragError

if TYPE_CHECKING:
    import requests

MODELS = Kind(
    "a model server",
    like="http://127.0.0.1:11434/v1",
    address="--llm, MRAG_LLM_URL, OPENAI_BASE_URL, or the one before # in URL#MODEL",
    token="MRAG_LLM_KEY, OPENAI_API_KEY, MRAG_ENCODER_KEY or MRAG_RERANKER_KEY",
    unreached="is it running?",
    word="key",
)

_MOST_LISTED = 2**22
_MOST_MODELS = 1000
_PATHS = ("/chat/completions", "/embeddings", "/rerank", "/models")


# --- where it is ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server's interfaces lie: below ``root``, OpenAI's at the path ``openai``, Ollama's at ``api``.

    ``api``: the interface that the address itself names, None where it names none.
    """

    root: str
    openai: str
    api: Api | None

    def path(self, api: Api, name: str) -> str:
        """The path, below the root, of something in one of the interfaces."""
        return "/".join(filter(None, ("api" if api == "ollama" else self.openai, name)))


def read_address(url: str) -> Address:
    """The address in a URL; a host alone stands for both interfaces, any other path is OpenAI's.

    http://host:8000 | OpenAI's at /v1, Ollama's at /api
    http://host:8000/v1/ | OpenAI's at /v1
    http://host/openai/v1/chat/completions | OpenAI's at /openai/v1
    http://host/v1beta/openai | OpenAI's at /v1beta/openai
    http://host:11434/api/chat | Ollama's at /api

    InputError for what is no address.
    """
    rest = Server(url.strip(), kind=MODELS).endpoint.rstrip("/")
    whole = next((rest.removesuffix(path) for path in _PATHS if rest.endswith(path)), rest)
    for tail in ("/api/chat", "/api"):
        if rest.endswith(tail):
            return Address(rest.removesuffix(tail), "v1", "ollama")
    if whole.endswith("/v1"):
        return Address(whole.removesuffix("/v1"), "v1", "openai")
    if urlsplit(whole).path:
        return Address(whole, "", "openai")
    return Address(whole, "v1", None if whole == rest else "openai")


def _near(host: str) -> bool:
    """Whether a host is this machine or one of the same house, so that what goes there does not cross the internet.

    localhost, gpu-box, ollama (a name without a dot), box.local, 127.0.0.1, 10.1.2.3, 192.168.0.7, fe80::1
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        alone = "." not in host and host[:1].isalpha()
        return alone or host.endswith((".localhost", ".local", ".internal", ".lan", ".home.arpa"))
    return address.is_private or address.is_loopback or address.is_link_local


# --- asking it ------------------------------------------------------------------------------------


class ModelServer:
    """A server that several threads ask at once, over connections that are kept for the next question."""

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        timeout: tuple[float, float] = (10.0, 60.0),
        tries: int = 4,
        wait: float = 1.0,
        connections: int = 8,
    ) -> None:
        """Raises InputError for what is no address, and for a key that would cross the internet unencrypted."""
        self.address = read_address(url)
        self.server = Server(self.address.root, key.strip(), timeout, tries, wait, MODELS)
        parts = urlsplit(self.address.root)
        if self.server.token and parts.scheme == "http" and not _near(parts.hostname or ""):
            raise InputError(
                f"{self.server.host}: the key would go there unencrypted, for everyone on the way to read: "
                "write https://, or leave the key out"
            )
        self._connections, self._stack, self._lock = connections, ExitStack(), Lock()
        self._session: requests.Session | None = None

    @property
    def host(self) -> str:
        """The name to show in messages."""
        return self.server.host

    def get(self, path: str, *, most: int, rest: Rest | None = None, tries: int | None = None) -> object:
        """What it says at a path below its root; errors as of web.get_json, in words for people."""
        with self._refusals():
            return get_json(self._tried(tries), self._connected(), path, most=most, rest=rest)

    def post(self, path: str, body: object, *, most: int, rest: Rest | None = None, tries: int | None = None) -> object:
        """What it says to a body; errors as of web.post_json, in words for people."""
        with self._refusals():
            return post_json(self._tried(tries), self._connected(), path, body, most=most, rest=rest)

    def _tried(self, tries: int | None) -> Server:
        """The server, asked so often; None: as often as usual."""
        return self.server if tries is None else replace(self.server, tries=tries)

    def close(self) -> None:
        """Closes the connections; the next question opens new ones."""
        with self._lock:
            self._stack.close()
            self._session = None

    def without_key(self, text: str) -> str:
        """A text in which the key does not stand, whatever the server wrote into it."""
        return text.replace(self.server.token, "…") if self.server.token else text

    def _connected(self) -> requests.Session:
        with self._lock:
            if self._session is None:
                self._session = self._stack.enter_context(session(self.server, self._connections))
            return self._session

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except RefusedError as error:
            said = self.without_key(error.said)
            raise RefusedError(self._refusal(error.status, said), error.status, error.reason, said) from None

    def _refusal(self, status: int, said: str) -> str:
        if status in (401, 403):
            what = "does not accept the key" if self.server.token else "wants a key"
            where = "" if self.server.token else f" (set it with {MODELS.token})"
            meaning = f"{what}{where}, says {status}"
        elif status in (404, 405):
            meaning = f"has no such model, or nothing at that path, says {status}"
        else:
            meaning = f"answers {status}"
        message = refusal_message(said)
        return f"{self.host}: {meaning}{f': {message}' if message else ''}"


# --- what it says of itself -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Offer:
    """The interface that a server has, and the names of its models."""

    api: Api
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reachable:
    """What a server says of itself; ``reason``: why it is of no use, "" where it is."""

    url: str
    offer: Offer | None
    reason: str = ""


def reachable(url: str, key: str = "", timeout: tuple[float, float] = (3.0, 5.0)) -> Reachable:
    """Asks a server once for its models; never raises for what the server, the address or the key is."""
    try:
        server = ModelServer(url, key, timeout=timeout, tries=1)
        try:
            offer = offered(server)
        finally:
            server.close()
    except MragError as error:
        return Reachable(url, None, str(error))
    return Reachable(url, offer, "" if offer else f"{server.host}: answers, but not as {MODELS.name} does")


def offered(server: ModelServer, rest: Rest | None = None, tries: int | None = None) -> Offer | None:
    """What a server offers: OpenAI's list of models, or else Ollama's; None for one that has neither.

    Raises DownloadError for a server that cannot be reached, and RefusedError for one that wants a key.
    """
    for api, path in _LISTS.items():
        if server.address.api not in (api, None):
            continue
        try:
            found = _names(api, server.get(server.address.path(api, path), most=_MOST_LISTED, rest=rest, tries=tries))
        except RefusedError as error:
            if error.status not in (404, 405):
                raise
        else:
            if found is not None:
                return Offer(api, found)
    return None


_LISTS: Mapping[Api, str] = {"openai": "models", "ollama": "tags"}


def _names(api: Api, answer: object) -> tuple[str, ...] | None:
    """The names in a list of models; None for what is no such list."""
    field, name = ("models", "name") if api == "ollama" else ("data", "id")
    rows = answer.get(field) if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        return None
    names = [row.get(name) for row in rows[:_MOST_MODELS] if isinstance(row, dict)]
    return tuple(one_line(name) for name in names if isinstance(name, str))
