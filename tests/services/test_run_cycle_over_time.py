"""The cycle from one plan to the next: runs stopped for others, reservations followed, promises kept and scored."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import T0
from tests.living import Living
from tests.services.test_run_cycle import A100, fill

from paika.domain.guarantee import Guarantee
from paika.domain.promise import Outcome
from paika.domain.records import Change
from paika.domain.reservation import Purpose, Reservation, ReservationState
from paika.domain.run import EndCause
from paika.planning.check import Violation
from paika.ports.store import AuditQuery
from paika.services.change_task import edit_task


@pytest.fixture
def lab() -> Living:
    return Living()


class TestStops:
    """Core work under its team's floor gets its cards from runs that may be stopped."""

    def reclaiming(self, lab: Living):
        """Four idle runs that may be stopped, old enough; then a core task under the other team's floor."""
        lab.put(Guarantee("text", "text", 2, ("A100-80G",)))
        tasks = [lab.submit(tier="idle", command=["sleep", "90000"], preemptible=True, **A100) for _ in range(4)]
        lab.put(*(replace(task, checkpoint=True, version=task.version + 1) for task in tasks))
        lab.turn(2)
        lab.clock.move(seconds=lab.records.policy.preempt_after_s)
        wants = lab.submit("leo", tier="core", command=["sleep", "600"], limit="1h", **A100)
        return tasks, wants

    def test_a_run_is_stopped_its_task_keeps_its_place_and_the_core_task_starts(self, lab):
        _, wants = self.reclaiming(lab)
        lab.turn()
        (told,) = [run for run in lab.records.runs.values() if run.stop_cause]
        assert (told.stop_cause, told.stop_for, told.stop_by) == (EndCause.PREEMPTED, wants.id, "server")
        assert "wait.being_freed" in lab.codes(wants)
        lab.turn(3, seconds=40)
        assert (lab.state(wants), lab.runs(wants)[0].cards) == ("running", told.cards)
        stopped = lab.task(told.task)
        assert (stopped.state.value, stopped.submitted_at, len(stopped.preempted_at)) == ("waiting", T0, 1)
        assert lab.records.balances["vision"].lost_card_seconds == 0  # it saves its work
        acts = [entry.act for entry in lab.store.audit(AuditQuery(subject=told.id)).rows]
        assert acts == ["stop_run"]

    def test_the_task_that_it_was_stopped_for_is_cancelled_meanwhile(self, lab):
        tasks, wants = self.reclaiming(lab)
        lab.turn()
        lab.cancel(wants)
        lab.turn(5, seconds=40)
        assert [lab.state(task) for task in tasks] == ["running"] * 4
        assert sum(len(lab.task(task.id).preempted_at) for task in tasks) == 1

    def test_a_refused_plan_stops_nobody(self, lab, monkeypatch):
        self.reclaiming(lab)
        monkeypatch.setattr("paika.services.run_cycle.check", lambda *_: [Violation("a rule", "a0")])
        lab.turn()
        assert not [run for run in lab.records.runs.values() if run.stop_cause]


class TestReservations:
    def test_a_no_show_is_released_and_the_waiting_list_is_booked(self, lab):
        ends = T0 + timedelta(hours=4)
        cards = ("a0", "a1", "a2", "a3")
        booked = Reservation(
            "b-1", Purpose.BOOKING, "vision", "lea", cards, 4, T0, ends, approved_by="lea", asked_cards=cards
        )
        listed = replace(booked, id="b-2", cards=(), created_at=T0, state=ReservationState.LISTED)
        lab.put(booked, listed)
        task = lab.submit("leo", command=["sleep", "600"], limit="10m", **A100)
        lab.turn()
        assert "wait.reserved" in lab.codes(task)
        lab.turn(2, seconds=lab.records.policy.no_show_s)
        assert [lab.records.reservations[key].state.value for key in ("b-1", "b-2")] == ["released", "booked"]
        assert lab.records.reservations["b-2"].cards
        acts = {entry.act for entry in lab.store.audit(AuditQuery(noun="reservation")).rows}
        assert acts == {"release_booking", "book_listed"}


