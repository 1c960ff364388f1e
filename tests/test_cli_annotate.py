"""mrag annotate: people judge passages key by key, lose nothing, and are held against one another."""

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mrag.adapters.evaluation.judgements import read_judgements
from mrag.adapters.question_sets import read_question_set
from mrag.cli import cli
from mrag.cli.measuring import terminal
from mrag.cli.measuring.human import pool
from mrag.cli.measuring.marked import passage_lines
from mrag.corpus import Passage

PASSAGES = [
    {"id": "moe", "title": "Ida Moe", "text": "Ida Moe led the rowing club from 1999 to 2006. She then moved to Lund."},
    {
        "id": "board",
        "title": "Rowing club",
        "text": "The board of the rowing club met in 2003. Ida Moe was in the chair.",
    },
    {"id": "lie", "title": "Odd Lie", "text": "Odd Lie led the rowing club in 1971. It was small."},
    {"id": "boats", "title": "Boats", "text": "The rowing club led the league with four boats in 2001."},
    {"id": "bread", "title": "Bakery", "text": "The bakery sells rye bread."},
]
QUESTIONS = [
    {"id": "q1", "question": "Who led the rowing club as of 2003?", "answers": ["Ida Moe"], "gold_passages": ["lie"]},
    {"id": "q2", "question": "Who led the rowing club before 1980?", "answers": ["Odd Lie"]},
]


