"""Replies of language models on disk, so that what was asked once is never asked again."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from mrag.adapters.models.model_cache import cache_folder as _models

_FORMAT = 1


def cache_folder() -> Path:
    """The folder of all kept replies: $XDG_CACHE_HOME/mrag/replies, by default ~/.cache/mrag/replies."""
    return _models().with_name("replies")


class ReplyCache:
    """Replies in a folder, a file each; threads and processes may share it.

    A file is written beside its place and moved there, so that no half of one is ever read, and two processes that
    keep the same reply at once do no harm. Each says what it holds and is checked when it is read: a damaged one counts
    as not there. Only its owner can read it, for a reply says something of the prompt.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """The cache in ``folder``, which is made when the first reply is kept; longer files are not read."""
        self._folder, self._most = folder, most_bytes
        self.trouble = ""
        """Why the last reply could not be kept, "" where it could."""

    def get(self, key: str) -> str | None:
        """The reply that was kept under a key of key_of; None for one that was not, or is damaged."""
        try:
            with self._path(key).open("rb") as stream:
                content = stream.read(self._most + 1)
            row = json.loads(content) if len(content) <= self._most else None
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(row, dict) or (row.get("format"), row.get("key")) != (_FORMAT, key):
            return None
        reply = row.get("reply")
        return reply if isinstance(reply, str) and row.get("sha256") == _hash(reply) else None

    def put(self, key: str, reply: str) -> None:
        """Keeps a reply; what the disk refuses is told by ``trouble`` and costs nothing but the keeping."""
        row = {"format": _FORMAT, "key": key, "sha256": _hash(reply), "reply": reply}
        try:
            self._write(self._path(key), json.dumps(row).encode("ascii"))
            self.trouble = ""
        except OSError as error:
            self.trouble = f"{self._folder}: replies cannot be kept here ({error.strerror or error})"

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".new")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            Path(temporary).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def key_of(parts: object) -> str:
    """The key of what was asked: SHA-256 of its parts as JSON."""
    return _hash(json.dumps(parts, sort_keys=True))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
