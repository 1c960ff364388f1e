"""Runs a command beside a real language model: a server with OpenAI's interface, which lives as long as the command.

    python .ci/with_llm.py FOLDER COMMAND...

FOLDER is that of a model (benchmarks/fetch_smollm.py makes one); the Python is one with 'transformers[serving]'. The
command finds the server in MRAG_TEST_LLM, the model's name there in MRAG_TEST_LLM_MODEL. The exit status is that of
the command, or 1 when no server comes up within three minutes; its log is then shown.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

SECONDS, TRIES = 180, 3
OPTIONS = (
    "--device cpu"
    # What many prompts begin with is computed once: the worked examples are most of every prompt.
    " --continuous-batching"
    # Room for 8,192 tokens, as many as the model can read. More would slow down every token, as would larger batches.
    " --cb-num-blocks 256 --cb-block-size 32 --cb-max-batch-tokens 512"
).split()
SETTINGS = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",  # two threads that wait for each other on a busy machine are ten times slower than one
}


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # not at once: the server is to be stopped
    model, command = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    with served(model) as url:
        found = {"MRAG_TEST_LLM": url, "MRAG_TEST_LLM_MODEL": model, "NO_PROXY": "127.0.0.1"}
        return subprocess.run(command, env={**os.environ, **found}, check=False).returncode


@contextmanager
def served(model: str) -> Iterator[str]:
    """The URL of a server of the model, which ends with the block."""
    for tried in range(1, TRIES + 1):  # somebody else may take the port before the server does
        with tempfile.TemporaryFile() as log:
            port = free_port()
            server = started(model, port, log)
            try:
                if comes_up(server, port):
                    yield f"http://127.0.0.1:{port}"
                    return
                ended = server.poll() is not None
            finally:
                stop(server)
            if tried == TRIES or not ended:
                log.seek(0)
                sys.stderr.write(log.read().decode("utf-8", "replace")[-8000:])
                raise SystemExit("error: the server of the language model did not come up; above is what it said")


def started(model: str, port: int, log: IO[bytes]) -> subprocess.Popen[bytes]:
    program = Path(sys.executable).with_name("transformers")
    command = [str(program), "serve", model, "--host", "127.0.0.1", "--port", str(port), *OPTIONS]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **SETTINGS})


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def comes_up(server: subprocess.Popen[bytes], port: int) -> bool:
    """Waits until the server answers; False when it has ended or the time is over."""
    end = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < end:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return True
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.5)
    return False


def stop(server: subprocess.Popen[bytes]) -> None:
    """Ends the server, by force when it does not end by itself."""
    server.terminate()
    try:
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


if __name__ == "__main__":
    raise SystemExit(main())
