"""Passages -> columns: sentences, their dates, their terms and their names.

All that a question will need of a text is found here, once, when the index is built. ``analyse`` turns passages into
columns, and ``FIELDS`` says of each column what its numbers point into, so that a store can write, map, check and join
columns without knowing what they mean.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from mrag import bm25, timex
from mrag.columns import Bool, Int16, Int32, Int64, Strings, UInt8, pointers
from mrag.errors import InputError
from mrag.interval import OPEN_START, Interval, Precision, join, parse_iso, since, until
from mrag.names import Name, names
from mrag.text import FINGERPRINT as TEXT_FINGERPRINT
from mrag.text import split_sentences, term, words
from mrag.timex import KINDS, SOURCES, Kind, Mention, Source

FINGERPRINT = "corpus-1"
"""Bumped when the rules below (names, inheritance of dates, list headers) change."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text as it came: everything but ``id`` and ``text`` is optional.

    ``date`` (ISO) dates "yesterday" and "last year" in the text; ``valid_from`` / ``valid_to`` (ISO) say when
    the whole passage holds; ``extra`` holds the fields that we do not know, untouched.
    """

    id: str
    text: str
    title: str = ""
    section: str = ""
    date: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


class Field(NamedTuple):
    """What a column holds: its ``kind``, the ``dtype`` of its numbers, the ``table`` that it has a row for, what it
    points ``into``.

    strings: a Strings column. pointers: row pointers [rows + 1] into another table. bytes: offsets into the
    blob of ``into``. rows: rows of ``into``, -1 for none. terms: term ids of the lexicon. values: numbers as they are.
    """

    kind: Literal["strings", "pointers", "bytes", "rows", "terms", "values"]
    dtype: str
    table: str
    into: str = ""


FIELDS: dict[str, Field] = {
    "ids": Field("strings", "|u1", "passages"),
    "titles": Field("strings", "|u1", "passages"),
    "sections": Field("strings", "|u1", "passages"),
    "texts": Field("strings", "|u1", "passages"),
    "fields": Field("strings", "|u1", "passages"),
    "sentence_rows": Field("pointers", "<i8", "passages", "sentences"),
    "title_rows": Field("pointers", "<i8", "passages", "title_terms"),
    "title_terms": Field("terms", "<i4", "title_terms"),
    "section_rows": Field("pointers", "<i8", "passages", "section_terms"),
    "section_terms": Field("terms", "<i4", "section_terms"),
    "sentence_starts": Field("bytes", "<i8", "sentences", "texts"),
    "sentence_ends": Field("bytes", "<i8", "sentences", "texts"),
    "sentence_headers": Field("rows", "<i8", "sentences", "sentences"),
    "term_rows": Field("pointers", "<i8", "sentences", "sentence_terms"),
    "sentence_terms": Field("terms", "<i4", "sentence_terms"),
    "name_rows": Field("pointers", "<i8", "sentences", "names"),
    "name_word_rows": Field("pointers", "<i8", "names", "name_terms"),
    "name_terms": Field("terms", "<i4", "name_terms"),
    "name_flags": Field("values", "|u1", "names"),
    "year_rows": Field("pointers", "<i8", "sentences", "years"),
    "years": Field("values", "<i2", "years"),
    "mention_rows": Field("pointers", "<i8", "sentences", "mentions"),
    "mention_starts": Field("values", "<i4", "mentions"),
    "mention_ends": Field("values", "<i4", "mentions"),
    "mention_precisions": Field("values", "|u1", "mentions"),
    "mention_kinds": Field("values", "|u1", "mentions"),
    "mention_sources": Field("values", "|u1", "mentions"),
    "mention_at": Field("values", "<i4", "mentions"),
    "mention_sizes": Field("values", "<i4", "mentions"),
}
"""Every column of a Corpus but the lexicon, in the order in which they are written."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Columns over n passages, s sentences, m mentions; see FIELDS for the dtypes and what points where.

    - ``fields``: the other fields of a passage as a JSON object ("" for none).
    - ``title_terms``, ``section_terms``, ``sentence_terms``: the distinct terms of each, ascending.
    - ``sentence_starts``, ``sentence_ends``: bytes in ``texts.blob``; ``sentence_headers``: for a list item the
      sentence that introduces the list.
    - names: runs of capitalised words; ``name_terms`` their distinct terms, ``name_flags`` the NAME_* bits.
    - ``years``: the four-digit years of a sentence by the reference's own rule, for the `paper` profile.
    - mentions: ``mention_starts``, ``mention_ends`` in days (open: OPEN_START, OPEN_END), ``mention_precisions``
      start + 4 * end, kinds and sources as positions in KINDS and SOURCES, ``mention_at`` and ``mention_sizes`` the
      bytes of the mention in the passage's text (own, previous), section (heading) or title.
    - ``lexicon``: BM25 over title, section and text; its terms are what every term id means.
    """

    ids: Strings
    titles: Strings
    sections: Strings
    texts: Strings
    fields: Strings
    sentence_rows: Int64
    title_rows: Int64
    title_terms: Int32
    section_rows: Int64
    section_terms: Int32
    sentence_starts: Int64
    sentence_ends: Int64
    sentence_headers: Int64
    term_rows: Int64
    sentence_terms: Int32
    name_rows: Int64
    name_word_rows: Int64
    name_terms: Int32
    name_flags: UInt8
    year_rows: Int64
    years: Int16
    mention_rows: Int64
    mention_starts: Int32
    mention_ends: Int32
    mention_precisions: UInt8
    mention_kinds: UInt8
    mention_sources: UInt8
    mention_at: Int32
    mention_sizes: Int32
    lexicon: bm25.Bm25

    def __len__(self) -> int:
        return len(self.ids)

    def passage(self, row: int) -> Passage:
        """Passage ``row`` with all the fields that it came with."""
        rest = json.loads(self.fields[row] or "{}")
        dates = {key: rest.pop(key) for key in ("date", "valid_from", "valid_to") if key in rest}
        return Passage(self.ids[row], self.texts[row], self.titles[row], self.sections[row], **dates, extra=rest)

    def sentence(self, row: int) -> str:
        """The text of sentence ``row``."""
        start, end = int(self.sentence_starts[row]), int(self.sentence_ends[row])
        return self.texts.blob[start:end].tobytes().decode("utf-8", "replace")

    def mention(self, row: int, passage: int) -> Mention:
        """Mention ``row`` of a sentence of ``passage``; its span counts characters of the text its source names."""
        source = SOURCES[int(self.mention_sources[row])]
        column = {"heading": self.sections, "title": self.titles, "document": self.fields}.get(source, self.texts)
        raw, at = column.raw(passage), int(self.mention_at[row])
        start = len(raw[:at].decode("utf-8", "replace"))
        text = raw[at : at + int(self.mention_sizes[row])].decode("utf-8", "replace")
        end_precision, start_precision = divmod(int(self.mention_precisions[row]), 4)
        interval = Interval(
            int(self.mention_starts[row]),
            int(self.mention_ends[row]),
            Precision(start_precision),
            Precision(end_precision),
        )
        return Mention(text, (start, start + len(text)), interval, KINDS[int(self.mention_kinds[row])], source)


# --- the reference's years ---------------------------------------------------------------------

_REFERENCE_YEARS = re.compile(r"(?<!\w)(\d{4})(?:s|\s{0,2}[–-]\s{0,2}(\d{4}|\d{2})(?!\w))?(?!\w)", re.ASCII)
_MOST_YEARS = 200  # a range longer than this is no range of years


def reference_years(sentence: str) -> list[int]:
    """The years of a sentence as the paper's own code sees them, ascending.

    Every run of four digits that stands alone (an "s" may follow); "1990-93" and "1990-1993" are all years between.

    >>> reference_years("page 1920, the 1990s, 1997-99 and from 2001 to 2003")
    [1920, 1990, 1997, 1998, 1999, 2001, 2003]
    """
    years: set[int] = set()
    for match in _REFERENCE_YEARS.finditer(sentence):
        first = int(match[1])
        last = int(match[1][: 4 - len(match[2])] + match[2]) if match[2] else first
        if first <= last <= first + _MOST_YEARS:
            years.update(range(first, last + 1))
        else:
            years.update((first, last))
    return sorted(years)


# --- dates -------------------------------------------------------------------------------------


class _Dated(NamedTuple):
    """A mention as it is stored: in bytes of its source text."""

    interval: Interval
    kind: Kind
    source: Source
    at: int
    size: int


def _mentions(text: str, source: Source, reference: Interval | None) -> list[_Dated]:
    """The dates of a text, in bytes."""
    out, at, seen = [], 0, 0
    for mention in timex.find_dates(text, reference=reference):
        at += len(text[seen : mention.span[0]].encode("utf-8", "replace"))
        size = len(mention.text.encode("utf-8", "replace"))
        out.append(_Dated(mention.interval, mention.kind, source, at, size))
        at, seen = at + size, mention.span[1]
    return out


def _validity(passage: Passage) -> list[_Dated]:
    """valid_from / valid_to as a state that the whole passage describes."""
    first = _field_date(passage, "valid_from", passage.valid_from)
    last = _field_date(passage, "valid_to", passage.valid_to)
    if first is None and last is None:
        return []
    if first is None or last is None:
        interval = until(last) if last is not None else since(first) if first is not None else Interval()
    elif first.start > last.end:
        raise InputError(
            f"passage {passage.id!r}: valid_to {passage.valid_to} is before valid_from {passage.valid_from}"
        )
    else:
        interval = join(first, last)
    return [_Dated(interval, "state", "document", 0, 0)]


def _field_date(passage: Passage, name: str, value: str | None) -> Interval | None:
    if not value:
        return None
    try:
        return parse_iso(value)
    except InputError as error:
        raise InputError(f"passage {passage.id!r}: {name}: {error}") from None


def _inherit(own: list[list[_Dated]], passage: Passage, reference: Interval | None) -> list[list[_Dated]]:
    """The dates of each sentence, those without one of their own taking the nearest that is around them.

    Nearest: the latest date of the last dated sentence before it, else the heading's, else the title's, else the
    document's own date. Dates of a person's life date nobody else's sentence.
    """
    fallback: list[_Dated] | None = None
    carried: list[_Dated] = []
    out = []
    for found in own:
        dated = [mention for mention in found if mention.kind != "life"]
        if dated:
            latest = max(dated, key=lambda mention: (max(mention.interval.start, OPEN_START + 1), mention.at))
            carried = [latest._replace(source="previous")]
        elif carried:
            found = found + carried
        else:
            if fallback is None:
                fallback = (
                    _mentions(passage.section, "heading", reference)
                    or _mentions(passage.title, "title", reference)
                    or ([_Dated(reference, "event", "document", 0, 0)] if reference else [])
                )
                fallback = [mention for mention in fallback if mention.kind != "life"]
            found = found + fallback
        out.append(found)
    return out


# --- analysis ----------------------------------------------------------------------------------


def _is_item(line: str) -> bool:
    return line.startswith(("- ", "* ", "• "))


class _Builder:
    """Grows the columns of one chunk, passage by passage."""

    def __init__(self) -> None:
        self.strings: dict[str, list[str]] = {name: [] for name, f in FIELDS.items() if f.kind == "strings"}
        self.numbers: dict[str, list[int]] = {name: [] for name, f in FIELDS.items() if f.kind != "strings"}
        self.vocabulary: dict[str, int] = {}
        self.tokens: list[int] = []
        self.lengths: list[int] = []
        self.text_bytes = 0

    def term_id(self, value: str) -> int:
        return self.vocabulary.setdefault(value, len(self.vocabulary))

    def terms(self, tokens: Iterable[tuple[str, int, int]]) -> list[int]:
        return [self.term_id(value) for word, _, _ in tokens if (value := term(word)) is not None]

    def ragged(self, rows: str, column: str, values: Sequence[int]) -> None:
        self.numbers[rows].append(len(values))
        self.numbers[column].extend(values)

    def add(self, passage: Passage) -> None:
        """One passage into the columns."""
        reference = _field_date(passage, "date", passage.date)
        text = passage.text
        title = self.terms(words(passage.title))
        section = self.terms(words(passage.section))
        self._strings(passage)
        self.ragged("title_rows", "title_terms", sorted(set(title)))
        self.ragged("section_rows", "section_terms", sorted(set(section)))

        tokens = words(text)
        ids = [-1 if (value := term(word)) is None else self.term_id(value) for word, _, _ in tokens]
        body = [i for i in ids if i >= 0]
        self.tokens.extend(title + section + body)
        self.lengths.append(len(title) + len(section) + len(body))

        spans = split_sentences(text)
        self.numbers["sentence_rows"].append(len(spans))
        starts = [start for start, _ in spans]
        own: list[list[_Dated]] = [[] for _ in spans]
        offsets = self._byte_offsets(text, spans)
        for mention in _mentions(text, "own", reference):
            row = bisect_right([start for start, _ in offsets], mention.at) - 1
            own[max(row, 0)].append(mention)
        valid = _validity(passage)
        self._sentences(text, spans, offsets)
        for found in _inherit(own, passage, reference) if spans else []:
            self._dates(found + valid)
        self._words(text, tokens, ids, starts)
        self.text_bytes += len(text.encode("utf-8", "replace"))

    def _strings(self, passage: Passage) -> None:
        rest = dict(passage.extra)
        for name in ("date", "valid_from", "valid_to"):
            if (value := getattr(passage, name)) is not None:
                rest[name] = value
        values = {"ids": passage.id, "titles": passage.title, "sections": passage.section, "texts": passage.text}
        values["fields"] = json.dumps(rest, ensure_ascii=False, separators=(",", ":")) if rest else ""
        for name, value in values.items():
            self.strings[name].append(value)

    @staticmethod
    def _byte_offsets(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Character spans as byte spans."""
        if text.isascii():
            return list(spans)
        out, at, seen = [], 0, 0
        for start, end in spans:
            first = at + len(text[seen:start].encode("utf-8", "replace"))
            at, seen = first + len(text[start:end].encode("utf-8", "replace")), end
            out.append((first, at))
        return out

    def _sentences(self, text: str, spans: Sequence[tuple[int, int]], offsets: Sequence[tuple[int, int]]) -> None:
        row = len(self.numbers["sentence_starts"])
        header = -1
        for i, (start, end) in enumerate(spans):
            sentence = text[start:end]
            item = _is_item(sentence)
            self.numbers["sentence_starts"].append(self.text_bytes + offsets[i][0])
            self.numbers["sentence_ends"].append(self.text_bytes + offsets[i][1])
            self.numbers["sentence_headers"].append(header if item else -1)
            if not item:
                header = row + i
            self.ragged("year_rows", "years", reference_years(sentence))

    def _dates(self, found: Sequence[_Dated]) -> None:
        self.numbers["mention_rows"].append(len(found))
        for mention in found:
            interval = mention.interval
            self.numbers["mention_starts"].append(interval.start)
            self.numbers["mention_ends"].append(interval.end)
            self.numbers["mention_precisions"].append(interval.start_precision + 4 * interval.end_precision)
            self.numbers["mention_kinds"].append(KINDS.index(mention.kind))
            self.numbers["mention_sources"].append(SOURCES.index(mention.source))
            self.numbers["mention_at"].append(mention.at)
            self.numbers["mention_sizes"].append(mention.size)

    def _words(
        self,
        text: str,
        tokens: Sequence[tuple[str, int, int]],
        ids: Sequence[int],
        starts: Sequence[int],
    ) -> None:
        """The terms and the names of each sentence."""
        terms: list[set[int]] = [set() for _ in starts]
        found: list[list[Name]] = [[] for _ in starts]
        for i, (_, start, _) in enumerate(tokens):
            if ids[i] >= 0:
                terms[max(bisect_right(starts, start) - 1, 0)].add(ids[i])
        for name in names(text, tokens):
            found[max(bisect_right(starts, tokens[name.first][1]) - 1, 0)].append(name)
        for i in range(len(starts)):
            self.ragged("term_rows", "sentence_terms", sorted(terms[i]))
            self.ragged("name_rows", "name_flags", [name.flags for name in found[i]])
            for name in found[i]:
                own = sorted({ids[at] for at in range(name.first, name.last) if ids[at] >= 0})
                self.ragged("name_word_rows", "name_terms", own)

    def finish(self) -> Corpus:
        """The columns, with term ids in the order of the terms' bytes."""
        by_bytes = sorted(self.vocabulary, key=lambda value: value.encode("utf-8", "replace"))
        order = np.empty(len(by_bytes), dtype=np.int32)
        for new, value in enumerate(by_bytes):
            order[self.vocabulary[value]] = new
        tokens = order[np.asarray(self.tokens, dtype=np.int64)]
        columns: dict[str, object] = {name: Strings.of(values) for name, values in self.strings.items()}
        rows = {spec.into: pointers(self.numbers[name]) for name, spec in FIELDS.items() if spec.kind == "pointers"}
        for name, spec in FIELDS.items():
            if spec.kind == "pointers":
                columns[name] = rows[spec.into]
            elif spec.kind == "terms":
                columns[name] = _sorted_rows(order[np.asarray(self.numbers[name], dtype=np.int64)], rows[spec.table])
            elif spec.kind != "strings":
                columns[name] = np.asarray(self.numbers[name], dtype=np.dtype(spec.dtype))
        columns["lexicon"] = bm25.build(tokens, pointers(self.lengths), Strings.of(by_bytes))
        return Corpus(**columns)  # type: ignore[arg-type]


