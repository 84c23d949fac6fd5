"""Why a task that passed its gates does not start now: every blocker, each with its numbers.

Figures hold after this plan's own starts: a card that starts somebody in this plan is no longer free. But what
keeps a task from cards that this plan gives to somebody further down is told as if they lay free.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from heapq import merge
from itertools import islice

from paika.domain.card import Health
from paika.domain.reason import (
    CardsBusy,
    CardsUnfit,
    EndsUnknown,
    HeadroomKept,
    Holder,
    KeptForBigger,
    LeaseEnds,
    NoEngine,
    PersonCap,
    PromisedAhead,
    QuotaFull,
    QuotaPromised,
    Reason,
    Reserved,
    ShareRoom,
)
from paika.domain.task import Demand, Task, Tier
from paika.domain.units import EPOCH, PARTS_PER_CARD
from paika.planning.cases import Case
from paika.planning.draft import Draft, Occupant, holder_of
from paika.planning.feasible import Fit
from paika.planning.house import Group, Place
from paika.planning.place import times_of
from paika.planning.promised import MOST_TASKS, Ahead, Behind
from paika.planning.reserve import PassKey, Wall
from paika.planning.timeline import NEVER, bits

MOST_HOLDERS = 5
Kept = tuple[tuple[str, ...], int]


@dataclass(frozen=True, slots=True)
class _GroupNow:
    """One group after this plan's starts: free cards per place, who holds the others, who is unfit."""

    free: tuple[tuple[Place, int], ...]  # (place, mask of ready cards that nobody is on), where there are any
    every: int
    holders: tuple[tuple[Occupant, int], ...]  # with the number of the group's cards, earliest end first
    unfit: tuple[tuple[str, str], ...]  # (health or node state, node) of each unfit card
    no_engine: tuple[str, ...]  # node of each card without an engine


@dataclass(slots=True)
class _Shape:
    """What is known of one kind of task: what holds for the whole plan, and what held at some point of the order."""

    cards: tuple[Reason, ...]  # what the cards say
    need: int  # parts on the cheapest cards that could carry it now, or else at all
    usable: tuple[tuple[Place, int], ...] = ()
    usable_at: int = -1
    walls: tuple[Reason, ...] = ()
    walls_at: int = -1
    promised: PromisedAhead | None = None
    promised_at: tuple[int, int] = (-1, -1)


