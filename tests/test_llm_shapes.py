"""What is sent for a prompt; what comes back is tested through a server, in test_llm.py."""

import pytest

from mrag.adapters.serving.llm_shapes import Parameters, body, one_line, refused_field, server_message


def test_openai_is_told_of_four_texts_to_stop_at_and_ollama_of_all() -> None:
    wanted = Parameters("m", 8, 0.0, tuple("abcdef"))
    assert body("openai", "p", wanted)["stop"] == list("abcd")
    assert body("ollama", "p", wanted)["options"] == {"num_predict": 8, "temperature": 0.0, "stop": list("abcdef")}


SENT = {"model": "m", "messages": [], "max_tokens": 8, "temperature": 0.0}


@pytest.mark.parametrize(
    ("status", "said", "field"),
    [
        (400, '{"error": {"message": "Use \'max_completion_tokens\' instead."}}', "max_tokens"),
        (400, '{"error": {"message": "No", "param": "temperature", "code": "unsupported_value"}}', "temperature"),
        (400, '{"error": {"message": "Unsupported value: \'temperature\' does not support 0"}}', "temperature"),
        (400, '{"message": "Unsupported parameter: \'temperature\'"}', "temperature"),
        (422, '{"error": {"message": "No", "param": "temperature", "code": "unsupported_value"}}', None),
        (400, '{"error": {"message": "too hot", "param": "temperature", "code": "invalid_value"}}', None),
        (400, '{"error": {"message": "No", "param": "messages", "code": "unsupported_value"}}', None),
        (400, '{"error": {"message": "No", "param": "stop", "code": "unsupported_value"}}', None),
        (400, '{"error": {"message": "No", "param": ["temperature"], "code": "unsupported_value"}}', None),
        (400, '{"error": "Unsupported"}', None),
        (400, "<html>Bad Request</html>", None),
        (400, '{"error": {"message": "Unsupp', None),
        (400, "[" * 8192, None),
    ],
)
def test_only_a_field_that_was_sent_and_is_named_as_unsupported_is_left_out(
    status: int, said: str, field: str | None
) -> None:
    assert refused_field(status, said, SENT) == field


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"error": {"message": "a"}}, "a"),
        ({"error": "a"}, "a"),
        ({"message": "a"}, "a"),
        ({"detail": "a"}, "a"),
        ({"detail": [{"loc": ["body"], "msg": "a"}]}, ""),
        ({"error": {"message": None}}, ""),
        ({"error": 7}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_what_a_server_says_went_wrong(answer: object, message: str) -> None:
    assert server_message(answer) == message


def test_a_strangers_words_cannot_play_with_a_terminal() -> None:
    assert one_line("a\x1b[2J\u202eb\nc\ud800 é") == "a [2J b c é"
    assert one_line("w" * 10_000) == "w" * 200 + "…"
