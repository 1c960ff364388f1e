"""Parse, summary and answer through a real language model behind a real server, judged by their form, not their truth.

``MRAG_TEST_LLM`` is the server's URL, ``MRAG_TEST_LLM_MODEL`` a model's name there, else the first that it offers.
``python .ci/with_llm.py FOLDER python -m pytest tests/test_real_llm.py`` serves the model in FOLDER meanwhile, and
benchmarks/fetch_smollm.py makes such a folder.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from mrag.adapters.llm import HttpLanguageModel, connect, reachable
from mrag.answers.replies import answer_of, ask_model, sentence_of
from mrag.cli import cli
from mrag.corpus import Passage
from mrag.decompose import read
from mrag.pipeline import Ranking, rank_texts
from mrag.prompts import answer as prompts
from mrag.reader import Answer, Strategy, answer_many
from mrag.strategies import Failure
from mrag.summarize import by_model, unsupported
from mrag.timex import find_dates

URL = os.environ.get("MRAG_TEST_LLM", "")
PATIENCE = (10.0, 240.0)  # seconds: a first prompt of 2,000 tokens takes a slow processor a while

pytestmark = pytest.mark.skipif(not URL, reason="MRAG_TEST_LLM names no server: .ci/with_llm.py starts one")

PASSAGES = [
    Passage("holm", "Lise Holm was the mayor of Aalund from 1990 to 1998.", title="Lise Holm"),
    Passage("aune", "Per Aune became the mayor of Aalund in 1998. He opened the new harbour.", title="Per Aune"),
    Passage("fair", "The harvest fair of Aalund is held in August.", title="Harvest fair"),
]
QUESTION = "Who was the mayor of Aalund in 1995?"
EVENT = "Who was the mayor of Aalund when the old bridge fell down?"


@pytest.fixture(scope="module")
def name() -> str:
    """The model's name on the server."""
    found = reachable(URL)
    assert found.offer is not None, found.reason
    return os.environ.get("MRAG_TEST_LLM_MODEL") or found.offer.models[0]


@pytest.fixture
def model(name: str) -> Iterator[HttpLanguageModel]:
    """The model, asked one prompt at a time, so that the server keeps what they begin with; none may fail."""
    connected = connect(URL, name, concurrency=1, timeout=PATIENCE, tries=2)
    yield connected
    connected.close()
    assert connected.failed == 0


def ranking() -> Ranking:
    return rank_texts(QUESTION, PASSAGES)


# --- the model itself -----------------------------------------------------------------------------


def test_the_server_offers_the_model(name: str) -> None:
    found = reachable(URL)
    assert found.offer is not None and name in found.offer.models


def test_replies_come_in_the_order_of_their_prompts_and_again_the_same(name: str) -> None:
    model = connect(URL, name, concurrency=4, timeout=PATIENCE, tries=2)
    capitals = {"France": "Paris", "Italy": "Rome", "Norway": "Oslo", "Japan": "Tokyo"}
    texts = [f"What is the capital of {country}? Answer in one word." for country in capitals]
    replies = model(texts, max_tokens=16)
    for reply, capital in zip(replies, capitals.values(), strict=True):
        assert isinstance(reply, str) and capital in reply
    assert model(texts, max_tokens=16) == replies
    assert (model.asked, model.failed) == (8, 0)
    model.close()


def test_a_reply_ends_at_its_number_of_tokens_and_before_a_stop(model: HttpLanguageModel) -> None:
    prompt = "Count from 1 to 20, separated by commas."
    [short] = model([prompt], max_tokens=4)
    assert isinstance(short, str) and len(short) <= 20
    [stopped] = model([prompt], max_tokens=60, stop=["5"])
    assert isinstance(stopped, str) and "4" in stopped and "5" not in stopped


# --- parse ----------------------------------------------------------------------------------------


def test_a_question_is_taken_apart_by_the_model_or_by_the_rules_and_it_says_which(model: HttpLanguageModel) -> None:
    readings = read([QUESTION, EVENT], model=model, mode="llm")
    for reading, text in zip(readings, (QUESTION, EVENT), strict=True):
        assert reading.question.text == text and reading.reason
        said = set(text.replace("?", "").split())
        assert reading.question.main_content and set(reading.question.main_content.replace("?", "").split()) <= said
        assert all(word in text for keyword in reading.question.keywords for word in keyword.split())
        if reading.by == "rules":
            assert reading.question.keywords == () and "reply was not taken" in reading.reason
    constraint = readings[0].question.constraint
    assert constraint is not None and (constraint.interval.start_iso, constraint.interval.end_iso) == ("1995", "1995")


