"""What the meters saw last: figures that are worth knowing and not worth keeping for ever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from paika.domain.card import CardReading, ExternalUse, Vendor


@dataclass(frozen=True, slots=True)
class FailedLook:
    """A tool that gives nothing at all, since when and why (its own words)."""

    node: str
    vendor: Vendor
    since: datetime
    cause: str


@dataclass(frozen=True, slots=True)
class Observed:
    """The newest look at each node and vendor. `well_looks` counts looks in a row that saw a withdrawn card well.

    Cards whose tool fails have no reading: an old figure is not a figure. Their external use is kept.
    """

    readings: Mapping[str, CardReading] = field(default_factory=dict)
    external: Mapping[str, ExternalUse] = field(default_factory=dict)
    failed: Mapping[tuple[str, Vendor], FailedLook] = field(default_factory=dict)
    oddities: Mapping[tuple[str, Vendor], tuple[str, ...]] = field(default_factory=dict)
    well_looks: Mapping[str, int] = field(default_factory=dict)
