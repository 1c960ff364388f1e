"""What a person and a program see of the command line: results, messages, exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from mrag.cli import cli, options
from mrag.errors import InputError

MRAG = [sys.executable, "-c", "from mrag.cli import main; main()"]
ENV = {**os.environ, "PYTHONIOENCODING": "utf-8"}


def run(*args: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli, args, input=stdin, prog_name="mrag")


def rows(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


# --- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_teaches_itself_with_an_example(name: str) -> None:
    command = cli.commands[name]
    assert command.help and "Examples:" in command.help
    assert f"mrag {name} " in command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"mrag {name} {parameter.opts[-1]} has no help"
    shown = run(name, "--help")
    assert shown.exit_code == 0 and "Examples:" in shown.stdout


def test_the_version_is_told() -> None:
    assert run("--version").stdout == "mrag 0.1.0\n"


@pytest.mark.parametrize(
    "args", [["parse"], ["parse", "--nosuch", "x"], ["nosuch"], ["dates", "--reference", "x", "y"]]
)
def test_wrong_usage_exits_with_2(args: list[str]) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert "Usage: mrag" in result.stderr and result.stdout == ""


# --- parse ----------------------------------------------------------------------------------------


def test_parse_takes_a_question_apart() -> None:
    (row,) = rows(run("parse", "--json", "Who was the UK prime minister as of 6 May 2021?"))
    assert row["text"] == "Who was the UK prime minister as of 6 May 2021?"
    assert row["main_content"] == "Who was the UK prime minister?"
    assert (row["implicit"], row["relation"], row["start"], row["end"]) == (None, "as of", None, "2021-05-06")
    assert "UK" in str(row["keywords"])
    assert row["window"] == {"start": None, "end": "2021-05-06"}


def test_parse_gives_null_for_what_a_question_lacks() -> None:
    (row,) = rows(run("parse", "--json", "Who wrote Emma?"))
    assert [row[key] for key in ("implicit", "relation", "start", "end", "window")] == [None] * 5


def test_parse_reads_a_question_a_line_and_keeps_blank_ones() -> None:
    got = rows(run("parse", "--json", "-", stdin="\ufeffWho won in 1999?\r\n\n   \nWho lost?"))
    assert [row["text"] for row in got] == ["Who won in 1999?", "", "   ", "Who lost?"]


def test_only_line_feeds_end_a_line_of_standard_input() -> None:
    assert len(rows(run("parse", "--json", "-", stdin="who won\x0c in\u2028 1999\x85?\n"))) == 1


def test_parse_counts_relative_dates_from_the_reference() -> None:
    (row,) = rows(run("parse", "--json", "--reference", "6 May 2021", "Who won last year?"))
    assert (row["relation"], row["start"], row["end"]) == ("in", "2020", "2020")


def test_the_present_needs_a_reference() -> None:
    result = run("parse", "--assume-present", "Who is the mayor?")
    assert result.exit_code == 2 and "--reference" in result.stderr
    (row,) = rows(run("parse", "--json", "--assume-present", "--reference", "2021-05-06", "Who is the mayor?"))
    assert (row["relation"], row["end"]) == ("as of", "2021-05-06")


def test_parse_prints_a_table_for_people() -> None:
    result = run("parse", "Who was the last to own the mill before 1981?", "Who won?")
    assert "constraint    last, before 1981" in result.stdout
    assert "any to 1980\n" in result.stdout
    assert result.stdout.count("question") == 2


def test_an_argument_behind_two_dashes_is_a_question() -> None:
    (row,) = rows(run("parse", "--json", "--", "--who won in 1999?"))
    assert row["start"] == "1999"


# --- dates ----------------------------------------------------------------------------------------


def test_dates_names_text_span_bounds_and_kind() -> None:
    text = "Köln: she chaired it from 1999 to 2006."
    (row,) = rows(run("dates", "--json", text))
    (mention,) = row["mentions"]  # type: ignore[misc, attr-defined]
    start, end = mention["span"]
    assert text[start:end] == mention["text"] == "from 1999 to 2006"
    assert (mention["start"], mention["end"], mention["kind"]) == ("1999", "2006", "state")


def test_dates_gives_an_object_for_a_text_without_dates() -> None:
    assert rows(run("dates", "--json", "", "none here")) == [
        {"text": "", "mentions": []},
        {"text": "none here", "mentions": []},
    ]


def test_dates_prints_a_table_for_people() -> None:
    assert run("dates", "She left in March 2019.").stdout.split() == ["2019-03", "event", "in", "March", "2019"]
    assert run("dates", "nothing").stdout == "no dates\n"


# --- spline ---------------------------------------------------------------------------------------

LAST_BEFORE = "Who was the last owner before 1981?"


def test_spline_draws_a_curve_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("spline", LAST_BEFORE).stdout.splitlines()
    assert lines[0].startswith("last, before 1981")
    assert lines[1].startswith("1.0 │") and lines[-2].startswith("0.0 └")
    assert max(map(len, lines[1:])) == 60
    assert lines[-1].split()[0] == "1931"


def test_spline_prints_both_profiles_as_csv() -> None:
    lines = run("spline", "--csv", "--from", "1970", "--to", "1985", LAST_BEFORE).stdout.splitlines()
    assert lines[0] == "date,interval,paper"
    assert lines[1].startswith("1970,") and lines[1].endswith(",0.912")
    assert lines[-1].startswith("1985,") and lines[-1].endswith(",0.5")


def test_spline_goes_by_months_and_days_over_short_stretches() -> None:
    by_month = rows(run("spline", "--json", "--from", "1980", "--to", "1981", LAST_BEFORE))
    assert [row["date"] for row in by_month] == [f"{y}-{m:02d}" for y in (1980, 1981) for m in range(1, 13)]
    by_day = rows(run("spline", "--json", "--from", "1980-12-30", "--to", "1981-01-02", LAST_BEFORE))
    assert [row["date"] for row in by_day] == ["1980-12-30", "1980-12-31", "1981-01-01", "1981-01-02"]


def test_spline_without_a_time_says_so() -> None:
    result = run("spline", "Who wrote Emma?")
    assert result.exit_code == 1 and "names no time" in result.stderr


def test_spline_says_where_the_paper_has_no_curve() -> None:
    result = run("spline", "--profile", "paper", "Who won in 1999?")
    assert result.exit_code == 1 and "--profile interval" in result.stderr


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("spline", "--png", str(tmp_path / "curve.png"), LAST_BEFORE)
    assert result.exit_code == 1 and "pip install 'mrag[plot]'" in result.stderr


def test_spline_draws_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    png, svg = tmp_path / "curve.png", tmp_path / "curve"
    assert run("spline", "--png", str(png), "--svg", str(svg), "Who $won last before 1981?").exit_code == 0
    assert png.read_bytes().startswith(b"\x89PNG") and b"<svg" in svg.read_bytes()


# --- rank -----------------------------------------------------------------------------------------

LED = "Odd Lie led the club in 1971.\n\nIda Moe led the club from 1999 to 2006.\nThe bakery sells rye bread.\n"


def test_rank_orders_all_lines_of_a_text() -> None:
    got = rows(run("rank", "--json", "Who led the club as of 2003?", "-", stdin=LED))
    assert [row["rank"] for row in got] == [1, 2, 3]
    assert got[0]["text"] == "Ida Moe led the club from 1999 to 2006."
    assert {row["text"] for row in got} == {line for line in LED.splitlines() if line}
    assert got[0]["mention"] == {
        "text": "from 1999 to 2006",
        "span": [21, 38],
        "start": "1999",
        "end": "2006",
        "kind": "state",
        "source": "own",
    }
    assert got[-1]["mention"] is None
    for name in ("score", "semantic", "temporal"):
        assert isinstance(got[0][name], float)


def test_rank_reads_json_lines_and_keeps_their_ids(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    records = [
        {"_id": "a", "text": "He led the club.", "title": "Odd Lie", "valid_to": "1998"},
        {"_id": "b", "text": "She led the club.", "title": "Ida Moe", "valid_from": "1999", "valid_to": "2006"},
    ]
    file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    got = rows(run("rank", "--json", "Who led the club as of 2003?", str(file)))
    assert [row["id"] for row in got] == ["b", "a"]


def test_rank_prints_a_line_a_text_for_people() -> None:
    lines = run("rank", "Who led the club as of 2003?", "-", stdin=LED).stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].split()[0] == "1" and lines[0].endswith("Ida Moe led the club from 1999 to 2006.")


def test_rank_says_when_nothing_fits_the_time() -> None:
    result = run("rank", "Who led the club as of 1066?", "-", stdin=LED)
    assert result.exit_code == 0
    assert "nothing found is dated to fit" in result.stderr and "as of 1066" in result.stderr


@pytest.mark.parametrize(
    ("stdin", "said"),
    [
        (b"", "standard input: holds no text"),
        (b" \n\n", "standard input: holds no text"),
        (b"GIF89a\0\0", "standard input:1: binary data"),
        (b'{"text": "x"}\n{"body": "y"}\n', 'standard input:2: no "text" field (keys: body)'),
        (b'{"text": "x"}\n{"text": \n', "standard input:2: broken JSON"),
    ],
)
def test_rank_says_what_is_wrong_with_its_input(stdin: bytes, said: str) -> None:
    result = run("rank", "Who led the club?", "-", stdin=stdin)
    assert result.exit_code == 1 and result.stdout == ""
    assert result.stderr.startswith(f"error: {said}")


def test_rank_names_a_file_that_is_not_there() -> None:
    result = run("rank", "Who led the club?", "nosuch.txt")
    assert result.exit_code == 1 and result.stderr.startswith("error: nosuch.txt: ")


@pytest.mark.parametrize("command", [["rank", "", "-"], ["search", " \n"]])
def test_a_blank_question_is_an_error(command: list[str]) -> None:
    result = run(*command, stdin="a text\n")
    assert result.exit_code == 1 and result.stderr.startswith("error: the question is empty")


# --- index and search -----------------------------------------------------------------------------

CLUB = [
    {"id": "lie", "title": "Odd Lie", "text": "Odd Lie led the club in 1971. It was small."},
    {"id": "moe", "title": "Ida Moe", "text": "Ida Moe led the club from 1999 to 2006.", "lang": "en"},
    {"id": "bread", "title": "Bakery", "text": "The bakery sells rye bread."},
]


def passages(folder: Path, records: list[dict[str, str]] = CLUB, name: str = "club.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("club")
    result = run("index", str(passages(folder)), "-o", str(folder / "club.index"))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{folder / 'club.index'}: 3 passages\n"
    return str(folder / "club.index")


def test_search_names_the_sentence_the_date_and_the_scores(club: str) -> None:
    got = rows(run("search", "--index", club, "--json", "Who led the club as of 2003?"))
    assert [row["id"] for row in got] == ["moe", "lie"]
    first = got[0]
    assert (first["rank"], first["title"], first["sentence"]) == (1, "Ida Moe", CLUB[1]["text"])
    assert (first["text"], first["fits"]) == (CLUB[1]["text"], True)
    assert first["passage"] == {"id": "moe", "title": "Ida Moe", "lang": "en"}
    mention = first["mention"]
    assert isinstance(mention, dict) and (mention["start"], mention["end"]) == ("1999", "2006")
    assert 0 <= float(str(first["semantic"])) <= 1 and first["temporal"] == 1.0


def test_search_prints_a_table_for_people(club: str) -> None:
    out = run("search", "--index", club, "-k", "1", "Who led the club as of 2003?").stdout
    assert "time: as of 2003" in out
    assert "Ida Moe led the club from 1999 to 2006." in out
    assert "Ida Moe [moe]" in out
    assert "time 1.00  dated 1999 to 2006" in out
    assert "Odd Lie" not in out


def test_search_shows_the_rank_after_each_stage_on_request(club: str) -> None:
    question = "Who led the club as of 2003?"
    (first, *_) = rows(run("search", "--index", club, "--explain", "--json", question))
    ranks = first["ranks"]
    assert isinstance(ranks, dict) and ranks["final"] == 1
    assert "ranks: first stage " in run("search", "--index", club, "--explain", question).stdout
    assert "ranks" not in rows(run("search", "--index", club, "--json", question))[0]


def test_within_is_a_hard_filter(club: str) -> None:
    got = rows(run("search", "--index", club, "--within", "1970..1979", "--json", "Who led the club?"))
    assert [row["id"] for row in got] == ["lie"]


def test_as_of_gives_a_question_its_time(club: str) -> None:
    got = rows(run("search", "--index", club, "--as-of", "2003", "--json", "Who led the club?"))
    assert got[0]["id"] == "moe" and got[0]["mention"] is not None
    result = run("search", "--index", club, "--as-of", "2003", "Who led the club in 1971?")
    assert "--as-of plays no part" in result.stderr and "1  Odd Lie led" in result.stdout


def test_without_time_the_plain_retriever_answers(club: str) -> None:
    got = rows(run("search", "--index", club, "--no-temporal", "--json", "Who led the club as of 2003?"))
    assert {row["mention"] for row in got} == {None}
    assert [row["rank"] for row in got] == list(range(1, len(got) + 1))


def test_search_says_when_nothing_is_found_or_fits(club: str) -> None:
    nothing = run("search", "--index", club, "--json", "zzz?")
    assert (nothing.exit_code, nothing.stdout) == (0, "") and "nothing found" in nothing.stderr
    assert "to fit the time asked for (as of 1066)" in run("search", "--index", club, "Who led it as of 1066?").stderr


def test_search_without_an_index_asks_the_demo_and_says_so() -> None:
    result = run("search", "-k", "3", "--json", "Who was the UK prime minister as of 6 May 2021?")
    assert "demo" in result.stderr
    assert any("Johnson" in str(row["text"]) for row in rows(result))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_many_questions_give_a_line_each_in_their_order(club: str, tmp_path: Path, workers: str) -> None:
    asked = [{"id": f"q{i}", "question": f"Who led the club as of {1960 + i % 70}?"} for i in range(450)]
    asked += [{"_id": "blank", "text": " "}, {"_id": "none", "text": "zzz"}]
    file = passages(tmp_path, asked, "queries.jsonl")
    got = rows(run("search", "--index", club, "--queries", str(file), "-k", "2", "--json", "--workers", workers))
    assert [row["id"] for row in got] == [*(f"q{i}" for i in range(450)), "blank", "none"]
    assert got[11]["ranking"] == ["lie", "moe"] and got[43]["ranking"] == ["moe", "lie"]
    assert got[-1]["ranking"] == got[-2]["ranking"] == []


def test_many_questions_are_a_table_for_people(club: str, tmp_path: Path) -> None:
    file = passages(tmp_path, [{"id": "q", "question": "Who led the club in 1971?"}], "q.jsonl")
    assert run("search", "--index", club, "--queries", str(file)).stdout == "q\tlie\tmoe\n"


@pytest.mark.parametrize("command", ["search", "ask"])
def test_many_questions_come_from_standard_input_too(club: str, tmp_path: Path, command: str) -> None:
    asked = [{"id": "q", "question": "Who led the club in 1971?"}, {"question": "Who led the club in 2003?"}]
    args = [command, "--index", club, "--json", "--queries"]
    piped = run(*args, "-", stdin="".join(json.dumps(row) + "\n" for row in asked))
    assert piped.exit_code == 0
    assert [row["id"] for row in rows(piped)] == ["q", "stdin:2"]
    assert rows(piped)[0] == rows(run(*args, str(passages(tmp_path, asked, "q.jsonl"))))[0]
    broken = run(*args, "-", stdin='{"id": "q"}\n')
    assert broken.exit_code == 1 and 'error: standard input:1: no "question" or "text" field' in broken.stderr
    assert "error: standard input: holds no questions" in run(*args, "-", stdin="").stderr
    assert "-: standard input" in " ".join(run(command, "--help").stdout.split())


@pytest.mark.parametrize("args", [[], ["who?", "--queries", "x"], ["who?", "-k", "0"], ["who?", "--within", "soon"]])
def test_search_is_asked_one_thing(args: list[str]) -> None:
    assert run("search", *args).exit_code == 2


def test_passages_are_added_behind_those_of_an_index(tmp_path: Path) -> None:
    index = str(tmp_path / "i")
    assert run("index", str(passages(tmp_path, CLUB[:1])), "-o", index).exit_code == 0
    added = run("index", str(passages(tmp_path, CLUB[1:], "more.jsonl")), "-o", index, "--add", "--json")
    assert rows(added) == [{"index": index, "passages": 3}]
    assert [row["id"] for row in rows(run("search", "--index", index, "--json", "rye bread"))] == ["bread"]


def test_an_index_is_verified_and_upgraded(club: str) -> None:
    assert run("index", "--verify", club).stdout == f"{club}: 3 passages, is whole\n"
    assert run("index", "--upgrade", club).stdout == f"{club}: 3 passages, needs no upgrade\n"


def test_a_bad_line_ends_the_build_or_is_left_out(tmp_path: Path) -> None:
    file = passages(tmp_path, [{"id": "1", "text": "one"}, {"id": "2", "body": "two"}])
    index = str(tmp_path / "i")
    ended = run("index", str(file), "-o", index)
    assert ended.exit_code == 1 and ended.stderr == f'error: {file}:2: no "text" field (keys: id, body)\n'
    skipped = run("index", str(file), "-o", index, "--skip-bad")
    assert skipped.exit_code == 0 and skipped.stderr == f'left out: {file}:2: no "text" field (keys: id, body)\n'
    assert skipped.stdout == f"{index}: 1 passages, 1 left out\n"


@pytest.mark.parametrize(
    "args", [[], ["x.jsonl"], ["-o", "i"], ["--add"], ["--verify", "i", "--upgrade", "i"], ["x.jsonl", "--verify", "i"]]
)
def test_index_is_told_to_do_one_thing(args: list[str]) -> None:
    assert run("index", *args).exit_code == 2


def test_an_index_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for args in (["search", "--index", str(tmp_path / "no"), "who?"], ["index", "--verify", str(tmp_path / "no")]):
        result = run(*args)
        assert result.exit_code == 1 and result.stderr.startswith(f"error: {tmp_path / 'no'}")


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals")
def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    command = [*MRAG, "index", str(passages(tmp_path)), "-o", str(tmp_path / "i")]
    ours, theirs = os.openpty()
    assert subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=ENV).returncode == 0
    os.close(theirs)
    assert os.read(ours, 1000).endswith(b"\r3 passages\r\n")
    os.close(ours)
    assert subprocess.run(command, capture_output=True, env=ENV).stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals")
@pytest.mark.parametrize(("setting", "styled"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_gets_colours_unless_it_declines(setting: dict[str, str], styled: bool) -> None:
    ours, theirs = os.openpty()
    env = {**ENV, "NO_COLOR": "", "TERM": "xterm", **setting}
    assert subprocess.run([*MRAG, "parse", "Who won?"], stdout=theirs, env=env).returncode == 0
    os.close(theirs)
    assert (b"\x1b[" in os.read(ours, 1000)) == styled
    os.close(ours)


# --- dates of the command line --------------------------------------------------------------------


def test_a_window_has_open_sides_and_runs_forward() -> None:
    assert str(options.read_window("2019..")) == "2019.."
    assert str(options.read_window(" 4 March 2019 .. 2020-02")) == "2019-03-04..2020-02"
    for text in ("..", "2020..2019", "2019..soon", "soon"):
        with pytest.raises(InputError):
            options.read_window(text)


def test_today_is_the_only_reading_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    class Frozen(options.datetime.date):
        @classmethod
        def today(cls) -> "Frozen":
            return cls(2021, 5, 6)

    monkeypatch.setattr(options.datetime, "date", Frozen)
    assert str(options.read_date("Today")) == "2021-05-06"
    (row,) = rows(run("parse", "--json", "--reference", "today", "Who won yesterday?"))
    assert row["start"] == "2021-05-05"


@pytest.mark.parametrize("text", ["", "soon", "Monday", "May 6", "05/06/2021", "2021-13-01", "2021-02-30"])
def test_a_date_that_cannot_be_read_is_wrong_usage(text: str) -> None:
    result = run("parse", "--reference", text, "Who won?")
    assert result.exit_code == 2 and "--reference" in result.stderr


# --- bad input, and the shell around --------------------------------------------------------------


def test_broken_utf_8_becomes_a_replacement_character() -> None:
    (row,) = rows(run("dates", "--json", "-", stdin=b"caf\xe9 in 1999\n"))
    assert row["text"] == "caf\ufffd in 1999"
    done = subprocess.run([*MRAG, "dates", "--json", b"caf\xe9 in 1999"], capture_output=True, env=ENV)
    assert done.returncode == 0 and json.loads(done.stdout)["text"] == "caf\ufffd in 1999"


def test_what_an_encoding_lacks_is_escaped_in_json_and_replaced_in_a_table() -> None:
    env = {**ENV, "PYTHONIOENCODING": "latin-1"}
    row = subprocess.run([*MRAG, "dates", "--json", "Łódź"], capture_output=True, env=env)
    assert row.returncode == 0 and b"\\u0141" in row.stdout
    table = subprocess.run([*MRAG, "parse", "Łódź?"], capture_output=True, env=env)
    assert table.returncode == 0 and b"?\xf3d?" in table.stdout


def test_a_text_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in run("parse", "who \x1b[31mwon\x07 in 1999?").stdout


def test_a_closed_pipe_is_quiet() -> None:
    with subprocess.Popen(
        [*MRAG, "parse", "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        try:
            process.stdin.write(b"Who won in 1999?\n" * 100)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_an_error() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*MRAG, "parse", "Who won?"], stdout=full, stderr=subprocess.PIPE, text=True, env=ENV)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and "No space left" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_in_one_line() -> None:
    with subprocess.Popen(
        [*MRAG, "parse", "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(b"Who won in 1999?\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"interrupted\n"
        assert process.wait() == 130


def test_an_unexpected_error_is_one_line_and_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("left")

    monkeypatch.setattr("mrag.timex.find_dates", broken)
    result = run("dates", "x")
    assert result.exit_code == 1
    assert (
        result.stderr == "error: unexpected KeyError: 'left' (a bug: please report it, with what mrag --debug shows)\n"
    )
    assert isinstance(run("--debug", "dates", "x").exception, KeyError)


@pytest.mark.parametrize("text", [" " * 100_000, "1" * 100_000, "-" * 100_000, "\0\x01", "in 1999 " * 12_500])
@pytest.mark.parametrize("command", ["parse", "dates"])
@pytest.mark.usefixtures("linear_time")
def test_any_text_gives_an_answer_in_time(command: str, text: str) -> None:
    (row,) = rows(run(command, "--json", "-", stdin=text + "\n"))
    assert row["text"] == text


@pytest.mark.parametrize("args", [["index", "", "-o", "x"], ["index", "a", "-o", ""], ["search", "--index", "", "q"]])
def test_an_empty_path_is_wrong_usage_and_not_the_current_folder(args: list[str]) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert "the path is empty" in result.stderr