def write(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def run(*args: str, keys: str = "") -> Result:
    plain = {"MRAG_LLM_URL": "", "OPENAI_BASE_URL": "", "MRAG_LLM_MODEL": "", "NO_COLOR": ""}
    return CliRunner().invoke(cli, ["annotate", *args], prog_name="mrag", input=keys, env=plain)


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("club")
    made = CliRunner().invoke(cli, ["index", write(folder / "club.jsonl", PASSAGES), "-o", str(folder / "index")])
    assert made.exit_code == 0, made.output
    return str(folder / "index")


@pytest.fixture
def asked(tmp_path: Path) -> str:
    return write(tmp_path / "questions.jsonl", QUESTIONS)


def judge(club: str, asked: str, keys: str, *args: str, file: str = "ida.jsonl") -> Result:
    """Judges at most three passages a question."""
    path = Path(asked).with_name(file)
    result = run(asked, "--index", club, "-o", str(path), "-k", "3", *args, keys=keys)
    assert result.exit_code == 0, result.output
    return result


def judged(asked: str, file: str = "ida.jsonl") -> dict[str, bool | None]:
    """What is in a file, as "question passage"."""
    found = read_judgements(Path(asked).with_name(file)).judgements
    return {" ".join(pair): word for pair, word in found.items()}


# --- what is shown -------------------------------------------------------------------------------------------


def test_it_shows_where_one_is_the_question_and_the_sentences_that_carry_an_answer(club: str, asked: str) -> None:
    shown = judge(club, asked, "q").stderr
    assert "question 1 of 2, passage 1 of 3, 0 gold so far" in shown
    assert "Who led the rowing club as of 2003?\nanswers: Ida Moe\n" in shown
    assert "> Ida Moe led the rowing club from 1999 to 2006.\n  She then moved to Lund." in shown
    assert "y n s d / b q ?" in shown
    assert "gold_passages" not in shown and "time 1.00" not in shown  # nothing that sways


def test_bold_type_sets_off_where_there_are_colours() -> None:
    passage = Passage("p", "Ida Moe led it. She left.", "Club")
    plain = passage_lines(passage, ["Ida Moe"], bold=False, width=40)
    assert plain == ["  Club", "> Ida Moe led it.", "  She left."]
    assert passage_lines(passage, ["Ida Moe"], bold=True, width=40)[1] == "  \x1b[1mIda Moe led it.\x1b[0m"


def test_an_answer_across_two_sentences_sets_off_both() -> None:
    passage = Passage("p", "He lived in the town of Acme Corp. Later he left. It was dark.")
    assert passage_lines(passage, ["Corp. Later"], bold=False, width=60) == [
        "  [p]",
        "> He lived in the town of Acme Corp.",
        "> Later he left.",
        "  It was dark.",
    ]


def test_of_a_long_passage_the_start_and_the_answers_are_shown() -> None:
    passage = Passage("p", " ".join(f"Sentence {n} stands here." for n in range(300)))
    lines = passage_lines(passage, ["sentence 200"], bold=False, width=80)
    assert len(lines) < 50
    assert lines[-3:] == ["  …", "> Sentence 200 stands here.", "  …"]


def test_a_passage_cannot_steer_the_terminal() -> None:
    passage = Passage("p", "Ida\x1b[2J Moe\r led\u202e it.\x07", "Cl\x1b]0;ub")
    text = "".join(passage_lines(passage, ["Moe"], bold=False, width=60))
    assert all(char.isprintable() for char in text)


def test_the_keys_are_explained_on_request_and_a_wrong_one_is_no_judgement(club: str, asked: str) -> None:
    shown = judge(club, asked, "x?q").stderr
    assert "'x' is no key here" in shown
    assert shown.count("skip: it cannot be told") == 2  # once at the start
    assert shown.count("question 1 of 2") == 1  # not shown again for that
    assert not Path(asked).with_name("ida.jsonl").exists()


# --- deciding ------------------------------------------------------------------------------------------------


def test_two_gold_passages_are_enough(club: str, asked: str) -> None:
    shown = judge(club, asked, "yyq").stderr
    assert judged(asked) == {"q1 moe": True, "q1 board": True}
    assert "question 2 of 2, passage 1 of 3" in shown


def test_every_passage_is_asked_about_where_there_is_one_gold_or_none(club: str, asked: str) -> None:
    judge(club, asked, "ynn nns d")
    assert list(judged(asked).values()) == [True, False, False, False, False, None]


def test_where_nothing_is_gold_other_words_can_be_searched_for(club: str, asked: str) -> None:
    shown = judge(club, asked, "nnn\n/rye bread\ny\nq\n").stderr
    assert "None of 3 passages is gold" in shown
    assert "The bakery sells rye bread." in shown
    assert judged(asked)["q1 bread"] is True
    assert "question 2 of 2" in shown


def test_that_nothing_is_gold_has_to_be_said(club: str, asked: str) -> None:
    judge(club, asked, "nnn")
    assert "None of 3 passages" in judge(club, asked, "y").stderr  # y is no key there
    assert "question 2 of 2" in judge(club, asked, "d").stderr


def test_done_leaves_the_other_passages_of_a_question(club: str, asked: str) -> None:
    shown = judge(club, asked, "ydq").stderr
    assert judged(asked) == {"q1 moe": True}
    assert "question 2 of 2" in shown


def test_back_corrects_what_was_said(club: str, asked: str) -> None:
    shown = judge(club, asked, "nby n q").stderr
    assert judged(asked) == {"q1 moe": True, "q1 board": False}
    assert "so far: no" in shown


def test_back_goes_to_the_question_before_and_takes_it_up_again(club: str, asked: str) -> None:
    shown = judge(club, asked, "yybnq").stderr
    assert judged(asked) == {"q1 moe": True, "q1 board": False}
    assert shown.rstrip().endswith("goes on with question 1 of 2")


def test_back_from_the_first_passage_stays_there(club: str, asked: str) -> None:
    assert "this is the first passage" in judge(club, asked, "bq").stderr


def test_a_third_gold_passage_is_not_taken(club: str, asked: str) -> None:
    shown = judge(club, asked, "n yy b b b y q").stderr
    assert "2 passages are gold already" in shown
    assert judged(asked)["q1 moe"] is False


# --- going on ------------------------------------------------------------------------------------------------


def test_the_same_command_goes_on_with_the_first_open_passage(club: str, asked: str) -> None:
    first = judge(club, asked, "n")
    assert "the same command goes on with question 1 of 2" in first.stderr
    assert "question 1 of 2, passage 2 of 3" in judge(club, asked, "q").stderr
    last = judge(club, asked, "yy yyy")
    assert "all 2 questions are done" in last.stderr
    assert "question" not in judge(club, asked, "y").stderr.replace("all 2 questions", "")  # nothing is asked any more


def test_other_questions_and_settings_are_refused(club: str, asked: str) -> None:
    judge(club, asked, "y")
    path = str(Path(asked).with_name("ida.jsonl"))
    for other, what in ((["-k", "4"], "k: 3 there, 4 now"), (["-k", "3", "--only", "id=x"], "")):
        refused = run(asked, "--index", club, "-o", path, *other, keys="y")
        assert refused.exit_code == 1 and what in refused.stderr
    fewer = run(asked, "--index", club, "-o", path, "-k", "3", "--sample", "1", keys="y")
    assert fewer.exit_code == 1 and "questions: 2 (" in fewer.stderr
    temporal = run(asked, "--index", club, "-o", path, "-k", "3", "--no-temporal", keys="y")
    assert "temporal: true there, false now" in temporal.stderr
    someone = run(asked, "--index", club, "-o", path, "-k", "3", "--annotator", "odd", keys="y")
    assert "annotator: ida there, odd now" in someone.stderr
    assert judged(asked) == {"q1 moe": True}


def test_what_came_of_it_is_told(club: str, asked: str) -> None:
    row = json.loads(judge(club, asked, "yy nn", "--json", "--annotator", "Ida Moe").stdout)
    assert row == {
        "annotator": "Ida Moe",
        "questions": 2,
        "done": 1,
        "gold": {"0": 0, "1": 0, "2": 1},
        "judged": {"yes": 2, "no": 2, "skip": 0},
    }
    assert "1 of 2 done (1 with 2 gold" in judge(club, asked, "q").stdout


def test_the_questions_that_are_done_are_written_with_their_gold(club: str, asked: str, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    judge(club, asked, "n", "--write", str(gold))
    assert not gold.exists()
    judge(club, asked, "yd", "--write", str(gold))
    [question] = read_question_set(gold).questions
    assert (question.id, question.gold_passages, question.answers) == ("q1", ("board",), ("Ida Moe",))
    judge(club, asked, "nnnd", "--write", str(gold))
    assert [question.gold_passages for question in read_question_set(gold).questions] == [("board",), ()]


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
def test_on_a_terminal_keys_need_no_enter_and_ctrl_c_loses_nothing(club: str, asked: str) -> None:
    import pty
    import termios

    path = Path(asked).with_name("ida.jsonl")
    command = ["annotate", asked, "--index", club, "-o", str(path), "-k", "3"]
    child, screen = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.executable, [sys.executable, "-c", "from mrag.cli import main; main()", *command])
    shown = b""
    stuck = threading.Timer(60, os.kill, (child, signal.SIGKILL))
    stuck.start()
    for asked_before, key in ((1, b"n"), (2, b"\x1b[Ay"), (3, b"\x03")):  # an arrow is no key
        while shown.count(b"?] ") < asked_before:
            shown += os.read(screen, 4096)
        while termios.tcgetattr(screen)[3] & termios.ICANON:  # what is typed before it listens is lost
            time.sleep(0.01)
        os.write(screen, key)
    with suppress(OSError):  # which is how the end of a terminal is told
        while more := os.read(screen, 4096):
            shown += more
    _, status = os.waitpid(child, 0)
    stuck.cancel()
    assert os.waitstatus_to_exitcode(status) == 130
    assert b"\x1b[1mIda Moe led" in shown
    assert b"ida.jsonl keeps every judgement" in shown
    assert judged(asked) == {"q1 moe": False, "q1 board": True}


@pytest.mark.parametrize(
    ("sent", "keys"),
    [("n", "n"), ("nn", "nn"), ("n\x1b[A", "n"), ("\x1b[1;5Cy", "y"), ("\x1bOP", ""), ("\x1b", ""), ("\t\r", "")],
)
def test_special_keys_are_none(monkeypatch: pytest.MonkeyPatch, sent: str, keys: str) -> None:
    monkeypatch.setattr("click.getchar", lambda: sent)
    assert terminal._typed() == keys


def test_ctrl_c_behind_other_keys_still_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.getchar", lambda: "n\x03")
    with pytest.raises(KeyboardInterrupt):
        terminal._typed()


# --- the human evaluation ------------------------------------------------------------------------------------

TIME = [{"id": "q1", "ranking": ["moe", "lie"]}, {"id": "q2", "ranking": ["lie"]}]
WORDS = [{"id": "q1", "ranking": ["boats", "moe"]}, {"id": "q2", "ranking": ["lie", "moe"]}]


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    return ["--run", write(tmp_path / "alpha.jsonl", TIME), "--run", write(tmp_path / "beta.jsonl", WORDS)]


def systems(club: str, asked: str, runs: list[str], keys: str, *args: str, file: str = "ida.jsonl") -> Result:
    result = run(asked, *runs, "--index", club, "-o", str(Path(asked).with_name(file)), *args, keys=keys)
    assert result.exit_code == 0, result.output
    return result


def test_each_passage_is_asked_about_once(club: str, asked: str, runs: list[str]) -> None:
    systems(club, asked, runs, "nny")
    assert sorted(judged(asked)) == ["q1 boats", "q1 moe", "q2 lie"]


def test_neither_the_dialogue_nor_the_file_tells_the_systems(club: str, asked: str, runs: list[str]) -> None:
    shown = systems(club, asked, runs, "n").stderr
    content = Path(asked).with_name("ida.jsonl").read_text()
    for name in ("alpha", "beta"):
        assert name not in shown and name not in content
    swapped = systems(club, asked, [*runs[2:], *runs[:2]], "n")  # which run comes first plays no part
    assert "question 2 of 2" in swapped.stderr


def test_the_order_of_the_systems_is_by_the_seed_and_tells_nothing() -> None:
    both = {"a": {f"q{n}": (f"a{n}",) for n in range(400)}, "b": {f"q{n}": (f"b{n}",) for n in range(400)}}
    first = [pool(both, f"q{n}", 1, seed=1)[0][0] for n in range(400)]
    assert 150 < first.count("a") < 250
    assert first == [pool(dict(reversed(both.items())), f"q{n}", 1, seed=1)[0][0] for n in range(400)]
    assert first != [pool(both, f"q{n}", 1, seed=2)[0][0] for n in range(400)]


def test_the_relevance_of_the_systems_comes_when_all_is_judged(club: str, asked: str, runs: list[str]) -> None:
    part = systems(club, asked, runs, "n", "--json")
    assert part.stdout == "" and "told when all is judged" in part.stderr
    said = {"moe": "y", "boats": "n"}
    q1 = pool({"a": {"q1": ("moe",)}, "b": {"q1": ("boats",)}}, "q1", 1, seed=0)
    result = systems(club, asked, runs, "".join(said[passage] for passage in q1) + "y", "--json", file="odd.jsonl")
    ours, theirs, difference = map(json.loads, result.stdout.splitlines())
    assert Path(ours["system"]).name == "alpha.jsonl" and ours["minus"] is None
    assert (ours["by"], ours["label"], ours["n"]) == ("annotator", "odd", 2)
    assert ours["figures"]["relevant@1"]["value"] == 1.0
    assert theirs["figures"]["relevant@1"]["value"] == 0.5
    assert Path(difference["minus"]).name == "beta.jsonl"
    assert difference["figures"]["relevant@1"] == {"value": 0.5, "low": 0.0, "high": 1.0, "n": 2, "facts": 2}
    assert "relevant@1" in systems(club, asked, runs, "", file="odd.jsonl").stdout


def test_more_passages_of_each_system_may_be_judged(club: str, asked: str, runs: list[str]) -> None:
    systems(club, asked, runs, "yyyyy", "-k", "2")
    assert len(judged(asked)) == 5


def test_passages_that_the_index_lacks_are_said_at_once(club: str, asked: str, tmp_path: Path) -> None:
    foreign = write(tmp_path / "foreign.jsonl", [{"id": "q1", "ranking": ["p17"]}])
    result = run(asked, "--run", foreign, "--index", club, "-o", str(tmp_path / "ida.jsonl"), keys="y")
    assert result.exit_code == 1 and "'p17'" in result.stderr and "--index" in result.stderr


def test_a_run_over_other_questions_is_refused(club: str, asked: str, tmp_path: Path) -> None:
    other = write(tmp_path / "other.jsonl", [{"id": "x1", "ranking": ["moe"]}])
    result = run(asked, "--run", other, "--index", club, "-o", str(tmp_path / "ida.jsonl"), keys="y")
    assert result.exit_code == 1 and "holds none of the questions" in result.stderr


# --- two annotators ------------------------------------------------------------------------------------------


def two(club: str, asked: str) -> list[str]:
    judge(club, asked, "yy nny")
    judge(club, asked, "yny nny", file="odd.jsonl")
    return [str(Path(asked).with_name(name)) for name in ("ida.jsonl", "odd.jsonl")]


def test_two_annotators_are_compared(club: str, asked: str) -> None:
    row = json.loads(run("--agree", *two(club, asked), "--json").stdout)
    assert row["annotators"] == ["ida", "odd"]
    assert row["table"] == {"yes-yes": 2, "yes-no": 1, "no-yes": 0, "no-no": 2}
    assert (row["n"], row["alone"], row["skipped"]) == (5, 1, 0)
    assert row["raw"]["value"] == 0.8
    assert row["kappa"]["value"] == pytest.approx(0.615385, abs=1e-6)
    assert row["disagreements"] == [{"id": "q1", "passage": "board", "first": "yes", "second": "no"}]


def test_disagreements_are_listed_with_their_texts(club: str, asked: str) -> None:
    shown = run("--agree", *two(club, asked), asked, "--index", club).stdout
    assert "Cohen's kappa  0.62" in shown
    assert "ida       yes\nodd       no\n" in shown
    assert "Who led the rowing club as of 2003?" in shown and "Ida Moe was in the chair." in shown


def test_the_gold_that_both_name_is_written(club: str, asked: str, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    assert run("--agree", *two(club, asked), asked, "--write", str(gold)).exit_code == 0
    first, _ = read_question_set(gold).questions
    assert first.gold_passages == ("moe",)


def test_the_systems_are_measured_by_each_annotator_and_by_both(club: str, asked: str, runs: list[str]) -> None:
    systems(club, asked, runs, "yyy")
    systems(club, asked, runs, "nny", file="odd.jsonl")
    files = [str(Path(asked).with_name(name)) for name in ("ida.jsonl", "odd.jsonl")]
    first, *table = map(json.loads, run("--agree", *files, asked, *runs, "--json").stdout.splitlines())
    assert first["about"] == "runs"
    shares = {
        (row["label"], Path(row["system"]).stem): row["figures"]["relevant@1"]["value"]
        for row in table
        if not row["minus"]
    }
    assert shares == {
        ("ida", "alpha"): 1.0,
        ("ida", "beta"): 1.0,
        ("odd", "alpha"): 0.5,
        ("odd", "beta"): 0.5,
        ("both", "alpha"): 0.5,
        ("both", "beta"): 0.5,
    }
    other = run("--agree", *files, asked, *runs[:2])
    assert other.exit_code == 1 and "not the runs that ida judged" in other.stderr


def test_only_files_of_a_kind_are_compared(club: str, asked: str, runs: list[str]) -> None:
    judge(club, asked, "y")
    systems(club, asked, runs, "y", file="odd.jsonl")
    files = [str(Path(asked).with_name(name)) for name in ("ida.jsonl", "odd.jsonl")]
    assert "compare two of a kind" in run("--agree", *files).stderr


def test_an_annotators_name_cannot_steer_the_terminal(club: str, asked: str) -> None:
    judge(club, asked, "yy nny", "--annotator", "\x1b[2JIda")
    judge(club, asked, "yny nny", file="odd.jsonl")
    files = [str(Path(asked).with_name(name)) for name in ("ida.jsonl", "odd.jsonl")]
    assert "\x1b" not in run("--agree", *files).stdout


# --- usage ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["-o", "--write"])
def test_a_place_that_cannot_be_written_is_named_before_the_work(
    club: str, asked: str, tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrag.cli.searches.open_here", None)  # nothing is searched
    there = ["-o", str(tmp_path / "ida.jsonl")] if option == "--write" else []
    for path in (tmp_path / "none" / "x.jsonl", tmp_path, tmp_path / ("a" * 300)):
        result = run(asked, "--index", club, *there, option, str(path), keys="y")
        assert result.exit_code == 1 and f"error: {path}: cannot be written: " in result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "QUESTIONS"),
        (["questions.jsonl"], "-o FILE"),
        (["questions.jsonl", "-o", "x", "--write", "x"], "take the place"),
        (["questions.jsonl", "-o", "x", "--run", "a", "--reranker", "m"], "--reranker plays no part with --run"),
        (["questions.jsonl", "-o", "x", "--agree", "a", "b"], "--output plays no part with --agree"),
        (["--agree", "a", "b", "--write", "x"], "need the QUESTIONS"),
    ],
)
def test_wrong_usage_is_told(args: list[str], said: str) -> None:
    result = run(*args)
    assert result.exit_code == 2 and said in result.stderr
