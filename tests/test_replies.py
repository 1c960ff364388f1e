"""Replies of models: the answer in them, yes or no, a sentence, and whether they admit that they do not know."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.answers.replies import (
    ADMISSIONS,
    MOST_ANSWER,
    MOST_SENTENCE,
    admits_nothing,
    agree,
    answer_of,
    ask_model,
    sentence_of,
    why,
    yes_or_no,
)
from mrag.strategies import Failure


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Ida Moe", "Ida Moe"),
        (" Ida Moe.\n", "Ida Moe"),
        ('"Ida Moe."', "Ida Moe"),
        ("“Ida Moe”.", "Ida Moe"),
        ("**Ida Moe**", "Ida Moe"),
        ("- `Ida Moe`", "Ida Moe"),
        ("```\nIda Moe\n```", "Ida Moe"),
        ("```text\nIda Moe\n```", "Ida Moe"),
        ("Answer: Ida Moe", "Ida Moe"),
        ("**Answer:** Ida Moe", "Ida Moe"),
        ("Answer:\nIda Moe", "Ida Moe"),
        ("The final answer is: Ida Moe", "Ida Moe"),
        ("The answer is Ida Moe.", "Ida Moe"),
        ("The answer to the question is: Ida Moe", "Ida Moe"),
        ("Based on the passages.\n\nAnswer: Ida Moe", "Ida Moe"),
        ("Ida Moe\n\nShe led the club from 1999 on.", "Ida Moe"),
        ("Ida Moe\n\nQuestion: Who led it in 1950?\nAnswer: Odd Lie", "Ida Moe"),
        ("Ida Moe\nExample 11\nAnswer: Odd Lie", "Ida Moe"),
        ("Question: Who led it in 2003?\nAnswer: Ida Moe", "Ida Moe"),
        ("<think>Odd Lie? No.\nAnswer: Odd Lie</think>\nIda Moe", "Ida Moe"),
        ("<think>Odd Lie, or perhaps", ""),
        ("Harker & Sons Inc.", "Harker & Sons Inc."),
        ("the U.S.", "the U.S."),
        ('"Heroes" by Odd Lie', '"Heroes" by Odd Lie'),
        ("-5", "-5"),
        ("1999.", "1999"),
        ("Ida\x1b[2J Moe\x00", "Ida [2J Moe"),
        ("Ida\u202e Moe", "Ida Moe"),
        ("__import__('os').abort()", "import__('os').abort()"),  # text, whatever it looks like
        ("", ""),
        ("\n \n", ""),
        ("***", ""),
    ],
)
def test_the_answer_of_a_reply(reply: str, answer: str) -> None:
    assert answer_of(reply) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Moe led it from 1999 to 2006.\nAnswer: Ida Moe", "Ida Moe"),
        ("Answer: Odd Lie? No, he left in 1998.\nSo the answer: Ida Moe", "Ida Moe"),
        ("Moe led it from 1999 to 2006.\nIda Moe", "Ida Moe"),
        ("Moe led it. Therefore, the answer is Ida Moe.", "Ida Moe"),
        ("Moe led it.\n**Answer: Ida Moe**", "Ida Moe"),
        ("Moe led it.\nAnswer: Ida Moe\n\nQuestion: Who led it?\nReasoning: Lie.\nAnswer: Odd Lie", "Ida Moe"),
    ],
)
def test_the_answer_behind_reasoning_is_the_last_one(reply: str, answer: str) -> None:
    assert answer_of(reply, reasoned=True) == answer


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("yes", True),
        ("No.", False),
        ("**Yes**, the passage says it.", True),
        ("Answer: no", False),
        ("\n\nYES\nQuestion: Who?\nAnswer: no", True),
        ("Let me see.\nNo, it is about the mill.", False),
        ("yes or no", None),
        ("Perhaps.", None),
        ("Yesterday I did not know", None),
        ("", None),
    ],
)
def test_yes_or_no(reply: str, says: bool | None) -> None:
    assert yes_or_no(reply) is says


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ("Ida Moe led the club in 1999.", "Ida Moe led the club in 1999."),
        ("Sentence: Ida Moe led the club in 1999.\nShe left.", "Ida Moe led the club in 1999."),
        ('Here is the sentence:\n"Ida Moe led the club in 1999."', "Ida Moe led the club in 1999."),
        ("- Ida Moe led the club in 1999.", "Ida Moe led the club in 1999."),
        ("The club could not find a home in 1999.", "The club could not find a home in 1999."),
        ("None", ""),
        ("None of this is in the passage.", ""),
        ("Unknown.", ""),
        ("", ""),
    ],
)
def test_the_sentence_of_a_reply(reply: str, sentence: str) -> None:
    assert sentence_of(reply) == sentence


@pytest.mark.parametrize("example", [example for _, example in ADMISSIONS])
def test_each_admission_is_there_for_a_reply(example: str) -> None:
    assert admits_nothing(example)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Unknown",
        "unknown (the passages are of a later time)",
        "It is unknown",
        "The answer is not mentioned in the passages",
        "not specified",
        "It isn't given",
        "I don’t know",
        "I do not know who led it",
        "I'm not sure",
        "No information is available",
        "There is no mention of a mayor",
        "There is not enough information",
        "The text does not contain the name",
        "The passages don't explicitly mention who it was",
        "cannot be determined",
        "It can't be determined from the facts",
        "I could not find the answer",
        "I am unable to answer that",
        "It is impossible to say",
        "None",
        "n/a",
    ],
)
def test_a_reply_that_does_not_know(answer: str) -> None:
    assert admits_nothing(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The Unknown Soldier",
        "The Man Who Knew Too Much",
        "No",
        "Nobody",
        "No Country for Old Men",
        "Nonesuch Press",
        "Knott",
        "Clear Lake",
        "four",
        "Ida Moe, not Odd Lie",
        "Tell Me No Lies",
        "Unknown Pleasures",
    ],
)
def test_an_answer_that_only_looks_like_it(answer: str) -> None:
    assert not admits_nothing(answer)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ida Moe", "ida moe.", True),
        ("The Club", "club", True),
        ("Ida Moe", "Moe", True),
        ("from 1999", "1999", True),
        ("Ida Moe", "Ida Moen", False),
        ("Moe", "Lie", False),
        ("the", "a", True),  # nothing is left of either
        ("the", "Moe", False),
    ],
)
def test_answers_agree_where_one_holds_the_other(one: str, other: str, same: bool) -> None:
    assert agree(one, other) is same
    assert agree(other, one) is same


@given(st.text(max_size=400), st.booleans())
def test_any_reply_is_read(reply: str, reasoned: bool) -> None:
    answer, sentence = answer_of(reply, reasoned=reasoned), sentence_of(reply)
    assert len(answer) <= MOST_ANSWER
    assert len(sentence) <= MOST_SENTENCE
    assert answer.isprintable() or not answer.isascii()
    assert "\n" not in answer + sentence
    yes_or_no(reply)
    admits_nothing(answer)


@pytest.mark.parametrize(
    "reply",
    [
        "*" * 300_000,
        "answer " * 50_000,
        "\n" * 300_000,
        "`" * 300_000,
        "not " * 90_000,
        "<think>" * 50_000,
        '"' * 300_000,
    ],
)
def test_a_huge_reply_is_read_in_bounds(reply: str) -> None:
    assert len(answer_of(reply, reasoned=True)) <= MOST_ANSWER
    assert len(sentence_of(reply)) <= MOST_SENTENCE
    yes_or_no(reply)


def test_a_model_is_asked_once_and_each_prompt_gets_something() -> None:
    calls: list[list[str]] = []

    def short(prompts, *, max_tokens=0, temperature=0.0, stop=()):  # type: ignore[no-untyped-def]
        calls.append(list(prompts))
        return ["Ida Moe", 7]

    replies = ask_model(short, 0.0, ["a", "b", "c"], 10)
    assert replies == ["Ida Moe", Failure("the reply is no text"), Failure("the model left it out")]
    assert ask_model(short, 0.0, [], 10) == []
    assert calls == [["a", "b", "c"]]


def test_a_reason_is_part_of_a_sentence() -> None:
    assert why(Failure("localhost: cannot\nbe reached.")) == "localhost: cannot be reached"
    assert len(why(Failure("x" * 5_000))) <= 200