def test_the_model_is_asked_only_where_the_rules_are_unsure(model: HttpLanguageModel) -> None:
    readings = read([QUESTION, "Who built the mill?"], model=model)
    assert [reading.by for reading in readings] == ["rules", "rules"] and model.asked == 0


# --- summaries ------------------------------------------------------------------------------------


def test_a_summary_is_the_models_where_it_stands_in_the_passage_else_extracted(model: HttpLanguageModel) -> None:
    asked = [("Who was the mayor of Aalund?", passage) for passage in PASSAGES]
    summaries = by_model(model)(asked)
    assert len(summaries) == len(PASSAGES)
    for summary, passage in zip(summaries, PASSAGES, strict=True):
        if summary.by == "extract":
            assert summary.reason
        elif summary.text is not None:
            assert unsupported(summary.text, passage) == "" and "\n" not in summary.text


# --- answers --------------------------------------------------------------------------------------


def well_formed(answer: Answer, strategy: Strategy) -> None:
    """What holds of an answer whatever the model said."""
    assert answer.question.text == QUESTION and answer.asked == strategy
    assert answer.text is None or (answer.text == answer.text.strip() and answer.text and "\n" not in answer.text)
    assert answer.text is not None or answer.notes
    assert not any("no reply" in note for note in answer.notes)
    texts = {passage.id: passage.text for passage in PASSAGES}
    assert all(texts[evidence.passage.id] == evidence.passage.text for evidence in answer.evidence)
    dates = [fact.interval.start for fact in answer.timeline]
    assert dates == sorted(dates)
    for fact in answer.timeline:
        assert find_dates(fact.text) and unsupported(fact.text, fact.passage) == ""


@pytest.mark.parametrize("strategy", ["direct", "direct-cot", "rag-concat", "mrag-concat", "self-mrag"])
def test_each_strategy_gives_an_answer_that_says_what_it_rests_on(strategy: Strategy, model: HttpLanguageModel) -> None:
    [answer] = answer_many([ranking()], model=model, strategy=strategy, passages=2)
    well_formed(answer, strategy)
    if strategy.startswith("direct"):
        assert (answer.evidence, answer.timeline) == ((), ())
    else:
        assert answer.by == "extract" or answer.evidence or answer.notes


def test_a_dated_sentence_and_an_answer_from_a_timeline_are_read_from_the_replies(model: HttpLanguageModel) -> None:
    passage = f"{PASSAGES[0].title} | {PASSAGES[0].text}"
    asked = [
        prompts.dated_sentence("Who was the mayor of Aalund?", passage),
        prompts.from_timeline(QUESTION, [prompts.fact("1990 to 1998", "in", PASSAGES[0].text)]),
    ]
    for reply, read_from in zip(ask_model(model, 0.0, asked, 64), (sentence_of, answer_of), strict=True):
        assert isinstance(reply, str)
        said = read_from(reply)
        assert said and said == said.strip() and "\n" not in said


def test_what_the_model_knows_itself_is_told_beside_the_answer(model: HttpLanguageModel) -> None:
    [answer] = answer_many([ranking()], model=model, strategy="mrag-concat", passages=2, own_knowledge=True)
    well_formed(answer, "mrag-concat")
    assert answer.own is None or answer.own.strip()
    assert not answer.conflict or any("by itself says" in note for note in answer.notes)


def test_a_model_that_is_not_there_costs_the_answer_its_words_and_nothing_else(name: str) -> None:
    with_fault = connect(URL, f"no-{name}", tries=1)
    [reply] = with_fault(["Hello"])
    assert isinstance(reply, Failure)
    [answer] = answer_many([ranking()], model=with_fault, strategy="mrag-concat")
    with_fault.close()
    assert (answer.by, answer.text) == ("extract", PASSAGES[0].text) and answer.notes


# --- the command line -----------------------------------------------------------------------------


def test_mrag_ask_answers_and_asks_nothing_twice(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    command = ["ask", "--json", "--llm", URL, "--llm-model", name, "--strategy", "mrag-concat", "--passages", "1"]
    command += ["--no-own-knowledge", "Who was the UK prime minister as of 6 May 2021?"]
    first, second = (CliRunner().invoke(cli, command, prog_name="mrag") for _ in range(2))
    assert first.exit_code == second.exit_code == 0, first.output + second.output
    assert first.stdout == second.stdout and isinstance(json.loads(first.stdout), dict)
    assert "1 asked, 0 from the cache" in first.stderr and "0 asked, 1 from the cache" in second.stderr


def test_mrag_doctor_finds_the_server_and_the_model(name: str) -> None:
    result = CliRunner().invoke(cli, ["doctor", "--llm", URL, "--llm-model", name], prog_name="mrag")
    assert result.exit_code == 0, result.output
    assert f"{name} is there" in " ".join(result.stdout.split())
