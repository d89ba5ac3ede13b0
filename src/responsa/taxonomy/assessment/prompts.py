"""What a language model is asked about an activity, and the shape of its reply.

The three kinds of prompt of the EU Taxonomy thesis (2024), section 5.2 and appendices B.1 and B.2, in our own words:
``traditional`` asks for an analysis; ``zero-shot-cot`` for three steps, the criteria broken down, what the report
states on each, the conclusion; ``few-shot-cot`` shows five of ten examples first. Beyond the thesis each criterion gets
its own verdict, with words of the report quoted, so that both can be checked. Text of the report stands between marks.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

from responsa.models.chat import Chat, Message, Settings
from responsa.models.chat.fence import RULE, fenced
from responsa.taxonomy.activities.criteria import walk
from responsa.taxonomy.values import Activity, Criterion, Method, Standing

METHODS: tuple[Method, ...] = ("traditional", "zero-shot-cot", "few-shot-cot")
EXAMPLES = 5
"""Examples that a few-shot prompt shows, of the ten there are (section 5.2.3)."""

Concluded = Literal["insufficient", "not_aligned", "aligned"]
Time = Literal["the year", "a target or plan", "another year", "not said"]
_LONGEST_REFERRED = 4000  # characters of criteria of other activities that a prompt quotes

SYSTEM = (
    "You are a sustainability analyst at a bank and check companies' reports against the EU Taxonomy: a list of"
    " economic activities, each with the criteria by which it contributes substantially to an environmental objective."
    f" You are careful: what is not shown is not met. {RULE}"
)
_RULES = """\
- Judge by the passages alone. What they do not say, you do not know.
- Keep to the logic of the criteria: where one of several is enough, one is enough; where two of three are, two are.
- Only the financial year {year} counts. Targets, plans, forecasts and figures of other years meet no criterion. Money
  spent in {year} on what is finished later is a fact of {year}.
- Where the company itself reports the activity, or a stated part of it, as Taxonomy-aligned (a line under A.1 of its
  tables, a sentence), take its criteria as met and say that this is the company's own statement. A line under A.2 alone
  says that they are not. To have assessed something against a criterion is not to meet it.
- Verdict of a criterion: met; not_met, where the passages show that it is missed; not_applicable, where it is for other
  cases than the company's; insufficient, where the passages do not tell.
