"""An evaluation's folder keeps what is done, goes on with the same and refuses another; files of systems are read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mrag.adapters.evaluation.outputs import read_answers, read_output
from mrag.adapters.evaluation.run_folder import RunFolder
from mrag.errors import IndexFormatError, InputError

HOW: dict[str, object] = {"k": 20, "encoder": None, "mix": {"first": 0.5}}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- the folder ----------------------------------------------------------------------------------------------


def test_what_is_kept_is_there_when_the_folder_is_opened_again(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "a" / "b", HOW) as folder:
        assert folder.rankings == {} and folder.answers == {}
        folder.add({"q1": ["p2", "é"], "q 2": []}, {"q1": {"answer": "Ida", "by": "llm"}, "q 2": {"answer": None}})
    with RunFolder(tmp_path / "a" / "b", dict(HOW)) as folder:
        assert folder.rankings == {"q1": ("p2", "é"), "q 2": ()}
        assert folder.answers == {"q1": "Ida", "q 2": None}
    assert names(tmp_path / "a" / "b") == ["answers.jsonl", "how.json", "run.jsonl"]
    assert json.loads((tmp_path / "a" / "b" / "answers.jsonl").read_text().splitlines()[0])["by"] == "llm"


def test_a_batch_is_on_the_disk_when_it_is_added(tmp_path: Path) -> None:
    with RunFolder(tmp_path, HOW) as folder:
        folder.add({"q1": ["p1"]})
        assert (tmp_path / "run.jsonl").read_text() == '{"id": "q1", "ranking": ["p1"]}\n'


def test_what_is_kept_of_a_question_stays_as_it_is(tmp_path: Path) -> None:
    with RunFolder(tmp_path, HOW) as folder:
        folder.add({"q1": ["p1", "p1"]}, {"q1": {"answer": "Ida"}})
        folder.add({"q1": ["p9"], "q2": ["p2"]}, {"q1": {"answer": "Odd"}, "q2": {"answer": "Moe"}})
        assert folder.rankings == {"q1": ("p1",), "q2": ("p2",)} and folder.answers == {"q1": "Ida", "q2": "Moe"}
    with RunFolder(tmp_path, HOW) as folder:
        assert folder.rankings == {"q1": ("p1",), "q2": ("p2",)} and folder.answers == {"q1": "Ida", "q2": "Moe"}


@pytest.mark.parametrize("half", [b'{"id": "q2", "rank', b"\0\0\0", b'{"id": "q2", "ranking": []}' + b" " * 70_000])
def test_a_line_that_a_killed_process_left_half_written_goes(tmp_path: Path, half: bytes) -> None:
    with RunFolder(tmp_path, HOW) as folder:
        folder.add({"q1": ["p1"]})
    with (tmp_path / "run.jsonl").open("ab") as stream:
        stream.write(half)
    with RunFolder(tmp_path, HOW) as folder:
        assert list(folder.rankings) == ["q1"]
        folder.add({"q2": ["p2"]})
    with RunFolder(tmp_path, HOW) as folder:
        assert folder.rankings == {"q1": ("p1",), "q2": ("p2",)}


def test_nothing_but_a_half_line_is_nothing(tmp_path: Path) -> None:
    with RunFolder(tmp_path, HOW) as folder:
        folder.add({"q1": ["p1"]})
    (tmp_path / "run.jsonl").write_text('{"id"')
    with RunFolder(tmp_path, HOW) as folder:
        assert folder.rankings == {}


def test_an_answer_whose_ranking_was_not_written_any_more_is_no_hindrance(tmp_path: Path) -> None:
    with RunFolder(tmp_path, HOW) as folder:
        folder.add({"q1": ["p1"]}, {"q1": {"answer": "Ida"}})
    (tmp_path / "run.jsonl").write_text("")
    with RunFolder(tmp_path, HOW) as folder:
        assert folder.rankings == {} and folder.answers == {"q1": "Ida"}
        folder.add({"q1": ["p1"]}, {"q1": {"answer": "Ida"}})
    with RunFolder(tmp_path, HOW) as folder:
        assert folder.rankings == {"q1": ("p1",)} and folder.answers == {"q1": "Ida"}


def test_another_evaluation_is_refused_with_what_differs(tmp_path: Path) -> None:
    with RunFolder(tmp_path, HOW) as folder:
        folder.add({"q1": ["p1"]})
    other = {"k": 5, "encoder": "minilm", "mix": {"first": 0.5}, "answer": "direct"}
    with pytest.raises(InputError) as caught, RunFolder(tmp_path, other):
        pass
    said = str(caught.value)
    assert "k: 20 there, 5 now; encoder: none there, minilm now; answer: none there, direct now" in said
    assert "mix" not in said and "name another folder" in said
    with RunFolder(tmp_path, HOW) as folder:
        assert list(folder.rankings) == ["q1"]


def test_a_command_that_fails_before_the_first_question_binds_nobody(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), RunFolder(tmp_path / "new", {"encoder": "mispelt"}):
        raise ZeroDivisionError
    assert not (tmp_path / "new").exists()
    with RunFolder(tmp_path / "new", HOW) as folder:
        folder.add({"q1": ["p1"]})


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match=r"thesis\.tex"), RunFolder(tmp_path, HOW):
        pass
    assert names(tmp_path) == ["thesis.tex"]
    with pytest.raises(InputError, match="a file, not a folder"), RunFolder(tmp_path / "thesis.tex", HOW):
        pass


@pytest.mark.parametrize("content", ["", "[]", '{"how": {}}', '{"format": "mrag-evaluation", "version": 9, "how": {}}'])
def test_a_damaged_or_newer_folder_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "how.json").write_text(content)
    with pytest.raises(InputError, match=r"how\.json: damaged"), RunFolder(tmp_path, HOW):
        pass


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    with RunFolder(tmp_path, HOW) as folder:
        folder.add({"q1": ["p1"]})
    (tmp_path / "run.jsonl").write_text('{"id": "q1"}\n')
    with pytest.raises(InputError, match=r"run\.jsonl:1"), RunFolder(tmp_path, HOW):
        pass


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    busy = pytest.raises(IndexFormatError, match="another evaluation is writing")
    with RunFolder(tmp_path, HOW), busy, RunFolder(tmp_path, HOW):
        pass
    with RunFolder(tmp_path, HOW) as folder:
        folder.write("table.md", ["| a |", "| é |"])
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == "| a |\n| é |\n"
    assert names(tmp_path) == ["how.json", "table.md"]


# --- what systems gave ---------------------------------------------------------------------------------------


def test_what_a_system_gave_is_known_by_its_content(tmp_path: Path) -> None:
    run, answers, both, trec = (tmp_path / name for name in ("a", "b", "c", "d"))
    run.write_text('{"id": "q", "ranking": ["p"]}\n')
    answers.write_bytes(gzip.compress(b'\n{"id": 7, "answer": 1999, "question": "when?"}\n{"id": "x", "answer": null}'))
    both.write_text('{"id": "q", "ranking": ["p"], "answer": "Ida"}\n')
    trec.write_text("q Q0 p 1 0.5 mine\n")
    assert read_output(run) == ({"q": ("p",)}, None)
    assert read_output(answers) == (None, {"7": "1999", "x": None})
    assert read_output(both) == ({"q": ("p",)}, {"q": "Ida"})
    assert read_output(trec) == ({"q": ("p",)}, None)


def test_the_folder_of_an_evaluation_is_a_run(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "a", HOW) as folder:
        folder.add({"q": ["p"]})
    assert read_output(tmp_path / "a") == ({"q": ("p",)}, None)
    with RunFolder(tmp_path / "b", HOW) as folder:
        folder.add({"q": ["p"]}, {"q": {"answer": "Ida"}})
    assert read_output(tmp_path / "b") == ({"q": ("p",)}, {"q": "Ida"})
    with pytest.raises(InputError, match="the folder of an evaluation"):
        read_output(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"id": "q", "answer": "a"}\n{"id": "q", "answer": "b"}\n', ":2: question 'q' comes twice"),
        ('{"answer": "a"}\n', ':1: no "id" and "answer"'),
        ('{"id": "q", "answer": "a"}\n{"id": "r"}\n', ':2: no "id" and "answer"'),
        ('{"id": "q", "answer": ["a"]}\n', ':1: "answer" is no string'),
        ("\n", "holds no answer"),
    ],
)
def test_answers_that_cannot_be_used_are_named(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_answers(path)
    assert str(caught.value).startswith(str(path)) and said in str(caught.value)
