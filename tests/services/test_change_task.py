"""Tasks changed by people."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.lab import Lab

from paika.domain.access import Forbidden, Scope
from paika.domain.problem import BadValue, FieldMissing, NotFound, Several, UnknownField, VersionConflict
from paika.domain.run import EndCause, RunState
from paika.domain.task import DependencyLoop, IllegalStep, TaskState, Tier
from paika.ports.store import AuditQuery
from paika.services.change_task import TooLate, cancel_task, edit_task, hold_task, release_task


@pytest.fixture
def lab() -> Lab:
    return Lab()


def edit(lab, task, person="mia", *, if_version=None, **raw):
    return edit_task(lab.store, lab.clock, lab.actor(person), task.id, raw, "UTC", if_version=if_version)


def cancel(lab, task, person="mia", **more):
    return cancel_task(lab.store, lab.clock, lab.actor(person), task.id, **more)


class TestCancel:
    def test_a_waiting_task_is_cancelled_at_once_and_its_dead_children_with_it(self, lab):
        parent = lab.submit("mia")
        child = lab.submit("max", after=parent.id)
        after_failure = lab.submit("max", after=f"{parent.id}:failure", priority=1)
        after_end = lab.submit("max", after=f"{parent.id}:end", priority=2)
        assert cancel(lab, parent, why="wrong seed").state is TaskState.CANCELLED
        assert lab.task(child.id).state is TaskState.CLOSED
        assert lab.task(after_failure.id).state is TaskState.CLOSED  # cancelled before it began is not failed
        assert lab.task(after_end.id).after[0].met
        closing = lab.store.audit(AuditQuery("task", child.id)).rows[0]
        assert (closing.act, closing.new["state"]) == ("close_task", "closed")

    @pytest.mark.parametrize("state", [RunState.INTENDED, RunState.STARTING, RunState.RUNNING])
    def test_a_task_on_cards_is_marked_for_the_engine_to_stop(self, lab, state):
        task = lab.submit("mia")
        run = lab.run(task, "a0", state=state)
        assert cancel(lab, task, "lea").state is TaskState.STOPPING
        stopped = lab.records.runs[run.id]
        assert (stopped.state, stopped.stop_cause, stopped.stop_by) == (RunState.STOPPING, EndCause.CANCELLED, "lea")

    def test_twice_is_once(self, lab):
        task = lab.submit("mia")
        lab.run(task, "a0")
        first = cancel(lab, task)
        assert cancel(lab, task) == first

    def test_what_is_being_reclaimed_can_still_be_cancelled(self, lab):
        task = lab.submit("mia")
        run = lab.run(task, "a0", state=RunState.STOPPING, stop_cause=EndCause.PREEMPTED)
        assert cancel(lab, task).state is TaskState.STOPPING
        assert lab.records.runs[run.id].stop_cause is EndCause.CANCELLED

    def test_an_ended_task_cannot_be_cancelled_and_an_unknown_one_is_not_found(self, lab):
        task = lab.submit("mia")
        lab.put(replace(task, state=TaskState.DONE, version=2))
        with pytest.raises(IllegalStep):
            cancel(lab, task)
        with pytest.raises(NotFound):
            cancel_task(lab.store, lab.clock, lab.actor("mia"), "t-9")


class TestWhoMay:
    @pytest.mark.parametrize(
        ("person", "allowed"),
        [("mia", True), ("max", False), ("lea", True), ("tim", False), ("ann", True), ("vic", False), ("leo", False)],
    )
    def test_the_owner_the_lead_of_the_team_and_admins(self, lab, person, allowed):
        task = lab.submit("mia")
        if allowed:
            assert cancel(lab, task, person).state is TaskState.CANCELLED
            return
        with pytest.raises(Forbidden):
            cancel(lab, task, person)
        assert lab.task(task.id) == task
        refusal = lab.store.audit(AuditQuery("task", task.id)).rows[0]
        assert (refusal.person, refusal.act, refusal.result) == (person, "cancel_task", "access.forbidden")

    def test_an_admin_with_a_read_token_may_not(self, lab):
        task = lab.submit("mia")
        with pytest.raises(Forbidden):
            cancel_task(lab.store, lab.clock, lab.actor("ann", Scope.READ), task.id)


class TestHold:
    def test_hold_and_release_keep_the_place(self, lab):
        task = lab.submit("mia")
        lab.clock.move(minutes=5)
        held = hold_task(lab.store, lab.clock, lab.actor("lea"), task.id, "wait for the paper")
        assert (held.state, held.held_by, held.state_cause) == (TaskState.HELD, "lea", "wait for the paper")
        free = release_task(lab.store, lab.clock, lab.actor("mia"), task.id)
        assert (free.state, free.held_by, free.submitted_at) == (TaskState.WAITING, "", task.submitted_at)

    def test_a_hold_needs_a_reason(self, lab):
        task = lab.submit("mia")
        with pytest.raises(FieldMissing):
            hold_task(lab.store, lab.clock, lab.actor("mia"), task.id, "  ")

    def test_what_runs_cannot_be_held(self, lab):
        task = lab.submit("mia")
        lab.run(task, "a0")
        with pytest.raises(IllegalStep):
            hold_task(lab.store, lab.clock, lab.actor("mia"), task.id, "why not")


class TestEdit:
    def test_named_fields_change_and_the_others_stay(self, lab):
        task = lab.submit("mia", types="A100", inputs="imagenet", note="keep", limit="2h")
        new = edit(lab, task, cards="４", 优先级=70)
        assert (new.demand.cards, new.priority, new.note, new.limit_s) == (4, 70, "keep", 7200)
        assert new == replace(task, demand=replace(task.demand, cards=4), priority=70, version=2)
        entry = lab.store.audit(AuditQuery("task", task.id)).rows[0]
        assert (entry.old["priority"], entry.new["priority"]) == ("50", "70")

    def test_null_clears(self, lab):
        task = lab.submit("mia", types="A100", note="gone", limit="2h", after=lab.submit("mia", name="p").id)
        new = edit(lab, task, types=None, note="", limit=None, after=None)
        assert (new.demand.types, new.demand.asked_types, new.note, new.limit_s, new.after) == ((), "", "", None, ())

    def test_a_script_takes_the_place_of_a_command_and_a_share_can_go(self, lab):
        task = lab.submit("mia", share_vram="8G", share_bandwidth=30)
        new = edit(lab, task, script="echo hi\n", share_vram=None)
        assert new.program.argv == ()
        assert new.program.script == "echo hi"
        assert new.demand.share is None

    def test_an_edit_on_an_older_version_is_refused(self, lab):
        task = lab.submit("mia")
        edit(lab, task, priority=60, if_version=1)
        with pytest.raises(VersionConflict) as caught:
            edit(lab, task, priority=70, if_version=1)
        assert (caught.value.read, caught.value.current) == (1, 2)
        assert lab.task(task.id).priority == 60

    def test_what_says_nothing_new_writes_nothing(self, lab):
        task = lab.submit("mia")
        assert edit(lab, task, priority=50).version == 1

    def test_bad_values_and_unknown_fields_are_refused(self, lab):
        task = lab.submit("mia")
        with pytest.raises(Several) as caught:
            edit(lab, task, cards=True, priority="10**12")
        assert {type(problem) for problem in caught.value.problems} == {BadValue}
        with pytest.raises(UnknownField):
            edit(lab, task, prioritty=1)
        with pytest.raises(UnknownField):
            edit(lab, task, owner="max")

    def test_an_edit_that_closes_a_ring_is_refused_written_out(self, lab):
        b = lab.submit("mia", name="B")
        a = lab.submit("mia", name="A", after=b.id)
        with pytest.raises(DependencyLoop) as caught:
            edit(lab, b, after=a.id)
        assert caught.value.loop == (b.id, a.id, b.id)
        with pytest.raises(DependencyLoop):
            edit(lab, b, after=b.id)

    def test_a_member_does_not_lift_his_task_to_core(self, lab):
        task = lab.submit("mia")
        with pytest.raises(Forbidden):
            edit(lab, task, tier="core")
        assert edit(lab, task, "lea", tier="core").tier is Tier.CORE

    def test_on_cards_only_words_and_priority_may_change(self, lab):
        task = lab.submit("mia")
        lab.run(task, "a0")
        assert edit(lab, task, note="looks good", priority=80).note == "looks good"
        with pytest.raises(TooLate) as caught:
            edit(lab, task, cards=2)
        assert caught.value.field == "cards"
        assert "note" in caught.value.allowed

    def test_what_has_ended_stays_as_it_was(self, lab):
        task = lab.submit("mia")
        lab.put(replace(task, state=TaskState.DONE, version=2))
        with pytest.raises(TooLate):
            edit(lab, task, note="late")
