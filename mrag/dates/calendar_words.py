"""The words and signs that dates are written with: their classes, their values, and the operator phrases.

Every token of a text gets one class, and a class is one character, so that a rule about dates
(date_rules.py) is a regular expression over a short string. What stands in no table is LOWER or
CAPITAL by its first letter.
"""

from __future__ import annotations

# Words by class; each counts in lower case, Capitalised and in UPPER CASE.
WORDS = {
    "MONTH": "january february april june july august september october november december jan feb apr jun jul aug sept"
    " sep oct nov dec januar jänner februar märz juni juli oktober dezember okt dez janvier février avril juin juillet"
    " août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre"
    " noviembre diciembre mai",
    "WEEKDAY": "monday tuesday wednesday thursday friday saturday sunday",
    "SEASON": "spring summer autumn fall winter",
    "QUARTER": "quarter",
    "HALF": "half",
    "PART": "early mid late",
    "PARTNOUN": "beginning start middle end close",
    "CENTURY": "century centuries jahrhundert jahrhunderts jh siècle siglo",
    "MILLENNIUM": "millennium",
    "DECADEWORD": "twenties thirties forties fifties sixties seventies eighties nineties",
    "ORDINALWORD": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    "UNITWORD": "one two three four five six seven eight nine",
    "TEENWORD": "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "TENSWORD": "twenty thirty forty fifty sixty seventy eighty ninety",
    "HUNDRED": "hundred",
    "THOUSAND": "thousand",
    "SEASONWORD": "season seasons campaign",
    "FISCAL": "fiscal",
    "ACADEMIC": "financial academic school tax budget",
    "PERIOD": "day days week weeks month months",
    "DECADENOUN": "decade decades",
    "YEARWORD": "year years",
    "AGO": "ago",
    "WHICH": "last this next past previous coming current",
    "NOW": "present now ongoing incumbent",
    "DATEWORD": "date",
    "BEFORE": "before",
    "AFTER": "after",
    "THE": "the",
    "AND": "and or",
    "TO": "to through thru",
    "UNTIL": "until till",
    "OF": "of",
    "IN": "in",
    "SINCE": "since",
    "PREPOSITION": "by from during around about circa between on as at within throughout c ca",
    "REIGN": "r reigned ruled reign rule fl flourished",
    "THAN": "than",
    "SOONER": "later earlier",
    "QUANTITY": "over nearly almost another some only exactly least most totalling worth",
    "MEASURE": "population total distance height weight elevation altitude capacity length depth width area sum"
    " average maximum minimum attendance crowd circulation rating score elo seating weighs weighed weighing totals"
    " totalled totaled numbering",
    "BORN": "born née né",
    "DIED": "died",
    "STREET": "street avenue road boulevard lane drive ave blvd",
    "ARTICLE": "a an",
    "FUNCTION": "he she it they we who which that his her its their was were is are had has have did when where while"
    " with for but under into then there not if so because against upon would could became these",
    "UNIT": "people persons men women children votes voters soldiers troops inhabitants residents students pupils"
    " members workers employees copies others volunteers refugees horses cattle sheep meals orders jobs participants"
    " delegates patients victims guns tanks staff casualties deaths prisoners passengers spectators fans points goals"
    " seats houses homes households families units cars ships species times books words volumes items cases beds"
    " km km2 km² m m2 m² cm mm mi miles mile metres meters metre meter yards yard feet foot ft sq square cubic acres"
    " acre hectares ha kg kilometres kilometers kilograms tonnes tons lbs hours hour hrs minutes seconds gmt utc"
    " dollars euros pounds francs marks rubles rupees yen percent per cc hp kw kwh mw hz khz mhz ghz rpm mph bp degrees"
    " million billion grams litres liters gallons watts volts responses respondents rebounds assists wickets signatures"
    " subscribers viewers visitors users customers settlers immigrants sailors miners",
    "HYPHENUNIT": "seat bed ton tonne person man member piece volt watt horsepower kilometre kilometer"
    " strong word pound dollar degree minute",
    "PAGE": "p",
    "NAMER": "route page flight suite model version chapter section article paragraph clause verse highway"
    " interstate lot serial boeing airbus windows psalm isbn issn apartment apt extension ext phone tel fax sonnet"
    " asteroid platform locker opus op bwv usb iso din rfc runway studio room channel class build firmware box"
    " postcode zip number collection pages pp error",
    "NAMERS": "numbers nos routes flights rooms psalms sections chapters lots ports",
}

