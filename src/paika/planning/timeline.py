"""The timeline of one node, exact in time and in card identity.

A step function over breakpoints in whole epoch seconds. At each step a bit mask says which cards are
wholly free and which are open (no whole-card user, so shares may come). Counts would lie: a node
can have g cards free at every instant and yet no g cards for the whole run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

NEVER = 1 << 60


@dataclass(frozen=True, slots=True)
class ShareUse:
    """A share on a card: VRAM in MiB and bandwidth in percent from `start` to `end`."""

    start: int
    end: int
    vram_mib: int
    bandwidth_percent: int


@dataclass(frozen=True, slots=True)
class ShareNeed:
    """What a share asks, with the rules of sharing: what a card must keep and what counts as heavy."""

    vram_mib: int
    bandwidth_percent: int
    safety_mib: int
    heavy_percent: int


def bits(mask: int) -> list[int]:
    """Positions of the set bits, lowest first."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def lowest(mask: int, count: int) -> int:
    """The `count` lowest set bits of a mask, or all of them if there are fewer."""
    chosen = 0
    while mask and count > 0:
        low = mask & -mask
        chosen, mask, count = chosen | low, mask ^ low, count - 1
    return chosen


class NodeTimeline:
    """Free cards of one node from `now` on. Bit i is the i-th card in the node's order."""

    def __init__(self, now: int, vram_mib: list[int], lease_ends: list[int]) -> None:
        everything = (1 << len(vram_mib)) - 1
        self.times = [now]
        self.free = [everything]
        self.open = [everything]
        self.vram_mib = vram_mib
        self.lease_ends = lease_ends
        self.leased = any(end < NEVER for end in lease_ends)
        self.shares: list[list[ShareUse]] = [[] for _ in vram_mib]
        self.version = 0

    def take(self, mask: int, start: int, end: int) -> None:
        """Whole cards are used from start to end."""
        for i in self._steps(start, end):
            self.free[i] &= ~mask
            self.open[i] &= ~mask
        self.version += 1

    def take_share(self, card: int, use: ShareUse) -> None:
        """Part of one card is used; the card is not wholly free meanwhile."""
        for i in self._steps(use.start, use.end):
            self.free[i] &= ~(1 << card)
        self.shares[card].append(use)
        self.version += 1

    def _steps(self, start: int, end: int) -> range:
        first = self._breakpoint(max(start, self.times[0]))
        last = len(self.times) if end >= NEVER else self._breakpoint(max(end, self.times[0]))
        return range(first, last)

    def _breakpoint(self, at: int) -> int:
        i = bisect_left(self.times, at)
        if i == len(self.times) or self.times[i] != at:
            self.times.insert(i, at)
            self.free.insert(i, self.free[i - 1])
            self.open.insert(i, self.open[i - 1])
        return i

    def lease_mask(self, until: int) -> int:
        """Cards whose lease lasts to `until`."""
        return sum(1 << i for i, end in enumerate(self.lease_ends) if end >= until)

    def free_at(self, at: int) -> int:
        """Wholly free cards at an instant."""
        return self.free[bisect_right(self.times, at) - 1]

    def earliest(self, cards: int, allowed: int, fit_s: int, lease_s: int, after: int) -> tuple[int, int] | None:
        """First start from `after` on with `cards` allowed cards free for `fit_s`, and all cards that would do."""
        times, free = self.times, self.free
        count = len(times)
        for i in range(bisect_right(times, after) - 1, count):
            start = max(times[i], after)
            mask = free[i] & allowed
            if self.leased and mask:
                mask &= self.lease_mask(start + lease_s)
            if mask.bit_count() < cards:
                continue
            end, j = start + fit_s, i + 1
            while j < count and times[j] < end:
                mask &= free[j]
                if mask.bit_count() < cards:
                    break
                j += 1
            else:
                return start, mask
        return None

    def earliest_share(
        self, need: ShareNeed, allowed: int, fit_s: int, lease_s: int, after: int
    ) -> tuple[int, tuple[int, int], int] | None:
        """First start for a share, how snug it is (already shared first, then least VRAM left), and the card."""
        best: tuple[int, tuple[int, int], int] | None = None
        for card in bits(allowed):
            found = self._share_on(card, need, fit_s, lease_s, after, best[0] if best else NEVER)
            if found is not None and (best is None or (*found, card) < best):
                best = (*found, card)
        return best

    def _share_on(
        self, card: int, need: ShareNeed, fit_s: int, lease_s: int, after: int, bound: int
    ) -> tuple[int, tuple[int, int]] | None:
        """The first instant at which the card opens, or a share on it ends, and everything fits from then on."""
        ends = {use.end for use in self.shares[card]}
        bit, was_open = 1 << card, False
        last = min(bound, self.lease_ends[card] - lease_s)
        first = bisect_right(self.times, after) - 1
        for i in range(first, len(self.times)):
            start = after if i == first else self.times[i]
            if start > last:
                return None
            is_open = bool(self.open[i] & bit)
            if is_open and (not was_open or start in ends) and self._open_for(bit, start, start + fit_s):
                left = self._share_room(card, need, start, start + fit_s)
                if left is not None:
                    return start, (0 if self._shared_at(card, start) else 1, left)
            was_open = is_open
        return None

    def _open_for(self, bit: int, start: int, end: int) -> bool:
        i = bisect_right(self.times, start) - 1
        while i < len(self.times) and (self.times[i] < end):
            if not self.open[i] & bit:
                return False
            i += 1
        return True

    def _shared_at(self, card: int, at: int) -> bool:
        return any(u.start <= at < u.end for u in self.shares[card])

    def _share_room(self, card: int, need: ShareNeed, start: int, end: int) -> int | None:
        """VRAM left beside the newcomer over the whole time, or None if it does not fit."""
        beside = [u for u in self.shares[card] if u.start < end and u.end > start]
        if need.bandwidth_percent >= need.heavy_percent and any(
            u.bandwidth_percent >= need.heavy_percent for u in beside
        ):
            return None
        least = NEVER
        for at in {start, *(u.start for u in beside if u.start > start)}:
            there = [u for u in beside if u.start <= at < u.end]
            room = self.vram_mib[card] - need.safety_mib - need.vram_mib - sum(u.vram_mib for u in there)
            if room < 0 or need.bandwidth_percent + sum(u.bandwidth_percent for u in there) > 100:
                return None
            least = min(least, room)
        return least

    def room_at(self, card: int, at: int, safety_mib: int) -> tuple[int, int]:
        """VRAM (MiB) and bandwidth (percent) that shares may still take at an instant."""
        there = [u for u in self.shares[card] if u.start <= at < u.end]
        vram = self.vram_mib[card] - safety_mib - sum(u.vram_mib for u in there)
        return max(0, vram), max(0, 100 - sum(u.bandwidth_percent for u in there))
