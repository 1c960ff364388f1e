"""mrag ask: what a person and a program see of an answer."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mrag.cli import cli

PREMIER = "Who was the UK prime minister as of 6 May 2021?"


def run(*args: str, env: dict[str, str] | None = None) -> Result:
    plain = {"MRAG_LLM_URL": "", "OPENAI_BASE_URL": "", "MRAG_LLM_MODEL": "", **(env or {})}
    return CliRunner().invoke(cli, args, prog_name="mrag", env=plain)


def answer(*args: str) -> dict[str, object]:
    result = run("ask", "--json", *args)
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    assert isinstance(row, dict)
    return row


def test_without_a_language_model_the_answer_is_the_best_sentence_and_says_so() -> None:
    row = answer(PREMIER)
    assert row["by"] == "extract"
    assert "Boris Johnson" in str(row["answer"])
    assert any("extractive" in note for note in row["notes"])  # type: ignore[attr-defined]
    assert row["fits"] is True
    assert run("ask", PREMIER).stdout.startswith("Boris Johnson held the office")


def test_the_answer_rests_on_passages_with_their_sentence_and_date() -> None:
    [evidence] = answer(PREMIER)["evidence"]  # type: ignore[misc]
    assert evidence["id"] == "uk-johnson"
    assert evidence["mention"]["start"] == "2019-07-24"
    assert evidence["sentence"] in evidence["text"]


def test_it_says_so_when_no_evidence_fits_the_asked_time() -> None:
    row = answer("Who was the UK prime minister in 1650?")
    assert row["fits"] is False
    shown = run("ask", "Who was the UK prime minister in 1650?").stdout
    assert "note: " in shown and "in 1650" in shown


def test_the_timeline_is_shown_in_order() -> None:
    facts = answer("Who was the UK prime minister before 2020?")["timeline"]
    starts = [fact["start"] or fact["end"] for fact in facts]  # type: ignore[attr-defined]
    assert len(starts) > 1
    assert starts == sorted(starts)
    shown = run("ask", "--show-timeline", "Who was the UK prime minister before 2020?").stdout
    assert "2016-07-13" in shown


@pytest.mark.parametrize("strategy", ["direct", "direct-cot"])
def test_what_a_model_knows_needs_a_model(strategy: str) -> None:
    result = run("ask", "--strategy", strategy, PREMIER)
    assert result.exit_code == 1
    assert "needs a language model" in result.stderr and "--llm" in result.stderr


def test_every_question_of_a_file_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [{"id": "a", "question": PREMIER}, {"id": "b", "question": "Who led the UK in 1985?"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    result = run("ask", "--json", "--queries", str(path))
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["a", "b"]


def test_wrong_usage_is_told() -> None:
    assert run("ask").exit_code == 2
    assert run("ask", "--llm-model", "small", PREMIER).exit_code == 1
    refused = run("ask", "--llm", "localhost:8000", "--llm-model", "small", PREMIER)
    assert refused.exit_code == 1 and refused.stderr.startswith("no --index") is False
    assert run("search", "--summaries", "llm", PREMIER).exit_code == 1


@pytest.mark.parametrize("command", ["parse", "search", "ask"])
def test_parsing_by_a_language_model_needs_one(command: str) -> None:
    result = run(command, "--parse", "llm", PREMIER)
    assert result.exit_code == 1
    assert "--parse llm needs a language model: name its server with --llm URL" in result.stderr
