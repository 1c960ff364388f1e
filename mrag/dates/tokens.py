"""A text as tokens: words, numbers and signs, each with its class and its place."""

from __future__ import annotations

import re
from itertools import accumulate

from mrag.dates.calendar_words import CLASS, TOKEN_CLASSES

_ZERO_WIDTH = "\u00ad\u200b-\u200f\u2060\ufeff"
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")

# What belongs together is one token, so that the pieces of a version or an ISBN are never taken for years.
_TOKEN = re.compile(
    rf"""((?=\S|\n)(?:                                       # a blank fails at once
      (?:https?://|www\.)\S{{1,2000}}                        # an address
    | [a-zA-Z]{{3,}}(?!\w)                                  # most words: here for speed
    | \d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])  # ISO
    | \d{{4}}-W\d\d(?:-\d)?(?!\w)                            # ISO week
    | (?<![\d/])\d{{1,4}}(?:-\d{{1,2}}-|/\d{{1,2}}/|\.\d{{1,2}}\.)\d{{1,4}}  # 31.10.2021, 03/04/2019
        (?![\w/]|[-.]\d(?!\d?[/.]\d\d?[/.]\d))             # nor the start of more, but for another such date
    | \d{{1,20}}(?:-\d{{1,20}}){{2,20}}                      # ISBN, telephone
    | \d{{3}}-\d{{4}}(?![\w-]|\s?(?:AD|CE|BC))             # 555-1234
    | \d{{4}}(?=:\d\d:\d\d:\d\d)                           # 12/Mar/2019:14:02:11
    | \d{{4}}年(?:\d{{1,2}}月(?:\d{{1,2}}日)?)?               # 2008年8月8日
    | \+\d{{1,3}}(?:\ \d{{2,5}}){{2,5}}(?!\w)                # +44 1865 270 000
    | 0\d{{2,4}}(?:\ \d{{3,5}}){{2,5}}(?!\w)                 # 0800 1967 2010
    | \((?:0\d{{2,4}}|\d{{3}})\)\ ?\d{{3,4}}[ -]\d{{4}}(?!\w)  # (212) 555 2010
    | \d{{3,20}}\.[a-z]{{2,4}}(?!\w)                         # 2019.pdf
    | ['’‘]\d\ds?(?![\w'’]|\.\d)                                  # '69, '60s
    | \d{{2,4}}['’]s(?!\w)                                   # 1970's
    | \d+(?:[.:]\d+|,\d{{3}}(?!\d)){{0,20}}(?:[^\W\d_]{{1,2}}(?![^\W\d_])[^\W_]{{0,20}})?  # 1990, 19th, 1,500, 3:02
    | [AB]\.\s?[CD]\.(?:\s?E\.)? | C\.\s?E\.                 # B.C.E.
    | ca?(?=\d{{4}}(?!\w))                                   # c1850
    | [A-Z]{{1,2}}-\d{{1,20}}(?!\w)                          # U-1942
    | [\u3040-\u30ff\u4e00-\u9fff]+                        # no blanks stand between these and a number
    | \w+
    | \n | [^\s\w{_ZERO_WIDTH}]
    ))""",
    re.VERBOSE,
)

_FORMS = [
    (re.compile(pattern), CLASS[name])
    for pattern, name in (
        (r"\d{4}-\d\d-\d\d([T ].*)?|\d{4}-W\d\d(-\d)?|\d{4}[Qq]0?[1-4]|\d{4}年\d{1,2}月.*", "FULLDATE"),
        (
            r"\d{4}([-/.:])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4}|\d{1,2}/\d{1,2}/\d\d|\d\d\.\d\d\.\d\d",
            "FULLDATE",
        ),
        (r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(T\d{4,6}Z?)?", "FULLDATE"),  # 20190412
        (r"\d{1,2},\d{3}", "GROUPED"),
        (r"\d{1,2}(st|nd|rd|th|ST|ND|RD|TH)", "ORDINAL"),
        (r"(?:1\d|20)\d0(?:['’]?s|er)", "DECADE"),
        (r"\d\d0['’]?s", "OLDDECADE"),
        (r"['’‘]?\d0['’]?s", "SHORTDECADE"),
        (r"['’‘]\d\d", "SHORTYEAR"),
        (r"(?:1\d|20)\d\d(?:['’]?s|[a-e]|年|г)", "YEAR"),  # "2018’s report", "Lee 2018a", "2011г"
        (r"\d{1,2}:\d\d(:\d\d)?", "CLOCK"),
        (r"[Qq]0?[1-4]|[1-4]Q|H[12]", "QUARTERTOKEN"),
        (r"FY'?(\d{4}|\d\d)", "FISCALYEAR"),
        (r"B\.\s?C\.(\s?E\.)?", "BC"),
        (r"A\.\s?D\.|C\.\s?E\.", "AD"),
    )
]
_LOWER, _CAPITAL, _OTHER, _SIGN = (CLASS[name] for name in ("LOWER", "CAPITAL", "OTHER", "SIGN"))
_MOST_KEPT = 1 << 16  # words whose class is kept
_LONGEST_FORM = 40  # characters; a longer token has no form


class Tokens:
    """A text's tokens: ``words`` as written (digits as 0-9), ``classes`` a character each, ``starts``, ``ends``."""

    __slots__ = ("classes", "ends", "starts", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        if not text.isascii():
            text = _FOREIGN_DIGIT.sub(lambda digit: str(int(digit.group())), text)  # a digit for a digit: places stay
        pieces = _TOKEN.split(text)
        self.words = pieces[1::2]
        self.classes = "".join(map(_class_of, self.words))
        borders = list(accumulate(map(len, pieces)))
        self.starts, self.ends = borders[0::2], borders[1::2]

    def lower(self, first: int, last: int) -> tuple[str, ...]:
        """Tokens first ... last - 1 in lower case."""
        return tuple([word.lower() for word in self.words[first:last]])


def split_words(phrase: str) -> tuple[str, ...]:
    """The tokens of a phrase in lower case, as Tokens.lower gives them."""
    tokens = Tokens(phrase)
    return tokens.lower(0, len(tokens.words))


def classify(token: str) -> str:
    """The class character of a token."""
    if known := TOKEN_CLASSES.get(token):
        return known
    if token.isalpha():
        return _CAPITAL if token[0].isupper() else _LOWER
    if token.isdecimal() and len(token) <= 5:
        return _number_class(token)
    if len(token) <= _LONGEST_FORM:
        for form, name in _FORMS:
            if form.fullmatch(token):
                return name
    return _OTHER if token[0].isalnum() or len(token) > 1 else _SIGN


class _Classes(dict[str, str]):
    """The classes of words that have been met: most words of a text are."""

    def __missing__(self, word: str) -> str:
        name = classify(word)
        if len(word) < _LONGEST_FORM and len(self) < _MOST_KEPT:
            self[word] = name
        return name


_class_of = _Classes().__getitem__


def _number_class(digits: str) -> str:
    value = int(digits)
    if len(digits) <= 2:
        return CLASS["DAY"] if 1 <= value <= 31 else CLASS["NUM2"]
    if digits[0] == "0":
        return _OTHER
    if len(digits) == 3:
        return CLASS["NUM3"]
    if len(digits) == 4:
        return CLASS["YEAR"] if value < 2040 else CLASS["LATEYEAR"] if value < 2200 else CLASS["NUM4"]
    return CLASS["NUM5"]
