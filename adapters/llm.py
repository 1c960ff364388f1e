"""A language model behind a server: prompts to replies, several at a time, each reply kept on disk."""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Literal

from mrag.adapters.serving import llm_shapes as shapes
from mrag.adapters.serving.llm_settings import llm_settings
from mrag.adapters.serving.llm_shapes import CHAT, Api, Parameters, ReplyError
from mrag.adapters.serving.model_server import ModelServer, offered, reachable
from mrag.adapters.serving.reply_cache import ReplyCache, key_of
from mrag.adapters.serving.side_by_side import Rest, side_by_side
from mrag.adapters.serving.web import DownloadError, GivenUpError, RefusedError
from mrag.errors import InputError
from mrag.strategies import Failure

__all__ = ["HttpLanguageModel", "connect", "llm_settings", "reachable"]

Progress = Callable[[int, int], None]

MOST_BYTES = 2**22
"""The longest answer that is read: what a server wraps a reply in, and what some models think, comes with it."""

_IN_VAIN = 2  # rounds of prompts without one reply, after which a prompt gets one try instead of all
_NONE_FOR_ANY = (401, 404, 405)  # what is refused so to a first prompt is refused to all


def connect(
    url: str,
    model: str,
    *,
    api: Literal["auto", "openai", "ollama"] = "auto",
    key: str = "",
    concurrency: int = 8,
    timeout: tuple[float, float] = (10.0, 120.0),
    tries: int = 4,
    deadline: float | None = None,
    cache: Path | None = None,
    top_p: float | None = None,
    most_bytes: int = MOST_BYTES,
    progress: Progress | None = None,
) -> HttpLanguageModel:
    """The language model of that name on a server, as model_server.read_address reads its URL; asks nothing yet.

    ``api``: the server's interface. "auto" takes the one that the URL names; where it is a host alone, the server is
    asked once for its models, in OpenAI's way and, if that is not there, in Ollama's. ``key``: for this server alone.
    ``concurrency``: prompts in work at a time; ``timeout``: seconds to connect, and seconds without a byte;
    ``deadline``: seconds for all prompts of a call; ``cache``: the folder for replies (reply_cache.cache_folder),
    None to keep none; ``progress`` hears how many prompts of a call are done, and of how many.

    A server that answers one prompt after the other keeps all others silent meanwhile: ask it with less concurrency or
    a longer timeout. Ollama reads no more of a prompt than its OLLAMA_CONTEXT_LENGTH allows, and does not say so.

    Raises InputError for what cannot be an address, a name, a key or a number of these.
    """
    if not model.strip():
        raise InputError("name the model: --llm-model NAME, or set MRAG_LLM_MODEL (mrag doctor lists the server's)")
    if concurrency < 1 or tries < 1 or most_bytes < 1:
        raise InputError("concurrency, tries and most_bytes are 1 at least")
    if min(timeout) <= 0 or (deadline is not None and not deadline > 0):
        raise InputError("the timeouts and the deadline are more than 0 seconds")
    server = ModelServer(url, key, timeout=timeout, tries=tries, connections=concurrency)
    kept = None if cache is None else ReplyCache(cache, 4 * most_bytes + 1024)  # as JSON a letter is longer
    manner = _Manner(concurrency, deadline, top_p, most_bytes, progress)
    return HttpLanguageModel(server, model.strip(), server.address.api if api == "auto" else api, kept, manner)


@dataclass(frozen=True, slots=True)
class _Manner:
    """How the prompts of each call are asked; the fields are those of connect."""

    concurrency: int
    deadline: float | None
    top_p: float | None
    most_bytes: int
    progress: Progress | None


