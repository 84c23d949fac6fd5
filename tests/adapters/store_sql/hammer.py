"""Writes to a store without end and tells each version once it is durable, until somebody kills it.

`python -m tests.adapters.store_sql.hammer URL`. Every step starts a run with its HOLD and ends the one before.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from tests.ports.store_examples import T0, after_run, ended, note, run, task

from paika.adapters.store_sql.store import SqlStore
from paika.domain.ledger import hold, settle
from paika.domain.plan import ReasonRecord
from paika.domain.reason import Held
from paika.domain.records import Change, Receipt, Records
from paika.domain.task import TaskState


def step(records: Records) -> Change:
    """Start task and run number n, end what is open."""
    number = records.counters.get("task", 0) + 1
    fresh, started = task(number, state=TaskState.RUNNING), run(number, f"t{number}")
    gone = [after_run(old, 60) for old in records.runs.values()]
    done = [ended(old) for old in records.tasks.values()]
    settled = [entry for old in gone for entry in settle(old, "A100", T0)]
    return Change(
        puts=(fresh, started, *gone, *done),
        ledger=(hold(started, "A100", T0), *settled),
        reasons=(ReasonRecord(fresh.id, T0, (Held("ann", "why"),)),),
        audit=(replace(note(0), subject=fresh.id),),
        receipt=Receipt("ann", fresh.id, "0" * 64, (fresh.id,), T0),
        counters={"task": number},
    )


def main() -> None:
    """Never returns by itself."""
    store = SqlStore(sys.argv[1])
    while True:
        print(store.update(step).version, flush=True)


if __name__ == "__main__":
    main()
