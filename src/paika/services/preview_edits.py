"""What if: the live state is planned twice by the very same function, as it is and with edits. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from paika.domain.access import Actor
from paika.domain.card import Health
from paika.domain.guarantee import NoRoomForGuarantee
from paika.domain.node import NodeState
from paika.domain.plan import Forecast, Plan, Start, Wait
from paika.domain.reason import Reason
from paika.domain.records import Records
from paika.domain.run import RunPart
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task, TaskState, Tier
from paika.domain.units import card_seconds, whole_seconds
from paika.ports.store import Store
from paika.services.assume_edits import Assumed, assume
from paika.services.check_capacity import Shortfall, check_capacity
from paika.services.compare_plans import Shift, WouldStop, misses, shifts_of, starts_of, stops_of, would_stop
from paika.services.live import Live
from paika.services.plan_twice import Asked, TwoPlans
from paika.services.see_bookings import Booked, in_the_way
from paika.services.seen import Named, person_named, team_named
from paika.services.take_snapshot import take_snapshot
from paika.services.what_if_form import Edit

MOST_TOLD = 50


class Stands(StrEnum):
    """Where a task stands in a plan."""

    STARTS = "starts"
    WAITS = "waits"
    PARKED = "parked"
    ON_CARDS = "on_cards"
    GONE = "gone"  # ended, or not there at all


@dataclass(frozen=True, slots=True)
class Fate:
    """A task in one plan. `card_type` and `cards` are those it starts on or is promised, "" and () if none are told."""

    stands: Stands
    place: int | None = None
    start_by: datetime | None = None
    forecast: Forecast | None = None
    card_type: str = ""
    parts: tuple[RunPart, ...] = ()
    oversized: bool = False
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """A task that the edits are about; a `new` one is only thought. With the edits it `misses` its milestone."""

    task: Named
    owner: Named
    team: Named
    tier: Tier
    new: bool
    before: Fate | None
    after: Fate
    later_s: int | None
    milestone_at: datetime | None
    misses: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that the edits end. Its task would start again as `again` says; None if it would not."""

    run: WouldStop
    again: Fate | None


