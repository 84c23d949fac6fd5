"""From a plan's stops to orders: a run is told to stop for whom, and the act is on record."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from paika.domain.access import SERVER
from paika.domain.plan import Plan
from paika.domain.records import Change, Records
from paika.domain.task import QUEUED
from paika.services.keep_audit import entry


def stops(records: Records, plan: Plan, now: datetime) -> Change:
    """Runs told to stop, as far as they still are what the plan saw and the task still waits.

    A stop without a task makes room for a reservation that has begun.
    """
    puts = []
    audit = []
    for stop in plan.stops:
        run = records.runs.get(stop.run)
        if run is None or run.version != stop.run_version or run.stop_cause is not None:
            continue
        if stop.task and not _waits(records, stop.task):
            continue
        told = replace(
            run,
            stop_cause=stop.cause,
            stop_by=SERVER.person,
            stop_for=stop.task,
            stop_at=now,
            version=run.version + 1,
        )
        puts.append(told)
        audit.append(
            entry(SERVER, now, "stop_run", "run", run.id, old=run, new=told, why=f"for {stop.task or stop.reservation}")
        )
    return Change(puts=tuple(puts), audit=tuple(audit))


def _waits(records: Records, task: str) -> bool:
    known = records.tasks.get(task)
    return known is not None and known.state in QUEUED
