"""The store: reads from memory, writes through SQL before anybody sees them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Condition, RLock

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from paika.adapters.store_sql import history
from paika.adapters.store_sql.claim import claim
from paika.adapters.store_sql.engine import make_engine, parse_url
from paika.adapters.store_sql.layout import bring_up
from paika.adapters.store_sql.load import last_numbers, load_records, stored_version
from paika.adapters.store_sql.write import write_change
from paika.domain.audit import AuditEntry
from paika.domain.dataset import Dataset
from paika.domain.ledger import LedgerEntry
from paika.domain.match import MatchRecord
from paika.domain.plan import ReasonRecord
from paika.domain.promise import Outcome
from paika.domain.records import Change, Receipt, Records, apply, not_open
from paika.domain.run import Run
from paika.domain.task import Task
from paika.ports.store import OUTCOMES_KEPT, AuditQuery, HourUsage, LedgerQuery, Page, StoreFailed, TaskQuery, UsageRow


class SqlStore:
    """The Store port on a database URL. One server at a time; a second one is refused with StoreTaken.

    Opening raises BadValue (URL), StoreFailed (database not there), StoreNewer and Unreadable.
    """

    def __init__(self, url: str) -> None:
        self._engine = make_engine(parse_url(url))
        self._writer = RLock()
        self._deciding = False
        self._unsure = False
        self._numbers: dict[str, int] = {}
        self._records = Records()
        self._changed = Condition()
        with _told_as_problems():
            self._claim = claim(self._engine)
        try:
            with self._connected() as connection:
                bring_up(connection)
            self._reload()
        except BaseException:
            self.close()
            raise

    def read(self) -> Records:
        """The newest complete records."""
        return self._records

    def update(self, decide: Callable[[Records], Change]) -> Records:
        """Run `decide` on the newest records and write what it says, all or nothing."""
        with self._writer:
            assert not self._deciding, "an update inside `decide`"
            self._make_sure()
            before = self._records
            change = self._decided(decide)
            if change.empty:
                return before
            after = apply(before, change, self._past_versions(change))
            self._commit(before, after, change)
            self._publish(after)
            return after

    def wait_change(self, after: int, timeout_s: float) -> int:
        """Block until the version is above `after` or the time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._records.version > after, timeout_s)
            return self._records.version

    def task(self, task_id: str) -> Task | None:
        """A task, open or ended."""
        found = self._records.tasks.get(task_id)
        if found is not None:
            return found
        with self._connected() as connection:
            return history.find_task(connection, task_id)

    def run(self, run_id: str) -> Run | None:
        """A run, open or ended."""
        found = self._records.runs.get(run_id)
        if found is not None:
            return found
        with self._connected() as connection:
            return history.find_run(connection, run_id)

    def runs_of(self, task_id: str) -> tuple[Run, ...]:
        """All runs of a task, oldest first."""
        with self._connected() as connection:
            return history.runs_of(connection, task_id)

    def ended_tasks(self, query: TaskQuery) -> Page[Task]:
        """Ended tasks, newest end first."""
        with self._connected() as connection:
            return history.ended_tasks(connection, query)

    def ledger(self, query: LedgerQuery) -> Page[LedgerEntry]:
        """Ledger entries, newest first."""
        with self._connected() as connection:
            return history.ledger(connection, query)

    def usage(self, since: datetime | None = None, until: datetime | None = None) -> tuple[UsageRow, ...]:
        """Sums of ledger entries by team, person and card type, in that order."""
        with self._connected() as connection:
            return history.usage(connection, since, until)

    def usage_by_hour(self, since: datetime) -> tuple[HourUsage, ...]:
        """What teams have spent in each full hour from `since` on, by hour and team."""
        with self._connected() as connection:
            return history.usage_by_hour(connection, since)

    def audit(self, query: AuditQuery) -> Page[AuditEntry]:
        """Audit entries, newest first."""
        with self._connected() as connection:
            return history.audit(connection, query)

    def reasons_of(self, task_id: str, limit: int = 200) -> tuple[ReasonRecord, ...]:
        """Reasons of a task over time, newest first."""
        with self._connected() as connection:
            return history.reasons_of(connection, task_id, limit)

    def last_reasons(self, task_ids: Collection[str]) -> dict[str, ReasonRecord]:
        """The newest reasons of each of these tasks that has any."""
        with self._connected() as connection:
            return history.last_reasons(connection, task_ids)

    def outcomes(self, limit: int = OUTCOMES_KEPT) -> tuple[Outcome, ...]:
        """How told starts came true, newest first."""
        with self._connected() as connection:
            return history.outcomes(connection, limit)

    def dataset_history(self, dataset_id: str, limit: int = 200) -> tuple[Dataset, ...]:
        """Earlier and present states of a dataset, newest first."""
        with self._connected() as connection:
            return history.dataset_history(connection, dataset_id, limit)

    def matches(self, task_kind: str = "", limit: int = 1000) -> tuple[MatchRecord, ...]:
        """Match records, newest first."""
        with self._connected() as connection:
            return history.matches(connection, task_kind, limit)

    def receipt(self, person: str, key: str) -> Receipt | None:
        """What was answered to this person's idempotency key."""
        with self._connected() as connection:
            return history.find_receipt(connection, person, key)

    def close(self) -> None:
        """Give back connections and the claim; safe to call twice."""
        with self._writer:
            self._claim.release()
            self._engine.dispose()

    def _decided(self, decide: Callable[[Records], Change]) -> Change:
        self._deciding = True
        try:
            return decide(self._records)
        finally:
            self._deciding = False

    def _past_versions(self, change: Change) -> dict[tuple[type, str], int]:
        nouns = not_open(self._records, change)
        if not nouns:
            return {}
        with self._connected() as connection:
            return history.stored_versions(connection, nouns)

    def _commit(self, before: Records, after: Records, change: Change) -> None:
        try:
            with _told_as_problems(), self._claim.begin() as connection:
                numbers = write_change(connection, before, after, change, self._numbers)
        except StoreFailed:
            self._unsure = True  # the connection may have broken after the commit
            raise
        self._numbers = numbers

    def _publish(self, records: Records) -> None:
        with self._changed:
            self._records = records
            self._changed.notify_all()

    def _make_sure(self) -> None:
        """Hold the claim; after a failed commit or a lost claim, believe what the database says."""
        with _told_as_problems():
            self._unsure |= self._claim.renew()
        if not self._unsure:
            return
        with self._connected() as connection:
            moved = stored_version(connection) != self._records.version
        if moved:
            self._reload()
        self._unsure = False

    def _reload(self) -> None:
        with self._connected() as connection:
            records = load_records(connection)
            self._numbers = last_numbers(connection)
        self._publish(records)

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """A transaction: committed at the end, rolled back by whatever escapes."""
        with _told_as_problems(), self._engine.begin() as connection:
            yield connection


@contextmanager
def _told_as_problems() -> Iterator[None]:
    try:
        yield
    except DBAPIError as fault:
        raise StoreFailed(field=None, detail=str(fault.orig).strip()[:300]) from fault
    except SQLAlchemyError as fault:
        raise StoreFailed(field=None, detail=str(fault)[:300]) from fault
