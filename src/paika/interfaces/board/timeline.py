"""The timeline: cards over time as a chart that a script draws, and the same window as a list of plain text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from paika.domain.instant import instant
from paika.domain.problem import BadValue
from paika.domain.quantity import duration_s
from paika.domain.task import Tier
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.interfaces.wording.catalogue import words
from paika.services.see_timeline import (
    SPAN_S,
    WORK,
    Bar,
    BarKind,
    TimelineFilter,
    TimelineRow,
    TimelineView,
    see_timeline,
    window,
)
from paika.services.seen import Named

router = APIRouter(route_class=BoardRoute)
HOUR, DAY = 3600, 86_400
LEAST_SPAN_S, MOST_SPAN_S = HOUR, 21 * DAY
SPANS = (HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY, 21 * DAY)
LIST_MOST = 300
SAID = (  # prefixes of the words that the chart's script says
    "timeline.",
    "shows.",
    "letter.",
    "tier.",
    "fact.",
    "ending.",
    "list.",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The window and filters in the address. `at` stands a tenth into the window; None: now."""

    at: datetime | None
    span_s: int
    mine: bool
    filter: TimelineFilter


@dataclass(frozen=True, slots=True)
class Line:
    """A bar in words, for the list."""

    row: TimelineRow
    kind: BarKind
    what: str
    href: str
    owner: Named | None
    start: datetime | None
    between: datetime | None
    end: datetime | None
    endless: str


def asked(request: Request, visit: Guest) -> Asked:
    """What the address asks for; words that it does not know change nothing."""
    given = request.query_params
    try:
        at = instant("at", given.get("at", ""), visit.context.zone_name)
    except BadValue:
        at = None
    try:
        span_s = duration_s("span", given.get("span", ""), LEAST_SPAN_S, MOST_SPAN_S)
    except BadValue:
        span_s = SPAN_S
    tiers = tuple(Tier(word) for word in given.getlist("tier") if word in set(Tier))
    mine = given.get("mine", "") == "1"
    owner = visit.who.person if mine else given.get("owner", "")
    node, pool, kind, team = (given.get(name, "") for name in ("node", "pool", "type", "team"))
    return Asked(at, span_s, mine, TimelineFilter(node, pool, kind, team, owner, tiers, given.get("text", "")))


@router.get("/timeline")
def timeline(visit: Guest, wanted: Annotated[Asked, Depends(asked)], view: str = "") -> Response:
    """The chart, or with `view=list` its window as a list."""
    records = visit.records
    as_list = view == "list"
    seen = _seen(visit, wanted) if as_list else None
    return visit.page(
        "timeline_list.html" if as_list else "timeline.html",
        "i",
        wanted=wanted,
        seen=seen,
        lines=list(islice(_lines(visit, seen), LIST_MOST)) if seen else [],
        said=said(visit),
        spans=SPANS,
        nodes=sorted(records.nodes),
        pools=sorted({node.pool for node in records.nodes.values()}),
        types=sorted({card.type for card in records.cards.values()}),
        teams=sorted(records.teams.values(), key=lambda team: team.name),
        people=sorted(records.people.values(), key=lambda person: person.name),
        tiers=list(Tier),
        kinds=list(BarKind),
        has_cards=bool(records.cards),
    )


def said(visit: Visit) -> dict[str, str]:
    """The words that the script says, with their facts still to be filled in."""
    return {key: text for key, text in words(visit.lang).items() if key.startswith(SAID)}


def _seen(visit: Visit, wanted: Asked) -> TimelineView:
    start = None if wanted.at is None else window(wanted.at, None, wanted.span_s)
    return see_timeline(visit.records, visit.live, visit.now, start=start, span_s=wanted.span_s, wanted=wanted.filter)


def _lines(visit: Visit, view: TimelineView) -> Iterator[Line]:
    for node in view.nodes:
        for row in node.rows:
            for bar in row.bars:
                yield _line(visit, view, row, bar)


def _line(visit: Visit, view: TimelineView, row: TimelineRow, bar: Bar) -> Line:
    of = (view.tasks if bar.kind in WORK else view.bookings).get(bar.subject)
    why = visit.cause(row.card) if bar.kind is BarKind.UNFIT and row.card.health_cause else bar.cause
    return Line(
        row=row,
        kind=bar.kind,
        what=of.name or of.id if of else why,
        href=_href(bar) if of else "",
        owner=of.owner if of else None,
        start=bar.since,
        between=bar.earliest,
        end=bar.until,
        endless=visit.t("ending.unknown") if bar.until is None and of is not None else "",
    )


def _href(bar: Bar) -> str:
    here = quote(bar.subject, safe="")
    return f"/tasks/{here}" if bar.kind in WORK else f"/bookings#booking-{here}"
