"""What-ifs: each kind of edit is planned for real, what is told is what then happens, and nothing is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.lab import Lab

from paika.domain.access import Forbidden, Scope
from paika.domain.card import Health
from paika.domain.guarantee import Guarantee
from paika.domain.node import NodeState
from paika.domain.problem import Problem
from paika.domain.quota import Quota
from paika.domain.records import Change
from paika.domain.snapshot import Snapshot
from paika.planning.planner import plan
from paika.services.change_task import cancel_task, edit_task
from paika.services.grant_quota import set_quota
from paika.services.live import Live
from paika.services.mark_ready import mark_dataset
from paika.services.move_task import move_task
from paika.services.plan_twice import TwoPlans
from paika.services.preview_edits import Stands, WhatIf, WhatIfs
from paika.services.run_cycle import decide
from paika.services.take_snapshot import take_snapshot
from paika.services.what_if_form import read_edits

A100 = {"types": "A100-80G", "limit": "2h"}
HOUR = 3600


@pytest.fixture
def lab() -> Lab:
    """All four A100s are taken for an hour."""
    made = Lab()
    made.run(made.submit("tim", cards=4, limit="1h", name="first"), "a0", "a1", "a2", "a3")
    return made


def planned(lab: Lab) -> Live:
    """What the last plan promised."""
    snapshot = take_snapshot(lab.records, {}, lab.clock.now())
    made = plan(snapshot, lab.records.policy, lab.clock.now())
    return Live(plan=made, promises=made.promises({task.id: task.version for task in snapshot.tasks}))


def edit(kind: str, of: str = "", **form: object) -> dict[str, Any]:
    return {"kind": kind} | ({"of": of} if of else {}) | ({"form": form} if form else {})


def what_if(lab: Lab, *edits: dict[str, Any], person: str = "ann", live: Live | None = None, **more: Any) -> WhatIf:
    """The preview; that nothing is written is looked at each time."""
    before, audit = lab.records, lab.store.audit
    told = WhatIfs(**more).of(
        lab.store, before, live or planned(lab), lab.actor(person), read_edits(edits, "UTC"), lab.clock.now()
    )
    assert lab.records is before
    assert lab.store.audit == audit
    return told


def starts(lab: Lab, live: Live) -> dict[str, Any]:
    """Who starts when by the plan that the next cycle would make."""
    now = lab.clock.now()
    made, _ = decide(take_snapshot(lab.records, {}, now, live=live), lab.records.policy, now)
    told = {wait.task: wait.forecast.start_by if wait.forecast else None for wait in made.waits}
    return told | {start.task: now for start in made.starts}


class TestTasks:
    def test_a_new_task_lands_where_it_then_lands(self, lab):
        first, second = (lab.submit(who, name=who, **A100, cards=4) for who in ("mia", "max"))
        live = planned(lab)
        form = {"name": "urgent", **A100, "cards": 4, "priority": 90, "owner": "tim"}
        told = what_if(lab, edit("new_task", **form), live=live)
        (subject,) = told.subjects
        assert (subject.new, subject.before, subject.task.name, subject.owner.name) == (True, None, "urgent", "Tim")
        at = lab.clock.now() + timedelta(hours=1)
        assert (subject.after.stands, subject.after.place, subject.after.start_by) == (Stands.WAITS, 1, at)
        assert subject.after.card_type == "A100-80G"
        assert subject.after.reasons
        assert [(shift.task.id, shift.later_s) for shift in told.later] == [(first.id, 7200), (second.id, 7200)]
        real = lab.submit("tim", name="urgent", **A100, cards=4, priority=90)
        then = starts(lab, live)
        assert then[real.id] == subject.after.start_by
        assert {shift.task.id: shift.after for shift in told.later} == {
            first.id: then[first.id],
            second.id: then[second.id],
        }

    def test_a_new_task_that_starts_at_once_is_told_its_cards(self, lab):
        (subject,) = what_if(lab, edit("new_task", cards=2, vram="20G", limit="1h"), person="mia").subjects
        after = subject.after
        assert (after.stands, after.start_by, after.card_type) == (Stands.STARTS, lab.clock.now(), "RTX4090")
        assert [part.cards for part in after.parts] == [("r0", "r1")]

    def test_a_new_task_that_can_never_fit_is_told_so(self, lab):
        told = what_if(lab, edit("new_task", cards=40), person="mia")
        after = told.subjects[0].after
        assert (after.stands, after.start_by) == (Stands.PARKED, None)
        assert (told.before.parked, told.after.parked) == (0, 1)

    def test_its_own_milestone_is_looked_at(self, lab):
        due = (lab.clock.now() + timedelta(hours=2)).isoformat()
        told = what_if(lab, edit("new_task", **A100, cards=4, milestone_at=due), person="mia")
        assert (told.subjects[0].misses, told.misses_count, told.after.misses) == (True, 0, 1)

    def test_one_new_task_may_wait_for_another(self, lab):
        told = what_if(
            lab,
            edit("new_task", name="prep", vram="20G", limit="1h"),
            edit("new_task", name="train", after="t-2", limit="1h"),
            person="mia",
        )
        assert [reason.code for reason in told.subjects[1].after.reasons] == ["wait.parent"]

    @pytest.mark.parametrize(
        "form", [{"priority": 90}, {"limit": "30m"}, {"types": None, "cards": 1}, {"tier": "idle"}]
    )
    def test_a_changed_task_goes_where_the_edit_then_sends_it(self, lab, form):
        first, second = (lab.submit(who, name=who, **A100, cards=4) for who in ("mia", "max"))
        live = planned(lab)
        told = what_if(lab, edit("changed_task", second.id, **form), live=live, person="max")
        (subject,) = told.subjects
        assert not subject.new
        edit_task(lab.store, lab.clock, lab.actor("max"), second.id, form, "UTC")
        then = starts(lab, live)
        assert subject.after.start_by == then[second.id]
        shifted = {shift.task.id: shift.after for shift in (*told.later, *told.sooner)}
        assert shifted.get(first.id, subject.before and then[first.id]) == then[first.id]

    def test_a_change_that_is_none_does_nothing(self, lab):
        task = lab.submit("mia", **A100, cards=4)
        told = what_if(lab, edit("changed_task", task.id, priority=50))
        assert (told.later, told.sooner, told.before) == ((), (), told.after)

    def test_a_cancelled_one_lets_others_up_and_closes_what_waits_for_it(self, lab):
        first, second = (lab.submit(who, name=who, **A100, cards=4) for who in ("mia", "max"))
        child = lab.submit("mia", name="child", after=first.id)
        live = planned(lab)
        told = what_if(lab, edit("cancelled_task", first.id), live=live)
        assert told.subjects[0].after.stands is Stands.GONE
        assert [(shift.task.id, shift.later_s) for shift in told.sooner] == [(second.id, -7200)]
        assert [task.id for task in told.closed] == [child.id]
        cancel_task(lab.store, lab.clock, lab.actor("ann"), first.id)
        assert told.sooner[0].after == starts(lab, live)[second.id]

    def test_a_cancelled_one_on_cards_frees_them_at_once(self, lab):
        waits = lab.submit("mia", **A100, cards=4)
        told = what_if(lab, edit("cancelled_task", "t-1"), person="tim")
        assert [(shift.task.id, shift.starts) for shift in told.sooner] == [(waits.id, True)]
        assert [(one.run.run, one.again) for one in told.ended] == [("t-1.r1", None)]
        assert (told.subjects[0].before.stands, told.subjects[0].after.stands) == (Stands.ON_CARDS, Stands.GONE)

    def test_a_moved_one_is_told_as_the_preview_of_a_move(self, lab):
        first, second = (lab.submit(who, name=who, **A100, cards=4) for who in ("mia", "max"))
        live = planned(lab)
        told = what_if(lab, edit("moved_task", second.id, points=40), live=live)
        assert [(shift.task.id, shift.later_s) for shift in told.later] == [(first.id, 7200)]
        assert (told.subjects[0].before.place, told.subjects[0].after.place) == (2, 1)
        move_task(lab.store, lab.clock, lab.actor("ann"), second.id, 40, "x")
        assert told.subjects[0].after.start_by == starts(lab, live)[second.id]


class TestMachines:
    def test_a_lost_machine_cuts_off_what_runs_there(self, lab):
        waits = lab.submit("mia", **A100, cards=4)
        lab.clock.move(minutes=30)
        told = what_if(lab, edit("lost_node", "n1"))
        (gone,) = told.ended
        assert (gone.run.task.name, gone.run.cards, gone.run.lost_card_s) == ("first", 4, 4 * 1800)
        assert gone.again is not None
        assert gone.again.start_by is None
        assert [(shift.task.id, shift.after) for shift in told.later] == [(waits.id, None)]
        assert (told.before.cards, told.after.cards) == (6, 2)
        assert lab.records.nodes["n1"].state is NodeState.UP

    def test_who_is_cut_off_starts_again_elsewhere(self, lab):
        small = lab.submit("max", vram="20G", limit="1h", name="small")
        lab.run(small, "r0")
        told = what_if(lab, edit("lost_card", "r0"))
        (gone,) = told.ended
        assert (gone.run.task.id, gone.again.card_type) == (small.id, "RTX4090")
        assert gone.again.start_by - lab.clock.now() <= timedelta(seconds=31)  # the pause before it is tried again

    def test_who_was_cut_off_too_often_does_not_come_back(self, lab):
        task = lab.records.tasks["t-1"]
        lab.put(replace(task, lost_starts=3, version=task.version + 1))
        assert what_if(lab, edit("lost_node", "n1")).ended[0].again is None

    def test_a_machine_back_takes_work_again(self, lab):
        lab.put(replace(lab.records.nodes["n2"], state=NodeState.DOWN, version=2))
        lab.put(replace(lab.records.cards["r0"], health=Health.LOST, version=2))
        task = lab.submit("mia", cards=2, types="RTX4090", limit="1h")
        told = what_if(lab, edit("node_back", "n2"))
        assert [(shift.task.id, shift.starts) for shift in told.sooner] == [(task.id, True)]
        told = what_if(lab, edit("node_back", "n2"), edit("lost_card", "r0"), edit("card_back", "r0"))
        assert told.sooner_count == 1

    @pytest.mark.parametrize(("nodes", "starts_now"), [(1, True), (2, False)])
    def test_more_cards_lie_together_or_apart(self, lab, nodes, starts_now):
        task = lab.submit("mia", cards=8, types="A100-80G", limit="1h")
        told = what_if(lab, edit("more_cards", cards=8, type="A100", nodes=nodes))
        assert told.after.cards == 14
        assert any(shift.task.id == task.id and shift.starts for shift in told.sooner) is starts_now
        assert "what-if-1" not in lab.records.nodes

    def test_more_cards_of_a_type_that_the_house_has_not(self, lab):
        assert "L40S" not in lab.records.card_types
        told = what_if(lab, edit("more_cards", cards=2, type="l40s"), edit("new_task", types="L40S", owner="mia"))
        assert (told.subjects[0].after.stands, told.subjects[0].after.card_type) == (Stands.STARTS, "L40S")

    def test_only_engines_that_answer_start_work_on_new_cards(self, lab):
        asked = edit("more_cards", cards=1, type="RTX4090"), edit("new_task", types="RTX4090", owner="mia", cards=3)
        assert what_if(lab, *asked, live=Live(engines=frozenset())).subjects[0].after.stands is not Stands.STARTS


class TestRules:
    def test_a_quota_and_none(self, lab):
        lab.put(Quota("vision", 1))
        task = lab.submit("mia", cards=2, types="RTX4090", limit="1h")
        live = planned(lab)
        told = what_if(lab, edit("quota", "vision", max_cards=2), live=live)
        assert [(shift.task.id, shift.starts) for shift in told.sooner] == [(task.id, True)]
        assert what_if(lab, edit("quota", "视觉组", max_cards=None), live=live).sooner_count == 1
        set_quota(lab.store, lab.clock, lab.actor("ann"), "vision", 2)
        assert told.sooner[0].after == starts(lab, live)[task.id]

    def test_a_dataset_ready(self, lab):
        task = lab.submit("mia", inputs="coco", limit="1h", vram="20G")
        live = planned(lab)
        told = what_if(lab, edit("ready_dataset", "coco"), person="mia", live=live)
        assert [(shift.task.id, shift.starts) for shift in told.sooner] == [(task.id, True)]
        mark_dataset(lab.store, lab.clock, lab.actor("mia"), "d-2", lab.records.datasets["d-1"].readiness)
        assert told.sooner[0].after == starts(lab, live)[task.id]

    def test_a_policy_may_change_the_order(self, lab):
        lab.submit("mia", name="wide", types="RTX4090", cards=2, limit="1h")
        lab.run(lab.submit("mia", name="long", types="RTX4090", limit="9h"), "r0")
        small = lab.submit("max", name="small", types="RTX4090", limit="12h")
        told = what_if(lab, edit("policy", normal_depth="0"), live=Live())
        assert [(shift.task.id, shift.starts) for shift in told.sooner] == [(small.id, True)]
        assert lab.records.policy.normal_depth is None

    def test_headroom_is_kept_on_cards_by_any_of_their_names(self, lab):
        lab.submit("mia", cards=2, types="RTX4090", limit="1h")
        for written in ("2:RTX 4090", "1x2@main:rtx4090", [{"units": 2, "card_types": ["RTX4090"]}]):
            told = what_if(lab, edit("policy", headroom=written))
            assert [(shift.later_s, shift.starts) for shift in told.later] == [(None, False)]

    @pytest.mark.parametrize("written", ["2@nowhere", "2:RTX4091", "2:RTX4091+A1000"])
    def test_headroom_of_what_is_not_there_is_refused(self, lab, written):
        with pytest.raises(Problem) as refused:
            what_if(lab, edit("policy", headroom=written))
        problems = getattr(refused.value, "problems", (refused.value,))
        assert {problem.field for problem in problems} == {"headroom"}

    def test_a_booking_keeps_its_cards_from_others(self, lab):
        task = lab.submit("mia", cards=2, types="RTX4090", limit="2h")
        booked = edit("booking", starts_at="2026-12-01T10:00:00Z", duration="4h", types="RTX4090", cards=2, team="text")
        told = what_if(lab, booked)
        assert [(shift.task.id, shift.later_s) for shift in told.later] == [(task.id, 5 * HOUR)]
        assert told.bookings[0].reservation.cards == ("r0", "r1")
        assert what_if(lab, booked, person="leo").later == told.later

    def test_a_floor_reclaims_lent_cards_and_says_whose(self):
        lab = Lab()
        lab.store.update(lambda now: Change(policy=replace(now.policy, preempt_without_checkpoint=True, version=2)))
        for n in range(4):
            lent = lab.submit("mia", name=f"lent {n}", tier="idle", preemptible=True, **A100 | {"limit": "9h"})
            lab.run(lent, f"a{n}", preemptible=True, grace_s=60)
        lab.clock.move(hours=1)
        lab.submit("leo", tier="core", cards=1, **A100)
        told = what_if(lab, edit("guarantee", "text", cards=1, types="A100-80G"))
        assert [(stop.cards, stop.lost_card_s) for stop in told.stops] == [(1, HOUR)]
        lab.put(Guarantee("text/A100-80G", "text", 1, ("A100-80G",)))
        assert what_if(lab, edit("withdrawn_guarantee", "text/A100-80G")).spared == 1
        assert what_if(lab, edit("policy", preempt_for="nobody")).spared == 1

    def test_floors_that_no_longer_fit_are_named(self, lab):
        lab.put(Guarantee("text", "text", 4, ("A100-80G",), 4), Guarantee("vision", "vision", 1, ("RTX4090",)))
        told = what_if(lab, edit("lost_card", "a1"))
        assert [(floor.guarantee, floor.cards, floor.room) for floor in told.floors] == [("text", 4, 0)]
        assert what_if(lab, edit("lost_card", "r0")).floors == ()
        assert [floor.team for floor in what_if(lab, edit("lost_node", "n2")).floors] == ["vision"]


class TestAll:
    def test_both_plans_start_from_what_the_cycle_would_plan_with(self, lab):
        lab.submit("mia", **A100, cards=4)
        live = replace(planned(lab), usage={"vision": 7}, engines=frozenset({"memory"}))
        asked: list[Snapshot] = []

        def seen(snapshot: Snapshot, *more: Any) -> Any:
            asked.append(snapshot)
            return decide(snapshot, *more)

        what_if(lab, edit("quota", "vision", max_cards=9), live=live, plans=TwoPlans(seen))
        before, after = asked
        now = lab.clock.now()
        assert before == take_snapshot(lab.records, {}, now, live.speeds, engines=live.engines, live=live)
        assert [(quota.team, quota.max_cards) for quota in after.quotas] == [("vision", 9)]
        assert replace(after, quotas=before.quotas, version=before.version) == before

    def test_lists_are_cut_and_counts_are_not(self, lab):
        for n in range(4):
            lab.submit("mia", name=f"n{n}", **A100, cards=4)
        edits = read_edits([edit("new_task", **A100, cards=4, priority=99)], "UTC")
        now = lab.clock.now()
        told = WhatIfs().of(lab.store, lab.records, planned(lab), lab.actor("mia"), edits, now, most=2)
        assert (len(told.later), told.later_count) == (2, 4)

    def test_edits_build_on_each_other(self, lab):
        told = what_if(
            lab,
            edit("lost_node", "n2"),
            edit("more_cards", cards=4, type="RTX4090"),
            edit("new_task", types="RTX4090", cards=4, limit="1h", owner="mia"),
            edit("changed_task", "t-2", cards=2),
            edit("cancelled_task", "t-1"),
        )
        assert [subject.task.id for subject in told.subjects] == ["t-2", "t-1"]
        assert told.subjects[0].after.parts[0].node == "what-if-1"
        assert told.after.cards == 8

    @pytest.mark.parametrize("scope", [Scope.READ, Scope.SUBMIT])
    def test_an_admins_small_token_does_not_look_into_everything(self, lab, scope):
        edits = read_edits([edit("lost_node", "n1")], "UTC")
        with pytest.raises(Forbidden):
            WhatIfs().of(lab.store, lab.records, Live(), lab.actor("ann", scope), edits, lab.clock.now())
