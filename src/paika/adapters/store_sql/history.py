"""What is no longer in memory: ended tasks and runs, and the lines of the append-only tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, and_, func, or_, select

from paika.adapters.codec.cursor import decode_cursor, encode_cursor
from paika.adapters.codec.nouns import decode
from paika.adapters.store_sql.load import sums
from paika.adapters.store_sql.tables import (
    AUDIT,
    DATASETS,
    LEDGER,
    MATCHES,
    OUTCOMES,
    REASONS,
    RECEIPTS,
    RUNS,
    TASKS,
    micros,
    moment,
)
from paika.adapters.store_sql.write import searchable
from paika.domain.audit import AuditEntry
from paika.domain.dataset import Dataset
from paika.domain.ledger import EntryKind, LedgerEntry
from paika.domain.match import MatchRecord
from paika.domain.plan import ReasonRecord
from paika.domain.promise import Outcome
from paika.domain.records import Noun, Receipt
from paika.domain.run import Run
from paika.domain.task import Task
from paika.ports.store import AuditQuery, HourUsage, LedgerQuery, Page, TaskQuery, UsageRow

T = TypeVar("T")
Filters = list[ColumnElement[bool]]
HOUR_US = 3_600_000_000
BATCH = 500  # ids in one IN list


def find_task(connection: Connection, task_id: str) -> Task | None:
    """A task, open or ended."""
    body = connection.scalar(select(TASKS.c.body).where(TASKS.c.id == task_id))
    return None if body is None else decode(Task, body)


def find_run(connection: Connection, run_id: str) -> Run | None:
    """A run, open or ended."""
    body = connection.scalar(select(RUNS.c.body).where(RUNS.c.id == run_id))
    return None if body is None else decode(Run, body)


def find_receipt(connection: Connection, person: str, key: str) -> Receipt | None:
    """What was answered to this person's key."""
    mine = and_(RECEIPTS.c.person == person, RECEIPTS.c.key == key)
    body = connection.scalar(select(RECEIPTS.c.body).where(mine))
    return None if body is None else decode(Receipt, body)


def runs_of(connection: Connection, task_id: str) -> tuple[Run, ...]:
    """All runs of a task, oldest first."""
    rows = select(RUNS.c.body).where(RUNS.c.task == task_id).order_by(RUNS.c.attempt, RUNS.c.id)
    return tuple(decode(Run, body) for body in connection.scalars(rows))


def stored_versions(connection: Connection, nouns: Iterable[Task | Run]) -> dict[tuple[type[Noun], str], int]:
    """The versions of those of the nouns that are written down."""
    found: dict[tuple[type[Noun], str], int] = {}
    ids = {kind: [noun.id for noun in nouns if isinstance(noun, kind)] for kind in (Task, Run)}
    for kind, table in ((Task, TASKS), (Run, RUNS)):
        for start in range(0, len(ids[kind]), BATCH):
            batch = table.c.id.in_(ids[kind][start : start + BATCH])
            for row in connection.execute(select(table.c.id, table.c.version).where(batch)):
                found[kind, row.id] = row.version
    return found


def ended_tasks(connection: Connection, query: TaskQuery) -> Page[Task]:
    """Ended tasks, newest end first."""
    columns = TASKS.c
    wanted = [~columns.is_open, *_equal(TASKS, owner=query.owner, team=query.team)]
    if query.states:
        wanted.append(columns.state.in_([state.value for state in query.states]))
    if query.text:
        wanted.append(columns.search.contains(searchable(query.text), autoescape=True))
    after: ColumnElement[bool] | None = None
    if query.cursor:
        end, task_id = decode_cursor("tasks", query.cursor, int, str)
        after = or_(columns.ended_us < end, and_(columns.ended_us == end, columns.id < task_id))
    newest = select(columns.ended_us, columns.id, columns.body).order_by(columns.ended_us.desc(), columns.id.desc())
    rows, more, total = _slice(connection, newest, wanted, after, query.limit)
    cursor = encode_cursor("tasks", rows[-1].ended_us, rows[-1].id) if more else None
    return Page(tuple(decode(Task, row.body) for row in rows), cursor, total)


def ledger(connection: Connection, query: LedgerQuery) -> Page[LedgerEntry]:
    """Ledger entries, newest first."""
    wanted = _equal(LEDGER, team=query.team, person=query.person, task=query.task)
    wanted += _within(LEDGER, query.since, query.until)
    if query.kinds:
        wanted.append(LEDGER.c.kind.in_([kind.value for kind in query.kinds]))
    return _lines(connection, "ledger", LEDGER, wanted, query.cursor, query.limit, _ledger_entry)


def audit(connection: Connection, query: AuditQuery) -> Page[AuditEntry]:
    """Audit entries, newest first."""
    wanted = _equal(AUDIT, noun=query.noun, subject=query.subject, person=query.person)
    wanted += _within(AUDIT, query.since, query.until)
    return _lines(
        connection, "audit", AUDIT, wanted, query.cursor, query.limit, lambda row: decode(AuditEntry, row.body)
    )


