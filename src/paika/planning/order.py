"""Who goes first: one sort key, tier then effective priority then submit time then id.

Every term of the effective priority is kept, because people are shown all of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from paika.domain.plan import PriorityTerms
from paika.domain.policy import Policy
from paika.domain.task import TIER_RANK, Task
from paika.domain.units import EPOCH, SECONDS_PER_HOUR, whole_seconds

Rank = tuple[int, int, datetime, str]


def step_at(policy: Policy, now: datetime) -> int:
    """`now` in whole seconds, rounded down to the policy's step: time-varying terms change only there."""
    seconds = whole_seconds(EPOCH, now)
    return seconds - seconds % policy.step_s


def own_terms(task: Task, policy: Policy, now: datetime, fair: int = 0) -> PriorityTerms:
    """The terms of a task by itself, `fair` being its team's points. Waiting longer never lowers one."""
    at = step_at(policy, now)
    waited = max(0, at - whole_seconds(EPOCH, task.submitted_at))
    age = min(policy.age_points_max, waited * policy.age_points_per_hour // SECONDS_PER_HOUR)
    slack = _slack_points(task, policy, at)
    return PriorityTerms(base=task.priority, age=age, slack=slack, fair=fair, boost=task.boost)


def _slack_points(task: Task, policy: Policy, at: int) -> int:
    if task.milestone_at is None:
        return 0
    left = whole_seconds(EPOCH, task.milestone_at) - (task.occupies_s or 0) - at
    used = policy.slack_window_s - max(0, left)
    return max(0, policy.slack_points_max * used // policy.slack_window_s)


def ranked(
    tasks: Iterable[Task], policy: Policy, now: datetime, fair: Mapping[str, int] | None = None
) -> tuple[tuple[Task, ...], dict[str, PriorityTerms], dict[str, int]]:
    """Tasks in order, their terms, and the tier rank each one goes by (its own or an heir's).

    `fair` are the fair-share points of each team.
    """
    by_id = {task.id: task for task in tasks}
    points = fair or {}
    terms = {task_id: own_terms(task, policy, now, points.get(task.team, 0)) for task_id, task in by_id.items()}
    tiers = {task_id: TIER_RANK[task.tier] for task_id, task in by_id.items()}

    def key(task: Task) -> Rank:
        return (tiers[task.id], -terms[task.id].total, task.submitted_at, task.id)

    heirs = [task for task in by_id.values() if any(d.outcome is None and d.task in by_id for d in task.after)]
    for child in sorted(heirs, key=key):
        _lift_parents(child, by_id, terms, tiers)
    return tuple(sorted(by_id.values(), key=key)), terms, tiers


def ahead_of_all(
    order: tuple[Task, ...], tiers: Mapping[str, int], freed: Container[str], entitled: Container[str]
) -> tuple[Task, ...]:
    """The same order, but inside a tier first those whose cards are being freed, then those under a floor."""

    def group(task: Task) -> tuple[int, int]:
        return (tiers[task.id], 0 if task.id in freed else 1 if task.id in entitled else 2)

    return tuple(sorted(order, key=group))


def _lift_parents(
    child: Task, by_id: Mapping[str, Task], terms: dict[str, PriorityTerms], tiers: dict[str, int]
) -> None:
    """Give unended ancestors the urgency of the child that waits for them."""
    todo = [child.id]
    while todo:
        at = todo.pop()
        for parent in (d.task for d in by_id[at].after if d.outcome is None and d.task in by_id):
            urgent = (tiers[child.id], -terms[child.id].total)
            if urgent < (tiers[parent], -terms[parent].total):
                terms[parent] = replace(terms[parent], lifted_by=child.id, lifted_to=terms[child.id].total)
                tiers[parent] = tiers[child.id]
                todo.append(parent)
