"""A language model behind a server: what is asked, what becomes of every fault, and what is never asked twice."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
import urllib3

from mrag.adapters.llm import HttpLanguageModel, connect
from mrag.errors import InputError, MragError
from mrag.strategies import Failure

KEY = "sk-thisIsTheSecret"
Play = Callable[..., Any]

# Exchanges in the shapes that the interfaces document.
OPENAI_SENT = {
    "model": "gpt-4o-mini",
    "messages": [{"role": "user", "content": "Who kept the light in 1931?"}],
    "stream": False,
    "temperature": 0.0,
    "stop": ["\n\n"],
    "max_tokens": 64,
}
OPENAI_SAID = {
    "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
    "object": "chat.completion",
    "created": 1741569952,
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Berit Foss.", "refusal": None, "annotations": []},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 19, "completion_tokens": 4, "total_tokens": 23},
    "service_tier": "default",
    "system_fingerprint": "fp_06737a9306",
}
OLLAMA_SENT = {
    "model": "llama3.2",
    "messages": [{"role": "user", "content": "Who kept the light in 1931?"}],
    "stream": False,
    "options": {"num_predict": 64, "temperature": 0.0, "stop": ["\n\n"]},
}
OLLAMA_SAID = {
    "model": "llama3.2",
    "created_at": "2023-12-12T14:13:43.416799Z",
    "message": {"role": "assistant", "content": "Berit Foss."},
    "done": True,
    "done_reason": "stop",
    "total_duration": 5191566416,
    "load_duration": 2154458,
    "prompt_eval_count": 26,
    "prompt_eval_duration": 383809000,
    "eval_count": 4,
    "eval_duration": 4799921000,
}
OPENAI_MODELS = {"object": "list", "data": [{"id": "gpt-4o-mini", "object": "model", "created": 1, "owned_by": "me"}]}
OLLAMA_MODELS = {"models": [{"name": "llama3.2:latest", "model": "llama3.2:latest", "size": 2019393189}]}


def said(text: object, **choice: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, **choice}]}


def echo(exchange: Any) -> None:
    if exchange.asked.body is None:
        return exchange.say(OPENAI_MODELS)
    return exchange.say(said("re: " + exchange.asked.body["messages"][0]["content"]))


def answers(content: object, status: int = 200, **headers: str) -> Callable[[Any], None]:
    return lambda exchange: exchange.say(content, status, **headers)


def hang_up(exchange: Any) -> None:
    exchange.hang_up()


def model_at(played: Any, **options: Any) -> HttpLanguageModel:
    return connect(options.pop("url", played.url + "/v1"), "toy", **{"timeout": (5.0, 5.0), **options})


def left_behind_end() -> None:
    """Waits for the threads of calls that ended before them."""
    for thread in threading.enumerate():
        if thread.name == "side by side":
            thread.join(30)


def interrupted_after_three(play: Play, prompts: Sequence[str], **options: Any) -> Any:
    """A server that has replied to the first three prompts, and to those in work when Ctrl-C ended the call."""
    ended = threading.Event()

    def answer(exchange: Any) -> None:
        if exchange.asked.body["messages"][0]["content"] not in prompts[:3]:
            ended.wait(30)
        echo(exchange)

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    played = play(answer)
    model = model_at(played, progress=stop, **options)
    with pytest.raises(KeyboardInterrupt):
        model(prompts)
    ended.set()
    left_behind_end()
    assert model.failed == 0, "what was never answered has not failed"
    return played


def prompts_of(played: Any) -> list[str]:
    return [asked.body["messages"][0]["content"] for asked in played.asked if asked.body]


def reason(reply: object) -> str:
    assert isinstance(reply, Failure)
    return reply.reason


@pytest.fixture
def server(play: Play) -> Any:
    """A server that answers "re: " and the prompt."""
    return play(echo)


# --- the interfaces -------------------------------------------------------------------------------


def test_the_exchange_that_openai_documents(play: Play) -> None:
    played = play(answers(OPENAI_SAID))
    model = connect(f"{played.url}/v1", "gpt-4o-mini", key=KEY)
    assert model(["Who kept the light in 1931?"], max_tokens=64, stop=["\n\n"]) == ["Berit Foss."]
    (asked,) = played.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/v1/chat/completions", OPENAI_SENT)
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.headers["Content-Type"] == "application/json"


def test_the_exchange_that_ollama_documents(play: Play) -> None:
    played = play(answers(OLLAMA_SAID))
    model = connect(played.url, "llama3.2", api="ollama")
    assert model(["Who kept the light in 1931?"], max_tokens=64, stop=["\n\n"]) == ["Berit Foss."]
    (asked,) = played.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/api/chat", OLLAMA_SENT)


def test_top_p_is_sent_where_it_is_given(server: Any) -> None:
    model_at(server, top_p=0.9)(["a"], temperature=0.7)
    model_at(server, top_p=0.9, api="ollama")(["a"], temperature=0.7)
    assert (server.asked[0].body["top_p"], server.asked[0].body["temperature"]) == (0.9, 0.7)
    assert server.asked[1].body["options"] == {"num_predict": 256, "temperature": 0.7, "top_p": 0.9}


@pytest.mark.parametrize(
    ("tail", "path"),
    [
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/openai/v1", "/openai/v1/chat/completions"),
        ("/v1beta/openai/", "/v1beta/openai/chat/completions"),
        ("/api", "/api/chat"),
        ("/api/chat", "/api/chat"),
    ],
)
def test_an_address_with_a_path_says_which_interface_it_is(server: Any, tail: str, path: str) -> None:
    model_at(server, url=server.url + tail)(["a"])
    assert [asked.path for asked in server.asked] == [path]


@pytest.mark.parametrize("tail", ["", "/"])
@pytest.mark.parametrize(
    ("lists", "paths"),
    [
        ([answers(OPENAI_MODELS)], ["/v1/models", "/v1/chat/completions"]),
        ([answers({}, 404), answers(OLLAMA_MODELS)], ["/v1/models", "/api/tags", "/api/chat"]),
        ([answers({}, 404), answers({}, 404)], ["/v1/models", "/api/tags", "/v1/chat/completions"]),
        ([answers({}, 401)], ["/v1/models", "/v1/chat/completions"]),
        ([answers(b"<html>hello</html>")], ["/v1/models", "/v1/chat/completions"]),
    ],
)
def test_a_host_alone_is_asked_once_which_interface_it_has(
    server: Any, tail: str, lists: list[Any], paths: list[str]
) -> None:
    server.next = lists.copy()
    model = model_at(server, url=server.url + tail, concurrency=4)
    model(["a"])
    assert [asked.path for asked in server.asked] == paths
    model([f"prompt {number}" for number in range(8)])
    assert {asked.path for asked in server.asked[len(paths) :]} == {paths[-1]}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (said(" kept as it is\n"), " kept as it is\n"),
        (said(""), ""),
        (said("cut in the mid", finish_reason="length"), "cut in the mid"),
        (
            said(
                [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
            ),
            "AB",
        ),
        (b'{"choices": [{"message": {"content": "half a letter: \\ud83d"}}]}', "half a letter: ?"),
        (said("one STOP two"), "one "),
        (said("END one"), ""),
    ],
)
def test_what_is_taken_for_a_reply(play: Play, content: object, text: str) -> None:
    assert model_at(play(answers(content)))(["a"], stop=["STOP", "END", ""]) == [text]


@pytest.mark.parametrize(
    ("content", "said_so"),
    [
        ({}, "holds no reply"),
        ([], "holds no reply"),
        ("text", "holds no reply"),
        (None, "holds no reply"),
        ({"choices": []}, "holds no reply"),
        ({"choices": ["x"]}, "holds no reply"),
        ({"choices": {"0": 1}}, "holds no reply"),
        ({"choices": [{"message": "x"}]}, "holds no reply"),
        ({"choices": [{"text": "x"}]}, "holds no reply"),
        (said(None), "holds no reply"),
        (said(7), "holds no reply"),
        (said([]), "holds no reply"),
        (said([{"type": "image_url"}, "x", {"type": "text", "text": 7}]), "holds no reply"),
        (said("", finish_reason="length"), "used up max_tokens before it began to answer"),
        ({"error": {"message": "the model\nis loading", "code": 503}}, "holds no reply: the model is loading"),
        ({"choices": [{"message": {"content": None, "refusal": "I will not."}}]}, "holds no reply: I will not."),
        (b"<!DOCTYPE html><html>Welcome</html>", "its answer is no JSON: is this the address of a model server"),
        (b"\x00\xff garbage", "its answer is no JSON"),
        (b"", "its answer is no JSON"),
        (b"[" * 200_000, "its answer is no JSON"),
        (b'{"choices": [{"mess', "its answer is no JSON"),
    ],
)
@pytest.mark.parametrize("api", ["openai", "ollama"])
def test_an_answer_without_a_reply_is_a_failure(play: Play, content: object, said_so: str, api: Any) -> None:
    played = play(answers(content))
    if api == "ollama" and "choices" in str(content):
        said_so = "no JSON" if isinstance(content, bytes) else "holds no reply"
    why = reason(model_at(played, api=api, tries=2)(["a"])[0])
    assert said_so in why and why.startswith(played.url.removeprefix("http://"))


# --- models that refuse a field -------------------------------------------------------------------


def refuses(*fields: str) -> Callable[[Any], None]:
    """Answers as OpenAI's newer models do to fields that they do not take, one at a time."""

    def answer(exchange: Any) -> None:
        for name in fields:
            if name in exchange.asked.body:
                told = f"Unsupported parameter: '{name}' is not supported with this model."
                if name == "max_tokens":
                    told += " Use 'max_completion_tokens' instead."
                error = {"message": told, "type": "invalid_request_error", "param": name}
                return exchange.say({"error": error | {"code": "unsupported_parameter"}}, 400)
        return echo(exchange)

    return answer


