"""Tasks: listed, submitted, looked at, changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from paika.domain import task_form
from paika.domain.form import schema as form_schema
from paika.domain.problem import BadValue
from paika.domain.task import Task, TaskState, Tier
from paika.interfaces.api.doors import AnyBody, Body, Caller, NotJson, Who, body_schema
from paika.ports.store import TaskQuery
from paika.services.access_form import read_reason
from paika.services.change_task import cancel_task, edit_task, hold_task, release_task
from paika.services.move_task import MOVE, move_task, read_move
from paika.services.preview_move import MOST_TOLD
from paika.services.see_queue import QueueFilter, see_queue, see_running
from paika.services.see_task import see_runs, see_task
from paika.services.submit_task import must_submit, prepare, read_drafts, submit_tasks

router = APIRouter(prefix="/tasks", tags=["tasks"])
FORM_SCHEMA = task_form.schema()
_MANY = {"type": "object", "required": ["tasks"], "properties": {"tasks": {"type": "array", "items": FORM_SCHEMA}}}
_SUBMIT = body_schema({"anyOf": [FORM_SCHEMA, _MANY, {"type": "array", "items": FORM_SCHEMA}]})
_EDIT = body_schema({"type": "object", "properties": FORM_SCHEMA["properties"]})
_REASON = body_schema({"type": "object", "properties": {"reason": {"type": "string"}}}, required=False)
_MOVE = body_schema({**form_schema(MOVE), "required": ["points", "reason"]})


class Listing(StrEnum):
    """Which tasks a list is of."""

    QUEUE = "queue"
    RUNNING = "running"
    ENDED = "ended"


@router.get("")
def list_tasks(
    who: Who,
    listing: Listing = Listing.QUEUE,
    team: str = "",
    owner: str = "",
    mine: bool = False,
    tier: Annotated[list[Tier] | None, Query()] = None,
    state: Annotated[list[TaskState] | None, Query()] = None,
    text: Annotated[str, Query(max_length=200)] = "",
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Response:
    """The queue in its order, what runs, or what has ended (newest first)."""
    person = who.actor.person if mine else owner
    if listing is Listing.ENDED:
        return _ended(who, TaskQuery(tuple(state or ()), person, team, text, cursor, limit), tier or [])
    wanted = QueueFilter(team, person, tuple(tier or ()), tuple(state or ()), text)
    if listing is Listing.QUEUE:
        return who.answer_queue(see_queue(who.records, who.live, who.now, wanted, cursor=cursor, limit=limit))
    rows = see_running(who.records, who.now, wanted)
    shown = rows[:limit]
    left_out = len(rows) - len(shown)
    return who.answer({"at": who.now, "rows": shown, "cursor": None, "total": len(rows), "left_out": left_out})


@router.post("", status_code=201, openapi_extra=_SUBMIT)
def submit(
    who: Who,
    body: AnyBody,
    idempotency_key: Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)] = None,
    dry_run: bool = False,
) -> Response:
    """Submit one task (its form), or several at once: all of them or none. `dry_run` only says what would come in."""
    drafts = read_drafts(_forms(body), who.context.zone_name)
    if dry_run:
        must_submit(who.context.store, who.context.clock, who.actor)
        tasks = prepare(who.records, who.actor, drafts, who.now, who.context.store.task)
        return who.answer({"tasks": _masked(who, tasks), "dry_run": True}, 200)
    tasks = submit_tasks(who.context.store, who.context.clock, who.actor, drafts, key=idempotency_key)
    where = f"/api/v1/tasks/{tasks[0].id}" if len(tasks) == 1 else ""
    return who.answer({"tasks": _masked(who, tasks), "dry_run": False}, 201, location=where)


@router.get("/form")
def form(who: Who) -> Response:
    """The JSON schema of a task's form."""
    return who.answer(FORM_SCHEMA)


@router.get("/{task_id}")
def one(who: Who, task_id: str, history: Annotated[int, Query(ge=0, le=1000)] = 50) -> Response:
    """All of a task. Its ETag is what PATCH takes as If-Match."""
    view = see_task(who.context.store, who.records, who.live, who.now, task_id, history=history)
    return who.answer(replace(view, task=who.masked(view.task)), version=view.task.version)


