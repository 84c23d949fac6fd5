"""Reservations as time goes on: who came, who did not, and who comes off the waiting list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from paika.domain.access import SERVER
from paika.domain.audit import AuditEntry
from paika.domain.problem import Problem
from paika.domain.records import Change, Records
from paika.domain.reservation import Purpose, Reservation, ReservationState
from paika.domain.run import Run
from paika.services.choose_cards import place
from paika.services.keep_audit import entry


def follow_reservations(records: Records, now: datetime, ends: Iterable[Run] = ()) -> Change:
    """What has become of the reservations: no-shows released, waits noted, the waiting list served.

    `ends` are runs that ended since the last look, so that a short visit counts as one. An empty change when
    nothing is new; each look costs time only for what is listed or under way.
    """
    ends = tuple(ends)
    seen = {one.id: one for one in noted(records, now, ends)}
    current = _with(records, seen.values())
    gone = [*no_shows(current, now, ends), *expired(records, now)]
    current = _with(current, gone)
    served = listed_that_fit(current, now)
    new = {**seen, **{one.id: one for one in (*gone, *served)}}
    puts = tuple(replace(one, version=records.reservations[key].version + 1) for key, one in new.items())
    moved = [one for one in puts if one.state is not records.reservations[one.id].state]
    return Change(puts=puts, audit=tuple(_entry(records, one, now) for one in moved))


def no_shows(records: Records, now: datetime, ends: Iterable[Run] = ()) -> tuple[Reservation, ...]:
    """Bookings whose cards lie free for whom they are for since `no_show_s` and nobody came: released.

    The time counts from `waits_since`, which `noted` writes down: a booking whose cards were held by others, or
    that began while no server was looking, is given its time all the same.
    """
    runs = (*records.runs.values(), *ends)
    late = timedelta(seconds=records.policy.no_show_s)
    return tuple(
        replace(one, state=ReservationState.RELEASED, state_since=now, state_cause="no_show")
        for one in records.reservations.values()
        if _under_way(one, now)
        and one.came_at is None
        and one.waits_since is not None
        and one.waits_since + late <= now
        and not _came(one, runs)
    )


def noted(records: Records, now: datetime, ends: Iterable[Run] = ()) -> tuple[Reservation, ...]:
    """Bookings under way with what is new of them: the first run came, or the cards lie free, or no longer do."""
    open_runs = tuple(records.runs.values())
    found: list[Reservation] = []
    for one in records.reservations.values():
        if not _under_way(one, now) or one.came_at is not None:
            continue
        if _came(one, (*open_runs, *ends)):
            found.append(replace(one, came_at=now))
        elif any(_on(one, run) and not run.ended for run in open_runs):
            if one.waits_since is not None:
                found.append(replace(one, waits_since=None))
        elif one.waits_since is None:
            found.append(replace(one, waits_since=now))
    return tuple(found)


def expired(records: Records, now: datetime) -> tuple[Reservation, ...]:
    """Listed reservations whose window is over: released."""
    return tuple(
        replace(one, state=ReservationState.RELEASED, state_since=now, state_cause="expired")
        for one in records.reservations.values()
        if one.state is ReservationState.LISTED and one.ends_at <= now
    )


def listed_that_fit(records: Records, now: datetime) -> tuple[Reservation, ...]:
    """Approved reservations of the waiting list that get cards now, first come first served, each beside the others.

    One whose start has passed is booked from now on.
    """
    waiting = [
        one
        for one in records.reservations.values()
        if one.state is ReservationState.LISTED and one.approved_by and one.ends_at > now
    ]
    served: list[Reservation] = []
    current = records
    for one in sorted(waiting, key=lambda one: (one.created_at or one.starts_at, one.id)):
        try:
            booked = place(current, one, now)
        except Problem:
            continue
        served.append(booked)
        current = _with(current, [booked])
    return tuple(served)


def _under_way(one: Reservation, now: datetime) -> bool:
    return one.purpose is Purpose.BOOKING and one.keeps(now) and one.starts_at <= now


def _on(one: Reservation, run: Run) -> bool:
    return not set(one.cards).isdisjoint(run.cards)


def _came(one: Reservation, runs: Iterable[Run]) -> bool:
    """Whether a run of whom it is for is on its cards, or was since its start."""
    return any(
        one.open_to(run.team, run.task)
        and _on(one, run)
        and (not run.ended or (run.ended_at is not None and run.ended_at > one.starts_at))
        for run in runs
    )


def _with(records: Records, reservations: Iterable[Reservation]) -> Records:
    return replace(records, reservations={**records.reservations, **{one.id: one for one in reservations}})


def _entry(records: Records, one: Reservation, now: datetime) -> AuditEntry:
    old = records.reservations[one.id]
    act = "release_booking" if one.state is ReservationState.RELEASED else "book_listed"
    return entry(SERVER, now, act, "reservation", one.id, old=old, new=one)
