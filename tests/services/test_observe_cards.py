"""What looks lead to. The first story is the field case of one lost card among eight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paika.adapters.in_memory.store import InMemoryStore
from paika.adapters.inventory_yaml.reader import NOT_SEEN_YET, read_inventory
from paika.adapters.meter_nvml.nvidia_smi_csv import read_query
from paika.domain.access import SERVER
from paika.domain.card import Card, CardProcess, CardReading, ExternalUse, Health, Vendor
from paika.domain.catalogue import CATALOGUE
from paika.domain.node import Node
from paika.domain.observed import Observed
from paika.domain.policy import Policy
from paika.domain.records import Change, Records, apply
from paika.domain.run import Run, RunPart
from paika.domain.task import Tier
from paika.ports.meter import Look
from paika.ports.store import AuditQuery
from paika.services.hold_card import CardNotWell, drain_card, undrain_card
from paika.services.load_inventory import load_inventory
from paika.services.observe_cards import MISSING, decide_observation, external_use, observe_cards

CASE = Path(__file__).parent.parent / "cases" / "C31"
T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class At:
    """A clock that stands."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now


class Replay:
    """A meter that gives prepared looks, one call after another."""

    def __init__(self, looks: Iterable[Look]) -> None:
        self._looks = iter(looks)

    def look(self, now: datetime) -> tuple[Look, ...]:
        seen = next(self._looks)
        return (replace(seen, at=now, readings=tuple(replace(one, read_at=now) for one in seen.readings)),)


def said(name: str, at: datetime) -> Look:
    return read_query((CASE / name).read_text(), "n1", at)


def uuid(n: int) -> str:
    return f"GPU-00000000-0000-4000-8000-00000000000{n}"


class Host:
    """One host of the house, looked at again and again."""

    def __init__(self, records: Records | None = None) -> None:
        self.store = InMemoryStore(records or Records(nodes={"n1": Node("n1", "lab", "local")}))
        self.observed = Observed()
        self.now = T0

    def see(self, look: Look, our_pids: frozenset[int] = frozenset()) -> None:
        self.now += MINUTE
        self.observed = observe_cards(self.store, [Replay([look])], self.observed, lambda: our_pids, self.now)

    @property
    def cards(self) -> dict[str, Card]:
        return dict(self.store.read().cards)

    def health(self) -> dict[str, Health]:
        return {key: card.health for key, card in self.cards.items()}


def reading(card: str = "GPU-1", health: Health = Health.OK, **facts: object) -> CardReading:
    given_facts = {"index": 0, "name": "NVIDIA L40S", "vram_total_mib": 46068, "vram_used_mib": 4, "processes": ()}
    return CardReading(card, T0, health, **{**given_facts, **facts})  # type: ignore[arg-type]


def look(*readings: CardReading, vendor: Vendor = Vendor.NVIDIA, node: str = "n1", failed: str | None = None) -> Look:
    return Look(node, vendor, T0, readings, failed)


def test_one_card_is_lost_and_seven_are_fine() -> None:
    host = Host()
    whole = said("query_with_lost.csv", T0)
    host.see(replace(whole, readings=tuple(replace(r, health=Health.OK) for r in whole.readings)))
    assert set(host.health().values()) == {Health.OK}
    before = host.cards

    host.see(whole)
    at_loss = host.now
    lost = host.cards[uuid(2)]
    assert (lost.health, lost.health_cause, lost.health_since) == (Health.LOST, "gpu is lost", at_loss)
    assert host.cards[uuid(5)].health is Health.NEEDS_RESET
    assert lost.vram_mib == 81920
    assert host.observed.readings[uuid(2)].vram_used_mib is None
    others = [uuid(n) for n in (0, 1, 3, 4, 6, 7)]
    assert {key: host.cards[key] for key in others} == {key: before[key] for key in others}

    host.see(said("query_after_drop.csv", T0))
    assert host.cards[uuid(2)].health is Health.LOST
    assert host.cards[uuid(2)].health_since == at_loss
    assert [host.cards[uuid(n)].index for n in (0, 1, 3, 4, 5, 6, 7)] == list(range(7))
    for key in others:
        assert replace(host.cards[key], index=before[key].index, version=1) == before[key]

    for failing in ("smi_fail_stderr.txt", "smi_no_devices.txt", "smi_driver_mismatch.txt"):
        host.see(said(failing, T0))
        assert {host.health()[key] for key in others} == {Health.UNKNOWN}, failing
        assert host.cards[uuid(2)].health is Health.LOST
        assert host.cards[uuid(5)].health is Health.NEEDS_RESET
        assert len(host.cards) == 8
    first_failure = host.now - 2 * MINUTE
    assert host.observed.failed["n1", Vendor.NVIDIA].since == first_failure

    host.see(said("query_after_drop.csv", T0))
    assert {host.health()[key] for key in others} == {Health.OK}
    assert not host.observed.failed