def usage(connection: Connection, since: datetime | None, until: datetime | None) -> tuple[UsageRow, ...]:
    """Sums of ledger entries by team, person and card type, in that order."""
    keys = (LEDGER.c.team, LEDGER.c.person, LEDGER.c.card_type)
    summed = select(*keys, *sums()).where(*_within(LEDGER, since, until)).group_by(*keys)
    rows = connection.execute(summed)
    found = (UsageRow(r.team, r.person, r.card_type, int(r.parts), int(r.spent), int(r.lost)) for r in rows)
    return tuple(sorted(found, key=lambda row: (row.team, row.person, row.card_type)))


def usage_by_hour(connection: Connection, since: datetime) -> tuple[HourUsage, ...]:
    """What teams have spent in each full hour from `since` on, by hour and team."""
    first = since.replace(minute=0, second=0, microsecond=0)
    hour = (LEDGER.c.at_us // HOUR_US).label("hour")
    spent = func.sum(LEDGER.c.card_seconds).label("spent")
    wanted = [LEDGER.c.kind == EntryKind.SPEND.value, *_within(LEDGER, first, None)]
    rows = connection.execute(select(hour, LEDGER.c.team, spent).where(*wanted).group_by(hour, LEDGER.c.team))
    found = (HourUsage(row.team, moment(int(row.hour) * HOUR_US), int(row.spent)) for row in rows if row.spent)
    return tuple(sorted(found, key=lambda row: (row.hour_start, row.team)))


def reasons_of(connection: Connection, task_id: str, limit: int) -> tuple[ReasonRecord, ...]:
    """Reasons of a task over time, newest first."""
    return _last(connection, ReasonRecord, REASONS, limit, _equal(REASONS, task=task_id))


def last_reasons(connection: Connection, task_ids: Collection[str]) -> dict[str, ReasonRecord]:
    """The newest reasons of each of these tasks that has any."""
    found: dict[str, ReasonRecord] = {}
    ids = list(task_ids)
    for start in range(0, len(ids), BATCH):
        newest = select(func.max(REASONS.c.seq)).where(REASONS.c.task.in_(ids[start : start + BATCH]))
        lines = [seq for (seq,) in connection.execute(newest.group_by(REASONS.c.task))]
        for body in connection.scalars(select(REASONS.c.body).where(REASONS.c.seq.in_(lines))):
            record = decode(ReasonRecord, body)
            found[record.task] = record
    return found


def outcomes(connection: Connection, limit: int) -> tuple[Outcome, ...]:
    """How told starts came true, newest first."""
    return _last(connection, Outcome, OUTCOMES, limit, [])


def dataset_history(connection: Connection, dataset_id: str, limit: int) -> tuple[Dataset, ...]:
    """Earlier and present states of a dataset, newest first."""
    return _last(connection, Dataset, DATASETS, limit, _equal(DATASETS, dataset=dataset_id))


def matches(connection: Connection, task_kind: str, limit: int) -> tuple[MatchRecord, ...]:
    """Match records, newest first; of one task kind unless it is ''."""
    return _last(connection, MatchRecord, MATCHES, limit, _equal(MATCHES, task_kind=task_kind))


def _equal(table: Table, **wanted: str) -> Filters:
    return [table.c[name] == value for name, value in wanted.items() if value]


def _within(table: Table, since: datetime | None, until: datetime | None) -> Filters:
    span: Filters = []
    if since is not None:
        span.append(table.c.at_us >= micros(since))
    if until is not None:
        span.append(table.c.at_us < micros(until))
    return span


def _lines(
    connection: Connection,
    listing: str,
    table: Table,
    wanted: Filters,
    cursor: str | None,
    limit: int,
    read: Callable[[Row[Any]], T],
) -> Page[T]:
    after = table.c.seq < decode_cursor(listing, cursor, int)[0] if cursor else None
    newest = select(table).order_by(table.c.seq.desc())
    rows, more, total = _slice(connection, newest, wanted, after, limit)
    return Page(tuple(read(row) for row in rows), encode_cursor(listing, rows[-1].seq) if more else None, total)


def _slice(
    connection: Connection, newest: Select[Any], wanted: Filters, after: ColumnElement[bool] | None, limit: int
) -> tuple[list[Row[Any]], bool, int]:
    """Up to `limit` rows after the cursor, whether more follow, and how many match in all."""
    matching = newest.where(*wanted)
    total = connection.scalar(select(func.count()).select_from(matching.order_by(None).subquery()))
    rest = matching if after is None else matching.where(after)
    size = max(1, limit)
    rows = list(connection.execute(rest.limit(size + 1)))
    return rows[:size], len(rows) > size, int(total or 0)


def _last(connection: Connection, kind: type[T], table: Table, limit: int, wanted: Filters) -> tuple[T, ...]:
    newest = select(table.c.body).where(*wanted).order_by(table.c.seq.desc()).limit(limit)
    return tuple(decode(kind, body) for body in connection.scalars(newest))


def _ledger_entry(row: Row[Any]) -> LedgerEntry:
    return LedgerEntry(
        EntryKind(row.kind),
        moment(row.at_us),
        row.run,
        row.task,
        row.team,
        row.person,
        row.card_type,
        row.parts,
        row.card_seconds,
        row.cause,
    )
