"""An index on disk is what its passages make it, however it was built, and survives what happens to builds."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.adapters import store
from mrag.adapters.index import chunks as chunking
from mrag.adapters.index import writer
from mrag.adapters.index.layout import to_files
from mrag.adapters.index.manifest import read_manifest
from mrag.corpus import Corpus, Passage, analyse
from mrag.errors import IndexFormatError, InputError

NAMES = "Ida Moe|Odd Lie|Jo Dahl|Liv Berg|Åse Ødegård|Per Gynt".split("|")


def passages(n: int, first: int = 0) -> list[Passage]:
    """Passages that differ in everything an index holds of them."""
    return [
        Passage(
            f"p{i}",
            f"{NAMES[i % 6]} led club no{i % 97} from {1900 + i % 90} to {1905 + i % 90}. It won.\n- 1950: term{i}",
            f"Club {i % 13}",
            "Years" if i % 2 else "",
            **({"date": f"{1990 + i % 30}"} if i % 3 else {}),
            extra={"n": i, "tags": ["ä", None]} if i % 5 else {},
        )
        for i in range(first, first + n)
    ]


def same(a: Corpus, b: Corpus) -> None:
    columns, others = to_files(a), to_files(b)
    for name, column in columns.items():
        assert column.dtype == others[name].dtype, name
        assert column.tolist() == others[name].tolist(), name


def files(folder: Path) -> dict[str, bytes]:
    live = folder / read_manifest(folder).generation
    return {path.name: path.read_bytes() for path in sorted(live.iterdir())}


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many chunks and many blocks of few passages, as a large corpus has."""
    monkeypatch.setattr(chunking, "PASSAGES", 7)
    monkeypatch.setattr(writer, "BLOCK", 50)


# --- what is stored ----------------------------------------------------------------------------


@pytest.mark.usefixtures("small_chunks")
def test_what_is_opened_is_what_was_analysed(tmp_path: Path) -> None:
    assert store.build(passages(100), tmp_path / "i") == 100
    same(store.open_corpus(tmp_path / "i"), analyse(passages(100)))


@pytest.mark.usefixtures("small_chunks")
def test_passages_come_back_as_they_came(tmp_path: Path) -> None:
    store.build(passages(20), tmp_path / "i")
    corpus = store.open_corpus(tmp_path / "i")
    assert [corpus.passage(row) for row in range(20)] == passages(20)


@pytest.mark.usefixtures("small_chunks")
def test_adding_is_building_all_at_once(tmp_path: Path) -> None:
    store.build(passages(50), tmp_path / "grown")
    assert store.add(tmp_path / "grown", passages(40, first=50)) == 90
    store.build(passages(90), tmp_path / "whole")
    assert files(tmp_path / "grown") == files(tmp_path / "whole")
    assert [path.name for path in sorted((tmp_path / "grown").iterdir())] == ["gen-000002", "lock", "manifest.json"]


@pytest.mark.parametrize("texts", [[""], ["", "It won in 1910.", ""], ["…"], ["the of and"], ["x" * 5000]])
def test_passages_without_words_or_dates_are_stored(tmp_path: Path, texts: list[str]) -> None:
    some = [Passage(str(i), text) for i, text in enumerate(texts)]
    store.build(some, tmp_path / "i")
    same(store.open_corpus(tmp_path / "i"), analyse(some))
    store.verify(tmp_path / "i")


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text("aé b1\n-.9", max_size=30), min_size=1, max_size=12), st.integers(1, 5), st.integers(1, 9))
def test_any_texts_cut_in_any_way_are_stored_as_analysed(texts: list[str], size: int, block: int) -> None:
    some = [Passage(str(i), text, "Born in 1950") for i, text in enumerate(texts)]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunking, "PASSAGES", size)
        patch.setattr(writer, "BLOCK", block)
        store.build(some, folder)
        store.verify(folder)
        same(store.open_corpus(folder), analyse(some))


def test_workers_change_no_byte(tmp_path: Path) -> None:
    many = passages(4500)
    done: list[tuple[int, int | None]] = []
    store.build(many, tmp_path / "one", workers=1)
    store.build(many, tmp_path / "two", workers=2, progress=lambda *at: done.append(at))
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert (tmp_path / "one" / "manifest.json").read_bytes() == (tmp_path / "two" / "manifest.json").read_bytes()
    assert done == [(2000, None), (4000, None), (4500, None)]


def test_the_cut_into_chunks_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.build(passages(100), tmp_path / "one")
    monkeypatch.setattr(chunking, "CHARACTERS", 500)
    monkeypatch.setattr(writer, "BLOCK", 10)
    store.build(passages(100), tmp_path / "many")
    assert files(tmp_path / "one") == files(tmp_path / "many")


def test_a_build_replaces_the_index_that_is_there(tmp_path: Path) -> None:
    store.build(passages(5), tmp_path)
    store.build(passages(3, first=10), tmp_path)
    assert [store.open_corpus(tmp_path).ids[row] for row in range(3)] == ["p10", "p11", "p12"]
    assert len(store.open_corpus(tmp_path)) == 3