- Each statement gives the id of its passage and quotes words of it exactly, a sentence at most. Quote nothing else.
- In missing, say what the report would have to state for a verdict of met; leave it empty where nothing is missing."""
_CONCLUDE = (
    "- The conclusion is aligned, not_aligned or insufficient, and follows from the verdicts by the logic above."
)
_STEPS = """\
Work in three steps and write each down. Step 1: say in your own words what each criterion asks for, with every number,
unit, date, standard and law that it names, and how the criteria are joined. Step 2: for each criterion, collect what
the report states on it. Step 3: for each criterion, reason from steps 1 and 2 to a verdict{then}."""
_AT_ONCE = "Analyse whether {company} meets {what} in {year}. Say how you come to it, not only yes or no."


@dataclass(frozen=True)
class Statement:
    """What the report states: ``passage`` by its id, ``quote`` its words, ``states`` what they say."""

    passage: str
    quote: str
    states: str
    time: Time


@dataclass(frozen=True)
class Judged:
    """A verdict on a criterion, reasons first."""

    reason: str
    missing: str
    verdict: Standing


@dataclass(frozen=True)
class Analysed:
    """What a traditional prompt asks for on a criterion."""

    statements: tuple[Statement, ...]
    reason: str
    missing: str
    verdict: Standing


@dataclass(frozen=True)
class Conclusion:
    """The last step on an activity."""

    reasoning: str
    verdict: Concluded


@dataclass(frozen=True)
class Asked:
    """What one prompt is about: ``criteria`` are those without parts that get a verdict, ``root`` their tree.

    ``alone``: one criterion at a time, and no conclusion on the activity.
    """

    root: Criterion
    criteria: tuple[Criterion, ...]
    what: str
    alone: bool = False


class Reading:
    """A reply as the rest of an assessment reads it, whichever prompt it answers; keys are ids of criteria."""

    def __init__(self, value: Any, asked: Asked, method: Method) -> None:  # noqa: ANN401  # of a shape made here
        names = fields_of(asked)
        self.breakdown = "" if method == "traditional" else str(value.step_1_criteria)
        if method == "traditional":
            analysed: Mapping[str, Analysed] = {each: getattr(value.analysis, name) for each, name in names.items()}
            self.judged = {each: Judged(one.reason, one.missing, one.verdict) for each, one in analysed.items()}
            self.statements = {each: one.statements for each, one in analysed.items()}
            conclusion = None if asked.alone else value.conclusion
        else:
            self.statements = {each: getattr(value.step_2_report, name) for each, name in names.items()}
            self.judged = {each: getattr(value.step_3_verdicts, name) for each, name in names.items()}
            conclusion = None if asked.alone else value.step_3_conclusion
        self.conclusion: Conclusion | None = conclusion


def fields_of(asked: Asked) -> dict[str, str]:
    """The name in the reply of each criterion, by its id: letters, digits and underscores."""
    if asked.alone:
        return {asked.criteria[0].id: "criterion"}
    names: dict[str, str] = {}
    for each in asked.criteria:
        name = re.sub(r"\W+", "_", each.id).strip("_")
        while name in names.values():
            name += "_"
        names[each.id] = name
    return names


def shape(asked: Asked, method: Method) -> type[Any]:
    """The dataclass that a reply must fit; that of all prompts on one criterion alone is the same."""
    return _shape(tuple(fields_of(asked).values()), method, asked.alone)


@lru_cache(maxsize=64)
def _shape(names: tuple[str, ...], method: Method, alone: bool) -> type[Any]:
    last: list[tuple[str, type[Any]]] = []
    if method == "traditional":
        parts = [("analysis", make_dataclass("Analyses", [(name, Analysed) for name in names], frozen=True))]
        last = [] if alone else [("conclusion", Conclusion)]
    else:
        stated = make_dataclass("Stated", [(name, tuple[Statement, ...]) for name in names], frozen=True)
        judged = make_dataclass("Verdicts", [(name, Judged) for name in names], frozen=True)
        parts = [("step_1_criteria", str), ("step_2_report", stated), ("step_3_verdicts", judged)]
        last = [] if alone else [("step_3_conclusion", Conclusion)]
    return make_dataclass("Assessed", [*parts, *last], frozen=True)


def prompt(
    asked: Asked,
    activity: Activity,
    passages: Sequence[tuple[str, str]],
    *,
    method: Method,
    year: int,
    company: str = "",
    referred: Sequence[tuple[str, str]] = (),
    repetition: int = 0,
    seed: int = 0,
) -> Chat:
    """The request. ``referred`` are criteria of other activities that these name: (title, text).

    ``repetition`` is the number of the generation; with ``seed`` it chooses the examples of a few-shot prompt.
    """
    name = company or "the company"
    task = _AT_ONCE.format(company=name, what=asked.what, year=year)
    rules = [_RULES.format(year=year), *([] if asked.alone else [_CONCLUDE])]
    parts = [task, "\n".join(rules)]
    if method != "traditional":
        parts.append(_STEPS.format(then="" if asked.alone else ", then conclude"))
    if method == "few-shot-cot":
        chosen = random.Random(f"{seed} {repetition} {activity.id}").sample(examples(), EXAMPLES)  # noqa: S311
        parts += [
            "Examples of such work, on companies that do not exist:",
            *(_shown(each, asked.alone) for each in chosen),
        ]
        parts.append("Now the work to be done.")
    parts.append(f"Activity: {activity.id} {activity.name}\nDescription: {activity.description}")
    parts.append(f"Criteria of {asked.what}:\n{tree(asked)}")
    for title, text in referred:
        parts.append(f"{title}, which these criteria name:\n{text[:_LONGEST_REFERRED]}")
    parts.append(f"Passages of the report of {name} for {year}:\n\n{fenced(passages) or 'None was found.'}")
    messages = (Message("system", SYSTEM), Message("user", "\n\n".join(parts)))
    return Chat(messages, Settings(), f"assess-{method}", repetition)


def tree(asked: Asked) -> str:
    """The criteria with their logic; those that get a verdict have the name of it in front."""
    names = fields_of(asked)
    lines: list[str] = []
    above = _above(asked.root, {each.id for each in asked.criteria})

    def walked(each: Criterion, depth: int) -> None:
        if each.id not in above:
            return
        logic = {"all": "all of", "any": "one of", "at_least": f"at least {each.count} of"}[each.logic]
        if each.parts:
            text = f"{each.text} [{logic} these]".strip()
        else:
            text = f"[{names[each.id]}] {each.text}"
        number = f"({each.number}) " if each.number else ""
        lines.append(f"{'  ' * depth}{number}{text}")
        for part in each.parts:
            walked(part, depth + 1)

    walked(asked.root, 0)
    return "\n".join(lines)


def _above(root: Criterion, wanted: set[str]) -> set[str]:
    """The ids of what is wanted and of all above it."""
    return {each.id for each in walk(root) if any(below.id in wanted for below in walk(each))}


# --- examples -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def examples() -> tuple[dict[str, Any], ...]:
    """Ten examples of companies made up for this project: with and without Taxonomy tables, of several sectors, with
    one criterion and with several."""
    text = (resources.files(__package__) / "examples.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines() if line)


def _shown(example: Mapping[str, Any], alone: bool) -> str:
    """An example as text; ``alone``: its first criterion only, in the shape of prompts on one criterion."""
    passages = "\n".join(f"[{name}] {text}" for name, text in example["passages"].items())
    criteria, reply = example["criteria"], example["reply"]
    if alone:
        first = next(iter(reply["step_3_verdicts"]))
        criteria = criteria.replace(f"[{first}]", "[criterion]")
        reply = {
            "step_1_criteria": reply["step_1_criteria"],
            **{step: {"criterion": reply[step][first]} for step in ("step_2_report", "step_3_verdicts")},
        }
    return (
        f"Example. {example['company']}, financial year {example['year']}. Activity: {example['activity']}\n"
        f"Criteria:\n{criteria}\nReport:\n{passages}\nReply:\n{json.dumps(reply, ensure_ascii=False)}"
    )
