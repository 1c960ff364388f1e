"""Runs and qrels go out and come back unchanged, in the order that trec_eval gives them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.adapters.runs import qrels_of, read_qrels, read_run, texts_of, write_qrels, write_run
from mrag.errors import InputError
from mrag.metrics import EvalQuestion

RANKINGS = {"q#1/easy": ("p3", "p1", "p2"), "q2": ("é", "p1"), "q3": ()}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- runs ----------------------------------------------------------------------------------------------------


def test_a_run_is_written_with_scores_that_keep_its_order(tmp_path: Path) -> None:
    write_run(tmp_path / "run.txt", {"q": ["b", "a", "b", "c"]}, tag="mine")
    assert (tmp_path / "run.txt").read_text() == "q Q0 b 1 3 mine\nq Q0 a 2 2 mine\nq Q0 c 3 1 mine\n"


def test_a_run_comes_back_from_trec_form_but_for_empty_rankings(tmp_path: Path) -> None:
    write_run(tmp_path / "run", RANKINGS)
    assert read_run(tmp_path / "run") == {name: found for name, found in RANKINGS.items() if found}


IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(st.dictionaries(IDS, st.lists(IDS, max_size=4, unique=True).map(tuple), min_size=1, max_size=4))
def test_a_run_comes_back_from_json_lines_whatever_its_ids(
    tmp_path_factory: pytest.TempPathFactory, rankings: dict[str, tuple[str, ...]]
) -> None:
    path = tmp_path_factory.mktemp("runs") / "run.jsonl"
    write_run(path, rankings, form="json")
    assert read_run(path) == rankings


def test_the_json_lines_of_a_search_are_a_run_known_by_content(tmp_path: Path) -> None:
    path = write(tmp_path / "run.txt", gzip.compress(b'\n{"id": 7, "ranking": ["b", "a"]}\n{"id": "x", "ranking": []}'))
    assert read_run(path) == {"7": ("b", "a"), "x": ()}


def test_a_trec_run_is_ordered_by_its_scores_not_by_its_ranks(tmp_path: Path) -> None:
    path = write(tmp_path / "run", "q\tQ0\ta\t1\t-2\tx\nq Q0 b 2 1e3 x\nr Q0 b 1 inf x\nq Q0 c 3 7 x\n")
    assert read_run(path) == {"q": ("b", "c", "a"), "r": ("b",)}


def test_scores_are_32_bit_floats_and_of_equal_ones_the_greater_id_comes_first(tmp_path: Path) -> None:
    lines = ["q Q0 a 1 0.30000000001 x", "q Q0 c 2 0.3 x", "q Q0 é 3 0.3 x", "q Q0 b 4 1e-60 x", "q Q0 d 5 0 x"]
    path = write(tmp_path / "run", "\n".join(lines))
    assert read_run(path) == {"q": ("é", "c", "a", "d", "b")}
    run = list(ir_measures.read_trec_run(str(path)))
    for place, passage in enumerate(read_run(path)["q"]):  # trec_eval ranks them so
        qrels = {"q": {passage: 1}}
        assert ir_measures.calc_aggregate([ir_measures.RR], qrels, run)[ir_measures.RR] == 1 / (place + 1)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("q Q0 a 1 2 x\nq Q0 b 2 1\n", ":2: 5 columns: a TREC run has six"),
        ("q Q0 a 1 2 x\nq Q0 a 2 1 x\n", ":2: passage 'a' comes twice for question 'q'"),
        ("q Q0 a 1 high x\n", ":1: the score 'high' is no number"),
        ("q Q0 a 1 nan x\n", ":1: the score 'nan' is no number"),
        ('{"id": "q", "ranking": ["a"]}\n{"id": "q", "ranking": []}', ":2: question 'q' comes twice"),
        ('{"id": "q", "ranking": "a"}', ':1: no "id" and "ranking"'),
        ('{"id": "q", "ranking": [["a"]]}', ':1: "ranking" holds something else than passage ids'),
        ('{"id": "q", "ranking": ["a"]', ":1: broken JSON"),
        ("", "holds no ranking"),
        (b"q Q0 \xff 1 2 x", ":1: byte 6 of the line (0xff) is not UTF-8"),
    ],
)
def test_a_run_that_cannot_be_used_is_named(tmp_path: Path, content: str | bytes, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_run(write(tmp_path / "run", content))
    assert str(caught.value).startswith(str(tmp_path / "run"))
    assert says in str(caught.value)


@pytest.mark.parametrize("bad", ["a b", "", "a\u00a0b", "a\n"])
def test_an_id_with_white_space_is_refused_and_the_old_file_stays(tmp_path: Path, bad: str) -> None:
    path = write(tmp_path / "run", "old")
    with pytest.raises(InputError, match="write JSON lines"):
        write_run(path, {"q": ["a"], "r": ["b", bad]})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_run(tmp_path / "none" / "run", RANKINGS)


def test_half_a_character_is_refused_where_it_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the passage id '\\ud800' holds half a character"):
        write_run(tmp_path / "run", {"q": ["\ud800"]})
    with pytest.raises(InputError, match="holds half a character"):
        write_qrels(tmp_path / "qrels", {"\ud800": {"a": 1}}, form="beir")
    assert list(tmp_path.iterdir()) == []
    write_run(tmp_path / "run", {"q": ["\ud800"]}, form="json")
    assert read_run(tmp_path / "run") == {"q": ("\ud800",)}


# --- qrels ---------------------------------------------------------------------------------------------------

QRELS = {"q 1": {"p 1": 2, "p2": 0}, "q2": {"p1": -1}}


def test_qrels_come_back_from_beir_form(tmp_path: Path) -> None:
    write_qrels(tmp_path / "test.tsv", QRELS, form="beir")
    assert (tmp_path / "test.tsv").read_text().startswith("query-id\tcorpus-id\tscore\nq 1\tp 1\t2\n")
    assert read_qrels(tmp_path / "test.tsv") == QRELS


def test_qrels_come_back_from_trec_form(tmp_path: Path) -> None:
    qrels = {"q1": {"p1": 2, "p2": 0}, "q2": {"é": -1}}
    write_qrels(tmp_path / "qrels", qrels)
    assert (tmp_path / "qrels").read_text().splitlines()[0] == "q1 0 p1 2"
    assert read_qrels(tmp_path / "qrels") == qrels


def test_qrels_are_known_by_content(tmp_path: Path) -> None:
    assert read_qrels(write(tmp_path / "a.tsv", "q\t0\tp\t1\r\n\r\n")) == {"q": {"p": 1}}
    assert read_qrels(write(tmp_path / "b.txt", "q\tp\t1\n")) == {"q": {"p": 1}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("q 0 a 1\nq 0 b\n", ":2: qrels have four columns"),
        ("q\ta\t1\nq 0 b 1\n", ":2: qrels have four columns"),
        ("q 0 a 1.5\n", ":1: the grade '1.5' is no whole number"),
        ("q 0 a ²\n", ":1: the grade '²' is no whole number"),
        ("q 0 a 1\nq 0 a 2\n", ":2: passage 'a' has another grade for question 'q' above"),
        ("query-id\tcorpus-id\tscore\n", "holds no gold passages"),
    ],
)
def test_qrels_that_cannot_be_used_are_named(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_qrels(write(tmp_path / "qrels", content))
    assert says in str(caught.value)


def test_ids_that_a_form_of_qrels_cannot_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="white space"):
        write_qrels(tmp_path / "qrels", QRELS)
    with pytest.raises(InputError, match="tab or a line end"):
        write_qrels(tmp_path / "qrels", {"q": {"a\tb": 1}}, form="beir")


def test_the_gold_of_questions_is_qrels() -> None:
    questions = [EvalQuestion("1", "?", gold_passages=("a", "b"), grades={"b": 3}), EvalQuestion("2", "?")]
    assert qrels_of(questions) == {"1": {"a": 1, "b": 3}}


# --- texts ---------------------------------------------------------------------------------------------------


def test_the_texts_that_a_run_names_are_read_out_of_a_corpus(tmp_path: Path) -> None:
    rows = [{"id": str(n), "title": "Mill", "text": f"Text {n}."} for n in range(5)]
    path = write(tmp_path / "c.jsonl", "\n".join(map(json.dumps, rows)) + "\n{")  # not read so far
    assert texts_of(path, ["3", "1"]) == {"1": "Mill Text 1.", "3": "Mill Text 3."}