def test_a_lost_card_comes_back_when_it_is_well_and_a_person_says_so() -> None:
    host = Host()
    host.see(look(reading()))
    host.see(look(reading(health=Health.LOST)))
    with pytest.raises(CardNotWell):
        undrain_card(host.store, At(host.now), SERVER, "GPU-1", host.observed.readings)
    for _ in range(5):
        host.see(look(reading()))
        assert host.cards["GPU-1"].health is Health.LOST
    undrain_card(host.store, At(host.now), SERVER, "GPU-1", host.observed.readings)
    assert host.cards["GPU-1"].health is Health.OK
    host.see(look(reading()))
    assert host.cards["GPU-1"].health is Health.OK


def test_the_policy_may_bring_it_back_after_looks_in_a_row() -> None:
    node = {"n1": Node("n1", "lab", "local")}
    host = Host(Records(nodes=node, policy=Policy(card_returns_after_looks=3)))
    host.see(look(reading()))
    host.see(look(reading(health=Health.LOST)))
    fates = []
    for seen in (look(reading()), look(reading()), look(failed="x"), *[look(reading())] * 3):
        host.see(seen)
        fates.append(host.cards["GPU-1"].health)
    assert fates == [Health.LOST] * 5 + [Health.OK]
    assert host.observed.well_looks == {}


def test_a_card_that_a_person_drained_stays_so_whatever_is_seen() -> None:
    node = {"n1": Node("n1", "lab", "local")}
    host = Host(Records(nodes=node, policy=Policy(card_returns_after_looks=1)))
    host.see(look(reading()))
    drain_card(host.store, At(host.now), SERVER, "GPU-1", "fan noise")
    for seen in (look(reading()), look(failed="x"), look(reading())):
        host.see(seen)
        assert host.cards["GPU-1"].health is Health.DRAINING
    host.see(look(reading(health=Health.LOST)))
    assert host.cards["GPU-1"].health is Health.LOST
    host.see(look(reading()))
    assert host.cards["GPU-1"].health is Health.LOST
    assert "fan noise" in host.cards["GPU-1"].health_cause


def test_a_card_missing_from_a_good_look_is_lost_and_others_vendors_are_not() -> None:
    host = Host()
    host.see(look(reading("GPU-1"), reading("GPU-2", index=1)))
    host.see(look(reading("NPU-1", name="910B3", vram_total_mib=65536), vendor=Vendor.ASCEND))
    host.see(look(reading("GPU-2")))
    assert host.health() == {"GPU-1": Health.LOST, "GPU-2": Health.OK, "NPU-1": Health.OK}
    assert host.cards["GPU-1"].health_cause == MISSING
    assert host.cards["GPU-2"].index == 0
    host.see(look(failed="no npu-smi", vendor=Vendor.ASCEND))
    assert host.health() == {"GPU-1": Health.LOST, "GPU-2": Health.OK, "NPU-1": Health.UNKNOWN}


def test_new_cards_are_added_with_their_type_and_nothing_is_invented() -> None:
    host = Host()
    host.see(
        look(
            reading("GPU-1"),
            reading("GPU-2", name="NVIDIA T1000 8GB", vram_total_mib=8192),
            reading("GPU-3", name=None),
            reading("GPU-4", name="NVIDIA X", vram_total_mib=None),
        )
    )
    records = host.store.read()
    assert {key: card.type for key, card in records.cards.items()} == {"GPU-1": "L40S", "GPU-2": "T1000 8GB"}
    assert {"L40S", "T1000 8GB"} == set(records.card_types)
    assert len(host.observed.oddities["n1", Vendor.NVIDIA]) == 2


