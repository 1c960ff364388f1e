"""Text and Markdown files -> passages of about 100 words, with title and section."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice, pairwise
from pathlib import Path
from typing import NamedTuple

from mrag.adapters.reading.field_dates import read_date
from mrag.adapters.reading.lines import Lines, decode, read_lines
from mrag.corpus import Passage
from mrag.errors import InputError
from mrag.text import split_sentences

WORDS = 100
"""About how many words a passage has; it is cut at sentence ends only."""

_MOST_CHARACTERS = 200_000  # a section is cut at the next blank line after so many, so that a book does not fill memory
_WRAPPED = 40  # a line shorter than this was not broken by a column limit
_OWN_LINE = re.compile(r"\s{0,40}(?:[-*+•][ \t]|\d{1,4}[.)][ \t]|\|)")
_RULE = "-=*_ \t"  # a line of nothing else parts paragraphs
_MOST_FRONT_MATTER = 200


class Located(NamedTuple):
    """A passage and the place that it comes from."""

    passage: Passage
    file: str
    line: int

    @property
    def place(self) -> str:
        """The place as errors name it: ``notes/a.md:17``."""
        return f"{self.file}:{self.line}"


@dataclass(slots=True)
class _Section:
    """The lines that stand under one heading, or a first part of them."""

    line: int
    title: str
    heading: str = ""
    date: str | None = None
    paragraphs: list[list[str]] = field(default_factory=lambda: [[]])
    size: int = 0


def read_document(path: Path, name: str, lines: Lines | None = None) -> Iterator[Located]:
    """The passages of a .txt or .md file, or of its lines; their ids are ``name#1``, ``name#2`` ...

    Title: the front matter's, else the first heading, else the file's name; section: the heading above, if that is
    another one. Headings are Markdown's, in text files too. A front matter's date counts if it can be read.
    Raises InputError for what is no UTF-8 text.
    """
    number = 0
    for section in _sections(path, lines or read_lines(path)):
        for text in _cut("\n".join(filter(None, map(unwrap, section.paragraphs)))):
            number += 1
            passage = Passage(f"{name}#{number}", text, section.title, section.heading, section.date)
            yield Located(passage, str(path), section.line)


def _sections(path: Path, raw_lines: Lines) -> Iterator[_Section]:
    fields, lines = _front_matter((number, decode(raw, f"{path}:{number}")) for number, raw in raw_lines)
    titled = bool(fields.get("title"))
    section = _Section(1, fields.get("title") or Path(path.name.removesuffix(".gz")).stem, "", _readable(fields))
    fence = ""
    for number, line in lines:
        paragraph = section.paragraphs[-1]
        mark = line.strip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        heading = None if fence else _heading(line)  # a "#" in code is no heading
        if heading is None and not fence and len(paragraph) == 1 and _underlines(line, paragraph[0]):
            heading = paragraph.pop().strip()
        if heading is not None:
            yield section
            title = section.title if titled else heading
            section = _Section(number, title, heading if titled else "", section.date)
            titled = True
        elif line.strip(_RULE):
            paragraph.append(line)
            section.size += len(line)
        elif section.size > _MOST_CHARACTERS:
            yield section
            section = _Section(number, section.title, section.heading, section.date)
        elif paragraph:
            section.paragraphs.append([])
    yield section


def _underlines(line: str, above: str) -> bool:
    """Whether a line of "=" or "-" makes a heading of the line above."""
    line = line.rstrip()
    return len(line) >= 3 and line in ("=" * len(line), "-" * len(line)) and not _OWN_LINE.match(above)


def _heading(line: str) -> str | None:
    """The text of a Markdown heading ("## Early years ##"), None for any other line."""
    level = len(line) - len(line.lstrip("#"))
    if not 1 <= level <= 6 or not line[level : level + 1].isspace():
        return None
    return line[level:].strip().rstrip("#").strip() or None


def _front_matter(lines: Iterator[tuple[int, str]]) -> tuple[dict[str, str], Iterator[tuple[int, str]]]:
    """The ``key: value`` lines between two lines "---" at the very start, and the lines behind them."""
    head: list[tuple[int, str]] = []
    for number, line in islice(lines, _MOST_FRONT_MATTER):
        head.append((number, line))
        if number == 1 and line.rstrip() != "---":
            break
        if number > 1 and line.rstrip() in ("---", "..."):
            pairs = (line.partition(":") for _, line in head[1:-1])
            return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}, lines
    return {}, chain(head, lines)


def _readable(fields: Mapping[str, str]) -> str | None:
    """The front matter's date in ISO form, None for what is none ("TBD"): it is written for other programs."""
    try:
        return str(read_date(fields.get("date", "")))
    except InputError:
        return None


def unwrap(lines: Sequence[str]) -> str:
    """A paragraph's lines with those joined that a column limit broke; list items and table rows keep their lines.

    A limit broke them if each line's first word would not have fitted on the line before. Lines that end where
    their writer wanted ("1990-1995: Ida Moe") stay lines, and so sentences of their own.

    >>> unwrap(["The bridge was opened to traffic in the spring of", "1932 by the mayor."])
    'The bridge was opened to traffic in the spring of 1932 by the mayor.'
    """
    units: list[list[str]] = []
    for line in lines:
        if not units or _OWN_LINE.match(line):
            units.append([])
        units[-1].append(line.rstrip())
    return "\n".join(_joined(unit) for unit in units)


def _joined(unit: Sequence[str]) -> str:
    width = max(map(len, unit))
    wrapped = len(unit) > 1 and all(
        len(line) >= _WRAPPED and len(line) + 1 + len(following.split(maxsplit=1)[0]) > width
        for line, following in pairwise(unit)
    )
    return (" " if wrapped else "\n").join([unit[0].rstrip(), *(line.strip() for line in unit[1:])])


def _cut(text: str) -> Iterator[str]:
    """The text in pieces of about the same number of words, at most about WORDS."""
    spans = split_sentences(text)
    sizes = [len(text[start:end].split()) for start, end in spans]
    total = sum(sizes)
    pieces = max(-(-total // WORDS), 1)
    middles, before = [], 0
    for size in sizes:
        middles.append((2 * before + size) * pieces // (2 * max(total, 1)))
        before += size
    for _, group in groupby(zip(middles, spans, strict=True), key=lambda item: item[0]):
        members = [span for _, span in group]
        yield text[members[0][0] : members[-1][1]]
