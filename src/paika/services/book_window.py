"""Windows booked in advance: asked for, approved, changed, cancelled; by people, within their rights.

A lead books for the own team, an admin for every team and for maintenance; what a member asks for is listed until
one of them approves. Nothing that had started fairly is stopped: whoever holds the cards past the start is named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from paika.domain.access import Act, Actor, Forbidden
from paika.domain.guarantee import NoRoomForGuarantee
from paika.domain.problem import BadValue, KeyReused
from paika.domain.records import Change, Receipt, Records
from paika.domain.reservation import (
    PastWindow,
    Purpose,
    Reservation,
    ReservationClash,
    ReservationOver,
    ReservationState,
    WindowBegun,
    WindowFull,
)
from paika.domain.task import IllegalStep
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.access_form import Edited
from paika.services.ask_window import WISHES, changed_wish, new_wish
from paika.services.choose_cards import place
from paika.services.editing import found, must_be_name, must_be_read
from paika.services.keep_audit import Attempt, entry, refusals_kept
from paika.services.live import Live
from paika.services.see_bookings import Booked, in_the_way
from paika.services.submit_task import KEY_LONGEST, NotInTeam

BusyThen = (ReservationClash, WindowFull, NoRoomForGuarantee)  # what a waiting list may bring in time
Step = Callable[[Records, datetime], tuple[Reservation | None, Reservation]]


@dataclass(frozen=True, slots=True)
class Desk:
    """Where bookings are made: the records, the time, who acts, and what the last plan promised."""

    store: Store
    clock: Clock
    actor: Actor
    live: Live | None = None


def book(desk: Desk, edit: Edited, *, key: str | None = None, dry_run: bool = False) -> Booked:
    """A new booking or maintenance from what the form says.

    With the same idempotency `key` the same answer comes back. With `waitlist` a window that is full is listed and
    booked when cards come free. Raises what `choose_cards.place` and `ask_window.new_wish` raise, Forbidden,
    NotInTeam, KeyReused.
    """
    digest = sha256(json.dumps({k: str(v) for k, v in edit.values.items()}, sort_keys=True).encode()).hexdigest()
    if key is not None and not dry_run and (known := _answered(desk, key, digest)):
        return known
    waitlist = bool(edit.values.get("waitlist", False))

    def step(records: Records, now: datetime) -> tuple[None, Reservation]:
        number = records.counters.get("reservation", 0) + 1
        wish = new_wish(records, desk.actor, edit, now, f"b-{number}")
        if not approves(desk.actor, wish.purpose, wish.team):
            must_ask(desk.actor, wish)
            return None, wish
        return None, placed(records, replace(wish, approved_by=desk.actor.person), now, waitlist)

    return _carried_out(desk, "book_window", "", step, edit.why, dry_run, key=key, digest=digest)


def edit_booking(
    desk: Desk, booking: str, edit: Edited, *, if_version: int | None = None, dry_run: bool = False
) -> Booked:
    """Change what the edit names, of many cards at once. Once the window has begun only its end and title change.

    Raises what `book` raises, ReservationOver, WindowBegun, PastWindow, VersionConflict.
    """
    waitlist = bool(edit.values.get("waitlist", False))

    def step(records: Records, now: datetime) -> tuple[Reservation, Reservation]:
        old = found(records.reservations, "reservation", booking)
        _must_change(desk.actor, old)
        _must_be_open(old, now, if_version)
        new = changed_wish(records, old, edit)
        differing = [name for name in WISHES if getattr(new, name) != getattr(old, name)]
        if old.state is ReservationState.BOOKED and old.starts_at <= now:
            return old, _changed_inside(records, old, new, differing, now)
        if "starts_at" in differing and new.starts_at < now:
            raise PastWindow(field="starts_at", at=new.starts_at, now=now)
        if not old.approved_by or not differing:
            _must_stay_asked(desk.actor, old, new)
            return old, new
        if not approves(desk.actor, new.purpose, new.team):
            raise Forbidden(field="team", act=Act.APPROVE_BOOKING.value, role=desk.actor.role.value)
        listed = old.state is ReservationState.LISTED
        wish = replace(new, state=ReservationState.LISTED, cards=())
        return old, placed(records, wish, now, waitlist or listed, old.cards)

    return _carried_out(desk, "edit_booking", booking, step, edit.why, dry_run)


def approve_booking(
    desk: Desk,
    booking: str,
    *,
    waitlist: bool = False,
    if_version: int | None = None,
    why: str = "",
    dry_run: bool = False,
) -> Booked:
    """Let through what somebody asked for: it gets its cards, or with `waitlist` its place on the waiting list."""

    def step(records: Records, now: datetime) -> tuple[Reservation, Reservation]:
        old = found(records.reservations, "reservation", booking)
        if not approves(desk.actor, old.purpose, old.team):
            raise Forbidden(field=None, act=Act.APPROVE_BOOKING.value, role=desk.actor.role.value)
        _must_be_open(old, now, if_version)
        if old.approved_by or old.state is not ReservationState.LISTED:
            raise IllegalStep(field=None, noun="reservation", state=old.state.value, event="approve")
        return old, placed(records, replace(old, approved_by=desk.actor.person), now, waitlist)

    return _carried_out(desk, "approve_booking", booking, step, why, dry_run)


def cancel_booking(
    desk: Desk, booking: str, why: str, *, if_version: int | None = None, dry_run: bool = False
) -> Booked:
    """Give the cards back from now on; what has passed of the window stays. A reason is needed."""

    def step(records: Records, now: datetime) -> tuple[Reservation, Reservation]:
        old = found(records.reservations, "reservation", booking)
        if not may_cancel(desk.actor, old):
            raise Forbidden(field=None, act="change_booking", role=desk.actor.role.value)
        _must_be_open(old, now, if_version)
        must_be_name(why, "reason")
        cause = f"{desk.actor.person}: {why}"
        return old, replace(old, state=ReservationState.CANCELLED, state_since=now, state_cause=cause)

    return _carried_out(desk, "cancel_booking", booking, step, why, dry_run)


def placed(
    records: Records, wish: Reservation, now: datetime, waitlist: bool, prefer: Iterable[str] = ()
) -> Reservation:
    """Booked on cards; with `waitlist` listed, if others have them then."""
    try:
        return place(records, wish, now, prefer)
    except BusyThen:
        if not waitlist:
            raise
        return replace(wish, state=ReservationState.LISTED, state_since=now, cards=())


def _changed_inside(
    records: Records, old: Reservation, new: Reservation, differing: list[str], now: datetime
) -> Reservation:
    """A window that has begun, with another end or title; what lies before now stays as it was."""
    other = next((name for name in differing if name != "ends_at"), None)
    if other:
        raise WindowBegun(field=other, reservation=old.id, starts_at=old.starts_at)
    if new.ends_at < now:
        raise PastWindow(field="ends_at", at=new.ends_at, now=now)
    if new.ends_at > old.ends_at:
        place(records, replace(new, asked_cards=old.cards), now)
    return new


def approves(actor: Actor, purpose: Purpose, team: str) -> bool:
    """Whether the actor's word alone books such a window."""
    if purpose is Purpose.MAINTENANCE:
        return actor.may(Act.CHANGE_CARD)
    return actor.may(Act.APPROVE_BOOKING) and (team in actor.leads or actor.may(Act.CHANGE_ANY_TASK))


