"""Everything of one task: what it asks for, where it stands and why, what its runs did and cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from paika.domain.access import Act, Actor
from paika.domain.dataset import Readiness
from paika.domain.ledger import EntryKind, run_card_seconds
from paika.domain.plan import Forecast, PriorityTerms, ReasonRecord
from paika.domain.problem import NotFound
from paika.domain.reason import Reason
from paika.domain.records import Records
from paika.domain.run import EndCause, Run, RunPart, RunState
from paika.domain.task import QUEUED, DependencyDead, Task, TaskState, When
from paika.domain.units import card_seconds, whole_seconds
from paika.ports.store import LedgerQuery, Store
from paika.services.end_task import closing_cause
from paika.services.live import Live
from paika.services.seen import (
    Ending,
    Inputs,
    Named,
    ending,
    forecast_of,
    inputs_of,
    person_named,
    task_named,
    team_named,
)

LEDGER_MOST = 1_000
A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RunRow:
    """One attempt. `card_seconds` runs on while it runs.

    `stop_for` is the task that its cards are freed for, None if it ended otherwise. With a `checkpoint` it saves
    its work when told to stop.
    """

    id: str
    attempt: int
    state: RunState
    parts: tuple[RunPart, ...]
    card_type: str
    parts_held: int
    oversized: bool
    intended_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    ending: Ending | None
    cause: EndCause | None
    exit_code: int | None
    signal: str | None
    detail: str
    stop_cause: EndCause | None
    stop_by: str
    stop_for: Named | None
    checkpoint: bool
    card_seconds: int
    log_bytes: int | None


@dataclass(frozen=True, slots=True)
class Link:
    """A task that this one waits for, or that waits for this one."""

    task: Named
    when: When
    state: TaskState | None
    met: bool
    dead: bool


@dataclass(frozen=True, slots=True)
class DatasetLink:
    """An input; `known` is False if the dataset is gone."""

    id: str
    name: str
    known: bool
    readiness: Readiness
    percent: int | None
    eta: datetime | None
    owes: Named | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Card-seconds the ledger has booked for the task: spent, and lost through no fault of its own."""

    spent_card_seconds: int
    lost_card_seconds: int
    held_parts: int


@dataclass(frozen=True, slots=True)
class TaskView:
    """All of a task. `reasons` are those of now, `history` those over time, newest first.

    `preempted` are the times of the last day at which it was stopped for others, `boost_by` who moved it.
    `unseen_since` is set while no plan has looked at it; `closed_by` tells why a dead branch was closed.
    """

    at: datetime
    task: Task
    owner: Named
    team: Named
    held_by: Named | None
    boost_by: Named | None
    preempted: tuple[datetime, ...]
    position: int | None
    terms: PriorityTerms | None
    forecast: Forecast | None
    reasons: tuple[Reason, ...]
    unseen_since: datetime | None
    history: tuple[ReasonRecord, ...]
    runs: tuple[RunRow, ...]
    inputs: Inputs | None
    datasets: tuple[DatasetLink, ...]
    after: tuple[Link, ...]
    before: tuple[Link, ...]
    cost: Cost
    closed_by: DependencyDead | None


def see_task(
    store: Store, records: Records, live: Live, now: datetime, task_id: str, *, history: int = 200
) -> TaskView:
    """A task, open or ended. Raises NotFound."""
    task = records.tasks.get(task_id) or store.task(task_id)
    if task is None:
        raise NotFound(field=None, noun="task", id=task_id)
    wait = live.waits.get(task_id) if task.state in QUEUED else None
    return TaskView(
        at=now,
        task=task,
        owner=person_named(records, task.owner),
        team=team_named(records, task.team),
        held_by=person_named(records, task.held_by) if task.held_by else None,
        boost_by=person_named(records, task.boost_by) if task.boost_by else None,
        preempted=tuple(at for at in task.preempted_at if now - at < A_DAY),
        position=wait.rank if wait else None,
        terms=wait.terms if wait else None,
        forecast=forecast_of(wait, live.slips) if wait else None,
        reasons=wait.reasons if wait else (),
        unseen_since=task.state_since or task.submitted_at if task.state in QUEUED and wait is None else None,
        history=store.reasons_of(task_id, history) if history else (),
        runs=see_runs(store, records, live, now, task_id),
        inputs=inputs_of(records, task),
        datasets=tuple(_dataset(records, key) for key in task.inputs),
        after=_parents(store, records, task),
        before=_children(records, task_id),
        cost=_cost(store, task_id),
        closed_by=closing_cause(task),
    )


