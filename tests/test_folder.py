"""An index folder that is missing, damaged, foreign, locked or of another version is refused with a way out."""

import errno
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mrag.adapters import store
from mrag.adapters.index import folder, lock, manifest
from mrag.adapters.index.layout import FILES, check_ranges, from_files, table_sizes, to_files
from mrag.corpus import Passage, analyse
from mrag.errors import IndexFormatError

PASSAGES = [
    Passage("a", "Ida Moe led it from 1999 to 2006. Köln won.", "Club", "Years", extra={"n": 1}),
    Passage("b", "- 1950: Odd Lie", "T"),
]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    store.build(PASSAGES, tmp_path / "i")
    return tmp_path / "i"


def refused(path: Path, ask: Callable[[Path], object] = store.open_corpus) -> str:
    with pytest.raises(IndexFormatError) as caught:
        ask(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def edit(index: Path, **fields: object) -> None:
    path = index / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


# --- opening -----------------------------------------------------------------------------------


def test_a_missing_index_says_how_to_make_one(tmp_path: Path) -> None:
    assert "there is no such folder: make one with  mrag index PATH" in refused(tmp_path / "none")
    assert "holds no index: make one" in refused(tmp_path)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "i").write_text("x")
    assert "a file, not an index folder" in refused(tmp_path / "i")


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"{}", b'{"format": "other"}', b'{"format": "mrag-index"}', b"\xff", b"[" * 100_000),
        b'{"format": "mrag-index", "version": 1, "generation": "gen-000001", "counts": [], "files": {}}',
    ],
)
def test_a_foreign_or_damaged_manifest_is_refused(index: Path, content: bytes) -> None:
    (index / "manifest.json").write_bytes(content)
    assert "damaged, or not MRAG's" in refused(index)
    assert "damaged, or not MRAG's" in refused(index, lambda path: store.build(PASSAGES, path))
    assert (index / "manifest.json").read_bytes() == content


@pytest.mark.parametrize("name", ["../i/gen-000001", "/etc", "gen-000001/..", "gen-1", "", 7, None, "gen-00000１"])
def test_a_manifest_cannot_lead_out_of_its_folder(index: Path, name: object) -> None:
    edit(index, generation=name)
    assert "damaged, or not MRAG's" in refused(index)


def test_a_newer_version_is_neither_read_nor_overwritten(index: Path) -> None:
    edit(index, version=manifest.VERSION + 1, written_by="9.9")
    for ask in (store.open_corpus, store.verify, store.upgrade, lambda path: store.build(PASSAGES, path)):
        assert "written by the newer mrag 9.9" in refused(index, ask)


def test_counts_that_are_not_those_of_the_files_are_found(index: Path) -> None:
    edit(index, counts={"passages": 3})
    assert "manifest.json: its counts are not those of the files" in refused(index)


def test_other_rules_are_refused_and_upgraded(index: Path) -> None:
    fresh = (index / "manifest.json").read_text()
    edit(index, rules="text-0 timex-0 corpus-0")
    said = refused(index)
    assert "made by other rules" in said
    assert f"mrag index --upgrade {index}" in said
    assert "made by other rules" in refused(index, lambda path: store.add(path, [Passage("c", "x")]))
    assert store.upgrade(index) is True
    assert store.upgrade(index) is False
    assert (index / "manifest.json").read_text() == fresh.replace("gen-000001", "gen-000002")
    corpus = store.open_corpus(index)
    assert [corpus.passage(row) for row in range(2)] == PASSAGES


def test_an_older_format_is_refused_and_upgraded_from_its_passages_alone(index: Path) -> None:
    edit(index, version=0)
    (index / "gen-000001" / "term_rows.npy").unlink()  # whatever else an older format held
    assert "mrag index --upgrade" in refused(index)
    assert store.upgrade(index) is True
    assert store.verify(index) == 2


@pytest.mark.parametrize("name", ["texts.blob", "ids.offsets", "lexicon.rows", "mention_kinds"])
def test_a_missing_file_is_named(index: Path, name: str) -> None:
    (index / "gen-000001" / f"{name}.npy").unlink()
    assert f"{name}.npy: it is missing: the index is damaged" in refused(index)


@pytest.mark.parametrize("name", ["texts.blob", "ids.offsets", "lexicon.rows", "mention_kinds"])
def test_a_truncated_file_is_named(index: Path, name: str) -> None:
    path = index / "gen-000001" / f"{name}.npy"
    path.write_bytes(path.read_bytes()[:-1])
    assert f"{name}.npy: " in refused(index)
    assert "were written: the index is damaged; copy it again or build it again" in refused(index)


@pytest.mark.parametrize("name", sorted(FILES))
def test_verify_finds_a_flipped_bit_in_any_file(index: Path, name: str) -> None:
    path = index / "gen-000001" / f"{name}.npy"
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    assert "damaged" in refused(index, store.verify)