def _sorted_rows(values: Int32, rows: Int64) -> Int32:
    """Ragged rows, each ascending: so that the columns do not depend on the order in which terms were met."""
    row = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    ordered: Int32 = values[np.lexsort((values, row))]
    return ordered


def analyse(passages: Iterable[Passage]) -> Corpus:
    """The columns of some passages: sentences, dates, terms and names, found once.

    Raises InputError for a field date that is no ISO date.

    >>> corpus = analyse([Passage("p1", "Ida Moe led the club from 1999 to 2006. She left it.", title="Club")])
    >>> len(corpus), corpus.sentence(1), str(corpus.mention(1, 0).interval), corpus.mention(1, 0).source
    (1, 'She left it.', '1999..2006', 'previous')
    """
    builder = _Builder()
    for passage in passages:
        builder.add(passage)
    return builder.finish()


_REACH = 8 * 365  # days: how long before its end what ended may have held


def within(corpus: Corpus, window: Interval) -> Bool:
    """bool[n]: the passages that hold a date inside or across the window (life dates do not count).

    A mention that is open on a side counts where its named end lies or where it reaches over the window.
    """
    starts, ends = corpus.mention_starts, corpus.mention_ends
    starts = np.where(starts == OPEN_START, ends - _REACH, starts)
    hits = (starts <= window.end) & (ends >= window.start)
    hits &= corpus.mention_kinds != KINDS.index("life")
    counts = np.concatenate(([0], np.cumsum(hits)))
    edges = corpus.mention_rows[corpus.sentence_rows]
    inside: Bool = (counts[edges[1:]] - counts[edges[:-1]]) > 0
    return inside


RULES = f"{TEXT_FINGERPRINT} {timex.FINGERPRINT} {FINGERPRINT}"
"""All that is baked into the columns: an index built by other rules is refused or made again."""
