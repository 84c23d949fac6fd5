"""The first screen in numbers: cards, queue, data, what runs out soon, what is wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from paika.domain.card import Card
from paika.domain.dataset import Readiness
from paika.domain.node import Node
from paika.domain.records import Records
from paika.domain.task import TaskState, Tier
from paika.services.live import CycleStats, Live
from paika.services.see_cards import CardsView, Shows, TypeTotals, see_cards
from paika.services.see_usage import TeamHolding, see_holdings
from paika.services.seen import Named, queued_now

DUE_WITHIN = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Due:
    """Something that ends at `at`: `kind` is 'lease' (a node or card) or 'milestone' (a task)."""

    kind: str
    what: Named
    at: datetime


@dataclass(frozen=True, slots=True)
class TierCounts:
    """Tasks of one tier."""

    tier: Tier
    waiting: int
    held: int
    parked: int
    running: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts for the first screen. `alarms` are codes; `cycle` is how the last pass of the planner went.

    `case` is where the last plan that broke a rule was kept, while one does; '' if nowhere.
    """

    at: datetime
    version: int
    shows: dict[str, int]
    totals: tuple[TypeTotals, ...]
    tiers: tuple[TierCounts, ...]
    unready_datasets: int
    tasks_waiting_for_data: int
    unseen: int
    holdings: tuple[TeamHolding, ...]
    alarms: tuple[str, ...]
    case: str
    engine_down_since: datetime | None
    blind_nodes: dict[str, str]
    due: tuple[Due, ...]
    cycle: CycleStats | None
    planned_at: datetime | None


def see_overview(records: Records, live: Live, now: datetime, *, cards: CardsView | None = None) -> Overview:
    """The counts; `cards` saves looking twice where the page shows the cards as well."""
    seen = cards or see_cards(records, live, now)
    shows = Counter(cell.shows for row in seen.nodes for cell in row.cells)
    queued = [task for task in records.tasks.values() if queued_now(task)]
    unready = {d.id for d in records.datasets.values() if d.readiness is not Readiness.READY}
    return Overview(
        at=now,
        version=records.version,
        shows={kind.value: shows[kind] for kind in Shows},
        totals=seen.totals,
        tiers=_tiers(records),
        unready_datasets=len(unready),
        tasks_waiting_for_data=sum(any(key in unready for key in task.inputs) for task in queued),
        unseen=sum(task.id not in live.waits for task in queued),
        holdings=see_holdings(records),
        alarms=live.alarms,
        case=live.case if live.alarms else "",
        engine_down_since=live.engine_down_since,
        blind_nodes=dict(live.meter_failures),
        due=see_due(records, now),
        cycle=live.cycle,
        planned_at=live.plan.decided_at if live.plan else None,
    )


def see_due(records: Records, now: datetime, within: timedelta = DUE_WITHIN) -> tuple[Due, ...]:
    """Leases and milestones of open tasks that end within the time, or have ended; the next one first."""
    leased: list[Node | Card] = [*records.nodes.values(), *records.cards.values()]
    due = [Due("lease", Named(n.id, n.id), n.lease_ends_at) for n in leased if n.lease_ends_at is not None]
    due += [
        Due("milestone", Named(task.id, task.milestone or task.name), task.milestone_at)
        for task in records.tasks.values()
        if task.milestone_at is not None and not task.ended
    ]
    return tuple(sorted((d for d in due if d.at <= now + within), key=lambda d: (d.at, d.kind, d.what.id)))


def _tiers(records: Records) -> tuple[TierCounts, ...]:
    counts = Counter((id(task.tier), id(task.state)) for task in records.tasks.values())  # hashing enums is slow

    def count(tier: Tier, *states: TaskState) -> int:
        return sum(counts[id(tier), id(state)] for state in states)

    return tuple(
        TierCounts(
            tier,
            count(tier, TaskState.WAITING),
            count(tier, TaskState.HELD),
            count(tier, TaskState.PARKED),
            count(tier, TaskState.STARTING, TaskState.RUNNING, TaskState.STOPPING),
        )
        for tier in Tier
    )
