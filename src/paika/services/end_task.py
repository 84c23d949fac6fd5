"""What the end of a task means for those that wait for it. Pure; the caller writes the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from paika.domain.records import Records
from paika.domain.task import QUEUED, Dependency, DependencyDead, Task, TaskState, step

_MARK = DependencyDead.code


def after_end(records: Records, task: Task, outcome: TaskState, now: datetime) -> tuple[Task, ...]:
    """The tasks that change because `task` ended with `outcome`: see after_ends."""
    return after_ends(records.tasks, {task.id: outcome}, now)


def after_ends(tasks: Mapping[str, Task], ended: Mapping[str, TaskState], now: datetime) -> tuple[Task, ...]:
    """The tasks that change because those of `ended` did, each once and one version on, ordered by id.

    Dependencies get their outcome. A queued child that can never run any more is CLOSED, and its own
    children are judged in turn. `tasks` are the open ones; ended ones among them are left alone.
    """
    children = _children(tasks)
    outcomes = dict(ended)
    changed: dict[str, Task] = {}
    todo = sorted(ended)
    while todo:
        parent = todo.pop()
        for child_id in children.get(parent, ()):
            if child_id in ended or tasks[child_id].ended:
                continue
            child = _told(changed.get(child_id, tasks[child_id]), parent, outcomes[parent])
            if child.state in QUEUED and (dead := dead_branch(child)) is not None:
                child = closed(child, dead, now)
                outcomes[child_id] = TaskState.CLOSED
                todo.append(child_id)
            changed[child_id] = child
    return tuple(replace(changed[key], version=tasks[key].version + 1) for key in sorted(changed))


def dead_branch(task: Task) -> Dependency | None:
    """The first dependency that can never come true, None if there is none."""
    return next((dependency for dependency in task.after if dependency.dead), None)


def closed(task: Task, dead: Dependency, now: datetime) -> Task:
    """The task as a dead branch, with the parent, the condition and the outcome as its cause."""
    outcome = (dead.outcome or TaskState.CLOSED).value
    return replace(
        task,
        state=step(task.state, "close"),
        state_since=now,
        state_cause=f"{_MARK} {dead.task} {dead.when.value} {outcome}",
    )


def closing_cause(task: Task) -> DependencyDead | None:
    """Why a CLOSED task was closed, as a typed value; None for any other state."""
    words = task.state_cause.split(" ")
    if task.state is not TaskState.CLOSED or words[0] != _MARK or len(words) != len(("code", "parent", "when", "end")):
        return None
    return DependencyDead(field="after", parent=words[1], when=words[2], outcome=words[3])


def _children(tasks: Mapping[str, Task]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for task in tasks.values():
        for dependency in task.after:
            if dependency.outcome is None:
                children.setdefault(dependency.task, []).append(task.id)
    return children


def _told(child: Task, parent: str, outcome: TaskState) -> Task:
    after = tuple(
        replace(dependency, outcome=outcome) if dependency.task == parent and dependency.outcome is None else dependency
        for dependency in child.after
    )
    return replace(child, after=after)
