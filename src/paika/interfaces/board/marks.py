"""Marks on the pages: owner colours, bars, numbers. Nothing here decides anything."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from paika.domain.units import SECONDS_PER_HOUR

HUES = 48
_GOLDEN = 0.6180339887498949


def hue(person: str) -> int:
    """One of 48 hues for a person, always the same; steps of the golden ratio keep neighbours apart."""
    return int((crc32(person.encode("utf-8", "surrogatepass")) % 4096 * _GOLDEN % 1) * HUES)


@dataclass(frozen=True, slots=True)
class Bar:
    """A filled bar: percent 0 to 100, None when unknown; `says` is the figure in words."""

    percent: float | None
    says: str
    tone: str = ""


def card_hours(card_seconds: int) -> str:
    """Card-seconds as card-hours with one decimal and grouped thousands: '1,204.5'."""
    return f"{card_seconds / SECONDS_PER_HOUR:,.1f}"


def clamp(percent: float | None) -> float:
    """Between 0 and 100; unknown draws nothing."""
    return 0.0 if percent is None else round(min(100.0, max(0.0, percent)), 1)


def tone_of(percent: float | None) -> str:
    """'bad' when full, 'warn' when nearly so, else ''."""
    if percent is None:
        return ""
    return "bad" if percent >= 100 else "warn" if percent >= 85 else ""
