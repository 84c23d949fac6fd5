"""Curves of tiny cases, computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation.test_report import served

from paika.simulation.curves import cards_over_time, queue_over_time, wait_curve

TWO = (served("a", 0, 0, 100, 4), served("b", 50, 100, 100, 8))


def test_waits():
    curve = wait_curve(TWO)
    assert (curve[0], curve[50], curve[51], curve[100]) == ((0, 0), (0, 50), (50, 51), (50, 100))
    assert wait_curve(()) == []


def test_cards_and_queue():
    assert cards_over_time(TWO, 4, 200) == [(25, 4), (75, 4), (125, 8), (175, 8)]
    assert queue_over_time(TWO, 4, 200) == [(25, 0), (75, 1), (125, 0), (175, 0)]
    assert cards_over_time(TWO, 1, 200) == [(100, 6)]
    assert cards_over_time(TWO, 4, 0) == []


@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 60), st.integers(1, 9)), max_size=8),
    st.integers(1, 13),
    st.integers(1, 120),
)
def test_the_area_is_the_card_time(spans: list[tuple[int, int, int]], pieces: int, until: int):
    rows = [served(str(n), start, start, lasts, cards) for n, (start, lasts, cards) in enumerate(spans)]
    area = sum(value for _, value in cards_over_time(rows, pieces, until)) * until / pieces
    wanted = sum(cards * max(0, min(start + lasts, until) - start) for start, lasts, cards in spans)
    assert area == pytest.approx(wanted, abs=1e-6)
