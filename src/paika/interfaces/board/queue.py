"""The queue: in the order of the plan, with filters in the address."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from paika.domain.task import QUEUED, TaskState, Tier
from paika.interfaces.board.rows import table_rows
from paika.interfaces.board.visit import BoardRoute, Guest
from paika.services.see_accuracy import see_accuracy
from paika.services.see_queue import QueueFilter, see_queue, see_running

router = APIRouter(route_class=BoardRoute)
PAGE_ROWS = 100


def queue_filter(request: Request) -> QueueFilter:
    """The filter in the address; words that it does not know filter nothing."""
    asked = request.query_params
    tiers = tuple(Tier(word) for word in asked.getlist("tier") if word in set(Tier))
    states = tuple(TaskState(word) for word in asked.getlist("state") if word in QUEUED)
    return QueueFilter(asked.get("team", ""), asked.get("owner", ""), tiers, states, asked.get("text", ""))


Wanted = Annotated[QueueFilter, Depends(queue_filter)]


@router.get("/queue")
def queue(visit: Guest, wanted: Wanted, cursor: str = "") -> Response:
    """A page of the queue, and what runs now."""
    view = see_queue(visit.records, visit.live, visit.now, wanted, cursor=cursor or None, limit=PAGE_ROWS)
    running = see_running(visit.records, visit.now, wanted)
    return visit.page(
        "queue.html",
        "q",
        view=view,
        rows=table_rows(visit, view.rows),
        running=len(running),
        wanted=wanted,
        teams=sorted(visit.records.teams.values(), key=lambda team: team.name),
        people=sorted(visit.records.people.values(), key=lambda person: person.name),
        tiers=list(Tier),
        states=[TaskState.WAITING, TaskState.HELD, TaskState.PARKED],
        cursor=cursor,
        accuracy=see_accuracy(visit.live, visit.now),
    )
