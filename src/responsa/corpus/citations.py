"""The pieces of a citation: lists of numbers on one level.

`responsa.corpus.chains` joins levels within levels, `responsa.corpus.references` acts and what was cited before.
Tokens are only read forwards, so that the work is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

from responsa.corpus.acts import Token
from responsa.corpus.ranges import expand, numeral, roman

# Levels, from the outermost to the innermost.

_WORDS = {
    "annex": "annex annexes anhang",
    "schedule": "schedule schedules",
    "appendix": "appendix appendices app",
    "part": "part parts",
    "title": "title titles",
    "chapter": "chapter chapters",
    "section": "section sections",
    "sub-section": "sub-section sub-sections subsection subsections",
    "recital": "recital recitals",
    "article": "article articles art arts artikel artikeln artikels artículo artículos articolo articoli artt",
    "rule": "rule rules",
    "paragraph": "paragraph paragraphs para paras par absatz abs § paragraphe paragraphes paragrafo paragrafi apartado"
    " apartados",
    "subparagraph": "subparagraph subparagraphs sub-paragraph sub-paragraphs subpara subparas unterabsatz unterabs uabs"
    " alinéa alinéas alinea alineas párrafo párrafos",
    "point": "point points lit letter letters buchstabe buchst nr no item lettera lettere letra letras",
    "indent": "indent indents",
    "sentence": "sentence sentences",
}
LEVEL = MappingProxyType({word: level for level, words in _WORDS.items() for word in words.split()})
RANK = MappingProxyType({level: rank for rank, level in enumerate(_WORDS)})
DIVISIONS = frozenset({"annex", "schedule", "appendix", "part", "title", "chapter", "section", "sub-section"})
INNER = frozenset({"paragraph", "subparagraph", "point", "indent", "sentence"})
ORDINALS = tuple(
    re.findall(r"\w+", "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth last final")
)
_WRITTEN = MappingProxyType({
    "1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth", "premier": "first",
    "première": "first", "deuxième": "second", "troisième": "third", "quatrième": "fourth", "dernier": "last",
    "primer": "first", "segundo": "second", "tercer": "third",
})  # fmt: skip
_COUNTED = re.compile(r"\d+(?:st|nd|rd|th)")  # no number of an article
_CARDINALS = re.findall(r"\w+", "zero one two three four five six seven eight nine ten eleven twelve")
_NOT_POINTS = frozenset(["basis", "percentage", "data", "validation", "golden", "general"])
# After a bare number: it is an amount, not the next of a list.
_UNITS = frozenset(
    re.findall(
        r"\S+",
        "% day days month months year years week weeks calendar business working million billion bn percent basis eur"
        " euro euros € times thousand usd january february march april june july august september october november"
        " december column columns row rows /",
    )
)
_AFTER = ("to", "and", "or")
_ROMANCE = ("et", "ou", "e", "y")  # and, or; but (e) is a point
_PLURAL = frozenset(["articles", "artículos", "articoli", "artt"])  # "artículos 412 a 415", but "Article 12 a firm"
OF = ("of", "der", "des", "du", "de", "del", "della", "dell", "von", "vom")
LETTERS = frozenset(["lit", "letter", "letters", "buchstabe", "buchst", "lettera", "lettere", "letra", "letras"])
_ONWARDS = frozenset(["ff", "seq", "seqq", "sqq", "suivants"])  # "411 ff.", "411 et seq."
ONLY_INSIDE = frozenset(["nr", "no", "§", "item"])  # levels behind an article or annex only: "Article 4 No. 82"
# A full stop may follow.
_SHORTENED = frozenset(
    re.findall(r"\w+", "art arts artt lit para par subpara subparas app abs unterabs uabs buchst nr no")
)
_LATIN = MappingProxyType({"bis": "a", "ter": "b", "quater": "c", "quinquies": "d"})


class Item(NamedTuple):
    """One of a list. ``labels`` go inwards: 36, 1, a. ``start`` to ``end``: the words that it comes from."""

    labels: tuple[str, ...]
    start: int
    end: int


class Segment(NamedTuple):
    """A list on one level, and the token after it. ``how`` is "number", "ordinal" or "this" (this, that)."""

    level: str
    how: str
    items: tuple[Item, ...]
    end: int


def segment(found: Sequence[Token], at: int, room: int = 600) -> Segment | None:
    """What is cited on one level at a token; None where nothing is. ``room`` bounds what a range expands to."""
    token = found[at]
    if token.kind not in ("word", "run") and token.value not in ONLY_INSIDE and token.value not in _WRITTEN:
        return None
    return _ordinals(found, at) or _demonstrative(found, at) or _numbered(found, at, room)


def _ordinals(found: Sequence[Token], at: int) -> Segment | None:
    """ "(that) first and second subparagraph"."""
    k = at + (found[at].value in ("this", "that") and at + 1 < len(found))
    items: list[Item] = []
    for _ in range(6):
        word = _WRITTEN.get(found[k].value, found[k].value) if k < len(found) else ""
        if word not in ORDINALS:
            break
        items.append(Item((word,), found[k].start if items else found[at].start, found[k].end))
        k = _after_separator(found, k + 1)[0]
    level = LEVEL.get(found[k].value) if items and k < len(found) else None
    if level is None or level not in INNER or (level == "paragraph" and items[-1].labels == ("last",)):
        return None
    items[-1] = items[-1]._replace(end=found[k].end)
    return Segment(level, "ordinal", tuple(items), _past_stop(found, k))


def _demonstrative(found: Sequence[Token], at: int) -> Segment | None:
    if found[at].value not in ("this", "that") or at + 1 >= len(found):
        return None
    noun = found[at + 1]
    if noun.value == "point" and at and found[at - 1].value in ("on", "at"):  # "at this point"
        return None
    level = LEVEL.get(noun.value)
    if (
        level in (None, "sentence", "recital")
        or noun.value in ONLY_INSIDE
        or not (noun.capital or level in INNER)
        or noun.value in ("letter", "art")
    ):
        return None
    following = [token.value for token in found[at + 2 : at + 4]]
    letter = len(following) == 2 and len(following[0]) == 1 and following[0].isalpha() and following[1] in _AFTER
    if letter or _numbered(found, at + 1, 0):  # "states that paragraph 2", "that subparagraph a"
        return None
    return Segment(LEVEL[noun.value], "this", (Item((found[at].value,), found[at].start, noun.end),), at + 2)


def _numbered(found: Sequence[Token], at: int, room: int) -> Segment | None:
    level = LEVEL.get(found[at].value)
    if level is None or (at and found[at - 1].value in _NOT_POINTS and level in ("point", "rule")):
        return None
    first = _item(found, _past_no(found, _past_stop(found, at)), level, found[at])
    if first is None:
        return None
    item, k = first
    items = [item._replace(start=found[at].start)]
    while True:
        k = _past_onwards(found, k)
        after, joins = _after_separator(found, k, plural=found[at].value in _PLURAL)
        again = joins == "to" and LEVEL.get(found[after].value) == level  # "Article 132a to Article 134"
        after = _past_no(found, _past_stop(found, after) if again else after)
        step = _item(found, after, level, None) if joins else None
        if step is None or not _goes_on(found, after, step[1], level, items[-1]) or _enumerates(found, k, after):
            return Segment(level, "number", tuple(items), k)
        if joins == "to" and _falls(items[-1].labels, step[0].labels):
            if level == "article" and found[k].value == "-" and len(items) == 1:  # "Article 429 - 11"
                items = [Item(items[0].labels + step[0].labels, items[0].start, step[0].end)]
                k = step[1]
            return Segment(level, "number", tuple(items), k)
        last, (new, k) = k, step
        new = new._replace(labels=_completed(items[-1].labels, new.labels, found[after].kind, level))
        span = items[-1].start, new.end
        between = expand(items[-1].labels, new.labels, room) if joins == "to" else None
        if again and not between:
            return Segment(level, "number", tuple(items), last)
        if between:
            room = max(room - len(between), 0)
            items[-1:] = [Item(labels, *span) for labels in between]
        else:
            items.append(new)


def _past_stop(found: Sequence[Token], at: int) -> int:
    """The token after a word of a level and the full stop that shortens it."""
    return at + 1 + (found[at].value in _SHORTENED and at + 1 < len(found) and found[at + 1].value == ".")


def _past_onwards(found: Sequence[Token], at: int) -> int:
    """The token after the "ff." of "Article 411 ff." and the "et seq." of "Articles 411 et seq."."""
    k = at + (at + 1 < len(found) and found[at].value == "et")
    if k >= len(found) or found[k].value not in _ONWARDS:
        return at
    stop = k + 1 < len(found) and found[k + 1].value == "."
    sentence = k + 2 < len(found) and found[k + 2].kind == "word" and found[k + 2].capital
    return k + 1 + (stop and not sentence)


def _past_no(found: Sequence[Token], k: int) -> int:
    """The token after the "No" of "paragraphs No 74 and No 75"."""
    return k + (k + 1 < len(found) and found[k].value in ("no", "nr", "number") and found[k + 1].kind == "num")


def _falls(low: tuple[str, ...], high: tuple[str, ...]) -> bool:
    return low[0].isdigit() and high[0].isdigit() and len(low) == len(high) == 1 and int(low[0]) > int(high[0])


def _enumerates(found: Sequence[Token], last: int, at: int) -> bool:
    """Whether "ii)" after "Article 48 and" counts the writer's own points: it has one bracket, the number none."""
    return _is_half(found[at]) and not _is_half(found[last - 1])


