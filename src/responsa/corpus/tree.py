"""What a clause needs around it to be understood: headings, the lead-in above an item, the items below a lead-in."""

from __future__ import annotations

from collections.abc import Sequence

from responsa.types import Passage

_LEAD_IN = (":", "-", "—", "–")
_LONGEST = 3000  # characters of items taken below a lead-in: enough for any list, not for a whole schedule


def leads_in(passage: Passage) -> bool:
    """Whether the text announces what stands below it ("A Firm must:")."""
    return passage.text.rstrip().endswith(_LEAD_IN)


def surroundings(passages: Sequence[Passage]) -> list[str]:
    """For each passage of a document the words around it that complete it; empty where nothing does.

    They are the headings above it, the lead-ins of the list it belongs to and, where it is a lead-in
    itself, the items below.
    """
    by_id = {passage.id: passage for passage in passages}
    items: dict[str, list[str]] = {}
    for passage in passages:
        if passage.parent_id in by_id and passage.kind != "guidance" and leads_in(by_id[passage.parent_id]):
            items.setdefault(passage.parent_id, []).append(passage.text)
    found = []
    for passage in passages:
        above = list(passage.path)
        parent = by_id.get(passage.parent_id or "")
        while parent and leads_in(parent):
            above.append(parent.text)
            parent = by_id.get(parent.parent_id or "")
        found.append("\n".join([*above, *items.get(passage.id, [])])[:_LONGEST])
    return found
