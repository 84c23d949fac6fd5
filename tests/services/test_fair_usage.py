"""What teams have used lately: sums of the ledger worn down by time, and open runs in full."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lab import T0
from tests.ports.store_examples import after_run, put, run

from paika.adapters.in_memory.store import InMemoryStore
from paika.domain.ledger import EntryKind, LedgerEntry, decayed
from paika.domain.policy import Policy
from paika.domain.run import RunState
from paika.domain.units import EPOCH
from paika.services.fair_usage import FairUsage, in_use, worn_down

HOUR = 3600
NOW = int((T0 - EPOCH).total_seconds())
buckets = st.dictionaries(
    st.integers(0, 400).map(lambda n: NOW - n * HOUR),
    st.dictionaries(st.sampled_from(["vision", "text"]), st.integers(0, 10**6), max_size=2),
    max_size=6,
)
half_lives = st.integers(HOUR, 30 * 86_400)


@given(buckets, half_lives)
def test_nothing_grows_by_ageing_and_nothing_is_made_up(spent, half_life):
    now, later = worn_down(spent, HOUR, NOW, half_life), worn_down(spent, HOUR, NOW + half_life, half_life)
    for team in ("vision", "text"):
        total = sum(one.get(team, 0) for one in spent.values())
        assert 0 <= later.get(team, 0) <= now.get(team, 0) <= total


@given(buckets, half_lives, st.integers(1, 10**6))
def test_whoever_used_more_counts_for_more(spent, half_life, more):
    start = NOW - HOUR
    raised = {**spent, start: {**spent.get(start, {}), "vision": spent.get(start, {}).get("vision", 0) + more}}
    before, after = worn_down(spent, HOUR, NOW, half_life), worn_down(raised, HOUR, NOW, half_life)
    assert after["vision"] == before.get("vision", 0) + more
    assert after.get("text", 0) == before.get("text", 0)


def test_a_half_life_halves():
    week = 7 * 86_400
    assert worn_down({NOW - week - HOUR: {"vision": 1000}}, HOUR, NOW, week) == {"vision": 500}


def test_open_runs_count_from_their_start_and_in_full():
    young = run(1, "t1", state=RunState.RUNNING, started_at=T0 - timedelta(minutes=10))
    wide = run(2, "t2", parts_held=400, state=RunState.RUNNING, started_at=T0 - timedelta(minutes=1))
    coming = run(3, "t3", parts_held=400)
    gone = after_run(run(4, "t4"), 50)
    assert in_use([young, wide, coming, gone], T0) == {"vision": 600 + 240}


def entry(kind: EntryKind, age_s: int, amount: int, team: str = "vision") -> LedgerEntry:
    return LedgerEntry(kind, T0 - timedelta(seconds=age_s), "r1", "t1", team, "ann", "A100", 0, amount)


lines = st.lists(
    st.tuples(st.sampled_from([EntryKind.SPEND, EntryKind.LOST]), st.integers(0, 60 * 86_400), st.integers(0, 10**6)),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(lines, st.sampled_from([HOUR, 86_400, 7 * 86_400]))
def test_the_ledger_asked_in_buckets_comes_near_to_each_entry_by_itself(told, half_life):
    store = InMemoryStore()
    put(store, ledger=tuple(entry(*line) for line in told))
    found = FairUsage(store).at((), Policy(fair_half_life_s=half_life), T0 + timedelta(microseconds=1)).get("vision", 0)
    spent = [(age, amount) for kind, age, amount in told if kind is EntryKind.SPEND]
    exact = sum(decayed(amount, age, half_life) for age, amount in spent)
    nearest = sum(decayed(amount, max(0, age - HOUR), half_life) for age, amount in spent)
    assert exact - sum(amount // 1000 + 1 for _, amount in spent) <= found <= nearest + len(spent)


class TestAskedAgainAndAgain:
    def test_it_stands_still_within_a_step_and_moves_with_the_next(self):
        store, policy = InMemoryStore(), Policy()
        usage = FairUsage(store)
        open_run = run(1, "t1", state=RunState.RUNNING, started_at=T0 - timedelta(seconds=100))
        assert usage.at([open_run], policy, T0) == {"vision": 100}
        put(store, ledger=(entry(EntryKind.SPEND, 0, 101),))
        assert usage.at([], policy, T0 + timedelta(seconds=1)) == {"vision": 100}
        assert usage.at([], policy, T0 + timedelta(seconds=policy.step_s)) == {"vision": 101}

    def test_another_policy_counts_at_once(self):
        store = InMemoryStore()
        put(store, ledger=(entry(EntryKind.SPEND, 8 * 86_400, 1000),))
        usage, policy = FairUsage(store), Policy()
        slow = usage.at((), policy, T0)["vision"]
        assert usage.at((), replace(policy, version=2, fair_half_life_s=86_400), T0)["vision"] < slow / 10

    def test_an_end_that_comes_late_still_counts(self):
        store, policy = InMemoryStore(), Policy()
        usage = FairUsage(store)
        assert usage.at((), policy, T0) == {}
        put(store, ledger=(entry(EntryKind.SPEND, 5 * HOUR, 1000),))
        at = T0 + timedelta(seconds=policy.step_s)
        assert usage.at((), policy, at) == FairUsage(store).at((), policy, at) != {}

    def test_a_new_server_counts_the_same(self):
        store, policy = InMemoryStore(), Policy()
        usage = FairUsage(store)
        for hour in range(60):
            put(store, ledger=(entry(EntryKind.SPEND, -hour * HOUR, 1000),))
            at = T0 + timedelta(hours=hour, seconds=1)
            assert usage.at((), policy, at) == FairUsage(store).at((), policy, at)
