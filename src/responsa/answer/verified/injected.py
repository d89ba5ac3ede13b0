"""Words in documents that are meant for a language model. They are shown as data and support nothing."""

from __future__ import annotations

import re

from responsa.text import normalise

_STRONG = re.compile(
    r"<\|?/?(?:im_start|im_end|system|assistant|user|passage|tool|function|inst|endoftext|s)\b|\[/?(?:INST|SYS)\]|<<SYS>>"
    r"|(?:^|[.:;!]\s*)(?:reply|respond|answer|say|conclude|output|quote|repeat|confirm)\s+"
    r"(?:that|with|only|in|as|to|nothing|the word|it)\b"
    r"|\b(?:use|call|invoke|run) (?:the |this |a )?(?:function|tool|plugin)\b"
    r"|#{1,6}\s*(?:system|assistant|user|instructions?|response)\b"
    r"|(?:^|[.:;!]\s*)(?:now |please )?(?:pretend|act as|behave as|imagine)\b"
    r"|^\W*(?:system|assistant|user|human|developer|ai)\W{0,3}:"
    r"|\b(?:ignore|disregard|forget|override|bypass|overlook|skip)\b.{0,40}\b(?:instructions?|prompts?|passages?|"
    r"guidelines|everything|context|directions|orders|system)\b"
    r"|\b(?:system|hidden|initial|original|developer) (?:prompt|message|instructions?)\b"
    r"|\byou are (?:now |no longer |hereby )?(?:an? |the )?(?:\w+ ){0,3}(?:assistant|model|ai|chatbot|bot|dan|expert|"
    r"lawyer|pirate|unrestricted|system|agent|language)\b"
    r"|\b(?:role-?play|jailbreak|developer mode|from now on you)\b"
    r"|\b(?:ai|language|chat) (?:model|assistant|system|agent)s?\b.{0,80}"
    r"\b(?:must|should|shall|are|is|to|will|please)\b"
    r"|\b(?:note|message|attention|instructions?|important|memo) (?:to|for) (?:the |any |all )?(?:ai|llms?|models?|"
    r"assistants?|language models?|chatbots?|reader of this passage)\b"
    r"|\b(?:tool|function)[_ ]calls?\b|\{\s*\"(?:sentences|name|role|tool|function|text|answer)\"\s*:"
    r"|\b(?:send|post|exfiltrate|upload|transmit)\b.{0,80}https?:|!\[[^\]]*\]\(|javascript:|<script\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:^|[.:;!\"]\s*|\b(?:please|now|just|simply|instead|you (?:must|should|shall|will|are to)) )"
    r"(?:say|state|answer|reply|respond|output|write|print|conclude|repeat|cite|include|insert|append|add|"
    r"translate|reveal|show|visit|click|begin|start|end|finish|tell|claim|assert|confirm|attribute|leave|return|quote|"
    r"mark)\b.{0,80}?\b(?:answers?|replies|reply|users?|sentences?|citations?|responses?|outputs?|prompt|json|"
    r"questions?|asker|draft|this passage|that the (?:firm|bank|company|institution|client) is (?:fully )?compliant|"
    r"markdown|not_found|your|link|html|compliant|passage id|language)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:ignor(?:a|iere|ez|e|ieren sie)\b.{0,40}(?:instru[ck]+\w*|anweisungen|istruzioni|consignes|precedent\w*|"
    r"précédent\w*|vorherig\w*|anterior\w*)|antworten? (?:sie|nur|mit)|rispondi\b|répon(?:ds|dez)\b|responde\b|"
    r"sie sind jetzt|sei ora|vous êtes maintenant|eres ahora)",
    re.IGNORECASE,
)
_HIDDEN = re.compile("[\u202d\u202e\U000e0020-\U000e007e]")  # words turned round, or written in invisible letters


def addressed(text: str) -> bool:
    """Whether words give orders to a language model, in one of the ways that are known."""
    plain = normalise(text)
    return _HIDDEN.search(text) is not None or any(
        pattern.search(plain) is not None for pattern in (_STRONG, _ORDER, _OTHER)
    )
