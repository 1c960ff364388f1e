"""An index on disk: building it, adding to it, upgrading and checking it, and searching it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.adapters.datasets import OnBad
from mrag.adapters.index.chunks import analysed, chunks
from mrag.adapters.index.encoding import Plan, StoredEncoder, plan_added, plan_new, plan_upgraded
from mrag.adapters.index.folder import (
    StoredVectors,
    check_folder,
    map_corpus,
    map_generation,
    map_index,
    stored_passages,
    stored_vectors,
)
from mrag.adapters.index.generations import commit, new_generation
from mrag.adapters.index.layout import vector_files
from mrag.adapters.index.manifest import VERSION, Level, Precision, read_manifest
from mrag.adapters.index.vector_writer import Progress, write_vectors
from mrag.adapters.index.writer import GenerationWriter
from mrag.adapters.reading.documents import Located
from mrag.adapters.reading.sources import Item, Source, located
from mrag.corpus import RULES, Corpus, Passage
from mrag.errors import IndexFormatError, InputError

if TYPE_CHECKING:
    from mrag.adapters.index.meaning import Meaning
    from mrag.adapters.index.retrievers import RetrieverName
    from mrag.interval import Interval
    from mrag.pipeline import Ranking
    from mrag.question import Question
    from mrag.settings import Settings
    from mrag.strategies import Retriever, Scorer, Summariser

__all__ = ["Index", "Item", "Source", "add", "build", "counts", "open_corpus", "upgrade", "verify"]


def build(
    source: Source,
    folder: str | Path,
    *,
    encoder: StoredEncoder | None = None,
    vectors: Level | None = None,
    precision: Precision | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    on_bad: OnBad | None = None,
) -> int:
    """Builds an index of all passages of the source in a folder, in place of one that is there; the number of passages.

    With an ``encoder`` it holds the vectors of the passages, or of the passages and their sentences (``vectors``), as
    float32, float16 or int8 (``precision``). A build that was stopped while it encoded goes on where it was when it is
    called again; vectors of the same texts by the same encoder in the index that is there are taken over.

    ``workers`` processes share the rest of the work; the result is the same, to the byte. A script that asks for more
    than one needs ``if __name__ == "__main__":``. Memory does not grow with the corpus, but for the graph over more
    than hnsw.EXACT_BELOW passages, which is made in memory. Until it is whole, the index that was there stays. Raises
    InputError for passages that cannot be used (``on_bad`` may take single ones) or whose ids come twice, and
    IndexFormatError for a folder that cannot be written.
    """
    folder = Path(folder)
    wanted = plan_new(folder, encoder, vectors, precision)
    parts = _some(chunks(located(source, on_bad)), source)
    with new_generation(folder) as path:
        return _write(path, None, parts, wanted, workers, progress)


def add(
    folder: str | Path,
    source: Source,
    *,
    encoder: StoredEncoder | None = None,
    vectors: Level | None = None,
    precision: Precision | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    on_bad: OnBad | None = None,
) -> int:
    """Puts the passages of the source behind those of an index; the number of passages it then has.

    The result is what ``build`` makes of all of them at once. Arguments and errors are those of ``build``; an id that
    the index has already is an InputError, too. Where the index holds vectors, only the new texts are encoded, by the
    ``encoder`` that made the others. Those who have the index open keep what they opened.
    """
    folder = Path(folder)
    plan_added(folder, read_manifest(folder).vectors, encoder, vectors, precision)  # says at once what is wrong
    with new_generation(folder) as path:
        wanted = plan_added(folder, read_manifest(folder).vectors, encoder, vectors, precision)
        base = map_corpus(folder)
        parts = _some(chunks(located(source, on_bad), base.ids, str(folder)), source)
        return _write(path, base, parts, wanted, workers, progress)


def upgrade(
    folder: str | Path,
    *,
    encoder: StoredEncoder | None = None,
    vectors: Level | None = None,
    precision: Precision | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> bool:
    """Makes an index of an older format or of other rules anew from the passages in it; False if there was no need.

    Its vectors are kept for all texts that are still the same; for others the ``encoder`` is needed that made them.
    Another encoder makes all of them anew; ``vectors`` and ``precision`` change what is held.
    """
    folder = Path(folder)
    plan_upgraded(folder, read_manifest(folder, older=True).vectors, encoder, vectors, precision)
    with new_generation(folder) as path:
        found = read_manifest(folder, older=True)
        wanted = plan_upgraded(folder, found.vectors, encoder, vectors, precision)
        if (found.version, found.rules, found.vectors) == (VERSION, RULES, None if wanted is None else wanted.entry):
            return False
        total, passages = stored_passages(folder)
        items = (Located(passage, str(folder), row) for row, passage in enumerate(passages))
        _write(path, None, chunks(items), wanted, workers, progress, total)
    return True


def verify(folder: str | Path) -> int:
    """Reads all of an index; the number of its passages. IndexFormatError for a byte that is not as it was written."""
    check_folder(Path(folder))
    return len(map_corpus(Path(folder)))


def counts(folder: str | Path) -> dict[str, int]:
    """How many passages and vectors an index holds; IndexFormatError where there is none."""
    found = read_manifest(Path(folder))
    tables = {spec.table for spec in vector_files(found.vectors).values()} if found.vectors is not None else ()
    return {"passages": found.counts["passages"], "vectors": sum(found.counts[table] for table in tables)}


def open_corpus(folder: str | Path) -> Corpus:
    """The corpus of an index, mapped: as folder.map_corpus."""
    return map_corpus(Path(folder))


def _write(
    path: Path,
    base: Corpus | None,
    parts: Iterator[list[Passage]],
    wanted: Plan | None,
    workers: int,
    progress: Progress | None,
    total: int | None = None,
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
        sizes, files = writer.finish()
    if wanted is not None:
        corpus = map_generation(path, sizes, files)
        files |= write_vectors(path, corpus, wanted, stored_vectors(path.parent), progress)
    commit(path, sizes, files, None if wanted is None else wanted.entry)
    return sizes["passages"]


def _some(parts: Iterator[list[Passage]], source: Source) -> Iterator[list[Passage]]:
    """The parts, of which there must be one: read before anything is written, so that a wrong path leaves no trace."""
    first = next(parts, None)
    if first is None:
        name = f"{source}: " if isinstance(source, (str, Path)) else ""
        raise InputError(f"{name}no passages in what was given: an index needs at least one")
    return chain([first], parts)


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

    def __init__(self, folder: Path, corpus: Corpus, vectors: StoredVectors | None = None) -> None:
        self.folder = folder
        self._corpus: Corpus | None = corpus
        self._vectors = vectors
        self._meaning: Meaning | None = None
        self._lexical: dict[tuple[float, float], Retriever] = {}

    @classmethod
    def build(
        cls,
        source: Source,
        folder: str | Path,
        *,
        encoder: StoredEncoder | None = None,
        vectors: Level | None = None,
        precision: Precision | None = None,
        workers: int = 1,
        progress: Progress | None = None,
        on_bad: OnBad | None = None,
    ) -> Index:
        """Builds an index as the function ``build`` does, and opens it."""
        build(
            source,
            folder,
            encoder=encoder,
            vectors=vectors,
            precision=precision,
            workers=workers,
            progress=progress,
            on_bad=on_bad,
        )
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str | Path) -> Index:
        """Opens the index in a folder; IndexFormatError where there is none that this program can serve."""
        return cls(Path(folder), *map_index(Path(folder)))

    def add(
        self,
        source: Source,
        *,
        encoder: StoredEncoder | None = None,
        workers: int = 1,
        progress: Progress | None = None,
        on_bad: OnBad | None = None,
    ) -> Index:
        """Adds passages as the function ``add`` does; the index with them. This one stays as it is."""
        add(self.folder, source, encoder=encoder, workers=workers, progress=progress, on_bad=on_bad)
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
        retriever: Retriever | RetrieverName | None = None,
        encoder: StoredEncoder | None = None,
        scorer: Scorer | None = None,
        summariser: Summariser | None = None,
    ) -> Ranking:
        """The k best passages, each with the sentence and the date that decided: as pipeline.retrieve.

        ``encoder``: the one that made the vectors of the index. With it the first stage (``retriever``) may be "dense"
        (exact), "hnsw" (over the graph of a large index: quick, once it is loaded), or with BM25 "hybrid", the default
        then, or "hybrid-hnsw"; and sentences are scored by their vectors, if the index holds them, unless a ``scorer``
        is handed in. ``summariser``: see summarize.py. InputError for an encoder that is missing or another one.
        """
        found = self.search_many(
            [question],
            k,
            reference=reference,
            window=window,
            settings=settings,
            retriever=retriever,
            encoder=encoder,
            scorer=scorer,
            summariser=summariser,
        )
        return next(found)

    def search_many(
        self,
        questions: Iterable[str | Question],
        k: int = 10,
        *,
        reference: Interval | None = None,
        window: Interval | None = None,
        settings: Settings | None = None,
        retriever: Retriever | RetrieverName | None = None,
        encoder: StoredEncoder | None = None,
        scorer: Scorer | None = None,
        summariser: Summariser | None = None,
        batch: int = 64,
    ) -> Iterator[Ranking]:
        """``search`` for each question, in order; first stage and summariser are called once for a ``batch``."""
        from mrag.pipeline import retrieve_many
        from mrag.settings import DEFAULTS
        from mrag.strategies import Strategies

        settings = settings or DEFAULTS
        own = scorer is not None or summariser is not None or callable(retriever)
        meaning = None if encoder is None else self.meaning(encoder)
        if retriever is None or isinstance(retriever, str):
            retriever = self._first_stage(retriever, meaning, settings)
        row_scorer = None if meaning is None or scorer is not None else meaning.row_scorer
        given = Strategies(
            retriever,
            meaning.text_scorer if meaning is not None and row_scorer is not None else scorer,
            row_scorer,
            None if meaning is None else meaning.passage_scorer,
            summariser,
            None if meaning is None else meaning.ahead,
        )
        try:
            yield from retrieve_many(
                questions,
                self.corpus,
                k=k,
                reference=reference,
                settings=settings,
                given=given,
                window=window,
                batch=batch,
            )
        except IndexError as error:
            if own:  # what was handed in may be at fault
                raise
            raise IndexFormatError(
                f"{self.folder}: is damaged: see what  mrag index --verify {self.folder}  says"
            ) from error

    def meaning(self, encoder: StoredEncoder) -> Meaning:
        """The first stages and sentence scores of the index's vectors; InputError for another encoder, or without any.

        Warns (encoding.OtherPrecision) for the same encoder in another numeric precision.
        """
        from mrag.adapters.index.meaning import Meaning

        if self._vectors is None:
            raise InputError(
                f"{self.folder}: holds no vectors: build it with an encoder, or make them with  "
                f"mrag index --upgrade {self.folder} --encoder DIR"
            )
        if self._meaning is None or self._meaning.encoder is not encoder:
            self._meaning = Meaning(self.folder, self.corpus, self._vectors, encoder)
        return self._meaning

    def _first_stage(self, name: RetrieverName | None, meaning: Meaning | None, settings: Settings) -> Retriever:
        """The retriever of that name; without one BM25, and the hybrid where there is an encoder."""
        from mrag.adapters.index.retrievers import RANK_FUSION, REFERENCE_FUSION
        from mrag.pipeline import bm25_retriever

        key = settings.k1, settings.b
        if key not in self._lexical:
            self._lexical[key] = bm25_retriever(self.corpus, *key)
        if meaning is not None:
            fusion = REFERENCE_FUSION if settings.profile == "paper" else RANK_FUSION
            return meaning.retriever(name or "hybrid", self._lexical[key], fusion)
        if name not in (None, "bm25"):
            raise InputError(f"the first stage {name!r} needs the encoder that made the vectors of {self.folder}")
        return self._lexical[key]

    def close(self) -> None:
        """Lets go of the files; the index cannot be searched any more."""
        self._corpus = self._vectors = self._meaning = None
        self._lexical.clear()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = f"{len(self):,} passages" if self._corpus is not None else "closed"
        return f"<Index {str(self.folder)!r}: {state}>"