def _is_half(token: Token) -> bool:
    return token.kind == "bracket" and token.end - token.start == len(token.value) + 1


def numbers(found: Sequence[Token], at: int, level: str) -> Segment | None:
    """A number without its word: the "17.4" of "COBS 17.4", the "465 (1)" of "CRR 465 (1)"."""
    step = _item(found, at, level, None) if at < len(found) and found[at].kind == "num" else None
    return Segment(level, "number", (step[0],), step[1]) if step else None


def _goes_on(found: Sequence[Token], at: int, end: int, level: str, last: Item) -> bool:
    """Whether a number after a comma or "and" is the next of the list and no amount."""
    token = found[at]
    if token.kind != "num":
        return True
    small = level in DIVISIONS and len(last.labels[0]) < 3  # "Section 6 and 364 (2)", but "sections 210 and 211"
    most = 1200 if level in ("article", "recital") else 99 if small else 9999
    if token.value.isdigit() and int(token.value) > most:
        return False
    if end - at > 1 or end >= len(found):
        return True
    return found[end].value not in _UNITS and not (found[end].kind == "act" and "/" in found[end].value)


def _after_separator(found: Sequence[Token], at: int, *, plural: bool = False) -> tuple[int, str]:
    """The token after "," "and" "or" "to" "-", and which kind of separator it was: "and", "to" or "".

    ``plural``: so "a" is one, before a number.
    """
    k, kind = at, ""
    for _ in range(3):
        value = found[k].value if k < len(found) else ""
        if value in ("and", "or", ",", "&", "/", "und", "oder") or (value in _ROMANCE and _is_small_word(found[k])):
            k, kind = k + 1, kind or "and"
        elif kind != "to" and (
            value in ("to", "-", "–", "through", "bis", "à") or (plural and _is_romance_to(found, k))
        ):
            k, kind = k + 1, "to"
        else:
            break
    return (k, kind) if k < len(found) else (at, "")


