"""What a move in the order would do: who starts later and by how long, who starts sooner, which runs are stopped.

The live state is planned twice by the very same function, without the move and with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from paika.domain.access import Actor
from paika.domain.plan import Plan
from paika.domain.problem import NotFound
from paika.domain.records import Records
from paika.domain.task import QUEUED, Task
from paika.ports.store import Store
from paika.services.compare_plans import Shift, WouldStop, places_of, shift_of, shifts_of, starts_of, stops_of
from paika.services.live import Live
from paika.services.move_task import moved, must_move
from paika.services.plan_twice import Asked, TwoPlans
from paika.services.take_snapshot import take_snapshot

MOST_TOLD = 50


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


@dataclass(frozen=True, slots=True)
class MovePreviews:
    """What moves would do."""

    plans: TwoPlans = field(default_factory=TwoPlans)

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
        """The preview for an admin. Raises Forbidden, NotFound, NotInOrder, PreviewsBusy."""
        must_move(actor)
        task = records.tasks.get(task_id) or store.task(task_id)
        if task is None:
            raise NotFound(field=None, noun="task", id=task_id)
        must_move(actor, task, points)
        snapshot = take_snapshot(records, live.external, now, live.speeds, engines=live.engines, live=live)
        new = moved(task, points, actor.person, "?") if points != task.boost else task
        if new == task or task.state not in QUEUED:
            plan = Plan(records.version, records.policy.version, now, (), ())
            return _compared(records, task, points, (plan, plan), most)
        new = replace(new, version=task.version + 1)
        with_move = replace(snapshot, tasks=tuple(new if t.id == task_id else t for t in snapshot.tasks))
        plans = self.plans.of(Asked(snapshot, records.policy), Asked(with_move, records.policy), now)
        return _compared(records, task, points, plans, most)


def _compared(records: Records, task: Task, points: int, plans: tuple[Plan, Plan], most: int) -> MovePreview:
    before, after = plans
    told = shifts_of(records, before, after, {task.id})
    starts = [starts_of(plan).get(task.id) for plan in plans]
    at_once = any(start.task == task.id for start in after.starts)
    places = [places_of(plan).get(task.id) for plan in plans]
    return MovePreview(
        at=before.decided_at,
        version=task.version,
        points_before=task.boost,
        points=points,
        place_before=places[0],
        place_after=places[1],
        moved=shift_of(records, task, starts[0], starts[1], at_once),
        later=told.later[:most],
        later_count=len(told.later),
        sooner_count=len(told.sooner),
        misses_count=sum(shift.misses for shift in told.later),
        stops=tuple(stops_of(records, before, after)),
    )
