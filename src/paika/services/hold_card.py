"""Cards and nodes taken out of use by a person, and given back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from paika.domain.access import Act, Actor
from paika.domain.card import Card, CardReading, Health
from paika.domain.node import Node, NodeState
from paika.domain.problem import Kind, Problem
from paika.domain.records import Change, Records
from paika.domain.task import IllegalStep
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.editing import found, must_be_name, must_be_read
from paika.services.keep_audit import Attempt, entry, refusals_kept

_CAN_DRAIN = frozenset({Health.OK, Health.UNKNOWN, Health.DRAINING})


@dataclass(eq=False)
class CardNotWell(Problem):
    """The card's last reading does not say that it is well, so it is not given back."""

    code: ClassVar[str] = "card.not_well"
    kind: ClassVar[Kind] = Kind.REFUSED
    card: str
    health: str


def drain_card(
    store: Store, clock: Clock, actor: Actor, card_id: str, why: str, *, if_version: int | None = None
) -> Card:
    """No new runs on this card; what runs goes on. Raises IllegalStep for a card that is out of use already."""

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_CARD)
        old = found(records.cards, "card", card_id)
        must_be_read("card", card_id, old.version, if_version)
        must_be_name(why, "reason")
        if old.health not in _CAN_DRAIN:
            raise IllegalStep(field=None, noun="card", state=old.health.value, event="drain")
        return _card_change(actor, clock, old, Health.DRAINING, f"{actor.person}: {why}", "drain_card", why)

    with refusals_kept(store, clock, actor, Attempt("drain_card", "card", card_id)):
        return store.update(decide).cards[card_id]


def undrain_card(
    store: Store,
    clock: Clock,
    actor: Actor,
    card_id: str,
    readings: Mapping[str, CardReading],
    why: str = "",
    *,
    if_version: int | None = None,
) -> Card:
    """Give a card back to the queue. One that was lost or wants a reset must have been seen well since."""

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_CARD)
        old = found(records.cards, "card", card_id)
        must_be_read("card", card_id, old.version, if_version)
        seen = readings.get(card_id)
        fresh = seen is not None and (old.health_since is None or seen.read_at >= old.health_since)
        well = seen is not None and fresh and seen.health is Health.OK
        if old.health in (Health.LOST, Health.NEEDS_RESET, Health.UNKNOWN) and not well:
            raise CardNotWell(field=None, card=card_id, health=(seen.health if seen else old.health).value)
        return _card_change(actor, clock, old, Health.OK, "", "undrain_card", why)

    with refusals_kept(store, clock, actor, Attempt("undrain_card", "card", card_id)):
        return store.update(decide).cards[card_id]


def drain_node(
    store: Store, clock: Clock, actor: Actor, node_id: str, why: str, *, if_version: int | None = None
) -> Node:
    """No new runs on this node; what runs goes on."""

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_CARD)
        old = found(records.nodes, "node", node_id)
        must_be_read("node", node_id, old.version, if_version)
        must_be_name(why, "reason")
        if old.state is NodeState.DOWN:
            raise IllegalStep(field=None, noun="node", state=old.state.value, event="drain")
        return _node_change(actor, clock, old, NodeState.DRAINED, f"{actor.person}: {why}", "drain_node", why)

    with refusals_kept(store, clock, actor, Attempt("drain_node", "node", node_id)):
        return store.update(decide).nodes[node_id]


def undrain_node(
    store: Store, clock: Clock, actor: Actor, node_id: str, why: str = "", *, if_version: int | None = None
) -> Node:
    """Give a drained node back. A node that is down comes back only when it is seen up."""

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_CARD)
        old = found(records.nodes, "node", node_id)
        must_be_read("node", node_id, old.version, if_version)
        if old.state not in (NodeState.DRAINED, NodeState.UP):
            raise IllegalStep(field=None, noun="node", state=old.state.value, event="undrain")
        return _node_change(actor, clock, old, NodeState.UP, "", "undrain_node", why)

    with refusals_kept(store, clock, actor, Attempt("undrain_node", "node", node_id)):
        return store.update(decide).nodes[node_id]


def _card_change(actor: Actor, clock: Clock, old: Card, health: Health, cause: str, act: str, why: str) -> Change:
    now = clock.now()
    if old.health is health and old.health_cause == cause:
        return Change(audit=(entry(actor, now, act, "card", old.id, old=old, new=old, why=why),))
    new = replace(old, health=health, health_since=now, health_cause=cause, version=old.version + 1)
    return Change(puts=(new,), audit=(entry(actor, now, act, "card", old.id, old=old, new=new, why=why),))


def _node_change(actor: Actor, clock: Clock, old: Node, state: NodeState, cause: str, act: str, why: str) -> Change:
    now = clock.now()
    if old.state is state and old.state_cause == cause:
        return Change(audit=(entry(actor, now, act, "node", old.id, old=old, new=old, why=why),))
    new = replace(old, state=state, state_cause=cause, version=old.version + 1)
    return Change(puts=(new,), audit=(entry(actor, now, act, "node", old.id, old=old, new=new, why=why),))
