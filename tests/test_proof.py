"""At which times a fact is provably the only answer, checked against all that its unknown days can be."""

import datetime
import random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.contrast.alternatives import Draw, proved_times
from mrag.contrast.facts import STILL_IS, Fact, Others, Span, gaps, others, span
from mrag.contrast.proof import RULES, AskedTime, is_proved
from mrag.interval import Interval, parse_iso
from mrag.question import RELATIONS, parse
from mrag.questions.implicit import Condition


def held(text: str) -> Span:
    start, end = text.split("..")
    return span(parse_iso(start), parse_iso(end) if end else None)


def asked(words: str) -> AskedTime:
    """The time that "last before 1990" asks for."""
    constraint = parse(f"Who owned the mill {words}?").constraint
    assert constraint is not None and constraint.relation is not None
    dates = words.split(constraint.relation.split(" ")[0])[-1].replace("of ", "").replace("and", "to").split(" to ")
    return AskedTime(constraint.relation, constraint.implicit, tuple(parse_iso(date.strip()) for date in dates))


MILL = ("1950..1960", "1960..1970", "1975..1980", "1980..1990")  # four owners, and nobody from 1970 to 1975


def proved(place: int, words: str, mill: tuple[str, ...] = MILL) -> bool:
    spans = [held(text) for text in mill]
    return is_proved(spans[place], Others(tuple(spans[:place] + spans[place + 1 :])), asked(words))


# --- the rules, one by one -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("in 1965", 1),
        ("in 1975", 2),  # nobody else had it in that year
        ("as of 1965", 1),
        ("on 1965-05-03", 1),
        ("around 1965", 1),
        ("between 1961 and 1969", 1),
        ("from 1960 to 1970", 1),  # neighbours share its first and its last year
        ("from 1962 to 1964", 1),
        ("until 1960", 0),
        ("before 1959", 0),
        ("by 1958", 0),
        ("by 1951", 0),
        ("after 1981", 3),
        ("since 1980", 3),
        ("first before 1965", 0),
        ("first by 1951", 0),
        ("first after 1971", 2),
        ("first since 1972", 2),
        ("first between 1972 and 1985", 2),
        ("first from 1971 to 1976", 2),
        ("first in 1975", 2),
        ("last before 1972", 1),
        ("last as of 1965", 1),
        ("last by 1961", 1),
        ("last until 1979", 2),
        ("last after 1955", 3),
        ("last since 1955", 3),
        ("last between 1955 and 1965", 1),
        ("last from 1940 to 1950", 0),
        ("last from 1950 to 1960", 1),
        ("last in 1960", 1),
    ],
)
def test_a_time_with_one_answer(words: str, place: int) -> None:
    assert [at for at in range(len(MILL)) if proved(at, words)] == [place]


@pytest.mark.parametrize(
    "words",
    [
        "in 1960",  # two had it in that year
        "in 1972",  # nobody
        "as of 1960",
        "as of 1975",  # of whose days it is not known
        "in 1975-06",
        "around 1961",
        "around 1972",
        "between 1959 and 1965",
        "between 1970 and 1974",
        "from 1959 to 1961",
        "until 1965",  # two had it up to then
        "before 1965",
        "by 1970",
        "after 1975",
        "since 1975",
        "first after 1955",  # the one of 1955 still had it: was he the first?
        "first since 1960",
        "first after 1995",
        "last before 1950",
        "last after 1985",  # nobody began then
        "last in 1965",
        "by 1950",  # for who reads it as "before 1950 began", nobody
        "until 1950",
        "last as of 1960",
        "last by 1960",
        "last until 1980",
        "first since 1975",
        "last since 1980",
        "first between 1971 and 1975",
    ],
)
def test_a_time_with_no_answer_or_several(words: str) -> None:
    assert not any(proved(at, words) for at in range(len(MILL)))


def test_equal_starts_have_no_first_and_no_last() -> None:
    twins = ("1950..1960", "1950..1970")
    assert not any(proved(at, f"{which} before 1955", twins) for at in (0, 1) for which in ("first", "last"))


def test_of_overlapping_facts_the_last_to_begin_is_not_the_last_to_hold() -> None:
    assert not any(proved(at, "last before 1980", ("1950..1985", "1960..1965")) for at in (0, 1))


