"""Text and Markdown files become passages of about 100 words that know their title and section."""

from pathlib import Path

import pytest

from mrag.adapters.reading.documents import read_document, unwrap
from mrag.corpus import Passage
from mrag.errors import InputError

SENTENCE = "In the spring of that year the club moved to a larger ground beside the river again. "  # 17 words


def read(folder: Path, text: str, name: str = "notes.md") -> list[Passage]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return [item.passage for item in read_document(path, name)]


def test_a_short_file_is_one_passage_named_after_it(tmp_path: Path) -> None:
    assert read(tmp_path, "The bridge was opened in 1932.\n", "the bridge.txt") == [
        Passage("the bridge.txt#1", "The bridge was opened in 1932.", "the bridge")
    ]


def test_the_first_heading_is_the_title_and_later_ones_are_sections(tmp_path: Path) -> None:
    passages = read(
        tmp_path, "# Club\n\nFounded in 1901.\n\n## Early years ##\nIt won in 1910.\n# Later\nAnd in 1950.\n"
    )
    assert [(p.title, p.section, p.text) for p in passages] == [
        ("Club", "", "Founded in 1901."),
        ("Club", "Early years", "It won in 1910."),
        ("Club", "Later", "And in 1950."),
    ]


def test_underlined_headings_count(tmp_path: Path) -> None:
    passages = read(tmp_path, "Club\n====\nFounded in 1901.\n\nEarly years\n---\nIt won in 1910.\n")
    assert [(p.title, p.section, p.text) for p in passages] == [
        ("Club", "", "Founded in 1901."),
        ("Club", "Early years", "It won in 1910."),
    ]


def test_a_rule_between_paragraphs_is_neither_text_nor_heading(tmp_path: Path) -> None:
    passages = read(tmp_path, "It won in 1910.\n\n---\n\n* * *\n\nIt lost in 1911.\n")
    assert [p.text for p in passages] == ["It won in 1910.\nIt lost in 1911."]


def test_a_comment_in_code_is_no_heading(tmp_path: Path) -> None:
    passages = read(tmp_path, "# Setup\n\n```sh\n# not a heading\n\nmake\n```\nDone in 2019.\n")
    assert [p.section for p in passages] == [""]
    assert "# not a heading" in passages[0].text


@pytest.mark.parametrize("line", ["#hashtag", "####### seven", "#", "# #"])
def test_what_only_starts_like_a_heading_is_text(tmp_path: Path, line: str) -> None:
    assert read(tmp_path, f"{line}\n\nIt won in 1910.\n")[0].title == "notes"


def test_front_matter_gives_title_and_date(tmp_path: Path) -> None:
    passages = read(
        tmp_path, '---\ntitle: "The club"\ndate: 2019-03-04 10:00:00 +0100\ntags: [a]\n---\n# Now\nIt won.\n'
    )
    assert passages == [Passage("notes.md#1", "It won.", "The club", "Now", "2019-03-04")]


def test_a_front_matter_date_that_is_none_is_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, "---\ndate: TBD\n---\nIt won.\n") == [Passage("notes.md#1", "It won.", "notes")]


def test_a_first_rule_that_opens_no_front_matter_loses_no_text(tmp_path: Path) -> None:
    assert read(tmp_path, "---\nIt won in 1910.\n")[0].text == "It won in 1910."


def test_a_long_section_is_cut_at_sentence_ends_into_equal_passages(tmp_path: Path) -> None:
    passages = read(tmp_path, SENTENCE * 16)  # 272 words
    sizes = [len(p.text.split()) for p in passages]
    assert sum(sizes) == 272
    assert len(sizes) == 3
    assert max(sizes) < 110
    assert all(p.text.startswith("In the") and p.text.endswith("again.") for p in passages)
    assert [p.id for p in passages] == ["notes.md#1", "notes.md#2", "notes.md#3"]


def test_a_passage_never_crosses_a_heading(tmp_path: Path) -> None:
    assert len(read(tmp_path, "# A\nOne.\n# B\nTwo.\n# C\nThree.\n")) == 3


def test_a_book_without_headings_is_read_whole(tmp_path: Path) -> None:
    passages = read(tmp_path, (SENTENCE * 5 + "\n\n") * 700, "book.txt")
    assert sum(len(p.text.split()) for p in passages) == 700 * 85
    assert len({p.id for p in passages}) == len(passages)


def test_a_file_without_text_has_no_passages(tmp_path: Path) -> None:
    assert read(tmp_path, "") == []
    assert read(tmp_path, "# Only a title\n\n") == []


def test_lines_broken_by_a_column_limit_are_joined() -> None:
    wrapped = [
        "The bridge was opened to traffic in the spring of",
        "1932 by the mayor of the town, who had paid for",
        "it.",
    ]
    assert unwrap(wrapped) == " ".join(wrapped)


@pytest.mark.parametrize(
    "lines",
    [
        ["1990-1995: Ida Moe", "1995-2000: Odd Lie"],
        [
            "Chair of the northern regional committee: Ida Moe, 1990",
            "Treasurer: Odd Lie",
            "Clerk: Jo Dahl, 1995 to 2000",
        ],
        ["- 1990-1995: Ida Moe, who had led the committee for the north", "- 1995-2000: Odd Lie"],
        ["1. Ida Moe, who had led the committee for the whole of the north", "2. Odd Lie"],
        ["| 1990 | Ida Moe, who had led the committee for the whole north |", "| 1995 | Odd Lie |"],
    ],
)
def test_lines_that_their_writer_ended_stay_lines(lines: list[str]) -> None:
    assert unwrap(lines) == "\n".join(lines)


def test_a_wrapped_list_item_is_one_line() -> None:
    lines = ["- 1990: Ida Moe, who had led the committee for the", "  north until it was closed", "- 1995: Odd Lie"]
    joined = "- 1990: Ida Moe, who had led the committee for the north until it was closed\n- 1995: Odd Lie"
    assert unwrap(lines) == joined


@pytest.mark.parametrize("text", ["#" * 100_000, " " * 100_000, "-" * 100_000, "# " + " #" * 50_000, "\n" * 100_000])
def test_odd_lines_take_no_time(tmp_path: Path, text: str) -> None:
    assert len(read(tmp_path, text)) <= 1


def test_broken_utf8_names_the_line_and_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_bytes("Fine.\nKöln\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"old\.txt:2: byte 2 of the line \(0xf6\) is not UTF-8.*iconv"):
        list(read_document(path, "old.txt"))
