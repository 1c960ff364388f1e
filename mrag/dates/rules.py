"""The grammar of dates: a table of rules over token classes, each with its reading and an example.

A text is tokens, a token has a class (one character, calendar_words.py), and a rule is a pattern over
the string of classes. It is written with class names; ``d=DAY`` hands that token to the reading under
the name ``d`` (date_readings.py), ``{day}`` and its like stand for FRAGMENTS. All rules are tried in
one scan and the first that fits wins; every quantifier is bounded, so the time is linear.

"the", weekdays, "early" and "fiscal year" in front of a date are found from the date backwards (LEAD).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mrag.dates import readings as read
from mrag.dates.calendar_words import CLASS
from mrag.dates.readings import Reading, RelativeReading

FRAGMENTS = {  # one may hold those below it
    "{notday}": "(?!{anyday}COMMA?YEAR)",  # the month belongs to what follows: "won 2–1 May 12, 1990"
    "{day}": "d=[DAY ORDINAL]",
    "{anyday}": "[DAY ORDINAL]",
    "{of}": "(?:COMMA?(?:(?:OF|IN)(?:THE YEARWORD OF?)?)?)",
    "{month}": "m=[MONTH LOWERMONTH]DOT?",
    "{number}": "[DAY NUM2 NUM3 YEAR LATEYEAR NUM4]",
    "{to}": "[DASH TO UNTIL AND SLASH]",
    "{fraction}": "n=[ORDINALWORD ORDINAL WHICH](?:h=HALF|q=QUARTER|z=DECADENOUN)",
    "{ordinal}": "o=[ORDINAL ORDINALWORD]",
    "{era}": "(?:DASH?e=[BC AD])?",
    "{short}": "f=[NUM2 DAY](?!DOT?[MONTH LOWERMONTH]|SLASH|DASH(?!YEAR DASH[NUM2 DAY]|NOW))",  # "2010-06 – 2012-09"
}


@dataclass(frozen=True)
class Rule:
    """One way to write a date: pattern, reading, and an example with the ISO ends of the one date found in it.

    Without a reading it looks like a date and is none. ``shape``: a "range" is held throughout; a "term" is too,
    but is named like one date; "open" is an end that is still open; "spelled" counts after an operator only.
    ``borrows``: without a year the date takes one from its neighbours. ``the``: an article in front belongs to it.
    """

    name: str
    pattern: str
    reading: Reading | None
    example: str
    start: str | None = None
    end: str | None = None
    shape: str = "date"
    borrows: bool = False
    the: bool = True
    relative: RelativeReading | None = None
    regex: re.Pattern[str] = field(init=False, repr=False)
    names: tuple[str, ...] = field(init=False, repr=False)  # of the tokens that the pattern names

    def __post_init__(self) -> None:
        regex = re.compile(translated(self.pattern))
        object.__setattr__(self, "regex", regex)
        object.__setattr__(self, "names", tuple(regex.groupindex))


def translated(pattern: str, named: bool = True) -> str:
    """A rule's pattern as a regular expression over class characters, with its names or without."""
    for name, fragment in FRAGMENTS.items():
        pattern = pattern.replace(name, fragment)

    def classes(match: re.Match[str]) -> str:
        name, words = match.groups()
        characters = "".join(CLASS[word] for word in re.findall(r"\w+", words))
        if words.startswith("["):
            characters = f"[{'^' if words[1] == '^' else ''}{characters}]"
        return f"(?P<{name}>{characters})" if name and named else characters

    return re.sub(r"(?:(?<![a-z])([a-z])=)?(\[\^?[A-Z0-9 ]+\]|[A-Z][A-Z0-9]+)", classes, pattern).replace(" ", "")