# Words whose class hangs on their case: "May" is a month, "may" hardly ever.
WORDS_AS_WRITTEN = {
    "MONTH": "May MAY March MARCH Mar MAR mars"
    # Dutch, Scandinavian, Italian, Portuguese, Russian and Polish write them small; "Mei" and "Augustus" are names
    " januari februari maart mei augustus marts maj augusti desember gennaio febbraio aprile maggio giugno luglio"
    " settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro outubro novembro dezembro"
    " января февраля марта апреля мая июня июля августа сентября октября ноября декабря"
    " stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "LOWERMONTH": "may march mar",
    "WEEKDAY": "Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun",
    "AND": "und et y o",
    "TO": "bis à hasta",
    "OF": "de del",
    "IN": "en im",
    "PREPOSITION": "vor nach seit depuis um",
    "NAMER": "No Nr no code port Port",
    "UNIT": "kWh kW MW Hz kHz MHz GHz",
    "CURRENCY": "USD EUR GBP CHF JPY CNY CAD AUD",
    "NOW": "aujourd heute hoy",
    "TODAY": "today yesterday tomorrow tonight",
    "TODAYTITLE": "Today Yesterday Tomorrow",
    "BORN": "b",
    "DIED": "d †",
    "BC": "BC BCE bc bce B.C. B.C.E. B.C.E",
    "AD": "AD CE A.D. C.E.",
}

SIGNS = {
    "DASH": "-‐‑‒–—―−",
    "SLASH": "/",
    "COMMA": ",",
    "DOT": ".",
    "COLON": ":",
    "APOSTROPHE": "'’‘",
    "OPENING": "([{",
    "CLOSING": ")]}",
    "CURRENCY": "$€£¥₤",
    "PERCENT": "%°‰",
    "HASH": "#№§",
    "TIMES": "×",
    "NEWLINE": "\n",
    "SIGN": ';!?"“”„«»&*+=@<>|~•·…_\\^`',
}

# Classes of tokens that no table lists: date_rules.classify finds them by their form.
FORMS = (
    "LOWER CAPITAL OTHER CLOCK DAY NUM2 NUM3 YEAR LATEYEAR NUM4 NUM5 ORDINAL DECADE OLDDECADE SHORTDECADE SHORTYEAR"
    " GROUPED FULLDATE FISCALYEAR QUARTERTOKEN"
).split()

_NAMES = list(dict.fromkeys([*FORMS, *WORDS, *WORDS_AS_WRITTEN, *SIGNS]))
CLASS = {name: chr(0x100 + number) for number, name in enumerate(_NAMES)}  # all letters: nothing to escape in a pattern


def _token_classes() -> dict[str, str]:
    table: dict[str, str] = {}
    for name, words in WORDS.items():
        for word in words.split():
            table.update(dict.fromkeys((word, word.capitalize(), word.upper()), CLASS[name]))
    for name, words in WORDS_AS_WRITTEN.items():
        table.update(dict.fromkeys(words.split(), CLASS[name]))
    for name, signs in SIGNS.items():
        table.update(dict.fromkeys(signs, CLASS[name]))
    return table


TOKEN_CLASSES = _token_classes()  # token as written -> class character

# A date without a digit holds one of these, and most sentences without a digit hold none.
_SPELLED = "centur jahrhundert jh siècle siglo millenni ties thousand hundred teen ten eleven twelve".split()


def may_spell_a_date(text: str) -> bool:
    """Whether a text without digits may still name a date: "the nineteenth century", "the nineties"."""
    text = text.lower()
    return any(part in text for part in _SPELLED)


