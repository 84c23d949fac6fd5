"""Which card is free, and who has the others until when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from paika.domain.card import Card, CardReading, ExternalUse, Health
from paika.domain.node import Node, NodeState
from paika.domain.plan import Plan, Wait
from paika.domain.problem import NotFound
from paika.domain.records import Records
from paika.domain.run import Run, RunState
from paika.domain.task import Tier
from paika.domain.units import whole_seconds
from paika.services.live import Live
from paika.services.seen import Ending, Named, behind_a_gate, ending, person_named, task_named, team_named


class Shows(StrEnum):
    """The one thing that a cell shows."""

    FREE = "free"
    RUNNING = "running"
    STARTING = "starting"
    STOPPING = "stopping"
    SHARED = "shared"
    EXTERNAL = "external"
    PROMISED = "promised"  # free, and kept for a task that is to start on it
    DRAINING = "draining"
    LOST = "lost"
    NEEDS_RESET = "needs_reset"
    UNKNOWN = "unknown"
    NO_ENGINE = "no_engine"


BUSY = frozenset({Shows.RUNNING, Shows.STARTING, Shows.STOPPING, Shows.SHARED})
UNFIT = frozenset({Shows.DRAINING, Shows.LOST, Shows.NEEDS_RESET, Shows.UNKNOWN, Shows.NO_ENGINE})


@dataclass(frozen=True, slots=True)
class Occupant:
    """A run on a card. `since` is its start, or the intent while it has not started; VRAM in MiB."""

    run: str
    task: Named
    owner: Named
    team: Named
    tier: Tier
    state: RunState
    since: datetime
    ending: Ending
    share_vram_mib: int | None
    share_bandwidth_percent: int | None
    oversized: bool
    preemptible: bool


@dataclass(frozen=True, slots=True)
class Promise:
    """The task that the plan starts on this card next, and the latest instant for it."""

    task: Named
    owner: Named
    at: datetime
    by_limits: bool


@dataclass(frozen=True, slots=True)
class CardCell:
    """One card. Every figure is None where nothing tells it; VRAM in MiB, ages in seconds."""

    id: str
    node: str
    pool: str
    index: int | None
    type: str
    family: str
    shows: Shows
    health: Health
    health_since: datetime | None
    health_cause: str
    draining: bool
    vram_total_mib: int
    vram_used_mib: int | None
    fill_percent: float | None
    busy_percent: int | None
    temperature_c: int | None
    power_w: float | None
    reading_age_s: int | None
    occupants: tuple[Occupant, ...]
    external: ExternalUse | None
    promised: Promise | None
    free_since: datetime | None
    lease_ends_at: datetime | None
    note: str
    version: int


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A host with its cells, ordered by index, then id. `blind` says why its meter gave nothing last time."""

    id: str
    pool: str
    engine: str | None
    virtual: bool
    state: NodeState
    state_cause: str
    blind: str | None
    lease_ends_at: datetime | None
    note: str
    version: int
    cells: tuple[CardCell, ...]


@dataclass(frozen=True, slots=True)
class TypeTotals:
    """Cards of one type (or of all, `type` ''): free + promised + running + external + unfit = all."""

    type: str
    all: int
    free: int
    promised: int
    running: int
    external: int
    unfit: int


@dataclass(frozen=True, slots=True)
class CardsView:
    """All nodes in order of their ids, and the totals: of everything first, then type by type."""

    at: datetime
    nodes: tuple[NodeRow, ...]
    totals: tuple[TypeTotals, ...]
    engine_down_since: datetime | None


@dataclass(frozen=True, slots=True)
class _Around:
    """What is known of each card from elsewhere, by card id."""

    records: Records
    live: Live
    now: datetime
    runs: Mapping[str, list[Run]]
    promises: Mapping[str, Wait]
    free_since: Mapping[str, datetime]


def see_cards(
    records: Records,
    live: Live,
    now: datetime,
    *,
    free_since: Mapping[str, datetime] | None = None,
) -> CardsView:
    """Every card of every node. `free_since` tells for some free cards when the last run left them."""
    around = _around(records, live, now, free_since or {})
    by_node: dict[str, list[Card]] = {node: [] for node in sorted(records.nodes)}
    for card in records.cards.values():
        by_node.setdefault(card.node, []).append(card)
    rows = tuple(_row(around, node, cards) for node, cards in by_node.items())
    return CardsView(now, rows, _totals(cell for row in rows for cell in row.cells), live.engine_down_since)


def see_card(
    records: Records, live: Live, now: datetime, card_id: str, *, free_since: Mapping[str, datetime] | None = None
) -> CardCell:
    """One card. Raises NotFound."""
    card = records.cards.get(card_id)
    if card is None:
        raise NotFound(field=None, noun="card", id=card_id)
    return _cell(_around(records, live, now, free_since or {}), card)


def next_on_cards(records: Records, plan: Plan | None) -> dict[str, Wait]:
    """For each card the waiting task that the plan starts on it first; tasks behind a gate keep no card."""
    first: dict[str, Wait] = {}
    for wait in plan.waits if plan else ():
        if wait.forecast is None or wait.task not in records.tasks or behind_a_gate(wait.reasons):
            continue
        for part in wait.forecast.parts:
            for card in part.cards:
                known = first.get(card)
                if known is None or known.forecast is None or wait.forecast.start_by < known.forecast.start_by:
                    first[card] = wait
    return first


