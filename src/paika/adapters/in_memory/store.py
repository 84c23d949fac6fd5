"""A store without a disk: keeps every promise of the port but the one to outlive the process."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from threading import Condition, RLock
from typing import TypeVar

from paika.adapters.codec.cursor import decode_cursor, encode_cursor
from paika.domain.audit import AuditEntry
from paika.domain.dataset import Dataset
from paika.domain.ledger import Balance, EntryKind, LedgerEntry
from paika.domain.match import MatchRecord
from paika.domain.plan import ReasonRecord
from paika.domain.problem import KeyReused
from paika.domain.promise import Outcome
from paika.domain.records import Change, Noun, Receipt, Records, apply, not_open
from paika.domain.run import Run
from paika.domain.task import Task
from paika.domain.units import EPOCH
from paika.ports.store import OUTCOMES_KEPT, AuditQuery, HourUsage, LedgerQuery, Page, TaskQuery, UsageRow

T = TypeVar("T")


class InMemoryStore:
    """The Store port on plain lists and dicts; `records` is what it begins with."""

    def __init__(self, records: Records | None = None) -> None:
        self._records = records or Records()
        self._writer = RLock()
        self._deciding = False
        self._changed = Condition()
        self._tasks: dict[str, Task] = dict(self._records.tasks)
        self._runs: dict[str, Run] = dict(self._records.runs)
        self._ledger: list[LedgerEntry] = []
        self._audit: list[AuditEntry] = []
        self._reasons: list[ReasonRecord] = []
        self._outcomes: deque[Outcome] = deque(maxlen=OUTCOMES_KEPT)
        self._datasets: list[Dataset] = list(self._records.datasets.values())
        self._matches: list[MatchRecord] = []
        self._receipts: dict[tuple[str, str], Receipt] = {}

    def read(self) -> Records:
        """The newest complete records."""
        return self._records

    def update(self, decide: Callable[[Records], Change]) -> Records:
        """Run `decide` on the newest records and keep what it says, all or nothing."""
        with self._writer:
            assert not self._deciding, "an update inside `decide`"
            change = self._decided(decide)
            if change.empty:
                return self._records
            after = apply(self._records, change, self._past_versions(change))
            receipt = change.receipt
            if receipt is not None and (receipt.person, receipt.key) in self._receipts:
                raise KeyReused(field=None, key=receipt.key)
            with self._changed:
                self._keep(change)
                self._records = after
                self._changed.notify_all()
            return after

    def _decided(self, decide: Callable[[Records], Change]) -> Change:
        self._deciding = True
        try:
            return decide(self._records)
        finally:
            self._deciding = False

    def _past_versions(self, change: Change) -> dict[tuple[type[Noun], str], int]:
        known: dict[tuple[type[Noun], str], int] = {}
        for noun in not_open(self._records, change):
            old = self._tasks.get(noun.id) if isinstance(noun, Task) else self._runs.get(noun.id)
            if old is not None:
                known[type(noun), noun.id] = old.version
        return known

    def _keep(self, change: Change) -> None:
        for noun in change.puts:
            if isinstance(noun, Task):
                self._tasks[noun.id] = noun
            elif isinstance(noun, Run):
                self._runs[noun.id] = noun
            elif isinstance(noun, Dataset):
                self._datasets.append(noun)
        for noun in change.removed:
            if isinstance(noun, Task):
                self._tasks.pop(noun.id)
            elif isinstance(noun, Run):
                self._runs.pop(noun.id)
        self._ledger += change.ledger
        self._audit += change.audit
        self._reasons += change.reasons
        self._outcomes += change.outcomes
        self._matches += change.matches
        if change.receipt is not None:
            self._receipts[change.receipt.person, change.receipt.key] = change.receipt

    def wait_change(self, after: int, timeout_s: float) -> int:
        """Block until the version is above `after` or the time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._records.version > after, timeout_s)
            return self._records.version

    def task(self, task_id: str) -> Task | None:
        """A task, open or ended."""
        return self._tasks.get(task_id)

    def run(self, run_id: str) -> Run | None:
        """A run, open or ended."""
        return self._runs.get(run_id)

    def runs_of(self, task_id: str) -> tuple[Run, ...]:
        """All runs of a task, oldest first."""
        with self._changed:
            found = [run for run in self._runs.values() if run.task == task_id]
        return tuple(sorted(found, key=lambda run: (run.attempt, run.id)))

    def ended_tasks(self, query: TaskQuery) -> Page[Task]:
        """Ended tasks, newest end first."""
        with self._changed:
            found = [task for task in self._tasks.values() if task.ended and _asks_for(query, task)]
        found.sort(key=_end_key, reverse=True)
        return _page("tasks", query.cursor, query.limit, [(_end_key(task), task) for task in found])

    def ledger(self, query: LedgerQuery) -> Page[LedgerEntry]:
        """Ledger entries, newest first."""
        with self._changed:
            found = [(n, entry) for n, entry in enumerate(self._ledger) if _concerns(query, entry)]
        return _page("ledger", query.cursor, query.limit, _newest_first(found))

    def usage(self, since: datetime | None = None, until: datetime | None = None) -> tuple[UsageRow, ...]:
        """Sums of ledger entries by team, person and card type, in that order."""
        with self._changed:
            entries = [entry for entry in self._ledger if _within(entry.at, since, until)]
        sums: dict[tuple[str, str, str], Balance] = {}
        for entry in entries:
            key = (entry.team, entry.person, entry.card_type)
            sums[key] = sums.get(key, Balance()).plus(entry)
        return tuple(
            UsageRow(*key, balance.held_parts, balance.spent_card_seconds, balance.lost_card_seconds)
            for key, balance in sorted(sums.items())
        )

    def usage_by_hour(self, since: datetime) -> tuple[HourUsage, ...]:
        """What teams have spent in each full hour from `since` on, by hour and team."""
        first = since.replace(minute=0, second=0, microsecond=0)
        with self._changed:
            spent = [entry for entry in self._ledger if entry.kind is EntryKind.SPEND and entry.at >= first]
        sums: Counter[tuple[datetime, str]] = Counter()
        for entry in spent:
            sums[entry.at.replace(minute=0, second=0, microsecond=0), entry.team] += entry.card_seconds
        return tuple(HourUsage(team, hour, total) for (hour, team), total in sorted(sums.items()) if total)

    def audit(self, query: AuditQuery) -> Page[AuditEntry]:
        """Audit entries, newest first."""
        with self._changed:
            found = [(n, entry) for n, entry in enumerate(self._audit) if _is_about(query, entry)]
        return _page("audit", query.cursor, query.limit, _newest_first(found))

    def reasons_of(self, task_id: str, limit: int = 200) -> tuple[ReasonRecord, ...]:
        """Reasons of a task over time, newest first."""
        with self._changed:
            return _last(limit, (record for record in self._reasons if record.task == task_id))

    def last_reasons(self, task_ids: Collection[str]) -> dict[str, ReasonRecord]:
        """The newest reasons of each of these tasks that has any."""
        wanted = set(task_ids)
        with self._changed:
            return {record.task: record for record in self._reasons if record.task in wanted}

    def outcomes(self, limit: int = OUTCOMES_KEPT) -> tuple[Outcome, ...]:
        """How told starts came true, newest first."""
        with self._changed:
            return _last(limit, self._outcomes)

    def dataset_history(self, dataset_id: str, limit: int = 200) -> tuple[Dataset, ...]:
        """Earlier and present states of a dataset, newest first."""
        with self._changed:
            return _last(limit, (dataset for dataset in self._datasets if dataset.id == dataset_id))

    def matches(self, task_kind: str = "", limit: int = 1000) -> tuple[MatchRecord, ...]:
        """Match records, newest first."""
        with self._changed:
            return _last(limit, (match for match in self._matches if task_kind in ("", match.task_kind)))

    def receipt(self, person: str, key: str) -> Receipt | None:
        """What was answered to this person's idempotency key."""
        return self._receipts.get((person, key))

    def close(self) -> None:
        """Nothing to give back."""


