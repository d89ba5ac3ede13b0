"""What ``--json`` prints: one plain form of each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:  # each command loads what its own view is made of, and no more
    from responsa.answer.generators.base import Failed
    from responsa.answer.ground import Checked, Place
    from responsa.corpus.answers import CitationCheck, SavedAnswer
    from responsa.corpus.definitions import Definition
    from responsa.corpus.diff import Difference
    from responsa.corpus.graph import CrossReference
    from responsa.corpus.intake import AddReport
    from responsa.corpus.library import DocumentState
    from responsa.corpus.verify import Finding
    from responsa.corpus.view import Corpus
    from responsa.evaluate.agreement import PairedComparison
    from responsa.evaluate.explain import Explanation, Match, Span
    from responsa.evaluate.ranking import RunScores, Summary
    from responsa.register import Duty, Measure
    from responsa.types import Answer, Passage, Ranking, Version

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


def version(value: Version) -> dict[str, Json]:
    """A version: dates as ISO text, null where open."""
    return {
        "document": value.document_id,
        "digest": value.digest,
        "title": value.title,
        "valid_from": value.valid_from.isoformat() if value.valid_from else None,
        "valid_to": value.valid_to.isoformat() if value.valid_to else None,
    }


def passage(value: Passage) -> dict[str, Json]:
    """A passage with everything that is stored of it."""
    return {
        "id": value.id,
        "document": value.document_id,
        "number": value.number,
        "title": value.title,
        "text": value.text,
        "parent": value.parent_id,
        "path": list(value.path),
        "kind": value.kind,
        "page": value.page,
        "boxes": [[box.page, box.x0, box.y0, box.x1, box.y1] for box in value.boxes],
        "flags": list(value.flags),
    }


def hits(ranking: Ranking, corpus: Corpus) -> list[Json]:
    """The hits of a ranking, best first: the passage, its score and the version it was read from."""
    passages = corpus.read(hit.passage_id for hit in ranking.hits)
    versions = {value.document_id: value.digest for value in corpus.versions}
    found: list[Json] = []
    for rank, hit in enumerate(ranking.hits, 1):
        item = passages[hit.passage_id]
        place: dict[str, Json] = {"rank": rank, "score": hit.score, "version": versions[item.document_id]}
        found.append(place | passage(item))
    return found


def search(ranking: Ranking, corpus: Corpus) -> Json:
    """The result of a search. ``approximate``: documents whose version read is not in force on the day, or today."""
    return {"hits": hits(ranking, corpus), "approximate": list(corpus.approximate)}


def answer(value: Answer, corpus: Corpus, saved: int | None = None, check: Checked | None = None) -> dict[str, Json]:
    """An answer; offsets of citations count characters of the stored text of that version.

    ``approximate`` is as in `search`; ``saved`` is the number that the answer is kept under, null where it is not.
    ``obligations`` are those of the passages cited that the answer does not cover, ``contradictions`` what a passage
    found says against a sentence; both null where the answer was not checked, else ``checked`` names what judged.
    What a language model wrote has `responsa.answer.plain.written` besides.
    """
    plain: dict[str, Json] = {
        "question": value.query.text,
        "answer": value.text,
        "sentences": [
            {
                "text": sentence.text,
                "answer_start": sentence.answer_start,
                "answer_end": sentence.answer_end,
                "label": sentence.label,
                "citations": [
                    {
                        "id": citation.passage_id,
                        "version": citation.version,
                        "start": citation.start,
                        "end": citation.end,
                    }
                    for citation in sentence.citations
                ],
                "grounding": sentence.grounding,
            }
            for sentence in value.sentences
        ],
        "passages": hits(value.ranking, corpus),
        "abstained": value.abstained,
        "confidence": value.confidence,
        "approximate": list(corpus.approximate),
        "saved": saved,
        "checked": {"nli": check.nli, "obligations": check.detector} if check else None,
        "obligations": [{**_place(each.source), "probability": _rounded(each.probability)} for each in check.left_out]
        if check
        else None,
        "contradictions": [
            {"sentence": each.sentence, **_place(each.source), "probability": _rounded(each.probability)}
            for each in check.contradictions
        ]
        if check
        else None,
    }
    if not (value.trace or value.notes):
        return plain
    from responsa.answer.plain import written

    return plain | cast("dict[str, Json]", written(value))


def _place(value: Place) -> dict[str, Json]:
    return {
        "id": value.passage_id,
        "version": value.version,
        "start": value.start,
        "end": value.end,
        "text": value.text,
    }


def submission(value: Answer, corpus: Corpus) -> Json:
    """An answer in the RIRAG submission format, without citation marks in its text; empty where abstained.

    ``RetrievedPassages`` are the texts the answer was written from: the passages kept, then those that came with them
    (lead-ins, list items). `submitted` adds what a language model's answer says of itself, as ``ask --json`` has it.
    """
    cited = dict.fromkeys(citation.passage_id for sentence in value.sentences for citation in sentence.citations)
    kept = [] if value.abstained else [hit.passage_id for hit in value.ranking.hits]
    passages = list(corpus.read(dict.fromkeys([*kept, *cited])).values())
    from responsa.answer.plain import submitted

    return {
        "QuestionID": value.query.id,
        "Question": value.query.text,
        "RetrievedPassages": [item.text for item in passages],
        "RetrievedIDs": [item.id for item in passages],
        "Answer": " ".join(sentence.text for sentence in value.sentences),
        "CitedIDs": list(cited),
        "Confidence": value.confidence,
        **cast("dict[str, Json]", submitted(value)),
    }


def failed(value: Failed) -> Json:
    """A question that got no answer, in the form of `submission`, with the reason."""
    told: dict[str, Json] = {"QuestionID": value.query.id, "Question": value.query.text, "Failed": value.reason}
    return told | {"RetrievedPassages": [], "RetrievedIDs": [], "Answer": "", "CitedIDs": [], "Confidence": 0.0}


def document(state: DocumentState, indexed: bool) -> Json:
    """A version of a document as the catalogue lists it."""
    return version(state.version) | {
        "source": state.source,
        "passages": state.passages,
        "current": state.current,
        "live": state.live,
        "indexed": indexed,
    }


def added(report: AddReport) -> Json:
    """What became of every file."""
    return {
        "files": [
            {
                "path": file.path,
                "status": file.status,
                "documents": list(file.documents),
                "passages": file.passages,
                "reason": file.reason,
                "notices": list(file.notices),
            }
            for file in report.files
        ],
        "skipped": list(report.skipped),
        "missing": list(report.missing),
        "interrupted": report.interrupted,
    }


def finding(value: Finding) -> Json:
    """One thing that ``verify`` checked."""
    return asdict(value)


def citation_check(value: CitationCheck) -> Json:
    """What became of a saved citation."""
    return asdict(value) | {"words": [{"op": piece.op, "text": piece.text} for piece in value.words]}


def saved(value: SavedAnswer, checks: Sequence[CitationCheck]) -> dict[str, Json]:
    """A saved answer, with how many of its citations hold, are superseded and are broken; ``stale`` where any of them
    is superseded."""
    return {
        "number": value.number,
        "asked_at": value.asked_at,
        "question": value.question,
        "as_of": value.as_of.isoformat() if value.as_of else None,
        "recipe": value.recipe,
        "text": value.text,
        "stale": any(check.state == "superseded" for check in checks),
        "citations": {
            state: sum(check.state == state for check in checks) for state in ("holds", "superseded", "broken")
        },
        "checks": [citation_check(check) for check in checks],
    }


def reference(value: CrossReference, corpus: Corpus) -> dict[str, Json]:
    """A citation: its words in the passage, what they name and the passages meant, or the reason that none is found."""
    return {
        "id": value.source,
        "start": value.start,
        "end": value.end,
        "text": corpus[value.source].text[value.start : value.end],
        "act": value.act,
        "provision": value.provision,
        "document": value.document or None,
        "targets": list(value.targets),
        "reason": value.reason or None,
    }


def definition(value: Definition, corpus: Corpus) -> dict[str, Json]:
    """A defined term and the words that define it."""
    from responsa.corpus.definitions import text_of

    found = corpus[value.passage_id]
    return {
        "term": value.term,
        "names": list(value.names),
        "id": value.passage_id,
        "document": value.document_id,
        "number": found.number,
        "version": next(each.digest for each in corpus.versions if each.document_id == value.document_id),
        "start": value.start,
        "end": value.end,
        "kind": value.kind,
        "scope": value.scope or None,
        "text": text_of(value, corpus),
    }


def difference(value: Difference) -> Json:
    """Two versions of a document, clause by clause. ``words`` are those of an amended clause, title first, in order."""
    return {
        "document": value.new.document_id,
        "old": version(value.old),
        "new": version(value.new),
        "formats": list(value.formats),
        "left_out": list(value.left_out),
        "counts": {**value.counts},
        "articles": list(value.articles),
        "changes": [
            {
                "what": each.what,
                "old": passage(each.old) if each.old else None,
                "new": passage(each.new) if each.new else None,
                "words": [{"op": piece.op, "text": piece.text} for piece in each.pieces],
            }
            for each in value.changes
        ],
    }


def scores(value: RunScores, summaries: list[Summary]) -> Json:
    """A run's means with their intervals, by number of gold passages, and its scores for each question."""
    return {
        "run": value.run,
        "questions": len(value.gold),
        "missing": list(value.missing),
        "unjudged": list(value.unjudged),
        "means": [{"measure": s.measure, "group": s.group} | asdict(s.estimate) for s in summaries],
        "scores": [asdict(score) for score in value.scores],
    }


