"""The words that the parts of a duty are told by."""

from __future__ import annotations

import re

_ACTOR = (
    r"(?:persons?|firms?|institutions?|compan(?:y|ies)|undertakings?|entit(?:y|ies)|bod(?:y|ies)|authorit(?:y|ies)|"
    r"agenc(?:y|ies)|"
    r"banks?|insurers?|reinsurers?|issuers?|offerors?|operators?|managers?|directors?|auditors?|actuar(?:y|ies)|"
    r"trustees?|"
    r"administrators?|custodians?|depositar(?:y|ies)|sponsors?|originators?|lenders?|brokers?|dealers?|"
    r"intermediar(?:y|ies)|"
    r"employees?|staff|personnel|members?|shareholders?|unitholders?|holders?|owners?|controllers?|applicants?|"
    r"participants?|"
    r"counterpart(?:y|ies)|part(?:y|ies)|providers?|promoters?|partners?|officers?|officials?|executives?|boards?|"
    r"committees?|"
    r"councils?|commissions?|parliaments?|regulators?|supervisors?|courts?|tribunals?|liquidators?|receivers?|mlro|"
    r"exchanges?|houses?|depositor(?:y|ies)|repositor(?:y|ies)|branch(?:es)?|subsidiar(?:y|ies)|parents?|groups?|"
    r"trusts?|funds?|"
    r"partnerships?|associations?|organisations?|states?|countr(?:y|ies)|clients?|customers?|investors?|sellers?|"
    r"buyers?|"
    r"purchasers?|transferors?|transferees?|advisers?|advisors?|agents?|representatives?|appointees?|principals?|"
    r"individuals?|"
    r"governments?|adgm|eba|esma|eiopa|ecb|esrb|fsra|fca|pra|srb|efsf|centres?|registrars?|obligors?|borrowers?|"
    r"guarantors?|"
    r"servicers?|cedants?|ccps?|pfp|dim|function|management|secretar(?:y|ies)|accountants?|valuers?|experts?|"
    r"professionals?|"
    r"defaulters?|purpose vehicles?|vehicles?|ecais?|platforms?|facilit(?:y|ies)|users?|offices?|panels?|ispvs?|"
    r"mtfs?|otfs?|teams?|"
    r"ecai|payers?|payees?|donors?|"
    r"recipients?|"
    r"contractors?|suppliers?|underwriters?|traders?|assessors?|reviewers?|inspectors?|investigators?|nominees?|"
    r"founders?|"
    r"shari'a supervisory board|unit|ministers?|president|chair(?:man|person)?|delegates?|licensees?|transferor|"
    r"appraisers?|departments?|desks?|divisions?|treasur(?:y|ies|ers?)|heads?|(?:first|second|third) lines?|teams?|"
    r"ceo|cfo|coo|cro|cco)"
)
ACTOR = re.compile(rf"\b(?:{_ACTOR}|it|they|he|she|we|you)\Z")
PRONOUN = re.compile(r"(?:(?:each|both|all) of )?(?:it|they|he|she|he or she|them)(?: (?:also|each|both|all))?\Z")
_DETERMINED = r"(?:the|an?|each|every|any|no|such|that|its|their|all|other|another|both)"
_WORD = r"(?!(?:the|an?|of|in|to|by|with|on|as|is|are|has|have|or|and|that|which|for|from|under|any|each)\b)[\w'-]+"
_SOMEBODY = rf"(?:{_DETERMINED}\s(?:{_WORD}\s){{0,4}})?{_ACTOR}"
SOMEBODY = re.compile(rf"\b{_SOMEBODY}\b(?:\s(?:or|and)\s(?:{_DETERMINED}\s)?(?:{_WORD}\s){{0,3}}?{_ACTOR}\b)?")
# Where a noun phrase goes on behind its head, and words that may stand before a head as well as behind it.
_HEAD_ENDS = re.compile(
    r",|\s(?:which|who|whose|whom|that|of|in|on|to|for|from|with|without|by|at|under|within|other than|as|not|where|"
    r"when|if|"
    r"whether|including|also|each|both|therefore|being|only|shall|must|against|over|between|after|before|during|upon|"
    r"[a-z]+ing (?:the|an?|its|their|to|in|as)|[a-z]+ed (?:by|in|under|to|as|pursuant|for|with))\b"
)
_PARTICIPLES = re.compile(r"\s(?=[a-z-]+(?:ed|ing)\b)")
_AND = re.compile(r"\s(?:and|or|nor)\s")
_TAIL = re.compile(r"\s(?:itself|themselves|concerned|in question)\Z")


def is_actor(phrase: str) -> bool:
    """Whether a noun phrase, in lower case, is of somebody who can do something."""
    end = _HEAD_ENDS.search(phrase)
    head = _TAIL.sub("", phrase[: end.start()] if end else phrase).strip(" ,")
    heads = [head, *(head[: cut.start()] for cut in _PARTICIPLES.finditer(head))]
    return any(ACTOR.search(part.strip()) for each in heads for part in _AND.split(each))


