"""Promises: the start and the cards that the last plan told a waiting task; and how such words came true."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from paika.domain.run import RunPart


@dataclass(frozen=True, slots=True)
class Promise:
    """What a task was told. It holds while the task's `task_version` stays; a re-plan moves it only earlier.

    `standing` is the task's standing when it was told: who stands higher since then is placed anew. `at_latest` is
    how late the search for a better order may make it, where the policy has one.
    """

    task: str
    task_version: int
    start_by: datetime
    parts: tuple[RunPart, ...]
    standing: int = 0
    at_latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Slip:
    """A promise that moved later, from `was`, and why: a word key and what did it (a run, card, task or policy)."""

    was: datetime
    cause: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A told range and what came of it. `lead_s` lay between the telling and the told start.

    `late_s` is actual start − told start, negative when it came earlier.
    """

    task: str
    told_at: datetime
    lead_s: int
    late_s: int
    within: bool | None  # None: no range was told yet


@dataclass(frozen=True, slots=True)
class Calibration:
    """How starts told `lead_from_s` .. `lead_to_s` ahead came true: P10 and P90 of `late_s` over `seen` outcomes.

    `hit_permille` of `ranged` told ranges held the actual start; None before any was told.
    """

    lead_from_s: int
    lead_to_s: int
    seen: int
    early_s: int
    late_s: int
    ranged: int = 0
    hit_permille: int | None = None
