"""Ceilings over time: how many card parts a team or a person may still take, and from when on."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from paika.planning.timeline import NEVER


class Ceiling:
    """Card parts that a team (or a person) holds, as a step function from `now` on, under a ceiling in parts."""

    def __init__(self, now: int, held_parts: int, ceiling_parts: int | None) -> None:
        self.times = [now]
        self.used = [held_parts]
        self.ceiling = ceiling_parts
        self._peak = held_parts  # no step is above it
        self._bounds: dict[tuple[int, int], int] = {}

    def copy(self) -> Ceiling:
        """The same steps, to be changed apart."""
        twin = Ceiling(self.times[0], 0, self.ceiling)
        twin.times, twin.used, twin._peak = list(self.times), list(self.used), self._peak
        return twin

    def add(self, parts: int, start: int, end: int) -> None:
        """Parts (negative for a release) from start to end."""
        if self.ceiling is None:
            return
        first = self._breakpoint(max(start, self.times[0]))
        last = len(self.times) if end >= NEVER else self._breakpoint(max(end, self.times[0]))
        for i in range(first, last):
            self.used[i] += parts
            self._peak = max(self._peak, self.used[i])
        if parts < 0:
            self._bounds.clear()

    def earliest(self, parts: int, lasts_s: int, after: int) -> int:
        """First instant from `after` on at which `parts` more stay under the ceiling for `lasts_s`; NEVER if none."""
        if self.ceiling is None or self._peak + parts <= self.ceiling:
            return after
        bound = self._bounds.get((parts, lasts_s), self.times[0])  # while use only grows, too early stays too early
        start = self._first(parts, lasts_s, max(after, bound))
        if after <= bound:
            self._bounds[parts, lasts_s] = start
        return start

    def _first(self, parts: int, lasts_s: int, after: int) -> int:
        if after >= NEVER:
            return NEVER
        limit, count = (self.ceiling or 0) - parts, len(self.times)
        i = bisect_right(self.times, after) - 1
        start = after
        while i < count:
            if self.used[i] > limit:
                start = self.times[i + 1] if i + 1 < count else NEVER
            elif i + 1 == count or self.times[i + 1] >= start + lasts_s:
                return start
            i += 1
        return NEVER

    def _breakpoint(self, at: int) -> int:
        i = bisect_left(self.times, at)
        if i == len(self.times) or self.times[i] != at:
            self.times.insert(i, at)
            self.used.insert(i, self.used[i - 1])
        return i


def first_under_all(ceilings: Iterable[Ceiling], parts: int, lasts_s: int, after: int) -> int:
    """First instant from `after` on at which all of them leave room; NEVER if there is none."""
    at = after
    while True:
        start = at
        for ceiling in ceilings:
            at = ceiling.earliest(parts, lasts_s, at)
        if at == start or at >= NEVER:
            return at
