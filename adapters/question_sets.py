"""Question sets with gold: a file or a BEIR folder, its format told by its content -> EvalQuestions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from mrag.adapters.evaluation.question_formats import Format, format_of
from mrag.adapters.reading.records import read_records
from mrag.adapters.runs import read_qrels
from mrag.errors import InputError
from mrag.metrics import EvalQuestion

NO_TIME = "without a time"
NO_GOLD = "without answers and gold"
_SPLITS = ("test", "dev", "validation", "train")


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions to evaluate; ``format`` is the format's name, ``left_out`` how many were left out, by reason."""

    format: str
    questions: tuple[EvalQuestion, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)


def read_question_set(
    path: str | Path, *, split: str | None = None, qrels: str | Path | None = None, timeless: bool = False
) -> QuestionSet:
    """The questions of a file or folder that hold something to judge by, in its order.

    - A file of a format of ``question_formats``: CSV, TSV, JSON lines or a JSON list, plain or gzip.
    - A BEIR folder: queries.jsonl with qrels/SPLIT.tsv (``split``; else test, dev, validation or train, the first
      that is there).
    - ``qrels``: a file of gold passages for the questions of a file, in the place of those that it names itself.

    TempRAGEval's rows without a time relation are left out, as the paper does, unless ``timeless``. Ids that come twice
    in a published set get "~2", "~3" ...; in our own form they are an error. Without an id, file name and line number
    are the id. Whole pages (TimeQA's context) are not kept. Memory is that of the questions, not of the file.

    Raises InputError with the place and the way out for what cannot be used, and for a set without any question.
    """
    path = Path(path)
    if path.is_dir():
        if qrels is None:
            qrels = _qrels_of_folder(path, split)
        path = _queries_of_folder(path)
    elif split is not None:
        raise InputError(f"{path}: a file has no split {split!r}: name the file of that split")
    kind, found = _read(path)
    if kind.name == "plain" and qrels is None:
        raise InputError(
            f'{path}: questions without "answers", "gold_passages" or "gold_evidence": add one, or hand in qrels'
        )
    if qrels is not None:
        found = _with_gold(found, read_qrels(qrels))
    left_out: Counter[str] = Counter()
    kept = []
    for question in found:
        if kind.name == "temprageval" and not question.relation and not timeless:
            left_out[NO_TIME] += 1
        elif not question.judged:
            left_out[NO_GOLD] += 1
        else:
            kept.append(question)
    if not kept:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "it is empty"
        raise InputError(f"{path}: holds no question that can be judged ({reasons})")
    return QuestionSet(kind.name, tuple(_named_facts(kept)), dict(left_out))


def _read(path: Path) -> tuple[Format, Iterator[EvalQuestion]]:
    """The format of a file's first record, and the questions of all of them."""
    records = read_records(path)
    first = next(records, None)
    if first is None:
        raise InputError(f"{path}: holds no questions")
    kind = format_of(first)

    def questions() -> Iterator[EvalQuestion]:
        taken: dict[str, str] = {}
        again: Counter[str] = Counter()
        for record in chain([first], records):
            if not kind.owns(record.fields):
                raise InputError(f"{record.place}: lacks the fields of the records above ({kind.name})")
            for question in kind.read(record, f"{path.name}:{record.number}"):
                identity = question.id
                while identity in taken:
                    if not kind.published:
                        raise InputError(
                            f"{record.place}: the id {identity!r} is taken at {taken[identity]}: give each its own"
                        )
                    again[question.id] += 1
                    identity = f"{question.id}~{again[question.id] + 1}"
                taken[identity] = record.place
                yield question if identity == question.id else replace(question, id=identity)

    return kind, questions()


def _named_facts(questions: list[EvalQuestion]) -> Iterator[EvalQuestion]:
    """The questions with short names for their facts: the id of the first question about it, if it is a text."""
    names: dict[str, str] = {}
    for question in questions:
        name = question.fact
        if "\n" in name:  # answers and gold sentence, where a set does not name its facts
            name = names.setdefault(name, question.id)
        yield question if name == question.fact else replace(question, fact=name)


# --- qrels ---------------------------------------------------------------------------------------------------


def _with_gold(questions: Iterator[EvalQuestion], qrels: Mapping[str, Mapping[str, int]]) -> Iterator[EvalQuestion]:
    for question in questions:
        gold = {passage: grade for passage, grade in qrels.get(question.id, {}).items() if grade > 0}
        grades = {passage: grade for passage, grade in gold.items() if grade != 1}
        yield replace(question, gold_passages=tuple(gold), grades=grades)


def _queries_of_folder(folder: Path) -> Path:
    found = next((folder / name for name in ("queries.jsonl", "queries.jsonl.gz") if (folder / name).is_file()), None)
    if found is None:
        raise InputError(f"{folder}: a folder without queries.jsonl: name the file of questions")
    return found


def _qrels_of_folder(folder: Path, split: str | None) -> Path:
    there = sorted((folder / "qrels").glob("*.tsv"))
    wanted = next((path for name in ([split] if split else _SPLITS) for path in there if path.stem == name), None)
    if wanted is None:
        names = ", ".join(path.stem for path in there) or "none"
        raise InputError(
            f"{folder}: no qrels/{split or 'test'}.tsv (splits there: {names}): name a file, or a folder of BEIR"
        )
    return wanted
