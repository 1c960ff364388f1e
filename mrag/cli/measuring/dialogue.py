"""The dialogue in which a person judges passages: what is shown, which keys there are, and where it goes on."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import click

from mrag.cli import output as show
from mrag.cli.measuring.marked import passage_lines
from mrag.cli.measuring.terminal import Terminal

if TYPE_CHECKING:
    from mrag.adapters.evaluation.judgements import JudgementFile
    from mrag.corpus import Passage
    from mrag.metrics import EvalQuestion

_WORDS = {"y": True, "n": False, "s": None}
_SAID = {True: "yes", False: "no", None: "skipped"}
_KEPT = 16  # questions whose passages are kept, for going back


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be judged: the questions, the passages of each, and what the judgement is.

    ``asks``: the question to the annotator. ``most``: so many passages of a question may be relevant, None for any
    number. ``find``: the passages that other words find, for a question whose passages are all irrelevant; None where
    every passage is to be judged, and no other.
    """

    questions: Sequence[EvalQuestion]
    passages: Callable[[EvalQuestion], list[Passage]]
    asks: str
    most: int | None = None
    find: Callable[[EvalQuestion, str], list[Passage]] | None = None


def hold(task: Task, file: JudgementFile) -> bool:
    """Asks an annotator about all that is open in a file; whether nothing is left.

    However it ends, it is said what is kept and how to go on.
    """
    dialogue = Dialogue(task, file)
    try:
        return dialogue.hold()
    except (KeyboardInterrupt, click.Abort):
        show.note("")
        raise
    finally:
        left, n = dialogue.open_question(), len(task.questions)
        if left is None:
            show.note(f"{file.path}: all {n:,} questions are done")
        elif not file.judged.judgements:
            show.note("nothing is judged yet")
        else:
            show.note(f"{file.path} keeps every judgement: the same command goes on with question {left:,} of {n:,}")


class _Place(NamedTuple):
    """A passage of a question by their numbers, from 0; the number behind the last stands for "none of these"."""

    question: int
    passage: int