def comparison(first: str, second: str, measure: str, value: PairedComparison) -> Json:
    """The second run against the first: a positive difference says that the second is better."""
    return {"first": first, "second": second, "measure": measure} | asdict(value)


def explanation(value: Explanation) -> Json:
    """Why an answer has its scores. Sentences are named by their places in ``sentences`` (of the answer) and
    ``sources``, passages by theirs in ``passages``; the matrices have a row for each sentence of the answer."""
    score = value.score
    return {
        "id": score.id,
        "question": value.question,
        "answer": value.answer,
        "entailment": score.entailment,
        "contradiction": score.contradiction,
        "coverage": score.coverage,
        "composite": score.composite,
        "reason": score.reason,
        "passages": [{"id": name, "text": text} for name, text in zip(value.ids, value.passages, strict=True)],
        "obligations": [
            {
                "source": each.source,
                "covered": each.covered,
                "by": each.by,
                "probability": _rounded(each.probability),
                "asked": list(each.asked),
                "not_asked": [place for place in value.may_cover if place not in each.asked],
            }
            for each in value.obligations
        ],
        "sentences": [
            {
                "text": each.text,
                "places": [{"start": start, "end": end} for start, end in each.spans],
                "obligation": each.obligation,
                "verdict": each.verdict,
                "support": _match(each.support),
                "contradiction": _match(each.conflict),
            }
            for each in value.sentences
        ],
        "sources": [
            {
                "text": each.text,
                "places": _spans(each.spans),
                "repeats": _spans(each.repeats),
                "obligation": each.obligation,
            }
            for each in value.sources
        ],
        "matrix": {
            name: [[_rounded(value) for value in row] for row in rows.tolist()]
            for name, rows in (("entailment", value.entails), ("contradiction", value.contradicts))
        },
    }