class TestPromises:
    def waiting(self, lab: Living):
        """All cards taken for an hour by estimate; one task waits for the first of them."""
        fill(lab, estimate="1h")
        task = lab.submit(command=["sleep", "600"], limit="1h", **A100)
        lab.turn()
        return task

    def test_what_was_told_is_on_record(self, lab):
        task = self.waiting(lab)
        (record,) = lab.store.reasons_of(task.id)
        (promise,) = lab.live.promises
        assert record.promise == promise
        assert (promise.task, promise.start_by) == (task.id, T0 + timedelta(hours=1))
        lab.turn(5, minutes=1)
        assert lab.store.reasons_of(task.id) == (record,)

    def test_it_binds_the_next_server_too(self, lab):
        task = self.waiting(lab)
        promise = lab.live.promises[0]
        before = lab.store.reasons_of(task.id)
        lab.restart()
        seen = []
        decide = lab.cycle.decide
        lab.cycle.decide = lambda snapshot, *more: seen.append(snapshot.promises) or decide(snapshot, *more)
        lab.turn()
        assert seen[0] == (promise,)
        assert lab.live.promises == (promise,)
        assert lab.store.reasons_of(task.id) == before

    def test_of_a_changed_task_it_is_told_anew_though_the_answer_is_the_same(self, lab):
        decide, known = lab.cycle.decide, {}

        def keeping(*question):
            """Answers that did not change stay the very same objects, as when they come from another process."""
            made, broken = decide(*question)
            for wait in made.waits:
                if known.get(wait.task) != wait:
                    known[wait.task] = wait
            return replace(made, waits=tuple(known[wait.task] for wait in made.waits)), broken

        lab.cycle.decide = keeping
        task = self.waiting(lab)
        before = lab.live.waits[task.id]
        edit_task(lab.store, lab.clock, lab.admin(), task.id, {"note": "for the paper"}, "UTC")
        lab.turn()
        assert lab.live.waits[task.id] is before
        assert lab.store.reasons_of(task.id)[0].promise == lab.live.promises[0]
        assert lab.live.promises[0].task_version == lab.task(task.id).version

    def test_a_slip_is_told_with_its_cause_and_stays_on_record(self, lab):
        late = lab.submit(command=["sleep", "90000"], estimate="1h", **A100)
        fill(lab, 3, argv=("sleep", "90000"), limit="2h")
        task = lab.submit(command=["sleep", "600"], limit="1h", **A100)
        lab.turn()
        assert lab.live.promises[0].start_by == T0 + timedelta(hours=1)
        lab.turn(2, minutes=61)
        record = lab.store.reasons_of(task.id)[0]
        assert record.slip is not None
        assert (record.slip.cause, record.slip.was) == ("overrun", T0 + timedelta(hours=1))
        assert record.slip.subject == lab.runs(late)[0].id
        assert record.promise is not None
        assert record.promise.start_by == T0 + timedelta(hours=2)

    def test_when_it_starts_its_promise_is_scored(self, lab):
        task = self.waiting(lab)
        assert lab.store.outcomes() == ()
        lab.clock.move(minutes=30)
        lab.cancel(lab.task("t-1"))
        lab.turn(3, seconds=1)
        assert lab.state(task) == "running"
        nearer, outcome = lab.store.outcomes()
        assert (outcome.task, outcome.told_at, outcome.lead_s, outcome.within) == (task.id, T0, 3600, None)
        assert (nearer.told_at, nearer.lead_s) == (T0 + timedelta(seconds=1), 3599)
        assert outcome.late_s == nearer.late_s
        assert -1800 <= outcome.late_s < -1790

    def test_twenty_starts_teach_a_range_and_the_next_are_scored_by_it(self, lab):
        lab.store.update(
            lambda _: Change(outcomes=tuple(Outcome(f"t-{n}", T0, 3600, -60 * n, None) for n in range(20)))
        )
        task = self.waiting(lab)
        forecast = lab.live.waits[task.id].forecast
        assert forecast.start_from == T0 + timedelta(minutes=60 - 18)
        assert forecast.hit_permille is None
        lab.clock.move(minutes=50)
        lab.cancel(lab.task("t-1"))
        lab.turn(3, seconds=1)
        assert [outcome.within for outcome in lab.store.outcomes()[:2]] == [None, True]
