"""Laws of one plan over random worlds."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.examples import examples
from tests.laws.worlds import POLICY, T0, snapshots

from paika.domain.snapshot import Snapshot
from paika.planning.check import check
from paika.planning.planner import plan


@settings(max_examples=examples(500), deadline=None)
@given(snapshots())
def test_no_plan_breaks_a_rule(snapshot: Snapshot) -> None:
    assert check(snapshot, POLICY, plan(snapshot, POLICY, T0)) == []


@settings(max_examples=examples(150), deadline=None)
@given(snapshots(), st.integers(0, 10_000))
def test_listing_order_does_not_matter(snapshot: Snapshot, seed: int) -> None:
    dice = random.Random(seed)

    def mixed(rows: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(dice.sample(rows, len(rows)))

    names = ("card_types", "nodes", "cards", "runs", "tasks", "datasets", "people", "teams", "quotas", "external")
    shuffled = replace(snapshot, **{name: mixed(getattr(snapshot, name)) for name in names})
    assert plan(shuffled, POLICY, T0) == plan(snapshot, POLICY, T0)


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
    full = plan(snapshot, POLICY, T0)
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
        thin = plan(rest, POLICY, T0)
        now = {s.task: (T0, s.parts) for s in thin.starts}
        gated = {w.task for w in thin.waits if any(r.code in {"wait.data", "wait.not_before"} for r in w.reasons)}
        now |= {w.task: w.forecast and (w.forecast.start_by, w.forecast.parts) for w in thin.waits}
        assert {t: v for t, v in now.items() if t not in gated} == {t: v for _, t, v in rows[:cut] if t not in gated}


@settings(max_examples=examples(150), deadline=None)
@given(snapshots())
def test_no_event_no_new_start(snapshot: Snapshot) -> None:
    """A second later, within the same policy step and with no boundary between, nothing new starts."""
    from datetime import timedelta

    first = plan(snapshot, POLICY, T0)
    later = T0 + timedelta(seconds=1)
    assert first.next_look_at is None or first.next_look_at > later
    started = {s.task for s in first.starts}
    rest = replace(snapshot, tasks=tuple(t for t in snapshot.tasks if t.id not in started))
    if started:
        return
    assert plan(rest, POLICY, later).starts == ()
