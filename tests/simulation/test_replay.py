"""The planner under another clock: the same decisions as in a live house, event by event."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulation.loads import ONE_NODE, TWO_NODES, job, load, starts
from tests.simulation.test_baselines import overfull, works

from paika.domain.plan import Plan
from paika.domain.policy import Policy, PreemptFor
from paika.domain.task import Tier
from paika.domain.trace import Job
from paika.planning.check import check
from paika.simulation import replay
from paika.simulation.baselines import Rule, play_rule
from paika.simulation.load import Load, cluster_of, with_lengths, with_readiness, with_tiers
from paika.simulation.replay import play_policy

POLICY = Policy()
STOPS = replace(POLICY, preempt_for=PreemptFor.CORE, preempt_without_checkpoint=True, preempt_after_s=60)


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Every plan that a replay makes, checked against the rules."""
    made: list[Plan] = []
    decide = replay.plan

    def planned(snapshot: Any, policy: Policy, now: Any) -> Plan:
        found = decide(snapshot, policy, now)
        assert check(snapshot, policy, found) == []
        made.append(found)
        return found

    monkeypatch.setattr(replay, "plan", planned)
    return made


def test_a_gap_is_filled_by_what_ends_in_time(checked: list[Plan]):
    jobs = (job("a", 0, 100, 6), job("big", 1, 10, 8), job("long", 2, 200, 2), job("short", 3, 50, 2))
    played = play_policy(load(*jobs), ONE_NODE, POLICY)
    assert starts(played) == {"a": 0, "big": 100, "long": 110, "short": 3}
    assert played.plans == len(checked) > 0


def test_promises_of_one_plan_are_known_to_the_next(checked: list[Plan]):
    seen: list[int] = []
    decide = replay.plan
    replay.plan = lambda s, p, n: (seen.append(len(s.promises)), decide(s, p, n))[1]  # type: ignore[assignment]
    try:
        play_policy(load(job("a", 0, 100, 8), job("b", 1, 10, 8), job("c", 2, 10, 8)), ONE_NODE, POLICY)
    finally:
        replay.plan = decide
    assert seen[:3] == [0, 0, 1]
    assert max(seen) == 2


def test_it_only_looks_when_something_happens(checked: list[Plan]):
    """Ten hours of waiting are 120 policy steps; the plans are those of two submits and one end."""
    played = play_policy(load(job("a", 0, 36_000, 8), job("b", 1, 10, 8)), ONE_NODE, POLICY)
    assert starts(played)["b"] == 36_000
    assert played.plans == 3


def test_lengths_that_nobody_knows_invent_no_end(checked: list[Plan]):
    jobs = (job("a", 0, 100, 6), job("big", 1, 10, 8), job("short", 3, 50, 2))
    played = play_policy(load(*jobs, told=False), ONE_NODE, POLICY)
    assert sorted(starts(played)) == ["a", "big", "short"]


def test_a_run_over_its_limit_runs_on(checked: list[Plan]):
    made = with_lengths(load(job("a", 0, 1000, 8), job("b", 1, 10, 8)), [0.5, 1])
    played = play_policy(made, ONE_NODE, POLICY)
    assert starts(played)["b"] == 1000
    assert played.plans > 5  # the promise of b fell due again and again


def test_core_goes_first(checked: list[Plan]):
    made = load(job("a", 0, 10, 8), job("n", 1, 10, 8), job("c", 2, 10, 8))
    made = with_tiers(made, [Tier.NORMAL, Tier.NORMAL, Tier.CORE])
    assert starts(play_policy(made, ONE_NODE, POLICY)) == {"a": 0, "c": 10, "n": 20}


def test_what_is_stopped_queues_again_at_its_place_and_loses_its_run(checked: list[Plan]):
    made = load(job("idle", 0, 1000, 8), job("core", 100, 50, 8))
    made = with_tiers(made, [Tier.IDLE, Tier.CORE])
    played = play_policy(made, ONE_NODE, STOPS)
    idle, core = played.served
    assert core.started_s == 130  # told at 100, gone after its grace of 30 s
    assert (idle.started_s, idle.ended_s, idle.stops, idle.lost_card_s) == (0, 1180, 1, 8 * 130)
    assert idle.wait_s == 180
    assert played.left == ()


