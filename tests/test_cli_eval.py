"""mrag eval: the figures of a pipeline and of runs, what is kept and gone on with, and what is said."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from click.testing import CliRunner, Result

from mrag.adapters.question_sets import read_question_set
from mrag.adapters.runs import qrels_of
from mrag.cli import cli
from mrag.cli.measuring import figures
from mrag.evaluation.bootstrap import Estimate
from mrag.metrics import Row

LEADERS = [("lie", "Odd Lie", 1960), ("moe", "Ida Moe", 1970), ("foss", "Berit Foss", 1980), ("dahl", "Per Dahl", 1990)]
PASSAGES = [
    {"id": key, "title": name, "text": f"{name} led the rowing club from {year} to {year + 9}."}
    for key, name, year in LEADERS
] + [{"id": "bread", "title": "Bakery", "text": "The bakery sells rye bread and led the market in 1975."}]


def question(number: int, leader: int, year: int, relation: str = "in", **more: object) -> dict[str, object]:
    key, name, _ = LEADERS[leader]
    asked = f"Who led the rowing club {relation} {year}?"
    row = {"id": f"q{number}", "question": asked, "answers": [name], "gold_passages": [key], "relation": relation}
    return {**row, "fact": f"f{leader}", "implicit": "", **more}


QUESTIONS = [
    question(1, 0, 1964, exact=0),
    question(2, 1, 1970, exact=1),
    question(3, 1, 1974, exact=0),
    question(4, 2, 1984, "as of", exact=0),
    question(5, 3, 1990, "since", exact=1),
    question(6, 3, 1994, "as of", exact=0),
]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def run(*args: str, env: dict[str, str] | None = None) -> Result:
    plain = {"MRAG_LLM_URL": "", "OPENAI_BASE_URL": "", "MRAG_LLM_MODEL": "", "COLUMNS": "100", **(env or {})}
    return CliRunner().invoke(cli, ["eval", *args], prog_name="mrag", env=plain)


def rows(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def value(row: dict[str, Any], measure: str) -> float:
    return float(row["figures"][measure]["value"])


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("club")
    corpus = write(folder / "club.jsonl", PASSAGES)
    made = CliRunner().invoke(cli, ["index", corpus, "-o", str(folder / "club.index")])
    assert made.exit_code == 0, made.output
    return str(folder / "club.index")


@pytest.fixture
def asked(tmp_path: Path) -> str:
    return write(tmp_path / "asked.jsonl", QUESTIONS)


BEST = {f"q{n}": [key, "bread"] for n, key in enumerate(("lie", "moe", "moe", "foss", "dahl", "dahl"), 1)}
HALF = {name: found if number % 2 else found[::-1] for number, (name, found) in enumerate(BEST.items())}


def run_file(path: Path, rankings: dict[str, list[str]]) -> str:
    return write(path, [{"id": name, "ranking": found} for name, found in rankings.items()])


# --- a search ------------------------------------------------------------------------------------------------


def test_a_search_is_measured(club: str, asked: str) -> None:
    (row,) = rows(run(asked, "--index", club, "--json"))
    assert (row["system"], row["minus"], row["by"], row["label"], row["n"]) == ("mrag", None, "", "all", 6)
    assert list(row["figures"]) == [*(f"{m}@{k}" for m in ("AR", "ER", "R") for k in (1, 5, 20)), "MRR", "nDCG@10"]
    assert set(row["figures"]["AR@1"]) == {"value", "low", "high", "n", "facts"}
    assert value(row, "AR@1") == value(row, "ER@1") == 1.0
    assert (row["figures"]["ER@5"]["n"], row["figures"]["ER@5"]["facts"]) == (6, 4)


def test_without_time_the_plain_retriever_is_measured(club: str, asked: str) -> None:
    (row,) = rows(run(asked, "--index", club, "--no-temporal", "--json"))
    assert value(row, "AR@1") < 1.0


def test_the_depth_of_the_rankings_bounds_what_is_measured(club: str, asked: str) -> None:
    (row,) = rows(run(asked, "--index", club, "-k", "3", "--json"))
    assert list(row["figures"]) == [*(f"{m}@{k}" for m in ("AR", "ER", "R") for k in (1, 3)), "MRR", "nDCG@3"]


def test_people_get_percent_with_intervals(club: str, asked: str) -> None:
    out = run(asked, "--index", club).stdout.splitlines()
    assert out[0] == "6 questions of asked.jsonl about 4 facts; percent, in brackets the 95 % interval"
    assert out[1] == "AR@1     100.0 [100.0, 100.0]"
    assert not any(line.startswith("R@") for line in out)  # one gold passage each: the same as ER@k


def test_groups_are_rows(club: str, asked: str) -> None:
    got = rows(run(asked, "--index", club, "--by", "relation", "--by", "exact", "--json"))
    assert [(row["by"], row["label"], row["n"]) for row in got] == [
        ("", "all", 6),
        ("relation", "as of", 2),
        ("relation", "in", 3),
        ("relation", "since", 1),
        ("exact", "original", 2),
        ("exact", "perturbed", 4),
    ]


def test_a_group_of_a_single_fact_has_no_interval(club: str, asked: str, tmp_path: Path) -> None:
    half = run_file(tmp_path / "half.jsonl", HALF)
    args = [asked, "--index", club, "--by", "relation", "--compare", half, "-o", str(tmp_path / "out")]
    got = rows(run(*args, "--json"))
    alone = [row["figures"]["AR@1"] for row in got if row["label"] == "since"]
    assert [figure["value"] for figure in alone] == [1.0, 0.0, 1.0]  # mrag, half, and the difference
    assert all((figure["low"], figure["high"], figure["facts"]) == (None, None, 1) for figure in alone)
    assert all(row["figures"]["AR@1"]["low"] is not None for row in got if row["label"] != "since")
    table = (tmp_path / "out" / "table.md").read_text("utf-8")
    assert "| out - half | relation since | 1 | +100.0 [–] |" in table
    assert "100.0 [–]" in run(*args).stdout


def test_only_some_questions_are_asked(club: str, asked: str) -> None:
    def n(*args: str) -> int:
        return int(rows(run(asked, "--index", club, "--json", *args))[0]["n"])

    assert n("--only", "exact=0") == 4
    assert n("--only", "exact=1", "--only", "relation=since") == 1
    assert n("--only", "relation=since", "--only", "relation=as of") == 3
    none = run(asked, "--index", club, "--only", "relation=befor")
    assert none.exit_code == 1 and "its values are as of, in, since" in none.stderr
    assert "there is no such field" in run(asked, "--index", club, "--only", "relatoin=in").stderr
    assert run(asked, "--only", "exact").exit_code == 2


def test_a_sample_is_drawn_by_the_seed_and_a_smaller_one_is_part_of_it(club: str, asked: str, tmp_path: Path) -> None:
    def drawn(n: int, seed: int) -> set[str]:
        folder = tmp_path / f"{n}-{seed}"
        assert run(asked, "--index", club, "--sample", str(n), "--seed", str(seed), "-o", str(folder)).exit_code == 0
        return {json.loads(line)["id"] for line in (folder / "run.jsonl").read_text().splitlines()}

    assert len(drawn(3, 1)) == 3
    assert drawn(2, 1) < drawn(3, 1)
    assert len({frozenset(drawn(3, seed)) for seed in range(5)}) > 1


def test_what_a_set_does_not_hold_is_said(club: str, tmp_path: Path) -> None:
    sets = [{**QUESTIONS[0], "gold_passages": []}, QUESTIONS[3], {**QUESTIONS[4], "answers": [], "gold_passages": []}]
    result = run(write(tmp_path / "q.jsonl", sets), "--index", club, "--json")
    assert "1 questions are left out: without answers and gold" in result.stderr
    assert "1 questions hold nothing to judge ER, R, MRR, nDCG by" in result.stderr
    (row,) = rows(result)
    assert row["n"] == 2 and row["figures"]["AR@1"]["n"] == 2 and row["figures"]["ER@1"]["n"] == 1
    bare = [{**QUESTIONS[0], "gold_passages": []}]
    assert "no question names its gold" in run(write(tmp_path / "r.jsonl", bare), "--index", club).stderr


def test_relations_that_a_set_does_not_name_are_those_that_we_read(club: str, tmp_path: Path) -> None:
    bare = [{key: one[key] for key in ("id", "question", "answers")} for one in QUESTIONS]
    got = rows(run(write(tmp_path / "q.jsonl", bare), "--index", club, "--by", "relation", "--json"))
    assert [row["label"] for row in got] == ["all", "as of", "in", "since"]


def test_a_question_is_asked_on_its_own_day(club: str, tmp_path: Path) -> None:
    last = {
        "id": "a",
        "question": "Who led the rowing club last year?",
        "gold_passages": ["foss"],
        "date": "1985-05-01",
    }
    other = {**last, "id": "b", "gold_passages": ["lie"], "date": "1965"}
    (row,) = rows(run(write(tmp_path / "q.jsonl", [last, other]), "--index", club, "--json"))
    assert value(row, "ER@1") == 1.0


# --- the folder ----------------------------------------------------------------------------------------------


def test_the_folder_holds_run_figures_and_table(club: str, asked: str, tmp_path: Path) -> None:
    folder = tmp_path / "words"
    printed = rows(run(asked, "--index", club, "--by", "exact", "-o", str(folder), "--json"))
    assert sorted(path.name for path in folder.iterdir()) == [
        "figures.json", "how.json", "run.jsonl", "run.trec", "table.md"
    ]  # fmt: skip
    kept = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert kept["rows"] == printed and printed[0]["system"] == "words"
    assert (kept["questions"]["file"], kept["questions"]["n"], kept["questions"]["facts"]) == ("asked.jsonl", 6, 4)
    assert kept["how"]["k"] == 20 and kept["failed_prompts"] == 0
    table = (folder / "table.md").read_text(encoding="utf-8").splitlines()
    assert table[2].startswith("| system | questions | n | AR@1 |") and table[4].startswith(
        "| words | all | 6 | 100.0 ["
    )


def test_ir_measures_agrees_on_the_run(club: str, asked: str, tmp_path: Path) -> None:
    folder = tmp_path / "bm25"
    (row,) = rows(run(asked, "--index", club, "--no-temporal", "-o", str(folder), "--json"))
    ours = {"Success@1": "ER@1", "Success@5": "ER@5", "R@5": "R@5", "RR": "MRR", "nDCG@10": "nDCG@10"}
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(name) for name in ours],
        qrels_of(read_question_set(asked).questions),
        ir_measures.read_trec_run(str(folder / "run.trec")),
    )
    assert {ours[str(name)]: found for name, found in theirs.items()} == pytest.approx(
        {name: value(row, name) for name in ours.values()}, abs=1e-12
    )


def interrupted_after(count: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A search that Ctrl-C ends after so many questions; how many it was asked each time."""
    from mrag.cli import searches

    found_ids, asked = searches.found_ids, []

    def stops(search: Any, questions: Any, workers: int) -> Iterator[list[str]]:
        asked.append(len(questions))
        for number, found in enumerate(found_ids(search, questions, workers)):
            if number == count and len(asked) == 1:
                raise KeyboardInterrupt
            yield found

    monkeypatch.setattr(searches, "found_ids", stops)
    return asked


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(
    club: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [{**QUESTIONS[n % 6], "id": f"m{n}"} for n in range(100)]
    asked = write(tmp_path / "many.jsonl", many)
    counts = interrupted_after(50, monkeypatch)
    folder = str(tmp_path / "out")
    stopped = run(asked, "--index", club, "-o", folder)
    assert stopped.exit_code == 130 and stopped.stdout == ""
    assert stopped.stderr.splitlines() == [
        f"{folder} keeps 48 of 100 questions: the same command goes on with the others", "interrupted"
    ]  # fmt: skip
    ended = run(asked, "--index", club, "-o", folder, "--json")
    assert "48 of 100 questions are there already" in ended.stderr and counts == [100, 52]
    once = rows(run(asked, "--index", club, "-o", str(tmp_path / "once" / "out"), "--json"))
    assert rows(ended) == once
    assert (tmp_path / "out" / "run.trec").read_text() == (tmp_path / "once" / "out" / "run.trec").read_text()
    run(asked, "--index", club, "-o", folder, "--by", "relation")  # what is looked at does not bind
    assert counts == [100, 52, 100]


def test_a_folder_that_was_made_otherwise_is_refused_with_what_differs(club: str, asked: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "out")
    assert run(asked, "--index", club, "-o", folder).exit_code == 0
    for args, said in (
        (["--no-temporal"], "temporal: true there, false now"),
        (["--profile", "paper"], "profile: interval there, paper now"),
        (["--only", "exact=0"], "questions: 6 ("),
        (["-k", "5"], "k: 20 there, 5 now"),
    ):
        result = run(asked, "--index", club, "-o", folder, *args)
        assert result.exit_code == 1 and said in result.stderr and "name another folder" in result.stderr
    assert run(asked, "-o", folder).exit_code == 1  # the demo corpus


def test_a_mispelt_model_leaves_no_folder(club: str, asked: str, tmp_path: Path) -> None:
    result = run(asked, "--index", club, "--retriever", "dense", "-o", str(tmp_path / "out"))
    assert result.exit_code == 1 and "--encoder" in result.stderr
    assert not (tmp_path / "out").exists()


def test_an_id_that_trec_cannot_hold_costs_the_trec_run_alone(club: str, tmp_path: Path) -> None:
    asked = write(tmp_path / "q.jsonl", [{**QUESTIONS[0], "id": "q 1"}])
    result = run(asked, "--index", club, "-o", str(tmp_path / "out"), "--json")
    assert value(rows(result)[0], "ER@1") == 1.0
    assert "run.trec is not written" in result.stderr and "'q 1'" in result.stderr


# --- runs ----------------------------------------------------------------------------------------------------


def test_runs_stand_side_by_side_with_paired_differences(asked: str, club: str, tmp_path: Path) -> None:
    best, half = run_file(tmp_path / "best.jsonl", BEST), run_file(tmp_path / "half.jsonl", HALF)
    got = rows(run(asked, "--run", best, "--compare", half, "--index", club, "--by", "exact", "--json"))
    assert [(row["label"], row["system"], row["minus"]) for row in got[:4]] == [
        ("all", "best", None),
        ("all", "half", None),
        ("all", "best", "half"),
        ("original", "best", None),
    ]
    assert [value(row, "ER@1") for row in got[:3]] == [1.0, 0.5, 0.5]
    assert value(got[2], "AR@1") == 0.5 and got[2]["figures"]["AR@1"]["low"] > 0
    people = run(asked, "--run", best, "--run", half, "--compare", half, "--index", club).stdout
    assert people.splitlines()[1].split() == ["best", "half", "best", "-", "half"]
    assert "+50.0 [+" in people


def test_a_search_is_compared_with_what_another_one_has_kept(club: str, asked: str, tmp_path: Path) -> None:
    kept = str(tmp_path / "bm25")
    assert run(asked, "--index", club, "--no-temporal", "-o", kept).exit_code == 0
    for path in (kept, f"{kept}/run.trec"):
        got = rows(run(asked, "--index", club, "--compare", path, "--json"))
        assert [(row["system"], row["minus"]) for row in got] == [("mrag", None), ("bm25", None), ("mrag", "bm25")]
        assert value(got[2], "ER@1") == pytest.approx(value(got[0], "ER@1") - value(got[1], "ER@1"))


def test_the_texts_of_a_run_come_from_an_index_or_a_corpus(asked: str, club: str, tmp_path: Path) -> None:
    best = run_file(tmp_path / "best.jsonl", BEST)
    corpus = write(tmp_path / "club.jsonl", PASSAGES)
    (by_index,) = rows(run(asked, "--run", best, "--index", club, "--json"))
    (by_corpus,) = rows(run(asked, "--run", best, "--corpus", corpus, "--json"))
    assert by_index == by_corpus and value(by_index, "AR@1") == 1.0
    bare = run(asked, "--run", best, "--json")
    assert "no texts to look for answers in" in bare.stderr
    assert "AR@1" not in rows(bare)[0]["figures"] and value(rows(bare)[0], "ER@1") == 1.0


def test_what_a_run_lacks_is_said(asked: str, tmp_path: Path) -> None:
    corpus = write(tmp_path / "club.jsonl", PASSAGES)
    few = run_file(tmp_path / "few.jsonl", {"q1": ["lie", "elsewhere"], "q2": ["moe"], "other": ["moe"]})
    result = run(asked, "--run", few, "--corpus", corpus, "--json")
    assert "few: 4 of 6 questions are missing and count as misses (q3, q4, q5)" in result.stderr
    assert "few: 1 passages have no text here and count as wrong (elsewhere)" not in result.stderr  # behind the first
    assert value(rows(result)[0], "ER@1") == pytest.approx(2 / 6)
    wrong = run_file(tmp_path / "wrong.jsonl", {"1": ["lie"], "2": ["nowhere"]})
    refused = run(asked, "--run", wrong, "--corpus", corpus)
    assert refused.exit_code == 1
    assert "holds none of the questions (its ids: 1, 2; the set's: q1, q2, q3)" in refused.stderr
    lost = run_file(tmp_path / "lost.jsonl", {"q1": ["elsewhere"], "q2": ["moe"]})
    said = run(asked, "--run", lost, "--corpus", corpus).stderr
    assert "lost: 1 passages have no text here and count as wrong (elsewhere)" in said


def test_answers_are_measured_by_em_and_f1(asked: str, tmp_path: Path) -> None:
    told = {"q1": "Odd Lie", "q2": "it was Ida Moe", "q3": None, "q4": "Berit Foss.", "q5": "x", "q6": "Per Dahl"}
    path = write(tmp_path / "llama.jsonl", [{"id": name, "answer": text} for name, text in told.items()])
    (row,) = rows(run(asked, "--run", path, "--json"))
    assert list(row["figures"]) == ["EM", "F1"]
    assert (value(row, "EM"), value(row, "F1")) == pytest.approx((0.5, (3 + 2 / 3) / 6))
    ranked = run_file(tmp_path / "best.jsonl", BEST)
    mixed = run(asked, "--run", path, "--compare", ranked)
    assert mixed.exit_code == 1 and "no measure in common" in mixed.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--run", "RUN", "--encoder", "minilm"], "--encoder plays no part with --run"),
        (["--run", "RUN", "--answer", "direct"], "--answer plays no part with --run"),
        (["--corpus", "x"], "--corpus is for --run"),
        (["-k", "0"], "-k"),
        ([], "QUESTIONS"),
    ],
)
def test_wrong_usage_is_told(asked: str, tmp_path: Path, args: list[str], said: str) -> None:
    best = run_file(tmp_path / "best.jsonl", BEST)
    given = [best if arg == "RUN" else arg for arg in args]
    result = run(*([asked] if args else []), *given)
    assert result.exit_code == 2 and said in result.stderr


