"""A load under the planner of the house: the same `plan`, with a clock that jumps from event to event.

Events are a work's coming, its data's being ready, a run's end, and the instant for which somebody was told a
start. The steps at which waiting adds points are no events of their own here: nothing can start at them that could
not start before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush

from paika.domain.card import Card
from paika.domain.dataset import Dataset, Readiness
from paika.domain.density import Level
from paika.domain.ledger import decayed
from paika.domain.node import Node
from paika.domain.person import Person
from paika.domain.plan import Plan, Start, Stop
from paika.domain.policy import Policy
from paika.domain.promise import Promise
from paika.domain.run import EndCause, Run, RunState
from paika.domain.snapshot import Snapshot
from paika.domain.task import Demand, Estimate, Program, Task, Tier
from paika.domain.team import Team
from paika.domain.units import PARTS_PER_CARD
from paika.planning.order import step_at
from paika.planning.planner import plan
from paika.simulation.baselines import Watch
from paika.simulation.load import Cluster, Feed, Load, Played, Served, Work, by_place

NAME = "paika"
T0 = datetime(2001, 1, 1, tzinfo=UTC)  # second 0 of every replay; the planner sees dates, and any will do
PROGRAM = Program(argv=("true",))
NOBODY, NO_TEAM = "nobody", "all"
BUCKET_S = 3600
HALF_LIVES = 10


def play_policy(
    load: Load,
    cluster: Cluster,
    policy: Policy,
    *,
    name: str = NAME,
    every_s: int | None = None,
    watch: Watch | None = None,
) -> Played:
    """Play a load under a policy. With `every_s` it decides only at multiples of so many seconds."""
    return replace(_Replay(load, cluster, policy, every_s, watch).run(), rule=name)


def house_for(load: Load, cluster: Cluster) -> Snapshot:
    """The machines, and the teams and people of the load, before anything has come."""
    nodes: list[Node] = []
    cards: list[Card] = []
    for kind in cluster.machines:
        for _ in range(kind.count):
            node = Node(f"n{len(nodes):05d}", "replay", "replay")
            nodes.append(node)
            cards += [Card(f"{node.id}-{i}", node.id, i, kind.type.id, kind.type.vram_mib) for i in range(kind.cards)]
    teams = sorted({work.team or NO_TEAM for work in load.works})
    people = sorted({work.user or NOBODY for work in load.works})
    return Snapshot(
        version=0,
        taken_at=T0,
        card_types=cluster.types,
        nodes=tuple(nodes),
        cards=tuple(cards),
        people=tuple(Person(name, name) for name in people),
        teams=tuple(Team(name, name) for name in teams),
    )


@dataclass(slots=True)
class Spending:
    """Card-seconds of ended runs by team and hour, worn down as the ledger's are."""

    half_life_s: int
    hours: dict[int, Counter[str]] = field(default_factory=dict)
    _at: int | None = None
    _ended: dict[str, int] = field(default_factory=dict)

    def book(self, team: str, card_s: int, at: int) -> None:
        """A run has ended."""
        self.hours.setdefault(at // BUCKET_S, Counter())[team] += card_s

    def at(self, step: int, runs: dict[str, Run]) -> dict[str, int]:
        """Decayed card-seconds at a policy step: ended runs worn down, open runs in full."""
        if self._at == step:
            return self._ended
        total: Counter[str] = Counter()
        oldest = (step - HALF_LIVES * self.half_life_s) // BUCKET_S
        self.hours = {hour: spent for hour, spent in self.hours.items() if hour >= oldest}
        for hour, spent in self.hours.items():
            for team, card_s in spent.items():
                total[team] += decayed(card_s, step - (hour + 1) * BUCKET_S, self.half_life_s)
        for run in runs.values():
            assert run.started_at is not None
            total[run.team] += run.parts_held // PARTS_PER_CARD * max(0, step - _seconds(run.started_at))
        self._at, self._ended = step, dict(total)
        return self._ended


@dataclass(slots=True)
class _Told:
    """What happened to a work so far."""

    work: Work
    queued_s: int
    started_s: int | None = None
    stops: int = 0
    lost_card_s: int = 0


class _Replay:
    def __init__(self, load: Load, cluster: Cluster, policy: Policy, every_s: int | None, watch: Watch | None) -> None:
        self.load, self.policy, self.every_s, self.watch = load, policy, every_s, watch
        self.house = house_for(load, cluster)
        self.feed = Feed(load.works)
        self.now = 0
        self.told: dict[str, _Told] = {}
        self.tasks: dict[str, Task] = {}
        self.runs: dict[str, Run] = {}
        self.ends: list[tuple[int, str, int]] = []  # second, task, attempt
        self.ends_at: dict[str, tuple[int, int]] = {}  # task: second, attempt
        self.spending = Spending(policy.fair_half_life_s)
        self.promises: tuple[Promise, ...] = ()
        self.density = Level.RELAXED
        self.due_at: int | None = None  # the next told start
        self.unready: list[tuple[int, str]] = []  # second, task
        self.datasets: dict[str, Dataset] = {}  # by task
        self.plans = 0
        self.served: dict[str, Served] = {}

    def run(self) -> Played:
        """From the first submit to the last end."""
        while (now := self._next()) is not None:
            self.now = self._tick(now)
            self._let_end()
            self._make_ready()
            for at, work in self.feed.due(self.now):
                self._queue(work, at)
            if self.tasks:
                self._decide()
            else:
                self.promises, self.due_at = (), None
        left = tuple(work.id for work in self.load.works if work.id not in self.served)
        return Played(NAME, by_place(self.served, self.feed), left, self.plans)

    def _next(self) -> int | None:
        """The next event; None when nothing comes or runs any more, whoever still waits."""
        while self.ends and self.ends_at.get(self.ends[0][1]) != (self.ends[0][0], self.ends[0][2]):
            heappop(self.ends)  # it was stopped before
        heads = (self.feed.next_at(), *(heap[0][0] if heap else None for heap in (self.ends, self.unready)))
        coming = [at for at in heads if at is not None]
        if not coming:
            return None
        return min(coming if self.due_at is None else [*coming, self.due_at])

    def _tick(self, at: int) -> int:
        """The instant at which something due at `at` is looked at."""
        return at if self.every_s is None else -(-at // self.every_s) * self.every_s

    def _decide(self) -> None:
        snapshot = self._snapshot()
        made = plan(snapshot, self.policy, snapshot.taken_at)
        self.plans += 1
        for wait in made.waits:
            if wait.parked:
                del self.tasks[wait.task]
        versions = {task.id: task.version for task in snapshot.tasks}
        for start in made.starts:
            self._start(start)
        for stop in made.stops:
            self._stop(stop)
        self._remember(made, versions)

    def _snapshot(self) -> Snapshot:
        at = _date(self.now)
        step = step_at(self.policy, at) - step_at(self.policy, T0)
        return replace(
            self.house,
            version=self.plans + 1,
            taken_at=at,
            runs=tuple(self.runs.values()),
            tasks=tuple(self.tasks.values()),
            datasets=tuple(self.datasets.values()),
            promises=self.promises,
            usage=self.spending.at(step, self.runs),
            density=self.density,
        )

    def _remember(self, made: Plan, versions: dict[str, int]) -> None:
        self.promises = made.promises(versions)
        told = (wait.forecast for wait in made.waits if wait.forecast is not None and not wait.forecast.rough)
        self.due_at = min((at for one in told if (at := _seconds(one.start_by)) > self.now), default=None)
        self.density = made.density.level if made.density else self.density

    def _queue(self, work: Work, at: int) -> None:
        task_id = f"{self.feed.places[work.id]:08d}"  # ids break ties, so they follow the load's order
        self.told.setdefault(task_id, _Told(work, at))
        known = work.estimate_s
        ready_at = at + work.unready_s
        if ready_at > self.now:
            heappush(self.unready, (ready_at, task_id))
            self.datasets[task_id] = Dataset(task_id, task_id, Readiness.PREPARING, eta=_date(ready_at))
        self.tasks[task_id] = Task(
            id=task_id,
            name=work.id,
            owner=work.user or NOBODY,
            team=work.team or NO_TEAM,
            submitted_at=_date(at),
            program=PROGRAM,
            demand=Demand(work.cards, work.nodes, work.vram_mib, types=work.types),
            inputs=(task_id,) if task_id in self.datasets else (),
            tier=work.tier,
            estimate=None if known is None else Estimate(known, known, known),
            limit_s=work.limit_s,
            preemptible=work.tier is Tier.IDLE,
        )

    def _make_ready(self) -> None:
        """Data whose time has come is ready."""
        while self.unready and self.unready[0][0] <= self.now:
            _, task_id = heappop(self.unready)
            del self.datasets[task_id]
            if task_id in self.tasks:
                self.tasks[task_id] = replace(self.tasks[task_id], inputs=())

    def _start(self, start: Start) -> None:
        task, told = self.tasks.pop(start.task), self.told[start.task]
        at, attempt = _date(self.now), task.attempts + 1
        self.runs[task.id] = Run(
            id=f"r-{task.id}-{attempt}",
            task=task.id,
            attempt=attempt,
            token="",
            owner=task.owner,
            team=task.team,
            tier=task.tier,
            parts=start.parts,
            parts_held=start.parts_held,
            intended_at=at,
            engine="replay",
            limit_s=task.limit_s,
            high_s=task.estimate.high_s if task.estimate else None,
            state=RunState.RUNNING,
            started_at=at,
            oversized=start.oversized,
            preemptible=task.preemptible,
            grace_s=max(task.grace_s, self.policy.minimum_grace_s),
            borrowed=start.borrowed,
            preempted_at=task.preempted_at,
        )
        told.started_s = self.now if told.started_s is None else told.started_s
        self._end_at(task.id, self.now + told.work.duration_s, attempt)

    def _end_at(self, task_id: str, at: int, attempt: int) -> None:
        self.ends_at[task_id] = (at, attempt)
        heappush(self.ends, (at, task_id, attempt))

    def _stop(self, stop: Stop) -> None:
        """The run uses all of its grace, or ends by itself before."""
        run = next(run for run in self.runs.values() if run.id == stop.run)
        self.runs[run.task] = replace(
            run,
            state=RunState.STOPPING,
            stop_cause=stop.cause,
            stop_for=stop.task,
            stop_at=_date(self.now),
            version=run.version + 1,
        )
        if self.ends_at[run.task][0] > self.now + stop.grace_s:
            self._end_at(run.task, self.now + stop.grace_s, run.attempt)

    def _let_end(self) -> None:
        """Runs whose time has come."""
        while self.ends and self.ends[0][0] <= self.now:
            at, task_id, attempt = heappop(self.ends)
            if self.ends_at.get(task_id) == (at, attempt):
                self._end(task_id, at)

    def _end(self, task_id: str, at: int) -> None:
        run, told = self.runs.pop(task_id), self.told[task_id]
        del self.ends_at[task_id]
        assert run.started_at is not None
        assert told.started_s is not None
        lasted = at - _seconds(run.started_at)
        card_s = told.work.cards * lasted
        self.spending.book(run.team, card_s, at)
        if lasted < told.work.duration_s and run.stop_cause is EndCause.PREEMPTED:
            told.stops, told.lost_card_s = told.stops + 1, told.lost_card_s + card_s
            self._again(run, told, at)
            return
        ended = Served(told.work, told.queued_s, told.started_s, at, told.stops, told.lost_card_s, run.oversized)
        self.served[told.work.id] = ended
        self.feed.ended(told.work, at)
        if self.watch is not None:
            self.watch(len(self.served), len(self.load.works))

    def _again(self, run: Run, told: _Told, at: int) -> None:
        """A stopped task queues again at its old place, and runs from the beginning."""
        self._queue(told.work, told.queued_s)
        again = self.tasks[run.task]
        stops = (*run.preempted_at, _date(at))
        self.tasks[run.task] = replace(again, attempts=run.attempt, preempted_at=stops, version=run.attempt + 1)


def _date(seconds: int) -> datetime:
    return T0 + timedelta(seconds=seconds)


def _seconds(at: datetime) -> int:
    return int((at - T0).total_seconds())
