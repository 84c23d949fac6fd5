"""How told starts come true: what a task was told against when it started, and what that teaches of the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from paika.domain.plan import Plan, ReasonRecord
from paika.domain.promise import Calibration, Outcome
from paika.domain.records import Change
from paika.domain.run import Run
from paika.domain.units import SECONDS_PER_HOUR, whole_seconds
from paika.ports.store import OUTCOMES_KEPT, Store
from paika.services.keep_told import Told

_EDGES_H = (0, 1, 4, 12, 24, 72)
LEADS_S = tuple((low * SECONDS_PER_HOUR, high * SECONDS_PER_HOUR) for low, high in pairwise(_EDGES_H))
NEEDED = 20  # outcomes from which on a lead teaches anything
MINUTE = timedelta(minutes=1)  # as finely as starts are told to people
MOST_RECORDS = 1000
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How starts told `lead_from_s` .. `lead_to_s` ahead came true, over `seen` of them.

    `early_s` and `late_s` are P10 and P90 of actual − told start, None before NEEDED were seen. `hit_permille` of
    the `ranged` told ranges held the start; None before any was told.
    """

    lead_from_s: int
    lead_to_s: int
    seen: int
    early_s: int | None
    late_s: int | None
    ranged: int
    hit_permille: int | None


def outcomes_of(history: Iterable[ReasonRecord], version: int, started_at: datetime) -> tuple[Outcome, ...]:
    """What a task that starts was told first in each lead, and how much later it starts.

    `history` comes newest first; what was told to another version of the task is another task's word. A promise
    that still stands when its start comes within a nearer lead counts there too, from that instant; the range
    that it was told with belongs to the lead at which it was told.
    """
    told = [record for record in history if record.at < started_at][::-1]
    ends = [record.at for record in told[1:]] + [started_at]
    found: dict[int, Outcome] = {}
    for record, end in zip(told, ends, strict=False):
        promise = record.promise
        if promise is None or promise.task_version != version:
            continue
        for low, high in LEADS_S:
            at = max(record.at, promise.start_by - timedelta(seconds=high) + _SECOND)
            lead = whole_seconds(at, promise.start_by)
            if low not in found and at < end and low <= lead < high:
                late = (started_at - promise.start_by) // _SECOND
                within = _within(record, started_at) if at == record.at else None
                found[low] = Outcome(record.task, at, lead, late, within)
    return tuple(found[low] for low in sorted(found, reverse=True))


def accuracy(outcomes: Iterable[Outcome]) -> tuple[Accuracy, ...]:
    """Every lead with what is known of it; leads beyond the last are left out."""
    by_lead: dict[tuple[int, int], list[Outcome]] = {lead: [] for lead in LEADS_S}
    for outcome in outcomes:
        lead = next((lead for lead in LEADS_S if lead[0] <= outcome.lead_s < lead[1]), None)
        if lead is not None:
            by_lead[lead].append(outcome)
    return tuple(_row(*lead, rows) for lead, rows in by_lead.items())


def calibrations(outcomes: Iterable[Outcome]) -> tuple[Calibration, ...]:
    """What the leads teach that have seen enough."""
    return taught(accuracy(outcomes))


def taught(rows: Iterable[Accuracy]) -> tuple[Calibration, ...]:
    """The rows that have seen enough, as the planner takes them."""
    return tuple(
        Calibration(row.lead_from_s, row.lead_to_s, row.seen, row.early_s, row.late_s, row.ranged, row.hit_permille)
        for row in rows
        if row.early_s is not None and row.late_s is not None
    )


def nearest_rank(ordered: Sequence[int], percent: int) -> int:
    """The percentile of values in rising order by nearest rank. Raises IndexError if there are none."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def histories_of(store: Store, told: Told, plan: Plan) -> Mapping[str, tuple[int, tuple[ReasonRecord, ...]]]:
    """Of the tasks that the plan starts and that were told anything: their planned version, and what they were told."""
    starts = [start for start in plan.starts if start.task in told]
    return {start.task: (start.task_version, store.reasons_of(start.task, MOST_RECORDS)) for start in starts}


def scored(
    intents: Change, histories: Mapping[str, tuple[int, tuple[ReasonRecord, ...]]], now: datetime
) -> tuple[Outcome, ...]:
    """The outcomes of the tasks that really get a run now."""
    started = [run.task for run in intents.puts if isinstance(run, Run) and run.task in histories]
    return tuple(outcome for task in started for outcome in outcomes_of(histories[task][1], histories[task][0], now))


class PromiseScores:
    """The outcomes in memory, and what they say; told anew once for each policy step at most."""

    def __init__(self, store: Store) -> None:
        self._outcomes = deque(reversed(store.outcomes(OUTCOMES_KEPT)), maxlen=OUTCOMES_KEPT)
        self._step: int | None = None
        self._moved = True
        self._rows: tuple[Accuracy, ...] = ()

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """These were written."""
        self._outcomes.extend(outcomes)
        self._moved |= bool(outcomes)

    def rows(self, step: int) -> tuple[Accuracy, ...]:
        """Accuracy by lead as of this policy step."""
        if self._moved and step != self._step:
            self._rows, self._moved, self._step = accuracy(self._outcomes), False, step
        return self._rows


def _row(low: int, high: int, outcomes: Sequence[Outcome]) -> Accuracy:
    late = sorted(outcome.late_s for outcome in outcomes)
    enough = len(late) >= NEEDED
    ranged = [outcome.within for outcome in outcomes if outcome.within is not None]
    return Accuracy(
        lead_from_s=low,
        lead_to_s=high,
        seen=len(late),
        early_s=nearest_rank(late, 10) if enough else None,
        late_s=nearest_rank(late, 90) if enough else None,
        ranged=len(ranged),
        hit_permille=sum(ranged) * 1000 // len(ranged) if ranged else None,
    )


def _within(record: ReasonRecord, started_at: datetime) -> bool | None:
    """Whether the told range held the start, to the minute that people read; None if no range was told."""
    if record.start_from is None or record.promise is None:
        return None
    return record.start_from - MINUTE < started_at < record.promise.start_by + MINUTE
