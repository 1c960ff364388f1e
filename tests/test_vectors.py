"""An index holds the vectors of its texts: made once, kept through what happens to builds, and only by one encoder."""

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.adapters import hnsw, store
from mrag.adapters.index import generations, vector_texts, vector_writer
from mrag.adapters.index.encoding import OtherPrecision, encode
from mrag.adapters.index.folder import file_hash, map_index
from mrag.adapters.index.manifest import read_manifest
from mrag.adapters.index.vectors import Vectors, nearest, normalised, quantised, widened
from mrag.corpus import Passage, analyse
from mrag.errors import IndexFormatError, InputError, MissingExtraError, MragError

Toy = Callable[..., Any]
NAMES = "Ida Moe|Odd Lie|Jo Dahl|Liv Berg|Åse Ødegård|Per Gynt".split("|")


def passages(n: int, first: int = 0) -> list[Passage]:
    """Passages of two sentences each, all texts different."""
    return [
        Passage(
            f"p{i}",
            f"{NAMES[i % 6]} led club number {i} from {1900 + i % 90}. It won {i} times.",
            f"Club {i % 13}",
            "Years" if i % 2 else "",
        )
        for i in range(first, first + n)
    ]


def files(folder: Path) -> dict[str, bytes]:
    live = folder / read_manifest(folder).generation
    return {path.name: path.read_bytes() for path in sorted(live.iterdir())}


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_writer, "BLOCK", 16)


