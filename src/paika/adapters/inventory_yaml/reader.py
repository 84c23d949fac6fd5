"""From the YAML text of an inventory to its nouns, with every fault at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from paika.adapters.inventory_yaml.form import HOST, SLUG, UUID, Faults, Form
from paika.adapters.inventory_yaml.tree import read_tree
from paika.domain.card import Card, CardType, Health, Vendor
from paika.domain.catalogue import CATALOGUE
from paika.domain.inventory import Inventory, UnreadableInventory
from paika.domain.node import Node
from paika.domain.person import Person, Role
from paika.domain.pool import Pool
from paika.domain.problem import BadValue, FieldMissing, NameTaken, Several
from paika.domain.quantity import shown
from paika.domain.quota import Quota
from paika.domain.team import EQUAL_WEIGHT, MOST_WEIGHT, Team
from paika.domain.type_names import one_type
from paika.domain.weight import weight_milli

LOCAL = "local"
ENGINES = (LOCAL, "slurm")
DEFAULT_POOL = "default"
NOT_SEEN_YET = "not_seen_yet"
MOST_CARDS = 100_000
MOST_OF_A_LINE = 1_024

SECTIONS = ("pools", "nodes", "card_types", "teams", "people")
T = TypeVar("T", Pool, Node, Card, CardType, Team, Person)


@dataclass(slots=True)
class _Declared:
    """Cards as they are read, and what is said of their ids."""

    cards: list[Card] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)


def read_inventory(text: str, zone: str = "UTC", catalogue: Sequence[CardType] = CATALOGUE) -> Inventory:
    """The inventory that `text` declares. Dates without a clock time are days of the IANA zone `zone`.

    Raises UnreadableInventory, or the one problem, or Several of them; each `field` is path@line.
    """
    tree = read_tree(text)
    faults = Faults(tree, zone)
    faults.found += tree.problems
    if tree.value is not None and not isinstance(tree.value, dict):
        raise UnreadableInventory(field=None, line=1, detail="top level must be a mapping")
    inventory = _read(Form(faults, "", tree.value or {}).only(*SECTIONS), catalogue)
    if faults.found:
        raise faults.found[0] if len(faults.found) == 1 else Several(field=None, problems=tuple(faults.found))
    return inventory


def _read(top: Form, catalogue: Sequence[CardType]) -> Inventory:
    pools = _once("pool", [(form, _pool(form)) for form in top.forms("pools")])
    own = _once("card_type", [(form, _card_type(form, catalogue)) for form in top.forms("card_types")])
    types = (*own, *(one for one in catalogue if one.id not in {mine.id for mine in own}))
    nodes, declared = _nodes(top, types, pools[0].id if len(pools) == 1 else DEFAULT_POOL)
    teams = _teams(top)
    people = _once("person", [(form, _person(form)) for form in top.forms("people")])
    used = {card.type for card in declared.cards} | {one.id for one in own}
    if not pools and any(node.pool == DEFAULT_POOL for node in nodes):
        pools = (Pool(DEFAULT_POOL),)
    return Inventory(
        pools=pools,
        nodes=nodes,
        cards=tuple(declared.cards),
        card_types=tuple(one for one in types if one.id in used),
        teams=teams.teams,
        people=people,
        quotas=teams.quotas,
        made_ids=frozenset(declared.made),
        listed=frozenset(declared.listed),
        weighed=teams.weighed,
        placed=teams.placed,
    )


def _once(noun: str, read: Iterable[tuple[Form, T]]) -> tuple[T, ...]:
    """Nouns by id, each id once; the others are faults."""
    kept: dict[str, T] = {}
    for form, one in read:
        if one.id in kept:
            form.faults.found.append(NameTaken(field=form.where("id"), noun=noun, id=one.id))
        elif one.id:
            kept[one.id] = one
    return tuple(kept.values())


def _pool(form: Form) -> Pool:
    form.only("id", "title")
    return Pool(form.name("id", HOST), form.text("title"))


@dataclass(frozen=True, slots=True)
class _Teams:
    teams: tuple[Team, ...]
    quotas: tuple[Quota, ...]
    weighed: frozenset[str]
    placed: frozenset[str]


def _teams(top: Form) -> _Teams:
    forms = [form.only("id", "name", "quota_cards", "weight", "parent", "note") for form in top.forms("teams")]
    read = [(form, _team(form)) for form in forms]
    limits = [(team.id, f.whole("quota_cards", 0, MOST_CARDS)) for f, team in read if "quota_cards" in f.values]
    return _Teams(
        teams=_once("team", read),
        quotas=tuple(Quota(team, most) for team, most in dict(limits).items() if team),
        weighed=frozenset(team.id for form, team in read if form.given("weight")),
        placed=frozenset(team.id for form, team in read if form.given("parent")),
    )


def _team(form: Form) -> Team:
    return Team(
        id=form.name("id", SLUG),
        name=form.text("name", form.text("id")),
        note=form.text("note"),
        weight=form.whole("weight", 1, MOST_WEIGHT) or EQUAL_WEIGHT,
        parent=form.name("parent", SLUG, needed=False),
    )


def _person(form: Form) -> Person:
    form.only("id", "name", "role", "teams", "leads")
    role = form.text("role", Role.MEMBER.value).lower()
    if role not in set(Role):
        form.faults.found.append(BadValue(field=form.where("role"), value=shown(role), allowed=", ".join(Role)))
        role = Role.VIEWER.value
    leads = form.names("leads")
    teams = tuple(dict.fromkeys((*form.names("teams"), *leads)))
    return Person(form.name("id", SLUG), form.text("name", form.text("id")), Role(role), teams, leads)


def _card_type(form: Form, catalogue: Sequence[CardType]) -> CardType:
    """An own type, or a type of the catalogue with some figures of the lab's own."""
    form.only("id", "family", "vendor", "vram", "bandwidth_gb_s", "bf16_tflops", "weight", "capabilities", "aliases")
    base = next((one for one in catalogue if one.id == form.text("id")), None)
    vram = form.memory("vram", base.vram_mib if base else None)
    if vram is None and not form.given("vram"):
        form.faults.found.append(FieldMissing(field=form.where("vram")))
    bandwidth = form.whole("bandwidth_gb_s", 1, 1_000_000, base.bandwidth_gb_s if base else None)
    tflops = form.decimal("bf16_tflops", 0.1, 1_000_000, base.bf16_tflops if base else None)
    weight = form.decimal("weight", 0.001, 1_000)
    reckoned = base.weight_milli if base else weight_milli(vram or 1, bandwidth, tflops)
    return CardType(
        id=form.text("id") or form.name("id", UUID),
        family=form.text("family", base.family if base else form.text("id")),
        vendor=_vendor(form, base.vendor if base else Vendor.NVIDIA),
        vram_mib=vram or 1,
        bandwidth_gb_s=bandwidth,
        weight_milli=reckoned if weight is None else max(1, round(weight * 1000)),
        capabilities=form.names("capabilities") if form.given("capabilities") else base.capabilities if base else (),
        bf16_tflops=tflops,
        aliases=form.names("aliases") or (base.aliases if base else ()),
        source=f"inventory; the rest: {base.source}" if base else "inventory",
    )


