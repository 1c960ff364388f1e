"""What a word is looked up as, and where a text is cut into sentences."""

import subprocess
import sys
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.text import ABBREVIATIONS, ORDINAL_NAMES, STARTERS, STOP_WORDS, split_sentences, term, tokenise, words

# ---------------------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Elected ELECTION elects", ["elect", "elect", "elect"]),  # stems, whatever the case
        ("The mayors of a city, which were they?", ["mayor", "citi"]),  # stop words
        ("Łódź, Søren, İzmir, Straße", ["lodz", "soren", "izmir", "strass"]),  # accents and letters without a base
        ("Ko\u0308ln = Köln", ["koln", "koln"]),  # accents as characters of their own
        ("Ida's dog, Ida’s cat, the Idas' house", ["ida", "dog", "ida", "cat", "ida", "hous"]),  # possessives
        ("O'Hara O’Hara OHara", ["ohara", "ohara", "ohara"]),
        ("vice-president, ex‑wife, and/or", ["vice", "presid", "ex", "wife"]),  # parts of a compound
        ("U.S. US U.S F.C.", ["us", "us", "us", "fc"]),  # dotted capitals
        ("J. R. R. Moe", ["j", "r", "r", "moe"]),
        ("1,500 in 1990–93, 7th 1980s", ["1", "500", "1990", "93", "7th", "1980s"]),  # figures stay
        ("ﬁsh １９９０ m²", ["fish", "1990", "m2"]),  # compatibility forms
        ("snake_case don't", ["snake", "case"]),
        ("Bundes\u00adliga", ["bundesliga"]),  # a soft hyphen
        ("Москва 東京", ["москва", "東京"]),  # other scripts are left as they are
        ("May will can us", ["may", "will", "can", "us"]),  # names and months as well as small words
        ("…—!? \0", []),
    ],
)
def test_tokenise(text: str, terms: list[str]) -> None:
    assert tokenise(text) == terms


def test_a_stop_word_has_no_term_in_any_case() -> None:
    assert all(term(word) is None and term(word.upper()) is None for word in STOP_WORDS)


@given(st.text(max_size=200))
def test_words_are_slices_of_the_text_in_order_and_tokens_are_their_terms(text: str) -> None:
    found = words(text)
    assert all(text[start:end] == word and start < end for word, start, end in found)
    assert all(before[2] <= after[1] for before, after in pairwise(found))
    terms = [term(word) for word, _, _ in found]
    assert tokenise(text) == [value for value in terms if value]


@given(st.text(max_size=100))
def test_terms_do_not_depend_on_what_was_looked_up_before(text: str) -> None:
    first = tokenise(text)
    term.cache_clear()
    assert tokenise(text) == first


def test_nltk_is_imported_with_the_first_stem_only() -> None:
    code = "import sys, mrag.text as t; assert 'nltk' not in sys.modules; t.term('runs'); assert 'nltk' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# ------------------------------------------------------------------------------------------------------------ sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


# "|" stands where a sentence ends.
SENTENCES = [
    "It opened in 1948.| The club moved.| Who paid?| Nobody!| So it closed",
    # initials and dotted capitals, unless a word follows that opens a sentence
    "John F. Kennedy and J. R. R. Moe met J.B. Long.| He left the U.S. in May.",
    "He moved to the U.S.| In 1990 the U.S. Senate met at 5 p.m.| It rose.",
    "They fell to Serie B.| The next year they won.",
    "Trained under H. A. Ivatt.| Ida Moe holds a B.A. from Yale.",
    "The TSV e. V. was founded; so was the SV e.V. in Bonn.",
    # abbreviations
    "Dr. Moe and Mrs. Roe saw Yes vs. The Who.| They sang.",
    "St. Pauli, Utah–St. George and Gen. Lee of Acme Inc. Tokyo.| She is Ida Moe Jr.| He is not.",
    "On Dec. 5 see No. 5, no. A816, Vol. II and pp. 7–9 of it.| No.| Nobody liked the art.| Then",
    "He lived c. 1860, r. 1066–1087, b. 1950, d. 1999, fl. 1300, ca. 1400.| She",
    # ordinals
    "1. FC Köln met 1. FC Nürnberg in the 2. Bundesliga.| They rose from the 3. Liga.| All cheered.",
    "He died aged 19.| Bayern won by 3.| Nobody scored on May 7.| In 1948.| It ended.",
    "1. Amalric of Jerusalem",
    # figures alone are no sentence
    "It was opened by the mayor. (12)",
    "It closed.| 1948. That was its end. 7.",
    # marks inside a sentence
    "“Stop!” he said.| Yahoo! bought it for $4.1B.| “Why?” she asked.",
    "He waited ... and left.| And then…| Well?!| Yes.",
    "(He left.)| She came [again.]| «Non.»| ‘Oh.’| “So.”| End.",
    "It grew.[2][13]| Then it shrank.",
    "It cost 3.5 million at example.com.| Cheap",
    # a lower-case letter behind a full stop: an abbreviation that we do not know, or careless writing
    "It cost 500 kr. from then on.| eBay sold it.",
    "it was formed in autumn.| it was good.| in june it ended .| smith left .| done",
]


