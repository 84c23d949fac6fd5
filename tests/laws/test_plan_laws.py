"""Laws of one plan over random worlds."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.examples import examples
from tests.laws.worlds import POLICY, STILL, T0, policies, snapshots

from paika.domain.card import Health
from paika.domain.plan import Plan
from paika.domain.policy import Policy, PreemptFor
from paika.domain.reason import PromiseWithdrawn
from paika.domain.snapshot import Snapshot
from paika.domain.task import Tier
from paika.planning.check import check
from paika.planning.planner import plan

BETTER = replace(POLICY, improve_rounds=12, improve_delay_cap_s=1800)
DEEP = replace(POLICY, idle_depth=99)  # everybody holds a place


@settings(max_examples=examples(500), deadline=None)
@given(snapshots(), policies)
def test_no_plan_breaks_a_rule(snapshot: Snapshot, policy: Policy) -> None:
    assert check(snapshot, policy, plan(snapshot, policy, T0)) == []


@settings(max_examples=examples(150), deadline=None)
@given(snapshots(), policies, st.integers(0, 10_000))
def test_listing_order_does_not_matter(snapshot: Snapshot, policy: Policy, seed: int) -> None:
    dice = random.Random(seed)

    def mixed(rows: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(dice.sample(rows, len(rows)))

    names = ("card_types", "nodes", "cards", "runs", "tasks", "datasets", "people", "teams", "quotas", "external",
             "reservations", "guarantees")  # fmt: skip
    shuffled = replace(snapshot, **{name: mixed(getattr(snapshot, name)) for name in names})
    assert plan(shuffled, policy, T0) == plan(snapshot, policy, T0)


@settings(max_examples=examples(200), deadline=None)
@given(snapshots())
def test_behind_a_gate_nothing_is_held(snapshot: Snapshot) -> None:
    """Taking gated and parked tasks away changes no other task's start or forecast."""
    full = plan(snapshot, POLICY, T0)
    gated = {
        w.task for w in full.waits if w.parked or any(r.code.startswith(("wait.data", "wait.held", "wait.not_before",
        "wait.team_", "wait.person_", "wait.parent")) for r in w.reasons)
    }  # fmt: skip
    heirs = {d.task for t in snapshot.tasks if t.id in gated for d in t.after}
    gated -= heirs
    rest = replace(snapshot, tasks=tuple(t for t in snapshot.tasks if t.id not in gated))
    if any(d.task in gated for t in rest.tasks for d in t.after) or heirs:
        return
    thin = plan(rest, POLICY, T0)
    assert [(s.task, s.parts) for s in thin.starts] == [(s.task, s.parts) for s in full.starts]
    kept = {w.task: w.forecast for w in full.waits if w.task not in gated}
    assert {w.task: w.forecast for w in thin.waits} == kept


@settings(max_examples=examples(200), deadline=None)
@given(snapshots())
def test_dropping_lower_ranks_leaves_higher_starts(snapshot: Snapshot) -> None:
    """Cut below a rank whose points differ from the next one's: nothing above changes."""
    full = plan(snapshot, DEEP, T0)
    rows = sorted(
        [(s.rank, s.task, (T0, s.parts)) for s in full.starts]
        + [(w.rank, w.task, w.forecast and (w.forecast.start_by, w.forecast.parts)) for w in full.waits]
    )
    by_id = {t.id: t for t in snapshot.tasks}
    for cut in range(1, len(rows)):
        keep = {task for _, task, _ in rows[:cut]}
        dropped = [by_id[task] for _, task, _ in rows[cut:]]
        if any(d.task in keep for t in dropped for d in t.after):
            continue
        peers = {(by_id[t].tier, by_id[t].priority) for t in keep} & {(t.tier, t.priority) for t in dropped}
        if peers:
            continue
        rest = replace(snapshot, tasks=tuple(by_id[task] for task in sorted(keep)))
        thin = plan(rest, DEEP, T0)
        now = {s.task: (T0, s.parts) for s in thin.starts}
        gated = {w.task for w in thin.waits if any(r.code in {"wait.data", "wait.not_before"} for r in w.reasons)}
        now |= {w.task: w.forecast and (w.forecast.start_by, w.forecast.parts) for w in thin.waits}
        assert {t: v for t, v in now.items() if t not in gated} == {t: v for _, t, v in rows[:cut] if t not in gated}


@settings(max_examples=examples(150), deadline=None)
@given(snapshots())
def test_no_event_no_new_start(snapshot: Snapshot) -> None:
    """A second later, within the same policy step and with no boundary between, nothing new starts."""
    first = plan(snapshot, POLICY, T0)
    later = T0 + timedelta(seconds=1)
    assert first.next_look_at is None or first.next_look_at > later
    started = {s.task for s in first.starts}
    rest = replace(snapshot, tasks=tuple(t for t in snapshot.tasks if t.id not in started))
    if started:
        return
    assert plan(rest, POLICY, later).starts == ()