_CONDITION_WORDS = (
    r"if|where|wherever|when|whenever|provided(?: always)? that|on (?:the )?condition that|to the extent(?: that)?|"
    r"insofar as|in so far as|"
    r"as long as|so long as|in the event(?: that| of)?|in (?:the )?(?:cases?|circumstances|situations?)(?: of| "
    r"where| in which| when| that)|"
    r"in (?:such|this|these|those|that|either) (?:a |an )?(?:cases?|circumstances|situations?|event)|on (?:the "
    r")?occurrence of|in the absence of|assuming"
)
_EXCEPTION_WORDS = (
    r"unless|except(?: (?:for|where|when|that|in|to|as|if|with|by))?|save(?: (?:for|where|as|that|in))|with the "
    r"exception of|"
    r"notwithstanding|by way of (?:derogation|exception)(?: from| to)?|as an exception to|other than (?:where|when|"
    r"in|if|to the extent)|"
    r"without (?:the |having |first |its |obtaining |having obtained |prior |express |written |such )*(?:approval|"
    r"consent|permission|authorisation|agreement)|"
    r"otherwise than|in derogation from|even (?:if|where|though)|regardless of|irrespective of|without prejudice to"
)
_SUBJECT_TO = r"subject (?:always )?to"
_CITED = (
    r"(?:[a-z]+ )?(?:\(|rules?\b|articles?\b|sections?\b|subsections?\b|paragraphs?\b|points?\b|chapters?\b|"
    r"parts?\b|this|these|the (?:following|second|third|requirements|provisions|exceptions|exclusions|derogation)|"
    r"any (?:exclusion|exception|provision))"
)
_TIME_WORDS = (
    r"before|after|upon|within|following|prior to|until|during|no later|not later|as soon as|once|annually|immediately|"
    r"by (?:the (?:end|close|date|time|day)|\d|no later|close)|at the (?:end|beginning|start|time|date|moment|latest)|"
    r"from (?:\d|the (?:date|day|end|time|moment))|(?:every|each) (?:\w+ )?(?:day|week|month|quarter|year|days|months|"
    r"years)|on (?:receipt|request|demand|completion|\d|the (?:date|day)|(?!being|having regard)[a-z]+ing)|"
    r"at least (?:annually|once|every|quarterly|monthly|\w+ (?:\w+ )?(?:days|months|years|times))|throughout|promptly|"
    r"at all times|periodically|quarterly|monthly|daily|for (?:a period|\w+ (?:days|months|years))"
)
_SCOPE_WORDS = (
    r"for|in (?:the case|relation|respect|connection)|with (?:regard|respect|reference)|as (?:regards|concerns)|"
    r"regarding|concerning"
)
_OTHER_WORDS = (
    r"for the purposes?|in order|to|in addition|in accordance|pursuant|under|as|by|in|with|having|without|on the "
    r"basis|based on|because|"
    r"since|although|while|whereas|given|taking|using|depending|accordingly|however|therefore|furthermore|moreover|"
    r"further|"
    r"on|from|at|additionally|consequently|thereafter|likewise|similarly|in particular|for example|instead|"
    r"alternatively|"
    r"otherwise|"
    r"as part|among|apart|[a-z]+ing|where necessary|thus|notably"
)
# The sort of an adverbial by the words it begins with; the order decides.
OPENINGS = tuple(
    (sort, re.compile(rf"(?:and |or |but |(?:only|except|also|even) (?=if|where|when))?(?:{words})\b"))
    for sort, words in (
        ("other", r"for (?:the )?purposes?|for example|for instance|in order to"),
        ("exception", _EXCEPTION_WORDS + rf"|{_SUBJECT_TO} {_CITED}"),
        ("condition", _CONDITION_WORDS + rf"|{_SUBJECT_TO}|once(?= (?:the|an?|it|they))|as soon as possible where"),
        ("time", _TIME_WORDS),
        ("condition", _SCOPE_WORDS),
        ("other", _OTHER_WORDS),
    )
)
CONTINUES = re.compile(
    rf"(?P<exception>\b(?:{_EXCEPTION_WORDS})\b|,\s{_SUBJECT_TO} {_CITED})|(?P<condition>\b(?:only "
    rf")?(?:{_CONDITION_WORDS})\b|,\s{_SUBJECT_TO}\b)"
)
# "the account where", "the date when", "as if": no conditions
RELATIVE = re.compile(
    r"\b(?:account|jurisdiction|country|countries|place|state|states|manner|way|website|page|area|location|register|"
    r"address|part|sector|"
    r"time|date|moment|day|period|point|as|even|market|markets|venue|office|exchange|bank|and|than|of|determine|"
    r"decide|know|assess|consider|example) \Z"
)
# "where applicable", which ends at its comma
# "where: K_j is the sum of": the symbols of a formula
SYMBOLS = re.compile(
    r"where ?:? ?(?=[^ (]{0,12}[_^=]|: ?(?!the |an? |it |they |there )[^ (]{1,4} ?(?:=|is |the |denotes ))"
)
SHORT = re.compile(
    r"(?:if|where|when|wherever|as|to the extent) (?:so )?(?:applicable|appropriate|relevant|possible|necessary|"
    r"required|needed|any|available|practicable|so|"
    r"reasonably practicable|reasonable|different|requested|applied|justified|permitted|prudent)\b"
)
RESUMES = re.compile(r" ?(?:to|in|of|that|with|by|on|at|from|into|be|shall|must|and (?:shall|must))\b")

