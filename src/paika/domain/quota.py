"""Quotas: ceilings on what a team may hold at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `max_cards` cards held at once by `team`; None means no ceiling.

    The figure compared with it is the team's held card parts in the ledger. A cut quota stops no
    run; it only lets no new one start.
    """

    team: str
    max_cards: int | None
    version: int = 1

    @property
    def id(self) -> str:
        """A team has one quota, so the quota goes by the team's id."""
        return self.team
