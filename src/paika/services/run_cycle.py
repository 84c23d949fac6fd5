"""One pass of the planner over the living house: observe, follow, stop, decide, check, write, start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from paika.domain.plan import Plan, ReasonRecord
from paika.domain.records import Change, Records
from paika.domain.run import Run, RunState
from paika.domain.snapshot import Speed
from paika.domain.task import Task, TaskState
from paika.domain.task import step as task_step
from paika.planning.check import Violation, check
from paika.planning.estimate import speeds
from paika.planning.planner import plan
from paika.ports.clock import Clock
from paika.ports.engine import Engine, EngineUnavailable, RunReport
from paika.ports.ids import Ids
from paika.ports.store import Store
from paika.services.follow_runs import Peak, follow_runs, runs_on_lost_cards
from paika.services.live import CycleStats, LiveBox
from paika.services.start_runs import intend, launch_of
from paika.services.take_snapshot import take_snapshot

MOST_APART_S = 30  # a plan is made at least this often


@dataclass(slots=True)
class Cycle:
    """The running server's planner. `engines` by name; `peaks` are filled by whoever reads the meters."""

    store: Store
    engines: Mapping[str, Engine]
    clock: Clock
    ids: Ids
    live: LiveBox
    peaks: dict[str, Peak] = field(default_factory=dict)
    _told: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _speeds: tuple[Speed, ...] | None = None
    _planned: tuple[int, datetime] | None = None
    _outside: frozenset[str] = frozenset()
    _rest_until: datetime | None = None
    _count: int = 0

    def run(self) -> Plan | None:
        """Follow the runs; plan if anything may have changed. Returns the plan that was made, if one was."""
        self._follow()
        self._stop_asked()
        self._launch_intended()
        return self._plan() if self._due() else None

    # -- observe ---------------------------------------------------------------------------------

    def _follow(self) -> None:
        records = self.store.read()
        reports = self._observe(records)
        pids = {report.run: report.pids for report in reports if report.pids}
        if pids != self.live.read().pids:
            self.live.set(pids=pids)
        self.live.set(log_bytes={report.run: report.log_bytes for report in reports})
        now = self.clock.now()
        after = self.store.update(lambda current: follow_runs(current, reports, self.peaks, now))
        if after.version != records.version:
            gone = records.runs.keys() - after.runs.keys()
            if gone:
                self._speeds = None
            for run in gone:
                self.peaks.pop(run, None)
        self.store.update(lambda current: Change(puts=runs_on_lost_cards(current)))

    def _observe(self, records: Records) -> tuple[RunReport, ...]:
        reports: list[RunReport] = []
        down = False
        for name, engine in self.engines.items():
            asked = {run.id: run.token for run in records.runs.values() if run.engine == name}
            try:
                reports += engine.observe(asked) if asked else ()
            except EngineUnavailable:
                down = True
        since = self.live.read().engine_down_since
        if down != (since is not None):
            self.live.set(engine_down_since=self.clock.now() if down else None)
        return tuple(reports)

    def _stop_asked(self) -> None:
        for run in self.store.read().runs.values():
            if run.stop_cause is not None and run.engine in self.engines:
                try:
                    self.engines[run.engine].stop(run.id, run.token, run.stop_cause)
                except EngineUnavailable:
                    return

    def _launch_intended(self) -> None:
        """Tell the engine of runs that are written down but not yet launched; it starts each once at most."""
        records = self.store.read()
        for run in records.runs.values():
            task = records.tasks.get(run.task)
            if run.state is RunState.INTENDED and run.stop_cause is None and task is not None:
                self._launch(records, run, task)

    def _launch(self, records: Records, run: Run, task: Task) -> None:
        try:
            self.engines[run.engine].start(launch_of(records, run, task))
        except EngineUnavailable:
            self.live.set(engine_down_since=self.live.read().engine_down_since or self.clock.now())

    # -- decide ----------------------------------------------------------------------------------

    def _due(self) -> bool:
        if self._planned is None:
            return True
        version, look_at = self._planned
        if self._rest_until is not None and self.clock.now() < self._rest_until:
            return False  # planning a very long queue leaves half of the time to everybody else
        outside = frozenset(self.live.read().external)
        return self.store.read().version != version or outside != self._outside or self.clock.now() >= look_at

    def _plan(self) -> Plan:
        if self._speeds is None:
            self._speeds = speeds(self.store.matches())
        now, external = self.clock.now(), self.live.read().external
        records = self.store.read()
        snapshot = take_snapshot(records, external, now, self._speeds)
        made = plan(snapshot, records.policy, now)
        broken = check(snapshot, records.policy, made)
        if self.live.read().engine_down_since is not None or any(v.blocks for v in broken):
            made = replace(made, starts=())
        after = self.store.update(lambda current: self._written(current, made, now))
        self._launch_intended()
        self._publish(made, broken, now, len(snapshot.tasks))
        look_at = min(at for at in (made.next_look_at, _soon(now)) if at is not None)
        alone = after.version <= records.version + 1  # else somebody wrote meanwhile: look again at once
        self._planned = (after.version if alone else records.version, look_at)
        self._rest_until = self.clock.now() + (self.clock.now() - now)
        self._outside = frozenset(external)
        return made

    def _written(self, current: Records, made: Plan, now: datetime) -> Change:
        """Intents, parked tasks, and the reasons that changed."""
        intents = intend(current, made, self.ids.token, now)
        parked: list[Task] = []
        reasons: list[ReasonRecord] = []
        for wait in made.waits:
            task = current.tasks.get(wait.task)
            if task is None:
                continue
            if (moved := _parked(task, wait.parked, now)) is not None:
                parked.append(moved)
            codes = tuple(reason.code for reason in wait.reasons)
            if self._told.get(task.id) != codes:
                reasons.append(ReasonRecord(task.id, now, wait.reasons))
        for record in reasons:
            self._told[record.task] = tuple(reason.code for reason in record.reasons)
        return replace(intents, puts=(*intents.puts, *parked), reasons=tuple(reasons))

    def _publish(self, made: Plan, broken: list[Violation], now: datetime, tasks: int) -> None:
        self._count += 1
        waits = {wait.task: wait for wait in made.waits}
        self._told = {task: codes for task, codes in self._told.items() if task in waits}
        seconds = (self.clock.now() - now).total_seconds()
        alarms = tuple(dict.fromkeys(f"{v.rule}: {v.subject}" for v in broken))
        self.live.set(plan=made, waits=waits, alarms=alarms, cycle=CycleStats(now, seconds, tasks, self._count))


def _parked(task: Task, parked: bool, now: datetime) -> Task | None:
    """The task parked or unparked, if its state says otherwise."""
    if parked and task.state is TaskState.WAITING:
        event = "park"
    elif not parked and task.state is TaskState.PARKED:
        event = "unpark"
    else:
        return None
    return replace(task, state=task_step(task.state, event), state_since=now, version=task.version + 1)


def _soon(now: datetime) -> datetime:
    return now + timedelta(seconds=MOST_APART_S)
