"""Each rule finds its own example, and nothing else claims it."""

from __future__ import annotations

import pytest

from mrag.dates.rules import BY_NUMBER, BY_WORD, NO_DATES, REFERENCE, RELATIVE, Rule, translated
from mrag.dates.scanning import find
from mrag.dates.tokens import Tokens
from mrag.interval import parse_iso
from mrag.timex import find_dates

DATES = BY_NUMBER + BY_WORD + RELATIVE


def name(rule: Rule) -> str:
    return rule.name


@pytest.mark.parametrize("rule", DATES, ids=name)
def test_a_rule_reads_its_example(rule: Rule) -> None:
    reference = parse_iso(REFERENCE) if rule.relative else None
    year = "1969" if rule.name == "month day" else ""
    found = [mention for mention in find_dates(rule.example, reference=reference) if str(mention.interval) != year]
    assert [(mention.interval.start_iso, mention.interval.end_iso) for mention in found] == [(rule.start, rule.end)]


@pytest.mark.parametrize("rule", DATES, ids=name)
def test_a_rule_is_the_one_that_matches_its_example(rule: Rule) -> None:
    reference = parse_iso(REFERENCE) if rule.relative else None
    assert rule.name in [date.rule.name for date in find(Tokens(rule.example), reference)]


@pytest.mark.parametrize("rule", NO_DATES, ids=name)
def test_what_is_no_date_gives_none(rule: Rule) -> None:
    found = [(mention.interval.start_iso, mention.interval.end_iso) for mention in find_dates(rule.example)]
    assert found == ([(rule.start, rule.end)] if rule.start else [])


@pytest.mark.parametrize("rule", RELATIVE, ids=name)
def test_relative_dates_need_a_reference(rule: Rule) -> None:
    assert find_dates(rule.example) == []


def test_names_of_rules_differ() -> None:
    names = [rule.name for rule in NO_DATES + DATES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("rule", NO_DATES + DATES, ids=name)
def test_a_pattern_has_no_unbounded_quantifier(rule: Rule) -> None:
    assert "*" not in rule.pattern
    assert "+" not in rule.pattern


def test_a_pattern_is_written_in_class_names() -> None:
    assert len(translated("DAY")) == 1
    assert translated("d=DAY").startswith("(?P<d>")
    assert translated("d=DAY", named=False) == translated("DAY")
