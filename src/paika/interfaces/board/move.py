"""A task moved in the order: points and a reason, then who slips, then the act."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.problem import Problem
from paika.interfaces.board.entry import Fields, Posted, by_field, version_of
from paika.interfaces.board.outcome import start_words
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.interfaces.wording.say import signed
from paika.services.move_task import move_task, must_move, read_move
from paika.services.preview_move import MovePreview
from paika.services.see_task import TaskView, see_task

router = APIRouter(route_class=BoardRoute)
MOST = 20
CHECK = "check"  # the button that only looks


@router.get("/tasks/{task}/ask/move")
def ask(visit: Guest, task: str) -> Response:
    """The form: how many points, and why."""
    view = _view(visit, task)
    must_move(visit.who, view.task)
    values = {"points": str(view.task.boost or ""), "reason": view.task.boost_why, "version": str(view.task.version)}
    return _form(visit, view, values, {})


@router.post("/tasks/{task}/move")
def move(visit: Guest, task: str, fields: Posted) -> Response:
    """Tell who would slip; move only by the points that were looked at."""
    visit.who.must(Act.MOVE_TASK)
    store, records, who, now = visit.context.store, visit.records, visit.who, visit.now
    values = {**fields, "points": fields.get("points", "").strip(), "reason": fields.get("reason", "").strip()}
    try:
        points, why = read_move({key: values[key] for key in ("points", "reason")}, visit.context.zone_name)
        if CHECK not in fields and values["points"] == fields.get("looked_at"):
            move_task(store, visit.context.clock, who, task, points, why, if_version=version_of(fields))
            return visit.done()
        told = visit.context.moves.of(store, records, visit.live, who, task, points, now, most=MOST)
    except Problem as problem:
        return _form(visit, _view(visit, task), values, by_field(visit, problem))
    return _form(visit, _view(visit, task), {**values, "version": str(told.version)}, {}, told)


def _form(
    visit: Visit,
    view: TaskView,
    values: Fields,
    wrong: dict[str, dict[str, object]],
    told: MovePreview | None = None,
) -> Response:
    return visit.part(
        "dialog_move.html",
        422 if wrong else 200,
        view=view,
        task=view.task,
        values=values,
        wrong=wrong,
        told=told,
        start=start_words(visit, told.at if told else visit.now),
        signed=signed,
    )


def _view(visit: Visit, task: str) -> TaskView:
    return see_task(visit.context.store, visit.records, visit.live, visit.now, task, history=0)