def promised(snapshot: Snapshot, policy: Policy) -> tuple[Plan, Snapshot]:
    """A plan, and the same snapshot with what it promised; nobody has started."""
    made = plan(snapshot, policy, T0)
    told = made.promises({task.id: task.version for task in snapshot.tasks})
    return made, replace(snapshot, promises=told)


def told(made: Plan) -> dict[str, datetime]:
    """When each holder of a place starts; now for those that start."""
    starts = {start.task: made.decided_at for start in made.starts}
    return starts | {w.task: w.forecast.start_by for w in made.waits if w.forecast is not None and w.forecast.holds}


STEADY = replace(STILL, idle_depth=99, preempt_for=PreemptFor.NOBODY, hold_for_unknown_end=False)


@settings(max_examples=examples(300), deadline=None)
@given(snapshots(), st.data())
def test_an_early_end_makes_no_promise_later(snapshot: Snapshot, data: st.DataObject) -> None:
    """A run ends early, with ranks as they were: nobody is told a later start than before.

    But for those behind a task that was promised nothing, and can be told a start now.
    """
    if not snapshot.runs:
        return
    before, again = promised(snapshot, STEADY)
    gone = data.draw(st.sampled_from(sorted(run.id for run in again.runs)))
    ended = next(run for run in again.runs if run.id == gone)
    held = again.held_parts | {ended.team: again.held_parts[ended.team] - ended.parts_held}
    started = {start.task for start in before.starts}
    rest = tuple(task for task in again.tasks if task.id not in started)
    if started:
        return
    after = plan(
        replace(again, runs=tuple(r for r in again.runs if r.id != gone), held_parts=held, tasks=rest), STEADY, T0
    )
    was, now = told(before), told(after)
    ranks = {wait.task: wait.rank for wait in after.waits} | {start.task: start.rank for start in after.starts}
    new = [ranks[task] for task in now if task not in was]
    for task, at in was.items():
        if task in now and now[task] <= at:
            continue
        assert min(new, default=len(ranks)) < ranks[task], task
        wait = next(wait for wait in after.waits if wait.task == task)
        withdrawn = any(isinstance(reason, PromiseWithdrawn) for reason in wait.reasons)
        assert withdrawn or (wait.forecast is not None and wait.forecast.slip is not None)


@settings(max_examples=examples(300), deadline=None)
@given(snapshots(), policies, st.data())
def test_a_later_promise_has_a_cause(snapshot: Snapshot, policy: Policy, data: st.DataObject) -> None:
    """Whatever happens to the house: who is told a later start than was promised is told why."""
    _, again = promised(snapshot, policy)
    lost = data.draw(st.sampled_from([None, *sorted(card.id for card in again.cards)]))
    cards = tuple(replace(c, health=Health.LOST) if c.id == lost else c for c in again.cards)
    runs = tuple(replace(r, limit_s=None, high_s=None) if data.draw(st.booleans()) else r for r in again.runs)
    made = plan(replace(again, cards=cards, runs=runs), policy, T0)
    assert check(replace(again, cards=cards, runs=runs), policy, made) == []
    promises = {p.task: p for p in again.promises}
    for wait in made.waits:
        slip = wait.forecast.slip if wait.forecast else None
        withdrawn = any(isinstance(reason, PromiseWithdrawn) for reason in wait.reasons)
        assert withdrawn == (wait.task in promises and wait.forecast is None)
        assert slip is None or slip.was == promises[wait.task].start_by
        assert slip is None or slip.cause != "unknown", slip


@settings(max_examples=examples(200), deadline=None)
@given(snapshots(), policies)
def test_nobody_is_stopped_in_vain(snapshot: Snapshot, policy: Policy) -> None:
    """Without any one of the stops for a task, its cards would not all be free when it is told to start."""
    made = plan(snapshot, policy, T0)
    waits = {wait.task: wait for wait in made.waits}
    runs = {run.id: run for run in snapshot.runs}
    for stop in made.stops:
        forecast = waits[stop.task].forecast
        assert forecast is not None
        cards = {card for part in forecast.parts for card in part.cards}
        assert cards & set(runs[stop.run].cards), stop
        assert runs[stop.run].tier is not Tier.CORE


@settings(max_examples=examples(200), deadline=None)
@given(snapshots(), policies)
def test_who_stands_under_a_floor_starts_or_is_told_why(snapshot: Snapshot, policy: Policy) -> None:
    made = plan(snapshot, policy, T0)
    for wait in made.waits:
        if wait.terms.entitled:
            assert any(reason.code == "wait.floor" for reason in wait.reasons)


