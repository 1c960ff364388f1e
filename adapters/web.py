"""Requests to one server: tried again while that helps, redirects followed, its token sent to it alone."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin, urlsplit

from mrag.errors import InputError, MragError

if TYPE_CHECKING:
    import requests

T = TypeVar("T")

_BLOCK = 2**16  # what came of a block that broke off is lost
_LONGEST_WAIT = 60.0
_REDIRECTS = 10
_REDIRECTED = (301, 302, 303, 307, 308)
_TRY_AGAIN = (408, 429, 500, 502, 503, 504)


class DownloadError(MragError):
    """A server that cannot be reached, refuses, or sends something else than it announced."""


class RefusedError(DownloadError):
    """An answer that trying again would not change: its HTTP status, and the server's own name for the reason."""

    def __init__(self, message: str, status: int, reason: str) -> None:
        """The message says what was refused, in a sentence."""
        super().__init__(message)
        self.status, self.reason = status, reason


class PassingError(DownloadError):
    """A failure that may have gone when the same is tried again, after ``wait`` seconds if the server said so.

    ``progress``: the attempt brought so much that it does not count as one in vain.
    """

    def __init__(self, message: str, *, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait, self.progress = wait, False


@dataclass(frozen=True, slots=True)
class Server:
    """A server of files: its address, the token for it, and how patient to be with it.

    ``timeout``: seconds to connect, and seconds without a byte; ``wait``: seconds before the second of ``tries``
    attempts, doubled for each further one.
    """

    endpoint: str
    token: str = field(default="", repr=False)
    timeout: tuple[float, float] = (10.0, 30.0)
    tries: int = 4
    wait: float = 1.0

    def __post_init__(self) -> None:
        """Refuses an address or a token that no request could be made of, without showing the token."""
        try:
            parts = urlsplit(self.endpoint)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or re.search(r"[\s\x00-\x1f?#@]", self.endpoint):
            raise InputError("the server's address (HF_ENDPOINT) is to be like https://huggingface.co, with no more")
        if not re.fullmatch(r"[\x21-\x7e]*", self.token):
            raise InputError("the token (HF_TOKEN) holds characters that no token has: copy it again")

    @property
    def host(self) -> str:
        """The name to show in messages."""
        return urlsplit(self.endpoint).netloc

    def url(self, path: str) -> str:
        """The address of a path, which is quoted already."""
        return f"{self.endpoint.rstrip('/')}/{path}"


@contextmanager
def session(server: Server) -> Iterator[requests.Session]:
    """Connections whose requests carry the token if, and only if, they go to the server itself."""
    import requests

    from mrag import __version__

    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        if server.token and _origin(str(request.url)) == _origin(server.endpoint):
            request.headers["Authorization"] = f"Bearer {server.token}"
        return request

    with requests.Session() as made:
        made.auth = sign  # also keeps requests from taking a password for any host from ~/.netrc
        made.headers.update({"User-Agent": f"mrag/{__version__}", "Accept-Encoding": "identity"})
        yield made


def get_json(server: Server, connection: requests.Session, path: str, *, most: int) -> object:
    """What the server says at a path; DownloadError for more than ``most`` bytes and for what is no JSON."""

    def attempt() -> bytes:
        with answer(server, connection, server.url(path)) as response:
            content = bytearray()
            for block in blocks(server, response):
                content += block
                if len(content) > most:
                    raise DownloadError(f"{server.host}: an answer of more than {most:,} bytes: refused")
            return bytes(content)

    content = patiently(server, attempt)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise DownloadError(f"{server.host}: its answer is no JSON: is this the address of a model hub?") from None


# --- one request ----------------------------------------------------------------------------------


@contextmanager
def answer(server: Server, connection: requests.Session, url: str, *, start: int = 0) -> Iterator[requests.Response]:
    """The answer to a request, redirects followed, its body not yet read."""
    headers = {"Range": f"bytes={start}-"} if start else {}
    for _ in range(_REDIRECTS):
        with _failures(server):
            response = connection.get(url, headers=headers, timeout=server.timeout, stream=True, allow_redirects=False)
        with response:
            where = response.headers.get("Location")
            if response.status_code not in _REDIRECTED or not where:
                _check_status(server, response)
                yield response
                return
        url = _next(server, url, where)
    raise DownloadError(f"{server.host}: redirects again and again")


def _next(server: Server, url: str, where: str) -> str:
    """Where a redirect leads; never from an encrypted connection to one that others can read."""
    target = urljoin(url, where)
    allowed = ("https",) if urlsplit(url).scheme == "https" else ("https", "http")
    if urlsplit(target).scheme not in allowed:
        raise DownloadError(f"{server.host}: redirects to {urlsplit(target).scheme}://…: refused")
    return target


def _check_status(server: Server, response: requests.Response) -> None:
    status = response.status_code
    if status in (200, 206):
        return
    if status in _TRY_AGAIN:
        after = response.headers.get("Retry-After", "")
        meaning = "too many requests" if status == 429 else "it is busy or out of order"
        raise PassingError(
            f"{server.host}: answers {status} ({meaning}): try again later; what came so far is kept",
            wait=float(after) if re.fullmatch(r"\d{1,6}", after) else 0.0,
        )
    raise RefusedError(f"{server.host}: answers {status}", status, response.headers.get("X-Error-Code", ""))


def blocks(server: Server, response: requests.Response) -> Iterator[bytes]:
    with _failures(server):
        yield from response.iter_content(_BLOCK)


@contextmanager
def _failures(server: Server) -> Iterator[None]:
    """Turns what can go wrong on the way into a sentence; no address, which could hold a signature, is in it."""
    import requests

    try:
        yield
    except requests.exceptions.SSLError:
        raise DownloadError(
            f"{server.host}: the encrypted connection cannot be trusted: its certificate is not one of those that "
            "are known here (a company's own one is named by REQUESTS_CA_BUNDLE)"
        ) from None
    except requests.exceptions.ProxyError:
        raise PassingError(f"{server.host}: the proxy (HTTPS_PROXY) does not let us through") from None
    except requests.exceptions.ConnectTimeout:
        raise PassingError(f"{server.host}: no connection within {server.timeout[0]:g} seconds") from None
    except requests.exceptions.Timeout:
        raise PassingError(f"{server.host}: no byte for {server.timeout[1]:g} seconds") from None
    except requests.exceptions.ConnectionError as error:
        if "Read timed out" in str(error):  # so requests tells of a server that falls silent within an answer
            raise PassingError(f"{server.host}: no byte for {server.timeout[1]:g} seconds") from None
        raise PassingError(f"{server.host}: cannot be reached, or hangs up: is this machine online?") from None
    except requests.exceptions.ChunkedEncodingError:
        raise PassingError(f"{server.host}: the connection broke off") from None
    except requests.RequestException as error:
        raise DownloadError(f"{server.host}: cannot be asked ({type(error).__name__})") from None


def patiently(server: Server, attempt: Callable[[], T]) -> T:
    """What an attempt gives, made again and again as long as it may help and the patience lasts."""
    failures = 0
    while True:
        try:
            return attempt()
        except PassingError as error:
            failures = 1 if error.progress else failures + 1
            if failures >= server.tries:
                raise DownloadError(str(error)) from None
            time.sleep(min(max(error.wait, server.wait * 2 ** (failures - 1)), _LONGEST_WAIT))


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or {"http": 80, "https": 443}.get(parts.scheme)