# In front of a date, read backwards from it.
LEAD = re.compile(
    translated(
        "(?:WEEKDAY DOT?COMMA?THE?"
        "|THE?(?:k=PART DASH?TO DASH?)?p=[PART PARTNOUN](?:(?<=PARTNOUN)OF|(?<=PART)[DASH IN]?)"
        "THE?(?:[FISCAL ACADEMIC]?YEARWORD OF?|FISCAL)?"
        "|THE?[FISCAL ACADEMIC]?YEARWORD OF?"
        "|THE?FISCAL"
        "|THE)$"
    )
)

_NOT_AT_LEAST = (
    "(?<!SOONER THAN)(?<![IN SINCE UNTIL PREPOSITION]PREPOSITION QUANTITY)"  # "since at least 1950" is a date
)
_PLACE = "(?<![^PREPOSITION TO COMMA COLON AND NEWLINE])"
_NO_OPERATOR = "(?<![IN SINCE UNTIL BEFORE AFTER PREPOSITION TO AND DASH])"

NO_DATES = [  # tried first, so that no rule below takes such a number for a year
    Rule(
        "counted", "(?<![THE IN])[YEAR LATEYEAR NUM3 NUM4 NUM5][UNIT PERCENT CURRENCY PERIOD PAGE]", None, "1862 people"
    ),
    Rule(
        "counted with a dash",
        "[YEAR NUM3 NUM4]DASH[UNIT HYPHENUNIT PERIOD YEARWORD]",
        None,
        "a 2000-year-old olive tree",
    ),
    Rule(
        "counted range",
        "(?<!THE)[YEAR NUM3 NUM4](?={to}[YEAR NUM3 NUM4][UNIT PERCENT CURRENCY])",
        None,
        "1500 to 1900 men",
    ),
    Rule("more than", f"{_NOT_AT_LEAST}(?<=[THAN QUANTITY])[YEAR NUM3 NUM4]", None, "More than 1500 came."),
    Rule(
        "measured",
        "(?:(?<=MEASURE[OF COLON])|(?<=MEASURE OF PREPOSITION))[YEAR NUM3 NUM4]",
        None,
        "a population of 1950, a crowd of about 1800",
    ),
    Rule("rating", "[YEAR LATEYEAR](?={to}NUM4)", None, "It rose from 1945 to 2333."),
    Rule("money", "(?<=CURRENCY)[YEAR NUM3 NUM4](?:DASH{number})?", None, "It cost $1999."),
    Rule("pixels", "[YEAR NUM3 NUM4](?=TIMES)|(?<=TIMES)[YEAR NUM3 NUM4]", None, "1920 × 1080 pixels"),
    Rule(
        "numbered",
        "(?:(?<=NAMER)|(?<=[NAMER PAGE]DOT)|(?<=HASH))[YEAR NUM3 NUM4 DAY NUM2 FULLDATE](?!DOT?MONTH)(?:DASH{number})?",
        None,
        "Route 1995 and p. 1920",
    ),
    Rule(
        "numbered list",
        "(?:(?<=NAMERS)|(?<=NAMERS DOT)){number}(?:[COMMA AND DASH]AND?{number}){0,9}",
        None,
        "Nos. 1901, 1905 and 1910–1919",
    ),
    Rule("address", f"{_PLACE}YEAR[CAPITAL OTHER ORDINAL]{{1,3}}STREET", None, "Reply to 1755 Upper Mill Road."),
    Rule("path", "(?<=SLASH)[YEAR NUM3 NUM4]", None, "see archive/1999"),
    Rule("title first", "YEAR(?=COLON ARTICLE[CAPITAL SEASON MONTH ORDINALWORD]CAPITAL)", None, "1941: A Winter Tale"),
    Rule("title last", "(?<=CAPITAL COLON)YEAR(?=LOWER)", None, "Harbour: 1993 aired for a year."),
    Rule(
        "title dated",
        f"{_NO_OPERATOR}YEAR(?=OPENING YEAR[CLOSING LOWER])",
        None,
        "the novel 1984 (1949)",
        "1949",
        "1949",
    ),
]

