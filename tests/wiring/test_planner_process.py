"""Planning in a process of its own: the same answers, whatever becomes of the process."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest
from tests.lab import Lab
from tests.wiring.served import eventually

from paika.domain.dataset import Readiness
from paika.domain.plan import Plan, Wait
from paika.domain.task import TaskState
from paika.services.live import Live
from paika.services.plan_twice import TwoPlans
from paika.services.preview_move import MovePreviews
from paika.services.run_cycle import decide
from paika.services.take_snapshot import take_snapshot
from paika.wiring.planner_process import PlannerProcess
from paika.wiring.server import build_server
from paika.wiring.settings import Settings


@pytest.fixture
def planner() -> Iterator[PlannerProcess]:
    made = PlannerProcess(long=1)
    yield made
    made.close()


@pytest.fixture
def question():
    """A snapshot of a lab with tasks of many kinds, the policy and the time."""
    lab = Lab()
    lab.run(lab.submit(limit="1h"), "a0", "a1")
    for form in ({}, {"cards": 3, "inputs": "coco"}, {"share_vram": "8G", "share_bandwidth": 20}, {"cards": 9}):
        for _ in range(3):
            lab.submit(**form)
    return take_snapshot(lab.records, {}, lab.clock.now()), lab.records.policy, lab.clock.now()


def child_of(planner: PlannerProcess) -> subprocess.Popen[bytes]:
    child = planner._child
    assert child is not None
    return child


def test_it_answers_as_the_planner_does(planner, question):
    assert planner(*question) == decide(*question)
    first = child_of(planner)
    assert planner(*question) == decide(*question)
    assert child_of(planner) is first
    assert planner(*question)[0].starts


def test_whatever_changes_between_two_plans_reaches_the_process(planner):
    lab = Lab()
    lab.submit_all("mia", [{"name": str(n), "cards": 1 + n % 3, "limit": "2h"} for n in range(12)])
    lab.submit("tim", inputs="coco", limit="1h")
    live = Live()

    def same() -> Plan:
        nonlocal live
        question = take_snapshot(lab.records, {}, lab.clock.now(), live=live), lab.records.policy, lab.clock.now()
        made, broken = planner(*question)
        assert (made, broken) == decide(*question)
        promises = made.promises({task.id: task.version for task in question[0].tasks})
        live = Live(plan=made, waits={wait.task: wait for wait in made.waits}, promises=promises)
        return made

    plans = [same()]
    for change in (
        lambda: lab.submit("max", priority=90),
        lambda: lab.put(replace(lab.task("t-9"), state=TaskState.CANCELLED, version=2)),
        lambda: lab.put(replace(lab.task("t-8"), priority=80, version=2)),
        lambda: lab.put(replace(lab.task("t-8"), priority=50, version=3)),
        lambda: lab.put(replace(lab.records.datasets["d-2"], readiness=Readiness.READY, percent=100, version=2)),
        lambda: lab.run(lab.task("t-1"), "a0"),
        lambda: lab.clock.move(hours=1),
        lambda: os.kill(child_of(planner).pid, signal.SIGKILL),
        lambda: lab.put(replace(lab.task("t-8"), state=TaskState.HELD, held_by="ann", version=4)),
    ):
        change()
        plans.append(same())
    assert len({plan.waits for plan in plans}) >= len(plans) - 1  # the death of the process alone changes no answer


def test_answers_that_did_not_change_stay_the_very_same_objects(planner):
    lab = Lab()
    lab.submit_all("mia", [{"cards": 4, "priority": 50 - n, "limit": "2h"} for n in range(6)])

    def waits() -> dict[str, Wait]:
        made, _ = planner(take_snapshot(lab.records, {}, lab.clock.now()), lab.records.policy, lab.clock.now())
        return {wait.task: wait for wait in made.waits}

    before, again = waits(), waits()
    assert len(before) == 5
    assert all(again[task] is before[task] for task in before)
    lab.submit("max", priority=90, cards=9)  # can never start, and stands before them all
    moved = waits()
    assert [moved[task].rank for task in before] == [before[task].rank + 1 for task in before]
    assert all(moved[task].terms is before[task].terms for task in before)
    assert all(moved[task].reasons is before[task].reasons for task in before)


def test_short_queues_need_no_process(question):
    planner = PlannerProcess(long=len(question[0].tasks) + 1)
    assert planner(*question) == decide(*question)
    assert planner._child is None


def test_a_process_that_dies_costs_nothing_but_itself(planner, question):
    planner(*question)
    first = child_of(planner)
    os.kill(first.pid, signal.SIGKILL)
    first.wait(30)
    assert planner(*question) == decide(*question)
    assert planner(*question) == decide(*question)
    assert child_of(planner).pid != first.pid


def test_what_the_planner_raises_is_raised(planner, question, capfd):
    snapshot, policy, _ = question
    with pytest.raises(TypeError):
        planner(snapshot, policy, None)
    assert "TypeError" in capfd.readouterr().err


def test_it_ends_with_the_server_however_that_ends():
    """The server is killed; the process sees the end of its pipe."""
    script = (
        "import os, signal\n"
        "from paika.wiring import planner_process\n"
        "child = planner_process._spawn()\n"
        "print(child.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    server = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    pid = int(server.communicate(timeout=60)[0])
    assert server.returncode == -signal.SIGKILL
    eventually(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_closed_it_leaves_nothing(planner, question):
    planner(*question)
    child = child_of(planner)
    planner.close()
    assert child.poll() is not None
    planner.close()


def test_after_a_question_that_cannot_be_sent_it_begins_anew(planner, question):
    planner(*question)
    first = child_of(planner)
    snapshot, policy, now = question
    odd = replace(snapshot.tasks[0], note=lambda: "")  # no pickle
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        planner(replace(snapshot, tasks=(odd, *snapshot.tasks[1:])), policy, now)
    assert first.poll() is not None
    assert planner(*question) == decide(*question)


def test_a_move_is_looked_at_in_the_process_and_in_the_server_alike(planner):
    lab = Lab()
    lab.run(lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    for who in ("mia", "max"):
        lab.submit(who, types="A100-80G", cards=4, limit="2h")
    asked = (lab.store, lab.records, Live(), lab.actor("ann"), "t-3", 30, lab.clock.now())
    told = MovePreviews(TwoPlans(planner)).of(*asked)
    assert child_of(planner).poll() is None
    assert told == MovePreviews().of(*asked)
    assert [slip.task.id for slip in told.later] == ["t-2"]


def test_a_server_previews_in_a_process_of_its_own_that_ends_with_it(tmp_path, question):
    server = build_server(Settings(data=tmp_path))
    previewer = server.context.moves.plans.decide
    assert isinstance(previewer, PlannerProcess)
    assert previewer is not server.cycle.decide
    previewer._long = 1
    assert previewer(*question) == decide(*question)
    child = child_of(previewer)
    server.close()
    assert child.poll() is not None
