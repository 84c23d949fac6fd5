"""What the engine reports, told into records; the whole way is in test_run_cycle."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import T0, Lab

from paika.domain.ledger import EntryKind
from paika.domain.run import EndCause, Run, RunState
from paika.domain.task import Task, TaskState
from paika.ports.engine import ReportState, RunReport
from paika.services.follow_runs import Peak, follow_runs


@pytest.fixture
def lab() -> Lab:
    return Lab()


def told(lab: Lab, run: Run, state: ReportState, token: str = "secret-token", **more):
    report = RunReport(run.id, token, state, **more)
    return follow_runs(lab.records, (report,), {}, lab.clock.now())


def test_a_report_under_another_token_is_of_another_run(lab):
    run = lab.run(lab.submit(), "a0")
    assert told(lab, run, ReportState.ENDED, token="old", cause=EndCause.DONE).empty
    assert not told(lab, run, ReportState.ENDED, cause=EndCause.DONE).empty


def test_a_report_of_a_run_that_is_not_open_says_nothing(lab):
    assert follow_runs(lab.records, (RunReport("r-9", "x", ReportState.RUNNING),), {}, T0).empty


def test_nothing_new_changes_nothing(lab):
    run = lab.run(lab.submit(), "a0")
    assert told(lab, run, ReportState.RUNNING, started_at=T0).empty


def test_starting_touches_the_run_and_not_the_task(lab):
    run = lab.run(lab.submit(), "a0", state=RunState.INTENDED)
    (moved,) = told(lab, run, ReportState.STARTING).puts
    assert isinstance(moved, Run)
    assert moved.state is RunState.STARTING


def test_a_run_that_came_and_went_between_two_looks_is_booked(lab):
    run = lab.run(lab.submit(), "a0", "a1", state=RunState.INTENDED)
    lab.clock.move(seconds=60)
    end = T0 + timedelta(seconds=40)
    change = told(lab, run, ReportState.ENDED, started_at=T0, ended_at=end, cause=EndCause.DONE, exit_code=0)
    ended, task = change.puts
    assert isinstance(ended, Run)
    assert isinstance(task, Task)
    assert (ended.started_at, ended.ended_at, task.state) == (T0, end, TaskState.DONE)
    assert [(entry.parts, entry.card_seconds) for entry in change.ledger] == [(-200, 0), (0, 80)]


def test_an_end_without_a_cause_is_unknown_and_not_guessed(lab):
    run = lab.run(lab.submit(), "a0")
    ended, task = told(lab, run, ReportState.ENDED).puts
    assert (ended.cause, ended.ended_at, task.state) == (EndCause.UNKNOWN, T0, TaskState.FAILED)


def test_a_stop_by_the_engine_itself_before_the_start_was_seen_is_no_fault_of_the_server(lab):
    """Somebody cancelled the job at the cluster's own command line."""
    run = lab.run(lab.submit(), "a0", state=RunState.INTENDED)
    _, task = told(lab, run, ReportState.ENDED, cause=EndCause.CANCELLED).puts
    assert task.state is TaskState.CANCELLED


def test_what_the_meter_saw_goes_into_the_match_record(lab):
    run = lab.run(lab.submit(kind="train"), "a0")
    report = RunReport(run.id, run.token, ReportState.ENDED, T0, T0 + timedelta(seconds=5), EndCause.DONE)
    seen = follow_runs(lab.records, (report,), {run.id: Peak(1234, 50)}, T0).matches[0]
    assert (seen.task_kind, seen.peak_vram_mib, seen.mean_busy_percent, seen.seconds) == ("train", 1234, 50, 5)
    unseen = follow_runs(lab.records, (report,), {}, T0).matches[0]
    assert (unseen.peak_vram_mib, unseen.mean_busy_percent) == (None, None)


@pytest.mark.parametrize(("checkpoint", "kind"), [(True, EntryKind.SPEND), (False, EntryKind.LOST)])
def test_a_task_stopped_for_others_keeps_its_place_and_its_time_is_booked_by_what_it_saved(lab, checkpoint, kind):
    task = lab.submit()
    old, recent = T0 - timedelta(hours=23), T0 - timedelta(hours=1)
    lab.put(task := replace(task, preempted_at=(old, recent), version=task.version + 1))
    run = lab.run(task, "a0", checkpoint=checkpoint, stop_cause=EndCause.PREEMPTED, stop_for="t-9", stop_by="paika")
    lab.clock.move(hours=2)
    change = told(lab, run, ReportState.ENDED, started_at=T0, ended_at=lab.clock.now(), cause=EndCause.PREEMPTED)
    _, after = change.puts
    assert isinstance(after, Task)
    assert (after.state, after.submitted_at, after.lost_starts, after.retry_at) == (
        TaskState.WAITING,
        task.submitted_at,
        0,
        None,
    )
    assert after.preempted_at == (recent, lab.clock.now())
    assert [(entry.kind, entry.card_seconds) for entry in change.ledger[1:]] == [(kind, 7200)]
