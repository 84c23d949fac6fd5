"""One pass of the planner over the living house: observe, follow, stop, decide, check, write, start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from paika.domain.plan import Plan, ReasonRecord, Wait
from paika.domain.policy import Policy
from paika.domain.promise import Promise
from paika.domain.reason import PlanRefused
from paika.domain.records import Change, Records
from paika.domain.run import Run, RunState
from paika.domain.snapshot import Snapshot, Speed
from paika.domain.task import QUEUED, Task, TaskState
from paika.domain.task import step as task_step
from paika.planning.check import Violation, check
from paika.planning.estimate import speeds
from paika.planning.order import ranked, step_at
from paika.planning.planner import plan
from paika.ports.clock import Clock
from paika.ports.engine import Engine, EngineUnavailable, RunReport
from paika.ports.ids import Ids
from paika.ports.store import Store
from paika.services.fair_usage import FairUsage
from paika.services.follow_reservations import follow_reservations
from paika.services.follow_runs import Peak, follow_runs, runs_on_lost_cards
from paika.services.keep_told import Told, recall_told
from paika.services.live import CycleStats, LiveBox
from paika.services.score_promises import Accuracy, PromiseScores, histories_of, scored
from paika.services.start_runs import intend, launch_of
from paika.services.stop_runs import stops
from paika.services.take_snapshot import take_snapshot

MOST_APART_S = 30  # a plan is made at least this often


Decided = tuple[Plan, list[Violation]]
KeepCase = Callable[[Snapshot, Policy, datetime, list[Violation]], str | None]  # says where it is now


def decide(snapshot: Snapshot, policy: Policy, now: datetime) -> Decided:
    """A plan, and every rule that it breaks."""
    made = plan(snapshot, policy, now)
    return made, check(snapshot, policy, made)


@dataclass(slots=True)
class Cycle:
    """The running server's planner. `engines` by name; `peaks` are filled by whoever reads the meters.

    `decide` may do its work elsewhere; its answer is that of the function of the same name. `keep_case` puts a
    plan that breaks a rule where it can be looked at.
    """

    store: Store
    engines: Mapping[str, Engine]
    clock: Clock
    ids: Ids
    live: LiveBox
    decide: Callable[[Snapshot, Policy, datetime], Decided] = decide
    keep_case: KeepCase | None = None
    peaks: dict[str, Peak] = field(default_factory=dict)
    _told: Told = field(default_factory=Told)
    _scores: PromiseScores | None = None
    _speeds: tuple[Speed, ...] | None = None
    _usage: FairUsage | None = None
    _planned: tuple[int, datetime] | None = None
    _outside: frozenset[str] = frozenset()
    _silent: frozenset[str] = frozenset()  # engines that do not answer
    _silent_then: frozenset[str] = frozenset()  # those that did not when the last plan was made
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
        self._show(reports)
        now = self.clock.now()
        after = self.store.update(lambda current: follow_runs(current, reports, self.peaks, now))
        if after.version != records.version:
            gone = records.runs.keys() - after.runs.keys()
            if gone:
                self._speeds = None
            for run in gone:
                self.peaks.pop(run, None)
        self.store.update(lambda current: Change(puts=runs_on_lost_cards(current)))
        self._follow_reservations(records, now)

    def _follow_reservations(self, before: Records, now: datetime) -> None:
        """No-shows and the waiting list; a run that ended meanwhile still counts as a visit."""
        if before.reservations:
            ends = [run for run in map(self.store.run, before.runs.keys() - self.store.read().runs.keys()) if run]
            self.store.update(lambda current: follow_reservations(current, now, ends))

    def _observe(self, records: Records) -> tuple[RunReport, ...]:
        asked: dict[str, dict[str, str]] = {name: {} for name in self.engines}
        for run in records.runs.values():
            asked.setdefault(run.engine, {})[run.id] = run.token
        reports: list[RunReport] = []
        silent = asked.keys() - self.engines.keys()
        for name, engine in self.engines.items():
            try:
                reports += engine.observe(asked[name])
            except EngineUnavailable:
                silent.add(name)
        self._note_silent(silent)
        return tuple(reports)

    def _note_silent(self, engines: Iterable[str]) -> None:
        self._silent = frozenset(engines)
        since = self.live.read().engine_down_since
        if bool(self._silent) != (since is not None):
            self.live.set(engine_down_since=self.clock.now() if self._silent else None)

    def _show(self, reports: tuple[RunReport, ...]) -> None:
        """What the reports tell beside the records; nothing is set anew that has not changed."""
        live = self.live.read()
        pids = {report.run: report.pids for report in reports if report.pids}
        if pids != live.pids:
            self.live.set(pids=pids)
        log_bytes = {report.run: report.log_bytes for report in reports}
        if log_bytes != live.log_bytes:
            self.live.set(log_bytes=log_bytes)

    def _stop_asked(self) -> None:
        for run in self.store.read().runs.values():
            if run.stop_cause is not None and run.engine in self.engines.keys() - self._silent:
                try:
                    self.engines[run.engine].stop(run.id, run.token, run.stop_cause)
                except EngineUnavailable:
                    self._note_silent(self._silent | {run.engine})

    def _launch_intended(self) -> None:
        """Tell the engine of runs that are written down but not yet launched; it starts each once at most."""
        records = self.store.read()
        for run in records.runs.values():
            task = records.tasks.get(run.task)
            if run.state is RunState.INTENDED and run.stop_cause is None and task is not None:
                self._launch(records, run, task)

    def _launch(self, records: Records, run: Run, task: Task) -> None:
        if run.engine in self._silent:
            return
        try:
            self.engines[run.engine].start(launch_of(records, run, task))
        except EngineUnavailable:
            self._note_silent(self._silent | {run.engine})

    # -- decide ----------------------------------------------------------------------------------

    def _due(self) -> bool:
        if self._planned is None:
            return True
        version, look_at = self._planned
        if self._rest_until is not None and self.clock.now() < self._rest_until:
            return False  # planning a very long queue leaves half of the time to everybody else
        outside = frozenset(self.live.read().external)
        moved = self.store.read().version != version or outside != self._outside or self._silent != self._silent_then
        return moved or self.clock.now() >= look_at

    def _plan(self) -> Plan:
        if self._speeds is None:
            self._speeds = speeds(self.store.matches())
        now, external = self.clock.now(), self.live.read().external
        records, silent = self.store.read(), self._silent
        if self._planned is None:
            self._told, promises = recall_told(self.store, records)
            self.live.set(promises=promises)
        self.live.set(usage=self._usage_at(records, now), accuracy=self._accuracy_at(records, now))
        self.live.set(speeds=self._speeds, engines=frozenset(self.engines.keys() - silent))
        live = self.live.read()
        snapshot = take_snapshot(records, external, now, self._speeds, engines=live.engines, live=live)
        made, broken = self.decide(snapshot, records.policy, now)
        if broken and self.keep_case and (kept := self.keep_case(snapshot, records.policy, now, broken)):
            self.live.set(case=kept)
        versions = {task.id: task.version for task in snapshot.tasks}
        promises = made.promises(versions)
        if any(violation.blocks for violation in broken):
            made = _refused(made, snapshot, records, broken)
            promises = tuple(one for one in live.promises if versions.get(one.task) == one.task_version)
        written_on, after = self._write(made, promises, now)
        look_at = min(at for at in (made.next_look_at, _soon(now)) if at is not None)
        # If somebody wrote between the reading and the writing, look again at once.
        self._planned = (after.version if written_on == records.version else records.version, look_at)
        self._outside, self._silent_then = frozenset(external), silent
        self._publish(made, broken, now, snapshot, promises)
        self._rest_until = self.clock.now() + (self.clock.now() - now)
        self._launch_intended()
        return made

    def _write(self, made: Plan, promises: tuple[Promise, ...], now: datetime) -> tuple[int, Records]:
        """Write the plan down; the version that it was written on, and the records after it."""
        written: list[tuple[int, Change]] = []
        promised = {promise.task: promise for promise in promises}
        histories = histories_of(self.store, self._told, made)

        def decide(current: Records) -> Change:
            change = self._written(current, made, promised, now)
            change = replace(change, outcomes=scored(change, histories, now)) if histories else change
            written[:] = [(current.version, change)]
            return change

        after = self.store.update(decide)
        version, change = written[0]
        self._told.add(change.reasons)
        if self._scores is not None:
            self._scores.add(change.outcomes)
        return version, after

    def _written(self, current: Records, made: Plan, promised: Mapping[str, Promise], now: datetime) -> Change:
        """Intents, parked tasks, and the reasons that changed."""
        intents = intend(current, made, self.ids.token, now)
        told = stops(current, made, now)
        parked: list[Task] = []
        reasons: list[ReasonRecord] = []
        live = self.live.read()
        before, versions = live.waits, {promise.task: promise.task_version for promise in live.promises}
        for wait in made.waits:
            task = current.tasks.get(wait.task)
            if task is None or task.state not in QUEUED:
                continue
            if (moved := _parked(task, wait.parked, now)) is not None:
                parked.append(moved)
            promise = promised.get(task.id)
            if before.get(task.id) is wait and (promise is None or versions.get(task.id) == promise.task_version):
                continue  # the very same answer to the same task was written when it was new
            news = self._told.news(wait, promise, now, current.policy.step_s)
            if news is not None:
                reasons.append(news)
        puts = (*intents.puts, *told.puts, *parked)
        return replace(intents, puts=puts, audit=(*intents.audit, *told.audit), reasons=tuple(reasons))

    def _usage_at(self, records: Records, now: datetime) -> dict[str, int]:
        if self._usage is None:
            self._usage = FairUsage(self.store)
        return self._usage.at(records.runs.values(), records.policy, now)

    def _accuracy_at(self, records: Records, now: datetime) -> tuple[Accuracy, ...]:
        if self._scores is None:
            self._scores = PromiseScores(self.store)
        return self._scores.rows(step_at(records.policy, now))

    def _publish(
        self, made: Plan, broken: list[Violation], now: datetime, snapshot: Snapshot, promises: tuple[Promise, ...]
    ) -> None:
        self._count += 1
        waits = {wait.task: wait for wait in made.waits}
        self._told.keep(waits.keys())
        seconds = (self.clock.now() - now).total_seconds()
        alarms = tuple(dict.fromkeys(f"{v.rule}: {v.subject}" for v in broken))
        stats = CycleStats(now, seconds, len(snapshot.tasks), self._count)
        self.live.set(plan=made, waits=waits, promises=promises, slips=self._told.slips, alarms=alarms, cycle=stats)


def _refused(made: Plan, snapshot: Snapshot, records: Records, broken: list[Violation]) -> Plan:
    """The plan with nothing started and no start told; whom it would have started, or forgot, is told why.

    What the plan before promised stays promised.
    """
    rules = tuple(dict.fromkeys(violation.rule for violation in broken if violation.blocks))
    order, terms, _ = ranked(snapshot.tasks, records.policy, made.decided_at)
    waits = {wait.task: replace(wait, forecast=None) for wait in made.waits}
    for rank, task in enumerate(order, start=1):
        waits.setdefault(task.id, Wait(task.id, rank, terms[task.id], (PlanRefused(rules),), None))
    return replace(made, starts=(), stops=(), waits=tuple(waits[task.id] for task in order))


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