@dataclass(slots=True)
class _Call:
    """What one call has learned of the server so far: whether it pays to go on asking, and how patiently.

    ``answers``: how often it said anything; ``replies``: prompts that got their reply; ``vain``: prompts that were
    given up since the last reply; ``over``: why no further prompt is asked, "" as long as they are.
    """

    wanted: Parameters
    asked: int = 0
    answers: int = 0
    replies: int = 0
    vain: int = 0
    over: str = ""
    lock: Lock = field(default_factory=Lock)

    def begin(self) -> int:
        """Counts a prompt that is asked; how often the server has answered so far."""
        with self.lock:
            self.asked += 1
            return self.answers

    def replied(self) -> None:
        with self.lock:
            self.answers, self.replies, self.vain = self.answers + 1, self.replies + 1, 0

    def failed(self, error: DownloadError, before: int) -> None:
        """Learns from a prompt that failed, whose asking began when the server had answered so often."""
        unreached = isinstance(error, GivenUpError) and error.unreached
        with self.lock:
            if unreached and self.answers == before:  # all tries long nobody else got through either
                self.over = str(error)
            if isinstance(error, RefusedError) and error.status in _NONE_FOR_ANY and not self.replies:
                self.over = str(error)
            self.answers += not unreached
            self.vain += isinstance(error, GivenUpError)