@router.patch("/{task_id}", openapi_extra=_EDIT)
def edit(who: Who, task_id: str, body: Body, reason: Annotated[str, Query(max_length=500)] = "") -> Response:
    """Change the named fields; null clears one. With If-Match only if nobody changed the task meanwhile."""
    context = who.context
    task = edit_task(
        context.store,
        context.clock,
        who.actor,
        task_id,
        body,
        context.zone_name,
        if_version=who.if_version,
        why=reason,
    )
    return _changed(who, task)


@router.post("/{task_id}/cancel", openapi_extra=_REASON)
def cancel(who: Who, task_id: str, body: Body) -> Response:
    """Cancel a waiting task at once; a running one is asked to stop."""
    why = read_reason(body, who.context.zone_name)
    context = who.context
    return _changed(
        who, cancel_task(context.store, context.clock, who.actor, task_id, why=why, if_version=who.if_version)
    )


@router.post("/{task_id}/hold", openapi_extra=_REASON)
def hold(who: Who, task_id: str, body: Body) -> Response:
    """Keep a waiting task from starting; a reason is needed."""
    why = read_reason(body, who.context.zone_name)
    context = who.context
    return _changed(who, hold_task(context.store, context.clock, who.actor, task_id, why, if_version=who.if_version))


@router.post("/{task_id}/release", openapi_extra=_REASON)
def release(who: Who, task_id: str, body: Body) -> Response:
    """Let a held task take part again."""
    why = read_reason(body, who.context.zone_name)
    context = who.context
    return _changed(
        who, release_task(context.store, context.clock, who.actor, task_id, why=why, if_version=who.if_version)
    )


@router.get("/{task_id}/move")
def preview_move(
    who: Who, task_id: str, points: str, limit: Annotated[int, Query(ge=1, le=500)] = MOST_TOLD
) -> Response:
    """What moving the task by so many points would do, planned for real: who starts later, by how long. For admins."""
    asked, _ = read_move({"points": points}, who.context.zone_name)
    context = who.context
    told = context.moves.of(context.store, who.records, who.live, who.actor, task_id, asked, who.now, most=limit)
    return who.answer(told, version=told.version)


@router.post("/{task_id}/move", openapi_extra=_MOVE)
def move(who: Who, task_id: str, body: Body) -> Response:
    """Move a waiting task in the order: points for a reason; 0 takes the move back. For admins."""
    context = who.context
    points, why = read_move(body, context.zone_name)
    return _changed(
        who, move_task(context.store, context.clock, who.actor, task_id, points, why, if_version=who.if_version)
    )


@router.get("/{task_id}/why")
def why(who: Who, task_id: str, history: Annotated[int, Query(ge=0, le=1000)] = 20, unblock: bool = True) -> Response:
    """Why a task waits, when it starts at the latest, and the cheapest changes that would start it sooner."""
    view = see_task(who.context.store, who.records, who.live, who.now, task_id, history=history)
    shown = ("at", "position", "terms", "forecast", "reasons", "unseen_since", "history", "closed_by", "inputs")
    told = {name: getattr(view, name) for name in shown}
    ways = who.context.unblocks.of(who.records, who.live.external, task_id, who.now) if unblock else None
    about = {"task": view.task.id, "name": view.task.name, "state": view.task.state, "unblock": ways}
    return who.answer(about | told)


@router.get("/{task_id}/runs")
def runs(who: Who, task_id: str) -> Response:
    """The attempts of a task, oldest first."""
    see_task(who.context.store, who.records, who.live, who.now, task_id, history=0)
    return who.answer({"rows": see_runs(who.context.store, who.records, who.live, who.now, task_id)})


def _forms(body: Any) -> list[Mapping[str, object]]:
    listed = body["tasks"] if isinstance(body, dict) and set(body) == {"tasks"} else body
    forms = listed if isinstance(listed, list) else [listed]
    if not forms:
        raise BadValue(field="tasks", value="0", allowed=">= 1")
    if not all(isinstance(item, dict) for item in forms):
        raise NotJson(field="tasks", detail="each task is an object")
    return forms


def _ended(who: Caller, query: TaskQuery, tiers: list[Tier]) -> Response:
    page = who.context.store.ended_tasks(query)
    rows = tuple(task for task in page.rows if not tiers or task.tier in tiers)
    return who.answer({"at": who.now, "rows": _masked(who, rows), "cursor": page.cursor, "total": page.total})


def _masked(who: Caller, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    return tuple(who.masked(task) for task in tasks)


def _changed(who: Caller, task: Task) -> Response:
    return who.answer(who.masked(task), version=task.version)
