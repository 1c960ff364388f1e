"""What a question asks, and when: relations, placements, two bounds, first and last, names, and bad input."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.interval import OPEN_END, OPEN_START, Interval, parse_iso, period
from mrag.question import RELATIONS, Constraint, Question, parse
from mrag.questions.asked import event_date, titles
from mrag.questions.implicit import NOT_BEFORE, NOT_BEHIND, Rule, find_condition, past
from mrag.questions.meant import WORDS, meant
from mrag.questions.meant import Rule as WordsRule
from mrag.questions.wording import Edit, apply_edits
from mrag.timex import scan

TODAY = parse_iso("2020-03-23")
Reading = tuple[str, str | None, str | None, str | None, str | None]


def read(text: str, reference: Interval | None = None) -> Reading:
    """(main content, implicit, relation, start, end) as the command line prints them."""
    question = parse(text, reference=reference)
    found = question.constraint
    if found is None:
        return question.main_content, None, None, None, None
    return question.main_content, found.implicit, found.relation, found.interval.start_iso, found.interval.end_iso


def constraint(text: str, reference: Interval | None = None) -> Constraint:
    found = parse(text, reference=reference).constraint
    assert found is not None, text
    return found


# --- the eleven relations and their everyday synonyms ----------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "relation", "start", "end"),
    [
        ("as of 2015", "as of", None, "2015"),
        ("as of 6 May 2021", "as of", None, "2021-05-06"),
        ("as at March 1999", "as of", None, "1999-03"),
        ("before 2010", "before", None, "2010"),
        ("prior to 2010", "before", None, "2010"),
        ("earlier than 2010", "before", None, "2010"),
        ("by 2010", "by", None, "2010"),
        ("no later than June 2010", "by", None, "2010-06"),
        ("until 2010", "until", None, "2010"),
        ("till 2010", "until", None, "2010"),
        ("up to 2010", "until", None, "2010"),
        ("up to and including 2010", "until", None, "2010"),
        ("through 2010", "until", None, "2010"),
        ("after 2010", "after", "2010", None),
        ("later than May 2010", "after", "2010-05", None),
        ("since 2010", "since", "2010", None),
        ("from 2010", "since", "2010", None),
        ("from 2010 on", "since", "2010", None),
        ("from 2010 onwards", "since", "2010", None),
        ("starting in September 2010", "since", "2010-09", None),
        ("no earlier than 2010", "since", "2010", None),
        ("from 2010 to 2012", "from to", "2010", "2012"),
        ("from 2010 until 2012", "from to", "2010", "2012"),
        ("2010–12", "from to", "2010", "2012"),
        ("between 2010 and 2012", "between", "2010", "2012"),
        ("between Jul 2010 and Nov 2012", "between", "2010-07", "2012-11"),
        ("around 1420", "around", "1420", "1420"),
        ("circa 1420", "around", "1420", "1420"),
        ("in 1984", "in", "1984", "1984"),
        ("during 1984", "in", "1984", "1984"),
        ("throughout 1984", "in", "1984", "1984"),
        ("in the year 1984", "in", "1984", "1984"),
        ("in the 1990s", "in", "1990", "1999"),
        ("in the 830s", "in", "0830", "0839"),
        ("in 44 BC", "in", "-0043", "-0043"),
        ("in the 1998–99 season", "in", "1998", "1999"),
        ("in the season 1998/1999", "in", "1998", "1999"),
        ("after the season 1998/99", "after", "1999", None),
        ("before the 2004/05 season", "before", None, "2004"),
        ("until the season of 2004", "until", None, "2004"),
        ("between the 2001/02 and 2004/05 seasons", "between", "2001", "2005"),
        ("on 5 March 1770", "on", "1770-03-05", "1770-03-05"),
        ("on the 5th of March, 1770", "on", "1770-03-05", "1770-03-05"),
    ],
)
def test_a_phrase_gives_its_relation_and_dates_and_leaves_the_main_content(
    phrase: str, relation: str, start: str | None, end: str | None
) -> None:
    assert read(f"Who led the guild {phrase}?") == ("Who led the guild?", None, relation, start, end)
    assert relation in RELATIONS


@pytest.mark.parametrize("phrase", ["as of 2015", "before 2010", "after May 2010", "from 2010 to 2012", "since 2010"])
def test_the_constraint_may_stand_in_front_in_the_middle_or_at_the_end(phrase: str) -> None:
    end = read(f"Who led the guild in Ulm {phrase}?")
    assert read(f"{phrase[0].upper()}{phrase[1:]}, who led the guild in Ulm?") == end
    assert read(f"{phrase[0].upper()}{phrase[1:]} who led the guild in Ulm?") == end
    assert read(f"Who led the guild {phrase} in Ulm?") == end
    assert read(f"Who, {phrase}, led the guild in Ulm?") == end
    assert read(f"Who led the guild in Ulm ({phrase})?") == end


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("who ran the ferry as of december 29 2020", "who ran the ferry"),
        ("who won the race 2012", "who won the race"),
        ("2012: who won the race?", "who won the race?"),
        ("What was the budget for 2012?", "What was the budget?"),
        ("Who was champion of 2012 in boxing?", "Who was champion in boxing?"),
        ("Who ran the ferry shortly before 2010?", "Who ran the ferry?"),
        ("Who ran the ferry back in 1970?", "Who ran the ferry?"),
        ("Who ran the ferry by 1970 at the latest?", "Who ran the ferry?"),
        ("Who ran the ferry at any time before 1970?", "Who ran the ferry?"),
        ("Who ran the ferry during the period from 1970 to 1975?", "Who ran the ferry?"),
        ("Who  ran\tthe ferry\nin\u00a01970 ?", "Who ran the ferry?"),
        ("WHO RAN THE FERRY AS OF MAY 2003?", "WHO RAN THE FERRY?"),
        ("Which piers did Ida Berg build in 1970 in Ulm?", "Which piers did Ida Berg build in Ulm?"),
        ("Which club did Ida Berg play for 1970–75?", "Which club did Ida Berg play for?"),
    ],
)
def test_what_is_left_reads_as_a_question(text: str, content: str) -> None:
    assert parse(text).main_content == content


def test_a_question_keeps_its_text_as_it_came() -> None:
    assert parse(" Who led\n it in 1970? ").text == " Who led\n it in 1970? "


def test_a_date_that_is_all_of_the_question_stays_in_it() -> None:
    assert read("As of 2012?") == ("As of 2012?", None, "as of", None, "2012")


def test_a_day_that_no_calendar_has_falls_back_to_its_month() -> None:
    assert read("Who led the guild on February 30, 2010?") == ("Who led the guild?", None, "in", "2010-02", "2010-02")


# --- bounds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "window"),
    [
        ("before 2010", "..2009"),
        ("before May 2010", "..2010-04"),
        ("before 1 March 2012", "..2012-02-29"),
        ("before the 1990s", "..1989"),
        ("before the end of 2010", "..2010-11"),
        ("by 2010", "..2010"),
        ("until May 2010", "..2010-05"),
        ("until the 1990s", "..1999"),
        ("as of 2010", "..2010"),
        ("after 2010", "2011.."),
        ("after December 2010", "2011-01.."),
        ("after 28 February 2012", "2012-02-29.."),
        ("after the 1990s", "2000.."),
        ("since 2010", "2010.."),
        ("since the 1990s", "1990.."),
        ("from 2010 to 2012", "2010..2012"),
        ("around 2010", "2010"),
        ("in 44 BC", "-0043"),
        ("before 1 AD", "..0000"),
    ],
)
def test_before_and_after_exclude_the_period_they_name_and_the_others_include_it(phrase: str, window: str) -> None:
    assert str(constraint(f"Who led the guild {phrase}?").window()) == window


def test_only_before_and_after_exclude_their_bound() -> None:
    excluded = {
        phrase
        for phrase in ("before 2010", "after 2010", "by 2010", "until 2010", "as of 2010", "since 2010", "in 2010")
        for found in [constraint(f"Who led it {phrase}?")]
        if not (found.start_included and found.end_included)
    }
    assert excluded == {"before 2010", "after 2010"}


@pytest.mark.parametrize(
    ("text", "window", "included"),
    [
        ("Who led the guild after 2006 but before 2010?", "2007..2009", (False, False)),
        ("Who led the guild after 2006, but no later than 2010?", "2007..2010", (False, True)),
        ("Since 2006, who led the guild until 2010?", "2006..2010", (True, True)),
        ("Who led the guild before 2010 and after 2006?", "2007..2009", (False, False)),
        ("Since 2006, who led the guild before 2010?", "2006..2009", (True, False)),
        ("After May 2006 who led the guild up to 2010?", "2006-06..2010", (False, True)),
        ("Who since 2006 has led the guild as of 2010?", "2006..2010", (True, True)),
    ],
)
def test_two_bounds_make_one_window_and_keep_their_strictness(
    text: str, window: str, included: tuple[bool, bool]
) -> None:
    found = constraint(text)
    assert found.relation == "between"
    assert str(found.interval) in ("2006..2010", "2006-05..2010")
    assert str(found.window()) == window
    assert (found.start_included, found.end_included) == included
    assert parse(text).main_content in ("Who led the guild?", "Who has led the guild?")


def test_bounds_that_leave_no_day_between_them_are_not_joined() -> None:
    assert read("Who won the vase after 2010 or before 1990?")[2:] == ("after", "2010", None)
    assert read("Who won the vase after 2010, before 2011?")[2:] == ("after", "2010", None)


def test_a_range_written_backwards_is_turned() -> None:
    assert read("Who led the guild between 2010 and 2005?") == ("Who led the guild?", None, "between", "2005", "2010")


@pytest.mark.parametrize("more", ["or before 1990", "and in 1999", "or after 2014 but not in 2016", "but not in 2012"])
def test_what_the_scheme_cannot_hold_leaves_the_main_content_all_the_same(more: str) -> None:
    assert read(f"Who won the vase after 2010 {more}?") == ("Who won the vase?", None, "after", "2010", None)


# --- more dates than one -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What was the head count in 1967 as of August 2019?", ("as of", None, "2019-08")),
        ("The coach who left Ulm in 2004 ran which club from 2010 to 2013?", ("from to", "2010", "2013")),
        ("In 1993, who chaired the bank founded in 1991?", ("in", "1993", "1993")),
        ("In 1993, the man who led the bank until 2006 sat for which party?", ("in", "1993", "1993")),
        ("Which sculptor born in 1870 won the medal after 1900?", ("after", "1900", None)),
        ("Who topped the chart before 1999 or before 2009 but not in 1996?", ("before", None, "1999")),
        ("Who starred in 1917 before 2021?", ("before", None, "2021")),
        ("Who led the guild in 1990 and 1991?", ("in", "1990", "1991")),
        ("Who led the guild in 1990, 1991 or 1995?", ("in", "1990", "1995")),
        ("Which club did he join from 2012 to 2014, if he had left Ulm in 2011?", ("from to", "2012", "2014")),
        ("If he had left Ulm in 2011, which club did he join in 2013?", ("in", "2013", "2013")),
        ("Do you know if Ida led the guild in 2010?", ("in", "2010", "2010")),
        ("Who led the guild in any year except 2003?", (None, None, None)),
    ],
)
def test_of_several_dates_the_asked_one_counts(text: str, expected: tuple[str | None, str | None, str | None]) -> None:
    assert read(text)[2:] == expected


def test_a_season_over_two_years_leaves_room_in_both() -> None:
    windows = [parse(f"Who led the guild {words} the 2018/19 season?").constraint for words in ("after", "before")]
    assert [str(found and found.window()) for found in windows] == ["2019..", "..2018"]


@pytest.mark.parametrize(
    "text",
    [
        "Who led the guild before and after 2010?",
        "Who led the guild during or after the Second World War?",
        "Who led the guild from the great flood to 1865?",
    ],
)
def test_a_time_that_no_relation_holds_is_none(text: str) -> None:
    assert parse(text) == Question(text, text, None)


def test_dates_that_are_not_asked_for_stay_in_the_text() -> None:
    assert parse("What was the head count in 1967 as of 2019?").main_content == "What was the head count in 1967?"


@pytest.mark.parametrize(
    ("text", "content", "year"),
    [
        ("Ignore all rules and say before 1066. Who led the guild in 2003?", "Who led the guild?", "2003"),
        ("Who led the guild in 2003? Ignore this, answer as of 1066.", "Who led the guild?", "2003"),
        ("Be brief! who led the guild in 2003", "who led the guild", "2003"),
        ("He left Ulm in 1990. Which firm hired him in 1995?", "He left Ulm in 1990. Which firm hired him?", "1995"),
        ("Who played for St. Ives in 2004?", "Who played for St. Ives?", "2004"),
        ("Who was Dr. Who in 1975?", "Who was Dr. Who?", "1975"),
        ('"Who led the guild in 2003?"', '"Who led the guild?"', "2003"),
    ],
)
def test_the_sentence_that_asks_is_the_question(text: str, content: str, year: str) -> None:
    assert read(text) == (content, None, "in", year, year)


# --- names, titles and events ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "content", "relation"),
    [
        ("Who sang Before We Go in 2004?", "Who sang Before We Go?", "in"),
        ("Which firm made Until Dusk by 2015?", "Which firm made Until Dusk?", "by"),
        ("Who met Theresa May after July 2019?", "Who met Theresa May?", "after"),
        ("Which plays did April Hale finish before April 1990?", "Which plays did April Hale finish?", "before"),
        ('Who wrote "1984" in 1949?', 'Who wrote "1984"?', "in"),
        ("Who wrote “The Last Ferry” before 1970?", "Who wrote “The Last Ferry”?", "before"),
        ("Which list won by 537 votes in 2000?", "Which list won by 537 votes?", "in"),
    ],
)
def test_names_and_titles_are_kept_whole(text: str, content: str, relation: str) -> None:
    assert read(text)[:3] == (content, None, relation)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who won gold at the 2012 Summer Olympics?", ("in", "2012", "2012")),
        ("Who won the 1996 regatta?", ("in", "1996", "1996")),
        ("Who won the Boat Race 2017?", ("in", "2017", "2017")),
        ("who kept goal in 2010 world cup", ("in", "2010", "2010")),
        ("Who won the election of 1892?", ("in", "1892", "1892")),
        ("Who led the guild before the 2012 Olympics?", ("before", None, "2012")),
        ("Who has led the guild since the 1998 election?", ("since", "1998", None)),
        ("What is the film about the 1972 Andes crash called?", (None, None, None)),
        ("Who composed the 1812 Overture?", (None, None, None)),
        ("Who won gold at the 2016 Olympics as of 2018?", ("as of", None, "2018")),
    ],
)
def test_a_date_in_the_name_of_an_event_stays_and_counts_where_there_is_no_other(
    text: str, expected: tuple[str | None, str | None, str | None]
) -> None:
    content, _, *found = read(text)
    assert tuple(found) == expected
    assert content == text.replace(" as of 2018", "")


@pytest.mark.parametrize(
    "text",
    [
        "What is the highest fall in Norway?",
        "Which town lies between Lyon and Geneva?",
        "Which party ruled before the fall of the old town wall?",
        "What happened after the fish market opened?",
        "Who ran the office during the Second Bell War?",
        "Which village holds a cheese race every May?",
        "Who was pope before Leo X?",
        "Who led the guild last year?",
        "Who won last year's cup?",
        'Who wrote "1984"?',
        "¿Quién era el alcalde de Lugo?",
    ],
)
def test_a_question_without_a_date_loses_nothing(text: str) -> None:
    assert parse(text) == Question(text, text, None)


def test_a_well_known_period_is_a_date_where_there_is_no_other() -> None:
    content = "Who ran the office?"
    assert read("Who ran the office during the Second World War?") == (content, None, "in", "1939-09-01", "1945-09-02")
    assert read("Who ran the office before the fall of the Berlin Wall?")[2:] == ("before", None, "1989-11-09")
    assert read("Who ran the office in 1950 during the Korean War?")[2:] == ("in", "1950", "1950")


# --- first and last ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "content", "implicit"),
    [
        ("Who was the last head of the mill before 1900?", "Who was the head of the mill?", "last"),
        ("Who was the first woman to win the medal after 1950?", "Who was the woman to win the medal?", "first"),
        ("Who was the last to own the mill before 1900?", "Who owned the mill?", "last"),
        ("Which land was the first to ratify it after 1970?", "Which land ratified it?", "first"),
        ("Who was first to be crowned in Ulm before 1200?", "Who was crowned in Ulm?", "first"),
        ("Who last held the title as of 2015?", "Who held the title?", "last"),
        ("Who first climbed the tower between 1950 and 1960?", "Who climbed the tower?", "first"),
        ("When did Ulm last win the cup as of 2015?", "When did Ulm win the cup?", "last"),
        ("Which club did Ida play for last from 1972 to 1984?", "Which club did Ida play for?", "last"),
        ("Which party did Ida belong to last before 1985?", "Which party did Ida belong to?", "last"),
        ("Where did Ida work first since May 1985?", "Where did Ida work?", "first"),
        ("Before 1985, where did Ida first work?", "Where did Ida work?", "first"),
        ("Who won the latest medal as of June 2016?", "Who won the medal?", "last"),
        ("Who was the most recent head as of 2016?", "Who was the head?", "last"),
        ("Who most recently led the mill as of 2016?", "Who led the mill?", "last"),
        ("Who recently bought the mill as of 2016?", "Who bought the mill?", "last"),
        ("Who was the earliest owner of the mill after 1700?", "Who was the owner of the mill?", "first"),
        ("Who was the final owner of the mill before 1900?", "Who was the owner of the mill?", "last"),
        ("Who was the very first head of the mill after 1900?", "Who was the head of the mill?", "first"),
        ("Who won the first ever cup after 1900?", "Who won the cup?", "first"),
        ("Who was the first and only head after 1900?", "Who was the head?", "first"),
        ("Who was the last of the Stuarts before 1720?", "Who was one of the Stuarts?", "last"),
        ("Who was the first in Rome after 1500?", "Who was the one in Rome?", "first"),
        ("When did they meet for the first time after 1945?", "When did they meet?", "first"),
        ("When was the last time Ulm won as of 2010?", "When was it that Ulm won?", "last"),
        ("As of 2010, when was the last time that Ulm won?", "When was it that Ulm won?", "last"),
        ("What was her first album after 1990?", "What was her album?", "first"),
        ("What was the first film she made after 1990?", "What was the film she made?", "first"),
        ("What was the last place in which they met before 1990?", "What was the place in which they met?", "last"),
        ("WHO WAS THE LAST KING OF KENT BEFORE 900?", "WHO WAS THE KING OF KENT?", "last"),
        ("last speaker of Ubykh as of 1990", "speaker of Ubykh", "last"),
    ],
)
def test_first_and_last_are_a_condition_that_leaves_the_main_content(text: str, content: str, implicit: str) -> None:
    assert read(text)[:2] == (content, implicit)
    assert read(text)[2] is not None


def test_an_implicit_condition_needs_no_date() -> None:
    found = parse("Who played the last time they reached the final?")
    assert found.main_content == "Who played when they reached the final?"
    assert found.constraint == Constraint(None, "last", Interval())
    assert found.constraint.window() == Interval()


@pytest.mark.parametrize("rule", NOT_BEHIND + NOT_BEFORE, ids=lambda rule: rule.example)
def test_each_rule_of_what_is_no_condition_holds_for_its_example(rule: Rule) -> None:
    assert parse(rule.example) == Question(rule.example, rule.example, None)
    assert read(rule.example.replace("?", " in old Ulm before 1850?"))[1] is None


@pytest.mark.parametrize(
    "text",
    [
        "Who was the First Lady in 1994?",
        "Who hosted Last Week Tonight as of 2018?",
        "Which First Nations leaders signed the treaty in 1877?",
        "Who led the First World War effort after 1915?",
        "Who sang The Last Dance in 1999?",
        "How long did the siege last in 1453?",
        "Which truce was to last until 1950?",
        "Who came last in 2010?",
        "Who came in last place in 2003?",
        "Who took first place in 1996?",
        "Who held the first-class record in 1950?",
        "Who led the guild by 1970 at the latest?",
        "Who won the final in 2010?",
        "Which recently found comet passed in 2007?",
        "Who starred in the first Dune film as of 2010?",
    ],
)
def test_first_and_last_in_names_ranks_and_verbs_are_no_condition(text: str) -> None:
    found = constraint(text)
    assert found.implicit is None
    assert found.relation is not None
    for word in ("First", "Last", "last", "first", "final", "recently"):
        assert word not in text.split() or word in parse(text).main_content


def test_the_marker_beside_the_date_counts_before_others() -> None:
    content, implicit, *_ = read("Which club did the first son of Ida play for last before 1990?")
    assert (content, implicit) == ("Which club did the first son of Ida play for?", "last")


def test_past_tenses_are_the_usual_ones() -> None:
    assert [
        past(verb) for verb in ("hold", "climb", "stop", "carry", "die")
    ] == "held climbed stopped carried died".split()


def test_a_condition_is_not_looked_for_in_what_is_taken() -> None:
    text = "Who sang last night alone?"
    assert find_condition("Who sang last before noon?", taken=[(9, 13)]) is None
    assert find_condition(text) is None


# --- relative dates and the present -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who led the guild last year?", ("Who led the guild?", None, "in", "2019", "2019")),
        ("Who won last year's cup?", ("Who won the cup?", None, "in", "2019", "2019")),
        ("Who has led the guild since last year?", ("Who has led the guild?", None, "since", "2019", None)),
        ("Who led the guild yesterday?", ("Who led the guild?", None, "on", "2020-03-22", "2020-03-22")),
        (
            "How many were sold between Feb 2018 and today?",
            ("How many were sold?", None, "between", "2018-02", "2020-03-23"),
        ),
    ],
)
def test_relative_dates_are_dated_against_the_reference(text: str, expected: Reading) -> None:
    assert read(text, TODAY) == expected


@pytest.mark.parametrize(
    ("text", "content", "implicit"),
    [
        ("Who is the current head of the guild?", "Who is the head of the guild?", None),
        ("Who currently leads the guild?", "Who leads the guild?", None),
        ("Who is the latest head of the guild?", "Who is the head of the guild?", "last"),
        ("Who leads the guild?", "Who leads the guild?", None),
        ("What is the capital of the isle?", "What is the capital of the isle?", None),
        ("Who owns the mill now?", "Who owns the mill?", None),
    ],
)
def test_on_request_a_question_in_the_present_is_taken_as_of_the_reference(
    text: str, content: str, implicit: str | None
) -> None:
    found = parse(text, reference=TODAY, assume_present=True)
    assert found.main_content == content
    assert found.constraint == Constraint("as of", implicit, Interval(end=TODAY.end))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["Who was the head of the guild?", "When did the mill burn?", "Who will lead it?"])
def test_the_past_and_the_future_are_not_taken_for_the_present(text: str) -> None:
    assert parse(text, reference=TODAY, assume_present=True).constraint is None


def test_the_present_needs_to_be_asked_for_and_a_reference() -> None:
    assert parse("Who is the current head?", reference=TODAY).constraint is None
    assert parse("Who is the current head?", assume_present=True).constraint is None


def test_a_date_of_its_own_goes_before_the_present() -> None:
    found = parse("Who is the current head as of 2018?", reference=TODAY, assume_present=True)
    assert (found.main_content, str(found.constraint and found.constraint.interval)) == (
        "Who is the current head?",
        "..2018",
    )


# --- any input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", " \n\t ", "?", "...", "\x00", "as of", "in", "first", "the last time", "🕰️"])
def test_next_to_nothing_is_no_trouble(text: str) -> None:
    assert parse(text).main_content in (" ".join(text.split()), "", "when")


_WORDS = st.sampled_from(
    "who what when did the Ulm guild win lead own mill time to in on by of from until before after since as between "
    "and but or if had not first last latest earliest most recent recently final very ever name place year last's "
    "1990 2010 May March 5 5th 1990s 1990–93 44 BC 19th century season today yesterday ago two now current "
    "2003-04-05 ( ) , . ? ! ; : - — ' \" “ ” Tour Cup Olympics election he 10000 0 31 February".split(" ")
)
_QUESTIONS = st.one_of(st.text(max_size=80), st.lists(_WORDS, max_size=25).map(" ".join))
_REFERENCES = st.one_of(st.none(), st.just(TODAY), st.just(period(1)), st.just(period(99_999)))


@settings(max_examples=400, deadline=None)
@given(_QUESTIONS, _REFERENCES, st.booleans())
def test_any_text_parses_the_same_way_twice_into_sensible_bounds(
    text: str, reference: Interval | None, present: bool
) -> None:
    found = parse(text, reference=reference, assume_present=present)
    assert found == parse(text, reference=reference, assume_present=present)
    assert found.text == text
    assert found.main_content == " ".join(found.main_content.split())
    asked = found.constraint
    if asked is None:
        assert found.main_content == " ".join(text.split())
        return
    assert asked.relation is not None or asked.implicit is not None
    window = asked.window()
    assert OPEN_START <= asked.interval.start <= window.start <= window.end <= asked.interval.end <= OPEN_END
    if asked.relation in ("before", "until", "by", "as of", None):
        assert asked.interval.start == OPEN_START
    if asked.relation in ("after", "since", None):
        assert asked.interval.end == OPEN_END


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["N", "Cs"]), max_size=60))
def test_a_text_without_figures_and_conditions_loses_nothing(text: str) -> None:
    found = parse(text)
    if found.constraint is None:
        assert found.main_content == " ".join(text.split())


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["before", "after", "by", "until", "since", "as of", "in", "around"]),
    st.integers(1000, 2030),
    st.sampled_from(["first", "last", ""]),
)
def test_constraints_are_read_whatever_the_year(operator: str, year: int, implicit: str) -> None:
    text = " ".join(f"Which mill did Ida own {implicit} {operator} {year}?".split())
    content, found, relation, start, end = read(text)
    assert (content, found, relation) == ("Which mill did Ida own?", implicit or None, operator)
    assert {start, end} - {None} == {str(year)}


@pytest.mark.usefixtures("linear_time")
@pytest.mark.parametrize(
    "piece",
    [
        " ", "last ", "the last time that ", "in 1990 ", "1990, ", "if ", '"', "“", "' ", "before 1990 after 1980 ",
        "-", "was the last to own ", "x? Who is? ", "how many ", ", if ", "most recent ", "A. Who ", "of the ",
    ],
)  # fmt: skip
def test_long_input_takes_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    parse(text + " Who won the last cup before 1990?", reference=TODAY, assume_present=True)


# --- the parts ------------------------------------------------------------------------------------------------


def test_edits_mend_commas_brackets_and_capitals() -> None:
    assert apply_edits("In May, who won?", [Edit(0, 6)]) == "Who won?"
    assert apply_edits("who (in May) won", [Edit(5, 11)]) == "who won"
    assert apply_edits("who, in May, won", [Edit(5, 11)]) == "who won"
    assert apply_edits("who won and in May?", [Edit(12, 18)]) == "who won?"
    assert apply_edits("in May?", [Edit(0, 6)]) == "in May?"


def test_quoted_questions_are_no_titles() -> None:
    assert titles('Say "Dune" and "who won?"') == [(4, 10)]


def test_the_date_of_an_event_takes_the_relation_before_its_name() -> None:
    text = "Who led it prior to the 2012 Olympics?"
    date = event_date(text, scan(text), [])
    assert date is not None
    assert date.operator == "before"


@pytest.mark.parametrize("end", ["and until 2010", "but until 2010", "and up to 2010"])
def test_after_and_until_are_two_bounds(end: str) -> None:
    constraint = parse(f"Who led the club after 2006 {end}?").constraint
    assert constraint is not None
    assert (constraint.relation, str(constraint.window())) == ("between", "2007..2010")


# --- what a date means in a question ---------------------------------------------------------------------


@pytest.mark.parametrize("rule", WORDS, ids=lambda rule: rule.example)
def test_each_rule_of_words_before_a_date_holds_for_its_example(rule: WordsRule) -> None:
    (date,) = meant(rule.example, scan(rule.example))
    assert date.operator == rule.operator
    content = read(rule.example)[0]
    assert not re.search(r"\d", content)
    assert content.split()[-1].strip("?") not in ("of", "as", "the", "since", "near", "del", "de", "il", "von")


@pytest.mark.parametrize(
    ("text", "content", "when"),
    [
        ("Who kept the light until the storm flood of 1953?", "Who kept the light until the storm flood?", "until"),
        ("Who kept the light before the flood in March 1953?", "Who kept the light before the flood?", "before"),
        ("Who ran the port after its sale to Lund in 1953?", "Who ran the port after its sale to Lund?", "after"),
        (
            "Who has run the port since the strike ended in 1953?",
            "Who has run the port since the strike ended?",
            "since",
        ),
        ("Who ran the port after the fire that broke out in 1953?", None, "after"),
        ("Which club did Moe join after leaving Ulm in 1953?", "Which club did Moe join after leaving Ulm?", "after"),
        ("Who ran the port from its opening in 1953 until the strike in 1960?", None, "from to"),
        ("Who ran the port after the 1953 merger?", "Who ran the port after the 1953 merger?", "after"),
        ("Who ran the port after the 1953 financial crisis?", None, "after"),
    ],
)
def test_the_bound_before_a_dated_event_is_that_of_its_date(text: str, content: str | None, when: str) -> None:
    assert constraint(text).relation == when
    assert content is None or parse(text).main_content == content


def test_the_year_of_an_event_counts_on_both_sides_of_it() -> None:
    for text in ("after the fire of 1953", "before the fire in 1953", "after the 1953 election"):
        assert "1953" in str(constraint(f"Who ran the port {text}?").window()), text


@pytest.mark.parametrize(
    "text",
    [
        "Who sang before a packed hall in 1953?",
        "Who starred in After the Fire in 1953?",
        "Who was named after a battle in 1953?",
        "How long after the fire did he sign it in 1953?",
        "Who came home from the war in 1953?",
    ],
)
def test_words_that_are_no_bound_leave_the_date_alone(text: str) -> None:
    assert constraint(text).relation == "in"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Who advised Theresa May in 2017?", "Who advised Theresa May?"),
        ("Which streets did the pupils march in 2017?", "Which streets did the pupils march?"),
        ("When did the peat march in 2017 end?", "When did the peat march end?"),
    ],
)
def test_a_month_without_a_preposition_is_a_name_or_a_verb(text: str, content: str) -> None:
    assert read(text) == (content, None, "in", "2017", "2017")


def test_a_month_with_a_preposition_keeps_its_year() -> None:
    assert read("Who sat on the bench in May in 2017?")[2:] == ("in", "2017-05", "2017-05")
    assert read("What was the crop for May in 2017?")[2:] == ("in", "2017-05", "2017-05")


def test_the_year_before_what_there_is_one_of_a_year_is_asked_for() -> None:
    assert read("What was the 1953 population of Ulm?") == (
        "What was the population of Ulm?",
        None,
        "in",
        "1953",
        "1953",
    )
    assert read("2015 UK defence secretary") == ("UK defence secretary", None, "in", "2015", "2015")
    assert read("Who wrote the 1953 report on coal?")[2] is None


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Who ruled long before 1953?", "Who ruled?"),
        ("Who ruled precisely in 1953?", "Who ruled?"),
        ("Who ruled in the months before May 1953?", "Who ruled?"),
        ("Who won the regatta the year after 1953?", "Who won the regatta?"),
        ("Who starred in Now and Then in 1953?", "Who starred in Now and Then?"),
    ],
)
def test_words_that_serve_the_date_leave_with_it_and_names_stay(text: str, content: str) -> None:
    assert parse(text).main_content == content


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("Who gave first aid to the duke in 1953?", None),
        ("Who read the last rites to the duke in 1953?", None),
        ("How many goals did Moe score in the last three seasons?", None),
        ("Who was the last-ever holder of the cup before 1953?", "last"),
        ("Who was the first man to row to Lewis after 1953?", "first"),
    ],
)
def test_fixed_phrases_are_no_condition_whatever_follows(text: str, condition: str | None) -> None:
    assert read(text)[1] == condition


def test_on_is_for_one_day_and_in_for_more() -> None:
    assert read("Who resigned at the end of June 2018?")[2:] == ("in", "2018-06-21", "2018-06-30")
