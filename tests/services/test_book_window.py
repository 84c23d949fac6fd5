"""Windows booked in advance: by whom, on which cards, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import GIB, T0, Lab, waiting

from paika.domain.access import Forbidden, Scope
from paika.domain.card import Card, Health
from paika.domain.guarantee import Guarantee, NoRoomForGuarantee
from paika.domain.node import Node
from paika.domain.problem import BadValue, FieldMissing, KeyReused, NotFound, Several, VersionConflict
from paika.domain.quota import Quota
from paika.domain.reservation import (
    LeaseEndsInside,
    PastWindow,
    Purpose,
    Reservation,
    ReservationClash,
    ReservationOver,
    ReservationOverQuota,
    ReservationState,
    TooFewToBook,
    WindowBegun,
    WindowFull,
)
from paika.domain.task import IllegalStep
from paika.ports.store import AuditQuery
from paika.services.access_form import read_edit
from paika.services.book_window import Desk, approve_booking, book, cancel_booking, edit_booking
from paika.services.booking_form import BOOKING
from paika.services.see_bookings import Booked, see_bookings
from paika.services.submit_task import ChooseTeam, NotInTeam

HOUR = timedelta(hours=1)


@pytest.fixture
def lab() -> Lab:
    return Lab()


def desk(lab: Lab, person: str, *scopes: Scope, live=None) -> Desk:
    return Desk(lab.store, lab.clock, lab.actor(person, *scopes), live)


def ask(lab: Lab, by: str = "lea", *, key=None, dry_run=False, live=None, starts=1.0, **form) -> Booked:
    raw = {"starts_at": T0 + starts * HOUR, "duration": "1h", **form}
    return book(desk(lab, by, live=live), read_edit(BOOKING, raw, "UTC"), key=key, dry_run=dry_run)


def asked(lab: Lab, by: str = "lea", **form) -> Reservation:
    return ask(lab, by, **form).reservation


def edit(lab: Lab, key: str, by: str = "lea", *, if_version=None, dry_run=False, **form) -> Reservation:
    done = edit_booking(desk(lab, by), key, read_edit(BOOKING, form, "UTC"), if_version=if_version, dry_run=dry_run)
    return done.reservation


# -- who -----------------------------------------------------------------------------------------


def test_a_lead_books_for_the_own_team_at_once(lab):
    made = asked(lab, card_ids="a0, a1", title="deadline")
    assert (made.id, made.team, made.person, made.approved_by) == ("b-1", "vision", "lea", "lea")
    assert (made.state, made.cards, made.wanted) == (ReservationState.BOOKED, ("a0", "a1"), 2)
    assert (made.starts_at, made.ends_at) == (T0 + HOUR, T0 + 2 * HOUR)
    assert lab.records.reservations == {"b-1": made}
    (line,) = lab.store.audit(AuditQuery("reservation", "b-1")).rows
    assert (line.act, line.person, line.new["cards"]) == ("book_window", "lea", "a0, a1")
    assert asked(lab, card_ids="a2").id == "b-2"


def test_a_lead_is_no_lead_of_other_teams(lab):
    with pytest.raises(NotInTeam):
        asked(lab, card_ids="a0", team="text")
    assert asked(lab, "ann", card_ids="a0", team="text").state is ReservationState.BOOKED


def test_what_a_member_asks_for_is_listed_until_somebody_approves(lab):
    made = asked(lab, "mia", cards=2)
    assert (made.state, made.cards, made.approved_by) == (ReservationState.LISTED, (), "")
    for by in ("mia", "leo"):
        with pytest.raises(Forbidden):
            approve_booking(desk(lab, by), made.id)
    through = approve_booking(desk(lab, "lea"), made.id, if_version=1).reservation
    assert (through.state, through.cards, through.approved_by) == (ReservationState.BOOKED, ("r0", "r1"), "lea")
    assert through.version == 2
    with pytest.raises(IllegalStep):
        approve_booking(desk(lab, "lea"), made.id)


def test_a_token_that_may_only_submit_only_asks(lab):
    raw = read_edit(BOOKING, {"card_ids": "a0", "duration": "1h"}, "UTC")
    assert book(desk(lab, "lea", Scope.SUBMIT), raw).reservation.approved_by == ""
    with pytest.raises(Forbidden):
        book(desk(lab, "lea", Scope.READ), raw)


def test_viewers_and_strangers_book_nothing_and_the_attempt_is_kept(lab):
    with pytest.raises(Forbidden):
        asked(lab, "vic", card_ids="a0")
    with pytest.raises(NotInTeam):
        asked(lab, "tim", card_ids="a0", team="vision")
    results = [line.result for line in lab.store.audit(AuditQuery("reservation")).rows]
    assert results == ["task.not_in_team", "access.forbidden"]


def test_the_team_is_asked_for_where_there_are_several_or_none(lab):
    with pytest.raises(ChooseTeam):
        asked(lab, "two", card_ids="a0")
    with pytest.raises(FieldMissing):
        asked(lab, "lone", card_ids="a0")
    assert asked(lab, "two", card_ids="a0", team="Text").team == "text"


def test_maintenance_is_for_admins_and_for_nobody(lab):
    with pytest.raises(Forbidden):
        asked(lab, purpose="maintenance", nodes="n1")
    with pytest.raises(BadValue):
        asked(lab, "ann", purpose="maintenance", nodes="n1", team="vision")
    made = asked(lab, "ann", purpose="检修", nodes="n1", title="new fans")
    assert (made.purpose, made.team, made.cards) == (Purpose.MAINTENANCE, "", ("a0", "a1", "a2", "a3"))


# -- what ----------------------------------------------------------------------------------------


def test_a_clash_is_refused_by_name(lab):
    first = asked(lab, card_ids="a0,a1")
    with pytest.raises(ReservationClash) as refusal:
        asked(lab, "ann", team="text", card_ids="a1,a2", starts=1.5)
    facts = refusal.value
    assert (facts.reservation, facts.team, facts.cards, facts.others) == ("b-1", "vision", ("a1",), ("b-1",))
    assert (facts.starts_at, facts.ends_at) == (first.starts_at, first.ends_at)
    assert asked(lab, card_ids="a1", starts=2).id == "b-2"  # ends belong to neither


def test_a_clash_with_maintenance_is_refused_too(lab):
    asked(lab, "ann", purpose="maintenance", nodes="n1")
    with pytest.raises(ReservationClash) as refusal:
        asked(lab, card_ids="a3")
    assert refusal.value.purpose == "maintenance"


def test_a_window_that_is_full_says_when_it_would_fit_or_lists(lab):
    asked(lab, cards=4, types="A100")
    with pytest.raises(WindowFull) as refusal:
        asked(lab, cards=2, types="A100", starts=1.5)
    facts = refusal.value
    assert (facts.wanted, facts.room, facts.others, facts.fits_at) == (2, 0, ("b-1",), T0 + 2 * HOUR)
    listed = asked(lab, cards=2, types="A100", starts=1.5, waitlist="yes")
    assert (listed.state, listed.cards, listed.approved_by) == (ReservationState.LISTED, (), "lea")


def test_what_the_house_has_not_is_not_even_listed(lab):
    for form in ({"cards": 5, "types": "A100"}, {"cards": 3, "together": 3, "types": "RTX4090"}, {"cards": 7}):
        with pytest.raises(TooFewToBook):
            asked(lab, "ann", team="vision", waitlist=True, **form)


def test_a_lease_that_ends_inside_is_refused_with_its_date(lab):
    lab.put(replace(lab.records.cards["a0"], lease_ends_at=T0 + 1.5 * HOUR, version=2))
    lab.put(replace(lab.records.nodes["n2"], lease_ends_at=T0 + HOUR, version=2))
    for form, ends in (({"card_ids": "a0,a1"}, 1.5), ({"cards": 4, "types": "A100"}, 1.5), ({"card_ids": "r1"}, 1)):
        with pytest.raises(LeaseEndsInside) as refusal:
            asked(lab, **form)
        assert refusal.value.ends_at == T0 + ends * HOUR
    assert asked(lab, cards=3, types="A100").cards == ("a1", "a2", "a3")
    assert asked(lab, card_ids="a0", starts=0, duration="90min").cards == ("a0",)


def test_the_quota_counts_over_the_window(lab):
    lab.put(Quota("vision", 4))
    asked(lab, cards=2, starts=1)
    asked(lab, cards=2, starts=3)
    assert asked(lab, cards=2, starts=1, duration="4h").wanted == 2
    with pytest.raises(ReservationOverQuota) as refusal:
        asked(lab, cards=1, starts=2.5, duration="2h")
    facts = refusal.value
    assert (facts.max_cards, facts.booked, facts.asked, facts.at) == (4, 4, 1, T0 + 3 * HOUR)
    assert asked(lab, "ann", team="text", cards=1, starts=3).wanted == 1


def test_a_booking_does_not_eat_the_floor_of_another_team(lab):
    lab.put(Guarantee("text/A100-80G", "text", 3, ("A100-80G",)))
    with pytest.raises(NoRoomForGuarantee) as refusal:
        asked(lab, card_ids="a0,a1")
    assert (refusal.value.at, refusal.value.room) == (T0 + HOUR, 2)
    assert asked(lab, card_ids="a0").cards == ("a0",)
    assert asked(lab, "leo", card_ids="a1,a2,a3").cards == ("a1", "a2", "a3")  # its own floor


def test_cards_are_taken_where_no_floor_needs_them(lab):
    lab.put(Guarantee("text/RTX4090", "text", 2, ("RTX4090",)))
    assert asked(lab, cards=2).cards == ("a0", "a1")


def test_maintenance_goes_before_floors_and_says_which_it_leaves_short(lab):
    lab.put(Guarantee("text/A100-80G", "text", 3, ("A100-80G",)))
    done = ask(lab, "ann", purpose="maintenance", nodes="n1")
    assert [(one.guarantee, one.room) for one in done.floors] == [("text/A100-80G", 0)]


def test_the_past_is_not_booked(lab):
    lab.clock.move(hours=2)
    with pytest.raises(PastWindow):
        asked(lab, card_ids="a0")
    now = book(desk(lab, "lea"), read_edit(BOOKING, {"card_ids": "a0", "duration": "1h"}, "UTC")).reservation
    assert (now.starts_at, now.ends_at) == (T0 + 2 * HOUR, T0 + 3 * HOUR)


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"card_ids": "nope"}, NotFound),
        ({"nodes": "nope"}, NotFound),
        ({"cards": 3, "together": 2}, BadValue),
        ({"cards": 3, "card_ids": "a0"}, BadValue),
        ({}, FieldMissing),
        ({"cards": 1, "duration": None}, FieldMissing),
        ({"cards": 1, "ends_at": T0}, BadValue),
        ({"cards": 1, "task": "t-99"}, NotFound),
    ],
)
def test_what_cannot_be_meant_is_refused(lab, form, problem):
    with pytest.raises(problem):
        asked(lab, **form)
    with pytest.raises(Several):
        asked(lab, cards="many")


def test_a_booking_for_one_task_is_for_that_task(lab):
    mine, theirs = lab.submit("mia"), lab.submit("tim")
    made = asked(lab, card_ids="a0", task=mine.id)
    assert made.open_to("vision", mine.id)
    assert not made.open_to("vision", "t-9")
    with pytest.raises(BadValue):
        asked(lab, card_ids="a1", task=theirs.id, team="vision")


# -- which cards ---------------------------------------------------------------------------------


def test_a_count_takes_the_cheapest_type_and_a_whole_machine_first(lab):
    assert asked(lab, cards=2).cards == ("r0", "r1")
    assert asked(lab, cards=4, together=4).cards == ("a0", "a1", "a2", "a3")


def test_cards_that_others_hold_past_the_start_are_taken_last(lab):
    lab.run(lab.submit("tim", limit="1h"), "a0", limit_s=3600)
    lab.run(lab.submit("tim", limit="8h"), "a1", limit_s=8 * 3600)
    lab.run(lab.submit("tim"), "r0")
    assert asked(lab, cards=3, types="A100").cards == ("a0", "a2", "a3")
    assert asked(lab, cards=1, types="RTX4090").cards == ("r1",)


def test_cards_that_are_not_well_are_not_chosen_but_may_be_named(lab):
    lab.put(replace(lab.records.cards["r0"], health=Health.LOST, version=2))
    assert asked(lab, cards=1, types="RTX4090").cards == ("r1",)
    assert asked(lab, card_ids="r0").cards == ("r0",)


def test_a_pool_bounds_the_choice(lab):
    lab.put(replace(lab.records.nodes["n1"], pool="big", version=2))
    assert asked(lab, cards=1, pool="big").cards == ("a0",)


def test_a_whole_machine_goes_before_the_rest_of_another(lab):
    lab.put(Node("n3", "main", "memory"), *(Card(f"b{n}", "n3", n, "A100-80G", 80 * GIB) for n in range(2)))
    asked(lab, card_ids="a0,a1")
    assert asked(lab, cards=2, types="A100").cards == ("b0", "b1")


def test_a_free_machine_goes_before_a_held_one_that_would_fit_better(lab):
    lab.put(Node("n3", "main", "memory"), *(Card(f"b{n}", "n3", n, "A100-80G", 80 * GIB) for n in range(6)))
    lab.run(lab.submit("tim", cards=4), "a0", "a1", "a2", "a3")
    assert asked(lab, cards=4, types="A100").cards == ("b0", "b1", "b2", "b3")


def test_a_run_that_overran_its_estimate_may_go_on_for_long(lab):
    lab.run(lab.submit("tim"), "r0", high_s=60)
    lab.clock.move(minutes=5)
    assert asked(lab, cards=1, types="RTX4090").cards == ("r1",)


def test_a_beginning_of_an_id_names_a_card_if_only_one_begins_so(lab):
    lab.put(*(Card(f"GPU-12{n}4", "n1", 9 + n, "A100-80G", 80 * GIB) for n in range(2)))
    assert asked(lab, card_ids="GPU-121…").cards == ("GPU-1214",)
    for begin in ("GPU-12", "GPU"):
        with pytest.raises(NotFound):
            asked(lab, card_ids=begin, starts=5)


def test_a_floor_that_is_short_already_bars_no_booking_elsewhere(lab):
    lab.put(Guarantee("text/A100-80G", "text", 5, ("A100-80G",)))
    assert asked(lab, card_ids="r0").cards == ("r0",)
    with pytest.raises(NoRoomForGuarantee):
        asked(lab, card_ids="a0")


# -- whom it meets -------------------------------------------------------------------------------


def test_who_holds_the_cards_past_the_start_is_named_and_left_alone(lab):
    lab.run(lab.submit("tim"), "a0", limit_s=7200)
    lab.run(lab.submit("tim"), "a1", limit_s=1800)
    lab.run(lab.submit("mia"), "a2")
    done = ask(lab, card_ids="a0,a1,a2")
    (held,) = done.held  # a1 is free by then, a2 is the team's own
    assert (held.task.id, held.owner.id, held.cards) == ("t-1", "tim", ("a0",))
    assert held.ending.at == T0 + 2 * HOUR
    assert not any(run.stop_cause for run in lab.records.runs.values())


def test_a_dry_run_names_runs_and_promises_and_writes_nothing(lab):
    lab.run(lab.submit("tim"), "a0", limit_s=7200)
    soon, own, late = lab.submit("tim"), lab.submit("mia"), lab.submit("tim")
    live = lab.live(
        waiting(soon.id, 1, start_by=T0 + HOUR, cards=("a0", "a1")),
        waiting(own.id, 2, start_by=T0 + HOUR, cards=("a0",)),
        waiting(late.id, 3, start_by=T0 + 9 * HOUR, cards=("a0",)),
    )
    version = lab.records.version
    done = ask(lab, card_ids="a0", dry_run=True, live=live)
    assert done.dry_run
    assert [held.task.id for held in done.held] == ["t-1"]
    assert [(p.task.id, p.cards) for p in done.promised] == [(soon.id, ("a0",))]
    assert lab.records.version == version


def test_a_refusal_of_a_dry_run_is_no_attempt(lab):
    with pytest.raises(Forbidden):
        ask(lab, "vic", card_ids="a0", dry_run=True)
    assert lab.store.audit(AuditQuery("reservation")).rows == ()


def test_the_same_key_brings_the_same_booking(lab):
    first = asked(lab, card_ids="a0", key="k")
    assert asked(lab, card_ids="a0", key="k") == first
    assert len(lab.records.reservations) == 1
    with pytest.raises(KeyReused):
        asked(lab, card_ids="a1", key="k")


# -- changed -------------------------------------------------------------------------------------


def test_many_cards_window_and_title_change_at_once(lab):
    made = asked(lab, card_ids="a0,a1")
    new = edit(lab, made.id, nodes="n1", starts_at=T0 + 2 * HOUR, ends_at=T0 + 5 * HOUR, title="more", if_version=1)
    assert (new.cards, new.wanted, new.title, new.version) == (("a0", "a1", "a2", "a3"), 4, "more", 2)
    assert (new.starts_at, new.ends_at) == (T0 + 2 * HOUR, T0 + 5 * HOUR)
    with pytest.raises(VersionConflict):
        edit(lab, made.id, title="again", if_version=1)


def test_a_smaller_count_keeps_cards_that_it_has(lab):
    made = asked(lab, cards=3, types="A100")
    lab.put(replace(made, cards=("a1", "a2", "a3"), version=2))
    assert set(edit(lab, made.id, cards=2).cards) < {"a1", "a2", "a3"}


def test_an_edit_meets_the_same_walls(lab):
    first, other = asked(lab, card_ids="a0"), asked(lab, card_ids="a1")
    with pytest.raises(ReservationClash):
        edit(lab, other.id, card_ids="a0")
    lab.put(Quota("vision", 2))
    with pytest.raises(ReservationOverQuota):
        edit(lab, other.id, card_ids="a1,a2")
    assert lab.records.reservations == {first.id: first, other.id: other}


def test_an_edit_without_a_difference_writes_only_the_audit(lab):
    made = asked(lab, card_ids="a0")
    assert edit(lab, made.id, card_ids="a0") == made


def test_a_window_under_way_changes_only_its_end_and_title(lab):
    made = asked(lab, card_ids="a0")
    asked(lab, card_ids="a0", starts=4)
    lab.clock.move(hours=1.5)
    longer = edit(lab, made.id, ends_at=T0 + 4 * HOUR, title="longer")
    assert (longer.starts_at, longer.ends_at, longer.cards) == (T0 + HOUR, T0 + 4 * HOUR, ("a0",))
    for form in ({"starts_at": T0 + 1.5 * HOUR}, {"card_ids": "a1"}, {"task": lab.submit("mia").id}):
        with pytest.raises(WindowBegun):
            edit(lab, made.id, **form)
    with pytest.raises(PastWindow):
        edit(lab, made.id, ends_at=T0 + 1.2 * HOUR)
    with pytest.raises(ReservationClash):
        edit(lab, made.id, ends_at=T0 + 4.5 * HOUR)
    assert edit(lab, made.id, ends_at=T0 + 2 * HOUR).ends_at == T0 + 2 * HOUR


def test_a_window_has_begun_at_its_very_start(lab):
    made = asked(lab, card_ids="a0")
    lab.clock.move(hours=1)
    with pytest.raises(WindowBegun):
        edit(lab, made.id, card_ids="a1")


def test_a_change_of_time_keeps_cards_and_counts_no_quota_twice(lab):
    lab.put(Quota("vision", 2))
    asked(lab, "leo", card_ids="r0,r1", duration="30min")
    made = asked(lab, cards=2)
    assert made.cards == ("a0", "a1")
    assert edit(lab, made.id, starts_at=T0 + 1.5 * HOUR).cards == ("a0", "a1")  # cheaper ones are free by then


def test_what_is_over_is_over(lab):
    ended, gone = asked(lab, card_ids="a0"), asked(lab, card_ids="a1", starts=9)
    cancel_booking(desk(lab, "lea"), gone.id, "not needed")
    lab.clock.move(hours=2)
    for one, state in ((ended, "over"), (gone, "cancelled")):
        with pytest.raises(ReservationOver) as refusal:
            edit(lab, one.id, title="x")
        assert refusal.value.state == state
        with pytest.raises(ReservationOver):
            cancel_booking(desk(lab, "lea"), one.id, "again")


def test_a_start_is_not_moved_into_the_past(lab):
    made = asked(lab, card_ids="a0", starts=3)
    lab.clock.move(hours=1)
    with pytest.raises(PastWindow):
        edit(lab, made.id, starts_at=T0 + 0.5 * HOUR)


def test_a_member_changes_what_he_asked_for_until_it_is_approved(lab):
    made = asked(lab, "mia", cards=2)
    assert edit(lab, made.id, "mia", cards=1).wanted == 1
    for by in ("max", "tim"):
        with pytest.raises(Forbidden):
            edit(lab, made.id, by, cards=2)
    approve_booking(desk(lab, "lea"), made.id)
    for form in ({"cards": 2}, {"title": "mine"}):
        with pytest.raises(Forbidden):
            edit(lab, made.id, "mia", **form)
    assert cancel_booking(desk(lab, "mia"), made.id, "done").reservation.state is ReservationState.CANCELLED


def test_a_lead_does_not_push_a_booking_to_another_team(lab):
    made = asked(lab, card_ids="a0")
    with pytest.raises(Forbidden):
        edit(lab, made.id, team="text")
    assert edit(lab, made.id, "ann", team="text").team == "text"


def test_a_listed_one_is_booked_when_its_wish_comes_to_fit(lab):
    asked(lab, card_ids="a0")
    listed = asked(lab, card_ids="a0", waitlist=True)
    with pytest.raises(IllegalStep):
        approve_booking(desk(lab, "lea"), listed.id)
    assert edit(lab, listed.id, ends_at=T0 + 3 * HOUR).state is ReservationState.LISTED
    moved = edit(lab, listed.id, starts_at=T0 + 2 * HOUR)
    assert (moved.state, moved.cards) == (ReservationState.BOOKED, ("a0",))


def test_a_cancel_wants_a_reason_and_a_right(lab):
    made = asked(lab, card_ids="a0")
    with pytest.raises(FieldMissing):
        cancel_booking(desk(lab, "lea"), made.id, " ")
    with pytest.raises(Forbidden):
        cancel_booking(desk(lab, "mia"), made.id, "mine")
    gone = cancel_booking(desk(lab, "ann"), made.id, "moved").reservation
    assert (gone.state, gone.state_cause) == (ReservationState.CANCELLED, "ann: moved")
    assert asked(lab, card_ids="a0").id == "b-2"


def test_bookings_are_listed_by_time_and_say_where_they_stand(lab):
    asked(lab, card_ids="a0", starts=5)
    asked(lab, "leo", card_ids="a1", starts=1)
    asked(lab, "mia", cards=1, starts=3)
    asked(lab, card_ids="a0", starts=5, waitlist=True)
    lab.clock.move(hours=1.5)
    rows = see_bookings(lab.records, lab.clock.now())
    assert [(row.reservation.id, row.shows) for row in rows] == [
        ("b-2", "now"),
        ("b-3", "asked"),
        ("b-1", "booked"),
        ("b-4", "listed"),
    ]

    def ids(**asked_for) -> list[str]:
        return [row.reservation.id for row in see_bookings(lab.records, lab.clock.now(), **asked_for)]

    assert ids(team="text") == ["b-2"]
    assert ids(since=T0 + 2 * HOUR, until=T0 + 5 * HOUR) == ["b-3"]
    assert ids(states=(ReservationState.LISTED,)) == ["b-3", "b-4"]
    assert rows[0].nodes == ("n1",)
