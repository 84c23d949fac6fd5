"""Intents: what of a plan still holds in the records that it is written to."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import T0, Lab

from paika.domain.ledger import EntryKind
from paika.domain.plan import Plan, Start
from paika.domain.run import Run, RunPart, RunState
from paika.domain.task import Share, Task, TaskState
from paika.services.start_runs import intend


@pytest.fixture
def lab() -> Lab:
    return Lab()


def start(task: Task, *cards: str, node: str = "n1", parts: int | None = None) -> Start:
    held = 100 * len(cards) if parts is None else parts
    return Start(task.id, task.version, (RunPart(node, cards),), held, "A100-80G", False, 1)


def intended(lab: Lab, *starts: Start, version: int | None = None) -> dict[str, tuple[str, ...]]:
    """Cards by task, of the runs that would be written."""
    plan = Plan(lab.records.version if version is None else version, 1, T0, starts, ())
    change = intend(lab.records, plan, lambda: "token", T0)
    runs = [noun for noun in change.puts if isinstance(noun, Run)]
    assert sum(entry.parts for entry in change.ledger) == sum(run.parts_held for run in runs)
    assert [entry.run for entry in change.ledger] == [run.id for run in runs]
    return {run.task: run.cards for run in runs}


def test_run_task_and_ledger_are_written_together(lab):
    task = lab.submit(priority=70, limit="1h")
    change = intend(lab.records, Plan(lab.records.version, 1, T0, (start(task, "a0", "a1"),), ()), lambda: "token", T0)
    run, starting = change.puts
    assert isinstance(run, Run)
    assert isinstance(starting, Task)
    assert (run.id, run.state, run.token, run.engine, run.limit_s) == (
        "r-1",
        RunState.INTENDED,
        "token",
        "memory",
        3600,
    )
    assert (starting.state, starting.attempts, starting.version) == (TaskState.STARTING, 1, task.version + 1)
    assert (change.ledger[0].parts, change.ledger[0].team, change.counters) == (200, "vision", {"run": 1})


def test_an_empty_plan_writes_nothing(lab):
    assert intend(lab.records, Plan(1, 1, T0, (), ()), lambda: "token", T0).empty


def test_a_task_that_was_edited_is_left_out(lab):
    task, other = lab.submit(), lab.submit()
    planned = start(task, "a0"), start(other, "a1")
    lab.put(replace(task, priority=1, version=task.version + 1))
    assert intended(lab, *planned) == {other.id: ("a1",)}


@pytest.mark.parametrize("state", [TaskState.HELD, TaskState.CANCELLED])
def test_a_task_that_no_longer_waits_is_left_out(lab, state):
    task = lab.submit()
    lab.put(replace(task, state=state, version=task.version + 1))
    assert intended(lab, replace(start(task, "a0"), task_version=task.version + 1)) == {}


def test_a_card_that_was_taken_or_removed_meanwhile_is_not_given(lab):
    holder, first, second, third = (lab.submit() for _ in range(4))
    lab.run(holder, "a0")
    lab.put()
    planned = start(first, "a0", "a1"), start(second, "gone"), start(third, "a2")
    assert intended(lab, *planned) == {third.id: ("a2",)}


def test_no_card_is_given_twice_even_if_the_plan_says_so(lab):
    first, second = lab.submit(), lab.submit()
    assert intended(lab, start(first, "a0"), start(second, "a0")) == {first.id: ("a0",)}


def test_beside_a_share_only_in_the_version_the_plan_was_made_on(lab):
    share = {"share_vram": "8G", "share_bandwidth": 20}
    holder, task, whole = lab.submit(**share), lab.submit(**share), lab.submit()
    lab.run(holder, "a0", share=Share(8192, 20), parts_held=20)
    assert intended(lab, start(task, "a0", parts=20)) == {task.id: ("a0",)}
    assert intended(lab, start(task, "a0", parts=20), version=1) == {}
    assert intended(lab, start(task, "a1", parts=20), version=1) == {task.id: ("a1",)}
    assert intended(lab, start(whole, "a0")) == {}


def test_a_run_carries_what_stopping_it_would_need(lab):
    task = lab.submit(grace="2s")
    stopped = T0 - timedelta(hours=3)
    lab.put(task := replace(task, checkpoint=True, preempted_at=(stopped,), version=task.version + 1))
    planned = replace(start(task, "a0"), borrowed=True)
    change = intend(lab.records, Plan(lab.records.version, 1, T0, (planned,), ()), lambda: "token", T0)
    run = change.puts[0]
    assert isinstance(run, Run)
    assert (run.grace_s, run.checkpoint, run.borrowed, run.preempted_at) == (5, True, True, (stopped,))
    assert change.ledger[0].kind is EntryKind.BORROW
