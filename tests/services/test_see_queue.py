"""The queue as people see it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import Lab, waiting

from paika.domain.dataset import Readiness
from paika.domain.problem import BadValue
from paika.domain.reason import CardsBusy, DataNotReady
from paika.domain.task import TaskState, Tier
from paika.services.live import Live
from paika.services.see_queue import QueueFilter, see_queue, see_running
from paika.services.see_readiness import see_readiness
from paika.services.see_task import see_task


@pytest.fixture
def lab() -> Lab:
    return Lab()


def names(view):
    return [row.name for row in view.rows]


def test_the_order_is_the_plans_and_newcomers_stand_behind_until_they_are_looked_at(lab):
    for name in ("a", "b", "c"):
        lab.submit("mia", name=name)
    live = lab.live(waiting("t-3", 1), waiting("t-1", 2))
    view = see_queue(lab.records, live, lab.clock.now())
    assert names(view) == ["c", "a", "b"]
    assert [row.position for row in view.rows] == [1, 2, None]
    assert view.rows[2].unseen_since == lab.clock.now()
    assert view.rows[2].reason is None
    assert names(see_queue(lab.records, Live(), lab.clock.now())) == ["a", "b", "c"]


def test_a_row_has_all_reasons_the_first_apart(lab):
    lab.submit("mia", inputs=["imagenet", "coco"])
    why = (DataNotReady("d-2", "preparing", 40, None, "mia"), CardsBusy(1, 1, 0, 0, 4, ()))
    (row,) = see_queue(lab.records, lab.live(waiting("t-1", 1, *why)), lab.clock.now()).rows
    assert (row.reason, row.more_reasons) == (why[0], 1)
    assert row.inputs is not None
    assert (row.inputs.readiness, row.inputs.percent, row.inputs.all, row.inputs.unready) == (
        Readiness.PREPARING,
        40,
        2,
        ("d-2",),
    )


def test_what_has_left_the_queue_since_the_plan_is_not_shown(lab):
    for _ in range(3):
        lab.submit("mia")
    live = lab.live(waiting("t-1", 1), waiting("t-2", 2), waiting("t-3", 3))
    lab.run(lab.task("t-1"), "a0")
    lab.put(replace(lab.task("t-2"), state=TaskState.CANCELLED, version=2))
    assert [row.id for row in see_queue(lab.records, live, lab.clock.now()).rows] == ["t-3"]
    assert [row.id for row in see_running(lab.records, lab.clock.now())] == ["t-1"]


def test_pages_go_on_after_the_last_row_even_if_it_has_left(lab):
    for number in range(6):
        lab.submit("mia", name=str(number))
    first = see_queue(lab.records, Live(), lab.clock.now(), limit=2)
    assert (names(first), first.left_out) == (["0", "1"], 4)
    second = see_queue(lab.records, Live(), lab.clock.now(), cursor=first.cursor, limit=2)
    assert names(second) == ["2", "3"]
    lab.put(replace(lab.task("t-1"), state=TaskState.CANCELLED, version=2))
    assert names(see_queue(lab.records, Live(), lab.clock.now(), cursor=first.cursor, limit=2)) == ["2", "3"]
    for wrong in ("x", "1", "-1.t-1", "１.t-1", "99999999999.t"):
        with pytest.raises(BadValue):
            see_queue(lab.records, Live(), lab.clock.now(), cursor=wrong)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (QueueFilter(team="text"), ["t-3"]),
        (QueueFilter(owner="mia"), ["t-1"]),
        (QueueFilter(tiers=(Tier.IDLE,)), ["t-2"]),
        (QueueFilter(states=(TaskState.HELD,)), ["t-2"]),
        (QueueFilter(text="BERT"), ["t-3"]),
        (QueueFilter(text="urgent"), ["t-1"]),
        (QueueFilter(team="vision", text="none"), []),
    ],
)
def test_filters(lab, wanted, found):
    lab.submit("mia", tags="Urgent")
    held = lab.submit("max", tier="idle")
    lab.put(replace(held, state=TaskState.HELD, version=2))
    lab.submit("tim", name="bert large")
    view = see_queue(lab.records, Live(), lab.clock.now(), wanted)
    assert [row.id for row in view.rows] == found
    assert view.total == sum(view.by_state.values()) == len(found)


def test_readiness_groups_tasks_and_says_who_owes(lab):
    lab.submit("mia", name="ready", inputs="imagenet")
    lab.submit("max", name="blocked", inputs="coco", cards=4)
    lab.submit("tim", name="later", not_before="2026-12-24")
    lab.submit("tim", name="free")
    view = see_readiness(lab.records, lab.clock.now())
    assert {need.name for need in view.can_run} == {"ready", "free"}
    assert {need.name for need in view.wait_for_data} == {"blocked"}
    (debt,) = view.debts
    assert debt.who is not None
    assert (debt.who.id, debt.datasets, debt.tasks, debt.cards) == ("mia", ("d-2",), ("t-2",), 4)
    assert view.datasets[0].id == "d-2"
    assert not view.datasets[0].overdue
    late = see_readiness(lab.records, lab.clock.now() + timedelta(hours=4))
    assert late.datasets[0].overdue


def test_a_task_shows_its_family_and_its_runs(lab):
    parent = lab.submit("mia", name="prep")
    child = lab.submit("max", name="train", after=f"{parent.id}:end")
    lab.run(parent, "a0", "a1", oversized=True)
    lab.clock.move(minutes=30)
    view = see_task(lab.store, lab.records, Live(), lab.clock.now(), parent.id)
    (run,) = view.runs
    assert (run.card_type, run.card_seconds, run.oversized) == ("A100-80G", 2 * 1800, True)
    assert [(link.task.name, link.met) for link in view.before] == [("train", False)]
    other = see_task(lab.store, lab.records, Live(), lab.clock.now(), child.id)
    assert [(link.task.name, link.state) for link in other.after] == [("prep", TaskState.RUNNING)]
    assert view.unseen_since is None
