"""Reservations 预约: cards kept for a team or a task in a time window, or taken out for maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from paika.domain.problem import Kind, Problem


class Purpose(StrEnum):
    """BOOKING keeps the cards for somebody, MAINTENANCE for nobody."""

    BOOKING = "booking"
    MAINTENANCE = "maintenance"


class ReservationState(StrEnum):
    """Only BOOKED ones keep cards. LISTED waits until cards are free in its window."""

    LISTED = "listed"
    BOOKED = "booked"
    RELEASED = "released"  # nobody came in time
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Reservation:
    """Exact cards from `starts_at` until before `ends_at`, for `task` if named, else for all of `team`.

    `wanted` is how many cards were asked for; `cards` are () while it is LISTED. They were asked for by name
    (`asked_cards`), or by `card_types`, `pool` and `together` cards on one machine. `person` booked it,
    `approved_by` let it through ('': nobody yet). What lies before now is never changed.
    `came_at` is when the first run of whom it is for was seen on it; `waits_since` is since when its cards lie
    free for that run, None while others hold them.
    """

    id: str
    purpose: Purpose
    team: str
    person: str
    cards: tuple[str, ...]
    wanted: int
    starts_at: datetime
    ends_at: datetime
    title: str = ""
    task: str = ""
    card_types: tuple[str, ...] = ()
    state: ReservationState = ReservationState.BOOKED
    state_since: datetime | None = None
    state_cause: str = ""
    approved_by: str = ""
    created_at: datetime | None = None
    asked_cards: tuple[str, ...] = ()
    pool: str = ""
    together: int = 1
    came_at: datetime | None = None
    waits_since: datetime | None = None
    version: int = 1

    def keeps(self, now: datetime) -> bool:
        """Whether it keeps its cards now or later."""
        return self.state is ReservationState.BOOKED and self.ends_at > now

    def overlaps(self, start: datetime, end: datetime) -> bool:
        """Whether the windows share an instant; ends belong to neither."""
        return self.starts_at < end and start < self.ends_at

    def open_to(self, team: str, task: str) -> bool:
        """Whether such a task may use the cards inside the window."""
        if self.purpose is Purpose.MAINTENANCE:
            return False
        return task == self.task if self.task else team == self.team


@dataclass(eq=False)
class ReservationClash(Problem):
    """Cards that were named are booked or down for maintenance in the window; the earliest of the others is named.

    `others` are the ids of all that clash.
    """

    code: ClassVar[str] = "reservation.clash"
    kind: ClassVar[Kind] = Kind.REFUSED
    reservation: str
    purpose: str
    team: str
    cards: tuple[str, ...]
    starts_at: datetime
    ends_at: datetime
    others: tuple[str, ...]


@dataclass(eq=False)
class WindowFull(Problem):
    """Fewer fitting cards than wanted are free of other reservations in the window, in blocks of `together`.

    `fits_at` is the first start, after another reservation ends, from which it would fit; None if none was found.
    """

    code: ClassVar[str] = "reservation.window_full"
    kind: ClassVar[Kind] = Kind.REFUSED
    wanted: int
    together: int
    room: int
    others: tuple[str, ...]
    fits_at: datetime | None


@dataclass(eq=False)
class TooFewToBook(Problem):
    """The house has fewer fitting cards than wanted, whoever has booked them."""

    code: ClassVar[str] = "reservation.too_few"
    kind: ClassVar[Kind] = Kind.REFUSED
    wanted: int
    together: int
    have: int


@dataclass(eq=False)
class LeaseEndsInside(Problem):
    """The lease of a card ends before the window does."""

    code: ClassVar[str] = "reservation.lease_ends"
    kind: ClassVar[Kind] = Kind.REFUSED
    cards: tuple[str, ...]
    ends_at: datetime


@dataclass(eq=False)
class ReservationOverQuota(Problem):
    """With what the team has booked at `at` already, it would go over its ceiling."""

    code: ClassVar[str] = "reservation.over_quota"
    kind: ClassVar[Kind] = Kind.REFUSED
    team: str
    max_cards: int
    booked: int
    asked: int
    at: datetime


@dataclass(eq=False)
class PastWindow(Problem):
    """What lies before now cannot be booked or changed. `at` is the instant asked for."""

    code: ClassVar[str] = "reservation.past"
    kind: ClassVar[Kind] = Kind.REFUSED
    at: datetime
    now: datetime


@dataclass(eq=False)
class WindowBegun(Problem):
    """Once its window has begun only its end and its title change; the field names what else was asked for."""

    code: ClassVar[str] = "reservation.begun"
    kind: ClassVar[Kind] = Kind.REFUSED
    reservation: str
    starts_at: datetime


@dataclass(eq=False)
class ReservationOver(Problem):
    """The reservation is over: its window has ended, it was cancelled, or nobody came."""

    code: ClassVar[str] = "reservation.over"
    kind: ClassVar[Kind] = Kind.REFUSED
    reservation: str
    state: str
    ended_at: datetime | None
