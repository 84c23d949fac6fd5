"""Gates before any card is looked at. A task behind a gate holds neither card nor quota.

All gates are evaluated for every task; their order only picks the reason shown first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from paika.domain.dataset import Dataset, Readiness
from paika.domain.person import Person
from paika.domain.reason import (
    DataNotReady,
    Held,
    NotBefore,
    ParentNotEnded,
    PersonInactive,
    Reason,
    RetryLater,
    TeamInactive,
)
from paika.domain.task import Task, TaskState
from paika.domain.team import Team


@dataclass(frozen=True, slots=True)
class Lookup:
    """What gates look at, by id."""

    datasets: Mapping[str, Dataset]
    people: Mapping[str, Person]
    teams: Mapping[str, Team]


def not_held(task: Task, look: Lookup, now: datetime) -> list[Reason]:
    """A person holds it."""
    return [Held(by=task.held_by, why=task.state_cause)] if task.state is TaskState.HELD else []


def parents_ended(task: Task, look: Lookup, now: datetime) -> list[Reason]:
    """All that it runs after has come true."""
    return [ParentNotEnded(parent=d.task, when=d.when.value) for d in task.after if not d.met]


def time_has_come(task: Task, look: Lookup, now: datetime) -> list[Reason]:
    """Not before the time asked for, nor before the next try after a failed start."""
    found: list[Reason] = []
    if task.not_before is not None and task.not_before > now:
        found.append(NotBefore(at=task.not_before))
    if task.retry_at is not None and task.retry_at > now:
        found.append(RetryLater(at=task.retry_at, failed_starts=task.lost_starts))
    return found


def inputs_ready(task: Task, look: Lookup, now: datetime) -> list[Reason]:
    """Every input is ready; a dataset that is not on the books is unknown."""
    found: list[Reason] = []
    for name in task.inputs:
        dataset = look.datasets.get(name)
        if dataset is None:
            found.append(DataNotReady(name, Readiness.UNKNOWN.value, None, None, ""))
        elif dataset.readiness is not Readiness.READY:
            found.append(DataNotReady(name, dataset.readiness.value, dataset.percent, dataset.eta, dataset.owner))
    return found


def owner_active(task: Task, look: Lookup, now: datetime) -> list[Reason]:
    """Team and person are switched on."""
    found: list[Reason] = []
    team, person = look.teams.get(task.team), look.people.get(task.owner)
    if team is None or not team.active:
        found.append(TeamInactive(team=task.team))
    if person is None or not person.active:
        found.append(PersonInactive(person=task.owner))
    return found


Gate = Callable[[Task, Lookup, datetime], list[Reason]]
GATES: tuple[Gate, ...] = (not_held, parents_ended, time_has_come, inputs_ready, owner_active)


def shut(task: Task, look: Lookup, now: datetime) -> tuple[Reason, ...]:
    """Every gate that is shut for the task; () when it may look for cards."""
    return tuple(reason for gate in GATES for reason in gate(task, look, now))


def opens_at(reasons: tuple[Reason, ...]) -> datetime | None:
    """When the gates open by themselves, if all say when: dated waits and announced data."""
    dates: list[datetime] = []
    for reason in reasons:
        date = reason.eta if isinstance(reason, DataNotReady) else None
        if isinstance(reason, NotBefore | RetryLater):
            date = reason.at
        if date is None:
            return None
        dates.append(date)
    return max(dates, default=None)
