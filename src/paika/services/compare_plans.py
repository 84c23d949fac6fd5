"""Two plans of one instant beside each other: who starts later, who sooner, which runs only the second one stops."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from paika.domain.plan import Plan
from paika.domain.records import Records
from paika.domain.run import Run
from paika.domain.task import Task, Tier
from paika.services.seen import Named, person_named, task_named, team_named


@dataclass(frozen=True, slots=True)
class Shift:
    """A waiting task's start in the first plan and in the second; None where none can be told.

    `later_s` is by how long, negative for sooner, None where one of both is unknown. `misses` says that it would
    miss its milestone only in the second, `starts` that it would start at once there.
    """

    task: Named
    owner: Named
    team: Named
    tier: Tier
    before: datetime | None
    after: datetime | None
    later_s: int | None
    starts: bool
    milestone_at: datetime | None
    misses: bool


@dataclass(frozen=True, slots=True)
class WouldStop:
    """A run that would be stopped; without a `checkpoint` its work so far is lost."""

    run: str
    task: Named
    owner: Named
    team: Named
    cards: int
    lost_card_s: int
    checkpoint: bool


@dataclass(frozen=True, slots=True)
class Shifts:
    """Who starts later, the worst first, and who sooner, the most first."""

    later: tuple[Shift, ...]
    sooner: tuple[Shift, ...]


def starts_of(plan: Plan) -> dict[str, datetime | None]:
    """The start of everybody whom the plan answers; None where none can be told."""
    told = {wait.task: wait.forecast.start_by if wait.forecast else None for wait in plan.waits}
    return told | {start.task: plan.decided_at for start in plan.starts}


def places_of(plan: Plan) -> dict[str, int]:
    """The place in the order of everybody whom the plan answers, from 1 on."""
    return {wait.task: wait.rank for wait in plan.waits} | {start.task: start.rank for start in plan.starts}


def shifts_of(records: Records, before: Plan, after: Plan, but: Collection[str] = ()) -> Shifts:
    """Everybody whose start differs, of those whom both plans answer and the records know."""
    was, becomes = starts_of(before), starts_of(after)
    at_once = {start.task for start in after.starts}
    later: list[Shift] = []
    sooner: list[Shift] = []
    for key, old in was.items():
        task = records.tasks.get(key)
        if key not in becomes or old == becomes[key] or key in but or task is None:
            continue
        new = becomes[key]
        gains = new is not None and (old is None or new < old)
        (sooner if gains else later).append(shift_of(records, task, old, new, key in at_once))
    return Shifts(tuple(sorted(later, key=_worst_first)), tuple(sorted(sooner, key=_most_first)))


def shift_of(records: Records, task: Task, before: datetime | None, after: datetime | None, starts: bool) -> Shift:
    """One task's start in both plans."""
    return Shift(
        task=Named(task.id, task.name),
        owner=person_named(records, task.owner),
        team=team_named(records, task.team),
        tier=task.tier,
        before=before,
        after=after,
        later_s=None if before is None or after is None else int((after - before).total_seconds()),
        starts=starts,
        milestone_at=task.milestone_at,
        misses=misses(task, after) and not misses(task, before),
    )


def misses(task: Task, start: datetime | None) -> bool:
    """Whether a run from then on is known to end after the milestone; how long it takes may be unknown."""
    if task.milestone_at is None or start is None:
        return False
    return start + timedelta(seconds=task.occupies_s or 0) > task.milestone_at


def stops_of(records: Records, before: Plan, after: Plan) -> Iterator[WouldStop]:
    """Runs that only the second plan stops."""
    anyway = {stop.run for stop in before.stops}
    for stop in after.stops:
        run = records.runs.get(stop.run)
        if run is not None and stop.run not in anyway:
            yield would_stop(records, run, stop.lost_card_s)


def would_stop(records: Records, run: Run, lost_card_s: int) -> WouldStop:
    """The run with names, and what stopping it costs."""
    whose = person_named(records, run.owner), team_named(records, run.team)
    return WouldStop(run.id, task_named(records, run.task), *whose, len(run.cards), lost_card_s, run.checkpoint)


def _worst_first(shift: Shift) -> tuple[int, int, str]:
    """Who could be told a start and no longer can comes first, then the longest slip."""
    return (0 if shift.later_s is None else 1, -(shift.later_s or 0), shift.task.id)


def _most_first(shift: Shift) -> tuple[int, int, str]:
    return (0 if shift.later_s is None else 1, shift.later_s or 0, shift.task.id)
