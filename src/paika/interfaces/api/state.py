"""The server itself: health, overview, plan, and the stream of what changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import fields, replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from paika.domain.access import Act, NotAuthenticated
from paika.domain.records import Records
from paika.interfaces.api.context import Context
from paika.interfaces.api.doors import Caller, Who, context_of
from paika.interfaces.api.render import HEADERS, Json, instant
from paika.services.live import Live
from paika.services.manage_access import actor_of
from paika.services.see_overview import see_due, see_overview

open_router = APIRouter(tags=["state"])
router = APIRouter(tags=["state"])
LOOK_EVERY_S = 0.25
HEARTBEAT_S = 15.0
SHELVES = tuple(f.name for f in fields(Records) if f.name not in ("version", "counters"))
LIVE_PARTS = {
    "plan": "plan",
    "readings": "cards",
    "external": "cards",
    "alarms": "alarm",
    "engine_down_since": "alarm",
    "meter_failures": "alarm",
    "log_bytes": "log",
}


@open_router.get("/health")
def health(request: Request) -> Response:
    """Whether the server answers; nothing else, as nobody has said who asks."""
    return Json({"ok": True, "version": context_of(request).version}, 200, HEADERS)


@router.get("/overview")
def overview(who: Who) -> Response:
    """The first screen in numbers."""
    seen = see_overview(who.records, who.live, who.now)
    return who.answer(seen if who.actor.may(Act.SAVE_SNAPSHOT) else replace(seen, case=""))


@router.get("/due")
def due(who: Who) -> Response:
    """What runs out soon: leases and milestones."""
    rows = see_due(who.records, who.now)
    return who.answer({"rows": rows, "total": len(rows)})


@router.get("/plan")
def plan(who: Who) -> Response:
    """The last plan in short: what it read, when, how many start and wait."""
    last = who.live.plan
    return who.answer(
        {
            "read_version": last.read_version if last else None,
            "policy_version": last.policy_version if last else None,
            "decided_at": last.decided_at if last else None,
            "next_look_at": last.next_look_at if last else None,
            "starts": last.starts if last else (),
            "waiting": len(last.waits) if last else None,
            "forecasts": sum(wait.forecast is not None for wait in last.waits) if last else None,
            "cycle": who.live.cycle,
        }
    )


@router.get("/openapi.json")
def openapi(who: Who, request: Request) -> Response:
    """This API as an OpenAPI document."""
    return Json(request.app.openapi(), 200, HEADERS)


@router.get("/events", response_class=StreamingResponse)
async def events(who: Who) -> StreamingResponse:
    """Server-sent events: `change` with the version and the names of what changed; a comment as heartbeat."""
    headers = HEADERS | {"X-Accel-Buffering": "no"}
    return StreamingResponse(feed(who), headers=headers, media_type="text/event-stream")


async def feed(who: Caller) -> AsyncIterator[str]:
    """The events, until the client goes, the server closes, or the caller's token is no longer good.

    No thread waits for a client: the newest records and live state are compared by identity, which costs nothing.
    """
    context = who.context
    records, live = who.records, who.live
    yield "retry: 2000\n\n" + _event(records, live, ["hello"])
    silent = 0.0
    while not context.closing() and not await who.request.is_disconnected():
        await asyncio.sleep(LOOK_EVERY_S)
        silent += LOOK_EVERY_S
        newer, now_live = context.store.read(), context.live.read()
        changed = changes(records, newer, live, now_live)
        records, live = newer, now_live
        if changed:
            silent = 0.0
            yield _event(records, live, changed)
        elif silent >= HEARTBEAT_S:
            silent = 0.0
            if not _still_good(context, who):
                return
            yield ": still here\n\n"


def changes(old: Records, new: Records, before: Live, after: Live) -> list[str]:
    """Names of what differs, by identity; [] if nothing does."""
    names = {name for name in SHELVES if getattr(old, name) is not getattr(new, name)} if old is not new else set()
    names |= {name for part, name in LIVE_PARTS.items() if getattr(before, part) is not getattr(after, part)}
    return sorted(names | ({"records"} if old.version != new.version else set()))


def _event(records: Records, live: Live, changed: list[str]) -> str:
    planned = live.plan.decided_at if live.plan else None
    told: dict[str, Any] = {"version": records.version, "changed": changed}
    told["planned_at"] = instant(planned) if planned else None
    return f"event: change\nid: {records.version}\ndata: {json.dumps(told)}\n\n"


def _still_good(context: Context, who: Caller) -> bool:
    try:
        actor_of(context.store.read(), who.actor.token or "", context.clock.now(), who.actor.door, who.actor.address)
    except NotAuthenticated:
        return False
    return True
