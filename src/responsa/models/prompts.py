"""The words that some encoders want round a query: those of the RIRAG paper, as the cards of the models write them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

from responsa.errors import InputError, suggestion
from responsa.models import tokens

# RIRAG, section 5.1. Passages have no instruction. BGE-EN-ICL ends a query with an empty place for the response.
NV_EMBED_TASK = "Given a question, retrieve passages that answer the question"
BGE_ICL_TASK = "Given a financial-regulation query, retrieve relevant passages that answer the query"
NV_EMBED_PREFIX = f"Instruct: {NV_EMBED_TASK}\nQuery: "
BGE_ICL_SUFFIX = "\n<response>"
NV_EMBED_END = "</s>"  # its card has it put behind queries and passages where the model runs on this machine
SHOTS = (0, 1, 3, 5)  # the paper's
EXAMPLE_TOKENS = 512  # of an example's passage, as of every passage of the paper

PROMPTS = ("bge-en-icl", "nv-embed-v2")


def icl_prefix(examples: Iterable[tuple[str, str]] = (), task: str = BGE_ICL_TASK) -> str:
    """The prefix of a query for BGE-EN-ICL, with examples (question, passage) of the task before it.

    The paper draws 0, 1, 3 or 5 at random from the training questions. Cut long passages before.
    """
    shots = "".join(f"<instruct>{task}\n<query>{query}\n<response>{response}\n\n" for query, response in examples)
    return f"{shots}<instruct>{task}\n<query>"


def prompt(name: str, shots: int = 0, examples: Path | None = None, seed: int = 0) -> dict[str, str]:
    """What comes before (``query_prefix``) and after (``query_suffix``) a query.

    ``shots`` examples are drawn from the file ``examples`` (see `read_examples`) by ``seed``, the same ones for every
    query; only ``bge-en-icl`` takes them.
    """
    if name not in PROMPTS:
        raise InputError(f"unknown prompt {name!r}{suggestion(name, PROMPTS)}")
    if shots not in SHOTS:
        raise InputError(f"shots: expected one of {', '.join(map(str, SHOTS))}, got {shots}")
    if (shots > 0) != (examples is not None):
        raise InputError("shots and examples go together: shots=1|3|5 and examples=FILE, or neither")
    if name == "nv-embed-v2":
        if examples is not None:
            raise InputError("the prompt 'nv-embed-v2' takes no examples; leave out shots and examples")
        return {"query_prefix": NV_EMBED_PREFIX}
    drawn = _drawn(read_examples(examples), shots, seed, examples) if examples else []
    return {"query_prefix": icl_prefix(drawn), "query_suffix": BGE_ICL_SUFFIX}


def _drawn(known: list[tuple[str, str]], shots: int, seed: int, path: Path) -> list[tuple[str, str]]:
    if len(known) < shots:
        raise InputError(f"{path}: holds {len(known)} examples; {shots} are needed")
    drawn = random.Random(seed).sample(known, shots)  # noqa: S311
    return [(question, tokens.truncate(passage, EXAMPLE_TOKENS)) for question, passage in drawn]


def read_examples(path: Path) -> list[tuple[str, str]]:
    """Questions with the text of a passage that answers each: JSONL of objects with ``question`` and ``passage``.

    Take them from the training split alone. InputError with the line where one cannot be used.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path}: examples cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    examples = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
                question, passage = row["question"], row["passage"]
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise InputError(f"{path}: line {number}: expected an object with 'question' and 'passage'") from error
            if not (isinstance(question, str) and isinstance(passage, str) and question.strip() and passage.strip()):
                raise InputError(f"{path}: line {number}: 'question' and 'passage' must be texts that are not blank")
            examples.append((question, passage))
    return examples