def test_a_source_may_be_a_path_several_paths_records_or_passages(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "It won."}')
    (tmp_path / "b.txt").write_text("It lost.")
    several: list[store.Item] = [
        str(tmp_path / "a.jsonl"),
        tmp_path / "b.txt",
        {"_id": 3, "text": "It drew."},
        Passage("d", "It ended."),
    ]
    store.build(several, tmp_path / "i")
    ids = store.open_corpus(tmp_path / "i").ids
    assert [ids[row] for row in range(len(ids))] == ["a", f"{tmp_path.as_posix()}/b.txt#1", "3", "d"]
    assert store.build(tmp_path / "a.jsonl", tmp_path / "j") == store.build({"text": "x"}, tmp_path / "k") == 1


# --- what cannot be indexed --------------------------------------------------------------------


def test_an_id_that_comes_twice_is_named_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "x"}\n{"id": "b", "text": "x"}\n')
    (tmp_path / "b.jsonl").write_text('{"id": "c", "text": "x"}\n{"id": "b", "text": "x"}\n{"id": "a", "text": "x"}\n')
    with pytest.raises(InputError) as caught:
        store.build([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "i")
    assert str(caught.value) == (
        f"{tmp_path / 'b.jsonl'}:2: the id 'b' is taken at {tmp_path / 'a.jsonl'}:2: give each passage its own"
    )


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("twin", [0, 6, 7, 40, 98])
def test_an_id_that_comes_twice_is_found_across_chunks(tmp_path: Path, twin: int) -> None:
    with pytest.raises(InputError, match=rf"in:100: the id 'p{twin}' is taken at passages handed in:{twin + 1}: "):
        store.build([*passages(99), *passages(1, first=twin)], tmp_path / "i")
    assert list(tmp_path.iterdir()) == []


def test_an_id_that_the_index_has_is_named(tmp_path: Path) -> None:
    store.build(passages(5), tmp_path)
    before = files(tmp_path)
    with pytest.raises(InputError, match=f"the id 'p4' is taken in the index {tmp_path}"):
        store.add(tmp_path, passages(3, first=4))
    assert files(tmp_path) == before
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["gen-000001", "lock", "manifest.json"]


def test_an_empty_corpus_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"c\.jsonl: no passages"):
        store.build(tmp_path / "c.jsonl", tmp_path / "i")
    with pytest.raises(InputError, match="no passages"):
        store.build([], tmp_path / "i")
    assert not (tmp_path / "i").exists()


def test_a_source_that_fails_is_not_called_a_full_disk(tmp_path: Path) -> None:
    def broken() -> Iterator[Passage]:
        yield from passages(3)
        raise OSError("the socket closed")

    with pytest.raises(InputError, match="the passages handed in cannot be read: the socket closed"):
        store.build(broken(), tmp_path / "i")


@pytest.mark.parametrize(
    ("item", "says"),
    [
        (Passage(1, "x"), "id, text, title and section of a passage are strings"),  # type: ignore[arg-type]
        (Passage("a", "x", extra={"at": object()}), "cannot be kept as JSON"),
        (Passage("a", "x", date="soon"), "'soon' is no ISO date"),
        ({"id": "a"}, 'passages handed in:1: no "text" field (keys: id)'),
        (7, "int is no passage"),
        ("x" * 10_000, "cannot be read: File name too long"),
    ],
)
def test_an_object_that_is_no_passage_is_named(tmp_path: Path, item: store.Item, says: str) -> None:
    with pytest.raises(InputError) as caught:
        store.build([item], tmp_path / "i")
    assert says in str(caught.value)


def test_adding_needs_an_index(tmp_path: Path) -> None:
    with pytest.raises(IndexFormatError, match="no such folder: make one"):
        store.add(tmp_path / "none", passages(1))
    assert not (tmp_path / "none").exists()


# --- what happens to builds --------------------------------------------------------------------

_BUILD = """
import sys, time
from pathlib import Path
from mrag.adapters import store
from mrag.adapters.index import chunks
from mrag.corpus import Passage

def endless(n):
    for i in range(n):
        yield Passage(f"new{i}", f"Ida Moe led club no{i} in 1999.")
    print("reading", flush=True)
    time.sleep(60)

if __name__ == "__main__":
    chunks.PASSAGES = 50
    store.build(endless(400), sys.argv[1], workers=int(sys.argv[2]))
"""