@settings(max_examples=examples(300), deadline=None)
@given(snapshots(), policies)
def test_a_second_look_changes_nothing(snapshot: Snapshot, policy: Policy) -> None:
    """The same house once more, with what the first plan promised: the same start now, and nobody is told later."""
    before, again = promised(snapshot, policy)
    after = plan(again, policy, T0)
    assert check(again, policy, after) == []
    assert [(start.task, start.cards) for start in after.starts] == [(s.task, s.cards) for s in before.starts]
    was, now = told(before), told(after)
    assert was.keys() == now.keys()
    for task, at in was.items():
        assert now[task] <= at, task


@settings(max_examples=examples(200), deadline=None)
@given(snapshots(), snapshots(most_tasks=4))
def test_nobody_above_waits_for_a_promise_to_an_arrival(snapshot: Snapshot, more: Snapshot) -> None:
    """New tasks come in: whoever stands above all of them is told the same as without them, or earlier."""
    _, again = promised(snapshot, STEADY)
    new = [replace(task, id=f"new-{task.id}", after=(), tier=Tier.IDLE, priority=1) for task in more.tasks]
    without = plan(again, STEADY, T0)
    crowd = plan(replace(again, tasks=(*again.tasks, *new)), STEADY, T0)
    ranks = {w.task: w.rank for w in crowd.waits} | {s.task: s.rank for s in crowd.starts}
    first_new = min((ranks[task.id] for task in new), default=0)
    was, now = told(without), told(crowd)
    for task, at in was.items():
        if ranks[task] < first_new:
            assert now[task] <= at, task


def starts(made: Plan) -> dict[str, datetime]:
    """When each task that has a start is to start."""
    later = {w.task: w.forecast.start_by for w in made.waits if w.forecast is not None and not w.forecast.rough}
    return {start.task: made.decided_at for start in made.starts} | later


@settings(max_examples=examples(300), deadline=None)
@given(snapshots(), policies)
def test_a_better_order_breaks_no_rule(snapshot: Snapshot, policy: Policy) -> None:
    better = replace(policy, improve_rounds=8, improve_delay_cap_s=3600)
    assert check(snapshot, better, plan(snapshot, better, T0)) == []


@settings(max_examples=examples(300), deadline=None)
@given(snapshots(), st.sampled_from([0, 600, 7200]))
def test_a_better_order_makes_nobody_later_than_the_cap(snapshot: Snapshot, cap_s: int) -> None:
    """Those who hold a place wait less together; nobody among them waits longer than before and the cap."""
    plain = plan(snapshot, DEEP, T0)
    better = plan(snapshot, replace(DEEP, improve_rounds=12, improve_delay_cap_s=cap_s), T0)
    before, after = starts(plain), starts(better)
    holds = {s.task for s in plain.starts} | {
        w.task for w in plain.waits if w.forecast is not None and w.forecast.holds
    }
    for task in holds & before.keys():
        assert after[task] <= before[task] + timedelta(seconds=cap_s), task
    assert sum(((after[t] - T0) for t in holds & before.keys()), timedelta()) <= sum(
        ((before[t] - T0) for t in holds & before.keys()), timedelta()
    ) or any(t not in before for t in after)


@settings(max_examples=examples(200), deadline=None)
@given(snapshots(), snapshots(most_tasks=4))
def test_a_better_order_keeps_the_cap_over_time(snapshot: Snapshot, more: Snapshot) -> None:
    """However often it is looked for, nobody gets later than the first promise and the cap but for another cause."""
    made = plan(snapshot, BETTER, T0)
    first = {promise.task: promise for promise in made.promises({t.id: t.version for t in snapshot.tasks})}
    arrivals = tuple(replace(task, id=f"new-{task.id}", after=()) for task in more.tasks)
    started = {start.task for start in made.starts}
    now = replace(
        snapshot, tasks=tuple(t for t in snapshot.tasks if t.id not in started), promises=tuple(first.values())
    )
    blocked = frozenset(card for start in made.starts for card in start.cards)
    now = replace(now, cards=tuple(replace(c, health=Health.LOST) if c.id in blocked else c for c in now.cards))
    again = plan(replace(now, tasks=(*now.tasks, *arrivals)), BETTER, T0)
    for wait in again.waits:
        promise, told_now = first.get(wait.task), wait.forecast
        if promise is None or told_now is None or told_now.slip is None or told_now.slip.cause != "improved":
            continue
        assert promise.at_latest is not None
        assert told_now.start_by <= promise.at_latest
