"""The house as the planner sees it: cards in a fixed order on their nodes, grouped by what they are.

Equal cards are judged once: a group is all cards of one type with the same VRAM.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache

from paika.domain.card import Card, CardType, Health
from paika.domain.node import Node, NodeState
from paika.domain.run import Run
from paika.domain.snapshot import Snapshot
from paika.domain.units import EPOCH
from paika.planning.timeline import NEVER

LIMIT_GRACE_S = 60  # a run past its hard limit is being stopped; it is taken to end this much later
SECONDS_PER_DAY = 86_400
GroupKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Place:
    """Cards of one group on one node, as masks in the node's card order."""

    node: int
    every: int  # all of them
    ready: int  # those that can take work: healthy, node up, an engine there


@dataclass(frozen=True)
class Group:
    """All cards of one type and VRAM. `cost` is the card-hour weight in thousandths."""

    key: GroupKey
    type: CardType
    places: tuple[Place, ...]

    @cached_property
    def at(self) -> dict[int, Place]:
        """Places by the position of their node."""
        return {place.node: place for place in self.places}

    @cached_property
    def positions(self) -> dict[int, int]:
        """Where in `places` a node is."""
        return {place.node: at for at, place in enumerate(self.places)}

    @cached_property
    def nodes(self) -> frozenset[int]:
        """Positions of the nodes that have such cards."""
        return frozenset(place.node for place in self.places)

    @cached_property
    def ready(self) -> int:
        """How many of them can take work."""
        return sum(place.ready.bit_count() for place in self.places)

    @property
    def vram_mib(self) -> int:
        """VRAM of each card of the group."""
        return self.key[1]


@dataclass(frozen=True, slots=True)
class HouseNode:
    """A node with its cards in order; bit i of every mask is cards[i]."""

    node: Node
    cards: tuple[Card, ...]
    vram_mib: tuple[int, ...]
    lease_ends: tuple[int, ...]  # epoch seconds; NEVER without a lease

    @property
    def schedulable(self) -> bool:
        """Up, and with an engine that can start work there."""
        return self.node.state is NodeState.UP and self.node.engine is not None


@dataclass(frozen=True, slots=True)
class House:
    """Nodes by id, groups by key, and where each card lies."""

    nodes: tuple[HouseNode, ...]
    groups: dict[GroupKey, Group]
    at: dict[str, tuple[int, int]]
    types: dict[str, CardType]


def house_of(snapshot: Snapshot) -> House:
    """Lay the snapshot's cards out; any listing order gives the same house."""
    return _laid_out(_Parts(snapshot.nodes, snapshot.cards, snapshot.card_types))


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """What a house is made of. Equal only if they are the very same objects: none of them ever changes."""

    nodes: tuple[Node, ...]
    cards: tuple[Card, ...]
    card_types: tuple[CardType, ...]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Parts)
            and self.nodes is other.nodes
            and self.cards is other.cards
            and self.card_types is other.card_types
        )

    def __hash__(self) -> int:
        return hash((id(self.nodes), id(self.cards), id(self.card_types)))


@lru_cache(maxsize=2)
def _laid_out(parts: _Parts) -> House:
    cards_on: dict[str, list[Card]] = {node.id: [] for node in parts.nodes}
    for card in parts.cards:
        if card.node in cards_on:
            cards_on[card.node].append(card)
    nodes = tuple(
        _furnished(node, sorted(cards_on[node.id], key=_card_order)) for node in sorted(parts.nodes, key=lambda n: n.id)
    )
    types = {card_type.id: card_type for card_type in parts.card_types}
    at = {card.id: (i, bit) for i, n in enumerate(nodes) for bit, card in enumerate(n.cards)}
    return House(nodes, _groups(nodes, types), at, types)


def _furnished(node: Node, cards: list[Card]) -> HouseNode:
    vram, leases = (card.vram_mib for card in cards), (lease_end(node, card) for card in cards)
    return HouseNode(node, tuple(cards), tuple(vram), tuple(leases))


def _card_order(card: Card) -> tuple[int, str]:
    return (card.index if card.index is not None else 1 << 20, card.id)


def _groups(nodes: tuple[HouseNode, ...], types: dict[str, CardType]) -> dict[GroupKey, Group]:
    places: dict[GroupKey, list[Place]] = {}
    for i, house_node in enumerate(nodes):
        masks: dict[GroupKey, tuple[int, int]] = {}
        for bit, card in enumerate(house_node.cards):
            if card.type not in types:
                continue
            every, ready = masks.get((card.type, card.vram_mib), (0, 0))
            fit = house_node.schedulable and card.health is Health.OK
            masks[card.type, card.vram_mib] = (every | 1 << bit, ready | (1 << bit if fit else 0))
        for key, (every, ready) in masks.items():
            places.setdefault(key, []).append(Place(i, every, ready))
    return {key: Group(key, types[key[0]], tuple(found)) for key, found in sorted(places.items())}


def epoch_s(at: datetime) -> int:
    """Whole epoch seconds, rounded down."""
    since = at - EPOCH
    return max(0, since.days * SECONDS_PER_DAY + since.seconds)


def epoch_s_up(at: datetime) -> int:
    """Whole epoch seconds, rounded up: an end is never told too early."""
    return epoch_s(at) + (1 if at.microsecond else 0)


def lease_end(node: Node, card: Card) -> int:
    """When the earlier of node's and card's lease ends; NEVER without one."""
    dates = [at for at in (node.lease_ends_at, card.lease_ends_at) if at is not None]
    return epoch_s(min(dates)) if dates else NEVER


def run_end(run: Run, now: int) -> tuple[int, bool]:
    """When a run ends (NEVER: unknown) and whether a hard limit says so.

    A run past its high estimate ends at no known time. One past its hard limit is being stopped. One that was
    told to stop has its grace.
    """
    until, by_limit = _run_end(run, now)
    if run.stop_at is not None:
        told = epoch_s_up(run.stop_at) + run.grace_s
        return min(until, told if told > now else now + LIMIT_GRACE_S), True
    return until, by_limit


def _run_end(run: Run, now: int) -> tuple[int, bool]:
    begun = epoch_s_up(run.started_at or run.intended_at)
    if run.limit_s is not None:
        return max(begun + run.limit_s, now + LIMIT_GRACE_S if begun + run.limit_s <= now else 0), True
    if run.high_s is not None and begun + run.high_s > now:
        return begun + run.high_s, False
    return NEVER, False
