"""A task of the small lab that was stopped for another and moved by an admin."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.lab import T0

from paika.domain.run import EndCause, RunState
from paika.domain.task import TaskState

LAST = timedelta(hours=2)


def victim(lab, *, checkpoint: bool = False, cause: EndCause = EndCause.PREEMPTED):
    """t-1 was stopped for t-2 and waits again; three stops, one of them more than a day ago; moved by Ann."""
    task = lab.submit("mia", name="victim")
    lab.submit("tim", name="urgent")
    run = lab.run(task, "a0", checkpoint=checkpoint)
    told = replace(run, stop_cause=EndCause.PREEMPTED, stop_by="paika", stop_for="t-2", version=2)
    lab.put(told, replace(told, state=RunState.ENDED, ended_at=T0, cause=cause, version=3))
    again = {"state": TaskState.WAITING, "boost": 20, "boost_by": "ann", "boost_why": "paper deadline"}
    times = (T0 - timedelta(hours=25), T0 - timedelta(hours=5), T0 - LAST)
    now = lab.task(task.id)
    lab.put(replace(now, **again, preempted_at=times, version=now.version + 1))