def test_an_unknown_end_leaves_open_what_held_later() -> None:
    mill = ("1950..", "1960..1970")
    assert not proved(1, "in 1965", mill)
    assert proved(0, "in 1950", ("1950..",))
    assert not proved(0, "in 1951", ("1950..",))


def test_what_began_and_ended_in_one_year_is_no_neighbour() -> None:
    assert not proved(1, "last by 1960", ("1950..1960", "1960..1960"))
    assert not proved(0, "until 1960", ("1960..1960", "1960..1960"))


def test_of_facts_with_one_answer_the_one_that_is_asked_for_counts() -> None:
    one, two = held("1950..1960"), held("1965..1970")
    beside_one, beside_two = Others((), (two,)), Others((), (one,))
    assert is_proved(one, beside_one, asked("first before 1980"))
    assert not is_proved(two, beside_two, asked("first before 1980"))
    assert is_proved(two, beside_two, asked("last before 1980"))
    assert not is_proved(one, beside_one, asked("last before 1980"))
    assert is_proved(one, beside_one, asked("before 1980"))


def test_nobody_asks_for_the_first_as_of_a_date() -> None:
    assert ("as of", "first") not in RULES
    assert ("on", "last") not in RULES
    assert {relation for relation, implicit in RULES if implicit is None} == set(RELATIONS)


# --- constraints -----------------------------------------------------------------------------------------

dates = st.builds(
    lambda year, month, day: "-".join([f"{year:04d}", f"{month:02d}", f"{day:02d}"][: 1 + (day > 9) + (day > 4)]),
    st.integers(1000, 2999),
    st.integers(1, 12),
    st.integers(1, 28),
).map(parse_iso)


@given(st.sampled_from(sorted(RULES, key=str)), st.lists(dates, min_size=2, max_size=2))
def test_the_window_is_that_of_the_constraint(kind: tuple[str, Condition | None], pair: list[Interval]) -> None:
    relation, implicit = kind
    first, last = sorted(pair, key=lambda date: date.start)
    if relation in ("from to", "between") and first.end >= last.start:
        return
    when = AskedTime(relation, implicit, (first, last) if relation in ("from to", "between") else (first,))  # type: ignore[arg-type]
    window = when.constraint.window()
    assert (when.window.start, when.window.end) == (window.start, window.end)


# --- the proof against brute force -----------------------------------------------------------------------

EPOCH = datetime.date(1970, 1, 1).toordinal()
FAR = 40_000  # days; further than anything here


class Held(NamedTuple):
    """A fact of a world in which every day is known."""

    answer: str
    start: int
    end: int

    def on(self, first: int, last: int) -> bool:
        return self.start <= last and first <= self.end


def a_world(facts: list[Fact], chance: random.Random) -> list[Held]:
    """One of the worlds that what is known of some facts allows: every start and end on one day."""
    world = []
    for fact in facts:
        low, high = max(fact.span.begins.start, -FAR), min(fact.span.begins.end, FAR)
        start = chance.choice((low, high, chance.randint(low, high)))
        low, high = max(fact.span.ends.start, start), max(min(fact.span.ends.end, FAR), start)
        low = min(low, high)
        world.append(Held("|".join(fact.answers), start, chance.choice((low, high, chance.randint(low, high)))))
    return world


def days(date: Interval) -> tuple[int, int]:
    """The first and the last day of a date, by another calendar than that of the proof."""
    iso = date.start_iso or ""
    year, month, day = [*map(int, iso.split("-")), 0, 0][:3]
    first = datetime.date(year, month or 1, day or 1)
    last = first
    if not day:
        following = datetime.date(year + (not month), 1, 1) if not month else first + datetime.timedelta(days=31)
        last = following.replace(day=1) - datetime.timedelta(days=1)
    return first.toordinal() - EPOCH, last.toordinal() - EPOCH


def asked_days(when: AskedTime) -> tuple[int, int]:
    (a, b), (_, d) = days(when.dates[0]), days(when.dates[-1])
    if when.relation == "around":
        margin = {4: 366, 7: 31, 10: 7}[len(when.dates[0].start_iso or "")]
        return a - margin, b + margin
    if when.relation in ("before", "by", "until") or (when.relation == "as of" and when.implicit):
        return -FAR, a - 1 if when.relation == "before" else b
    if when.relation in ("after", "since"):
        return (b + 1 if when.relation == "after" else a), FAR
    return a, d


