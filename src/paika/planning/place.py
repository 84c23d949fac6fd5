"""The earliest start of a demand, with exact cards.

While capacity only shrinks, an earliest start once known for a shape on a node stays a lower bound. Each
(group, shape) keeps a heap of such bounds and looks again only at nodes whose bound is below the best found
so far. Time that is given back lowers the bounds of that node again.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from paika.domain.policy import Policy
from paika.domain.task import Demand, Task
from paika.planning.draft import Draft, Limit, Masks
from paika.planning.feasible import Fit
from paika.planning.house import Group, GroupKey, Place
from paika.planning.reserve import PassKey
from paika.planning.timeline import NEVER, NodeTimeline, ShareNeed, bits, lowest

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


@dataclass(frozen=True, slots=True, eq=False)
class Want:
    """What is searched for: a demand for so long, by the bearer of a pass, under these ceilings.

    Made by `Wants`, which makes equal ones once: so they are compared, and looked up, by identity.
    """

    demand: Demand
    times: Times
    key: PassKey
    limits: tuple[Limit, ...]


class Wants:
    """What tasks search for; those of one shape share one want."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._known: dict[tuple[object, ...], Want] = {}

    def of(self, task: Task) -> Want:
        """What a task searches for."""
        draft = self._draft
        times = times_of(task, draft.policy)
        return self.make(task.demand, times, draft.passes.of(task), draft.limits_of(task))

    def make(self, demand: Demand, times: Times, key: PassKey, limits: tuple[Limit, ...]) -> Want:
        """The want with just these parts."""
        parts = (demand, times, key, limits)
        found = self._known.get(parts)
        if found is None:
            found = self._known[parts] = Want(*parts)
        return found


@dataclass(frozen=True, slots=True)
class Spot:
    """Where and when a task could start: one mask of cards for each node."""

    start: int
    masks: Masks
    fit: Fit


@dataclass(frozen=True, slots=True)
class _Seat:
    """A node's answer for one shape: earliest start, snugness there (lower is better), cards that would do."""

    start: int
    snug: tuple[int, int]
    mask: int


class _Bounds:
    """Lower bounds of one shape on all places of a group. An entry of the heap counts only while it is the bound."""

    def __init__(self, group: Group, bound: list[int], fit_s: int) -> None:
        self.index = group.positions
        self.bound = bound
        self.heap = sorted((start, at) for at, start in enumerate(bound) if start < NEVER)
        self.seats: dict[int, tuple[int, _Seat | None]] = {}
        self.fit_s = fit_s
        self.read = 0

    def least(self) -> int:
        """No place has a start before this."""
        heap, bounds = self.heap, self.bound
        while heap:
            bound, at = heap[0]
            if bounds[at] == bound:
                return bound
            heappop(heap)
        return NEVER

    def put(self, bound: int, at: int) -> None:
        """A new bound for a place; NEVER leaves the place out."""
        self.bound[at] = bound
        if bound < NEVER:
            heappush(self.heap, (bound, at))

    def lower(self, node: int, freed_from: int, now: int) -> None:
        """Time from `freed_from` on was given back on a node: a start that needs it cannot lie much before."""
        at = self.index.get(node)
        if at is None:
            return
        bound = max(now, freed_from - self.fit_s) if self.fit_s < NEVER else now
        if bound < self.bound[at]:
            self.put(bound, at)


