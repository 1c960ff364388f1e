"""Files of dated facts: facts as they are written, and questions that name their own time."""

import json
from pathlib import Path

import pytest

from mrag.adapters.evaluation.fact_files import read_facts
from mrag.contrast.facts import Fact
from mrag.errors import InputError
from mrag.interval import OPEN_END, OPEN_START


def written(folder: Path, *rows: dict[str, object], name: str = "facts.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(folder: Path, *rows: dict[str, object]) -> list[Fact]:
    return read_facts(written(folder, *rows))


MILL = {"id": "m1", "timeline": "mill", "question": "Who owned the mill?", "answers": ["Ida Moe"]}

# --- facts ---------------------------------------------------------------------------------------------------


def test_a_fact_has_its_dates_at_the_precision_written(tmp_path: Path) -> None:
    (fact,) = read(tmp_path, MILL | {"start": "1931-05", "end": 1948, "gold_passages": ["p7"]})
    assert (fact.id, fact.timeline, fact.question, fact.answers) == ("m1", "mill", "Who owned the mill?", ("Ida Moe",))
    assert str(fact.span.longest) == "1931-05..1948"
    assert fact.extra == {"gold_passages": ["p7"]}


@pytest.mark.parametrize(
    ("start", "end", "longest"),
    [
        ("1931", None, "1931.."),
        (None, "1948", "..1948"),
        ("..", "1948", "..1948"),
        ("1931", "..", "1931.."),
        ("", "", ".."),
    ],
)
def test_unknown_and_open_dates(tmp_path: Path, start: str | None, end: str | None, longest: str) -> None:
    (fact,) = read(tmp_path, MILL | {"start": start, "end": end})
    assert str(fact.span.longest) == longest
    assert (fact.span.begins.end == OPEN_START) == (start == "..")
    assert (fact.span.ends.start == OPEN_END) == (end == "..")


def test_answers_of_a_table_stand_in_one_cell(tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text("id,question,answers,start,end\nm1,Who owned the mill?,Ida Moe | I. Moe,1931,1948\n", "utf-8")
    assert read_facts(path)[0].answers == ("Ida Moe", "I. Moe")


def test_without_a_timeline_the_id_or_the_question_tells_it(tmp_path: Path) -> None:
    dated = {"question": "Who owned the mill?", "answer": "Ida Moe", "start": "1931", "end": "1948"}
    facts = read(tmp_path, dated | {"id": "mill#0"}, dated | {"id": "b", "source": "inn"}, dated | {"id": "c"})
    assert [fact.timeline for fact in facts] == ["mill", "inn", "Who owned the mill?"]


def test_a_fact_may_be_one_that_only_competes(tmp_path: Path) -> None:
    (fact,) = read(tmp_path, {"timeline": "mill", "start": "1931", "end": "1948"})
    assert (fact.id, fact.question, fact.answers) == ("facts.jsonl:1", "", ())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a", "answers": ["x"]}, r':1: no "start", "end" or "question"'),
        (MILL | {"start": "soon"}, r':1: "start": \'soon\' is no date'),
        (MILL | {"start": "1950", "end": "1940"}, r":1: it ends \(1940\) before it starts \(1950\)"),
        (MILL | {"start": ["1950"]}, r':1: "start" is no text'),
        (MILL | {"start": "1950", "answers": {"a": 1}}, r':1: "answers" holds what is no text'),
        (MILL | {"start": "1950", "answers": [["a"]]}, r':1: "answers" holds what is no text'),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(tmp_path: Path, row: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, row)


def test_an_id_that_comes_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r":2: the id 'm1' is taken at .*:1"):
        read(tmp_path, MILL | {"start": "1931"}, MILL | {"start": "1950"})


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no facts"):
        read(tmp_path)


# --- questions that name their time ------------------------------------------------------------------------------


def asked(number: int, question: str, *answers: str) -> dict[str, object]:
    return {"id": f"Mill#P1#{number}/easy", "question": question, "answers": list(answers), "split": "easy"}


@pytest.mark.parametrize(
    ("question", "base", "when"),
    [
        ("Who owned the mill from 1931 to May 1948?", "Who owned the mill?", "1931..1948-05"),
        ("Who owned the mill between 1931 and 1948?", "Who owned the mill?", "1931..1948"),
        ("Who bought the mill in 1931?", "Who bought the mill?", "1931"),
        ("who has owned the mill since 1931", "Who had owned the mill?", "1931.."),
        ("Who owned the mill until 1948?", "Who owned the mill?", "..1948"),
        ("Who owned the mill before 1948?", "Who owned the mill?", ".."),
        ("In the period of time from 1931 to 1948, who owned the mill?", "Who owned the mill?", "1931..1948"),
        ("Who owned the mill?", "Who owned the mill?", ".."),
        ("Who first owned the mill from 1931 to 1948?", "Who first owned the mill from 1931 to 1948?", "1931..1948"),
    ],
)
def test_a_question_tells_what_is_asked_and_when_it_held(tmp_path: Path, question: str, base: str, when: str) -> None:
    (fact,) = read(tmp_path, asked(0, question, "Ida Moe"))
    assert (fact.question, str(fact.span.longest)) == (base, when)


def test_an_id_loses_its_split_and_gives_the_timeline(tmp_path: Path) -> None:
    (fact,) = read(tmp_path, asked(0, "Who owned the mill in 1931?", "Ida Moe") | {"relation": "in", "years": [1931]})
    assert (fact.id, fact.timeline, fact.extra) == ("Mill#P1#0", "Mill#P1", {})


def test_a_missing_number_is_a_fact_between_its_neighbours(tmp_path: Path) -> None:
    facts = read(
        tmp_path,
        asked(1, "Who owned the mill from 1931 to 1948?", "Ida Moe"),
        asked(3, "Who owned the mill from 1960 to 1975?", "Odd Lie"),
    )
    missing = {fact.id: fact for fact in facts[2:]}
    assert sorted(missing) == ["Mill#P1#0", "Mill#P1#2"]
    assert all((fact.timeline, fact.question, fact.answers) == ("Mill#P1", "", ()) for fact in missing.values())
    assert str(missing["Mill#P1#0"].span.longest) == "..1931-12-31"
    assert missing["Mill#P1#2"].span.may_touch(facts[0].span.ends)
    assert not missing["Mill#P1#2"].span.may_touch(facts[0].span.begins)


def test_where_numbers_do_not_go_with_time_a_missing_one_may_be_anywhere(tmp_path: Path) -> None:
    facts = read(
        tmp_path,
        asked(0, "Who owned the mill from 1960 to 1975?", "Odd Lie"),
        asked(2, "Who owned the mill from 1931 to 1948?", "Ida Moe"),
    )
    assert str(facts[2].span.longest) == ".."
