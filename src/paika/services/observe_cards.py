"""What looks at cards lead to: cards withdrawn, cards coming back, new cards, and use by others.

Cards are known by their UUID. A look that succeeds tells of every card of its node and vendor, so one that is
missing is lost. A look that fails tells of none: cards become unknown, nothing is lost, and what runs
goes on. A withdrawn card comes back when a person gives it back (hold_card.undrain_card), or after as many
good looks in a row as the policy says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime

from paika.domain.access import SERVER
from paika.domain.audit import AuditEntry
from paika.domain.card import Card, CardReading, CardType, ExternalUse, Health, Vendor
from paika.domain.catalogue import CATALOGUE
from paika.domain.node import Node
from paika.domain.observed import FailedLook, Observed
from paika.domain.records import Change, Records
from paika.domain.type_names import type_of_vendor_name, unlisted_type
from paika.ports.meter import Look, Meter
from paika.ports.store import Store
from paika.services.keep_audit import entry

MISSING = "missing"
ALSO_DRAINED = "; drained: "
EXTERNAL_MIB = 1024  # below it, used VRAM without a known process may be the driver's own
_WITHDRAWN = frozenset({Health.LOST, Health.NEEDS_RESET})


@dataclass(frozen=True, slots=True)
class Observation:
    """The change that looks lead to, and what was seen."""

    change: Change
    observed: Observed


def observe_cards(
    store: Store,
    meters: Iterable[Meter],
    before: Observed,
    our_pids: Callable[[], AbstractSet[int]],
    now: datetime,
) -> Observed:
    """Look through all meters and write what follows. `our_pids` is asked after the looks.

    Processes of a run that started in between then count as ours.
    """
    looks = tuple(look for meter in meters for look in meter.look(now))
    pids = our_pids()
    seen = before

    def decide(records: Records) -> Change:
        nonlocal seen
        observation = decide_observation(records, before, looks, pids)
        seen = observation.observed
        return observation.change

    store.update(decide)
    return seen


def decide_observation(
    records: Records, before: Observed, looks: Sequence[Look], our_pids: AbstractSet[int]
) -> Observation:
    """What `looks` change in the records. `our_pids` are the processes of all our runs."""
    sight = _Sight(records, before, our_pids)
    for look in looks:
        node = records.nodes.get(look.node)
        if node is None:
            sight.note(look, (f"{look.node}: not a node of the inventory",))
        elif node.virtual != (look.vendor is Vendor.VIRTUAL):
            sight.note(look, (f"{look.node}: a {look.vendor.value} meter has no cards there",))
        elif look.failed is not None:
            _nothing_seen(sight, look, node, look.failed)
        else:
            _seen(sight, look, node)
    return sight.close()


@dataclass(slots=True)
class _Sight:
    """Cards as they are after the looks so far, and the next Observed as it grows."""

    records: Records
    before: Observed
    our_pids: AbstractSet[int]
    cards: dict[str, Card] = field(init=False)
    types: dict[str, CardType] = field(init=False)
    busy: set[str] = field(init=False)
    on_node: dict[str, set[str]] = field(init=False)
    readings: dict[str, CardReading] = field(init=False)
    external: dict[str, ExternalUse] = field(init=False)
    failed: dict[tuple[str, Vendor], FailedLook] = field(init=False)
    oddities: dict[tuple[str, Vendor], tuple[str, ...]] = field(init=False)
    well_looks: dict[str, int] = field(init=False)
    audit: list[AuditEntry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cards = dict(self.records.cards)
        self.types = dict(self.records.card_types)
        self.busy = {card for run in self.records.runs.values() if not run.ended for card in run.cards}
        self.on_node = defaultdict(set)
        for card in self.cards.values():
            self.on_node[card.node].add(card.id)
        self.readings = dict(self.before.readings)
        self.external = dict(self.before.external)
        self.failed = dict(self.before.failed)
        self.oddities = dict(self.before.oddities)
        self.well_looks = dict(self.before.well_looks)

    def note(self, look: Look, more: tuple[str, ...] = ()) -> None:
        """Keep the newest oddities of a node and vendor."""
        self.oddities.pop((look.node, look.vendor), None)
        if look.oddities or more:
            self.oddities[look.node, look.vendor] = (*look.oddities, *more)

    def covered(self, node: Node, vendor: Vendor) -> list[Card]:
        """The cards that a look at this node and vendor must show."""
        here = [self.cards[key] for key in sorted(self.on_node[node.id])]
        return [card for card in here if node.virtual or self._vendor(card) is vendor]

    def _vendor(self, card: Card) -> Vendor:
        kind = self.types.get(card.type) or next((one for one in CATALOGUE if one.id == card.type), None)
        return kind.vendor if kind else Vendor.NVIDIA

    def put(self, act: str, at: datetime, new: Card) -> None:
        """Replace a card and write down why; the same value does nothing."""
        old = self.cards.get(new.id)
        if old != new:
            self.take(old)
            self.cards[new.id] = new
            self.on_node[new.node].add(new.id)
            self.audit.append(entry(SERVER, at, act, "card", new.id, old=old, new=new))

    def take(self, card: Card | None) -> None:
        """Take a card out, or nothing."""
        if card is not None:
            del self.cards[card.id]
            self.on_node[card.node].discard(card.id)

    def known_types(self) -> tuple[CardType, ...]:
        """Types of the records before those of the catalogue."""
        return (*self.types.values(), *(one for one in CATALOGUE if one.id not in self.types))

    def close(self) -> Observation:
        """One put a card, whatever happened to it on the way."""
        old_cards, old_types = self.records.cards, self.records.card_types
        puts: list[Card | CardType] = [one for key, one in self.types.items() if old_types.get(key) is not one]
        for key, card in self.cards.items():
            old = old_cards.get(key)
            if card is not old:
                puts.append(replace(card, version=old.version + 1 if old else 1))
        gone = tuple(card for key, card in old_cards.items() if key not in self.cards)
        kept = self.cards.keys()
        observed = Observed(
            readings={key: one for key, one in self.readings.items() if key in kept},
            external={key: one for key, one in self.external.items() if key in kept},
            failed=self.failed,
            oddities=self.oddities,
            well_looks={key: count for key, count in self.well_looks.items() if key in kept},
        )
        return Observation(Change(puts=tuple(puts), removed=gone, audit=tuple(self.audit)), observed)


def _nothing_seen(sight: _Sight, look: Look, node: Node, cause: str) -> None:
    """The tool as a whole fails: neither well nor ill, and what was withdrawn or drained stays so."""
    sight.note(look)
    key = (look.node, look.vendor)
    since = sight.failed[key].since if key in sight.failed else look.at
    sight.failed[key] = FailedLook(look.node, look.vendor, since, cause)
    for card in sight.covered(node, look.vendor):
        sight.readings.pop(card.id, None)
        sight.well_looks.pop(card.id, None)
        if card.health is Health.OK and not _older(look, card):
            sight.put("card_unknown", look.at, _with_health(card, Health.UNKNOWN, cause, look.at))


def _seen(sight: _Sight, look: Look, node: Node) -> None:
    sight.failed.pop((look.node, look.vendor), None)
    odd: list[str] = []
    for reading in look.readings:
        if reading.card not in sight.cards and not _make_known(sight, look, node, reading):
            odd.append(f"{reading.card}: neither a known model nor its VRAM can be read")
            continue
        _one_seen(sight, look, reading)
    shown = {reading.card for reading in look.readings}
    for card in sight.covered(node, look.vendor):
        if card.id not in shown:
            _one_seen(sight, look, CardReading(card.id, look.at, Health.LOST, MISSING))
    sight.note(look, tuple(odd))


def _one_seen(sight: _Sight, look: Look, reading: CardReading) -> None:
    """Health, place and use of one card after one reading."""
    card = sight.cards[reading.card]
    sight.readings[card.id] = reading
    well = card.health in _WITHDRAWN and reading.health is Health.OK
    sight.well_looks.pop(card.id, None)
    if well:
        sight.well_looks[card.id] = sight.before.well_looks.get(card.id, 0) + 1
    moved = replace(
        card,
        node=card.node if reading.health is Health.LOST else look.node,
        index=card.index if reading.index is None else reading.index,
        vram_mib=reading.vram_total_mib or card.vram_mib,
        vendor_name=reading.name or card.vendor_name,
    )
    sight.put("card_changed", look.at, moved)
    if not _older(look, card):
        _settle_health(sight, look, moved, reading)
    _settle_use(sight, look, reading)


def _settle_health(sight: _Sight, look: Look, card: Card, reading: CardReading) -> None:
    after = health_after(card, reading, sight.well_looks.get(card.id, 0), sight.records.policy.card_returns_after_looks)
    if after is card.health:
        return
    cause = "" if after is Health.OK else reading.health_cause or reading.health.value
    if card.health is Health.DRAINING and after in _WITHDRAWN:
        cause += ALSO_DRAINED + card.health_cause
    sight.well_looks.pop(card.id, None)
    sight.put(f"card_{after.value}", look.at, _with_health(card, after, cause, look.at))


def health_after(card: Card, reading: CardReading, well_looks: int, returns_after: int) -> Health:
    """The card's health after a reading; `returns_after` good looks in a row bring it back, 0 meaning never."""
    if reading.health in _WITHDRAWN:
        return reading.health
    if reading.health is not Health.OK or card.health is Health.DRAINING:
        return Health.UNKNOWN if card.health is Health.OK else card.health
    if card.health in _WITHDRAWN:
        returns = 0 < returns_after <= well_looks and ALSO_DRAINED not in card.health_cause
        return Health.OK if returns else card.health
    return Health.OK


