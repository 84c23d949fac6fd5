"""Runs: one attempt of a task on exact cards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from paika.domain.task import IllegalStep, Share, Tier


class RunState(StrEnum):
    """Where a run stands."""

    INTENDED = "intended"  # written down, the engine has not answered yet
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


class EndCause(StrEnum):
    """Why a run ended."""

    DONE = "done"
    EXIT_CODE = "exit_code"
    SIGNAL = "signal"
    LIMIT = "limit"
    OUT_OF_MEMORY = "out_of_memory"
    LOST_CARD = "lost_card"
    NODE_LOST = "node_lost"
    START_FAILED = "start_failed"
    PREEMPTED = "preempted"
    RECLAIMED = "reclaimed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


NOT_THE_TASKS_FAULT = frozenset({EndCause.LOST_CARD, EndCause.NODE_LOST, EndCause.START_FAILED})

STEPS: dict[tuple[RunState, str], RunState] = {
    (RunState.INTENDED, "launch"): RunState.STARTING,
    (RunState.INTENDED, "begin"): RunState.RUNNING,
    (RunState.INTENDED, "stop"): RunState.STOPPING,
    (RunState.INTENDED, "end"): RunState.ENDED,
    (RunState.STARTING, "begin"): RunState.RUNNING,
    (RunState.STARTING, "stop"): RunState.STOPPING,
    (RunState.STARTING, "end"): RunState.ENDED,
    (RunState.RUNNING, "stop"): RunState.STOPPING,
    (RunState.RUNNING, "end"): RunState.ENDED,
    (RunState.STOPPING, "end"): RunState.ENDED,
}


def step(state: RunState, event: str) -> RunState:
    """The state after `event`. Raises IllegalStep for a pair that the table does not have."""
    try:
        return STEPS[state, event]
    except KeyError:
        raise IllegalStep(field=None, noun="run", state=state.value, event=event) from None


@dataclass(frozen=True, slots=True)
class RunPart:
    """What of a run lies on one node: the exact card ids there."""

    node: str
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt. `token` marks its processes; `parts_held` are the card parts (100 a card) it holds.

    `stop_for` is the task that its cards are freed for, `stop_at` when that was decided; with a `checkpoint` it
    saves its work when told to stop; `preempted_at` are the stops that its task had seen before. A `borrowed`
    run stands beside its team's ceiling, not under it.
    """

    id: str
    task: str
    attempt: int
    token: str
    owner: str
    team: str
    tier: Tier
    parts: tuple[RunPart, ...]
    parts_held: int
    intended_at: datetime
    engine: str
    share: Share | None = None
    limit_s: int | None = None
    high_s: int | None = None
    preemptible: bool = False
    state: RunState = RunState.INTENDED
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cause: EndCause | None = None
    exit_code: int | None = None
    signal: str | None = None
    detail: str = ""
    stop_cause: EndCause | None = None
    stop_by: str = ""
    stop_for: str = ""
    stop_at: datetime | None = None
    grace_s: int = 30
    checkpoint: bool = False
    borrowed: bool = False
    preempted_at: tuple[datetime, ...] = ()
    oversized: bool = False
    policy_version: int = 1
    version: int = 1

    @property
    def cards(self) -> tuple[str, ...]:
        """All its card ids, in the order of its parts."""
        return tuple(card for part in self.parts for card in part.cards)

    @property
    def ended(self) -> bool:
        """It holds nothing any more."""
        return self.state is RunState.ENDED
