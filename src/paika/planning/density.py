"""Density: how much ready work waits for the cards of the policy's window, and the level that follows from it."""

from __future__ import annotations

from collections.abc import Iterable

from paika.domain.density import LEVELS, Density, Level
from paika.domain.policy import Policy
from paika.domain.task import Task
from paika.domain.units import card_seconds
from paika.planning.house import House


def density_of(ready: Iterable[tuple[Task, int]], house: House, policy: Policy, before: Level) -> Density:
    """The density of gate-passed tasks with the card parts each needs; `before` is the level until now."""
    waiting = unknown = 0
    for task, parts in ready:
        lasts = task.occupies_s
        if lasts is None:
            unknown += 1
        else:
            waiting += card_seconds(parts, lasts)
    cards = sum(place.ready.bit_count() for group in house.groups.values() for place in group.places)
    offered = cards * policy.density_window_s
    return Density(_level(waiting, offered, policy, before), waiting, offered, unknown)


def _level(waiting: int, offered: int, policy: Policy, before: Level) -> Level:
    """Up at a threshold, down only below it by the hysteresis, so that the level does not flicker."""
    found = Level.RELAXED
    for level, threshold in ((Level.TIGHT, policy.tight_percent), (Level.STRICT, policy.strict_percent)):
        held = LEVELS.index(before) >= LEVELS.index(level)
        from_percent = threshold - policy.density_hysteresis_percent if held else threshold
        if waiting * 100 >= max(0, from_percent) * offered and waiting:
            found = level
    return found


def cap_of(level: Level, policy: Policy) -> int | None:
    """Non-core cards that one person may hold at this level; None: as many as there are."""
    return {
        Level.RELAXED: None,
        Level.TIGHT: policy.tight_cards_per_person,
        Level.STRICT: policy.strict_cards_per_person,
    }[level]