BY_NUMBER = [
    Rule("whole", "i=FULLDATE (?:COMMA?CLOCK)?", read.whole, "on 27.11.2003 14:30", "2003-11-27", "2003-11-27"),
    Rule(
        "day month year",
        "{day}DOT?(?:PERIOD?OF THE?)?{month}{of}y=[YEAR LATEYEAR NUM4 SHORTYEAR]{era}(?:COMMA?CLOCK)?",
        read.date,
        "the 7th day of June, 2011",
        "2011-06-07",
        "2011-06-07",
    ),
    Rule(
        "day month year of an era",
        "{day}DOT?(?:OF THE?)?{month}COMMA?y={number}e=[BC AD]",
        read.date,
        "3 June 218 BCE",
        "-0217-06-03",
        "-0217-06-03",
    ),
    Rule(
        "day month era year",
        "{day}DOT?(?:OF THE?)?{month}COMMA?e=AD y={number}",
        read.date,
        "30 May AD 47",
        "0047-05-30",
        "0047-05-30",
    ),
    Rule(
        "day month old year",
        "{day}DOT?(?:OF THE?)?{month}COMMA?y=[NUM3 NUM2](?![LOWER UNIT PERCENT DASH SLASH COLON TIMES])",
        read.date,
        "He fell on 9 August 378.",
        "0378-08-09",
        "0378-08-09",
    ),
    Rule(
        "dashed",
        "{day}[DASH SLASH]m=MONTH[DASH SLASH]y=[YEAR NUM2 DAY]",
        read.short_date,
        "17-Nov-12",
        "2012-11-17",
        "2012-11-17",
    ),
    Rule("year-month-day", "y=YEAR DASH m=MONTH DASH{day}", read.date, "2019-Mar-05", "2019-03-05", "2019-03-05"),
    Rule(
        "year month day", "y=YEAR COMMA?{month}{day}(?!COMMA?YEAR)", read.date, "2003 Aug 9", "2003-08-09", "2003-08-09"
    ),
    Rule(
        "first of days",
        "{day}(?=(?:COMMA{anyday}){0,5}COMMA?{to}THE?{anyday}DOT?OF?{month}{notday}(?:{of}y=YEAR)?)",
        read.date,
        "4–9 August 1983",
        "1983-08-04",
        "1983-08-09",
        borrows=True,
    ),
    Rule(
        "day month",
        "{day}DOT?(?:OF THE?)?m=MONTH(?:DOT(?={to}))?{notday}",
        read.date,
        "from 2 May to 9 May in 1998",
        "1998-05-02",
        "1998-05-09",
        borrows=True,
    ),
    Rule(
        "day after a month and day",
        "(?<=m=MONTH{anyday}AND){day}COMMA?y=YEAR",
        read.date,
        "between June 4 and 18, 1995",
        "1995-06-04",
        "1995-06-18",
    ),
    Rule("month slash year", "w=DAY SLASH y=YEAR(?!SLASH)", read.slashed_month, "since 05/2010", "2010-05", None),
    Rule(
        "range of an era",
        "y={number}[DASH TO UNTIL SLASH]f={number}(?:SLASH{number})?e=[BC AD]",
        read.years,
        "247–183/181 BC",
        "-0246",
        "-0182",
        shape="range",
    ),
    Rule(
        "first year of an era",
        "y={number}(?={to}PREPOSITION DOT?{number}e=[BC AD])",
        read.date,
        "c. 460 – c. 370 BC",
        "-0459",
        "-0369",
    ),
    Rule("year of an era", "y={number}e=[BC AD]", read.date, "44 BC", "-0043", "-0043"),
    Rule("thousands of an era", "y=GROUPED e=[BC AD]", read.date, "by 10,000 BC", None, "-9999"),
    Rule("decade", "y=DECADE{era}", read.decade, "the early 1970s", "1970", "1973"),
    Rule("old decade", "(?:(?<=THE)|(?<=THE PART))y=OLDDECADE{era}", read.decade, "in the 830s", "0830", "0839"),
    Rule("short decade", "(?<=THE)y=SHORTDECADE", read.decade, "the 80s", "1980", "1989"),
    Rule(
        "part of a short decade", "(?:(?<=PART)|(?<=PART DASH))y=SHORTDECADE", read.decade, "late ’60s", "1967", "1969"
    ),
    Rule(
        "second short decade",
        "(?:(?<=DECADE[AND DASH TO])|(?<=DECADE[AND DASH TO]PART))y=SHORTDECADE",
        read.decade,
        "between the 1970s and 80s",
        "1970",
        "1989",
    ),
    Rule("century with a dot", "o=DAY DOT CENTURY", read.century, "im 19. Jahrhundert", "1801", "1900"),
    Rule("year quarter", "y=YEAR DASH?q=QUARTERTOKEN", read.quarter, "2010 Q3", "2010-07", "2010-09"),
    Rule(
        "season of years",
        "y=YEAR[DASH SLASH]f=[NUM2 DAY YEAR]SEASONWORD",
        read.years,
        "the 2019–20 season",
        "2019",
        "2020",
        shape="term",
    ),
    Rule(
        "first of two seasons",
        "y=YEAR[DASH SLASH]f=[NUM2 DAY YEAR](?={to}THE?YEAR[DASH SLASH][NUM2 DAY YEAR]SEASONWORD)",
        read.years,
        "between the 2001/02 and 2004/05 seasons",
        "2001",
        "2005",
        shape="term",
    ),
    Rule(
        "first year of two seasons",
        "y=YEAR(?={to}THE?YEAR SEASONWORD)",
        read.date,
        "between the 2001 and 2004 seasons",
        "2001",
        "2004",
    ),
    Rule("years", "y=YEAR DASH{short}", read.years, "1990–93", "1990", "1993", shape="range", the=False),
    Rule(
        "one or two years",
        "y=YEAR SLASH f=[NUM2 DAY YEAR](?!SLASH)",
        read.years,
        "1999/2000",
        "1999",
        "2000",
        the=False,
    ),
    Rule("year of a season", "y=YEAR SEASONWORD", read.date, "the 1998 season", "1998", "1998"),
    Rule("year", "y=YEAR", read.date, "in 1990", "1990", "1990", the=False),
    Rule(
        "short year",
        "(?:(?<=[THE IN OF SINCE UNTIL PREPOSITION TO BEFORE AFTER])|(?<=SHORTYEAR[COMMA AND])"
        "|(?<=YEAR[COMMA AND DASH])(?=SHORTYEAR(?![UNIT PERIOD YEARWORD CAPITAL])))y=SHORTYEAR",
        read.date,
        "1941–’45",
        "1941",
        "1945",
        the=False,
    ),
    Rule(
        "far year",
        "(?<=[IN SINCE UNTIL BEFORE AFTER PREPOSITION TO DASH AND OPENING])y=LATEYEAR",
        read.date,
        "by 2050",
        None,
        "2050",
        the=False,
    ),
    Rule("the year", "(?<=YEARWORD)y=[NUM5 NUM3]", read.date, "in the year 12000", "12000", "12000"),
    Rule(
        "old years",
        "(?:(?<=REIGN)|(?<=REIGN DOT)|(?<=CAPITAL OPENING))y=NUM3 DASH f=[NUM3 NUM2](?![LOWER UNIT PERCENT])",
        read.years,
        "r. 830–850",
        "0830",
        "0850",
        shape="range",
    ),
    Rule(
        "old year",
        "(?<=[IN SINCE UNTIL BEFORE AFTER])y=NUM3(?![LOWER UNIT PERCENT DASH CAPITAL OTHER CURRENCY TIMES])",
        read.date,
        "in 830 he fell",
        "0830",
        "0830",
    ),
]