@pytest.fixture
def small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph from the 21st passage on."""
    monkeypatch.setattr(hnsw, "EXACT_BELOW", 20)


# --- vectors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("precision", "error"), [("float32", 0), ("float16", 5e-4), ("int8", 4e-3)])
def test_a_stored_vector_is_the_vector_but_for_its_precision(precision: Any, error: float) -> None:
    some = normalised(np.random.default_rng(1).standard_normal((50, 24)).astype(np.float32))
    stored = quantised(some, precision)
    assert stored.precision == precision
    assert stored.take(slice(0, 50)).dtype == np.float32
    assert np.abs(stored.take(slice(0, 50)) - some).max() <= error


def test_every_float16_is_widened_to_its_float32() -> None:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    every = every[np.isfinite(every)]
    assert widened(every).view(np.uint32).tolist() == every.astype(np.float32).view(np.uint32).tolist()
    assert quantised(np.array([[1e6, -1e6]], dtype=np.float32), "float16").take(slice(0, 1)).tolist() == [
        [65504, -65504]
    ]


def test_int8_keeps_large_small_and_zero_vectors() -> None:
    some = np.array([[1e6, -5e5], [1e-6, 2e-6], [0, 0]], dtype=np.float32)
    assert np.allclose(quantised(some, "int8").take(slice(0, 3)), some, rtol=0.01)


def test_a_vector_of_zeros_has_no_direction() -> None:
    assert normalised(np.zeros((1, 3), dtype=np.float32)).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_a_dot_product_does_not_depend_on_what_stands_beside_it(precision: Any) -> None:
    rng = np.random.default_rng(2)
    stored = quantised(np.repeat(rng.standard_normal((1, 131)), 101, axis=0).astype(np.float32), precision)
    query = rng.standard_normal(131).astype(np.float32)
    all_at_once = stored.dot(query, np.arange(101))
    assert len(set(all_at_once.tolist())) == 1
    assert stored.dot(query, np.array([77])).tolist() == all_at_once[:1].tolist()


@given(
    st.integers(0, 40),
    st.integers(1, 3),
    st.integers(0, 50),
    st.sampled_from(["float32", "float16", "int8"]),
    st.integers(0, 2**31),
    st.booleans(),
)
def test_nearest_is_the_head_of_the_full_order(n: int, q: int, k: int, precision: Any, seed: int, some: bool) -> None:
    rng = np.random.default_rng(seed)
    vectors = quantised(rng.integers(-2, 3, (n, 4)).astype(np.float32), precision)  # small numbers: many ties
    queries = rng.integers(-2, 3, (q, 4)).astype(np.float32)
    among = np.flatnonzero(rng.random(n) < 0.5) if some else None
    rows, scores = nearest(vectors, queries, k, among)
    assert (rows.dtype, rows.shape, scores.dtype, scores.shape) == (np.int64, (q, k), np.float32, (q, k))
    for at, query in enumerate(queries):
        products = vectors.dot(query, np.arange(n))
        order = sorted(range(n) if among is None else among.tolist(), key=lambda row: (-products[row], row))[:k]
        assert rows[at].tolist() == order + [-1] * (k - len(order))
        assert scores[at, : len(order)].tolist() == products[order].tolist()


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
@pytest.mark.parametrize("some", [False, True])
def test_nearest_takes_many_queries_and_vectors_in_pieces(
    precision: Any, some: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    vectors = quantised(rng.standard_normal((500, 8)).astype(np.float32), precision)
    queries = rng.standard_normal((30, 8)).astype(np.float32)
    among = np.flatnonzero(rng.random(500) < 0.5) if some else None
    whole = nearest(vectors, queries, 10, among)
    monkeypatch.setattr("mrag.adapters.index.vectors.BATCH", 200)
    monkeypatch.setattr("mrag.adapters.index.vectors.NUMBERS", 50)
    monkeypatch.setattr("mrag.adapters.index.vectors.TOGETHER", 7)
    pieces = nearest(vectors, queries, 10, among)
    assert [part.tolist() for part in whole] == [part.tolist() for part in pieces]


# --- texts -------------------------------------------------------------------------------------


def test_the_texts_are_those_of_their_version() -> None:
    """Another text for any of these is another TEXTS: vectors of the old ones are not those of the new."""
    corpus = analyse(
        [
            Passage("a", "Ida Moe led it.\nMembers:\n- 1950: Odd Lie", "Club", "Years"),
            Passage("b", ""),
            Passage("c", "It won. It lost.", "Club"),
            Passage("d", "It drew.", section="Years"),
        ]
    )
    assert vector_texts.TEXTS == "texts-1"
    assert vector_texts.texts_of(corpus, "passages", slice(0, 4)) == [
        "Club - Years: Ida Moe led it.\nMembers:\n- 1950: Odd Lie",
        "",
        "Club: It won. It lost.",
        "Years: It drew.",
    ]
    sentences = [
        "Club - Years: Ida Moe led it.",
        "Club - Years: Members:",
        "Club - Years: Members: - 1950: Odd Lie",
        "Club: It won.",
        "Club: It lost.",
        "Years: It drew.",
    ]
    assert vector_texts.texts_of(corpus, "sentences", slice(0, 6)) == sentences
    assert vector_texts.texts_of(corpus, "sentences", slice(2, 5)) == sentences[2:5]


# --- what is stored ----------------------------------------------------------------------------


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_what_is_opened_is_what_was_encoded(tmp_path: Path, toy: Toy, precision: Any) -> None:
    encoder = toy()
    store.build(passages(50), tmp_path, encoder=encoder, vectors="sentences", precision=precision)
    corpus, stored = map_index(tmp_path)
    assert stored is not None
    assert list(stored.tables) == ["passages", "sentences"]
    for table, vectors in stored.tables.items():
        texts = vector_texts.texts_of(corpus, table, slice(0, len(vectors)))
        expected = quantised(encode(encoder, texts), precision)
        assert vectors.values.tolist() == expected.values.tolist()
        assert (vectors.scales is None) == (precision != "int8")
    assert len(stored.tables["passages"]) == 50
    assert len(stored.tables["sentences"]) == 100


def test_vectors_of_dot_products_keep_their_length(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(5), tmp_path / "dot", encoder=toy(metric="dot"))
    store.build(passages(5), tmp_path / "cosine", encoder=toy())
    for name, of_length_1 in (("dot", False), ("cosine", True)):
        stored = map_index(tmp_path / name)[1]
        assert stored is not None
        lengths = np.linalg.norm(stored.tables["passages"].take(slice(0, 5)), axis=1)
        assert bool(np.allclose(lengths, 1, atol=1e-6)) == of_length_1


def test_the_manifest_says_which_encoder_made_the_vectors(tmp_path: Path, toy: Toy) -> None:
    encoder = toy()
    store.build(passages(3), tmp_path, encoder=encoder)
    assert json.loads((tmp_path / "manifest.json").read_text())["vectors"] == {
        "level": "passages",
        "precision": "float32",
        "metric": "cosine",
        "dimension": 32,
        "fingerprint": encoder.fingerprint,
        "family": encoder.family_fingerprint,
        "texts": "texts-1",
        "encoder": "toy",
    }


def test_an_index_without_an_encoder_holds_no_vectors(tmp_path: Path) -> None:
    store.build(passages(3), tmp_path)
    assert map_index(tmp_path)[1] is None
    assert json.loads((tmp_path / "manifest.json").read_text())["vectors"] is None


def test_a_corpus_without_a_sentence_is_stored(tmp_path: Path, toy: Toy) -> None:
    store.build([Passage("a", ""), Passage("b", "")], tmp_path, encoder=toy(), vectors="sentences", precision="int8")
    stored = map_index(tmp_path)[1]
    assert stored is not None
    assert [len(vectors) for vectors in stored.tables.values()] == [2, 0]
    store.verify(tmp_path)


def test_a_text_that_comes_twice_is_encoded_once(tmp_path: Path, toy: Toy) -> None:
    encoder = toy()
    store.build([Passage("a", "It won."), Passage("b", "It won.")], tmp_path, encoder=encoder, vectors="sentences")
    assert encoder.seen.count("It won.") <= 2  # as a passage, and as a sentence
    stored = map_index(tmp_path)[1]
    assert stored is not None
    assert stored.tables["passages"].values[0].tolist() == stored.tables["passages"].values[1].tolist()


def test_progress_is_told_of_passages_and_of_vectors(tmp_path: Path, toy: Toy) -> None:
    told: list[tuple[object, ...]] = []
    store.build(passages(5), tmp_path, encoder=toy(), vectors="sentences", progress=lambda *at: told.append(at))
    assert told == [(5, None), (5, 15, "vectors"), (15, 15, "vectors")]


@pytest.mark.parametrize("name", ["passages.vectors", "passages.digests", "sentences.scales", "sentences.vectors"])
def test_verify_finds_a_flipped_bit_in_the_vectors(tmp_path: Path, toy: Toy, name: str) -> None:
    store.build(passages(5), tmp_path, encoder=toy(), vectors="sentences", precision="int8")
    assert store.verify(tmp_path) == 5
    path = tmp_path / "gen-000001" / f"{name}.npy"
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    with pytest.raises(IndexFormatError, match="its bytes are not those that were written"):
        store.verify(tmp_path)


@pytest.mark.parametrize("name", ["passages.vectors", "passages.digests", "passages.scales"])
def test_missing_and_truncated_vectors_are_named(tmp_path: Path, toy: Toy, name: str) -> None:
    store.build(passages(5), tmp_path, encoder=toy(), precision="int8")
    path = tmp_path / "gen-000001" / f"{name}.npy"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexFormatError, match=rf"{name}\.npy: .* were written"):
        store.Index.open(tmp_path)
    path.unlink()
    with pytest.raises(IndexFormatError, match=rf"{name}\.npy: it is missing"):
        store.Index.open(tmp_path)


@pytest.mark.parametrize(
    "array",
    [np.zeros((4, 32), "<f4"), np.zeros((5, 31), "<f4"), np.zeros((5, 32), "<f8"), np.zeros(160, "<f4")],
    ids=["rows", "width", "dtype", "flat"],
)
def test_vectors_of_another_shape_are_refused_even_with_a_manifest_to_match(
    tmp_path: Path, toy: Toy, array: np.ndarray
) -> None:
    store.build(passages(5), tmp_path, encoder=toy())
    path = tmp_path / "gen-000001" / "passages.vectors.npy"
    np.save(path, array)
    record = json.loads((tmp_path / "manifest.json").read_text())
    record["files"]["passages.vectors"].update(
        bytes=path.stat().st_size, sha256=file_hash(path), length=len(array), dtype=array.dtype.str
    )
    (tmp_path / "manifest.json").write_text(json.dumps(record))
    with pytest.raises(IndexFormatError, match="damaged"):
        store.Index.open(tmp_path)


@pytest.mark.parametrize(
    "change", [{"level": "words"}, {"precision": "int4"}, {"metric": []}, {"dimension": 0}, {"dimension": "32"}]
)
def test_a_damaged_entry_of_vectors_is_refused(tmp_path: Path, toy: Toy, change: dict[str, object]) -> None:
    store.build(passages(5), tmp_path, encoder=toy())
    record = json.loads((tmp_path / "manifest.json").read_text())
    record["vectors"].update(change)
    (tmp_path / "manifest.json").write_text(json.dumps(record))
    with pytest.raises(IndexFormatError, match="damaged, or not MRAG's"):
        store.Index.open(tmp_path)


# --- builds that are stopped -------------------------------------------------------------------


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_build_that_was_stopped_goes_on_where_it_was(tmp_path: Path, toy: Toy, precision: Any) -> None:
    options: dict[str, Any] = {"vectors": "sentences", "precision": precision}
    stopped, second, third, whole = toy(fails_after=40), toy(fails_after=40), toy(), toy()
    for encoder in (stopped, second):
        with pytest.raises(KeyboardInterrupt):
            store.build(passages(50), tmp_path / "i", encoder=encoder, **options)
        assert [path.name for path in (tmp_path / "i").iterdir()] == [generations.WORK]
    store.build(passages(50), tmp_path / "i", encoder=third, **options)
    store.build(passages(50), tmp_path / "whole", encoder=whole, **options)
    assert (len(stopped.seen), len(second.seen)) == (32, 34)  # blocks of 16, of 50 passages; then of their sentences
    assert sorted(stopped.seen + second.seen + third.seen) == sorted(whole.seen)
    assert files(tmp_path / "i") == files(tmp_path / "whole")
    assert sorted(path.name for path in (tmp_path / "i").iterdir()) == ["gen-000001", "lock", "manifest.json"]


@pytest.mark.usefixtures("small_blocks")
def test_what_was_encoded_is_found_again_when_the_passages_have_changed(tmp_path: Path, toy: Toy) -> None:
    with pytest.raises(KeyboardInterrupt):
        store.build(passages(50), tmp_path / "i", encoder=toy(fails_after=40))
    encoder = toy()
    store.build([*passages(5, first=100), *passages(50)], tmp_path / "i", encoder=encoder)
    assert len(encoder.seen) == 55 - 32


@pytest.mark.usefixtures("small_blocks")
def test_a_damaged_block_of_a_stopped_build_is_made_anew(tmp_path: Path, toy: Toy) -> None:
    with pytest.raises(KeyboardInterrupt):
        store.build(passages(50), tmp_path / "i", encoder=toy(fails_after=40))
    blocks = sorted((tmp_path / "i" / generations.WORK).glob("*/*.npy"))
    blocks[0].write_bytes(blocks[0].read_bytes()[:-9])
    encoder = toy()
    store.build(passages(50), tmp_path / "i", encoder=encoder)
    assert len(encoder.seen) == 50 - 16


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("other", [{"name": "another"}, {"precision": "fp16"}, {"metric": "dot"}])
def test_what_another_encoder_made_is_not_taken(tmp_path: Path, toy: Toy, other: dict[str, str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        store.build(passages(50), tmp_path / "i", encoder=toy(fails_after=40))
    encoder = toy(**other)
    store.build(passages(50), tmp_path / "i", encoder=encoder)
    assert len(encoder.seen) == 50


_BUILD = """
import sys, time
import numpy as np
from mrag.adapters import store
from mrag.adapters.index import vector_writer
from mrag.corpus import Passage

