"""What a run gets for each question, held against the definitions and against trec_eval's own code."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.adapters.runs import qrels_of, read_run, write_qrels, write_run
from mrag.errors import InputError
from mrag.metrics import (
    EvalQuestion,
    Scores,
    answer_scores,
    compare,
    described,
    exact_match,
    f1,
    groups,
    retrieval_scores,
    tabulate,
)

TEXTS = {
    "p1": "Grist mill The mill was built in 1870.",
    "p2": "Grist mill In 1912 the mill was sold to Ida Moe.",
    "p3": "Grist mill Odd Lie bought it from her in 1931.",
    "p4": "Odd Lie He was born in Lund.",
    "p5": "Rope walk It belonged to the Moe family.",
}
OWNER = EvalQuestion("q", "Who owned the mill in 1935?", answers=("Odd Lie", "O. Lie"), gold_passages=("p3",))


def scores(
    question: EvalQuestion, ranking: Sequence[str], ks: Sequence[int] = (1, 2, 5), ndcg_ks: Sequence[int] = (10,)
) -> dict[str, float]:
    found = retrieval_scores([question], {question.id: ranking}, TEXTS.get, ks=ks, ndcg_ks=ndcg_ks)
    return {name: float(column[0]) for name, column in found.values.items()}


# --- rankings ------------------------------------------------------------------------------------------------


def test_an_answer_counts_wherever_it_stands_and_gold_only_where_it_is_marked() -> None:
    found = scores(OWNER, ["p1", "p4", "p3"])
    assert (found["AR@1"], found["AR@2"]) == (0.0, 1.0)  # p4 names him in its title
    assert (found["ER@1"], found["ER@2"], found["ER@5"]) == (0.0, 0.0, 1.0)
    assert found["MRR"] == 1 / 3
    assert found["nDCG@10"] == 1 / math.log2(4)


@pytest.mark.parametrize(("ranking", "rr"), [(["p3"], 1.0), (["p1", "p3"], 0.5), (["p1"], 0.0), ([], 0.0)])
def test_mrr_is_one_over_the_first_gold_rank(ranking: list[str], rr: float) -> None:
    assert scores(OWNER, ranking)["MRR"] == rr


def test_recall_is_the_share_of_the_gold() -> None:
    two = replace(OWNER, gold_passages=("p3", "p2", "p9"))
    found = scores(two, ["p2", "p3"])
    assert (found["R@1"], found["R@2"], found["R@5"]) == (1 / 3, 2 / 3, 2 / 3)
    assert found["ER@1"] == 1.0


def test_ndcg_takes_grades_as_gains() -> None:
    graded = replace(OWNER, gold_passages=("p2", "p3"), grades={"p3": 3})
    found = scores(graded, ["p2", "p1", "p3"], ndcg_ks=(1, 10))
    assert found["nDCG@1"] == 1 / 3
    assert found["nDCG@10"] == pytest.approx((1 + 3 / 2) / (3 + 1 / math.log2(3)))


def test_a_gold_sentence_makes_every_passage_gold_that_holds_it() -> None:
    question = EvalQuestion("q", "?", gold_evidence=("Odd Lie bought it, from her, in 1931.", "ODD LIE BOUGHT IT"))
    found = scores(question, ["p4", "p3"])
    assert (found["ER@1"], found["ER@2"], found["MRR"]) == (0.0, 1.0, 0.5)
    assert "nDCG@10" not in found and "R@1" not in found and "AR@1" not in found


@pytest.mark.parametrize(("ranking", "rr"), [(["p2", "p3"], 1.0), (["p3", "p2"], 1.0), (["p1", "p3", "p2"], 0.5)])
def test_gold_by_id_and_gold_by_sentence_count_alike(ranking: list[str], rr: float) -> None:
    question = EvalQuestion("q", "?", gold_passages=("p2",), gold_evidence=("from her in 1931",))
    assert scores(question, ranking)["MRR"] == rr


def test_a_passage_that_comes_twice_counts_once() -> None:
    assert scores(OWNER, ["p1", "p1", "p1", "p3"])["MRR"] == 0.5


def test_a_question_that_the_run_lacks_is_a_miss_and_is_named() -> None:
    found = retrieval_scores([OWNER, replace(OWNER, id="r")], {"q": ["p3"]}, TEXTS.get)
    assert found.values["ER@1"].tolist() == [1.0, 0.0]
    assert found.missing == ("r",)


def test_a_question_without_gold_is_in_no_mean() -> None:
    unmarked = EvalQuestion("r", "?", answers=("1870",))
    found = retrieval_scores([OWNER, unmarked], {"q": ["p3"], "r": ["p1"]}, TEXTS.get)
    assert np.isnan(found.values["ER@1"]).tolist() == [False, True]
    assert found.values["AR@1"].tolist() == [1.0, 1.0]
    assert tabulate(found, samples=0)[0].figures["ER@1"].n == 1


def test_passages_that_the_corpus_lacks_hold_nothing_and_are_named() -> None:
    found = retrieval_scores([OWNER], {"q": ["x", "y", "p3"]}, TEXTS.get, ks=(2,))
    assert found.unknown == ("x", "y")
    assert found.values["AR@2"].tolist() == [0.0]
    assert found.values["MRR"].tolist() == [1 / 3]


def test_each_passage_is_read_once_and_none_behind_the_last_rank() -> None:
    asked: list[str] = []

    def text_of(passage: str) -> str | None:
        asked.append(passage)
        return TEXTS.get(passage)

    nobody = replace(OWNER, answers=("Nobody",))
    retrieval_scores([nobody, replace(nobody, id="r")], {"q": ["p1", "p2", "p3"], "r": ["p1"]}, text_of, ks=(1, 2))
    assert asked == ["p1", "p2"]


def test_the_values_are_float64_and_can_be_cut() -> None:
    found = retrieval_scores([OWNER, replace(OWNER, id="r")], {"q": ["p3"]}, TEXTS.get)
    assert {column.dtype.name for column in found.values.values()} == {"float64"}
    cut = found.at(np.array([1]))
    assert [question.id for question in cut.questions] == ["r"]
    assert cut.values["ER@1"].tolist() == [0.0]


# --- against trec_eval ---------------------------------------------------------------------------------------

SHARED: Mapping[str, ir_measures.Measure] = {
    "MRR": ir_measures.RR,
    "nDCG@3": ir_measures.nDCG @ 3,
    "nDCG@10": ir_measures.nDCG @ 10,
    **{f"R@{k}": ir_measures.R @ k for k in (1, 5, 20)},
    **{f"ER@{k}": ir_measures.Success @ k for k in (1, 5, 20)},
}


def invented(seed: int, n: int = 60) -> tuple[list[EvalQuestion], dict[str, dict[str, float]]]:
    """Questions with graded gold, and a run with many equal scores that lacks some questions."""
    rng = random.Random(seed)
    passages = [f"{rng.choice('pPé')}{number}" for number in range(80)]
    questions, run = [], {}
    for number in range(n):
        gold = rng.sample(passages, rng.randint(1, 15))
        grades = {passage: rng.randint(2, 4) for passage in gold if rng.random() < 0.4}
        questions.append(EvalQuestion(f"q{number}", "?", gold_passages=tuple(gold), grades=grades))
        if rng.random() < 0.9:
            found = rng.sample(passages, rng.randint(1, 40))
            run[f"q{number}"] = {passage: rng.choice([rng.random(), 0.5, 2.0, -1.0]) for passage in found}
    return questions, run


def assert_agrees(found: Scores, qrels: object, run: object) -> None:
    row = {question.id: at for at, question in enumerate(found.questions)}
    name_of = {str(measure): name for name, measure in SHARED.items()}
    seen = 0
    for metric in ir_measures.iter_calc(list(SHARED.values()), qrels, run):
        assert found.values[name_of[str(metric.measure)]][row[metric.query_id]] == metric.value, metric
        seen += 1
    assert seen >= len(SHARED) * (len(row) - len(found.missing))
    for measure, mean in ir_measures.calc_aggregate(list(SHARED.values()), qrels, run).items():
        assert found.values[name_of[str(measure)]].mean() == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_ir_measures_finds_the_same_to_the_last_digit(tmp_path: Path, seed: int) -> None:
    questions, run = invented(seed)
    lines = [f"{q} Q0 {p} 0 {score!r} x" for q, found in run.items() for p, score in found.items()]
    (tmp_path / "run").write_text("\n".join(lines), encoding="utf-8")
    write_qrels(tmp_path / "qrels", qrels_of(questions))
    found = retrieval_scores(questions, read_run(tmp_path / "run"), TEXTS.get, ndcg_ks=(3, 10))
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels")))
    assert_agrees(found, qrels, list(ir_measures.read_trec_run(str(tmp_path / "run"))))


def test_a_run_that_we_write_is_ranked_by_others_as_by_us(tmp_path: Path) -> None:
    questions, run = invented(9)
    rankings = {question: list(found) for question, found in run.items()}
    write_run(tmp_path / "run", rankings)
    found = retrieval_scores(questions, rankings, TEXTS.get, ndcg_ks=(3, 10))
    assert_agrees(found, qrels_of(questions), list(ir_measures.read_trec_run(str(tmp_path / "run"))))


# --- answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "answer", "equal"),
    [
        ("the Rope Walk.", "Rope Walk", 1.0),
        ("Rope-Walk", "ropewalk", 1.0),  # punctuation goes without a trace
        ("Rope – Walk", "Rope Walk", 0.0),  # of ASCII only
        ("Zo\u00eb", "zoe\u0308", 1.0),
        ("Zoe", "Zoë", 0.0),
        ("An apple  a day", "apple day", 1.0),
        ("Anna", "na", 0.0),
        ("1931", "in 1931", 0.0),
    ],
)
def test_exact_match(reply: str, answer: str, equal: float) -> None:
    assert exact_match(reply, ["Nobody", answer]) == equal


@pytest.mark.parametrize(
    ("reply", "answers", "share"),
    [
        ("Ida Moe", ["Ida Moe"], 1.0),
        ("Ida Moe of Lund", ["Odd Lie", "Ida Moe"], 2 / 3),
        ("Moe Moe", ["Moe"], 2 / 3),  # a word counts as often as it comes in both
        ("Moe", ["Lie"], 0.0),
        ("the", ["a"], 1.0),  # nothing but articles on both sides
        ("the", ["Lie"], 0.0),
        ("Moe", [], 0.0),
    ],
)
def test_f1_is_the_best_over_the_answers(reply: str, answers: list[str], share: float) -> None:
    assert f1(reply, answers) == pytest.approx(share)


@given(st.text(max_size=20), st.text(max_size=20))
def test_equal_answers_share_every_word(reply: str, answer: str) -> None:
    assert 0.0 <= f1(reply, [answer]) <= 1.0
    if exact_match(reply, [answer]):
        assert f1(reply, [answer]) == 1.0


def test_no_answer_scores_nothing() -> None:
    questions = [EvalQuestion(name, "?", answers=("The",)) for name in "abcd"] + [EvalQuestion("e", "?")]
    found = answer_scores(questions, {"a": "the", "b": None, "c": " "})
    assert found.values["EM"].tolist()[:4] == [1.0, 0.0, 0.0, 0.0]
    assert np.isnan(found.values["F1"][4])
    assert found.missing == ("d", "e")


# --- tables --------------------------------------------------------------------------------------------------

ASKED = [
    replace(OWNER, id="1", relation="before", implicit="first", exact=True, source="timeqa", fact="mill"),
    replace(OWNER, id="2", relation="before", implicit="", exact=False, source="timeqa", fact="mill"),
    replace(OWNER, id="3", relation="in", implicit="", exact=False, source="", fact="rope"),
]


@pytest.mark.parametrize(
    ("by", "labels"),
    [
        ("relation", {"before": [0, 1], "in": [2]}),
        ("implicit", {"first": [0], "none": [1, 2]}),
        ("constraint", {"before": [1], "first before": [0], "in": [2]}),
        ("exact", {"original": [0], "perturbed": [1, 2]}),
        ("source", {"not named": [2], "timeqa": [0, 1]}),
    ],
)
def test_questions_are_grouped(by: str, labels: dict[str, list[int]]) -> None:
    assert {label: rows.tolist() for label, rows in groups(ASKED, by).items()} == labels


def test_an_unknown_grouping_is_named() -> None:
    with pytest.raises(InputError, match="by relation, implicit, constraint, exact, source, not by 'colour'"):
        groups(ASKED, "colour")


def test_a_table_has_a_row_for_all_and_for_each_group() -> None:
    found = retrieval_scores(ASKED, {"1": ["p3"], "2": ["p1"], "3": ["p3"]}, TEXTS.get, ks=(1,))
    table = tabulate(found, ["relation"], seed=1)
    assert [(row.by, row.label, row.n) for row in table] == [
        ("", "all", 3),
        ("relation", "before", 2),
        ("relation", "in", 1),
    ]
    assert [round(row.figures["ER@1"].value, 3) for row in table] == [0.667, 0.5, 1.0]
    assert [row.figures["ER@1"].facts for row in table] == [2, 1, 1]
    assert table == tabulate(found, ["relation"], seed=1)


def test_two_runs_are_compared_question_by_question() -> None:
    ours = retrieval_scores(ASKED, {"1": ["p3"], "2": ["p3"], "3": ["p3"]}, TEXTS.get, ks=(1,))
    theirs = retrieval_scores(ASKED, {"1": ["p3"], "2": ["p1"], "3": ["p1"]}, TEXTS.get, ks=(1, 5))
    table = compare(ours, theirs, ["exact"])
    assert [round(row.figures["ER@1"].value, 3) for row in table] == [0.667, 0.0, 1.0]
    assert "ER@5" not in table[0].figures
    assert table[2].figures["ER@1"].sure
    with pytest.raises(InputError, match="different questions"):
        compare(ours, theirs.at(np.array([0, 1])))


def test_what_a_set_does_not_say_is_read_from_its_question() -> None:
    asked = EvalQuestion("1", "Who was the first to own the mill after 1900?")
    assert (described(asked).relation, described(asked).implicit) == ("after", "first")
    given = replace(asked, relation="as of", implicit="")
    assert described(given) is given
    assert described(EvalQuestion("2", "Who owned the mill?")).relation == ""


def test_a_question_is_its_own_fact_if_nothing_else_is_known() -> None:
    assert EvalQuestion("1", "?").fact == "1"
    assert not EvalQuestion("1", "?").judged