def start_build(folder: Path, script: Path, workers: int = 1) -> subprocess.Popen[str]:
    """A build in another process that hangs when 400 passages have been read."""
    script.write_text(_BUILD)
    command = [sys.executable, str(script), str(folder), str(workers)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n"
    return process


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_build_leaves_the_old_index_whole_and_no_lock(tmp_path: Path, workers: int) -> None:
    folder = tmp_path / "i"
    store.build(passages(5), folder)
    before = files(folder)
    process = start_build(folder, tmp_path / "build.py", workers)
    assert (folder / "gen-000002").is_dir()
    process.kill()
    process.communicate(timeout=30)  # ends only when the workers have ended, too: they hold its stderr
    store.verify(folder)
    assert files(folder) == before
    store.add(folder, passages(5, first=5))
    assert len(store.open_corpus(folder)) == 10
    assert [path.name for path in sorted(folder.iterdir())] == ["gen-000002", "lock", "manifest.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to send to a group")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_sweeps_up_and_leaves_the_old_index_whole(tmp_path: Path, workers: int) -> None:
    folder = tmp_path / "i"
    store.build(passages(5), folder)
    before = files(folder)
    process = start_build(folder, tmp_path / "build.py", workers)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert stderr.count("Traceback") == 1, stderr  # the process's own KeyboardInterrupt, none of a worker
    assert files(folder) == before
    assert [path.name for path in sorted(folder.iterdir())] == ["gen-000001", "lock", "manifest.json"]


def test_a_second_build_at_once_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    process = start_build(folder, tmp_path / "build.py")
    try:
        with pytest.raises(IndexFormatError, match="another build is writing this index"):
            store.build(passages(5), folder)
        assert (folder / "gen-000001").is_dir()
    finally:
        process.kill()
        process.communicate()


def test_a_build_in_place_of_none_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        store.build([*passages(2500), Passage("x", "It won.", date="soon")], tmp_path / "a" / "i")
    assert list(tmp_path.iterdir()) == []


def test_a_script_without_main_guard_does_not_spawn_without_end(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from mrag.adapters import store\nfrom mrag.adapters.index import chunks\n"
        "from mrag.corpus import Passage\nchunks.PASSAGES = 5\n"
        "store.build([Passage(str(i), 'It won.') for i in range(50)], 'i', workers=2)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 1
    assert '"__main__"' in done.stderr.splitlines()[-1]
    assert not (tmp_path / "i").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the limit that stands for a full disk is POSIX")
@pytest.mark.parametrize("limit", [100, 5_000, 60_000])
def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path, limit: int) -> None:
    folder = tmp_path / "i"
    store.build(passages(5), folder)
    before = files(folder)
    code = (
        "import resource, sys\nfrom mrag.adapters import store\nfrom mrag.corpus import Passage\n"
        "from mrag.errors import IndexFormatError\n"
        "many = [Passage(f'n{i}', f'Ida Moe led club no{i} in 1999.') for i in range(3000)]\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        f"try:\n    store.add({str(folder)!r}, many)\nexcept IndexFormatError as error:\n    print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/").stdout
    assert "cannot be written: File too large: free space or choose another folder" in said
    assert files(folder) == before
    assert [path.name for path in sorted(folder.iterdir())] == ["gen-000001", "lock", "manifest.json"]


# --- Index -------------------------------------------------------------------------------------


def test_an_index_answers_and_grows(tmp_path: Path) -> None:
    index = store.Index.build([Passage("a", "Ida Moe led the club from 1999 to 2006.")], tmp_path)
    grown = index.add([Passage("b", "Odd Lie led the club from 2007 to 2012.")])
    assert (len(index), len(grown)) == (1, 2)
    assert [e.passage.id for e in grown.search("Who led the club as of 2010?").evidence] == ["b", "a"]
    assert [e.passage.id for e in grown.search("Who led the club as of 2001?", k=1).evidence] == ["a"]
    assert [e.passage.id for e in index.search("Who led the club as of 2010?").evidence] == ["a"]


def test_a_closed_index_says_so(tmp_path: Path) -> None:
    with store.Index.build(passages(3), tmp_path) as index:
        assert repr(index) == f"<Index {str(tmp_path)!r}: 3 passages>"
    with pytest.raises(IndexFormatError, match="closed: open it again"):
        index.search("Who?")
    assert repr(index).endswith("closed>")


def test_files_of_the_same_name_in_two_folders_have_ids_of_their_own(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.md").write_text("It opened in 1990.", encoding="utf-8")
    store.build([tmp_path / "a", tmp_path / "b"], tmp_path / "i")
    ids = store.open_corpus(tmp_path / "i").ids
    assert [ids[row].removeprefix(tmp_path.as_posix()) for row in range(2)] == ["/a/notes.md#1", "/b/notes.md#1"]


def test_a_flipped_byte_that_opening_cannot_see_is_told_when_it_matters(tmp_path: Path) -> None:
    index = store.Index.build([Passage("a", "Ida Moe led the club in 1990.")], tmp_path / "i")
    index.close()
    (column,) = (tmp_path / "i").glob("*/mention_sources.npy")
    raw = bytearray(column.read_bytes())
    raw[-1] = 200
    column.write_bytes(raw)
    with store.Index.open(tmp_path / "i") as damaged, pytest.raises(IndexFormatError, match="--verify"):
        damaged.search("Who led the club in 1990?")