def test_a_model_that_wants_max_completion_tokens_gets_them(play: Play) -> None:
    played = play(refuses("max_tokens"))
    model = model_at(played, concurrency=1)
    assert model(["a", "b"], max_tokens=9) == ["re: a", "re: b"]
    assert [asked.body.get("max_tokens") for asked in played.asked] == [9, None, None]
    assert [asked.body.get("max_completion_tokens") for asked in played.asked] == [None, 9, 9]


def test_a_model_that_refuses_temperature_and_stop_is_asked_without_them(play: Play) -> None:
    played = play(refuses("max_tokens", "temperature", "stop"))
    assert model_at(played)(["one. two"], stop=["two"]) == ["re: one. "]
    assert len(played.asked) == 4 and set(played.asked[-1].body) == {
        "model",
        "messages",
        "stream",
        "max_completion_tokens",
    }


def test_a_gateway_that_names_no_parameter_is_understood(play: Play) -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    played = play(echo)
    played.next = [answers({"error": {"message": message, "code": "invalid_request_body"}}, 400)]
    assert model_at(played)(["a"]) == ["re: a"]


def test_a_server_that_refuses_a_field_again_and_again_is_given_up(play: Play) -> None:
    error = {"message": "Use 'max_completion_tokens' instead.", "param": "max_tokens", "code": "unsupported_parameter"}
    played = play(answers({"error": error}, 400))
    assert "answers 400: Use 'max_completion_tokens'" in reason(model_at(played)(["a"])[0])
    assert len(played.asked) == 2


