"""The report of an evaluation: its table on standard output, its files, its chart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mrag import __version__
from mrag.adapters.files import write_whole
from mrag.cli import output as show
from mrag.cli.measuring import figures
from mrag.cli.measuring.figures import Line, Systems
from mrag.cli.measuring.selection import Asked
from mrag.evaluation.bootstrap import SAMPLES

if TYPE_CHECKING:
    from mrag.adapters.evaluation.run_folder import RunFolder

FIGURES, TABLE = "figures.json", "table.md"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to come out: the figures of groups ``by``, differences to a ``baseline``, and files."""

    by: tuple[str, ...] = ()
    markdown: Path | None = None
    plot: Path | None = None
    as_json: bool = False


def report(
    systems: Systems,
    baseline: str | None,
    asked: Asked,
    wanted: Wanted,
    folder: RunFolder | None,
    how: Mapping[str, object],
    failed: int = 0,
) -> None:
    """Writes the files that are wanted, those of the folder first, and then the table or its rows as JSON.

    ``baseline``: the system that is taken from all others; ``how``: what the figures were made with; ``failed``: the
    prompts to which a language model owed its reply. Raises InputError for a file that cannot be written.
    """
    table = figures.lines(systems, baseline, wanted.by, asked.choice.seed)
    page = list(_page(table, systems, asked))
    if folder is not None:
        content = {**_about(asked), "how": how, "failed_prompts": failed, "rows": list(map(figures.json_row, table))}
        folder.write(FIGURES, [json.dumps(content, indent=1, ensure_ascii=False)])
        folder.write(TABLE, page)
    if wanted.markdown is not None:
        write_whole(wanted.markdown, page)
    if wanted.plot is not None:
        from mrag.cli.measuring.chart import draw

        draw(systems, wanted.plot, asked.choice.seed)
    if wanted.as_json:
        for line in table:
            show.write_json(figures.json_row(line))
    else:
        show.write(show.dim(f"{_what(asked)}; percent, in brackets the 95 % interval"))
        show.write(figures.text(table, figures.measures(systems), show.width()))
    for path in filter(None, (folder and folder.path, wanted.markdown, wanted.plot)):
        show.note(f"wrote {path}")


def _about(asked: Asked) -> dict[str, object]:
    """The head of figures.json: by what, and over which questions."""
    choice = asked.choice
    return {
        "mrag": __version__,
        "questions": {
            "file": choice.path.name,
            "format": asked.format,
            "only": [f"{name}={value}" for name, value in choice.only],
            "sample": choice.sample,
            "n": len(asked.questions),
            "facts": asked.facts,
            "left_out": dict(asked.left_out),
        },
        "seed": choice.seed,
        "resamples": SAMPLES,
    }


def _what(asked: Asked) -> str:
    """``1,794 questions of contrast.jsonl (exact=0) about 570 facts``."""
    choice = asked.choice
    chosen = [f"{name}={value}" for name, value in choice.only]
    chosen += [f"a sample by seed {choice.seed}"] if choice.sample is not None else []
    where = f" ({', '.join(chosen)})" if chosen else ""
    return show.on_one_line(
        f"{len(asked.questions):,} questions of {choice.path.name}{where} about {asked.facts:,} facts"
    )


def _page(table: Sequence[Line], systems: Systems, asked: Asked) -> Iterator[str]:
    """The lines of the Markdown file."""
    yield f"{_what(asked)}. Percent; in brackets the 95 % interval, from {SAMPLES:,} resamples of the facts."
    yield ""
    yield from figures.markdown(table, figures.measures(systems))