def _match(value: Match | None) -> Json:
    return {"source": value.source, "probability": _rounded(value.probability)} if value else None


def _spans(spans: Sequence[Span]) -> list[Json]:
    return [{"passage": span.passage, "start": span.start, "end": span.end} for span in spans]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def obligations(value: Version, duties: Sequence[Duty], counts: Mapping[str, int]) -> Json:
    """The obligation register of a version. ``by_who`` counts the duties of each; "" those that name nobody."""
    return {"version": version(value), "by_who": {**counts}, "obligations": [duty(each) for each in duties]}


def duty(value: Duty) -> dict[str, Json]:
    """A duty; offsets count characters of the stored text of the passage that each part names."""
    names = ("sentence", "verb", "subject", "who", "what", "when", "condition", "exception")
    return {
        "id": value.passage.id,
        "document": value.version.document_id,
        "number": value.number,
        "page": value.passage.page,
        "version": value.version.digest,
        "modality": value.modality,
        "soft": value.soft,
        **{name: [part._asdict() for part in getattr(value, name)] for name in names},
        "timing": [measure(each) for each in value.timing],
        "quantities": [measure(each) for each in value.measures],
        "cites": [
            part._asdict() | {"act": each.act, "provision": each.provision, "kind": each.kind}
            for part, each in value.references
        ],
    }


def measure(value: Measure) -> dict[str, Json]:
    """A quantity with its words; ``value`` is null where they give no number."""
    number = value.quantity.value
    return value.part._asdict() | {
        "kind": value.quantity.kind,
        "value": None if number is None else float(number),
        "unit": value.quantity.unit,
        "iso": value.quantity.iso or None,
        "bound": value.quantity.bound or None,
        "relation": value.quantity.relation or None,
        "event": [part._asdict() for part in value.event],
    }