# --- batches --------------------------------------------------------------------------------------


def test_replies_come_in_the_order_of_the_prompts(play: Play) -> None:
    def slow_first(exchange: Any) -> None:
        time.sleep(0.2 if exchange.asked.body["messages"][0]["content"] == "0" else 0.0)
        echo(exchange)

    prompts = [str(number) for number in range(20)]
    assert model_at(play(slow_first), concurrency=4)(prompts) == [f"re: {prompt}" for prompt in prompts]


def test_so_many_prompts_are_in_work_at_a_time_and_no_more(play: Play) -> None:
    meet = threading.Barrier(3, timeout=10)

    def together(exchange: Any) -> None:
        meet.wait()
        echo(exchange)

    played = play(together)
    assert len(model_at(played, concurrency=3)([str(number) for number in range(9)])) == 9
    assert played.most_busy == 3


def test_the_same_prompt_is_asked_once(server: Any) -> None:
    model = model_at(server)
    assert model(["a", "b", "a", "a"]) == ["re: a", "re: b", "re: a", "re: a"]
    assert sorted(prompts_of(server)) == ["a", "b"]
    assert (model.asked, model.cached, model.failed) == (2, 2, 0)


def test_no_prompts_ask_nothing(server: Any) -> None:
    assert model_at(server)([]) == []
    assert server.asked == []


