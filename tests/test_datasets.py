"""Corpora and questions are read as they come; what cannot be used is named with file, line and way out."""

import gzip
import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.adapters.datasets import json_object, passage_of, read_passages, read_questions
from mrag.corpus import Passage
from mrag.errors import InputError

LINE = '{"id": "a", "text": "Founded in 1901."}\n'


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def message(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        list(read_passages(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- what is read ------------------------------------------------------------------------------


def test_a_line_of_json_is_a_passage_and_unknown_fields_are_kept(tmp_path: Path) -> None:
    record = {
        **{"id": "a", "title": "Club", "section": "Years", "text": "It won.", "date": "4 March 2019"},
        **{"valid_from": 1999, "valid_to": "2006-05", "url": "x", "n": [1, {"b": None}]},
    }
    path = write(tmp_path / "c.jsonl", json.dumps(record))
    rest = {"url": "x", "n": [1, {"b": None}]}
    assert list(read_passages(path)) == [
        Passage("a", "It won.", "Club", "Years", "2019-03-04", "1999", "2006-05", rest),
    ]


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.ndjson", "c.jsonl.gz", "corpus"])
def test_json_lines_are_known_by_name_or_by_content(tmp_path: Path, name: str) -> None:
    content = gzip.compress(LINE.encode()) if name.endswith(".gz") else LINE.encode()
    assert [p.id for p in read_passages(write(tmp_path / name, content))] == ["a"]


def test_gzip_is_known_by_its_bytes_not_by_its_name(tmp_path: Path) -> None:
    assert [p.id for p in read_passages(write(tmp_path / "c.jsonl", gzip.compress(LINE.encode())))] == ["a"]
    assert [p.id for p in read_passages(write(tmp_path / "d.jsonl.gz", LINE))] == ["a"]


def test_a_byte_order_mark_blank_lines_and_windows_line_ends_do_not_matter(tmp_path: Path) -> None:
    content = "\ufeff" + LINE.replace("\n", "\r\n") + "\r\n  \r\n" + '{"id": "b", "text": "No line end"}'
    assert [p.id for p in read_passages(write(tmp_path / "c.jsonl", content))] == ["a", "b"]


def test_numbers_as_ids_become_strings_and_a_missing_id_is_file_and_line(tmp_path: Path) -> None:
    content = '{"_id": 7, "text": "x"}\n\n{"text": "x"}\n{"id": null, "text": "x"}\n'
    assert [p.id for p in read_passages(write(tmp_path / "c.jsonl", content))] == ["7", "c.jsonl:3", "c.jsonl:4"]


def test_a_beir_folder_is_read_from_its_corpus(tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl", '{"_id": "d1", "title": "T", "text": "", "metadata": {}}\n')
    write(tmp_path / "queries.jsonl", '{"_id": "q1", "text": "Who?"}\n')
    write(tmp_path / "README.md", "Not a passage.")
    assert list(read_passages(tmp_path)) == [Passage("d1", "", "T", extra={"metadata": {}})]


def test_a_folder_of_texts_is_read_in_the_order_of_names_at_any_depth(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.md", "a/B.markdown", ".git/c.txt", "a/.hidden.md", "picture.png"):
        write(tmp_path / name, "It won in 1910.")
    ids = [p.id for p in read_passages(tmp_path)]
    assert ids == ["a/B.markdown#1", "a/z.md#1", "b.txt#1"]


def test_a_single_text_file_is_read(tmp_path: Path) -> None:
    assert [p.id for p in read_passages(write(tmp_path / "club.txt", "{not json}"))] == ["club.txt#1"]


WIKI = """id\ttext\ttitle
1\t"The mill ( or ""Möllan"" ) was sold in 1912."\tGrist mill
2\tIt burnt.\t\"""The Mill"" (song)"
"""


@pytest.mark.parametrize("name", ["psgs_w100.tsv", "psgs_w100.tsv.gz", "passages"])
def test_the_passages_of_dpr_and_contriever_are_read(tmp_path: Path, name: str) -> None:
    content = gzip.compress(WIKI.encode()) if name.endswith(".gz") else WIKI
    assert list(read_passages(write(tmp_path / name, content))) == [
        Passage("1", 'The mill ( or "Möllan" ) was sold in 1912.', "Grist mill"),
        Passage("2", "It burnt.", '"The Mill" (song)'),
    ]


def test_the_passages_of_atlas_are_read(tmp_path: Path) -> None:
    line = '{"id": "7", "title": "Grist mill", "section": "Owners: Sales", "text": "It was sold in 1912."}'
    path = write(tmp_path / "text-list-100-sec.jsonl", line)
    assert list(read_passages(path)) == [Passage("7", "It was sold in 1912.", "Grist mill", "Owners: Sales")]


def test_the_columns_of_a_table_are_fields_and_an_empty_cell_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "c.csv", 'date,text,id,lang\r\n4 March 2019,"It won,\nagain.",a,\r\n\r\n,It lost.,,en\r\n')
    assert list(read_passages(path)) == [
        Passage("a", "It won,\nagain.", date="2019-03-04"),
        Passage("c.csv:5", "It lost.", extra={"lang": "en"}),
    ]


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), st.lists, max_leaves=4)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=6))
def test_every_json_object_is_a_passage_or_an_input_error(record: dict[str, object]) -> None:
    line = json.dumps({"text": "x", **record})
    try:
        passage = passage_of(json_object(line, "c:1"), "c:1", "c:1")
    except InputError as error:
        assert str(error).startswith("c:1: ")
    else:
        unknown = json.loads(line).keys() - {"id", "_id", "text", "title", "section", "date", "valid_from", "valid_to"}
        assert {key: passage.extra[key] for key in unknown} == {key: json.loads(line)[key] for key in unknown}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["pipe", "pipe.jsonl", "pipe.jsonl.gz"])
