"""What a file or folder that goes on was begun with, held against what it is now asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping

_MOST_SHOWN = 3  # differences that are told
_LONGEST_SHOWN = 60  # characters of each side


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """The first settings that differ, "" for none; text of others shows as JSON where it could steer a terminal.

    >>> differences({"k": 20, "profile": "paper"}, {"k": 5, "profile": "paper", "index": None})
    'k: 20 there, 5 now'
    """
    names = [name for name in dict.fromkeys([*before, *now]) if before.get(name) != now.get(name)]
    found = [f"{name}: {_shown(before.get(name))} there, {_shown(now.get(name))} now" for name in names[:_MOST_SHOWN]]
    return "; ".join(found) + ("; …" if len(names) > _MOST_SHOWN else "")


def _shown(value: object) -> str:
    if value is None:
        return "none"
    shown = value if isinstance(value, str) and value.isprintable() else json.dumps(value)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