def test_progress_hears_of_every_prompt(server: Any) -> None:
    told: list[tuple[int, int]] = []
    model_at(server, progress=lambda done, total: told.append((done, total)))(["a", "b", "b", "c"])
    assert told[0] == (0, 4) and told[-1] == (4, 4) and told == sorted(told)


def test_connections_are_kept_for_the_next_prompt(server: Any) -> None:
    peers = set()

    def note(exchange: Any) -> None:
        peers.add(exchange.client_address)
        echo(exchange)

    server.answer = note
    model = model_at(server, concurrency=2)
    for call in range(3):
        model([f"{call} {number}" for number in range(10)])
    assert len(peers) <= 2


def test_threads_share_a_model(server: Any) -> None:
    model, found = model_at(server, concurrency=2), {}

    def use(name: str) -> None:
        found[name] = model([f"{name}{number}" for number in range(10)])

    threads = [threading.Thread(target=use, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: [f"re: {name}{number}" for number in range(10)] for name in "abc"}
    assert model.asked == 30


@pytest.mark.parametrize(
    "wrong",
    [
        {"prompts": "a prompt"},
        {"stop": "END"},
        {"max_tokens": 0},
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
    ],
)
def test_parameters_that_are_none_are_refused(server: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        model_at(server)(**{"prompts": ["a"], **wrong})
    assert server.asked == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "localhost:11434"},
        {"url": "ftp://localhost"},
        {"url": "http://me:pw@localhost"},
        {"url": ""},
        {"model": " "},
        {"concurrency": 0},
        {"tries": 0},
        {"timeout": (0.0, 1.0)},
        {"deadline": 0.0},
        {"deadline": float("nan")},
        {"most_bytes": 0},
        {"key": "two words"},
        {"key": "line\nbreak"},
        {"key": "schlüssel"},
    ],
)
def test_what_cannot_be_connected_to_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        connect(**{"url": "http://localhost:1", "model": "m", **wrong})
    assert "pw" not in str(caught.value) and str(wrong.get("key", "\0")) not in str(caught.value)


# --- faults ---------------------------------------------------------------------------------------


def broken_off(exchange: Any) -> None:
    exchange.send_response(200)
    exchange.send_header("Content-Length", "1000")
    exchange.end_headers()
    exchange.wfile.write(b'{"choices": [')
    exchange.close_connection = True


def without_end(exchange: Any) -> None:
    exchange.send_response(200)
    exchange.end_headers()
    exchange.wfile.write(b'{"choices": [{"message": {"conte')
    exchange.close_connection = True


