"""Cards and card types. A card is known by its id (the UUID), never by its index."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Vendor(StrEnum):
    """Who made the card, which decides how a process is pinned to it."""

    NVIDIA = "nvidia"
    ASCEND = "ascend"
    VIRTUAL = "virtual"


class Health(StrEnum):
    """What is known of a card's fitness. Only OK cards get new runs."""

    OK = "ok"
    LOST = "lost"  # seen before, gone now, or the driver says so
    NEEDS_RESET = "needs_reset"
    DRAINING = "draining"  # by a person; running work goes on
    UNKNOWN = "unknown"  # the tool as a whole fails: neither well nor ill


@dataclass(frozen=True, slots=True)
class CardType:
    """A model: VRAM in MiB, memory bandwidth in GB/s, dense bf16 TFLOPS, weight in thousandths.

    `weight_milli` is the card-hour price factor (1000 = one A100 40GB hour); `None` figures are unknown.
    `family` groups boards of one chip (A100, 910B). `source` names where the figures come from.
    """

    id: str
    family: str
    vendor: Vendor
    vram_mib: int
    bandwidth_gb_s: int | None
    weight_milli: int
    capabilities: tuple[str, ...] = ()
    bf16_tflops: float | None = None
    aliases: tuple[str, ...] = ()
    source: str = ""
    version: int = 1


@dataclass(frozen=True, slots=True)
class Card:
    """One accelerator. `type` is a CardType id; `vram_mib` is what this very card reports."""

    id: str
    node: str
    index: int | None
    type: str
    vram_mib: int
    health: Health = Health.OK
    health_since: datetime | None = None
    health_cause: str = ""
    vendor_name: str = ""
    lease_ends_at: datetime | None = None
    note: str = ""
    version: int = 1


@dataclass(frozen=True, slots=True)
class CardProcess:
    """A process seen on a card; `vram_mib` and `user` are None where the tool does not tell."""

    pid: int
    vram_mib: int | None
    user: str | None
    command: str | None


@dataclass(frozen=True, slots=True)
class CardReading:
    """One look at one card. Every figure is None when the tool did not tell it.

    VRAM in MiB as the tool says them (used, free, reserved and total need not add up),
    utilisation in percent of time busy, temperature in °C, power in W.
    """

    card: str
    read_at: datetime
    health: Health
    health_cause: str = ""
    index: int | None = None
    name: str | None = None
    vram_total_mib: int | None = None
    vram_reserved_mib: int | None = None
    vram_used_mib: int | None = None
    vram_free_mib: int | None = None
    busy_percent: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    processes: tuple[CardProcess, ...] | None = None
    partitioned: bool = False  # cut into slices (MIG), which are not given out one by one

    @property
    def fill_percent(self) -> float | None:
        """Used share of the usable VRAM: used / (total - reserved), in percent; None if unknown."""
        if self.vram_used_mib is None or not self.vram_total_mib:
            return None
        usable = self.vram_total_mib - (self.vram_reserved_mib or 0)
        return round(self.vram_used_mib * 100 / usable, 2) if usable > 0 else None


@dataclass(frozen=True, slots=True)
class ExternalUse:
    """A card in use by processes that paika did not start."""

    card: str
    since: datetime
    vram_mib: int | None
    users: tuple[str, ...]
    pids: tuple[int, ...]