def test_what_was_stopped_goes_before_who_came_later_and_is_let_alone_for_a_while(checked: list[Plan]):
    jobs = (job("idle", 0, 1000, 8), job("later", 50, 10, 8), job("core", 100, 50, 8), job("again", 400, 50, 8))
    made = with_tiers(load(*jobs), [Tier.IDLE, Tier.IDLE, Tier.CORE, Tier.CORE])
    played = play_policy(made, ONE_NODE, STOPS)
    ends = {one.work.id: (one.ended_s, one.stops) for one in played.served}
    assert ends == {"core": (180, 0), "idle": (1180, 1), "again": (1230, 0), "later": (1240, 0)}


def test_what_ends_by_itself_within_its_grace_is_done(checked: list[Plan]):
    made = with_tiers(load(job("idle", 0, 110, 8), job("core", 100, 50, 8)), [Tier.IDLE, Tier.CORE])
    made = with_lengths(made, [5, 1])
    idle, core = play_policy(made, ONE_NODE, STOPS).served
    assert (idle.ended_s, idle.stops, idle.lost_card_s, core.started_s) == (110, 0, 0, 110)


def test_the_team_that_used_less_goes_first(checked: list[Plan]):
    big = job("big", 0, 36_000, 8, team="x")
    jobs = (big, job("x2", 1000, 10, 8, team="x"), job("y", 1000, 10, 8, team="y"))
    assert starts(play_policy(load(*jobs), ONE_NODE, POLICY)) == {"big": 0, "y": 36_000, "x2": 36_010}


def test_followers_come_after_their_parents(checked: list[Plan]):
    made = load(job("a", 0, 100, 8), job("b", 1, 10, 1, after="a", think_s=60))
    played = play_policy(made, ONE_NODE, POLICY)
    assert [(one.queued_s, one.started_s) for one in played.served] == [(0, 0), (160, 160)]


def test_every_so_many_seconds(checked: list[Plan]):
    made = load(job("a", 0, 95, 8), job("b", 31, 10, 8))
    played = play_policy(made, ONE_NODE, POLICY, every_s=60)
    assert [(one.queued_s, one.started_s) for one in played.served] == [(0, 0), (31, 120)]


def test_nothing_comes_of_nothing():
    assert play_policy(Load(()), ONE_NODE, POLICY).served == ()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(works, max_size=12),
    st.lists(st.sampled_from(Tier), min_size=12, max_size=12),
    st.booleans(),
    st.sampled_from([None, 7]),
)
def test_all_are_served_within_the_cards_by_plans_that_break_no_rule(
    jobs: list[Job], tiers: list[Tier], told: bool, every: int | None
):
    made = load(*sorted(jobs, key=lambda one: one.submit_s), cluster=TWO_NODES, told=told)
    made = with_tiers(made, tiers[: len(made.works)])
    decide = replay.plan

    def planned(snapshot: Any, policy: Policy, now: Any) -> Plan:
        found = decide(snapshot, policy, now)
        assert check(snapshot, policy, found) == []
        return found

    replay.plan = planned  # type: ignore[assignment]
    try:
        played = play_policy(made, TWO_NODES, POLICY, every_s=every)
    finally:
        replay.plan = decide  # type: ignore[assignment]
    assert len(played.served) == len(made.works)
    assert every is not None or overfull(played, TWO_NODES.cards) == []
    assert all(one.started_s >= one.queued_s for one in played.served)


def test_data_that_comes_later_keeps_no_card_from_others(checked: list[Plan]):
    made = with_readiness(load(job("a", 0, 50, 8), job("b", 1, 10, 8), job("c", 2, 10, 8)), [0, 100, 0])
    assert starts(play_policy(made, ONE_NODE, POLICY)) == {"a": 0, "c": 50, "b": 101}
    assert starts(play_rule(Rule.FIFO, made, ONE_NODE)) == {"a": 0, "c": 50, "b": 101}


def test_a_played_policy_has_its_name():
    assert play_policy(load(job("a", 0, 5)), ONE_NODE, POLICY, name="paika:easy").rule == "paika:easy"


def test_a_card_that_is_dearer_than_needed_is_told_of():
    two = cluster_of("1x8:RTX 4090,1x8:A100-80G")
    made = load(job("a", 0, 50, 8), job("b", 0, 50, 8), cluster=two)
    at_once = replace(POLICY, oversize_after_s=0)
    for played in (play_rule(Rule.FIFO, made, two), play_policy(made, two, at_once)):
        assert [(one.started_s, one.oversized) for one in played.served] == [(0, False), (0, True)], played.rule
