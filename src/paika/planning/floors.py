"""Guarantees: which ready core tasks stand under their team's floor, and so go first and may reclaim lent cards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paika.domain.guarantee import Guarantee
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task, Tier
from paika.domain.units import PARTS_PER_CARD


@dataclass(frozen=True, slots=True)
class Entitled:
    """A task under a floor: the floor, and what the team's core tasks hold of it, in cards rounded up."""

    guarantee: Guarantee
    held_cards: int


def entitled(
    snapshot: Snapshot, ready: Iterable[tuple[Task, tuple[str, ...]]], card_types: Mapping[str, str]
) -> dict[str, Entitled]:
    """By task id. `ready` are gate-passed tasks in rank order with the ids of the types that fit them.

    A task is entitled if all of it lies under the floor, those before it counted; a bigger one does not stand
    in the way of a smaller one behind it. `card_types` are the types of the cards by id.
    """
    left = {g.id: g.cards * PARTS_PER_CARD - _held(snapshot, g, card_types) for g in snapshot.guarantees}
    by_team: dict[str, list[Guarantee]] = {}
    for guarantee in sorted(snapshot.guarantees, key=lambda g: g.id):
        by_team.setdefault(guarantee.team, []).append(guarantee)
    found: dict[str, Entitled] = {}
    for task, types in ready if by_team else ():
        if task.tier is not Tier.CORE:
            continue
        need = task.demand.cards * PARTS_PER_CARD if task.demand.share is None else PARTS_PER_CARD
        for guarantee in by_team.get(task.team, ()):
            suits = not guarantee.card_types or bool(set(types) & set(guarantee.card_types))
            if suits and task.demand.cards_per_node <= guarantee.together and need <= left[guarantee.id]:
                held = guarantee.cards * PARTS_PER_CARD - left[guarantee.id]
                found[task.id] = Entitled(guarantee, -(-held // PARTS_PER_CARD))
                left[guarantee.id] -= need
                break
    return found


def _held(snapshot: Snapshot, guarantee: Guarantee, card_types: Mapping[str, str]) -> int:
    """Card parts that core tasks of the team hold on cards that the floor speaks of."""
    return sum(
        run.parts_held
        for run in snapshot.runs
        if run.team == guarantee.team
        and run.tier is Tier.CORE
        and (not guarantee.card_types or {card_types.get(card, "") for card in run.cards} <= set(guarantee.card_types))
    )