def must_ask(actor: Actor, wish: Reservation) -> None:
    """Raises Forbidden or NotInTeam unless the actor may ask for it."""
    if wish.purpose is Purpose.MAINTENANCE:
        raise Forbidden(field="purpose", act="book_maintenance", role=actor.role.value)
    actor.must(Act.BOOK_CARDS)
    if wish.team not in actor.teams:
        raise NotInTeam(field="team", person=actor.person, team=wish.team, teams=actor.teams)


def may_change(actor: Actor, old: Reservation) -> bool:
    """Whether the actor may approve it, or asked for it himself and nobody has approved yet."""
    own = old.person == actor.person and not old.approved_by and actor.may(Act.BOOK_CARDS)
    return own or approves(actor, old.purpose, old.team)


def may_cancel(actor: Actor, old: Reservation) -> bool:
    """Whether the actor may approve it, or asked for it himself."""
    own = old.person == actor.person and actor.may(Act.BOOK_CARDS)
    return own or approves(actor, old.purpose, old.team)


def _must_change(actor: Actor, old: Reservation) -> None:
    if not may_change(actor, old):
        raise Forbidden(field=None, act="change_booking", role=actor.role.value)


def _must_stay_asked(actor: Actor, old: Reservation, new: Reservation) -> None:
    if (new.purpose, new.team) != (old.purpose, old.team) and not approves(actor, new.purpose, new.team):
        must_ask(actor, new)


def _must_be_open(old: Reservation, now: datetime, if_version: int | None) -> None:
    """Raises VersionConflict, and ReservationOver for one that is over."""
    must_be_read("reservation", old.id, old.version, if_version)
    gone = old.state in (ReservationState.RELEASED, ReservationState.CANCELLED)
    if gone or old.ends_at <= now:
        state, at = (old.state.value, old.state_since) if gone else ("over", old.ends_at)
        raise ReservationOver(field=None, reservation=old.id, state=state, ended_at=at)


def _carried_out(
    desk: Desk, act: str, subject: str, step: Step, why: str, dry_run: bool, *, key: str | None = None, digest: str = ""
) -> Booked:
    """Do the step in the store with its audit entry, or only tell what it would do."""
    told: list[Booked] = []

    def decide(records: Records) -> Change:
        now = desk.clock.now()
        old, asked = step(records, now)
        same = asked == old
        new = asked if old is None or same else replace(asked, version=old.version + 1)
        told[:] = [in_the_way(records, new, desk.live, now, dry_run)]
        receipt = Receipt(desk.actor.person, key, digest, (new.id,), now) if key is not None else None
        return Change(
            puts=() if same else (new,),
            counters={"reservation": int(new.id.removeprefix("b-"))} if old is None else {},
            audit=(entry(desk.actor, now, act, "reservation", new.id, old=old, new=new, why=why),),
            receipt=receipt,
        )

    if dry_run:
        decide(desk.store.read())
        return told[0]
    try:
        with refusals_kept(desk.store, desk.clock, desk.actor, Attempt(act, "reservation", subject)):
            desk.store.update(decide)
    except KeyReused:
        known = _answered(desk, key or "", digest)
        if known is None:
            raise
        return known
    return told[0]


def _answered(desk: Desk, key: str, digest: str) -> Booked | None:
    """What this person's key was answered with; None if it is new. Raises KeyReused, BadValue."""
    _must_be_key(key)
    receipt = desk.store.receipt(desk.actor.person, key)
    if receipt is None:
        return None
    records = desk.store.read()
    known = records.reservations.get(receipt.tasks[0]) if receipt.tasks else None
    if receipt.body_sha256 != digest or known is None:
        raise KeyReused(field=None, key=key)
    return in_the_way(records, known, desk.live, desk.clock.now(), dry_run=False)


def _must_be_key(key: str) -> None:
    """Raises BadValue for what is no idempotency key."""
    if not 0 < len(key) <= KEY_LONGEST or not key.isprintable():
        raise BadValue(field="Idempotency-Key", value=key[:80], allowed=f"1..{KEY_LONGEST} characters")
