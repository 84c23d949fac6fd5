"""Cards and nodes taken out of use by a person."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.lab import Lab

from paika.domain.access import Forbidden
from paika.domain.card import CardReading, Health
from paika.domain.node import NodeState
from paika.domain.problem import FieldMissing
from paika.domain.task import IllegalStep
from paika.ports.store import AuditQuery
from paika.services.hold_card import CardNotWell, drain_card, drain_node, undrain_card, undrain_node


@pytest.fixture
def lab() -> Lab:
    return Lab()


def test_a_card_is_drained_with_a_reason_and_given_back(lab):
    drained = drain_card(lab.store, lab.clock, lab.actor("ann"), "a0", "new fan")
    assert (drained.health, drained.health_cause, drained.health_since) == (
        Health.DRAINING,
        "ann: new fan",
        lab.clock.now(),
    )
    assert undrain_card(lab.store, lab.clock, lab.actor("ann"), "a0", {}).health is Health.OK
    assert [entry.act for entry in lab.store.audit(AuditQuery("card", "a0")).rows] == ["undrain_card", "drain_card"]


def test_a_drain_needs_a_reason_and_a_right(lab):
    with pytest.raises(FieldMissing):
        drain_card(lab.store, lab.clock, lab.actor("ann"), "a0", "")
    with pytest.raises(Forbidden):
        drain_card(lab.store, lab.clock, lab.actor("lea"), "a0", "mine")


@pytest.mark.parametrize("health", [Health.LOST, Health.NEEDS_RESET])
def test_a_card_that_was_ill_comes_back_only_when_seen_well_since(lab, health):
    ill_since = lab.clock.now()
    lab.put(replace(lab.records.cards["a0"], health=health, health_since=ill_since, version=2))
    seen_before = {"a0": CardReading("a0", lab.clock.move(minutes=-1), Health.OK)}
    ill = {"a0": CardReading("a0", lab.clock.move(minutes=5), health)}
    for readings in ({}, seen_before, ill):
        with pytest.raises(CardNotWell):
            undrain_card(lab.store, lab.clock, lab.actor("ann"), "a0", readings)
    well = {"a0": CardReading("a0", lab.clock.now(), Health.OK)}
    assert undrain_card(lab.store, lab.clock, lab.actor("ann"), "a0", well).health is Health.OK


def test_a_lost_card_stays_lost_rather_than_drained(lab):
    lab.put(replace(lab.records.cards["a0"], health=Health.LOST, version=2))
    with pytest.raises(IllegalStep):
        drain_card(lab.store, lab.clock, lab.actor("ann"), "a0", "x")


def test_a_node_is_drained_and_given_back_but_not_raised_from_the_dead(lab):
    assert drain_node(lab.store, lab.clock, lab.actor("ann"), "n1", "move").state is NodeState.DRAINED
    assert undrain_node(lab.store, lab.clock, lab.actor("ann"), "n1").state is NodeState.UP
    lab.put(replace(lab.records.nodes["n2"], state=NodeState.DOWN, version=2))
    with pytest.raises(IllegalStep):
        undrain_node(lab.store, lab.clock, lab.actor("ann"), "n2")
