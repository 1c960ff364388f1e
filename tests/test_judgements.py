"""What an annotator decided is on the disk at once, and is gone on with only as it was begun."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mrag.adapters.evaluation.judgements import JudgementFile, read_judgements
from mrag.errors import InputError

HOW: dict[str, object] = {"questions": "3 (abc)", "k": 20}


def opened(path: Path, how: dict[str, object] = HOW, annotator: str | None = None) -> JudgementFile:
    return JudgementFile(path, "evidence", how, annotator)


def some(path: Path) -> Path:
    """A file with two judgements of Ida."""
    with opened(path, annotator="ida") as file:
        file.judge("q1", "a", True)
        file.judge("q1", "b", False)
    return path


def test_every_judgement_is_in_the_file_before_the_next_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "ida.jsonl"
    with opened(path) as file:
        for number, word in enumerate([True, False, None]):
            file.judge("q1", f"p{number}", word)
            assert list(read_judgements(path).judgements.values())[-1] is word
        file.close_question("q1")
        assert list(read_judgements(path).done) == ["q1"]


def test_the_file_says_who_judged_what_and_how(tmp_path: Path) -> None:
    first, *rows = map(json.loads, some(tmp_path / "x.jsonl").read_text().splitlines())
    head = {"format": "mrag-judgements", "version": 1, "about": "evidence", "annotator": "ida", "how": HOW}
    assert first == head
    assert rows == [
        {"question": "q1", "passage": "a", "judgement": "yes"},
        {"question": "q1", "passage": "b", "judgement": "no"},
    ]


def test_nothing_is_written_before_the_first_judgement(tmp_path: Path) -> None:
    with opened(tmp_path / "ida.jsonl"):
        pass
    assert not list(tmp_path.iterdir())


def test_an_annotator_without_a_name_is_called_as_the_file(tmp_path: Path) -> None:
    with opened(tmp_path / "ida.second.jsonl") as file:
        assert file.judged.annotator == "ida"


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = some(tmp_path / "x.jsonl")
    with opened(path) as file:
        assert file.judged.annotator == "ida"
        assert file.judged.judgements == {("q1", "a"): True, ("q1", "b"): False}
        file.judge("q2", "c", None)
    assert len(path.read_text().splitlines()) == 4


def test_the_last_word_counts(tmp_path: Path) -> None:
    path = some(tmp_path / "x.jsonl")
    with opened(path) as file:
        file.judge("q1", "a", False)
        file.judge("q1", "b", True)
    found = read_judgements(path)
    assert found.judgements == {("q1", "a"): False, ("q1", "b"): True}
    assert list(found.yes["q1"]) == ["b"]


def test_a_judgement_takes_a_question_up_again_that_was_done(tmp_path: Path) -> None:
    path = some(tmp_path / "x.jsonl")
    with opened(path) as file:
        file.close_question("q1")
        file.judge("q1", "a", False)
        assert not file.judged.done
    assert not read_judgements(path).done


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_line_that_a_killed_process_left_half_written_goes(tmp_path: Path, cut: int) -> None:
    path = some(tmp_path / "x.jsonl")
    path.write_bytes(path.read_bytes()[:-cut])
    assert read_judgements(path).judgements == {("q1", "a"): True}
    with opened(path) as file:
        file.judge("q1", "c", True)
    assert read_judgements(path).judgements == {("q1", "a"): True, ("q1", "c"): True}


# --- what is refused -----------------------------------------------------------------------------------------


def test_other_settings_are_refused_with_what_differs(tmp_path: Path) -> None:
    path = some(tmp_path / "x.jsonl")
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"made otherwise \(k: 20 there, 5 now; encoder: none there, minilm now\)"):
        opened(path, {**HOW, "k": 5, "encoder": "minilm"}).__enter__()
    with pytest.raises(InputError, match=r"about: evidence there, runs now"):
        JudgementFile(path, "runs", HOW).__enter__()
    assert path.read_bytes() == before


def test_another_annotator_is_refused(tmp_path: Path) -> None:
    path = some(tmp_path / "x.jsonl")
    with pytest.raises(InputError, match="annotator: ida there, odd now"):
        opened(path, annotator="odd").__enter__()


def test_a_setting_cannot_steer_the_terminal_by_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with opened(path, {"k": "\x1b[2J" + "x" * 500}) as file:
        file.judge("q", "a", True)
    with pytest.raises(InputError) as error:
        opened(path).__enter__()
    assert "\x1b" not in str(error.value) and len(str(error.value)) < 400


@pytest.mark.parametrize(
    "content",
    [
        b'{"id": "q1", "question": "Who led it?"}\n',
        b"some notes without a line end",
        b"Some notes.\nMore of them.\n",
        b'{"format": "mrag-judgements", "version": 2, "about": "evidence", "annotator": "ida", "how": {}}\n',
        b'{"format": "mrag-judgements", "version": 1, "about": "evidence", "annotator": 7, "how": {}}\n',
        b"\x1f\x8b\x08\x00\n",
    ],
)
def test_another_file_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match="no file of judgements"):
        opened(path).__enter__()
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "line",
    [
        '{"question": "q1", "passage": "a", "judgement": "maybe"}',
        '{"question": "q1", "passage": 3, "judgement": "yes"}',
        '{"question": "q1", "passage": null, "judgement": "yes"}',
        '{"question": ["q1"], "passage": "a", "judgement": ["yes"]}',
        "[1]",
        "yes",
    ],
)
def test_a_line_that_says_nothing_is_named(tmp_path: Path, line: str) -> None:
    path = some(tmp_path / "x.jsonl")
    with path.open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(InputError, match=r"x\.jsonl:4: "):
        read_judgements(path)


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_judgements(tmp_path / "missing.jsonl")
    with pytest.raises(InputError, match="there is no folder"):
        opened(tmp_path / "missing" / "x.jsonl").__enter__()
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(InputError, match="holds no judgements"):
        read_judgements(tmp_path / "empty.jsonl")


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").touch()
    some(tmp_path / "x.jsonl")
    assert read_judgements(tmp_path / "x.jsonl").annotator == "ida"
