"""Places of points and ticks."""

from __future__ import annotations

import pytest

from paika.interfaces.report.plot import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    even_ticks,
    line_plot,
    logarithmic,
)


@pytest.mark.parametrize(
    ("most", "wanted"),
    [
        (512, [0, 200, 400]),
        (1, [0, 0.5, 1]),
        (7, [0, 2, 4, 6]),
        (40, [0, 10, 20, 30, 40]),
        (0, [0]),
        (float("inf"), [0]),
    ],
)
def test_ticks_are_round(most: float, wanted: list[float]):
    assert [value for value, _ in even_ticks(most, str)] == wanted


def test_corners_and_a_line():
    axis = Axis("x", [(0, "a<b")], 10)
    drawn = line_plot("t", {"one": [(0, 0), (10, 10)], "none": []}, axis, axis)
    assert f'd="M{LEFT}.0 {HEIGHT - BOTTOM}.0L{WIDTH - RIGHT}.0 {TOP}.0"' in drawn
    assert drawn.count('class="line') == 1
    assert "a&lt;b" in drawn


def test_values_beyond_the_axis_stay_in_the_plot():
    axis = Axis("", [], 10)
    assert f"L{WIDTH - RIGHT}.0 {TOP}.0" in line_plot("t", {"one": [(0, 0), (99, 99)]}, axis, axis)


def test_the_long_axis_begins_at_nothing():
    assert logarithmic(0) == 0
    assert logarithmic(999) == pytest.approx(3)
