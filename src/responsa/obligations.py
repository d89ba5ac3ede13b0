"""Which sentences of regulation bind somebody, by rules over the verbs of the main clause.

A sentence is read as a row of finite verbs. Verbs of relative and conditional clauses are set aside; each verb of a
main clause names a rule of `_RULES`, and the strongest decides: obligation, permission, definition, other. The labels
follow the project's labelling guide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from responsa.text import normalise
from responsa.types import Detection, Label, ObligationDetector

# What each rule says, and how likely a sentence that it decides is an obligation: (obligations + 1) / (sentences + 2)
# on the development part of tests/data/obligation_labels.jsonl, where it decides five or more of its 151 sentences;
# set by hand between its neighbours otherwise (marked *).
_RULES: dict[str, Detection] = {
    "must": Detection("obligation", 0.98),
    "shall": Detection("obligation", 0.95),
    "duty": Detection("obligation", 0.89),  # is required to, needs to, has to, is to be, requires ... to
    "ban": Detection("obligation", 0.9),  # * may not, cannot, is prohibited, no ... may
    "only": Detection("obligation", 0.8),  # * may only, only if, is subject to approval
    "offence": Detection("obligation", 0.9),  # * commits a contravention if
    "stray": Detection("obligation", 0.6),  # * must or shall, but in what looks like a side clause
    "waived": Detection("permission", 0.05),  # * need not, is not required to, shall not apply
    "allowed": Detection("permission", 0.1),
    "defined": Detection("definition", 0.08),
    "measure": Detection("definition", 0.3),  # * shall be equal to, shall be the sum of
    "status": Detection("other", 0.1),  # * shall be deemed, shall qualify as, shall enter into force
    "applies": Detection("other", 0.15),  # * shall apply to
    "possible": Detection("other", 0.05),  # * may result in, there may be
    "soft": Detection("other", 0.14, soft=True),
    "fact": Detection("other", 0.04),
}
_STRENGTH: dict[Label, int] = {"obligation": 3, "permission": 2, "definition": 1, "other": 0}
_ORDER = {name: (_STRENGTH[rule.label], rule.soft, rule.obligation) for name, rule in _RULES.items()}
_LIMIT = 4000  # characters looked at: the main clause comes early, and table-like passages can be huge


@dataclass(frozen=True, slots=True)
class RuleObligationDetector:
    """Labels sentences by the verbs of their main clauses. Needs no model; about 30,000 sentences a second.

    ``obligation`` of a `Detection` is how often the deciding rule was right on labelled sentences, not a
    calibrated probability.
    """

    def __call__(self, sentences: Sequence[str]) -> list[Detection]:
        return [_RULES[_rule(sentence)] for sentence in sentences]


OBLIGATION_DETECTORS: dict[str, Callable[[], ObligationDetector]] = {"rules": RuleObligationDetector}


# --- words ----------------------------------------------------------------------------------------------

# "~" in a form: adverbs, or an insertion between commas, that may stand after a verb; "~n~" the same with a "not".
# No text can be read in two ways, so that a long row of adverbs is read once: "only" is kept from the last branch,
# and nothing follows the adverbs but a "not" or a comma.
_INSERTION = r",[^,;:]{1,120},"
_ADVERBS = (
    r"(?: (?:also|always|further|then|only|both|either|at all times|at least|"
    r"in particular|in turn|however|therefore|thus|hereby|(?!likely|unlikely|only\b)[a-z]+ly))*"
)
_ADVERB = f"(?:{_INSERTION})?{_ADVERBS}"
_ADVERB_NOT = f"{_ADVERB}(?: not{_ADVERB}|{_INSERTION}{_ADVERBS})?"


def _forms(lines: str) -> str:
    """One pattern of lines "rule  how the verb goes on"; rules are tried in the order of first lines."""
    rules: dict[str, list[str]] = {}
    for line in lines.strip().splitlines():
        rule, form = line.split(maxsplit=1)
        rules.setdefault(rule, []).append(form.replace("~n~", _ADVERB_NOT).replace("~", _ADVERB))
    return "|".join(f"(?P<{rule}>{'|'.join(forms)})" for rule, forms in rules.items())


_compiled = cache(re.compile)  # when first asked for: together they take a tenth of a second

_SHALL = _forms(r"""
    waived   ~ not~ apply\b(?! (?:the|an?|any|this|these)\b)
    waived   ~ (?:cease to apply|be exempt|not prevent|not preclude|not~ be (?:required|obliged))
    allowed  ~ (?:be (?:entitled|permitted|allowed|empowered|free) to|have (?:the )?(?:power|right))
    defined  ~ (?:mean\b|refer to|denote|have the (?:same )?meaning|be defined|be material)
    defined  ~ be (?:construed|interpreted|read|understood)\b
    measure  ~ be (?:equal|equivalent) to
    measure  ~ be (?:the|an?) (?:\w+ )?(?:(?:[\w-]+ ){0,3}horizon|sum|time|difference)\b
    measure  ~ be (?:the|an?) (?:\w+ )?(?:amount|value|product|ratio)\b
    measure  ~ be (?:the|an?) (?:\w+ )?(?:high|low|larg|great|small)(?:er|est)\b
    measure  ~ be (?:the|an?) (?:\w+ )?(?:average|mean|median|percentage|period|number|date|aggregate|total)\b
    measure  ~ be (?:the|an?) (?:\w+ )?(?:excess|maximum|minimum|result)\b
    applies  ~n~ apply(?=[.,;:]|$)
    applies  ~n~ apply (?:to|from|until|as|for|where|when|if|only|mutatis|with|accordingly|in)\b
    applies  ~n~ apply (?:also|without|by|unless|on|at|instead|equally)\b
    status   ~n~(?:,[^,]{1,120},(?: [a-z ]{1,60},)?)?(?: by reason only of [a-z ]{1,40})? be deemed
    status   ~n~ be (?:considered|regarded|presumed|valid|invalid)\b
    status   ~n~ be (?:void|binding|effective|liable|eligible)\b
    status   ~n~ be (?:without prejudice|repealed|admissible|enforceable|addressed)\b
    status   ~n~ (?:qualify|constitute|enter into force|come into)
    status   ~n~ (?:take effect|expire|lapse|render|count as)
    status   ~n~ (?:affect\b|prejudice|incur (?:any )?liability|form an integral|continue in force)
    status   ~n~ have (?:legal )?(?:effect|the force)
