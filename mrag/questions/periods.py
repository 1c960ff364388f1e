"""Well-known periods, events and terms of office, and the days that they cover.

Dates are those that encyclopaedias give: to the day where they agree on it, else to the month or the year. What goes
by a name that others have as well ("the Civil War", "President Bush", a second term years later) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from mrag.interval import Interval, join, parse_iso, since

Kind = Literal["happening", "era", "state", "point"]
Office = Literal["president", "prime minister", "chancellor", "crown", "leader"]

# A line: its days | its names, without "the" | a phrase that shows it. A name with a capital counts only with it, and
# one with a * is a clause.
HAPPENINGS = """
1095..1291 | crusades | during the Crusades
1337..1453 | hundred years' war, hundred years war | during the Hundred Years' War
1346..1353 | black death | after the Black Death
1455..1487 | wars of the roses | during the Wars of the Roses
1517..1648 | Reformation, protestant reformation | before the Reformation
1618-05-23..1648-10-24 | thirty years' war, thirty years war | by the end of the Thirty Years' War
1642-08-22..1651-09-03 | english civil war | at the outbreak of the English Civil War
1666-09-02..1666-09-06 | great fire of london | after the Great Fire of London
1756-05-17..1763-02-15 | seven years' war, seven years war | since the Seven Years' War
1760..1840 | industrial revolution | before the Industrial Revolution
1765..1783 | american revolution | before the American Revolution
1775-04-19..1783-09-03 | american revolutionary war, american war of independence | until the American Revolutionary War
1789-05-05..1799-11-09 | french revolution | until the French Revolution
1803..1815 | napoleonic wars | after the Napoleonic Wars
1845..1852 | irish potato famine, irish famine | before the Irish Famine
1846..1848 | mexican-american war | after the Mexican–American War
1853-10..1856-03-30 | crimean war | during the Crimean War
1861-04-12..1865 | american civil war, us civil war, u.s. civil war | before the American Civil War
1870-07-19..1871 | franco-prussian war | during the Franco-Prussian War
1898-04-21..1898-12-10 | spanish-american war | after the Spanish–American War
1899-10-11..1902-05-31 | boer war, second boer war | during the Boer War
1904-02-08..1905-09-05 | russo-japanese war | before the Russo-Japanese War
1910-11-20..1920 | mexican revolution | during the Mexican Revolution
1914-07-28..1918-11-11 | first world war, 1st world war, world war i, world war 1, world war one, wwi, ww1, ww i, \
great war | at the outbreak of the First World War
1916-04-24..1916-04-29 | easter rising | after the Easter Rising
1917 | russian revolution | before the Russian Revolution
1917..1922 | russian civil war | during the Russian Civil War
1918..1920 | spanish flu | during the Spanish flu
1919-01-21..1921-07-11 | irish war of independence | before the Irish War of Independence
1927..1949 | chinese civil war | after the Chinese Civil War
1929..1939 | great depression | during the Great Depression
1929-10-24..1929-10-29 | wall street crash | before the Wall Street Crash
1936-07-17..1939-04-01 | spanish civil war | during the Spanish Civil War
1939-09-01..1945-09-02 | second world war, 2nd world war, world war ii, world war 2, world war two, wwii, ww2, ww ii \
| during the Second World War
1940-09-07..1941-05-11 | Blitz, london blitz | during the Blitz
1948-06-24..1949-05-12 | berlin blockade, berlin airlift | during the Berlin Blockade
1947..1991 | cold war | by the end of the Cold War
1950-06-25..1953-07-27 | korean war | since the Korean War
1954-11-01..1962-03-19 | algerian war | during the Algerian War
1955-11-01..1975-04-30 | vietnam war | after the Vietnam War
1956-10-29..1956-11-07 | suez crisis | during the Suez Crisis
1962-10-16..1962-10-28 | cuban missile crisis | during the Cuban Missile Crisis
1966..1976 | cultural revolution | during the Cultural Revolution
1967-06-05..1967-06-10 | six-day war, six day war | since the Six-Day War
1968..1998 | Troubles | during the Troubles
1972-06-17..1974-08-09 | watergate scandal, watergate affair, Watergate | during the Watergate scandal
1973-10-06..1973-10-25 | yom kippur war | during the Yom Kippur War
1978-01-07..1979-02-11 | iranian revolution, islamic revolution | since the Iranian Revolution
1979-12-24..1989-02-15 | soviet-afghan war | during the Soviet–Afghan War
1980-09-22..1988-08-20 | iran-iraq war | during the Iran-Iraq War
1982-04-02..1982-06-14 | falklands war | at the start of the Falklands War
1990-08-02..1991-02-28 | gulf war, first gulf war, persian gulf war | during the Gulf War
1992-04-06..1995-12-14 | bosnian war | during the Bosnian War
2003-03-20..2011-12-18 | iraq war | at the beginning of the Iraq War
2010-12-17..2012 | arab spring | after the Arab Spring
2020-03-11..2023-05-05 | covid-19 pandemic, covid pandemic, coronavirus pandemic, covid-19 \
| before the COVID-19 pandemic
"""
"""Wars, revolutions and plagues: what happens and is over ("since the war" is since its end)."""

ERAS = """
0793..1066 | viking age | in the Viking Age
1485-08-22..1603-03-24 | tudor period, tudor era, tudor times | in Tudor times
1558-11-17..1603-03-24 | elizabethan era, elizabethan age, elizabethan times | in the Elizabethan era
1603..1868 | edo period, edo era, tokugawa period, tokugawa era | in the Edo period
1714..1837 | georgian era, georgian period | in the Georgian era
1837-06-20..1901-01-22 | victorian era, victorian age, victorian period, victorian times | in the Victorian era
1865..1877 | Reconstruction, reconstruction era | after Reconstruction
1868-10-23..1912-07-30 | meiji era, meiji period | in the Meiji era
1901-01-22..1910-05-06 | edwardian era, edwardian age, edwardian period | in the Edwardian era
1912-07-30..1926-12-25 | taisho era, taisho period, taishō era, taishō period | in the Taisho era
1918-11-11..1939-09-01 | interwar period, interwar years, inter-war period, inter-war years | in the interwar period
1920..1929 | roaring twenties | in the Roaring Twenties
1920-01-17..1933-12-05 | Prohibition, prohibition era | during Prohibition
1922-12-30..1991-12-26 | soviet era, soviet period, soviet times | in the Soviet era
1926-12-25..1989-01-07 | showa era, showa period, shōwa era, shōwa period | in the Showa era
1933-01-30..1945-05-08 | nazi era, nazi period | in the Nazi era
1948..1994 | apartheid era, apartheid | during apartheid
1960..1969 | swinging sixties | in the Swinging Sixties
1989-01-08..2019-04-30 | heisei era, heisei period | in the Heisei era
2019-05-01.. | reiwa era, reiwa period | since the Reiwa era
"""
"""Names of a time, and of nothing else."""

STATES = """
-0201..0220 | han dynasty | during the Han dynasty
0618..0907 | tang dynasty | during the Tang dynasty
0960..1279 | song dynasty | under the Song dynasty
1368..1644 | ming dynasty | under the Ming dynasty
1644..1912 | qing dynasty | until the end of the Qing dynasty
1858..1947 | british raj | during the British Raj
1871-01-18..1918-11-09 | german empire | during the German Empire
1918-11-09..1933 | weimar republic | during the Weimar Republic
1933-01-30..1945-05-08 | third reich, nazi regime | under the Third Reich
"""
"""Dynasties and regimes: "in the Weimar Republic" says where as much as when."""

POINTS = """
0476 | fall of rome, fall of the western roman empire | after the fall of Rome
1066 | norman conquest | before the Norman Conquest
1066-10-14 | battle of hastings | after the Battle of Hastings
1215-06-15 | magna carta, signing of magna carta, signing of the magna carta, *magna carta was signed, \
*magna carta was sealed | before Magna Carta
1453-05-29 | fall of constantinople, *constantinople fell | after the fall of Constantinople
1492-10-12 | discovery of america | before the discovery of America
1773-12-16 | boston tea party | before the Boston Tea Party
1776-07-04 | us declaration of independence, american declaration of independence | before the US Declaration of \
Independence
1789-07-14 | storming of the bastille | after the storming of the Bastille
1815-06-18 | battle of waterloo | at the time of the Battle of Waterloo
1863-01-01 | emancipation proclamation | after the Emancipation Proclamation
1868-01-03 | meiji restoration | before the Meiji Restoration
1901-01-22 | death of queen victoria, queen victoria's death, *queen victoria died | when Queen Victoria died
1912-04-15 | sinking of the titanic, *titanic sank | when the Titanic sank
1917-11-07 | october revolution, bolshevik revolution | before the October Revolution
1919-06-28 | treaty of versailles | after the Treaty of Versailles
1941-12-07 | attack on pearl harbor, pearl harbor attack, Pearl Harbor | after the attack on Pearl Harbor
1944-06-06 | d-day, normandy landings | on D-Day
1945-05-08 | ve day, v-e day | on VE Day
1945-08-06 | bombing of hiroshima, atomic bombing of hiroshima | before the bombing of Hiroshima
1947-08-15 | partition of india, independence of india, indian independence, india's independence, \
*india became independent | before the partition of India
1953-03-05 | death of stalin, stalin's death, *stalin died | after Stalin's death
1963-11-22 | kennedy assassination, assassination of john f. kennedy, assassination of kennedy, \
*kennedy was assassinated, jfk assassination, assassination of jfk, *jfk was assassinated, *jfk was shot, \
*kennedy was shot | when Kennedy was assassinated
1969-07-20 | moon landing, first moon landing | at the time of the moon landing
1974-08-09 | resignation of nixon, nixon's resignation, *nixon resigned | until Nixon resigned
1975-04-30 | fall of saigon | after the fall of Saigon
1986-04-26 | chernobyl disaster, chernobyl accident, Chernobyl | since the Chernobyl disaster
1989-06-04 | tiananmen square massacre | after the Tiananmen Square massacre
1989-11-09 | fall of the berlin wall, *berlin wall fell, *berlin wall came down | before the fall of the Berlin Wall
1990-10-03 | german reunification, reunification of germany, *germany was reunified | before German reunification
1991-12-26 | dissolution of the soviet union, collapse of the soviet union, fall of the soviet union, breakup of the \
soviet union, *soviet union collapsed, *soviet union dissolved, *soviet union fell | after the dissolution of the \
Soviet Union
1997-07-01 | handover of hong kong, hong kong handover | since the handover of Hong Kong
1998-04-10 | good friday agreement | since the Good Friday Agreement
2001-09-11 | 9/11 attacks, 9/11, september 11 attacks, september 11th attacks, attacks of september 11 | since 9/11
2005-08-23..2005-08-31 | hurricane katrina | after Hurricane Katrina
2011-03-11 | fukushima disaster | after the Fukushima disaster
2016-06-23 | brexit referendum, brexit vote | before the Brexit referendum
2020-01-31 | brexit | since Brexit
"""
"""Events of a day; of a year where the day is not agreed on."""

_US = "us, u.s., usa, united states, america"
_UK = "uk, u.k., united kingdom, britain, great britain"

# Who held an office once and without a break. A name with a ? counts only where the office is named with it.
TERMS: tuple[tuple[Office, str, str], ...] = (
    (
        "president",
        _US,
        """
