"""Requests to one server: tried again while that helps, redirects followed, its token sent to it alone."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin, urlsplit

from mrag.errors import InputError, MragError

if TYPE_CHECKING:
    import requests

T = TypeVar("T")
Rest = Callable[[float], None]
"""Waits so many seconds before the next attempt; may raise to end the attempts."""

_BLOCK = 2**16  # what came of a block that broke off is lost
_LONGEST_WAIT = 60.0
_LONGEST_ANSWER = 10  # so many times the longest silence may a short answer take, however slowly it drips
_MOST_SAID = 2**13  # bytes that are read of a refusal
_REDIRECTS = 10
_REDIRECTED = (301, 302, 303, 307, 308)
_TRY_AGAIN = (408, 429, 500, 502, 503, 504)


class DownloadError(MragError):
    """A server that cannot be reached, refuses, or sends something else than it announced."""


class RefusedError(DownloadError):
    """An answer that trying again would not change: its HTTP status, and the server's own name for the reason.

    ``said``: how the answer begins, as it came.
    """

    def __init__(self, message: str, status: int, reason: str, said: str = "") -> None:
        """The message says what was refused, in a sentence."""
        super().__init__(message)
        self.status, self.reason, self.said = status, reason, said


class GivenUpError(DownloadError):
    """A failure that was still there at the last attempt; ``unreached``: no connection could be made."""

    def __init__(self, message: str, *, unreached: bool) -> None:
        super().__init__(message)
        self.unreached = unreached


class PassingError(DownloadError):
    """A failure that may have gone when the same is tried again, after ``wait`` seconds if the server said so.

    ``progress``: the attempt brought so much that it does not count as one in vain; ``unreached``: no connection
    could be made.
    """

    def __init__(self, message: str, *, wait: float = 0.0, unreached: bool = False) -> None:
        super().__init__(message)
        self.wait, self.progress, self.unreached = wait, False, unreached


@dataclass(frozen=True, slots=True)
class Kind:
    """What a server is for, and what its settings are called in messages.

    ``like``: an address of that kind; ``address``, ``token``: where they are set; ``word``: what its token is called;
    ``unreached``: what to look at when no connection can be made; ``kept``: what becomes of the work so far when it is
    busy; ``roams``: whether its redirects may lead to other hosts.
    """

    name: str
    like: str
    address: str
    token: str
    unreached: str
    word: str = "token"
    kept: str = ""
    roams: bool = False


HUB = Kind(
    "a model hub",
    like="https://huggingface.co",
    address="HF_ENDPOINT",
    token="HF_TOKEN",
    unreached="is this machine online?",
    kept="; what came so far is kept",
    roams=True,  # to where its files lie
)


@dataclass(frozen=True, slots=True)
class Server:
    """A server: its address, the token for it, and how patient to be with it.

    ``timeout``: seconds to connect, and seconds without a byte; ``wait``: seconds before the second of ``tries``
    attempts, doubled for each further one.
    """

    endpoint: str
    token: str = field(default="", repr=False)
    timeout: tuple[float, float] = (10.0, 30.0)
    tries: int = 4
    wait: float = 1.0
    kind: Kind = HUB

    def __post_init__(self) -> None:
        """Refuses an address or a token that no request could be made of, without showing the token."""
        try:
            parts = urlsplit(self.endpoint)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or re.search(r"[\s\x00-\x1f?#@]", self.endpoint):
            raise InputError(f"the server's address ({self.kind.address}) is to be like {self.kind.like}, with no more")
        if not re.fullmatch(r"[\x21-\x7e]*", self.token):
            word = self.kind.word
            raise InputError(f"the {word} ({self.kind.token}) holds characters that no {word} has: copy it again")

    @property
    def host(self) -> str:
        """The name to show in messages."""
        return urlsplit(self.endpoint).netloc

    def url(self, path: str) -> str:
        """The address of a path, which is quoted already."""
        return f"{self.endpoint.rstrip('/')}/{path}"


@contextmanager
def session(server: Server, connections: int = 10) -> Iterator[requests.Session]:
    """Connections whose requests carry the token if, and only if, they go to the server itself.

    So many of them are kept open for the next request; threads may share them.
    """
    import requests

    from mrag import __version__

    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        if server.token and origin(str(request.url)) == origin(server.endpoint):
            request.headers["Authorization"] = f"Bearer {server.token}"
        return request

    class Unled(requests.Session):
        """Leaves redirects to ``answer``: requests itself would read all of their bodies, and trip over addresses."""

        def get_redirect_target(self, resp: requests.Response) -> None:
            return None

    with Unled() as made:
        made.auth = sign  # also keeps requests from taking a password for any host from ~/.netrc
        made.headers.update({"User-Agent": f"mrag/{__version__}", "Accept-Encoding": "identity"})
        for scheme in ("http://", "https://"):
            made.mount(scheme, requests.adapters.HTTPAdapter(pool_maxsize=connections))
        yield made


def get_json(server: Server, connection: requests.Session, path: str, *, most: int, rest: Rest | None = None) -> object:
    """What the server says at a path, as long as it is JSON of at most ``most`` bytes; ``rest`` waits between tries.

    Raises DownloadError for anything else, RefusedError for an answer such as 404.
    """
    return _ask_json(server, connection, path, None, most, rest)


def post_json(
    server: Server, connection: requests.Session, path: str, body: object, *, most: int, rest: Rest | None = None
) -> object:
    """As get_json, for what the server says to a ``body`` that is sent there as JSON."""
    return _ask_json(server, connection, path, json.dumps(body).encode("ascii"), most, rest)


def _ask_json(
    server: Server, connection: requests.Session, path: str, body: bytes | None, most: int, rest: Rest | None
) -> object:
    def attempt() -> object:
        with answer(server, connection, server.url(path), body=body) as response:
            return _read_json(server, _content(server, response, most))

    return patiently(server, attempt, rest)


def _read_json(server: Server, content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        message = f"{server.host}: its answer is no JSON: is this the address of {server.kind.name}?"
        if isinstance(error, ValueError) and content.lstrip()[:1] in (b"{", b"["):
            raise PassingError(message) from None  # begins as JSON and is not whole: the connection may have broken off
        raise DownloadError(message) from None


# --- one request ----------------------------------------------------------------------------------


@contextmanager
def answer(
    server: Server, connection: requests.Session, url: str, *, start: int = 0, body: bytes | None = None
) -> Iterator[requests.Response]:
    """The answer to a request, redirects followed, its body not yet read; a ``body`` of JSON is posted."""
    headers = {"Range": f"bytes={start}-"} if start else {}
    if body is not None:
        headers["Content-Type"] = "application/json"
    method, proxies = "GET" if body is None else "POST", _proxies(server)
    for _ in range(_REDIRECTS):
        with _failures(server):
            response = connection.request(
                method,
                url,
                data=body,
                headers=headers,
                timeout=server.timeout,
                proxies=proxies,
                stream=True,
                allow_redirects=False,
            )
        with response:
            where = response.headers.get("Location")
            if response.status_code not in _REDIRECTED or not where:
                _check_status(server, response)
                yield response
                return
        if body is not None and response.status_code == 303:
            raise DownloadError(f"{server.host}: answers 303, which leads away from what was asked: refused")
        url = _next(server, url, where)
    raise DownloadError(f"{server.host}: redirects again and again")


def _proxies(server: Server) -> dict[str, str] | None:
    """No proxy for a server on this machine, whatever HTTP_PROXY says: the proxy could not reach it, but read it."""
    host = urlsplit(server.endpoint).hostname or ""
    return {"no_proxy": host} if host in ("localhost", "127.0.0.1", "::1") else None


def _next(server: Server, url: str, where: str) -> str:
    """Where a redirect leads; never from an encrypted connection to one that others can read."""
    try:
        target = urljoin(url, where)
        parts, elsewhere = urlsplit(target), origin(target) != origin(url)
    except ValueError:
        raise DownloadError(f"{server.host}: redirects to what is no address: refused") from None
    allowed = ("https",) if urlsplit(url).scheme == "https" else ("https", "http")
    if parts.scheme not in allowed:
        raise DownloadError(f"{server.host}: redirects to {parts.scheme}://…: refused")
    if elsewhere and not server.kind.roams:
        raise DownloadError(
            f"{server.host}: redirects to another server, {parts.scheme}://{parts.hostname}: refused: "
            "if you trust that one, give its address"
        )
    return target


def _check_status(server: Server, response: requests.Response) -> None:
    status = response.status_code
    if status in (200, 206):
        return
    if status in _TRY_AGAIN:
        raise PassingError(
            f"{server.host}: answers {status} ({'too many requests' if status == 429 else 'it is busy or out of order'}"
            f"): try again later{server.kind.kept}",
            wait=_seconds(response.headers.get("Retry-After", "")),
        )
    reason = response.headers.get("X-Error-Code", "")
    raise RefusedError(f"{server.host}: answers {status}", status, reason, _beginning(server, response))


def _seconds(after: str) -> float:
    """The seconds of a Retry-After header, which are given as such or as a date; 0 for anything else."""
    if re.fullmatch(r"\d{1,6}", after):
        return float(after)
    try:
        return max(parsedate_to_datetime(after[:40]).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _beginning(server: Server, response: requests.Response) -> str:
    """How the body of a refusal begins, as far as it can be had."""
    content = bytearray()
    with suppress(DownloadError):
        for piece in _pieces(server, response):
            content += piece
            if len(content) >= _MOST_SAID:
                break
    return content[:_MOST_SAID].decode("utf-8", "replace")


def _content(server: Server, response: requests.Response, most: int) -> bytes:
    """The body of a short answer; DownloadError for more than ``most`` bytes."""
    content = bytearray()
    for piece in _pieces(server, response):
        content += piece
        if len(content) > most:
            raise DownloadError(f"{server.host}: an answer of more than {most:,} bytes: refused")
    return bytes(content)


def _pieces(server: Server, response: requests.Response) -> Iterator[bytes]:
    """The body of a short answer as it comes; PassingError for one that drips without end."""
    longest, start = _LONGEST_ANSWER * server.timeout[1], time.monotonic()
    response.raw.enforce_content_length = True  # so that an older urllib3, too, sees that an answer is not whole
    whole = not hasattr(response.raw, "read1")  # an older urllib3 hands out full blocks only
    parts = blocks(server, response) if whole else _at_once(server, response)
    for piece in parts:
        if time.monotonic() - start > longest:
            raise PassingError(f"{server.host}: its answer is not whole after {longest:g} seconds")
        yield piece


def _at_once(server: Server, response: requests.Response) -> Iterator[bytes]:
    with _failures(server):
        while piece := response.raw.read1(_BLOCK, decode_content=True):
            yield piece


def blocks(server: Server, response: requests.Response) -> Iterator[bytes]:
    """The body of an answer in blocks; DownloadError for what goes wrong on the way."""
    with _failures(server):
        yield from response.iter_content(_BLOCK)


@contextmanager
def _failures(server: Server) -> Iterator[None]:
    """Turns what can go wrong on the way into a sentence; no address, which could hold a signature, is in it."""
    import requests
    import urllib3

    try:
        yield
    except requests.exceptions.SSLError:
        raise DownloadError(
            f"{server.host}: the encrypted connection cannot be trusted: its certificate is not one of those that "
            "are known here (a company's own one is named by REQUESTS_CA_BUNDLE)"
        ) from None
    except requests.exceptions.ProxyError:
        raise PassingError(f"{server.host}: the proxy (HTTPS_PROXY) does not let us through", unreached=True) from None
    except requests.exceptions.ConnectTimeout:
        raise PassingError(
            f"{server.host}: no connection within {server.timeout[0]:g} seconds", unreached=True
        ) from None
    except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError):
        raise PassingError(f"{server.host}: no byte for {server.timeout[1]:g} seconds") from None
    except requests.exceptions.ConnectionError as error:
        if "Read timed out" in str(error):  # so requests tells of a server that falls silent within an answer
            raise PassingError(f"{server.host}: no byte for {server.timeout[1]:g} seconds") from None
        cause = getattr(error.args[0], "reason", None) if error.args else None
        raise PassingError(
            f"{server.host}: cannot be reached, or hangs up: {server.kind.unreached}",
            unreached=isinstance(cause, urllib3.exceptions.NewConnectionError),
        ) from None
    except (requests.exceptions.ChunkedEncodingError, urllib3.exceptions.ProtocolError):
        raise PassingError(f"{server.host}: the connection broke off") from None
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise DownloadError(f"{server.host}: cannot be asked ({type(error).__name__})") from None


def patiently(server: Server, attempt: Callable[[], T], rest: Rest | None = None) -> T:
    """What an attempt gives, made again and again as long as it may help and the patience lasts.

    The waits grow, and are shortened by chance, so that many that failed at once do not come back at once. Raises
    GivenUpError behind the last attempt; ``rest`` waits in the place of time.sleep.
    """
    failures = 0
    while True:
        try:
            return attempt()
        except PassingError as error:
            failures = 1 if error.progress else failures + 1
            if failures >= server.tries:
                raise GivenUpError(str(error), unreached=error.unreached) from None
            wait = server.wait * 2 ** (failures - 1) * random.uniform(0.5, 1.0)
            (rest or time.sleep)(min(max(error.wait, wait), _LONGEST_WAIT))


def origin(url: str) -> tuple[str, str, int | None]:
    """The scheme, host and port of an address: what decides whether two of them are one server's."""
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or {"http": 80, "https": 443}.get(parts.scheme)
