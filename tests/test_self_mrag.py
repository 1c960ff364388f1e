"""Self-MRAG's reading: which passages are kept, which sentences become facts, and what is noted of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from mrag.answers.replies import Ask
from mrag.answers.self_mrag import READ_NOTHING, Passages, Told, tell
from mrag.corpus import Passage
from mrag.pipeline import rank_texts
from mrag.strategies import Failure

MAYORS = [
    Passage("moe", "Ida Moe was mayor of Lund from 1999 to 2006.", "Ida Moe"),
    Passage("aas", "Kari Aas became mayor of Lund in 2014.", "Kari Aas"),
    Passage("hall", "The town hall of Lund was painted in 2003.", "Town hall"),
]
QUESTION = "Who was mayor of Lund in 2003?"
SENTENCES = {
    "moe": "Ida Moe was mayor of Lund from 1999 to 2006.",
    "aas": "Kari Aas became mayor of Lund in 2014.",
    "hall": "The town hall of Lund was painted in 2003.",
}


def read(*passages: Passage, question: str = QUESTION) -> tuple[object, Passages]:
    ranking = rank_texts(question, passages)
    by_id = {evidence.passage.id: evidence for evidence in ranking.evidence}
    return ranking.question, tuple(by_id[passage.id] for passage in passages)


def which(prompt: str) -> str:
    """The passage that a prompt is about."""
    last = prompt.rsplit("<passage>", 1)[1]
    return next(passage.id for passage in MAYORS if last.startswith(passage.title))


def asking(
    grade: Callable[[str], str | Failure] = lambda _: "yes",
    sentence: Callable[[str], str | Failure] = SENTENCES.__getitem__,
    calls: list[list[str]] | None = None,
) -> Ask:
    """A model that grades and tells by the id of a passage."""

    def ask(prompts: Sequence[str], most: int) -> list[str | Failure]:
        if calls is not None and prompts:
            calls.append(list(prompts))
        return [(sentence if prompt.endswith("Sentence:") else grade)(which(prompt)) for prompt in prompts]

    return ask


def told(ask: Ask, *passages: Passage) -> Told:
    [found] = tell(ask, [read(*passages)])  # type: ignore[list-item]
    return found


def test_relevant_passages_become_facts_in_the_order_of_time() -> None:
    found = told(asking(grade=lambda name: "no" if name == "hall" else "yes"), *reversed(MAYORS))
    assert [(str(fact.interval), fact.passage.id) for fact in found.facts] == [("1999..2006", "moe"), ("2014", "aas")]
    assert [evidence.passage.id for evidence in found.passages] == ["aas", "moe"]
    assert found.notes == ()


def test_two_calls_serve_all_questions() -> None:
    calls: list[list[str]] = []
    pairs = [read(*MAYORS), read(MAYORS[0], question="Who was mayor of Lund in 1950?"), read()]
    found = tell(asking(calls=calls), pairs)  # type: ignore[arg-type]
    assert [len(prompts) for prompts in calls] == [4, 4]
    assert [len(each.facts) for each in found] == [3, 1, 0]
    assert found[2] == READ_NOTHING


def test_grades_and_sentences_are_asked_for_without_the_time() -> None:
    calls: list[list[str]] = []
    told(asking(calls=calls), MAYORS[0])
    for [prompt] in calls:
        assert "Question: Who was mayor of Lund?" in prompt.rsplit("Now the one", 1)[1]


def test_where_no_passage_is_relevant_that_is_noted() -> None:
    found = told(asking(grade=lambda _: "no"), *MAYORS)
    assert found == Told(notes=("of the passages read (3) none says what is asked, the model found",))


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        (Failure("too busy."), "1 of 3 passages could not be graded and were kept: too busy"),
        ("perhaps", "1 of 3 passages could not be graded and were kept: the reply was neither yes nor no"),
    ],
)
def test_a_passage_that_could_not_be_graded_is_kept(reply: str | Failure, note: str) -> None:
    found = told(asking(grade=lambda name: reply if name == "moe" else "no"), *MAYORS)
    assert [fact.passage.id for fact in found.facts] == ["moe"]
    assert found.notes == (note,)


def test_where_no_passage_could_be_graded_no_sentence_is_asked_for() -> None:
    calls: list[list[str]] = []
    found = told(asking(grade=lambda _: Failure("it is gone"), calls=calls), *MAYORS)
    assert found == Told(notes=("no passage could be graded: it is gone",))
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("sentence", "note"),
    [
        ("Ida Moe was mayor of Lund.", "it names no date"),
        ("Ida Moe was mayor of Lund in 1999" + " and again" * 21 + ".", "it has 50 words or more"),
        ("Ida Moe was mayor of Lund in 1987.", "1987"),
        ("Jon Falk was mayor of Lund in 1999.", "Jon"),
    ],
)
def test_a_sentence_is_left_out_that_breaks_a_rule(sentence: str, note: str) -> None:
    found = told(asking(sentence=lambda name: sentence if name == "moe" else SENTENCES[name]), *MAYORS[:2])
    assert [fact.passage.id for fact in found.facts] == ["aas"]
    [said] = found.notes
    assert said.startswith("passage moe: the sentence was left out: ")
    assert note in said


def test_a_sentence_of_49_words_is_kept() -> None:
    sentence = "Ida Moe was mayor of Lund from 1999 to 2006" + " and painted" * 19 + " mills."
    assert len(sentence.split()) == 49
    passage = Passage("moe", "Ida Moe was mayor of Lund from 1999 to 2006 and painted mills.", "Ida Moe")
    assert [fact.text for fact in told(asking(sentence=lambda _: sentence), passage).facts] == [sentence]


def test_none_is_no_fact_and_no_fault() -> None:
    found = told(asking(sentence=lambda name: "None" if name == "hall" else SENTENCES[name]), *MAYORS)
    assert [fact.passage.id for fact in found.facts] == ["moe", "aas"]
    assert found.notes == ()


def test_without_a_dated_fact_that_is_noted() -> None:
    found = told(asking(sentence=lambda _: "None"), *MAYORS)
    assert found == Told(notes=("no dated fact came of the passages that were kept",))


def test_a_sentence_that_was_not_written_gives_way_to_the_deciding_one() -> None:
    found = told(asking(sentence=lambda _: Failure("cut off")), MAYORS[0])
    assert [(str(fact.interval), fact.text) for fact in found.facts] == [("1999..2006", MAYORS[0].text)]
    assert found.notes == ("passage moe: no sentence was written (cut off): its deciding sentence was taken",)