def see_runs(store: Store, records: Records, live: Live, now: datetime, task_id: str) -> tuple[RunRow, ...]:
    """The attempts of a task, oldest first."""
    return tuple(_run_row(records, live, run, now) for run in store.runs_of(task_id))


def may_read_program(actor: Actor, task: Task) -> bool:
    """Whether the actor may see values of the task's variables, which may be secrets: those who may change it."""
    if task.owner == actor.person or actor.may(Act.CHANGE_ANY_TASK):
        return True
    return task.team in actor.leads and actor.may(Act.CHANGE_TEAM_TASK)


def _run_row(records: Records, live: Live, run: Run, now: datetime) -> RunRow:
    card = records.cards.get(run.cards[0]) if run.cards else None
    spent = run_card_seconds(run)
    if not run.ended and run.started_at is not None:
        spent = card_seconds(run.parts_held, whole_seconds(run.started_at, now))
    return RunRow(
        id=run.id,
        attempt=run.attempt,
        state=run.state,
        parts=run.parts,
        card_type=card.type if card else "",
        parts_held=run.parts_held,
        oversized=run.oversized,
        intended_at=run.intended_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
        ending=None if run.ended else ending(run, now),
        cause=run.cause,
        exit_code=run.exit_code,
        signal=run.signal,
        detail=run.detail,
        stop_cause=run.stop_cause,
        stop_by=run.stop_by,
        stop_for=task_named(records, run.stop_for) if run.stop_for and run.cause in (None, run.stop_cause) else None,
        checkpoint=run.checkpoint,
        card_seconds=spent,
        log_bytes=live.log_bytes.get(run.id),
    )


def _dataset(records: Records, key: str) -> DatasetLink:
    known = records.datasets.get(key)
    if known is None:
        return DatasetLink(key, key, False, Readiness.UNKNOWN, None, None, None)
    owes = person_named(records, known.owner) if known.owner else None
    return DatasetLink(key, known.name, True, known.readiness, known.percent, known.eta, owes)


def _parents(store: Store, records: Records, task: Task) -> tuple[Link, ...]:
    links = []
    for dependency in task.after:
        parent = records.tasks.get(dependency.task) or store.task(dependency.task)
        named = Named(dependency.task, parent.name if parent else dependency.task)
        state = dependency.outcome or (parent.state if parent else None)
        links.append(Link(named, dependency.when, state, dependency.met, dependency.dead))
    return tuple(links)


def _children(records: Records, task_id: str) -> tuple[Link, ...]:
    return tuple(
        Link(Named(child.id, child.name), dependency.when, child.state, dependency.met, dependency.dead)
        for child in records.tasks.values()
        for dependency in child.after
        if dependency.task == task_id
    )


def _cost(store: Store, task_id: str) -> Cost:
    spent = lost = held = 0
    cursor: str | None = None
    while True:
        page = store.ledger(LedgerQuery(task=task_id, cursor=cursor, limit=LEDGER_MOST))
        for line in page.rows:
            held += line.parts
            spent += line.card_seconds if line.kind is EntryKind.SPEND else 0
            lost += line.card_seconds if line.kind is EntryKind.LOST else 0
        cursor = page.cursor
        if cursor is None:
            return Cost(spent, lost, held)