def occupant(records: Records, run: Run, now: datetime) -> Occupant:
    """A run as what sits on its cards."""
    share = run.share
    return Occupant(
        run=run.id,
        task=task_named(records, run.task),
        owner=person_named(records, run.owner),
        team=team_named(records, run.team),
        tier=run.tier,
        state=run.state,
        since=run.started_at or run.intended_at,
        ending=ending(run, now),
        share_vram_mib=share.vram_mib if share else None,
        share_bandwidth_percent=share.bandwidth_percent if share else None,
        oversized=run.oversized,
        preemptible=run.preemptible,
    )


def _around(records: Records, live: Live, now: datetime, free_since: Mapping[str, datetime]) -> _Around:
    runs: dict[str, list[Run]] = {}
    for run in records.runs.values():
        for card in run.cards if not run.ended else ():
            runs.setdefault(card, []).append(run)
    return _Around(records, live, now, runs, next_on_cards(records, live.plan), free_since)


def _row(around: _Around, node_id: str, cards: list[Card]) -> NodeRow:
    node = around.records.nodes.get(node_id) or Node(node_id, "", None, state=NodeState.UNKNOWN)
    ordered = sorted(cards, key=lambda card: (card.index is None, card.index or 0, card.id))
    return NodeRow(
        id=node_id,
        pool=node.pool,
        engine=node.engine,
        virtual=node.virtual,
        state=node.state,
        state_cause=node.state_cause,
        blind=around.live.meter_failures.get(node_id),
        lease_ends_at=node.lease_ends_at,
        note=node.note,
        version=node.version,
        cells=tuple(_cell(around, card) for card in ordered),
    )


def _cell(around: _Around, card: Card) -> CardCell:
    records, now = around.records, around.now
    node = records.nodes.get(card.node) or Node(card.node, "", None, state=NodeState.UNKNOWN)
    reading = around.live.readings.get(card.id) or CardReading(card.id, now, card.health)
    known = card.id in around.live.readings
    runs = sorted(around.runs.get(card.id, ()), key=lambda run: run.id)
    external = around.live.external.get(card.id)
    wait = around.promises.get(card.id)
    shows = _shows(card, node, runs, external, wait)
    kind = records.card_types.get(card.type)
    return CardCell(
        id=card.id,
        node=card.node,
        pool=node.pool,
        index=card.index,
        type=card.type,
        family=kind.family if kind else card.type,
        shows=shows,
        health=card.health,
        health_since=card.health_since,
        health_cause=card.health_cause,
        draining=card.health is Health.DRAINING or node.state is NodeState.DRAINED,
        vram_total_mib=reading.vram_total_mib or card.vram_mib,
        vram_used_mib=reading.vram_used_mib,
        fill_percent=reading.fill_percent,
        busy_percent=reading.busy_percent,
        temperature_c=reading.temperature_c,
        power_w=reading.power_w,
        reading_age_s=whole_seconds(reading.read_at, now) if known else None,
        occupants=tuple(occupant(records, run, now) for run in runs),
        external=external,
        promised=_promise(records, wait),
        free_since=around.free_since.get(card.id) if shows in (Shows.FREE, Shows.PROMISED) else None,
        lease_ends_at=min((end for end in (card.lease_ends_at, node.lease_ends_at) if end), default=None),
        note=card.note,
        version=card.version,
    )


def _promise(records: Records, wait: Wait | None) -> Promise | None:
    if wait is None or wait.forecast is None:
        return None
    owner = person_named(records, records.tasks[wait.task].owner)
    return Promise(task_named(records, wait.task), owner, wait.forecast.start_by, wait.forecast.by_limits)


def _shows(card: Card, node: Node, runs: list[Run], external: ExternalUse | None, wait: Wait | None) -> Shows:
    if card.health in (Health.LOST, Health.NEEDS_RESET):
        return Shows(card.health.value)
    if runs:
        return _shows_runs(runs)
    if external is not None:
        return Shows.EXTERNAL
    if card.health is Health.UNKNOWN or node.state in (NodeState.DOWN, NodeState.UNKNOWN):
        return Shows.UNKNOWN
    if card.health is Health.DRAINING or node.state is NodeState.DRAINED:
        return Shows.DRAINING
    if node.engine is None:
        return Shows.NO_ENGINE
    return Shows.FREE if wait is None else Shows.PROMISED


def _shows_runs(runs: list[Run]) -> Shows:
    if any(run.share is not None for run in runs):
        return Shows.SHARED
    if any(run.state is RunState.STOPPING for run in runs):
        return Shows.STOPPING
    if all(run.state in (RunState.INTENDED, RunState.STARTING) for run in runs):
        return Shows.STARTING
    return Shows.RUNNING


def _totals(cells: Iterable[CardCell]) -> tuple[TypeTotals, ...]:
    counts: dict[str, Counter[Shows]] = {"": Counter()}
    for cell in cells:
        counts[""][cell.shows] += 1
        counts.setdefault(cell.type, Counter())[cell.shows] += 1
    return tuple(_total(card_type, counts[card_type]) for card_type in sorted(counts))


def _total(card_type: str, counted: Counter[Shows]) -> TypeTotals:
    return TypeTotals(
        type=card_type,
        all=counted.total(),
        free=counted[Shows.FREE],
        promised=counted[Shows.PROMISED],
        running=sum(counted[shows] for shows in BUSY),
        external=counted[Shows.EXTERNAL],
        unfit=sum(counted[shows] for shows in UNFIT),
    )
