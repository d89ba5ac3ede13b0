"""Archives of questions and answers that cite articles of the CRR as examples to learn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from responsa.errors import InputError
from responsa.learn import eba
from responsa.learn.examples import Example

# An article as printed ("99", "428b") to the ids of its passages; none where the library does not hold it.
Resolve = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Archive:
    """How inquiries become examples. ``left_out``: articles whose inquiries are not used. ``references``: articles
    cited in question, background and official answer are positives too, not only those of the ``article`` field.

    The CRR Ranker leaves Article 99 (reporting) out and takes the references (Bank of Italy, section 2.2.1; there
    GPT-4o extracts them, here the citation grammar does, which does not see what is only implied).
    """

    left_out: tuple[str, ...] = ("99",)
    references: bool = True


@dataclass(frozen=True)
class Loaded:
    """Examples, and the inquiries that gave none: on an article left out, or on none that the library holds."""

    examples: tuple[Example, ...]
    left_out: tuple[str, ...]
    unresolved: tuple[str, ...]


def load(path: Path, resolve: Resolve, archive: Archive = Archive()) -> Loaded:
    """Examples from an archive as `eba.read` reads it."""
    found: list[Example] = []
    left_out: list[str] = []
    unresolved: list[str] = []
    for inquiry in eba.read(path):
        if set(inquiry.articles) & set(archive.left_out):
            left_out.append(inquiry.id)
            continue
        cited = (*eba.named(inquiry), *eba.cited(inquiry)) if archive.references else ()
        articles = [article for article in (*inquiry.articles, *cited) if article not in archive.left_out]
        passages = tuple(dict.fromkeys(passage for article in articles for passage in resolve(article)))
        if passages:
            found.append(Example(inquiry.query, passages))
        else:
            unresolved.append(inquiry.id)
    if not found:
        raise InputError(f"{path}: no inquiry cites an article that the library holds; add the act to the library")
    return Loaded(tuple(found), tuple(left_out), tuple(unresolved))
