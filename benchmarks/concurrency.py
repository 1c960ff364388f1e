"""Prompts side by side: wall time of 200 prompts against a server that answers each after 50 ms, beside the ideal.

python benchmarks/concurrency.py [--prompts 200] [--milliseconds 50] [--rounds 5] [--most 1.15]

The ideal is that of requests that cost nothing but the server's time: ceil(prompts / concurrency) times it. The server
runs in a process of its own and answers every request at its own time, however many there are. Shown are the best
round and the median, each round with a model that was connected anew. Other work on the machine can only make a round
longer, so the best is what counts: exits 1 when it is over --most times the ideal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import multiprocessing
import statistics
import sys
import time
from multiprocessing.connection import Connection

from mrag.adapters.llm import connect

CONCURRENCY = (1, 8, 32)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--milliseconds", type=float, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=1.15)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(theirs, options.milliseconds / 1000), daemon=True
    )
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/v1"
    print(f"{options.prompts} prompts, {options.milliseconds:g} ms each")
    print(f"{'side by side':>12}{'ideal s':>10}{'best s':>10}{'ratio':>8}{'median s':>10}{'ratio':>8}")
    worst = 0.0
    for concurrency in CONCURRENCY:
        ideal = math.ceil(options.prompts / concurrency) * options.milliseconds / 1000
        rounds = [seconds(url, options.prompts, concurrency) for _ in range(options.rounds)]
        best, middle = min(rounds), statistics.median(rounds)
        print(f"{concurrency:>12}{ideal:>10.3f}{best:>10.3f}{best / ideal:>8.3f}{middle:>10.3f}{middle / ideal:>8.3f}")
        worst = max(worst, best / ideal)
    server.terminate()
    return int(worst > options.most)


def seconds(url: str, prompts: int, concurrency: int) -> float:
    """The wall time of one call; a first prompt, not counted, loads what is loaded once."""
    model = connect(url, "latency", concurrency=concurrency)
    model(["first"])
    asked = [f"prompt {number}" for number in range(prompts)]
    start = time.perf_counter()
    replies = model(asked)
    wall = time.perf_counter() - start
    assert replies == [f"reply to {prompt}" for prompt in asked]
    return wall


# --- the server ----------------------------------------------------------------------------------


def serve(pipe: Connection, latency: float) -> None:
    """Answers chat completions until it is terminated; says its port through the pipe."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
                asked = json.loads(await reader.readexactly(int(length[15:])))
                await asyncio.sleep(latency)
                message = {"role": "assistant", "content": f"reply to {asked['messages'][0]['content']}"}
                body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                writer.write(head + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


if __name__ == "__main__":
    sys.exit(main())
