"""Words in documents that are meant for a language model. They are shown as data and support nothing."""

from __future__ import annotations

import re

from responsa.text import normalise

# Rules speak of AI systems, of instructions, answers and users too: what counts are words said to a model.
_MODEL = r"(?:ai|language|chat) (?:model|assistant|system|agent)s?\b"
_ANSWER = r"(?:answers?|reply|replies|outputs?|draft|citations?|sentences?)\b"
_REPLY = r"(?:answers?|reply|replies|outputs?|citations?)\b"  # a draft and a sentence are things of the law, too
_BAN = r"\b(?:ignore|disregard|forget|override|bypass|overlook|skip)\b"
_GIVEN = r"(?:instructions?|guidelines|context|directions|orders|system)\b"
_START = r"(?:^|[.:!]\s*)(?=(?-i:[A-Z]))"  # of a sentence: items of a list mostly begin with a small letter
_TURN = re.compile(
    r"<\|?/?(?:im_start|im_end|system|assistant|user|passage|tool|function|inst|endoftext|s)\b|\[/?(?:INST|SYS)\]|<<SYS>>"
    r"|#{1,6}\s*(?:system|assistant|user|instructions?|response)\s*:"
    r"|^\W*(?:assistant|ai)\W{0,3}:"
    r"|^\W*(?:system|user|human|developer)\W{0,3}:"  # but for definitions
    r"(?!\s*(?:any|an?|the(?! (?:user|assistant|model)\b)|each|every|all|those|in)\b)"
    r"|\b(?:tool|function)[_ ]calls?\b|\{\s*\"(?:sentences|name|role|tool|function|text|answer)\"\s*:"
    r"|\b(?:send|post|exfiltrate|upload|transmit)\b.{0,40}\b(?:questions?|answers?|conversation|chat|prompts?|reply|"
    r"passages?|context|user)\b.{0,60}https?:|!\[[^\]]*\]\(|javascript:|<script\b",
    re.IGNORECASE,
)
_TO_MODEL = re.compile(
    rf"(?:^|[.:;!?]\s*|\b(?:dear|hey|attention) )(?:(?:to|all|any|every|the|you) )*{_MODEL}\s*[,:;!-]\s*"
    r"(?:you|please|answer|reply|respond|say|conclude|output|repeat|ignore|disregard|forget)\b"
    rf"|\b{_MODEL}.{{0,40}}\bplease (?!see|refer|contact|note|read|visit)"
    rf"|\b{_MODEL}.{{0,30}}\b(?:(?:reads?|reading|sees?|seeing) this\b|"
    r"(?:process\w*|summari[sz]\w+|given|shown) (?:this|the) (?:passage|text|page|document|message|sentence))"
    rf"|\b{_MODEL}.{{0,60}}\b(?:must|should|shall|will|are to) (?:\w+ )?"
    r"(?:answer|reply|say) (?:that|only|with|nothing)\b"
    rf"|\b{_MODEL} (?:is|are) (?:hereby )?(?:told|instructed|ordered|asked)\b|\bas an? (?:ai )?{_MODEL},? you\b"
    rf"|\b(?:text|passage|message|paragraph) is (?:\w+ )?(?:for|to) (?:\w+ )?{_MODEL}"
    r"|\b(?:note|message|memo) (?:to|for) (?:the |any |all )?(?:ai|llms?|models?|assistants?|language models?|"
    r"chatbots?|reader of this passage)\b"
    r"|\b(?:instructions?|important) (?:to|for) (?:the |any |all )?(?:ai|llms?|(?:(?:ai|language) )?models?|"
    r"assistants?|chatbots?)\s*[,:-]"
    r"|(?<!if )(?<!when )(?<!where )(?<!unless )(?<!whether )\byou are (?:now |no longer |hereby )?(?:an? |the )?"
    r"(?:(?!(?:of|for|to|in|on|with|by|\w+ing)\b)\w+ ){0,3}(?:assistant|model|chatbot|bot|dan|expert|lawyer|"
    r"ai(?! (?:provider|deployer|developer|user|system))|pirate|unrestricted|"
    r"(?:system|agent|language model)(?=\s*(?:[.,;:!]|$|that\b|who\b|called\b|named\b)))\b(?! of\b)"
    r"|\b(?:role-?play|jailbreak|developer mode|when you are asked about this)\b"
    r"|\bfrom now on,? (?:you (?:are (?:an?|the|my|in)\b|act\b)|"
    r"(?:you (?:will |must |shall |should )?)?(?:only |always )?(?:answer|reply|respond|say|ignore|speak|call)\b)"
    r"|(?:^|[.:;!]\s*)(?:now |please )?(?:pretend|imagine)\b"
    r"|(?:^|[.:;!]\s*)(?:now |please )?behave as (?:(?:if|though)\b|(?:an? |the )?(?:\w+ ){0,2}"
    r"(?:assistant|model|ai|chatbot|bot|dan|lawyer|pirate)\b)"
    r"|\b(?:llm|language model|chatbot)s? (?:note|notice|instructions?)\s*[-:,]"
    r"|(?:^|[.:;!]\s*)(?:now |please )?act as (?:(?:if|though) you\b|(?:an? |the )?(?:\w+ ){0,2}"
    r"(?:assistant|model|ai|chatbot|bot|dan|lawyer|pirate)\b)"
    rf"|{_START}act as .{{0,60}}\b(?:and|who) (?:\w+ )?(?:answers?|says?|confirms?|repl(?:y|ies)|states?|tells?|"
    r"approves?|concludes?|writes?|outputs?|ignores?)\b",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    rf"{_BAN}.{{0,40}}\b(?:prompts?|passages?|everything (?:that )?(?:above|before|you|said|written))\b"
    rf"|{_BAN}.{{0,20}}\b(?:what|all that) (?:you|i|they) (?:were|was|have been|had been|have|had) "
    r"(?:told|said|given|asked|instructed)\b"
    r"|\b(?:supersedes?|overrides?|replaces?) (?:all )?(?:of )?your "
    r"(?:guidance|instructions?|rules|guidelines|orders)\b"
    rf"|{_BAN}.{{0,20}}\b(?:all|previous|prior|preceding|earlier|above|your|these|those) "
    rf"(?:(?:previous|prior|preceding|earlier|other) )?{_GIVEN}"
    rf"|{_BAN}.{{0,20}}\b{_GIVEN} (?:above|before)\b"
    rf"|{_START}{_BAN}.{{0,40}}\b{_GIVEN}|\bplease {_BAN}.{{0,40}}\b{_GIVEN}"
    r"|\bnew (?:instructions?|orders?) override\b"
    r"|\b(?:system prompt|your system message|(?:initial|original|developer) (?:prompt|message)|"
    r"hidden (?:prompt|message|instructions?)|your (?:initial|original) instructions?)\b"
    r"|\b(?:call|invoke) (?:the |this |a )?(?:function|tool|plugin)\b"
    r"|\b(?:use|run) (?:the |this |a )?(?:function|tool|plugin) [a-z]+_\w+"
    r"|(?:^|[.!]\s*)(?:use|run) (?:the |this )(?:function|tool|plugin)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:^|[.:;!]\s*)output (?-i:[A-Z]{2,})\s*(?:[.!;]|$)|"
    r"(?:^|[.:;!]\s*)(?:reply|respond|answer|say|output|quote|repeat)\s+(?:(?:that|with|only|nothing|the word|it|"
    r"as (?:an?|the|if|though|its)|to (?:this|every) (?:question|prompt)|in (?:english|german|french|italian|spanish|"
    r"latin|json|xml|html|verse|plain prose|capitals?|capital letters|one word))\b)"
    r"|(?:^|[.:;!\"]\s*|\b(?:please|now|just|simply|instead) )"
    r"(?:say|answer|reply|respond|output|write|print|conclude|repeat|cite|insert|append|add|translate|reveal|visit|click|"
    r"begin|start|end|finish|claim|assert|confirm|attribute|leave|return|quote|mark)\b.{0,80}?\b"
    rf"(?:(?:your|every|each) (?:\w+ )?{_ANSWER}|(?<!return )(?<!mark )(?:the|this) (?:\w+ )?{_REPLY}|"
    r"(?:your|every) responses?\b|"
    r"the question (?:with|of the user)\b|that the (?:firm|bank|company|institution|client) is (?:fully )?compliant\b|"
    r"(?:prompt|json|asker|this passage|markdown|not_found|this link|html|passage id|another language)\b)"
    r"|(?:^|[.!\"]\s*|\bplease )(?:include|state|show|tell)\b.{0,40}\b"
    r"(?:your (?:answer|output|draft|citations)|the asker)\b"
    r"|(?:^|[.!\"]\s*|\bplease )(?:tell|show) the (?:user|reader) (?:that|to|it)\b|\bin your citations\b"
    rf"|{_START}(?:include|state|show|insert|add|print|write)\b.{{0,60}}\b"
    r"(?:in the (?:answer|reply|response)|your instructions)\b"
    rf"|{_START}(?:tell your|(?:reply|respond|answer|say) to the|write to the|convince the) (?:users?|asker|reader)\b"
    r"|\byou (?:must|should|shall|will|are to) (?:\w+ )?(?:conclude that the (?:firm|bank|company|client) is|"
    r"answer .{0,40}\bwith (?:yes|no|the word)\b)"
    r"|\byou (?:must|should|shall|will|are to) (?:\w+ )?(?:(?:answer|reply|say) (?:only|with|that|nothing)\b|"
    r"(?:answer|reply|respond|output|write|print|repeat|cite|insert|append|add|begin|start|end|finish|attribute|quote)\b"
    rf".{{0,80}}?\b(?:(?:every|each) {_ANSWER}|(?:this passage|the prompt|json|the asker|not_found|markdown)\b))",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:п?р?о?игнорируй\w*|не обращай\w* внимания)|忽略|无视|無視|"
    r"\b(?:ignor(?:a|iere|ez|e|ieren sie)\b.{0,40}(?:instru[ck]+\w*|anweisungen|istruzioni|consignes|precedent\w*|"
    r"précédent\w*|vorherig\w*|anterior\w*)|antworten? (?:sie|nur|mit)|rispondi\b|répon(?:ds|dez)\b|responde\b|"
    r"sie sind jetzt|sei ora|vous êtes maintenant|eres ahora)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^\s{0,3}#{1,6}\s*(?:system|assistant|user|instruction|response)\s*$", re.IGNORECASE | re.MULTILINE
)
_HIDDEN = re.compile("[\u202d\u202e\U000e0020-\U000e007e]")  # words turned round, or written in invisible letters
_KNOWN = (_TURN, _TO_MODEL, _PROMPT, _ORDER, _OTHER)


def addressed(text: str) -> bool:
    """Whether words give orders to a language model, in one of the ways that are known."""
    plain = normalise(text)
    marked = _HIDDEN.search(text) or _HEADING.search(text)
    return marked is not None or any(pattern.search(plain) is not None for pattern in _KNOWN)
