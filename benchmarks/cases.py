"""The hard cases of a folder, through the library: questions, evidence dates and ranking pairs that come out right.

python benchmarks/cases.py FOLDER [--situated FILE.jsonl] [--failures]

FOLDER holds questions.jsonl, evidence.jsonl, ranking.jsonl and the matcher match.py; FILE holds "as of" questions with
their `date` (SituatedQA).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mrag.corpus import Passage
from mrag.interval import Interval, parse_iso
from mrag.pipeline import rank_texts
from mrag.question import parse
from mrag.timex import find_dates


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file."""
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def reference(case: dict[str, Any]) -> Interval | None:
    """The day that counts as today in a case."""
    return parse_iso(case["reference_date"]) if case["reference_date"] else None


def question(text: str, today: Interval | None) -> dict[str, str | None]:
    """A question as `mrag parse --json` prints it."""
    read = parse(text, reference=today)
    c = read.constraint
    return {
        "main_content": read.main_content,
        "implicit": c and c.implicit,
        "relation": c and c.relation,
        "start": c and c.interval.start_iso,
        "end": c and c.interval.end_iso,
    }


def holds(kind: str, case: dict[str, Any], match: Any) -> tuple[bool, object]:
    """Whether a case comes out right, and what came out."""
    today = reference(case)
    if kind == "questions":
        got = question(case["input"], today)
        return match.question_ok(case, got), got
    if kind == "evidence":
        found = [(m.interval.start_iso, m.interval.end_iso) for m in find_dates(case["input"], reference=today)]
        return match.evidence_ok(case, found), found
    texts = [Passage("worse", case["worse"]), Passage("better", case["better"])]
    scores = {e.passage.id: e.score for e in rank_texts(case["question"], texts, reference=today).evidence}
    return match.ranking_ok(case, scores["better"], scores["worse"]), scores


def main() -> None:
    """Prints what is right of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--situated", type=Path)
    parser.add_argument("--failures", action="store_true")
    args = parser.parse_args()
    spec = importlib.util.spec_from_file_location("match", args.folder / "match.py")
    if spec is None or spec.loader is None:
        sys.exit(f"{args.folder}: no match.py")
    match = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(match)
    for kind in ("questions", "evidence", "ranking"):
        cases = list(rows(args.folder / f"{kind}.jsonl"))
        right = 0
        for case in cases:
            ok, got = holds(kind, case, match)
            right += ok
            if args.failures and not ok:
                print("  ", case["id"], repr(case.get("input", case.get("question")))[:100], "->", got)
        print(f"{kind}: {right} of {len(cases)}")
    if args.situated:
        dated = list(rows(args.situated))
        read = [question(row["question"], None) for row in dated]
        right = sum(
            (got["relation"], got["start"], got["end"]) == ("as of", None, row["date"])
            for row, got in zip(dated, read, strict=True)
        )
        print(f"as-of dates: {100 * right / len(dated):.2f} % of {len(dated)}")


if __name__ == "__main__":
    main()
