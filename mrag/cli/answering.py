"""Questions to answers, a batch at a time; where the language model is silent, by what there is without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mrag.cli import output as show
from mrag.cli import searches
from mrag.decompose import Reading
from mrag.errors import MragError
from mrag.pipeline import Ranking
from mrag.reader import Answer, Strategy, answer_many
from mrag.strategies import Failure, LanguageModel


@dataclass(frozen=True, slots=True)
class How:
    """How questions are answered: by a ``strategy`` that reads so many ``passages``; ``own``: and beside what the
    model knows."""

    strategy: Strategy
    passages: int
    own: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """A question as it was read, what was found for it, and its answer."""

    reading: Reading
    ranking: Ranking
    answer: Answer


class Heard:
    """A language model, and what was heard of it since that was asked last: replies, or why there was none."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._replied = False
        self._reason = ""

    def __call__(
        self, prompts: Sequence[str], *, max_tokens: int = 256, temperature: float = 0.0, stop: Sequence[str] = ()
    ) -> list[str | Failure]:
        replies = self._model(prompts, max_tokens=max_tokens, temperature=temperature, stop=stop)
        for reply in replies:
            if isinstance(reply, Failure):
                self._reason = reply.reason
            else:
                self._replied = True
        return replies

    def silence(self) -> str:
        """Why not one prompt got a reply since this was asked last; "" where one did, and where there was none."""
        reason = "" if self._replied else self._reason
        self._replied, self._reason = False, ""
        return show.on_one_line(reason)


def answered(
    search: searches.Search, opened: searches.Opened, texts: Sequence[str], model: Heard | None, how: How
) -> list[Answered]:
    """The questions read, searched for and answered.

    Where the model has replied to none of the prompts for their answers, these are extractive, and one note says it,
    with what else fell back. Raises MragError where there is no answer without it.
    """
    readings = searches.read(search, texts, model)
    unread = model is not None and model.silence() != ""
    rankings = list(searches.rankings(search, opened, [reading.question for reading in readings]))
    unsummed = model is not None and model.silence() != ""
    answers = answer_many(rankings, model=model, strategy=how.strategy, passages=how.passages, own_knowledge=how.own)
    if model is None or not (reason := model.silence()):
        return [Answered(*each) for each in zip(readings, rankings, answers, strict=True)]
    bare = answer_many(rankings, model=None, strategy=how.strategy, passages=how.passages)
    if how.strategy.startswith("direct"):
        raise MragError(
            f"the language model gave no reply ({reason}), and --strategy {how.strategy} has no other answer:"
            " start its server (mrag doctor looks for it), or take a --strategy that reads passages"
        )
    if all(answer.text is None for answer in bare):
        raise MragError(f"the language model gave no reply ({reason}), and no passage was found to answer from")
    found = []
    for reading, ranking, answer in zip(readings, rankings, bare, strict=True):
        by_rules = unread and reading.reason != ""
        fell_back = ["the question is read by the rules"] if by_rules else []
        if unsummed and any(summary.reason for summary in ranking.summaries):
            fell_back.append("summaries are extracts")
            ranking = replace(ranking, summaries=())
        found.append(
            Answered(
                replace(reading, reason="") if by_rules else reading,
                ranking,
                replace(answer, notes=_notes(answer, reason, fell_back)),
            )
        )
    return found


def _notes(answer: Answer, reason: str, fell_back: Sequence[str]) -> tuple[str, ...]:
    """The notes of an extractive answer, the first of which also says why it is one, and what else fell back."""
    first, *others = answer.notes
    last = first if answer.text is None else f"the answer is {first}"
    instead = f"{', '.join(fell_back)}, and {last}" if fell_back else last
    return (f"the language model gave no reply ({reason}): {instead}", *others)
