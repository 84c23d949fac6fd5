"""One change as SQL statements, inside the transaction of the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, and_, bindparam, delete, insert, select, update
from sqlalchemy.sql.dml import Insert, Update

from paika.adapters.codec.nouns import encode
from paika.adapters.store_sql.load import POLICY, stored_version
from paika.adapters.store_sql.tables import (
    AUDIT,
    COUNTERS,
    DATASETS,
    LEDGER,
    MATCHES,
    META,
    NOUNS,
    OUTCOMES,
    REASONS,
    RECEIPTS,
    RUNS,
    TASKS,
    micros,
)
from paika.domain.dataset import Dataset
from paika.domain.ledger import LedgerEntry
from paika.domain.problem import KeyReused
from paika.domain.records import SHELVES, Change, Noun, Receipt, Records
from paika.domain.run import Run
from paika.domain.task import Task
from paika.ports.store import OUTCOMES_KEPT, StoreMoved

Row = dict[str, Any]
_STEP = (
    update(META).where(META.c.name == "version", META.c.value == bindparam("before")).values(value=bindparam("after"))
)


def write_change(
    connection: Connection, before: Records, after: Records, change: Change, numbers: dict[str, int]
) -> dict[str, int]:
    """Write the change; the numbers of the last lines after it. Raises StoreMoved, KeyReused."""
    _step_version(connection, before.version, after.version)
    _write_nouns(connection, change)
    _write_policy_and_counters(connection, before, after, change)
    if change.receipt is not None:
        _write_receipt(connection, change.receipt)
    return _write_lines(connection, change, numbers)


def _step_version(connection: Connection, before: int, after: int) -> None:
    done = connection.execute(_STEP, {"before": before, "after": after})
    if done.rowcount != 1:
        raise StoreMoved(field=None, expected=before, found=stored_version(connection))


def _write_nouns(connection: Connection, change: Change) -> None:
    fresh = {(type(noun), noun.id) for noun in change.puts if noun.version == 1}
    last = {(type(noun), noun.id): noun for noun in change.puts}
    for table in (NOUNS, TASKS, RUNS):
        rows = [(key in fresh, _noun_row(noun)) for key, noun in last.items() if _table_of(noun) is table]
        _send(connection, insert(table), [row for new, row in rows if new])
        _send(connection, _UPDATES[table.name], [_renamed(table, row) for new, row in rows if not new])
    for noun in change.removed:
        _remove(connection, noun)


def _write_policy_and_counters(connection: Connection, before: Records, after: Records, change: Change) -> None:
    if change.policy is not None:
        row = {"kind": POLICY, "id": POLICY, "version": change.policy.version, "body": encode(change.policy)}
        connection.execute(delete(NOUNS).where(NOUNS.c.kind == POLICY))
        connection.execute(insert(NOUNS), row)
    rows = [{"noun": noun, "last": after.counters[noun]} for noun in change.counters]
    _send(connection, insert(COUNTERS), [row for row in rows if row["noun"] not in before.counters])
    known = [_renamed(COUNTERS, row) for row in rows if row["noun"] in before.counters]
    _send(connection, _UPDATES[COUNTERS.name], known)


def _write_receipt(connection: Connection, receipt: Receipt) -> None:
    mine = and_(RECEIPTS.c.person == receipt.person, RECEIPTS.c.key == receipt.key)
    if connection.execute(select(RECEIPTS.c.key).where(mine)).first() is not None:
        raise KeyReused(field=None, key=receipt.key)
    connection.execute(insert(RECEIPTS), {"person": receipt.person, "key": receipt.key, "body": encode(receipt)})


def _write_lines(connection: Connection, change: Change, numbers: dict[str, int]) -> dict[str, int]:
    written = (noun for noun in change.puts if isinstance(noun, Dataset))
    rows: dict[Table, list[Row]] = {
        LEDGER: [_ledger_row(entry) for entry in change.ledger],
        AUDIT: [
            {"at_us": micros(e.at), "noun": e.noun, "subject": e.subject, "person": e.person, "body": encode(e)}
            for e in change.audit
        ],
        REASONS: [{"task": record.task, "body": encode(record)} for record in change.reasons],
        OUTCOMES: [{"body": encode(outcome)} for outcome in change.outcomes],
        DATASETS: [{"dataset": dataset.id, "body": encode(dataset)} for dataset in written],
        MATCHES: [{"task_kind": match.task_kind, "body": encode(match)} for match in change.matches],
    }
    for table, lines in rows.items():
        _send(connection, insert(table), _numbered(lines, numbers[table.name]))
    last = {table.name: numbers[table.name] + len(lines) for table, lines in rows.items()}
    if change.outcomes:
        connection.execute(delete(OUTCOMES).where(OUTCOMES.c.seq <= last[OUTCOMES.name] - OUTCOMES_KEPT))
    return last


def _numbered(lines: Iterable[Row], last: int) -> list[Row]:
    return [{"seq": number, **line} for number, line in enumerate(lines, start=last + 1)]


def _send(connection: Connection, statement: Insert | Update, rows: Sequence[Row]) -> None:
    if rows:
        connection.execute(statement, rows)


def _keys(table: Table) -> list[str]:
    return [column.name for column in table.primary_key]


def _renamed(table: Table, row: Row) -> Row:
    """Parameters of an UPDATE: keys under names that are no columns, as SQLAlchemy wants them."""
    return {f"old_{name}" if name in _keys(table) else name: value for name, value in row.items()}


def _update(table: Table) -> Update:
    keys = _keys(table)
    others: Row = {column.name: bindparam(column.name) for column in table.c if column.name not in keys}
    return update(table).where(*(table.c[key] == bindparam(f"old_{key}") for key in keys)).values(others)


_UPDATES = {table.name: _update(table) for table in (NOUNS, TASKS, RUNS, COUNTERS)}


def _table_of(noun: Noun) -> Table:
    return TASKS if isinstance(noun, Task) else RUNS if isinstance(noun, Run) else NOUNS


def _remove(connection: Connection, noun: Noun) -> None:
    table = _table_of(noun)
    which = table.c.id == noun.id
    if table is NOUNS:
        which = and_(which, table.c.kind == SHELVES[type(noun)])
    connection.execute(delete(table).where(which))


def _noun_row(noun: Noun) -> Row:
    if isinstance(noun, Task):
        return _task_row(noun)
    if isinstance(noun, Run):
        return _run_row(noun)
    return {"kind": SHELVES[type(noun)], "id": noun.id, "version": noun.version, "body": encode(noun)}


def _task_row(task: Task) -> Row:
    return {
        "id": task.id,
        "version": task.version,
        "state": task.state.value,
        "is_open": not task.ended,
        "tier": task.tier.value,
        "team": task.team,
        "owner": task.owner,
        "ended_us": micros(task.state_since or task.submitted_at) if task.ended else None,
        "search": searchable(f"{task.name}\n{task.id}\n{task.kind}"),
        "body": encode(task),
    }


def searchable(text: str) -> str:
    """Text as it is searched: case folded, and what a database may refuse replaced."""
    return text.casefold().replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _run_row(run: Run) -> Row:
    return {
        "id": run.id,
        "version": run.version,
        "task": run.task,
        "attempt": run.attempt,
        "state": run.state.value,
        "is_open": not run.ended,
        "team": run.team,
        "ended_us": micros(run.ended_at),
        "body": encode(run),
    }


def _ledger_row(entry: LedgerEntry) -> Row:
    return {
        "kind": entry.kind.value,
        "at_us": micros(entry.at),
        "run": entry.run,
        "task": entry.task,
        "team": entry.team,
        "person": entry.person,
        "card_type": entry.card_type,
        "parts": entry.parts,
        "card_seconds": entry.card_seconds,
        "cause": entry.cause,
    }
