"""Names of acts, and a text cut into tokens. One pattern, all of whose parts are bounded: linear in the text."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import NamedTuple

CRR, LCR_DA = "32013R0575", "32015R0061"
OTHER = "other"  # named, but not by a name that is known: "Article 4 of the ITS"

# Short names and their CELEX numbers; of ADGM's the name itself. `(?i:` marks those written in any case.
_ALIASES: tuple[tuple[str, str], ...] = (
    (r"(?i:crr)\s?(?:2|II)\b", "32019R0876"),
    (r"(?i:crr)\s?(?:3|III)\b", "32024R1623"),
    (r"(?i:crr)(?:\sI)?\b|(?i:capital\srequirements?\sregulation(?:\s\(CRR\))?)\b|575/2013\b", CRR),
    (
        r"LCR[\s-](?:DA|DR|(?i:delegated\s(?:act|regulation)|regulation))\b(?:\s(?:\(EU\)\s)?2015/61\b)?|(?:(?i:delegated\s(?:act|regulation))\s)?2015/61\b"
        r"|LCR(?=\s(?:Art|Annex))"
        r"|(?i:delegated\sact\s(?:(?:on|specifying|for)\s)?(?:the\s)?(?:lcr|liquidity\scoverage(?:\sr\w{1,12})?))\b",
        LCR_DA,
    ),
    (r"(?i:crd)\s?(?:5|V)\b", "32019L0878"),
    (r"(?i:crd)\s?(?:6|VI)\b", "32024L1619"),
    (r"(?i:crd)\s?(?:2|II)\b", "32009L0111"),
    (r"(?i:crd)\s?(?:3|III)\b", "32010L0076"),
    (r"(?i:crd)(?:\s?(?:4|IV))?\b|(?i:capital\srequirements?\sdirective)(?:\sIV)?\b", "32013L0036"),
    (r"(?i:brrd)(?:\s?(?:2|II)\b)", "32019L0879"),
    (r"(?i:brrd)\b|(?i:bank\srecovery\sand\sresolution\sdirective)\b", "32014L0059"),
    (r"EMIR\b|(?i:european\smarket\sinfrastructure\sregulation)\b", "32012R0648"),
    (r"(?i:mifid)\s?(?:2|II)\b", "32014L0065"),
    (r"(?i:mifid)(?:\s?(?:1|I))?\b", "32004L0039"),
    (r"(?i:mifir)\b", "32014R0600"),
    (r"SRMR\b", "32014R0806"),
    (r"DGSD\b|(?i:deposit\sguarantee\sschemes?\sdirective)\b", "32014L0049"),
    (r"AIFMD\b", "32011L0061"),
    (r"(?i:ucits\sdirective)\b|UCITS(?=\sArt)", "32009L0065"),
    (r"(?i:solvency\sii)\b", "32009L0138"),
    (r"(?i:securitisation\sregulation)\b", "32017R2402"),
    (r"(?i:taxonomy\sregulation)\b", "32020R0852"),
    (r"FICOD\b|(?i:financial\sconglomerates?\sdirective)\b", "32002L0087"),
    (r"CRAR\b|(?i:CRA\sregulation)\b", "32009R1060"),
    (r"SSMR\b|(?i:SSM\sregulation)\b", "32013R1024"),
    (r"SFTR\b", "32015R2365"),
    (r"CSDR\b", "32014R0909"),
    (r"PSD\s?(?:2|II)\b", "32015L2366"),
    (r"(?i:accounting\sdirective)\b", "32013L0034"),
    (r"(?i:covered\sbonds?\sdirective)\b", "32019L2162"),
    (r"(?i:its\s(?:on|for)\s(?:the\s)?(?:supervisory\s)?reporting)\b", "32014R0680"),
    (r"(?i:rts\s(?:on|for)\s(?:the\s)?own\sfunds(?:\srequirements)?)\b", "32014R0241"),
    (
        r"(?i:rts\son\s(?:the\s)?calculation\sof\s(?:specific\sand\sgeneral\s)?credit\srisk\sadjustments)\b",
        "32014R0183",
    ),
    (r"(?i:rts\son\s(?:the\s)?materiality\sthresholds?)\b", "32018R0171"),
    (r"TFEU\b", "12012E"),
    (r"FSMR\b|(?i:financial\sservices\sand\smarkets\sregulations)(?:\s2015)?\b", "FSMR"),
    (r"COBS\b", "COBS"),
)
# What the provisions of an act are cited by: "CRR Art. 92(1)".
_SHORT = MappingProxyType({
    CRR: "CRR", LCR_DA: "LCR", "32019R0876": "CRR2", "32024R1623": "CRR3", "32013L0036": "CRD", "32019L0878": "CRD5",
    "32024L1619": "CRD6", "32014L0059": "BRRD", "32019L0879": "BRRD2", "32012R0648": "EMIR", "32014L0065": "MiFID2",
    "32004L0039": "MiFID", "32014R0600": "MiFIR", "32014R0806": "SRMR", "32014L0049": "DGSD", "32011L0061": "AIFMD",
})  # fmt: skip
_RULEBOOKS = r"(?:GEN|PRU|AML|FUNDS|MIR|CIB|PIN|MAR|FEES|ISL|CMC|ENV)(?=\s(?:(?:Rules?|Chapter|Part|App)\s)?\d)"
_NOUN = (
    r"(?:Regula-?tions?|Reg\.?|R[eéè]glement|Regolamento|Reglamento|Directives?|Direttiva|Directiva|Decisions?"
    r"|Recommendations?|Verordnung|Richtlinie)"
)
_TREATY = r"(?:EU|UE|EC|CE|EEC|ECB|Euratom)"
_INSTRUMENT = (
    rf"(?:(?:Commission|Council|EU)\s{{1,3}})?(?:(?:Delegated|Implement(?:ing|ed))\s{{1,3}})?(?P<noun>{_NOUN})"
    rf"\s{{0,3}}(?:\(?{_TREATY}(?:,\sEuratom)?\)?\s{{0,3}})?(?:N(?:[o°ºr]\.?|\.\s?[oº°]?)\s{{0,3}})?\(?"
    rf"(?P<a>\d{{1,4}})\s?/\s?(?P<b>\d{{1,4}})(?:\s?/\s?{_TREATY})?\b"
)
_BARE = (
    rf"\({_TREATY}\)\s{{0,3}}(?:No\.?\s{{0,3}})?(?P<ra>\d{{1,4}})/(?P<rb>\d{{1,4}})\b"
    rf"|\b(?P<la>\d{{2,4}})/(?P<lb>\d{{1,4}})/{_TREATY}\b"
    r"|(?<![\w/-])(?:[IR]TS|RE|D[AR])\s{1,2}(?:\(EU\)\s?)?(?:[Nn]o\.?\s{0,2})?(?P<ta>\d{3,4})/(?P<tb>\d{3,4})\b"
)
_ALIAS = "|".join(f"(?P<k{k}>{pattern})" for k, (pattern, _) in enumerate(_ALIASES))
_TOKEN = re.compile(
    rf"(?P<act>(?<![\w/-])(?i:{_INSTRUMENT})|{_BARE})"
    rf"|(?P<alias>(?<![\w-])(?<![\d:./]/)(?:{_ALIAS}))"
    r"|(?P<foreign>\bEBA\s?[/-]?\s?(?:GL|RTS|ITS|Op|DC|CP)[/-]\d{4}[/-]\d{1,3}\b)"
    rf"|(?P<book>\b{_RULEBOOKS})"
    r"|\(\s?(?P<bracket>\d{1,3}[a-z]{0,2}|[a-z]{1,5}|[A-Z]{1,2})\s?\)"
    r"|(?<![\w(])(?P<half>\d{1,3}|[a-z]|[ivx]{2,5})\)"
    r"|(?P<num>\d{1,4}(?:(?=of\b)|(?:[a-z]{1,2}(?![^\W_]))?(?:\.(?:\d{1,3}[a-z]?|[a-z])(?![^\W_])){0,6}(?![^\W_])))"
    r"|(?P<word>[^\W\d_]{1,40}(?:-[^\W\d_]{1,40}){0,3})"
    r"|(?P<mark>[^\s\w]|_)"
    r"|(?P<run>\w{1,200})"
)
_LETTER = MappingProxyType({"r": "R", "v": "R", "d": "L"})  # by the first letter of the noun


# In brackets these are words, not letters of a list.
_SHORT_WORDS = frozenset(
    re.findall(
        r"\w+",
        "an as at be by do go he if in is it me my no of on or so to up us we and are but can for has its may nor not"
        " one our own per see she the two was who also even from into less only over plus such than that then they this"
        " thus were when with each which these those other under until where there their being after total",
    )
)


class Token(NamedTuple):
    """``kind`` is act, bracket, num, word or mark; ``value`` the key of an act, else the text, words in lower case."""

    kind: str
    value: str
    start: int
    end: int
    capital: bool = False


def tokens(text: str) -> list[Token]:
    """The text as tokens; what is neither word, number nor sign is passed over."""
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(text):
        kind, value = match.lastgroup or "", match.group()
        start, end = match.span()
        if match["act"] is not None:
            kind, value = "act", _celex(match)
        elif match["alias"] is not None:
            kind = "act"
            value = next(key for k, (_, key) in enumerate(_ALIASES) if match[f"k{k}"] is not None)
        elif match["book"] is not None:
            kind = "act"
        elif match["foreign"] is not None:  # "EBA/GL/2017/16"
            kind, value = "word", "guidelines"
        elif kind in ("bracket", "half"):
            kind, value = "bracket" if kind == "bracket" or not depth else "num", match[kind]
        if kind == "bracket" and value in _SHORT_WORDS:
            continue
        if kind == "num" and match["half"]:  # "(see Article 416)": the bracket was opened before
            kind, end, depth = "num" if value.isdigit() else "word", end - 1, depth - 1
        elif kind == "mark":
            depth = min(max(depth + (value == "(") - (value == ")"), 0), 9)
        capital = value[:1].isupper()
        found.append(Token(kind, value.lower() if kind == "word" else value, start, end, capital))
    return found


def _celex(match: re.Match[str]) -> str:
    noun = (match["noun"] or "").lower()
    if match["ra"]:
        return celex("R", match["ra"], match["rb"])
    if match["la"]:
        return celex("L", match["la"], match["lb"])
    if match["ta"]:
        return celex("R", match["ta"], match["tb"])
    letter = "D" if noun.startswith("dec") else "H" if noun.startswith("rec") else ""
    letter = letter or ("L" if noun.startswith("ri") else "R" if noun.startswith("re") else _LETTER[noun[0]])
    return celex(letter, match["a"], match["b"])


def celex(letter: str, first: str, second: str) -> str:
    """The CELEX number of an act from the two numbers in its name: 575/2013, 2015/61, 2009/65, 86/635."""
    late = letter == "R" and _is_year(second) and not (_is_year(first) and int(first) >= 2015)
    if letter == "R" and len(second) == 2 and len(first) > 2 and not _is_year(first):
        late = True
    year, number = (second, first) if late else (first, second)
    return f"3{year if len(year) == 4 else f'19{year.zfill(2)}'}{letter}{int(number):04d}"


def name_of(key: str) -> str:
    """The name that citations of an act begin with, from its CELEX number: "CRR", "Regulation 2020/852"."""
    found = re.fullmatch(r"3(\d{4})([RLDH])(\d{4})", key)
    if key in _SHORT or found is None:
        return _SHORT.get(key, key)
    year, letter, number = found[1], found[2], str(int(found[3]))
    noun = {"R": "Regulation", "L": "Directive", "D": "Decision", "H": "Recommendation"}[letter]
    late = letter == "R" and int(year) < 2015  # regulations had their number before the year until then
    return f"{noun} {number}/{year}" if late else f"{noun} {year}/{number}"


def _is_year(text: str) -> bool:
    return len(text) == 4 and 1950 <= int(text) <= 2099
