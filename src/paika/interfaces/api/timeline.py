"""The timeline in compact form: thousands of bars in one answer, for the board and for whoever draws his own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from paika.domain.instant import instant
from paika.domain.quantity import duration_s
from paika.domain.task import Tier
from paika.interfaces.api.doors import Caller, Who
from paika.interfaces.api.render import HEADERS, Json
from paika.interfaces.api.render import instant as written
from paika.interfaces.wording.say import CARD_CAUSE, told_of
from paika.services.see_timeline import (
    WORK,
    Bar,
    BarKind,
    Subject,
    TimelineFilter,
    TimelineNode,
    TimelineRow,
    TimelineView,
    see_timeline,
)

router = APIRouter(tags=["timeline"])
LEAST_SPAN_S, MOST_SPAN_S = 60, 90 * 86_400
KINDS = tuple(kind.value for kind in BarKind)
_INT, _TEXT = {"type": "integer"}, {"type": "string"}
_MAYBE_INT, _MAYBE_TEXT = {"type": ["integer", "null"]}, {"type": ["string", "null"]}
_BOOL = {"type": "boolean"}


def _tuples(about: str, *columns: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for column in columns for kind in [column["type"]]]
    types = sorted({one for kind in kinds for one in ([kind] if isinstance(kind, str) else kind)})
    row = {"type": "array", "items": {"type": types}, "minItems": len(columns), "maxItems": len(columns)}
    return {"type": "array", "description": about, "items": row}


SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": (
        "A window of time over all cards. Every time inside the arrays is in whole seconds after `from`, and may be "
        "negative; null is unknown, never now. Every index counts from 0 and points into the array of that name."
    ),
    "required": [
        *("at", "from", "span", "horizon_at", "planned_at", "kinds", "nodes", "rows", "people", "teams"),
        *("tasks", "bookings", "bars", "cards_left_out", "bars_left_out"),
    ],
    "properties": {
        "at": {"type": "string", "format": "date-time", "description": "when this was true"},
        "from": {"type": "string", "format": "date-time", "description": "the first instant of the window"},
        "span": {"type": "integer", "description": "length of the window in seconds"},
        "horizon_at": {"type": "string", "format": "date-time", "description": "promises name cards until here"},
        "planned_at": {"type": ["string", "null"], "description": "when the promises were made, null before any"},
        "kinds": {"type": "array", "items": _TEXT, "description": "what a bar can tell; a bar names it by index"},
        "nodes": _tuples("id, pool, state, why it is in that state", _TEXT, _TEXT, _TEXT, _TEXT),
        "rows": _tuples(
            "one card each, in order: id, node (index), index on the node, type, what it shows, lanes of its bars",
            _TEXT,
            _INT,
            _MAYBE_INT,
            _TEXT,
            _TEXT,
            _INT,
        ),
        "people": _tuples("id, name", _TEXT, _TEXT),
        "teams": _tuples("id, name", _TEXT, _TEXT),
        "tasks": _tuples(
            "id, name, owner (index), team (index), tier, cards, run (null: waits), end or start by hard limits alone, "
            "over its estimate, preemptible, share in MiB, share of bandwidth in %, name of the task it makes room "
            "for, permille of such ranges that held",
            *(_TEXT, _TEXT, _INT, _INT, _TEXT, _INT, _MAYBE_TEXT, _BOOL, _BOOL, _BOOL),
            *(_MAYBE_INT, _MAYBE_INT, _MAYBE_TEXT, _MAYBE_INT),
        ),
        "bookings": _tuples(
            "id, title, owner (index), team (index), cards, task (null: for the whole team)",
            *(_TEXT, _TEXT, _INT, _INT, _INT, _MAYBE_TEXT),
        ),
        "bars": _tuples(
            "row (index), kind (index), start, end, lane, its task or booking (index, null: a fact about the card), "
            "earliest start of a promise, cause in words",
            *(_INT, _INT, _MAYBE_INT, _MAYBE_INT, _INT, _MAYBE_INT, _MAYBE_INT, _MAYBE_TEXT),
        ),
        "cards_left_out": {"type": "integer", "description": "cards that the filters hide"},
        "bars_left_out": {"type": "integer", "description": "bars of this window that the filters hide"},
    },
}
_RESPONSES: dict[int | str, dict[str, Any]] = {200: {"content": {"application/json": {"schema": SCHEMA}}}}


@router.get("/timeline", responses=_RESPONSES)
def timeline(
    who: Who,
    start: Annotated[str, Query(alias="from", max_length=40, description="an instant; else now at a tenth")] = "",
    span: Annotated[str, Query(max_length=40, description="seconds, or as '6h' or '3d'; 1 minute to 90 days")] = "6h",
    node: str = "",
    pool: str = "",
    card_type: Annotated[str, Query(alias="type")] = "",
    team: str = "",
    owner: str = "",
    mine: bool = False,
    tier: Annotated[list[Tier] | None, Query()] = None,
    text: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Cards over time: running, promised, booked, external, unfit, leased until. In arrays, as the schema says."""
    wanted = TimelineFilter(node, pool, card_type, team, who.actor.person if mine else owner, tuple(tier or ()), text)
    begin = instant("from", start, who.context.zone_name) if start else None
    span_s = duration_s("span", span, LEAST_SPAN_S, MOST_SPAN_S)
    view = see_timeline(who.records, who.live, who.now, start=begin, span_s=span_s, wanted=wanted)
    headers = HEADERS | {"Content-Language": who.speaker.lang.value}
    return Json(packed(view, who), 200, headers)  # plain already: to render thousands of bars again costs most


