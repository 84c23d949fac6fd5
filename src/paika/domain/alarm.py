"""Alarms on what a card reads. An unknown figure raises none and clears none."""

from __future__ import annotations

from paika.domain.card import CardReading


def vram_alarm(reading: CardReading, at_percent: float) -> bool | None:
    """Whether used VRAM is at or above `at_percent` of the usable VRAM; None when the fill is unknown.

    The fill is used / (total - reserved). It has nothing to do with the tool's "memory utilisation",
    which is the share of time in which memory was being read or written.
    """
    fill = reading.fill_percent
    return None if fill is None else fill >= at_percent
