"""Figures of tiny cases, computed by hand."""

from __future__ import annotations

import pytest

from paika.domain.task import Tier
from paika.simulation.load import Played, Served, Work
from paika.simulation.report import (
    Difference,
    Spread,
    allocation,
    bounded_slowdown,
    card_weighted_wait,
    figures,
    idle_while_waiting,
    inversions,
    mean,
    oversized,
    paired,
    percentile,
    report,
    spread,
)


def served(name: str, queued: int, started: int, lasts: int, cards: int = 1, **more: object) -> Served:
    tier = more.pop("tier", Tier.NORMAL)
    team = more.pop("team", "")
    work = Work(name, queued, lasts, cards, 1, ("T",), str(team), "", tier)  # type: ignore[arg-type]
    return Served(work, queued, started, started + lasts, **more)  # type: ignore[arg-type]


TWO = (served("a", 0, 0, 100, 4), served("b", 50, 100, 100, 8))


def test_of_nothing_nothing_is_known():
    assert (mean([]), percentile([], 95), card_weighted_wait([]), allocation([], 8), spread([])) == (None,) * 5
    assert figures([]).slowdown is None
    assert report(Played("r", ()), 8).makespan_s is None


def test_waits():
    got = figures(TWO)
    assert (got.works, got.mean_wait_s, got.p95_wait_s) == (2, 25, 50)
    assert got.card_wait_s == pytest.approx(8 * 50 / 12)
    assert got.slowdown == pytest.approx((1 + 1.5) / 2)


@pytest.mark.parametrize(("percent", "wanted"), [(95, 19), (100, 20), (5, 1), (0, 1)])
def test_percentiles_are_nearest_ranks(percent: int, wanted: int):
    assert percentile(range(20, 0, -1), percent) == wanted


@pytest.mark.parametrize(
    ("wait", "lasts", "wanted"), [(0, 100, 1), (100, 100, 2), (5, 1, 1), (19, 1, 2), (0, 0, 1), (30, 0, 3)]
)
def test_the_slowdown_of_short_works_is_bounded(wait: int, lasts: int, wanted: float):
    assert bounded_slowdown(served("a", 0, wait, lasts)) == wanted


def test_allocation_counts_only_the_submit_window():
    """From 0 to 50 on 8 cards: only a runs, on 4 of them."""
    assert allocation(TWO, 8) == 50
    assert allocation(TWO[:1], 8) is None


def test_a_stopped_work_waits_all_the_time_that_was_not_its_last_run():
    one = Served(TWO[0].work, 0, 10, 310, 1, 800)
    assert one.wait_s == 210
    got = report(Played("r", (one,), ("x",), 7), 8)
    assert (got.stops, got.lost_card_s, got.left, got.plans, got.makespan_s) == (1, 800, 1, 7, 310)


def test_parts_have_their_own_figures():
    rows = (served("a", 0, 5, 9, 1, team="x", tier=Tier.IDLE), served("b", 0, 7, 9, 16, team="y", tier=Tier.CORE))
    got = report(Played("r", rows), 16)
    assert [(name, part.mean_wait_s) for name, part in got.tiers.items()] == [("core", 7), ("idle", 5)]
    assert [(name, part.mean_wait_s) for name, part in got.teams.items()] == [("x", 5), ("y", 7)]
    assert [(name, part.works) for name, part in got.sizes.items()] == [("1", 1), ("9-64", 1)]


def test_spread():
    assert spread([1.0, 3.0]) == Spread(2.0, 1.0, 3.0, pytest.approx(2**0.5))
    assert spread([4.0]) == Spread(4.0, 4.0, 4.0, None)
    assert spread([1.0, None]) is None


def test_idle_counts_only_while_somebody_waits():
    """0 to 50 on 8 cards: a has 4 of them, and b waits from 20 on, so 4 cards are idle for 30 of 50 s."""
    rows = (TWO[0], served("b", 20, 100, 100, 8), served("c", 50, 200, 1))
    assert idle_while_waiting(rows, 8) == pytest.approx(100 * 4 * 30 / (8 * 50))
    assert idle_while_waiting(TWO[:1], 8) is None


def test_oversized_is_a_part_of_the_card_time():
    assert oversized((served("a", 0, 0, 30, 2, oversized=True), served("b", 0, 0, 60, 3))) == 25
    assert oversized(()) is None


@pytest.mark.parametrize(
    ("tier", "cards", "queued", "started", "wanted"),
    [
        (Tier.NORMAL, 2, 6, 50, 1),
        (Tier.IDLE, 8, 6, 50, 1),
        (Tier.CORE, 2, 6, 50, 0),  # a higher tier may
        (Tier.NORMAL, 1, 6, 50, 0),  # a smaller one fits where this one does not
        (Tier.NORMAL, 2, 5, 50, 0),  # came at the same time
        (Tier.NORMAL, 2, 6, 100, 0),  # started at the same time
    ],
)
def test_who_was_passed(tier: Tier, cards: int, queued: int, started: int, wanted: int):
    rows = (served("a", 5, 100, 10, 2), served("b", queued, started, 10, cards, tier=tier), served("z", 7, 500, 10, 2))
    assert inversions(rows) == wanted


def test_orders_are_compared_in_pairs():
    assert paired([3.0, 5.0], [1.0, 3.0]) == Difference(2.0, 0.0, noise=False)
    assert paired([1.0, 4.0], [2.0, 2.0]) == Difference(0.5, pytest.approx(1.5), noise=True)
    assert paired([1.0, 5.0], [0.0, 0.0]) == Difference(3.0, pytest.approx(2.0), noise=True)
    assert paired([2.0, 6.1], [0.0, 0.0]).noise is True  # type: ignore[union-attr]
    assert paired([4.0, 9.0], [0.0, 0.0]).noise is False  # type: ignore[union-attr]
    assert paired([3.0], [1.0]) == Difference(2.0, None, None)
    assert paired([3.0, None], [1.0, 1.0]) is None
