"""The queue in the order of the plan: who is next, when, and why not yet."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import islice
from operator import attrgetter

from paika.domain.plan import Forecast, Plan, PriorityTerms, Wait
from paika.domain.problem import BadValue
from paika.domain.promise import Slip
from paika.domain.reason import Reason
from paika.domain.records import Records
from paika.domain.run import Run, RunState
from paika.domain.task import QUEUED, TIER_RANK, Demand, Estimate, Task, TaskState, Tier
from paika.services.live import Live
from paika.services.seen import (
    Ending,
    Inputs,
    Named,
    ending,
    forecast_of,
    inputs_of,
    person_named,
    queued_now,
    team_named,
)

PAGE_MOST = 500
_WAITS = tuple(QUEUED)  # found by identity: hashing the states of a long queue costs more than all the rest


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Which tasks. Empty fields do not filter; `text` looks in name, id, kind and tags, whatever the case."""

    team: str = ""
    owner: str = ""
    tiers: tuple[Tier, ...] = ()
    states: tuple[TaskState, ...] = ()
    text: str = ""

    def takes(self, task: Task) -> bool:
        """Whether the task passes."""
        return (
            self.team in ("", task.team)
            and self.owner in ("", task.owner)
            and (not self.tiers or task.tier in self.tiers)
            and (not self.states or task.state in self.states)
            and (not self.text or self._in_text(task))
        )

    def _in_text(self, task: Task) -> bool:
        return self.text.casefold() in "\n".join((task.name, task.id, task.kind, *task.tags)).casefold()


