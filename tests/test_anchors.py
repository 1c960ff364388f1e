"""Where a well-known period is the time of a question, with which relation, and where it is what is talked about."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.interval import parse_iso
from mrag.question import RELATIONS, Question, parse
from mrag.questions.anchors import NOT_BEHIND, NOT_WITH, OPERATORS, Rule, find
from mrag.timex import OPERATORS as DATE_OPERATORS

TODAY = parse_iso("2020-03-23")


def read(text: str) -> tuple[str, str | None, str | None]:
    """(main content, relation, interval as it prints)."""
    question = parse(text)
    found = question.constraint
    return question.main_content, found.relation if found else None, str(found.interval) if found else None


# --- relations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "relation", "interval"),
    [
        ("during the Second World War", "in", "1939-09-01..1945-09-02"),
        ("throughout World War II", "in", "1939-09-01..1945-09-02"),
        ("in the Victorian era", "in", "1837-06-20..1901-01-22"),
        ("before the fall of the Berlin Wall", "before", "..1989-11-09"),
        ("before World War II", "before", "..1939-09-01"),
        ("prior to the Second World War", "before", "..1939-09-01"),
        ("on the eve of the First World War", "before", "..1914-07-28"),
        ("after World War II", "after", "1945-09-02.."),
        ("following World War II", "after", "1945-09-02.."),
        ("in the aftermath of WWII", "after", "1945-09-02.."),
        ("since 9/11", "since", "2001-09-11.."),
        ("until the Cold War", "until", "..1947"),
        ("by the end of the Cold War", "by", "..1991"),
        ("by the time of the Korean War", "by", "..1953-07-27"),
        ("at the outbreak of the First World War", "on", "1914-07-28"),
        ("at the end of the Cold War", "in", "1991"),
        ("at the time of the moon landing", "on", "1969-07-20"),
        ("at the time of the Korean War", "in", "1950-06-25..1953-07-27"),
        ("around the time of the Norman Conquest", "around", "1066"),
        ("after the start of the Korean War", "after", "1950-06-25.."),
        ("before the end of the Korean War", "before", "..1953-07-27"),
        ("since the end of the Korean War", "since", "1953-07-27.."),
        ("when World War II broke out", "on", "1939-09-01"),
        ("when the Berlin Wall fell", "on", "1989-11-09"),
        ("after the Korean War ended", "after", "1953-07-27.."),
        ("between the world wars", "between", "1918-11-11..1939-09-01"),
        ("between the wars", "between", "1918-11-11..1939-09-01"),
        ("between World War I and World War II", "between", "1918-11-11..1939-09-01"),
        ("between D-Day and VE Day", "between", "1944-06-06..1945-05-08"),
        ("from the Meiji Restoration to the First World War", "from to", "1868-01-03..1918-11-11"),
        ("after the Korean War but before the Vietnam War", "between", "1953-07-27..1955-11-01"),
        ("on D-Day", "on", "1944-06-06"),
        ("under the Ming dynasty", "in", "1368..1644"),
        ("since the Reiwa era", "since", "2019-05-01.."),
    ],
)
def test_a_period_behind_a_word_of_time_is_read_as_a_date_is(phrase: str, relation: str, interval: str) -> None:
    expected = ("Who led the guild in Ulm?", relation, interval)
    assert read(f"Who led the guild in Ulm {phrase}?") == expected
    assert read(f"{phrase[0].upper()}{phrase[1:]}, who led the guild in Ulm?") == expected
    assert read(f"Who, {phrase}, led the guild in Ulm?") == expected


def test_only_before_and_after_exclude_their_bound() -> None:
    found = parse("Who led the guild in Ulm before the fall of the Berlin Wall?").constraint
    assert found is not None
    assert (found.end_included, str(found.window())) == (False, "..1989-11-08")


def test_since_a_war_is_since_its_end_and_until_one_is_until_its_start() -> None:
    assert read("Who has led Ulm since World War II?")[2] == "1945-09-02.."
    assert read("Who led Ulm until World War II?")[2] == "..1939-09-01"
    assert read("Who has led Ulm since the Victorian era?")[2] == "1837-06-20.."


@pytest.mark.parametrize(
    "text",
    ["who led the guild in ulm during world war 2", "WHO LED THE GUILD IN ULM DURING WORLD WAR II?"],
)
def test_capitals_do_not_matter(text: str) -> None:
    assert read(text)[1:] == ("in", "1939-09-01..1945-09-02")


def test_words_that_belong_to_the_time_go_with_it() -> None:
    assert read("Who led the guild shortly before the Second World War?")[0] == "Who led the guild?"


def test_first_and_last_are_read_beside_a_period() -> None:
    found = parse("Who was the first mayor of Ulm after the Second World War?")
    assert found.main_content == "Who was the mayor of Ulm?"
    assert found.constraint is not None
    assert (found.constraint.relation, found.constraint.implicit) == ("after", "first")


# --- terms of office -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "relation", "interval"),
    [
        ("when Obama was president", "in", "2009-01-20..2017-01-20"),
        ("when Obama was US president", "in", "2009-01-20..2017-01-20"),
        ("while Obama was the president of the United States", "in", "2009-01-20..2017-01-20"),
        ("when Barack Obama was in office", "in", "2009-01-20..2017-01-20"),
        ("under Thatcher", "in", "1979-05-04..1990-11-28"),
        ("under President Obama", "in", "2009-01-20..2017-01-20"),
        ("under the leadership of Stalin", "in", "1924-01-21..1953-03-05"),
        ("during Obama's presidency", "in", "2009-01-20..2017-01-20"),
        ("during the Obama administration", "in", "2009-01-20..2017-01-20"),
        ("during the presidency of Jimmy Carter", "in", "1977-01-20..1981-01-20"),
        ("in the reign of Henry VIII", "in", "1509-04-22..1547-01-28"),
        ("in the time of Queen Victoria", "in", "1837-06-20..1901-01-22"),
        ("in the Thatcher years", "in", "1979-05-04..1990-11-28"),
        ("at the end of Obama's presidency", "on", "2017-01-20"),
        ("before Obama became president", "before", "..2009-01-20"),
        ("since Merkel took office", "since", "2005-11-22.."),
        ("after Thatcher left office", "after", "1990-11-28.."),
        ("when Queen Victoria was on the throne", "in", "1837-06-20..1901-01-22"),
    ],
)
def test_a_term_of_office_is_a_time(phrase: str, relation: str, interval: str) -> None:
    assert read(f"Who led the guild in Ulm {phrase}?") == ("Who led the guild in Ulm?", relation, interval)


@pytest.mark.parametrize(
    "text",
    [
        "Who led the Senate when Obama was a senator?",
        "Who taught law when Obama was president of the Law Review?",
        "Who led the mill in Ulm under Carter?",
        "Who led the Senate when Carter took office?",
        "Who served in the Obama administration?",
        "Who led Ulm when Thatcher was chancellor?",
        "Who was president before Obama?",
        "Who led Ulm under President Bush?",
    ],
)
def test_another_office_or_an_unclear_name_is_no_time(text: str) -> None:
    assert parse(text) == Question(text, text, None)


# --- what is talked about -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Who started the Second World War?",
        "Who won the Battle of Waterloo?",
        "When did World War II end?",
        "Who planned the attack on Pearl Harbor?",
        "Which films about the Vietnam War won a prize?",
        "Who designed the Second World War memorial in Ulm?",
        "Who moved before the Second World War memorial was built?",
        "Who toured the World War II-era depot?",
        "Who ran Ulm after World War II's end?",
        "Who wrote 'Before the Fall of Rome'?",
        'Who wrote "During the Cold War"?',
        "Who sang Before the Fall of Rome?",
        "What happened after the fall of the Berlin Wall?",
        "What happened after the fish market opened?",
        "Who was mayor during the Civil War?",
        "Who owned the mill during reconstruction?",
        "Who was the leader in the Weimar Republic?",
        "Which ships were built during World War II and the Cold War?",
        "Which ships were built during the Blitz, the Cold War and later?",
        "Who led the guild except during the Second World War?",
        "If Ida had led the guild before the Cold War, who would have won?",
        "Who was following the moon landing?",
        "Who was pope before Leo X?",
    ],
)
def test_a_period_that_is_no_time_stays_what_it_is(text: str) -> None:
    assert parse(text) == Question(text, text, None)


@pytest.mark.parametrize("rule", NOT_BEHIND + NOT_WITH, ids=lambda rule: rule.example)
def test_each_rule_of_what_is_no_time_holds_for_its_example(rule: Rule) -> None:
    assert parse(rule.example) == Question(rule.example, rule.example, None)


@pytest.mark.parametrize(
    "text", ["Who ruled during the Ming dynasty?", "who was vice president when obama was president"]
)
def test_words_that_say_where_as_well_stay_where_nothing_else_says_it(text: str) -> None:
    question = parse(text)
    assert question.main_content == text
    assert question.constraint is not None
    assert question.constraint.relation == "in"


def test_a_date_goes_before_a_period() -> None:
    assert read("Who was mayor of Ulm in 1950, before the Korean War?") == (
        "Who was mayor of Ulm, before the Korean War?",
        "in",
        "1950",
    )


def test_the_day_in_the_name_of_an_event_is_no_day_of_this_year() -> None:
    found = parse("Who was mayor of Ulm after the September 11 attacks?", reference=TODAY).constraint
    assert found is not None
    assert str(found.interval) == "2001-09-11.."
    found = parse("Who was mayor of Ulm after September 11?", reference=TODAY).constraint
    assert found is not None
    assert str(found.interval) == "2020-09-11.."


def test_a_period_goes_before_the_present() -> None:
    found = parse("Who is the mayor of Ulm since Brexit?", reference=TODAY, assume_present=True).constraint
    assert found is not None
    assert found.relation == "since"


# --- any input -------------------------------------------------------------------------------------------


def test_words_of_time_say_what_dates_know_as_well() -> None:
    assert set(OPERATORS.values()) - {"during", "under", "when", "at"} <= set(RELATIONS)
    assert all(DATE_OPERATORS.get(words, said) in (said, "in", "on") for words, said in OPERATORS.items())


_WORDS = st.sampled_from(
    "who what when did the Ulm guild won led in on by from until before after since as of between and but was "
    "under during end start time president prime minister Obama Thatcher World War II I Second Cold Berlin Wall fall "
    "fell Victorian era reign Henry VIII Queen Victoria 9/11 D-Day wars Ming dynasty 's 1990 , . ? ( ) \" '".split(" ")
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_WORDS, max_size=25).map(" ".join))
def test_any_words_give_sensible_spans_in_order(text: str) -> None:
    behind = 0
    for anchor in find(text):
        start, end = anchor.timex.span
        assert behind <= start < anchor.timex.core[0] < end <= len(text)
        assert text[end - 1 : end].strip()
        behind = end
    parse(text)


@pytest.mark.usefixtures("linear_time")
@pytest.mark.parametrize(
    "piece",
    ["during the ", "during World War II ", "in the Victorian era, ", "when Obama was ", "under ", "between the wars ",
     "at the end of the ", "after the fall of the Berlin Wall and ", "president ", "set in a "],
)  # fmt: skip
def test_long_input_takes_linear_time(piece: str) -> None:
    parse(piece * (100_000 // len(piece)) + " Who led Ulm before the Korean War?")
