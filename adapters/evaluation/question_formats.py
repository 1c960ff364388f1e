"""How each published question set writes a question: its fields -> EvalQuestion.

| format | known by the fields | a record holds |
|---|---|---|
| temprageval | question, time_relation (or time_specifier) | a question with answers and gold sentences |
| timeqa | idx, question, targets | a question with answers and its page |
| timeqa-pages | index, paras, questions | a page with several questions and their answers |
| situatedqa | edited_question, date | a question, the same with its date, and answers |
| mrag | question (or text), and one of answers, gold_passages, gold_evidence | a question in our own form |
| plain | question (or text) | a question alone: its gold comes from qrels |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mrag.adapters.datasets import question_of
from mrag.adapters.reading.field_dates import read_date
from mrag.adapters.reading.records import Record
from mrag.errors import InputError
from mrag.metrics import EvalQuestion

Fields = Mapping[str, object]

_BULKY = ("context", "paragraphs", "paras", "ctxs")  # whole pages, which would fill memory
_ASKING = ("question", "text", "query")
_GOLD = ("answers", "answer", "gold_passages", "gold_evidence", "gold_evidences")


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, whether the fields of a record are its own, and the questions of a record.

    ``published``: its ids may come twice or be missing, as they do in the files that are published.
    """

    name: str
    owns: Callable[[Fields], bool]
    read: Callable[[Record, str], Iterable[EvalQuestion]]
    published: bool = True


def format_of(record: Record) -> Format:
    """The format of a record; InputError names its place where it has none."""
    found = next((known for known in FORMATS if known.owns(record.fields)), None)
    if found is None:
        keys = ", ".join(list(map(str, record.fields))[:12])
        raise InputError(
            f'{record.place}: no question: a record holds "question" and "answers", "gold_passages" or'
            f" \"gold_evidence\", or has TempRAGEval's, TimeQA's or SituatedQA's fields (here: {keys})"
        )
    return found


# --- one function a format -----------------------------------------------------------------------------------


def _temprageval(record: Record, default_id: str) -> Iterator[EvalQuestion]:
    """The publisher's CSV by either naming of its columns, and the JSON that its tools make of it."""
    fields = record.fields
    evidence = [
        sentence
        for name in ("gold_evidence_1", "gold_evidence_2", "gold_evidences")
        for sentence in _texts(fields, name, record.place)
    ]
    relation = _text(fields, ("time_relation", "time_specifier"), record.place).strip().lower()
    column = "answers" if "answers" in fields else "answer"
    answers = _texts(fields, column, record.place, joined=True)
    if not answers and relation:
        raise InputError(f'{record.place}: no "{column}" value: write the answers with " | " between them')
    yield EvalQuestion(
        id=_text(fields, ("id",), record.place) or default_id,
        question=_question(fields, ("question",), record.place),
        answers=answers,
        gold_evidence=tuple(dict.fromkeys(evidence)),
        relation=relation,
        exact=_exact(fields, ("exact", "exact_time"), record.place),
        source=_text(fields, ("source", "original_dataset"), record.place).strip().lower(),
        # the original and the perturbed questions about a fact share answers and gold sentence, if they name no fact
        fact=_text(fields, ("source_id",), record.place) or ("\n".join([*answers, evidence[0]]) if evidence else ""),
        extra=_rest(
            fields,
            "id question answer answers gold_evidence_1 gold_evidence_2 gold_evidences time_relation time_specifier"
            " exact exact_time source original_dataset source_id",
        ),
    )


def _timeqa(record: Record, default_id: str) -> Iterator[EvalQuestion]:
    """A line of train, dev or test; ``targets`` [""] is a question without an answer."""
    fields = record.fields
    fact, level = (_text(fields, (name,), record.place) for name in ("idx", "level"))
    yield EvalQuestion(
        id=(f"{fact}/{level}" if level else fact) or default_id,
        question=_question(fields, ("question",), record.place),
        answers=_texts(fields, "targets", record.place),
        source="timeqa",
        fact=fact,
        extra=_rest(fields, "idx question targets from end"),
    )


def _timeqa_page(record: Record, default_id: str) -> Iterator[EvalQuestion]:
    """A page of human_annotated_train or human_annotated_test: [question, [{"answer", ...}, ...]] for each."""
    fields = record.fields
    page = _text(fields, ("index",), record.place) or default_id
    asked = fields["questions"]
    for number, pair in enumerate(asked if isinstance(asked, list) else [asked]):
        question, answers = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
        if isinstance(question, list):
            raise InputError(
                f"{record.place}: facts with dates, not questions (annotated_*.json):"
                " hand in human_annotated_*.json or dev.easy.json"
            )
        if not isinstance(question, str) or not isinstance(answers, list):
            raise InputError(f'{record.place}: "questions" holds something else than [question, [answers]]')
        texts = [item.get("answer") for item in answers if isinstance(item, dict)]
        identity = f"{page}#{number}"
        yield EvalQuestion(
            identity,
            question,
            _texts({"answer": texts}, "answer", record.place),
            source="timeqa",
            extra=_rest(fields, "index questions"),
        )


def _situatedqa(record: Record, _: str) -> Iterator[EvalQuestion]:
    """A line of temp.*.jsonl; its id names the question without the date, so ours has the date as well."""
    fields = record.fields
    fact = _text(fields, ("id", "example_id"), record.place) or _question(fields, ("question",), record.place)
    date = _date(fields, ("date",), record.place)
    yield EvalQuestion(
        id=f"{'-'.join(fact.split())}@{date}",
        question=_question(fields, ("edited_question",), record.place),
        answers=_texts(fields, "answer" if "answer" in fields else "answers", record.place),
        source="situatedqa",
        fact=fact,
        base=_text(fields, ("question",), record.place),
        reference=date,
        extra=_rest(fields, "id example_id question edited_question answer answers date"),
    )