BY_WORD = [
    Rule(
        "days after month",
        "m=MONTH(?!{anyday}AND{anyday}COMMA?YEAR)DOT?{day}(?:COMMA{anyday}){0,5}COMMA?{to}"
        "f=[DAY ORDINAL](?!DOT?[MONTH LOWERMONTH])(?:COMMA?y=YEAR)?",
        read.days,
        "March 3–8, 2004",
        "2004-03-03",
        "2004-03-08",
        shape="range",
        borrows=True,
    ),
    Rule(
        "month day year",
        "{month}THE?d=[DAY ORDINAL ORDINALWORD NUM2]{of}y=[YEAR LATEYEAR NUM4 SHORTYEAR]{era}(?:COMMA?CLOCK)?",
        read.date,
        "March 8, 2004",
        "2004-03-08",
        "2004-03-08",
    ),
    Rule(
        "month year",
        "{month}{of}y=[YEAR LATEYEAR NUM4 SHORTYEAR]{era}",
        read.date,
        "mid-July 1990",
        "1990-07-11",
        "1990-07-20",
    ),
    Rule(
        "month day year of an era",
        "{month}THE?{day}{of}y={number}e=[BC AD]",
        read.date,
        "March 15, 44 BC",
        "-0043-03-15",
        "-0043-03-15",
    ),
    Rule(
        "month day era year",
        "{month}THE?{day}{of}e=AD y={number}",
        read.date,
        "August 24, AD 79",
        "0079-08-24",
        "0079-08-24",
    ),
    Rule("month year of an era", "{month}{of}y={number}e=[BC AD]", read.date, "May 44 BC", "-0043-05", "-0043-05"),
    Rule("month era year", "{month}{of}e=AD y={number}", read.date, "in August AD 14", "0014-08", "0014-08"),
    Rule(
        "month day time year",
        "{month}{day}COMMA?CLOCK[UNIT CAPITAL]?y=YEAR",
        read.date,
        "Mon Feb 3 09:12:44 UTC 2020",
        "2020-02-03",
        "2020-02-03",
    ),
    Rule(
        "day in words",
        "d=ORDINALWORD(?:PERIOD?OF THE?)m=MONTH{of}y=YEAR",
        read.date,
        "the fifth of May 2011",
        "2011-05-05",
        "2011-05-05",
    ),
    Rule("month old year", "{month}y=NUM3(?![LOWER UNIT PERCENT DASH])", read.date, "in May 547", "0547-05", "0547-05"),
    Rule("month-year", "m=MONTH DASH y=[YEAR SHORTYEAR]", read.date, "Jan-1998", "1998-01", "1998-01"),
    Rule(
        "month day",
        "m=MONTH DOT?THE?{day}",
        read.date,
        "from July 20 to May 3, 1970",
        "1969-07-20",
        "1970-05-03",
        borrows=True,
    ),
    Rule(
        "month",
        "m=MONTH(?:DOT(?={to}))?",
        read.date,
        "May to August 1990",
        "1990-05",
        "1990-08",
        borrows=True,
    ),
    Rule(
        "season over two years",
        "s=SEASON{of}y=YEAR[DASH SLASH]f=[NUM2 DAY YEAR]",
        read.season,
        "the winter of 1962–63",
        "1962-12",
        "1963-02",
    ),
    Rule(
        "season and its years",
        "SEASONWORD OF?y=YEAR[DASH SLASH]f=[NUM2 DAY YEAR]",
        read.years,
        "after the season 2018/19",
        "2019",
        None,
        shape="term",
    ),
    Rule("season and its year", "SEASONWORD OF?y=YEAR", read.date, "before the season of 1998", None, "1998"),
    Rule("season", "s=SEASON{of}y=[YEAR SHORTYEAR]", read.season, "the summer of 1967", "1967-06", "1967-08"),
    Rule(
        "yearless season",
        "s=SEASON(?={to}THE?SEASON)",
        read.season,
        "from spring to autumn 1940",
        "1940-03",
        "1940-11",
        borrows=True,
    ),
    Rule("fiscal year", "y=FISCALYEAR(?:[DASH SLASH]f=[NUM2 DAY YEAR])?", read.fiscal, "FY2017/18", "2017", "2018"),
    Rule(
        "years of an era",
        "e=AD y={number}[DASH TO UNTIL SLASH]f={number}",
        read.years,
        "AD 284–305",
        "0284",
        "0305",
        shape="range",
    ),
    Rule("era year", "e=AD y={number}", read.date, "AD 43", "0043", "0043"),
    Rule(
        "decade in words",
        "(?:(?<=THE)|(?<=THE PART)|(?<=PART DASH))w=DECADEWORD",
        read.decade,
        "the nineties",
        "1990",
        "1999",
    ),
    Rule(
        "part of a century",
        "{fraction}OF THE?(?:t=TENSWORD DASH)?{ordinal}DASH?CENTURY{era}",
        read.century,
        "the first half of the 19th century",
        "1801",
        "1850",
    ),
    Rule("century", "(?:t=TENSWORD DASH)?{ordinal}DASH?CENTURY{era}", read.century, "the 19th century", "1801", "1900"),
    Rule(
        "first of two centuries",
        "{ordinal}(?={to}THE?(?:PART DASH?)?[ORDINAL ORDINALWORD]DASH?CENTURY{era})",
        read.century,
        "16th–17th centuries",
        "1501",
        "1700",
    ),
    Rule("millennium", "{ordinal}MILLENNIUM{era}", read.millennium, "the 3rd millennium BC", "-2999", "-2000"),
    Rule(
        "part of a year",
        "{fraction}(?:OF THE?(?:YEARWORD OF?)?|IN)?y=[YEAR DECADE]",
        read.fraction,
        "the first half of 2012",
        "2012-01",
        "2012-06",
    ),
    Rule("quarter", "q=QUARTERTOKEN(?:{of}|SLASH|DASH)y=YEAR", read.quarter, "Q3 2007", "2007-07", "2007-09"),
    Rule(
        "yearless quarter",
        "q=QUARTERTOKEN(?={to}QUARTERTOKEN)",
        read.quarter,
        "between Q2 and Q3 2015",
        "2015-04",
        "2015-09",
        borrows=True,
    ),
    Rule(
        "one thousand seven hundred",
        "k=UNITWORD THOUSAND COMMA?c=UNITWORD HUNDRED(?:AND(?=[TENSWORD UNITWORD TEENWORD]))?"
        "(?:t=TENSWORD DASH?)?(?:u=[UNITWORD TEENWORD])?(?![UNIT PERIOD YEARWORD LOWER THOUSAND])",
        read.spelled,
        "in one thousand seven hundred and seventy-six",
        "1776",
        "1776",
        shape="spelled",
    ),
    Rule(
        "two thousand and",
        "k=UNITWORD THOUSAND(?:AND?(?:t=TENSWORD DASH?)?u=[UNITWORD TEENWORD](?![UNIT PERIOD])"
        "|(?![UNIT PERIOD YEARWORD LOWER AND]))",
        read.spelled,
        "in two thousand and seven",
        "2007",
        "2007",
        shape="spelled",
    ),
    Rule(
        "nineteen hundred",
        "c=TEENWORD(?=[HUNDRED TENSWORD TEENWORD])(?:HUNDRED(?:AND(?=[TENSWORD UNITWORD TEENWORD]))?)?"
        "(?:t=TENSWORD DASH?)?(?:u=[UNITWORD TEENWORD])?(?![UNIT PERIOD THOUSAND])",
        read.spelled,
        "in nineteen eighty-four",
        "1984",
        "1984",
        shape="spelled",
    ),
    Rule("present", "THE?NOW(?:PERIOD|APOSTROPHE LOWER)?", None, "2001–present", "2001", None, shape="open"),
    Rule("until today", "TODAY", None, "2001 to today", "2001", None, shape="open"),
    Rule("to date", "(?<=TO)DATEWORD", None, "1999 to date", "1999", None, shape="open"),
]

