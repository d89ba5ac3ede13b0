"""Words of rules, compared by what they mean: stems, words of one meaning, modal verbs, negations.

Small closed lists, for English. What they do not know is compared by its stem.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from responsa.text import normalise

Force = Literal["must", "may", "must not", "need not", "should"]

# Words of one meaning, a row each; the first names them. Compared by their stems.
_SAME = """
notify notification inform tell told advise alert report
keep kept retain maintain maintenance hold held preserve store
obtain receive receipt get got acquire acquisition arrive
give gave given provide supply furnish deliver submit submission send sent hand file lodge
disclose publish reveal publication state public publicly
consent approval approve permission permit authorisation authorise authorised allow allowed let
check verify verification examine
appoint designate name
annual annually yearly year years
monthly month months
quarterly quarter quarters
weekly week weeks
daily day days
increase raise rise rose risen
begin began begun start commence
beforehand advance
end terminate cease stop finish
buy bought purchase
use utilise
person persons people anyone somebody someone anybody one
exceed above over
fall fell fallen drop decline decrease
extra additional further addition besides
explain explanation reason
breach violation infringement contravention violate infringe contravene
choose chose chosen choice select
assist help
help support
pay payment paid bear bore borne
need require requirement required
charge charged fee
build built establish set laid create
show shown demonstrate
consist compose composed comprise include contain inclusion
because since
previous preceding
supervisor we us our
basis ground
meet met fulfil satisfy comply compliance
extend extension lengthen prolong
result lead
perform undertake undertaken conduct
apply application
identify identification
classify classification
modify modification
justify justification
certify certification
specify specification
qualify qualification
exclude exclusion
decide decision
conclude conclusion
admit admission
suspend suspension
rely reliance
redeem redemption
refuse refusal
remove removal
dispose disposal
revoke revocation
sell sold sale
lend lent loan
hear heard
deem treat regard consider opinion
accordance line
equal equivalent equivalence
together conjunction along
extent far
exempt exemption free
ask request
entitle entitlement right
immediately promptly forthwith
lose lost loss
prove proof evidence
sign signature
fail failure
die death deceased
intend intention
destroy destruction
complain complaint
refer reference
describe description
produce production
reduce reduction
reside resident residence live
occur happen
vary variation
enter entry
exist existence
know known knowledge
marry marriage
must shall
"""
_SAME_ACTORS = """
client customer
holder shareholder
bank institution
firm company undertaking entity
supervisor regulator authority
adviser advisor
chair chairman chairperson
"""
_STOP_WORDS = """
a an the this that these those its their his her it they them he she of to in on at by for from with into onto upon as
and or but nor than then so such other own same both either neither each any all every some no not only also still yet
is are was were be been being am do does did has have had having will would shall must may can could should might need
needs needed ought which who whom whose what when where while if unless until whether because since there here
least most more less fewer under below above over up down within without before after during between through per
about again once twice thrice due no nobody none never cannot
rule rules provision says states stated according text requires require required requirement obliged obligation
permitted allowed prohibited forbidden mandatory compulsory possible necessary
maximum minimum following take place carry out make made making period time place order
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty thirty forty fifty sixty seventy eighty ninety hundred
carried carries carrying pursuant
way case cases accordingly via just solely one ones else longer however prior latest although though often
"""
_STOP = frozenset(_STOP_WORDS.split())
_UNIVERSAL = re.compile(
    r"\b(?:(?<!at )all|every(?! (?:\w+ )?(?:day|week|month|quarter|year|days|weeks|months|years)\b)|always|everyone|"
    r"everybody|whenever|in (?:all|any|every) (?:cases?|circumstances)|regardless|without exception)\b",
    re.IGNORECASE,
)
_ACTORS_WORDS = """
accountant actuary administrator adviser advisor agency agent applicant auditor authority bank beneficiary board
borrower broker buyer client commission company consumer contractor council court creditor custodian customer debtor
depositary depositor director distributor eba ecb eiopa employee employer esma exchange executive firm fund
government guarantor
holder institution insured insurer intermediary investor issuer lender liquidator manager member minister ministry
officer operator originator owner parliament partner policyholder president provider registrar regulator
representative secretary seller servicer shareholder sponsor staff supervisor trader trustee tribunal undertaking
underwriter user venue chair chairman chairperson committee nominee participant delegate licensee claimant assessor
valuer expert body transferee transferor carrier firm entity institution
"""
ACTORS = frozenset(_ACTORS_WORDS.split())
_CALENDAR_WORDS = """
january february march april june july august september october november december monday tuesday wednesday thursday
friday saturday sunday noon midnight
"""
CALENDAR = frozenset(_CALENDAR_WORDS.split())

_TOKEN = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*")
_CLAUSE = re.compile(r"[;:]|,(?!\d)|\b(?:but|while|whereas)\b|—|\s-\s")
_FORCES: tuple[tuple[str, str], ...] = (
    (
        "need not",
        r"need(?:s)? not|(?:does|do|did|is|are) not (?:be )?(?:need|have|required?|obliged)(?: to)?|"
        r"(?:shall|will) not (?:need|have|be required|be obliged)(?: to)?|"
        r"(?:is|are|be) exempt(?:ed)? from|"
        r"no (?:such )?(?:\w+ ){1,4}?(?:is|are|shall be) (?:needed|required|necessary)|"
        r"no longer (?:has|have|needs?) to|not necessary|not mandatory|may choose whether to",
    ),
    (
        "must not",
        r"(?:must|shall|may|can|could) (?:in no (?:case|event)|never|neither|not|no longer)|cannot|"
        r"(?:is|are|be) (?:prohibited|forbidden|banned|not (?:permitted|allowed|entitled|authorised))(?: from| to)?|"
        r"(?:nobody|no one|none) (?:may|shall|can|must)",
    ),
    ("should", r"should(?: not)?|(?:is|are) (?:expected|encouraged|invited|advised|recommended) to"),
    (
        "must",
        r"must|shall|(?:is|are|be) (?:required|obliged|bound|obligated) to|ha(?:s|ve) to|needs? to|"
        r"(?:is|are) (?:mandatory|compulsory|to be)|has to be",
    ),
    (
        "may",
        r"may|can(?!not)|could|might|(?:is|are|be) (?:permitted|allowed|entitled|authorised|authorized|empowered|"
        r"free) to|(?:is|are) (?:permitted|allowed|possible)",
    ),
)
_FORCE = re.compile(
    "|".join(f"(?P<{name.replace(' ', '_')}>\\b(?:{words})(?!\\w))" for name, words in _FORCES), re.IGNORECASE
)
_AFTER = re.compile(
    r"\s*(?:,[^,;:.]{1,120},\s*)?(?:(?:also|always|only|then|further|therefore|at all times|not|be|been|have|has|"
    r"first|each|both|either|in particular|without [a-z ]{1,24}?(?:delay)|immediately|promptly|publicly|[a-z]+ly)\s+)*"
    r"(?P<verb>[a-z]+)",
    re.IGNORECASE,
)
_BE = re.compile(
    r"\s*(?:,[^,;:.]{1,120},\s*)?(?:not |also |only |then |always |first )*be(?:en)?\s+(?:[a-z]+ly )*"
    r"[a-z]+(?:ed|en|t|ne|d|de|ld|wn|id)\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(r"\W*(?:no\b(?! (?:more|less|later|fewer|longer) than)|nobody|neither|none)\b")
_JOINING = re.compile(r"\A\W*(?:and|or|but)\s")
_NO_SUCH = re.compile(
    r"\bnor\s\Z|(?<!\bwith )(?<!\bhas )(?<!\bhave )(?<!\bis )(?<!\bif )(?<!\bor )(?<!\band )\b"
    r"(?:nobody|no one|no (?!more\b|less\b|later\b|fewer\b|longer\b)(?:(?!and\b|or\b|but\b)[\w-]+ ){1,3})\s?\Z"
)
NEGATION = re.compile(
    r"\b(?:(?<!whether or )not|no|never|nobody|none|neither|nor|cannot|(?<!with or )without|in the absence of|"
    r"absent(?=,? an?\b)|failing|non|fail(?:s|ed|ure)? to)\b|n't\b",
    re.IGNORECASE,
)
LIMIT = re.compile(
    r"\b(?:unless|except(?:ion|ions|ing)?|only|solely|other than|save|exempt\w*|prohibit\w*|forbid\w*|exclud\w*|"
    r"outside|provided that|subject to|free|apart from|un(?!der|i[ofqtv]|til)\w{5,}|void)\b",
    re.IGNORECASE,
)

_UNABLE = re.compile(r"\b(?:that|who|which|(?:if|where|when) (?:it|they|he|she|(?:an? |the )?\w+))\s\Z", re.IGNORECASE)
_LEAVE = re.compile(r"\b(?:may|can|could|might)\s\Z", re.IGNORECASE)


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    import Stemmer

    stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord
    return stem


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    stem = _stemmer()
    named: dict[str, str] = {}
    for row in _SAME.strip().splitlines():
        first, *others = row.split()
        for word in (first, *others):
            named.setdefault(stem(word), stem(first))
    return named


@lru_cache(maxsize=20_000)
def meaning(word: str) -> str:
    """The name of what a word means: that of its row, else its stem."""
    plain = word.lower().removesuffix("'s")
    stem = _stemmer()(plain)
    if singular(plain) in ACTORS:
        return _actor_names().get(singular(plain), singular(plain))
    return _names().get(stem, stem)


def singular(word: str) -> str:
    """A noun without its plural."""
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


@lru_cache(maxsize=1)
def _actor_names() -> dict[str, str]:
    return {other: row.split()[0] for row in _SAME_ACTORS.strip().splitlines() for other in row.split()}


@lru_cache(maxsize=1)
def actors() -> frozenset[str]:
    """The meanings of words for who acts."""
    return frozenset(map(meaning, ACTORS))


@lru_cache(maxsize=1)
def calendar() -> frozenset[str]:
    """The meanings of months and days of the week."""
    return frozenset(map(meaning, CALENDAR))


def tokens(text: str) -> list[str]:
    """Lower-cased words and numbers in order."""
    return _TOKEN.findall(normalise(text).lower())


@lru_cache(maxsize=4096)
def content(text: str) -> tuple[str, ...]:
    """The meanings of the words that carry a text, in order; no numbers."""
    return tuple(
        meaning(word) for word in tokens(text) if word not in _STOP and not word[0].isdigit() and len(word) > 1
    )


_LABEL = re.compile(r"(?<!^)\b(?:[B-HJ-Z]|A(?= [a-z]+)|\d+)\b")


@lru_cache(maxsize=4096)
def labels(text: str) -> frozenset[str]:
    """Single letters and numbers, which name categories and sections."""
    return frozenset(_LABEL.findall(text))


def share(part: tuple[str, ...], whole: frozenset[str]) -> float:
    """The share of the distinct words of a part that a text holds; 1 for a part without a word."""
    distinct = set(part)
    return len(distinct & whole) / len(distinct) if distinct else 1.0


def universals(text: str) -> int:
    """How many words say that something holds without exception."""
    return len(_UNIVERSAL.findall(text))


@dataclass(frozen=True, slots=True)
class Modal:
    """A modal phrase at ``start`` to ``end`` of a text, the verb that it governs by its meaning, and its voice."""

    force: Force
    start: int
    end: int
    verb: str
    passive: bool
    only: bool


@lru_cache(maxsize=4096)
def modals(text: str) -> tuple[Modal, ...]:
    """The modal phrases of a normalised text in its order."""
    return tuple(_modals(text))


def _modals(text: str) -> Iterator[Modal]:
    for match in _FORCE.finditer(text):
        if (match.start() == 0 and match[0] == "Should") or (match[0] == "May" and match.start()):
            continue  # "Should it fail, ..."; the month
        if match[0].lower() == "cannot" and _UNABLE.search(text, 0, match.start()):
            continue  # "a firm that cannot do so": not banned from it
        if match[0].lower().startswith("be ") and _LEAVE.search(text, max(0, match.start() - 6), match.start()):
            continue  # "may be required to" is leave to require
        force = str(match.lastgroup).replace("_", " ")
        after = _AFTER.match(text, match.end())
        verb = meaning(after["verb"]) if after else ""
        start, end = clause_at(text, match.start())
        inside = text[start:end].lower()
        only = re.search(r"\b(?:only|solely)\b", inside) is not None
        before = _JOINING.sub("", text[start : match.start()].lower(), count=1)
        if (_NOBODY.match(before) or _NO_SUCH.search(before)) and force in ("may", "must"):
            waived = re.match(r"ha|is|are|need", match[0].lower())
            force = "need not" if force == "must" and waived else "must not"
        yield Modal(
            force,  # type: ignore[arg-type]
            *match.span(),
            verb,
            _BE.match(text, match.end()) is not None or _BE.match(text, max(0, match.end() - 3)) is not None,
            only,
        )


def clause_at(text: str, place: int) -> tuple[int, int]:
    """The stretch between commas, semicolons and colons that a place stands in."""
    start = 0
    for cut in _CLAUSE.finditer(text):
        if cut.start() >= place:
            return start, cut.start()
        start = cut.end()
    return start, len(text)


def clauses(text: str) -> list[str]:
    """The stretches between commas, semicolons and colons."""
    cuts = [0, *(cut.end() for cut in _CLAUSE.finditer(text))]
    ends = [*(cut.start() for cut in _CLAUSE.finditer(text)), len(text)]
    return [text[start:end] for start, end in zip(cuts, ends, strict=True) if text[start:end].strip()]