1861-03-04..1865-04-15 | abraham lincoln, lincoln? | when Lincoln was president
1933-03-04..1945-04-12 | franklin d. roosevelt, franklin roosevelt, fdr | under Franklin Roosevelt
1945-04-12..1953-01-20 | harry truman, harry s. truman, truman? | during the Truman administration
1953-01-20..1961-01-20 | dwight d. eisenhower, dwight eisenhower, eisenhower | under Eisenhower
1961-01-20..1963-11-22 | john f. kennedy, jfk, kennedy? | under President Kennedy
1963-11-22..1969-01-20 | lyndon b. johnson, lyndon johnson, lbj | under Lyndon Johnson
1969-01-20..1974-08-09 | richard nixon, nixon | during the Nixon administration
1974-08-09..1977-01-20 | gerald ford, ford? | when Ford was president
1977-01-20..1981-01-20 | jimmy carter, carter? | during Carter's presidency
1981-01-20..1989-01-20 | ronald reagan, reagan | in the Reagan years
1989-01-20..1993-01-20 | george h. w. bush, george h.w. bush | under George H. W. Bush
1993-01-20..2001-01-20 | bill clinton, clinton? | during the Clinton administration
2001-01-20..2009-01-20 | george w. bush | during the presidency of George W. Bush
2009-01-20..2017-01-20 | barack obama, obama | when Obama was president
2021-01-20..2025-01-20 | joe biden, biden | under Biden
""",
    ),
    (
        "president",
        "france",
        """
