"""The meter: looks at cards. It only looks; what follows is decided elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from paika.domain.card import CardReading, Vendor


@dataclass(frozen=True, slots=True)
class Look:
    """One look at one host's cards of one vendor. `failed` says why the tool as a whole gave nothing.

    When `failed` is not None, `readings` are empty and nothing may be concluded about any card.
    `oddities` are lines or values that could not be read, each as one short text.
    """

    node: str
    vendor: Vendor
    at: datetime
    readings: tuple[CardReading, ...] = ()
    failed: str | None = None
    oddities: tuple[str, ...] = ()


class Meter(Protocol):
    """Promises: one odd value costs one value, never the row, the card or the node; unknown is None."""

    def look(self, now: datetime) -> tuple[Look, ...]:
        """Look at everything this meter can see. Does not raise."""
        ...
