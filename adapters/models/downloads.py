"""Files from a server: resumed where they broke off, and checked against what was announced."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.adapters.serving.web import DownloadError, PassingError, RefusedError, Server, answer, blocks, patiently

if TYPE_CHECKING:
    import requests

Tell = Callable[[int], None]

_PROGRESS = 2**20  # so many new bytes make an attempt a success, even if it broke off


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as the server's list announces it: bytes, and SHA-256 or git's own hash, "" where it gives none."""

    path: str
    size: int
    sha256: str = ""
    git_sha1: str = ""


def fetch(
    server: Server, connection: requests.Session, path: str, target: Path, file: RemoteFile, tell: Tell | None = None
) -> None:
    """Brings a file to ``target``, which is there only when it is whole and is what was announced.

    Until then its bytes lie in ``target`` + ".part", from which a later call goes on. ``tell`` hears how many bytes
    are there. Raises DownloadError, RefusedError for an answer such as 404.
    """
    part = part_of(target)
    resumed = part.exists()
    _fill(server, connection, path, part, file, tell)
    if resumed and not intact(part, file):  # the rest of an earlier attempt was spoilt: once more, from the start
        part.unlink()
        _fill(server, connection, path, part, file, tell)
    if not intact(part, file):
        part.unlink()
        raise DownloadError(
            f"{server.host}: {file.path!r} came with another hash than was announced: damaged on the way, "
            "or changed: try again later"
        )
    with part.open("rb") as stream:
        os.fsync(stream.fileno())
    part.replace(target)


def part_of(target: Path) -> Path:
    """Where the bytes of a file lie that is not yet whole."""
    return target.with_name(target.name + ".part")


def intact(path: Path, file: RemoteFile) -> bool:
    """Whether a file has the bytes that were announced, as far as the server said."""
    if path.stat().st_size != file.size:
        return False
    if file.sha256:
        return _digest(path, hashlib.sha256()) == file.sha256
    if file.git_sha1:
        begun = hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
        return _digest(path, begun) == file.git_sha1
    return True


def _digest(path: Path, digest: hashlib._Hash) -> str:
    with path.open("rb") as stream:
        while block := stream.read(2**22):
            digest.update(block)
    return digest.hexdigest()


def _fill(
    server: Server, connection: requests.Session, path: str, part: Path, file: RemoteFile, tell: Tell | None
) -> None:
    """Makes ``part`` as long as the file is to be, from where it ends."""
    most = _size(part)

    def attempt() -> None:
        nonlocal most
        if _size(part) > file.size:
            part.unlink()
        if part.exists() and _size(part) == file.size:
            return
        try:
            _go_on(server, connection, path, part, file, tell)
        except PassingError as error:
            error.progress = _size(part) >= most + _PROGRESS
            most = max(most, _size(part))
            raise

    patiently(server, attempt)


def _go_on(
    server: Server, connection: requests.Session, path: str, part: Path, file: RemoteFile, tell: Tell | None
) -> None:
    """Asks for what ``part`` lacks and writes what comes; all of it comes from a server that cannot begin within."""
    have = _size(part)
    try:
        with answer(server, connection, server.url(path), start=have) as response:
            start = _begins_at(response)
            if start not in (0, have):
                raise RefusedError("", 416, "")
            _check_length(server, response, start, file)
            _write(server, response, part, start, file, tell)
    except RefusedError as error:
        if error.status != 416 or not have:
            raise
        part.unlink()
        raise PassingError(f"{server.host}: does not send {file.path!r} from byte {have:,} on: try again") from None
    if _size(part) < file.size:
        raise PassingError(f"{server.host}: {file.path!r} broke off at byte {_size(part):,} of {file.size:,}")


def _write(
    server: Server, response: requests.Response, part: Path, start: int, file: RemoteFile, tell: Tell | None
) -> None:
    done = start
    with part.open("ab" if start else "wb") as stream:
        for block in blocks(server, response):
            if done + len(block) > file.size:
                raise DownloadError(f"{server.host}: {file.path!r} is longer than announced ({file.size:,} bytes)")
            stream.write(block)
            done += len(block)
            if tell is not None:
                tell(done)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _begins_at(response: requests.Response) -> int:
    """The first byte of an answer: a server without ranges sends all of it, with status 200."""
    if response.status_code != 206:
        return 0
    found = re.match(r"bytes (\d{1,19})-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else -1


def _check_length(server: Server, response: requests.Response, start: int, file: RemoteFile) -> None:
    length = response.headers.get("Content-Length", "")
    if length.isdecimal() and "Content-Encoding" not in response.headers and start + int(length) != file.size:
        raise DownloadError(
            f"{server.host}: sends {start + int(length):,} bytes of {file.path!r}, which was announced "
            f"with {file.size:,}: try again later"
        )