1959-01-08..1969-04-28 | charles de gaulle, de gaulle | when de Gaulle was president
1981-05-21..1995-05-17 | françois mitterrand, francois mitterrand, mitterrand | under Mitterrand
1995-05-17..2007-05-16 | jacques chirac, chirac | while Chirac was president
2007-05-16..2012-05-15 | nicolas sarkozy, sarkozy | under Sarkozy
""",
    ),
    ("president", "south africa", "1994-05-10..1999-06-14 | nelson mandela, mandela | under Nelson Mandela"),
    ("president", "russia", "1991-07-10..1999-12-31 | boris yeltsin, yeltsin | under Yeltsin"),
    ("prime minister", "india", "1947-08-15..1964-05-27 | jawaharlal nehru, nehru | under Nehru"),
    (
        "prime minister",
        _UK,
        """
1945-07-26..1951-10-26 | clement attlee, attlee | when Attlee was prime minister
1979-05-04..1990-11-28 | margaret thatcher, mrs thatcher, mrs. thatcher, thatcher | under Thatcher
1990-11-28..1997-05-02 | john major, major? | when John Major was prime minister
1997-05-02..2007-06-27 | tony blair, blair? | after Tony Blair left office
2007-06-27..2010-05-11 | gordon brown | under Gordon Brown
2010-05-11..2016-07-13 | david cameron, cameron? | before David Cameron became prime minister
2016-07-13..2019-07-24 | theresa may | when Theresa May was prime minister
2019-07-24..2022-09-06 | boris johnson | under Boris Johnson
""",
    ),
    (
        "chancellor",
        "germany, west germany",
        """
