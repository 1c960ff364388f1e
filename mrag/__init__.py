"""MRAG: evidence for time-sensitive questions, ranked by meaning times calendar arithmetic.

Importing this costs next to nothing: each name below is fetched from its module when it is first used.

>>> import mrag
>>> question = mrag.parse("Who was the UK prime minister as of 6 May 2021?")
>>> question.main_content
'Who was the UK prime minister?'
>>> print(question.constraint.relation, question.constraint.interval)
as of ..2021-05-06
>>> [str(mention.interval) for mention in mrag.find_dates("She chaired the board from 1999 to 2006.")]
['1999..2006']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "Constraint",
    "Evidence",
    "Index",
    "Interval",
    "Mention",
    "MragError",
    "Passage",
    "Question",
    "Ranking",
    "Settings",
    "Strategies",
    "__version__",
    "find_dates",
    "parse",
    "parse_iso",
    "rank",
    "retrieve",
]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mrag.adapters.store import Index
    from mrag.corpus import Passage
    from mrag.errors import MragError
    from mrag.interval import Interval, parse_iso
    from mrag.pipeline import Evidence, Ranking, retrieve
    from mrag.question import Constraint, Question, parse
    from mrag.settings import ProfileName, Settings
    from mrag.strategies import Strategies
    from mrag.timex import Mention, find_dates


def rank(
    question: str,
    texts: Sequence[str],
    *,
    reference: Interval | None = None,
    profile: ProfileName = "interval",
) -> list[Evidence]:
    """The texts in the order in which they answer the question, best first; none is dropped.

    Each comes with its score, that score's parts, and the date that decided; ``row`` is its place in ``texts``.
    ``reference`` is what "today" is, for relative dates in the question. Scores in [0, 1] but ``score``, which orders.

    >>> found = rank("Who led the club as of 2003?",
    ...              ["Odd Lie led the club in 1971.", "Ida Moe led the club from 1999 to 2006."])
    >>> [(evidence.row, str(evidence.mention.interval)) for evidence in found]
    [(1, '1999..2006'), (0, '1971')]
    """
    from mrag.corpus import Passage
    from mrag.errors import InputError
    from mrag.pipeline import rank_texts
    from mrag.settings import Settings

    if isinstance(texts, str):
        raise InputError("rank takes a list of texts: write [text] for one alone")
    passages = [Passage(str(row), text) for row, text in enumerate(texts)]
    return list(rank_texts(question, passages, reference=reference, settings=Settings(profile=profile)).evidence)


if not TYPE_CHECKING:
    _HOME = {
        "Constraint": "question",
        "Evidence": "pipeline",
        "Index": "adapters.store",
        "Interval": "interval",
        "Mention": "timex",
        "MragError": "errors",
        "Passage": "corpus",
        "Question": "question",
        "Ranking": "pipeline",
        "Settings": "settings",
        "Strategies": "strategies",
        "find_dates": "timex",
        "parse": "question",
        "parse_iso": "interval",
        "retrieve": "pipeline",
    }

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'mrag' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"mrag.{_HOME[name]}"), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOME})
