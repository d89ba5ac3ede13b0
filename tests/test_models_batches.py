"""Texts in batches of like length, and several batches at a time."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.models.tokens import alike


def _cost(lengths: list[int], batches: list[list[int]], each: int) -> int:
    return sum(max(lengths[place] for place in batch) * len(batch) + each for batch in batches)


def test_texts_of_like_length_go_together() -> None:
    assert alike([10, 200, 11, 190], 4, 16) == [[0, 2], [3, 1]]
    assert alike([10, 200, 11, 190], 4, 5000) == [[0, 2, 3, 1]]
    assert alike([10, 10, 10], 2, 16) == [[0, 1], [2]] or alike([10, 10, 10], 2, 16) == [[0], [1, 2]]
    assert alike([], 4, 16) == []


@given(st.lists(st.integers(1, 60), max_size=9), st.integers(1, 4), st.integers(0, 40))
def test_each_once_and_no_cheaper_way(lengths: list[int], most: int, each: int) -> None:
    batches = alike(lengths, most, each)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    assert all(0 < len(batch) <= most for batch in batches)
    order = sorted(range(len(lengths)), key=lambda place: lengths[place])
    ways = [
        [order[start:end] for start, end in zip((0, *cuts), (*cuts, len(order)), strict=True)]
        for count in range(len(order))
        for cuts in combinations(range(1, len(order)), count)
    ]
    allowed = [way for way in ways if all(len(batch) <= most for batch in way)]
    assert _cost(lengths, batches, each) == min((_cost(lengths, way, each) for way in allowed), default=0)


class TestOnACPU:
    def test_every_text_is_run_once_and_torch_keeps_its_threads(self) -> None:
        torch = pytest.importorskip("torch")
        from responsa.models.hub.batches import in_batches

        before, seen, threads = torch.get_num_threads(), [], set()
        torch.set_num_threads(2)

        def run(places: list[int]) -> None:
            threads.add(torch.get_num_threads())
            seen.extend(places)

        try:
            in_batches([5, 90, 6, 91, 7, 92], torch.device("cpu"), 2, run)
            assert sorted(seen) == list(range(6))
            assert threads == {1}  # two batches at a time, each on one
            assert torch.get_num_threads() == 2
            seen.clear()
            threads.clear()
            in_batches([5, 6], torch.device("cpu"), 8, run)
            assert (seen, threads) == ([0, 1], {2})  # one batch has all
        finally:
            torch.set_num_threads(before)

    def test_an_error_of_one_batch_is_raised(self) -> None:
        torch = pytest.importorskip("torch")
        from responsa.models.hub.batches import in_batches

        def run(places: list[int]) -> None:
            if 0 in places:
                raise ValueError("no")

        before = torch.get_num_threads()
        torch.set_num_threads(2)
        try:
            with pytest.raises(ValueError, match="no"):
                in_batches([5, 900, 6, 901], torch.device("cpu"), 2, run)
            assert torch.get_num_threads() == 2
        finally:
            torch.set_num_threads(before)
