"""The folder of an evaluation: what its system gave so far, kept batch by batch, so that it goes on where it stopped.

| file | what it holds |
|---|---|
| how.json | what the evaluation is made with; another one may not go on in this folder |
| run.jsonl | {"id", "ranking"} of each question that is done, in the order in which they were done |
| answers.jsonl | {"id", "answer", …} of each, where answers are asked for |
| others | what is written at the end: figures.json, table.md, run.trec |

A question counts as done by its line in run.jsonl, which is written last.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

from mrag.adapters.evaluation.outputs import ANSWERS, RUN, Answers, read_answers
from mrag.adapters.evaluation.settings_kept import differences
from mrag.adapters.files import write_whole
from mrag.adapters.index import lock
from mrag.adapters.reading.lines import MAX_LINE
from mrag.adapters.runs import Rankings, read_run
from mrag.errors import InputError

HOW = "how.json"
_FORMAT = {"format": "mrag-evaluation", "version": 1}
_BLOCK = 2**16


class RunFolder:
    """An evaluation's folder, held by one process at a time.

    >>> from tempfile import TemporaryDirectory
    >>> place, how = TemporaryDirectory(), {"system": "bm25", "k": 20}
    >>> with RunFolder(place.name, how) as folder:
    ...     folder.add({"q1": ["p3", "p1"]})
    >>> with RunFolder(place.name, how) as folder:  # later, the same again
    ...     folder.add({"q1": ["p9"], "q2": ["p2"]})
    ...     folder.rankings
    {'q1': ('p3', 'p1'), 'q2': ('p2',)}
    >>> RunFolder(place.name, how | {"k": 5}).__enter__()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mrag.errors.InputError: ...: holds an evaluation that was made otherwise (k: 20 there, 5 now): ...
    >>> place.cleanup()
    """

    def __init__(self, path: str | Path, how: Mapping[str, object]) -> None:
        """``how``: all that decides what the system gives, as JSON has it; compared with that of the folder."""
        self.path = Path(path)
        self.rankings: Rankings = {}
        self.answers: Answers = {}
        self._how: dict[str, object] = json.loads(json.dumps(how))
        self._begun = False
        self._stack = ExitStack()

    def __enter__(self) -> RunFolder:
        """Takes the folder, or reads what it holds; a line that a killed process left half written goes.

        Raises InputError for a folder that holds something else, was made otherwise, or cannot be written, and
        IndexFormatError where another evaluation is writing it.
        """
        with ExitStack() as stack, _disk_errors(self.path):
            if self.path.is_file():
                raise InputError(f"{self.path}: a file, not a folder: name a new or an empty folder")
            if not self.path.exists():
                stack.callback(self._forget_folder)
            self.path.mkdir(parents=True, exist_ok=True)
            stack.enter_context(lock.locked(self.path, "another evaluation is writing this folder"))
            stack.callback(self._forget_lock)
            before = self._before()
            if before is not None and before != self._how:
                raise InputError(
                    f"{self.path}: holds an evaluation that was made otherwise ({differences(before, self._how)}):"
                    " name another folder, or delete this one"
                )
            self._begun = before is not None
            run, answers = self.path / RUN, self.path / ANSWERS
            self.rankings = read_run(run) if _has_lines(run) else {}
            self.answers = read_answers(answers) if _has_lines(answers) else {}
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def add(
        self, rankings: Mapping[str, Sequence[str]], answers: Mapping[str, Mapping[str, object]] | None = None
    ) -> None:
        """Keeps what the system gave to a batch of questions; it is on the disk when this returns.

        ``answers``: for each question a JSON object with the ``answer`` (a string or None) and what else is to be
        known of it. What is kept of a question already stays as it is. Raises InputError for what the disk refuses.
        """
        told = {name: row for name, row in (answers or {}).items() if name not in self.answers}
        ranked = {name: tuple(dict.fromkeys(found)) for name, found in rankings.items() if name not in self.rankings}
        self._begin()
        with _disk_errors(self.path):
            _append(self.path / ANSWERS, ({"id": name, **row} for name, row in told.items()))
            _append(self.path / RUN, ({"id": name, "ranking": list(found)} for name, found in ranked.items()))
        self.answers.update({name: _text(row.get("answer")) for name, row in told.items()})
        self.rankings.update(ranked)

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Writes a file of the folder, all or nothing. Raises InputError for what the disk refuses."""
        self._begin()
        write_whole(self.path / name, lines)

    def _begin(self) -> None:
        """Says what the evaluation is made with, before the first file: a command that fails early leaves nothing."""
        if not self._begun:
            write_whole(self.path / HOW, [json.dumps({**_FORMAT, "how": self._how}, indent=1, ensure_ascii=False)])
            self._begun = True

    def _before(self) -> dict[str, object] | None:
        """What the evaluation in this folder was made with; None for an empty folder."""
        path = self.path / HOW
        try:
            with path.open("rb") as stream:
                record = json.loads(stream.read(MAX_LINE))
        except FileNotFoundError:
            foreign = sorted(entry.name for entry in self.path.iterdir() if not _ours(entry.name))
            if foreign:
                shown = ", ".join(foreign[:3]) + (", …" if len(foreign) > 3 else "")
                raise InputError(f"{self.path}: holds other files ({shown}): name a new or an empty folder") from None
            return None
        except (ValueError, RecursionError):
            record = None
        how = record.get("how") if isinstance(record, dict) else None
        if not isinstance(how, dict) or {name: record.get(name) for name in _FORMAT} != _FORMAT:
            raise InputError(f"{path}: damaged, or of another version of mrag: name another folder")
        return how

    def _forget_lock(self) -> None:
        with suppress(OSError):
            (self.path / lock.NAME).unlink()

    def _forget_folder(self) -> None:
        with suppress(OSError):
            self.path.rmdir()  # only an empty one goes


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{error.filename or path}: cannot be written: {error.strerror or error}") from None


def _ours(name: str) -> bool:
    """Whether a file may lie in a folder whose evaluation never began: a lock, or the rest of a killed process."""
    return name in (lock.NAME, lock.FALLBACK) or (name.startswith(f".{HOW}.") and name.endswith(".part"))


def _append(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Writes the rows behind those that are there, in one piece, down to the disk."""
    content = "".join(json.dumps(row) + "\n" for row in rows).encode("ascii")
    if content:
        with path.open("ab") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())


def _has_lines(path: Path) -> bool:
    """Whether a file holds whole lines; what stands behind the last of them is cut off."""
    if not path.exists():
        return False
    with path.open("r+b") as stream:
        end = stream.seek(0, os.SEEK_END)
        kept = 0
        for start in range((end - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
            stream.seek(start)
            if (at := stream.read(_BLOCK).rfind(b"\n")) >= 0:
                kept = start + at + 1
                break
        if kept < end:
            stream.truncate(kept)
    return kept > 0


def _text(answer: object) -> str | None:
    return None if answer is None else str(answer)