""")
_MUST = _forms(r"""
    defined  ~(?: not)? be (?:construed|interpreted|read|understood)\b
    fact     [ ]be (?:noted|emphasi[sz]ed|stressed)
""")
_MAY = _forms(r"""
    only      ~ only\b
    only      \b(?! not)[^.;:]{1,200}? only (?:if|where|when|after|once|to the extent|with|by|on|in)\b
    possible  ~ (?:or may not|not yet|not necessarily|not always|not have|well|still|need|find|come|mean)\b
    possible  ~ not be (?:able|aware|possible|appropriate|necessary|relevant|sufficient|suitable)
    possible  ~ be (?:exposed|relevant|difficult|likely|unable|able)
    possible  ~ be (?:subject|more|less|so|that|possible|the case)
    possible  ~ be (?:caused|considered|seen|an? (?:sign|indicat|risk|case))
    possible  ~ be (?:aware|unaware|necessary|appropriate|particularly|such|other|some|cases)
    possible  ~ be (?:circumstances|very|too|helpful|useful|required|insufficient|affected|situations)
    possible  ~ have (?:an?|the|no|some|been|different|accrued|adverse|significant|material|arisen|taken)\b
    possible  ~ (?:result|include|lead|arise|occur|cause|happen|depend|vary|differ|affect)
    possible  ~ (?:impact|indicate|suggest|give rise|raise|wish|want|become|fail|seem|appear|involve|exist)
    possible  ~ (?:contain|consist|comprise|remain|provide an indication|have occurred)
    possible  ~ (?:increase|decrease|change|pose|represent|present|expose|reduce|reflect|contribute)
    ban       ~ not\b
