"""Floors of teams: promised only where they fit, changed, taken back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import T0, Lab

from paika.domain.access import Forbidden, Scope
from paika.domain.guarantee import Guarantee, NoRoomForGuarantee
from paika.domain.problem import BadValue, NotFound, VersionConflict
from paika.domain.reservation import Purpose, Reservation
from paika.domain.task import Tier
from paika.ports.store import AuditQuery
from paika.services.access_form import read_edit
from paika.services.booking_form import GUARANTEE
from paika.services.grant_guarantee import remove_guarantee, see_guarantees, set_guarantee

HOUR = timedelta(hours=1)


@pytest.fixture
def lab() -> Lab:
    return Lab()


def grant(lab: Lab, team: str = "vision", *, by: str = "ann", if_version=None, dry_run=False, **form):
    edit = read_edit(GUARANTEE, {"cards": 2, **form}, "UTC", whole=True)
    return set_guarantee(
        lab.store, lab.clock, lab.actor(by), team, edit, if_version=if_version, dry_run=dry_run
    ).guarantee


def test_a_floor_is_set_changed_and_taken_back(lab):
    first = grant(lab, types="A100", cards=4, together=2, note="paper", reason="for the paper")
    assert first == Guarantee("vision/A100-80G", "vision", 4, ("A100-80G",), 2, "paper")
    assert grant(lab, types="A100-80G", cards=2, if_version=1) == replace(first, cards=2, together=1, version=2)
    with pytest.raises(VersionConflict):
        grant(lab, types="A100", cards=3, if_version=1)
    remove_guarantee(lab.store, lab.clock, lab.actor("ann"), first.id, why="done")
    assert lab.records.guarantees == {}
    told = [(line.act, line.why) for line in lab.store.audit(AuditQuery("guarantee")).rows]
    assert told == [("remove_guarantee", "done"), ("set_guarantee", ""), ("set_guarantee", "for the paper")]
    with pytest.raises(NotFound):
        remove_guarantee(lab.store, lab.clock, lab.actor("ann"), first.id)


def test_the_same_again_writes_nothing_but_the_audit(lab):
    grant(lab)
    version = lab.records.guarantees["vision"].version
    assert grant(lab).version == version
    assert lab.records.guarantees["vision"].version == version


def test_only_an_admin_promises_and_the_attempt_is_kept(lab):
    for by in ("lea", "mia"):
        with pytest.raises(Forbidden):
            grant(lab, by=by)
    few = lab.actor("ann", Scope.MANAGE)
    edit = read_edit(GUARANTEE, {"cards": 1}, "UTC")
    with pytest.raises(Forbidden):
        set_guarantee(lab.store, lab.clock, few, "vision", edit)
    assert [line.result for line in lab.store.audit(AuditQuery("guarantee")).rows] == ["access.forbidden"] * 3


def test_what_the_house_has_not_is_not_promised(lab):
    grant(lab, "text", types="RTX4090", cards=2)
    with pytest.raises(NoRoomForGuarantee) as refusal:
        grant(lab, cards=5)
    facts = refusal.value
    assert (facts.at, facts.guarantee, facts.cards, facts.together, facts.room) == (T0, "vision", 5, 1, 4)
    with pytest.raises(NoRoomForGuarantee):
        grant(lab, cards=6, together=6)
    assert grant(lab, cards=4, together=4).cards == 4
    assert lab.store.audit(AuditQuery("guarantee")).rows[1].result == "guarantee.no_room"


def test_the_instant_at_which_a_lease_ends_or_a_booking_begins_is_named(lab):
    lab.put(replace(lab.records.cards["a3"], lease_ends_at=T0 + 48 * HOUR, version=2))
    with pytest.raises(NoRoomForGuarantee) as refusal:
        grant(lab, cards=4, together=4)
    assert (refusal.value.at, refusal.value.room) == (T0 + 48 * HOUR, 0)
    booked = Reservation("b-1", Purpose.BOOKING, "text", "leo", ("a0", "a1"), 2, T0 + HOUR, T0 + 2 * HOUR)
    lab.put(booked)
    with pytest.raises(NoRoomForGuarantee) as refusal:
        grant(lab, types="A100", cards=3)
    assert (refusal.value.at, refusal.value.room) == (T0 + HOUR, 2)
    assert grant(lab, types="A100", cards=2).cards == 2


def test_a_promise_that_no_longer_fits_can_still_be_made_smaller_and_does_not_bar_others(lab):
    grant(lab, types="A100", cards=4)
    lab.put(replace(lab.records.cards["a3"], lease_ends_at=T0 + HOUR, version=2))
    lab.put(replace(lab.records.cards["a2"], lease_ends_at=T0 + HOUR, version=2))
    assert grant(lab, types="A100", cards=3).cards == 3
    assert grant(lab, "text", types="RTX4090", cards=2).cards == 2
    with pytest.raises(NoRoomForGuarantee):
        grant(lab, types="A100", cards=4)


def test_blocks_must_come_out_even(lab):
    with pytest.raises(BadValue):
        grant(lab, cards=3, together=2)


def test_a_dry_run_says_the_same_and_writes_nothing(lab):
    assert grant(lab, dry_run=True).cards == 2
    with pytest.raises(NoRoomForGuarantee):
        grant(lab, cards=50, dry_run=True)
    assert lab.records.guarantees == {}
    assert lab.store.audit(AuditQuery("guarantee")).rows == ()


def test_what_core_tasks_hold_is_told_beside_the_floor(lab):
    grant(lab, types="A100")
    lab.run(lab.submit("lea", tier="core"), "a0", tier=Tier.CORE)
    lab.run(lab.submit("mia"), "a1")
    (seen,) = see_guarantees(lab.records)
    assert (seen.team.name, seen.held_parts) == ("视觉组", 100)