def test_a_run_is_not_compared_with_itself(asked: str, tmp_path: Path) -> None:
    best = run_file(tmp_path / "best.jsonl", BEST)
    result = run(asked, "--run", best, "--compare", best)
    assert result.exit_code == 1 and f"{best}: stands behind --run and --compare alike" in result.stderr


def test_an_index_of_another_corpus_is_noticed(club: str, asked: str, tmp_path: Path) -> None:
    said = "none of the 4 gold passages is in the index (e.g. 'dahl')"
    assert said in run(asked).stderr  # the demo corpus
    assert said not in run(asked, "--index", club).stderr
    wrong = run_file(tmp_path / "wrong.jsonl", {"q1": ["bread"], "q2": ["bread"]})
    assert said not in run(asked, "--run", wrong, "--index", club).stderr  # the run is bad, the index is not


# --- answers -------------------------------------------------------------------------------------------------


def test_without_a_model_the_answers_are_sentences(club: str, asked: str, tmp_path: Path) -> None:
    result = run(asked, "--index", club, "--answer", "mrag-concat", "-o", str(tmp_path / "out"), "--json")
    (row,) = rows(result)
    assert "the answers are sentences as they stand" in result.stderr
    assert value(row, "EM") == 0.0 < value(row, "F1")
    first = json.loads((tmp_path / "out" / "answers.jsonl").read_text().splitlines()[0])
    assert (first["id"], first["by"], first["evidence"]) == ("q1", "extract", ["lie"])
    needs = run(asked, "--index", club, "--answer", "direct")
    assert needs.exit_code == 1 and "--llm" in needs.stderr


