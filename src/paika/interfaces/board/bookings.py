"""Bookings: which cards are promised to whom and when; asked for, approved, changed and cancelled in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.form import FieldKind, FormField, Group
from paika.domain.problem import Problem
from paika.domain.reservation import Purpose, Reservation
from paika.interfaces.board.entry import Fields, Posted, by_field, version_of
from paika.interfaces.board.outcome import planned
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.interfaces.wording.say import BOOKING_CAUSE, told_of
from paika.services.access_form import read_edit
from paika.services.book_window import (
    Desk,
    approve_booking,
    approves,
    book,
    cancel_booking,
    edit_booking,
    may_cancel,
    may_change,
)
from paika.services.booking_form import BOOKING
from paika.services.editing import found
from paika.services.grant_guarantee import see_guarantees
from paika.services.see_bookings import Booked, BookingRow, in_the_way, see_booking, see_bookings
from paika.services.what_if_form import NewBooking

router = APIRouter(route_class=BoardRoute)
AHEAD = frozenset({"asked", "listed", "booked", "now"})
TONES = {"asked": "warn", "listed": "warn", "booked": "go", "now": "go"}
CHECK = "check"  # the button that only tells
MOST = 200
MOST_LOOKED_AT = 50  # rows that say whom they meet
_NOT_ASKED = frozenset({"dry_run", "reason"})


@dataclass(frozen=True, slots=True)
class Line:
    """A booking as a row, and what the visitor may do with it."""

    row: BookingRow
    tone: str
    meets: Booked
    cause: str
    can_approve: bool
    can_edit: bool
    can_cancel: bool


@dataclass(frozen=True, slots=True)
class Ask:
    """A field of the form as the dialog shows it."""

    key: str
    control: str
    label: str
    about: str
    options: tuple[tuple[str, str], ...]


@router.get("/bookings")
def bookings(visit: Guest, show: str = "", team: str = "") -> Response:
    """Bookings by their start, those ahead first; with `show` all, the latest first. Guarantees beside them."""
    rows = list(see_bookings(visit.records, visit.now, team=team))
    ahead = [row for row in rows if row.shows in AHEAD]
    shown = list(reversed(rows)) if show == "all" else ahead
    return visit.page(
        "bookings.html",
        "b",
        lines=[_line(visit, row, n < MOST_LOOKED_AT) for n, row in enumerate(shown[:MOST])],
        left_out=max(0, len(shown) - MOST),
        any=bool(rows),
        show=show,
        team=team,
        teams=sorted(visit.records.teams.values(), key=lambda one: one.name),
        guarantees=see_guarantees(visit.records),
    )


@router.get("/bookings/new")
def ask_new(visit: Guest) -> Response:
    """The form of a new booking."""
    visit.who.must(Act.BOOK_CARDS)
    return _form(visit, None, {"together": "1", "key": visit.context.ids.token()}, {})


@router.post("/bookings")
def make(visit: Guest, fields: Posted) -> Response:
    """Book, or with the other button only tell what it would do."""
    return _save(visit, None, fields, lambda raw, dry: book(_desk(visit), raw, key=fields.get("key"), dry_run=dry))


@router.get("/bookings/{booking}/edit")
def ask_edit(visit: Guest, booking: str) -> Response:
    """The form of a booking that is there."""
    one = _known(visit, booking)
    visit.who.must(Act.BOOK_CARDS)
    return _form(visit, one, _written(visit, one) | {"version": str(one.version)}, {})


@router.post("/bookings/{booking}/edit")
def edit(visit: Guest, booking: str, fields: Posted) -> Response:
    """Change what was changed in the form."""
    version = version_of(fields)
    return _save(
        visit,
        _known(visit, booking),
        fields,
        lambda raw, dry: edit_booking(_desk(visit), booking, raw, if_version=version, dry_run=dry),
    )


@router.get("/bookings/{booking}/approve")
def ask_approve(visit: Guest, booking: str) -> Response:
    """What is to be approved, and whom it would meet."""
    return _ask(visit, booking, "approve", {}, {})


@router.post("/bookings/{booking}/approve")
def approve(visit: Guest, booking: str, fields: Posted) -> Response:
    """Let it through."""
    listed = "waitlist" in fields
    return _act(visit, booking, "approve", fields, lambda desk, why, version: approve_booking(
        desk, booking, waitlist=listed, if_version=version, why=why
    ))  # fmt: skip


@router.get("/bookings/{booking}/cancel")
def ask_cancel(visit: Guest, booking: str) -> Response:
    """Whether it is really to be cancelled, and why."""
    return _ask(visit, booking, "cancel", {}, {})


@router.post("/bookings/{booking}/cancel")
def cancel(visit: Guest, booking: str, fields: Posted) -> Response:
    """Cancel it."""
    return _act(visit, booking, "cancel", fields, lambda desk, why, version: cancel_booking(
        desk, booking, why, if_version=version
    ))  # fmt: skip


def _act(
    visit: Visit, booking: str, act: str, fields: Fields, do: Callable[[Desk, str, int | None], Booked]
) -> Response:
    try:
        do(_desk(visit), fields.get("reason", "").strip(), version_of(fields))
    except Problem as problem:
        return _ask(visit, booking, act, fields, by_field(visit, problem))
    return visit.done()


def _ask(visit: Visit, booking: str, act: str, values: Fields, wrong: Mapping[str, Mapping[str, object]]) -> Response:
    one = _known(visit, booking)
    row = see_booking(visit.records, one, visit.now)
    version = values.get("version", str(one.version))
    return visit.part(
        "dialog_booking_act.html",
        422 if wrong else 200,
        act=act,
        row=row,
        values={**values, "version": version},
        wrong=wrong,
        full="reservation.clash" in _codes(wrong) or "reservation.window_full" in _codes(wrong),
    )


def _save(visit: Visit, one: Reservation | None, fields: Fields, do: Callable[..., Booked]) -> Response:
    before = {} if one is None else _written(visit, one)
    asked = {f.key: fields.get(f.key, "").strip() for f in BOOKING.fields if f.key not in _NOT_ASKED}
    flags = {f.key for f in BOOKING.fields if f.kind is FieldKind.FLAG}
    raw: dict[str, object] = {
        key: value
        for key, value in asked.items()
        if (value or (one is not None and key in fields)) and (key in flags or value != before.get(key, ""))
    }
    try:
        edit = read_edit(BOOKING, raw, visit.context.zone_name)
        done = do(edit, CHECK in fields)
    except Problem as problem:
        return _form(visit, one, fields, by_field(visit, problem))
    if not done.dry_run:
        return visit.done()
    booked = one is None and bool(done.reservation.cards)
    return _form(visit, one, fields, {}, done, planned(visit, [NewBooking(edit)]) if booked else None)


def _form(
    visit: Visit,
    one: Reservation | None,
    values: Fields,
    wrong: Mapping[str, Mapping[str, object]],
    told: Booked | None = None,
    outlook: Mapping[str, object] | None = None,
) -> Response:
    fields = [field for field in BOOKING.fields if field.key not in _NOT_ASKED]
    if one is not None or not visit.who.may(Act.CHANGE_CARD):
        fields = [field for field in fields if field.key != "purpose"]
    basic = [_asked(visit, field) for field in fields if field.group is Group.BASIC]
    more = [_asked(visit, field) for field in fields if field.group is not Group.BASIC]
    return visit.part(
        "dialog_booking.html",
        422 if wrong else 200,
        one=one,
        values=values,
        wrong=wrong,
        told=told,
        outlook=outlook,
        basic=basic,
        more=more,
        known=[it.key for it in (*basic, *more)],
        unfold=any(it.key in wrong or values.get(it.key, "") not in ("", "1", "booking") for it in more),
        needs_approval=not _approves_some(visit),
    )


def _asked(visit: Visit, field: FormField) -> Ask:
    label = visit.maybe(f"field.booking.{field.key}", "") or visit.t(f"field.{field.key}")
    about = visit.maybe(f"about.booking.{field.key}", "")
    return Ask(field.key, _control(field), label, about, tuple(_options(visit, field)))


def _control(field: FormField) -> str:
    if field.key == "team" or field.kind is FieldKind.CHOICE:
        return "choice"
    if field.kind is FieldKind.FLAG:
        return "flag"
    return "datetime-local" if field.kind in (FieldKind.INSTANT, FieldKind.DEADLINE) else "text"


def _options(visit: Visit, field: FormField) -> Iterable[tuple[str, str]]:
    if field.key == "team":
        teams = visit.records.teams if visit.who.may(Act.CHANGE_ANY_TASK) else visit.who.teams
        own = [("", visit.t("submit.own_team"))] if len(visit.who.teams) == 1 else [("", "—")]
        return (*own, *((team, visit.records.teams[team].name) for team in teams if team in visit.records.teams))
    if field.key == "purpose":
        return tuple((purpose.value, visit.t(f"booking.purpose.{purpose.value}")) for purpose in Purpose)
    return ()


def _written(visit: Visit, one: Reservation) -> Fields:
    """A booking as the form has it."""
    fields = {
        "starts_at": _local(visit, one.starts_at),
        "ends_at": _local(visit, one.ends_at),
        "title": one.title,
        "team": one.team,
        "task": one.task,
    }
    if one.asked_cards:
        return fields | {"card_ids": ", ".join(one.asked_cards)}
    of = {"cards": str(one.wanted), "types": "|".join(one.card_types), "pool": one.pool, "together": str(one.together)}
    return fields | of


def _local(visit: Visit, at: datetime) -> str:
    return at.astimezone(visit.context.zone).strftime("%Y-%m-%dT%H:%M")


def _line(visit: Visit, row: BookingRow, looked_at: bool) -> Line:
    one, open_ = row.reservation, row.shows in AHEAD
    meets = in_the_way(visit.records, one, visit.live, visit.now, dry_run=False) if looked_at else Booked(one)
    return Line(
        row=row,
        tone=TONES.get(row.shows, ""),
        meets=meets,
        cause=told_of(BOOKING_CAUSE, one.state_cause, visit.lang) if one.state_cause else "",
        can_approve=row.shows == "asked" and approves(visit.who, one.purpose, one.team),
        can_edit=open_ and may_change(visit.who, one) and visit.who.may(Act.BOOK_CARDS),
        can_cancel=open_ and may_cancel(visit.who, one),
    )


def _approves_some(visit: Visit) -> bool:
    return any(approves(visit.who, Purpose.BOOKING, team) for team in visit.records.teams)


def _codes(wrong: Mapping[str, Mapping[str, object]]) -> set[object]:
    return {told.get("code") for told in wrong.values()}


def _desk(visit: Visit) -> Desk:
    return Desk(visit.context.store, visit.context.clock, visit.who, visit.live)


def _known(visit: Visit, booking: str) -> Reservation:
    return found(visit.records.reservations, "reservation", booking)
