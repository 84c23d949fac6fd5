"""Cards over time: what runs on each, what is promised to it, who booked it, and until when it is ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from paika.domain.plan import Plan, Wait
from paika.domain.records import Records
from paika.domain.reservation import Purpose, Reservation, ReservationState
from paika.domain.run import Run, RunState
from paika.domain.task import Tier
from paika.services.live import Live
from paika.services.see_cards import UNFIT, CardCell, NodeRow, Occupant, Shows, see_cards
from paika.services.seen import Named, behind_a_gate, person_named, queued_now, task_named, team_named

BEFORE_NOW = 10  # a window that is not asked for begins so many hundredths of its span before now
SPAN_S = 6 * 3600


class BarKind(StrEnum):
    """What a bar tells. The first four are tasks, the next two reservations, the others facts about the card."""

    RUNNING = "running"
    STARTING = "starting"
    STOPPING = "stopping"
    PROMISED = "promised"
    BOOKING = "booking"
    MAINTENANCE = "maintenance"
    EXTERNAL = "external"
    UNFIT = "unfit"
    LEASE = "lease"


WORK = frozenset({BarKind.RUNNING, BarKind.STARTING, BarKind.STOPPING, BarKind.PROMISED})
_STATES = {RunState.STOPPING: BarKind.STOPPING, RunState.RUNNING: BarKind.RUNNING}


@dataclass(frozen=True, slots=True)
class TimelineFilter:
    """Which cards and bars. Empty fields do not filter; `text` looks in cards, tasks, people and bookings."""

    node: str = ""
    pool: str = ""
    card_type: str = ""
    team: str = ""
    owner: str = ""
    tiers: tuple[Tier, ...] = ()
    text: str = ""

    @property
    def of_bars(self) -> bool:
        """Whether it asks whose the bars are, so that a card without any such bar is left out."""
        return bool(self.team or self.owner or self.tiers)


@dataclass(frozen=True, slots=True)
class Subject:
    """The task or reservation behind bars. `tier`, `run` and the like are None or "" where it has none.

    `by_limit` says that only hard limits carry its end or start, `overrun` that its estimate has passed.
    `freed_for` is the task that a stopping run makes room for; `hit_permille` how often such ranges held.
    """

    id: str
    name: str
    owner: Named
    team: Named
    tier: Tier | None = None
    cards: int = 0
    run: str = ""
    by_limit: bool = False
    overrun: bool = False
    preemptible: bool = False
    share_vram_mib: int | None = None
    share_bandwidth_percent: int | None = None
    freed_for: Named | None = None
    hit_permille: int | None = None
    task: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """Something on a card from `since` until before `until`; None is unknown, never now.

    A promised bar starts at `since` at the latest, and at `earliest` at the earliest where a range is told.
    `subject` is the id of its task or reservation, "" for facts about the card; `cause` is machine text.
    Bars of tasks that overlap in time lie in different lanes, counted from 0.
    """

    kind: BarKind
    since: datetime | None
    until: datetime | None
    subject: str = ""
    earliest: datetime | None = None
    cause: str = ""
    lane: int = 0

    def meets(self, start: datetime, end: datetime) -> bool:
        """Whether any of it lies in the window."""
        first = self.earliest or self.since
        return (first is None or first < end) and (self.until is None or self.until > start)


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A card with its bars in order of their start; `lanes` is at least 1."""

    card: CardCell
    bars: tuple[Bar, ...]
    lanes: int


@dataclass(frozen=True, slots=True)
class TimelineNode:
    """A host with those of its cards that are shown."""

    node: NodeRow
    rows: tuple[TimelineRow, ...]


@dataclass(frozen=True, slots=True)
class TimelineView:
    """A window of time. Promises end at `horizon`; beyond it starts are only told roughly and have no cards.

    `subjects` are those of the bars shown, tasks and reservations apart. `cards_left_out` and `bars_left_out`
    count what the filter hides of this window, `cards` and `bars` what it shows.
    """

    at: datetime
    start: datetime
    span_s: int
    horizon: datetime
    planned_at: datetime | None
    nodes: tuple[TimelineNode, ...]
    tasks: Mapping[str, Subject]
    bookings: Mapping[str, Subject]
    cards: int
    bars: int
    cards_left_out: int
    bars_left_out: int

    @property
    def end(self) -> datetime:
        """The first instant after the window."""
        return self.start + timedelta(seconds=self.span_s)


