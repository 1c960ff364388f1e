"""How well a run answers each question of a set: AR@k, ER@k, R@k, MRR, nDCG@k for rankings, EM and F1 for answers.

Every measure is a float64 array, a value a question, so that whatever is shown is a mean over some of its rows. A value
is NaN where the question holds nothing to judge it by (no answers, no gold), and such a question is in no mean; a
question that the run leaves out is a miss, and counts 0.

| measure | value of a question |
|---|---|
| AR@k | 1 if an answer stands in title and text of one of the first k passages, else 0 (the paper's answer recall) |
| ER@k | 1 if one of the first k passages is gold, else 0 (its evidence recall; trec_eval's success_k) |
| R@k | share of the gold passages that are among the first k (trec_eval's recall_k) |
| MRR | 1 / rank of the first gold passage, 0 without one (trec_eval's recip_rank) |
| nDCG@k | gain grade / log2(rank + 1), over the best possible sum (trec_eval's ndcg_cut_k) |
| EM, F1 | the answer given equals an answer, or shares words with it; the best over the answers |

A passage is gold by its id or because it holds a gold sentence; R and nDCG, which need to know all the gold, are for
gold by id. "Stands in" is by runs of tokens (token_runs). A passage that comes twice in a ranking counts once, at its
first place.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mrag.columns import Int64
from mrag.errors import InputError
from mrag.evaluation.bootstrap import SAMPLES, Estimate, Float64, Part, combinations
from mrag.evaluation.token_runs import fold, holds
from mrag.question import parse

KS = (1, 5, 20)
"""The ranks that AR, ER and R are reported at."""

NDCG_KS = (10,)


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with what it is judged by; every reader of question sets makes these.

    - ``answers``: any one counts. ``gold_passages``: ids; ``grades`` of those whose grade is not 1.
      ``gold_evidence``: sentences, a passage that holds one of them is gold.
    - ``relation``, ``implicit``: as the set gives them; "" none, None: the set does not say.
    - ``exact``: True the original date, False a perturbed one, None where there is no such thing.
    - ``source``: the data set it comes from. ``fact``: what questions about one fact share, the id if nothing else.
    - ``base``: the question without its time, "" if not given. ``reference``: the ISO date it is asked on, or "".
    - ``extra``: the other fields, as they came.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    gold_passages: tuple[str, ...] = ()
    gold_evidence: tuple[str, ...] = ()
    relation: str | None = None
    implicit: str | None = None
    exact: bool | None = None
    source: str = ""
    fact: str = ""
    base: str = ""
    reference: str = ""
    grades: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.fact:
            object.__setattr__(self, "fact", self.id)

    @property
    def judged(self) -> bool:
        """Whether there is anything to judge an answer or a ranking by."""
        return bool(self.answers or self.gold_passages or self.gold_evidence)


def described(question: EvalQuestion) -> EvalQuestion:
    """The question with relation and implicit condition; where its set does not say, as our parser reads them.

    >>> found = described(EvalQuestion("1", "Who was the last to own the mill before 1981?"))
    >>> found.relation, found.implicit
    ('before', 'last')
    """
    if question.relation is not None and question.implicit is not None:
        return question
    constraint = parse(question.question).constraint
    relation = (constraint.relation if constraint else None) or ""
    implicit = (constraint.implicit if constraint else None) or ""
    return replace(
        question,
        relation=relation if question.relation is None else question.relation,
        implicit=implicit if question.implicit is None else question.implicit,
    )


@dataclass(frozen=True, slots=True)
class Scores:
    """The values of a run, float64[n] a measure, over n questions.

    ``missing``: the questions that the run left out. ``unknown``: judged passages without a text, as when the run
    was made over another corpus; they hold no answer and no gold sentence.
    """

    questions: tuple[EvalQuestion, ...]
    values: Mapping[str, Float64]
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def facts(self) -> list[str]:
        """The fact of each question."""
        return [question.fact for question in self.questions]

    def at(self, rows: Int64) -> Scores:
        """The values of some questions, int64[m]; ``missing`` and ``unknown`` are of the whole run."""
        questions = tuple(self.questions[row] for row in rows.tolist())
        return replace(self, questions=questions, values={name: v[rows] for name, v in self.values.items()})


# --- rankings ------------------------------------------------------------------------------------------------


def retrieval_scores(
    questions: Iterable[EvalQuestion],
    rankings: Mapping[str, Sequence[str]],
    text_of: Callable[[str], str | None],
    *,
    ks: Sequence[int] = KS,
    ndcg_ks: Sequence[int] = NDCG_KS,
) -> Scores:
    """AR, ER, R at each of ``ks``, MRR, and nDCG at each of ``ndcg_ks``; measures that judge no question are left out.

    ``rankings``: question id -> passage ids, best first. ``text_of``: passage id -> "title text", None for a passage
    that the corpus lacks; asked for the first max(ks) passages of a question with answers, and down to the first gold
    passage where gold is told by sentences.
    """
    asked = tuple(questions)
    names = [f"{name}@{k}" for name in ("AR", "ER", "R") for k in ks]
    values = {name: np.full(len(asked), np.nan) for name in (*names, "MRR", *(f"nDCG@{k}" for k in ndcg_ks))}
    texts = _Texts(text_of)
    for row, question in enumerate(asked):
        ranking = list(dict.fromkeys(rankings.get(question.id, ())))
        for name, value in _of_ranking(question, ranking, texts, ks, ndcg_ks).items():
            values[name][row] = value
    missing = tuple(question.id for question in asked if question.id not in rankings)
    return Scores(asked, _with_values(values), missing, tuple(texts.unknown))


class _Texts:
    """Folded texts of passages, each folded once as long as memory holds it."""

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self._text_of = text_of
        self.unknown: dict[str, None] = {}
        self.folded = lru_cache(maxsize=1 << 16)(self._folded)

    def _folded(self, passage: str) -> str:
        text = self._text_of(passage)
        if text is None:
            self.unknown[passage] = None
        return fold(text or "")

    def first(self, ranking: Sequence[str], phrases: Sequence[str]) -> int | None:
        """The place of the first passage that holds one of the phrases."""
        for place, passage in enumerate(ranking):
            text = self.folded(passage)
            if any(holds(text, phrase) for phrase in phrases):
                return place
        return None


def _of_ranking(
    question: EvalQuestion, ranking: list[str], texts: _Texts, ks: Sequence[int], ndcg_ks: Sequence[int]
) -> dict[str, float]:
    """The measures that the question can be judged by."""
    found: dict[str, float] = {}
    if answers := _phrases(question.answers):
        first = texts.first(ranking[: max(ks, default=0)], answers)
        found |= {f"AR@{k}": float(first is not None and first < k) for k in ks}
    gold = dict.fromkeys(question.gold_passages)
    sentences = _phrases(question.gold_evidence)
    if gold or sentences:
        first = next((place for place, passage in enumerate(ranking) if passage in gold), None)
        if sentences:  # a passage behind the first gold one cannot be the first
            by_sentence = texts.first(ranking[:first], sentences)
            first = first if by_sentence is None else by_sentence
        found |= {f"ER@{k}": float(first is not None and first < k) for k in ks}
        found["MRR"] = 0.0 if first is None else 1.0 / (first + 1)
    if gold:
        grades = [question.grades.get(passage, 1) if passage in gold else 0 for passage in ranking]
        ideal = sorted((question.grades.get(passage, 1) for passage in gold), reverse=True)
        found |= {f"R@{k}": sum(map(bool, grades[:k])) / len(gold) for k in ks}
        found |= {f"nDCG@{k}": _gain(grades[:k]) / _gain(ideal[:k]) for k in ndcg_ks}
    return found


def _phrases(texts: Iterable[str]) -> list[str]:
    return list(filter(None, map(fold, texts)))


def _gain(grades: Sequence[int]) -> float:
    """Discounted cumulative gain, summed from the top as trec_eval does, so that the last digit is the same."""
    total = 0.0
    for place, grade in enumerate(grades):
        if grade:
            total += grade / math.log2(place + 2)
    return total


def _with_values(values: Mapping[str, Float64]) -> dict[str, Float64]:
    return {name: column for name, column in values.items() if not np.isnan(column).all()}


# --- answers -------------------------------------------------------------------------------------------------

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalised(answer: str) -> str:
    """An answer as EM and F1 compare it: NFD, lower case, without ASCII punctuation and articles, white space folded.

    The paper's rule to the letter: its articles are found in NFD, so that the "a" between two accents goes too
    ("Dvořák"); both sides lose it.

    >>> normalised("  The U.S. Navy's  CO "), normalised("a–b")
    ('us navys co', '–b')
    """
    plain = unicodedata.normalize("NFD", answer).lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def exact_match(reply: str, answers: Sequence[str]) -> float:
    """1.0 if the reply equals one of the answers as ``normalised`` has them, else 0.0.

    >>> exact_match("the Amtrak.", ["Conrail", "Amtrak"])
    1.0
    """
    given = normalised(reply)
    return float(any(given == normalised(answer) for answer in answers))


def f1(reply: str, answers: Sequence[str]) -> float:
    """The harmonic mean of precision and recall of the reply's words, the best over the answers.

    >>> round(f1("Ida Moe of Lund", ["Ida Moe", "Odd Lie"]), 3)
    0.667
    """
    return max((_f1(normalised(reply).split(), normalised(answer).split()) for answer in answers), default=0.0)


def _f1(given: list[str], wanted: list[str]) -> float:
    if not given or not wanted:
        return float(given == wanted)
    shared = sum((Counter(given) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(given), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def answer_scores(questions: Iterable[EvalQuestion], replies: Mapping[str, str | None]) -> Scores:
    """EM and F1. ``replies``: question id -> the answer given; None or blank is none, and counts 0."""
    asked = tuple(questions)
    values = {name: np.full(len(asked), np.nan) for name in ("EM", "F1")}
    for row, question in enumerate(asked):
        if question.answers:
            reply = replies.get(question.id) or ""
            values["EM"][row] = exact_match(reply, question.answers) if reply.strip() else 0.0
            values["F1"][row] = f1(reply, question.answers) if reply.strip() else 0.0
    missing = tuple(question.id for question in asked if question.id not in replies)
    return Scores(asked, _with_values(values), missing)


# --- tables --------------------------------------------------------------------------------------------------

_MARKS = {True: "original", False: "perturbed", None: "not marked"}
GROUPINGS: dict[str, Callable[[EvalQuestion], str]] = {
    "relation": lambda question: question.relation or "none",
    "implicit": lambda question: question.implicit or "none",
    "constraint": lambda question: " ".join(filter(None, (question.implicit, question.relation))) or "none",
    "exact": lambda question: _MARKS[question.exact],
    "source": lambda question: question.source or "not named",
}
"""What questions are grouped by; "constraint" is condition and relation together ("first before")."""


def groups(questions: Sequence[EvalQuestion], by: str) -> dict[str, Int64]:
    """The rows int64[m] of each group, by the groups' names in order; InputError for no name of GROUPINGS.

    >>> groups([EvalQuestion("1", "?", relation="in"), EvalQuestion("2", "?")], "relation")
    {'in': array([0]), 'none': array([1])}
    """
    if by not in GROUPINGS:
        raise InputError(f"questions are grouped by {', '.join(GROUPINGS)}, not by {by!r}")
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(questions):
        rows.setdefault(GROUPINGS[by](question), []).append(row)
    return {label: np.array(rows[label], dtype=np.int64) for label in sorted(rows)}


class Row(NamedTuple):
    """The figures of one group of n questions: ``by`` and ``label`` name it ("" and "all": every question)."""

    by: str
    label: str
    n: int
    figures: dict[str, Estimate]


def tabulate(scores: Scores, by: Sequence[str] = (), *, samples: int = SAMPLES, seed: int = 0) -> list[Row]:
    """The means of every measure with intervals: over all questions, then over each group of each of ``by``."""
    return _table(scores.questions, scores.values, by, samples, seed)


def compare(
    ours: Scores, theirs: Scores, by: Sequence[str] = (), *, samples: int = SAMPLES, seed: int = 0
) -> list[Row]:
    """As ``tabulate``, the means of ours - theirs, paired by question, for the measures that both have.

    Raises InputError where the two were not scored over the same questions in the same order.
    """
    if [question.id for question in ours.questions] != [question.id for question in theirs.questions]:
        raise InputError("the two runs were scored over different questions: score both over the same set")
    values = {name: mine - theirs.values[name] for name, mine in ours.values.items() if name in theirs.values}
    return _table(ours.questions, values, by, samples, seed)


def _table(
    questions: Sequence[EvalQuestion], values: Mapping[str, Float64], by: Sequence[str], samples: int, seed: int
) -> list[Row]:
    blocks = [("", "all", np.arange(len(questions), dtype=np.int64))]
    blocks += [(name, label, rows) for name in by for label, rows in groups(questions, name).items()]
    table = []
    for name, label, rows in blocks:
        facts = [questions[row].fact for row in rows.tolist()]
        figures = {measure: [Part(column[rows], facts)] for measure, column in values.items()}
        table.append(Row(name, label, len(rows), combinations(figures, samples=samples, seed=seed)))
    return table
