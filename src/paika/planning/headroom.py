"""Headroom: blocks of cards kept free for core tasks, named card by card, because counts cannot be started on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paika.domain.density import Level
from paika.domain.policy import Headroom, Policy
from paika.domain.snapshot import Snapshot
from paika.domain.task import Tier
from paika.planning.house import House, run_end
from paika.planning.reserve import Wall
from paika.planning.timeline import NEVER, bits


@dataclass(frozen=True, slots=True)
class _Block:
    """Cards of one node: how many non-core runs hold now, when the last of them ends (NEVER: unknown)."""

    held: int
    until: int
    node: int
    mask: int


def headroom_walls(
    snapshot: Snapshot, house: House, policy: Policy, level: Level, now: int, taken: frozenset[str]
) -> list[tuple[int, Wall]]:
    """The cards that every headroom of the policy keeps, as (node position, wall without end).

    `taken` are cards of outsiders. With refill the blocks are those that are free or free soonest and not in
    use by core tasks; without it they are the first ones of the pool, whoever is on them.
    """
    if not policy.headroom:
        return []
    core, others = _users(snapshot, now)
    extra = policy.strict_extra_headroom if level is Level.STRICT else 0
    kept: dict[int, int] = {}
    found: list[tuple[int, Wall]] = []
    for rule in policy.headroom:
        blocks = _blocks(rule, house, core if rule.refill else frozenset(), others, taken, kept)
        if rule.refill:
            blocks.sort(key=lambda block: (block.held, block.until, block.node, block.mask))
        for block in blocks[: rule.units + extra]:
            kept[block.node] = kept.get(block.node, 0) | block.mask
            found.append((block.node, Wall(block.mask, now, NEVER, None)))
    return found


def _users(snapshot: Snapshot, now: int) -> tuple[frozenset[str], dict[str, int]]:
    """Cards that core runs hold, and cards of other runs with the time at which the last one ends."""
    core: set[str] = set()
    others: dict[str, int] = {}
    for run in snapshot.runs:
        until = run_end(run, now)[0]
        for card in run.cards:
            if run.tier is Tier.CORE:
                core.add(card)
            else:
                others[card] = max(until, others.get(card, 0))
    return frozenset(core), others


def _blocks(
    rule: Headroom,
    house: House,
    core: frozenset[str],
    others: Mapping[str, int],
    taken: frozenset[str],
    kept: Mapping[int, int],
) -> list[_Block]:
    """All blocks of `together` cards of one group on one node, soonest free cards of a node first; node by node."""
    found: list[_Block] = []
    for group in house.groups.values():
        if rule.card_types and group.type.id not in rule.card_types:
            continue
        for place in group.places:
            house_node = house.nodes[place.node]
            if rule.pool and house_node.node.pool != rule.pool:
                continue
            cards = [
                (others.get(house_node.cards[bit].id, 0), bit)
                for bit in bits(place.ready & ~kept.get(place.node, 0))
                if house_node.cards[bit].id not in core and house_node.cards[bit].id not in taken
            ]
            if rule.refill:
                cards.sort()
            for i in range(0, len(cards) - rule.together + 1, rule.together):
                chosen = cards[i : i + rule.together]
                held = sum(until > 0 for until, _ in chosen)
                mask = sum(1 << bit for _, bit in chosen)
                found.append(_Block(held, max(until for until, _ in chosen), place.node, mask))
    return sorted(found, key=lambda block: (block.node, block.mask))
