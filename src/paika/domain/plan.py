"""A plan: who starts now on which cards, and for everybody else when and why not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from paika.domain.reason import Reason
from paika.domain.run import RunPart


@dataclass(frozen=True, slots=True)
class PriorityTerms:
    """Effective priority, term by term, in points. `lifted_by` is the task that needs this one sooner."""

    base: int
    age: int
    slack: int
    lifted_by: str | None = None
    lifted_to: int | None = None

    @property
    def total(self) -> int:
        """The sum, or what a more urgent dependent lifts it to."""
        own = self.base + self.age + self.slack
        return max(own, self.lifted_to) if self.lifted_to is not None else own


@dataclass(frozen=True, slots=True)
class Start:
    """A task that starts now, on exact cards, with its cause: why these cards."""

    task: str
    task_version: int
    parts: tuple[RunPart, ...]
    parts_held: int
    card_type: str
    oversized: bool
    rank: int
    types_passed_over: tuple[str, ...] = ()

    @property
    def cards(self) -> tuple[str, ...]:
        """All card ids in the order of the parts."""
        return tuple(card for part in self.parts for card in part.cards)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The latest start if nobody higher arrives and no run overruns; `by_limits` if only hard limits carry it."""

    start_by: datetime
    parts: tuple[RunPart, ...]
    by_limits: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """A task that does not start now. `reasons` is never empty; `rank` counts from 1 over all waiting tasks.

    `forecast` is None when no start can be told; `shape` groups tasks that the planner judged together.
    """

    task: str
    rank: int
    terms: PriorityTerms
    reasons: tuple[Reason, ...]
    forecast: Forecast | None
    parked: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer for every waiting task. `next_look_at` is the next instant at which time alone may change it."""

    read_version: int
    policy_version: int
    decided_at: datetime
    starts: tuple[Start, ...]
    waits: tuple[Wait, ...]
    next_look_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReasonRecord:
    """Reasons of one task from `at` until the next record; the history that `paika why` shows."""

    task: str
    at: datetime
    reasons: tuple[Reason, ...]