def _with_health(card: Card, health: Health, cause: str, at: datetime) -> Card:
    return replace(card, health=health, health_cause=cause, health_since=at)


def _older(look: Look, card: Card) -> bool:
    """The look began before the card's health was last settled, so it says nothing about it."""
    return card.health_since is not None and look.at < card.health_since


def _make_known(sight: _Sight, look: Look, node: Node, reading: CardReading) -> bool:
    """Add a card that was never seen before; False if its type cannot be told."""
    kind = _kind_of(sight, look, reading)
    if kind is None:
        return False
    sight.types.setdefault(kind.id, kind)
    stand_in = _stand_in(sight, look, node, reading)
    if stand_in is not None:
        sight.take(stand_in)
        sight.audit.append(entry(SERVER, look.at, "card_identified", "card", stand_in.id, old=stand_in))
    drained = stand_in is not None and stand_in.health is Health.DRAINING
    added = Card(
        id=reading.card,
        node=node.id,
        index=reading.index,
        type=kind.id,
        vram_mib=reading.vram_total_mib or kind.vram_mib,
        health=Health.DRAINING if drained else Health.OK,
        health_since=look.at,
        health_cause=stand_in.health_cause if stand_in and drained else "",
        vendor_name=reading.name or "",
        lease_ends_at=stand_in.lease_ends_at if stand_in else None,
        note=stand_in.note if stand_in else "",
    )
    sight.put("card_added", look.at, added)
    return True


