"""The engine: starts runs on exact cards, stops them, and tells what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Protocol

from paika.domain.card import Vendor
from paika.domain.problem import Kind, Problem
from paika.domain.run import EndCause
from paika.domain.task import Program


@dataclass(frozen=True, slots=True)
class LaunchPart:
    """One node's part: rank 0 is the first. `indexes` are the cards' indexes where known."""

    rank: int
    node: str
    cards: tuple[str, ...]
    vendor: Vendor
    indexes: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """An order to start. `run` and `token` identify it for ever; `limit_s` counts from the start.

    `share_vram_mib` and `share_bandwidth_percent` are set for shares of one card (engines that cannot
    fence VRAM pass them on as environment variables). `variables` are added to the environment.
    """

    run: str
    token: str
    task: str
    name: str
    owner: str
    team: str
    program: Program
    parts: tuple[LaunchPart, ...]
    limit_s: int | None
    stop_signal: str
    grace_s: int
    log_budget_bytes: int
    share_vram_mib: int | None = None
    share_bandwidth_percent: int | None = None
    variables: tuple[tuple[str, str], ...] = ()


class ReportState(StrEnum):
    """What the engine knows of a run."""

    ABSENT = "absent"  # never heard of, or forgotten
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class RunReport:
    """The truth about one run, all parts taken together; `pids` are all its live processes."""

    run: str
    token: str
    state: ReportState
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cause: EndCause | None = None
    exit_code: int | None = None
    signal: str | None = None
    detail: str = ""
    pids: tuple[int, ...] = ()
    log_bytes: int = 0
    log_dropped_bytes: int = 0


@dataclass(frozen=True, slots=True)
class LogChunk:
    """Bytes of a run's log from `offset` (of the whole output as it was written, gaps counted).

    `size` is the offset just past the last byte so far; `dropped_before` counts bytes between the
    asked offset and `offset` that were dropped for budget or a full disk; `ended` means no more will come.
    """

    offset: int
    data: bytes
    size: int
    dropped_before: int
    ended: bool


@dataclass(eq=False)
class EngineUnavailable(Problem):
    """The engine as a whole does not answer; nothing is known of its runs meanwhile."""

    code: ClassVar[str] = "engine.unavailable"
    kind: ClassVar[Kind] = Kind.SYSTEM
    engine: str
    detail: str


class Engine(Protocol):
    """Promises: a run starts once or not at all, whatever crashes; what runs goes on without the server."""

    @property
    def name(self) -> str:
        """'local', 'slurm', ..."""
        ...

    def start(self, launch: Launch) -> None:
        """Start all parts or none. Idempotent by (run, token): a second call is a no-op.

        Never raises for a program that cannot start; the report then says ENDED with START_FAILED.
        Raises EngineUnavailable if the engine as a whole does not answer.
        """
        ...

    def stop(self, run: str, token: str, cause: EndCause) -> None:
        """Ask the run to end: its stop signal, then after its grace the whole tree is killed.

        Idempotent; a run that is absent or ended is left as it is. The report's cause will be `cause`
        unless it ended by itself before.
        """
        ...

    def observe(self, runs: Mapping[str, str]) -> tuple[RunReport, ...]:
        """A report for each (run id -> token) asked, ABSENT included. Never blocks on a run."""
        ...

    def read_log(self, run: str, token: str, offset: int, limit: int, rank: int = 0) -> LogChunk | None:
        """Up to `limit` bytes from `offset`; a negative offset counts from the end. None: no such run here."""
        ...

    def forget(self, run: str, token: str) -> None:
        """Remove what is kept of an ended run."""
        ...