def test_an_unknown_node_changes_nothing_and_is_told() -> None:
    host = Host()
    host.see(look(reading(), node="elsewhere"))
    assert host.cards == {}
    assert host.observed.oddities


LAB = """
nodes:
  - {id: n1, engine: local, lease_ends: 2027-03-31, cards: {type: A100-80G, count: 3, note: 新}}
  - {id: v1, virtual: true, cards: {type: L4, count: 1}}
"""


def declared() -> Host:
    host = Host(Records())
    load_inventory(host.store, At(T0), SERVER, read_inventory(LAB))
    return host


def test_declared_cards_are_known_by_their_uuid_once_seen() -> None:
    host = declared()
    assert host.cards["n1-0"].health_cause == NOT_SEEN_YET
    a800 = {"name": "NVIDIA A800-SXM4-80GB", "vram_total_mib": 81920}
    host.see(look(reading("GPU-b", index=1, **a800), reading("GPU-a", index=0, **a800)))
    assert {c.id: (c.index, c.type, c.note, c.health) for c in host.cards.values() if c.node == "n1"} == {
        "GPU-a": (0, "A800-80G", "新", Health.OK),
        "GPU-b": (1, "A800-80G", "新", Health.OK),
        "n1-2": (2, "A100-80G", "新", Health.LOST),
    }
    assert load_inventory(host.store, At(T0), SERVER, read_inventory(LAB)) == ()


def test_a_declared_card_is_found_by_its_index_first() -> None:
    host = Host(Records())
    two = "nodes: [{id: n1, engine: local, cards: [{type: L40S, note: left}, {type: L40S, note: right}]}]"
    load_inventory(host.store, At(T0), SERVER, read_inventory(two))
    host.see(look(reading("GPU-b", index=1), reading("GPU-a", index=0)))
    assert {card.id: card.note for card in host.cards.values()} == {"GPU-a": "left", "GPU-b": "right"}


def test_a_look_at_real_cards_says_nothing_of_virtual_ones() -> None:
    host = declared()
    host.see(look(reading("GPU-a")))
    host.see(look(reading("GPU-x"), node="v1"))
    host.see(look(vendor=Vendor.VIRTUAL))
    assert "GPU-x" not in host.cards
    assert len(host.observed.oddities) == 2
    assert host.cards["v1-0"].health is Health.OK
    host.see(look(node="v1", vendor=Vendor.VIRTUAL))
    assert host.cards["v1-0"].health is Health.LOST
    assert host.cards["GPU-a"].health is Health.OK


def test_a_look_from_before_a_release_does_not_undo_it() -> None:
    host = Host()
    host.see(look(reading()))
    host.see(look(reading(health=Health.LOST)))
    host.see(look(reading()))
    undrain_card(host.store, At(host.now + 5 * MINUTE), SERVER, "GPU-1", host.observed.readings)
    host.see(look(reading(health=Health.LOST)))
    assert host.cards["GPU-1"].health is Health.OK
    host.now += 5 * MINUTE
    host.see(look(reading(health=Health.LOST)))
    assert host.cards["GPU-1"].health is Health.LOST


def run_on(card: str) -> Run:
    return Run("r1", "t1", 1, "x", "li", "vision", Tier.NORMAL, (RunPart("n1", (card,)),), 100, T0, "local")


OTHER = CardProcess(4242, 20000, "wang", "python train.py")
OURS = CardProcess(7, 100, "paika", "python")


@pytest.mark.parametrize(
    ("facts", "ours", "expected"),
    [
        ({"processes": (OTHER,)}, False, (20000, ("wang",), (4242,))),
        ({"processes": (OURS, OTHER)}, True, (20000, ("wang",), (4242,))),
        ({"processes": (OURS,)}, True, None),
        ({"processes": (OURS,), "vram_used_mib": 40000}, False, None),
        ({"processes": (), "vram_used_mib": 626}, False, None),
        ({"processes": None, "vram_used_mib": 626}, False, None),
        ({"processes": None, "vram_used_mib": 40000}, False, (40000, (), ())),
        ({"processes": (), "vram_used_mib": 40000}, False, (40000, (), ())),
        ({"processes": None, "vram_used_mib": 40000}, True, None),
        ({"processes": None, "vram_used_mib": None}, False, None),
        ({"processes": (replace(OTHER, vram_mib=None, user=None),)}, False, (None, (), (4242,))),
        ({"processes": None, "vram_used_mib": 40, "partitioned": True}, False, (40, (), ())),
        ({"processes": (OTHER,), "health": Health.LOST}, False, None),
    ],
)
def test_use_by_others(facts: dict[str, object], ours: bool, expected: tuple[object, ...] | None) -> None:
    found = external_use(reading(**facts), {7}, T0, ours=ours)  # type: ignore[arg-type]
    assert found == (None if expected is None else ExternalUse("GPU-1", T0, *expected))  # type: ignore[arg-type]


