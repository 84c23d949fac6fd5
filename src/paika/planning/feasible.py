"""Which groups of cards a demand may ever use, cheapest first, or why none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paika.domain.policy import Policy
from paika.domain.reason import CannotShare, NodeTooSmall, NoSuchCard, QuotaTooSmall, Reason, TooFewNodes, VramTooSmall
from paika.domain.task import Demand
from paika.domain.units import PARTS_PER_CARD, share_parts
from paika.planning.house import Group, House

Speeds = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A group that can carry a demand: its waste (weighted card time, in millionths) and parts charged.

    Equal demands share the very same fits, so they are looked up by identity.
    """

    group: Group
    waste: int
    parts: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Groups that fit, least waste first; or, if none can, why the task is parked."""

    fits: tuple[Fit, ...]
    parked: tuple[Reason, ...]


def verdict(demand: Demand, kind: str, house: House, speeds: Speeds, policy: Policy) -> Verdict:
    """Judge a demand against all cards of the house, whatever their state now."""
    allowed = [in_pool(demand, group, house) for group in house.groups.values() if _allowed(demand, group, house)]
    if not allowed:
        return Verdict((), (NoSuchCard(asked=_asked(demand), have=_have(house)),))
    vram = demand.share.vram_mib + policy.vram_safety_mib if demand.share else demand.vram_mib
    roomy = [group for group in allowed if group.vram_mib >= vram]
    if not roomy:
        return Verdict((), (_too_small(demand, allowed, policy),))
    fits = [fit for group in roomy if (fit := _fit(demand, kind, group, speeds)) is not None]
    if not fits:
        return Verdict((), (_too_few(demand, roomy, house),))
    fits.sort(key=lambda fit: (fit.waste, fit.group.vram_mib, fit.group.key))
    return Verdict(tuple(fits), ())


def over_quota(parts: int, team: str, max_cards: int | None) -> tuple[Reason, ...]:
    """The park reason of a demand above the team's whole ceiling."""
    if max_cards is None or parts <= max_cards * PARTS_PER_CARD:
        return ()
    return (QuotaTooSmall(team=team, max_cards=max_cards, need_parts=parts),)


def parts_of(demand: Demand, group: Group) -> int:
    """Card parts that a demand is charged on a group's cards."""
    if demand.share is None:
        return demand.cards * PARTS_PER_CARD
    return share_parts(demand.share.vram_mib, group.vram_mib, demand.share.bandwidth_percent)


def _allowed(demand: Demand, group: Group, house: House) -> bool:
    if demand.types and group.type.id not in demand.types:
        return False
    if not set(demand.capabilities) <= set(group.type.capabilities):
        return False
    return not demand.pool or any(house.nodes[place.node].node.pool == demand.pool for place in group.places)


def in_pool(demand: Demand, group: Group, house: House) -> Group:
    """The group cut to the pool asked for."""
    if not demand.pool:
        return group
    places = tuple(p for p in group.places if house.nodes[p.node].node.pool == demand.pool)
    return Group(group.key, group.type, places)


def _fit(demand: Demand, kind: str, group: Group, speeds: Speeds) -> Fit | None:
    able = sum(place.every.bit_count() >= demand.cards_per_node for place in group.places)
    if able < demand.nodes:
        return None
    parts = parts_of(demand, group)
    speed = speeds.get((kind, group.type.id), 1000)
    return Fit(group, parts * group.type.weight_milli * 1000 // max(1, speed), parts)


def _asked(demand: Demand) -> str:
    asked = demand.asked_types or "|".join(demand.types)
    return " ".join(x for x in (asked, *demand.capabilities, demand.pool and f"@{demand.pool}") if x)


def _have(house: House) -> tuple[str, ...]:
    return tuple(dict.fromkeys(type_id for type_id, _ in house.groups))


def _too_small(demand: Demand, allowed: list[Group], policy: Policy) -> Reason:
    largest = max(allowed, key=lambda group: (group.vram_mib, group.key))
    if demand.share:
        usable = max(0, largest.vram_mib - policy.vram_safety_mib)
        return CannotShare(need_mib=demand.share.vram_mib, largest_mib=usable)
    return VramTooSmall(need_mib=demand.vram_mib, largest_mib=largest.vram_mib, largest_type=largest.type.id)


def _too_few(demand: Demand, roomy: list[Group], house: House) -> Reason:
    each = demand.cards_per_node
    largest, node = max(
        (place.every.bit_count(), house.nodes[place.node].node.id) for group in roomy for place in group.places
    )
    if largest < each:
        return NodeTooSmall(need=each, largest=largest, node=node)
    have = max(sum(p.every.bit_count() >= each for p in group.places) for group in roomy)
    return TooFewNodes(need=demand.nodes, have=have, cards_each=each)
