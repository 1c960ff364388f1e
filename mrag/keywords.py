"""Keywords of a question: which words of it a text must hold, and in what other forms it may hold them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from mrag.text import term, words

KeywordKind = Literal["special", "superlative", "numeric", "general"]

WEIGHTS: dict[KeywordKind, float] = {"special": 1.0, "superlative": 0.7, "numeric": 0.5, "general": 0.4}
"""The reference's weights: names, superlatives, numbers, the rest."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word or a name of the question; each of ``slots`` is one word of it as the index terms that stand for it."""

    text: str
    kind: KeywordKind
    slots: tuple[tuple[str, ...], ...]

    @property
    def weight(self) -> float:
        """The reference's weight of its kind."""
        return WEIGHTS[self.kind]


_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()
_IRREGULAR = (
    "be was were been|beat beaten|become became|begin began begun|bear bore born|build built|buy bought|catch caught|"
    "choose chose chosen|come came|draw drew drawn|drive drove driven|fall fell fallen|feel felt|fight fought|"
    "find found|fly flew flown|forbid forbade forbidden|get got gotten|give gave given|go went gone|"
    "grow grew grown|"
    "hold held|keep kept|know knew known|lead led|leave left|lend lent|lose lost|make made|meet met|pay paid|"
    "ride rode ridden|rise rose risen|run ran|say said|see saw seen|sell sold|send sent|shoot shot|sing sang sung|"
    "sit sat|speak spoke spoken|spend spent|stand stood|strike struck|swim swam swum|take took taken|teach taught|"
    "tell told|think thought|throw threw thrown|wear wore worn|win won|write wrote written|man men|woman women|"
    "child children|wife wives|person people|foot feet"
)
_ALIASES = (
    "ceo executive|us usa america american|uk britain british|ussr soviet|pm premier|mp parliament|tv television|"
    "football soccer|film movie|aircraft plane aeroplane airplane|railway railroad|spouse wife husband|"
    "car automobile|doctor physician|lawyer attorney"
)
_VERB_NOUNS = ("er", "or", "ership")  # own: owner, ownership; direct: director

_SUPERLATIVE = re.compile(r"\w{2,20}(?:[^\Wio]est)", re.IGNORECASE)
_NO_SUPERLATIVES = frozenset(
    "forest interest latest earliest guest west quest request contest protest harvest invest conquest best-known "
    "honest modest test arrest digest northwest southwest midwest crest chest nest rest jest vest zest".split()
)


def _each_to_the_others(rows: str) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for row in rows.split("|"):
        forms = row.split()
        for form in forms:
            table[form] = tuple(other for other in forms if other != form)
    return table


_FORMS = _each_to_the_others(_IRREGULAR)
_NAMES = _each_to_the_others(_ALIASES)


def slot(word: str) -> tuple[str, ...]:
    """The index terms that stand for a word: its own first, then its irregular forms, aliases, number words, nouns.

    >>> slot("owned"), slot("held"), slot("CEO"), slot("the")
    (('own', 'owner', 'ownor', 'ownership'), ('held', 'hold'), ('ceo', 'execut'), ())
    """
    own = term(word)
    if own is None:
        return ()
    low = word.lower()
    others = [*_FORMS.get(low, ()), *_NAMES.get(low, ())]
    if low in _NUMBERS:
        others.append(str(_NUMBERS.index(low)))
    elif low.isdecimal() and len(low) <= 2 and int(low) < len(_NUMBERS):
        others.append(_NUMBERS[int(low)])
    found = [own, *(value for other in others if (value := term(other)) is not None)]
    if not word[0].isupper() and own.isalpha() and len(own) >= 3 and low not in _FORMS:
        found += [own + ending for ending in _VERB_NOUNS]
    return tuple(dict.fromkeys(found))


def keywords(main_content: str) -> tuple[Keyword, ...]:
    """The keywords of a question's main content, in its order.

    Names are runs of capitalised words (the opening word alone is none), numbers and superlatives stand alone, and
    every other content word is a general keyword. Words of the stop list are none.

    >>> [(k.text, k.kind) for k in keywords("Who owned the tallest mill of New Haven in 3 towns?")][:4]
    [('owned', 'general'), ('tallest', 'superlative'), ('mill', 'general'), ('New Haven', 'special')]
    """
    found: list[Keyword] = []
    run: list[tuple[str, int, int]] = []
    tokens = words(main_content)

    def close() -> None:
        slots = tuple(s for word, _, _ in run if (s := slot(word)))
        if slots:
            found.append(Keyword(main_content[run[0][1] : run[-1][2]], "special", slots))
        run.clear()

    for i, token in enumerate(tokens):
        word, start, _ = token
        joined = bool(run) and main_content[run[-1][2] : start] in (" ", "-", ". ", "'", "’", " & ")
        if run and not joined:
            close()
        if (word[0].isupper() and (i > 0 or term(word) is not None)) or (run and word.isdecimal()):
            run.append(token)
            continue
        close()
        slots = slot(word)
        if slots:
            found.append(Keyword(word, _kind(word), (slots,)))
    close()
    return tuple(found)


def _kind(word: str) -> KeywordKind:
    low = word.lower()
    if low.isdecimal() or low in _NUMBERS:
        return "numeric"
    if low not in _NO_SUPERLATIVES and (low in ("best", "worst", "most", "least") or _SUPERLATIVE.fullmatch(low)):
        return "superlative"
    return "general"


# --- what a question asks about, in other words ----------------------------------------------------

