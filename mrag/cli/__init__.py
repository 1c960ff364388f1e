"""The command line: the outermost layer, which may reach everything and which nothing else imports."""

from mrag.cli.commands import cli, main

__all__ = ["cli", "main"]