def test_a_pipe_is_read_like_a_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    content = gzip.compress(LINE.encode()) if name.endswith(".gz") else LINE.encode()
    writer = threading.Thread(target=(tmp_path / name).write_bytes, args=(content,))
    writer.start()
    assert [p.id for p in read_passages(tmp_path / name)] == ["a"]
    writer.join()


# --- what cannot be used -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": "b", "body": "x"}', 'no "text" field (keys: id, body)'),
        ("{}", 'no "text" field (keys: none)'),
        ('{"id": "b", "text": null}', 'no "text" field'),
        ('{"id": "b", "text": " "}', '"text" is blank'),
        ('{"id": "b", "text": ["x"]}', '"text" is a list, not a string'),
        ('{"id": true, "text": "x"}', '"id" is true or false'),
        ('{"id": "", "text": "x"}', '"id" is an empty string'),
        ('{"id": "b", "text": "x', "broken JSON at column 21"),
        ("Founded in 1901.", "write one JSON object a line"),
        ('["x"]', "a list, not an object"),
        ("[" * 100_000, "c.jsonl:2"),
        ('{"text": "x", "n": ' + "9" * 5000 + "}", "c.jsonl:2"),
        ('{"id": "b", "text": "x", "date": "soon"}', "\"date\": 'soon' is no date"),
        ('{"id": "b", "text": "x", "date": 1551657600}', '"date"'),
        ('{"id": "b", "text": "x", "valid_from": "2010", "valid_to": "2009"}', '"valid_to" (2009) is before'),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: str, says: str) -> None:
    said = message(write(tmp_path / "c.jsonl", LINE + line + "\n"))
    assert said.startswith(f"{tmp_path / 'c.jsonl'}:2: ")
    assert says in said


