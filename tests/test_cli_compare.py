"""mrag compare: two systems side by side, and what speaks for the passages that they put first."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mrag.cli import cli

PASSAGES = [
    {"id": "moe", "title": "Ida Moe", "text": "Ida Moe led the rowing club from 1999 to 2006."},
    {"id": "board", "title": "Rowing club", "text": "The board met in 2003. Ida Moe was in the chair."},
    {"id": "lie", "title": "Odd Lie", "text": "Odd Lie led the rowing club in 1971. It was small."},
    {"id": "boats", "title": "Boats", "text": "The rowing club led the league with four boats in 2003."},
]
QUESTIONS = [
    {"id": "q1", "question": "Who led the rowing club as of 2003?", "answers": ["Ida Moe"], "gold_passages": ["moe"]},
    {"id": "q2", "question": "Who led the rowing club before 1980?", "answers": ["Odd Lie"]},
    {"id": "q3", "question": "Who led the rowing club in 2003?", "answers": ["Ida Moe"], "gold_passages": ["moe"]},
]
WORDS = {"q1": ["boats", "moe"], "q2": ["lie", "boats"], "q3": ["board"]}
TIME = {"q1": ["moe", "board"], "q2": ["lie", "moe"], "q3": ["moe"]}


def write(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def write_run(path: Path, rankings: dict[str, list[str]]) -> str:
    return write(path, [{"id": name, "ranking": ranking} for name, ranking in rankings.items()])


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, args, prog_name="mrag")


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("club")
    made = run("index", write(folder / "club.jsonl", PASSAGES), "-o", str(folder / "index"))
    assert made.exit_code == 0, made.output
    return str(folder / "index")


@pytest.fixture
def named(tmp_path: Path, club: str) -> list[str]:
    """Two runs, their questions and the index."""
    words, time = write_run(tmp_path / "words.jsonl", WORDS), write_run(tmp_path / "time.jsonl", TIME)
    return [words, time, write(tmp_path / "questions.jsonl", QUESTIONS), "--index", club]


def cases(named: list[str], *args: str) -> list[dict[str, object]]:
    result = run("compare", *named, "--json", *args)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_each_case_has_both_passages_with_sentence_date_and_scores(named: list[str]) -> None:
    case = cases(named)[0]
    assert (case["id"], case["answers"], case["constraint"]) == ("q1", ["Ida Moe"], "as of 2003")
    first, second = case["first"], case["second"]
    assert isinstance(first, dict) and isinstance(second, dict)
    assert (Path(first["system"]).name, first["right"], second["right"]) == ("words.jsonl", False, True)
    [passage] = second["passages"]
    assert (passage["id"], passage["gold"], passage["answer"]) == ("moe", True, True)
    assert passage["sentence"] == PASSAGES[0]["text"]
    assert (passage["mention"]["start"], passage["mention"]["end"]) == ("1999", "2006")
    assert passage["temporal"] == 1.0 and 0 < passage["semantic"] <= 1


def test_both_systems_are_scored_alike_and_keep_their_order(named: list[str]) -> None:
    case = cases(named, "-k", "2")[0]
    both = [{row["id"]: row for row in case[name]["passages"]} for name in ("first", "second")]  # type: ignore[index]
    assert list(both[0]) == WORDS["q1"] and list(both[1]) == TIME["q1"]
    assert {**both[0]["moe"], "rank": 0} == {**both[1]["moe"], "rank": 0}


def test_people_see_who_is_right_and_why(named: list[str]) -> None:
    shown = run("compare", *named).stdout
    assert "q1  Who led the rowing club as of 2003?\nWho led the rowing club?  time: as of 2003\n" in shown
    assert "words.jsonl: wrong\n 1  The rowing club led the league with four boats in 2003." in shown
    assert "time.jsonl: right\n 1  Ida Moe led the rowing club from 1999 to 2006." in shown
    assert "time 1.00  dated 1999 to 2006\n    gold, carries an answer\n" in shown


def test_only_questions_with_other_passages(named: list[str]) -> None:
    assert [case["id"] for case in cases(named, "--only-different")] == ["q1", "q3"]
    assert [case["id"] for case in cases(named, "--only-different", "-k", "2")] == ["q1", "q2", "q3"]


def test_a_question_is_won_where_the_other_has_neither_gold_nor_an_answer(named: list[str]) -> None:
    assert [case["id"] for case in cases(named, "--won-by", "second")] == ["q1"]  # in q3 the other has the answer
    assert cases(named, "--won-by", "first") == []
    assert [case["won"] for case in cases(named)] == ["second", None, None]


def test_without_gold_an_answer_makes_it_right(named: list[str]) -> None:
    case = cases(named)[1]
    assert case["first"]["right"] is True and case["first"]["passages"][0]["gold"] is None  # type: ignore[index]


def test_how_many_cases_there_are_is_said(named: list[str]) -> None:
    told = run("compare", *named, "--won-by", "second").stderr
    assert told.startswith("1 of 3 questions shown; 2 with different passages, 0 won by ")


def test_a_selection_of_the_questions_may_be_compared(named: list[str]) -> None:
    assert [case["id"] for case in cases(named, "--only", "relation=before")] == ["q2"]
    assert len(cases(named, "--sample", "2", "--seed", "3")) == 2


def test_a_passage_that_the_index_lacks_is_said(named: list[str], tmp_path: Path) -> None:
    write_run(tmp_path / "words.jsonl", {**WORDS, "q1": ["p17"]})
    result = run("compare", *named)
    assert "not in the index: [p17]" in result.stdout
    assert "1 of 4 passages are not in the index" in result.stderr
    assert cases(named)[0]["first"]["passages"] == [  # type: ignore[index]
        {"rank": 1, "id": "p17", "text": None, "gold": False, "answer": None}
    ]


def test_a_question_that_a_run_left_out_found_nothing(named: list[str], tmp_path: Path) -> None:
    write_run(tmp_path / "words.jsonl", {"q1": ["boats"]})
    assert "words.jsonl: wrong\n    found nothing" in run("compare", *named).stdout


def test_texts_cannot_steer_the_terminal(tmp_path: Path, club: str) -> None:
    run_file = write_run(tmp_path / "a.jsonl", {"q": ["moe"]})
    other = write_run(tmp_path / "b.jsonl", {"q": ["\x1b[2J\u202e"]})
    asked = write(tmp_path / "q.jsonl", [{"id": "q", "question": "Who\x1b[2J led it?", "answers": ["\x1b]0;x"]}])
    shown = run("compare", run_file, other, asked, "--index", club).stdout
    assert all(char.isprintable() for char in shown.replace("\n", ""))


# --- the output of mrag search -------------------------------------------------------------------------------


def test_two_searches_for_one_question_are_compared_by_their_own_scores(tmp_path: Path, club: str) -> None:
    question = "Who led the rowing club as of 2003?"
    files = []
    for name, options in (("plain", ["--no-temporal"]), ("time", [])):
        files.append(str(tmp_path / f"{name}.jsonl"))
        printed = run("search", "--index", club, *options, "--json", question).stdout
        Path(files[-1]).write_text(printed, encoding="utf-8")
    [case] = cases([*files, "--question", question], "-k", "2")
    for name, file in (("first", files[0]), ("second", files[1])):
        rows = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
        shown = case[name]["passages"]  # type: ignore[index]
        assert [(row["id"], row["score"]) for row in shown] == [(row["id"], row["score"]) for row in rows[:2]]
    assert case["first"]["right"] is None  # type: ignore[index]


def test_a_search_answers_one_question(named: list[str], tmp_path: Path) -> None:
    printed = run("search", "--json", "Who was the UK prime minister as of 6 May 2021?").stdout
    Path(named[0]).write_text(printed, encoding="utf-8")
    result = run("compare", *named)
    assert result.exit_code == 1 and "answers one question" in result.stderr


# --- errors --------------------------------------------------------------------------------------------------


def test_what_cannot_be_compared_is_told(named: list[str], tmp_path: Path) -> None:
    first, second, asked, *index = named
    assert run("compare", first, second).exit_code == 2
    assert run("compare", first, second, asked, "--question", "Who?").exit_code == 2
    assert "comes twice" in run("compare", first, first, asked, *index).stderr
    other = write_run(tmp_path / "other.jsonl", {"x": ["moe"]})
    assert "holds none of the questions" in run("compare", other, second, asked, *index).stderr
    answers = write(tmp_path / "answers.jsonl", [{"id": "q1", "answer": "Ida Moe"}])
    assert "no rankings" in run("compare", answers, second, asked, *index).stderr
    foreign = [write_run(tmp_path / f"{n}.jsonl", {"q1": [f"p{n}"]}) for n in range(2)]
    assert "none of 2 passages is in the index" in run("compare", *foreign, asked, *index).stderr
