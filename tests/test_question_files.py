"""A question set that is written is read again as it was."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mrag.adapters.evaluation.question_files import write_question_set
from mrag.adapters.question_sets import read_question_set
from mrag.metrics import EvalQuestion

WORD = st.text("abcé –|'", min_size=1, max_size=12).map(lambda text: " ".join(text.split()) or "x")


@given(
    st.builds(
        EvalQuestion,
        id=WORD,
        question=WORD,
        answers=st.lists(WORD, min_size=1, max_size=3, unique=True).map(tuple),
        gold_passages=st.lists(WORD, max_size=2, unique=True).map(tuple),
        gold_evidence=st.lists(WORD, max_size=2, unique=True).map(tuple),
        relation=st.sampled_from([None, "", "before"]),
        implicit=st.sampled_from([None, "", "last"]),
        exact=st.sampled_from([None, True, False]),
        source=st.sampled_from(["", "club"]),
        fact=st.sampled_from(["", "fact 1"]),
        base=st.sampled_from(["", "Who led it?"]),
        reference=st.sampled_from(["", "2021-05-06"]),
        extra=st.sampled_from([{}, {"split": "hard", "years": [1981]}]),
    )
)
def test_every_field_comes_back(tmp_path_factory: object, question: EvalQuestion) -> None:
    path = Path(tmp_path_factory.mktemp("set")) / "set.jsonl"  # type: ignore[attr-defined]
    write_question_set(path, [question])
    assert read_question_set(path).questions == (question,)


def test_grades_come_back(tmp_path: Path) -> None:
    question = EvalQuestion("1", "Who led it?", gold_passages=("a", "b"), grades={"b": 2})
    write_question_set(tmp_path / "set.jsonl", [question])
    assert read_question_set(tmp_path / "set.jsonl").questions == (question,)