def replies(exchange: Any) -> None:
    """A reader that answers with the name in the first passage, and refuses a question about 1984."""
    prompt = exchange.asked.body["messages"][0]["content"]
    if "as of 1984" in prompt:
        exchange.say({"error": {"message": "too long"}}, status=400)
        return
    _, first = min((at, name) for _, name, _ in LEADERS if (at := prompt.find(f"{name} led")) >= 0)
    exchange.say({"choices": [{"index": 0, "message": {"role": "assistant", "content": first}}]})


def test_a_language_model_is_asked_and_what_it_owes_is_asked_again(
    club: str, asked: str, tmp_path: Path, play: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrag.cli.measuring.pipeline_run._BATCH", 2)
    server = play(replies)
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    args = [asked, "--index", club, "--parse", "rules", "--answer", "mrag-concat", "--llm", f"{server.url}/v1"]
    args += ["--llm-model", "small", "-o", str(tmp_path / "out"), "--json"]
    result = run(*args, env=env)
    (row,) = rows(result)
    assert value(row, "EM") == pytest.approx(5 / 6)
    assert "1 prompts got no reply of the language model; 2 questions are not kept" in result.stderr
    assert "too long" in result.stderr
    assert json.loads((tmp_path / "out" / "figures.json").read_text())["failed_prompts"] == 1
    before = len(server.asked)
    server.answer = lambda exchange: exchange.say({"choices": [{"message": {"content": "Berit Foss"}}]})
    again = run(*args, env=env)
    assert "4 of 6 questions are there already" in again.stderr
    assert value(rows(again)[0], "EM") == 1.0
    assert len(server.asked) - before == 1  # what it has replied to is in the cache
    kept = json.loads((tmp_path / "out" / "how.json").read_text())["how"]
    assert kept["language model"] == f"small at {server.url}/v1" and kept["answer"] == "mrag-concat from 5 passages"


def test_a_server_that_does_not_reply_ends_the_evaluation(
    club: str, asked: str, tmp_path: Path, play: Callable[..., Any]
) -> None:
    server = play(lambda exchange: exchange.say({"error": {"message": "no such model"}}, status=404))
    result = run(
        asked, "--index", club, "--parse", "rules", "--answer", "direct", "--llm", f"{server.url}/v1",
        "--llm-model", "small", "--no-cache", "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert result.exit_code == 1 and result.stdout == ""
    assert "replied to none of 6 prompts" in result.stderr and "no such model" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_server_that_ends_in_the_middle_ends_the_evaluation_and_what_was_done_is_kept(
    club: str, tmp_path: Path, play: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrag.cli.measuring.pipeline_run._BATCH", 2)
    monkeypatch.setattr("mrag.cli.measuring.pipeline_run._IN_VAIN", 4)
    asked = write(tmp_path / "q.jsonl", [{**QUESTIONS[0], "id": f"m{n}", "question": f"Who led it in {1960 + n}?"}
                                         for n in range(40)])  # fmt: skip
    server = play(lambda exchange: exchange.say({"error": {"message": "out of memory"}}, status=400))
    server.next = [lambda exchange: exchange.say({"choices": [{"message": {"content": "Odd Lie"}}]})] * 4
    result = run(
        asked, "--index", club, "--parse", "rules", "--answer", "direct", "--llm", f"{server.url}/v1",
        "--llm-model", "small", "--no-cache", "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert result.exit_code == 1 and "keeps 4 of 40 questions: the same command goes on" in result.stderr
    assert "replied to none of 4 prompts" in result.stderr and "out of memory" in result.stderr


# --- tables and charts ---------------------------------------------------------------------------------------


def line(system: str, minus: str | None, label: str, **found: float) -> figures.Line:
    by = "relation" if label != "all" else ""
    estimates = {name.replace("_", "@"): Estimate(x, x - 0.0123, x + 0.0123, 9, 3) for name, x in found.items()}
    return figures.Line(system, minus, Row(by, label, 1234, estimates))


def bands(table: list[figures.Line], measures: list[str], width: int) -> list[list[str]]:
    shown = figures.text(table, measures, width).replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert all(len(row) <= width for row in shown.splitlines())
    return [band.splitlines() for band in shown.split("\n\n")]


def test_groups_stand_below_each_other_and_their_systems_together() -> None:
    table = [
        line("a", None, "all", AR_1=0.5, ER_1=0.25),
        line("b", None, "all", AR_1=0.4, ER_1=0.25),
        line("a", "b", "all", AR_1=0.1, ER_1=-0.001),
        line("a", None, "from to", AR_1=float("nan"), ER_1=0.0),
    ]
    assert bands(table, ["AR@1", "ER@1"], 80) == [
        [
            "                             n                 AR@1               ER@1",
            "all               a      1,234    50.0 [48.8, 51.2]  25.0 [23.8, 26.2]",
            "                  b      1,234    40.0 [38.8, 41.2]  25.0 [23.8, 26.2]",
            "                  a - b  1,234  +10.0 [+8.8, +11.2]  -0.1 [-1.3, +1.1]",
            "relation from to  a      1,234                    -    0.0 [-1.2, 1.2]",
        ]
    ]


def test_measures_are_shown_in_bands_that_fit_the_width_families_together() -> None:
    table = [line("words", None, label, AR_1=0.5, AR_5=0.7, ER_1=0.2, MRR=0.6) for label in ("all", "in", "from to")]
    measures = ["AR@1", "AR@5", "ER@1", "MRR"]
    assert [band[0].split()[1:] for band in bands(table, measures, 85)] == [["AR@1", "AR@5", "ER@1"], ["MRR"]]
    assert [band[0].split()[1:] for band in bands(table, measures, 65)] == [["AR@1", "AR@5"], ["ER@1", "MRR"]]
    assert [len(band) for band in bands(table, measures, 50)] == [4, 4, 4, 4]


def test_a_cell_cannot_break_the_markdown_table() -> None:
    (head, rule, row) = figures.markdown([line("a|b\nc", None, "all", AR_1=0.5)], ["AR@1"])
    assert row == "| a\\|b c | all | 1,234 | 50.0 [48.8, 51.2] |"
    assert head.count("|") == rule.count("|") == 5


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_chart_is_drawn(asked: str, club: str, tmp_path: Path, kind: str) -> None:
    pytest.importorskip("matplotlib")
    best, half = run_file(tmp_path / "best.jsonl", BEST), run_file(tmp_path / "ha$l$f.jsonl", HALF)
    path = tmp_path / f"chart.{kind}"
    markdown = tmp_path / "table.md"
    result = run(
        asked, "--run", best, "--run", half, "--index", club, "--plot", str(path), "--markdown", str(markdown)
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")
    assert markdown.read_text(encoding="utf-8").count("\n| ") == 4
    only = run(asked, "--run", best, "--index", club, "--only", "exact=0", "--plot", str(path))
    assert only.exit_code == 0  # without originals there are the relations


def test_what_stops_a_chart_is_told_before_the_work(
    asked: str, club: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = run(asked, "--index", club, "--plot", str(tmp_path / "chart.gif"))
    assert kind.exit_code == 1 and ".png, .svg, .pdf" in kind.stderr
    nowhere = run(asked, "--index", club, "--markdown", str(tmp_path / "no" / "table.md"))
    assert nowhere.exit_code == 1 and "there is no folder" in nowhere.stderr
    folder = run(asked, "--index", club, "--markdown", str(tmp_path))
    assert folder.exit_code == 1 and f"{tmp_path}: cannot be written: Is a directory" in folder.stderr
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    missing = run(asked, "--index", club, "--plot", str(tmp_path / "chart.png"))
    assert missing.exit_code == 1 and "mrag[plot]" in missing.stderr and missing.stdout == ""
