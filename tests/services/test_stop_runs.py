"""Orders to stop: what of a plan's stops still holds in the records they are written to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.lab import T0, Lab

from paika.domain.plan import Plan, Stop
from paika.domain.run import EndCause, Run
from paika.services.change_task import cancel_task
from paika.services.stop_runs import stops


@pytest.fixture
def lab() -> Lab:
    return Lab()


def planned(run: Run, task: str = "", reservation: str = "") -> Plan:
    stop = Stop(run.id, run.version, EndCause.PREEMPTED, task, reservation, run.grace_s, 0)
    return Plan(1, 1, T0, (), (), stops=(stop,))


def test_the_run_is_told_for_whom_and_the_act_is_on_record(lab):
    run, wants = lab.run(lab.submit(), "a0"), lab.submit()
    change = stops(lab.records, planned(run, wants.id), T0)
    (told,) = change.puts
    assert isinstance(told, Run)
    assert (told.stop_cause, told.stop_by, told.stop_for) == (EndCause.PREEMPTED, "server", wants.id)
    assert (told.stop_at, told.version, told.state) == (T0, run.version + 1, run.state)
    (act,) = change.audit
    assert (act.person, act.act, act.subject, act.why) == ("server", "stop_run", run.id, f"for {wants.id}")


def test_for_a_reservation_no_task_is_named(lab):
    run = lab.run(lab.submit(), "a0")
    change = stops(lab.records, planned(run, reservation="b-1"), T0)
    (told,) = change.puts
    assert isinstance(told, Run)
    assert (told.stop_for, change.audit[0].why) == ("", "for b-1")


def test_a_run_that_changed_since_the_plan_is_left_alone(lab):
    run, wants = lab.run(lab.submit(), "a0"), lab.submit()
    lab.put(replace(run, version=run.version + 1))
    assert stops(lab.records, planned(run, wants.id), T0).empty


def test_a_run_that_stops_already_is_not_told_twice(lab):
    run, wants = lab.run(lab.submit(), "a0"), lab.submit()
    lab.put(told := replace(run, stop_cause=EndCause.CANCELLED, version=run.version + 1))
    assert stops(lab.records, planned(told, wants.id), T0).empty


def test_for_a_task_that_no_longer_waits_nobody_is_stopped(lab):
    run, wants, starts = lab.run(lab.submit(), "a0"), lab.submit(), lab.submit()
    cancel_task(lab.store, lab.clock, lab.actor("ann"), wants.id)
    assert stops(lab.records, planned(run, wants.id), T0).empty
    lab.run(starts, "a1")
    assert stops(lab.records, planned(run, starts.id), T0).empty


def test_a_plan_without_stops_writes_nothing(lab):
    assert stops(lab.records, Plan(1, 1, T0, (), ()), T0).empty
