"""How fast dates are read, questions parsed, time scored, and an index built and asked, beside peers in one run.

    python benchmarks/speed.py [--corpus FILE.jsonl[.gz]] [--passages N] [--skip-peers]

Peers (extra `bench`): dateparser, datefinder and python-dateutil. They are slow, so each round gives them an even
sample of the texts, and mrag the same sample right before: the ratios hold on a busy machine too, the times less so.
Figures are medians over rounds. --passages repeats the corpus up to N passages and says what that costs in time and
memory; --corpus defaults to the small one inside the package.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import numpy as np

import mrag
from mrag import pipeline, spline
from mrag.adapters import datasets, store
from mrag.columns import gather
from mrag.corpus import Corpus, Passage, analyse
from mrag.settings import DEFAULTS
from mrag.strategies import Strategies

Read = Callable[[str], object]

SENTENCES = 3_000  # for the date reader
QUESTIONS = 2_000  # for the parser
ASKED = 200  # questions put to an index
SCORED = 500  # sentences scored at a time
PEER_TEXTS = {"dateparser": 40, "dateparser, told English": 40, "datefinder": 400, "python-dateutil": 400}

ASKS = (
    "Who was {title} as of 6 May 2021?",
    "What was {title} called from 1999 to 2006?",
    "Who owned {title} until July 1984?",
    "Who was the last to lead {title} before 1981?",
    "Who was the first to join {title} after March 2003?",
    "In which year around 1970 was {title} built?",
    "Who chaired {title} between 2015 and 2020?",
    "Which prize had {title} won by 12 September 1992?",
    "In 1966, who won {title}?",
    "On 3 October 1990, what was {title}?",
    "Who has run {title} since 2011?",
    "What is {title} known for?",
)


# --- what is measured ----------------------------------------------------------------------------


class Timing(NamedTuple):
    """Seconds a text for mrag over all texts, and for each peer over its sample with mrag's share of the same time."""

    texts: int
    seconds: float
    peers: list[tuple[str, int, float, float]]


def seconds_for(read: Read, texts: Sequence[str]) -> float:
    """Seconds that one pass over the texts takes; a peer that gives up on a text has answered it."""
    start = time.perf_counter()
    for text in texts:
        try:
            read(text)
        except Exception:  # dateutil raises on every text without a date, and its lists of errors differ by version
            continue
    return time.perf_counter() - start


def sample(texts: Sequence[str], size: int) -> list[str]:
    """At most ``size`` texts, evenly spread over all."""
    step = max(1, len(texts) // size)
    return list(texts[::step][:size])


def race(read: Read, texts: Sequence[str], peers: dict[str, tuple[Read, int]], rounds: int) -> Timing:
    """Times ``read`` and its peers in turn, ``rounds`` times."""
    samples = {name: sample(texts, size) for name, (_, size) in peers.items()}
    for reader in (read, *(peer for peer, _ in peers.values())):
        seconds_for(reader, texts[:10])  # tables and caches that are built on first use
    own: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in peers}
    ratios: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        own.append(seconds_for(read, texts) / len(texts))
        for name, (peer, _) in peers.items():
            ours = seconds_for(read, samples[name])
            taken = seconds_for(peer, samples[name])
            theirs[name].append(taken / len(samples[name]))
            ratios[name].append(taken / ours)
    rows = [(name, len(samples[name]), median(theirs[name]), median(ratios[name])) for name in peers]
    return Timing(len(texts), median(own), rows)


def peers_at_hand() -> dict[str, tuple[Read, int]]:
    """The peers as functions of a text, each as its manual calls it, and how many texts each gets."""
    try:
        search_dates = import_module("dateparser.search").search_dates
        find_dates = import_module("datefinder").find_dates
        fuzzy = import_module("dateutil.parser").parse
    except ImportError as error:
        raise SystemExit(f"{error}: pip install 'mrag[bench]', or leave the peers out with --skip-peers") from None
    warnings.simplefilter("ignore")  # dateutil warns of every capitalised word that might be a time zone
    default = import_module("datetime").datetime(2000, 1, 1)
    reads: dict[str, Read] = {
        "dateparser": search_dates,
        "dateparser, told English": lambda text: search_dates(text, languages=["en"]),
        "datefinder": lambda text: list(find_dates(text)),
        "python-dateutil": lambda text: fuzzy(text, fuzzy=True, default=default),
    }
    return {name: (read, PEER_TEXTS[name]) for name, read in reads.items()}


