"""Reservations as time goes on: who came, who did not, who comes off the waiting list."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import T0, Lab

from paika.domain.quota import Quota
from paika.domain.records import Change
from paika.domain.reservation import Purpose, Reservation, ReservationState
from paika.domain.run import RunState
from paika.ports.store import AuditQuery
from paika.services.follow_reservations import follow_reservations, listed_that_fit, no_shows

HOUR = timedelta(hours=1)
BOOKED = Reservation(
    "b-1", Purpose.BOOKING, "vision", "lea", ("a0", "a1"), 2, T0 + HOUR, T0 + 5 * HOUR, approved_by="lea",
    asked_cards=("a0", "a1"), created_at=T0,
)  # fmt: skip
LISTED = replace(BOOKED, id="b-2", cards=(), state=ReservationState.LISTED, created_at=T0 + timedelta(minutes=1))


@pytest.fixture
def lab() -> Lab:
    return Lab()


def follow(lab: Lab, *ends, **span: float) -> Change:
    lab.clock.move(**span)
    told: list[Change] = []

    def decide(records):
        told[:] = [follow_reservations(records, lab.clock.now(), ends)]
        return told[0]

    lab.store.update(decide)
    return told[0]


def state(lab: Lab, key: str = "b-1") -> str:
    return lab.records.reservations[key].state.value


def test_nobody_who_came_in_time_loses_his_cards(lab):
    lab.put(BOOKED)
    assert follow(lab, minutes=30).empty
    follow(lab, minutes=30)
    assert lab.records.reservations["b-1"].waits_since == T0 + HOUR
    lab.run(lab.submit("mia"), "a1")
    follow(lab, minutes=10)
    run = lab.records.runs["t-1.r1"]
    lab.put(replace(run, state=RunState.ENDED, ended_at=lab.clock.now(), version=2))
    assert follow(lab, hours=2).empty  # he came; what he does with the rest of his window is his affair
    assert state(lab) == "booked"


def test_who_does_not_come_loses_them_after_the_time_of_the_policy(lab):
    lab.put(BOOKED)
    follow(lab, hours=1)
    assert follow(lab, seconds=lab.records.policy.no_show_s - 1).empty
    follow(lab, seconds=1)
    one = lab.records.reservations["b-1"]
    assert (one.state, one.state_cause, one.state_since) == (ReservationState.RELEASED, "no_show", lab.clock.now())
    (line,) = lab.store.audit(AuditQuery("reservation", "b-1")).rows
    assert (line.act, line.person) == ("release_booking", "server")
    assert follow(lab, minutes=1).empty


def test_others_on_the_cards_are_not_who_it_is_for(lab):
    lab.put(replace(BOOKED, task="t-7"))
    follow(lab, hours=1)
    lab.run(lab.submit("mia"), "a2")
    follow(lab, minutes=30)
    assert state(lab) == "released"


def test_while_others_hold_the_cards_past_the_start_nobody_can_be_late(lab):
    lab.put(BOOKED)
    lab.run(lab.submit("tim"), "a1")
    assert follow(lab, hours=2).empty
    assert state(lab) == "booked"
    run = lab.records.runs["t-1.r1"]
    lab.put(replace(run, state=RunState.ENDED, ended_at=lab.clock.now(), version=2))
    follow(lab)
    assert lab.records.reservations["b-1"].waits_since == T0 + 2 * HOUR
    assert follow(lab, minutes=29).empty
    follow(lab, minutes=1)
    assert state(lab) == "released"


def test_a_server_that_was_away_gives_the_whole_time_again(lab):
    lab.put(BOOKED)
    follow(lab, hours=3)
    assert state(lab) == "booked"
    assert no_shows(lab.records, lab.clock.now()) == ()
    assert len(no_shows(lab.records, lab.clock.move(minutes=30))) == 1


def test_a_short_visit_between_two_looks_counts(lab):
    lab.put(BOOKED)
    follow(lab, hours=1)
    run = lab.run(lab.submit("mia"), "a0")
    ended = replace(run, state=RunState.ENDED, ended_at=lab.clock.now() + timedelta(minutes=5), version=2)
    lab.put(ended)
    follow(lab, ended, minutes=30)
    assert state(lab) == "booked"
    assert lab.records.reservations["b-1"].came_at == lab.clock.now()


def test_a_visit_before_the_window_is_none(lab):
    lab.put(BOOKED)
    run = lab.run(lab.submit("mia"), "a0")
    early = replace(run, state=RunState.ENDED, ended_at=T0 + timedelta(minutes=5), version=2)
    lab.put(early)
    follow(lab, early, hours=1)
    follow(lab, early, minutes=30)
    assert state(lab) == "released"


def test_maintenance_is_for_nobody_so_nobody_is_late(lab):
    lab.put(replace(BOOKED, purpose=Purpose.MAINTENANCE, team=""))
    follow(lab, hours=1)
    assert follow(lab, hours=1).empty


def test_the_waiting_list_is_served_when_cards_come_free(lab):
    lab.put(BOOKED, LISTED)
    assert follow(lab).empty
    lab.put(replace(BOOKED, state=ReservationState.CANCELLED, version=2))
    follow(lab, minutes=10)
    one = lab.records.reservations["b-2"]
    assert (one.state, one.cards, one.state_since, one.version) == (
        ReservationState.BOOKED, ("a0", "a1"), lab.clock.now(), 2,
    )  # fmt: skip
    assert [line.act for line in lab.store.audit(AuditQuery("reservation", "b-2")).rows] == ["book_listed"]


def test_a_no_show_serves_the_waiting_list_in_the_same_look(lab):
    lab.put(BOOKED, LISTED)
    follow(lab, hours=1)
    follow(lab, minutes=30)
    assert (state(lab), state(lab, "b-2")) == ("released", "booked")
    assert lab.records.reservations["b-2"].starts_at == lab.clock.now()  # what lies before now was nobody's


def test_first_come_first_served_and_each_beside_the_others(lab):
    second = replace(LISTED, id="b-10", created_at=T0 + timedelta(minutes=2))
    small = replace(
        second, id="b-4", created_at=T0 + timedelta(minutes=3), asked_cards=(), wanted=1, card_types=("A100-80G",)
    )
    lab.put(second, LISTED, small)
    served = listed_that_fit(lab.records, T0)
    assert [(one.id, one.cards) for one in served] == [("b-2", ("a0", "a1")), ("b-4", ("a2",))]


def test_what_nobody_approved_is_not_served(lab):
    lab.put(replace(LISTED, approved_by=""))
    assert follow(lab).empty


def test_the_quota_holds_for_the_waiting_list_too(lab):
    lab.put(LISTED, Quota("vision", 1))
    assert follow(lab).empty


def test_what_never_came_free_is_over_with_its_window(lab):
    lab.put(BOOKED, LISTED)
    lab.run(lab.submit("mia"), "a0")
    follow(lab, hours=5)
    one = lab.records.reservations["b-2"]
    assert (one.state, one.state_cause) == (ReservationState.RELEASED, "expired")
    assert follow(lab, hours=1).empty
