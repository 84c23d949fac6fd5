"""What is ready, what waits for data, and who owes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial

from paika.domain.dataset import Dataset, ProbeKind, Readiness
from paika.domain.problem import NotFound
from paika.domain.records import Records
from paika.domain.task import Task, TaskState, Tier
from paika.services.seen import WORSE, Inputs, Named, inputs_of, person_named, queued_now, team_named


@dataclass(frozen=True, slots=True)
class TaskNeed:
    """A waiting task as far as its data goes. `cards` is what it asks for."""

    id: str
    name: str
    owner: Named
    team: Named
    tier: Tier
    state: TaskState
    cards: int
    inputs: Inputs | None
    milestone_at: datetime | None


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A dataset with who waits for it. `owes` is None when nobody is named; `overdue` its ETA has passed."""

    id: str
    name: str
    readiness: Readiness
    percent: int | None
    eta: datetime | None
    overdue: bool
    owes: Named | None
    detail: str
    probe: ProbeKind | None
    set_by: str
    changed_at: datetime | None
    checked_at: datetime | None
    waiting: tuple[TaskNeed, ...]
    waiting_cards: int
    version: int


@dataclass(frozen=True, slots=True)
class Debt:
    """What one person owes: the datasets not ready, and the tasks that wait for them."""

    who: Named | None
    datasets: tuple[str, ...]
    tasks: tuple[str, ...]
    cards: int


@dataclass(frozen=True, slots=True)
class ReadinessView:
    """Datasets, those that block the most cards first; tasks that could run and tasks that wait for data."""

    at: datetime
    datasets: tuple[DatasetRow, ...]
    by_state: dict[str, int]
    can_run: tuple[TaskNeed, ...]
    wait_for_data: tuple[TaskNeed, ...]
    debts: tuple[Debt, ...]


def see_readiness(records: Records, now: datetime) -> ReadinessView:
    """All datasets and all waiting tasks, seen from the data's side."""
    queued = [task for task in records.tasks.values() if queued_now(task)]
    need = _Needs(records)
    needs = {task.id: need.of(task) for task in queued}
    by_dataset: dict[str, list[TaskNeed]] = {}
    for task in queued:
        for key in task.inputs:
            by_dataset.setdefault(key, []).append(needs[task.id])
    rows = [_row(records, dataset, by_dataset.get(dataset.id, []), now) for dataset in records.datasets.values()]
    rows.sort(key=lambda row: (row.readiness is Readiness.READY, -row.waiting_cards, WORSE[row.readiness], row.id))
    ready = [task for task in queued if not _unready(needs[task.id])]
    return ReadinessView(
        at=now,
        datasets=tuple(rows),
        by_state={state.value: sum(row.readiness is state for row in rows) for state in Readiness},
        can_run=tuple(needs[task.id] for task in ready if _nothing_else_in_the_way(task, now)),
        wait_for_data=tuple(need for need in needs.values() if _unready(need)),
        debts=_debts(rows),
    )


def see_dataset(records: Records, now: datetime, dataset_id: str) -> DatasetRow:
    """One dataset. Raises NotFound."""
    dataset = records.datasets.get(dataset_id)
    if dataset is None:
        raise NotFound(field=None, noun="dataset", id=dataset_id)
    waiting = [task for task in records.tasks.values() if dataset_id in task.inputs and queued_now(task)]
    need = _Needs(records)
    return _row(records, dataset, [need.of(task) for task in waiting], now)


class _Needs:
    """Makes TaskNeeds; what many tasks have in common (people, teams, sets of inputs) is looked up once."""

    def __init__(self, records: Records) -> None:
        self.person = cache(partial(person_named, records))
        self.team = cache(partial(team_named, records))
        self._records = records
        self._inputs: dict[tuple[str, ...], Inputs | None] = {}

    def of(self, task: Task) -> TaskNeed:
        """The task as far as its data goes."""
        if task.inputs not in self._inputs:
            self._inputs[task.inputs] = inputs_of(self._records, task)
        return TaskNeed(
            id=task.id,
            name=task.name,
            owner=self.person(task.owner),
            team=self.team(task.team),
            tier=task.tier,
            state=task.state,
            cards=task.demand.cards,
            inputs=self._inputs[task.inputs],
            milestone_at=task.milestone_at,
        )


def _row(records: Records, dataset: Dataset, waiting: list[TaskNeed], now: datetime) -> DatasetRow:
    return DatasetRow(
        id=dataset.id,
        name=dataset.name,
        readiness=dataset.readiness,
        percent=dataset.percent,
        eta=dataset.eta,
        overdue=dataset.readiness is not Readiness.READY and dataset.eta is not None and dataset.eta < now,
        owes=person_named(records, dataset.owner) if dataset.owner else None,
        detail=dataset.detail,
        probe=dataset.probe.kind if dataset.probe else None,
        set_by=dataset.set_by,
        changed_at=dataset.changed_at,
        checked_at=dataset.checked_at,
        waiting=tuple(waiting),
        waiting_cards=sum(need.cards for need in waiting),
        version=dataset.version,
    )


def _unready(need: TaskNeed) -> bool:
    return need.inputs is not None and bool(need.inputs.unready)


def _nothing_else_in_the_way(task: Task, now: datetime) -> bool:
    """No gate of the task's own: it waits for cards only."""
    due = all(at is None or at <= now for at in (task.not_before, task.retry_at))
    return task.state is TaskState.WAITING and due and all(dependency.met for dependency in task.after)


def _debts(rows: list[DatasetRow]) -> tuple[Debt, ...]:
    by_person: dict[str, list[DatasetRow]] = {}
    for row in rows:
        if row.readiness is not Readiness.READY and row.waiting:
            by_person.setdefault(row.owes.id if row.owes else "", []).append(row)
    debts = [_debt(owed) for owed in by_person.values()]
    return tuple(sorted(debts, key=lambda debt: (-debt.cards, debt.who.id if debt.who else "")))


def _debt(owed: list[DatasetRow]) -> Debt:
    tasks = {need.id: need.cards for row in owed for need in row.waiting}
    return Debt(owed[0].owes, tuple(row.id for row in owed), tuple(tasks), sum(tasks.values()))
