"""The wall screen: figures and cards in big type, nothing to click, for a viewer's token."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from paika.interfaces.board.overview import lines, racks
from paika.interfaces.board.visit import BoardRoute, Guest
from paika.services.see_cards import see_cards
from paika.services.see_overview import see_overview
from paika.services.see_queue import see_queue
from paika.services.see_readiness import see_readiness

router = APIRouter(route_class=BoardRoute)
NEXT_UP = 6


@router.get("/wall")
def wall(visit: Guest) -> Response:
    """The lab on one screen."""
    cards = see_cards(visit.records, visit.live, visit.now, free_since=visit.free_since)
    queue = see_queue(visit.records, visit.live, visit.now, limit=NEXT_UP)
    return visit.page(
        "wall.html",
        seen=see_overview(visit.records, visit.live, visit.now, cards=cards),
        racks=racks(visit, cards),
        queue=queue,
        lines=lines(visit, queue),
        ready=see_readiness(visit.records, visit.now),
        all=cards.totals[0],
        types=[total for total in cards.totals[1:] if total.free],
    )
