"""A task moved in the order by an admin: points for a reason, taken back at any time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from paika.domain.access import Act, Actor
from paika.domain.form import FieldKind as K
from paika.domain.form import Form, FormField
from paika.domain.problem import FieldMissing, Kind, Problem
from paika.domain.records import Noun, Records
from paika.domain.task import ENDED, QUEUED, Task
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.access_form import read_edit
from paika.services.change_task import task_changed
from paika.services.editing import must_be_name

MOST_POINTS = 1_000  # more than priority, age, slack and fair share make together
_POINTS = FormField("points", K.WHOLE, ("加减分", "分"), -MOST_POINTS, MOST_POINTS, required=True)
MOVE = Form((_POINTS, FormField("reason", K.LINES, ("why", "原因", "理由"), high=500)))


@dataclass(eq=False)
class NotInOrder(Problem):
    """The task has left the queue; there is no order to move it in."""

    code: ClassVar[str] = "task.not_in_order"
    kind: ClassVar[Kind] = Kind.CONFLICT
    state: str


def read_move(raw: Mapping[str, object], zone: str) -> tuple[int, str]:
    """Points and reason ('' if none). Raises Several with every problem."""
    edit = read_edit(MOVE, raw, zone, whole=True)
    return edit.values["points"], edit.why


def must_move(actor: Actor, task: Task | None = None, points: int = 0) -> None:
    """Raises Forbidden but for admins; NotInOrder unless the task is queued, or on cards with its points going to 0."""
    actor.must(Act.MOVE_TASK)
    if task is not None and task.state not in QUEUED and (points or task.state in ENDED):
        raise NotInOrder(field=None, state=task.state.value)


def move_task(
    store: Store,
    clock: Clock,
    actor: Actor,
    task_id: str,
    points: int,
    why: str,
    *,
    if_version: int | None = None,
) -> Task:
    """Add `points` to the task's priority (below 0: take), in place of those before; 0 takes the move back.

    The same move twice changes nothing. Raises Forbidden, NotInOrder, FieldMissing, NotFound, VersionConflict.
    """

    def decide(records: Records, task: Task, now: datetime) -> tuple[Noun, ...]:
        must_move(actor, task, points)
        if not why.strip():
            raise FieldMissing(field="reason")
        must_be_name(why, "reason")
        new = moved(task, points, actor.person, why)
        return () if new == task else (replace(new, version=task.version + 1),)

    return task_changed(
        store, clock, actor, "move_task", task_id, decide, why, if_version, must=lambda who, _: must_move(who)
    )


def moved(task: Task, points: int, by: str, why: str) -> Task:
    """The task with its points, of the same version."""
    if not points:
        return replace(task, boost=0, boost_by="", boost_why="")
    return replace(task, boost=points, boost_by=by, boost_why=why)
