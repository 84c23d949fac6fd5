"""Everything a plan may look at, taken from the records and the last look at the cards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from paika.domain.card import ExternalUse
from paika.domain.records import Records
from paika.domain.snapshot import Snapshot, Speed
from paika.domain.task import QUEUED


def take_snapshot(
    records: Records, external: Mapping[str, ExternalUse], now: datetime, speeds: Iterable[Speed] = ()
) -> Snapshot:
    """The snapshot of these records at `now`. Runs that hold cards are in `runs`, queued tasks in `tasks`."""
    return Snapshot(
        version=records.version,
        taken_at=now,
        card_types=tuple(records.card_types.values()),
        nodes=tuple(records.nodes.values()),
        cards=tuple(records.cards.values()),
        runs=tuple(run for run in records.runs.values() if not run.ended),
        tasks=tuple(task for task in records.tasks.values() if task.state in QUEUED),
        datasets=tuple(records.datasets.values()),
        people=tuple(records.people.values()),
        teams=tuple(records.teams.values()),
        quotas=tuple(records.quotas.values()),
        held_parts={team: balance.held_parts for team, balance in records.balances.items()},
        external=tuple(external[card] for card in sorted(external)),
        speeds=tuple(speeds),
    )
