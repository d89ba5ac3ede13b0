"""Words in documents that are meant for a language model. They are shown as data and support nothing."""

from __future__ import annotations

import re

from responsa.text import normalise

_STRONG = re.compile(
    r"<\|?/?(?:im_start|im_end|system|assistant|user|passage|tool|function|inst|endoftext|s)\b|\[/?(?:INST|SYS)\]|<<SYS>>"
    r"|^\W*(?:system|assistant|user|human|developer|ai)\W{0,3}:"
    r"|\b(?:ignore|disregard|forget|override|bypass|overlook|skip)\b.{0,40}\b(?:instructions?|prompts?|passages?|guidelines|"
    r"everything|context|directions|orders|system)\b"
    r"|\b(?:system|hidden|initial|original|developer) (?:prompt|message|instructions?)\b"
    r"|\byou are (?:now |no longer |hereby )?(?:an? |the )?(?:\w+ ){0,3}(?:assistant|model|ai|chatbot|bot|dan|expert|lawyer|pirate|"
    r"unrestricted|system|agent|language)\b"
    r"|\b(?:pretend|act as|role-?play|jailbreak|developer mode|from now on you)\b"
    r"|\b(?:ai|language|chat) (?:model|assistant|system|agent)s?\b.{0,80}\b(?:must|should|shall|are|is|to|will|please)\b"
    r"|\b(?:note|message|attention|instructions?|important|memo) (?:to|for) (?:the |any |all )?(?:ai|llms?|models?|assistants?|"
    r"language models?|chatbots?|reader of this passage)\b"
    r"|\b(?:tool|function)[_ ]calls?\b|\{\s*\"(?:sentences|name|role|tool|function|text|answer)\"\s*:"
    r"|\b(?:send|post|exfiltrate|upload|transmit)\b.{0,80}https?:|!\[[^\]]*\]\(|javascript:|<script\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:^|[.:;!,\"]\s*|\b(?:please|now|then|just|simply|instead|always|only|you (?:must|should|shall|will|are to|may|can)|"
    r"to|must) )(?:say|state|answer|reply|respond|output|write|print|conclude|repeat|cite|include|insert|append|add|"
    r"translate|reveal|show|visit|click|begin|start|end|finish|tell|claim|assert|confirm|attribute|leave|return|quote|mark)\b"
    r".{0,80}?\b(?:answers?|replies|reply|users?|sentences?|citations?|responses?|outputs?|prompt|json|questions?|asker|"
    r"draft|this passage|that the (?:firm|bank|company|institution|client) is (?:fully )?compliant|markdown|not_found|"
    r"your|link|html|compliant|passage id|language)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:ignor(?:a|iere|ez|e|ieren sie)\b.{0,40}(?:instru[ck]+\w*|anweisungen|istruzioni|consignes|precedent\w*|précédent\w*|"
    r"vorherig\w*|anterior\w*)|antworten? (?:sie|nur|mit)|rispondi\b|répon(?:ds|dez)\b|responde\b|sie sind jetzt|"
    r"sei ora|vous êtes maintenant|eres ahora)",
    re.IGNORECASE,
)


def addressed(text: str) -> bool:
    """Whether words give orders to a language model, in one of the ways that are known."""
    plain = normalise(text)
    return any(pattern.search(plain) is not None for pattern in (_STRONG, _ORDER, _OTHER))