# How a phrase begins that can be a subject.
NOUN_START = re.compile(
    r"(?:and |or )?(?:the|an?|each|every|any|all|no|neither|it|they|he|she|that|this|these|those|such|its|their|"
    r"both|either|another|"
    r"only|there|at least|[\d.]+|one|two|other|nothing)\b"
)

MODAL_TAIL = re.compile(
    r"(?P<v>(?:must|shall|may|can|should|will|would|cannot|could|might)(?:\s(?:also|always|further|then|at all "
    r"times|in turn|therefore|"
    r"in particular|(?!only|likely|apply|comply|supply|rely|reply|multiply)[a-z]+ly))*(?P<not> not|)(?:\s(?:only|"
    r"also))?"
    r"|(?:is|are|be|was|were)(?:\s(?:also|further|only|always|therefore|hereby|[a-z]+ly))*(?P<not2> not|)"
    r"(?: (?:also |hereby |[a-z]+ly )?(?:required|obliged|obligated|bound|permitted|allowed|entitled|expected|"
    r"prohibited|precluded|forbidden|"
    r"under an? (?:duty|obligation))(?: (?:by|under|pursuant to) [^,;:]{1,80}?)?)?(?: (?P<not3>not )?(?:to|from))?"
    r"|(?:has|have|had|needs?)(?P<not4> not)? to|requires?|commits?|prohibits?|does not|do not|expects?)\b"
)
REQUIRED = re.compile(r"requires?|expects?|prohibits?")
REQUIRES = re.compile(r" (?P<who>[^.;:]{2,160}?) (?:not )?(?:to|from) ")
PASSIVE = re.compile(
    r"(?:,[^,]{1,120},)?(?:\s(?:not|also|only|always|then|at all times|[a-z]+ly))*\s(?:be|have "
    r"been)\s(?:[a-z]+ly\s)*(?:not\s)?(?:[a-z-]+ed|made|given|kept|held|set|taken|borne|paid|sent|met|done|drawn|"
    r"put|read|sold|shown|laid|known|undertaken|written|brought|built|found|left|lent|run|seen)\b"
)
BY_AGENT = re.compile(r"\bby ((?:the|an?|each|any|its|their|that|such|all|both|at least one|two)?\s?[^,;:.]{2,120})")
AGENT_ENDS = re.compile(
    r"\s(?:in|on|to|for|from|with|within|under|at|as|and (?:shall|must)|where|if|unless|when|who|which|that|before|"
    r"after|pursuant|using|through|by|without|is|are|has|have)\b"
)
# A determiner that begins a noun phrase: no preposition and no verb stands before it.
BARE = re.compile(
    r"(?<!\bof)(?<!\bin)(?<!\bto)(?<!\bby)(?<!\bfor)(?<!\bwith)(?<!\bon)(?<!\bat)(?<!\bfrom)(?<!\band)(?<!\bor)"
    r"(?<!\bunder)(?<!\bthat)(?<!\bwhich)(?<!\bis)(?<!\bare)(?<!\bif)(?<!\bwhere)(?<!\bthan)(?<!\bas)(?<!\bwhen)(?<!ing)"
    r"(?<!\bwithin)(?<!\binto)(?<!\bhas)(?<!\bhave)(?<!ed)(?<!,) (?=(?:the|an?|each|any|every|no) [^,]*\Z)"
)
# What is done to somebody by somebody else: "the exchange must be notified".
RECEIVES = re.compile(r"\b(?:notified|informed|told|given|granted|paid|consulted|sent|shown)\Z")
# Words of a side clause, whose time is not that of the duty: "assets which were lent before 2014".
ASIDE = re.compile(
    r"\b(?:which|who|whose|whether|how|expectations? that|as the \w+ may|that (?:is|are|was|were|has|have|had|may|"
    r"can|shall|must|will|"
    r"would|should|existed|exists?|it|they))\b(?!.*, \Z)"
)
