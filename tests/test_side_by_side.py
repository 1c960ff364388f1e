"""Tasks a few at a time: all done, in no more threads than asked for, and nobody waits for what is not wanted."""

import threading
import time
from contextlib import closing

import pytest

from mrag.adapters.serving.side_by_side import Ended, Rest, side_by_side


def test_every_task_is_done_once() -> None:
    done = sorted(side_by_side(lambda task, rest: task * 2, range(100), 7))
    assert done == [(at, at * 2) for at in range(100)]


def test_no_tasks_start_no_thread() -> None:
    before = threading.active_count()
    assert list(side_by_side(lambda task, rest: task, [], 4)) == []
    assert threading.active_count() == before


@pytest.mark.parametrize("most", [1, 3])
def test_so_many_at_a_time_and_no_more(most: int) -> None:
    lock, busy, seen = threading.Lock(), 0, 0

    def work(task: int, rest: Rest) -> None:
        nonlocal busy, seen
        with lock:
            busy += 1
            seen = max(seen, busy)
        time.sleep(0.005)
        with lock:
            busy -= 1

    assert len(list(side_by_side(work, range(20), most))) == 20
    assert seen == most


def test_results_come_as_soon_as_they_are_there() -> None:
    go = threading.Event()

    def work(task: str, rest: Rest) -> str:
        if task == "slow":
            go.wait(10)
        return task

    with closing(side_by_side(work, ["slow", "quick"], 2)) as done:
        assert next(done) == (1, "quick")
        go.set()
        assert next(done) == (0, "slow")


def test_what_a_task_raises_is_raised_here_and_ends_the_others() -> None:
    begun = []

    def work(task: int, rest: Rest) -> int:
        begun.append(task)
        if task == 2:
            raise KeyError("two")
        rest(0.001)
        return task

    with pytest.raises(KeyError, match="two"):
        list(side_by_side(work, range(1000), 1))
    time.sleep(0.05)
    assert len(begun) < 1000


def test_who_stops_listening_ends_the_work_and_its_rests() -> None:
    ended = threading.Event()

    def work(task: int, rest: Rest) -> int:
        if task:
            try:
                rest(60)
            except Ended:
                ended.set()
                raise
        return task

    with closing(side_by_side(work, range(10), 2)) as done:
        assert next(done) == (0, 0)
    assert ended.wait(10)


def test_behind_the_deadline_nothing_is_begun_and_nobody_waits() -> None:
    go, begun = threading.Event(), []

    def work(task: int, rest: Rest) -> int:
        begun.append(task)
        if task:
            go.wait(30)
        return task

    assert list(side_by_side(work, range(10), 1, 1.0)) == [(0, 0)]
    go.set()
    time.sleep(0.05)
    assert begun == [0, 1]


def test_a_deadline_that_has_passed_begins_nothing() -> None:
    assert list(side_by_side(lambda task, rest: task, range(10), 2, -1.0)) == []


def test_a_rest_ends_at_the_deadline() -> None:
    ended = threading.Event()

    def work(task: int, rest: Rest) -> None:
        try:
            rest(60)
        except Ended:
            ended.set()
            raise

    assert list(side_by_side(work, [1], 1, 0.1)) == []
    assert ended.wait(10)


def test_a_rest_that_is_over_goes_on() -> None:
    assert list(side_by_side(lambda task, rest: rest(0.001), [1], 1, 60.0)) == [(0, None)]
