"""The store: records that outlive the process."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Generic, Protocol, TypeVar

from paika.domain.audit import AuditEntry
from paika.domain.dataset import Dataset
from paika.domain.ledger import EntryKind, LedgerEntry
from paika.domain.match import MatchRecord
from paika.domain.plan import ReasonRecord
from paika.domain.problem import Kind, Problem
from paika.domain.promise import Outcome
from paika.domain.records import Change, Receipt, Records
from paika.domain.run import Run
from paika.domain.task import Task, TaskState

T = TypeVar("T")
OUTCOMES_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A slice of a longer list. `cursor` asks for the next one, None at the end; `total` counts all matches."""

    rows: tuple[T, ...]
    cursor: str | None
    total: int


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """Which ended tasks: newest end first. Empty fields do not filter. `text` looks in name, id and kind."""

    states: tuple[TaskState, ...] = ()
    owner: str = ""
    team: str = ""
    text: str = ""
    cursor: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class LedgerQuery:
    """Which ledger entries: newest first. `since` belongs to the span, `until` does not."""

    team: str = ""
    person: str = ""
    task: str = ""
    kinds: tuple[EntryKind, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    cursor: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class UsageRow:
    """Card-seconds and held parts summed over ledger entries of one team, person and card type."""

    team: str
    person: str
    card_type: str
    held_parts: int
    spent_card_seconds: int
    lost_card_seconds: int


@dataclass(frozen=True, slots=True)
class HourUsage:
    """Card-seconds that a team spent in the hour that begins at `hour_start`; what was lost is not in them."""

    team: str
    hour_start: datetime
    card_seconds: int


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which audit entries: newest first. `since` belongs to the span, `until` does not."""

    noun: str = ""
    subject: str = ""
    person: str = ""
    since: datetime | None = None
    until: datetime | None = None
    cursor: str | None = None
    limit: int = 100


class Store(Protocol):
    """Promises: an update is all or nothing and durable when it returns; readers never wait for writers."""

    def read(self) -> Records:
        """The newest complete records; immutable, free of charge."""
        ...

    def update(self, decide: Callable[[Records], Change]) -> Records:
        """Run `decide` on the newest records with no other writer between, write what it says.

        Whatever `decide` raises leaves everything as it was. An empty change writes nothing and
        does not move the version. Raises VersionConflict if a put does not follow the current version.
        """
        ...

    def wait_change(self, after: int, timeout_s: float) -> int:
        """Block until the version is above `after` or the time is up; the version then."""
        ...

    def task(self, task_id: str) -> Task | None:
        """A task, open or ended."""
        ...

    def run(self, run_id: str) -> Run | None:
        """A run, open or ended."""
        ...

    def runs_of(self, task_id: str) -> tuple[Run, ...]:
        """All runs of a task, oldest first."""
        ...

    def ended_tasks(self, query: TaskQuery) -> Page[Task]:
        """Ended tasks."""
        ...

    def ledger(self, query: LedgerQuery) -> Page[LedgerEntry]:
        """Ledger entries."""
        ...

    def usage(self, since: datetime | None = None, until: datetime | None = None) -> tuple[UsageRow, ...]:
        """Sums of ledger entries by team, person and card type, in that order."""
        ...

    def usage_by_hour(self, since: datetime) -> tuple[HourUsage, ...]:
        """What teams have spent in each full hour in UTC from `since` on, by hour and team; hours without any left out.

        `since` is taken back to the full hour.
        """
        ...

    def audit(self, query: AuditQuery) -> Page[AuditEntry]:
        """Audit entries."""
        ...

    def reasons_of(self, task_id: str, limit: int = 200) -> tuple[ReasonRecord, ...]:
        """Reasons of a task over time, newest first."""
        ...

    def last_reasons(self, task_ids: Collection[str]) -> dict[str, ReasonRecord]:
        """The newest reasons of each of these tasks that has any."""
        ...

    def outcomes(self, limit: int = OUTCOMES_KEPT) -> tuple[Outcome, ...]:
        """How told starts came true, newest first; only the newest OUTCOMES_KEPT are kept."""
        ...

    def dataset_history(self, dataset_id: str, limit: int = 200) -> tuple[Dataset, ...]:
        """Earlier and present states of a dataset, newest first."""
        ...

    def matches(self, task_kind: str = "", limit: int = 1000) -> tuple[MatchRecord, ...]:
        """Match records, newest first."""
        ...

    def receipt(self, person: str, key: str) -> Receipt | None:
        """What was answered to this person's idempotency key."""
        ...

    def close(self) -> None:
        """Give back connections and locks."""
        ...


@dataclass(eq=False)
class StoreTaken(Problem):
    """Another server holds the store at `place`."""

    code: ClassVar[str] = "store.taken"
    kind: ClassVar[Kind] = Kind.SYSTEM
    place: str


@dataclass(eq=False)
class StoreNewer(Problem):
    """A newer paika wrote the store: its layout is number `layout`, this one knows up to `known`."""

    code: ClassVar[str] = "store.newer"
    kind: ClassVar[Kind] = Kind.SYSTEM
    layout: int
    known: int


@dataclass(eq=False)
class StoreMoved(Problem):
    """Somebody else wrote to the store: it is at `found` where this server left it at `expected`."""

    code: ClassVar[str] = "store.moved"
    kind: ClassVar[Kind] = Kind.SYSTEM
    expected: int
    found: int


@dataclass(eq=False)
class StoreFailed(Problem):
    """The database cannot be reached or refused the work; `detail` is its own word."""

    code: ClassVar[str] = "store.failed"
    kind: ClassVar[Kind] = Kind.SYSTEM
    detail: str


@dataclass(eq=False)
class Unreadable(Problem):
    """Written text that is not a `noun` as this version knows it; `detail` says what is wrong."""

    code: ClassVar[str] = "store.unreadable"
    kind: ClassVar[Kind] = Kind.SYSTEM
    noun: str
    detail: str
