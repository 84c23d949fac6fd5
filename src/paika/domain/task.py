"""Tasks: what somebody wants to run, and the table of a task's life."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from paika.domain.problem import Kind, Problem


class Tier(StrEnum):
    """Who goes first: core before normal before idle."""

    CORE = "core"
    NORMAL = "normal"
    IDLE = "idle"


TIER_RANK = {Tier.CORE: 0, Tier.NORMAL: 1, Tier.IDLE: 2}


class TaskState(StrEnum):
    """Where a task stands. A gate is a reason, not a state."""

    WAITING = "waiting"
    HELD = "held"  # by a person
    PARKED = "parked"  # can never fit as it is
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    CLOSED = "closed"  # a dead branch: what it depends on can never come true


ENDED = frozenset({TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.CLOSED})
QUEUED = frozenset({TaskState.WAITING, TaskState.HELD, TaskState.PARKED})

STEPS: dict[tuple[TaskState, str], TaskState] = {
    (TaskState.WAITING, "hold"): TaskState.HELD,
    (TaskState.PARKED, "hold"): TaskState.HELD,
    (TaskState.HELD, "release"): TaskState.WAITING,
    (TaskState.WAITING, "park"): TaskState.PARKED,
    (TaskState.PARKED, "unpark"): TaskState.WAITING,
    (TaskState.WAITING, "intend"): TaskState.STARTING,
    (TaskState.STARTING, "begin"): TaskState.RUNNING,
    (TaskState.STARTING, "requeue"): TaskState.WAITING,
    (TaskState.STARTING, "stop"): TaskState.STOPPING,
    (TaskState.STARTING, "finish"): TaskState.DONE,
    (TaskState.STARTING, "fail"): TaskState.FAILED,
    (TaskState.RUNNING, "stop"): TaskState.STOPPING,
    (TaskState.RUNNING, "requeue"): TaskState.WAITING,
    (TaskState.RUNNING, "finish"): TaskState.DONE,
    (TaskState.RUNNING, "fail"): TaskState.FAILED,
    (TaskState.RUNNING, "cancel"): TaskState.CANCELLED,
    (TaskState.STOPPING, "cancel"): TaskState.CANCELLED,
    (TaskState.STOPPING, "finish"): TaskState.DONE,
    (TaskState.STOPPING, "fail"): TaskState.FAILED,
    (TaskState.STOPPING, "requeue"): TaskState.WAITING,
    (TaskState.WAITING, "cancel"): TaskState.CANCELLED,
    (TaskState.HELD, "cancel"): TaskState.CANCELLED,
    (TaskState.PARKED, "cancel"): TaskState.CANCELLED,
    (TaskState.WAITING, "close"): TaskState.CLOSED,
    (TaskState.HELD, "close"): TaskState.CLOSED,
    (TaskState.PARKED, "close"): TaskState.CLOSED,
}


def step(state: TaskState, event: str) -> TaskState:
    """The state after `event`. Raises IllegalStep for a pair that the table does not have."""
    try:
        return STEPS[state, event]
    except KeyError:
        raise IllegalStep(field=None, noun="task", state=state.value, event=event) from None


class When(StrEnum):
    """How a dependency comes true."""

    SUCCESS = "success"
    FAILURE = "failure"  # the parent ran and failed; cancelled before start is not failed
    END = "end"  # the parent ended, whatever the way


@dataclass(frozen=True, slots=True)
class Dependency:
    """A parent task. `outcome` is the parent's end state once it has ended, else None."""

    task: str
    when: When = When.SUCCESS
    outcome: TaskState | None = None

    @property
    def met(self) -> bool:
        """The condition has come true."""
        return self.outcome is not None and not self.dead

    @property
    def dead(self) -> bool:
        """The condition can never come true any more."""
        if self.outcome is None or self.when is When.END:
            return False
        return self.outcome is not (TaskState.DONE if self.when is When.SUCCESS else TaskState.FAILED)