def _asks_for(query: TaskQuery, task: Task) -> bool:
    return (
        (not query.states or task.state in query.states)
        and query.owner in ("", task.owner)
        and query.team in ("", task.team)
        and query.text.casefold() in f"{task.name}\n{task.id}\n{task.kind}".casefold()
    )


def _concerns(query: LedgerQuery, entry: LedgerEntry) -> bool:
    return (
        query.team in ("", entry.team)
        and query.person in ("", entry.person)
        and query.task in ("", entry.task)
        and (not query.kinds or entry.kind in query.kinds)
        and _within(entry.at, query.since, query.until)
    )


def _is_about(query: AuditQuery, entry: AuditEntry) -> bool:
    return (
        query.noun in ("", entry.noun)
        and query.subject in ("", entry.subject)
        and query.person in ("", entry.person)
        and _within(entry.at, query.since, query.until)
    )


def _within(at: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or at >= since) and (until is None or at < until)


def _end_key(task: Task) -> tuple[int, str]:
    ended = (task.state_since or task.submitted_at) - EPOCH
    return (ended.days * 86_400 + ended.seconds) * 1_000_000 + ended.microseconds, task.id


def _newest_first(found: Sequence[tuple[int, T]]) -> list[tuple[tuple[int], T]]:
    return [((number,), row) for number, row in reversed(found)]


def _page(listing: str, cursor: str | None, limit: int, found: Sequence[tuple[tuple[int | str, ...], T]]) -> Page[T]:
    shape = (int, str) if listing == "tasks" else (int,)
    after = decode_cursor(listing, cursor, *shape) if cursor else None
    left = [(key, row) for key, row in found if after is None or key < after]
    rows = left[: max(1, limit)]
    more = encode_cursor(listing, *rows[-1][0]) if len(left) > len(rows) else None
    return Page(tuple(row for _, row in rows), more, len(found))


def _last(limit: int, found: Iterable[T]) -> tuple[T, ...]:
    return tuple(reversed(list(found)))[:limit]
