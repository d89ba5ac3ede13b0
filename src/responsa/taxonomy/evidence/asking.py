"""Queries by a language model: splitting, hypothetical answers, pseudo-relevance feedback.

What the EU Taxonomy thesis (2024) does in section 6.2.3 and appendix B, in our own words. Text of the report goes into
a prompt between marks only. Where no usable reply comes, the queries split at separators stand in, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from responsa.models.chat import Chat, ChatFailed, ChatModel, Message, Settings
from responsa.models.chat.fence import RULE, fenced
from responsa.models.chat.structured import ask
from responsa.taxonomy.evidence.queries import Question, described, leaves, separated
from responsa.taxonomy.values import Activity, Criterion
from responsa.text import words
from responsa.types import Call

FEWEST, MOST = 5, 20
"""How many queries are asked for (appendix B)."""
LEAST_FEEDBACK = 0.75
"""The cross-encoder's score from which a chunk extends its query (section 6.2.3)."""

Nearest = Callable[[Question], tuple[str, str, float] | None]
"""The chunk nearest to a query: its id, its text and the cross-encoder's score; None where there is none."""


@dataclass(frozen=True, slots=True)
class SubQueries:
    """What a model is asked for: ``queries``, each complete in itself."""

    queries: tuple[str, ...]


class Asked(NamedTuple):
    """``questions`` with the requests that made them, and what went wrong in words."""

    questions: list[Question]
    calls: tuple[Call, ...] = ()
    notices: tuple[str, ...] = ()


_SYSTEM = (
    "You help an analyst who looks for evidence in a company's report. You write search queries. "
    f"Each query must be understood without the others. {RULE}"
)
_TASK = (
    "The passages of the report will be compared with your queries by meaning. The description and the criteria below"
    " are too long and too mixed for one query. Write {fewest} to {most} short queries that together cover the"
    " activity, every criterion with its numbers and units, and the way a report would state that it is met or missed."
)


def split_by_model(activity: Activity, roots: Sequence[Criterion], chat: ChatModel) -> Asked:
    """``qe``: the description and the criteria as 5 to 20 queries."""
    return _queries(_request(_TASK, activity, roots, "evidence-split"), activity, roots, chat)


def from_hypothesis(activity: Activity, roots: Sequence[Criterion], chat: ChatModel, company: str) -> Asked:
    """``qeha``: the model first says what it would expect of the company, for and against, then splits that."""
    text = (
        "Without any document, from what you know of companies of this kind, write what the report of the company"
        f" {company or 'in question'!r} may say about this activity: what speaks for the criteria being met and what"
        " against, with the figures and words that such a report would use. It may be wrong; it is used to search only."
        f"\n\n{_described(activity, roots)}"
    )
    system = "You are an analyst of companies' sustainability reports and know the EU Taxonomy."
    messages = (Message("system", system), Message("user", text))
    try:
        reply = chat.reply(Chat(messages, Settings(), "evidence-hypothesis"))
    except ChatFailed as failure:
        return _fallback(activity, roots, failure)
    task = f"{_TASK} Take them from the draft in the passage, which may be wrong: it shows how such a report speaks."
    asked = _queries(_request(task, activity, roots, "evidence-hypothesis-split", [("draft", reply.text)]), activity,
                     roots, chat)  # fmt: skip
    return asked._replace(calls=(reply.call, *asked.calls))


def with_feedback(activity: Activity, roots: Sequence[Criterion], chat: ChatModel, nearest: Nearest) -> Asked:
    """``prfqe``: the queries of ``qe``, and for each whose nearest chunk a cross-encoder scores above .75 those that
    the model adds after reading that chunk."""
    first = split_by_model(activity, roots, chat)
    task = (
        "Passages of the report are found by comparing their meaning with queries. The query {query!r} found the"
        " passage below, which is taken to be relevant. Write {fewest} to {most} further queries that would find more"
        " passages on the same matter, with the words that this report uses."
    )
    chats = []
    for question in first.questions:
        chunk = nearest(question)
        if chunk and chunk[2] > LEAST_FEEDBACK:
            filled = task.replace("{query!r}", repr(question.text))
            chats.append(_request(filled, activity, roots, "evidence-feedback", [chunk[:2]]))
    questions, calls, failed = list(first.questions), list(first.calls), 0
    for parsed in ask(chat, chats, SubQueries) if chats else []:
        if isinstance(parsed, ChatFailed):
            failed += 1
            calls.append(parsed.call)
            continue
        calls += parsed.calls
        questions += _placed(parsed.value, activity, roots)
    said = (f"{failed} of {len(chats)} requests for feedback queries failed",) if failed else ()
    return Asked(list(dict.fromkeys(questions)), tuple(calls), (*first.notices, *said))


def _request(
    task: str,
    activity: Activity,
    roots: Sequence[Criterion],
    purpose: str,
    passages: Sequence[tuple[str, str]] = (),
) -> Chat:
    filled = task.replace("{fewest}", str(FEWEST)).replace("{most}", str(MOST))
    parts = [filled, _described(activity, roots), *([fenced(passages)] if passages else [])]
    return Chat((Message("system", _SYSTEM), Message("user", "\n\n".join(parts))), Settings(), purpose)


def _described(activity: Activity, roots: Sequence[Criterion]) -> str:
    criteria = "\n".join(f"{leaf.id}: {text}" for root in roots for leaf, text in leaves(root))
    return f"Activity: {activity.id} {activity.name}\nDescription: {described(activity)}\nCriteria:\n{criteria}"


def _queries(chat_request: Chat, activity: Activity, roots: Sequence[Criterion], chat: ChatModel) -> Asked:
    (parsed,) = ask(chat, [chat_request], SubQueries)
    if isinstance(parsed, ChatFailed):
        return _fallback(activity, roots, parsed)
    questions = _placed(parsed.value, activity, roots)
    if not questions:
        return _fallback(activity, roots, "it gave no query")._replace(calls=tuple(parsed.calls))
    return Asked(questions, tuple(parsed.calls))


def _fallback(activity: Activity, roots: Sequence[Criterion], failure: ChatFailed | str) -> Asked:
    said = f"the model's queries could not be used ({failure}); the criteria were split at separators instead"
    calls = (failure.call,) if isinstance(failure, ChatFailed) else ()
    return Asked(separated(activity, roots), calls, (said,))


def _placed(made: SubQueries, activity: Activity, roots: Sequence[Criterion]) -> list[Question]:
    """At most `MOST` queries, each with the id of the criterion that most of its words are from, the first of equals;
    that of the activity where none shares any."""
    known = [(leaf.id, set(words(text))) for root in roots for leaf, text in leaves(root)]
    known.insert(0, (activity.substantial_contribution.id, set(words(activity.name))))
    placed = []
    for text in dict.fromkeys(query.strip() for query in made.queries):
        own = set(words(text))
        if own:
            best = max(range(len(known)), key=lambda place: (len(own & known[place][1]), -place))
            placed.append(Question(known[best][0], text))
    return placed[:MOST]
