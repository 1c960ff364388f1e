"""Dates in their context: operators around them, ranges of two, borrowed years, and the kind of fact they date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mrag.dates.calendar_words import CLASS, CONNECTORS, NUMBERS, OPERATORS, SIGNS, SUFFIXES
from mrag.dates.readings import beside, short_year
from mrag.dates.scanning import Date
from mrag.dates.tokens import Tokens, split_words
from mrag.interval import OPEN_END, Interval, civil, join, since

Kind = Literal["event", "state", "start", "end", "life"]
KINDS: tuple[Kind, ...] = ("event", "state", "start", "end", "life")


@dataclass(frozen=True, slots=True)
class Timex:
    """A date as it stands in a text, before it is read as evidence or as a question's constraint.

    ``span`` holds the operator words, ``core`` does not; ``named`` is what the date itself names, so
    that "before 2010" names 2010 (open only where the end is: "1999-present"). ``relative``: dated
    against the reference. ``name_like``: part of a longer name, as in "the 2012 Olympics".
    """

    span: tuple[int, int]
    core: tuple[int, int]
    operator: str | None
    named: Interval
    kind: Kind = "event"
    relative: bool = False
    name_like: bool = False


_OPERATORS = {split_words(phrase): relation for phrase, relation in OPERATORS.items()}
_CONNECTORS = {split_words(phrase): joint for phrase, joint in CONNECTORS.items()}
_SUFFIXES = {split_words(phrase): relation for phrase, relation in SUFFIXES.items()}


def _phrase_sizes() -> dict[str, tuple[int, ...]]:
    """Last token of an operator phrase -> the lengths of the phrases that end so, the longest first."""
    sizes: dict[str, set[int]] = {}
    for phrase in _OPERATORS:
        sizes.setdefault(phrase[-1], set()).add(len(phrase))
    return {last: tuple(sorted(lengths, reverse=True)) for last, lengths in sizes.items()}


_SIZES = _phrase_sizes()
_LEADING = frozenset(("since", "until", "before", "after", "by", "from to", "between", "as of"))  # outrank "around"


def _classes(names: str) -> frozenset[str]:
    return frozenset(CLASS[name] for name in names.split())


_THE, _IN, _CAPITAL, _DASH, _OPENING, _CLOSING, _NEWLINE, _BORN, _DIED, _DOT, _SLASH = (
    CLASS[name]
    for name in ("THE", "IN", "CAPITAL", "DASH", "OPENING", "CLOSING", "NEWLINE", "BORN", "DIED", "DOT", "SLASH")
)
_ITEM_ENDS = _classes("CLOSING COLON NEWLINE SIGN")
_SENTENCE_ENDS = _classes("DOT NEWLINE SIGN OPENING DASH COLON")
_PAUSES = _classes("COMMA SIGN")
_PERIODS = _classes("PERIOD DECADENOUN YEARWORD")
_DETERMINERS = _classes("THE ARTICLE FUNCTION APOSTROPHE")
_NOUNS = _classes("LOWER NAMER NAMERS UNIT HYPHENUNIT MEASURE SEASON")
_NAMES = _classes("CAPITAL MONTH NAMER")
_BIRTHPLACE = _classes("IN PREPOSITION OF CAPITAL COMMA DOT OTHER THE DASH APOSTROPHE COLON WEEKDAY")
_APOSTROPHES = tuple(SIGNS["APOSTROPHE"])
_SHORTYEAR, _SHORT_YEAR_SIZE = CLASS["SHORTYEAR"], 3  # ’38
_COPULAS = frozenset(("is", "are", "was", "were"))
_LIST_MARKS = frozenset("-–—*•·")

_UNTIL = CLASS["UNTIL"]
_END_WORDS = _classes("THE ARTICLE FUNCTION LOWER OF")
_LONGEST_END = 7  # tokens that "until his early death in" may take
_LONGEST_JOINT = 5  # tokens between two dates of one range
_BIRTHPLACE_TOKENS = 10  # how far "born" may stand before its date
_BRACKET_TOKENS = 16  # how far a bracket may reach before the life dates that close it
_SHORTEST_LIFE, _LONGEST_LIFE = 30, 110  # years between brackets behind a name
_LONGEST_TERM = 50  # years: in a list, fewer of them can be those in office
_MOST_STEPS = 999  # in "99 years after 1900"


def _operator(tokens: Tokens, end: int, border: int) -> tuple[str | None, int]:
    """The relation that the words between tokens ``border`` and ``end`` say at their end, and its first token."""
    if end > border:
        for size in _SIZES.get(tokens.words[end - 1].lower(), ()):
            if end - size >= border:
                relation = _OPERATORS.get(tokens.lower(end - size, end))
                if relation is not None:
                    return relation, end - size
    return None, end


class Context:
    """Reads the dates of one text in order; remembers the year named last and how far the text has been used."""

    def __init__(self, tokens: Tokens, reference: Interval | None) -> None:
        self._tokens, self._reference = tokens, reference
        self._year: int | None = None
        self._year_is_relative = False
        self._border = 0  # the token behind the last expression
        self._line = self._looked = 0  # first token of the current line, and how far lines have been looked for

    def read(self, dates: list[Date]) -> list[Timex]:
        """What the dates name with all that stands around them; spans are in order and do not overlap."""
        border = 0
        for date in dates:
            self._find_operator(date, border)
            border = date.last
        if _SHORTYEAR in self._tokens.classes:
            _settle_centuries(dates)
        out: list[Timex] = []
        index = 0
        while index < len(dates):
            date = last = dates[index]
            following = dates[index + 1] if index + 1 < len(dates) else None
            named = self._joined(date, following) if following is not None else None
            if named is not None and following is not None:
                last = following
                index += 1
            else:
                named = self._alone(date, following)
            index += 1
            if named is not None:
                out.append(self._timex(date, last, named, dates[index].outset if index < len(dates) else None))
        return out

    def _find_operator(self, date: Date, border: int) -> None:
        """Finds the operator before a date; in "until about 1860" the outer one counts."""
        date.operator, date.outset = _operator(self._tokens, date.first, border)
        if date.operator == "around":
            date.circa = date.outset
            outer, outset = _operator(self._tokens, date.outset, border)
            if outer in _LEADING:
                date.operator, date.outset = outer, outset
        elif date.operator is None and "p" in date.parts and self._tokens.classes[date.first + 1] == _IN:
            date.operator = "in"  # "late in 1990"
        if date.operator in ("in", "on"):
            self._find_end(date, border)
        elif date.operator == "until" and self._is_denied(date.outset, border):
            date.operator = "in"  # "not until 1950": only then

    def _find_end(self, date: Date, border: int) -> None:
        """Finds an "until" some words before: "until his death in 1926" is an end, as "until 1926" is."""
        classes = self._tokens.classes
        for index in range(date.outset - 1, max(border - 1, date.outset - _LONGEST_END), -1):
            if classes[index] == _UNTIL:
                if index < date.outset - 1:
                    denied = self._is_denied(index, border)
                    date.operator, date.outset = ("in", date.outset) if denied else ("until", index)
                return
            if classes[index] not in _END_WORDS:
                return

    def _is_denied(self, index: int, border: int) -> bool:
        """Whether a "not" stands a few words before: "women could not vote until 1920"."""
        words = self._tokens.words[max(border, index - _LONGEST_END) : index]
        return any(word.lower() in ("not", "never", "n't", "t") for word in words)

    # --- what a date names ---

    def _joint(self, date: Date, following: Date) -> str | None:
        """How the words between two dates tie them: "to", "and", "list" or None."""
        between = following.first - date.last
        if between > _LONGEST_JOINT and following.outset != date.last:
            return None
        if between == 0:  # "May 13, 1895November 7, 1954": a dash got lost
            return "to" if self._tokens.ends[date.last - 1] == self._tokens.starts[following.first] else None
        if "i" in date.parts and "i" in following.parts and self._tokens.classes[date.last : following.first] == _SLASH:
            return "to"  # 2010-05-01/2010-05-31
        joint = _CONNECTORS.get(self._tokens.lower(date.last, following.first))
        if joint is None and following.operator == "until" and following.outset == date.last:
            return "to"  # "from 1894 until his death in 1926"
        if joint is None and following.circa > date.last:
            joint = _CONNECTORS.get(self._tokens.lower(date.last, following.circa))
        return joint

    def _joined(self, date: Date, following: Date) -> Interval | None:
        """The range that two neighbours make, if they make one; a missing year comes from the other one."""
        joint = self._joint(date, following)
        if date.rule.shape == "open" or not (joint == "to" or (joint == "and" and date.operator == "between")):
            return None
        if date.operator == "after" and following.operator == "until":  # two bounds: after 2006 and until 2010
            return None
        first, last = date.interval, following.interval
        if following.rule.shape == "open":
            return since(first) if first is not None else None
        if first is None and last is None:
            first = self._in_remembered_year(date)
        if first is None and last is not None:
            year = civil(last.start)[0]
            return _range(date.in_year(year), last) or _range(date.in_year(year - 1), last)
        if first is not None and last is None:
            year = civil(first.end)[0]
            return _range(first, following.in_year(year)) or _range(first, following.in_year(year + 1))
        return _range(first, last)

    def _alone(self, date: Date, following: Date | None) -> Interval | None:
        """What a date names that is not part of a range.

        A day or month without a year takes that of the date it is listed with ("5 May and 3 June 1990"), else the
        year named last, else the reference's; a lone month needs an operator, and "April Smith" is none.
        """
        if date.rule.shape == "open" or (date.rule.shape == "spelled" and date.operator is None):
            return None
        if date.interval is not None:
            return date.interval
        if following is not None and following.interval is not None and self._joint(date, following) is not None:
            return date.in_year(civil(following.interval.start)[0])
        after = self._tokens.classes[date.last : date.last + 1]
        if "m" in date.parts and ("d" in date.parts or (date.operator is not None and after != _CAPITAL)):
            return self._in_remembered_year(date)
        return None

    def _in_remembered_year(self, date: Date) -> Interval | None:
        """The date in the year that was named last, or in the reference's."""
        if self._year is None and self._reference is not None:
            self._year, self._year_is_relative = civil(self._reference.start)[0], True
        date.relative = self._year_is_relative
        return date.in_year(self._year) if self._year is not None else None

    def _remember(self, named: Interval, is_range: bool, relative: bool) -> None:
        """Keeps the year that a later "on July 20" means: no decade names one."""
        first = civil(named.start)[0]
        last = first if named.end == OPEN_END else civil(named.end)[0]
        if is_range or last - first <= 1:
            self._year, self._year_is_relative = last, relative

    # --- how it is bound ---

    def _timex(self, date: Date, last: Date, named: Interval, limit: int | None) -> Timex:
        """The expression from ``date`` to ``last`` (the same one, or the end of its range)."""
        tokens, end = self._tokens, last.last
        is_range = last is not date or date.is_range
        operator = date.operator
        if is_range and (operator in (None, "around", "from to") or (operator == "since" and last is not date)):
            operator = "from to"
        elif operator == "from to":
            is_made_then = date.outset > 0 and tokens.words[date.outset - 1] in _COPULAS  # "the ring is from 1250"
            operator = "around" if date.circa >= 0 else "in" if is_made_then else "since"  # "a panel from about 1620"
        suffix, end = self._suffix(operator, end, limit)
        if suffix is None and not is_range and operator in (None, "around"):
            named, suffix, end = self._open_dash(date, named, end)
        operator = suffix or operator
        outset, core = date.outset, date.first
        if operator in ("before", "after") and not is_range:
            named, operator, outset, core = self._offset(date, operator, named)
        relative = date.relative or last.relative
        self._remember(named, is_range, relative)
        self._border = end
        return Timex(
            (tokens.starts[outset], tokens.ends[end - 1]),
            (tokens.starts[core], tokens.ends[last.last - 1]),
            operator,
            named,
            self._kind(operator, is_range or date.rule.shape == "term", outset, end, named),
            relative,
            self._is_name_like(date, last),
        )

    def _suffix(self, operator: str | None, end: int, limit: int | None) -> tuple[str | None, int]:
        """The relation said by words behind a date ("2011 onwards"), and the token after them, at most ``limit``."""
        limit = len(self._tokens.words) if limit is None else limit
        for size in (2, 1):
            relation = _SUFFIXES.get(self._tokens.lower(end, end + size))
            if relation is not None and end + size <= limit:
                return relation, end + size
        if operator == "since" and end < limit and self._tokens.words[end] == "on":
            return operator, end + 1
        return None, end

    def _open_dash(self, date: Date, named: Interval, end: int) -> tuple[Interval, str | None, int]:
        """ "(1999–)" and a list's "1999–: name" are open; "(–1999)" and "?–1999" are ends."""
        classes = self._tokens.classes
        if classes[end : end + 1] == _DASH and (end + 1 == len(classes) or classes[end + 1] in _ITEM_ENDS):
            return since(named), "from to", end + 1
        if date.first > 1 and classes[date.first - 1] == _DASH:
            before = date.first - 2
            if classes[before] == _OPENING or self._tokens.words[before] == "?":
                return named, "until", end
        return named, None, end

    def _offset(self, date: Date, operator: str, named: Interval) -> tuple[Interval, str | None, int, int]:
        """ "The week before 5 May", "two years after 1990": the period that is meant, the operator before it all,
        and the tokens where that and the period begin; anything else comes back as it is.
        """
        tokens, unit = self._tokens, date.outset - 1
        unchanged = (named, operator, date.outset, date.first)
        if unit <= self._border or tokens.classes[unit] not in _PERIODS or named.end == OPEN_END:
            return unchanged
        count, word = tokens.lower(unit - 1, unit + 1)
        steps = 1 if count == "the" else NUMBERS.get(count, 0) or (int(count) if count.isdecimal() else 0)
        if not 1 <= steps <= _MOST_STEPS or (count == "the" and word.endswith("s")):
            return unchanged
        moved = beside(named, word.rstrip("s"), -steps if operator == "before" else steps, whole=count == "the")
        if moved is None:
            return unchanged
        return (moved, *_operator(tokens, unit - 1, self._border), unit - 1)

    # --- what it dates ---

    def _kind(self, operator: str | None, is_held: bool, outset: int, end: int, named: Interval) -> Kind:
        if operator == "since":
            return "start"
        if operator == "until":
            return "life" if self._is_death(outset, end, named) else "end"
        if self._is_life(outset, end, named):
            return "life"
        return "state" if is_held or operator in ("from to", "between", "as of") else "event"

    def _is_life(self, first: int, end: int, named: Interval) -> bool:
        """Whether tokens first ... end - 1 date a person: "born in Ulm in 1950", "d. 1987", "Ann Lee (1909–1996)"."""
        classes = self._tokens.classes
        for index in range(first - 1, max(-1, first - _BIRTHPLACE_TOKENS), -1):
            if classes[index] == _BORN or classes[index] == _DIED:
                return index == 0 or classes[index - 1] != _DASH  # a "foreign-born" professor
            if classes[index] not in _BIRTHPLACE:
                break
        if first > 1 and self._tokens.words[first - 1] == "*" and classes[first - 2] == _OPENING:
            return True
        opening = self._opening(first, end)
        name = opening - 2 if opening > 1 and classes[opening - 1] == _DOT else opening - 1  # "Lee Jr. (1909–1996)"
        if name < 0 or classes[name] not in _NAMES or named.end == OPEN_END:
            return False
        years = civil(named.end)[0] - civil(named.start)[0]
        if not _SHORTEST_LIFE <= years <= _LONGEST_LIFE:
            return False
        return years >= _LONGEST_TERM or not self._is_in_list(first)

    def _is_death(self, first: int, end: int, named: Interval) -> bool:
        """Whether a day is all that is known of a life: "Ann Lee (– 31 January 876)"; in a list it ends a term."""
        classes = self._tokens.classes
        if first < 3 or classes[first - 2 : first] != _OPENING + _DASH or classes[end : end + 1] != _CLOSING:
            return False
        return classes[first - 3] in _NAMES and named.start == named.end and not self._is_in_list(first)

    def _opening(self, first: int, end: int) -> int:
        """The bracket that a date opens, or closes after other words: "(1909–1996", "(née Lee; 1909–1996)"; else -1."""
        classes = self._tokens.classes
        if first and classes[first - 1] == _OPENING:
            return first - 1
        if first and classes[first - 1] in _PAUSES and classes[end : end + 1] == _CLOSING:
            return classes.rfind(_OPENING, max(0, first - _BRACKET_TOKENS), first)
        return -1

    def _is_in_list(self, index: int) -> bool:
        """Whether a line that begins with a dash or a bullet holds the token."""
        newline = self._tokens.classes.rfind(
            _NEWLINE, self._looked, index
        )  # asked in order: each token is looked at once
        self._looked = index
        self._line = max(self._line, newline + 1)
        return self._tokens.words[self._line] in _LIST_MARKS

    def _is_name_like(self, date: Date, last: Date) -> bool:
        """Whether a name or noun phrase holds the date: "2003 Tour of Kent", "the 1972 crash", "Boat Race 2017"."""
        tokens = self._tokens
        after = tokens.classes[last.last : last.last + 1]
        is_capital_after = after != "" and tokens.words[last.last][0].isupper()
        has_article = tokens.classes[date.first] == _THE
        if has_article and "m" in date.parts and "d" not in date.parts:
            return is_capital_after or after in _NOUNS
        if date.operator is not None or "y" not in date.parts:
            return False
        before = tokens.classes[date.first - 1] if date.first else ""
        if is_capital_after or (before == _CAPITAL and "m" not in date.parts and not self._opens(date.first - 1)):
            return True
        return after in _NOUNS and (has_article or before in _DETERMINERS)

    def _opens(self, index: int) -> bool:
        """Whether a token begins a sentence or an item, and may be capital for that alone."""
        return index == 0 or self._tokens.classes[index - 1] in _SENTENCE_ENDS


def _settle_centuries(dates: list[Date]) -> None:
    """Gives each year of two digits the century of the date before it, where that is near: "1934, ’36 and ’38"."""
    year = None
    for date in dates:
        token = date.parts.get("y", "")
        if len(token) == _SHORT_YEAR_SIZE and token.startswith(_APOSTROPHES):
            date.interval = date.in_year(short_year(token, year))
        if date.interval is not None:
            year = civil(date.interval.end)[0] if date.interval.end != OPEN_END else None


def _range(first: Interval | None, last: Interval | None) -> Interval | None:
    """From one date to another, None where that would run backwards."""
    return join(first, last) if first is not None and last is not None and first.start <= last.end else None
