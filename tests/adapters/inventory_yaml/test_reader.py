"""The inventory file: what it declares, and every fault of it at once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from paika.adapters.inventory_yaml.reader import NOT_SEEN_YET, read_inventory
from paika.domain.card import Health
from paika.domain.inventory import KeyTwice, UnreadableInventory, WrongShape
from paika.domain.person import Role
from paika.domain.problem import BadValue, FieldMissing, NameTaken, Problem, Several, UnknownField
from paika.domain.quota import Quota
from paika.domain.type_names import AmbiguousCardType, UnknownCardType

LAB = """
pools: [{id: lab, title: 一楼机房}]
nodes:
  - {id: n1, pool: lab, engine: local, lease_ends: 2027-03-31, cards: {type: A100-80G, count: 8}}
  - {id: v1, virtual: true, cards: [{type: RTX 4090, count: 2}, {type: h20, note: 借来的}]}
  - {id: remote7, cards: [{type: H20, uuid: GPU-7a, index: 3}]}
  - {id: n2, engine: local}
teams: [{id: vision, name: 视觉组, quota_cards: 6}, {id: nlp, name: 语言组}]
people:
  - {id: li, name: 李, role: lead, teams: [vision], leads: vision}
  - {id: zhao}
card_types:
  - {id: A100-80G, weight: 1.2}
  - {id: X1, vram: 48G, family: X}
"""


def refused(text: str) -> list[Problem]:
    with pytest.raises(Problem) as caught:
        read_inventory(text)
    return list(caught.value.problems) if isinstance(caught.value, Several) else [caught.value]


def test_a_whole_lab_is_read() -> None:
    lab = read_inventory(LAB, "Asia/Shanghai")
    assert [p.title for p in lab.pools] == ["一楼机房"]
    n1, v1, remote, n2 = lab.nodes
    assert (n1.engine, v1.engine, v1.virtual, remote.engine) == ("local", "local", True, None)
    assert {node.pool for node in lab.nodes} == {"lab"}
    assert n1.lease_ends_at == datetime(2027, 3, 31, 15, 59, 59, tzinfo=UTC)
    assert lab.listed == {"n1", "v1", "remote7"}
    assert n2.id not in lab.listed
    by_node = {node: [c.id for c in lab.cards if c.node == node] for node in ("n1", "v1", "remote7")}
    assert by_node["n1"] == [f"n1-{n}" for n in range(8)]
    assert by_node["v1"] == ["v1-0", "v1-1", "v1-2"]
    assert by_node["remote7"] == ["GPU-7a"]
    assert "GPU-7a" not in lab.made_ids
    assert {"v1-2", "n1-0"} <= lab.made_ids
    cards = {card.id: card for card in lab.cards}
    assert (cards["v1-2"].type, cards["v1-2"].note, cards["v1-2"].index) == ("H20", "借来的", 2)
    assert cards["GPU-7a"].index == 3


def test_only_a_machine_with_a_meter_waits_for_its_first_look() -> None:
    cards = {card.id: card for card in read_inventory(LAB).cards}
    assert (cards["n1-0"].health, cards["n1-0"].health_cause) == (Health.UNKNOWN, NOT_SEEN_YET)
    assert cards["v1-0"].health is Health.OK
    assert cards["GPU-7a"].health is Health.OK


def test_types_that_are_used_or_declared_come_with_it() -> None:
    types = {one.id: one for one in read_inventory(LAB).card_types}
    assert set(types) == {"A100-80G", "X1", "RTX 4090", "H20"}
    assert (types["A100-80G"].weight_milli, types["A100-80G"].vram_mib) == (1200, 81920)
    assert types["A100-80G"].aliases
    assert (types["X1"].vram_mib, types["X1"].family, types["X1"].bandwidth_gb_s) == (49152, "X", None)


def test_people_teams_and_quotas_are_read() -> None:
    lab = read_inventory(LAB)
    assert lab.quotas == (Quota("vision", 6),)
    assert [(p.id, p.role, p.teams, p.leads) for p in lab.people] == [
        ("li", Role.LEAD, ("vision",), ("vision",)),
        ("zhao", Role.MEMBER, (), ()),
    ]


def test_an_empty_file_declares_nothing() -> None:
    assert read_inventory("# nothing yet\n").nodes == ()


def test_a_node_without_a_pool_gets_one() -> None:
    lab = read_inventory("nodes: [{id: a, virtual: true, cards: {type: L4}}]")
    assert [p.id for p in lab.pools] == [lab.nodes[0].pool]


def test_all_faults_are_told_at_once_with_their_lines() -> None:
    problems = refused(
        """
pool: []
nodes:
  - {id: a, lease_end: 2027-01-01, cards: {type: A1OO-80G}}
  - {id: a, cards: {type: A100}}
  - {engine: kubernetes, cards: [{count: 3}]}
  - id: b
    lease_ends: 2027-02-30
    cards: {type: L4, count: 0}
"""
    )
    assert [(type(p), p.field) for p in problems] == [
        (UnknownField, "pool@2"),
        (UnknownField, "nodes[0].lease_end@4"),
        (UnknownCardType, "nodes[0].cards.type@4"),
        (AmbiguousCardType, "nodes[1].cards.type@5"),
        (BadValue, "nodes[2].engine@6"),
        (FieldMissing, "nodes[2].id@6"),
        (BadValue, "nodes[3].lease_ends@8"),
        (BadValue, "nodes[3].cards.count@9"),
        (NameTaken, "nodes[1].id@5"),
    ]


def test_unknown_keys_and_types_come_with_the_nearest_real_ones() -> None:
    key, kind = refused("nodes: [{id: a, lease_end: 2027-01-01, cards: {type: H10}}]")
    assert isinstance(key, UnknownField)
    assert key.nearest[0] == "lease_ends"
    assert isinstance(kind, UnknownCardType)
    assert {"H100", "H20"} <= set(kind.nearest)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("nodes: [", UnreadableInventory),
        ("- a\n- b", UnreadableInventory),
        ("a: &x [1]\nb: *x", UnreadableInventory),
        ("nodes: !!python/object/apply:os.system ['true']", UnreadableInventory),
        ("nodes: {id: a, virtual: yes please}", BadValue),
        ("nodes: 7", WrongShape),
        ("nodes: [7]", WrongShape),
        ("pools: [{id: a, id: b}]", KeyTwice),
        ("pools: [{id: a}, {id: a}]", NameTaken),
        ("pools: [{id: '../a'}]", BadValue),
        ("people: [{id: li, role: god}]", BadValue),
        ("teams: [{id: a, quota_cards: -1}]", BadValue),
        ("card_types: [{id: X1}]", FieldMissing),
        ("card_types: [{id: X1, vram: 48}]", BadValue),
        ("nodes: [{id: a, cards: [{type: L4, uuid: G1}, {type: L4, uuid: G1}]}]", NameTaken),
        ("nodes: [{id: a, cards: [{type: L4, uuid: G1, count: 2}]}]", BadValue),
    ],
)
def test_a_wrong_file_is_refused(text: str, kind: type[Problem]) -> None:
    assert kind in {cls for problem in refused(text) for cls in type(problem).__mro__}


def test_nesting_without_end_is_refused() -> None:
    assert isinstance(refused("[" * 5000)[0], UnreadableInventory)


def test_names_stay_as_written() -> None:
    lab = read_inventory("pools: [{id: 007, title: 2027-01-01}]\npeople: [{id: on}]")
    assert (lab.pools[0].id, lab.pools[0].title, lab.people[0].id) == ("007", "2027-01-01", "on")
