"""The timeline of one node, exact in time and in card identity.

A step function over breakpoints in whole epoch seconds. At each step a bit mask says which cards are
wholly free and which are open (no whole-card user, so shares may come). Counts would lie: a node
can have g cards free at every instant and yet no g cards for the whole run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one card answered to one kind of share: no start before `start`; with `snug` that very start will do."""

    version: int
    start: int
    snug: tuple[int, int] | None


_BITS = [[bit for bit in range(8) if mask >> bit & 1] for mask in range(256)]  # of most nodes


def bits(mask: int) -> Sequence[int]:
    """Positions of the set bits, lowest first."""
    if mask < len(_BITS):
        return _BITS[mask]
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
    """Free cards of one node from `now` on. Bit i is the i-th card in the node's order.

    `version` moves with every change. Time that is given back makes earlier starts possible again; whoever
    keeps starts found before as bounds must forget them then, as this timeline does for its shares.
    """

    def __init__(self, now: int, vram_mib: Sequence[int], lease_ends: Sequence[int]) -> None:
        everything = (1 << len(vram_mib)) - 1
        self.times = [now]
        self.free = [everything]
        self.open = [everything]
        self.vram_mib = vram_mib
        self.lease_ends = lease_ends
        self.leased = any(end < NEVER for end in lease_ends)
        self.shares: list[list[ShareUse]] = [[] for _ in vram_mib]
        self.shared = 0  # cards that are shared at some time
        self.version = 0
        self.card_versions = [0] * len(vram_mib)
        self._seen: dict[tuple[ShareNeed, int, int], list[_Seen | None]] = {}

    def copy(self) -> NodeTimeline:
        """The same timeline, to be changed apart."""
        twin = NodeTimeline(self.times[0], self.vram_mib, self.lease_ends)
        twin.times, twin.free, twin.open = list(self.times), list(self.free), list(self.open)
        twin.shares, twin.shared = [list(uses) for uses in self.shares], self.shared
        return twin

    # -- taking and giving back ------------------------------------------------------------------

    def take_until(self, uses: list[tuple[int, int]]) -> None:
        """Whole cards are used from the beginning to an end each, as (end, mask); before anything else is taken."""
        uses.sort(reverse=True)
        everything, taken = self.free[0], 0
        times: list[int] = []
        free: list[int] = []
        for end, mask in uses:
            if end <= self.times[0]:
                break
            if end < NEVER and (not times or times[-1] != end):
                times.append(end)
                free.append(everything & ~taken)
            taken |= mask
        self.times += reversed(times)
        self.free = [everything & ~taken, *reversed(free)]
        self.open = list(self.free)

    def take(self, mask: int, start: int, end: int) -> None:
        """Whole cards are used from start to end."""
        free, opened = self.free, self.open
        for i in self._steps(start, end):
            free[i] &= ~mask
            opened[i] &= ~mask
        self._changed(mask)

    def give_back(self, mask: int, start: int, end: int) -> None:
        """Whole cards that were taken from start to end are not used then after all."""
        free, opened = self.free, self.open
        for i in self._steps(start, end):
            free[i] |= mask
            opened[i] |= mask
        self._forget(mask)

    def take_share(self, card: int, use: ShareUse) -> None:
        """Part of one card is used; the card is not wholly free meanwhile."""
        for i in self._steps(use.start, use.end):
            self.free[i] &= ~(1 << card)
        self.shares[card].append(use)
        self.shared |= 1 << card
        self._changed(1 << card)

    def give_back_share(self, card: int, use: ShareUse) -> None:
        """A share that was taken is not used after all. Raises ValueError if there is none such."""
        self.shares[card].remove(use)
        bit = 1 << card
        if not self.shares[card]:
            self.shared &= ~bit
        for i in self._steps(use.start, use.end):
            at = self.times[i]
            if self.open[i] & bit and not any(u.start <= at < u.end for u in self.shares[card]):
                self.free[i] |= bit
        self._forget(bit)

    def _changed(self, mask: int) -> None:
        self.version += 1
        for bit in bits(mask):
            self.card_versions[bit] += 1

    def _forget(self, mask: int) -> None:
        self._changed(mask)
        for seen in self._seen.values():
            for bit in bits(mask):
                seen[bit] = None

    def _steps(self, start: int, end: int) -> range:
        begin = self.times[0]
        first = self._breakpoint(start) if start > begin else 0
        if end >= NEVER:
            return range(first, len(self.times))
        return range(first, self._breakpoint(end) if end > begin else 0)

    def _breakpoint(self, at: int) -> int:
        i = bisect_left(self.times, at)
        if i == len(self.times) or self.times[i] != at:
            self.times.insert(i, at)
            self.free.insert(i, self.free[i - 1])
            self.open.insert(i, self.open[i - 1])
        return i

    # -- whole cards -----------------------------------------------------------------------------

    def lease_mask(self, until: int) -> int:
        """Cards whose lease lasts to `until`."""
        return sum(1 << i for i, end in enumerate(self.lease_ends) if end >= until)

    def free_at(self, at: int) -> int:
        """Wholly free cards at an instant."""
        return self.free[bisect_right(self.times, at) - 1]

    def opens(self, cards: int, allowed: int, shared: bool) -> int:
        """First instant at which so many allowed cards are free (for shares: open) at once; NEVER if there is none."""
        for at, mask in zip(self.times, self.open if shared else self.free, strict=True):
            if (mask & allowed).bit_count() >= cards:
                return at
        return NEVER

    def free_through(self, start: int, fit_s: int, lease_s: int) -> int:
        """Cards that stay wholly free from `start` for `fit_s` and leased for `lease_s`."""
        times, free = self.times, self.free
        i = bisect_right(times, start) - 1
        mask, end = free[i], start + fit_s
        i += 1
        while mask and i < len(times) and times[i] < end:
            mask &= free[i]
            i += 1
        return mask & self.lease_mask(start + lease_s) if self.leased else mask

    def earliest(
        self, cards: int, allowed: int, fit_s: int, lease_s: int, after: int, before: int = NEVER
    ) -> tuple[int, int] | None:
        """First start from `after` and before `before` with `cards` allowed cards free for `fit_s`; all that would do.

        Both as (start, mask); None if there is no such start.
        """
        times, free = self.times, self.free
        count = len(times)
        i = bisect_right(times, after) - 1 if after > times[0] else 0
        while i < count:
            start = times[i]
            start = max(start, after)
            if start >= before:
                return None
            mask = free[i] & allowed
            if self.leased and mask:
                mask &= self.lease_mask(start + lease_s)
            i += 1
            if mask.bit_count() < cards:
                continue
            end, j = start + fit_s, i
            while j < count and times[j] < end:
                mask &= free[j]
                if mask.bit_count() < cards:
                    if (free[j] & allowed).bit_count() < cards:
                        i = j + 1  # no start before that step can pass it
                    break
                j += 1
            else:
                return start, mask
        return None

    # -- shares ----------------------------------------------------------------------------------

    def earliest_share(
        self, need: ShareNeed, allowed: int, fit_s: int, lease_s: int, after: int, before: int = NEVER
    ) -> tuple[int, tuple[int, int], int] | None:
        """First start for a share, how snug it is (already shared first, then least VRAM left), and the card."""
        best = self._share_alone(need, allowed & ~self.shared, fit_s, lease_s, after, before)
        allowed &= self.shared
        if not allowed:
            return best
        key = (need, fit_s, lease_s)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = [None] * len(self.vram_mib)
        fresh = after <= self.times[0]
        for card in bits(allowed):
            known = seen[card]
            bound = best[0] if best else before - 1
            if known is not None:
                if known.start > bound:
                    continue
                if fresh and known.version == self.card_versions[card] and known.snug is not None:
                    found: tuple[int, tuple[int, int]] | None = (known.start, known.snug)
                else:
                    found = self._share_on(card, need, fit_s, lease_s, max(after, known.start), bound)
            else:
                found = self._share_on(card, need, fit_s, lease_s, after, bound)
            if fresh:
                version = self.card_versions[card]
                seen[card] = _Seen(version, found[0], found[1]) if found else _Seen(version, bound + 1, None)
            if found is not None and (best is None or (*found, card) < best):
                best = (*found, card)
        return best

    def _share_alone(
        self, need: ShareNeed, allowed: int, fit_s: int, lease_s: int, after: int, before: int
    ) -> tuple[int, tuple[int, int], int] | None:
        """The same on cards that nobody shares: there a share needs what a whole card does, and room."""
        asked, vram = need.safety_mib + need.vram_mib, self.vram_mib
        if allowed and min(vram) < asked:
            allowed = sum(1 << card for card in bits(allowed) if vram[card] >= asked)
        found = self.earliest(1, allowed, fit_s, lease_s, after, before) if need.bandwidth_percent <= 100 else None
        if found is None:
            return None
        start, mask = found
        most, card = min((vram[card], card) for card in bits(mask))
        return start, (1, most - asked), card

    def _share_on(
        self, card: int, need: ShareNeed, fit_s: int, lease_s: int, after: int, bound: int
    ) -> tuple[int, tuple[int, int]] | None:
        """The first instant up to `bound` at which the card opens, or a share on it ends, and all fits from then on."""
        last = min(bound, self.lease_ends[card] - lease_s)
        bit, times, opened = 1 << card, self.times, self.open
        ends = {use.end for use in self.shares[card] if after < use.end <= last}
        was_open = False
        first = bisect_right(times, after) - 1
        for i in range(first, len(times)):
            start = after if i == first else times[i]
            if start > last:
                return None
            if not opened[i] & bit:
                was_open = False
                continue
            if (not was_open or start in ends) and self._open_for(bit, i, start + fit_s):
                left = self._share_room(card, need, start, start + fit_s)
                if left is not None:
                    return start, (0 if self._shared_at(card, start) else 1, left)
            was_open = True
        return None

    def share_fits(self, card: int, need: ShareNeed, start: int, fit_s: int, lease_s: int) -> bool:
        """Whether a share may have this card from `start` on."""
        i = bisect_right(self.times, start) - 1
        return (
            start + lease_s <= self.lease_ends[card]
            and bool(self.open[i] >> card & 1)
            and self._open_for(1 << card, i, start + fit_s)
            and self._share_room(card, need, start, start + fit_s) is not None
        )

    def _open_for(self, bit: int, i: int, end: int) -> bool:
        times, opened = self.times, self.open
        while i < len(times) and times[i] < end:
            if not opened[i] & bit:
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
