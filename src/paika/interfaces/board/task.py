"""The page of one task, and the acts on it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.plan import ReasonRecord
from paika.domain.problem import NotFound, Problem
from paika.domain.run import RunState
from paika.domain.task import ENDED, QUEUED, TaskState
from paika.interfaces.board.cell import ending_words
from paika.interfaces.board.entry import Fields, Posted, by_field, version_of
from paika.interfaces.board.naming import dataset_names
from paika.interfaces.board.rows import limit_words, need_words, ready_words, slip_words, start_words
from paika.interfaces.board.tail import download, tail_if_allowed, tail_of
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.interfaces.wording.say import RUN_DETAIL, told_of
from paika.interfaces.wording.starts import ToldStart, start_said
from paika.services.change_task import WHILE_RUNNING, cancel_task, edit_task, hold_task, may_change, release_task
from paika.services.preview_plan import Unblock
from paika.services.see_cards import occupant
from paika.services.see_queue import queue_row
from paika.services.see_task import RunRow, TaskView, may_read_program, see_task

router = APIRouter(route_class=BoardRoute)
HISTORY = 30
ACTS = frozenset({"cancel", "hold", "release", "edit"})
EDITABLE = ("priority", "limit", "preemptible", "checkpoint", "milestone_at", "note")


@router.get("/tasks/{task}")
def task_page(visit: Guest, task: str, run: str = "") -> Response:
    """All of a task."""
    view = see_task(visit.context.store, visit.records, visit.live, visit.now, task, history=HISTORY)
    row = queue_row(visit.records, view.task, visit.live.waits.get(task), visit.live.slips)
    start, basis = start_words(visit, row)
    runs = tuple(reversed(view.runs))
    shown = next((r for r in runs if r.id == run), runs[0] if runs else None)
    return visit.page(
        "task.html",
        "q",
        view=view,
        task=view.task,
        row=row,
        need=need_words(visit, view.task.demand),
        limit=limit_words(visit, view.task.limit_s, view.task.estimate.likely_s if view.task.estimate else None),
        ready=ready_words(visit, view.inputs),
        start=start,
        basis=basis,
        slip=slip_words(visit, view.forecast.slip if view.forecast else None),
        queued=view.task.state in QUEUED,
        ended=view.task.state in ENDED,
        runs=[(one, run_words(visit, one)) for one in runs],
        shown=shown,
        tail=tail_if_allowed(visit, task, shown.id) if shown else None,
        cards=[(part.node, [_card(visit, card) for card in part.cards]) for part in shown.parts] if shown else [],
        reasons=[visit.told(reason) for reason in view.reasons],
        history=[_past(visit, record) for record in view.history],
        closed=visit.told(view.closed_by) if view.closed_by else None,
        may_change=may_change(visit.who, view.task),
        secrets=may_read_program(visit.who, view.task),
    )


@router.get("/tasks/{task}/log")
def log(visit: Guest, task: str, run: str, start: int = 0) -> Response:
    """What a run has written since byte `start`, as JSON; see static/js/log.js."""
    return tail_of(visit, task, run, max(0, start)).response()


@router.get("/tasks/{task}/log/{run}.txt")
def whole_log(visit: Guest, task: str, run: str) -> Response:
    """The whole log as a file, streamed."""
    return download(visit, task, run)


@router.get("/tasks/{task}/unblock")
def unblock(visit: Guest, task: str) -> Response:
    """Single changes that would start it now or sooner, really planned; asked for when somebody looks."""
    found = visit.context.unblocks.of(visit.records, visit.live.external, task, visit.now)
    return visit.part("unblock.html", ways=[_way(visit, one) for one in found])


@router.get("/tasks/{task}/ask/{act}")
def ask(visit: Guest, task: str, act: str) -> Response:
    """The question before an act, with whom it hits."""
    view = _view(visit, task)
    if act not in ACTS:
        raise NotFound(field=None, noun="act", id=act)
    return _ask(visit, view, act, _now(visit, view) | {"version": str(view.task.version)}, {})


@router.post("/tasks/{task}/{act}")
def do(visit: Guest, task: str, act: str, fields: Posted) -> Response:
    """Cancel, hold, release or edit."""
    if act not in ACTS:
        raise NotFound(field=None, noun="act", id=act)
    try:
        _do(visit, task, act, fields)
    except Problem as problem:
        return _ask(visit, _view(visit, task), act, fields, by_field(visit, problem))
    return visit.done()


def run_words(visit: Visit, run: RunRow) -> dict[str, Any]:
    """How a run stands or ended, causes told apart; `tone` for its tag."""
    if run.state is not RunState.ENDED:
        until = ending_words(visit, run.ending) if run.ending else ""
        return {"says": visit.t(f"run.{run.state}"), "tone": "go", "more": until, "for": stop_words(visit, run)}
    cause = run.cause.value if run.cause else "unknown"
    facts = {"code": run.exit_code, "signal": run.signal, "by": run.stop_by}
    tone = "go" if cause == "done" else "" if cause == "cancelled" else "bad"
    return {
        "says": visit.t(f"cause.{cause}", **facts),
        "tone": tone,
        "more": told_of(RUN_DETAIL, run.detail, visit.lang),
        "for": stop_words(visit, run),
    }


def stop_words(visit: Visit, run: RunRow) -> str:
    """For whom a run gives its cards, and what becomes of its work; '' if for nobody."""
    if run.stop_for is None:
        return ""
    kept = visit.t("preempted.saved" if run.checkpoint else "preempted.lost")
    return visit.t("list.dot").join((visit.t("preempted.for", task=run.stop_for.name), kept))


def _past(visit: Visit, record: ReasonRecord) -> tuple[datetime, list[dict[str, Any]], str, str]:
    """When something else was told: the reasons, the start, and why it was later than before."""
    promise, start = record.promise, ""
    if promise is not None:
        told = ToldStart(promise.start_by, record.start_from, None, True, False)
        start = visit.t("task.told", start=start_said(visit.t, told, visit.context.zone, visit.now))
    return record.at, [visit.told(reason) for reason in record.reasons], start, slip_words(visit, record.slip)


def _way(visit: Visit, one: Unblock) -> dict[str, Any]:
    data = one.change == "ready_data" and isinstance(one.value, str)
    value = dataset_names(visit.records, str(one.value)) if data else one.value
    change = visit.t(f"unblock.{one.change}", value=value)
    says = visit.t("unblock.now" if one.starts_now else "unblock.by", change=change, at=one.start_by)
    mark = visit.t("unblocking.now") if one.starts_now else visit.when(one.start_by)
    return {"says": says, "now": one.starts_now, "mark": mark}


def _do(visit: Visit, task: str, act: str, fields: Fields) -> None:
    store, clock, who = visit.context.store, visit.context.clock, visit.who
    why, version = fields.get("reason", "").strip(), version_of(fields)
    if act == "cancel":
        cancel_task(store, clock, who, task, why=why)
    elif act == "hold":
        hold_task(store, clock, who, task, why)
    elif act == "release":
        release_task(store, clock, who, task, why=why)
    else:
        raw = {key: fields[key] for key in EDITABLE if key in fields}
        edit_task(store, clock, who, task, raw, visit.context.zone_name, if_version=version, why=why)


def _ask(visit: Visit, view: TaskView, act: str, values: Fields, wrong: dict[str, dict[str, object]]) -> Response:
    run = next((run for run in visit.records.runs.values() if run.task == view.task.id and not run.ended), None)
    return visit.part(
        "dialog_edit.html" if act == "edit" else "dialog_act.html",
        422 if wrong else 200,
        act=act,
        view=view,
        task=view.task,
        values=values,
        wrong=wrong,
        on_cards=occupant(visit.records, run, visit.now) if run else None,
        cards=len(run.cards) if run else 0,
        queued=view.task.state in QUEUED,
        stops=act == "cancel" and view.task.state not in QUEUED | {TaskState.STOPPING},
        editable=EDITABLE if view.task.state in QUEUED else tuple(key for key in EDITABLE if key in WHILE_RUNNING),
    )


def _now(visit: Visit, view: TaskView) -> Fields:
    task = view.task
    return {
        "priority": str(task.priority),
        "limit": "" if task.limit_s is None else f"{task.limit_s}s",
        "preemptible": str(task.preemptible).lower(),
        "checkpoint": str(task.checkpoint).lower(),
        "milestone_at": _local(visit, task.milestone_at),
        "note": task.note,
    }


def _local(visit: Visit, at: datetime | None) -> str:
    return "" if at is None else at.astimezone(visit.context.zone).strftime("%Y-%m-%dT%H:%M")


def _view(visit: Visit, task: str) -> TaskView:
    return see_task(visit.context.store, visit.records, visit.live, visit.now, task, history=0)


def _card(visit: Visit, card: str) -> str:
    known = visit.records.cards.get(card)
    return card if known is None or known.index is None else f"{known.index}"