class HttpLanguageModel:
    """A LanguageModel; connect makes one. Threads may share it.

    ``asked``, ``cached``, ``failed``: how many prompts so far were sent to the server, had their reply on disk or from
    the same prompt in the same call, and got none; ``seconds``: how long all calls took.
    """

    def __init__(
        self, server: ModelServer, model: str, api: Api | None, cache: ReplyCache | None, manner: _Manner
    ) -> None:
        self.model = model
        self.asked = self.cached = self.failed = 0
        self.seconds = 0.0
        self._server, self._api, self._cache, self._manner = server, api, cache, manner
        self._refused: frozenset[str] = frozenset()
        self._gone = False  # the last call ended because nothing could be had of the server
        self._lock, self._asking_api = Lock(), Lock()
        self._warned = False

    def __call__(
        self, prompts: Sequence[str], *, max_tokens: int = 256, temperature: float = 0.0, stop: Sequence[str] = ()
    ) -> list[str | Failure]:
        """For each prompt its reply, or why there is none, in the order of the prompts; the same prompt is asked once.

        Whatever a server does, it costs no more than its own prompts: each is tried again as far as that helps. A
        server that no connection can be made to, or that knows no such model or key, is not asked 1,000 times for it,
        and by the next call less patiently.
        Raises InputError for parameters that are none; Ctrl-C ends the call at once.
        """
        start = time.monotonic()
        call = _Call(self._parameters(prompts, max_tokens, temperature, stop))
        times = Counter(prompts)
        found = self._kept(call.wanted, times)
        new = [prompt for prompt in times if prompt not in found]
        try:
            self._ask_all(call, new, times, found, start)
        except BaseException:
            self._count(call, new, Counter({prompt: times[prompt] for prompt in found}), found, start)
            raise
        self._count(call, new, times, found, start)
        late = Failure(
            f"{self._server.host}: no reply within {self._manner.deadline} seconds, the time for all prompts"
        )
        return [found.get(prompt, late) for prompt in prompts]

    def close(self) -> None:
        """Closes the connections, which otherwise stay open for the next call."""
        self._server.close()

    def _parameters(
        self, prompts: Sequence[str], max_tokens: int, temperature: float, stop: Sequence[str]
    ) -> Parameters:
        if isinstance(prompts, str) or isinstance(stop, str):
            raise InputError("a language model takes a list of prompts, and a list of texts to stop at, not a text")
        if max_tokens < 1 or not 0 <= temperature < math.inf:
            raise InputError(f"max_tokens is {max_tokens}, temperature {temperature}: at least 1, and 0 or more")
        return Parameters(self.model, max_tokens, float(temperature), tuple(stop), self._manner.top_p)

    def _ask_all(
        self, call: _Call, new: Sequence[str], times: Counter[str], found: dict[str, str | Failure], start: float
    ) -> None:
        """Adds to what is found what the server says to the new prompts, as long as there is time."""
        manner = self._manner
        tell = manner.progress or _silent
        done, total = sum(times[prompt] for prompt in found), sum(times.values())
        tell(done, total)
        left = None if manner.deadline is None else start + manner.deadline - time.monotonic()
        with closing(side_by_side(partial(self._reply, call), new, manner.concurrency, left)) as replies:
            for at, reply in replies:
                found[new[at]] = reply
                done += times[new[at]]
                tell(done, total)

    def _count(
        self, call: _Call, new: Sequence[str], times: Counter[str], found: dict[str, str | Failure], start: float
    ) -> None:
        """Counts the prompts of ``times``: all of a call, or, where it was interrupted, those that came to an end."""
        replied = sum(number for prompt, number in times.items() if isinstance(found.get(prompt), str))
        with self._lock:
            self.asked += call.asked
            self.cached += replied - sum(isinstance(found.get(prompt), str) for prompt in new)
            self.failed += sum(times.values()) - replied
            self.seconds += time.monotonic() - start
            self._gone = bool(call.over) or (self._gone and not call.replies)
            trouble = self._cache.trouble if self._cache is not None and not self._warned else ""
            self._warned = self._warned or bool(trouble)
        if trouble:
            warnings.warn(f"{trouble}: they will be asked for again", UserWarning, stacklevel=3)

    # --- one prompt, in a thread of its own -------------------------------------------------------

    def _reply(self, call: _Call, prompt: str, rest: Rest) -> str | Failure:
        """The reply to a prompt, kept before anybody hears of it."""
        if call.over:
            return Failure(call.over)
        before = call.begin()
        try:
            reply = shapes.reply(*self._answer(call, prompt, rest), call.wanted.stop)
        except DownloadError as error:
            call.failed(error, before)
            return Failure(self._server.without_key(str(error)))
        except ReplyError as error:
            return Failure(self._server.without_key(f"{self._server.host}: {error}"))
        call.replied()
        if self._cache is not None:
            self._cache.put(self._key(call.wanted, prompt), reply)
        return reply

    def _answer(self, call: _Call, prompt: str, rest: Rest) -> tuple[Api, object]:
        """The interface and what the server answers there; fields that the model does not take are left out."""
        api = self._interface(call, rest)
        path = self._server.address.path(api, CHAT[api])
        tries = 1 if self._gone or call.vain >= _IN_VAIN * self._manner.concurrency else None
        while True:
            sent = shapes.body(api, prompt, call.wanted, self._refused)
            try:
                return api, self._server.post(path, sent, most=self._manner.most_bytes, rest=rest, tries=tries)
            except RefusedError as error:
                name = shapes.refused_field(error.status, error.said, sent)
                if name is None:
                    raise
            with self._lock:  # known from now on; and the next body lacks the field, so that this comes to an end
                self._refused |= {name}

    def _interface(self, call: _Call, rest: Rest) -> Api:
        """The interface of the server, which is asked for it once; a server that does not say has OpenAI's."""
        with self._asking_api:
            if self._api is None:
                if call.over:
                    raise DownloadError(call.over)
                try:
                    offer = offered(self._server, rest, 1 if self._gone else None)
                except GivenUpError as error:
                    call.over = str(error)
                    raise
                except DownloadError:  # it wants a key, or is no model server: the prompts will hear of it
                    offer = None
                self._api = offer.api if offer else "openai"
            return self._api

    # --- what is kept -----------------------------------------------------------------------------

    def _kept(self, wanted: Parameters, prompts: Iterable[str]) -> dict[str, str | Failure]:
        """The replies that are on disk."""
        if self._cache is None:
            return {}
        kept = ((prompt, self._cache.get(self._key(wanted, prompt))) for prompt in prompts)
        return {prompt: reply for prompt, reply in kept if reply is not None}

    def _key(self, wanted: Parameters, prompt: str) -> str:
        return key_of({"url": self._server.address.root, "prompt": prompt, **asdict(wanted)})


def _silent(done: int, total: int) -> None:
    """Tells nobody."""
