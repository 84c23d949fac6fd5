"""The other half of the check: what is kept from whom, who is stopped for whom, and whether promises are kept.

Counted anew from the snapshot alone, like the rest of the check; shares no code with the planner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from paika.domain.card import Card, Health
from paika.domain.density import Level
from paika.domain.node import NodeState
from paika.domain.plan import Plan, Start, Stop
from paika.domain.policy import Headroom, Policy
from paika.domain.reservation import Purpose, Reservation, ReservationState
from paika.domain.run import Run
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task, Tier

Broken = Iterator[tuple[str, str]]


def kept_from_others(snapshot: Snapshot, policy: Policy, plan: Plan) -> Broken:
    """Rules on reservations, headroom, caps and stops that the plan breaks, as (rule, subject)."""
    tasks = {task.id: task for task in snapshot.tasks}
    starts = [(tasks[start.task], start) for start in plan.starts if start.task in tasks]
    yield from _reservations(snapshot, plan.decided_at, starts)
    yield from _headroom(snapshot, policy, starts)
    yield from _caps(snapshot, policy, plan, starts)
    yield from _stops(snapshot, policy, plan, tasks)


def _reservations(snapshot: Snapshot, now: datetime, starts: list[tuple[Task, Start]]) -> Broken:
    """No run may reach into a window that is not open to it."""
    standing = [r for r in snapshot.reservations if r.state is ReservationState.BOOKED and r.ends_at > now]
    for task, start in starts:
        ends = None if task.limit_s is None else now + timedelta(seconds=task.limit_s)
        for kept in standing:
            into = ends is None or ends > kept.starts_at
            if into and set(kept.cards) & set(start.cards) and not _for(kept, task):
                yield "no run crosses a reservation", f"{task.id} {kept.id}"


def _for(kept: Reservation, task: Task) -> bool:
    if kept.purpose is Purpose.MAINTENANCE:
        return False
    return task.id == kept.task if kept.task else task.team == kept.team


def _headroom(snapshot: Snapshot, policy: Policy, starts: list[tuple[Task, Start]]) -> Broken:
    """Starts below core leave as many whole blocks as the policy keeps, or as many as there were."""
    core = {card for run in snapshot.runs if run.tier is Tier.CORE for card in run.cards}
    given = {card for task, start in starts if task.tier is not Tier.CORE for card in start.cards}
    for rule in policy.headroom:
        if not rule.refill:
            continue
        before, after = _blocks(snapshot, rule, core), _blocks(snapshot, rule, core | given)
        if after < min(rule.units, before):
            yield "headroom is kept", f"{rule.pool or '*'} {after}"


def _blocks(snapshot: Snapshot, rule: Headroom, gone: set[str]) -> int:
    nodes = {node.id: node for node in snapshot.nodes}
    outside = {use.card for use in snapshot.external}
    counts: Counter[tuple[str, str, int]] = Counter()
    for card in snapshot.cards:
        node = nodes.get(card.node)
        usable = node is not None and node.state is NodeState.UP and node.engine and card.health is Health.OK
        if not usable or card.id in outside or card.id in gone or not _in_rule(card, rule):
            continue
        if not rule.pool or (node is not None and node.pool == rule.pool):
            counts[card.node, card.type, card.vram_mib] += 1
    return sum(count // rule.together for count in counts.values())


def _in_rule(card: Card, rule: Headroom) -> bool:
    return not rule.card_types or card.type in rule.card_types


def _caps(snapshot: Snapshot, policy: Policy, plan: Plan, starts: list[tuple[Task, Start]]) -> Broken:
    """Nobody gets more cards below core than the level of the day allows."""
    level = plan.density.level if plan.density else Level.RELAXED
    caps = {Level.TIGHT: policy.tight_cards_per_person, Level.STRICT: policy.strict_cards_per_person}
    cap = caps.get(level)
    if cap is None:
        return
    held: Counter[str] = Counter()
    for run in snapshot.runs:
        held[run.owner] += run.parts_held if run.tier is not Tier.CORE else 0
    new = {task.owner for task, _ in starts if task.tier is not Tier.CORE}
    for task, start in starts:
        held[task.owner] += start.parts_held if task.tier is not Tier.CORE else 0
    yield from (("no person exceeds the cap", person) for person in sorted(new) if held[person] > cap * 100)


def _stops(snapshot: Snapshot, policy: Policy, plan: Plan, tasks: dict[str, Task]) -> Broken:
    """Only preemptible runs below core, old enough, not too often, each needed by the task that it is stopped for."""
    runs = {run.id: run for run in snapshot.runs}
    wanted = {w.task: {c for p in w.forecast.parts for c in p.cards} for w in plan.waits if w.forecast is not None}
    for stop in plan.stops:
        run, task = runs.get(stop.run), tasks.get(stop.task)
        if run is None or run.version != stop.run_version or task is None:
            yield "a stop names a run and a waiting task", stop.run
            continue
        if task.tier is not Tier.CORE:
            yield "only core tasks have others stopped", task.id
        if not wanted.get(task.id, set()) & set(run.cards):
            yield "nobody is stopped in vain", run.id
        yield from ((rule, run.id) for rule in _not_to_stop(run, stop, policy, plan.decided_at))


def _not_to_stop(run: Run, stop: Stop, policy: Policy, now: datetime) -> Iterator[str]:
    if run.tier is Tier.CORE or not run.preemptible:
        yield "core and unwilling runs are never stopped for others"
    if not run.checkpoint and not policy.preempt_without_checkpoint:
        yield "work that is not saved is stopped only if the policy says so"
    if run.stop_at is not None or run.stop_cause is not None:
        yield "nobody is stopped twice"
    if run.started_at is None or (now - run.started_at).total_seconds() < policy.preempt_after_s:
        yield "young runs are let alone"
    since = [(now - at).total_seconds() for at in run.preempted_at]
    if any(age < policy.preempt_cooldown_s for age in since):
        yield "no task is stopped again too soon"
    if sum(age < 86_400 for age in since) >= policy.preempt_per_day:
        yield "no task is stopped too often"


def promises_kept(snapshot: Snapshot, plan: Plan) -> Broken:
    """Whoever is told a later start than before is told why."""
    promised = {promise.task: promise for promise in snapshot.promises}
    versions = {task.id: task.version for task in snapshot.tasks}
    for wait in plan.waits:
        old, told = promised.get(wait.task), wait.forecast
        if old is None or told is None or old.task_version != versions.get(wait.task):
            continue
        gated = any(r.code in _GATES for r in wait.reasons)
        if not gated and told.start_by > max(old.start_by, plan.decided_at) and not told.rough and told.slip is None:
            yield "a later start has a cause", wait.task


_GATES = {"wait.held", "wait.parent", "wait.not_before", "wait.retry", "wait.data", "wait.team_inactive",
          "wait.person_inactive"}  # fmt: skip
