"""Answers: from what a model knows, from passages, or from dated facts out of them; what fails falls back, and says so.

| strategy | the model gets | the paper's name (section 5.1) |
|---|---|---|
| direct | the question | Direct Prompt |
| direct-cot | the question, and reasons first | Direct CoT |
| rag-concat | the first passages of a plain ranking | RAG-Concat |
| mrag-concat | the first passages of ours | MRAG-Concat |
| self-mrag | a timeline of dated sentences, one from each passage that it grades as relevant | Self-MRAG |

Where the timeline does not answer, the passages are asked, and then what the model knows. Each stage is one call of the
model for all questions. rag-concat and mrag-concat differ in the ranking that they are handed alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from mrag.answers.quoting import MOST_SENTENCE, one_line, quoted_passage
from mrag.answers.replies import Ask, admits_nothing, agree, answer_of, ask_model, stands_in, why
from mrag.answers.self_mrag import READ_NOTHING, Told, tell
from mrag.answers.timeline import Fact, asked_time, line, of_evidence
from mrag.errors import InputError
from mrag.pipeline import Evidence, Ranking
from mrag.prompts import answer as prompts
from mrag.question import Question
from mrag.strategies import Failure, LanguageModel
from mrag.timex import scan

__all__ = ["STRATEGIES", "Answer", "Fact", "Strategy", "answer_many", "extractive", "timeline"]

Strategy = Literal["direct", "direct-cot", "rag-concat", "mrag-concat", "self-mrag"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

_STEPS: dict[Strategy, tuple[Strategy, ...]] = {
    **{strategy: (strategy,) for strategy in STRATEGIES},
    "self-mrag": ("self-mrag", "mrag-concat", "direct-cot"),
}
_READS: frozenset[Strategy] = frozenset(("rag-concat", "mrag-concat", "self-mrag"))
_TOKENS: dict[Strategy, int] = dict.fromkeys(STRATEGIES, 64) | {"direct-cot": 400}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered, on what it rests, and what went wrong on the way.

    - ``text``: None where nothing answers. ``by``: "extract" is a sentence as it stands, not an answer.
    - ``strategy``: the one that gave it, or was the last that replied (None: a sentence, or no reply at all);
      ``asked``: the one asked for.
    - ``evidence``: the passages that it rests on, () where that is the model's own knowledge or nothing.
    - ``timeline``: dated facts in order, the model's (self-mrag) or the deciding sentences; () where nothing is read.
    - ``own``: what the model says without passages, where that was asked; ``conflict``: the passages say otherwise
      (the paper's limitation 5).
    - ``fits``: whether a passage that was to be read is dated inside the time asked for.
    - ``notes``: what fell back, and why, and what is to be known of the answer, in sentences.
    """

    question: Question
    text: str | None
    by: Literal["llm", "extract"]
    strategy: Strategy | None
    asked: Strategy | None
    evidence: tuple[Evidence, ...] = ()
    timeline: tuple[Fact, ...] = ()
    own: str | None = None
    conflict: bool = False
    fits: bool = False
    notes: tuple[str, ...] = ()


def answer_many(
    rankings: Sequence[Ranking],
    *,
    model: LanguageModel | None,
    strategy: Strategy = "self-mrag",
    passages: int = 5,
    own_knowledge: bool = False,
    temperature: float = 0.0,
) -> list[Answer]:
    """An answer for each ranking, from its first ``passages``; without a ``model`` as ``extractive`` gives it.

    ``own_knowledge`` asks the model for what it knows as well, and marks where the passages say otherwise. A prompt
    that gets no reply costs its question a fallback, and a note; a model that gives none at all leaves the extractive
    answer. Raises InputError for a strategy that there is not.
    """
    if strategy not in STRATEGIES:
        raise InputError(f"there is no strategy {strategy!r}: it is one of {', '.join(STRATEGIES)}")
    if passages < 1:
        raise InputError("an answer needs one passage to read at least")
    if model is None:
        return [replace(extractive(ranking, passages), asked=strategy) for ranking in rankings]
    ask: Ask = partial(ask_model, model, temperature)
    read = [(ranking.question, ranking.evidence[:passages]) for ranking in rankings]
    told = tell(ask, read) if strategy == "self-mrag" else [READ_NOTHING] * len(read)
    drafts = [_Draft(*pair, found, found.notes) for pair, found in zip(read, told, strict=True)]
    for step in _STEPS[strategy]:
        drafts = _answer(ask, step, drafts)
    answers = [_finished(draft, ranking, strategy) for draft, ranking in zip(drafts, rankings, strict=True)]
    if own_knowledge:
        answers = _beside_what_is_known(ask, answers)
    return answers


def extractive(ranking: Ranking, passages: int = 5) -> Answer:
    """The best sentence that fits the asked time, as it stands, else the best; ``text`` None without any.

    ``passages``: how many of them give the timeline.
    """
    told = [evidence for evidence in ranking.evidence if evidence.sentence.strip()]
    best = next((evidence for evidence in told if evidence.fits), told[0] if told else None)
    if best is None:
        return Answer(ranking.question, None, "extract", None, None, notes=("no passage was found to answer from",))
    kind = "a summary of a passage" if best.summarised else "a sentence of a passage as it stands"
    notes = [f"extractive: {kind}, not an answer in a model's words"]
    if not ranking.fits:
        notes.append(_nothing_fits(ranking.question))
    return Answer(
        ranking.question,
        one_line(best.sentence, MOST_SENTENCE),
        "extract",
        None,
        None,
        evidence=(best,),
        timeline=timeline(ranking, passages),
        fits=ranking.fits,
        notes=tuple(notes),
    )