""")
_CAN = _forms(r"""
    ban      (?: ?not\b)(?! (?:be (?:sure|certain|excluded|ruled)|always|necessarily))
    only     [ ]only\b
    allowed  ~ (?:request|require|apply|elect|choose|appoint|impose)\b
    allowed  ~ (?:decide|opt|use|rely|waive|ask|direct|delegate|take|grant)\b
    allowed  ~ (?:make|exercise|terminate|withdraw|submit)\b
""")
_CANNOT = _forms(r"fact  [ ](?:be (?:sure|certain|excluded|ruled)|always|necessarily)")
_WILL = _forms(r"""
    duty  ~(?: be)? (?:required|obliged|need|have) to\b
    soft  ~(?: be)? expect
""")
_SHOULD = _forms(r"fact  [ ]be (?:noted|emphasi[sz]ed|stressed)")
_WOULD = _forms(r"soft  ~(?: be)? expect")
_BE = _forms(r"""
    waived   ~ (?:not~ (?:required|obliged|obligated|subject) to\b|exempt|excluded from the)
    ban      ~ (?:prohibited|precluded)
    ban      ~ (?:forbidden|not (?:permitted|allowed|entitled)|not to be (?:made|used|disclosed))
    soft     ~ (?:expected to|encouraged|recommended)
    soft     ~ (?:important (?:that|to|for)|good practice|advisable|advised to)
    defined  ~ (?:defined|a specified kind of|calculated as|references? to)
    defined  ~ (?:to be (?:construed|interpreted|read|understood)\b)
    defined  ~ (?:the (?:sum|higher|lower|difference|product|ratio) of)
    status   ~(?: not)? to be (?:regarded|treated|taken|considered|deemed)
    duty     ~ (?:required (?:by [^,;:]{1,80} )?(?:to|not to)|obliged to)
    duty     ~ (?:obligated to|under an? (?:duty|obligation))
    duty     ~ (?:bound to|mandatory|(?:not )?to (?!the|a|an|those|that|any|such|its)[a-z]+)
    allowed  ~ (?:entitled|permitted|allowed|empowered|authorised|free) (?:by [^,;:]{1,80} )?to\b
    only     ~ subject to (?:the |an? |any )?(?:[a-z]+ ){0,2}(?:approval|consent|authorisation)
    only     ~ subject to (?:the |an? |any )?(?:[a-z]+ ){0,2}(?:floor|cap|minimum)
    only     ~ subject to (?:the |an? |any )?(?:[a-z]+ ){0,2}(?:maximum|limit|ceiling|additional)
    only     \b[^.;:]{0,120}? only if\b
""")
_DO = _forms(r"""
    waived  [ ]not(?: also)? (?:apply\b|need to|have to|require (?:an?|the) (?:[a-z]+ ){1,4}to\b)
    fact    [ ]not\b
    soft    [ ]expect
""")
_NEED = _forms(r"""
    waived  [ ]not\b
    duty    [ ]to\b
""")
_HAVE = _forms(r"""
    duty     [ ]to (?!the|a|an|that)[a-z]+
    defined  [ ]the (?:same )?meaning
    allowed  [ ](?:the |a )?(?:right|power|discretion) to
""")
_REQUIRE = _forms(r"""
    duty  (?! to\b)[^.;:]{1,160}? to (?!(?:the|an?|any|all|such|its|their|this|that)\b)[a-z]+
    duty  [^.;:]{0,60} (?:approval|consent)\b
    duty  [ ](?:that|compliance|disclosure|notification)\b
""")
_PERMIT = _forms(r"allowed  [ ][^.;:]{1,160}?\b(?:to|transactions?|persons?|institutions?|firms?)\b")
_COMMIT = _forms(r"offence  [ ](?:an?|the) (?:contravention|offence|breach)")
_MEAN = _forms(r"""
    fact     [ ](?:of|to|by which|that)\b
    defined  \b
