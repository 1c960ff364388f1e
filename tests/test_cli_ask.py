"""mrag ask: what a person and a program see of an answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


# --- a server that is dead -------------------------------------------------------------------------------------


@pytest.fixture
def dead(play: Callable[..., Any], tmp_path: Path) -> list[str]:
    """The options of a server that hangs up on everybody."""
    server = play(lambda exchange: exchange.hang_up())
    return ["--llm", server.url, "--llm-model", "small", "--no-cache"]


def test_a_model_that_gives_no_reply_is_one_note_with_what_was_done_instead(dead: list[str]) -> None:
    result = run("ask", "--json", *dead, PREMIER)
    assert result.exit_code == 0
    row = json.loads(result.stdout)
    bare = answer(PREMIER)
    assert row == {**bare, "notes": row["notes"]}
    [note] = row["notes"]
    assert note.startswith("the language model gave no reply (127.0.0.1:")
    assert note.endswith(
        "): the answer is extractive: a sentence of a passage as it stands, not an answer in a model's words"
    )
    assert "note:" not in result.stderr
    shown = run("ask", *dead, PREMIER)
    assert shown.exit_code == 0 and shown.stdout.count("note:") == 1 and "note:" not in shown.stderr


def test_the_one_note_also_tells_what_else_fell_back(dead: list[str]) -> None:
    result = run("ask", "--json", "--parse", "llm", "--summaries", "llm", *dead, PREMIER)
    [note] = json.loads(result.stdout)["notes"]
    assert "): the question is read by the rules, summaries are extracts, and the answer is extractive: " in note
    assert "note:" not in result.stderr
    unfit = json.loads(run("ask", "--json", *dead, "Who was the UK prime minister in 1650?").stdout)
    assert len(unfit["notes"]) == 2 and "in 1650" in unfit["notes"][1]


@pytest.mark.parametrize("strategy", ["direct", "direct-cot"])
def test_where_nothing_can_be_answered_without_a_reply_it_is_an_error(dead: list[str], strategy: str) -> None:
    result = run("ask", "--json", "--strategy", strategy, *dead, PREMIER)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error: the language model gave no reply (127.0.0.1:" in result.stderr
    assert f"--strategy {strategy} has no other answer" in result.stderr and "mrag doctor" in result.stderr
    nothing = run("ask", *dead, "Zzzz qqqq?")
    assert nothing.exit_code == 1 and "and no passage was found to answer from" in nothing.stderr


def test_a_model_that_replies_to_some_is_not_given_up(play: Callable[..., Any]) -> None:
    def replies(exchange: Any) -> None:
        prompt = exchange.asked.body["messages"][0]["content"]
        if "<passage>" in prompt:
            exchange.say({"error": {"message": "too long"}}, status=400)
        else:
            exchange.say({"choices": [{"message": {"content": "Boris Johnson"}}]})

    args = ["--llm", f"{play(replies).url}/v1", "--llm-model", "small", "--no-cache"]
    row = answer(*args, PREMIER)
    assert (row["answer"], row["strategy"]) == ("Boris Johnson", "direct-cot")
    assert "no passage could be graded" in str(row["notes"])


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