REFERENCE = "2024-03-15"  # of the examples of RELATIVE; a Friday

RELATIVE = [
    Rule(
        "ago",
        "c=[ARTICLE UNITWORD TEENWORD DAY NUM2 NUM3]u=[PERIOD DECADENOUN YEARWORD]AGO",
        None,
        "two weeks ago",
        "2024-03-01",
        "2024-03-01",
        relative=read.ago,
    ),
    Rule(
        "day and month of last year",
        "{day}DOT?(?:OF THE?)?{month}COMMA?OF?w=WHICH YEARWORD",
        None,
        "on 3 May last year",
        "2023-05-03",
        "2023-05-03",
        relative=read.in_that_year,
    ),
    Rule(
        "month and day of last year",
        "{month}THE?{day}COMMA?OF?w=WHICH YEARWORD",
        None,
        "on May 3 last year",
        "2023-05-03",
        "2023-05-03",
        relative=read.in_that_year,
    ),
    Rule(
        "month of last year",
        "{month}OF?w=WHICH YEARWORD",
        None,
        "in November last year",
        "2023-11",
        "2023-11",
        relative=read.in_that_year,
    ),
    Rule(
        "today",
        "(?:THE PERIOD a=[BEFORE AFTER])?w=TODAY",
        None,
        "the day before yesterday",
        "2024-03-13",
        "2024-03-13",
        relative=read.today,
    ),
    Rule(
        "today first",
        "(?<![^DOT NEWLINE SIGN])w=TODAYTITLE(?!CAPITAL)",
        None,
        "Today it rains.",
        "2024-03-15",
        "2024-03-15",
        relative=read.today,
    ),
    Rule(
        "last year",
        "(?<!THE)w=WHICH u=[PERIOD DECADENOUN YEARWORD QUARTER CENTURY WEEKDAY SEASON MONTH](?!OF)",
        None,
        "last year",
        "2023",
        "2023",
        relative=read.this_or_last,
    ),
    Rule(
        "weekday",
        "(?<=PREPOSITION)u=WEEKDAY(?!COMMA?[DAY MONTH ORDINAL YEAR])",
        None,
        "on Tuesday",
        "2024-03-12",
        "2024-03-12",
        relative=read.weekday,
    ),
]

