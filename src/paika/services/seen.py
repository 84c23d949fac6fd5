"""What read views have in common: names beside ids, when a run ends, how ready the inputs of a task are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from paika.domain.dataset import Dataset, Readiness
from paika.domain.plan import Forecast, Wait
from paika.domain.promise import Slip
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
from paika.domain.records import Records
from paika.domain.run import Run
from paika.domain.task import Task, TaskState

GATES = (DataNotReady, Held, NotBefore, ParentNotEnded, PersonInactive, RetryLater, TeamInactive)
_WORST_FIRST = (Readiness.BLOCKED, Readiness.UNKNOWN, Readiness.PREPARING, Readiness.READY)
WORSE = {readiness: place for place, readiness in enumerate(_WORST_FIRST)}


@dataclass(frozen=True, slots=True)
class Named:
    """A noun by its id, with the name people gave it; the id again where it has none."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Ending:
    """When a run is over: `at` by its hard limit (`by_limit`) or high estimate; None is unknown.

    `overrun` says that the estimate has passed already, so `at` lies behind.
    """

    at: datetime | None
    by_limit: bool
    overrun: bool


@dataclass(frozen=True, slots=True)
class Inputs:
    """The datasets of a task: the worst state among them, its percent, and those not ready."""

    readiness: Readiness
    percent: int | None
    eta: datetime | None
    all: int
    unready: tuple[str, ...]


def person_named(records: Records, person: str) -> Named:
    """A person by name; one that is gone goes by his id."""
    known = records.people.get(person)
    return Named(person, known.name if known else person)


def team_named(records: Records, team: str) -> Named:
    """A team by name."""
    known = records.teams.get(team)
    return Named(team, known.name if known else team)


def task_named(records: Records, task: str) -> Named:
    """An open task by name; one that ended goes by its id."""
    known = records.tasks.get(task)
    return Named(task, known.name if known else task)


def forecast_of(wait: Wait, slips: Mapping[str, Slip]) -> Forecast | None:
    """What is told of a task's start; a slip is told on while the start stays later than it once was."""
    told, slip = wait.forecast, slips.get(wait.task)
    if told is None or slip is None or told.slip is not None or told.start_by <= slip.was:
        return told
    return replace(told, slip=slip)


def queued_now(task: Task) -> bool:
    """As `task.state in QUEUED`, by identity: hashing the state of 100,000 tasks costs more than all the rest."""
    state = task.state
    return state is TaskState.WAITING or state is TaskState.HELD or state is TaskState.PARKED


def ending(run: Run, now: datetime) -> Ending:
    """When an open run is over, counted from its start, or from the intent while it has not started."""
    seconds = run.limit_s if run.limit_s is not None else run.high_s
    if seconds is None:
        return Ending(None, False, False)
    at = (run.started_at or run.intended_at) + timedelta(seconds=seconds)
    by_limit = run.limit_s is not None
    return Ending(at, by_limit, not by_limit and at <= now)


def inputs_of(records: Records, task: Task) -> Inputs | None:
    """How ready a task's inputs are; None if it has none. A dataset that is gone is UNKNOWN."""
    if not task.inputs:
        return None
    found = [records.datasets.get(key) or Dataset(key, key) for key in task.inputs]
    worst = min(found, key=_how_bad)
    unready = tuple(dataset.id for dataset in found if dataset.readiness is not Readiness.READY)
    return Inputs(worst.readiness, worst.percent, worst.eta, len(found), unready)


def is_gate(reason: Reason) -> bool:
    """Whether the reason stands before any card is looked at, so that the task holds none."""
    return isinstance(reason, GATES)


def behind_a_gate(reasons: Iterable[Reason]) -> bool:
    """Whether some reason is a gate, so that the task keeps no card from others."""
    return any(is_gate(reason) for reason in reasons)


def _how_bad(dataset: Dataset) -> tuple[int, int, str]:
    return WORSE[dataset.readiness], dataset.percent if dataset.percent is not None else -1, dataset.id
