"""Density 任务密度: how much ready work waits for the cards of the next hours, and how strict that makes us."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """TIGHT wants an estimate and readiness of whoever comes in; STRICT caps persons and closes the idle tier."""

    RELAXED = "relaxed"
    TIGHT = "tight"
    STRICT = "strict"


LEVELS = (Level.RELAXED, Level.TIGHT, Level.STRICT)


@dataclass(frozen=True, slots=True)
class Density:
    """Ready card-seconds waiting against those that the cards offer over the policy's window.

    `unknown` ready tasks tell no length and are not counted. `offered` 0 with work waiting is as tight as can be.
    """

    level: Level
    waiting_card_s: int
    offered_card_s: int
    unknown: int = 0

    @property
    def pressure_percent(self) -> int | None:
        """Waiting ÷ offered in percent, rounded down; None when nothing is offered."""
        return self.waiting_card_s * 100 // self.offered_card_s if self.offered_card_s else None
