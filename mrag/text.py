"""Words, index terms and sentences: where a text is cut, and what a word is looked up as."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import cast

Span = tuple[int, int]

FINGERPRINT = "text-1"
"""Raised with every change of a rule below, so that an index made by other rules is known as such."""

# ---------------------------------------------------------------------------------------------------------------- words

# First dotted capitals ("U.S.", "F.C", looked up as "us", "fc"), then letters and digits, joined by apostrophes,
# soft hyphens and combining accents. The bounds keep a blob without spaces from becoming one endless word.
_WORD = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]\.){1,8}[^\W\d_](?![^\W_])\.?"
    r"|[^\W_]{1,64}(?:['’ʼ\u00ad\u0300-\u036f]{1,4}[^\W_]{1,64}){0,8}"
)
_JOINTS = re.compile(r"['’ʼ\u00ad\u0300-\u036f.]+")
_POSSESSIVE = re.compile(r"['’ʼ][sS]$")

# Letters that Unicode does not take apart into a base letter and an accent: Søren, Łódź, Æthelred.
_BASE_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t"}
)

STOP_WORDS = frozenset(
    """
    a an the this that these those
    of in on at by to from for with into onto upon as than between among during before after since until till while
    and or but nor if not
    i me my we our you your he him his she her hers it its they them their
    is are was were be been being am has have had having do does did doing would could should shall
    who whom whose which what when where why how there
    dont didnt doesnt isnt wasnt
    """.split()
)
"""Words that are not indexed. Left out on purpose: "us", "may", "will", "can", which are names and months as well."""


def words(text: str) -> list[tuple[str, int, int]]:
    """The words of ``text`` as written, each with its character span, in order.

    >>> words("Dr. O'Hara's re-election")
    [('Dr', 0, 2), ("O'Hara's", 4, 12), ('re', 13, 15), ('election', 16, 24)]
    """
    return [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def tokenise(text: str) -> list[str]:
    """The index terms of ``text`` in order: folded, stemmed, without stop words.

    >>> tokenise("The U.S. president's re-elections, in 1996")
    ['us', 'presid', 're', 'elect', '1996']
    """
    return [found for found in map(term, _WORD.findall(text)) if found is not None]


@lru_cache(maxsize=1 << 17)
def term(word: str) -> str | None:
    """The index term of one word as ``words`` gives it, or None for a stop word.

    >>> term("Københavns"), term("cities"), term("WHICH")
    ('kobenhavn', 'citi', None)
    """
    folded = _fold(_POSSESSIVE.sub("", word))
    if not folded or folded in STOP_WORDS:
        return None
    # Digits have no stem, and the English rules say nothing about other scripts.
    return _stemmer()(folded) if folded.isascii() and folded.isalpha() else folded


def _fold(word: str) -> str:
    """Lower case, without accents, apostrophes and dots."""
    if word.isascii() and word.isalnum():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word).casefold()
    return unicodedata.normalize("NFC", _JOINTS.sub("", apart).translate(_BASE_LETTERS))


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    from nltk.stem.snowball import EnglishStemmer

    return cast("Callable[[str], str]", EnglishStemmer().stem)


# ------------------------------------------------------------------------------------------------------------ sentences

_LONGEST = 2_000  # characters of a sentence
_LONGEST_ITEM = 240  # characters up to which a list item is one sentence, whatever full stops it holds
_NEAR = 40  # characters looked at on each side of a possible end

_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_LETTER = re.compile(r"[^\W\d_]")
_ITEM = re.compile(r"[-*•‣◦▪·–—]\s")

# A possible end: the marks, closing quotes, brackets and footnote numbers, then white space. The look-behind lets a
# run of marks be tried once only, which keeps the search linear.
_END = re.compile(r"(?<![.!?…])([.!?…]+)(?:[\"'”’»)\]}]|\[[^\]\s]{1,12}\])*\s+")
_OPENERS, _CLOSERS = "\"'“”‘’«»([{-–—", "\"'“”‘’«»)]}.,:;!?…"

ABBREVIATIONS = {
    "never": "mr mrs ms messrs mx dr mme mlle vs v feat",
    "before a number": """no nos nr nrs vol vols pp ch sec fig op art ca circa fl est ed
        jan feb mar apr jun jul aug sep sept oct nov dec""",
    "before a name": """prof rev fr hon pres gov sen rep gen lt col maj capt cmdr cdr adm sgt cpl pvt brig st ste mt
        msgr bros ft bayer kgl inc ltd co corp jr sr etc al dept univ assn esq ave blvd rd sq bldg
        approx cf viz resp incl intl natl min max tel dist gmbh pty mfg""",
}
"""Words with a full stop that is none: "vs. The Who" never ends a sentence, "No. 5" does not before a number, and
"St. Pauli" or "Acme Inc. Tokyo" do only before a word of STARTERS ("worked for Acme Inc. He left")."""

STARTERS = frozenset(
    """
    the a an this that these those there here he she it they we i you his her its their our my
    in on at by from for with as to after before during since until when while where although though however but and
    or so then later if once under between both each some many most all another other also because despite following
    such several thus today now initially finally eventually currently previously recently immediately according
    """.split()
)
"""Words that, with a capital, open a sentence rather than belong to a name."""

ORDINAL_NAMES = frozenset("fc fk ffc fsv sc sv bundesliga liga lig division divisjon deild snl hnl klasse".split())
"""Words that make a figure with a full stop part of a name: "the 2. Bundesliga", "against 1. FC Saarbrücken"."""

_KIND_OF = {name: kind for kind, names in ABBREVIATIONS.items() for name in names.split()}
_NUMBER = re.compile(r"[A-Z]{0,3}-?\d|[IVXLC]{1,6}\b")
_INITIALS = re.compile(r"[^\W\d_]|(?:[^\W\d_]{1,3}\.){1,6}[^\W\d_]{1,3}")  # "F", "c" of "c. 1860", "U.S", "e.V", "Ph.D"
_BREAKS_A_WORD = re.compile(r"[\s\-–—/(\[\"'“‘«]")  # "Utah–St. George"


def split_sentences(text: str) -> list[Span]:
    """The sentences of ``text`` as character spans, in order, trimmed, none empty, none above 2,000 characters.

    A line is the largest piece, a short list item is one sentence; elsewhere full stops, question and exclamation
    marks end a sentence, but not those of abbreviations, initials and ordinals.

    >>> text = "He met John F. Kennedy in No. 5. Then:\\n- 1693-1710: Johan Siöblad"
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['He met John F. Kennedy in No. 5.', 'Then:', '- 1693-1710: Johan Siöblad']
    """
    return [
        piece
        for start, end in _lines(text)
        for sentence in _sentences_of_line(text, start, end)
        for piece in _cut(text, *sentence)
    ]


def _lines(text: str) -> Iterator[Span]:
    """The lines that are not blank, trimmed."""
    for match in _LINE.finditer(text):
        if span := _trim(text, match.start(), match.end()):
            yield span


def _sentences_of_line(text: str, start: int, end: int) -> list[Span]:
    if end - start <= _LONGEST_ITEM and _ITEM.match(text, start, end):
        return [(start, end)]
    out: list[Span] = []
    first, letter = start, _first_letter(text, start, end)
    for match in _END.finditer(text, start, end):
        # Before the first letter nothing is said yet: "1. FC Köln", "(3.) Liga", "...".
        if match.start() > letter and _is_end(text[max(first, match.start() - _NEAR) : match.start()], match, end):
            out.append((first, match.start() + len(match.group().rstrip())))
            first, letter = match.end(), _first_letter(text, match.end(), end)
    if out and letter == end:
        first = out.pop()[0]  # nothing said behind the last end: "... by the mayor. (12)"
    return [*out, (first, end)]


def _first_letter(text: str, start: int, end: int) -> int:
    """Where the first letter stands, or ``end``."""
    found = _LETTER.search(text, start, end)
    return found.start() if found else end


def _is_end(before: str, match: re.Match[str], last: int) -> bool:
    """Whether the marks that ``match`` found after ``before`` end a sentence."""
    following = match.string[match.end() : min(last, match.end() + _NEAR)].split(None, 1)[0]
    following = following.lstrip(_OPENERS).rstrip(",:;")
    word = _BREAKS_A_WORD.split(before)[-1]
    opens, lower = following.lower() in STARTERS, following[:2].islower()  # "eBay" is not lower
    if match.group(1) != ".":
        return not lower
    kind = _KIND_OF.get(word.lower())
    if kind == "never" or (kind == "before a number" and _NUMBER.match(following)):
        return False
    if kind == "before a name" or _INITIALS.fullmatch(word):
        return opens and not lower
    if lower and word:  # a word that we do not know as an abbreviation, or a text that is all lower case
        return opens and len(word) > 3
    if word.isdigit() and len(word) <= 2:
        return following.rstrip(_CLOSERS).lower() not in ORDINAL_NAMES
    return True


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    """A sentence in pieces of at most _LONGEST characters, at spaces where there are some."""
    while end - start > _LONGEST:
        space = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
        stop = space if space > 0 else start + _LONGEST
        if span := _trim(text, start, stop):
            yield span
        start = stop
    if span := _trim(text, start, end):
        yield span


def _trim(text: str, start: int, end: int) -> Span | None:
    """The span without white space at its ends, or None when nothing is left."""
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    stop = start + len(piece.rstrip())
    return (begin, stop) if begin < stop else None
