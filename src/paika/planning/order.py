"""Who goes first: one sort key, tier then effective priority then submit time then id.

Every term of the effective priority is kept, because people are shown all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def own_terms(task: Task, policy: Policy, now: datetime) -> PriorityTerms:
    """The terms of a task by itself. Waiting longer never lowers one."""
    at = step_at(policy, now)
    waited = max(0, at - whole_seconds(EPOCH, task.submitted_at))
    age = min(policy.age_points_max, waited * policy.age_points_per_hour // SECONDS_PER_HOUR)
    return PriorityTerms(base=task.priority, age=age, slack=_slack_points(task, policy, at))


def _slack_points(task: Task, policy: Policy, at: int) -> int:
    if task.milestone_at is None:
        return 0
    left = whole_seconds(EPOCH, task.milestone_at) - (task.occupies_s or 0) - at
    used = policy.slack_window_s - max(0, left)
    return max(0, policy.slack_points_max * used // policy.slack_window_s)


def ranked(
    tasks: Iterable[Task], policy: Policy, now: datetime
) -> tuple[tuple[Task, ...], dict[str, PriorityTerms], dict[str, int]]:
    """Tasks in order, their terms, and the tier rank each one goes by (its own or an heir's)."""
    by_id = {task.id: task for task in tasks}
    terms = {task_id: own_terms(task, policy, now) for task_id, task in by_id.items()}
    tiers = {task_id: TIER_RANK[task.tier] for task_id, task in by_id.items()}
    for child in sorted(by_id.values(), key=lambda t: (tiers[t.id], -terms[t.id].total, t.submitted_at, t.id)):
        _lift_parents(child, by_id, terms, tiers)
    order = sorted(by_id.values(), key=lambda t: (tiers[t.id], -terms[t.id].total, t.submitted_at, t.id))
    return tuple(order), terms, tiers


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
