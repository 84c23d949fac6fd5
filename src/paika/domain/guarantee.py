"""Guarantees 保底额度: a floor of cards for a team's core tasks, lent to others while unused."""

from __future__ import annotations

from dataclasses import dataclass


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