def score_ms(corpus: Corpus, rounds: int) -> float:
    """Milliseconds for the temporal score of SCORED sentences, mentions gathered and the best of each picked."""
    rows = np.resize(np.arange(len(corpus.mention_rows) - 1, dtype=np.int64), SCORED)
    constraint = mrag.parse("Who was the prime minister as of 6 May 2021?").constraint
    assert constraint is not None
    taken = []
    for _ in range(40 * rounds):
        start = time.perf_counter()
        at, pointers = gather(corpus.mention_rows[rows], corpus.mention_rows[rows + 1])
        scores = spline.interval_scores(
            constraint,
            corpus.mention_starts[at],
            corpus.mention_ends[at],
            corpus.mention_kinds[at],
            corpus.mention_sources[at],
        )
        spline.best_of(scores, pointers, spline.PROFILE.undated)
        taken.append(time.perf_counter() - start)
    return 1e3 * median(taken)


def build_index(source: Path, folder: Path) -> dict[str, float]:
    """Builds an index on all processors: seconds."""
    start = time.perf_counter()
    store.build(source, folder, workers=os.cpu_count() or 1)
    return {"seconds": time.perf_counter() - start}


def ask_index(folder: Path, questions: Sequence[str], rounds: int) -> dict[str, float]:
    """Opens an index and asks it: milliseconds to open, and for a question (median, 95th percentile, plain BM25)."""
    start = time.perf_counter()
    corpus = store.open_corpus(folder)
    opened = time.perf_counter() - start
    plain = replace(DEFAULTS, temporal=False)
    given = Strategies(pipeline.bm25_retriever(corpus))
    best: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, settings in (("mrag", DEFAULTS), ("plain", plain)):
            taken = []
            for text in questions:
                start = time.perf_counter()
                pipeline.retrieve(mrag.parse(text), corpus, k=10, settings=settings, given=given)
                taken.append(time.perf_counter() - start)
            best[name] = [min(pair) for pair in zip(best.get(name, taken), taken, strict=True)]
    return {
        "passages": len(corpus),
        "open": 1e3 * opened,
        "median": 1e3 * median(best["mrag"]),
        "p95": 1e3 * quantiles(best["mrag"], n=20)[-1],
        "plain": 1e3 * median(best["plain"]),
    }


# --- texts ---------------------------------------------------------------------------------------


def questions_about(passages: Sequence[Passage], size: int) -> list[str]:
    """Questions of every relation about the corpus's own titles."""
    titles = list(dict.fromkeys(passage.title for passage in passages if passage.title)) or ["the trust"]
    return [ASKS[i % len(ASKS)].format(title=titles[i % len(titles)]) for i in range(size)]


def repeated(passages: Sequence[Passage], size: int, target: Path) -> None:
    """Writes ``size`` passages: the corpus again and again, each time with ids of its own."""
    with gzip.open(target, "wt", encoding="utf-8", compresslevel=1) as out:
        for i in range(size):
            passage = passages[i % len(passages)]
            line = {"id": f"{i}-{passage.id}", "title": passage.title, "section": passage.section, "text": passage.text}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


# --- memory --------------------------------------------------------------------------------------


def _child(connection: Connection, work: Callable[..., dict[str, float]], arguments: Sequence[object]) -> None:
    connection.send(work(*arguments))


