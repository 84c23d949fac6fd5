"""What each card shows, and the totals."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import GIB, Lab, waiting

from paika.domain.card import CardReading, ExternalUse, Health
from paika.domain.node import NodeState
from paika.domain.problem import NotFound
from paika.domain.reason import DataNotReady
from paika.domain.run import RunState
from paika.domain.task import Share
from paika.services.live import Live
from paika.services.see_cards import Shows, see_card, see_cards


@pytest.fixture
def lab() -> Lab:
    return Lab()


def cell(lab: Lab, card: str, live: Live | None = None):
    return see_card(lab.records, live or Live(), lab.clock.now(), card)


def promised(lab: Lab, *, gate: bool = False) -> Live:
    task = lab.submit("mia")
    why = (DataNotReady("d-2", "preparing", 40, None, "mia"),) if gate else ()
    later = lab.clock.now() + timedelta(hours=5)
    sooner = lab.clock.now() + timedelta(hours=1)
    other = lab.submit("max")
    return lab.live(
        waiting(other.id, 1, start_by=later, cards=("a0",)), waiting(task.id, 2, *why, start_by=sooner, cards=("a0",))
    )


@pytest.mark.parametrize(
    ("state", "shows"),
    [
        (RunState.INTENDED, Shows.STARTING),
        (RunState.STARTING, Shows.STARTING),
        (RunState.RUNNING, Shows.RUNNING),
        (RunState.STOPPING, Shows.STOPPING),
    ],
)
def test_a_run_shows_where_it_stands(lab, state, shows):
    lab.run(lab.submit("mia"), "a0", state=state)
    assert cell(lab, "a0").shows is shows


def test_shares_show_side_by_side(lab):
    share = Share(8 * GIB, 30)
    for person in ("mia", "max"):
        lab.run(lab.submit(person), "r0", share=share, parts_held=34)
    seen = cell(lab, "r0")
    assert seen.shows is Shows.SHARED
    assert [(o.owner.name, o.share_vram_mib, o.share_bandwidth_percent) for o in seen.occupants] == [
        ("韩梅梅", 8 * GIB, 30),
        ("马克", 8 * GIB, 30),
    ]


@pytest.mark.parametrize(
    ("health", "free", "taken"),
    [
        (Health.OK, Shows.FREE, Shows.RUNNING),
        (Health.LOST, Shows.LOST, Shows.LOST),
        (Health.NEEDS_RESET, Shows.NEEDS_RESET, Shows.NEEDS_RESET),
        (Health.DRAINING, Shows.DRAINING, Shows.RUNNING),
        (Health.UNKNOWN, Shows.UNKNOWN, Shows.RUNNING),
    ],
)
def test_health_shows_unless_work_goes_on(lab, health, free, taken):
    for card in ("a0", "a1"):
        lab.put(replace(lab.records.cards[card], health=health, version=2))
    lab.run(lab.submit("mia"), "a1")
    assert cell(lab, "a0").shows is free
    assert cell(lab, "a1").shows is taken
    assert cell(lab, "a1").draining is (health is Health.DRAINING)


@pytest.mark.parametrize(
    ("state", "shows"),
    [(NodeState.DRAINED, Shows.DRAINING), (NodeState.DOWN, Shows.UNKNOWN), (NodeState.UNKNOWN, Shows.UNKNOWN)],
)
def test_the_state_of_the_node_shows_on_its_cards(lab, state, shows):
    lab.put(replace(lab.records.nodes["n1"], state=state, version=2))
    assert cell(lab, "a0").shows is shows


def test_a_card_in_foreign_hands_is_external_and_counts_as_taken(lab):
    live = Live(external={"a0": ExternalUse("a0", lab.clock.now(), 10 * GIB, ("root",), (4711,))})
    assert cell(lab, "a0", live).shows is Shows.EXTERNAL
    total = see_cards(lab.records, live, lab.clock.now()).totals[0]
    assert (total.all, total.free, total.external, total.unfit) == (7, 5, 1, 1)


def test_a_card_without_an_engine_is_shown_but_not_free(lab):
    assert cell(lab, "x0").shows is Shows.NO_ENGINE


def test_a_free_card_is_promised_to_whom_the_plan_starts_there_first(lab):
    seen = cell(lab, "a0", promised(lab))
    assert seen.shows is Shows.PROMISED
    assert seen.promised is not None
    assert (seen.promised.task.id, seen.promised.at) == ("t-1", lab.clock.now() + timedelta(hours=1))


def test_a_task_behind_a_gate_keeps_no_card(lab):
    seen = cell(lab, "a0", promised(lab, gate=True))
    assert seen.promised is not None
    assert seen.promised.task.id == "t-2"


def test_what_no_tool_tells_is_unknown_and_never_zero(lab):
    silent = cell(lab, "a0")
    assert (silent.vram_used_mib, silent.fill_percent, silent.busy_percent, silent.reading_age_s) == (None,) * 4
    assert silent.vram_total_mib == 80 * GIB
    reading = CardReading("a0", lab.clock.now(), Health.OK, vram_total_mib=81559, vram_used_mib=0, busy_percent=0)
    lab.clock.move(seconds=42)
    told = cell(lab, "a0", Live(readings={"a0": reading}))
    assert (told.vram_used_mib, told.fill_percent, told.busy_percent, told.reading_age_s) == (0, 0, 0, 42)


def test_ends_are_by_limit_by_estimate_or_unknown(lab):
    now = lab.clock.now()
    lab.run(lab.submit("mia"), "a0", limit_s=3600, high_s=60)
    lab.run(lab.submit("mia", priority=1), "a1", high_s=1800)
    lab.run(lab.submit("mia", priority=2), "a2")
    lab.clock.move(minutes=45)
    ends = [cell(lab, card).occupants[0].ending for card in ("a0", "a1", "a2")]
    assert [(end.at, end.by_limit, end.overrun) for end in ends] == [
        (now + timedelta(hours=1), True, False),
        (now + timedelta(minutes=30), False, True),
        (None, False, False),
    ]


def test_totals_add_up_and_leases_take_the_earlier_end(lab):
    lab.run(lab.submit("mia"), "a0")
    ends = lab.clock.now() + timedelta(days=2)
    lab.put(
        replace(lab.records.nodes["n1"], lease_ends_at=ends, version=2),
        replace(lab.records.cards["a1"], lease_ends_at=ends + timedelta(days=1), version=2),
    )
    view = see_cards(lab.records, Live(), lab.clock.now())
    for total in view.totals:
        assert total.all == total.free + total.promised + total.running + total.external + total.unfit
    assert [total.type for total in view.totals] == ["", "A100-80G", "RTX4090"]
    assert {c.lease_ends_at for row in view.nodes if row.id == "n1" for c in row.cells} == {ends}
    with pytest.raises(NotFound):
        cell(lab, "nope")
