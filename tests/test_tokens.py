"""Texts, pairs and prompts as token ids."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from mrag.adapters.models.batching import Padding
from mrag.adapters.models.model_folder import PromptRecipe
from mrag.adapters.models.tokens import Tokeniser, load_tokeniser
from mrag.errors import InputError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "ran", "the", "mill", "A:", "B:", "|", "Yes", "or", "No"]
IDS = {word: at for at, word in enumerate(WORDS)}
CLS, SEP = IDS["[CLS]"], IDS["[SEP]"]


def ids(text: str) -> list[int]:
    return [IDS[word] for word in text.split()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A tokeniser of a few words that puts [CLS] and [SEP] around them, and asks for a length and for pads."""
    tokenizer = Tokenizer(models.WordLevel(IDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


@pytest.fixture
def tokeniser(path: Path) -> Tokeniser:
    return load_tokeniser(path)


def test_the_length_and_the_pads_of_the_file_are_not_taken(tokeniser):
    found = tokeniser.texts(["who ran the mill", "who"])
    assert found.ids == [[CLS, *ids("who ran the mill"), SEP], [CLS, *ids("who"), SEP]]
    assert found.types is None


def test_texts_are_cut_to_the_length_that_is_set(path):
    tokeniser = load_tokeniser(path, 4)
    assert tokeniser.texts(["who ran the mill"]).ids == [[CLS, *ids("who ran"), SEP]]


def test_tokens_of_a_pair_say_which_text_they_are_of(tokeniser):
    found = tokeniser.pairs("who ran", ["the mill", "mill"])
    assert found.ids[0] == [CLS, *ids("who ran"), SEP, *ids("the mill"), SEP]
    assert found.types == [[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]]


def test_of_a_pair_the_longer_text_is_cut(path):
    tokeniser = load_tokeniser(path, 8)
    (found,) = tokeniser.pairs("who ran", ["the mill " * 9]).ids
    assert found == [CLS, *ids("who ran"), SEP, *ids("the mill the"), SEP]


def test_no_texts_give_no_tokens(tokeniser):
    assert tokeniser.texts([]).ids == tokeniser.pairs("who", []).ids == []


@pytest.mark.parametrize("text", ["\ud800", "mill \udfff mill", "\0", "", "🦉" * 1000, " " * 100_000])
def test_any_text_has_tokens(tokeniser, text):
    assert len(tokeniser.texts([text])) == len(tokeniser.pairs(text, [text])) == 1


def recipe(max_length: int = 100, bos_id: int | None = CLS) -> PromptRecipe:
    return PromptRecipe(max_length, Padding(), 1.0, "Yes or No", "|", "A: ", "B: ", bos_id, None)


def test_a_prompt_is_the_start_the_query_the_text_and_the_instruction(tokeniser):
    (found,) = tokeniser.prompts(recipe(), "who ran", ["the mill"]).ids
    assert found == [CLS, *ids("A: who ran | B: the mill | Yes or No")]


def test_a_prompt_without_a_start_token(tokeniser):
    (found,) = tokeniser.prompts(recipe(bos_id=None), "who", ["mill"]).ids
    assert found == ids("A: who | B: mill | Yes or No")


def test_a_long_text_is_cut_and_never_the_instruction(tokeniser):
    (found,) = tokeniser.prompts(recipe(8), "who", ["the mill " * 50]).ids
    assert found == [CLS, *ids("A: who | B: the mill the | Yes or No")]


def test_a_long_query_gets_three_quarters(tokeniser):
    (found,) = tokeniser.prompts(recipe(8), "who " * 50, ["the mill"]).ids
    assert found == [CLS, *ids("A: who who who who who | | Yes or No")]


def test_every_text_has_its_prompt(tokeniser):
    found = tokeniser.prompts(recipe(), "who", ["mill", "the mill"])
    assert [len(prompt) for prompt in found.ids] == [10, 11]


@pytest.mark.parametrize("data", ["", "{}", "[]", '{"model": {"type": "Magic"}}', "x" * 100])
def test_a_file_that_is_no_tokeniser_is_refused_by_name(tmp_path, data):
    (tmp_path / "tokenizer.json").write_text(data)
    with pytest.raises(InputError, match=r"tokenizer\.json: no tokeniser"):
        load_tokeniser(tmp_path / "tokenizer.json")
