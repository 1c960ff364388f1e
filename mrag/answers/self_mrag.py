"""How Self-MRAG reads: each passage graded, a dated sentence from each that is kept, all in the order of time.

What a sentence says must stand in its passage: the reader would believe a date that the model made up (Appendix H).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from mrag.answers.quoting import one_line, quoted_passage
from mrag.answers.replies import MOST_REASON, Ask, sentence_of, why, yes_or_no
from mrag.answers.support import unsupported
from mrag.answers.timeline import Fact, dated, in_order, of_evidence
from mrag.pipeline import Evidence
from mrag.prompts import answer as prompts
from mrag.question import Question
from mrag.strategies import Failure

_GRADE_TOKENS, _SENTENCE_TOKENS = 16, 128
_MOST_WORDS = 50  # a sentence of so many words is none

Passages = tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """The ``facts`` that passages gave, in the order of time, the ``passages`` that gave one, and what went wrong."""

    facts: tuple[Fact, ...] = ()
    passages: Passages = ()
    notes: tuple[str, ...] = ()


READ_NOTHING = Told()


def tell(ask: Ask, read: Sequence[tuple[Question, Passages]]) -> list[Told]:
    """The dated facts for each question with its passages: one call grades them all, one more writes the sentences.

    A passage whose grade cannot be read is kept; where none of a question's could be graded none is asked further. A
    sentence that is no reply gives way to the passage's own deciding sentence. One is left out that names no date, has
    50 words or more, or says what its passage does not.
    """
    graded = [
        _graded(passages, replies)
        for (_, passages), replies in zip(read, _each(ask, prompts.grade, read, _GRADE_TOKENS), strict=True)
    ]
    kept = [(question, passages) for (question, _), (passages, _) in zip(read, graded, strict=True)]
    sentences = _each(ask, prompts.dated_sentence, kept, _SENTENCE_TOKENS)
    return [
        _told(question, passages, replies, notes)
        for (question, passages), replies, (_, notes) in zip(kept, sentences, graded, strict=True)
    ]


def _each(
    ask: Ask, prompt: Callable[[str, str], str], read: Sequence[tuple[Question, Passages]], most: int
) -> list[list[str | Failure]]:
    """The replies about each passage of each question, asked for in one call, with the main content."""
    asked = [
        prompt(question.main_content or question.text, quoted_passage(evidence.passage, evidence.sentence))
        for question, passages in read
        for evidence in passages
    ]
    replies = iter(ask(asked, most))
    return [list(islice(replies, len(passages))) for _, passages in read]


def _graded(passages: Passages, replies: Sequence[str | Failure]) -> tuple[Passages, tuple[str, ...]]:
    """The passages to keep, and what is to be noted."""
    failed = [reply for reply in replies if isinstance(reply, Failure)]
    if failed and len(failed) == len(replies):  # do not ask for as many sentences in vain
        return (), (f"no passage could be graded: {why(failed[0])}",)
    grades = [None if isinstance(reply, Failure) else yes_or_no(reply) for reply in replies]
    kept = tuple(evidence for evidence, grade in zip(passages, grades, strict=True) if grade is not False)
    if passages and not kept:
        return (), (f"of the passages read ({len(passages)}) none says what is asked, the model found",)
    if unsure := grades.count(None):
        reason = why(failed[0]) if failed else "the reply was neither yes nor no"
        return kept, (f"{unsure} of {len(grades)} passages could not be graded and were kept: {reason}",)
    return kept, ()


def _told(question: Question, passages: Passages, replies: Sequence[str | Failure], noted: tuple[str, ...]) -> Told:
    facts, told, notes = [], [], list(noted)
    for evidence, reply in zip(passages, replies, strict=True):
        fact, note = _fact(question, evidence, reply)
        if fact is not None:
            facts.append(fact)
            told.append(evidence)
        if note:
            notes.append(f"passage {one_line(evidence.passage.id, 80)}: {note}")
    if passages and not facts:
        notes.append("no dated fact came of the passages that were kept")
    return Told(in_order(facts), tuple(told), tuple(notes))


def _fact(question: Question, evidence: Evidence, reply: str | Failure) -> tuple[Fact | None, str]:
    """What a passage says, by the model's reply, and what is wrong with that ("": nothing)."""
    if isinstance(reply, Failure):
        own = next(iter(of_evidence([evidence], question)), None)
        return own, f"no sentence was written ({why(reply)}){': its deciding sentence was taken' if own else ''}"
    text = sentence_of(reply)
    if not text:
        return None, ""
    fact = dated(text, evidence.passage, question)
    if fact is None:
        return None, "the sentence was left out: it names no date"
    if len(text.split()) >= _MOST_WORDS:
        return None, f"the sentence was left out: it has {_MOST_WORDS} words or more"
    if wrong := unsupported(fact.text, evidence.passage, question.main_content):
        return None, f"the sentence was left out: {one_line(wrong, MOST_REASON)}"
    return fact, ""