@pytest.mark.parametrize("marked", SENTENCES)
def test_sentences_end_at_the_bars(marked: str) -> None:
    assert split(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


@pytest.mark.parametrize("word", ABBREVIATIONS["never"].split())
def test_these_never_end_a_sentence(word: str) -> None:
    assert len(split(f"It was {word}. The Moes.")) == 1


@pytest.mark.parametrize("word", ABBREVIATIONS["before a number"].split())
def test_these_do_not_end_a_sentence_before_a_number(word: str) -> None:
    assert len(split(f"It was {word.capitalize()}. 5 there.")) == 1


@pytest.mark.parametrize("word", ABBREVIATIONS["before a name"].split())
def test_these_end_a_sentence_only_before_a_word_that_opens_one(word: str) -> None:
    assert len(split(f"It was {word.capitalize()}. Moe there.")) == 1
    assert len(split(f"It was {word.capitalize()}. There it was.")) == 2


@pytest.mark.parametrize("word", sorted(STARTERS))
def test_a_word_that_opens_sentences_ends_one_after_an_initial(word: str) -> None:
    assert len(split(f"He was in company B. {word.capitalize()} Moe")) == 2
    assert len(split(f"He was in company B. {word} Moe")) == 1


@pytest.mark.parametrize("word", sorted(ORDINAL_NAMES))
def test_a_figure_before_such_a_name_is_an_ordinal(word: str) -> None:
    assert len(split(f"They joined the 2. {word.capitalize()}.")) == 1


def test_lines_are_the_largest_pieces() -> None:
    assert split("Officers\n  1990 Moe\r\n\r\n1991 Roe\u2028end") == ["Officers", "1990 Moe", "1991 Roe", "end"]


@pytest.mark.parametrize("mark", ["-", "*", "•", "–"])
def test_a_short_list_item_is_one_sentence(mark: str) -> None:
    item = f"{mark} 1693–1710: Johan Siöblad. Count. Later a general."
    assert split(f"Governors:\n{item}\n{item}") == ["Governors:", item, item]


def test_a_long_list_item_is_cut_at_sentence_ends() -> None:
    first = "- On 13 November 1966 a flight crashed off the coast" + " of the island" * 15 + "."
    assert split(f"{first} The cause was never found.") == [first, "The cause was never found."]


def test_a_text_without_full_stops_is_cut_at_spaces() -> None:
    text = "word " * 20_000
    sentences = split(text)
    assert all(len(sentence) <= 2_000 and set(sentence.split()) == {"word"} for sentence in sentences)
    assert sum(len(sentence.split()) for sentence in sentences) == 20_000


def test_a_text_without_spaces_is_cut_all_the_same() -> None:
    assert [len(sentence) for sentence in split("x" * 4_500)] == [2_000, 2_000, 500]


def test_blank_texts_have_no_sentences_and_others_have() -> None:
    assert [split(text) for text in ("", " \n\t\u2003", "...", "\0")] == [[], [], ["..."], ["\0"]]


@given(st.text(alphabet=st.one_of(st.sampled_from(" .!?…\n-'\")[]1aAB,"), st.characters()), max_size=300))
def test_sentences_are_trimmed_ordered_and_leave_out_nothing_but_white_space(text: str) -> None:
    spans = split_sentences(text)
    assert all(start < end and text[start:end] == text[start:end].strip() for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join("".join(text[start:end] for start, end in spans).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "unit",
    [".", ". ", ".\t", "a. ", "A.", "1. ", "- ", "! ", '."', ".) ", ".[", "[1]", "x'", "e\u0301", " ", "\n", "\0", "7"],
)
def test_time_is_linear_whatever_the_text(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.process_time()
    split_sentences(text)
    words(text)
    assert time.process_time() - start < 1.0
