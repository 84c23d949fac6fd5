"""What a server holds in memory, read at its start: what is open, and balances summed from the ledger."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, case, func, select

from paika.adapters.codec.nouns import decode
from paika.adapters.store_sql.tables import COUNTERS, LEDGER, LINES, META, NOUNS, RUNS, TASKS
from paika.domain.ledger import Balance, EntryKind
from paika.domain.policy import Policy
from paika.domain.records import SHELVES, Records
from paika.domain.run import Run
from paika.domain.task import Task

POLICY = "policy"
_CLASSES = {shelf: kind for kind, shelf in SHELVES.items()}


def load_records(connection: Connection) -> Records:
    """Everything open, at the version that is written. Raises Unreadable for a body that is not understood."""
    settings = _settings(connection)
    policy = settings.pop(POLICY, {}).get(POLICY, Policy())
    counters = {row.noun: int(row.last) for row in connection.execute(select(COUNTERS))}
    return Records(
        version=stored_version(connection),
        policy=policy,
        tasks=_open(connection, Task, TASKS),
        runs=_open(connection, Run, RUNS),
        balances=_balances(connection),
        counters=counters,
        **settings,
    )


def stored_version(connection: Connection) -> int:
    """The version of the newest committed update."""
    return int(connection.scalar(select(META.c.value).where(META.c.name == "version")) or 0)


def last_numbers(connection: Connection) -> dict[str, int]:
    """By table name, the number of its last line; 0 when it has none."""
    return {table.name: int(connection.scalar(select(func.max(table.c.seq))) or 0) for table in LINES}


def _settings(connection: Connection) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in connection.execute(select(NOUNS.c.kind, NOUNS.c.id, NOUNS.c.body)):
        kind = Policy if row.kind == POLICY else _CLASSES[row.kind]
        found.setdefault(row.kind, {})[row.id] = decode(kind, row.body)
    return found


def _open(connection: Connection, kind: type[Any], table: Any) -> dict[str, Any]:
    rows = connection.execute(select(table.c.id, table.c.body).where(table.c.is_open))
    return {row.id: decode(kind, row.body) for row in rows}


def _balances(connection: Connection) -> dict[str, Balance]:
    return {
        row.team: Balance(int(row.parts), int(row.spent), int(row.lost), int(row.borrowed))
        for row in connection.execute(_SUMS)
    }


def sums() -> tuple[Any, Any, Any, Any]:
    """The sums of a balance as SQL: held parts, card-seconds spent, card-seconds lost, borrowed parts."""
    columns = LEDGER.c
    beside = columns.kind.in_([EntryKind.BORROW.value, EntryKind.RETURN.value])
    held = case((beside, 0), else_=columns.parts)
    borrowed = case((beside, columns.parts), else_=0)
    spent = case((columns.kind == EntryKind.SPEND.value, columns.card_seconds), else_=0)
    lost = case((columns.kind == EntryKind.LOST.value, columns.card_seconds), else_=0)
    named = {"parts": held, "spent": spent, "lost": lost, "borrowed": borrowed}
    parts, used, gone, lent = (func.sum(value).label(name) for name, value in named.items())
    return parts, used, gone, lent


_SUMS = select(LEDGER.c.team, *sums()).group_by(LEDGER.c.team)