EVERYTHING = QueueFilter()


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A task that waits. `position` counts from 1 over all waiting tasks.

    `reasons` are all of them, the most telling first. Until the first cycle after its submit a task has
    no position, terms or reasons, and `unseen_since` says since when. `forecast` None: no start can be told.
    """

    position: int | None
    id: str
    name: str
    owner: Named
    team: Named
    tier: Tier
    state: TaskState
    held_by: str
    demand: Demand
    estimate: Estimate | None
    limit_s: int | None
    inputs: Inputs | None
    waiting_since: datetime
    milestone_at: datetime | None
    milestone: str
    terms: PriorityTerms | None
    forecast: Forecast | None
    reasons: tuple[Reason, ...]
    unseen_since: datetime | None
    preemptible: bool
    version: int

    @property
    def reason(self) -> Reason | None:
        """The first reason."""
        return self.reasons[0] if self.reasons else None

    @property
    def more_reasons(self) -> int:
        """How many reasons stand behind the first."""
        return max(0, len(self.reasons) - 1)


facts_of_row: Callable[[QueueRow], tuple[object, ...]] = attrgetter(
    *(f.name for f in fields(QueueRow) if f.name != "position")
)
"""All that a row tells but its position, to see whether anything else has changed."""


@dataclass(frozen=True, slots=True)
class QueueView:
    """A page of the queue. `total` counts all that pass the filter, `left_out` those after this page.

    `by_state` counts all waiting tasks that pass, by state; `planned_at` is when the order was decided.
    """

    at: datetime
    rows: tuple[QueueRow, ...]
    cursor: str | None
    total: int
    left_out: int
    by_state: dict[str, int]
    planned_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunningRow:
    """A task that is on cards now, with its open run (None in the instant between)."""

    id: str
    name: str
    owner: Named
    team: Named
    tier: Tier
    state: TaskState
    run: str | None
    run_state: RunState | None
    cards: tuple[str, ...]
    nodes: tuple[str, ...]
    card_type: str
    demand: Demand
    since: datetime
    ending: Ending
    oversized: bool
    preemptible: bool
    stop_by: str
    version: int


@dataclass(frozen=True, slots=True)
class _Line:
    """The queue in order: planned waits first, then tasks that no plan has seen yet.

    The order is the plan's own; which of its tasks still wait is looked up only for those that are shown, so that
    a long queue costs a page no more than a short one.
    """

    tasks: Mapping[str, Task]  # those that are listed; open ones that are not queued do not count
    waits: Sequence[Wait]
    ranks: Mapping[str, Wait]
    unseen: Sequence[Task]
    total: int
    by_state: dict[str, int]

    def start(self, cursor: str | None) -> tuple[int, int]:
        """Where the page begins, in planned waits and then unseen tasks, and how many listed tasks come before.

        That is after the task that the cursor names, or at its place if that one has left.
        """
        if not cursor:
            return 0, 0
        place, _, last = cursor.partition(".")
        if not (place.isascii() and place.isdigit() and len(place) < 10 and last):
            raise BadValue(field="cursor", value=cursor[:80], allowed="a cursor of this listing")
        known = self.ranks.get(last)
        if known is not None and self._listed(last):
            index = bisect_right(self.waits, known.rank, key=lambda wait: wait.rank)
            return index, self._before(index)
        after = next((n + 1 for n, task in enumerate(self.unseen) if task.id == last), None)
        if after is not None:
            return len(self.waits) + after, self.total - len(self.unseen) + after
        return self._place(min(int(place), self.total))

    def pick(self, start: int, most: int) -> list[tuple[Task, Wait | None]]:
        """The next listed tasks from there on, `most` of them or all that are left."""
        found: list[tuple[Task, Wait | None]] = []
        for wait in islice(self.waits, start, None):
            if len(found) == most:
                return found
            if (task := self._listed(wait.task)) is not None:
                found.append((task, wait))
        rest = max(0, start - len(self.waits))
        found += [(task, None) for task in self.unseen[rest : rest + most - len(found)]]
        return found

    def _listed(self, task_id: str) -> Task | None:
        task = self.tasks.get(task_id)
        return task if task is not None and queued_now(task) else None

    def _before(self, index: int) -> int:
        return sum(self._listed(wait.task) is not None for wait in islice(self.waits, index))

    def _place(self, count: int) -> tuple[int, int]:
        """The place behind the first `count` listed tasks."""
        passed = 0
        for index, wait in enumerate(self.waits):
            if passed == count:
                return index, count
            passed += self._listed(wait.task) is not None
        return len(self.waits) + count - passed, count


def see_queue(
    records: Records,
    live: Live,
    now: datetime,
    wanted: QueueFilter = EVERYTHING,
    *,
    cursor: str | None = None,
    limit: int = 100,
) -> QueueView:
    """One page of what waits. Raises BadValue for a cursor that this listing did not give out."""
    line = _whole(records, live) if wanted == EVERYTHING else _filtered(records, live, wanted)
    start, before = line.start(cursor)
    most = max(1, min(limit, PAGE_MOST))
    picked = line.pick(start, most)
    end = before + len(picked)
    return QueueView(
        at=now,
        rows=tuple(queue_row(records, task, wait, live.slips) for task, wait in picked),
        cursor=f"{end}.{picked[-1][0].id}" if picked and end < line.total else None,
        total=line.total,
        left_out=max(0, line.total - end),
        by_state=line.by_state,
        planned_at=live.plan.decided_at if live.plan else None,
    )


def queue_row(records: Records, task: Task, wait: Wait | None, slips: Mapping[str, Slip]) -> QueueRow:
    """A waiting task with what the plan says of it, if it does, and why it was promised less than before."""
    return QueueRow(
        position=wait.rank if wait else None,
        id=task.id,
        name=task.name,
        owner=person_named(records, task.owner),
        team=team_named(records, task.team),
        tier=task.tier,
        state=task.state,
        held_by=task.held_by,
        demand=task.demand,
        estimate=task.estimate,
        limit_s=task.limit_s,
        inputs=inputs_of(records, task),
        waiting_since=task.submitted_at,
        milestone_at=task.milestone_at,
        milestone=task.milestone,
        terms=wait.terms if wait else None,
        forecast=forecast_of(wait, slips) if wait else None,
        reasons=wait.reasons if wait else (),
        unseen_since=None if wait else task.state_since or task.submitted_at,
        preemptible=task.preemptible,
        version=task.version,
    )


def see_running(
    records: Records, now: datetime, wanted: QueueFilter = EVERYTHING, *, limit: int | None = None
) -> tuple[RunningRow, ...]:
    """What is starting, running or stopping: core first, then by start."""
    runs = {run.task: run for run in records.runs.values() if not run.ended}
    on_cards = [task for task in records.tasks.values() if task.state not in _WAITS and not task.ended]
    rows = [_running_row(records, task, runs.get(task.id), now) for task in on_cards if wanted.takes(task)]
    rows.sort(key=lambda row: (TIER_RANK[row.tier], row.since, row.id))
    return tuple(rows[:limit])


def _running_row(records: Records, task: Task, run: Run | None, now: datetime) -> RunningRow:
    cards = run.cards if run else ()
    first = records.cards.get(cards[0]) if cards else None
    return RunningRow(
        id=task.id,
        name=task.name,
        owner=person_named(records, task.owner),
        team=team_named(records, task.team),
        tier=task.tier,
        state=task.state,
        run=run.id if run else None,
        run_state=run.state if run else None,
        cards=cards,
        nodes=tuple(part.node for part in run.parts) if run else (),
        card_type=first.type if first else "",
        demand=task.demand,
        since=(run.started_at or run.intended_at) if run else task.state_since or task.submitted_at,
        ending=ending(run, now) if run else Ending(None, False, False),
        oversized=run.oversized if run else False,
        preemptible=task.preemptible,
        stop_by=run.stop_by if run else "",
        version=task.version,
    )


def _whole(records: Records, live: Live) -> _Line:
    """Everything that waits. Every page needs it, so it is kept until tasks or plan are others."""
    global _last  # noqa: PLW0603 - one tuple, set in one step: whoever reads it has a line that fits its keys
    last, tasks, ranks = _last, records.tasks, live.waits
    if last is not None and last[0] is tasks and last[1] is live.plan and last[2].ranks is ranks:
        return last[2]
    unseen = [task for key in tasks.keys() - ranks.keys() if queued_now(task := tasks[key])]
    unseen.sort(key=_unseen_order)
    states = [task.state for task in tasks.values()]
    by_state = {state.value: states.count(state) for state in sorted(QUEUED)}
    waits = live.plan.waits if live.plan else ()
    line = _Line(tasks, waits, ranks, unseen, sum(by_state.values()), by_state)
    _last = tasks, live.plan, line
    return line


_last: tuple[Mapping[str, Task], Plan | None, _Line] | None = None


def _filtered(records: Records, live: Live, wanted: QueueFilter) -> _Line:
    tasks = {key: task for key, task in records.tasks.items() if queued_now(task) and wanted.takes(task)}
    unseen = sorted((task for key, task in tasks.items() if key not in live.waits), key=_unseen_order)
    states = [task.state for task in tasks.values()]
    by_state = {state.value: states.count(state) for state in sorted(QUEUED)}
    waits = live.plan.waits if live.plan else ()
    return _Line(tasks, waits, live.waits, unseen, len(tasks), by_state)


def _unseen_order(task: Task) -> tuple[int, int, datetime, str]:
    return TIER_RANK[task.tier], -task.priority, task.submitted_at, task.id
