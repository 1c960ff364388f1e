"""Which language model the options and the environment name, and which key may go to which server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mrag.adapters.serving.model_server import read_address
from mrag.adapters.serving.web import origin
from mrag.errors import InputError

_OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """A language model: its server, its name ("" where none is named), the key for it, and what named the server."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    by: str = "--llm"


def llm_settings(url: str | None, model: str | None, environ: Mapping[str, str]) -> LlmSettings | None:
    """The language model to use; None where no server is named, whatever keys there are.

    The server is that of the option --llm (``url``), else of MRAG_LLM_URL, else of OPENAI_BASE_URL; the model that of
    --llm-model, else of MRAG_LLM_MODEL. Raises InputError for what is no address, and for --llm-model without a server.
    """
    named = {"--llm": url, **{name: environ.get(name) for name in ("MRAG_LLM_URL", "OPENAI_BASE_URL")}}
    found = next(((by, value.strip()) for by, value in named.items() if value and value.strip()), None)
    if found is None:
        if model:
            raise InputError(f"--llm-model {model} needs its server: --llm URL, or set MRAG_LLM_URL")
        return None
    by, where = found
    read_address(where)
    name = (model or environ.get("MRAG_LLM_MODEL", "")).strip()
    return LlmSettings(where, name, key_for(where, environ, option=url), by)


def key_for(url: str, environ: Mapping[str, str], *, option: str | None = None, own: str | None = None) -> str:
    """The key that was given for the server of a URL, "" where none was; a key goes nowhere else.

    MRAG_LLM_KEY belongs to the server of MRAG_LLM_URL, and where that is not set to that of the option --llm
    (``option``); OPENAI_API_KEY to that of OPENAI_BASE_URL, and where that is not set to https://api.openai.com alone.
    ``own`` names a variable, such as MRAG_ENCODER_KEY, that belongs to the URL whatever it is, and comes first.

    >>> key_for("http://localhost:8000", {"OPENAI_API_KEY": "sk-1"}), key_for(_OPENAI, {"OPENAI_API_KEY": "sk-1"})
    ('', 'sk-1')
    """
    belongs = {
        own or "": url,
        "MRAG_LLM_KEY": _value(environ, "MRAG_LLM_URL") or option or "",
        "OPENAI_API_KEY": _value(environ, "OPENAI_BASE_URL") or _OPENAI,
    }
    return next((_value(environ, key) for key, to in belongs.items() if _value(environ, key) and _same(url, to)), "")


def _value(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip()


def _same(url: str, other: str) -> bool:
    """Whether two addresses are those of one server."""
    try:
        return origin(read_address(url).root) == origin(read_address(other).root)
    except InputError:
        return False