def _own(record: Record, default_id: str) -> Iterator[EvalQuestion]:
    """Our own lines: what `mrag perturb` writes, and any JSON lines of this form."""
    fields, place = record.fields, record.place
    identity, question = question_of(fields, place, default_id)
    split, base = _text(fields, ("split",), place), _text(fields, ("base",), place)
    asked = next(name for name in _ASKING if fields.get(name) is not None)
    yield EvalQuestion(
        id=identity,
        question=question,
        answers=_texts(fields, "answers" if "answers" in fields else "answer", place),
        gold_passages=_ids(fields, "gold_passages", place),
        gold_evidence=_texts(fields, "gold_evidence" if "gold_evidence" in fields else "gold_evidences", place),
        relation=_named(fields, "relation", place),
        implicit=_named(fields, "implicit", place),
        exact=_exact(fields, ("exact",), place),
        source=_text(fields, ("source",), place),
        # "…#0/easy" and "…#0/hard" ask for one fact, and so do questions without ids over one base
        fact=_text(fields, ("fact", "source_id"), place)
        or (base if identity == default_id else identity.removesuffix(f"/{split}") if split else identity),
        base=base,
        reference=_date(fields, ("reference", "date"), place),
        grades=_grades(fields.get("grades"), place),
        extra=_rest(
            fields,
            f"id _id {asked} answers answer gold_passages gold_evidence gold_evidences relation implicit exact source"
            " fact source_id base reference date grades",
        ),
    )


FORMATS: tuple[Format, ...] = (
    Format(
        "temprageval",
        lambda f: "question" in f and ("time_relation" in f or "time_specifier" in f),
        _temprageval,
    ),
    Format("timeqa", lambda f: {"idx", "question", "targets"} <= f.keys(), _timeqa),
    Format("timeqa-pages", lambda f: {"index", "paras", "questions"} <= f.keys(), _timeqa_page),
    Format("situatedqa", lambda f: {"edited_question", "date"} <= f.keys(), _situatedqa),
    Format("mrag", lambda f: _asks(f) and any(name in f for name in _GOLD), _own, published=False),
    Format("plain", lambda f: _asks(f), _own, published=False),
)
"""The formats, the particular ones first."""


# --- fields --------------------------------------------------------------------------------------------------


def _asks(fields: Fields) -> bool:
    return any(name in fields for name in _ASKING)


def _rest(fields: Fields, taken: str) -> dict[str, object]:
    """The fields that are not ``taken``, without whole pages."""
    names = taken.split()
    return {name: value for name, value in fields.items() if name not in names and name not in _BULKY}


def _text(fields: Fields, names: Iterable[str], place: str) -> str:
    """The first of these fields that is there, "" without one."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            return str(value)
        if value is not None:
            raise InputError(f'{place}: "{name}" is no string: write a string or a number')
    return ""


def _date(fields: Fields, names: Sequence[str], place: str) -> str:
    """The first of these fields that is there as an ISO date, "" without one."""
    written = _text(fields, names, place)
    try:
        return str(read_date(written)) if written else ""
    except InputError as error:
        raise InputError(f'{place}: "{names[-1]}": {error}') from None


def _named(fields: Fields, name: str, place: str) -> str | None:
    return None if fields.get(name) is None else _text(fields, (name,), place)


def _question(fields: Fields, names: Iterable[str], place: str) -> str:
    text = " ".join(_text(fields, names, place).split())
    if not text:
        raise InputError(f'{place}: no "{next(iter(names))}" value')
    return text


def _texts(fields: Fields, name: str, place: str, *, joined: bool = False) -> tuple[str, ...]:
    """The strings of a field, each once, without blank ones: a list, a JSON list in a string, or a string.

    ``joined``: a string is several with " | " between them.
    """
    value = fields.get(name)
    if isinstance(value, str):
        value = _unpacked(value, f'{place}: "{name}"') or (value.split(" | ") if joined else [value])
    texts = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, bool) or not isinstance(item, (str, int, float, type(None))):
            raise InputError(f'{place}: "{name}" holds something else than strings')
        texts.append("" if item is None else " ".join(str(item).split()))
    return tuple(dict.fromkeys(filter(None, texts)))


def _unpacked(text: str, place: str) -> list[str] | None:
    """The strings of a JSON list in a string, None for any other string: a sentence may begin with a bracket."""
    if text.startswith(("['", "[ '")):
        raise InputError(f'{place} is a list as Python prints it: write it as JSON (["…", "…"])')
    try:
        value = json.loads(text) if text.startswith("[") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def _ids(fields: Fields, name: str, place: str) -> tuple[str, ...]:
    """A list of ids, as they are."""
    value = fields.get(name)
    ids = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(item, (str, int)) and not isinstance(item, bool) for item in ids):
        raise InputError(f'{place}: "{name}" holds something else than passage ids')
    return tuple(dict.fromkeys(map(str, ids)))


def _exact(fields: Fields, names: Iterable[str], place: str) -> bool | None:
    """1 or 0 in the ways in which programs write them, None for nothing."""
    for name in names:
        value = fields.get(name)
        if value is None or value == "":
            continue
        if (known := str(value).strip().lower()) in ("1", "1.0", "true"):
            return True
        if known in ("0", "0.0", "false"):
            return False
        raise InputError(f'{place}: "{name}" is {known[:40]!r}: 1 is the original date, 0 a perturbed one')
    return None


def _grades(value: object, place: str) -> dict[str, int]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(type(grade) is int and grade > 0 for grade in value.values()):
        raise InputError(f'{place}: "grades" is an object of passage ids and grades above 0')
    return dict(value)
