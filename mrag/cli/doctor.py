"""mrag doctor: what is installed, reachable and missing, and what to do about it."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mrag.cli import output as show
from mrag.cli.options import NamedPath

if TYPE_CHECKING:
    from mrag.cli.checkup import Finding

_COLOURS = {"ok": "green", "note": "yellow", "wrong": "red"}


@click.command()
@click.option("--index", "folder", type=NamedPath(), metavar="DIR", help="Also see whether this index opens.")
@click.option(
    "--llm",
    "llm_url",
    metavar="URL",
    help="Also ask this server of language models what it offers.  [env: MRAG_LLM_URL, OPENAI_BASE_URL]",
)
@click.option("--llm-model", metavar="NAME", help="A model that it should offer.  [env: MRAG_LLM_MODEL]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def doctor(folder: Path | None, llm_url: str | None, llm_model: str | None, as_json: bool) -> None:
    """Say what is installed, reachable and missing, and what to do about it.

    The exit code is 0 when all that was asked for works: the base install, the index that is named, the server of
    language models that is named here or by the environment. Nothing else is asked over the network, and it takes a
    few seconds at most. Keys are never shown, only whether they are set.

    \b
    Examples:
      mrag doctor
      mrag doctor --index club.index
      mrag doctor --llm http://localhost:11434 --llm-model llama3.1 --json
    """
    findings = list(_findings(folder, llm_url, llm_model))
    wrong = sum(finding.state == "wrong" for finding in findings)
    if as_json:
        show.write_json({"ok": not wrong, "findings": [_row(finding) for finding in findings]})
    else:
        show.write(_table(findings))
        show.note(f"to be mended: {wrong}" if wrong else "all that was asked for works")
    if wrong:
        raise click.exceptions.Exit(1)


def _findings(folder: Path | None, llm_url: str | None, llm_model: str | None) -> Iterator[Finding]:
    from mrag.cli import checkup

    yield checkup.system()
    yield from checkup.packages()
    yield checkup.cuda()
    yield from checkup.extras()
    yield from checkup.models()
    if folder is not None:
        yield from checkup.index(folder)
    yield from checkup.language_model(llm_url, llm_model, os.environ)


def _row(finding: Finding) -> dict[str, object]:
    """A finding as its JSON object; ``todo`` null where there is nothing to do."""
    return {
        "part": finding.part,
        "name": finding.name,
        "state": finding.state,
        "found": finding.found,
        "todo": finding.todo or None,
        **({"details": dict(finding.details)} if finding.details else {}),
    }


def _table(findings: Sequence[Finding]) -> str:
    """The findings by their parts, each wrapped beside its state and name."""
    size = min(max(len(finding.name) for finding in findings), 24)
    lines: list[str] = []
    for part, group in groupby(findings, key=lambda finding: finding.part):
        lines += [*([""] if lines else []), show.bold(part)]
        for finding in group:
            lines += _lines(finding, size)
    return "\n".join(lines)


def _lines(finding: Finding, size: int) -> list[str]:
    """A finding, and below it what to do."""
    name, found = show.on_one_line(finding.name), show.on_one_line(finding.found)
    if len(name) > size:
        name, found = "", f"{name}: {found}"
    left = 2 + len("absent") + 2 + size + 2
    texts = [found, *([f"{'→' if show.utf8() else '->'} {show.on_one_line(finding.todo)}"] if finding.todo else [])]
    body = [line for text in texts for line in _wrapped(text, show.width() - left)]
    state = click.style(finding.state.ljust(len("absent")), fg=_COLOURS.get(finding.state))
    return [f"  {state}  {name.ljust(size)}  {body[0]}", *(" " * left + line for line in body[1:])]


def _wrapped(text: str, room: int) -> list[str]:
    """Lines that keep addresses, paths and package names whole."""
    return textwrap.wrap(text, max(room, 20), break_long_words=False, break_on_hyphens=False) or [""]
