"""The earliest start of a demand, with exact cards.

Within one plan capacity only shrinks, so an earliest start once known for a shape on a node stays a
lower bound for the rest of the plan. Each (group, shape) keeps a heap of such bounds and looks again
only at nodes whose bound is below the best found so far.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from paika.domain.policy import Policy
from paika.domain.task import Demand, Task
from paika.planning.draft import Draft
from paika.planning.feasible import Fit
from paika.planning.house import Group, Place
from paika.planning.timeline import NEVER, NodeTimeline, ShareNeed, lowest

_GRID = ((60, 1), (600, 10), (7200, 60), (21_600, 300), (86_400, 900), (345_600, 3600))


def rounded_up(seconds: int | None) -> int:
    """A duration on a grid that gets coarser with length, never shorter; NEVER when unknown."""
    if seconds is None:
        return NEVER
    step = next((step for below, step in _GRID if seconds <= below), 14_400)
    return -(-seconds // step) * step


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds: `fit_s` must stay free (hard limit, else for ever), others count on `occupies_s`, leased `lease_s`."""

    fit_s: int
    occupies_s: int
    lease_s: int


def times_of(task: Task, policy: Policy) -> Times:
    """The lengths that count for a task; no end is invented."""
    occupies = rounded_up(task.occupies_s)
    lease = occupies if occupies < NEVER else policy.unknown_run_s
    return Times(fit_s=rounded_up(task.limit_s), occupies_s=occupies, lease_s=lease)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where and when a task could start: one mask of cards for each node."""

    start: int
    masks: tuple[tuple[int, int], ...]
    fit: Fit


@dataclass(frozen=True, slots=True)
class _Seat:
    """A node's answer for one shape: earliest start, snugness there (lower is better), cards that would do."""

    start: int
    snug: tuple[int, int]
    mask: int