def _kind_of(sight: _Sight, look: Look, reading: CardReading) -> CardType | None:
    if reading.name is None:
        return None
    kind = type_of_vendor_name(reading.name, reading.vram_total_mib, sight.known_types())
    if kind is None and reading.vram_total_mib:
        kind = unlisted_type(reading.name, reading.vram_total_mib, look.vendor, sight.known_types())
    return kind


def _stand_in(sight: _Sight, look: Look, node: Node, reading: CardReading) -> Card | None:
    """A card that was declared without a UUID and is now seen to be this one: by index, else the first left."""
    shown = {one.card for one in look.readings}
    made = [
        card
        for card in sight.covered(node, look.vendor)
        if card.id not in shown and card.id not in sight.busy and not card.vendor_name and _is_made(card)
    ]
    same = [card for card in made if card.index == reading.index]
    return next(iter([*same, *made]), None)


def _is_made(card: Card) -> bool:
    return card.id.removeprefix(f"{card.node}-").isdigit()


def _settle_use(sight: _Sight, look: Look, reading: CardReading) -> None:
    known = sight.external.get(reading.card)
    since = known.since if known else look.at
    use = external_use(reading, sight.our_pids, since, ours=reading.card in sight.busy)
    if use is None:
        sight.external.pop(reading.card, None)
    else:
        sight.external[reading.card] = use


def external_use(
    reading: CardReading, our_pids: AbstractSet[int], since: datetime, *, ours: bool
) -> ExternalUse | None:
    """Use of a card by others. `ours` says that a run of ours has the card.

    A card cut into slices counts as used by others. Used VRAM that no process explains counts only when
    none of our runs has the card and it is more than a driver keeps for itself.
    """
    if reading.health is not Health.OK:
        return None
    if reading.partitioned:
        return ExternalUse(reading.card, since, reading.vram_used_mib, (), ())
    others = [one for one in reading.processes or () if one.pid not in our_pids]
    if others:
        sizes = [one.vram_mib for one in others if one.vram_mib is not None]
        users = tuple(sorted({one.user for one in others if one.user}))
        pids = tuple(sorted({one.pid for one in others}))
        return ExternalUse(reading.card, since, sum(sizes) if len(sizes) == len(others) else None, users, pids)
    if not ours and not reading.processes and (reading.vram_used_mib or 0) >= EXTERNAL_MIB:
        return ExternalUse(reading.card, since, reading.vram_used_mib, (), ())
    return None
