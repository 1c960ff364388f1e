"""The commands of the tables over a small corpus: what runs, what does not and why, how a later call fills it in."""

from __future__ import annotations

import csv
import doctest
import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrag.adapters.remote_models import load_encoder
from mrag.adapters.store import Index, build
from mrag.corpus import Passage

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
Play = Callable[..., Any]

HEADS = {
    "Aalby": ("Ida Moe", 1971),
    "Bornum": ("Odd Lie", 1983),
    "Corsø": ("Ulla Dahl", 1990),
    "Drevja": ("Per Aas", 1958),
}
"""The town of each harbour board, who headed it first, and since when; the one behind came twelve years later."""


def passages() -> Iterator[Passage]:
    for town, (head, since) in HEADS.items():
        title = f"{town} harbour board"
        yield Passage(f"{town}-1", f"{head} headed the harbour board from {since} to {since + 12}.", title)
        yield Passage(f"{town}-2", f"Kari Vik headed the harbour board from {since + 12} to {since + 20}.", title)
        yield Passage(f"{town}-3", f"The board moved into a brick house in {since + 3}.", title)
        yield Passage(f"{town}-4", "The harbour is open to ships of any size.", title)


def rows(kind: str) -> list[dict[str, object]]:
    """Questions about each board: with its first year (exact), with a year inside, easy and hard ones."""
    found: list[dict[str, object]] = []
    for town, (head, since) in HEADS.items():
        times = {
            "perturbed": {1: f"in {since}", 0: f"as of May {since + 5}"},
            "easy": {None: f"from {since} to {since + 12}"},
            "hard": {None: f"between March {since + 2} and {since + 6}"},
        }
        for exact, when in times[kind].items():
            row = {
                "id": f"{town}#{kind}{'' if exact is None else exact}",
                "question": f"Who headed the {town} harbour board {when}?",
                "answers": [head],
                "gold_passages": [f"{town}-1"],
                "fact": town,
            }
            found.append(row if exact is None else {**row, "exact": exact})
    return found


