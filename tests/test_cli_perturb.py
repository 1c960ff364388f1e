"""mrag perturb: facts in, a contrast set out, and what is said about it."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mrag.cli import cli
from mrag.question import parse


def run(*args: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(cli, ["perturb", *args], prog_name="mrag", input=stdin)


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    owners = [("Ida Moe", 1931, 1948), ("Odd Lie", 1948, 1960), ("Siv Berg", 1960, 1974), ("Jon Falk", 1979, 1990)]
    path = tmp_path / "facts.jsonl"
    rows = [
        {"id": f"mill#{at}", "question": "Who owned the mill?", "answers": [who], "start": str(a), "end": str(b)}
        for at, (who, a, b) in enumerate(owners)
    ]
    rows.append(
        {"id": "inn", "question": "Who ran the inn in 1950?", "answers": ["Kai"], "start": "1950", "end": "1951"}
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_questions_go_to_standard_output_and_the_summary_beside_it(facts: Path) -> None:
    result = run(str(facts), "--per-fact", "3")
    assert result.exit_code == 0
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(rows) == 12
    assert {row["source_id"] for row in rows} == {"mill#0", "mill#1", "mill#2", "mill#3"}
    assert all(parse(row["question"]).main_content == row["base"] for row in rows)
    assert "12 questions (" in result.stderr and "of 4 of 5 facts" in result.stderr
    assert "none of 1 facts: its question names a time" in result.stderr


def test_where_no_question_can_be_made_a_file_stays_as_it_was(tmp_path: Path) -> None:
    bad, out = tmp_path / "facts.jsonl", tmp_path / "contrast.jsonl"
    bad.write_text('{"id": "a#1", "question": "Who owned the mill?", "answers": ["Ida Moe"]}\n', "utf-8")
    out.write_text("kept\n", "utf-8")
    result = run(str(bad), "-o", str(out))
    assert result.exit_code == 1 and result.stdout == ""
    assert "no question could be made" in result.stderr and "is as it was" in result.stderr
    assert out.read_text("utf-8") == "kept\n"


def test_a_file_is_written_whole(facts: Path, tmp_path: Path) -> None:
    out = tmp_path / "contrast.jsonl"
    result = run(str(facts), "-o", str(out))
    assert result.exit_code == 0 and result.stdout == ""
    assert result.stderr.startswith(f"{out}: 16 questions")
    assert len(out.read_text(encoding="utf-8").splitlines()) == 16
    assert sorted(path.name for path in tmp_path.iterdir()) == ["contrast.jsonl", "facts.jsonl"]


def test_a_seed_repeats_itself(facts: Path) -> None:
    assert run(str(facts), "--seed", "7").stdout == run(str(facts), "--seed", "7").stdout
    assert run(str(facts), "--seed", "7").stdout != run(str(facts), "--seed", "8").stdout


def test_unknown_gaps_prove_less(facts: Path) -> None:
    made = [json.loads(line) for line in run(str(facts), "--gaps", "unknown", "--per-fact", "30").stdout.splitlines()]
    kinds = {(row["implicit"], row["relation"]) for row in made}
    assert ("last", "before") in kinds
    assert not kinds & {("first", "before"), ("last", "after")}


def test_questions_that_name_their_time_are_facts_too(tmp_path: Path) -> None:
    path = tmp_path / "easy.jsonl"
    row = {"id": "Inn#P1#0/easy", "question": "Who ran the inn from 1950 to 1962?", "answers": ["Kai"], "split": "easy"}
    path.write_text(json.dumps(row), encoding="utf-8")
    made = [json.loads(line) for line in run(str(path)).stdout.splitlines()]
    assert {(row["source_id"], row["base"], row["start"], row["end"]) for row in made} == {
        ("Inn#P1#0", "Who ran the inn?", "1950", "1962")
    }


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text('{"id": "a", "start": "1950"}\n{"id": "b"}\n', encoding="utf-8")
    result = run(str(path))
    assert result.exit_code == 1
    assert f'{path}:2: no "start", "end" or "question"' in result.stderr


def test_a_place_that_cannot_be_written_is_named(facts: Path, tmp_path: Path) -> None:
    result = run(str(facts), "-o", str(tmp_path / "none" / "contrast.jsonl"))
    assert result.exit_code == 1
    assert f"{tmp_path / 'none' / 'contrast.jsonl'}: cannot be written: there is no folder" in result.stderr
    folder = run(str(facts), "-o", str(tmp_path))
    assert folder.exit_code == 1 and f"{tmp_path}: cannot be written: Is a directory" in folder.stderr


def test_a_place_that_cannot_be_written_is_named_before_the_work(
    facts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrag.perturb.perturb", None)  # no question is made
    for path in (tmp_path / "none" / "contrast.jsonl", tmp_path, tmp_path / ("a" * 300)):
        result = run(str(facts), "-o", str(path))
        assert result.exit_code == 1 and f"error: {path}: cannot be written: " in result.stderr


def test_facts_come_from_standard_input_too(facts: Path) -> None:
    content = facts.read_bytes()
    piped = run("-", stdin=content)
    assert piped.exit_code == 0 and piped.stdout == run(str(facts)).stdout
    assert run("-", stdin=gzip.compress(content)).stdout == piped.stdout
    broken = run("-", stdin=content + b'{"id": "b"}\n')
    assert broken.exit_code == 1
    assert 'error: standard input:6: no "start", "end" or "question"' in broken.stderr
    assert "error: standard input: holds no facts" in run("-").stderr
    unmade = run("-", stdin=b'{"id": "a#1", "question": "Who owned the mill?", "answers": ["Ida Moe"]}')
    assert "error: standard input: no question could be made" in unmade.stderr


def test_facts_whose_dates_have_other_names_are_told_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    row = {"id": "mill", "question": "Who owned the mill?", "answers": ["Ida Moe"], "from": "1931", "to": "1948"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert "none of 1 facts: when it held is not known: name its start and end" in run(str(path)).stderr
