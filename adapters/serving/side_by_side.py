"""Tasks done a few at a time in threads that nobody has to wait for: Ctrl-C and a deadline end the work at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

Rest = Callable[[float], None]
"""Waits so many seconds; raises Ended as soon as the work is no longer wanted."""

_LOOK = 0.1  # seconds: on some systems a thread that waits for another one does not hear Ctrl-C until it wakes


class Ended(Exception):
    """The work is no longer wanted: its caller was interrupted, ran out of time, or has what it needs."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """What a task raised in the place of its result."""

    error: BaseException


def side_by_side(
    work: Callable[[Task, Rest], Result], tasks: Sequence[Task], most: int, seconds: float | None = None
) -> Generator[tuple[int, Result], None, None]:
    """The place and the result of each task as soon as it is done, ``most`` of them in work at a time.

    Ends early when ``seconds`` have passed. What ``work`` raises is raised here. Whatever ends it, a thread that waits
    for something else than its ``rest`` is left behind: it is a daemon, and takes no further task.

    >>> sorted(side_by_side(lambda task, rest: task * 10, [1, 2, 3], 2))
    [(0, 10), (1, 20), (2, 30)]
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    stop = Event()
    todo: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, Result | _Raised]] = SimpleQueue()
    for at in range(len(tasks)):
        todo.put(at)

    def rest(wait: float) -> None:
        if stop.wait(min(wait, max(end - time.monotonic(), 0.0))) or time.monotonic() >= end:
            raise Ended

    def run() -> None:
        while not stop.is_set() and time.monotonic() < end:
            try:
                at = todo.get_nowait()
                done.put((at, work(tasks[at], rest)))
            except (Empty, Ended):
                return
            except BaseException as error:
                done.put((at, _Raised(error)))

    for _ in range(min(most, len(tasks))):
        Thread(target=run, name="side by side", daemon=True).start()
    try:
        for _ in tasks:
            found = _next(done, end)
            if found is None:
                return
            at, result = found
            if isinstance(result, _Raised):
                raise result.error
            yield at, result
    finally:
        stop.set()


def _next(done: SimpleQueue[tuple[int, Result | _Raised]], end: float) -> tuple[int, Result | _Raised] | None:
    """What is done next, None when the time is over and nothing is."""
    while True:
        left = end - time.monotonic()
        try:
            return done.get(timeout=max(min(_LOOK, left), 0.0))
        except Empty:
            if left <= 0:
                return None
