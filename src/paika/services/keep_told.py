"""What waiting tasks were told is on record: reasons and promise, anew whenever either has really changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from paika.domain.plan import ReasonRecord, Wait
from paika.domain.promise import Promise, Slip
from paika.domain.reason import DataNotReady, Reason
from paika.domain.records import Records
from paika.domain.task import QUEUED
from paika.ports.store import Store


class Told:
    """The last record of each waiting task."""

    def __init__(self, records: Iterable[ReasonRecord] = ()) -> None:
        self._last: dict[str, ReasonRecord] = {}
        self.slips: dict[str, Slip] = {}
        """Promises that moved later and did not come back; another object whenever one is new or gone."""
        self.add(tuple(records))

    def __contains__(self, task: str) -> bool:
        return task in self._last

    def news(self, wait: Wait, promise: Promise | None, now: datetime, step_s: int) -> ReasonRecord | None:
        """A record of what the plan says of a task; None if the last one says as much.

        A promise that moves by no more than `step_s` on the same cards is the same.
        """
        last = self._last.get(wait.task)
        same = last is not None and _codes(last.reasons) == _codes(wait.reasons)
        if last is not None and same and not moved(last.promise, promise, step_s):
            return None
        forecast = wait.forecast if promise is not None else None
        start_from = forecast.start_from if forecast else None
        return ReasonRecord(wait.task, now, wait.reasons, promise, start_from, _slip(wait, last, promise))

    def add(self, records: Sequence[ReasonRecord]) -> None:
        """These were written."""
        self._last |= {record.task: record for record in records}
        slips = {record.task: record.slip for record in records if record.slip is not None}
        if slips or any(record.task in self.slips for record in records):
            written = {record.task for record in records}
            self.slips = {task: slip for task, slip in self.slips.items() if task not in written} | slips

    def keep(self, tasks: Collection[str]) -> None:
        """Forget all others: they no longer wait."""
        if any(task not in tasks for task in self._last):
            self._last = {task: record for task, record in self._last.items() if task in tasks}
            if any(task not in tasks for task in self.slips):
                self.slips = {task: slip for task, slip in self.slips.items() if task in tasks}


def recall_told(store: Store, records: Records) -> tuple[Told, tuple[Promise, ...]]:
    """What an earlier server told the tasks that still wait as they did then, and what of it still binds."""
    waiting = [task for task in records.tasks.values() if task.state in QUEUED]
    last = store.last_reasons([task.id for task in waiting])
    told: list[ReasonRecord] = []
    promises: list[Promise] = []
    for task in waiting:
        record = last.get(task.id)
        if record is None or record.at < (task.state_since or task.submitted_at):
            continue
        told.append(record)
        if record.promise is not None and record.promise.task_version == task.version:
            promises.append(record.promise)
    return Told(told), tuple(promises)


def _slip(wait: Wait, last: ReasonRecord | None, promise: Promise | None) -> Slip | None:
    """Why the promise is later: as the plan says, or as was said before while it still is later than once told."""
    if promise is None or wait.forecast is None:
        return None
    if wait.forecast.slip is not None or last is None or last.slip is None:
        return wait.forecast.slip
    return last.slip if promise.start_by > last.slip.was else None


def moved(old: Promise | None, new: Promise | None, step_s: int) -> bool:
    """Whether the promise is another one: given or taken back, on other cards, or at a really different time."""
    if old is None or new is None:
        return old is not new
    if old.task_version != new.task_version or old.parts != new.parts:
        return True
    return abs((new.start_by - old.start_by).total_seconds()) > step_s


def _codes(reasons: Iterable[Reason]) -> tuple[str, ...]:
    """What of the reasons is worth a new line in the history: their kinds, and the state of the data waited for."""
    return tuple(f"{r.code} {r.dataset} {r.readiness}" if isinstance(r, DataNotReady) else r.code for r in reasons)