@dataclass(frozen=True, slots=True)
class Counts:
    """One plan in figures: tasks in the queue, of which so many start at once, have a start told, are parked."""

    waiting: int
    starts: int
    told: int
    untold: int
    parked: int
    stops: int
    misses: int
    cards: int
    last_start: datetime | None


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What the edits would do. Lists of others are cut, the worst first and the most gained first; counts are not.

    `ended` are runs that the edits themselves end, `stops` those that the plan would stop for others only with the
    edits, `spared` how many it would stop only without. `closed` are tasks that could never run any more.
    `floors` are guarantees that fit less well than now. `misses_count` is of others that miss milestones only so.
    """

    at: datetime
    subjects: tuple[Subject, ...]
    later: tuple[Shift, ...]
    later_count: int
    sooner: tuple[Shift, ...]
    sooner_count: int
    misses_count: int
    ended: tuple[Ended, ...]
    stops: tuple[WouldStop, ...]
    spared: int
    closed: tuple[Named, ...]
    floors: tuple[NoRoomForGuarantee, ...]
    bookings: tuple[Booked, ...]
    before: Counts
    after: Counts


@dataclass(frozen=True, slots=True)
class WhatIfs:
    """Answers what edits would do."""

    plans: TwoPlans = field(default_factory=TwoPlans)

    def of(
        self,
        store: Store,
        records: Records,
        live: Live,
        actor: Actor,
        edits: Sequence[Edit],
        now: datetime,
        *,
        most: int = MOST_TOLD,
    ) -> WhatIf:
        """The preview, for who may do what the edits say. Raises what the acts raise, and PreviewsBusy."""
        assumed = assume(records, edits, actor, now, store.task, live.engines)
        here, there = (_snapshot(known, live, now) for known in (records, assumed.records))
        plans = self.plans.of(Asked(here, records.policy), Asked(there, assumed.records.policy), now)
        before = _World.of(records, here, plans[0])
        return _told(assumed, live, before, _World.of(assumed.records, there, plans[1]), most)


def _snapshot(records: Records, live: Live, now: datetime) -> Snapshot:
    return take_snapshot(records, live.external, now, live.speeds, engines=live.engines, live=live)


@dataclass(frozen=True, slots=True)
class _World:
    """The records of one side, what was planned of them, and the plan by task."""

    records: Records
    snapshot: Snapshot
    plan: Plan
    starts: Mapping[str, Start]
    waits: Mapping[str, Wait]

    @classmethod
    def of(cls, records: Records, snapshot: Snapshot, plan: Plan) -> _World:
        starts, waits = {one.task: one for one in plan.starts}, {one.task: one for one in plan.waits}
        return cls(records, snapshot, plan, starts, waits)

    @property
    def answered(self) -> frozenset[str]:
        return frozenset((*self.starts, *self.waits))


def _told(assumed: Assumed, live: Live, before: _World, after: _World, most: int) -> WhatIf:
    now, known = before.plan.decided_at, after.records
    others = {run.task for run in assumed.ended}
    shifts = shifts_of(known, before.plan, after.plan, {*assumed.subjects, *others})
    stops = tuple(stops_of(known, before.plan, after.plan))
    gone = before.answered - after.answered - set(assumed.subjects)
    return WhatIf(
        at=now,
        subjects=tuple(_subjects(assumed.subjects, before, after)),
        later=shifts.later[:most],
        later_count=len(shifts.later),
        sooner=shifts.sooner[:most],
        sooner_count=len(shifts.sooner),
        misses_count=sum(shift.misses for shift in shifts.later),
        ended=tuple(_ended(assumed, before, after)),
        stops=stops,
        spared=len({stop.run for stop in before.plan.stops} - {stop.run for stop in after.plan.stops}),
        closed=tuple(Named(key, before.records.tasks[key].name) for key in sorted(gone)),
        floors=tuple(_floors(before.records, known, now)),
        bookings=tuple(in_the_way(known, one, live, now, dry_run=True) for one in assumed.bookings),
        before=_counts(before),
        after=_counts(after),
    )


def _subjects(keys: Iterable[str], before: _World, after: _World) -> Iterator[Subject]:
    for key in keys:
        task = after.records.tasks.get(key) or before.records.tasks.get(key)
        if task is None:
            continue
        was = _fate(before, key) if key in before.records.tasks else None
        becomes = _fate(after, key)
        yield Subject(
            task=Named(task.id, task.name),
            owner=person_named(after.records, task.owner),
            team=team_named(after.records, task.team),
            tier=task.tier,
            new=was is None,
            before=was,
            after=becomes,
            later_s=_apart(was.start_by if was else None, becomes.start_by),
            milestone_at=task.milestone_at,
            misses=misses(task, becomes.start_by),
        )


def _apart(one: datetime | None, other: datetime | None) -> int | None:
    return None if one is None or other is None else int((other - one).total_seconds())


def _fate(world: _World, key: str) -> Fate:
    start, wait = world.starts.get(key), world.waits.get(key)
    if start is not None:
        at = world.plan.decided_at
        return Fate(Stands.STARTS, start.rank, at, None, start.card_type, start.parts, start.oversized)
    if wait is not None:
        told = wait.forecast
        parts = told.parts if told else ()
        types = {world.records.cards[card].type for part in parts for card in part.cards}
        stands = Stands.PARKED if wait.parked else Stands.WAITS
        by = told.start_by if told else None
        return Fate(stands, wait.rank, by, told, next(iter(types), ""), parts, False, wait.reasons)
    task = world.records.tasks.get(key)
    return Fate(Stands.GONE if task is None or _over(task) else Stands.ON_CARDS)


def _over(task: Task) -> bool:
    return task.ended or task.state not in (TaskState.STARTING, TaskState.RUNNING, TaskState.STOPPING)


def _ended(assumed: Assumed, before: _World, after: _World) -> Iterator[Ended]:
    """Runs that the edits end, those that lose most first."""
    now = before.plan.decided_at
    runs = [before.records.runs[run.id] for run in assumed.ended if run.id in before.records.runs]
    lost = {run.id: card_seconds(run.parts_held, whole_seconds(run.started_at, now)) for run in runs if run.started_at}
    for run in sorted(runs, key=lambda run: (-lost.get(run.id, 0), run.id)):
        again = _fate(after, run.task)
        yield Ended(
            would_stop(before.records, run, lost.get(run.id, 0)), None if again.stands is Stands.GONE else again
        )


def _floors(before: Records, after: Records, now: datetime) -> Iterator[NoRoomForGuarantee]:
    """Guarantees of both that fit less well with the edits, each at the first instant at which least of it fits."""
    worst, was = _tightest(after, now), _tightest(before, now)
    for key in sorted(worst.keys() & before.guarantees.keys()):
        room = was[key].room if key in was else before.guarantees[key].cards
        if worst[key].room < room:
            yield worst[key].problem()


def _tightest(records: Records, now: datetime) -> dict[str, Shortfall]:
    floors = [records.guarantees[key] for key in sorted(records.guarantees)]
    found: dict[str, Shortfall] = {}
    for short in check_capacity(records, floors, records.reservations.values(), now):
        known = found.get(short.guarantee.id)
        if known is None or short.room < known.room:
            found[short.guarantee.id] = short
    return found


def _counts(world: _World) -> Counts:
    starts = starts_of(world.plan)
    told = [at for at in starts.values() if at is not None]
    tasks = world.records.tasks
    return Counts(
        waiting=len(starts),
        starts=len(world.starts),
        told=len(told),
        untold=len(starts) - len(told),
        parked=sum(wait.parked for wait in world.plan.waits),
        stops=len(world.plan.stops),
        misses=sum(misses(tasks[key], at) for key, at in starts.items() if key in tasks),
        cards=_usable(world.snapshot),
        last_start=max(told, default=None),
    )


def _usable(snapshot: Snapshot) -> int:
    """Cards that take work: well, on machines that are up and have an engine that answers."""
    up = {node.id for node in snapshot.nodes if node.state is NodeState.UP and node.engine is not None}
    return sum(card.health is Health.OK and card.node in up for card in snapshot.cards)
