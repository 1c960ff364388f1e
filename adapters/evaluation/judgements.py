"""The file of an annotator's judgements: a line a decision, on the disk at once, so that it goes on where it stopped.

| line | what it says |
|---|---|
| {"format": "mrag-judgements", "version": 1, "about", "annotator", "how"} | the first: whose they are, how made |
| {"question", "passage", "judgement": "yes", "no" or "skip"} | the passage is relevant, is not, or cannot be told |
| {"question", "passage": null, "judgement": "done"} | no more passages of this question are to be judged |

The last line about a passage counts. A judgement behind its question's "done" takes the question up again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, get_args

from mrag.adapters.datasets import json_object
from mrag.adapters.evaluation.settings_kept import differences
from mrag.adapters.files import check_writable
from mrag.adapters.reading.lines import decode
from mrag.errors import InputError
from mrag.evaluation.agreement import Pair

About = Literal["evidence", "runs"]
"""What is judged: passages proposed as gold evidence, or what the systems of some runs found."""

MOST_BYTES = 256 * 2**20

_FORMAT = {"format": "mrag-judgements", "version": 1}
_WORDS: dict[str, bool | None] = {"yes": True, "no": False, "skip": None}
_DONE = "done"
_MOST_SHOWN, _LONGEST_SHOWN = 4, 60  # differences that an error names, and characters of a value


@dataclass(slots=True)
class Judged:
    """What a file holds: ``about`` what, by whom, with what settings (``how``), and the decisions in their order.

    ``yes``: the passages judged relevant for each question, in the order in which that was said; ``done``: the
    questions of which no more is to be judged, as keys.
    """

    about: str
    annotator: str
    how: dict[str, object]
    judgements: dict[Pair, bool | None] = field(default_factory=dict)
    yes: dict[str, dict[str, None]] = field(default_factory=dict)
    done: dict[str, None] = field(default_factory=dict)

    def take(self, question: str, passage: str, word: bool | None) -> None:
        """A judgement, in the place of one of before; its question is no longer done."""
        self.judgements[question, passage] = word
        relevant = self.yes.setdefault(question, {})
        relevant.pop(passage, None)
        if word:
            relevant[passage] = None
        self.done.pop(question, None)


def read_judgements(path: str | Path) -> Judged:
    """What a file of judgements holds; a last line that was never ended is not looked at.

    Raises InputError for a file that is none, and with the line for one that says nothing.
    """
    path = Path(path)
    content = _whole_lines(path)
    if not content:
        raise InputError(f"{path}: holds no judgements: `mrag annotate QUESTIONS -o {path}` writes them")
    return _parsed(path, content)


class JudgementFile:
    """The judgements of one annotator, read from a file if it is there, each new one written behind them.

    >>> from tempfile import TemporaryDirectory
    >>> place, how = TemporaryDirectory(), {"questions": "2", "k": 20}
    >>> with JudgementFile(f"{place.name}/ida.jsonl", "evidence", how) as file:
    ...     file.judge("q1", "p3", True)
    >>> with JudgementFile(f"{place.name}/ida.jsonl", "evidence", how) as file:  # later, the same again
    ...     file.judge("q1", "p3", False)
    ...     file.judged.annotator, file.judged.judgements
    ('ida', {('q1', 'p3'): False})
    >>> JudgementFile(f"{place.name}/ida.jsonl", "evidence", how | {"k": 5}).__enter__()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mrag.errors.InputError: ...: holds judgements that were made otherwise (k: 20 there, 5 now): ...
    >>> place.cleanup()
    """

    def __init__(self, path: str | Path, about: About, how: Mapping[str, object], annotator: str | None = None) -> None:
        """``how``: the questions and settings, as JSON has them, compared with those of the file.

        ``annotator``: who judges; the one that the file names, and for a new file the name of the file, if not given.
        """
        self.path = Path(path)
        self.judged = Judged(about, annotator or self.path.name.split(".")[0], json.loads(json.dumps(how)))
        self._named = annotator is not None
        self._begun = False
        self._stream: IO[bytes] | None = None

    def __enter__(self) -> JudgementFile:
        """Reads the file, if there is one; a line that a killed process left half written goes.

        Raises InputError for another file, for judgements of another annotator or other settings, and for a file that
        cannot be written. Nothing is written before the first judgement.
        """
        with _disk_errors(self.path):
            if not self.path.is_file():
                check_writable(self.path)
                return self
        if content := _whole_lines(self.path):
            found = _parsed(self.path, content)
            self._check(found)
            self.judged, self._begun = found, True
        with _disk_errors(self.path), self.path.open("r+b") as stream:
            stream.truncate(len(content))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()

    def judge(self, question: str, passage: str, word: bool | None) -> None:
        """Keeps a judgement, which takes up again a question that was done; on the disk when this returns."""
        shown = next(name for name, value in _WORDS.items() if value is word)
        self._write({"question": question, "passage": passage, "judgement": shown})
        self.judged.take(question, passage, word)

    def close_question(self, question: str) -> None:
        """Keeps that no more of a question is to be judged; on the disk when this returns."""
        self._write({"question": question, "passage": None, "judgement": _DONE})
        self.judged.done[question] = None

    def _check(self, found: Judged) -> None:
        mine, theirs = ({"about": one.about, **one.how} for one in (self.judged, found))
        if self._named:
            mine["annotator"], theirs["annotator"] = self.judged.annotator, found.annotator
        if mine != theirs:
            raise InputError(
                f"{self.path}: holds judgements that were made otherwise ({differences(theirs, mine)}):"
                " name another file, or give the options of before"
            )

    def _write(self, row: Mapping[str, object]) -> None:
        """Behind the lines that are there, in one piece, down to the disk."""
        with _disk_errors(self.path):
            if self._stream is None:
                self._stream = self.path.open("ab")
            judged = self.judged
            head = {**_FORMAT, "about": judged.about, "annotator": judged.annotator, "how": judged.how}
            rows = [row] if self._begun else [head, row]
            self._stream.write("".join(json.dumps(one) + "\n" for one in rows).encode("ascii"))
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._begun = True


def _whole_lines(path: Path) -> bytes:
    """The content of a file up to its last line end."""
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"{path}: more than {MOST_BYTES >> 20} MB: no file of judgements")
    if content and b"\n" not in content[:MOST_BYTES]:
        raise InputError(f"{path}: no file of judgements: name a new one")
    return content[: content.rfind(b"\n") + 1]


def _parsed(path: Path, content: bytes) -> Judged:
    first, *lines = content.split(b"\n")
    try:
        head = json_object(decode(first, f"{path}:1"), f"{path}:1")
    except InputError:
        head = {}
    about, annotator, how = head.get("about"), head.get("annotator"), head.get("how")
    if (
        {name: head.get(name) for name in _FORMAT} != _FORMAT
        or about not in get_args(About)
        or not isinstance(annotator, str)
        or not isinstance(how, dict)
    ):
        raise InputError(f"{path}: no file of judgements, or one of another version of mrag: name a new one")
    judged = Judged(str(about), annotator, how)
    for number, raw in enumerate(lines, 2):
        if raw.strip():
            place = f"{path}:{number}"
            _read_decision(judged, json_object(decode(raw, place), place), place)
    return judged


def _read_decision(judged: Judged, row: Mapping[str, object], place: str) -> None:
    question, passage, word = row.get("question"), row.get("passage"), row.get("judgement")
    if isinstance(question, str) and isinstance(passage, str) and isinstance(word, str) and word in _WORDS:
        judged.take(question, passage, _WORDS[word])
    elif isinstance(question, str) and passage is None and word == _DONE:
        judged.done[question] = None
    else:
        raise InputError(f'{place}: no judgement: a line has "question", "passage" and "judgement" (yes, no or skip)')


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