def measured(work: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """What ``work`` returns in a process of its own, and "MiB": the peak RSS of it and its workers together (Linux)."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sender, work, arguments))
    process.start()
    sender.close()
    peak, done = [0.0], threading.Event()
    watcher = threading.Thread(target=_watch, args=(process.pid, peak, done))
    watcher.start()
    try:
        result: dict[str, float] = receiver.recv()
    except EOFError:
        raise SystemExit(f"{work.__name__} failed: its message stands above") from None
    finally:
        process.join()
        done.set()
        watcher.join()
    return {**result, "MiB": peak[0]}


def _watch(root: int | None, peak: list[float], done: threading.Event) -> None:
    while not done.wait(0.05):
        peak[0] = max(peak[0], sum(_resident(pid) for pid in _family(root)))


def _family(root: int | None) -> set[int | None]:
    """A process and its descendants, from /proc; parents have no fixed order, so until nothing is added."""
    parents = dict(_parents())
    family: set[int | None] = {root}
    size = 0
    while size < len(family):
        size = len(family)
        family |= {pid for pid, parent in parents.items() if parent in family}
    return family


def _parents() -> Iterator[tuple[int, int]]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            yield int(stat.parent.name), int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:  # it has ended meanwhile
            continue


def _resident(pid: int | None) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return sum(float(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS:"))


# --- the tables ----------------------------------------------------------------------------------


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    print(f"\n{title}")
    for row in ([head] if any(head) else []) + list(rows):
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  " + "  ".join(cells).rstrip())
    sys.stdout.flush()


def show_race(title: str, unit: str, timing: Timing) -> None:
    """mrag beside its peers: sentences a second or microseconds a question, and how many times as long a peer took."""

    def speed(seconds: float) -> str:
        return f"{1 / seconds:,.0f}" if unit.endswith("/s") else f"{1e6 * seconds:,.0f}"

    rows = [("mrag", f"{timing.texts:,}", speed(timing.seconds), "1")]
    rows += [(name, f"{size:,}", speed(seconds), f"{ratio:,.1f}") for name, size, seconds, ratio in timing.peers]
    show(title, ("", "texts", unit, "times mrag's time"), rows)


def show_index(title: str, source: Path, questions: Sequence[str], rounds: int) -> None:
    """Builds an index of ``source`` in a temporary folder, asks it, and prints what both cost."""
    with tempfile.TemporaryDirectory(prefix="mrag-speed-") as folder:
        index = Path(folder) / "index"
        built = measured(build_index, source, index)
        size = sum(path.stat().st_size for path in index.rglob("*") if path.is_file()) / 2**20
        asked = measured(ask_index, index, questions, rounds)
    memory = [f"{run['MiB']:,.0f} MiB" if run["MiB"] else "-" for run in (built, asked)]
    rows = [
        ("passages", f"{asked['passages']:,.0f}"),
        (f"build, {os.cpu_count() or 1} workers", f"{built['seconds']:,.2f} s"),
        ("passages a second", f"{asked['passages'] / built['seconds']:,.0f}"),
        ("peak memory of the build, all processes", memory[0]),
        ("size on disk", f"{size:,.1f} MiB"),
        ("open", f"{asked['open']:,.1f} ms"),
        ("question, median", f"{asked['median']:,.2f} ms"),
        ("question, 95th percentile", f"{asked['p95']:,.2f} ms"),
        ("question, --no-temporal, median", f"{asked['plain']:,.2f} ms"),
        ("peak memory of asking, mapped files included", memory[1]),
    ]
    show(title, ("", ""), rows)


def main() -> None:
    """Reads the options and prints the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    demo = Path(str(files("mrag.adapters") / "demo.jsonl"))
    options.add_argument("--corpus", type=Path, default=demo, help="passages as JSON lines, plain or .gz")
    options.add_argument("--passages", type=int, help="repeat the corpus up to so many passages and index that too")
    options.add_argument("--skip-peers", action="store_true", help="measure mrag alone")
    options.add_argument("--rounds", type=int, default=5, help="how often each thing is measured")
    given = options.parse_args()
    if not given.corpus.is_file():
        options.error(f"{given.corpus} is no file")
    passages = list(datasets.read_passages(given.corpus))
    corpus = analyse(sample_passages(passages, 3 * SENTENCES))
    sentences = sample([corpus.sentence(row) for row in range(len(corpus.sentence_starts))], SENTENCES)
    questions = questions_about(passages, QUESTIONS)
    print(f"mrag {mrag.__version__}, Python {sys.version.split()[0]}, {given.corpus.name}: {len(passages):,} passages")

    peers = {} if given.skip_peers else peers_at_hand()
    show_race("Dates in sentences", "sentences/s", race(mrag.find_dates, sentences, peers, given.rounds))
    show_race("Questions", "µs a question", race(mrag.parse, questions, peers, given.rounds))
    show("Temporal score", ("", "ms"), [(f"{SCORED} sentences", f"{score_ms(corpus, given.rounds):.3f}")])
    asked = questions[:ASKED]
    show_index("Index", given.corpus, asked, given.rounds)
    if given.passages:
        with tempfile.TemporaryDirectory(prefix="mrag-speed-") as folder:
            source = Path(folder) / "repeated.jsonl.gz"
            repeated(passages, given.passages, source)
            show_index("Index of the corpus repeated", source, asked[:50], 2)


def sample_passages(passages: Sequence[Passage], size: int) -> list[Passage]:
    """At most ``size`` passages, evenly spread over all."""
    return list(passages[:: max(1, len(passages) // size)][:size])


if __name__ == "__main__":
    main()
