"""Reservations 预约: cards kept for a team or a task in a time window, or taken out for maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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

    `wanted` is how many cards were asked for; `cards` are () while it is LISTED. `person` booked it,
    `approved_by` let it through. What lies before now is never changed.
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
    version: int = 1

    def keeps(self, now: datetime) -> bool:
        """Whether it keeps its cards now or later."""
        return self.state is ReservationState.BOOKED and self.ends_at > now

    def open_to(self, team: str, task: str) -> bool:
        """Whether such a task may use the cards inside the window."""
        if self.purpose is Purpose.MAINTENANCE:
            return False
        return task == self.task if self.task else team == self.team
