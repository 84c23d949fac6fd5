"""How told starts came true: what was told first in each lead, percentiles by nearest rank, hit rates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab import T0
from tests.ports.store_examples import put

from paika.adapters.in_memory.store import InMemoryStore
from paika.domain.plan import ReasonRecord
from paika.domain.promise import Calibration, Outcome, Promise
from paika.services.score_promises import (
    LEADS_S,
    NEEDED,
    PromiseScores,
    accuracy,
    calibrations,
    nearest_rank,
    outcomes_of,
)

HOUR = 3600


def at(hours: float) -> datetime:
    return T0 + timedelta(hours=hours)


def told(when: float, start_by: float | None, *, start_from: float | None = None, version: int = 1) -> ReasonRecord:
    """What was told at hour `when`: a start by hour `start_by`, or none."""
    promise = None if start_by is None else Promise("t-1", version, at(start_by), ())
    return ReasonRecord("t-1", at(when), (), promise, None if start_from is None else at(start_from))


def scored(*records: ReasonRecord, started: float, version: int = 1) -> list[tuple[float, float, float, bool | None]]:
    """(hour told, lead in hours, lateness in hours, within) by lead, the longest first."""
    found = outcomes_of(records[::-1], version, at(started))
    return [
        (round((o.told_at - T0) / timedelta(hours=1), 2), round(o.lead_s / HOUR, 2), o.late_s / HOUR, o.within)
        for o in found
    ]


class TestWhatATaskWasTold:
    def test_a_standing_promise_counts_in_each_lead_that_it_comes_through(self):
        assert scored(told(0, 10), started=9) == [(0, 10, -1, None), (6, 4, -1, None), (9, 1, -1, None)][:2]
        assert scored(told(0, 10), started=10.5) == [(0, 10, 0.5, None), (6, 4, 0.5, None), (9, 1, 0.5, None)]

    def test_of_several_words_in_one_lead_the_first_counts(self):
        assert scored(told(0, 3), told(0.5, 3.5), started=2) == [(0, 3, -1, None)]

    def test_a_promise_that_moved_is_another_word_in_the_nearer_lead(self):
        assert scored(told(0, 5), told(0.5, 2), started=2) == [(0, 5, -3, None), (0.5, 1.5, 0, None), (1, 1, 0, None)]

    def test_where_nothing_was_told_nothing_counts(self):
        assert scored(started=3) == []
        assert scored(told(0, None), started=3) == []
        assert scored(told(0, 10), told(1, None), started=11) == [(0, 10, 1, None)]

    def test_what_was_told_to_an_earlier_version_is_no_word_to_this_one(self):
        assert scored(told(0, 10, version=1), told(1, 3, version=2), started=2, version=2) == [(1, 2, -1, None)]

    def test_too_far_ahead_is_not_counted_before_it_comes_near(self):
        assert [lead for _, lead, _, _ in scored(told(0, 100), started=80)] == [72, 24]

    def test_told_at_the_very_start_is_no_word_ahead(self):
        assert scored(told(3, 3), started=3) == []

    @pytest.mark.parametrize(
        ("started", "within"), [(1.9, False), (2, True), (2.9, True), (3, True), (3 + 30 / HOUR, True), (3.1, False)]
    )
    def test_a_range_holds_the_start_to_the_minute(self, started, within):
        first = scored(told(0, 3, start_from=2), started=started)[0]
        assert first[3] is within

    def test_the_range_belongs_to_the_lead_that_it_was_told_in(self):
        assert [row[3] for row in scored(told(0, 3, start_from=2), started=3)] == [True, None]


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1), st.integers(1, 100))
def test_nearest_rank_is_the_smallest_value_that_enough_reach(values, percent):
    found = nearest_rank(ordered := sorted(values), percent)
    assert sum(value <= found for value in ordered) * 100 >= percent * len(ordered)
    assert all(
        sum(value <= other for value in ordered) * 100 < percent * len(ordered) for other in ordered if other < found
    )


def rows(count: int, lead_s: int = 1800, within: Sequence[bool | None] = (None,)) -> list[Outcome]:
    return [Outcome(f"t-{n}", T0, lead_s, n - 5, within[n % len(within)]) for n in range(count)]


class TestCalibrations:
    def test_too_few_teach_nothing(self):
        assert calibrations([]) == ()
        assert calibrations(rows(NEEDED - 1)) == ()

    def test_enough_teach_the_tenth_and_the_ninetieth(self):
        assert calibrations(rows(20)) == (Calibration(0, HOUR, 20, -4, 12, 0, None),)

    def test_each_lead_by_itself(self):
        found = calibrations([*rows(20), *rows(25, HOUR), *rows(19, 5 * HOUR), *rows(30, 100 * HOUR)])
        assert [(one.lead_from_s, one.lead_to_s, one.seen) for one in found] == [(0, HOUR, 20), (HOUR, 4 * HOUR, 25)]

    def test_the_hit_rate_is_over_told_ranges_alone(self):
        (one,) = calibrations(rows(40, within=(True, None, False, True)))
        assert (one.ranged, one.hit_permille) == (30, 666)

    def test_every_lead_is_shown_also_without_history(self):
        shown = accuracy(rows(3, within=(True,)))
        assert [(row.lead_from_s, row.lead_to_s) for row in shown] == list(LEADS_S)
        assert (shown[0].seen, shown[0].early_s, shown[0].late_s, shown[0].hit_permille) == (3, None, None, 1000)
        assert (shown[1].seen, shown[1].hit_permille) == (0, None)


class TestScoresInMemory:
    def test_a_new_server_knows_what_the_last_one_wrote(self):
        store = InMemoryStore()
        put(store, outcomes=tuple(rows(20)))
        assert PromiseScores(store).rows(0) == accuracy(rows(20))

    def test_it_is_told_anew_once_for_each_step(self):
        scores = PromiseScores(InMemoryStore())
        assert scores.rows(0)[0].seen == 0
        scores.add(rows(1))
        assert scores.rows(0)[0].seen == 0
        assert scores.rows(300)[0].seen == 1
        same = scores.rows(300)
        scores.add([])
        assert scores.rows(600) is same
