"""What a move in the order would do: who starts later and by how long, who starts sooner, which runs are stopped.

The live state is planned twice by the very same function, without the move and with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock

from paika.domain.access import Actor
from paika.domain.plan import Plan
from paika.domain.policy import Policy
from paika.domain.problem import NotFound
from paika.domain.records import Records
from paika.domain.snapshot import Snapshot
from paika.domain.task import QUEUED, Task, Tier
from paika.ports.store import Store
from paika.services.live import Live
from paika.services.move_task import moved, must_move
from paika.services.run_cycle import Decided, decide
from paika.services.seen import Named, person_named, task_named, team_named
from paika.services.take_snapshot import take_snapshot

MOST_TOLD = 50


@dataclass(frozen=True, slots=True)
class Shift:
    """A waiting task's start without the move and with it; None where none can be told.

    `later_s` is by how long, negative for sooner, None where one of both is unknown. `misses` says that it would
    miss its milestone only by the move, `starts` that it would start at once.
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
    """A run that only the move would stop; without a `checkpoint` its work so far is lost."""

    run: str
    task: Named
    owner: Named
    team: Named
    cards: int
    lost_card_s: int
    checkpoint: bool


@dataclass(frozen=True, slots=True)
class MovePreview:
    """What the move would do to `moved` and to the others. `later` is cut, the worst first; `later_count` is not.

    `version` is that of the task that was looked at. Places count from 1; None where the task is not in the order.
    """

    at: datetime
    version: int
    points_before: int
    points: int
    place_before: int | None
    place_after: int | None
    moved: Shift
    later: tuple[Shift, ...]
    later_count: int
    sooner_count: int
    misses_count: int
    stops: tuple[WouldStop, ...]


@dataclass(slots=True)
class MovePreviews:
    """Works out one at a time, so that many who ask do not stop the planner. `decide` may work elsewhere."""

    decide: Callable[[Snapshot, Policy, datetime], Decided] = decide
    _lock: Lock = field(default_factory=Lock)

    def of(
        self,
        store: Store,
        records: Records,
        live: Live,
        actor: Actor,
        task_id: str,
        points: int,
        now: datetime,
        *,
        most: int = MOST_TOLD,
    ) -> MovePreview:
        """The preview for an admin. Raises Forbidden, NotFound, NotInOrder."""
        must_move(actor)
        task = records.tasks.get(task_id) or store.task(task_id)
        if task is None:
            raise NotFound(field=None, noun="task", id=task_id)
        must_move(actor, task, points)
        snapshot = take_snapshot(records, live.external, now, live.speeds, engines=live.engines, live=live)
        new = moved(task, points, actor.person, "?") if points != task.boost else task
        if new == task or task.state not in QUEUED:
            plan = Plan(records.version, records.policy.version, now, (), ())
            return _compared(records, task, points, (plan, plan), now, most)
        new = replace(new, version=task.version + 1)
        with_move = replace(snapshot, tasks=tuple(new if t.id == task_id else t for t in snapshot.tasks))
        with self._lock:
            before, _ = self.decide(snapshot, records.policy, now)
            after, _ = self.decide(with_move, records.policy, now)
        return _compared(records, task, points, (before, after), now, most)


def _compared(
    records: Records, task: Task, points: int, plans: tuple[Plan, Plan], now: datetime, most: int
) -> MovePreview:
    before, after = (_starts(plan, now) for plan in plans)
    places = [_place(plan, task.id) for plan in plans]
    at_once = {start.task for start in plans[1].starts}
    later: list[Shift] = []
    sooner = 0
    for key in before.keys() | after.keys():
        was, becomes, other = before.get(key), after.get(key), records.tasks.get(key)
        if key == task.id or was == becomes or other is None:
            continue
        if becomes is not None and (was is None or becomes < was):
            sooner += 1
        else:
            later.append(_shift(records, other, was, becomes, starts=False))
    later.sort(key=_worst_first)
    return MovePreview(
        at=now,
        version=task.version,
        points_before=task.boost,
        points=points,
        place_before=places[0],
        place_after=places[1],
        moved=_shift(records, task, before.get(task.id), after.get(task.id), task.id in at_once),
        later=tuple(later[:most]),
        later_count=len(later),
        sooner_count=sooner,
        misses_count=sum(shift.misses for shift in later),
        stops=_stops(records, *plans),
    )


def _starts(plan: Plan, now: datetime) -> dict[str, datetime | None]:
    """The start of everybody whom the plan answers; None where none can be told."""
    told = {wait.task: wait.forecast.start_by if wait.forecast else None for wait in plan.waits}
    return told | {start.task: now for start in plan.starts}


def _place(plan: Plan, task_id: str) -> int | None:
    ranks = {start.task: start.rank for start in plan.starts} | {wait.task: wait.rank for wait in plan.waits}
    return ranks.get(task_id)


def _shift(records: Records, task: Task, before: datetime | None, after: datetime | None, starts: bool) -> Shift:
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
        misses=_misses(task, after) and not _misses(task, before),
    )


def _misses(task: Task, start: datetime | None) -> bool:
    """Whether a run from then on is known to end after the milestone; how long it takes may be unknown."""
    if task.milestone_at is None or start is None:
        return False
    return start + timedelta(seconds=task.occupies_s or 0) > task.milestone_at


def _worst_first(shift: Shift) -> tuple[int, int, str]:
    """Who could be told a start and no longer can comes first, then the longest slip."""
    return (0 if shift.later_s is None else 1, -(shift.later_s or 0), shift.task.id)


def _stops(records: Records, before: Plan, after: Plan) -> tuple[WouldStop, ...]:
    anyway = {stop.run for stop in before.stops}
    found = []
    for stop in after.stops:
        run = records.runs.get(stop.run)
        if stop.run in anyway or run is None:
            continue
        whose = person_named(records, run.owner), team_named(records, run.team)
        named = task_named(records, run.task)
        found.append(WouldStop(run.id, named, *whose, len(run.cards), stop.lost_card_s, run.checkpoint))
    return tuple(found)
