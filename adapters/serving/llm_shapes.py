"""What is sent to a language model's server and what comes back: OpenAI's chat completions, and Ollama's own chat."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mrag.errors import MragError

Api = Literal["openai", "ollama"]

CHAT: Mapping[Api, str] = {"openai": "chat/completions", "ollama": "chat"}
"""The path of a chat below that of its interface."""

_MOST_SAID = 200  # characters of a server's own words that come into a message
_STOPS = 4  # so many texts to stop at does OpenAI take


class ReplyError(MragError):
    """An answer that holds no reply."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a prompt is asked with; ``top_p`` None leaves it to the server."""

    model: str
    max_tokens: int
    temperature: float
    stop: tuple[str, ...] = ()
    top_p: float | None = None


def body(api: Api, prompt: str, wanted: Parameters, refused: frozenset[str] = frozenset()) -> dict[str, object]:
    """What is posted for a prompt; ``refused`` names fields that the model does not take (see refused_field).

    >>> sorted(body("openai", "Who?", Parameters("m", 8, 0.0), frozenset({"max_tokens", "temperature"})))
    ['max_completion_tokens', 'messages', 'model', 'stream']
    """
    said: dict[str, object] = {"model": wanted.model, "messages": [{"role": "user", "content": prompt}]}
    said["stream"] = False
    chosen: dict[str, object] = {"temperature": wanted.temperature}
    if wanted.stop:
        chosen["stop"] = list(wanted.stop if api == "ollama" else wanted.stop[:_STOPS])
    if wanted.top_p is not None:
        chosen["top_p"] = wanted.top_p
    if api == "ollama":
        return {**said, "options": {"num_predict": wanted.max_tokens, **chosen}}
    chosen["max_tokens"] = wanted.max_tokens
    if "max_tokens" in refused:
        chosen[_RENAMED] = wanted.max_tokens
    return {**said, **{name: value for name, value in chosen.items() if name not in refused}}


_RENAMED = "max_completion_tokens"
_REFUSABLE = (_RENAMED, "max_tokens", "temperature", "top_p", "stop")


def refused_field(status: int, said: str, sent: Mapping[str, object]) -> str | None:
    """The field of a body that a model of the newer kind refuses, out of its answer 400; None for another reason.

    Such models want max_completion_tokens in the place of max_tokens, and take no temperature but their own.

    >>> refused_field(400, '{"error": {"message": "Unsupported value", "param": "temperature",'
    ...     ' "code": "unsupported_value"}}', {"temperature": 0.0})
    'temperature'
    """
    if status != 400:
        return None
    message, code, param = _error(said)
    if "max_tokens" in sent and _RENAMED in message:
        return "max_tokens"
    unsupported = code.startswith("unsupported_") or message.lower().startswith("unsupported ")
    named = param or next((name for name in _REFUSABLE if f"'{name}'" in message), "")
    return named if unsupported and named in sent and named in _REFUSABLE else None


# --- what comes back ------------------------------------------------------------------------------


def reply(api: Api, answer: object, stop: Sequence[str] = ()) -> str:
    """The text of an answer, up to the first of the texts to stop at; ReplyError for an answer without one."""
    text = _READERS[api](answer)
    for mark in filter(None, stop):  # servers take some of them, or none
        text = text.partition(mark)[0]
    return text.encode("utf-8", "replace").decode("utf-8")  # JSON can hold halves of letters, which nothing can write


def _openai(answer: object) -> str:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    return _text(message, choice.get("finish_reason") if isinstance(choice, dict) else None, answer)


def _ollama(answer: object) -> str:
    whole = answer if isinstance(answer, dict) else {}
    return _text(whole.get("message"), whole.get("done_reason"), answer)


_READERS: Mapping[Api, Callable[[object], str]] = {"openai": _openai, "ollama": _ollama}


def _text(message: object, ended: object, answer: object) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):  # parts, of which some hold what the model thought, or a picture
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        texts = [part for part in parts if isinstance(part, str)]
        content = "".join(texts) if texts else None
    if ended == "length" and not content:
        raise ReplyError("the model used up max_tokens before it began to answer: it may think first: give it more")
    if isinstance(content, str):
        return content
    refusal = message.get("refusal") if isinstance(message, dict) else None
    why = one_line(refusal) if isinstance(refusal, str) else server_message(answer)
    raise ReplyError(f"the answer holds no reply: {why}" if why else "the answer holds no reply")


def server_message(answer: object) -> str:
    """What a server says went wrong, on one line and not too long; "" where it says nothing that can be read.

    >>> server_message({"error": {"message": "no such\\nmodel", "type": "invalid"}}), server_message({"error": "busy"})
    ('no such model', 'busy')
    """
    row = answer if isinstance(answer, dict) else {}
    found = row.get("error") or row.get("message") or row.get("detail")
    if isinstance(found, dict):
        found = found.get("message")
    return one_line(found) if isinstance(found, str) else ""


def refusal_message(said: str) -> str:
    """As server_message, for the beginning of an answer as it came; "" for a page of HTML and the like."""
    return _error(said)[0]


def _error(said: str) -> tuple[str, str, str]:
    """The message, the code and the parameter of an error, each "" where there is none."""
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        return "", "", ""
    found = answer.get("error") if isinstance(answer, dict) else None
    row = found if isinstance(found, dict) else {}
    code, param = (row.get(name) if isinstance(row.get(name), str) else "" for name in ("code", "param"))
    return server_message(answer), str(code), str(param)


def one_line(text: str) -> str:
    """What a stranger wrote, as it can stand in a message: on one line, without control characters, not too long."""
    shown = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * _MOST_SAID]).split())
    return shown if len(shown) <= _MOST_SAID else f"{shown[:_MOST_SAID]}…"
