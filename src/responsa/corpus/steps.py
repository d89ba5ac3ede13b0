"""Provisions as steps inwards: (article, 129), (sub, 4), (subparagraph, first), (point, b); and in words."""

from __future__ import annotations

from responsa.corpus.citations import DIVISIONS, INNER, ORDINALS, Segment

Step = tuple[str, str]  # level and label: ("article", "36"), ("sub", "1"), ("sub", "a")
Steps = tuple[Step, ...]


def extended(steps: Steps, part: Segment, labels: tuple[str, ...]) -> Steps:
    if part.how == "this":
        return steps
    if part.how == "ordinal":
        return (*steps, (part.level, labels[0]))
    in_article = any(level in ("article", "rule") for level, _ in steps)
    if part.level in ("article", "rule"):
        steps = tuple(step for step in steps if step[0] in ("annex", "schedule"))
    if part.level == "paragraph" and in_article:
        return (*steps, *(("sub", label) for label in labels))
    if part.level == "subparagraph" and labels[0].isdigit() and int(labels[0]) <= len(ORDINALS):
        return (*steps, (part.level, ORDINALS[int(labels[0]) - 1]))
    if part.level == "part" and len(labels) > 1:  # "Annex V, Part 2.72", but "Part 21.250" of a rulebook
        if not any(level == "annex" for level, _ in steps):
            return (*steps, ("part", ".".join(labels)))
        return (*steps, ("part", labels[0]), ("paragraph", labels[1]), *(("sub", label) for label in labels[2:]))
    if part.level == "annex" and len(labels) > 1:  # "Annex I (3)(a)"
        return (*steps, ("annex", labels[0]), ("point", labels[1]), *(("sub", label) for label in labels[2:]))
    level = "point" if part.level == "subparagraph" else part.level
    if level == "point" and steps and steps[-1][0] == "point" and steps[-1][1] not in ("this", "that"):
        level = "sub"  # "point 4 letter (c)"
    return (*steps, (level, labels[0]), *(("sub", label) for label in labels[1:]))


def enclosing(steps: Steps, level: str, *, inclusive: bool = False) -> Steps:
    """The part of the provision cited before that encloses a paragraph or point, or (inclusive) is "that" one."""
    if inclusive and level in DIVISIONS:
        return next((steps[: k + 1] for k, step in enumerate(steps) if step[0] == level), ())
    if not steps or steps[0][0] not in ("article", "rule"):
        return ()
    keep = 1
    digits = len(steps) > 1 and steps[1][0] == "sub" and steps[1][1][0].isdigit()
    if digits and (level in ("subparagraph", "point") or (inclusive and level == "paragraph")):
        keep = 2
    if inclusive and level in ("point", "subparagraph"):
        keep = len(steps)
    return steps[:keep]


def render(steps: Steps) -> str:
    """Steps in words: Article 129(4), first subparagraph, point (b)."""
    parts: list[str] = []
    plain = False  # inside an article and no ordinal yet: points are written on to it
    for level, label in steps:
        number = f"({label})" if label[0].isalpha() and len(label) < 6 else label
        if level == "sub":
            parts[-1:] = [f"{parts[-1] if parts else ''}({label})"]
        elif level in INNER and label in (*ORDINALS, "this", "that"):
            parts.append(f"{label} {level}")
            plain = False
        elif level == "point" and plain:
            parts[-1] += f"({label})"
        elif level in INNER:
            parts.append(f"{level} {number}")
        else:
            parts.append(
                f"{label} {level.capitalize()}" if label in ("this", "that") else f"{level.capitalize()} {label}"
            )
            plain = level in ("article", "rule")
    return ", ".join(parts)
