"""The command line: the group of all commands, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import errno
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

import click

from mrag import __version__
from mrag.cli import output as show
from mrag.cli.ask import ask
from mrag.cli.doctor import doctor
from mrag.cli.export import export
from mrag.cli.index import index
from mrag.cli.measuring.annotate import annotate
from mrag.cli.measuring.compare import compare
from mrag.cli.measuring.evaluate import evaluate
from mrag.cli.models import models
from mrag.cli.perturb import perturb
from mrag.cli.reading import dates, parse, spline
from mrag.cli.search import rank, search
from mrag.errors import MragError

INTERRUPTED = 130


class Commands(click.Group):
    """A group whose commands end in an exit code and one clear line, whatever happens in them."""

    def invoke(self, ctx: click.Context) -> object:
        """Runs a command; 0 done, 1 error, 2 wrong usage, 130 interrupted."""
        show.prepare()
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, click.Abort):
            self._fail("interrupted", INTERRUPTED)
        except MragError as error:
            self._fail(f"error: {error}")
        except OSError as error:
            if error.errno == errno.EPIPE:
                _leave_quietly()
            self._fail(f"error: {_os_message(error)}")
        except MemoryError:
            self._fail("error: out of memory: hand in fewer or shorter texts at a time")
        except Exception as error:
            if ctx.params["debug"]:
                raise
            kind = type(error).__name__
            self._fail(f"error: unexpected {kind}: {error} (a bug: please report it, with what mrag --debug shows)")

    @staticmethod
    def _fail(message: str, code: int = 1) -> NoReturn:
        try:
            show.note(message)
        finally:
            raise click.exceptions.Exit(code)


def _os_message(error: OSError) -> str:
    """An operating system's error as a sentence that names the file, if there is one."""
    reason = error.strerror or str(error)
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else f"cannot go on: {reason}"


def _leave_quietly() -> NoReturn:
    """Ends a command whose reader has gone: nobody is left to tell, and what is buffered must not fail at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        raise click.exceptions.Exit(0)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mrag", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, envvar="MRAG_DEBUG", help="Show where an unexpected error came from.")
def cli(debug: bool) -> None:
    """Find the evidence for questions about a point in time.

    What is asked is matched by meaning, when by calendar arithmetic. Results go to standard output, as a table or,
    with --json, as one JSON object a line; everything else goes to standard error.

    \b
    Examples:
      mrag search "Who was the UK prime minister as of 6 May 2021?"
      mrag parse "Who last won the cup before 2010?"
      mrag dates "She chaired the board from 1999 to 2006."
    """


for command in (
    parse,
    dates,
    rank,
    index,
    search,
    ask,
    evaluate,
    perturb,
    annotate,
    compare,
    spline,
    models,
    export,
    doctor,
):
    cli.add_command(command)


def main() -> None:
    """The console script."""
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: cleaned up
        cli(prog_name="mrag")
    except OSError as error:  # of --help and --version, which click writes before any command is invoked
        with suppress(OSError):
            show.note(f"error: {_os_message(error)}")
        raise SystemExit(1) from None
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not meet Python ending its workers
        raise