def check(fact: Held, world: list[Held], when: AskedTime, own: Span) -> None:
    """That a fact is the answer in a world, by looking at what held and what began."""
    low, high = asked_days(when)
    answers = {one.answer for one in world if one.on(low, high)}
    if when.implicit is not None:
        began = [one for one in world if low <= one.start <= high]
        edge = (min if when.implicit == "first" else max)(one.start for one in began)
        assert {one.answer for one in began if one.start == edge} == {fact.answer}
        assert fact.start == edge
        others_then = [one for one in world if one.answer != fact.answer and one.on(low, high)]
        if when.implicit == "first":
            assert all(max(one.start, low) > fact.start for one in others_then)
        else:
            assert all(one.start < fact.start and one.end <= fact.end for one in others_then)
    elif when.relation in ("from to", "until", "since"):
        assert fact.on(*days(when.dates[0])) and fact.on(*days(when.dates[-1]))
        inner = low if when.relation == "until" else max(low, own.begins.end + 1)
        outer = high if when.relation == "since" else min(high, own.ends.start - 1)
        if inner <= outer:  # the days but for those of the periods in which it began and ended
            assert {one.answer for one in world if one.on(inner, outer)} <= {fact.answer}
    else:
        assert answers == {fact.answer}
        if when.relation in ("as of", "on"):
            assert fact.start <= low and high <= fact.end


def some_date(chance: random.Random, low: int, high: int) -> Interval:
    year, precision = chance.randint(low, high), chance.choice((4, 4, 7, 10))
    return parse_iso(f"{year}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}"[:precision])


def a_timeline(chance: random.Random) -> list[Fact]:
    """Facts one behind the other, with gaps, overlaps, the same answers and unknown dates now and then."""
    facts: list[Fact] = []
    year = 1930
    for number in range(chance.randint(1, 6)):
        year = year + chance.choice((0, 0, 0, 1, 3, -2))
        start = some_date(chance, year, year)
        length = chance.choice((0, 1, 4, 9))
        end = some_date(chance, year + length, year + length)
        year += length
        if start.start > end.end:
            start, end = end, start
        unknown = chance.random()
        when = span(start, end)
        if unknown < 0.05:
            when = span(start, None)
        elif unknown < 0.1:
            when = span(None, end)
        elif unknown < 0.15:
            when = span(start, STILL_IS)
        facts.append(Fact(str(number), "mill", "Who owned the mill?", (chance.choice("ABCDE"),), when))
    return facts


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32))
def test_whatever_is_proved_holds_in_every_world(seed: int) -> None:
    chance = random.Random(seed)
    facts = a_timeline(chance)
    times = [proved_times(fact.span, others(fact, facts), Draw(seed, fact.id)) for fact in facts]
    for _ in range(12):
        world = a_world(facts, chance)
        for fact, one, found in zip(facts, world, times, strict=True):
            for when in found:
                check(one, world, when, fact.span)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_with_unknown_gaps_it_holds_whatever_was_in_them(seed: int) -> None:
    chance = random.Random(seed)
    facts = a_timeline(chance)
    empty = gaps(facts)
    times = [proved_times(fact.span, others(fact, facts, unknown=empty), Draw(seed, fact.id)) for fact in facts]
    for _ in range(12):
        known = a_world(facts, chance)
        hidden = []
        for gap in empty:
            first, last = max(gap.begins.start, -FAR), min(gap.begins.end, FAR)
            if first <= last and chance.random() < 0.7:
                start = chance.randint(first, last)
                hidden.append(Held("?", start, chance.randint(start, last)))
        for fact, one, found in zip(facts, known, times, strict=True):
            for when in found:
                check(one, known + hidden, when, fact.span)


def test_most_kinds_are_proved_of_some_fact() -> None:
    """The check above is not empty: a long timeline has a time of nearly every kind."""
    spans = [held(text) for text in ("1950..1958", "1960..1970", "1972..1980", "1980..1990")]
    kinds = {
        (when.relation, when.implicit)
        for at, one in enumerate(spans)
        for when in proved_times(one, Others(tuple(spans[:at] + spans[at + 1 :])), Draw(1, at))
    }
    assert kinds == set(RULES)
