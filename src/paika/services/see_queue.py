"""The queue in the order of the plan: who is next, when, and why not yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from paika.domain.plan import Forecast, Plan, PriorityTerms, Wait
from paika.domain.problem import BadValue
from paika.domain.reason import Reason
from paika.domain.records import Records
from paika.domain.run import Run, RunState
from paika.domain.task import QUEUED, TIER_RANK, Demand, Estimate, Task, TaskState, Tier
from paika.services.live import Live
from paika.services.seen import Ending, Inputs, Named, ending, inputs_of, person_named, queued_now, team_named

PAGE_MOST = 500


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
    """The queue in order: planned waits first, then tasks no plan has seen yet; and how many are in each state."""

    tasks: list[Task]
    waits: list[Wait | None]
    by_state: dict[str, int]


class _LastLine:
    """The whole queue as it was last put in order: every reader asks for it, and most of the time it is the same."""

    def __init__(self) -> None:
        self._lock = Lock()  # many who ask at once wait for one, instead of doing the same beside each other
        self._known: tuple[Mapping[str, Task], Plan | None, _Line] | None = None

    def of(self, records: Records, live: Live) -> _Line:
        """The line of these very tasks and this very plan."""
        with self._lock:
            known = self._known
            if known is not None and known[0] is records.tasks and known[1] is live.plan:
                return known[2]
            line = _line(records, live, EVERYTHING)
            self._known = records.tasks, live.plan, line
            return line


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
    line = _WHOLE.of(records, live) if wanted == EVERYTHING else _line(records, live, wanted)
    start = _start(line.tasks, cursor)
    end = min(len(line.tasks), start + max(1, min(limit, PAGE_MOST)))
    rows = tuple(queue_row(records, task, line.waits[start + n]) for n, task in enumerate(line.tasks[start:end]))
    return QueueView(
        at=now,
        rows=rows,
        cursor=f"{end}.{line.tasks[end - 1].id}" if end < len(line.tasks) else None,
        total=len(line.tasks),
        left_out=len(line.tasks) - end,
        by_state=dict(line.by_state),
        planned_at=live.plan.decided_at if live.plan else None,
    )


def queue_row(records: Records, task: Task, wait: Wait | None) -> QueueRow:
    """A waiting task with what the plan says of it, if it does."""
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
        forecast=wait.forecast if wait else None,
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
    on_cards = [task for task in records.tasks.values() if not task.ended and task.state not in QUEUED]
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


def _line(records: Records, live: Live, wanted: QueueFilter) -> _Line:
    """In the plainest steps there are: with 10,000 tasks waiting this is most of what a page costs."""
    tasks = records.tasks
    planned = live.plan.waits if live.plan else ()
    waiting, held, parked = TaskState.WAITING, TaskState.HELD, TaskState.PARKED
    known = [
        (task, wait)
        for task, wait in zip(map(tasks.get, [wait.task for wait in planned]), planned, strict=True)
        if task is not None and ((state := task.state) is waiting or state is held or state is parked)
    ]
    unseen = [task for key in tasks.keys() - live.waits.keys() if queued_now(task := tasks[key])]
    if wanted != EVERYTHING:
        known = [pair for pair in known if wanted.takes(pair[0])]
        unseen = [task for task in unseen if wanted.takes(task)]
    unseen.sort(key=lambda task: (TIER_RANK[task.tier], -task.priority, task.submitted_at, task.id))
    line = [task for task, _ in known] + unseen
    states = [task.state for task in line]
    by_state = {state.value: states.count(state) for state in sorted(QUEUED)}
    return _Line(line, [wait for _, wait in known] + [None] * len(unseen), by_state)


_WHOLE = _LastLine()


def _start(tasks: Sequence[Task], cursor: str | None) -> int:
    """Where the page begins: after the task that the cursor names, or at its place if that one has left."""
    if not cursor:
        return 0
    place, _, last = cursor.partition(".")
    if not (place.isascii() and place.isdigit() and len(place) < 10 and last):
        raise BadValue(field="cursor", value=cursor[:80], allowed="a cursor of this listing")
    if 0 < int(place) <= len(tasks) and tasks[int(place) - 1].id == last:
        return int(place)
    after = next((n + 1 for n, task in enumerate(tasks) if task.id == last), None)
    return min(int(place), len(tasks)) if after is None else after
