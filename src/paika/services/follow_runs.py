"""What the engine reports becomes records: runs begin and end, tasks move on, the ledger is settled.

Engine reality wins over belief. Pure: the caller asks the engine and writes the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from paika.domain.card import Health
from paika.domain.ledger import LedgerEntry, settle
from paika.domain.match import MatchRecord
from paika.domain.policy import Policy
from paika.domain.records import Change, Noun, Records
from paika.domain.run import NOT_THE_TASKS_FAULT, EndCause, Run, RunState
from paika.domain.run import step as run_step
from paika.domain.task import Task, TaskState
from paika.domain.task import step as task_step
from paika.domain.units import whole_seconds
from paika.ports.engine import ReportState, RunReport
from paika.services.end_task import after_ends

_REQUEUED = NOT_THE_TASKS_FAULT | {EndCause.PREEMPTED}


@dataclass(frozen=True, slots=True)
class Peak:
    """What the meter saw of a run: highest VRAM on one card (MiB) and mean busy percent; None if never seen."""

    vram_mib: int | None = None
    busy_percent: int | None = None


def follow_runs(records: Records, reports: Iterable[RunReport], peaks: Mapping[str, Peak], now: datetime) -> Change:
    """The change that brings the records up to what the engine says."""
    runs: dict[str, Run] = {}
    for report in reports:
        run = records.runs.get(report.run)
        if run is not None and run.token == report.token and (moved := _moved(run, report, records.policy, now)):
            runs[run.id] = moved
    if not runs:
        return Change()
    tasks: dict[str, Task] = {}
    ledger: list[LedgerEntry] = []
    matches: list[MatchRecord] = []
    for run in runs.values():
        task = records.tasks.get(run.task)
        if task is not None and (after := _task_after(task, run, records.policy, now)) is not task:
            tasks[task.id] = after
        if run.ended:
            card_type = _card_type(records, run)
            ledger += settle(run, card_type, run.ended_at or now)
            if task is not None:
                matches.append(_match(task, run, card_type, peaks.get(run.id, Peak()), now))
    ended = {task.id: task.state for task in tasks.values() if task.ended}
    children = after_ends({**records.tasks, **tasks}, ended, now) if ended else ()
    puts: tuple[Noun, ...] = (*runs.values(), *tasks.values(), *children)
    return Change(puts=puts, ledger=tuple(ledger), matches=tuple(matches))


def _moved(run: Run, report: RunReport, policy: Policy, now: datetime) -> Run | None:
    """The run as the report has it, or None if nothing is new."""
    match report.state:
        case ReportState.ENDED:
            return _ended(run, report, now)
        case ReportState.ABSENT:
            return _absent(run, policy, now)
        case ReportState.STARTING if run.state is RunState.INTENDED:
            return replace(run, state=run_step(run.state, "launch"), version=run.version + 1)
        case ReportState.RUNNING | ReportState.STOPPING if run.state in {RunState.INTENDED, RunState.STARTING}:
            state = run_step(run.state, "begin")
            return replace(run, state=state, started_at=report.started_at or now, version=run.version + 1)
        case ReportState.STOPPING if run.state is RunState.RUNNING:
            return replace(run, state=run_step(run.state, "stop"), version=run.version + 1)
    return None


def _ended(run: Run, report: RunReport, now: datetime) -> Run:
    return replace(
        run,
        state=run_step(run.state, "end"),
        started_at=report.started_at or run.started_at,
        ended_at=report.ended_at or now,
        cause=report.cause or EndCause.UNKNOWN,
        exit_code=report.exit_code,
        signal=report.signal,
        detail=report.detail,
        version=run.version + 1,
    )


def _absent(run: Run, policy: Policy, now: datetime) -> Run | None:
    """A run that the engine does not know: not yet launched, or gone without a trace."""
    if run.started_at is None and run.stop_cause is not None:
        cause, detail = run.stop_cause, ""
    elif run.state is not RunState.INTENDED:
        cause, detail = EndCause.UNKNOWN, "the engine does not know this run"
    elif whole_seconds(run.intended_at, now) < policy.start_timeout_s:
        return None
    else:
        cause, detail = EndCause.START_FAILED, "not started within the start time-out"
    return replace(run, state=RunState.ENDED, ended_at=now, cause=cause, detail=detail, version=run.version + 1)


def _task_after(task: Task, run: Run, policy: Policy, now: datetime) -> Task:
    """The task after a step of its run; the very same if nothing of it changes."""
    if not run.ended:
        event = _ON_CARDS.get((run.state, task.state))
        if event is None:
            return task
        since = (run.started_at if event == "begin" else None) or now
        return replace(task, state=task_step(task.state, event), state_since=since, version=task.version + 1)
    cause = run.cause or EndCause.UNKNOWN
    lost = task.lost_starts + (cause in NOT_THE_TASKS_FAULT)
    unwanted = run.stop_cause is EndCause.CANCELLED
    again = cause in _REQUEUED and not unwanted and lost <= policy.retries_not_own_fault
    event = "requeue" if again else "cancel" if unwanted and cause in _REQUEUED else _EVENT.get(cause, "fail")
    state = task_step(task.state, "stop") if event == "cancel" and task.state is TaskState.STARTING else task.state
    return replace(
        task,
        state=task_step(state, event),
        state_since=run.ended_at or now,
        state_cause=cause.value,
        lost_starts=lost,
        preempted_at=_preempted(task, now) if cause is EndCause.PREEMPTED else task.preempted_at,
        retry_at=now + timedelta(seconds=policy.retry_delay_s) if again and cause in NOT_THE_TASKS_FAULT else None,
        version=task.version + 1,
    )


def _preempted(task: Task, now: datetime) -> tuple[datetime, ...]:
    """The times of the last day at which it was stopped for others, this one included."""
    return (*(at for at in task.preempted_at if now - at < _DAY), now)


_DAY = timedelta(days=1)
_ON_CARDS = {
    (RunState.RUNNING, TaskState.STARTING): "begin",
    (RunState.STOPPING, TaskState.STARTING): "stop",
    (RunState.STOPPING, TaskState.RUNNING): "stop",
}
_EVENT = {EndCause.DONE: "finish", EndCause.CANCELLED: "cancel"}


def _card_type(records: Records, run: Run) -> str:
    """The type of the run's cards; they are all of one type."""
    return next((records.cards[card].type for card in run.cards if card in records.cards), "unknown")


def _match(task: Task, run: Run, card_type: str, peak: Peak, now: datetime) -> MatchRecord:
    seconds = whole_seconds(run.started_at, run.ended_at) if run.started_at and run.ended_at else 0
    return MatchRecord(
        run=run.id,
        task_kind=task.kind or task.name,
        card_type=card_type,
        cards=len(run.cards),
        seconds=seconds,
        cause=run.cause or EndCause.UNKNOWN,
        peak_vram_mib=peak.vram_mib,
        mean_busy_percent=peak.busy_percent,
        oversized=run.oversized,
        at=run.ended_at or now,
    )


def runs_on_lost_cards(records: Records) -> tuple[Run, ...]:
    """Runs to stop because a card under them is lost or needs a reset; already told ones are left out."""
    bad = {card.id for card in records.cards.values() if card.health in {Health.LOST, Health.NEEDS_RESET}}
    return tuple(
        replace(run, stop_cause=EndCause.LOST_CARD, stop_by="server", version=run.version + 1)
        for run in records.runs.values()
        if run.stop_cause is None and not run.ended and bad.intersection(run.cards)
    )
