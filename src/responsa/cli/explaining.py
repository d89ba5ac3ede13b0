"""Explanations of scores, written where --explain says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import note
from responsa.errors import InputError, suggestion

if TYPE_CHECKING:
    from responsa.entailment import ScoringProtocol
    from responsa.evaluate.explain import Explanation
    from responsa.evaluate.repass import Scored, Working
    from responsa.evaluate.repass_files import SubmittedAnswer
    from responsa.evaluate.repass_sentences import Splitter
    from responsa.views import Json

FORMS = (".json", ".html")

ExplainOption = Annotated[
    Path | None,
    typer.Option("--explain", metavar="FILE", help="Write what each score rests on: FILE.html, a page, or FILE.json."),
]
ExplainIdOption = Annotated[
    list[str] | None,
    typer.Option("--explain-id", metavar="ID", help="Explain this question alone; may be given several times."),
]


@dataclass
class Collector:
    """Explains the answers of a file as they are scored; those of ``ids`` alone where it is not empty, none without a
    splitter."""

    protocol: ScoringProtocol
    splitter: Splitter | None
    ids: frozenset[str]
    found: list[Explanation] = field(default_factory=list)

    def __call__(self, working: Working) -> None:
        from responsa.evaluate.explain import explain

        if self.splitter and (not self.ids or working.parts.item.id in self.ids):
            self.found.append(explain(working, self.protocol, self.splitter))


def collectors(
    path: Path | None, ids: list[str] | None, protocol: ScoringProtocol, submitted: Sequence[Sequence[SubmittedAnswer]]
) -> list[Collector]:
    """One for each file. InputError for a path of another kind and for an id that no file has."""
    from responsa.evaluate.repass_sentences import splitter

    if path and path.suffix.lower() not in FORMS:
        raise InputError(f"--explain: {str(path)!r} ends neither in .html, for a page, nor in .json")
    if ids and not path:
        raise InputError("--explain-id says which answers --explain FILE explains; give --explain too")
    known = {item.id for items in submitted for item in items}
    for name in ids or ():
        if name not in known:
            near = get_close_matches(name, known, n=1)  # not all: a file may have thousands
            raise InputError(f"--explain-id: no question has the id {name!r}{suggestion(name, near)}")
    split = splitter(protocol.splitter) if path else None
    return [Collector(protocol, split, frozenset(ids or ())) for _ in submitted]


def write(path: Path, files: Sequence[Path], scored: Sequence[Scored], made: Sequence[Collector]) -> None:
    """The explanations of all files as one page, or as JSON."""
    from responsa import views
    from responsa.storage import write_text

    rows = [
        (str(file), each.stamps, shown.found, _unanswered(each, shown))
        for file, each, shown in zip(files, scored, made, strict=True)
    ]
    if path.suffix.lower() == ".html":
        from responsa.render.explanations import Explained, page

        text = page([Explained(*row) for row in rows])
    else:
        listed: Json = [
            {
                "file": name,
                "stamps": dict(stamps),
                "unanswered": dict(missing),
                "answers": [views.explanation(each) for each in found],
            }
            for name, stamps, found, missing in rows
        ]
        # Half a surrogate pair, which JSON may hold and UTF-8 may not, becomes its escape.
        plain = json.dumps({"files": listed}, ensure_ascii=False, allow_nan=False) + "\n"
        text = plain.encode("utf-8", "backslashreplace").decode("utf-8")
    write_text(text, path)
    note(f"explained in {path}")


def _unanswered(scored: Scored, made: Collector) -> dict[str, str]:
    return {name: reason for name, reason in scored.unanswered.items() if not made.ids or name in made.ids}
