"""Texts, pairs and prompts to token ids, by a model's tokenizer.json and the tokenizers library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag.adapters.models.batching import Tokens
from mrag.adapters.models.model_folder import PromptRecipe
from mrag.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def load_tokeniser(path: Path, max_length: int | None = None) -> Tokeniser:
    """The tokeniser in a file, with the given length instead of the length and the pads that the file may ask for.

    Raises InputError for a file that holds none, MissingExtraError without the tokenizers library.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError("models need the tokenizers library: pip install tokenizers") from None
    with _errors(path, "no tokeniser, or one of a newer kind"):
        tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if max_length is not None:
        tokenizer.enable_truncation(max_length)
    return Tokeniser(path, tokenizer)


@dataclass(frozen=True, slots=True)
class Tokeniser:
    """Texts to tokens; threads may share it."""

    path: Path
    tokenizer: Tokenizer

    def texts(self, texts: Sequence[str]) -> Tokens:
        """The tokens of texts, with those that the model expects around a text."""
        return Tokens([found.ids for found in self._encode([_unicode(text) for text in texts])])

    def pairs(self, query: str, texts: Sequence[str]) -> Tokens:
        """The tokens of a query with each of the texts, and to which of the two each belongs; the longer one is cut."""
        query = _unicode(query)
        found = self._encode([(query, _unicode(text)) for text in texts])
        return Tokens([pair.ids for pair in found], [pair.type_ids for pair in found])

    def prompts(self, recipe: PromptRecipe, query: str, texts: Sequence[str]) -> Tokens:
        """The tokens of the prompt for a query with each of the texts: the text is cut, never the prompt.

        A query gets at most three quarters of the length, as in the code that the model was published with.
        """
        asked = _unicode(recipe.query_prefix + query)
        separator, prompt, asked_ids = (
            part.ids for part in self._encode([recipe.separator, recipe.prompt, asked], False)
        )
        start = [] if recipe.bos_id is None else [recipe.bos_id]
        start += asked_ids[: recipe.max_length * 3 // 4]
        room, end = recipe.max_length - len(start), separator + prompt
        found = self._encode([_unicode(recipe.passage_prefix + text) for text in texts], False)
        return Tokens([start + (separator + text.ids)[:room] + end for text in found])

    def _encode(self, inputs: list[Any], add_special_tokens: bool = True) -> list[Any]:
        with _errors(self.path, "cannot take a text apart"):
            return self.tokenizer.encode_batch_fast(inputs, add_special_tokens=add_special_tokens)


def _unicode(text: str) -> str:
    """The text with "?" for half characters (lone surrogates), which the library refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _errors(path: Path, what: str) -> Iterator[None]:
    """Turns the library's errors, which are bare Exceptions and Rust's panics, into an InputError."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic is no Exception
        raise InputError(f"{path}: {what} ({str(error)[:200]})") from None
