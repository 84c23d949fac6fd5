"""Loading an inventory: added, changed, removed and drained, once and again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from paika.adapters.in_memory.store import InMemoryStore
from paika.adapters.inventory_yaml.reader import read_inventory
from paika.domain.access import SERVER, Actor, Forbidden, Scope
from paika.domain.card import Health
from paika.domain.inventory import Inventory, UnknownName
from paika.domain.node import NodeState
from paika.domain.person import Role
from paika.domain.records import Change, Noun, Records
from paika.domain.run import Run, RunPart, RunState
from paika.domain.task import Tier
from paika.ports.store import AuditQuery
from paika.services.load_inventory import CAUSE, decide_loading, load_inventory

T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
LAB = """
pools: [{id: lab}]
nodes:
  - {id: n1, engine: local, cards: {type: A100-80G, count: 2}}
  - {id: v1, virtual: true, cards: {type: RTX 4090, count: 2}}
teams: [{id: vision, quota_cards: 6}]
people: [{id: li, teams: [vision]}]
"""


class Noon:
    def now(self) -> datetime:
        return T0


def loaded(text: str = LAB) -> InMemoryStore:
    store = InMemoryStore()
    load_inventory(store, Noon(), SERVER, read_inventory(text))
    return store


def put(store: InMemoryStore, *nouns: Noun) -> None:
    store.update(lambda _: Change(puts=nouns))


def run_on(node: str, *cards: str) -> Run:
    return Run("r1", "t1", 1, "x", "li", "vision", Tier.NORMAL, (RunPart(node, cards),), 100, T0, "local")


def told(store: InMemoryStore, text: str, *, dry_run: bool = False) -> set[tuple[str, str, str]]:
    found = load_inventory(store, Noon(), SERVER, read_inventory(text), dry_run=dry_run)
    return {(one.act, one.noun, one.id) for one in found}


def test_a_lab_comes_into_being_and_each_noun_is_audited() -> None:
    store = loaded()
    records = store.read()
    assert set(records.cards) == {"n1-0", "n1-1", "v1-0", "v1-1"}
    assert set(records.card_types) == {"A100-80G", "RTX 4090"}
    assert records.quotas["vision"].max_cards == 6
    audit = store.audit(AuditQuery()).rows
    assert {entry.subject for entry in audit} >= {"n1", "v1-1", "vision", "li", "lab"}


def test_the_same_file_again_changes_nothing() -> None:
    store = loaded()
    before = store.read()
    assert told(store, LAB) == set()
    assert store.read() is before


def test_a_dry_run_tells_the_same_and_writes_nothing() -> None:
    store = loaded()
    shorter = LAB.replace("count: 2", "count: 1").replace("quota_cards: 6", "quota_cards: 4")
    before = store.read()
    dry = told(store, shorter, dry_run=True)
    assert store.read() is before
    assert dry == {("removed", "card", "n1-1"), ("removed", "card", "v1-1"), ("changed", "quota", "vision")}
    assert told(store, shorter) == dry
    assert set(store.read().cards) == {"n1-0", "v1-0"}


def test_a_difference_names_old_and_new() -> None:
    (one,) = load_inventory(loaded(), Noon(), SERVER, read_inventory(LAB.replace("{id: lab}", "{id: lab, title: 楼}")))
    assert (one.old, one.new) == ((("title", ""),), (("title", "楼"),))


def test_cards_with_running_work_are_drained_and_lifted_again() -> None:
    store = loaded()
    put(store, run_on("v1", "v1-1"))
    shorter = LAB.replace("{type: RTX 4090, count: 2}", "{type: RTX 4090, count: 1}")
    assert told(store, shorter) == {("drained", "card", "v1-1")}
    assert told(store, shorter) == set()
    card = store.read().cards["v1-1"]
    assert (card.health, card.health_cause) == (Health.DRAINING, CAUSE)
    told(store, LAB)
    assert store.read().cards["v1-1"].health is Health.OK


def test_a_node_goes_when_its_work_is_done() -> None:
    store = loaded()
    put(store, run_on("v1", "v1-1"))
    without = "\n".join(line for line in LAB.splitlines() if "v1" not in line)
    assert told(store, without) == {("removed", "card", "v1-0"), ("drained", "card", "v1-1"), ("drained", "node", "v1")}
    assert store.read().nodes["v1"].state is NodeState.DRAINED
    put(store, replace(run_on("v1", "v1-1"), state=RunState.ENDED, version=2))
    assert told(store, without) == {("removed", "card", "v1-1"), ("removed", "node", "v1")}


def test_what_was_seen_is_not_overwritten() -> None:
    """A meter put UUIDs in the place of made ids; the count in the file still means these cards."""
    store = loaded()
    old = store.read().cards
    seen = [
        replace(
            old[f"n1-{n}"], id=f"GPU-{n}", index=1 - n, vram_mib=81000, vendor_name="NVIDIA A100", health=Health.LOST
        )
        for n in range(2)
    ]
    store.update(lambda r: Change(puts=tuple(seen), removed=(r.cards["n1-0"], r.cards["n1-1"])))
    assert told(store, LAB) == set()
    leased = LAB.replace("count: 2}", "count: 2, lease_ends: 2027-01-01}", 1)
    assert told(store, leased) == {("changed", "card", "GPU-0"), ("changed", "card", "GPU-1")}
    card = store.read().cards["GPU-0"]
    assert (card.index, card.vram_mib, card.health) == (1, 81000, Health.LOST)
    assert card.lease_ends_at is not None


def test_a_card_that_a_meter_sees_stays_whatever_the_file_says() -> None:
    store = loaded()
    extra = replace(store.read().cards["n1-0"], id="GPU-9", vendor_name="NVIDIA A100", health=Health.OK)
    put(store, extra)
    told(store, LAB.replace("count: 2}", "count: 1}", 1))
    assert "GPU-9" in store.read().cards
    put(store, replace(extra, health=Health.LOST, version=store.read().cards["GPU-9"].version + 1))
    none_here = LAB.replace("{type: A100-80G, count: 2}", "[]")
    assert ("removed", "card", "GPU-9") in told(store, none_here)


def test_a_card_moves_with_its_uuid() -> None:
    one = "nodes: [{id: a, cards: [{type: L4, uuid: G1}]}, {id: b, cards: []}]"
    store = loaded(one)
    moved = one.replace("{id: b, cards: []}", "{id: b, cards: [{type: L4, uuid: G1}]}").replace(
        "{id: a, cards: [{type: L4, uuid: G1}]}", "{id: a, cards: []}"
    )
    assert told(store, moved) == {("changed", "card", "G1")}
    assert store.read().cards["G1"].node == "b"


def test_a_switched_off_team_stays_off() -> None:
    store = loaded()
    put(store, replace(store.read().teams["vision"], active=False, version=2))
    assert told(store, LAB) == set()
    assert not store.read().teams["vision"].active


def test_names_that_stand_nowhere_are_refused_with_the_nearest() -> None:
    wrong = read_inventory("pools: [{id: lab}, {id: attic}]\nnodes: [{id: n1, pool: lap}]")
    with pytest.raises(UnknownName) as refused:
        decide_loading(Records(), wrong, SERVER, T0)
    assert (refused.value.id, refused.value.nearest) == ("lap", ("lab",))


def test_who_may_not_is_refused_also_in_a_dry_run() -> None:
    store = loaded()
    member = Actor("li", Role.MEMBER, (Scope.ADMIN,))
    for dry_run in (False, True):
        with pytest.raises(Forbidden):
            load_inventory(store, Noon(), member, Inventory(), dry_run=dry_run)
    results = [entry.result for entry in store.audit(AuditQuery(person="li")).rows]
    assert results == ["access.forbidden"]
