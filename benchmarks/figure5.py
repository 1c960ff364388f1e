"""The paper's Figure 5 (Appendix A): how the similarity of question and document goes with the document's date.

python benchmarks/figure5.py [--encoder NAME=MODEL …] [--reranker NAME=MODEL …] [--question TEXT] [--document TEXT]
                             [-o RESULTS] [--plot FILE.png]

A question with each temporal relation and one date is held against a document that says the fact with another date:
other years on another day, other years on the same day of the year, the asked day itself, and no date. A model that
reasons about time scores documents by whether they lie before or after, one that matches dates has its peak at the
asked year whatever the relation. The paper's models are contriever (--encoder), minilm and gemma (--reranker). MRAG's
own score is semantic x temporal of the document's sentence, with the semantic score of words or of the model.

Scores are those of the model itself: cosine or dot product of an encoder, [0, 1] of a reranker and of MRAG.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from charts import kind_of, save
from harness import named, parser, run
from systems import Models
from tables import Table, markdown

from mrag.adapters.index.encoding import StoredEncoder, encode
from mrag.columns import Float32
from mrag.corpus import Passage
from mrag.errors import InputError
from mrag.pipeline import rank_texts
from mrag.strategies import Scorer, Strategies

QUESTION = "Who was appointed head of the harbour board {when}?"
DOCUMENT = "Ida Moe was appointed head of the harbour board{on}."

ASKED = 1961
_DAY, _OTHER_DAY = "14 May", "3 September"
YEARS = tuple(range(ASKED - 4, ASKED + 5))

RELATIONS: Mapping[str, str] = {
    "before": f"before {_DAY} {ASKED}",
    "by": f"by {_DAY} {ASKED}",
    "until": f"until {_DAY} {ASKED}",
    "as of": f"as of {_DAY} {ASKED}",
    "in": f"in May {ASKED}",
    "on": f"on {_DAY} {ASKED}",
    "around": f"around {_DAY} {ASKED}",
    "since": f"since {_DAY} {ASKED}",
    "after": f"after {_DAY} {ASKED}",
    "between": f"between {_DAY} {ASKED - 1} and {_DAY} {ASKED + 1}",
    "from to": f"from {_DAY} {ASKED - 1} to {_DAY} {ASKED + 1}",
}
"""How a question asks with each relation."""

DATES: Mapping[str, tuple[str, ...]] = {
    "another day": tuple(f"{_OTHER_DAY} {year}" for year in YEARS),
    "the same day": tuple(f"{_DAY} {year}" for year in YEARS),
}
"""The days of the documents, a document for each of YEARS."""

Similarity = Callable[[str, Sequence[str]], Float32]
"""A question and documents -> the score of each."""

MODELS: Mapping[str, tuple[str, str]] = {
    "contriever": ("encoder", "Contriever"),
    "minilm": ("reranker", "MiniLM reranker"),
    "gemma": ("reranker", "Gemma"),
}
"""The paper's models: the option that gives each, and its title."""


def cosines(encoder: StoredEncoder, question: str, documents: Sequence[str]) -> Float32:
    """How near the vectors lie, by the encoder's own metric."""
    found: Float32 = encode(encoder, documents) @ encode(encoder, [question], "query")[0]
    return found


def ours(scorer: Scorer | None, question: str, documents: Sequence[str]) -> Float32:
    """MRAG's score of each document's sentence: semantic x temporal."""
    passages = [Passage(str(at), text) for at, text in enumerate(documents)]
    scores = np.zeros(len(passages), dtype=np.float32)
    for evidence in rank_texts(question, passages, given=Strategies(scorer=scorer)).evidence:
        scores[int(evidence.passage.id)] = evidence.semantic * evidence.temporal
    return scores


def similarities(models: Models) -> dict[str, Similarity | str]:
    """The models by their titles, the paper's first; for one that is not given the option that it needs."""
    found: dict[str, Similarity | str] = {
        title: f"--{kind} {name}=…" for name, (kind, title) in MODELS.items() if name not in getattr(models, f"{kind}s")
    }
    given: dict[str, Similarity | str] = {}
    titles = {(kind, name): title for name, (kind, title) in MODELS.items()}
    for name in models.encoders:
        encoder = models.encoder(name)
        given[titles.get(("encoder", name), f"{name} (encoder)")] = partial(cosines, encoder)
        given[f"MRAG, {name}"] = partial(ours, _in_unit(encoder))
    for name in models.rerankers:
        scorer = models.scorer(name)
        given[titles.get(("reranker", name), f"{name} (reranker)")] = scorer
        given[f"MRAG, {name} (reranker)"] = partial(ours, scorer)
    return {**found, **given, "MRAG, words": partial(ours, None)}


