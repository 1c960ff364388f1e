"""The README's commands are the ones that CI runs, and what they print is held against what it shows."""

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
