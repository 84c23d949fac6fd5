"""Two plans of one instant, the house as it is and as it might be, made by the very planner of the cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import ClassVar

from paika.domain.plan import Plan
from paika.domain.policy import Policy
from paika.domain.problem import Kind, Problem
from paika.domain.snapshot import Snapshot
from paika.services.run_cycle import Decided, decide

MOST_WAITING = 6  # who asks beyond them is sent away, so that previews never take all threads of the doors

Decide = Callable[[Snapshot, Policy, datetime], Decided]


@dataclass(eq=False)
class PreviewsBusy(Problem):
    """So many others wait for their previews that this one was not begun."""

    code: ClassVar[str] = "preview.busy"
    kind: ClassVar[Kind] = Kind.SYSTEM
    waiting: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What one plan is to be made of."""

    snapshot: Snapshot
    policy: Policy


@dataclass(slots=True)
class TwoPlans:
    """Makes one pair at a time, so that many who ask do not stop the planner. `decide` may work elsewhere."""

    decide: Decide = decide
    most: int = MOST_WAITING
    _turn: Lock = field(default_factory=Lock)
    _door: Lock = field(default_factory=Lock)
    _inside: int = 0

    def of(self, before: Asked, after: Asked, now: datetime) -> tuple[Plan, Plan]:
        """Both plans. Raises PreviewsBusy."""
        with self._queued(), self._turn:
            first, second = (self.decide(asked.snapshot, asked.policy, now)[0] for asked in (before, after))
        return first, second

    @contextmanager
    def _queued(self) -> Iterator[None]:
        with self._door:
            if self._inside >= self.most:
                raise PreviewsBusy(field=None, waiting=self._inside)
            self._inside += 1
        try:
            yield
        finally:
            with self._door:
                self._inside -= 1