""")

# verbs: (how they go on, the rule when nothing of that matches; "" for none)
_VERBS: dict[str, tuple[str, str]] = {
    verb: (forms, rule)
    for verbs, forms, rule in (
        ("must", _MUST, "must"), ("shall", _SHALL, "shall"), ("may", _MAY, "allowed"), ("can", _CAN, "fact"),
        ("cannot", _CANNOT, "ban"), ("will", _WILL, "fact"), ("should", _SHOULD, "soft"),
        ("would could might was were", _WOULD, "fact"), ("is are", _BE, "fact"), ("does do did", _DO, "fact"),
        ("has have had", _HAVE, "fact"), ("need needs", _NEED, ""), ("requires require", _REQUIRE, ""),
        ("prohibits prohibit", _forms(r"ban  [ ]\w+"), ""), ("permits allows", _PERMIT, ""), ("commits", _COMMIT, ""),
        ("means", _MEAN, "defined"), ("mean", _MEAN, ""), ("refers", _forms(r"defined  [ ]to\b"), ""),
        ("denotes", _MEAN, "defined"), ("expects expect", _WOULD, "soft"),
    )
    for verb in verbs.split()
}  # fmt: skip
# Words that open a side clause; "that", "as", "before" and "after" only in some places, see `_opened`.
_SIDE = re.compile(
    r"that|which|whose|whom|who|where|if|when|unless|whether|because|since|though|although|whereas|while|until|how|"
    r"what|as|before|after"
)
_EVENT = re.compile(rf"\b(?:{'|'.join(_VERBS)}|{_SIDE.pattern})\b|[,;:]|\.(?= )")
_INITIAL = re.compile(
    r"(?:and |or |but |however, |accordingly, )?(?:where|if|when|unless|while|although|because|since|"
    r"whenever|though|whereas|until|once|before|after|insofar as|to the extent(?: that)?|in cases? where|"
    r"in the event that|as)\b"
)
_NO_SUBJECT = re.compile(r"(?:\A|[,;:] )(?:no|neither|none|nor)\b[^,;:]*\Z")
_REGULATOR = re.compile(
    r"\b(?:regulator|fsra|pra|fca|eba|esma|eiopa|commission|council|authorit|court|rules?|regulations?|board|"
    r"minister|bank of)"
)
_POWERLESS = re.compile(r" (?:be|have|need|wish|result|lead|not)\b")  # what not even a regulator "may" as of right
_PURPOSE = re.compile(
    r"\b(?:purpose|aims?|objectives?|intention|intent|function|role|effect|goal|focus|task|idea|point|approach)\b"
)
_FIGURE = re.compile(r"\b(?:following|risk weights?|factors?|rates?|haircuts?|percentages?|multipliers?|formulae?)\b")
_BASE_FORM = re.compile(r"\b(?:to|and|or|not|will|may|can|shall|must|should|would|could|might) \Z")
_NOUN_MEANS = (" by ", " other ", " such ", " any ", " no ", " the ", " of ")
# After these a "must" may well be that of the main clause: "If a firm breaches the limit it must tell".
_CLOSED_LATE = ("initial", "whose", "who")
_DETERMINED = re.compile(
    r"(?:[.:;,]|\b(?:of|in|for|to|on|by|with|from|at|under|than|during|and|or|within|into|upon)) \Z"
)
_CLAUSE_SUBJECT = re.compile(r" (?:it|they|he|she|we|may|is|are|the (?:regulator|case|commission))\b")
_RELATIVE_VERB = re.compile(  # a relative pronoun and then, at once, its verb
    r" (?:(?:also|then|not|only|[a-z]+ly) )?(?!(?:the|an?|it|its|they|he|she|we|you|any|such|all|each|every|"
    r"there|this|these|those|their|his|no|some|is|are|was|were|has|have|had|must|shall|may|can|cannot|will|would|should|"
    r"could|might|does|do|need|needs|requires?|permits|allows|institutions|firms|persons|competent|authorities|insurers|"
    r"applicants|clients|where|if|when|in|for|on|under)\b)[a-z]+s?\b"
)
_INSERTED = re.compile(
    r", (?:such as|including|or|and|other than|whether|being|in accordance|pursuant|under|as|which|who)\b"
)
_AFTER_LIST = re.compile(r"[;,] (?!(?:and |or )?\(|(?:and|or) )")


# --- reading --------------------------------------------------------------------------------------------

_NUMBERING = re.compile(r"\A\W*(?:(?:\(?[a-z0-9]{1,3}(?:\.[a-z0-9]{1,4}){0,5}[.)]+|\*\*\w{1,5}\.\*\*)\W*)++(?=\w)")
_LIST_DASH = re.compile(r"\s?-\s?(?=\([a-z0-9]{1,4}\)|\Z)")
_QUOTED = re.compile(r'"[^"]{1,80}"')
_BRACKETS = re.compile(r"\s?\([^()]{5,300}\)")  # not "(ii)", which is part of a clause number
_REPORTED = re.compile(  # "Section 242 provides that": what follows is the rule itself
    r"\A(?:under |pursuant to )?[^,;:]{0,80}\b(?:rules?|sections?|articles?|chapters?|parts?|paragraphs?|"
    r"regulations?|cobs|gen|fsmr|mir|aml)\b[^,;:]{0,60}? "
    r"(?:provides?|states?|specif(?:y|ies)|stipulates?|sets? out|prescribes?) that "
)
_EXAMPLE = re.compile(r"(?:for example|for instance|example\b|note that|note:|it should be noted)")
_DEFINES = re.compile(
    r"\A(?:for the purposes? of [^,]{1,80}, |in (?:this|these) [^,]{1,60}, )?(?:an? |the |any )?"
    r"(?:(?:term|expression|word|references? (?:in [^,]{1,60} )?to)s? [^,;:]{1,120}?|X )(?:also )?"
    r"(?:includes?|shall include|is|are|comprises?)\b"
)
_GLOSSARY = re.compile(r"\A(?:Means\b|[A-Z][\w' -]{1,60} (?:Means|Includes|has the meaning)\b)")


def _rule(sentence: str) -> str:
    """The name of the rule that decides the sentence."""
    plain = normalise(sentence[:_LIMIT])[:_LIMIT]  # NFKC can make eighteen characters of one
    text = _NUMBERING.sub("", plain.lower())
    if not text or text.startswith("|") or text.endswith("?") or _EXAMPLE.match(text):
        return "fact"
    text = _LIST_DASH.sub(": ", text)
    text = _BRACKETS.sub("", _BRACKETS.sub("", _QUOTED.sub("X", text)))
    if _GLOSSARY.match(plain):
        return "defined"
    report = _REPORTED.match(text)
    if report:
        text = text[report.end() :]
    best = max((verb.rule for verb in main_verbs(text)), key=_ORDER.__getitem__, default="fact")
    return "defined" if _ORDER[best][0] < _STRENGTH["permission"] and _DEFINES.match(text) else best


class Verb(NamedTuple):
    """A finite verb, its place in the text read, and the name of the rule that it falls under."""

    rule: str
    start: int
    end: int


def main_verbs(text: str) -> Iterator[Verb]:
    """The verbs of main clauses, in order, of a text in lower case with single blanks.

    A word such as "which" or "if" takes the next finite verb with it; a comma ends what it opened. When a
    lead-in has decided, its list items are not read.
    """
    clause, depth, resume = 0, 0, _side_start(text, 0)
    found = decided = aside = False
    stray: Verb | None = None
    opener = ""
    for event in _EVENT.finditer(text):
        word, start = event[0], event.start()
        if start < resume:
            if word in ("must", "shall"):
                stray = Verb("stray", start, event.end())
            continue
        if word in ",;:.":
            if word == ":" and decided:
                return
            depth, aside = 0, False
            if word == ".":
                resume = _side_start(text, event.end() + 1)
            if word != ",":
                clause = event.end()
        elif word not in _VERBS:
            opener = "initial" if start == 0 else word
            depth, resume = _opened(text, event, depth)
        else:
            rule, end = _classify(text, event, clause)
            if not rule or (word == "require" and found):
                continue
            resume = max(resume, end)
            # "is or must be": the second verb is where the first one is.
            aside = depth > 0 or (
                aside and text.startswith((" or ", " and "), start - 5 if text[start - 2] == "d" else start - 4)
            )
            if aside:
                depth = max(0, depth - 1)
                if word in ("must", "shall") and _RULES[rule].label == "obligation" and opener in _CLOSED_LATE:
                    stray = Verb("stray", start, event.end())
                continue
            yield Verb(rule, start, event.end())
            found = True
            decided = decided or rule not in ("fact", "applies")
    if not decided and stray and text[-1:] in ".;:":
        yield stray


def _side_start(text: str, start: int) -> int:
    """Where the main clause begins in a sentence that begins with a conditional clause, else ``start``."""
    initial = _INITIAL.match(text, start)
    if not initial:
        return start
    after = initial.end()
    if text.startswith(",", after):
        after += 1  # "where, having heard the firm, it decides"
    comma, colon, stop = (text.find(mark, after) for mark in (",", ":", ". "))
    if colon >= 0 and (comma < 0 or colon < comma):
        ends = [match.end() for match in _AFTER_LIST.finditer(text, colon)]
        return ends[-1] if ends else start
    while comma >= 0 and _INSERTED.match(text, comma) and text.find(",", comma + 1) > 0:
        comma = text.find(",", comma + 1)
    return start if comma < 0 or 0 <= stop < comma else comma


def _opened(text: str, event: re.Match[str], depth: int) -> tuple[int, int]:
    """Depth and reading position after a word that may open a side clause."""
    word, start, end = event[0], event.start(), event.end()
    if word in ("as", "before", "after") and not _CLAUSE_SUBJECT.match(text, end):
        return depth, end
    if word == "that" and (start == 0 or _DETERMINED.search(text, max(0, start - 8), start)):
        return depth, end  # "under that rule"
    if word in ("that", "which", "who"):
        verb = _RELATIVE_VERB.match(text, end)
        if verb:
            return depth, verb.end()
    return depth + 1, end


def _classify(text: str, event: re.Match[str], clause: int) -> tuple[str, int]:
    """Rule of the verb and where it ends; no rule where the word is no verb here."""
    word, end = event[0], event.end()
    forms, default = _VERBS[word]
    form = _compiled(forms).match(text, end)
    rule = (form.lastgroup or default) if form else default
    subject = text[max(clause, event.start() - 160) : event.start()]
    if form and (rule in ("possible", "soft") or (rule == "duty" and forms != _REQUIRE)):
        end = form.end()
    if word in ("may", "shall", "must", "can"):
        return _modal(word, rule, subject, form[0] if form else ""), end
    if rule == "duty" and forms == _BE and _PURPOSE.search(subject) and "required" not in text[event.end() : end]:
        rule = "fact"  # "the aim of this Part is to protect"
    elif word == "means" and subject.endswith(_NOUN_MEANS):
        rule = ""
    elif word in ("mean", "require", "need", "do", "have") and (not subject.strip() or _BASE_FORM.search(subject)):
        rule = ""  # an infinitive: "may need", "to require"
    return rule, end


def _modal(word: str, rule: str, subject: str, form: str) -> str:
    """The rule of a modal verb, given its subject."""
    if rule == "applies" and _FIGURE.search(subject):
        return "shall"  # "the following risk weights shall apply"
    if word != "must" and rule in ("allowed", "shall", "possible", "fact") and _NO_SUBJECT.search(subject):
        return "ban"
    if word == "may" and rule == "allowed" and subject.endswith("there "):
        return "possible"
    if subject.lstrip().startswith("nothing "):
        return "status"
    if word == "may" and rule == "possible" and "there" not in subject and _REGULATOR.search(subject):
        return "possible" if _POWERLESS.search(form) else "allowed"
    return rule
