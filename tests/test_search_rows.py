"""What `mrag search --json` prints is the evidence that it was made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mrag.adapters.evaluation.search_rows import is_search, read_search
from mrag.cli.output import evidence_row
from mrag.corpus import Passage
from mrag.errors import InputError
from mrag.pipeline import rank_texts

PASSAGES = [
    Passage("a", "Ida Moe led the club from 1999 to 2006.", "Club", "Heads", extra={"lang": "en"}),
    Passage("b", "Odd Lie has led the club since 2007.", date="2011-05"),
    Passage("c", "The club was led by Eva Foss until March 1998."),
    Passage("d", "Who led it is not known."),
]


def printed(path: Path) -> list[dict[str, object]]:
    ranking = rank_texts("Who led the club as of 2003?", PASSAGES)
    rows = [evidence_row(place, evidence) for place, evidence in enumerate(ranking.evidence, 1)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return rows


def test_evidence_comes_back_with_sentence_date_and_scores(tmp_path: Path) -> None:
    rows = printed(tmp_path / "rows.jsonl")
    found = [evidence_row(place, one) for place, one in enumerate(read_search(tmp_path / "rows.jsonl", 10), 1)]
    for row in [*rows, *found]:
        row.pop("fits")  # of a rounded score
        if isinstance(mention := row["mention"], dict):
            mention.pop("span")  # where the date stands in the passage is not told again
    assert found == rows
    assert {str(row["id"]) for row in rows if row["mention"]} == {"a", "b", "c"}


def test_only_as_many_as_wanted_are_read(tmp_path: Path) -> None:
    printed(tmp_path / "rows.jsonl")
    assert len(read_search(tmp_path / "rows.jsonl", 2)) == 2


def test_a_search_is_told_from_a_run(tmp_path: Path) -> None:
    printed(tmp_path / "rows.jsonl")
    assert is_search(tmp_path / "rows.jsonl")
    for content in ("", "q Q0 a 1 2 x\n", '{"id": "q", "ranking": ["a"]}\n'):
        (tmp_path / "run").write_text(content)
        assert not is_search(tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("id", None, "no row of"),
        ("sentence", 7, '"sentence" is no string'),
        ("score", "high", '"score" is no number'),
        ("temporal", True, '"temporal" is no number'),
        ("mention", {"text": "2003", "kind": "guess", "source": "own"}, "of kind 'guess'"),
        ("mention", {"text": "2003", "kind": "event", "source": "own", "start": "may", "end": "2003"}, "no ISO date"),
        (
            "mention",
            {"text": "2003", "kind": "event", "source": "own", "start": "2004", "end": "2003"},
            "before it starts",
        ),
        ("text", ["x"], '"text" is a list'),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path: Path, name: str, value: object, said: str) -> None:
    first, second, *_ = printed(tmp_path / "rows.jsonl")
    second[name] = value
    if value is None:
        del second[name]
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(first)}\n\n{json.dumps(second)}\n")
    with pytest.raises(InputError, match=r"rows\.jsonl:3: ") as error:
        read_search(tmp_path / "rows.jsonl", 5)
    assert said in str(error.value)