class Search:
    """Finds earliest spots on a draft. Holds bounds that are good for this draft alone."""

    def __init__(self, draft: Draft, wants: Wants | None = None) -> None:
        self.draft = draft
        self.wants = wants or Wants(draft)
        self._bounds: dict[tuple[object, ...], _Bounds] = {}
        self._bounds_for: dict[tuple[Want, GroupKey], _Bounds] = {}
        self._leased: dict[tuple[GroupKey, str], bool] = {}
        self._lengths: dict[tuple[object, ...], list[int]] = {}
        self._hopeless: set[tuple[Want, Fit]] = set()
        self._freed: list[tuple[int, int]] = []
        self._eased: list[tuple[Limit, ...]] = []
        self._last: dict[int, int] = {}  # by node: the last time it got something back

    def freed(self, nodes: Iterable[int], start: int, limits: tuple[Limit, ...] = ()) -> None:
        """Time on cards of these nodes was given back from `start` on, and room under these ceilings."""
        for node in nodes:
            self._last[node] = len(self._freed)
            self._freed.append((node, start))
            self._eased.append(limits)
        self._hopeless.clear()

    @property
    def news(self) -> int:
        """How much was given back so far."""
        return len(self._freed)

    def touched(self, spot: Spot, limits: tuple[Limit, ...], since: int) -> bool:
        """Whether a spot lies on nodes, or counts under ceilings, where something was given back after `since`."""
        nodes = {node for node, _ in spot.masks}
        return any(node in nodes for node, _ in self._freed[since:]) or self._eases(limits, since)

    def may_help(self, want: Want, fits: tuple[Fit, ...], old: Spot, since: int) -> bool:
        """Whether what was given back after the first `since` may help a task that is in its own way."""
        if want.demand.nodes > 1:
            freed = {node for node, _ in self._freed[since:]}
            if any(fit.group.nodes & freed for fit in fits):
                return True
        elif self._last.get(old.masks[0][0], -1) >= since:
            return True
        return self._eases(want.limits, since) and not self.room_at(want, fits[0], self.draft.now)

    def _eases(self, limits: tuple[Limit, ...], since: int) -> bool:
        return any(limit in eased for eased in self._eased[since:] for limit in limits)

    def earliest(self, want: Want, fit: Fit, after: int, before: int = NEVER) -> Spot | None:
        """The first start from `after` on in one group, ceilings kept.

        None if no time can be told, or none earlier than `before`.
        """
        if (want, fit) in self._hopeless or self._bounds_of(want, fit.group).least() >= before:
            return None
        start, limits, lasts = after, want.limits, want.times.occupies_s
        while start < before:
            allowed = self.draft.room_from(limits, fit.parts, lasts, start)
            spot = self._on_cards(want, fit, allowed, before) if allowed < before else None
            if spot is None:
                break
            if spot.start == allowed or not limits:
                return spot
            start = self.draft.room_from(limits, fit.parts, lasts, spot.start)
            if start == spot.start:
                return spot
        if after <= self.draft.now and before >= NEVER:
            self._hopeless.add((want, fit))
        return None

    def fits_at(self, want: Want, fit: Fit, masks: Masks, start: int) -> bool:
        """Whether exactly these cards may be had from `start` on, ceilings kept."""
        return self.cards_at(want, fit, masks, start) and self.room_at(want, fit, start)

    def room_at(self, want: Want, fit: Fit, start: int) -> bool:
        """Whether the ceilings leave room from `start` on."""
        return self.draft.room_from(want.limits, fit.parts, want.times.occupies_s, start) == start

    def cards_at(self, want: Want, fit: Fit, masks: Masks, start: int) -> bool:
        """Whether exactly these cards may be had from `start` on, whatever the ceilings say."""
        ready = {place.node: place.ready for place in fit.group.places}
        times = want.times
        for node, mask in masks:
            if mask & ~ready.get(node, 0):
                return False
            line = self.draft.lines[node].of(want.key)
            if want.demand.share is not None:
                bit = mask.bit_length() - 1
                if not line.share_fits(bit, self.share_need(want.demand), start, times.fit_s, times.lease_s):
                    return False
            elif mask & ~line.free_through(start, times.fit_s, times.lease_s):
                return False
        return True

    def earlier_there(self, want: Want, fit: Fit, masks: Masks, after: int, before: int) -> Spot | None:
        """An earlier start from `after` on, on the node a task was just lifted from (a gang: anywhere), or None."""
        if want.demand.nodes > 1:
            return self.earliest(want, fit, after, before)
        best: Spot | None = None
        for place in fit.group.places:
            if place.node != masks[0][0]:
                continue
            start = self.draft.room_from(want.limits, fit.parts, want.times.occupies_s, after)
            while start < before:
                seat = self._ask(want, place, self.draft.lines[place.node].of(want.key), start, before)
                if seat is None:
                    break
                start = self.draft.room_from(want.limits, fit.parts, want.times.occupies_s, seat.start)
                if start == seat.start:
                    best = Spot(start, ((place.node, _choose(seat.mask, want.demand)),), fit)
                    break
        return best

    def _on_cards(self, want: Want, fit: Fit, after: int, before: int) -> Spot | None:
        """All parts at one instant on different nodes: the snuggest that do, or the next instant."""
        start, count = after, want.demand.nodes
        while start < before:
            found = self._nearest(want, fit.group, start, before, count)
            if len(found) < count:
                return None
            common = found[-1][0]
            if common == found[0][0]:
                return Spot(common, tuple((node, _choose(seat.mask, want.demand)) for _, _, node, seat in found), fit)
            start = common
        return None

    def _nearest(
        self, want: Want, group: Group, after: int, before: int, count: int
    ) -> list[tuple[int, tuple[int, int], int, _Seat]]:
        """The `count` nodes with the earliest starts before `before`, as (start, snugness, node, answer) in order.

        Looks at no node whose bound lies behind the last of them.
        """
        bounds = self._bounds_of(want, group)
        heap, fresh = bounds.heap, after <= self.draft.now
        best: list[tuple[int, tuple[int, int], int, _Seat]] = []
        again: list[tuple[int, int]] = []
        asked: set[int] = set()
        limit = before
        while heap:
            bound, at = heap[0]
            if (bound if bound > after else after) >= limit:
                break
            heappop(heap)
            if bounds.bound[at] != bound or at in asked:
                continue
            asked.add(at)
            place = group.places[at]
            far = _beyond(limit, self.draft.now) if fresh else limit
            seat = self._seat(want, place, after, bound, bounds, at, far)
            again.append((bound if not fresh else far if seat is None else seat.start, at))
            if seat is None or seat.start >= limit:
                continue
            insort(best, (seat.start, seat.snug, place.node, seat), key=_by_start)
            if len(best) >= count:
                del best[count:]
                limit = min(before, best[-1][0] + 1)
        for bound, at in again:
            bounds.put(bound, at)
        return best

    def _seat(
        self, want: Want, place: Place, after: int, bound: int, bounds: _Bounds, at: int, limit: int
    ) -> _Seat | None:
        """One node's answer before `limit`, or one known from before; kept while the node's timeline stays as it is."""
        line = self.draft.lines[place.node].of(want.key)
        fresh = after <= self.draft.now
        if fresh:
            version, seat = bounds.seats.get(at, (-1, None))
            if version == line.version and seat is not None:
                return seat
        seat = self._ask(want, place, line, bound if bound > after else after, limit)
        if fresh:
            bounds.seats[at] = (line.version, seat)
        return seat

    def _ask(self, want: Want, place: Place, line: NodeTimeline, after: int, before: int = NEVER) -> _Seat | None:
        demand, times = want.demand, want.times
        if demand.share is not None:
            need = self.share_need(demand)
            found = line.earliest_share(need, place.ready, times.fit_s, times.lease_s, after, before)
            return None if found is None else _Seat(found[0], found[1], 1 << found[2])
        answer = line.earliest(demand.cards_per_node, place.ready, times.fit_s, times.lease_s, after, before)
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

    def _bounds_of(self, want: Want, group: Group) -> _Bounds:
        known = self._bounds_for.get((want, group.key))
        if known is None:
            known = self._bounds_for[want, group.key] = self._shared_bounds(want, group)
        self._catch_up(known)
        return known

    def _shared_bounds(self, want: Want, group: Group) -> _Bounds:
        """Wants that differ in nothing that counts on these cards have their bounds in common."""
        leased = want.times.lease_s if self._any_lease(group, want.demand.pool) else 0
        key = (group.key, want.demand.pool, _size(want.demand), want.key, leased, want.times.fit_s)
        found = self._bounds.get(key)
        if found is None:
            found = self._bounds[key] = self._first_bounds(key[:-1], group, want)
        return found

    def _catch_up(self, bounds: _Bounds) -> None:
        while bounds.read < len(self._freed):
            node, start = self._freed[bounds.read]
            bounds.lower(node, start, self.draft.now)
            bounds.read += 1

    def _first_bounds(self, family: tuple[object, ...], group: Group, want: Want) -> _Bounds:
        """A shorter task of the same size can only start earlier, so its bounds are bounds here too."""
        fit_s = want.times.fit_s
        lengths = self._lengths.setdefault(family, [])
        i = bisect_right(lengths, fit_s)
        lengths.insert(i, fit_s)
        if i:
            shorter = self._bounds[*family, lengths[i - 1]]
            self._catch_up(shorter)
            found = _Bounds(group, list(shorter.bound), fit_s)
        else:
            cards, shared = want.demand.cards_per_node, want.demand.share is not None
            lines = ((self.draft.lines[place.node].of(want.key), place.ready) for place in group.places)
            found = _Bounds(group, [line.opens(cards, ready, shared) for line, ready in lines], fit_s)
        found.read = len(self._freed)
        return found

    def _any_lease(self, group: Group, pool: str) -> bool:
        known = self._leased.get((group.key, pool))
        if known is None:
            known = any(self.draft.lines[place.node].base.leased for place in group.places)
            self._leased[group.key, pool] = known
        return known


