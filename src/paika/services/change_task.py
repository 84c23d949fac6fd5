"""Tasks changed by people: cancelled, held, released, edited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from paika.domain.access import Act, Actor, Forbidden
from paika.domain.audit import AuditEntry
from paika.domain.problem import Kind, NotFound, Problem, UnknownField
from paika.domain.records import Change, Noun, Records
from paika.domain.run import EndCause, Run, RunState
from paika.domain.run import step as run_step
from paika.domain.task import ENDED, QUEUED, Task, TaskState, step
from paika.domain.task_draft import TaskDraft
from paika.domain.task_form import FORM, form_of, read_form
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.dependencies import NO_BATCH, Find, link, refuse_loops
from paika.services.editing import by_id_or_name, must_be_name, must_be_read
from paika.services.end_task import after_ends
from paika.services.keep_audit import Attempt, entry, refusals_kept
from paika.services.submit_task import must_place, own_fields, resolved

WHILE_RUNNING = frozenset({"name", "note", "tags", "priority", "milestone", "milestone_at", "kind"})
_TOGETHER = (
    frozenset({"command", "script"}),
    frozenset({"share_vram", "share_bandwidth"}),
    frozenset({"estimate_low", "estimate_likely", "estimate_high"}),
)


@dataclass(eq=False)
class TooLate(Problem):
    """The task is on cards, or was; only `allowed` fields may still change."""

    code: ClassVar[str] = "task.too_late"
    kind: ClassVar[Kind] = Kind.CONFLICT
    state: str
    allowed: tuple[str, ...]


def cancel_task(
    store: Store, clock: Clock, actor: Actor, task_id: str, *, why: str = "", if_version: int | None = None
) -> Task:
    """A queued task is cancelled at once, with what can then never run; one on cards begins to stop.

    Stopping only marks the task and its run; the next cycle asks the engine. Cancelling what is stopping
    by a person's wish already, or cancelled, changes nothing. Raises IllegalStep for other ended tasks.
    """

    def decide(records: Records, task: Task, now: datetime) -> tuple[Noun, ...]:
        if task.state is TaskState.CANCELLED or (task.state is TaskState.STOPPING and _asked_to_stop(records, task)):
            return ()
        cause = f"{actor.person}: {why}" if why else actor.person
        if task.state in QUEUED:
            return cancelled(records, task, now, cause)
        run = _open_run(records, task)
        stopping = () if task.state is TaskState.STOPPING else (_stepped(task, "stop", now, cause),)
        return (*stopping, *(() if run is None else (_stop(run, actor.person),)))

    return task_changed(store, clock, actor, "cancel_task", task_id, decide, why, if_version)


def cancelled(records: Records, task: Task, now: datetime, cause: str) -> tuple[Task, ...]:
    """A queued task cancelled, with what can then never run. Raises IllegalStep."""
    gone = _stepped(task, "cancel", now, cause)
    return (gone, *after_ends(records.tasks, {task.id: gone.state}, now))


def hold_task(
    store: Store, clock: Clock, actor: Actor, task_id: str, why: str, *, if_version: int | None = None
) -> Task:
    """Keep a queued task from starting until it is released. Raises IllegalStep for one on cards or ended."""
    must_be_name(why, "reason")

    def decide(records: Records, task: Task, now: datetime) -> tuple[Noun, ...]:
        return (replace(_stepped(task, "hold", now, why), held_by=actor.person),)

    return task_changed(store, clock, actor, "hold_task", task_id, decide, why, if_version)


def release_task(
    store: Store, clock: Clock, actor: Actor, task_id: str, *, why: str = "", if_version: int | None = None
) -> Task:
    """Let a held task take part again; it keeps its place. Raises IllegalStep for one that is not held."""

    def decide(records: Records, task: Task, now: datetime) -> tuple[Noun, ...]:
        return (replace(_stepped(task, "release", now, ""), held_by=""),)

    return task_changed(store, clock, actor, "release_task", task_id, decide, why, if_version)


def edit_task(
    store: Store,
    clock: Clock,
    actor: Actor,
    task_id: str,
    raw: Mapping[str, object],
    zone: str,
    *,
    if_version: int | None = None,
    why: str = "",
) -> Task:
    """Change the fields that `raw` names, as the form of a task reads them; None or '' clears one.

    The owner stays who he is. On cards only WHILE_RUNNING may change. Raises what the form and submit_tasks
    raise, TooLate, VersionConflict, DependencyLoop.
    """

    def decide(records: Records, task: Task, now: datetime) -> tuple[Noun, ...]:
        new = edited(records, actor, task, raw, zone, store.task)
        return () if new == task else (replace(new, version=task.version + 1),)

    return task_changed(store, clock, actor, "edit_task", task_id, decide, why, if_version)


def edited(records: Records, actor: Actor, task: Task, raw: Mapping[str, object], zone: str, find: Find) -> Task:
    """The task with the fields that `raw` names, of the same version. Raises as edit_task does."""
    named = _named(raw)
    late = task.state not in QUEUED and next((key for key in named if key not in WHILE_RUNNING), None)
    if task.state in ENDED or late:
        allowed = () if task.state in ENDED else tuple(sorted(WHILE_RUNNING))
        raise TooLate(field=late or None, state=task.state.value, allowed=allowed)
    draft = read_form(_merged(task, raw, named), zone)
    return _edited(records, actor, task, draft, named, find)


def must_change(actor: Actor, task: Task) -> None:
    """Raises Forbidden unless the actor owns the task, leads its team, or may change any."""
    if actor.may(Act.CHANGE_ANY_TASK):
        return
    if task.owner == actor.person and actor.may(Act.CHANGE_OWN_TASK):
        return
    if task.team in actor.leads and actor.may(Act.CHANGE_TEAM_TASK):
        return
    raise Forbidden(field=None, act=Act.CHANGE_OWN_TASK.value, role=actor.role.value)


def may_change(actor: Actor, task: Task) -> bool:
    """Whether must_change lets the actor pass."""
    try:
        must_change(actor, task)
    except Forbidden:
        return False
    return True


Decide = Callable[[Records, Task, datetime], tuple[Noun, ...]]


def task_changed(
    store: Store,
    clock: Clock,
    actor: Actor,
    act: str,
    task_id: str,
    decide: Decide,
    why: str,
    if_version: int | None,
    must: Callable[[Actor, Task], None] = must_change,
) -> Task:
    """Write what `decide` makes of the task, with its audit. Raises NotFound, what `must` raises, VersionConflict."""

    def change(records: Records) -> Change:
        task = records.tasks.get(task_id) or store.task(task_id)
        if task is None:
            raise NotFound(field=None, noun="task", id=task_id)
        must(actor, task)
        must_be_read("task", task_id, task.version, if_version)
        now = clock.now()
        puts = decide(records, task, now)
        new = next((put for put in puts if isinstance(put, Task) and put.id == task_id), task)
        written = entry(actor, now, act, "task", task_id, old=task, new=new, why=why)
        closed = (_closing(actor, now, records, put) for put in puts if isinstance(put, Task) and put.id != task_id)
        return Change(puts=puts, audit=(written, *(line for line in closed if line is not None)))

    with refusals_kept(store, clock, actor, Attempt(act, "task", task_id)):
        records = store.update(change)
    task = records.tasks.get(task_id) or store.task(task_id)
    if task is None:
        raise NotFound(field=None, noun="task", id=task_id)
    return task


def _closing(actor: Actor, now: datetime, records: Records, child: Task) -> AuditEntry | None:
    if child.state is not TaskState.CLOSED:
        return None
    return entry(actor, now, "close_task", "task", child.id, old=records.tasks.get(child.id), new=child)


def _stepped(task: Task, event: str, now: datetime, cause: str) -> Task:
    return replace(
        task, state=step(task.state, event), state_since=now, state_cause=cause[:500], version=task.version + 1
    )


def _open_run(records: Records, task: Task) -> Run | None:
    return next((run for run in records.runs.values() if run.task == task.id and not run.ended), None)


def _asked_to_stop(records: Records, task: Task) -> bool:
    run = _open_run(records, task)
    return run is not None and run.stop_cause is EndCause.CANCELLED


def _stop(run: Run, person: str) -> Run:
    state = run.state if run.state is RunState.STOPPING else run_step(run.state, "stop")
    return replace(run, state=state, stop_cause=EndCause.CANCELLED, stop_by=person, version=run.version + 1)


def _named(raw: Mapping[str, object]) -> frozenset[str]:
    """The keys of the fields that `raw` names. Raises UnknownField."""
    keys = set()
    for name in raw:
        found = FORM.match(str(name))
        if found is None or found.field.key == "owner":
            raise UnknownField(field=str(name)[:80], nearest=FORM.nearest(str(name)))
        keys.add(found.field.key)
    return frozenset(keys)


def _merged(task: Task, raw: Mapping[str, object], named: frozenset[str]) -> dict[str, object]:
    """The form of the task with what is named taken from `raw`; fields that only mean something together go too."""
    dropped = set(named)
    for group in _TOGETHER:
        given = {key for key in named & group if _given(raw, key)}
        cleared = {key for key in named & group if not _given(raw, key)}
        if "script" in given or "command" in given or "share_vram" in cleared or "estimate_likely" in named:
            dropped |= group
    kept = {key: value for key, value in form_of(task).items() if key not in dropped}
    return {**kept, **raw}


def _given(raw: Mapping[str, object], key: str) -> bool:
    return any(value not in (None, "") for name, value in raw.items() if (m := FORM.match(name)) and m.field.key == key)


def _edited(
    records: Records,
    actor: Actor,
    task: Task,
    asked: TaskDraft,
    named: frozenset[str],
    find: Find,
) -> Task:
    team = by_id_or_name(records.teams, "team", asked.team, "team") if asked.team else task.team
    if team != task.team or asked.tier is not task.tier:
        must_place(records, actor, task.owner, team, asked.tier)
    draft = replace(asked, demand=replace(asked.demand, types=task.demand.types), inputs=task.inputs)
    if named & {"types", "inputs", "pool"}:
        draft = resolved(records, asked)
    after = link(asked.after, NO_BATCH, find, records.tasks) if "after" in named else task.after
    if "after" in named:
        edges = {key: [d.task for d in other.after] for key, other in records.tasks.items() if other.after}
        ring = {task.id: [d.task for d in after]} | {key: to for key, to in edges.items() if key != task.id}
        refuse_loops(ring)
    fields = own_fields(draft) | {"owner": task.owner, "team": team, "after": after}
    return replace(task, **fields)  # type: ignore[arg-type]