_FRAMES = (
    # words of a question | words that texts which answer it use: everyday relations between people, bodies and things
    "school university college academy educated attend attended study studied student degree education alma"
    "|attended studied educated graduated enrolled degree school university college academy doctorate bachelor pupil",
    "employer employed employ work worked job company firm profession occupation"
    "|worked employed joined hired staff professor lecturer taught fellow engineer company job career",
    "position office role post rank title minister mayor governor senator ambassador secretary president deputy judge"
    "|served appointed elected minister governor secretary member ambassador mayor office position promoted became",
    "head leader lead led chair chairman chairperson chief director principal chancellor rector commander commanded "
    "command governed emir king queen ruler ruled president directorship heading leading commissioner"
    "|appointed succeeded elected took charge became head led chaired commanded director chairman rector commander "
    "president chief reign ruled",
    "team club squad side play played plays player competed"
    "|signed transferred joined loan moved debut season appearances club team player played",
    "coach coached coaches manager managed manage trainer trained"
    "|appointed manager coach coached managed head caretaker sacked trainer took charge",
    "spouse wife husband married marry wed partner|married wife husband marriage wed wedding divorced widow spouse",
    "own owned owner owns ownership possessed purchased bought acquired acquire"
    "|bought purchased acquired sold owned inherited bequeathed belonged possession property passed sale donated",
    "name named called designation officially known designated"
    "|renamed named called known name changed became redesignated designated",
    "live lived reside resided residence home|lived moved settled resided residence house home stayed",
    "headquarters headquartered located location base based capital seat held hosted host venue stadium arena ground"
    "|headquarters located moved based relocated capital seat held hosted stadium arena ground venue",
    "party alliance member affiliated political|joined party member left elected candidate founded leader independent",
    "operate operated operator ran run|operated operator service ran leased transferred took airline railway",
    "win won winner champion prize award awarded receive received"
    "|won winner champion title victory beat defeated awarded received prize medal",
    "published publisher publish wrote written author edited editor"
    "|published publisher edited editor wrote issued book magazine press",
    "label signed record released|signed label records released contract album",
    "actor actress portrayed starred acted role character|played portrayed starred role cast series film appeared",
    "hosted host presenter presented presents|hosted host presented presenter replaced show",
    "planes aircraft type flown equipped|equipped aircraft flew flown replaced converted squadron",
    "manufacturer built made manufactured plant constructed"
    "|built manufactured works constructed produced delivered company",
    "country citizen citizenship nationality territory state"
    "|country republic empire colony independence annexed part citizen citizenship became",
    "league division compete|league promoted relegated division season joined",
    "station broadcast channel network|broadcast aired channel radio network station",
    "religion denomination church faith|converted church baptised faith belief",
    "incarcerated prison jailed imprisoned|imprisoned prison sentenced transferred jailed released inmate",
)


@cache
def _frames() -> tuple[tuple[frozenset[str], frozenset[str], str], ...]:
    """Of each relation the stems that ask for it, the stems that speak of it, and the words of these."""

    def stems(side: str) -> frozenset[str]:
        return frozenset(value for word in side.split() if (value := term(word)) is not None)

    return tuple((stems(asked), stems(said), said) for asked, said in (row.split("|") for row in _FRAMES))


def related(main_content: str) -> tuple[str, ...]:
    """Index terms by which texts speak of the everyday relations that a question names, sorted; for soft matching only.

    >>> "bought" in related("Who owned the mill?"), related("What is it?")
    (True, ())
    """
    own = {value for word, _, _ in words(main_content) if not word[0].isupper() and (value := term(word)) is not None}
    found: set[str] = set()
    for asks, says, _ in _frames():
        if own & asks:
            found |= says
    return tuple(sorted(found))


def relation_text(main_content: str) -> str:
    """What a question asks about the things that it names, as a text for a scorer of meanings.

    Its words without names and stop words, then those by which texts speak of its relations; a question without
    such words as it stands.

    >>> relation_text("Which bank owned the Kolbe Mill?").split()[:4], relation_text("Kolbe Mill?")
    (['bank', 'owned', 'bought', 'purchased'], 'Kolbe Mill?')
    """
    own = [word for word, _, _ in words(main_content) if not word[0].isupper() and term(word) is not None]
    stems = {term(word) for word in own}
    return " ".join([*own, *(said for asks, _, said in _frames() if stems & asks)]) or main_content


Asked = Literal["who", "place", "other"]

_PLACE_QUESTION = re.compile(
    r"\bwhere\b|\b(?:which|what) "
    r"(?:city|town|village|country|place|location|state|region|county|venue|stadium|continent)\b",
    re.IGNORECASE,
)
_WHO_QUESTION = re.compile(
    r"\bwho(?:m|se)?\b|\b(?:which|what) (?:person|player|man|woman|coach|manager|president|politician|actor|actress|"
    r"singer|director|king|queen|driver|artist|author)\b|"
    r"\bname of the (?:coach|manager|president|head|leader|owner|spouse)\b",
    re.IGNORECASE,
)


def asked(main_content: str) -> Asked:
    """The kind of answer that a question asks for.

    >>> asked("Where did she live?"), asked("Who owned it?"), asked("Which team did he play for?")
    ('place', 'who', 'other')
    """
    if _PLACE_QUESTION.search(main_content):
        return "place"
    return "who" if _WHO_QUESTION.search(main_content) else "other"


def shown(found: Sequence[Keyword]) -> list[str]:
    """The keywords as texts, each once."""
    return list(dict.fromkeys(keyword.text for keyword in found))