def _is_small_word(token: Token) -> bool:
    return token.kind == "word" and not token.capital


def _is_romance_to(found: Sequence[Token], k: int) -> bool:
    if k + 1 >= len(found) or found[k].value != "a":
        return False
    return _is_small_word(found[k]) and found[k + 1].kind == "num"


def _item(found: Sequence[Token], at: int, level: str, label: Token | None) -> tuple[Item, int] | None:
    """An item of a list at a token, and the token after it. ``label`` is the word before the first."""
    if at >= len(found):
        return None
    head = _head(found, at, level, label)
    if head is None:
        return None
    labels, k = list(head), at + 1
    latin = level == "article" and k < len(found) and found[k].value in _LATIN and labels[-1].isdigit()
    if latin and not _is_range(found, k, int(labels[-1])):
        labels[-1] += _LATIN[found[k].value]
        k += 1
    elif level == "article" and k + 1 < len(found) and labels[-1].isdigit() and _is_suffix(found[k], found[k + 1]):
        labels[-1] += found[k].value  # "Article 429 b (1)"
        k += 1
    open_ended = level not in DIVISIONS - {"section", "annex"} or (level == "part" and len(labels) > 1)
    while k < len(found) and found[k].kind == "bracket" and len(labels) < 8 and open_ended:
        labels.append(found[k].value)
        k += 1
    if level == "article" and len(labels) > 1 and _is_written_on(found, k):  # "36 (1) b. CRR"
        labels.append(found[k].value)
        k += 1
    return Item(tuple(labels), found[at].start, found[k - 1].end), k


