"""An index on disk: building it, adding to it, upgrading and checking it, and searching it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.adapters.chunks import analysed, chunks
from mrag.adapters.datasets import OnBad, locate_passages, passage_of
from mrag.adapters.documents import Located
from mrag.adapters.folder import check_folder, commit, map_corpus, new_generation, stored_passages
from mrag.adapters.manifest import VERSION, read_manifest
from mrag.adapters.writer import GenerationWriter
from mrag.corpus import RULES, Corpus, Passage
from mrag.errors import IndexFormatError, InputError

if TYPE_CHECKING:
    from mrag.interval import Interval
    from mrag.pipeline import Ranking, Settings
    from mrag.question import Question
    from mrag.strategies import Retriever, Scorer

Item = str | Path | Passage | Mapping[str, object]
Source = Item | Iterable[Item]
"""Passages: the path of a file or folder (see datasets.read_passages), a passage or record, or several of these."""

Progress = Callable[[int, int | None], None]
"""Told after each chunk how many passages are done, and of how many, where that is known."""


def build(
    source: Source,
    folder: str | Path,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    on_bad: OnBad | None = None,
) -> int:
    """Builds an index of all passages of the source in a folder, in place of one that is there; the number of passages.

    ``workers`` processes share the work; the result is the same, to the byte. A script that asks for more than one
    needs ``if __name__ == "__main__":``. Memory does not grow with the corpus. Until it is whole, the index that was
    there stays. Raises InputError for passages that cannot be used (``on_bad`` may take single ones) or whose ids come
    twice, and IndexFormatError for a folder that cannot be written.
    """
    parts = _some(chunks(_located(source, on_bad)), source)
    with new_generation(Path(folder)) as path:
        return _write(path, None, parts, workers, progress, None)


def add(
    folder: str | Path,
    source: Source,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    on_bad: OnBad | None = None,
) -> int:
    """Puts the passages of the source behind those of an index; the number of passages it then has.

    The result is what ``build`` makes of all of them at once. Arguments and errors are those of ``build``; an id that
    the index has already is an InputError, too. Those who have the index open keep what they opened.
    """
    folder = Path(folder)
    read_manifest(folder)
    with new_generation(folder) as path:
        base = map_corpus(folder)
        parts = _some(chunks(_located(source, on_bad), base.ids, str(folder)), source)
        return _write(path, base, parts, workers, progress, None)


def upgrade(folder: str | Path, *, workers: int = 1, progress: Progress | None = None) -> bool:
    """Makes an index of an older format or of other rules anew from the passages in it; False if there was no need."""
    folder = Path(folder)
    read_manifest(folder, older=True)
    with new_generation(folder) as path:
        found = read_manifest(folder, older=True)
        if (found.version, found.rules) == (VERSION, RULES):
            return False
        total, passages = stored_passages(folder)
        located = (Located(passage, str(folder), row) for row, passage in enumerate(passages))
        _write(path, None, chunks(located), workers, progress, total)
    return True


def verify(folder: str | Path) -> int:
    """Reads all of an index; the number of its passages. IndexFormatError for a byte that is not as it was written."""
    check_folder(Path(folder))
    return len(map_corpus(Path(folder)))


def open_corpus(folder: str | Path) -> Corpus:
    """The corpus of an index, mapped: as folder.map_corpus."""
    return map_corpus(Path(folder))


def _write(
    path: Path,
    base: Corpus | None,
    parts: Iterator[list[Passage]],
    workers: int,
    progress: Progress | None,
    total: int | None,
) -> int:
    """Writes and commits a generation of a mapped corpus and what follows it; the number of passages in it."""
    done = 0
    with GenerationWriter(path) as writer, closing(analysed(parts, workers)) as columns:
        if base is not None:
            writer.append(base)
        for part in columns:
            writer.append(part)
            done += len(part)
            if progress is not None:
                progress(done, total)
        counts, files = writer.finish()
    commit(path, counts, files)
    return counts["passages"]


def _some(parts: Iterator[list[Passage]], source: Source) -> Iterator[list[Passage]]:
    """The parts, of which there must be one: read before anything is written, so that a wrong path leaves no trace."""
    first = next(parts, None)
    if first is None:
        name = f"{source}: " if isinstance(source, (str, Path)) else ""
        raise InputError(f"{name}no passages in what was given: an index needs at least one")
    return chain([first], parts)


def _located(source: Source, on_bad: OnBad | None) -> Iterator[Located]:
    if isinstance(source, (str, Path)):
        yield from locate_passages(Path(source), on_bad=on_bad)
    elif isinstance(source, (Passage, Mapping)):
        yield _handed_in(source, 1)
    else:
        for number, item in enumerate(_read(source), 1):
            if isinstance(item, (str, Path)):
                yield from locate_passages(Path(item), on_bad=on_bad)
            else:
                yield _handed_in(item, number)


def _handed_in(item: Passage | Mapping[str, object], number: int) -> Located:
    """A passage that came as an object; InputError for what an index cannot hold."""
    file = "passages handed in"
    place = f"{file}:{number}"
    if isinstance(item, Mapping):
        item = passage_of(item, place, str(number))
    if not isinstance(item, Passage):
        raise InputError(f"{place}: {type(item).__name__} is no passage: hand in paths, passages or records")
    if not all(isinstance(value, str) for value in (item.id, item.text, item.title, item.section)):
        raise InputError(f"{place}: id, text, title and section of a passage are strings")
    try:
        json.dumps(dict(item.extra))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{place}: its other fields cannot be kept as JSON: {error}") from None
    return Located(item, file, number)


def _read(items: Iterable[Item]) -> Iterator[Item]:
    """The items; where reading them fails that is told apart from a disk that cannot be written."""
    try:
        yield from items
    except OSError as error:
        raise InputError(f"the passages handed in cannot be read: {error}") from error


class Index:
    """An index, open for questions. It stays what it was when it was opened, whatever a writer does to the folder.

    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> index = Index.build([Passage("a", "Ida Moe led the club from 1999 to 2006.")], folder.name)
    >>> index = index.add([{"id": "b", "text": "Odd Lie has led the club since 2007."}])
    >>> [evidence.passage.id for evidence in index.search("Who led the club as of 2010?", k=1).evidence]
    ['b']
    >>> index.close()
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path, corpus: Corpus) -> None:
        self.folder = folder
        self._corpus: Corpus | None = corpus
        self._retrievers: dict[tuple[float, float], Retriever] = {}

    @classmethod
    def build(
        cls,
        source: Source,
        folder: str | Path,
        *,
        workers: int = 1,
        progress: Progress | None = None,
        on_bad: OnBad | None = None,
    ) -> Index:
        """Builds an index as the function ``build`` does, and opens it."""
        build(source, folder, workers=workers, progress=progress, on_bad=on_bad)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str | Path) -> Index:
        """Opens the index in a folder; IndexFormatError where there is none that this program can serve."""
        return cls(Path(folder), map_corpus(Path(folder)))

    def add(
        self, source: Source, *, workers: int = 1, progress: Progress | None = None, on_bad: OnBad | None = None
    ) -> Index:
        """Adds passages as the function ``add`` does; the index with them. This one stays as it is."""
        add(self.folder, source, workers=workers, progress=progress, on_bad=on_bad)
        return self.open(self.folder)

    @property
    def corpus(self) -> Corpus:
        """The columns; IndexFormatError after ``close``."""
        if self._corpus is None:
            raise IndexFormatError(f"{self.folder}: this index has been closed: open it again")
        return self._corpus

    def __len__(self) -> int:
        return len(self.corpus)

    def search(
        self,
        question: str | Question,
        k: int = 10,
        *,
        reference: Interval | None = None,
        window: Interval | None = None,
        settings: Settings | None = None,
        retriever: Retriever | None = None,
        scorer: Scorer | None = None,
    ) -> Ranking:
        """The k best passages, each with the sentence and the date that decided: as pipeline.retrieve."""
        from mrag.pipeline import DEFAULTS, bm25_retriever, retrieve

        settings = settings or DEFAULTS
        key = settings.k1, settings.b
        if retriever is None and key not in self._retrievers:
            self._retrievers[key] = bm25_retriever(self.corpus, *key)
        return retrieve(
            question,
            self.corpus,
            k=k,
            reference=reference,
            settings=settings,
            retriever=retriever or self._retrievers[key],
            scorer=scorer,
            window=window,
        )

    def close(self) -> None:
        """Lets go of the files; the index cannot be searched any more."""
        self._corpus = None
        self._retrievers.clear()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = f"{len(self):,} passages" if self._corpus is not None else "closed"
        return f"<Index {str(self.folder)!r}: {state}>"