def test_bad_records_can_be_taken_and_reading_goes_on(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", LINE.encode() + b"{\n\xff\n" + b'{"id": "b", "text": "x"}')
    taken: list[InputError] = []
    assert [p.id for p in read_passages(path, on_bad=taken.append)] == ["a", "b"]
    assert [str(error).split(": ")[0].rpartition(":")[2] for error in taken] == ["2", "3"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("id\tbody\n1\tIt won.\n", 'c.tsv:2: no "text" field (keys: id, body)'),
        ("id\ttext\n1\tIt won.\tMore\n", "c.tsv:2: 3 fields, but the header names 2"),
        ('id\ttext\n1\t"It" won.\n', "c.tsv:2: '\\t' expected after '\"'"),
        ('id\ttext\n1\t"It won.\n', "c.tsv:2: unexpected end of data"),
        ("id\ttext\n1\t\n", 'c.tsv:2: "text" is blank'),
        ("id\ttext\n1\t" + "x" * 140_000, "c.tsv:2: field larger than field limit"),
        ("text\ttext\n", "c.tsv:1: the column 'text' comes twice"),
        ("text" + "\t" * 1000, "c.tsv:1: a header of 1001 columns"),
        (b"id\ttext\n1\tK\xf6ln\n", "c.tsv:2: byte 4 of the line (0xf6) is not UTF-8"),
    ],
)
def test_a_row_of_a_table_that_cannot_be_used_is_named(tmp_path: Path, content: str | bytes, says: str) -> None:
    assert says in message(write(tmp_path / "c.tsv", content))


def test_bad_rows_of_a_table_can_be_taken_and_reading_goes_on(tmp_path: Path) -> None:
    path = write(tmp_path / "c.tsv", b'id\ttext\na\tx\nb\n"c"d\tx\n\xff\tx\ne\t\nf\tx\n')
    taken: list[InputError] = []
    assert [p.id for p in read_passages(path, on_bad=taken.append)] == ["a", "f"]
    assert [str(error).split(": ")[0].rpartition(":")[2] for error in taken] == ["3", "4", "5", "6"]


def test_broken_utf8_is_named_with_its_place(tmp_path: Path) -> None:
    said = message(write(tmp_path / "c.jsonl", LINE.encode() + '{"text": "Köln"}'.encode("latin-1")))
    assert "c.jsonl:2: byte 12 of the line (0xf6) is not UTF-8" in said


def test_utf16_is_named_with_the_way_out(tmp_path: Path) -> None:
    assert "iconv -f UTF-16" in message(write(tmp_path / "c.jsonl", LINE.encode("utf-16")))


def test_binary_data_is_named(tmp_path: Path) -> None:
    assert "binary data" in message(write(tmp_path / "c.txt", b"\x7fELF\0\0\0"))
    assert "cannot be read" in message(write(tmp_path / "scan.pdf", b"%PDF-1.4\n"))
    assert "binary data" in message(write(tmp_path / "blob", b"\0\1\2"))


def test_a_truncated_gzip_names_the_line(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(b'{"text": "%d"}\n' % (n * 7919) for n in range(5000)))
    said = message(write(tmp_path / "c.jsonl.gz", packed[: len(packed) // 2]))
    assert "the gzip data ends or breaks here: copy the file again" in said


def test_a_damaged_gzip_is_named(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(LINE.encode() * 100))
    packed[20] ^= 0xFF
    assert "gzip" in message(write(tmp_path / "c.jsonl.gz", bytes(packed)))


def test_a_line_without_end_does_not_fill_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.adapters.reading.lines.MAX_LINE", 2**20)
    assert "c.jsonl:1: a line of more than 1 MB" in message(write(tmp_path / "c.jsonl", b" " * (2**20 + 1)))


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    assert message(tmp_path / "none.jsonl").endswith("none.jsonl: no such file or folder")


def test_a_folder_without_texts_says_what_to_do(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", LINE)
    assert "name the files themselves" in message(tmp_path)


# --- questions ---------------------------------------------------------------------------------


def test_questions_are_read_in_both_forms(tmp_path: Path) -> None:
    content = '{"id": 1, "question": "Who led in 1999?"}\n{"_id": "b", "text": "Who won?"}\n{"question": "When?"}\n'
    path = write(tmp_path / "q.jsonl", content)
    assert read_questions(path) == [("1", "Who led in 1999?"), ("b", "Who won?"), ("q.jsonl:3", "When?")]


def test_the_questions_of_a_beir_folder_are_found(tmp_path: Path) -> None:
    write(tmp_path / "queries.jsonl.gz", gzip.compress(b'{"_id": "q", "text": "Who?"}'))
    assert read_questions(tmp_path) == [("q", "Who?")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"id": "a", "query_text": "Who?"}', 'q.jsonl:1: no "question" or "text" field (keys: id, query_text)'),
        ('{"id": "a", "question": "Who?"}\n{"id": "a", "question": "When?"}', "q.jsonl:2: the id 'a' is taken at"),
        ("Who?", "q.jsonl:1: broken JSON"),
        ('{"id": "a", "question": {}}', 'q.jsonl:1: "question" is an object, not a string'),
        ("", "holds no questions"),
    ],
)
def test_questions_that_cannot_be_used_are_named(tmp_path: Path, content: str, says: str) -> None:
    path = write(tmp_path / "q.jsonl", content)
    with pytest.raises(InputError) as caught:
        read_questions(path)
    assert says in str(caught.value)


def test_missing_questions_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl: no such file"):
        read_questions(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match=r"without queries\.jsonl"):
        read_questions(tmp_path)