class Dialogue:
    """The judgements of a task, one after the other, each kept in the file at once."""

    def __init__(self, task: Task, file: JudgementFile) -> None:
        self._task, self._file, self._judged = task, file, file.judged
        self._terminal = Terminal()
        self._found: dict[int, list[Passage]] = {}

    def hold(self) -> bool:
        """Asks until nothing is open (True), or the annotator stops (False)."""
        place = self._open()
        if place is not None:
            self._terminal.say(self._help())
        while place is not None:
            self._show(place)
            key = self._asked(place)
            if key is None or key == "q":
                self._terminal.say("")
                return False
            place = self._after(key, place)
        return True

    def open_question(self) -> int | None:
        """The number, from 1, of the first question that is open; None where all are done."""
        return next((number for number in range(1, len(self._task.questions) + 1) if self._is_open(number - 1)), None)

    # --- where it goes on ------------------------------------------------------------------------------------

    def _is_open(self, number: int) -> bool:
        question = self._task.questions[number].id
        return question not in self._judged.done and not self._is_full(question)

    def _is_full(self, question: str) -> bool:
        """Whether as many passages as there may be are relevant already."""
        return self._task.most is not None and len(self._judged.yes.get(question, ())) >= self._task.most

    def _open(self) -> _Place | None:
        """The first passage that is not judged; questions that have none left are closed on the way."""
        for number, question in enumerate(self._task.questions):
            if not self._is_open(number):
                continue
            passages = self._passages(number)
            for at, passage in enumerate(passages):
                if (question.id, passage.id) not in self._judged.judgements:
                    return _Place(number, at)
            if self._task.find is not None and not self._judged.yes.get(question.id):
                return _Place(number, len(passages))
            self._file.close_question(question.id)
        return None

    def _before(self, place: _Place) -> _Place | None:
        """The passage that was judged before this one, as far as it is known from the order of the questions."""
        for number in range(place.question, -1, -1):
            passages = self._passages(number)
            question = self._task.questions[number].id
            end = place.passage if number == place.question else len(passages)
            judged = [at for at in range(end) if (question, passages[at].id) in self._judged.judgements]
            if judged or (number < place.question and passages):
                return _Place(number, max(judged, default=0))
        return None

    def _passages(self, number: int) -> list[Passage]:
        """The passages of a question: those of the task, and those that were found since."""
        if number not in self._found:
            self._found[number] = self._task.passages(self._task.questions[number])
            if len(self._found) > _KEPT:
                del self._found[max(self._found, key=lambda other: abs(other - number))]
        return self._found[number]

    def _at(self, place: _Place) -> Passage | None:
        """The passage at a place; None where it stands for none of them."""
        passages = self._passages(place.question)
        return passages[place.passage] if place.passage < len(passages) else None

    # --- keys ------------------------------------------------------------------------------------------------

    def _asked(self, place: _Place) -> str | None:
        """The next key that does something here; None at the end of the input."""
        prompt = f"{self._task.asks if self._at(place) else 'And now?'} [{' '.join(self._keys_at(place))}] "
        while (key := self._terminal.key(prompt)) is not None:
            if key == "?":
                self._terminal.say(self._help())
            elif key not in self._keys_at(place):
                self._terminal.say(f"{key!r} is no key here: ? tells what the keys do")
            elif key == "y" and self._is_one_too_many(place):
                self._terminal.say(f"{self._task.most} passages are gold already: go back to one, and say n, first")
            elif key == "b" and self._before(place) is None:
                self._terminal.say("this is the first passage")
            else:
                return key
        return None

    def _keys_at(self, place: _Place) -> list[str]:
        judging = ["y", "n", "s"] if self._at(place) else []
        return [*judging, *("d/" if self._task.find is not None else ""), "b", "q", "?"]

    def _is_one_too_many(self, place: _Place) -> bool:
        question, passage = self._task.questions[place.question].id, self._at(place)
        relevant = self._judged.yes.get(question, {})
        return self._is_full(question) and passage is not None and passage.id not in relevant

    def _after(self, key: str, place: _Place) -> _Place | None:
        """Does what a key says; the place that is shown next, None where nothing is open any more."""
        question, passage = self._task.questions[place.question], self._at(place)
        if key == "b":
            self._terminal.say("back")
            return self._before(place)
        if key == "/":
            return self._search(place)
        if key == "d":
            self._terminal.say("done")
            self._file.close_question(question.id)
        elif passage is not None:
            self._terminal.say(_SAID[_WORDS[key]])
            self._file.judge(question.id, passage.id, _WORDS[key])
        return self._open()

    def _search(self, place: _Place) -> _Place | None:
        """Puts what other words find before the passages that are not judged yet."""
        question = self._task.questions[place.question]
        words = self._terminal.line("search the index for: ")
        passages = self._passages(place.question)
        known = {passage.id for passage in passages}
        found = [] if self._task.find is None or not words else self._task.find(question, words)
        new = [passage for passage in found if passage.id not in known]
        self._terminal.say(f"{len(new)} other passages" if new else "nothing else is found")
        passages[place.passage : place.passage] = new
        return place

    # --- what is shown ---------------------------------------------------------------------------------------

    def _show(self, place: _Place) -> None:
        question, passage = self._task.questions[place.question], self._at(place)
        n, room = len(self._passages(place.question)), self._terminal.width
        told = [f"question {place.question + 1} of {len(self._task.questions)}"]
        told += [f"passage {place.passage + 1} of {n}"] if passage else []
        told += [f"{len(self._judged.yes.get(question.id, ()))} gold so far"] if self._task.most is not None else []
        answers = " | ".join(question.answers) or "not known"
        lines = ["", show.dim(", ".join(told)), *map(show.bold, _wrap(question.question, room))]
        lines += [*_wrap(f"answers: {answers}", room), ""]
        if passage is None:
            lines += [f"None of {n} passages is gold: / searches for others, d leaves it so.", ""]
        else:
            lines += [*passage_lines(passage, question.answers, bold=self._terminal.bold, width=room), ""]
            if (pair := (question.id, passage.id)) in self._judged.judgements:
                lines.append(show.dim(f"so far: {_SAID[self._judged.judgements[pair]]}"))
        self._terminal.say("\n".join(lines))

    def _help(self) -> str:
        rows = [("y", "yes"), ("n", "no"), ("s", "skip: it cannot be told")]
        if self._task.find is not None:
            rows += [("d", "done: no more passages of this question"), ("/", "search the index for other passages")]
        rows += [("b", "back to the passage before"), ("q", "quit; everything is kept, as with Ctrl-C")]
        return "\n".join(f"  {key}  {meaning}" for key, meaning in rows)


def _wrap(text: str, room: int) -> list[str]:
    return textwrap.wrap(show.on_one_line(text), room) or [""]
