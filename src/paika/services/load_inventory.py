"""Make the records agree with what the inventory declares, in one change.

Pools, nodes and cards that the file no longer names go; those with running work are drained instead.
Cards found by a meter stay as long as their node does, people and teams are never removed, and what
was learnt by looking (health, index, VRAM) is not overwritten by what was declared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import get_close_matches
from typing import TypeVar

from paika.domain.access import Act, Actor
from paika.domain.audit import AuditEntry
from paika.domain.card import Card, CardType, Health
from paika.domain.inventory import Difference, Inventory, UnknownName
from paika.domain.node import Node, NodeState
from paika.domain.person import Person
from paika.domain.pool import Pool
from paika.domain.problem import Problem, Several
from paika.domain.quota import Quota
from paika.domain.records import NAMES, Change, Noun, Records
from paika.domain.team import Team
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.keep_audit import Attempt, entry, refusals_kept
from paika.services.team_tree import rings_of

CAUSE = "not_in_inventory"
N = TypeVar("N", Pool, Node, Card, CardType, Team, Person, Quota)


@dataclass(frozen=True, slots=True)
class Loading:
    """The change that loads an inventory, and the same told as differences."""

    change: Change
    differences: tuple[Difference, ...]


def load_inventory(
    store: Store, clock: Clock, actor: Actor, inventory: Inventory, *, dry_run: bool = False
) -> tuple[Difference, ...]:
    """Apply the inventory, or with `dry_run` only tell the differences. Raises Forbidden, UnknownName, Several."""
    if dry_run:
        _must_be_allowed(actor, inventory)
        return decide_loading(store.read(), inventory, actor, clock.now()).differences
    told: list[Difference] = []

    def decide(records: Records) -> Change:
        _must_be_allowed(actor, inventory)
        loading = decide_loading(records, inventory, actor, clock.now())
        told[:] = loading.differences
        return loading.change

    with refusals_kept(store, clock, actor, Attempt("load_inventory", "inventory", "")):
        store.update(decide)
    return tuple(told)


def _must_be_allowed(actor: Actor, inventory: Inventory) -> None:
    actor.must(Act.CHANGE_CARD)
    if inventory.people or inventory.teams or inventory.quotas:
        actor.must(Act.CHANGE_TEAM)


def decide_loading(records: Records, inventory: Inventory, actor: Actor, now: datetime) -> Loading:
    """What loading does to these records. Raises UnknownName for pools and teams that stand nowhere, TeamRing."""
    faults = unknown_names(records, inventory) or _rings(records, inventory)
    if faults:
        raise faults[0] if len(faults) == 1 else Several(field=None, problems=faults)
    book = _Book(actor, now)
    _put_all(book, records.pools, inventory.pools)
    _put_all(book, records.card_types, inventory.card_types)
    for team in _teams_after(records, inventory).values():
        book.put(records.teams.get(team.id), team)
    for person in inventory.people:
        somebody = records.people.get(person.id)
        book.put(somebody, replace(person, active=somebody.active) if somebody else person)
    _put_all(book, records.quotas, inventory.quotas)
    for node in inventory.nodes:
        _put_node(book, records.nodes.get(node.id), node)
    if inventory.nodes:
        _load_cards(book, records, inventory)
    _drop_pools(book, records, inventory)
    return book.close()


def unknown_names(records: Records, inventory: Inventory) -> tuple[Problem, ...]:
    """Pools and teams that are named but stand neither in the file nor in the records."""
    pools = {*records.pools, *(pool.id for pool in inventory.pools)}
    teams = {*records.teams, *(team.id for team in inventory.teams)}
    named = [(f"nodes.{node.id}.pool", "pool", node.pool, pools) for node in inventory.nodes]
    named += [(f"teams.{team.id}.parent", "team", team.parent, teams) for team in inventory.teams if team.parent]
    for person in inventory.people:
        named += [(f"people.{person.id}.teams", "team", team, teams) for team in person.teams]
    return tuple(
        UnknownName(field=field, noun=noun, id=name, nearest=_nearest(name, known))
        for field, noun, name, known in named
        if name not in known
    )


def _rings(records: Records, inventory: Inventory) -> tuple[Problem, ...]:
    """Rings of parents that the file closes."""
    after = {**records.teams, **_teams_after(records, inventory)}
    return rings_of(after, sorted(inventory.placed), "teams.parent")


def _teams_after(records: Records, inventory: Inventory) -> dict[str, Team]:
    """The declared teams; what the file does not say of a known one stays as people set it."""
    after = {}
    for team in inventory.teams:
        known = records.teams.get(team.id, team)
        after[team.id] = replace(
            team,
            active=known.active,
            weight=team.weight if team.id in inventory.weighed else known.weight,
            parent=team.parent if team.id in inventory.placed else known.parent,
        )
    return after


def _nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    return tuple(get_close_matches(name, sorted(known), n=3, cutoff=0.4))


@dataclass(slots=True)
class _Book:
    """The change as it grows, each act with its audit entry and its difference."""

    actor: Actor
    now: datetime
    puts: list[Noun] = field(default_factory=list)
    removed: list[Noun] = field(default_factory=list)
    audit: list[AuditEntry] = field(default_factory=list)
    told: list[Difference] = field(default_factory=list)

    def put(self, old: N | None, new: N, act: str = "") -> None:
        """Add or change one noun; the same value again does nothing."""
        if old is None:
            self.puts.append(replace(new, version=1))
            self._tell("added", None, new)
        elif replace(new, version=old.version) != old:
            self.puts.append(replace(new, version=old.version + 1))
            self._tell(act or "changed", old, new)

    def remove(self, old: N) -> None:
        """Take one noun away."""
        self.removed.append(old)
        self._tell("removed", old, None)

    def _tell(self, act: str, old: N | None, new: N | None) -> None:
        one = new if new is not None else old
        assert one is not None
        noun = NAMES[type(one)]
        written = entry(self.actor, self.now, f"inventory_{act}", noun, one.id, old=old, new=new)
        self.audit.append(written)
        self.told.append(Difference(act, noun, one.id, tuple(written.old.items()), tuple(written.new.items())))

    def close(self) -> Loading:
        """What has come together."""
        change = Change(puts=tuple(self.puts), removed=tuple(self.removed), audit=tuple(self.audit))
        return Loading(change, tuple(self.told))


def _put_all(book: _Book, known: Mapping[str, N], wanted: Sequence[N]) -> None:
    for one in wanted:
        book.put(known.get(one.id), one)


def _put_node(book: _Book, old: Node | None, new: Node) -> None:
    """The state of a known node is what was seen or decided, but a drain by an earlier load is lifted."""
    if old is None:
        book.put(None, new)
    elif old.state_cause == CAUSE:
        book.put(old, new)
    else:
        book.put(old, replace(new, state=old.state, state_cause=old.state_cause))


def _load_cards(book: _Book, records: Records, inventory: Inventory) -> None:
    busy = {card for run in records.runs.values() if not run.ended for card in run.cards}
    named = {card.id for card in inventory.cards}
    wanted: dict[str, list[Card]] = defaultdict(list)
    for card in inventory.cards:
        wanted[card.node].append(card)
    others: dict[str, list[Card]] = defaultdict(list)
    for card in records.cards.values():
        if card.id not in named:
            others[card.node].append(card)
    for node in inventory.nodes:
        if node.id in inventory.listed:
            left = _match(book, wanted[node.id], others[node.id], inventory.made_ids, records)
            _drop_left(book, node, left, busy)
    kept = {node.id for node in inventory.nodes}
    for gone in (node for key, node in records.nodes.items() if key not in kept):
        _drop_node(book, gone, [card for card in records.cards.values() if card.node == gone.id], busy, named)


def _match(
    book: _Book, wanted: Sequence[Card], others: Sequence[Card], made: frozenset[str], records: Records
) -> list[Card]:
    """Put the cards of a listed node: by id, else a card without a UUID goes to one that a meter found there."""
    left = sorted(others, key=_by_index)
    for card in wanted:
        old = records.cards.get(card.id)
        if old is None and card.id in made:
            seen = [one for one in left if one.vendor_name]
            old = next((one for one in seen if one.type == card.type), seen[0] if seen else None)
            left = [one for one in left if one is not old]
        book.put(old, _merged(old, card, declared=card.id not in made) if old else replace(card, health_since=book.now))
    return left


def _drop_left(book: _Book, node: Node, left: Sequence[Card], busy: set[str]) -> None:
    """What a meter still sees on a machine of ours stays, whatever the file says."""
    for card in left:
        visible = bool(card.vendor_name) and card.health is not Health.LOST
        if not (visible and node.engine and not node.virtual):
            _drop_card(book, card, busy)


def _by_index(card: Card) -> tuple[int, str]:
    return (card.index if card.index is not None else 1 << 30, card.id)


def _merged(old: Card, new: Card, *, declared: bool) -> Card:
    """What the file says of a known card; what was seen of it stays."""
    lifted = old.health is Health.DRAINING and old.health_cause == CAUSE
    seen = bool(old.vendor_name)
    return replace(
        old,
        node=new.node,
        type=new.type if declared or not seen else old.type,
        vram_mib=old.vram_mib if seen else new.vram_mib,
        health=new.health if lifted else old.health,
        health_cause=new.health_cause if lifted else old.health_cause,
        lease_ends_at=new.lease_ends_at,
        note=new.note,
    )


def _drop_card(book: _Book, card: Card, busy: set[str]) -> None:
    if card.id not in busy:
        book.remove(card)
    elif card.health in (Health.OK, Health.UNKNOWN):
        draining = replace(card, health=Health.DRAINING, health_since=book.now, health_cause=CAUSE)
        book.put(card, draining, "drained")


def _drop_node(book: _Book, node: Node, cards: Sequence[Card], busy: set[str], moved: set[str]) -> None:
    for card in cards:
        if card.id not in moved:
            _drop_card(book, card, busy)
    if not any(card.id in busy for card in cards):
        book.remove(node)
    elif node.state is NodeState.UP:
        book.put(node, replace(node, state=NodeState.DRAINED, state_cause=CAUSE), "drained")


def _drop_pools(book: _Book, records: Records, inventory: Inventory) -> None:
    """Pools that are neither declared nor used by a node that stays."""
    if not inventory.pools:
        return
    gone = {one.id for one in book.removed if isinstance(one, Node)}
    used = {node.pool for node in inventory.nodes}
    staying = {key: node for key, node in records.nodes.items() if key not in gone}
    used |= {node.pool for key, node in staying.items() if key not in {one.id for one in inventory.nodes}}
    for pool in records.pools.values():
        if pool.id not in used and pool.id not in {one.id for one in inventory.pools}:
            book.remove(pool)
