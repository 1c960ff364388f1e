"""The README's commands are the ones that CI runs, and what they print is held against what it shows."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def check(folder: Path, readme: str, name: str = "run") -> subprocess.CompletedProcess[str]:
    (folder / "README.md").write_text(readme, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "readme.py"), name], cwd=folder, capture_output=True, text=True
    )


def block(*lines: str) -> str:
    return "\n".join(["# Title", "<!-- ci: run -->", "```console", *lines, "```", "more"])


@pytest.mark.parametrize("name", ["run", "test"])
def test_the_readme_has_the_block(name: str) -> None:
    assert f"<!-- ci: {name} -->\n```console\n$ " in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "lines",
    [
        ("$ echo one; echo two >&2", "one", "two"),
        ("$ printf 'one   two\\n\\n'", " one two", ""),
        ("$ seq 9", "1", "...", "8", "9"),
        ("$ seq 9", "...", "9"),
        ("$ seq 9",),
        ("$ x=1", "$ echo ok", "ok"),
    ],
)
def test_what_is_printed_as_shown_passes(tmp_path: Path, lines: tuple[str, ...]) -> None:
    assert check(tmp_path, block(*lines)).returncode == 0


@pytest.mark.parametrize(
    "lines", [("$ echo one", "two"), ("$ seq 3", "1", "3"), ("$ seq 3", "1"), ("$ false",), ("no command",), ()]
)
def test_anything_else_fails(tmp_path: Path, lines: tuple[str, ...]) -> None:
    assert check(tmp_path, block(*lines)).returncode == 1


def test_a_missing_block_is_named(tmp_path: Path) -> None:
    assert "no block behind <!-- ci: run -->" in check(tmp_path, "# Title").stderr


FRONT, BENCHMARKS = ROOT / "README.md", ROOT / "benchmarks" / "README.md"


def sections(text: str) -> set[str]:
    """The anchors of a page's headings."""
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.+)$", text, re.M)}


@pytest.mark.parametrize("page", [FRONT, BENCHMARKS], ids=["front", "benchmarks"])
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8")):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.is_file(), link
        assert not anchor or anchor in sections(target.read_text(encoding="utf-8")), link


def test_every_command_of_the_benchmarks_is_listed() -> None:
    listed = set(re.findall(r"^\| `(\w+\.py)", BENCHMARKS.read_text(encoding="utf-8"), re.M))
    assert listed == {
        path.name for path in BENCHMARKS.parent.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")
    }


def rows(page: Path) -> list[list[str]]:
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]


def test_the_front_page_shows_the_figures_of_all_rows() -> None:
    figures, questions = {}, ""
    for first, *cells in (row for row in rows(BENCHMARKS) if len(row) == 7):
        questions = first or questions
        figures[questions, cells[0]] = " / ".join(cells[1:5])
    shown = [row for row in rows(FRONT) if len(row) == 5 and (row[0], "plain BM25") in figures]
    header = next(row for row in rows(FRONT) if row[1] == "plain BM25")
    assert len(shown) > 1
    for questions, *cells in shown:
        assert cells == [figures[questions, ranking] for ranking in header[1:]], questions


def test_the_library_does_what_the_front_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    readme = FRONT.read_text(encoding="utf-8")
    line = re.search(r"```json\n(.*?)\n```", readme, re.DOTALL)
    code = re.search(r"```python\n(.*?)\n```", readme, re.DOTALL)
    assert line and code
    Path("passages.jsonl").write_text(line[1] + "\n", encoding="utf-8")
    lines, names = code[1].splitlines(), dict[str, object]()
    for node in ast.parse(code[1]).body:
        part = ast.Module([node], [])
        told = lines[node.end_lineno] if node.end_lineno is not None and node.end_lineno < len(lines) else ""
        if isinstance(node, ast.Expr) and told.startswith("# "):
            assert repr(eval(compile(ast.Expression(node.value), "README.md", "eval"), names)) == told[2:]
        else:
            exec(compile(part, "README.md", "exec"), names)
    names["index"].close()  # type: ignore[attr-defined]