def _beyond(limit: int, now: int) -> int:
    """Half as far again, and an hour: what is learned of a node on the way will do for searches with later limits."""
    return limit if limit >= NEVER else limit + (limit - now) // 2 + 3600


def masks_of(draft: Draft, cards_by_node: list[tuple[str, ...]]) -> Masks | None:
    """Cards as masks, one for each node; None if a card is gone."""
    masks: list[tuple[int, int]] = []
    for cards in cards_by_node:
        if any(card not in draft.house.at for card in cards):
            return None
        places = [draft.house.at[card] for card in cards]
        if len({node for node, _ in places}) != 1:
            return None
        masks.append((places[0][0], sum(1 << bit for _, bit in places)))
    return tuple(sorted(masks))


def cards_in(masks: Masks) -> int:
    """How many cards the masks name."""
    return sum(len(bits(mask)) for _, mask in masks)


def _by_start(entry: tuple[int, tuple[int, int], int, _Seat]) -> tuple[int, tuple[int, int], int]:
    return entry[:3]


def _size(demand: Demand) -> tuple[object, ...]:
    return (demand.cards, demand.nodes, demand.share)


def _choose(mask: int, demand: Demand) -> int:
    """The first cards of the mask: neighbours by index share links."""
    return mask if demand.share is not None else lowest(mask, demand.cards_per_node)
