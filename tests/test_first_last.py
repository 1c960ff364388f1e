"""Where "first" and "last" go in a question, and which questions they stay out of."""

import pytest

from mrag.contrast.first_last import with_condition
from mrag.question import parse
from mrag.questions.implicit import Condition

PLACES = [  # the | is where the word goes
    "Which team did Ida Moe | play for?",
    "In which town did the painter Odd Lie | work?",
    "Where did the author of the work | live?",
    "What rank did Siv Berg | officially hold?",
    "Where was Ida Moe | employed?",
    "Who was Ida Moe | married to?",
    "What was the ferry Aurora | called?",
    "What was the name of the club that Ida Moe | played for?",
    "What label was Siv Berg | recording under?",
    "Which post had Odd Lie | taken?",
    "Who was Sandvik's | mayor?",
    "What stadium was the Sandvik Rovers' | home ground?",
    "Who was the | mayor of Sandvik?",
    "Who was the | Emir of Sandvik?",
    "What was the name of the | bank that owned the mill?",
    "Which baker was the | owner of the mill?",
    "Name the | owner of the mill.",
    "What country was Ida Moe | a citizen of?",
    "Who was | in charge of the club?",
    "Which party was Odd Lie | a member of?",
    "Who | owned the mill?",
    "Who | officially owned the mill?",
    "Who had | owned the mill?",
    "What company | had offices in the mill?",
    "Which title was | given to Ida Moe?",
    "Ida Moe | led what team?",
    "The mill was | owned by which bank?",
    "Ida Moe was | a member of which party?",
    "The mill | had which person as its owner?",
]


@pytest.mark.parametrize("marked", PLACES)
@pytest.mark.parametrize("condition", ["first", "last"])
def test_a_person_would_put_it_there(marked: str, condition: Condition) -> None:
    base = marked.replace("| ", "")
    assert with_condition(base, condition) == marked.replace("|", condition)


@pytest.mark.parametrize("marked", PLACES)
def test_it_is_read_back_as_a_condition(marked: str) -> None:
    base = marked.replace("| ", "")
    question = parse(marked.replace("|", "last"))
    assert question.main_content == base
    assert question.constraint is not None and question.constraint.implicit == "last"


@pytest.mark.parametrize(
    "base",
    [
        "Who was the second owner of the mill?",
        "What was the former name of the mill?",
        "Who was the last owner of the mill?",
        "Who led the First Army of Sandvik?",
        "The mayor of Sandvik was who?",
        "What nationality was Ida Moe?",
    ],
)
def test_there_is_no_natural_place(base: str) -> None:
    assert with_condition(base, "first") is None


@pytest.mark.parametrize(
    "base", ["?", "who?", "Who", "did did did?", "was was was of", "Which which which?", "a " * 300]
)
def test_any_text_is_taken(base: str) -> None:
    with_condition(base, "first")
