"""Question sets are known by what stands in them; each says plainly what it cannot use."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.adapters.question_sets import NO_GOLD, NO_TIME, QuestionSet, read_question_set
from mrag.errors import InputError
from mrag.metrics import EvalQuestion


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines(*records: dict[str, object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def table(path: Path, rows: list[list[str]], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)
    return path


def message(path: Path, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        read_question_set(path, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- TempRAGEval ---------------------------------------------------------------------------------------------

OLD_HEADER = "id question answer gold_evidence_1 gold_evidence_2 exact_time original_dataset time_relation".split()
NEW_HEADER = "id question answers gold_evidences exact source time_relation".split()
SOLD = "In 1912 the mill was sold to Ida Moe, a rope maker."
ROWS = [
    ["1", "Who owned the mill in 1912?", "Ida Moe | I. Moe", SOLD, "", "1", "timeqa", "in"],
    ["2", "Who owned the mill\nas of 5 May 1920?", "Ida Moe | I. Moe", SOLD, "", "0", "timeqa", "as of"],
    ["3", "Who owns the mill?", "Odd Lie", "", "", "", "situatedqa", ""],
]


def test_temprageval_by_the_older_names_of_its_columns(tmp_path: Path) -> None:
    found = read_question_set(table(tmp_path / "data.txt", [OLD_HEADER, *ROWS]))
    assert (found.format, found.left_out) == ("temprageval", {NO_TIME: 1})
    assert found.questions[0] == EvalQuestion(
        "1",
        "Who owned the mill in 1912?",
        answers=("Ida Moe", "I. Moe"),
        gold_evidence=(SOLD,),
        relation="in",
        exact=True,
        source="timeqa",
        fact="1",
    )
    assert found.questions[1].question == "Who owned the mill as of 5 May 1920?"
    assert found.questions[1].exact is False


def test_temprageval_by_the_newer_names(tmp_path: Path) -> None:
    row = ["9", "Who owned the mill in 1912?", '["Ida Moe", "I. Moe"]', SOLD, "1.0", "TimeQA", "In"]
    (question,) = read_question_set(table(tmp_path / "t.csv", [NEW_HEADER, row])).questions
    assert (question.answers, question.gold_evidence) == (("Ida Moe", "I. Moe"), (SOLD,))
    assert (question.exact, question.source, question.relation) == (True, "timeqa", "in")


def test_temprageval_as_the_json_list_that_its_tools_write(tmp_path: Path) -> None:
    record = {
        "question": "Who owned the mill in 1912?",
        "answers": ["Ida Moe"],
        "exact": 0,
        "source": "timeqa",
        "gold_evidences": [SOLD, "Moe bought it."],
        "time_specifier": "in",
    }
    found = read_question_set(write(tmp_path / "data.json", json.dumps([record], indent=2)))
    assert found.format == "temprageval"
    assert found.questions[0].id == "data.json:1"
    assert found.questions[0].gold_evidence == (SOLD, "Moe bought it.")


def test_questions_about_one_fact_are_told_by_answers_and_evidence(tmp_path: Path) -> None:
    rows = [*ROWS[:2], ["4", "Who ran it by 1930?", "Ida Moe", "Moe ran it.", "", "0", "timeqa", "by"]]
    found = read_question_set(table(tmp_path / "t.csv", [OLD_HEADER, *rows]))
    assert [question.fact for question in found.questions] == ["1", "1", "4"]


def test_questions_without_a_time_can_be_kept(tmp_path: Path) -> None:
    found = read_question_set(table(tmp_path / "t.csv", [OLD_HEADER, *ROWS]), timeless=True)
    assert [question.relation for question in found.questions] == ["in", "as of", ""]
    assert found.questions[2].exact is None


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_a_table_may_have_other_delimiters_and_more_columns(tmp_path: Path, delimiter: str) -> None:
    rows = [[*OLD_HEADER, "note"], [*ROWS[0], "seen; by, two"]]
    (question,) = read_question_set(table(tmp_path / "t.csv", rows, delimiter)).questions
    assert question.extra == {"note": "seen; by, two"}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (["2", "Who?", "", "", "", "1", "", "in"], 't.csv:3: no "answer" value'),
        (["2", " ", "Moe", "", "", "1", "", "in"], 't.csv:3: no "question" value'),
        (["2", "Who?", "Moe", "", "", "maybe", "", "in"], "t.csv:3: \"exact_time\" is 'maybe': 1 is the original"),
        (["2", "Who?", "['Moe']", "", "", "1", "", "in"], 't.csv:3: "answer" is a list as Python prints it'),
        (["2", "Who?", "Moe"], "t.csv:3: 3 fields, but the header names 8"),
        (["2", "Who?", "x" * 140_000, "", "", "1", "", "in"], "t.csv:3: field larger than field limit (131072)"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_with_its_line(tmp_path: Path, row: list[str], says: str) -> None:
    said = message(table(tmp_path / "t.csv", [OLD_HEADER, ROWS[0], row]))
    assert says in said


def test_the_line_of_a_row_is_the_one_that_it_begins_on(tmp_path: Path) -> None:
    rows = [ROWS[1], ROWS[0], ["2", "Who?", "Moe"]]  # the first of them has a line end inside
    assert "t.csv:5: 3 fields" in message(table(tmp_path / "t.csv", [OLD_HEADER, *rows]))


def test_quotes_that_do_not_match_are_named(tmp_path: Path) -> None:
    said = message(write(tmp_path / "t.csv", 'question,answer,time_relation\n"Who" led?,Moe,in\n'))
    assert "t.csv:2: ',' expected after '\"'" in said


def test_a_column_that_comes_twice_is_named(tmp_path: Path) -> None:
    assert "t.csv:1: the column 'question' comes twice" in message(write(tmp_path / "t.csv", "question,question\n"))


# --- TimeQA --------------------------------------------------------------------------------------------------

LINE = {
    "idx": "/wiki/Grist_mill#P127#0",
    "question": "Who owned Grist mill before 1931?",
    "context": "Grist mill In 1912 it was sold.",
    "targets": ["Ida Moe", "Moe"],
    "paragraphs": [{"title": "Grist mill", "text": "In 1912 it was sold."}],
}


def test_timeqa_lines_plain_and_packed(tmp_path: Path) -> None:
    unanswerable = {**LINE, "idx": "/wiki/Grist_mill#P127#1", "targets": [""]}
    packed = gzip.compress(lines(LINE, unanswerable).encode())
    found = read_question_set(write(tmp_path / "train.hard.json.gzip", packed))
    assert found == QuestionSet(
        "timeqa",
        (
            EvalQuestion(
                "/wiki/Grist_mill#P127#0",
                "Who owned Grist mill before 1931?",
                answers=("Ida Moe", "Moe"),
                source="timeqa",
                fact="/wiki/Grist_mill#P127#0",
            ),
        ),
        {NO_GOLD: 1},
    )


def test_easy_and_hard_questions_about_a_fact_are_told_apart_and_belong_together(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", lines({**LINE, "level": "easy"}, {**LINE, "level": "hard"}))
    found = read_question_set(path).questions
    assert [question.id for question in found] == ["/wiki/Grist_mill#P127#0/easy", "/wiki/Grist_mill#P127#0/hard"]
    assert len({question.fact for question in found}) == 1
    assert found[0].extra == {"level": "easy"}


def test_timeqa_pages_with_questions_of_people(tmp_path: Path) -> None:
    page = {
        "index": "/wiki/Grist_mill#P127",
        "type": "P127",
        "link": "/wiki/Grist_mill",
        "paras": ["Grist mill", "In 1912 it was sold."],
        "questions": [
            ["Who bought the mill in 1912?", [{"para": 1, "from": 0, "end": 2, "answer": "Ida Moe"}]],
            ["Who had it from 1931 to 1940?", [{"para": 1, "from": 0, "end": 2, "answer": ""}]],
        ],
    }
    found = read_question_set(write(tmp_path / "human.json", json.dumps([page], indent=1)))
    assert (found.format, found.left_out) == ("timeqa-pages", {NO_GOLD: 1})
    assert found.questions[0].id == "/wiki/Grist_mill#P127#0"
    assert found.questions[0].answers == ("Ida Moe",)
    assert found.questions[0].extra == {"type": "P127", "link": "/wiki/Grist_mill"}


def test_timeqa_facts_without_questions_are_named(tmp_path: Path) -> None:
    page = {"index": "a", "paras": [], "questions": [[["May 1955", "Apr 1956"], [{"answer": "x"}]]]}
    said = message(write(tmp_path / "annotated.json", json.dumps([page])))
    assert "annotated.json, item 1: facts with dates, not questions" in said


# --- SituatedQA ----------------------------------------------------------------------------------------------

ASKED = {
    "question": "who owns the mill",
    "id": -79,
    "edited_question": "who owns the mill as of May 05, 1920",
    "date": "May 05, 1920",
    "date_type": "start",
    "answer": ["Ida Moe", "Ida Moe"],
    "any_answer": ["Ida Moe", "Odd Lie"],
}


def test_situatedqa_asks_one_question_at_many_dates(tmp_path: Path) -> None:
    other = {**ASKED, "edited_question": "who owns the mill as of 1920", "date": "1920", "date_type": "sampled_year"}
    found = read_question_set(write(tmp_path / "temp.dev.jsonl", lines(ASKED, other, other)))
    assert found.format == "situatedqa"
    assert found.questions[0] == EvalQuestion(
        "-79@1920-05-05",
        "who owns the mill as of May 05, 1920",
        answers=("Ida Moe",),
        source="situatedqa",
        fact="-79",
        base="who owns the mill",
        reference="1920-05-05",
        extra={"date_type": "start", "any_answer": ["Ida Moe", "Odd Lie"]},
    )
    assert [question.id for question in found.questions[1:]] == ["-79@1920", "-79@1920~2"]


def test_a_date_of_situatedqa_that_is_none_is_named(tmp_path: Path) -> None:
    assert "s.jsonl:1: \"date\": 'soon' is no date" in message(
        write(tmp_path / "s.jsonl", lines({**ASKED, "date": "soon"}))
    )


# --- our own form, BEIR --------------------------------------------------------------------------------------

OWN = {
    "id": "mill#0~1",
    "source_id": "mill#0",
    "question": "Who was the last to own the mill before 1931?",
    "answers": ["Ida Moe"],
    "gold_passages": ["my notes.md#2"],
    "relation": "before",
    "implicit": "last",
    "exact": 0,
    "base": "Who owned the mill?",
    "years": [1931],
}


def test_our_own_lines(tmp_path: Path) -> None:
    found = read_question_set(write(tmp_path / "q.jsonl", lines(OWN)))
    assert found.format == "mrag"
    assert found.questions == (
        EvalQuestion(
            "mill#0~1",
            "Who was the last to own the mill before 1931?",
            answers=("Ida Moe",),
            gold_passages=("my notes.md#2",),
            relation="before",
            implicit="last",
            exact=False,
            fact="mill#0",
            base="Who owned the mill?",
            extra={"years": [1931]},
        ),
    )


def test_what_our_own_lines_do_not_say_is_not_known(tmp_path: Path) -> None:
    record = {"question": "Who?", "answer": 7, "grades": {"p": 2}, "gold_passages": ["p"], "reference": "2020"}
    (question,) = read_question_set(write(tmp_path / "q.jsonl", lines(record))).questions
    assert (question.id, question.answers, question.relation, question.exact) == ("q.jsonl:1", ("7",), None, None)
    assert (question.grades, question.reference) == ({"p": 2}, "2020")


def test_questions_without_ids_over_one_base_ask_for_one_fact(tmp_path: Path) -> None:
    records = [
        {"question": f"who led as of {d}", "base": "who led", "date": d, "answers": ["x"]} for d in ("2019", "2021")
    ]
    found = read_question_set(write(tmp_path / "q.jsonl", lines(*records))).questions
    assert [(question.id, question.fact, question.reference) for question in found] == [
        ("q.jsonl:1", "who led", "2019"),
        ("q.jsonl:2", "who led", "2021"),
    ]


def test_a_split_at_the_end_of_an_id_is_no_part_of_its_fact(tmp_path: Path) -> None:
    records = [
        {"id": f"mill#0/{split}", "question": "?", "answers": ["x"], "split": split} for split in ("easy", "hard")
    ]
    found = read_question_set(write(tmp_path / "q.jsonl", lines(*records))).questions
    assert [question.fact for question in found] == ["mill#0", "mill#0"]


def test_a_beir_folder_is_read_with_the_qrels_of_a_split(tmp_path: Path) -> None:
    write(tmp_path / "queries.jsonl", lines(*({"_id": f"q{n}", "text": f"Who led {n}?"} for n in range(3))))
    header = "query-id\tcorpus-id\tscore\n"
    write(tmp_path / "qrels" / "test.tsv", header + "q1\tp1\t1\nq1\tp2\t2\nq1\tp3\t0\n")
    write(tmp_path / "qrels" / "dev.tsv", header + "q0\tp1\t1\n")
    found = read_question_set(tmp_path)
    assert found.left_out == {NO_GOLD: 2}
    assert found.questions == (EvalQuestion("q1", "Who led 1?", gold_passages=("p1", "p2"), grades={"p2": 2}),)
    assert [question.id for question in read_question_set(tmp_path, split="dev").questions] == ["q0"]
    assert "no qrels/train.tsv (splits there: dev, test)" in message(tmp_path, split="train")


def test_plain_questions_take_their_gold_from_qrels(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", lines({"id": "1", "question": "Who?"}))
    assert 'questions without "answers", "gold_passages" or "gold_evidence"' in message(path)
    qrels = write(tmp_path / "qrels", "1 0 p1 1\n")
    assert read_question_set(path, qrels=qrels).questions[0].gold_passages == ("p1",)


# --- what cannot be used -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lines({"id": "1", "body": "?"}), 'q.jsonl:1: no question: a record holds "question" and "answers"'),
        (lines(OWN, OWN), "q.jsonl:2: the id 'mill#0~1' is taken at"),
        (lines(OWN, {"idx": "1"}), "q.jsonl:2: lacks the fields of the records above (mrag)"),
        (lines({**OWN, "answers": [["x"]]}), 'q.jsonl:1: "answers" holds something else than strings'),
        (lines({**OWN, "answers": {"x": 1}}), 'q.jsonl:1: "answers" holds something else than strings'),
        (lines({**OWN, "gold_passages": [None]}), 'q.jsonl:1: "gold_passages" holds something else than passage ids'),
        (lines({**OWN, "grades": {"p": 0}}), 'q.jsonl:1: "grades" is an object of passage ids and grades above 0'),
        (lines({**OWN, "exact": 2}), "q.jsonl:1: \"exact\" is '2'"),
        (lines({**OWN, "base": []}), 'q.jsonl:1: "base" is no string'),
        (lines({**OWN, "answers": [], "gold_passages": []}), "no question that can be judged (1 without answers"),
        (lines({**LINE, "targets": [{}]}), 'q.jsonl:1: "targets" holds something else'),
        (lines({"index": "a", "paras": [], "questions": [["?"]]}), 'q.jsonl:1: "questions" holds something else'),
        (lines({"index": "a", "paras": [], "questions": None}), 'q.jsonl:1: "questions" holds something else'),
        ('[\n{"question": "?",\n}]', "q.jsonl:3: broken JSON at column 1"),
        ("[1]", "q.jsonl, item 1: no object"),
        ("[" * 100_000, "q.jsonl: JSON that cannot be read"),
        ('{"question": "?"', "q.jsonl:1: broken JSON"),
        ("Who led the club?\n", "neither JSON nor a table with a header"),
        ("", "q.jsonl: holds no questions"),
        ("id,question\n", "q.jsonl: holds no questions"),
    ],
)
def test_a_set_that_cannot_be_used_is_named(tmp_path: Path, content: str, says: str) -> None:
    assert says in message(write(tmp_path / "q.jsonl", content))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    assert "no such file" in message(tmp_path / "none.csv").lower()
    assert "a folder without queries.jsonl" in message(tmp_path, qrels="x")
    assert "no qrels/test.tsv (splits there: none)" in message(tmp_path)
    assert "a file has no split 'dev'" in message(write(tmp_path / "q.jsonl", lines(OWN)), split="dev")


def test_a_json_list_without_end_does_not_fill_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.adapters.reading.records.MOST_BYTES", 1000)
    assert "a JSON list of more than 0 MB" in message(write(tmp_path / "q.json", "[\n" + "{},\n" * 1000))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
FIELDS = sorted({*OLD_HEADER, *NEW_HEADER, *LINE, *ASKED, *OWN, "index", "questions", "paras", "grades", "split"})


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8))
def test_any_record_is_a_question_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, object]
) -> None:
    path = write(tmp_path_factory.mktemp("sets") / "q.jsonl", lines(record))
    try:
        found = read_question_set(path, timeless=True)
    except InputError as error:
        assert str(error).startswith(str(path))
    else:
        assert all(isinstance(question.id, str) and question.judged for question in found.questions)
