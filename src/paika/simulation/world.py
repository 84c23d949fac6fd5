"""A world under another clock: tasks take as long as told, and the same planner decides at every event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from paika.domain.dataset import Dataset
from paika.domain.plan import Plan, Start, Stop, Wait
from paika.domain.policy import Policy
from paika.domain.promise import Promise
from paika.domain.run import EndCause, Run, RunState
from paika.domain.snapshot import Snapshot
from paika.domain.task import ENDED, Task, TaskState
from paika.planning.check import Violation, check
from paika.planning.planner import plan

FAR = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Fate:
    """What a task does when it runs: how long it really takes (None: until stopped) and how it ends."""

    lasts_s: int | None
    cause: EndCause = EndCause.DONE


class RulesBroken(AssertionError):
    """A plan broke the rules; the message names them."""

    def __init__(self, at: datetime, broken: list[Violation]) -> None:
        super().__init__(f"{at.isoformat()}: " + "; ".join(f"{v.rule}: {v.subject}" for v in broken))


@dataclass(slots=True)
class World:
    """Holds the house and its queue. `ended` keeps every run that is over, in order of its end."""

    snapshot: Snapshot
    policy: Policy
    now: datetime
    fates: dict[str, Fate] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    ended: list[Run] = field(default_factory=list)
    starts: list[tuple[datetime, Start]] = field(default_factory=list)
    plan: Plan | None = None
    stops: list[tuple[datetime, Stop]] = field(default_factory=list)
    promises: tuple[Promise, ...] = ()
    _look_at: datetime | None = None
    _stopping: dict[str, datetime] = field(default_factory=dict)

    def submit(self, task: Task, fate: Fate) -> None:
        """A task comes in; it is looked at when the time next moves or `decide` is called."""
        self.tasks[task.id] = task
        self.fates[task.id] = fate

    def cancel(self, task_id: str) -> None:
        """A waiting task is taken back, a running one stopped at once."""
        run = self.runs.get(task_id)
        if run is not None:
            self._end(run, EndCause.CANCELLED)
        else:
            self._close(task_id, TaskState.CANCELLED)

    def set_datasets(self, datasets: Iterable[Dataset]) -> None:
        """Datasets as they are from now on."""
        known = {d.id: d for d in self.snapshot.datasets} | {d.id: d for d in datasets}
        self.snapshot = replace(self.snapshot, datasets=tuple(known.values()))

    def decide(self) -> Plan:
        """One cycle: plan, check, start. Raises RulesBroken."""
        current = self.current()
        made = plan(current, self.policy, self.now)
        if broken := check(current, self.policy, made):
            raise RulesBroken(self.now, broken)
        for start in made.starts:
            self._start(start)
        for stop in made.stops:
            self._stop(stop)
        self.promises = made.promises({task.id: task.version for task in current.tasks})
        self.plan, self._look_at = made, made.next_look_at
        return made

    def advance_to(self, at: datetime) -> None:
        """Let time pass until `at`, deciding at every end and at every boundary on the way."""
        self.decide()
        while (event := self._next_event()) is not None and event <= at:
            self.now = max(self.now, event)
            for run in [r for r in self.runs.values() if self._ends_at(r) <= self.now]:
                self._end(run, self._cause(run))
            self.decide()
        self.now = at
        self.decide()

    def current(self) -> Snapshot:
        """Everything a plan may look at now."""
        held: dict[str, int] = {team.id: 0 for team in self.snapshot.teams}
        for run in self.runs.values():
            held[run.team] = held.get(run.team, 0) + (0 if run.borrowed else run.parts_held)
        queued = tuple(t for t in self.tasks.values() if t.id not in self.runs and t.state not in ENDED)
        return replace(
            self.snapshot,
            version=self.snapshot.version + 1,
            taken_at=self.now,
            runs=tuple(self.runs.values()),
            tasks=queued,
            held_parts=held,
            promises=self.promises,
            density=self.plan.density.level if self.plan and self.plan.density else self.snapshot.density,
        )

    def waits(self) -> Mapping[str, Wait]:
        """The last plan's answers by task."""
        return {} if self.plan is None else {wait.task: wait for wait in self.plan.waits}

    def _start(self, start: Start) -> None:
        task = self.tasks[start.task]
        self.starts.append((self.now, start))
        self.runs[task.id] = Run(
            id=f"r-{len(self.starts)}",
            task=task.id,
            attempt=task.attempts + 1,
            token="",
            owner=task.owner,
            team=task.team,
            tier=task.tier,
            parts=start.parts,
            parts_held=start.parts_held,
            intended_at=self.now,
            engine="world",
            share=task.demand.share,
            limit_s=task.limit_s,
            high_s=task.estimate.high_s if task.estimate else None,
            state=RunState.RUNNING,
            started_at=self.now,
            oversized=start.oversized,
            preemptible=task.preemptible,
            checkpoint=task.checkpoint,
            grace_s=max(task.grace_s, self.policy.minimum_grace_s),
            borrowed=start.borrowed,
            preempted_at=task.preempted_at,
        )

    def _stop(self, stop: Stop) -> None:
        """The run is told to stop, and uses all of its grace."""
        run = next(run for run in self.runs.values() if run.id == stop.run)
        self.stops.append((self.now, stop))
        self.runs[run.task] = replace(
            run,
            state=RunState.STOPPING,
            stop_cause=stop.cause,
            stop_for=stop.task,
            stop_at=self.now,
            version=run.version + 1,
        )
        self._stopping[run.id] = self.now + timedelta(seconds=stop.grace_s)

    def _ends_at(self, run: Run) -> datetime:
        begun, lasts = run.started_at or self.now, self.fates[run.task].lasts_s
        lengths = [s for s in (lasts, run.limit_s) if s is not None]
        ends = begun + timedelta(seconds=min(lengths)) if lengths else begun + FAR
        return min(ends, self._stopping.get(run.id, ends))

    def _cause(self, run: Run) -> EndCause:
        if run.id in self._stopping and self._stopping[run.id] <= self.now:
            return run.stop_cause or EndCause.PREEMPTED
        fate = self.fates[run.task]
        cut = run.limit_s is not None and (fate.lasts_s is None or run.limit_s < fate.lasts_s)
        return EndCause.LIMIT if cut else fate.cause

    def _next_event(self) -> datetime | None:
        ends = [self._ends_at(run) for run in self.runs.values()]
        looks = [self._look_at] if self._look_at is not None and self._look_at > self.now else []
        return min(ends + looks, default=None)

    def _end(self, run: Run, cause: EndCause) -> None:
        del self.runs[run.task]
        self.ended.append(replace(run, state=RunState.ENDED, ended_at=self.now, cause=cause))
        self._stopping.pop(run.id, None)
        if cause is EndCause.PREEMPTED:
            self._again(run.task)
            return
        states = {EndCause.DONE: TaskState.DONE, EndCause.CANCELLED: TaskState.CANCELLED}
        self._close(run.task, states.get(cause, TaskState.FAILED))

    def _again(self, task_id: str) -> None:
        """A preempted task queues again and keeps its place."""
        task = self.tasks[task_id]
        self.tasks[task_id] = replace(
            task,
            state=TaskState.WAITING,
            attempts=task.attempts + 1,
            preempted_at=(*task.preempted_at, self.now),
            version=task.version + 1,
        )

    def _close(self, task_id: str, state: TaskState) -> None:
        self.tasks[task_id] = replace(self.tasks[task_id], state=state)
        for child in list(self.tasks.values()):
            after = tuple(replace(d, outcome=state) if d.task == task_id else d for d in child.after)
            if after != child.after:
                self.tasks[child.id] = replace(child, after=after, version=child.version + 1)
                if child.state not in ENDED and any(d.dead for d in after):
                    self._close(child.id, TaskState.CLOSED)
