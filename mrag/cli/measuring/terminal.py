"""The terminal of a dialogue: what is said goes to standard error, keys come one by one from standard input.

Where standard input is no terminal, every character that is no white space is a key, and a line is what is left of the
line that is being read.
"""

from __future__ import annotations

import os
import re
import sys

import click

from mrag.cli import output as show
from mrag.cli import texts as take


class Terminal:
    """Says something to a person, and hears keys; ``bold``: whether it shows bold type (https://no-color.org)."""

    def __init__(self) -> None:
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self.bold = not plain and sys.stderr is not None and sys.stderr.isatty()
        self._lines = None
        if sys.stdin is None or not sys.stdin.isatty():
            self._lines = take.lines(take.stdin(), "standard input")
        self._waiting = ""

    @property
    def width(self) -> int:
        """Its columns."""
        return show.width()

    def say(self, text: str) -> None:
        """A text, and a line end."""
        click.echo(text, err=True, color=None if self.bold else False)

    def key(self, prompt: str) -> str | None:
        """The next key, in lower case; None when the input has ended."""
        click.echo(prompt, err=True, nl=False)
        while not self._waiting.strip():
            typed = _typed() if self._lines is None else next(self._lines, None)
            if typed is None:
                return None
            self._waiting = typed
        self._waiting = self._waiting.lstrip()
        key, self._waiting = self._waiting[0], self._waiting[1:]
        return key.lower()

    def line(self, prompt: str) -> str:
        """A line of text."""
        if self._lines is None:
            return str(click.prompt(prompt, prompt_suffix="", default="", show_default=False, err=True)).strip()
        words, self._waiting = self._waiting.strip(), ""
        return words


_SPECIAL = re.compile(r"\x1b(?:\[[0-9;]{0,16}[@-~]?|O?[ -~]?)|[\x00\xe0].")
"""Arrows and the like, as terminals send them, and as Windows does."""


def _typed() -> str | None:
    """What was typed on a terminal, mostly one key, without special ones; None for the end of the input."""
    try:
        typed = click.getchar()
    except EOFError:
        return None
    if "\x03" in typed:  # Ctrl-C together with keys that were waiting
        raise KeyboardInterrupt
    return "".join(char for char in _SPECIAL.sub("", typed) if char.isprintable())
