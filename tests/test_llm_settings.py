"""Which language model is meant, and that a key goes to the server that it was given for, and to no other."""

import pytest

from mrag.adapters.serving.llm_settings import LlmSettings, key_for, llm_settings
from mrag.errors import InputError

KEY, OTHER = "sk-one", "sk-two"
URL = "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("option", "environ", "url", "by"),
    [
        (URL, {}, URL, "--llm"),
        (URL, {"MRAG_LLM_URL": "http://a", "OPENAI_BASE_URL": "http://b"}, URL, "--llm"),
        (None, {"MRAG_LLM_URL": "http://a", "OPENAI_BASE_URL": "http://b"}, "http://a", "MRAG_LLM_URL"),
        (None, {"MRAG_LLM_URL": " ", "OPENAI_BASE_URL": " http://b\n"}, "http://b", "OPENAI_BASE_URL"),
        ("", {"OPENAI_BASE_URL": "http://b"}, "http://b", "OPENAI_BASE_URL"),
    ],
)
def test_the_option_comes_before_the_environment(
    option: str | None, environ: dict[str, str], url: str, by: str
) -> None:
    found = llm_settings(option, None, environ)
    assert found is not None and (found.url, found.by) == (url, by)


@pytest.mark.parametrize(
    ("option", "environ", "model"),
    [
        ("m", {"MRAG_LLM_MODEL": "n"}, "m"),
        (None, {"MRAG_LLM_MODEL": " n "}, "n"),
        ("", {"MRAG_LLM_MODEL": "n"}, "n"),
        (None, {}, ""),
    ],
)
def test_the_model_is_that_of_the_option_or_the_environment(
    option: str | None, environ: dict[str, str], model: str
) -> None:
    assert llm_settings(URL, option, environ) == LlmSettings(URL, model)


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": KEY, "MRAG_LLM_KEY": KEY, "MRAG_LLM_MODEL": "m"}])
def test_without_a_server_there_is_no_model_whatever_keys_there_are(environ: dict[str, str]) -> None:
    assert llm_settings(None, None, environ) is None


def test_a_model_without_a_server_is_refused() -> None:
    with pytest.raises(InputError, match="--llm-model m needs its server: --llm URL, or set MRAG_LLM_URL"):
        llm_settings(None, "m", {"OPENAI_API_KEY": KEY})


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(InputError, match=r"address \(--llm, MRAG_LLM_URL.* is to be like http://127"):
        llm_settings("localhost:8000", "m", {})


@pytest.mark.parametrize(
    ("option", "environ", "key"),
    [
        # MRAG_LLM_KEY: the server of MRAG_LLM_URL, or that of --llm where the former is not set
        (URL, {"MRAG_LLM_KEY": KEY}, KEY),
        (None, {"MRAG_LLM_URL": URL, "MRAG_LLM_KEY": f" {KEY}\n"}, KEY),
        ("http://localhost:8000/api", {"MRAG_LLM_URL": URL, "MRAG_LLM_KEY": KEY}, KEY),
        ("http://localhost:9000/v1", {"MRAG_LLM_URL": URL, "MRAG_LLM_KEY": KEY}, ""),
        ("https://localhost:8000/v1", {"MRAG_LLM_URL": URL, "MRAG_LLM_KEY": KEY}, ""),
        (None, {"OPENAI_BASE_URL": URL, "MRAG_LLM_KEY": KEY}, ""),
        # OPENAI_API_KEY: the server of OPENAI_BASE_URL, or https://api.openai.com where that is not set
        ("https://api.openai.com/v1", {"OPENAI_API_KEY": KEY}, KEY),
        ("https://api.openai.com", {"OPENAI_API_KEY": KEY}, KEY),
        ("https://API.OpenAI.com:443/v1/", {"OPENAI_API_KEY": KEY}, KEY),
        ("http://api.openai.com/v1", {"OPENAI_API_KEY": KEY}, ""),
        ("https://api.openai.com.example.org/v1", {"OPENAI_API_KEY": KEY}, ""),
        (URL, {"OPENAI_API_KEY": KEY}, ""),
        (None, {"MRAG_LLM_URL": URL, "OPENAI_API_KEY": KEY}, ""),
        (None, {"OPENAI_BASE_URL": URL, "OPENAI_API_KEY": KEY}, KEY),
        ("https://api.openai.com/v1", {"OPENAI_BASE_URL": URL, "OPENAI_API_KEY": KEY}, ""),
        (URL, {"OPENAI_BASE_URL": "no address", "OPENAI_API_KEY": KEY}, ""),
        # both
        (URL, {"MRAG_LLM_KEY": KEY, "OPENAI_BASE_URL": URL, "OPENAI_API_KEY": OTHER}, KEY),
        (None, {"MRAG_LLM_URL": URL, "OPENAI_BASE_URL": URL, "OPENAI_API_KEY": OTHER}, OTHER),
        (URL, {}, ""),
    ],
)
def test_a_key_goes_to_its_own_server_alone(option: str | None, environ: dict[str, str], key: str) -> None:
    found = llm_settings(option, "m", environ)
    assert found is not None and found.key == key


def test_a_key_of_its_own_comes_first_and_belongs_to_its_url() -> None:
    environ = {"MRAG_ENCODER_KEY": KEY, "MRAG_LLM_URL": URL, "MRAG_LLM_KEY": OTHER}
    assert key_for(URL, environ, own="MRAG_ENCODER_KEY") == KEY
    assert key_for("http://other", environ, own="MRAG_ENCODER_KEY") == KEY
    assert key_for(URL, environ) == OTHER


def test_the_key_is_not_shown() -> None:
    assert KEY not in repr(llm_settings(URL, "m", {"MRAG_LLM_KEY": KEY}))