class Explainer:
    """Judges each shape once; equal shapes share the verdict with its reasons."""

    def __init__(self, draft: Draft, ranks: dict[str, int], kept: frozenset[str], started: Iterable[Task]) -> None:
        self.draft = draft
        self.ranks = ranks
        self.kept = kept  # tasks that were promised a start before
        self._groups: dict[tuple[object, ...], _GroupNow] = {}
        self._known: dict[tuple[object, ...], _Shape] = {}
        self._sorted: dict[str, list[tuple[int, str]]] = {}
        self.ahead = Ahead(draft)
        self.behind = Behind(draft, started)

    def passed(self, task: Task, holds: bool) -> None:
        """The task has been dealt with; what it was given or promised stands before the ones after it."""
        self.behind.pass_by(task)
        if holds:
            self.ahead.note(self.draft.spans.get(task.id, ()))

    def why(self, case: Case) -> tuple[Reason, ...]:
        """All reasons of a task that could not start. To be asked in rank order, with `passed` after each task."""
        told = case.spot is not None or case.rough_at is not None
        shape = self._shape(case, told)
        found = [*self._ceilings(case, shape.need), *shape.cards, *self._walls(case, shape)]
        found += self._promised(case, shape)
        if case.kept_for and case.kept_until > self.draft.now:
            found += self._oversize(case.task.demand, case.verdict.fits, (case.kept_for, case.kept_until))
        return tuple(found)

    def _shape(self, case: Case, told: bool) -> _Shape:
        task, fits = case.task, case.verdict.fits
        assert case.want is not None
        key = (case.want, fits, task.occupies_s, told)
        known = self._known.get(key)
        if known is None:
            now = [fit.parts for fit in fits if self._could_now(fit, task.demand)]
            cards = self._cards(task, fits, case.want.key, told)
            known = self._known[key] = _Shape(cards, min(now or [fit.parts for fit in fits]))
        return known

    # -- ceilings ----------------------------------------------------------------------------------

    def _ceilings(self, case: Case, need: int) -> list[Reason]:
        return [*self._quota(case, need), *self._cap(case, need)]

    def _quota(self, case: Case, need: int) -> list[Reason]:
        task = case.task
        team, ceiling = self.draft.teams.get(task.team), self.draft.ceilings.get(task.team)
        if team is None or ceiling is None:
            return []
        if team.used[0] + need > ceiling * PARTS_PER_CARD:
            runs = sorted(self.draft.team_runs.get(task.team, ()), key=lambda pair: (pair[1].until, pair[0].id))
            holders = tuple(
                holder_of(who, max(1, len(run.cards)), self.draft.date(who.until)) for run, who in runs[:MOST_HOLDERS]
            )
            return [QuotaFull(task.team, ceiling, team.used[0], need, holders)]
        if case.limited_ahead != "team":
            return []
        mine = self.ranks[task.id]
        before = (one for one in self._team_later(task.team) if self.ranks[one[1]] < mine or one[1] in self.kept)
        ahead = list(islice((one for one in before if one[1] != task.id), MOST_TASKS))
        names = tuple(dict.fromkeys(name for _, name in ahead))
        return [QuotaPromised(task.team, ceiling, names, self.draft.date(ahead[0][0]))] if ahead else []

    def _cap(self, case: Case, need: int) -> list[Reason]:
        person, cap = self.draft.persons.get(case.task.owner), self.draft.cap
        if person is None or cap is None or case.task.tier is Tier.CORE:
            return []
        full = person.used[0] + need > cap * PARTS_PER_CARD
        if not full and case.limited_ahead != "person":
            return []
        return [PersonCap(case.task.owner, cap, person.used[0], need, not full)]

    def _team_later(self, team: str) -> list[tuple[int, str]]:
        """Planned starts of a team's tasks, earliest first."""
        if team not in self._sorted:
            self._sorted[team] = sorted(self.draft.team_later.get(team, ()))
        return self._sorted[team]

    # -- cards -----------------------------------------------------------------------------------

    def _cards(self, task: Task, fits: tuple[Fit, ...], key: PassKey, told: bool) -> tuple[Reason, ...]:
        demand = task.demand
        groups = [self._now(fit.group, demand.pool) for fit in fits]
        found: list[Reason] = []
        enough = demand.share is None and any(self._together(g, demand) >= demand.nodes for g in groups)
        if demand.share is not None:
            found += self._share(demand, fits, groups, key)
        elif not enough:
            found.append(self._busy(demand, groups))
        found += self._unfit(groups, enough)
        if not told:
            found += self._unknown_ends(groups)
        return tuple(found)

    def _now(self, group: Group, pool: str) -> _GroupNow:
        key = (group.key, pool)
        if key not in self._groups:
            self._groups[key] = self._look(group)
        return self._groups[key]

    def _look(self, group: Group) -> _GroupNow:
        free: list[tuple[Place, int]] = []
        held: dict[Occupant, int] = {}
        unfit: list[tuple[str, str]] = []
        bare: list[str] = []
        for place in group.places:
            house_node = self.draft.house.nodes[place.node]
            mask = 0
            for bit in bits(place.every):
                card = house_node.cards[bit]
                for who in self.draft.occupants.get(card.id, ()):
                    held[who] = held.get(who, 0) + 1
                if place.ready >> bit & 1:
                    mask |= 0 if card.id in self.draft.occupants else 1 << bit
                elif house_node.node.engine is None:
                    bare.append(house_node.node.id)
                elif card.health is not Health.OK:
                    unfit.append((card.health.value, house_node.node.id))
                else:
                    unfit.append((f"node_{house_node.node.state.value}", house_node.node.id))
            if mask:
                free.append((place, mask))
        by_end = sorted(held.items(), key=_by_end)
        every = sum(place.every.bit_count() for place in group.places)
        return _GroupNow(tuple(free), every, tuple(by_end), tuple(unfit), tuple(bare))

    def _together(self, group: _GroupNow, demand: Demand) -> int:
        return sum(mask.bit_count() >= demand.cards_per_node for _, mask in group.free)

    def _busy(self, demand: Demand, groups: list[_GroupNow]) -> Reason:
        counts = [mask.bit_count() for group in groups for _, mask in group.free]
        return CardsBusy(
            need=demand.cards,
            nodes=demand.nodes,
            free=sum(counts),
            best_free=max(counts, default=0),
            fitting=sum(group.every for group in groups),
            holders=self._holders(groups),
        )

    def _holders(self, groups: list[_GroupNow]) -> tuple[Holder, ...]:
        """Those whose end is next, with all their cards in the groups."""
        held: dict[Occupant, int] = {}
        for who, count in merge(*(group.holders for group in groups), key=_by_end):
            if who not in held and len(held) == MOST_HOLDERS:
                break
            held[who] = held.get(who, 0) + count
        return tuple(holder_of(who, cards, self.draft.date(who.until)) for who, cards in held.items())

    def _share(self, demand: Demand, fits: tuple[Fit, ...], groups: list[_GroupNow], key: PassKey) -> list[Reason]:
        """No card has room: the best one by VRAM then bandwidth, a heavy neighbour counting as no bandwidth."""
        share, policy, draft = demand.share, self.draft.policy, self.draft
        assert share is not None
        heavy, rooms = policy.bandwidth_heavy_percent, [(0, 0)]
        for place in (place for fit in fits for place in fit.group.places):
            line = draft.lines[place.node].base
            for bit in bits(place.ready & line.open[0]):
                vram, band = line.room_at(bit, draft.now, policy.vram_safety_mib)
                beside = [u for u in line.shares[bit] if u.start <= draft.now < u.end]
                if share.bandwidth_percent >= heavy and any(u.bandwidth_percent >= heavy for u in beside):
                    band = min(band, heavy - 1)
                rooms.append((vram, band))
        if any(v >= share.vram_mib and b >= share.bandwidth_percent for v, b in rooms):
            return []
        vram, band = max(rooms)
        return [ShareRoom(share.vram_mib, share.bandwidth_percent, vram, band, self._holders(groups))]

    def _unfit(self, groups: list[_GroupNow], enough: bool) -> list[Reason]:
        if enough:
            return []
        found: list[Reason] = []
        by_health: dict[str, list[str]] = {}
        for group in groups:
            for health, node in group.unfit:
                by_health.setdefault(health, []).append(node)
        for health, nodes in sorted(by_health.items()):
            found.append(CardsUnfit(len(nodes), health, tuple(dict.fromkeys(nodes))))
        bare = [node for group in groups for node in group.no_engine]
        if bare:
            found.append(NoEngine(len(bare), tuple(dict.fromkeys(bare))))
        return found

    def _walls(self, case: Case, shape: _Shape) -> tuple[Reason, ...]:
        """Leases, reservations and headroom before usable cards; looked at again only when a start was gone by."""
        if shape.walls_at != self.behind.changes:
            assert case.want is not None
            usable = self._usable_by(case, shape)
            shape.walls_at = self.behind.changes
            shape.walls = (*self._lease(case.task, usable), *self._walled(case.task, usable, case.want.key))
        return shape.walls

    def _usable_by(self, case: Case, shape: _Shape) -> tuple[tuple[Place, int], ...]:
        """Usable cards of a shape; looked at again only when a start was gone by."""
        if shape.usable_at != self.behind.changes:
            shape.usable_at = self.behind.changes
            usable = self._usable(case.verdict.fits, case.task.demand)
            shape.usable = tuple(one for one in usable if one[1])
        return shape.usable

    def _usable(self, fits: tuple[Fit, ...], demand: Demand) -> list[tuple[Place, int]]:
        """Cards that are free, or have room for the share, or would if nobody further down had started in this plan."""
        if demand.share is not None:
            return [(place, self._roomy(place, demand, behind=True)) for fit in fits for place in fit.group.places]
        found: list[tuple[Place, int]] = []
        given = self.behind.nodes()
        for fit in fits:
            free, group = self._now(fit.group, demand.pool).free, fit.group
            found += [one for one in free if one[0].node not in given] if given else free
            open_now = {place.node: mask for place, mask in free if place.node in given}
            for node in sorted(given & group.nodes):
                place = group.at[node]
                found.append((place, open_now.get(node, 0) | place.ready & self._given(place)))
        return found

    def _given(self, place: Place) -> int:
        """Cards on which nobody is but those that start further down in this plan."""
        behind, cards = self.behind, self.draft.house.nodes[place.node].cards
        mask = behind.whole(place.node)
        for bit in behind.shared(place.node):
            if len(self.draft.occupants.get(cards[bit].id, ())) == len(behind.shares(place.node, bit)):
                mask |= 1 << bit
        return mask

    def _lease(self, task: Task, usable: Sequence[tuple[Place, int]]) -> list[Reason]:
        draft = self.draft
        lasts = times_of(task, self.draft.policy).lease_s
        ends = [
            draft.lines[place.node].base.lease_ends[bit]
            for place, mask in usable
            for bit in bits(mask)
            if draft.lines[place.node].base.lease_ends[bit] < draft.now + lasts
        ]
        return [LeaseEnds(len(ends), EPOCH + timedelta(seconds=min(ends)))] if ends else []

    def _walled(self, task: Task, usable: Sequence[tuple[Place, int]], key: PassKey) -> list[Reason]:
        """Usable cards behind walls that the run would run into: each reservation, and headroom."""
        draft, lasts = self.draft, times_of(task, self.draft.policy).fit_s
        behind: dict[str, tuple[Wall, int]] = {}
        kept: dict[int, int] = {}
        for place, mask in usable:
            for wall in draft.lines[place.node].walls:
                count = (wall.mask & mask).bit_count()
                if not count or not wall.shut_to(key) or wall.start >= draft.now + lasts:
                    continue
                if wall.reservation is None:
                    kept[place.node] = kept.get(place.node, 0) + count
                else:
                    seen = behind.get(wall.reservation.id, (wall, 0))
                    behind[wall.reservation.id] = (seen[0], seen[1] + count)
        found: list[Reason] = [self._reserved(wall, cards) for _, (wall, cards) in sorted(behind.items())]
        if kept:
            nodes = tuple(draft.house.nodes[node].node.id for node in sorted(kept))
            found.append(HeadroomKept(sum(kept.values()), nodes))
        return found

    def _reserved(self, wall: Wall, cards: int) -> Reserved:
        kept = wall.reservation
        assert kept is not None
        ahead = wall.start - self.draft.now
        return Reserved(
            cards,
            kept.id,
            kept.purpose.value,
            kept.team,
            kept.starts_at,
            kept.ends_at,
            ahead if ahead > 0 else None,
        )

    def _promised(self, case: Case, shape: _Shape) -> list[Reason]:
        """What tasks ahead are to have; looked at again only when a promise came nearer or a start was gone by."""
        at = (self.ahead.changes, self.behind.changes)
        if shape.promised_at != at:
            demand = case.task.demand
            usable = self._usable_by(case, shape)
            shape.promised_at = at
            shape.promised = self.ahead.reason(usable, demand.cards_per_node, demand.nodes == 1)
        return [] if shape.promised is None else [shape.promised]

    def _roomy(self, place: Place, demand: Demand, behind: bool = False) -> int:
        """Ready cards on which the share has room at this instant, `behind`: but for starts further down."""
        share, draft = demand.share, self.draft
        assert share is not None
        line, mask, given = draft.lines[place.node].base, 0, self.behind
        later = given.whole(place.node) if behind else 0
        for bit in bits(place.ready & (line.open[0] | later)):
            vram, band = line.room_at(bit, draft.now, draft.policy.vram_safety_mib)
            for other in given.shares(place.node, bit) if behind else ():
                vram, band = vram + other.vram_mib, band + other.bandwidth_percent
            if vram >= share.vram_mib and band >= share.bandwidth_percent:
                mask |= 1 << bit
        return mask

    def _unknown_ends(self, groups: list[_GroupNow]) -> list[Reason]:
        runs = [who.run for g in groups for who, _ in g.holders if who.until >= NEVER and who.run is not None]
        return [EndsUnknown(tuple(dict.fromkeys(runs))[:MOST_TASKS])] if runs else []

    def _oversize(self, demand: Demand, fits: tuple[Fit, ...], kept: Kept) -> list[Reason]:
        bigger = [f for f in fits[1:] if self._usable_now(f, demand)]
        if not bigger:
            return []
        allowed_at = EPOCH + timedelta(seconds=kept[1])
        return [KeptForBigger(bigger[0].group.type.id, fits[0].group.type.id, kept[0], allowed_at)]

    def _could_now(self, fit: Fit, demand: Demand) -> bool:
        """Whether enough of the group's cards are free, or have room for the share, at this instant."""
        if demand.share is not None:
            return any(self._roomy(place, demand) for place in fit.group.places)
        return self._together(self._now(fit.group, demand.pool), demand) >= demand.nodes

    def _usable_now(self, fit: Fit, demand: Demand) -> bool:
        """Whether it could start there if nobody further down had started in this plan."""
        masks = [mask for _, mask in self._usable((fit,), demand)]
        return sum(mask.bit_count() >= demand.cards_per_node for mask in masks) >= demand.nodes


def _by_end(item: tuple[Occupant, int]) -> tuple[int, str, str, str]:
    who = item[0]
    return (who.until, who.run or "", who.task or "", who.owner)