def _vendor(form: Form, default: Vendor) -> Vendor:
    named = form.text("vendor", default.value).lower()
    if named in set(Vendor):
        return Vendor(named)
    form.faults.found.append(BadValue(field=form.where("vendor"), value=shown(named), allowed=", ".join(Vendor)))
    return default


def _nodes(top: Form, types: Sequence[CardType], pool: str) -> tuple[tuple[Node, ...], _Declared]:
    read: list[tuple[Form, Node]] = []
    declared = _Declared()
    for form in top.forms("nodes"):
        node = _node(form, pool)
        read.append((form, node))
        if node.id and form.given("cards"):
            declared.listed.add(node.id)
            _cards_of(form, node, types, declared)
    return _once("node", read), declared


def _node(form: Form, pool: str) -> Node:
    form.only("id", "pool", "engine", "virtual", "lease_ends", "note", "cards")
    virtual = form.flag("virtual")
    engine = form.text("engine") or (LOCAL if virtual else None)
    if engine is not None and engine not in ENGINES:
        form.faults.found.append(BadValue(field=form.where("engine"), value=shown(engine), allowed=", ".join(ENGINES)))
    return Node(
        id=form.name("id", HOST),
        pool=form.name("pool", HOST, needed=False) or pool,
        engine=engine,
        virtual=virtual,
        lease_ends_at=form.lease("lease_ends"),
        note=form.text("note"),
    )


def _cards_of(node_form: Form, node: Node, types: Sequence[CardType], declared: _Declared) -> None:
    number = 0
    for form in node_form.forms("cards"):
        form.only("type", "count", "uuid", "index", "vram", "lease_ends", "note")
        count = form.whole("count", 1, 1 if form.given("uuid") else MOST_OF_A_LINE, 1) or 1
        for _ in range(count):
            _declare(form, node, types, declared, number)
            number += 1
            if form.faults.found and count > 1:
                break  # one fault of a line is told once, not once a card


def _declare(form: Form, node: Node, types: Sequence[CardType], declared: _Declared, number: int) -> None:
    card = _card(form, node, types, number)
    if card is None:
        return
    if card.id in declared.ids:
        form.faults.found.append(NameTaken(field=form.where("uuid"), noun="card", id=card.id))
    elif len(declared.cards) >= MOST_CARDS:
        raise UnreadableInventory(field=form.where("count"), line=None, detail=f"> {MOST_CARDS} cards")
    else:
        declared.cards.append(card)
        declared.ids.add(card.id)
        if not form.given("uuid"):
            declared.made.add(card.id)


def _card(form: Form, node: Node, types: Sequence[CardType], number: int) -> Card | None:
    """A declared card. On a machine with a meter nobody knows its health before the first look."""
    asked = form.text("type")
    if not asked:
        form.faults.found.append(FieldMissing(field=form.where("type")))
        return None
    found = form.faults.guard(lambda: replace(one_type(asked, types, form.where("type")), version=1), None)
    if found is None:
        return None
    unseen = node.engine == LOCAL and not node.virtual
    return Card(
        id=form.name("uuid", UUID, needed=False) or f"{node.id}-{number}",
        node=node.id,
        index=form.whole("index", 0, MOST_OF_A_LINE, number),
        type=found.id,
        vram_mib=form.memory("vram", found.vram_mib) or found.vram_mib,
        health=Health.UNKNOWN if unseen else Health.OK,
        health_cause=NOT_SEEN_YET if unseen else "",
        lease_ends_at=form.lease("lease_ends"),
        note=form.text("note"),
    )