def _is_range(found: Sequence[Token], k: int, low: int) -> bool:
    """Whether the "bis" behind a number is the German for to: "Artikel 411 bis 415"."""
    word = k + 1 < len(found) and LEVEL.get(found[k + 1].value) == "article"
    at = _past_stop(found, k + 1) if word else k + 1
    high = re.match(r"\d+", found[at].value) if at < len(found) and found[at].kind == "num" else None
    return found[k].value == "bis" and high is not None and int(high[0]) > low


def _is_suffix(letter: Token, following: Token) -> bool:
    single = letter.kind == "word" and len(letter.value) == 1 and not letter.capital
    return single and following.kind == "bracket" and following.value.isdigit()


def _is_written_on(found: Sequence[Token], k: int) -> bool:
    """Whether a single letter behind a number and its brackets is one of its labels: an act follows."""
    if k + 2 >= len(found) or found[k].kind != "word" or len(found[k].value) != 1 or found[k].capital:
        return False
    after = k + 1 + (found[k + 1].value in (".", "of"))
    return found[after].kind == "act" or (after + 1 < len(found) and found[after + 1].kind == "act" and after > k + 1)


def _head(found: Sequence[Token], at: int, level: str, label: Token | None) -> tuple[str, ...] | None:
    token = found[at]
    if token.kind == "bracket":
        listed = label is None or token.value.isdigit()  # "Articles 8(1) and (2)", "Article (4)(1)"
        usable = level in INNER or level == "recital" or (listed and level in ("article", "rule", "section"))
        return (token.value,) if usable and not token.capital else None
    if token.kind == "num":
        if (level == "annex" and "." in token.value) or _COUNTED.fullmatch(token.value):
            return None
        if level in ("article", "paragraph", "part"):
            return tuple(token.value.split("."))
        return (roman(int(token.value)),) if level == "annex" and token.value.isdigit() else (token.value,)
    if level == "point" and label is not None and len(token.value) == 1 and token.kind == "word":
        return _letter(found, at, label)
    if token.kind != "word" or level not in DIVISIONS:
        return None
    if label is not None and not label.capital and not _is_numeral(found, at):
        return None
    if token.value in _CARDINALS and level == "part":
        return (str(_CARDINALS.index(token.value)),)
    if not token.capital:
        return None
    value = numeral(token.value)
    if value:
        return (str(value) if level == "part" else token.value.upper(),)
    joined = at + 1 < len(found) and found[at + 1].value == "-" and found[at + 1].start == token.end  # "Part C-34.00"
    single = len(token.value) == 1 and label is not None and not joined
    return (token.value.upper(),) if single and level in ("annex", "section", "part", "appendix") else None


def _is_numeral(found: Sequence[Token], at: int) -> bool:
    """Whether the I of "part I" is no pronoun: longer ones are none."""
    following = found[at + 1].value if at + 1 < len(found) else "."
    token = found[at]
    return token.capital and numeral(token.value) > 0 and (len(token.value) > 1 or following in (*",.:;()", "of"))


def _letter(found: Sequence[Token], at: int, label: Token) -> tuple[str, ...] | None:
    """The a of "letter a" and "point a of Article 5"; "point a" alone may be any words."""
    following = found[at + 1].value if at + 1 < len(found) else "."
    sure = label.value in LETTERS or following in ("of", ".", ";")
    return (found[at].value,) if sure and not found[at].capital else None


def _completed(last: tuple[str, ...], new: tuple[str, ...], kind: str, level: str) -> tuple[str, ...]:
    """The labels of "(c)" in "36(1)(b) and (c)": those of the item before it, up to the one that it replaces.

    So too for 74 in "Part 2.72-74", and for 2(a) in "48(1)(a) and 2(a)".
    """
    if kind != "bracket":
        if level == "part" and len(last) == 2 and len(new) == 1:
            return last[:1] + new
        nxt = len(last) > 1 and len(new) > 1 and last[1].isdigit() and new[0] == str(int(last[1]) + 1)
        return last[:1] + new if nxt and level == "article" and _falls(last[:1], new[:1]) else new
    floor = 0 if level in INNER or level == "recital" else 1
    digit = new[0][0].isdigit()
    for place in range(len(last) - 1, floor - 1, -1):
        old = last[place]
        if old[0].isdigit() != digit:
            continue
        if not digit and place > floor and numeral(old) and not numeral(new[0]) and not last[place - 1][0].isdigit():
            continue  # (a)(ii) and (b)
        return last[:place] + new
    return last + new if len(last) == floor else last[:floor] + new