@pytest.mark.parametrize(
    "fault",
    [
        answers({}, 408),
        answers({}, 429),
        answers({}, 429, Retry_After="0"),
        answers({}, 429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
        answers({}, 429, Retry_After="soon"),
        answers({}, 500),
        answers(b"<html>Bad Gateway</html>", 502),
        answers({}, 503),
        answers({}, 504),
        hang_up,
        broken_off,
        without_end,
    ],
)
def test_what_may_have_gone_the_next_time_is_tried_again(server: Any, fault: Any) -> None:
    server.next = [fault, fault]
    assert model_at(server, concurrency=1)(["a", "b"]) == ["re: a", "re: b"]
    assert prompts_of(server) == ["a", "a", "a", "b"]


@pytest.mark.parametrize(
    ("fault", "said_so", "times"),
    [
        (answers({"error": "try later"}, 429), "answers 429 (too many requests): try again later", 3),
        (answers({}, 500), "answers 500 (it is busy or out of order)", 3),
        (hang_up, "cannot be reached, or hangs up: is it running?", 3),
        (broken_off, "the connection broke off", 3),
        (answers({"error": {"message": "prompt too long"}}, 400), "answers 400: prompt too long", 1),
        (answers({"detail": "no\tsuch\x1b[31m thing"}, 418), "answers 418: no such [31m thing", 1),
        (answers({"message": "w" * 999}, 422), f"answers 422: {'w' * 200}…", 1),
        (answers(b"<html>Forbidden</html>", 403), "wants a key (set it with MRAG_LLM_KEY", 1),
        (answers({"error": "model 'toy' not found"}, 404), "says 404: model 'toy' not found", 1),
        (answers(b"x" * 3000), "an answer of more than 2,000 bytes: refused", 1),
        (answers({}, 303, Location="/other"), "answers 303, which leads away", 1),
        (answers({}, 307, Location="http://[bad"), "redirects to what is no address", 1),
        (answers({}, 307, Location="ftp://127.0.0.1/"), "redirects to ftp://…: refused", 1),
        (answers({}, 204), "answers 204", 1),
    ],
)
def test_a_prompt_that_fails_says_why_and_costs_no_other(play: Play, fault: Any, said_so: str, times: int) -> None:
    played = play(lambda exchange: (fault if prompts_of(played)[-1] == "bad" else echo)(exchange))
    replies = model_at(played, tries=3, concurrency=1, most_bytes=2000)(["good", "bad", "better"])
    assert replies[0] == "re: good" and replies[2] == "re: better"
    assert said_so in reason(replies[1])
    assert prompts_of(played).count("bad") == times


def test_an_answer_that_is_nested_too_deep_is_not_asked_for_again(play: Play) -> None:
    played = play(answers(b"[" * 100_000))
    assert "its answer is no JSON" in reason(model_at(played, tries=3)(["a"])[0])
    assert len(played.asked) == 1


def test_an_endless_answer_is_not_read_to_its_end(play: Play) -> None:
    def endless(exchange: Any) -> None:
        exchange.send_response(200)
        exchange.send_header("Connection", "close")
        exchange.end_headers()
        for _ in range(10_000):
            exchange.wfile.write(b" " * 100_000)

    assert "more than 100,000 bytes" in reason(model_at(play(endless), most_bytes=100_000)(["a"])[0])


def test_a_server_that_falls_silent_is_tried_again_and_given_up(play: Play) -> None:
    silent, reached = threading.Event(), threading.Semaphore(0)

    def answer(exchange: Any) -> None:
        reached.release()
        silent.wait(10)

    assert "no byte for 0.1 seconds" in reason(model_at(play(answer), timeout=(5.0, 0.1), tries=2)(["a"])[0])
    assert all(reached.acquire(timeout=10) for _ in range(2)), "asked twice"
    silent.set()


@pytest.mark.skipif(not hasattr(urllib3.HTTPResponse, "read1"), reason="an older urllib3 waits for whole blocks")
@pytest.mark.parametrize("status", [200, 400])
def test_an_answer_that_drips_is_given_up(play: Play, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.adapters.serving.web._LONGEST_ANSWER", 1)

    def drip(exchange: Any) -> None:
        exchange.send_response(status)
        exchange.send_header("Content-Length", "100000")
        exchange.end_headers()
        for _ in range(100):
            exchange.wfile.write(b" ")
            time.sleep(0.05)

    why = reason(model_at(play(drip), timeout=(5.0, 1.0), tries=1)(["a"])[0])
    assert ("not whole after 1 seconds" if status == 200 else "answers 400") in why


def test_the_server_says_how_long_to_wait(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("mrag.adapters.serving.web.time.time", lambda: 1_700_000_000.0)
    date = formatdate(1_700_000_020, usegmt=True)
    for after in ("7", date, "86400", formatdate(0, usegmt=True), "-5"):
        server.next.append(answers({}, 429, Retry_After=after))
    server_of_models = model_at(server, tries=6)._server
    body = {"messages": [{"content": "a"}]}
    assert server_of_models.post("v1/chat/completions", body, most=1000, rest=waits.append) == said("re: a")
    assert waits == [7.0, 20.0, 60.0, 0.0, 0.0]


def test_waits_grow_and_are_shortened_by_chance(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    chances = iter([0.5, 1.0, 0.75])
    monkeypatch.setattr("mrag.adapters.serving.web.random.uniform", lambda low, high: next(chances))
    server.next = [answers({}, 500)] * 3
    model_at(server)._server.post("v1/x", {"messages": [{"content": "a"}]}, most=1000, rest=waits.append)
    assert waits == [0.5, 2.0, 3.0]


# --- redirects and proxies ------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_within_the_server_is_followed(server: Any, status: int) -> None:
    server.next = [answers({}, status, Location="/v2/chat")]
    assert model_at(server, key=KEY)(["a"]) == ["re: a"]
    assert [(asked.method, asked.path) for asked in server.asked] == [
        ("POST", "/v1/chat/completions"),
        ("POST", "/v2/chat"),
    ]
    assert server.asked[1].headers["Authorization"] == f"Bearer {KEY}"


def test_a_redirect_to_another_server_is_refused(server: Any, play: Play) -> None:
    elsewhere = play(echo)
    server.answer = answers({}, 307, Location=f"{elsewhere.url}/v1/chat/completions")
    why = reason(model_at(server, key=KEY)(["a"])[0])
    assert "redirects to another server, http://127.0.0.1: refused" in why
    assert elsewhere.asked == []


def test_redirects_without_end_are_refused(play: Play) -> None:
    played = play(answers({}, 307, Location="/v1/chat/completions"))
    assert "redirects again and again" in reason(model_at(played)(["a"])[0])


def test_a_server_on_this_machine_is_asked_without_a_proxy(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert model_at(server)(["a"]) == ["re: a"]


# --- a server that is not there -------------------------------------------------------------------


def closed_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.parametrize("tail", ["", "/v1"])
def test_a_server_that_cannot_be_reached_is_not_tried_for_every_prompt(play: Play, tail: str) -> None:
    model = connect(f"http://127.0.0.1:{closed_port()}{tail}", "toy", concurrency=4)
    replies = model([str(number) for number in range(1000)])
    assert {reason(reply) for reply in replies} == {
        f"{model._server.host}: cannot be reached, or hangs up: is it running?"
    }
    assert len(replies) == model.failed == 1000 and model.asked <= 8


def test_a_server_that_goes_away_is_not_tried_for_every_prompt(play: Play) -> None:
    def last(exchange: Any) -> None:
        echo(exchange)
        if len(played.asked) >= 10:
            exchange.server.socket.close()  # hears no new connection
        exchange.hang_up()

    played = play(last)
    model = model_at(played, concurrency=2)
    replies = model([str(number) for number in range(500)])
    assert 10 <= sum(isinstance(reply, str) for reply in replies) < 20
    assert model.asked < 30


@pytest.mark.parametrize("status", [401, 404])
def test_a_key_or_a_model_that_is_refused_is_refused_once(play: Play, status: int) -> None:
    played = play(answers({"error": {"message": "no"}}, status))
    replies = model_at(played, concurrency=2)([str(number) for number in range(100)])
    assert len({reason(reply) for reply in replies}) == 1 and len(played.asked) <= 4


def test_a_single_404_among_replies_costs_only_its_prompt(play: Play) -> None:
    played = play(lambda exchange: (answers({}, 404) if prompts_of(played)[-1] == "3" else echo)(exchange))
    replies = model_at(played, concurrency=1)([str(number) for number in range(6)])
    assert [isinstance(reply, str) for reply in replies] == [True, True, True, False, True, True]


def test_a_server_that_answers_nothing_gets_one_try_a_prompt_in_the_end_and_all_when_it_is_back(play: Play) -> None:
    played = play(answers({}, 503))
    model = model_at(played, concurrency=1, tries=3)
    assert all(isinstance(reply, Failure) for reply in model([str(number) for number in range(20)]))
    assert len(played.asked) == 2 * 3 + 18
    played.asked.clear()
    played.next = [*[answers({}, 503)] * (2 * 3 + 5), echo, answers({}, 503), echo]
    played.answer = echo
    replies = model([f"again {number}" for number in range(20)])
    assert [isinstance(reply, str) for reply in replies] == [False] * 7 + [True] * 13


def test_a_server_that_is_gone_is_asked_patiently_once_until_it_is_back(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("mrag.adapters.serving.web.random.uniform", lambda low, high: waits.append(low) or 0.0)
    port = closed_port()
    model = connect(f"http://127.0.0.1:{port}/v1", "toy", tries=4)
    assert isinstance(model(["a"])[0], Failure)
    assert len(waits) == 3
    assert all(isinstance(model([prompt])[0], Failure) for prompt in "bc")
    assert len(waits) == 3, "one try each"
    played = play(echo, port)
    assert model(["d"]) == ["re: d"]
    played.next = [answers({}, 503)]
    assert model(["e"]) == ["re: e"]
    assert len(waits) == 4, "as patiently as before"


# --- time and interruption ------------------------------------------------------------------------


def test_behind_the_deadline_what_is_done_counts_and_the_rest_has_failed(play: Play) -> None:
    go = threading.Event()

    def answer(exchange: Any) -> None:
        if prompts_of(played)[-1] == "slow":
            go.wait(30)
        echo(exchange)

    played = play(answer)
    model = model_at(played, concurrency=1, deadline=2.5, timeout=(30.0, 30.0))
    replies = model(["quick", "slow", "never"])
    go.set()
    assert replies[0] == "re: quick"
    assert all("no reply within 2.5 seconds, the time for all prompts" in reason(reply) for reply in replies[1:])
    assert prompts_of(played) == ["quick", "slow"]
    assert (model.asked, model.failed) == (2, 2)


def test_the_deadline_ends_a_wait_between_tries(play: Play) -> None:
    played = play(answers({}, 429, Retry_After="50"))
    assert "no reply within 0.2 seconds" in reason(model_at(played, deadline=0.2)(["a"])[0])
    assert len(played.asked) == 1


def test_an_interrupted_call_asks_nothing_more(play: Play) -> None:
    played = interrupted_after_three(play, [str(number) for number in range(50)], concurrency=2)
    assert len(played.asked) <= 3 + 2, "those in work"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process alone")
@pytest.mark.parametrize("fault", ["silent", "busy"])
def test_ctrl_c_ends_a_call_whatever_its_threads_wait_for(play: Play, fault: str) -> None:
    """The waits would take minutes; the process is given a few seconds."""
    silent, reached = threading.Event(), threading.Event()

    def answer(exchange: Any) -> None:
        reached.set()
        if fault == "silent":
            silent.wait(60)
        else:
            exchange.say({}, 429, Retry_After="60")

    code = (
        "from mrag.adapters.llm import connect\n"
        f"model = connect('{play(answer).url}/v1', 'toy', timeout=(300.0, 300.0))\n"
        "try:\n    model([str(n) for n in range(20)])\n"
        "except KeyboardInterrupt:\n    print('interrupted')"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert reached.wait(60)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
    silent.set()
    assert (output, process.returncode) == ("interrupted\n", 0)


# --- the cache ------------------------------------------------------------------------------------


def test_a_second_run_asks_nothing(server: Any, tmp_path: Path) -> None:
    prompts = [f"prompt {number}" for number in range(20)]
    first = model_at(server, url=server.url, cache=tmp_path)(prompts)
    server.asked.clear()
    model = model_at(server, url=server.url, cache=tmp_path)
    assert model(prompts) == first
    assert server.asked == []
    assert (model.asked, model.cached, model.failed) == (0, 20, 0)


@pytest.mark.parametrize(
    ("connected", "called"),
    [
        ({"top_p": 0.5}, {}),
        ({}, {"max_tokens": 9}),
        ({}, {"temperature": 0.5}),
        ({}, {"stop": ["x"]}),
    ],
)
def test_another_parameter_is_another_question(
    server: Any, tmp_path: Path, connected: dict[str, Any], called: dict[str, Any]
) -> None:
    model_at(server, cache=tmp_path)(["a"])
    model_at(server, cache=tmp_path, **connected)(["a"], **called)
    assert len(server.asked) == 2


def test_another_model_or_server_is_another_question(server: Any, play: Play, tmp_path: Path) -> None:
    other = play(echo)
    connect(f"{server.url}/v1", "one", cache=tmp_path)(["a"])
    connect(f"{server.url}/v1", "two", cache=tmp_path)(["a"])
    connect(f"{other.url}/v1", "one", cache=tmp_path)(["a"])
    assert (len(server.asked), len(other.asked)) == (2, 1)


def test_only_replies_are_kept(play: Play, tmp_path: Path) -> None:
    played = play(echo)
    played.next = [answers({}, 400)]
    model = model_at(played, cache=tmp_path)
    assert isinstance(model(["a"])[0], Failure)
    assert model(["a"]) == ["re: a"]


def test_a_reply_is_kept_as_soon_as_it_is_there(play: Play, tmp_path: Path) -> None:
    prompts = [str(number) for number in range(6)]
    played = interrupted_after_three(play, prompts, cache=tmp_path, concurrency=1)
    assert prompts_of(played) in (prompts[:3], prompts[:4])
    assert model_at(played, cache=tmp_path, concurrency=1)(prompts) == [f"re: {prompt}" for prompt in prompts]
    assert prompts_of(played) == prompts, "nothing is asked twice"


def test_a_server_that_is_killed_and_started_again_is_asked_nothing_twice(play: Play, tmp_path: Path) -> None:
    """The server ends in the middle of the work, in a process of its own."""
    port, log = closed_port(), tmp_path / "log"
    code = (
        "import json, os, sys, http.server\n"
        "class H(http.server.BaseHTTPRequestHandler):\n"
        "    def log_message(self, *a): pass\n"
        "    def do_POST(self):\n"
        "        said = json.loads(self.rfile.read(int(self.headers['Content-Length'])))['messages'][0]['content']\n"
        f"        if said == sys.argv[1]: os._exit(1)\n"
        "        body = json.dumps({'choices': [{'message': {'content': said.upper()}}]}).encode()\n"
        "        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers()\n"
        f"        self.wfile.write(body); open({str(log)!r}, 'a').write(said + '\\n')\n"
        f"s = http.server.HTTPServer(('127.0.0.1', {port}), H); print('up', flush=True); s.serve_forever()"
    )

    def serve(last: str) -> subprocess.Popen[str]:
        process = subprocess.Popen([sys.executable, "-c", code, last], stdout=subprocess.PIPE, text=True)
        assert process.stdout and process.stdout.readline() == "up\n"
        return process

    def ask() -> list[str | Failure]:
        model = connect(f"http://127.0.0.1:{port}/v1", "toy", cache=tmp_path / "kept", concurrency=4)
        return model([f"p{number}" for number in range(40)])

    with serve("p20"):
        replies = ask()
    assert isinstance(replies[20], Failure) and isinstance(replies[39], Failure)
    kept = sum(isinstance(reply, str) for reply in replies)
    assert kept >= 16
    with serve("") as process:
        assert ask() == [f"P{number}" for number in range(40)]
        process.kill()
    answered = log.read_text().split()
    assert sorted(answered) == sorted({f"p{number}" for number in range(40)})


def test_a_cache_that_cannot_be_written_is_told_once_and_costs_no_reply(server: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    model = model_at(server, cache=tmp_path / "file" / "replies")
    with pytest.warns(UserWarning, match="replies cannot be kept here") as told:
        assert model(["a", "b"]) == ["re: a", "re: b"]
        assert model(["c"]) == ["re: c"]
    assert len(told) == 1


# --- the key --------------------------------------------------------------------------------------


def test_the_key_is_in_no_message_repr_or_traceback(play: Play) -> None:
    echoing = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    for content, status in ((echoing, 401), (echoing, 200), (f"{KEY} <html>".encode(), 200)):
        model = model_at(play(answers(content, status)), key=KEY)
        why = reason(model(["a"])[0])
        assert KEY not in why
    assert KEY not in repr(model) + repr(vars(model)) + repr(model._server.server)
    with pytest.raises(MragError) as caught:
        connect("http://localhost:1", "m", key=f"{KEY} ü")
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_the_key_is_not_in_the_cache(server: Any, tmp_path: Path) -> None:
    model_at(server, key=KEY, cache=tmp_path)(["a"])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 1 and KEY.encode() not in files[0].read_bytes()


def test_without_a_key_none_is_sent_not_even_that_of_netrc(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    model_at(server)(["a"])
    assert "Authorization" not in server.asked[0].headers


@pytest.mark.parametrize(
    "host",
    ["localhost", "gpu-box", "box.local", "llm.internal", "127.0.0.1", "10.1.2.3", "192.168.0.7", "[::1]", "[fd00::1]"],
)
def test_a_key_may_go_unencrypted_within_the_house(host: str) -> None:
    connect(f"http://{host}:8000/v1", "m", key=KEY)


@pytest.mark.parametrize(
    "host", ["api.example.com", "8.8.8.8", "134744072", "[2001:4860:4860::8888]", "localhost.example.com"]
)
def test_a_key_does_not_cross_the_internet_unencrypted(host: str) -> None:
    with pytest.raises(InputError, match="unencrypted, for everyone on the way to read: write https://"):
        connect(f"http://{host}/v1", "m", key=KEY)
    connect(f"http://{host}/v1", "m")
    connect(f"https://{host}/v1", "m", key=KEY)


def test_importing_the_client_loads_no_requests() -> None:
    code = "import sys, mrag.adapters.llm, mrag.adapters.remote_models; print('requests' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/", env=os.environ
    )
    assert found.stdout == "False\n"