def test_use_by_others_keeps_its_beginning_and_ends_with_it() -> None:
    host = Host()
    host.see(look(reading(processes=(OTHER,))))
    began = host.now
    host.see(look(reading(processes=(replace(OTHER, vram_mib=30000),))))
    assert host.observed.external["GPU-1"].since == began
    assert host.observed.external["GPU-1"].vram_mib == 30000
    host.see(look(failed="x"))
    assert host.observed.external["GPU-1"].since == began
    assert "GPU-1" not in host.observed.readings
    host.see(look(reading()))
    assert host.observed.external == {}


def test_our_own_run_is_no_outsider() -> None:
    host = Host()
    host.see(look(reading()))
    host.store.update(lambda _: Change(puts=(run_on("GPU-1"),)))
    host.see(look(reading(processes=(OURS,), vram_used_mib=40000)), frozenset({7}))
    assert host.observed.external == {}


def test_every_change_of_a_card_is_audited_by_the_server() -> None:
    host = Host()
    host.see(look(reading()))
    host.see(look(reading(health=Health.NEEDS_RESET)))
    host.see(look(reading(index=4)))
    host.see(look(reading(index=4)))
    acts = [(e.act, e.person, e.new.get("health")) for e in host.store.audit(AuditQuery(noun="card")).rows]
    assert acts == [
        ("card_changed", "server", None),
        ("card_needs_reset", "server", "needs_reset"),
        ("card_added", "server", "ok"),
    ]


def test_a_quiet_look_writes_nothing() -> None:
    host = Host()
    host.see(look(reading()))
    version = host.store.read().version
    host.see(look(reading(busy_percent=97, vram_used_mib=9)))
    assert host.store.read().version == version
    assert host.observed.readings["GPU-1"].busy_percent == 97


# -- laws -----------------------------------------------------------------------------------------

CARDS = ("GPU-1", "GPU-2", "GPU-3")
sights = st.dictionaries(
    st.sampled_from(CARDS), st.sampled_from([Health.OK, Health.OK, Health.LOST, Health.NEEDS_RESET])
)
histories = st.lists(st.one_of(st.none(), sights), max_size=12)


@given(histories)
def test_no_history_of_looks_brings_a_withdrawn_card_back_or_loses_one_unseen(
    history: list[dict[str, Health] | None],
) -> None:
    records = Records(nodes={"n1": Node("n1", "lab", "local")}, card_types={t.id: t for t in CATALOGUE})
    observed = Observed()
    at = T0
    for sight in history:
        at += MINUTE
        readings = tuple(replace(reading(card, health), read_at=at) for card, health in (sight or {}).items())
        seen = Look("n1", Vendor.NVIDIA, at, readings, "broken" if sight is None else None)
        before = {card.id: card.health for card in records.cards.values()}
        decided = decide_observation(records, observed, [seen], frozenset())
        records, observed = apply(records, decided.change), decided.observed
        after = {card.id: card.health for card in records.cards.values()}
        assert set(before) <= set(after)
        for card, old in before.items():
            if sight is None:
                assert after[card] in (old, Health.UNKNOWN)
                assert not (old is not Health.OK and after[card] is not old)
            elif card not in sight:
                assert after[card] is Health.LOST
            elif sight[card] is Health.OK:
                withdrawn = old in (Health.LOST, Health.NEEDS_RESET)
                assert after[card] is (old if withdrawn else Health.OK)
            else:
                assert after[card] is sight[card]
        assert bool(observed.failed) is (sight is None)
