"""The language model that a command may ask: its options, connecting to it, and saying what it cost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mrag.cli import output as show
from mrag.cli.loading import warnings_as_notes
from mrag.errors import InputError

if TYPE_CHECKING:
    from mrag.adapters.llm import HttpLanguageModel

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Llm:
    """A language model as the options name it: its server and its name there, and how it is to be asked."""

    url: str | None = None
    model: str | None = None
    cached: bool = True
    requests: int = 8


NO_LLM = Llm()


def llm_options(command: Command) -> Command:
    """The options of a language model; the command is handed them as ``llm``."""

    @click.option(
        "--llm",
        "llm_url",
        metavar="URL",
        help="A server of language models that speaks the OpenAI or the Ollama protocol, e.g. http://localhost:11434. "
        "[env: MRAG_LLM_URL, OPENAI_BASE_URL; key: MRAG_LLM_KEY, OPENAI_API_KEY]",
    )
    @click.option("--llm-model", metavar="NAME", help="The model's name there.  [env: MRAG_LLM_MODEL]")
    @click.option("--no-cache", is_flag=True, help="Ask the model anew, also what it was asked before.")
    @click.option(
        "--llm-requests",
        type=click.IntRange(1, 256),
        default=8,
        show_default=True,
        help="How many requests are under way at a time.",
    )
    @wraps(command)
    def with_model(
        *args: Any, llm_url: str | None, llm_model: str | None, no_cache: bool, llm_requests: int, **rest: Any
    ) -> Any:
        return command(*args, llm=Llm(llm_url, llm_model, not no_cache, llm_requests), **rest)

    return with_model  # type: ignore[return-value]


@contextmanager
def connected(llm: Llm, *, wanted: bool = True) -> Iterator[HttpLanguageModel | None]:
    """The language model, None where none is ``wanted`` or named; at the end it is said what it was asked."""
    if not wanted or (llm == NO_LLM and not any(map(os.environ.get, _NAMES))):
        yield None  # without loading what speaks HTTP
        return
    from mrag.adapters.llm import connect
    from mrag.adapters.serving.llm_settings import llm_settings
    from mrag.adapters.serving.reply_cache import cache_folder

    found = llm_settings(llm.url, llm.model, os.environ)
    if found is None:
        yield None
        return
    with show.progress("replies") as tell, warnings_as_notes():
        model = connect(
            found.url,
            found.model,
            key=found.key,
            concurrency=llm.requests,
            cache=cache_folder() if llm.cached else None,
            progress=tell,
        )
        try:
            yield model
        finally:
            model.close()
            if model.asked or model.cached or model.failed:
                failed = f", {model.failed:,} failed" if model.failed else ""
                show.note(f"{found.model}: {model.asked:,} asked, {model.cached:,} from the cache{failed}")


def need_model(option: str, mode: str, model: object) -> None:
    """InputError for an option that wants a language model ("--parse llm") where none is named."""
    if mode == "llm" and model is None:
        raise InputError(f"{option} llm needs a language model: name its server with --llm URL --llm-model NAME")


_NAMES = ("MRAG_LLM_URL", "OPENAI_BASE_URL")