_MONTHS = (
    "january jan januar jänner janvier enero januari gennaio janeiro января stycznia",
    "february feb februar février febrero februari febbraio fevereiro февраля lutego",
    "march mar märz mars marzo maart marts março марта marca",
    "april apr avril abril aprile апреля kwietnia",
    "may mai mayo mei maj maggio maio мая maja",
    "june jun juni juin junio giugno junho июня czerwca",
    "july jul juli juillet julio luglio julho июля lipca",
    "august aug août agosto augustus augusti августа sierpnia",
    "september sept sep septembre septiembre settembre setembro сентября września",
    "october oct oktober okt octobre octubre ottobre outubro октября października",
    "november nov novembre noviembre novembro ноября listopada",
    "december dec dezember dez décembre diciembre desember dicembre dezembro декабря grudnia",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
WEEKDAYS = {  # Monday is 0
    name: number
    for number, names in enumerate(
        (
            "monday mon",
            "tuesday tues tue",
            "wednesday wed",
            "thursday thurs thur thu",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for name in names.split()
}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # first month, northern
DECADES = {word: 20 + 10 * number for number, word in enumerate(WORDS["DECADEWORD"].split())}
ORDINALS = {word: number for number, word in enumerate(WORDS["ORDINALWORD"].split(), 1)}
NUMBERS = {word: number for number, word in enumerate((WORDS["UNITWORD"] + " " + WORDS["TEENWORD"]).split(), 1)}
NUMBERS |= {word: 20 + 10 * number for number, word in enumerate(WORDS["TENSWORD"].split())} | {"a": 1, "an": 1}
PARTS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2, "close": 2}

# What stands before a date -> the relation it says. The longest phrase counts.
OPERATORS = {
    "as of": "as of",
    "as at": "as of",
    "as from": "since",
    "from": "from to",  # alone it is read as "since"
    "from at least": "from to",
    "starting from": "since",
    "starting in": "since",
    "starting on": "since",
    "starting with": "since",
    "beginning in": "since",
    "beginning on": "since",
    "beginning from": "since",
    "effective": "since",
    "effective from": "since",
    "with effect from": "since",
    "commencing on": "since",
    "commencing in": "since",
    "since": "since",
    "ever since": "since",
    "since at least": "since",
    "seit": "since",
    "depuis": "since",
    "desde": "since",
    "dates from": "in",
    "dated from": "in",
    "dating from": "in",
    "date from": "in",
    "date to": "in",
    "dates to": "in",
    "dated to": "in",
    "dates back to": "in",
    "dating back to": "in",
    "date back to": "in",
    "dated": "in",
    "until": "until",
    "till": "until",
    "up until": "until",
    "up till": "until",
    "up to": "until",
    "up to and including": "until",
    "through": "until",
    "until as late as": "until",
    "until at least": "until",
    "not until": "in",
    "ending on": "until",
    "ending in": "until",
    "bis": "until",
    "jusqu'en": "until",
    "hasta": "until",
    "before": "before",
    "prior to": "before",
    "earlier than": "before",
    "ahead of": "before",
    "previous to": "before",
    "vor": "before",
    "avant": "before",
    "after": "after",
    "later than": "after",
    "following": "after",
    "the following": "in",
    "that following": "in",
    "subsequent to": "after",
    "nach": "after",
    "après": "after",
    "by": "by",
    "no later than": "by",
    "not later than": "by",
    "on or before": "by",
    "in or before": "by",
    "by at least": "by",
    "on or after": "since",
    "in or after": "since",
    "no earlier than": "since",
    "not earlier than": "since",
    "not before": "since",
    "around": "around",
    "about": "around",
    "circa": "around",
    "roughly": "around",
    "approximately": "around",
    "in about": "around",
    "in around": "around",
    "in approximately": "around",
    "in circa": "around",
    "in or around": "around",
    "in or about": "around",
    "on or about": "around",
    "on or around": "around",
    "at around": "around",
    "at about": "around",
    "some time around": "around",
    "sometime around": "around",
    "close to": "around",
    "c.": "around",
    "c": "around",
    "ca.": "around",
    "ca": "around",
    "approx.": "around",
    "~": "around",
    "um": "around",
    "vers": "around",
    "pre-": "before",
    "post-": "after",
    "between": "between",
    "in between": "between",
    "anywhere between": "between",
    "sometime between": "between",
    "zwischen": "between",
    "entre": "between",
    "in": "in",
    "during": "in",
    "throughout": "in",
    "within": "in",
    "as early as": "in",
    "as late as": "in",
    "as recently as": "in",
    "back in": "in",
    "later in": "in",
    "earlier in": "in",
    "im": "in",
    "en": "in",
    "on": "on",
    "on the": "on",
    "at": "on",
    "am": "on",
    "le": "on",
}

# What stands between two dates: "to" makes one range of them, "and" does so after "between" only, and
# whatever ties them lets the first take its missing year from the second.
CONNECTORS = (
    dict.fromkeys(SIGNS["DASH"], "to")
    | dict.fromkeys("to until till til through thru bis à hasta al".split(), "to")
    | dict.fromkeys(
        ("up to", "through to", "up until", "to at least", "until at least", ", to", ", until", "and until", "- the"),
        "to",
    )
    | dict.fromkeys("and & und et y".split(), "and")
    | dict.fromkeys(("or", ",", "/", ", and", ", or", "and/or", "and on", "or on", "and again on"), "list")
)

# What stands behind a date -> the relation it says.
SUFFIXES = {
    "onwards": "since",
    "- onwards": "since",
    "– onwards": "since",
    "onward": "since",
    "and onwards": "since",
    "or later": "since",
    "or after": "since",
    "or earlier": "by",
    "and earlier": "by",
    "or before": "by",
}
