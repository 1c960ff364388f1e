"""Two annotators of the same passages: how far they agree, on what not, and what both say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.adapters.evaluation.judgements import read_judgements
from mrag.cli import output as show
from mrag.cli.measuring import gold, human
from mrag.cli.measuring.figures import Line
from mrag.cli.measuring.run_passages import read_systems, rows_of
from mrag.cli.searches import open_index
from mrag.errors import InputError
from mrag.evaluation.agreement import Agreement, Judgements, Pair, agreement, both

if TYPE_CHECKING:
    from mrag.cli.measuring.selection import Asked
    from mrag.corpus import Corpus
    from mrag.evaluation.bootstrap import Estimate
    from mrag.metrics import EvalQuestion

_LONGEST_NAME = 24
_CELLS = ("yes-yes", "yes-no", "no-yes", "no-no")


def compare(
    files: tuple[Path, Path],
    asked: Asked | None,
    runs: Sequence[Path],
    index: Path | None,
    write: Path | None,
    *,
    as_json: bool,
) -> None:
    """Reports how far two annotators agree; with questions also what both name as gold (``write``), or how relevant
    each of them, and both, found the systems of the ``runs``."""
    questions = () if asked is None else asked.questions
    annotators = Annotators(*files, questions)
    table: list[Line] = []
    k = 1
    if asked is not None and runs:
        systems = read_systems(runs)
        k = annotators.depth(systems)
        done = annotators.done(questions)
        for name, judgements in annotators.voices().items():
            table += human.lines(systems, done, judgements, name, k, asked.choice.seed)
    report(annotators, questions, None if index is None else open_index(index).corpus, as_json=as_json)
    if table:
        human.report(table, k, as_json=as_json)
    if write is not None:
        gold.write_gold(write, questions, annotators.gold(questions))


class Annotators:
    """Two files of judgements of the same kind."""

    def __init__(self, first: Path, second: Path, questions: Sequence[EvalQuestion] = ()) -> None:
        """Reads both, of the ``questions`` alone where there are any.

        Raises InputError where they judge different things, or have nothing in common.
        """
        self.first, self.second = read_judgements(first), read_judgements(second)
        if questions:
            asked = {question.id for question in questions}
            for judged in (self.first, self.second):
                judged.judgements = {pair: word for pair, word in judged.judgements.items() if pair[0] in asked}
        if self.first.about != self.second.about:
            raise InputError(f"{first} judges {self.first.about}, {second} {self.second.about}: compare two of a kind")
        if not self.first.judgements.keys() & self.second.judgements.keys():
            which = " of these questions" if questions else ""
            raise InputError(f"{first} and {second} have no judged passage{which} in common")
        names = [show.shorten(judged.annotator, _LONGEST_NAME) for judged in (self.first, self.second)]
        self.names = names if len({*names, "both"}) == 3 else [str(first), str(second)]
        self.both = both(self.first.judgements, self.second.judgements)

    def done(self, questions: Sequence[EvalQuestion]) -> list[EvalQuestion]:
        """The questions that both have done."""
        return [
            question
            for question in questions
            if all(gold.is_done(judged, question.id) for judged in (self.first, self.second))
        ]

    def gold(self, questions: Sequence[EvalQuestion]) -> dict[str, list[str]]:
        """The gold passages that both name, by question, for those that both have done (Appendix C.2)."""
        return {
            question.id: [
                passage for passage in self.first.yes.get(question.id, ()) if self.both.get((question.id, passage))
            ]
            for question in self.done(questions)
        }

    def voices(self) -> dict[str, Judgements]:
        """The judgements of each of them, and of both."""
        first, second = self.names
        return {first: self.first.judgements, second: self.second.judgements, "both": self.both}

    def depth(self, systems: human.Systems) -> int:
        """How many passages of each system they judged; InputError where these are not the runs that they judged."""
        hashes, depths = human.run_hashes(systems), []
        for name, judged in zip(self.names, (self.first, self.second), strict=True):
            k = judged.how.get("k")
            if judged.how.get("runs") != hashes or type(k) is not int or k < 1:
                raise InputError(f"not the runs that {name} judged: name each of those with --run, and no other")
            depths.append(k)
        if depths[0] != depths[1]:
            raise InputError(f"one judged the first {depths[0]} passages, the other {depths[1]}: compare equal depths")
        return depths[0]


# --- the report ----------------------------------------------------------------------------------------------


def report(annotators: Annotators, questions: Sequence[EvalQuestion], corpus: Corpus | None, *, as_json: bool) -> None:
    """How far they agree and on what not, on standard output; with the texts, where ``questions`` and a corpus are."""
    asked = {question.id: question for question in questions}
    facts = {name: question.fact for name, question in asked.items()}
    found = agreement(annotators.first.judgements, annotators.second.judgements, facts)
    rows = _disagreements(annotators, found.disagreements, asked, corpus)
    if as_json:
        show.write_json({**_row(annotators, found), "disagreements": rows})
        return
    show.write(_text(annotators.names, found))
    labels = dict(zip(("first", "second"), annotators.names, strict=True))
    for row in rows:
        show.write("")
        show.write(show.fields([(labels.get(name, name), show.on_one_line(str(row[name]))) for name in row]))


def _row(annotators: Annotators, found: Agreement) -> dict[str, object]:
    return {
        "annotators": annotators.names,
        "about": annotators.first.about,
        "n": found.raw.n,
        "raw": _figure(found.raw),
        "kappa": _figure(found.kappa),
        "table": dict(zip(_CELLS, found.table, strict=True)),
        "skipped": found.skipped,
        "alone": found.alone,
    }


def _figure(figure: Estimate) -> dict[str, float | None]:
    low, high = figure.interval or (None, None)
    return {"value": None if math.isnan(figure.value) else figure.value, "low": low, "high": high}


def _text(names: Sequence[str], found: Agreement) -> str:
    """The table of what both said, and the figures below it."""
    first, second = names
    counts = [f"{count:,}" for count in found.table]
    head = ["", f"{second}: yes", f"{second}: no"]
    body = [[f"{first}: yes", *counts[:2]], [f"{first}: no", *counts[2:]]]
    sizes = [max(len(row[i]) for row in [head, *body]) for i in range(3)]
    table = ["  ".join(cell.rjust(size) for cell, size in zip(row, sizes, strict=True)) for row in [head, *body]]
    figures = [
        ("raw agreement", _shown(found.raw, 100, 1)),
        ("Cohen's kappa", _shown(found.kappa, 1, 2)),
        ("over", f"{found.raw.n:,} passages that both said yes or no to"),
        ("not in it", f"{found.skipped:,} that one of them skipped, {found.alone:,} that only one judged"),
    ]
    return "\n".join([*table, "", show.fields(figures)])


def _shown(figure: Estimate, scale: int, digits: int) -> str:
    if math.isnan(figure.value):
        return "-"
    ends = [f"{scale * end:.{digits}f}" for end in figure.interval or ()]
    return f"{scale * figure.value:.{digits}f} [{', '.join(ends) or '–'}]"


def _disagreements(
    annotators: Annotators, pairs: Sequence[Pair], asked: Mapping[str, EvalQuestion], corpus: Corpus | None
) -> list[dict[str, object]]:
    """The passages on which they disagree, with what each said, and the texts where they are at hand."""
    rows = {} if corpus is None else rows_of(corpus, frozenset(passage for _, passage in pairs))
    found = []
    for pair in pairs:
        question, passage = pair
        said = ["yes" if judged.judgements[pair] else "no" for judged in (annotators.first, annotators.second)]
        row: dict[str, object] = {"id": question, "passage": passage, "first": said[0], "second": said[1]}
        if question in asked:
            row |= {"question": asked[question].question, "answers": " | ".join(asked[question].answers)}
        if corpus is not None and passage in rows:
            row |= {"title": corpus.titles[rows[passage]], "text": corpus.texts[rows[passage]]}
        found.append(row)
    return found
