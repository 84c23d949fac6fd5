"""Guarantees 保底额度: a floor of cards for a team's core tasks, lent to others while unused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from paika.domain.problem import Kind, Problem


@dataclass(frozen=True, slots=True)
class Guarantee:
    """At least `cards` cards of `card_types` (() means any) for core tasks of `team`, in units that fit.

    `together` cards lie on one machine: 1 promises single cards anywhere, 8 promises blocks of eight. The
    floor counts what the team's core tasks hold; above it the team queues like everybody.
    """

    id: str
    team: str
    cards: int
    card_types: tuple[str, ...] = ()
    together: int = 1
    note: str = ""
    version: int = 1


def guarantee_id(team: str, card_types: Iterable[str]) -> str:
    """The team, and after a slash its card types joined by '+' where there are any."""
    types = "+".join(sorted(card_types))
    return f"{team}/{types}" if types else team


@dataclass(eq=False)
class NoRoomForGuarantee(Problem):
    """At `at` the house has fewer cards than floors, reservations and lease losses together need, in units that fit.

    `room` of the guarantee's `cards` find a place beside all others, in blocks of `together`.
    """

    code: ClassVar[str] = "guarantee.no_room"
    kind: ClassVar[Kind] = Kind.REFUSED
    guarantee: str
    team: str
    at: datetime
    cards: int
    together: int
    room: int