@dataclass(frozen=True, slots=True)
class Share:
    """A part of one card: VRAM in MiB and memory bandwidth in percent of the card's."""

    vram_mib: int
    bandwidth_percent: int


@dataclass(frozen=True, slots=True)
class Demand:
    """What a task needs. `cards` in all, spread evenly over `nodes` different machines.

    `vram_mib` is per card (0: not stated). `types` are ids of allowed card types, () meaning any;
    `asked_types` is what the person wrote. `share` asks for part of one card, then cards is 1.
    """

    cards: int = 1
    nodes: int = 1
    vram_mib: int = 0
    types: tuple[str, ...] = ()
    asked_types: str = ""
    capabilities: tuple[str, ...] = ()
    share: Share | None = None
    pool: str = ""

    @property
    def cards_per_node(self) -> int:
        """Cards on each of the `nodes` machines."""
        return self.cards // self.nodes


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a run takes, in seconds; `high_s` is the P90."""

    low_s: int
    likely_s: int
    high_s: int


@dataclass(frozen=True, slots=True)
class Program:
    """What runs. Either `argv`, or `script` kept as a file and run by bash; never a shell string.

    `environment`: '' plain, 'venv:PATH' or 'conda:NAME'. `variables` become environment variables.
    """

    argv: tuple[str, ...] = ()
    script: str = ""
    workdir: str = ""
    environment: str = ""
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """What somebody wants to run. Times in UTC; `limit_s` is the hard limit, None meaning none.

    `kind` groups runs that behave alike (for match records). `attempts` counts runs so far;
    `lost_starts` those that failed through no fault of the task and were requeued. `checkpoint` says that it
    saves its work on the stop signal. `boost` points were added by an admin; `preempted_at` are the times of
    the last day at which it was stopped for others.
    """

    id: str
    name: str
    owner: str
    team: str
    submitted_at: datetime
    program: Program
    demand: Demand = Demand()
    tier: Tier = Tier.NORMAL
    priority: int = 50
    estimate: Estimate | None = None
    limit_s: int | None = None
    inputs: tuple[str, ...] = ()
    after: tuple[Dependency, ...] = ()
    not_before: datetime | None = None
    preemptible: bool = False
    checkpoint: bool = False
    stop_signal: str = "TERM"
    grace_s: int = 30
    milestone_at: datetime | None = None
    milestone: str = ""
    kind: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    log_budget_mib: int | None = None
    state: TaskState = TaskState.WAITING
    state_since: datetime | None = None
    state_cause: str = ""
    held_by: str = ""
    attempts: int = 0
    lost_starts: int = 0
    retry_at: datetime | None = None
    boost: int = 0
    boost_by: str = ""
    boost_why: str = ""
    preempted_at: tuple[datetime, ...] = ()
    version: int = 1

    @property
    def ended(self) -> bool:
        """No further run will come."""
        return self.state in ENDED

    @property
    def occupies_s(self) -> int | None:
        """Seconds a run is taken to last: hard limit, else high estimate, else None (unknown)."""
        if self.limit_s is not None:
            return self.limit_s
        return self.estimate.high_s if self.estimate else None


@dataclass(eq=False)
class IllegalStep(Problem):
    """The life-cycle table has no such step."""

    code: ClassVar[str] = "state.illegal_step"
    kind: ClassVar[Kind] = Kind.CONFLICT
    noun: str
    state: str
    event: str


@dataclass(eq=False)
class DependencyLoop(Problem):
    """Tasks that wait for each other in a ring; `loop` names it in order, first again at the end."""

    code: ClassVar[str] = "task.dependency_loop"
    kind: ClassVar[Kind] = Kind.INVALID
    loop: tuple[str, ...]


@dataclass(eq=False)
class DependencyDead(Problem):
    """The parent has already ended in a way that can never satisfy the dependency."""

    code: ClassVar[str] = "task.dependency_dead"
    kind: ClassVar[Kind] = Kind.REFUSED
    parent: str
    outcome: str
    when: str
