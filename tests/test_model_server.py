"""Where a server's interfaces lie, and what it says of itself or why it says nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from mrag.adapters.serving.model_server import Offer, Reachable, reachable, read_address
from mrag.errors import InputError

Play = Callable[..., Any]


def answers(content: object, status: int = 200, **headers: str) -> Callable[[Any], None]:
    return lambda exchange: exchange.say(content, status, **headers)


@pytest.mark.parametrize(
    ("url", "root", "openai", "api"),
    [
        ("http://h:8000", "http://h:8000", "v1/models", None),
        (" http://h:8000/\n", "http://h:8000", "v1/models", None),
        ("http://h:8000/v1", "http://h:8000", "v1/models", "openai"),
        ("http://h:8000/v1/models", "http://h:8000", "v1/models", "openai"),
        ("http://h:8000/v1/chat/completions/", "http://h:8000", "v1/models", "openai"),
        ("http://h:8000/v1/embeddings", "http://h:8000", "v1/models", "openai"),
        ("http://h:8000/rerank", "http://h:8000", "v1/models", "openai"),
        ("https://openrouter.example/api/v1", "https://openrouter.example/api", "v1/models", "openai"),
        ("https://h/openai/v1", "https://h/openai", "v1/models", "openai"),
        ("https://h/v1beta/openai/", "https://h/v1beta/openai", "models", "openai"),
        ("https://h/v2", "https://h/v2", "models", "openai"),
        ("http://h:11434/api", "http://h:11434", "v1/models", "ollama"),
        ("http://h/ollama/api/chat", "http://h/ollama", "v1/models", "ollama"),
        ("http://[::1]:8000/v1", "http://[::1]:8000", "v1/models", "openai"),
    ],
)
def test_an_address_as_people_write_it(url: str, root: str, openai: str, api: str | None) -> None:
    found = read_address(url)
    assert (found.root, found.path("openai", "models"), found.api) == (root, openai, api)
    assert found.path("ollama", "tags") == "api/tags"


@pytest.mark.parametrize(
    "url", ["", "h:8000", "localhost", "ftp://h", "http://", "http://a b", "http://me@h", "http://h?x=1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="is to be like"):
        read_address(url)


def test_a_server_says_which_models_it_has(play: Play) -> None:
    openai = play(answers({"object": "list", "data": [{"id": "b"}, {"id": "a\x1b[31m"}, {"id": 7}, "x"]}))
    assert reachable(openai.url) == Reachable(openai.url, Offer("openai", ("b", "a [31m")))
    ollama = play(answers({"models": [{"name": "llama3.2:latest"}]}))
    ollama.next = [answers(b"404 page not found", 404)]
    assert reachable(ollama.url) == Reachable(ollama.url, Offer("ollama", ("llama3.2:latest",)))
    assert [asked.path for asked in ollama.asked] == ["/v1/models", "/api/tags"]


def test_an_address_that_names_an_interface_is_asked_for_that_alone(play: Play) -> None:
    played = play(answers({}, 404))
    assert reachable(f"{played.url}/api").offer is None
    assert reachable(f"{played.url}/v1").offer is None
    assert [asked.path for asked in played.asked] == ["/api/tags", "/v1/models"]


def test_a_long_list_of_models_is_cut(play: Play) -> None:
    offer = reachable(play(answers({"data": [{"id": "m" * 300}] * 5000})).url).offer
    assert offer is not None and len(offer.models) == 1000 and len(offer.models[0]) == 201


@pytest.mark.parametrize(
    ("answer", "said_so"),
    [
        (answers({}, 404), "answers, but not as a model server does"),
        (answers({"data": "none"}), "answers, but not as a model server does"),
        (answers([]), "answers, but not as a model server does"),
        (answers(b"<html>Welcome</html>"), "is no JSON: is this the address of a model server?"),
        (answers({"error": {"message": "no key"}}, 401), "wants a key (set it with MRAG_LLM_KEY"),
        (answers({}, 503), "answers 503"),
        (answers({}, 302, Location="http://localhost/login"), "redirects to another server, http://localhost"),
        (lambda exchange: exchange.hang_up(), "hangs up: is it running?"),
        (answers(b" " * 5_000_000), "more than 4,194,304 bytes"),
    ],
)
def test_a_server_that_is_of_no_use_says_why(play: Play, answer: Any, said_so: str) -> None:
    found = reachable(play(answer).url)
    assert found.offer is None and said_so in found.reason


@pytest.mark.parametrize(
    ("url", "key", "said_so"),
    [
        ("localhost", "", "is to be like http"),
        ("http://127.0.0.1:9", "", "cannot be reached, or hangs up: is it running?"),
        ("http://example.com", "sk-secret", "unencrypted"),
        ("http://127.0.0.1:9", "sk secret", "holds characters that no key has"),
    ],
)
def test_what_cannot_be_asked_says_why(url: str, key: str, said_so: str) -> None:
    found = reachable(url, key)
    assert said_so in found.reason and "secret" not in found.reason


def test_a_key_that_is_not_accepted_is_not_shown(play: Play) -> None:
    found = reachable(play(answers({"error": "bad key sk-secret"}, 401)).url, "sk-secret")
    assert "does not accept the key, says 401: bad key …" in found.reason
