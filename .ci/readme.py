"""Runs the commands that README.md shows, and holds their output against the lines that it shows.

readme.py NAME        runs the block behind ``<!-- ci: NAME -->``, from the repository's root

A block is a fence of lines: ``$ command``, then the output that a reader will see (stdout and stderr as they come).
A command that shows no output may print anything; a line ``...`` stands for any number of lines; white space
and blank lines are not compared. Every command must exit with 0.
"""

import os
import re
import subprocess
import sys
from pathlib import Path


def block(readme: str, name: str) -> list[tuple[str, list[str]]]:
    """The commands of one block, each with the lines shown below it."""
    fence = re.search(rf"<!-- ci: {re.escape(name)} -->\s*```\w*\n(.*?)\n```", readme, re.DOTALL)
    if fence is None:
        raise SystemExit(f"README.md has no block behind <!-- ci: {name} -->")
    commands: list[tuple[str, list[str]]] = []
    for line in fence[1].splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
    if not commands:
        raise SystemExit(f"README.md: the block behind <!-- ci: {name} --> shows no `$ command`")
    return commands


def agrees(shown: list[str], printed: list[str]) -> bool:
    """Whether the printed lines are the shown ones, ``...`` standing for any of them."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in squeezed(shown))
    return re.fullmatch(pattern, "".join(line + "\n" for line in squeezed(printed))) is not None


def squeezed(lines: list[str]) -> list[str]:
    """The lines that are not blank, with each run of white space as one space."""
    return [" ".join(line.split()) for line in lines if line.strip()]


def run(command: str, shown: list[str]) -> bool:
    """Runs one command, shows what it prints as it comes, and says whether it did what README.md says."""
    print(f"$ {command}", flush=True)
    printed = []
    with subprocess.Popen(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "COLUMNS": "100", "PIP_QUIET": "1"},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            printed.append(line.rstrip("\n"))
    if process.returncode:
        print(f"error: exit {process.returncode}: {command}", file=sys.stderr)
        return False
    if shown and not agrees(shown, printed):
        print("error: README.md shows something else:", *shown, sep="\n", file=sys.stderr)
        return False
    return True


def main(name: str) -> int:
    readme = Path("README.md").read_text(encoding="utf-8")
    return 0 if all(run(command, shown) for command, shown in block(readme, name)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
