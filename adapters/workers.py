"""One function over many items in several processes: results in order, a few items under way at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from itertools import chain, islice
from typing import TypeVar

from mrag.errors import MragError

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Generator[Result, None, None]:
    """``function`` of each item, in the order of the items; the same as ``map``, but over ``workers`` processes.

    ``function`` is one that a module has at its top. With one worker or one item no process is started. Raises
    MragError when a worker ends before its time, and whatever ``function`` raises.

    >>> list(in_order(abs, [-1, -2], workers=1))
    [1, 2]
    """
    items = iter(items)
    head = list(islice(items, 2))
    if workers <= 1 or len(head) < 2:
        yield from map(function, chain(head, items))
        return
    context = multiprocessing.get_context("spawn")  # threads that run ONNX Runtime forbid fork
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start)
    pending: deque[Future[Result]] = deque()
    try:
        for item in chain(head, items):
            with _no_interrupt() if len(pending) < workers else nullcontext():  # processes start here
                pending.append(pool.submit(function, item))
            if len(pending) > workers + 1:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BrokenProcessPool:
        raise MragError(
            "a worker process ended: out of memory, or the calling script has no "
            'if __name__ == "__main__": use one worker or add it'
        ) from None
    finally:
        with _no_interrupt():  # a second Ctrl-C would leave the pool half closed, and Python waiting for it for ever
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Ignores Ctrl-C for a moment; a process that is started in it inherits that, from its first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _start() -> None:
    """Leaves Ctrl-C to the process that hands out the work, and ends with it even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
