"""Bookings, maintenance and guarantees."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from paika.domain import form
from paika.domain.instant import instant
from paika.domain.problem import BadValue, FieldMissing
from paika.domain.reservation import ReservationState
from paika.interfaces.api.doors import Body, Caller, Who, body_schema
from paika.services.access_form import read_edit
from paika.services.book_window import Desk, approve_booking, book, cancel_booking, edit_booking
from paika.services.booking_form import ACT, BOOKING, GUARANTEE
from paika.services.editing import found
from paika.services.grant_guarantee import Granted, remove_guarantee, see_guarantee, see_guarantees, set_guarantee
from paika.services.see_bookings import Booked, in_the_way, see_booking, see_bookings

router = APIRouter(tags=["bookings"])
_BOOKING: dict[str, Any] = form.schema(BOOKING)
_GUARANTEE: dict[str, Any] = form.schema(GUARANTEE)
Reason = Annotated[str, Query(max_length=500)]


@router.get("/reservations")
def list_reservations(
    who: Who,
    team: str = "",
    from_: Annotated[str, Query(alias="from")] = "",
    until: str = "",
    state: Annotated[list[ReservationState] | None, Query()] = None,
) -> Response:
    """Bookings and maintenance by their start; `from` and `until` keep those that share time with that span."""
    rows = see_bookings(
        who.records,
        who.now,
        team=team,
        since=_at(who, "from", from_),
        until=_at(who, "until", until),
        states=tuple(state or ()),
    )
    return who.answer({"at": who.now, "rows": rows, "total": len(rows)})


@router.post("/reservations", status_code=201, openapi_extra=body_schema(_BOOKING))
def add_reservation(who: Who, body: Body, idempotency_key: Annotated[str | None, Header()] = None) -> Response:
    """Book a window, or ask for it where a lead or an admin has to approve; `dry_run` only tells what it would do.

    The answer names whose runs hold the cards past the start, and whom the last plan had promised them to.
    """
    edit = read_edit(BOOKING, body, who.context.zone_name)
    dry_run = bool(edit.values.get("dry_run", False))
    done = book(_desk(who), edit, key=idempotency_key, dry_run=dry_run)
    if dry_run:
        return who.answer(done)
    one = done.reservation
    return who.answer(done, 201, version=one.version, location=f"/api/v1/reservations/{one.id}")


@router.get("/reservations/{reservation_id}")
def one_reservation(who: Who, reservation_id: str) -> Response:
    """One booking, and whom it meets on its cards."""
    one = found(who.records.reservations, "reservation", reservation_id)
    meets = in_the_way(who.records, one, who.live, who.now, dry_run=False)
    row = see_booking(who.records, one, who.now)
    told = {"row": row, "held": meets.held, "promised": meets.promised, "floors": meets.floors}
    return who.answer({"at": who.now, **told}, version=one.version)


@router.patch("/reservations/{reservation_id}", openapi_extra=body_schema({**_BOOKING, "required": []}))
def edit_reservation(who: Who, reservation_id: str, body: Body) -> Response:
    """Change the window, many cards at once, or for whom it is. Once it has begun only its end and title change."""
    edit = read_edit(BOOKING, body, who.context.zone_name)
    dry_run = bool(edit.values.get("dry_run", False))
    done = edit_booking(_desk(who), reservation_id, edit, if_version=who.if_version, dry_run=dry_run)
    return _booked(who, done)


@router.post("/reservations/{reservation_id}/approve", openapi_extra=body_schema(form.schema(ACT), required=False))
def approve_reservation(who: Who, reservation_id: str, body: Body) -> Response:
    """Let through what a member asked for; with `waitlist` it is listed if the cards are taken then."""
    edit = read_edit(ACT, body, who.context.zone_name)
    done = approve_booking(
        _desk(who),
        reservation_id,
        waitlist=bool(edit.values.get("waitlist", False)),
        if_version=who.if_version,
        why=edit.why,
        dry_run=bool(edit.values.get("dry_run", False)),
    )
    return _booked(who, done)


@router.delete("/reservations/{reservation_id}")
def cancel_reservation(who: Who, reservation_id: str, reason: Reason = "", dry_run: bool = False) -> Response:
    """Cancel it: the cards are free from now on, what has passed of the window stays. A reason is needed."""
    done = cancel_booking(_desk(who), reservation_id, reason, if_version=who.if_version, dry_run=dry_run)
    return _booked(who, done)


@router.get("/guarantees")
def list_guarantees(who: Who) -> Response:
    """What teams are guaranteed, and what their core tasks hold now."""
    rows = see_guarantees(who.records)
    return who.answer({"at": who.now, "rows": rows, "total": len(rows)})


@router.get("/guarantees/{guarantee_id:path}")
def one_guarantee(who: Who, guarantee_id: str) -> Response:
    """One guarantee."""
    return _granted(who, see_guarantee(who.records, guarantee_id))


@router.put("/guarantees/{guarantee_id:path}", openapi_extra=body_schema(_GUARANTEE))
def put_guarantee(who: Who, guarantee_id: str, body: Body) -> Response:
    """Guarantee a team so many cards: `team`, or `team/TYPE+TYPE` in the address (or `types` in the body).

    Refused where floors, reservations and ended leases together need more than the house has at some instant.
    """
    team, _, types = guarantee_id.partition("/")
    edit = read_edit(GUARANTEE, body, who.context.zone_name, whole=True)
    if "cards" not in edit.values:
        raise FieldMissing(field="cards")
    if types and edit.values.get("types"):
        raise BadValue(field="types", value=edit.values["types"], allowed=types)
    if types:
        edit = read_edit(GUARANTEE, {**body, "types": types.replace("+", "|")}, who.context.zone_name, whole=True)
    dry_run = bool(edit.values.get("dry_run", False))
    context = who.context
    done = set_guarantee(
        context.store, context.clock, who.actor, team, edit, if_version=who.if_version, dry_run=dry_run
    )
    return _granted(who, done)


@router.delete("/guarantees/{guarantee_id:path}")
def delete_guarantee(who: Who, guarantee_id: str, reason: Reason = "", dry_run: bool = False) -> Response:
    """Take a guarantee back; what runs goes on."""
    context = who.context
    done = remove_guarantee(
        context.store,
        context.clock,
        who.actor,
        guarantee_id,
        if_version=who.if_version,
        why=reason,
        dry_run=dry_run,
    )
    return who.answer(done)


def _desk(who: Caller) -> Desk:
    return Desk(who.context.store, who.context.clock, who.actor, who.live)


def _booked(who: Caller, done: Booked) -> Response:
    return who.answer(done, version=None if done.dry_run else done.reservation.version)


def _granted(who: Caller, done: Granted) -> Response:
    assert done.guarantee is not None
    return who.answer(done, version=None if done.dry_run else done.guarantee.version)


def _at(who: Caller, field: str, written: str) -> datetime | None:
    return instant(field, written, who.context.zone_name) if written.strip() else None