def test_verify_counts_the_passages_of_a_whole_index(index: Path) -> None:
    assert store.verify(index) == 2


@pytest.mark.parametrize(
    "array",
    [np.zeros(3, dtype="<i8"), np.zeros((3, 1), dtype="<i4"), np.array([{}, 1, 2], dtype=object)],
    ids=["dtype", "shape", "object"],
)
def test_a_column_of_another_kind_is_refused_even_with_a_manifest_to_match(index: Path, array: np.ndarray) -> None:
    path = index / "gen-000001" / "mention_starts.npy"
    np.save(path, array)
    entries = json.loads((index / "manifest.json").read_text())["files"]
    entries["mention_starts"].update(bytes=path.stat().st_size, sha256=folder.file_hash(path), length=3)
    edit(index, files=entries)
    assert "mention_starts.npy: " in refused(index)


def test_an_index_that_is_replaced_while_it_is_opened_is_opened_all_the_same(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = manifest.read_manifest(index)
    store.build(PASSAGES, index)
    answers = [stale]
    monkeypatch.setattr(
        folder, "read_manifest", lambda *a, **k: answers.pop() if answers else manifest.read_manifest(*a, **k)
    )
    assert len(store.open_corpus(index)) == 2


def test_an_open_index_outlives_its_replacement(index: Path) -> None:
    corpus = store.open_corpus(index)
    store.build([Passage("z", "Other.")], index)
    assert corpus.passage(0) == PASSAGES[0]
    assert len(store.open_corpus(index)) == 1


# --- what must hold between columns ------------------------------------------------------------


def test_files_and_columns_are_inverse() -> None:
    corpus = analyse(PASSAGES)
    columns = to_files(corpus)
    assert list(columns) == list(FILES)
    assert [from_files(columns).passage(row) for row in range(2)] == PASSAGES
    check_ranges(columns)


def test_no_columns_at_all_are_an_empty_corpus() -> None:
    corpus = from_files({})
    check_ranges(to_files(corpus))
    assert len(corpus) == 0


@pytest.mark.parametrize("name", [name for name, spec in FILES.items() if spec.kind != "values"])
def test_a_number_that_points_outside_is_found(name: str) -> None:
    columns = to_files(analyse(PASSAGES))
    column = columns[name].copy()
    for bad in (-2, 10**6):
        column[len(column) // 2] = bad
        with pytest.raises(ValueError, match=name):
            check_ranges({**columns, name: column})


def test_pointers_must_begin_at_the_first_and_end_at_the_last_row() -> None:
    columns = to_files(analyse(PASSAGES))
    for at in (0, -1):
        column = columns["sentence_rows"].copy()
        column[at] += 1
        with pytest.raises(ValueError, match="sentence_rows runs from"):
            table_sizes({**columns, "sentence_rows": column})


def test_pointers_may_not_run_backwards() -> None:
    columns = to_files(analyse(PASSAGES))
    column = columns["texts.offsets"].copy()
    column[1] = column[2] + 1
    with pytest.raises(ValueError, match=r"texts\.offsets"):
        check_ranges({**columns, "texts.offsets": column})


# --- writing -----------------------------------------------------------------------------------


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    assert "holds other files (thesis.tex): choose an empty or a new folder" in refused(
        tmp_path, lambda path: store.build(PASSAGES, path)
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_other_files_beside_an_index_stay(index: Path) -> None:
    (index / "NOTES").write_text("x")
    store.build(PASSAGES, index)
    assert (index / "NOTES").read_text() == "x"


def test_a_path_under_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "cannot be written: Not a directory" in refused(
        tmp_path / "file" / "i", lambda path: store.build(PASSAGES, path)
    )
    assert "a file, not a folder" in refused(tmp_path / "file", lambda path: store.build(PASSAGES, path))


def test_a_folder_that_does_not_exist_is_made_with_its_parents(tmp_path: Path) -> None:
    store.build(PASSAGES, tmp_path / "a" / "b" / "i")
    assert len(store.open_corpus(tmp_path / "a" / "b" / "i")) == 2


def test_what_killed_builds_left_is_swept_by_the_next(index: Path) -> None:
    (index / "gen-000007").mkdir()
    (index / "gen-000007" / "ids.blob.npy").write_bytes(b"x")
    (index / "manifest.json.new").write_text("{")
    store.add(index, [Passage("c", "Jo Dahl came in 2007.")])
    assert [path.name for path in sorted(index.iterdir())] == ["gen-000002", "lock", "manifest.json"]


def test_where_the_file_system_cannot_lock_a_file_stands_for_the_lock(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "_lock", cannot)
    with lock.locked(index):
        assert "delete" in refused(index, lambda path: store.build(PASSAGES, path))
    store.build(PASSAGES, index)
    assert not (index / lock.FALLBACK).exists()