def write_lines(path: Path, found: Sequence[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Perturbed, easy and hard questions, and an index without vectors."""
    made = tmp_path_factory.mktemp("harbours")
    for kind in ("perturbed", "easy", "hard"):
        write_lines(made / f"dev_{kind}.jsonl", rows(kind))
    build(passages(), made / "words.index")
    return made


@dataclass
class Told:
    """What a command gave: its exit status, and what it printed."""

    status: int
    out: str
    err: str

    def row(self, *cells: str, under: str = "") -> list[str]:
        """The first row, behind the heading ``under``, that begins with these cells."""
        for line in self.out[self.out.index(under) :].splitlines():
            found = [cell.strip() for cell in line.strip("|").split(" |")]
            if found[: len(cells)] == list(cells):
                return found
        raise AssertionError(f"no row {cells} in\n{self.out}\n{self.err}")


Command = Callable[..., Told]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command of benchmarks/ by its name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("MRAG_LLM_URL", "OPENAI_BASE_URL", "MRAG_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)

    def run(name: str, *options: object) -> Told:
        capsys.readouterr()
        status = importlib.import_module(name).main([str(option) for option in options])
        return Told(status, *capsys.readouterr())

    return run


# --- a server with an encoder, a reranker and a language model ----------------------------------------------------


def letters(text: str) -> list[float]:
    """Counts of letters: texts that share letters lie near each other."""
    counts = [1.0] * 24
    for char in text.lower():
        counts[ord(char) % 24] += 1
    return counts


def models(exchange: Any) -> None:
    """Vectors by letters, scores by shared words, and a reader that names whoever stands first in what it reads."""
    asked = exchange.asked.body
    if asked is None:
        return exchange.say({"object": "list", "data": [{"id": "toy"}]})
    if exchange.asked.path.endswith("/embeddings"):
        found = [{"index": at, "embedding": letters(text)} for at, text in enumerate(asked["input"])]
        return exchange.say({"data": found, "model": "toy"})
    if exchange.asked.path.endswith("/rerank"):
        words = asked["query"].lower().strip("?").split()
        scores = [sum(word in text.lower() for word in words) / len(words) for text in asked["documents"]]
        found = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
        return exchange.say({"results": found})
    prompt = asked["messages"][0]["content"].rsplit("\n\n", 1)[-1]  # behind the examples
    heads = [head for head, _ in HEADS.values() if head in prompt]
    message = {"role": "assistant", "content": heads[0] if heads else "Kari Vik"}
    return exchange.say({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


@pytest.fixture
def served(play: Play) -> str:
    """The address of such a server."""
    url: str = play(models).url
    return f"{url}/v1"


def vectors_of(folder: Path, served: str) -> Path:
    """An index with the server's vectors."""
    path = folder / f"vectors-{served.split(':')[-1].split('/')[0]}.index"
    build(passages(), path, encoder=load_encoder(f"{served}#toy", {}), vectors="sentences")
    return path


# --- Table 2 --------------------------------------------------------------------------------------------------


def test_a_row_whose_model_is_not_given_says_what_it_needs(command: Command, folder: Path) -> None:
    told = command("table2", folder, "--index", folder / "words.index")
    assert told.status == 0
    bm25 = told.row("BM25", "-", "-", under="### perturbed")
    assert "[" in bm25[3] and bm25[4] == "17.5"
    gemma = told.row("Contriever", "Gemma", "-", under="### perturbed")
    assert gemma[3:5] == ["-", "46.7"] and gemma[-1] == "not run: needs --encoder contriever=… --reranker gemma=…"
    summed = told.row("Contriever", "MRAG as in the paper (Gemma)", "10")
    assert summed[-1].endswith("--reranker gemma=… --llm URL --llm-model NAME")


def test_the_paper_stands_beside_with_what_differs(command: Command, folder: Path) -> None:
    told = command("table2", folder, "--index", folder / "words.index")
    perturbed, hard = told.out.split("### hard")
    assert "TempRAGEval-TimeQA over Wikipedia" in perturbed and "rows can be compared with each other" in perturbed
    assert "The paper has no figures for such questions." in hard
    assert told.row("BM25", "-", "-", under="### hard")[4] == "-"


def test_a_later_call_fills_rows_in_and_forgets_none(
    command: Command, folder: Path, served: str, tmp_path: Path
) -> None:
    index, results = vectors_of(folder, served), tmp_path / "results"
    first = command("table2", folder, "--index", index, "-o", results)
    assert first.row("Contriever", "-", "-")[-1] == "not run: needs --encoder contriever=…"
    given = [f"--encoder=contriever={served}#toy", f"--reranker=gemma={served}#toy"]
    second = command("table2", folder, "--index", index, *given, "-o", results)
    assert second.row("Contriever", "-", "-")[-1] == ""
    assert "[" in second.row("Contriever", "Gemma", "-")[3]
    assert "[" in second.row("Contriever", "MRAG as in the paper (Gemma)", "-")[3]
    assert second.row("Contriever", "Jina", "-")[-1] == "not run: needs --reranker jina=…"
    assert second.row("BM25", "-", "-") == first.row("BM25", "-", "-")
    later = command("table2", folder, "--index", index, "-o", results)
    assert later.row("Contriever", "Gemma", "-") == second.row("Contriever", "Gemma", "-")
    record = json.loads((results / "table2.json").read_text(encoding="utf-8"))
    by_name = {row["row"]: row for row in record["sets"][0]["rows"]}
    assert by_name["Contriever | Gemma | -"]["paper"] == [46.7, 82.5, 26.0, 66.6]
    assert by_name["Contriever | Jina | -"]["not run"]
    assert 0 <= by_name["BM25 | - | -"]["figures"]["AR@1"]["value"] <= 1
    assert (results / "table2.md").read_text(encoding="utf-8") == later.out


def test_models_under_other_names_have_rows_of_their_own(
    command: Command, folder: Path, served: str, tmp_path: Path
) -> None:
    options = [folder, "--index", vectors_of(folder, served), "-o", tmp_path / "results"]
    told = command("table2", *options, f"--encoder=toy={served}#toy", f"--reranker={served}#mine")
    for first, second in (
        ("toy", "-"),
        ("toy", "mine"),
        ("toy", "MRAG as in the paper (toy)"),
        ("hybrid, toy", "MRAG (toy)"),
    ):
        assert "[" in told.row(first, second, "-")[3]
    assert "[" in told.row("hybrid, toy", "MRAG (mine)", "-")[3]
    assert "[" in command("table2", *options).row("toy", "mine", "-")[3]


def test_an_encoder_of_another_index_is_a_row_that_says_so(command: Command, folder: Path, served: str) -> None:
    told = command("table2", folder, "--index", folder / "words.index", f"--encoder=toy={served}#toy")
    assert told.status == 0 and "holds no vectors" in told.row("toy", "-", "-")[-1]


def test_each_encoder_may_have_an_index_of_its_own(command: Command, folder: Path, served: str) -> None:
    index = f"--index=toy={vectors_of(folder, served)}"
    told = command("table2", folder, "--index", folder / "words.index", index, f"--encoder=toy={served}#toy")
    assert "[" in told.row("toy", "-", "-")[3]


def test_other_questions_in_the_same_results_are_refused(command: Command, folder: Path, tmp_path: Path) -> None:
    options = [folder / "dev_hard.jsonl", "--index", folder / "words.index", "-o", tmp_path / "results"]
    assert command("table2", *options).status == 0
    told = command("table2", *options, "--sample", 2)
    assert told.status == 1 and "made otherwise (questions: 4 " in told.err


def test_temprageval_has_a_table_for_each_of_its_sources(command: Command, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "TempRAGEval.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(
            "id question answer gold_evidence_1 gold_evidence_2 exact_time original_dataset time_relation".split()
        )
        for at, (town, (head, since)) in enumerate(HEADS.items()):
            gold = f"{head} headed the harbour board from {since} to {since + 12}."
            source = "timeqa" if at % 2 else "situatedqa"
            for exact, when in ((1, f"in {since}"), (0, f"as of {since + 5}")):
                question = f"Who headed the {town} harbour board {when}?"
                writer.writerow([f"{at}-{exact}", question, head, gold, "", exact, source, when.rsplit(" ", 1)[0]])
    told = command("table2", path, "--index", folder / "words.index")
    assert told.row("BM25", "-", "-", under="### timeqa perturbed")[4] == "17.5"
    assert told.row("BM25", "-", "-", under="### situatedqa perturbed")[4] == "27.6"
    assert "2 questions about 2 facts" in told.out
    lost = command("figure2", path, "--index", folder / "words.index")
    assert "## Figure 2: situatedqa original → situatedqa perturbed" in lost.out
    pages = command("long_document", path, "--index", folder / "words.index")
    assert "2 of 2 questions have their page here, of 4 passages" in pages.out


# --- Figures 2 and 6 ------------------------------------------------------------------------------------------


def test_a_loss_is_that_of_the_facts_that_both_sides_ask_for(command: Command, folder: Path, tmp_path: Path) -> None:
    asked = tmp_path / "set"
    asked.mkdir()
    lonely = {**rows("perturbed")[0], "id": "lonely", "fact": "another", "exact": 0, "answers": ["Nobody"]}
    write_lines(asked / "dev_perturbed.jsonl", [*rows("perturbed"), lonely])
    told = command("figure2", asked, "--index", folder / "words.index", "-o", tmp_path / "results")
    assert "4 original and 4 perturbed questions about 4 facts that both ask for." in told.out
    record = json.loads((tmp_path / "results" / "figure2.json").read_text(encoding="utf-8"))
    figures = record["pairs"][0]["measures"]["AR@1"]
    ours, bm25 = figures["MRAG, words"], figures["BM25"]
    assert ours["change"]["value"] == pytest.approx(ours["perturbed"]["value"] - ours["original"]["value"])
    apart = ours["change"]["value"] - bm25["change"]["value"]
    assert bm25["MRAG, words"]["value"] == pytest.approx(apart)
    assert bm25["change"]["low"] <= bm25["change"]["value"] <= bm25["change"]["high"]
    assert "not run" in figures["Contriever + Gemma"]


def test_the_papers_loss_stands_below_and_easy_to_hard_is_a_pair(command: Command, folder: Path) -> None:
    told = command("figure2", folder, "--index", folder / "words.index")
    headline = told.row("the paper's Contriever + Gemma, TempRAGEval-SituatedQA over Wikipedia")
    assert headline[1:4] == ["85.8", "54.7", "-31.1"]
    assert "## Figure 2: easy → hard" in told.out


def test_a_set_without_original_questions_has_no_loss(command: Command, folder: Path) -> None:
    told = command("figure2", folder / "dev_hard.jsonl", "--index", folder / "words.index")
    assert told.status == 0 and "not run: no fact is asked for by an original question, too" in told.out


def test_charts_are_drawn(command: Command, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    index = ["--index", folder / "words.index"]
    for name, options in {
        "figure2": [folder, *index],
        "robustness": [folder / "dev_hard.jsonl", *index],
        "figure5": [],
        "figure7": [],
    }.items():
        picture = tmp_path / f"{name}.svg"
        assert command(name, *options, "--plot", picture).status == 0
        assert picture.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_without_matplotlib_the_error_names_the_extra(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    told = command("figure7", "--plot", tmp_path / "curve.png")
    assert told.status == 1 and "pip install 'mrag[plot]'" in told.err and not told.out


# --- Figures 5 and 7 ------------------------------------------------------------------------------------------


def test_the_similarity_goes_with_the_date_for_every_relation(command: Command, served: str, tmp_path: Path) -> None:
    options = [f"--encoder=toy={served}#toy", f"--reranker=minilm={served}#toy", "-o", tmp_path]
    told = command("figure5", *options)
    assert "not run: needs --encoder contriever=…" in told.out and "### MiniLM reranker" in told.out
    record = json.loads((tmp_path / "figure5.json").read_text(encoding="utf-8"))
    words = record["models"]["MRAG, words"]
    assert len(words) == 11 and all(len(scores["the same day"]) == 9 for scores in words.values())
    before, after = words["before"]["another day"], words["after"]["another day"]
    assert before[3] > before[5] and after[5] > before[5]  # a year before, and a year after what is asked
    apart = np.ptp([scores["another day"][-1] for scores in record["models"]["toy (encoder)"].values()])
    assert apart < np.ptp([scores["another day"][-1] for scores in words.values()])


def test_a_template_without_its_places_is_refused(command: Command) -> None:
    told = command("figure5", "--question", "Who headed the board?")
    assert told.status == 1 and "{when}" in told.err


def test_the_papers_curves_are_those_of_its_figure_7(command: Command, tmp_path: Path) -> None:
    told = command("figure7", "-o", tmp_path)
    assert told.row("paper", under="### last - before - 1981")[6] == "0.92"  # 1971
    [first, *_] = json.loads((tmp_path / "figure7.json").read_text(encoding="utf-8"))["curves"]
    assert first["paper"][first["years"].index(1970)] == 0.912
    assert command("figure7", "Who headed the board?").status == 1


# --- Table 3 and long documents -------------------------------------------------------------------------------


def test_readers_that_are_not_there_are_rows_with_the_papers_figures(command: Command, folder: Path) -> None:
    told = command("table3", folder, "--index", folder / "words.index")
    assert told.row("Llama-3.1-8B", "self-mrag", "5")[3:8] == ["-", "54.2", "-", "65.6", "5"]
    assert told.row("TIMO", "rag-concat", "3")[-1] == "not run: needs --llm URL --llm-model TIMO"
    assert "### original and perturbed" in told.out and "### hard" in told.out


def test_a_reader_answers_and_its_rows_stay(command: Command, folder: Path, served: str, tmp_path: Path) -> None:
    options = [folder / "dev_perturbed.jsonl", "--index", folder / "words.index", "-o", tmp_path / "results"]
    told = command("table3", *options, "--llm", served, "--llm-model", "Llama-3.1-8B-Instruct", "--passages", "1,3")
    assert told.status == 0
    for strategy, count in (("direct", "-"), ("rag-concat", "1"), ("mrag-concat", "3"), ("self-mrag", "3")):
        row = told.row("Llama-3.1-8B", strategy, count)
        assert "[" in row[3] and "[" in row[5] and row[-1] == ""
    assert float(told.row("Llama-3.1-8B", "mrag-concat", "1")[3].split()[0]) > 50
    later = command("table3", *options, "--passages", "1,3")
    assert later.row("Llama-3.1-8B", "mrag-concat", "1") == told.row("Llama-3.1-8B", "mrag-concat", "1")
    assert (tmp_path / "results" / "replies").is_dir()


def test_what_a_language_model_owes_is_no_figure_and_is_asked_again(
    command: Command, folder: Path, play: Play, tmp_path: Path
) -> None:
    played = play(lambda exchange: exchange.say({"error": "not you"}, 401))
    options = [folder / "dev_hard.jsonl", "--index", folder / "words.index", "-o", tmp_path / "results"]
    named = ["--llm", f"{played.url}/v1", "--llm-model", "toy"]
    told = command("table3", *options, *named)
    assert told.status == 0
    assert told.row("toy", "direct", "-")[-1] == "not run: the language model owed replies, 4 of the questions are left"
    played.answer = models
    assert "[" in command("table3", *options, *named).row("toy", "direct", "-")[3]


def test_summaries_of_a_language_model_have_a_row_of_their_own(command: Command, folder: Path, served: str) -> None:
    options = [folder / "dev_hard.jsonl", "--index", folder / "words.index", "--llm", served, "--llm-model", "toy"]
    told = command("table2", *options)
    assert "[" in told.row("BM25", "MRAG (words)", "5 (toy)")[3]


def test_the_whole_page_is_read_beside_what_is_found(
    command: Command, folder: Path, served: str, tmp_path: Path
) -> None:
    options = [folder, "--index", folder / "words.index", "-o", tmp_path / "results"]
    told = command("long_document", *options, "--llm", served, "--llm-model", "toy", "--passages", "1")
    whole = told.row("toy", "whole page, at most 200 passages")
    assert "[" in whole[2] and "[" in told.row("toy", "self-mrag, 1 passages")[2]
    [run] = (tmp_path / "results" / "runs").glob("perturbed-with-pages.*page*")
    first = json.loads((run / "run.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["ranking"] == [f"Aalby-{at}" for at in (1, 2, 3, 4)]


# --- Table 4 --------------------------------------------------------------------------------------------------


def test_statistics_that_need_a_file_are_not_run_without_it(command: Command, folder: Path, tmp_path: Path) -> None:
    told = command("table4", folder)
    assert told.row("# perturbed questions")[1:] == ["4", "377"]
    assert told.row("tokens a question")[1:] == ["not run: needs --tokenizer tokenizer.json", "15.2"]
    views = tmp_path / "views.csv"
    views.write_text('title,views\nAalby harbour board,100\nBornum harbour board,"1,300"\n', encoding="utf-8")
    tokenizer = tmp_path / "tokenizer.json"
    words = pytest.importorskip("tokenizers")
    made = words.Tokenizer(words.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = words.pre_tokenizers.WhitespaceSplit()
    made.save(str(tokenizer))
    told = command("table4", folder, "--tokenizer", tokenizer, "--page-views", views, "--index", folder / "words.index")
    assert told.row("tokens a question")[1] == told.row("words a question")[1]
    assert told.row("page views a month of what is asked about")[1:] == ["700", "7,456"]
    assert told.row("# questions with page views")[1] == "4"


@pytest.mark.parametrize(
    ("content", "said"),
    [("page,count\na,1\n", 'no columns "views"'), ("id,views\na,many\n", ":2: 'many' is no number of views")],
)
def test_page_views_that_cannot_be_read_are_named(
    command: Command, folder: Path, tmp_path: Path, content: str, said: str
) -> None:
    views = tmp_path / "views.csv"
    views.write_text(content, encoding="utf-8")
    told = command("table4", folder, "--page-views", views)
    assert told.status == 1 and said in told.err


# --- ablation, robustness, overhead ----------------------------------------------------------------------------


def test_the_ablation_takes_each_stage_away(command: Command, folder: Path, tmp_path: Path) -> None:
    told = command("ablation", folder, "--index", folder / "words.index", "--only", "stages", "-o", tmp_path)
    assert len(told.row("defaults")) == 11 and told.row("no temporal score")[1].startswith(("+", "-"))
    rows_ = json.loads((tmp_path / "ablation-words.json").read_text(encoding="utf-8"))["rows"]
    ours, timeless = rows_["defaults"]["sets"]["perturbed"], rows_["no temporal score"]["sets"]["perturbed"]
    plain = json.loads((tmp_path / "runs" / "perturbed.plain.bm25" / "how.json").read_text(encoding="utf-8"))
    assert plain["how"]["temporal"] is False
    assert ours["AR@1"]["value"] == 1 and timeless["AR@1"]["value"] <= 0


def test_the_ablation_of_vectors_has_their_stages(command: Command, folder: Path, served: str) -> None:
    options = [folder / "dev_hard.jsonl", "--index", vectors_of(folder, served), f"--encoder=toy={served}#toy"]
    told = command("ablation", *options, "--only", "stages", "--only", "sizes")
    assert told.row("no vectors of sentences")[-1] != "" and told.row("extracts of 5 passages")
    assert "sentence keyword rank" not in told.out and "sentences 200" not in told.out  # vectors score all of them
    told = command("ablation", *options, f"--reranker=mine={served}#toy", "--only", "stages", "--only", "sizes")
    assert "## Ablation: toy-mine" in told.out
    assert told.row("no sentence keyword rank") and told.row("sentences 200 → 100")


def test_every_constant_has_a_row(command: Command, folder: Path) -> None:
    told = command("ablation", folder / "dev_hard.jsonl", "--index", folder / "words.index", "--only", "constants")
    from mrag.settings import LEXICAL
    from mrag.spline import PROFILE

    assert told.row(f"mix.page {LEXICAL.page:g} → 0")
    assert told.row(f"spline.memory {PROFILE.memory:g} → {1.5 * PROFILE.memory:.3g}")


def test_robustness_shows_every_k_and_every_size(command: Command, folder: Path) -> None:
    told = command("robustness", folder / "dev_hard.jsonl", "--index", folder / "words.index")
    recall = [float(cell.split()[0]) for cell in told.row("MRAG, words", under="### AR@k")[1:9]]
    assert recall == sorted(recall)
    assert told.row("defaults", under="### Sizes of the stages: MRAG, words")
    assert told.row("passages 100 → 200")[1] == "+0.0 [+0.0, +0.0]"


def test_overhead_times_every_stage(
    command: Command, folder: Path, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = vectors_of(folder, served)
    command("figure7")  # so that benchmarks/ can be imported from
    overhead = importlib.import_module("overhead")
    monkeypatch.setattr(overhead, "load_encoder", lambda name: load_encoder(f"{served}#toy", {}))
    monkeypatch.setattr(overhead, "resolve", lambda name: name)
    told = command("overhead", folder / "dev_hard.jsonl", "--index", index, "--encoder", "toy", "--number", 2)
    assert told.row("plain dense")[2] == "1.00"
    assert all(float(told.row(stage)[1]) >= 0 for stage in overhead.STAGES)


# --- the frame ------------------------------------------------------------------------------------------------


def test_a_sample_is_of_facts_and_keeps_both_sides(command: Command, folder: Path) -> None:
    told = command("figure2", folder, "--index", folder / "words.index", "--sample", 3, "--seed", 7)
    assert "3 original and 3 perturbed questions about 3 facts" in told.out


def test_what_is_stopped_is_kept_and_gone_on_with(
    command: Command, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [folder / "dev_hard.jsonl", "--index", folder / "words.index", "-o", tmp_path]
    whole = command("table2", *options[:3])
    harness = importlib.import_module("harness")
    monkeypatch.setattr(harness, "_BATCH", 1)
    asked: list[object] = []
    search = Index.search_many

    def stopping(self: Index, *args: Any, **rest: Any) -> Any:
        asked.append(args)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return search(self, *args, **rest)

    monkeypatch.setattr(Index, "search_many", stopping)
    told = command("table2", *options)
    assert told.status == 130 and "the same command goes on" in told.err
    assert len((tmp_path / "runs" / "dev_hard.plain.bm25" / "run.jsonl").read_text().splitlines()) == 2
    again = command("table2", *options)
    assert again.out.splitlines()[2:] == whole.out.splitlines()[2:]


def test_errors_are_messages(command: Command, folder: Path, tmp_path: Path) -> None:
    assert command("table2", folder, "--index", tmp_path).status == 1
    told = command("table2", tmp_path, "--index", folder / "words.index")
    assert told.status == 1 and "no file ends in perturbed.jsonl" in told.err
    assert "--index DIR" in command("table2", folder).err


def test_the_commands_are_scripts_with_help() -> None:
    shown = subprocess.run(
        [sys.executable, str(BENCHMARKS / "table2.py"), "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "--reranker [NAME=]MODEL" in shown and "Table 2" in shown


@pytest.mark.parametrize("name", ["paper", "systems", "tables"])
def test_examples_hold(command: Command, name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0