_NUMBERS = "[GROUPED DAY ORDINAL NUM2 NUM3 YEAR LATEYEAR NUM4 NUM5 FULLDATE DECADE OLDDECADE SHORTDECADE SHORTYEAR]"
_WORDS = (
    "[MONTH LOWERMONTH SEASON DECADEWORD ORDINAL ORDINALWORD TENSWORD UNITWORD TEENWORD WHICH AD QUARTERTOKEN"
    " FISCALYEAR NOW TODAY DATEWORD SEASONWORD]"
)
_RELATIVE = "[ARTICLE UNITWORD TEENWORD DAY ORDINAL NUM2 NUM3 MONTH LOWERMONTH THE TODAY TODAYTITLE WHICH WEEKDAY]"


def _scanner(groups: list[tuple[str, list[Rule]]]) -> tuple[re.Pattern[str], list[Rule]]:
    """One expression that tries each table only at the classes it can begin with; group n is rule n - 1 of the list."""
    tables = [
        f"(?={translated(starts)})(?:" + "|".join(f"({translated(rule.pattern, named=False)})" for rule in rules) + ")"
        for starts, rules in groups
    ]
    return re.compile("|".join(tables)), [rule for _, rules in groups for rule in rules]


_ABSOLUTE = [(_NUMBERS, NO_DATES + BY_NUMBER), (_WORDS, BY_WORD)]
SCANNER = _scanner(_ABSOLUTE)
RELATIVE_SCANNER = _scanner([(_RELATIVE, RELATIVE), *_ABSOLUTE])
