"""Small nouns for the suites of stores."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from paika.domain.audit import AuditEntry
from paika.domain.records import Change, Records
from paika.domain.run import EndCause, Run, RunPart, RunState
from paika.domain.task import Program, Task, TaskState, Tier
from paika.domain.team import Team
from paika.ports.store import Store

T0 = datetime(2026, 1, 5, 9, tzinfo=UTC)
PATIENCE_S = 60.0
VISION = Team("vision", "Vision")


def task(number: int | str, **changes: Any) -> Task:
    """A waiting task of Ann's."""
    return replace(Task(f"t{number}", f"name {number}", "ann", "vision", T0, Program(argv=("true",))), **changes)


def run(number: int | str, of: str, **changes: Any) -> Run:
    """A run on one card."""
    parts = (RunPart("n1", ("c1",)),)
    plain = Run(f"r{number}", of, 1, f"token-{number}", "ann", "vision", Tier.NORMAL, parts, 100, T0, "local")
    return replace(plain, **changes)


def ended(old: Task, at: datetime = T0, state: TaskState = TaskState.DONE) -> Task:
    """The task's next version, ended at `at`."""
    return replace(old, state=state, state_since=at, version=old.version + 1)


def note(number: int, **changes: Any) -> AuditEntry:
    """An audit entry."""
    at = T0 + timedelta(minutes=number)
    return replace(AuditEntry(at, "ann", "api", "127.0.0.1", "submit", "task", f"t{number}", {}, {}), **changes)


def put(store: Store, *nouns: Any, **more: Any) -> Records:
    """Write the nouns."""
    return store.update(lambda records: Change(puts=nouns, **more))


def after_run(old: Run, seconds: int, cause: EndCause = EndCause.DONE) -> Run:
    """The run's next version, ended after so many seconds."""
    span = {"started_at": T0, "ended_at": T0 + timedelta(seconds=seconds)}
    return replace(old, state=RunState.ENDED, cause=cause, version=old.version + 1, **span)
