"""One writer at a time: a lock on a file that the system releases when its holder ends, however it ends."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from mrag.errors import IndexFormatError

NAME = "lock"
FALLBACK = "lock.held"
"""The file that stands for the lock where the file system cannot lock; a killed holder leaves it behind."""

_BUSY = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextmanager
def locked(folder: Path, busy: str = "another build is writing this index") -> Iterator[None]:
    """Holds the lock of an existing folder; IndexFormatError, at once, when another writer holds it.

    ``busy`` says in the error what that writer does.
    """
    path = folder / NAME
    taken = IndexFormatError(f"{folder}: {busy}: try again when it has ended")
    with ExitStack() as stack:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        stack.callback(os.close, descriptor)
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno in _BUSY:
                raise taken from None
            stack.enter_context(_held(folder / FALLBACK, busy))
        if not (path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())):
            raise taken  # a writer that failed has just removed the file that we hold
        yield


def _lock(descriptor: int) -> None:
    """Locks an open file without waiting; OSError when it is taken, or when this file system has no locks."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _held(path: Path, busy: str) -> Iterator[None]:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        raise IndexFormatError(f"{path.parent}: {busy}; if none is, delete {path}, which a killed one left") from None
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
