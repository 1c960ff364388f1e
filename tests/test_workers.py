"""Work over several processes."""

import os
import subprocess
import sys
import time
from math import sqrt

import pytest

from mrag.adapters.workers import in_order
from mrag.errors import MragError


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    assert list(in_order(sqrt, (x * x for x in range(50)), workers)) == list(range(50))


def test_only_a_few_items_are_under_way() -> None:
    items = iter(range(1000))
    results = in_order(abs, items, 2)
    assert next(results) == 0
    assert next(items) < 10
    results.close()


def test_an_error_of_the_function_comes_out() -> None:
    with pytest.raises(ValueError, match="math domain"):
        list(in_order(sqrt, [1, -1, 1], 2))


def test_a_worker_that_dies_is_told() -> None:
    with pytest.raises(MragError, match="a worker process ended"):
        list(in_order(os._exit, [1, 1, 1], 2))


@pytest.mark.skipif(os.name == "nt", reason="process groups")
def test_ctrl_c_reaches_the_parent_only() -> None:
    code = (
        "import time\n"
        "from mrag.adapters.workers import in_order\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        "        print('here', flush=True)\n"
        "        list(in_order(time.sleep, [3] * 100, 2))\n"
        "    except KeyboardInterrupt:\n"
        "        print('stopped')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout and process.stdout.readline() == b"here\n"
        for _ in range(3):  # an impatient user
            time.sleep(0.5)
            os.killpg(process.pid, 2)
        out, err = process.communicate(timeout=20)
    assert (out, err) == (b"stopped\n", b"")