1871-03-21..1890-03-20 | otto von bismarck, bismarck | while Bismarck was chancellor
1949-09-15..1963-10-16 | konrad adenauer, adenauer | under Adenauer
1982-10-01..1998-10-27 | helmut kohl, kohl? | after Helmut Kohl left office
1998-10-27..2005-11-22 | gerhard schröder, gerhard schroeder, schröder? | under Gerhard Schröder
2005-11-22..2021-12-08 | angela merkel, merkel | when Merkel was chancellor
""",
    ),
    ("crown", "france", "1643-05-14..1715-09-01 | louis xiv | during the reign of Louis XIV"),
    ("crown", "russia", "1894-11-01..1917-03-15 | nicholas ii | during the reign of Nicholas II"),
    (
        "crown",
        "england, uk, united kingdom, britain, great britain",
        """
1509-04-22..1547-01-28 | henry viii | in the reign of Henry VIII
1558-11-17..1603-03-24 | elizabeth i | when Elizabeth I was queen
1760-10-25..1820-01-29 | george iii | under George III
1837-06-20..1901-01-22 | queen victoria | when Queen Victoria was on the throne
1952-02-06..2022-09-08 | elizabeth ii | during the reign of Elizabeth II
""",
    ),
    ("leader", "italy", "1922-10-31..1943-07-25 | benito mussolini, mussolini | under Mussolini"),
    ("leader", "germany", "1933-01-30..1945-04-30 | adolf hitler, hitler | when Hitler came to power"),
    ("leader", "china", "1949-10-01..1976-09-09 | mao zedong, mao | under Mao Zedong"),
    (
        "leader",
        "soviet union, ussr",
        """