@dataclass(frozen=True, slots=True)
class _Scene:
    """Everything that lies on cards, by card id, whatever the window."""

    records: Records
    now: datetime
    promised: Mapping[str, list[Wait]]
    booked: Mapping[str, list[Reservation]]
    tasks: dict[str, Subject]
    bookings: dict[str, Subject]


def window(now: datetime, start: datetime | None, span_s: int) -> datetime:
    """Where the window begins: where it is asked to, else so that now stands a tenth into it."""
    return start if start is not None else now - timedelta(seconds=span_s * BEFORE_NOW // 100)


def see_timeline(
    records: Records,
    live: Live,
    now: datetime,
    *,
    start: datetime | None = None,
    span_s: int = SPAN_S,
    wanted: TimelineFilter | None = None,
) -> TimelineView:
    """The window of `span_s` seconds from `start` on. Nothing ends that no one knows the end of."""
    wanted, begin = wanted or TimelineFilter(), window(now, start, span_s)
    end = begin + timedelta(seconds=span_s)
    scene = _Scene(records, now, _promised(records, live.plan), _booked(records), {}, {})
    nodes, cards, bars, all_bars = [], 0, 0, 0
    seen = see_cards(records, live, now)
    for node in seen.nodes:
        rows = []
        for cell in node.cells:
            row = _row(scene, node, cell)
            there = [bar for bar in row.bars if bar.meets(begin, end)]
            all_bars += len(there)
            kept = _kept(scene, wanted, cell, there)
            if kept is not None:
                rows.append(replace(row, bars=tuple(kept)))
                bars += len(kept)
        cards += len(rows)
        if rows:
            nodes.append(TimelineNode(node, tuple(rows)))
    used = {bar.subject for node in nodes for row in node.rows for bar in row.bars}
    return TimelineView(
        at=now,
        start=begin,
        span_s=span_s,
        horizon=now + timedelta(seconds=records.policy.horizon_s),
        planned_at=live.plan.decided_at if live.plan else None,
        nodes=tuple(nodes),
        tasks={key: subject for key, subject in scene.tasks.items() if key in used},
        bookings={key: subject for key, subject in scene.bookings.items() if key in used},
        cards=cards,
        bars=bars,
        cards_left_out=seen.totals[0].all - cards,
        bars_left_out=all_bars - bars,
    )


def _kept(scene: _Scene, wanted: TimelineFilter, cell: CardCell, bars: list[Bar]) -> list[Bar] | None:
    """The bars that the filter leaves on this card; None if it leaves the card out."""
    if not (
        wanted.node in ("", cell.node)
        and wanted.pool in ("", cell.pool)
        and wanted.card_type in ("", cell.type, cell.family)
    ):
        return None
    text = wanted.text.casefold()
    named = text in "\n".join((cell.id, cell.node, cell.type)).casefold()
    kept = [bar for bar in bars if not bar.subject or _takes(scene, wanted, "" if named else text, bar)]
    whole_card = named and not wanted.of_bars
    return kept if whole_card or any(bar.subject for bar in kept) else None


def _takes(scene: _Scene, wanted: TimelineFilter, text: str, bar: Bar) -> bool:
    of = scene.tasks[bar.subject] if bar.kind in WORK else scene.bookings[bar.subject]
    return (
        wanted.team in ("", of.team.id)
        and wanted.owner in ("", of.owner.id)
        and (not wanted.tiers or of.tier in wanted.tiers)
        and (not text or text in "\n".join((of.id, of.name, of.owner.name, of.team.name)).casefold())
    )


def _row(scene: _Scene, node: NodeRow, cell: CardCell) -> TimelineRow:
    work = [_of_run(scene, occupant) for occupant in cell.occupants]
    work += [_of_wait(scene, wait) for wait in scene.promised.get(cell.id, ())]
    placed, lanes = _in_lanes(work, scene.now)
    bars = [*_facts(node, cell), *(_of_booking(scene, one) for one in scene.booked.get(cell.id, ())), *placed]
    return TimelineRow(cell, tuple(bars), lanes)


def _of_run(scene: _Scene, occupant: Occupant) -> Bar:
    run, task = scene.records.runs[occupant.run], occupant.task
    if task.id not in scene.tasks:
        scene.tasks[task.id] = Subject(
            task.id,
            task.name,
            occupant.owner,
            occupant.team,
            occupant.tier,
            len(run.cards),
            run.id,
            by_limit=occupant.ending.by_limit,
            overrun=occupant.ending.overrun,
            preemptible=occupant.preemptible,
            share_vram_mib=occupant.share_vram_mib,
            share_bandwidth_percent=occupant.share_bandwidth_percent,
            freed_for=task_named(scene.records, run.stop_for) if run.stop_for else None,
            task=task.id,
        )
    return Bar(_STATES.get(run.state, BarKind.STARTING), occupant.since, _over(run, occupant, scene.now), task.id)


def _over(run: Run, occupant: Occupant, now: datetime) -> datetime | None:
    """When it is over; an instant that has passed while it still runs is no answer."""
    at = occupant.ending.at
    if run.state is RunState.STOPPING and run.stop_at is not None:
        at = run.stop_at + timedelta(seconds=run.grace_s)
    return at if at is not None and at > now else None


def _of_wait(scene: _Scene, wait: Wait) -> Bar:
    task, told = scene.records.tasks[wait.task], wait.forecast
    assert told is not None, "only waits with a forecast are promised"
    if task.id not in scene.tasks:
        scene.tasks[task.id] = Subject(
            task.id,
            task.name,
            person_named(scene.records, task.owner),
            team_named(scene.records, task.team),
            task.tier,
            task.demand.cards,
            by_limit=told.by_limits,
            preemptible=task.preemptible,
            share_vram_mib=task.demand.share.vram_mib if task.demand.share else None,
            share_bandwidth_percent=task.demand.share.bandwidth_percent if task.demand.share else None,
            hit_permille=told.hit_permille,
            task=task.id,
        )
    lasts = task.occupies_s
    until = told.start_by + timedelta(seconds=lasts) if lasts is not None else None
    return Bar(BarKind.PROMISED, told.start_by, until, task.id, told.start_from)


def _of_booking(scene: _Scene, one: Reservation) -> Bar:
    records = scene.records
    if one.id not in scene.bookings:
        owner, team = person_named(records, one.person), team_named(records, one.team)
        scene.bookings[one.id] = Subject(one.id, one.title, owner, team, cards=len(one.cards), task=one.task)
    kind = BarKind.MAINTENANCE if one.purpose is Purpose.MAINTENANCE else BarKind.BOOKING
    return Bar(kind, one.starts_at, one.ends_at, one.id)


def _facts(node: NodeRow, cell: CardCell) -> Iterable[Bar]:
    if cell.lease_ends_at is not None:
        yield Bar(BarKind.LEASE, cell.lease_ends_at, None)
    if cell.external is not None:
        yield Bar(BarKind.EXTERNAL, cell.external.since, None, cause=", ".join(cell.external.users))
    if cell.shows in UNFIT or cell.draining:
        why = cell.health_cause or (node.state_cause if cell.shows is not Shows.NO_ENGINE else "")
        yield Bar(BarKind.UNFIT, cell.health_since, None, cause=why)


def _in_lanes(bars: list[Bar], now: datetime) -> tuple[list[Bar], int]:
    """The bars by start, each in the first lane that is free by then; how many lanes that takes."""
    free_at: list[datetime | None] = []
    placed = []
    for bar in sorted(bars, key=lambda bar: (bar.since or now, bar.subject)):
        begin = bar.since or now
        lane = next((n for n, at in enumerate(free_at) if at is not None and at <= begin), len(free_at))
        free_at[lane : lane + 1] = [bar.until]
        placed.append(bar if lane == 0 else replace(bar, lane=lane))
    return placed, max(1, len(free_at))


def _promised(records: Records, plan: Plan | None) -> dict[str, list[Wait]]:
    by_card: dict[str, list[Wait]] = {}
    for wait in plan.waits if plan else ():
        told, task = wait.forecast, records.tasks.get(wait.task)
        if told is None or not told.holds or told.rough or task is None or not queued_now(task):
            continue
        if behind_a_gate(wait.reasons):
            continue
        for part in told.parts:
            for card in part.cards:
                by_card.setdefault(card, []).append(wait)
    return by_card


def _booked(records: Records) -> dict[str, list[Reservation]]:
    by_card: dict[str, list[Reservation]] = {}
    for one in records.reservations.values():
        for card in one.cards if one.state is ReservationState.BOOKED else ():
            by_card.setdefault(card, []).append(one)
    return by_card