def timeline(ranking: Ranking, passages: int = 5) -> tuple[Fact, ...]:
    """Dated facts in order without a model: the deciding sentences of the first ``passages`` that name a date."""
    return of_evidence(ranking.evidence[:passages], ranking.question)


# --- one stage, all questions ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question on its way: the passages to ``read``, and what they ``told`` where that was asked.

    ``strategy``: the step that answered, or was the last that replied; ``heard``: whether one that reads did.
    """

    question: Question
    read: tuple[Evidence, ...]
    told: Told
    notes: tuple[str, ...]
    text: str = ""
    strategy: Strategy | None = None
    heard: bool = False

    def noting(self, note: str) -> _Draft:
        return replace(self, notes=(*self.notes, note))


def _answer(ask: Ask, step: Strategy, drafts: Sequence[_Draft]) -> list[_Draft]:
    """The questions that are still open, asked in one way; the others as they are."""
    asked = {at: prompt for at, draft in enumerate(drafts) if not draft.text and (prompt := _prompt(step, draft))}
    replies = dict(zip(asked, ask(list(asked.values()), _TOKENS[step]), strict=True))
    return [_answered(step, draft, replies[at]) if at in replies else draft for at, draft in enumerate(drafts)]


def _answered(step: Strategy, draft: _Draft, reply: str | Failure) -> _Draft:
    if isinstance(reply, Failure):
        return draft.noting(f"{step} got no reply: {why(reply)}")
    text = answer_of(reply, reasoned=step == "direct-cot")
    draft = replace(draft, strategy=step, heard=draft.heard or step in _READS)
    if admits_nothing(text):
        return draft.noting(f"{step} gave no answer" + (f" ({text})" if text else ""))
    return replace(draft, text=text)


def _prompt(step: Strategy, draft: _Draft) -> str:
    """The prompt of a step; "" where there is nothing to read."""
    question = _asked(draft.question)
    if step == "direct":
        return prompts.direct(question)
    if step == "direct-cot":
        return prompts.direct_cot(question)
    if step == "self-mrag":
        facts = [line(fact, draft.question) for fact in draft.told.facts]
        return prompts.from_timeline(question, facts) if facts else ""
    read = [quoted_passage(evidence.passage, evidence.sentence) for evidence in draft.read]
    return prompts.concat(question, read) if read else ""


# --- what comes out ----------------------------------------------------------------------------------------


def _finished(draft: _Draft, ranking: Ranking, asked: Strategy) -> Answer:
    if not draft.text and draft.read and not draft.heard and (asked in _READS or draft.strategy is None):
        bare = extractive(ranking, len(draft.read))  # nothing has read the passages
        return replace(bare, asked=asked, timeline=draft.told.facts or bare.timeline, notes=draft.notes + bare.notes)
    fits = any(evidence.fits for evidence in draft.read)
    reads, notes = asked in _READS, list(draft.notes)
    if reads and not draft.read:
        notes.append("no passage was found to answer from")
    elif reads and not fits:
        notes.append(_nothing_fits(draft.question))
    rests_on: tuple[Evidence, ...] = ()
    if draft.text and draft.strategy in _READS:
        rests_on = draft.told.passages if draft.strategy == "self-mrag" else draft.read
        if not stands_in(draft.text, (quoted_passage(evidence.passage, evidence.sentence) for evidence in rests_on)):
            notes.append("no word of the answer stands in the passages: it is counted, or made up")
    elif draft.text and reads:
        notes.append("the answer is what the model knows: it rests on no passage")
    return Answer(
        draft.question,
        draft.text or None,
        "llm",
        draft.strategy,
        asked,
        evidence=rests_on,
        timeline=(draft.told.facts or of_evidence(draft.read, draft.question)) if reads else (),
        fits=fits,
        notes=tuple(notes),
    )


def _beside_what_is_known(ask: Ask, answers: Sequence[Answer]) -> list[Answer]:
    """The answers with what the model says without passages, and whether that is something else.

    Where the strategy is to ask just that, its answer is it.
    """
    reading = [answer for answer in answers if answer.asked in _READS]
    replies = iter(ask([prompts.direct(_asked(answer.question)) for answer in reading], _TOKENS["direct"]))
    return [
        _beside(answer, next(replies))
        if answer.asked in _READS
        else replace(answer, own=answer.text if answer.by == "llm" else None)
        for answer in answers
    ]


def _beside(answer: Answer, reply: str | Failure) -> Answer:
    if isinstance(reply, Failure):
        return replace(answer, notes=(*answer.notes, f"what the model knows could not be asked: {why(reply)}"))
    own = answer_of(reply)
    if admits_nothing(own):
        return answer
    known = replace(answer, own=own)
    if answer.text is None or answer.strategy not in _READS or agree(own, answer.text):
        return known
    note = f"the passages say {answer.text!r}, the model by itself says {own!r}"
    return replace(known, conflict=True, notes=(*answer.notes, note))


# --- words ---------------------------------------------------------------------------------------------------


def _asked(question: Question) -> str:
    """The question, with the time found for it where its words hold no date: last year, an event, a time given."""
    when = asked_time(question.constraint)
    return question.text if not when or scan(question.text) else f"{question.text} (the time asked for: {when})"


def _nothing_fits(question: Question) -> str:
    when = asked_time(question.constraint)
    return f"no passage is dated inside the time that is asked for{f' ({when})' if when else ''}"
