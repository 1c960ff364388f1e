"""The options of a search, which the commands that search share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mrag.cli.llm import Llm, llm_options
from mrag.cli.loading import Models, Provider, encoder_option, provider_option
from mrag.cli.options import NamedPath, assume_present, date, need_reference, parse_mode, profile, reference, window

if TYPE_CHECKING:
    from mrag.adapters.index.retrievers import RetrieverName
    from mrag.cli.searches import SummaryMode
    from mrag.decompose import ParseMode
    from mrag.interval import Interval
    from mrag.settings import ProfileName

Command = TypeVar("Command", bound=Callable[..., Any])


def search_options(command: Command) -> Command:
    """The options of a search but for how much of it is shown; the command is handed them as ``search``."""

    @click.option("--index", type=NamedPath(), metavar="DIR", help="The index to search; else a small demo.")
    @profile
    @reference
    @assume_present
    @click.option("--as-of", callback=date, metavar="DATE", help="The time asked for, if the question names none.")
    @click.option("--within", callback=window, metavar="START..END", help="Only passages that hold a date in it.")
    @click.option(
        "--retriever",
        type=click.Choice(["bm25", "dense", "hnsw", "hybrid", "hybrid-hnsw"]),
        help="What finds the first passages: their words, their vectors, both (hybrid); hnsw: about the same, for many "
        "questions to a large index.  [default: hybrid with --encoder, else bm25]",
    )
    @encoder_option
    @click.option(
        "--reranker", metavar="MODEL", help="A model that scores the sentences: its folder, name or URL#MODEL."
    )
    @provider_option
    @parse_mode
    @click.option(
        "--summaries",
        type=click.Choice(["none", "extract", "llm"]),
        default="none",
        show_default=True,
        help="Sum up the best passages, by their own sentences or by the --llm; summaries compete with sentences.",
    )
    @click.option(
        "--summarise", type=click.IntRange(0), default=5, show_default=True, help="How many passages are summed up."
    )
    @llm_options
    @wraps(command)
    def with_search(
        *args: Any,
        index: Path | None,
        profile: ProfileName,
        reference: Interval | None,
        assume_present: bool,
        as_of: Interval | None,
        within: Interval | None,
        retriever: RetrieverName | None,
        encoder: str | None,
        reranker: str | None,
        provider: Provider,
        parse_mode: ParseMode,
        summaries: SummaryMode,
        summarise: int,
        llm: Llm,
        **rest: Any,
    ) -> Any:
        from mrag.cli.searches import Search
        from mrag.settings import Settings

        need_reference(assume_present, reference)
        search = Search(
            index,
            10,
            Settings(profile=profile, summaries=summarise),
            reference,
            assume_present,
            as_of,
            within,
            Models(retriever, encoder, reranker, provider),
            parse_mode,
            summaries,
            llm,
        )
        return command(*args, search=search, **rest)

    return with_search  # type: ignore[return-value]