def _in_unit(encoder: StoredEncoder) -> Scorer:
    """An encoder as a Scorer: cosines, or dot products over that of the text with itself, in [0, 1]."""

    def scores(query: str, texts: Sequence[str]) -> Float32:
        vectors = encode(encoder, texts)
        scale = 1.0 if encoder.metric == "cosine" else float(np.square(vectors).sum(axis=1).mean()) or 1.0
        found: Float32 = np.clip(vectors @ encode(encoder, [query], "query")[0] / scale, 0.0, 1.0)
        return found

    return scores


def curves(similarity: Similarity, question: str, document: str) -> dict[str, dict[str, list[float]]]:
    """Relation -> "another day", "the same day" (a score for each of YEARS), and "undated" (one score)."""
    texts = [document.format(on=f" on {date}") for dates in DATES.values() for date in dates]
    texts.append(document.format(on=""))
    found = {}
    for relation, when in RELATIONS.items():
        scores = similarity(question.format(when=when), texts).tolist()
        rows = {days: scores[at * len(YEARS) : (at + 1) * len(YEARS)] for at, days in enumerate(DATES)}
        found[relation] = {**rows, "undated": scores[-1:]}
    return found


def table(title: str, found: Mapping[str, Mapping[str, Sequence[float]]]) -> Table:
    """The scores of a model: a row for each relation and each kind of day."""
    rows = [
        [relation, days, *(f"{score:.2f}" for score in scores[days]), f"{scores['undated'][0]:.2f}"]
        for relation, scores in found.items()
        for days in DATES
    ]
    return Table(title, [], ["asked", "document on", *map(str, YEARS), "undated"], rows, 2)


def draw(models: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], path: Path) -> None:
    """A row of panels for each model, a panel a relation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * len(RELATIONS), 2.8 * len(models)), layout="constrained")
    panels: Any = figure.subplots(len(models), len(RELATIONS), squeeze=False, sharey="row")
    for row, (title, found) in zip(panels, models.items(), strict=True):
        for axes, (relation, scores) in zip(row, found.items(), strict=True):
            for days, marker in zip(DATES, ("o", "^"), strict=True):
                axes.plot(YEARS, scores[days], marker=marker, markersize=4, label=days)
            axes.axhline(scores["undated"][0], linestyle="--", color="tab:orange", label="undated")
            axes.axvline(ASKED, linewidth=0.5, color="grey")
            axes.set_title(f"{title}: {relation}", fontsize="small", parse_math=False)
            axes.tick_params(labelsize="x-small")
        row[0].legend(fontsize="x-small")
    save(figure, path)


def command(options: argparse.Namespace, stack: ExitStack) -> Generator[str, None, dict[str, object]]:
    """The lines of the tables."""
    if "{when}" not in options.question or "{on}" not in options.document:
        raise InputError("--question needs {when} where its time stands, and --document {on} where its date stands")
    if options.plot is not None:
        kind_of(options.plot)
    yield from (f"## Figure 5: {options.question.format(when='…')}  {options.document.format(on=' on …')}", "")
    record: dict[str, object] = {}
    found = {}
    for title, similarity in similarities(Models({}, named(options.encoder), named(options.reranker))).items():
        if isinstance(similarity, str):
            record[title] = {"not run": f"needs {similarity}"}
            yield from (f"### {title}", "", f"not run: needs {similarity}", "")
            continue
        record[title] = found[title] = curves(similarity, options.question, options.document)
        yield from markdown(table(title, found[title]))
    if options.plot is not None:
        draw(found, options.plot)
    return {"question": options.question, "document": options.document, "years": YEARS, "models": record}


def main(argv: list[str] | None = None) -> int:
    """Prints the tables."""
    made = parser(__doc__, searches=False)
    made.add_argument("--question", default=QUESTION, help="with {when} in it")
    made.add_argument("--document", default=DOCUMENT, help="with {on} in it")
    made.add_argument("--plot", type=Path, metavar="FILE", help="a chart: .png, .svg or .pdf (needs mrag[plot])")
    return run("figure5", command, made.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main())
