"""Everything a plan may look at, taken from the records and the last look at the cards."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from paika.domain.card import ExternalUse
from paika.domain.density import Level
from paika.domain.node import Node
from paika.domain.records import Records
from paika.domain.snapshot import Snapshot, Speed
from paika.domain.task import QUEUED
from paika.services.live import Live
from paika.services.score_promises import taught


def take_snapshot(
    records: Records,
    external: Mapping[str, ExternalUse],
    now: datetime,
    speeds: Iterable[Speed] = (),
    *,
    engines: Collection[str] | None = None,
    live: Live | None = None,
) -> Snapshot:
    """The snapshot of these records at `now`. Runs that hold cards are in `runs`, queued tasks in `tasks`.

    `engines` are the names of those that answer; the nodes of others are shown without one. None: all answer.
    `live` knows what the last plan promised, what teams have used and how starts came true; None: nothing yet.
    """
    return Snapshot(
        version=records.version,
        taken_at=now,
        card_types=tuple(records.card_types.values()),
        nodes=tuple(_as_served(node, engines) for node in records.nodes.values()),
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
        reservations=tuple(one for one in records.reservations.values() if one.keeps(now)),
        guarantees=tuple(records.guarantees.values()),
        promises=live.promises if live else (),
        usage=dict(live.usage) if live else {},
        density=live.plan.density.level if live and live.plan and live.plan.density else Level.RELAXED,
        calibrations=taught(live.accuracy) if live else (),
    )


def _as_served(node: Node, engines: Collection[str] | None) -> Node:
    return node if engines is None or node.engine in engines else replace(node, engine=None)
