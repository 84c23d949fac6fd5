"""A task moved in the order: by admins, for a reason, taken back at any time; and what it would do to others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import Lab

from paika.domain.access import Forbidden, Scope
from paika.domain.guarantee import Guarantee
from paika.domain.problem import FieldMissing, NotFound, Several, VersionConflict
from paika.domain.records import Change
from paika.domain.snapshot import Snapshot, Speed
from paika.domain.task import Task, TaskState
from paika.planning.planner import plan
from paika.ports.store import AuditQuery
from paika.services.live import Live
from paika.services.move_task import NotInOrder, move_task, read_move
from paika.services.plan_twice import TwoPlans
from paika.services.preview_move import MovePreview, MovePreviews
from paika.services.run_cycle import decide
from paika.services.take_snapshot import take_snapshot

A100 = {"types": "A100-80G", "limit": "2h"}


@pytest.fixture
def lab() -> Lab:
    """All four A100s are taken for an hour."""
    made = Lab()
    made.run(made.submit("tim", cards=4, limit="1h", name="first"), "a0", "a1", "a2", "a3")
    return made


def move(lab: Lab, task: Task, points: int, why: str = "paper deadline", person: str = "ann", **more) -> Task:
    return move_task(lab.store, lab.clock, lab.actor(person), task.id, points, why, **more)


def planned(lab: Lab) -> Live:
    """What the last plan promised."""
    snapshot = take_snapshot(lab.records, {}, lab.clock.now())
    made = plan(snapshot, lab.records.policy, lab.clock.now())
    return Live(plan=made, promises=made.promises({task.id: task.version for task in snapshot.tasks}))


def preview(lab: Lab, task: Task, points: int, *, live: Live | None = None, person: str = "ann", **more) -> MovePreview:
    now = lab.clock.now()
    live = live or planned(lab)
    return MovePreviews().of(lab.store, lab.records, live, lab.actor(person), task.id, points, now, **more)


class TestMove:
    def test_it_has_a_name_a_reason_and_an_entry(self, lab):
        task = lab.submit("mia", **A100)
        now = move(lab, task, 30)
        assert (now.boost, now.boost_by, now.boost_why, now.version) == (30, "ann", "paper deadline", task.version + 1)
        line = lab.store.audit(AuditQuery("task", task.id)).rows[0]
        assert (line.act, line.person, line.why) == ("move_task", "ann", "paper deadline")
        assert (line.old["boost"], line.new["boost"]) == ("0", "30")

    def test_it_stands_before_who_was_before(self, lab):
        first, second = (lab.submit("mia", name=name, **A100, cards=4) for name in "ab")
        assert [wait.task for wait in planned(lab).plan.waits] == [first.id, second.id]
        move(lab, second, 30)
        assert [wait.task for wait in planned(lab).plan.waits] == [second.id, first.id]

    def test_it_is_taken_back_at_any_time(self, lab):
        task = lab.submit("mia", **A100)
        move(lab, task, 30)
        back = move(lab, task, 0, "no longer")
        assert (back.boost, back.boost_by, back.boost_why) == (0, "", "")
        move(lab, task, -1000)
        lab.run(lab.task(task.id), "r0")
        assert move(lab, task, 0, "no longer").boost == 0

    def test_twice_is_once(self, lab):
        task = lab.submit("mia", **A100)
        assert move(lab, task, 30) == move(lab, task, 30)
        assert move(lab, task, 30, "another reason").boost_why == "another reason"

    @pytest.mark.parametrize("person", ["lea", "mia", "vic"])
    def test_it_is_for_admins(self, lab, person):
        task = lab.submit("mia", **A100)
        with pytest.raises(Forbidden) as refused:
            move(lab, task, 30, person=person)
        assert refused.value.act == "move_task"
        assert lab.task(task.id) == task
        assert lab.store.audit(AuditQuery("task", task.id)).rows[0].result == "access.forbidden"
        with pytest.raises(Forbidden):
            preview(lab, task, 30, person=person)

    def test_an_admins_small_token_does_not_move(self, lab):
        task = lab.submit("mia", **A100)
        with pytest.raises(Forbidden):
            move_task(lab.store, lab.clock, lab.actor("ann", Scope.SUBMIT), task.id, 30, "x")
        assert move_task(lab.store, lab.clock, lab.actor("ann", Scope.MANAGE), task.id, 30, "x").boost == 30

    @pytest.mark.parametrize("why", ["", "  "])
    def test_without_a_reason_nothing_moves(self, lab, why):
        task = lab.submit("mia", **A100)
        with pytest.raises(FieldMissing):
            move(lab, task, 30, why)
        assert lab.task(task.id) == task

    def test_what_was_read_must_be_current(self, lab):
        task = lab.submit("mia", **A100)
        with pytest.raises(VersionConflict):
            move(lab, task, 30, if_version=task.version + 1)

    @pytest.mark.parametrize("state", [TaskState.HELD, TaskState.PARKED])
    def test_what_is_held_or_parked_is_in_the_order_too(self, lab, state):
        task = lab.submit("mia", **A100)
        lab.put(replace(task, state=state, version=2))
        assert move(lab, task, 30).boost == 30

    def test_who_runs_or_has_ended_is_in_no_order(self, lab):
        running = lab.records.tasks["t-1"]
        ended = lab.submit("mia", **A100)
        lab.put(replace(ended, state=TaskState.DONE, version=2))
        for task, points in ((running, 1), (ended, 1), (ended, 0)):
            with pytest.raises(NotInOrder):
                move(lab, task, points)
            with pytest.raises(NotInOrder):
                preview(lab, task, points)
        with pytest.raises(NotFound):
            preview(lab, replace(running, id="t-99"), 1)

    @pytest.mark.parametrize("points", ["", "1001", "-1001", "much", "1.5", None])
    def test_points_that_are_none(self, points):
        with pytest.raises(Several) as refused:
            read_move({"points": points, "reason": "x"}, "UTC")
        assert [problem.field for problem in refused.value.problems] == ["points"]

    def test_points_as_people_write_them(self):
        assert read_move({"加减分": "－３０", "原因": "急"}, "UTC") == (-30, "急")


class TestPreview:
    def test_it_tells_who_slips_and_by_how_long(self, lab):
        first, second, third = (lab.submit(who, name=who, **A100, cards=4) for who in ("mia", "max", "tim"))
        at = lab.clock.now()
        told = preview(lab, third, 30)
        hours = [at + timedelta(hours=n) for n in (1, 3, 5)]
        assert (told.moved.before, told.moved.after, told.moved.later_s) == (hours[2], hours[0], -4 * 3600)
        assert (told.place_before, told.place_after) == (3, 1)
        assert [(s.task.id, s.before, s.after, s.later_s) for s in told.later] == [
            (first.id, hours[0], hours[1], 7200),
            (second.id, hours[1], hours[2], 7200),
        ]
        assert (told.later[0].owner.name, told.later[0].team.name) == ("韩梅梅", "视觉组")
        assert (told.later_count, told.sooner_count, told.misses_count, told.stops) == (2, 0, 0, ())
        assert lab.task(third.id) == third  # only looked at

    def test_what_it_tells_is_what_then_happens(self, lab):
        tasks = [
            lab.submit(who, name=who, **A100, cards=n) for n, who in ((4, "mia"), (2, "max"), (3, "tim"), (1, "mia"))
        ]
        live = planned(lab)
        told = preview(lab, tasks[2], 40, live=live)
        move(lab, tasks[2], 40)
        after, _ = decide(
            take_snapshot(lab.records, {}, lab.clock.now(), live=live), lab.records.policy, lab.clock.now()
        )
        starts = {wait.task: wait.forecast.start_by for wait in after.waits if wait.forecast}
        assert told.later
        assert {s.task.id: s.after for s in (*told.later, told.moved)} == {
            s.task.id: starts.get(s.task.id) for s in (*told.later, told.moved)
        }
        before = {wait.task: wait.forecast.start_by for wait in live.plan.waits if wait.forecast}
        slipped = {key for key in starts if starts[key] > before[key]}
        assert {s.task.id for s in told.later} == slipped

    def test_the_worst_come_first_and_the_list_is_cut_but_not_the_count(self, lab):
        for n in range(4):
            lab.submit("mia", name=f"n{n}", **A100 | {"limit": f"{n + 1}h"}, cards=4)
        last = lab.submit("max", **A100 | {"limit": "9h"}, cards=4)
        told = preview(lab, last, 1000, most=2)
        assert (len(told.later), told.later_count) == (2, 4)
        everybody = preview(lab, last, 1000).later
        assert [s.later_s for s in everybody] == sorted((s.later_s for s in everybody), reverse=True)
        assert told.later == everybody[:2]

    def test_who_can_be_told_no_start_any_more_comes_first(self, lab):
        first = lab.submit("mia", name="first", **A100, cards=4)
        endless = lab.submit("max", name="endless", types="A100-80G", cards=4)
        told = preview(lab, endless, 50)
        assert [(s.task.id, s.after, s.later_s) for s in told.later] == [(first.id, None, None)]

        back = preview(lab, move(lab, endless, 50), 0)
        assert (back.later, back.sooner_count) == ((), 1)

    def test_both_plans_start_from_what_the_cycle_would_plan_with(self, lab):
        first, second = (lab.submit(who, name=who, **A100, cards=4) for who in ("mia", "max"))
        made = planned(lab)
        live = replace(
            made, speeds=(Speed("train", "RTX4090", 500),), usage={"vision": 7}, engines=frozenset({"memory"})
        )
        asked: list[Snapshot] = []

        def seen(snapshot: Snapshot, *more):
            asked.append(snapshot)
            return decide(snapshot, *more)

        now = lab.clock.now()
        MovePreviews(TwoPlans(seen)).of(lab.store, lab.records, live, lab.actor("ann"), second.id, 30, now)
        before, after = asked
        assert before == take_snapshot(lab.records, {}, now, live.speeds, engines=live.engines, live=live)
        assert {promise.task for promise in before.promises} == {first.id, second.id}
        told = {task.id: (task.boost, task.version - lab.task(task.id).version) for task in after.tasks}
        assert told == {first.id: (0, 0), second.id: (30, 1)}
        assert replace(after, tasks=before.tasks) == before

    def test_a_milestone_that_only_the_move_would_miss_is_marked(self, lab):
        at = lab.clock.now()
        due = lab.submit("mia", name="due", **A100, cards=4, milestone_at=(at + timedelta(hours=6)).isoformat())
        late = lab.submit("mia", name="late", **A100, cards=4, milestone_at=(at + timedelta(hours=1)).isoformat())
        urgent = lab.submit("max", name="urgent", **A100, cards=4)
        misses = {s.task.id: s.misses for s in preview(lab, urgent, 90).later}
        assert misses == {due.id: True, late.id: False}  # the other misses it anyway
        assert preview(lab, urgent, 90).misses_count == 1

    def test_down_the_order_others_gain(self, lab):
        first, second = (lab.submit(who, name=who, **A100, cards=4) for who in ("mia", "max"))
        told = preview(lab, first, -30)
        assert (told.later, told.sooner_count) == ((), 1)
        assert told.moved.later_s == 7200
        assert told.moved.task.id == first.id != second.id

    def test_an_engine_that_is_silent_starts_nobody_in_the_preview_either(self, lab):
        task = lab.submit("mia", types="RTX4090", limit="1h")
        assert preview(lab, task, 5, live=Live(engines=frozenset({"memory"}))).moved.starts
        told = preview(lab, task, 5, live=Live(engines=frozenset()))
        assert (told.moved.starts, told.moved.after) == (False, None)

    def test_the_same_points_or_none_to_take_back_do_nothing(self, lab):
        task = lab.submit("mia", **A100)
        assert preview(lab, task, 0).later == ()
        running = lab.records.tasks["t-1"]
        assert preview(lab, running, 0).moved.before is None

    @pytest.mark.parametrize("checkpoint", [True, False])
    def test_runs_that_only_the_move_stops_are_named(self, checkpoint):
        lab = Lab()
        lab.put(Guarantee("text", "text", 2, ("A100-80G",), together=2))
        policy = replace(lab.records.policy, preempt_without_checkpoint=True, version=2)
        lab.store.update(lambda _: Change(policy=policy))
        for n in range(4):
            lent = lab.submit("mia", name=f"lent {n}", tier="idle", preemptible=True, **A100 | {"limit": "9h"})
            lab.run(lent, f"a{n}", preemptible=True, checkpoint=checkpoint, grace_s=60)
        lab.clock.move(hours=1)
        small, wide = (lab.submit("leo", tier="core", cards=n, **A100) for n in (1, 2))
        told = preview(lab, wide, 30)
        assert preview(lab, small, 30).stops == ()
        assert [(stop.cards, stop.lost_card_s, stop.checkpoint, stop.team.id) for stop in told.stops] == [
            (1, 3600, checkpoint, "vision")
        ]