class Encoder:
    metric, dimension, fingerprint, family_fingerprint = "cosine", 2, "slow", "slow"
    seen = 0
    def __call__(self, texts, *, role="passage"):
        if sys.argv[2] == "stop" and self.seen == 100:
            print("encoding", flush=True)
            time.sleep(60)
        self.seen += len(texts)
        return np.array([[1.0, len(text)] for text in texts], dtype=np.float32)

vector_writer.BLOCK = 50
encoder = Encoder()
store.build([Passage(str(i), f"It won {i} times.") for i in range(200)], sys.argv[1], encoder=encoder)
print(encoder.seen)
"""


def test_a_killed_build_goes_on_where_it_was(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text(_BUILD)
    command = [sys.executable, str(script), str(tmp_path / "i")]
    process = subprocess.Popen([*command, "stop"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "encoding\n"
    process.kill()
    process.communicate(timeout=30)
    done = subprocess.run([*command, "go"], capture_output=True, text=True, check=True)
    assert done.stdout == "100\n"
    assert store.verify(tmp_path / "i") == 200


def test_the_index_that_was_there_stays_until_the_vectors_are_made(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(5), tmp_path, encoder=toy())
    before = files(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        store.build(passages(50), tmp_path, encoder=toy(fails_after=0))
    assert files(tmp_path) == before


# --- adding and upgrading ----------------------------------------------------------------------


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_adding_encodes_the_new_texts_alone_and_gives_what_building_gives(
    tmp_path: Path, toy: Toy, precision: Any
) -> None:
    options: dict[str, Any] = {"vectors": "sentences", "precision": precision}
    store.build(passages(50), tmp_path / "grown", encoder=toy(), **options)
    encoder = toy()
    assert store.add(tmp_path / "grown", passages(10, first=50), encoder=encoder) == 60
    assert len(encoder.seen) == 10 + 20
    store.build(passages(60), tmp_path / "whole", encoder=toy(), **options)
    assert files(tmp_path / "grown") == files(tmp_path / "whole")
    assert read_manifest(tmp_path / "grown").vectors == read_manifest(tmp_path / "whole").vectors


def test_adding_to_vectors_needs_their_encoder(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(5), tmp_path, encoder=toy())
    with pytest.raises(InputError, match=r"holds vectors made by toy \(32 numbers, cosine, .*name that encoder"):
        store.add(tmp_path, passages(5, first=5))
    with pytest.raises(InputError, match=r"were made by toy \(.*, not by another \("):
        store.add(tmp_path, passages(5, first=5), encoder=toy("another"))
    with pytest.warns(OtherPrecision, match="the same encoder in another numeric precision"):
        assert store.add(tmp_path, passages(5, first=5), encoder=toy(precision="fp16")) == 10


def test_adding_with_an_encoder_gives_an_index_vectors(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(5), tmp_path)
    encoder = toy()
    store.add(tmp_path, passages(2, first=5), encoder=encoder)
    assert len(encoder.seen) == 7


def test_building_again_takes_over_the_vectors_of_the_same_texts(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(20), tmp_path, encoder=toy())
    encoder = toy()
    store.build(passages(20, first=5), tmp_path, encoder=encoder)
    assert len(encoder.seen) == 5


def other_rules(folder: Path, **fields: object) -> None:
    record = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**record, **fields}))


def test_an_upgrade_keeps_the_vectors_of_all_texts_that_stay(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(20), tmp_path, encoder=toy(), vectors="sentences", precision="int8")
    before = files(tmp_path)
    other_rules(tmp_path, rules="text-0")
    assert store.upgrade(tmp_path) is True
    assert files(tmp_path) == before
    assert store.upgrade(tmp_path) is False


def test_an_upgrade_that_changes_texts_names_the_encoder_it_needs(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.build(passages(20), tmp_path, encoder=toy(), vectors="sentences")
    monkeypatch.setattr(vector_texts, "passage_texts", lambda corpus, rows: [corpus.texts[row] for row in rows])
    other_rules(tmp_path, rules="text-0")
    with pytest.raises(IndexFormatError, match=r"made by toy \(.*name that encoder with --encoder"):
        store.upgrade(tmp_path)
    encoder = toy()
    assert store.upgrade(tmp_path, encoder=encoder) is True
    assert len(encoder.seen) == 20  # the passages; the sentences are as they were


def test_vectors_of_other_texts_are_refused(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(5), tmp_path, encoder=toy())
    other_rules(tmp_path, vectors={**json.loads((tmp_path / "manifest.json").read_text())["vectors"], "texts": "t-0"})
    with pytest.raises(IndexFormatError, match=r"made by other rules .* t-0; .*mrag index --upgrade"):
        store.Index.open(tmp_path)
    assert store.upgrade(tmp_path) is True
    assert len(store.Index.open(tmp_path)) == 5


def test_an_upgrade_makes_vectors_changes_them_and_takes_another_encoder(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(20), tmp_path)
    first, second, third = toy(), toy(), toy("another")
    assert store.upgrade(tmp_path, encoder=first) is True
    assert store.upgrade(tmp_path, encoder=second, vectors="sentences") is True
    assert (len(first.seen), len(second.seen)) == (20, 40)
    assert store.upgrade(tmp_path, precision="int8") is True
    assert store.upgrade(tmp_path, encoder=third) is True
    assert len(third.seen) == 60
    entry = read_manifest(tmp_path).vectors
    assert entry is not None
    assert (entry.encoder, entry.level, entry.precision) == ("another", "sentences", "int8")


def test_int8_out_of_float32_is_int8_out_of_the_encoder(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(20), tmp_path / "a", encoder=toy())
    store.upgrade(tmp_path / "a", precision="int8")
    store.build(passages(20), tmp_path / "b", encoder=toy(), precision="int8")
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_more_precision_than_is_stored_needs_the_encoder(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(20), tmp_path, encoder=toy(), precision="int8")
    with pytest.raises(IndexFormatError, match="name that encoder"):
        store.upgrade(tmp_path, precision="float32")


def test_vectors_need_an_encoder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="vectors need an encoder"):
        store.build(passages(5), tmp_path / "i", vectors="sentences")
    assert not (tmp_path / "i").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the limit that stands for a full disk is POSIX")
def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(5), tmp_path / "i", encoder=toy())
    before = files(tmp_path / "i")
    code = (
        "import resource, sys\nimport numpy as np\nfrom mrag.adapters import store\nfrom mrag.corpus import Passage\n"
        "from mrag.errors import IndexFormatError\n"
        "class Encoder:\n"
        "    metric, dimension, fingerprint, family_fingerprint = 'cosine', 500, 'wide', 'wide'\n"
        "    def __call__(self, texts, *, role='passage'):\n"
        "        return np.ones((len(texts), 500), dtype=np.float32)\n"
        "many = [Passage(str(i), f'It won {i} times.') for i in range(100)]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        f"try:\n    store.build(many, {str(tmp_path / 'i')!r}, encoder=Encoder())\n"
        "except IndexFormatError as error:\n    print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/").stdout
    assert "cannot be written: File too large: free space or choose another folder" in said
    assert files(tmp_path / "i") == before


# --- encoders ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (np.zeros((1, 3)), r"gave \[1, 3\] numbers for 1 texts of 2"),
        (np.zeros((2, 2)), r"gave \[2, 2\] numbers for 1 texts of 2"),
        (np.array([[1.0, np.nan]]), r"gave no finite numbers for the text 'It won\.'"),
    ],
)
def test_an_encoder_that_gives_no_vectors_is_named(answer: np.ndarray, says: str) -> None:
    class Bad:
        metric, dimension, fingerprint, family_fingerprint = "cosine", 2, "b", "b"

        def __call__(self, texts: object, *, role: str = "passage") -> np.ndarray:
            return answer

    with pytest.raises(MragError, match=says):
        encode(Bad(), ["It won."])  # type: ignore[arg-type]


def test_an_encoder_that_loses_its_connection_is_not_called_a_full_disk(tmp_path: Path, toy: Toy) -> None:
    class Remote(type(toy())):  # type: ignore[misc]
        def __call__(self, texts: object, *, role: str = "passage") -> np.ndarray:
            raise ConnectionError("no route to host")

    with pytest.raises(MragError, match="the encoder failed: no route to host"):
        store.build(passages(5), tmp_path, encoder=Remote())


def test_the_right_encoder_is_taken_without_a_word(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(5), tmp_path, encoder=toy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.Index.open(tmp_path).meaning(toy())


@pytest.mark.parametrize("other", [{"name": "another"}, {"metric": "dot"}])
def test_another_encoder_at_query_time_is_an_error(tmp_path: Path, toy: Toy, other: dict[str, str]) -> None:
    store.build(passages(5), tmp_path, encoder=toy())
    with pytest.raises(InputError, match=r"were made by toy .* not by .*mrag index --upgrade"):
        store.Index.open(tmp_path).search("Who led the club?", encoder=toy(**other))


def test_another_precision_of_the_encoder_is_a_warning(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(5), tmp_path, encoder=toy())
    with pytest.warns(OtherPrecision, match="the same encoder in another numeric precision: scores differ a little"):
        store.Index.open(tmp_path).search("Who led the club?", encoder=toy(precision="fp16"))


# --- the graph ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_graphs")
def test_a_large_index_has_a_graph_and_a_small_one_none(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(20), tmp_path / "small", encoder=toy())
    store.build(passages(21), tmp_path / "large", encoder=toy())
    assert "passages.hnsw" not in files(tmp_path / "small")
    assert "passages.hnsw" in files(tmp_path / "large")
    assert read_manifest(tmp_path / "large").files["passages.hnsw"].length == 21


@pytest.mark.usefixtures("small_graphs")
def test_the_graph_grows_when_passages_are_added(tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    grown_from: list[Path | None] = []
    write = hnsw.write_graph

    def watched(path: Path, vectors: Vectors, *, old: Path | None = None, told: Any = None) -> None:
        grown_from.append(old)
        write(path, vectors, old=old, told=told)

    monkeypatch.setattr(hnsw, "write_graph", watched)
    store.build(passages(30), tmp_path, encoder=toy())
    store.add(tmp_path, passages(30, first=30), encoder=toy())
    other_rules(tmp_path, rules="text-0")
    store.upgrade(tmp_path)
    assert [old and old.parent.name for old in grown_from] == [None, "gen-000001", "gen-000002"]
    store.build(passages(30, first=10), tmp_path, encoder=toy())
    assert grown_from[-1] is None  # other passages come first
    store.verify(tmp_path)


@pytest.mark.usefixtures("small_graphs")
def test_a_damaged_graph_is_refused_before_hnswlib_reads_it(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(30), tmp_path, encoder=toy())
    path = tmp_path / "gen-000001" / "passages.hnsw"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 255
    path.write_bytes(raw)
    index = store.Index.open(tmp_path)
    with pytest.raises(IndexFormatError, match=r"passages\.hnsw: its bytes are not those that were written"):
        index.search("Who led the club?", retriever="hnsw", encoder=toy())
    index.search("Who led the club?", retriever="dense", encoder=toy())
    with pytest.raises(IndexFormatError, match=r"passages\.hnsw: its bytes"):
        store.verify(tmp_path)
    path.write_bytes(raw[:-1])
    with pytest.raises(IndexFormatError, match=r"passages\.hnsw: .* were written"):
        store.Index.open(tmp_path)


@pytest.mark.usefixtures("small_graphs")
def test_an_index_that_is_replaced_stays_searchable_where_it_was_opened(tmp_path: Path, toy: Toy) -> None:
    store.build(passages(30), tmp_path, encoder=toy())
    index = store.Index.open(tmp_path)
    store.build([Passage("z", "Other.")], tmp_path)
    found = index.search("Who led club number 7?", retriever="hnsw", encoder=toy())
    assert "p7" in [evidence.passage.id for evidence in found.evidence]


@pytest.mark.usefixtures("small_graphs")
def test_a_missing_hnswlib_is_said_before_anything_is_encoded(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    encoder = toy()
    with pytest.raises(MissingExtraError, match="pip install hnswlib"):
        store.build(passages(30), tmp_path, encoder=encoder)
    assert encoder.seen == []


def test_a_graph_that_does_not_fit_on_the_disk_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        hnsw.write_graph(tmp_path / "none" / "g", Vectors(np.eye(4, dtype=np.float32)))


# --- scores of sentences -----------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["cosine", "dot"])
@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_sentences_are_scored_by_their_stored_vectors(tmp_path: Path, toy: Toy, metric: Any, precision: Any) -> None:
    encoder = toy(metric=metric)
    index = store.Index.build(passages(50), tmp_path, encoder=encoder, vectors="sentences", precision=precision)
    scorer = index.meaning(encoder).row_scorer
    assert scorer is not None
    rows = np.array([3, 90, 0, 41])
    scores = scorer("Who led club number 20?", rows)
    query = encode(encoder, ["Who led club number 20?"], "query")
    texts = [vector_texts.texts_of(index.corpus, "sentences", slice(row, row + 1))[0] for row in rows]
    expected = (encode(encoder, texts) @ query[0]).clip(0)
    assert scores.dtype == np.float32
    assert scores.min() >= 0
    assert scores.max() <= 1
    if metric == "cosine":
        assert np.allclose(scores, expected, atol=0.01)
    else:
        assert np.corrcoef(scores, expected)[0, 1] > 0.999


def test_opposite_sentences_score_nothing(tmp_path: Path, toy: Toy) -> None:
    class Signed(type(toy())):  # type: ignore[misc]
        def __call__(self, texts: list[str], *, role: str = "passage") -> np.ndarray:
            return np.array([[-1.0 if role == "passage" else 1.0] + [0.0] * 31] * len(texts), dtype=np.float32)

    index = store.Index.build(passages(2), tmp_path, encoder=Signed(), vectors="sentences")
    scorer = index.meaning(Signed()).row_scorer
    assert scorer is not None
    assert scorer("?", np.arange(4)).tolist() == [0, 0, 0, 0]


def test_an_index_of_passage_vectors_scores_no_sentences(tmp_path: Path, toy: Toy) -> None:
    index = store.Index.build(passages(5), tmp_path, encoder=toy())
    assert index.meaning(toy()).row_scorer is None


# --- searching ---------------------------------------------------------------------------------


def test_a_search_with_an_encoder_encodes_the_question_and_its_relation_once(tmp_path: Path, toy: Toy) -> None:
    encoder = toy()
    index = store.Index.build(passages(50), tmp_path, encoder=encoder, vectors="sentences")
    encoder.seen.clear()
    ranking = index.search("Who led club number 20 from 1920?", encoder=encoder)
    assert ranking.evidence[0].passage.id == "p20"
    assert encoder.seen[0] == "Who led club number 20?"
    assert len(encoder.seen) == 2 and encoder.seen[1].startswith("led club number 20 ")


@pytest.mark.parametrize("name", ["dense", "hnsw", "hybrid"])
def test_a_first_stage_by_meaning_needs_an_encoder_and_vectors(tmp_path: Path, toy: Toy, name: Any) -> None:
    index = store.Index.build(passages(5), tmp_path)
    with pytest.raises(InputError, match=f"the first stage '{name}' needs the encoder"):
        index.search("Who led the club?", retriever=name)
    with pytest.raises(InputError, match="holds no vectors: build it with an encoder, or make them with"):
        index.search("Who led the club?", retriever=name, encoder=toy())


def test_a_scorer_that_is_handed_in_comes_before_the_vectors(tmp_path: Path, toy: Toy) -> None:
    asked: list[str] = []

    def scorer(query: str, texts: Any) -> np.ndarray:
        asked.append(query)
        return np.zeros(len(texts), dtype=np.float32)

    index = store.Index.build(passages(5), tmp_path, encoder=toy(), vectors="sentences")
    index.search("Who led the club?", encoder=toy(), scorer=scorer)
    assert asked == ["Who led the club?"]
