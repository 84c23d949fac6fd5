"""Cards over time: where bars begin and end, lanes, what is left out and counted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab import GIB, T0, Lab, waiting

from paika.domain.card import ExternalUse, Health
from paika.domain.plan import Wait
from paika.domain.reason import DataNotReady
from paika.domain.reservation import Purpose, Reservation, ReservationState
from paika.domain.run import RunState
from paika.domain.task import Share, Tier
from paika.services.live import Live
from paika.services.see_timeline import Bar, BarKind, TimelineFilter, TimelineView, _in_lanes, see_timeline

HOUR = timedelta(hours=1)


@pytest.fixture
def lab() -> Lab:
    return Lab()


def view(lab: Lab, live: Live | None = None, **asked: object) -> TimelineView:
    return see_timeline(lab.records, live or Live(), lab.clock.now(), **asked)  # type: ignore[arg-type]


def bars(seen: TimelineView, card: str) -> list[Bar]:
    return [bar for node in seen.nodes for row in node.rows if row.card.id == card for bar in row.bars]


def told(wait: Wait, **fields: object) -> Wait:
    assert wait.forecast is not None
    return replace(wait, forecast=replace(wait.forecast, **fields))  # type: ignore[arg-type]


def book(lab: Lab, number: int, *cards: str, **fields: object) -> Reservation:
    plain = Reservation(f"b{number}", Purpose.BOOKING, "vision", "mia", cards, len(cards), T0 + HOUR, T0 + 3 * HOUR)
    made = replace(plain, **fields)  # type: ignore[arg-type]
    lab.put(made)
    return made


def test_a_window_that_is_not_asked_for_has_now_at_a_tenth(lab):
    seen = view(lab)
    assert (seen.start, seen.end) == (T0 - timedelta(minutes=36), T0 - timedelta(minutes=36) + 6 * HOUR)
    assert view(lab, start=T0 - 5 * HOUR, span_s=3600).end == T0 - 4 * HOUR


def test_a_run_lies_from_its_start_to_its_limit_on_each_of_its_cards(lab):
    task = lab.submit("mia", cards=2, limit="2h")
    lab.run(task, "a0", "a1", limit_s=7200)
    seen = view(lab)
    assert bars(seen, "a0") == bars(seen, "a1") == [Bar(BarKind.RUNNING, T0, T0 + 2 * HOUR, task.id)]
    of = seen.tasks[task.id]
    assert (of.owner.name, of.team.name, of.tier, of.cards, of.by_limit) == ("韩梅梅", "视觉组", Tier.NORMAL, 2, True)


@pytest.mark.parametrize("fields", [{}, {"high_s": 1800}])
def test_an_end_that_nobody_knows_stays_unknown(lab, fields):
    task = lab.submit("mia")
    lab.run(task, "a0", **fields)
    lab.clock.move(hours=1)
    (bar,) = bars(view(lab), "a0")
    assert bar.until is None
    assert view(lab).tasks[task.id].overrun is bool(fields)


def test_a_run_that_stands_at_its_limit_has_no_end_that_is_known(lab):
    lab.run(lab.submit("mia"), "a0", limit_s=3600)
    lab.clock.move(hours=1)
    assert bars(view(lab), "a0")[0].until is None


def test_what_only_touches_the_window_lies_outside():
    bar = Bar(BarKind.PROMISED, T0 + HOUR, T0 + 2 * HOUR, "t", T0)
    assert bar.meets(T0 - HOUR, T0 + timedelta(seconds=1))
    assert bar.meets(T0 + 2 * HOUR - timedelta(seconds=1), T0 + 3 * HOUR)
    assert not bar.meets(T0 - HOUR, T0)
    assert not bar.meets(T0 + 2 * HOUR, T0 + 3 * HOUR)


def test_a_stopping_run_ends_with_its_grace_and_says_for_whom(lab):
    other = lab.submit("max", name="wants it")
    lab.run(lab.submit("mia"), "a0", state=RunState.STOPPING, stop_for=other.id, stop_at=T0, grace_s=300)
    seen = view(lab)
    (bar,) = bars(seen, "a0")
    assert (bar.kind, bar.until) == (BarKind.STOPPING, T0 + timedelta(minutes=5))
    assert seen.tasks[bar.subject].freed_for.name == "wants it"
    lab.clock.move(minutes=6)
    assert bars(view(lab), "a0")[0].until is None


def test_a_promise_starts_within_its_range_and_ends_as_late_as_its_task_may(lab):
    task, endless = lab.submit("mia", limit="1h"), lab.submit("max")
    early, late = T0 + HOUR, T0 + 2 * HOUR
    live = lab.live(
        told(waiting(task.id, 1, start_by=late, cards=("a0",)), start_from=early, hit_permille=900),
        waiting(endless.id, 2, start_by=late, cards=("a1",)),
    )
    seen = view(lab, live)
    assert bars(seen, "a0") == [Bar(BarKind.PROMISED, late, late + HOUR, task.id, early)]
    assert bars(seen, "a1") == [Bar(BarKind.PROMISED, late, None, endless.id)]
    assert seen.tasks[task.id].hit_permille == 900


@pytest.mark.parametrize("not_a_promise", [{"holds": False}, {"rough": True}])
def test_what_holds_no_card_or_is_only_rough_is_no_bar(lab, not_a_promise):
    wait = waiting(lab.submit("mia").id, 1, start_by=T0 + HOUR, cards=("a0",))
    assert bars(view(lab, lab.live(wait)), "a0") != []
    assert bars(view(lab, lab.live(told(wait, **not_a_promise))), "a0") == []


def test_a_task_behind_a_gate_or_already_on_cards_is_no_promise(lab):
    gated, started = lab.submit("mia"), lab.submit("max")
    why = DataNotReady("d-2", "preparing", 40, None, "mia")
    live = lab.live(
        waiting(gated.id, 1, why, start_by=T0 + HOUR, cards=("a0",)),
        waiting(started.id, 2, start_by=T0 + HOUR, cards=("a1",)),
    )
    lab.run(started, "a1")
    seen = view(lab, live)
    assert bars(seen, "a0") == []
    assert [bar.kind for bar in bars(seen, "a1")] == [BarKind.RUNNING]


def test_only_booked_reservations_keep_cards(lab):
    one = book(lab, 1, "a0", "a1", title="课程")
    book(lab, 2, "a2", purpose=Purpose.MAINTENANCE, team="")
    for number, state in enumerate((ReservationState.LISTED, ReservationState.RELEASED, ReservationState.CANCELLED)):
        book(lab, 3 + number, "a3", state=state)
    seen = view(lab)
    assert bars(seen, "a0") == bars(seen, "a1") == [Bar(BarKind.BOOKING, one.starts_at, one.ends_at, "b1")]
    assert (seen.bookings["b1"].name, seen.bookings["b1"].cards) == ("课程", 2)
    assert [bar.kind for bar in bars(seen, "a2")] == [BarKind.MAINTENANCE]
    assert bars(seen, "a3") == []


def test_the_earlier_lease_of_card_and_node_is_a_wall(lab):
    node, card = lab.records.nodes["n1"], lab.records.cards["a0"]
    lab.put(replace(node, lease_ends_at=T0 + 3 * HOUR, version=2), replace(card, lease_ends_at=T0 + HOUR, version=2))
    seen = view(lab)
    assert bars(seen, "a0") == [Bar(BarKind.LEASE, T0 + HOUR, None)]
    assert bars(seen, "a1") == [Bar(BarKind.LEASE, T0 + 3 * HOUR, None)]
    assert bars(view(lab, span_s=3600), "a1") == []


def test_use_by_others_and_unfit_cards_last_until_nobody_knows_when(lab):
    lab.put(
        replace(lab.records.cards["a0"], health=Health.LOST, health_since=T0 - HOUR, health_cause="Xid 79", version=2)
    )
    live = Live(external={"a1": ExternalUse("a1", T0 - 2 * HOUR, None, ("guest",), (1,))})
    seen = view(lab, live)
    assert bars(seen, "a0") == [Bar(BarKind.UNFIT, T0 - HOUR, None, cause="Xid 79")]
    assert bars(seen, "a1") == [Bar(BarKind.EXTERNAL, T0 - 2 * HOUR, None, cause="guest")]


def test_shares_lie_in_lanes_of_their_card(lab):
    for person in ("mia", "max"):
        lab.run(lab.submit(person), "r0", share=Share(8 * GIB, 30), parts_held=34, limit_s=3600)
    after = lab.submit("tim")
    live = lab.live(waiting(after.id, 1, start_by=T0 + HOUR, cards=("r0",), node="n2"))
    seen = view(lab, live)
    (row,) = (row for node in seen.nodes for row in node.rows if row.card.id == "r0")
    assert row.lanes == 2
    assert [(bar.kind, bar.lane) for bar in row.bars] == [
        (BarKind.RUNNING, 0),
        (BarKind.RUNNING, 1),
        (BarKind.PROMISED, 0),
    ]
    assert seen.tasks[row.bars[0].subject].share_vram_mib == 8 * GIB


hours = st.integers(-5, 5).map(lambda n: T0 + n * HOUR)
loose_bars = st.builds(
    lambda since, length, name: Bar(BarKind.RUNNING, since, since + length * HOUR if length else None, name),
    hours,
    st.integers(0, 4),
    st.sampled_from("abc"),
)


@given(st.lists(loose_bars, max_size=8))
def test_bars_of_one_lane_never_overlap(loose):
    placed, lanes = _in_lanes(loose, T0)
    assert {replace(bar, lane=0) for bar in placed} == set(loose)
    assert len(placed) == len(loose)
    assert all(bar.lane < lanes for bar in placed)
    for lane in range(lanes):
        mine = [bar for bar in placed if bar.lane == lane]
        for one, following in pairwise(mine):
            assert one.until is not None
            assert one.until <= following.since


@pytest.fixture
def full(lab) -> Lab:
    """lea on a0 (core), max on a1, tim on r0; b1 books a2 for vision."""
    lab.run(lab.submit("lea", tier="core", name="paper"), "a0")
    lab.run(lab.submit("max"), "a1")
    lab.run(lab.submit("tim"), "r0")
    book(lab, 1, "a2", person="two")
    return lab


FILTERS = {
    "node": (TimelineFilter(node="n2"), {"r0", "r1"}),
    "pool": (TimelineFilter(pool="nowhere"), set()),
    "type": (TimelineFilter(card_type="A100"), {"a0", "a1", "a2", "a3"}),
    "team": (TimelineFilter(team="vision"), {"a0", "a1", "a2"}),
    "owner": (TimelineFilter(owner="max"), {"a1"}),
    "tier": (TimelineFilter(tiers=(Tier.CORE,)), {"a0"}),
    "text of a task": (TimelineFilter(text="PAPER"), {"a0"}),
    "text of a person": (TimelineFilter(text="two teams"), {"a2"}),
    "text of a card": (TimelineFilter(text="a3"), {"a3"}),
    "card and owner": (TimelineFilter(text="n1", owner="lea"), {"a0"}),
}


@pytest.mark.parametrize("name", FILTERS)
def test_what_a_filter_leaves_out_is_counted(full, name):
    wanted, cards = FILTERS[name]
    everything, seen = view(full), view(full, wanted=wanted)
    shown = {row.card.id for node in seen.nodes for row in node.rows}
    assert shown == cards
    assert seen.cards == len(cards)
    assert seen.cards + seen.cards_left_out == everything.cards == 7
    assert seen.bars + seen.bars_left_out == everything.bars
    assert seen.bars == sum(len(row.bars) for node in seen.nodes for row in node.rows)


def test_an_empty_house_has_an_empty_timeline():
    seen = see_timeline(replace(Lab().records, cards={}, nodes={}), Live(), T0)
    assert (seen.nodes, seen.cards, seen.cards_left_out, seen.planned_at) == ((), 0, 0, None)
