"""A server killed in the middle of its writing loses nothing it has told, and leaves no half of anything."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from paika.adapters.store_sql.store import SqlStore
from paika.domain.ledger import Balance, EntryKind
from paika.ports.store import AuditQuery, LedgerQuery, TaskQuery

ROOT = Path(__file__).resolve().parents[3]
KILLS = 4
EVERYTHING = 1_000_000


class CrashPromises:
    """Inherit, supply `place`."""

    @pytest.fixture
    def place(self) -> str:
        """Where an empty store is."""
        raise NotImplementedError

    def test_kill_9_in_the_middle_of_updates(self, place: str) -> None:
        for kill in range(KILLS):
            told = _hammer_and_kill(place, after_updates=5 + 7 * kill)
            with closing(SqlStore(place)) as store:
                assert store.read().version >= told
                _consistent(store)


def _hammer_and_kill(place: str, after_updates: int) -> int:
    """The last version that the writer told before it was killed."""
    command = [sys.executable, "-m", "tests.adapters.store_sql.hammer", place]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    watchdog = threading.Timer(120, writer.kill)
    watchdog.start()
    assert writer.stdout is not None
    told = [int(next(writer.stdout)) for _ in range(after_updates)]
    writer.kill()
    told += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    writer.wait()
    watchdog.cancel()
    assert told == list(range(told[0], told[0] + len(told)))
    return told[-1]


def _consistent(store: SqlStore) -> None:
    """What every step writes together is there together."""
    records = store.read()
    steps = records.counters["task"]
    assert steps == records.version
    assert (list(records.tasks), list(records.runs)) == ([f"t{steps}"], [f"r{steps}"])
    entries = store.ledger(LedgerQuery(limit=EVERYTHING)).rows
    runs = {kind: [entry.run for entry in entries if entry.kind is kind] for kind in EntryKind}
    everyone = [f"r{number}" for number in range(steps, 0, -1)]
    assert runs[EntryKind.HOLD] == everyone
    assert runs[EntryKind.RELEASE] == runs[EntryKind.SPEND] == everyone[1:]
    assert all((found := store.run(entry.run)) and found.task == entry.task for entry in entries)
    assert records.balances == {"vision": Balance(100, 60 * (steps - 1), 0)}
    assert store.ended_tasks(TaskQuery()).total == steps - 1
    assert store.audit(AuditQuery()).total == steps
    assert all(store.receipt("ann", f"t{number}") for number in (1, steps))
    assert store.receipt("ann", f"t{steps + 1}") is None
    assert len(store.reasons_of(f"t{steps}")) == 1