class _Table:
    """Rows by key, in the order in which they were first asked for."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._places: dict[str, int] = {}

    def place(self, key: str, *values: Any) -> int:
        """The index of the row with that key."""
        if key not in self._places:
            self._places[key] = len(self.rows)
            self.rows.append([key, *values])
        return self._places[key]


def packed(view: TimelineView, who: Caller) -> dict[str, Any]:
    """The view in the arrays that the schema describes."""
    people, teams = _Table(), _Table()

    def owned(of: Subject) -> tuple[int, int]:
        return people.place(of.owner.id, of.owner.name), teams.place(of.team.id, of.team.name)

    tasks = [_task(of, *owned(of)) for of in view.tasks.values()]
    bookings = [[of.id, of.name, *owned(of), of.cards, of.task or None] for of in view.bookings.values()]
    places = {key: n for n, key in enumerate(view.tasks)}, {key: n for n, key in enumerate(view.bookings)}
    rows = [(n, node, row) for n, node in enumerate(view.nodes) for row in node.rows]
    return {
        "at": written(view.at),
        "from": written(view.start),
        "span": view.span_s,
        "horizon_at": written(view.horizon),
        "planned_at": written(view.planned_at) if view.planned_at else None,
        "kinds": KINDS,
        "nodes": [_node(node) for node in view.nodes],
        "rows": [_row(n, row) for n, _, row in rows],
        "people": people.rows,
        "teams": teams.rows,
        "tasks": tasks,
        "bookings": bookings,
        "bars": [_bar(who, view, places, n, bar) for n, (_, _, row) in enumerate(rows) for bar in row.bars],
        "cards_left_out": view.cards_left_out,
        "bars_left_out": view.bars_left_out,
    }


def _node(node: TimelineNode) -> list[Any]:
    return [node.node.id, node.node.pool, node.node.state.value, node.node.state_cause]


def _row(node: int, row: TimelineRow) -> list[Any]:
    return [row.card.id, node, row.card.index, row.card.type, row.card.shows.value, row.lanes]


def _task(of: Subject, owner: int, team: int) -> list[Any]:
    freed_for = of.freed_for.name if of.freed_for else None
    run = of.run or None
    ends = (of.by_limit, of.overrun, of.preemptible)
    share = (of.share_vram_mib, of.share_bandwidth_percent)
    return [
        of.id,
        of.name,
        owner,
        team,
        of.tier and of.tier.value,
        of.cards,
        run,
        *ends,
        *share,
        freed_for,
        of.hit_permille,
    ]


Places = tuple[Mapping[str, int], Mapping[str, int]]


def _bar(who: Caller, view: TimelineView, places: Places, row: int, bar: Bar) -> list[Any]:
    subject = places[0 if bar.kind in WORK else 1].get(bar.subject)
    cause = bar.cause
    if cause and bar.kind is BarKind.UNFIT:
        cause = told_of(CARD_CAUSE, cause, who.speaker.lang)
    since, until, earliest = (_after(view.start, at) for at in (bar.since, bar.until, bar.earliest))
    return [row, KINDS.index(bar.kind.value), since, until, bar.lane, subject, earliest, cause or None]


def _after(start: datetime, at: datetime | None) -> int | None:
    return None if at is None else round((at - start).total_seconds())
