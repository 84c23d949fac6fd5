"""Floors, reservations and lease losses against what the house has, in units that fit."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lab import T0, Lab

from paika.domain.card import Health
from paika.domain.guarantee import Guarantee
from paika.domain.node import NodeState
from paika.domain.reservation import Purpose, Reservation, ReservationState
from paika.services.check_capacity import Place, check_capacity, fits

HOUR = timedelta(hours=1)
VISION = Guarantee("vision", "vision", 4, together=4)
TEXT = Guarantee("text/RTX4090", "text", 2, ("RTX4090",))


@pytest.fixture
def lab() -> Lab:
    return Lab()


def booked(*cards: str, team: str = "text", starts: float = 1, ends: float = 2, **more) -> Reservation:
    window = T0 + starts * HOUR, T0 + ends * HOUR
    return replace(Reservation("b-1", Purpose.BOOKING, team, "leo", cards, len(cards), *window), **more)


def short(lab: Lab, *floors: Guarantee, reservations: tuple[Reservation, ...] = ()) -> list[tuple[float, str, int]]:
    found = check_capacity(lab.records, floors, reservations, T0)
    return [((one.at - T0) / HOUR, one.guarantee.id, one.room) for one in found]


def test_what_fits_is_silent(lab):
    assert short(lab, VISION, TEXT) == []
    assert short(lab) == []


def test_blocks_count_where_they_lie_and_not_by_number(lab):
    wide = replace(VISION, cards=6, together=6)
    assert short(lab, wide) == [(0, "vision", 0)]  # six cards are well, but four of them on one machine
    assert short(lab, replace(wide, together=2)) == []
    assert short(lab, replace(wide, cards=8, together=2)) == [(0, "vision", 6)]


def test_what_nobody_can_use_is_no_capacity(lab):
    lab.put(replace(lab.records.cards["r0"], health=Health.LOST, version=2))
    assert short(lab, TEXT) == [(0, "text/RTX4090", 1)]  # x0 is well, but no engine can start work there
    lab.put(replace(lab.records.nodes["n2"], state=NodeState.DRAINED, version=2))
    assert short(lab, TEXT) == [(0, "text/RTX4090", 0)]


def test_a_lease_that_ends_is_a_loss_from_that_instant_on(lab):
    lab.put(replace(lab.records.cards["a3"], lease_ends_at=T0 + 5 * HOUR, version=2))
    assert short(lab, VISION) == [(5, "vision", 0)]
    lab.put(replace(lab.records.nodes["n2"], lease_ends_at=T0 + 3 * HOUR, version=2))
    assert short(lab, TEXT) == [(3, "text/RTX4090", 0), (5, "text/RTX4090", 0)]


def test_a_reservation_takes_its_cards_only_inside_its_window(lab):
    assert short(lab, VISION, reservations=(booked("a0"),)) == [(1, "vision", 0)]
    assert short(lab, VISION, reservations=(booked("r0"),)) == []
    over = booked("a0", state=ReservationState.CANCELLED)
    assert short(lab, VISION, reservations=(over, booked("a0", starts=-2, ends=0))) == []


def test_a_booking_of_the_team_itself_serves_its_own_floor(lab):
    assert short(lab, VISION, reservations=(booked("a0", "a1", team="vision"),)) == []
    for_one_task = booked("a0", team="vision", task="t-1")
    down = booked("a0", team="", purpose=Purpose.MAINTENANCE)
    assert short(lab, VISION, reservations=(for_one_task,)) == [(1, "vision", 0)]
    assert short(lab, VISION, reservations=(down,)) == [(1, "vision", 0)]


def test_floors_do_not_count_the_same_cards_twice(lab):
    first, second = Guarantee("a", "vision", 4), Guarantee("b", "text", 3)
    assert short(lab, first, second) == [(0, "b", 2)]


def test_a_floor_of_any_type_leaves_the_rare_cards_to_whom_they_are_promised(lab):
    anything = Guarantee("a", "vision", 4)
    assert short(lab, anything, TEXT) == []
    assert short(lab, anything, replace(TEXT, id="0")) == []


def test_only_the_window_is_looked_at_when_one_is_given(lab):
    late = booked("a0", starts=5, ends=6)
    within = (T0 + HOUR, T0 + 2 * HOUR)
    assert check_capacity(lab.records, (VISION,), (late,), T0, within=within) == ()
    assert check_capacity(lab.records, (VISION,), (late,), T0, within=(T0 + HOUR, T0 + 7 * HOUR)) != ()


def test_a_large_house_is_no_trouble():
    places = Counter({Place("A", 8): 1200, Place("B", 8): 50})
    floors = [Guarantee(str(n), "t", 800, ("A",) if n % 2 else (), 8 if n % 3 else 1) for n in range(12)]
    assert fits(floors, places)
    assert not fits([*floors, Guarantee("x", "t", 408, ("B",), 4)], places)


def brute(floors: list[Guarantee], places: list[Place]) -> bool:
    """Every way to lay every block somewhere."""
    if not floors:
        return True
    floor, rest = floors[0], floors[1:]
    if floor.cards <= 0:
        return brute(rest, places)
    for number, place in enumerate(places):
        if place.room(floor.team) >= floor.together and (not floor.card_types or place.card_type in floor.card_types):
            left = [*places[:number], place.without(floor.together, floor.team), *places[number + 1 :]]
            if brute([replace(floor, cards=floor.cards - floor.together), *rest], left):
                return True
    return False


OWN = st.sampled_from([(), (("t", 1),), (("u", 2),)])
PLACES = st.lists(st.builds(Place, st.sampled_from("AB"), st.integers(0, 4), OWN), max_size=4)
FLOORS = st.lists(
    st.tuples(st.sampled_from("tu"), st.integers(1, 3), st.sampled_from([(), ("A",), ("B",)]), st.integers(1, 3)),
    max_size=3,
)


@settings(max_examples=300, deadline=None)
@given(FLOORS, PLACES)
def test_the_search_agrees_with_trying_everything(asked, places):
    floors = [Guarantee(str(n), team, k * size, types, size) for n, (team, k, types, size) in enumerate(asked)]
    assert fits(floors, Counter(places)) == brute(floors, places)
