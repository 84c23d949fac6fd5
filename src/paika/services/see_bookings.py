"""Bookings as people look at them: which there are, where each stands, and who is in its way."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from paika.domain.guarantee import NoRoomForGuarantee
from paika.domain.plan import Wait
from paika.domain.records import Records
from paika.domain.reservation import Purpose, Reservation, ReservationState
from paika.domain.task import Task
from paika.services.choose_cards import floors_broken, held_past
from paika.services.live import Live
from paika.services.seen import Ending, Named, ending, person_named, task_named, team_named


@dataclass(frozen=True, slots=True)
class HeldPast:
    """A run of others that holds cards of the booking past its start; it is not stopped. `ending` tells until when."""

    run: str
    task: Named
    owner: Named
    cards: tuple[str, ...]
    ending: Ending


@dataclass(frozen=True, slots=True)
class PromisedThere:
    """A waiting task of others that the last plan promised these cards inside the window; it will be promised anew."""

    task: Named
    owner: Named
    cards: tuple[str, ...]
    start_by: datetime


@dataclass(frozen=True, slots=True)
class Booked:
    """What an act on a booking did, or would do with `dry_run`; and whom it meets on the cards.

    `floors` are the guarantees that maintenance leaves short.
    """

    reservation: Reservation
    held: tuple[HeldPast, ...] = ()
    promised: tuple[PromisedThere, ...] = ()
    floors: tuple[NoRoomForGuarantee, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class BookingRow:
    """One booking in a list. `shows` is where it stands now: asked, listed, booked, now, over, released, cancelled."""

    reservation: Reservation
    shows: str
    team: Named | None
    person: Named
    task: Named | None
    nodes: tuple[str, ...]


def in_the_way(records: Records, booked: Reservation, live: Live | None, now: datetime, dry_run: bool) -> Booked:
    """The reservation with everybody whom it meets on its cards."""
    if not booked.keeps(now):
        return Booked(booked, dry_run=dry_run)
    floors = floors_broken(records, booked, now) if booked.purpose is Purpose.MAINTENANCE else ()
    return Booked(
        booked,
        _held(records, booked, now),
        _promised(records, booked, live, now),
        tuple(short.problem() for short in floors),
        dry_run,
    )


def see_bookings(
    records: Records,
    now: datetime,
    *,
    team: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    states: Collection[ReservationState] = (),
) -> tuple[BookingRow, ...]:
    """Bookings by their start. `since` and `until` keep those that share time with that span."""
    rows = [
        see_booking(records, one, now)
        for one in records.reservations.values()
        if (not team or one.team == team)
        and (since is None or one.ends_at > since)
        and (until is None or one.starts_at < until)
        and (not states or one.state in states)
    ]
    return tuple(sorted(rows, key=lambda row: (row.reservation.starts_at, _number(row.reservation.id))))


def see_booking(records: Records, one: Reservation, now: datetime) -> BookingRow:
    """One booking, with names."""
    nodes = sorted({card.node for key in one.cards if (card := records.cards.get(key)) is not None})
    team = team_named(records, one.team) if one.team else None
    task = task_named(records, one.task) if one.task else None
    return BookingRow(one, shows(one, now), team, person_named(records, one.person), task, tuple(nodes))


def shows(one: Reservation, now: datetime) -> str:
    """Where a reservation stands at `now`."""
    if one.state in (ReservationState.CANCELLED, ReservationState.RELEASED):
        return one.state.value
    if one.ends_at <= now:
        return "over"
    if one.state is ReservationState.LISTED:
        return "listed" if one.approved_by else "asked"
    return "now" if one.starts_at <= now else "booked"


def _held(records: Records, booked: Reservation, now: datetime) -> tuple[HeldPast, ...]:
    held = held_past(records, booked, now)
    runs = {held[card].id: held[card] for card in booked.cards if card in held}
    return tuple(
        HeldPast(
            run.id,
            task_named(records, run.task),
            person_named(records, run.owner),
            tuple(card for card in booked.cards if card in held and held[card].id == run.id),
            ending(run, now),
        )
        for run in runs.values()
    )


def _promised(records: Records, booked: Reservation, live: Live | None, now: datetime) -> tuple[PromisedThere, ...]:
    found: list[PromisedThere] = []
    for wait in live.plan.waits if live is not None and live.plan is not None else ():
        task = records.tasks.get(wait.task)
        if task is None or booked.open_to(task.team, task.id) or wait.forecast is None:
            continue
        there = {card for part in wait.forecast.parts for card in part.cards}
        cards = tuple(card for card in booked.cards if card in there)
        if cards and _meets(booked, wait, task):
            named = task_named(records, task.id), person_named(records, task.owner)
            found.append(PromisedThere(*named, cards, wait.forecast.start_by))
    return tuple(found)


def _meets(booked: Reservation, wait: Wait, task: Task) -> bool:
    """Whether a promised run would stand in the window, as far as its length is known."""
    assert wait.forecast is not None
    if wait.forecast.start_by >= booked.ends_at:
        return False
    seconds = task.limit_s if task.limit_s is not None else task.estimate.high_s if task.estimate else None
    return seconds is None or wait.forecast.start_by + timedelta(seconds=seconds) > booked.starts_at


def _number(key: str) -> tuple[int, str]:
    """Ids in the order of their numbers."""
    digits = key.rpartition("-")[2]
    return (int(digits) if digits.isdecimal() else 0, key)