1924-01-21..1953-03-05 | joseph stalin, stalin | under Stalin
1953-09-14..1964-10-14 | nikita khrushchev, khrushchev | under Khrushchev
1964-10-14..1982-11-10 | leonid brezhnev, brezhnev | in the Brezhnev era
1985-03-11..1991-12-25 | mikhail gorbachev, gorbachev | under Gorbachev
""",
    ),
)

_EVERYWHERE = frozenset(  # first names of what is the same all over the world; the others say where as well
    (
        "first world war|second world war|cold war|black death|great depression|interwar period|spanish flu|"
        "covid-19 pandemic|industrial revolution|roaring twenties|swinging sixties|fall of the berlin wall|"
        "moon landing|9/11 attacks|fall of rome|wall street crash|viking age"
    ).split("|")
)


class Known(NamedTuple):
    """What a name stands for; of a term ``office`` and ``lands`` say which office and of which country.

    ``clause``: the name is one ("Titanic sank"). ``local``: the name says where as well ("the Weimar Republic").
    ``unclear``: others have the name too, so the office must stand beside it ("Carter").
    """

    name: str
    kind: Kind | Literal["term"]
    interval: Interval
    local: bool
    clause: bool = False
    capital: bool = False
    unclear: bool = False
    office: Office | None = None
    lands: tuple[str, ...] = ()


class Row(NamedTuple):
    """A line of the tables above."""

    interval: Interval
    names: tuple[str, ...]
    example: str


def rows(block: str) -> list[Row]:
    """The lines of a table.

    >>> [(str(row.interval), row.names) for row in rows("1917 | russian revolution | before the Russian Revolution")]
    [('1917', ('russian revolution',))]
    """
    found = []
    for line in block.strip().splitlines():
        days, names, example = line.split(" | ")
        start, dots, end = days.partition("..")
        first = parse_iso(start)
        interval = first if not dots else join(first, parse_iso(end)) if end.strip() else since(first)
        found.append(Row(interval, tuple(names.split(", ")), example))
    return found


def _every() -> Iterator[Known]:
    blocks: tuple[tuple[Kind, str], ...] = (
        ("happening", HAPPENINGS),
        ("era", ERAS),
        ("state", STATES),
        ("point", POINTS),
    )
    for kind, block in blocks:
        for row in rows(block):
            local = row.names[0] not in _EVERYWHERE
            for name in row.names:
                capital = name[0].isupper()
                yield Known(name.lstrip("*").lower(), kind, row.interval, local, name[0] == "*", capital)
    for office, lands, block in TERMS:
        for row in rows(block):
            for name in row.names:
                known = Known(name.rstrip("?"), "term", row.interval, True, unclear=name[-1] == "?")
                yield known._replace(office=office, lands=tuple(lands.split(", ")))


_WORD = re.compile(r"\w+")
_SIGNS = str.maketrans("’‘‐‑–—", "''----")


def _by_first_word() -> dict[str, tuple[Known, ...]]:
    """The names that begin with a word, the longest first."""
    table: dict[str, list[Known]] = {}
    for known in _every():
        table.setdefault(re.split(r"\W", known.name, maxsplit=1)[0], []).append(known)
    return {word: tuple(sorted(found, key=lambda known: -len(known.name))) for word, found in table.items()}


_NAMES = _by_first_word()
_FIRST_WORDS = frozenset(_NAMES) | {"wars"}  # and of "between the wars"


def folded(text: str) -> str:
    """A text in lower case, with plain apostrophes and hyphens, and as long as it was."""
    lowered = text.lower()
    return (lowered if len(lowered) == len(text) else text).translate(_SIGNS)


def names_one(text: str) -> bool:
    """Whether a text may hold a name of the tables, or "the wars"; quick where it does not."""
    found = _WORD.findall(text.lower())
    return not _FIRST_WORDS.isdisjoint(found) and ("wars" in found or bool(named(text)))


def known_at(text: str, low: str, at: int) -> tuple[Known, int] | None:
    """What the tables know that is named at a place of a text (``low``: the text folded), and where the name ends."""
    word = _WORD.match(low, at)
    for known in _NAMES.get(word.group(), ()) if word else ():
        if low.startswith(known.name, at):
            end = at + len(known.name)
            if not _WORD.match(low, end) and (not known.capital or text[at].isupper()):
                return known, end
    return None


def named(text: str) -> list[Known]:
    """All that the tables know in a text, in its order.

    >>> [(known.name, str(known.interval)) for known in named("Where was D-Day planned in the Second World War?")]
    [('d-day', '1944-06-06'), ('second world war', '1939-09-01..1945-09-02')]
    """
    low = folded(text)
    found: list[Known] = []
    behind = 0
    for match in _WORD.finditer(low):
        if match.group() in _NAMES and match.start() >= behind:
            hit = known_at(text, low, match.start())
            if hit is not None:
                found.append(hit[0])
                behind = hit[1]
    return found
