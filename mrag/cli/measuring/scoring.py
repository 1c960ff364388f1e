"""What a system gave -> its scores: the texts that it is judged by, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mrag.cli import output as show
from mrag.errors import InputError
from mrag.evaluation.bootstrap import Float64
from mrag.metrics import KS, NDCG_KS, EvalQuestion, Scores, answer_scores, retrieval_scores

if TYPE_CHECKING:
    from mrag.adapters.evaluation.outputs import Output
    from mrag.corpus import Corpus

_FEW = 3  # ids that a message names


def cut(output: Output, depth: int | None) -> Output:
    """What a system gave with its rankings cut at ``depth``, so that all of them are equally long."""
    if depth is None or output.rankings is None:
        return output
    return output._replace(rankings={name: found[:depth] for name, found in output.rankings.items()})


def needed(questions: Sequence[EvalQuestion], outputs: Iterable[Output], depth: int | None = None) -> frozenset[str]:
    """The passages whose texts decide: the first of each question with answers, all where gold is told by sentences."""
    wanted: set[str] = set()
    first = max(KS) if depth is None else depth
    for output in outputs:
        for question in questions if output.rankings is not None else ():
            found = (output.rankings or {}).get(question.id, ())
            if question.gold_evidence:
                wanted.update(found)
            elif question.answers:
                wanted.update(found[:first])
    return frozenset(wanted)


def texts_of_index(corpus: Corpus, passages: frozenset[str]) -> dict[str, str]:
    """Passage id -> "title text" for those that a corpus holds; its ids are read once, none is kept."""
    wanted = {identity.encode("utf-8", "replace"): identity for identity in passages}
    found = {}
    for row in range(len(corpus)):
        identity = wanted.get(corpus.ids.raw(row))
        if identity is not None:
            found[identity] = f"{corpus.titles[row]} {corpus.texts[row]}"
            if len(found) == len(wanted):
                break
    return found


def score(
    name: str,
    questions: Sequence[EvalQuestion],
    output: Output,
    texts: Mapping[str, str] | None,
    depth: int | None = None,
) -> Scores:
    """The scores of a system, and on standard error what they leave out.

    ``texts``: of the passages that are ``needed``; None where there are none, which leaves AR@k out and all that gold
    sentences decide. ``depth``: of the rankings, which are measured at that, too. Raises InputError for a system that
    gave nothing to any of the questions.
    """
    for given in (output.rankings, output.answers):
        if given is not None and not any(question.id in given for question in questions):
            theirs, ours = list(given)[:_FEW], [question.id for question in questions[:_FEW]]
            raise InputError(
                f"{name}: holds none of the questions (its ids: {_list(theirs)}; the set's: {_list(ours)})"
            )
    values: dict[str, Float64] = {}
    missing: dict[str, None] = {}
    unknown: tuple[str, ...] = ()
    if output.rankings is not None:
        asked = questions if texts is not None else [_by_ids_alone(question) for question in questions]
        ks = KS if depth is None else sorted({*(k for k in KS if k <= depth), depth})
        ndcg_ks = NDCG_KS if depth is None else sorted({min(k, depth) for k in NDCG_KS})
        found = retrieval_scores(asked, output.rankings, (texts or {}).get, ks=ks, ndcg_ks=ndcg_ks)
        values |= found.values
        missing |= dict.fromkeys(found.missing)
        unknown = found.unknown
    if output.answers is not None:
        answered = answer_scores(questions, output.answers)
        values |= answered.values
        missing |= dict.fromkeys(answered.missing)
    if not values:
        raise InputError(f"{name}: nothing to judge it by: name the passages' texts with --index DIR or --corpus PATH")
    scores = Scores(tuple(questions), values, tuple(missing), unknown)
    _say(name, scores)
    return scores


def _by_ids_alone(question: EvalQuestion) -> EvalQuestion:
    """The question without what only the text of a passage can be judged by."""
    return replace(question, answers=(), gold_evidence=())


def _say(name: str, scores: Scores) -> None:
    n = len(scores.questions)
    if scores.missing:
        few = _list(scores.missing[:_FEW])
        show.note(f"note: {name}: {len(scores.missing):,} of {n:,} questions are missing and count as misses ({few})")
    if scores.unknown:
        few = _list(scores.unknown[:_FEW])
        show.note(f"note: {name}: {len(scores.unknown):,} passages have no text here and count as wrong ({few})")


def say_what_is_not_judged(questions: Sequence[EvalQuestion], scores: Sequence[Scores]) -> None:
    """Says how many questions hold no answer or no gold to judge by, so that they are in no mean."""
    counts: dict[int, dict[str, None]] = {}
    for measure, column in ((measure, column) for one in scores for measure, column in one.values.items()):
        if count := int(np.isnan(column).sum()):
            counts.setdefault(count, {})[measure.partition("@")[0]] = None
    for count, measures in sorted(counts.items()):
        show.note(f"note: {count:,} questions hold nothing to judge {', '.join(measures)} by, and are not in it")
    if not any(question.gold_passages or question.gold_evidence for question in questions):
        show.note("note: no question names its gold: there is no ER@k, MRR and nDCG")
    if not any(question.answers for question in questions):
        show.note("note: no question has answers: there is no AR@k, EM and F1")


def _list(ids: Iterable[str]) -> str:
    return ", ".join(show.shorten(identity, 40) for identity in ids) or "none"
