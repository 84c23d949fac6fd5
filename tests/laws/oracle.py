"""The earliest start of each task, found the slow way: every instant at which something ends, every card, every node.

Shares no code with the planner: no windows, masks, bounds or caches. It goes through the tasks in the order of a plan,
finds each one's earliest start beside all that stands so far, and then puts it on the cards that the plan names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from paika.domain.card import Card, CardType, Health
from paika.domain.node import NodeState
from paika.domain.policy import Policy
from paika.domain.reservation import Reservation
from paika.domain.run import Run
from paika.domain.snapshot import Snapshot
from paika.domain.task import Share, Task
from paika.domain.units import share_parts

FOREVER = 10**15
ZERO = datetime(1970, 1, 1, tzinfo=UTC)


def instant(at: datetime) -> int:
    """Whole seconds of an instant that has no fraction."""
    return round((at - ZERO).total_seconds())


def lasting(seconds: int | None) -> int:
    """A length as plans count it: rounded up to a step that grows with it, from 1 s to 4 h."""
    if seconds is None:
        return FOREVER
    for longest, step in ((60, 1), (600, 10), (7200, 60), (21_600, 300), (86_400, 900), (345_600, 3600)):
        if seconds <= longest:
            return (seconds + step - 1) // step * step
    return (seconds + 14_399) // 14_400 * 14_400


@dataclass(frozen=True)
class Use:
    """Somebody is on a card from start to end; `share` None: on all of it."""

    start: int
    end: int
    share: Share | None


@dataclass
class Board:
    """Everything that is known of the future so far."""

    snapshot: Snapshot
    policy: Policy
    now: int
    uses: dict[str, list[Use]] = field(default_factory=dict)
    team_uses: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.types: dict[str, CardType] = {t.id: t for t in self.snapshot.card_types}
        self.nodes = {node.id: node for node in self.snapshot.nodes}
        self.ceilings = {quota.team: quota.max_cards for quota in self.snapshot.quotas}
        self.cards = sorted(self.snapshot.cards, key=lambda card: card.id)
        for run in self.snapshot.runs:
            end = self._end(run)
            for card in run.cards:
                self.uses.setdefault(card, []).append(Use(self.now, end, run.share))
            if not run.borrowed:
                self.team_uses.setdefault(run.team, []).append((self.now, end, run.parts_held))
        for outsider in self.snapshot.external:
            self.uses.setdefault(outsider.card, []).append(Use(self.now, FOREVER, None))

    def _end(self, run: Run) -> int:
        begun = instant(run.started_at or run.intended_at)
        if run.limit_s is not None:
            end = begun + run.limit_s
            return end if end > self.now else self.now + 60
        if run.high_s is not None and begun + run.high_s > self.now:
            return begun + run.high_s
        return FOREVER

    # -- one task ----------------------------------------------------------------------------------

    def earliest(self, task: Task) -> tuple[int, list[tuple[str, int]]] | None:
        """The first instant at which it could start, and the kinds of cards it could then have; None: not known."""
        kinds = sorted({(card.type, card.vram_mib) for card in self.cards if self._suits(task, card)})
        for at in self._instants(task):
            able = [kind for kind in kinds if self._parts(task, kind) is not None and self._could(task, kind, at)]
            if able:
                return at, able
        return None

    def waste(self, task: Task, kind: tuple[str, int]) -> int:
        """Weighted card-seconds a second on such cards."""
        return (self._parts(task, kind) or 0) * self.types[kind[0]].weight_milli

    def put(self, task: Task, cards: Iterable[str], start: int) -> None:
        """The task is to be on these cards."""
        ids = list(cards)
        end = min(FOREVER, start + lasting(task.occupies_s))
        first = next(card for card in self.cards if card.id == ids[0])
        parts = self._parts(task, (first.type, first.vram_mib))
        assert parts is not None
        for card in ids:
            self.uses.setdefault(card, []).append(Use(start, end, task.demand.share))
        self.team_uses.setdefault(task.team, []).append((start, end, parts))

    def has(self, task: Task, cards: Iterable[str], start: int) -> bool:
        """Whether these very cards can be had at that instant."""
        ids = set(cards)
        return all(self._open(task, card, start) for card in self.cards if card.id in ids)

    def _instants(self, task: Task) -> list[int]:
        """A start lies at now, or where something ends that stood in the way."""
        ends = [use.end for uses in self.uses.values() for use in uses]
        ends += [end for _, end, _ in self.team_uses.get(task.team, ())]
        ends += [instant(r.ends_at) for r in self.snapshot.reservations]
        return sorted({self.now, *(end for end in ends if self.now < end < FOREVER)})

    def _could(self, task: Task, kind: tuple[str, int], at: int) -> bool:
        parts = self._parts(task, kind)
        assert parts is not None
        if not self._under_quota(task, parts, at):
            return False
        each, on = task.demand.cards // task.demand.nodes, dict[str, int]()
        for card in self.cards:
            if (card.type, card.vram_mib) == kind and self._suits(task, card) and self._open(task, card, at):
                on[card.node] = on.get(card.node, 0) + 1
        return sum(count >= each for count in on.values()) >= task.demand.nodes

    def _parts(self, task: Task, kind: tuple[str, int]) -> int | None:
        """Card parts that count; None if even an empty house of this kind could not carry the task."""
        each, on = task.demand.cards // task.demand.nodes, dict[str, int]()
        for card in self.cards:
            if (card.type, card.vram_mib) == kind and self._suits(task, card):
                on[card.node] = on.get(card.node, 0) + 1
        if sum(count >= each for count in on.values()) < task.demand.nodes:
            return None
        share = task.demand.share
        return (
            task.demand.cards * 100 if share is None else share_parts(share.vram_mib, kind[1], share.bandwidth_percent)
        )

    def _suits(self, task: Task, card: Card) -> bool:
        demand = task.demand
        need = demand.vram_mib if demand.share is None else demand.share.vram_mib + self.policy.vram_safety_mib
        if card.vram_mib < need or (demand.types and card.type not in demand.types):
            return False
        if demand.pool and self.nodes[card.node].pool != demand.pool:
            return False
        return set(demand.capabilities) <= set(self.types[card.type].capabilities)

    def _open(self, task: Task, card: Card, at: int) -> bool:
        """The card can take the task at that instant and for as long as it may last."""
        node = self.nodes[card.node]
        if card.health is not Health.OK or node.state is not NodeState.UP or node.engine is None:
            return False
        until = min(FOREVER, at + lasting(task.limit_s))
        leased = at + (self.policy.unknown_run_s if task.occupies_s is None else lasting(task.occupies_s))
        if any(lease is not None and instant(lease) < leased for lease in (node.lease_ends_at, card.lease_ends_at)):
            return False
        if any(self._bars(r, task, card, at, until) for r in self.snapshot.reservations):
            return False
        beside = [use for use in self.uses.get(card.id, ()) if use.start < until and use.end > at]
        share = task.demand.share
        if share is None:
            return not beside
        if any(use.share is None for use in beside):
            return False
        return self._shares_fit(share, card, [use for use in beside if use.share is not None], at)

    def _bars(self, window: Reservation, task: Task, card: Card, at: int, until: int) -> bool:
        if card.id not in window.cards or not window.keeps(ZERO + timedelta(seconds=self.now)):
            return False
        if window.open_to(task.team, task.id):
            return False
        return instant(window.starts_at) < until and instant(window.ends_at) > at

    def _shares_fit(self, share: Share, card: Card, beside: list[Use], at: int) -> bool:
        for then in {at, *(use.start for use in beside if use.start > at)}:
            shares = [share, *(use.share for use in beside if use.share and use.start <= then < use.end)]
            if sum(one.vram_mib for one in shares) > card.vram_mib - self.policy.vram_safety_mib:
                return False
            if sum(one.bandwidth_percent for one in shares) > 100:
                return False
        heavy = self.policy.bandwidth_heavy_percent
        if share.bandwidth_percent < heavy:
            return True
        return not any(use.share and use.share.bandwidth_percent >= heavy for use in beside)

    def _under_quota(self, task: Task, parts: int, at: int) -> bool:
        ceiling = self.ceilings.get(task.team)
        if ceiling is None:
            return True
        until = min(FOREVER, at + lasting(task.occupies_s))
        uses = self.team_uses.get(task.team, [])
        moments = {at, *(start for start, _, _ in uses if at < start < until)}
        return all(
            parts + sum(used for start, end, used in uses if start <= then < end) <= ceiling * 100 for then in moments
        )