class Search:
    """Finds earliest spots on a draft. Holds bounds that are good for this draft alone."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._heaps: dict[tuple[object, ...], list[tuple[int, int]]] = {}
        self._lengths: dict[tuple[object, ...], list[int]] = {}
        self._seats: dict[tuple[object, ...], dict[int, tuple[int, _Seat | None]]] = {}
        self._hopeless: set[tuple[object, ...]] = set()

    def earliest(self, task: Task, fit: Fit, times: Times, after: int, before: int = NEVER) -> Spot | None:
        """The first start from `after` on in one group, team quota kept.

        None if no time can be told, or none earlier than `before`.
        """
        dead_key = (fit.group.key, fit.parts, _size(task.demand), times, task.team)
        if dead_key in self._hopeless:
            return None
        team = self.draft.teams.get(task.team)
        start = after
        while start < NEVER:
            allowed = team.earliest(fit.parts, times.occupies_s, start) if team else start
            spot = self._on_cards(task.demand, fit, times, allowed, before) if allowed < before else None
            if spot is None:
                break
            if spot.start == allowed or team is None:
                return spot
            if team.earliest(fit.parts, times.occupies_s, spot.start) == spot.start:
                return spot
            start = spot.start
        if after <= self.draft.now and before >= NEVER:
            self._hopeless.add(dead_key)
        return None

    def _on_cards(self, demand: Demand, fit: Fit, times: Times, after: int, before: int) -> Spot | None:
        if demand.nodes > 1:
            return self._gang(demand, fit, times, after, before)
        best = self._best_node(demand, fit.group, times, after, before)
        if best is None:
            return None
        node, seat = best
        return Spot(seat.start, ((node, _choose(seat.mask, demand)),), fit)

    def _best_node(
        self, demand: Demand, group: Group, times: Times, after: int, before: int
    ) -> tuple[int, _Seat] | None:
        """The node with the earliest start, and what it answered; looks at none that cannot start before `before`."""
        heap, seats = self._bounds(demand, group, times)
        best: tuple[int, tuple[int, int], int] | None = None
        found: _Seat | None = None
        seen: list[tuple[int, int]] = []
        while heap and (start := max(heap[0][0], after)) < before and (best is None or start <= best[0]):
            bound, at = heappop(heap)
            place = group.places[at]
            seat = self._seat(demand, place, times, after, bound, seats, at)
            if seat is not None:
                key = (seat.start, seat.snug, place.node)
                if best is None or key < best:
                    best, found = key, seat
            if after > self.draft.now:
                seen.append((bound, at))
            elif seat is not None:
                seen.append((seat.start, at))
        for entry in seen:
            heappush(heap, entry)
        return None if best is None or found is None else (best[2], found)

    def _seat(
        self,
        demand: Demand,
        place: Place,
        times: Times,
        after: int,
        bound: int,
        seats: dict[int, tuple[int, _Seat | None]],
        at: int,
    ) -> _Seat | None:
        """One node's answer, remembered while the node's timeline stays as it is; never before its bound."""
        line = self.draft.lines[place.node]
        if after <= self.draft.now:
            version, seat = seats.get(at, (-1, None))
            if version == line.version:
                return seat
        seat = self._ask(demand, place, times, max(after, bound), line)
        if after <= self.draft.now:
            seats[at] = (line.version, seat)
        return seat

    def _ask(self, demand: Demand, place: Place, times: Times, after: int, line: NodeTimeline) -> _Seat | None:
        if demand.share is not None:
            found = line.earliest_share(self.share_need(demand), place.ready, times.fit_s, times.lease_s, after)
            return None if found is None else _Seat(found[0], found[1], 1 << found[2])
        answer = line.earliest(demand.cards_per_node, place.ready, times.fit_s, times.lease_s, after)
        if answer is None:
            return None
        start, mask = answer
        left = (line.free_at(start) & place.ready).bit_count() - demand.cards_per_node
        return _Seat(start, (left, 0), mask)

    def share_need(self, demand: Demand) -> ShareNeed:
        """The share asked for, with the policy's rules of sharing."""
        share, policy = demand.share, self.draft.policy
        assert share is not None
        return ShareNeed(
            share.vram_mib, share.bandwidth_percent, policy.vram_safety_mib, policy.bandwidth_heavy_percent
        )

    def _bounds(
        self, demand: Demand, group: Group, times: Times
    ) -> tuple[list[tuple[int, int]], dict[int, tuple[int, _Seat | None]]]:
        family = (group.key, demand.pool, _size(demand), times.lease_s if self._any_lease(group) else 0)
        key = (*family, times.fit_s)
        if key not in self._heaps:
            self._heaps[key] = self._first_bounds(family, group, times.fit_s)
            self._seats[key] = {}
        return self._heaps[key], self._seats[key]

    def _first_bounds(self, family: tuple[object, ...], group: Group, fit_s: int) -> list[tuple[int, int]]:
        """A shorter task of the same size can only start earlier, so its bounds are bounds here too."""
        lengths = self._lengths.setdefault(family, [])
        i = bisect_right(lengths, fit_s)
        shorter = lengths[i - 1] if i else None
        lengths.insert(i, fit_s)
        if shorter is not None:
            return list(self._heaps[(*family, shorter)])
        heap = [(self.draft.now, at) for at in range(len(group.places))]
        heapify(heap)
        return heap

    def _any_lease(self, group: Group) -> bool:
        return any(self.draft.lines[place.node].leased for place in group.places)

    def _gang(self, demand: Demand, fit: Fit, times: Times, after: int, before: int) -> Spot | None:
        """All parts at one instant on different nodes: the least full nodes that do, or the next instant."""
        start = after
        while start < before:
            seats: list[tuple[int, tuple[int, int], int, int]] = []
            for place in fit.group.places:
                seat = self._ask(demand, place, times, start, self.draft.lines[place.node])
                if seat is not None:
                    seats.append((seat.start, seat.snug, place.node, seat.mask))
            seats.sort()
            if len(seats) < demand.nodes:
                return None
            common = seats[demand.nodes - 1][0]
            if common == start or seats[0][0] == common:
                chosen = [s for s in seats if s[0] <= common][: demand.nodes]
                masks = tuple((node, _choose(mask, demand)) for _, _, node, mask in chosen)
                return Spot(common, masks, fit)
            start = common
        return None


def _size(demand: Demand) -> tuple[object, ...]:
    return (demand.cards, demand.nodes, demand.share)


def _choose(mask: int, demand: Demand) -> int:
    """The first cards of the mask: neighbours by index share links."""
    return mask if demand.share is not None else lowest(mask, demand.cards_per_node)
