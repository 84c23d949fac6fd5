"""What if: the same plan on an edited snapshot. The cheapest change that would start a task is really planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from paika.domain.card import ExternalUse
from paika.domain.dataset import Readiness
from paika.domain.plan import Plan
from paika.domain.quota import Quota
from paika.domain.reason import (
    CardsBusy,
    DataNotReady,
    LeaseEnds,
    PromisedAhead,
    QuotaFull,
    QuotaTooSmall,
    Reason,
    ShareRoom,
    VramTooSmall,
)
from paika.domain.records import Records
from paika.domain.snapshot import Snapshot
from paika.domain.task import Demand, Task
from paika.domain.units import PARTS_PER_CARD, whole_seconds
from paika.planning.order import ranked
from paika.planning.planner import plan
from paika.services.take_snapshot import take_snapshot

MOST_TRIED = 8


@dataclass(frozen=True, slots=True)
class Unblock:
    """One change that helps: `change` names it (a word key `unblock.<change>`), `value` is what it would be set to.

    `starts_now` says that the task would start at once, else `start_by` tells by when.
    """

    change: str
    value: int | str | None
    starts_now: bool
    start_by: datetime | None


@dataclass(frozen=True, slots=True)
class _Try:
    change: str
    value: int | str | None
    snapshot: Snapshot


def cheapest_unblock(
    records: Records, external: Mapping[str, ExternalUse], task_id: str, now: datetime
) -> tuple[Unblock, ...]:
    """Single changes that would start a queued task now or sooner, those that start it now first, cheapest first.

    Each is planned for real beside everybody ahead of the task; () if none helps or the task is not queued.
    """
    whole = take_snapshot(records, external, now)
    task = next((t for t in whole.tasks if t.id == task_id), None)
    if task is None:
        return ()
    snapshot = _only_ahead(whole, task, records, now)
    before = _answer(plan(snapshot, records.policy, now), task_id)
    if before.starts_now:
        return ()
    found: list[Unblock] = []
    tries = [t for _, t in zip(range(MOST_TRIED), _tries(snapshot, task, before.reasons, now), strict=False)]
    for attempt in tries:
        if any(way.change == attempt.change and way.starts_now for way in found):
            continue  # a smaller step of the same kind already does
        after = _answer(plan(attempt.snapshot, records.policy, now), task_id)
        sooner = after.start_by is not None and (before.start_by is None or after.start_by < before.start_by)
        if after.starts_now or sooner:
            found.append(Unblock(attempt.change, attempt.value, after.starts_now, after.start_by))
    return tuple(sorted(found, key=lambda u: not u.starts_now))


@dataclass(frozen=True, slots=True)
class _Answer:
    starts_now: bool
    start_by: datetime | None
    reasons: tuple[Reason, ...]


def _answer(made: Plan, task_id: str) -> _Answer:
    if any(start.task == task_id for start in made.starts):
        return _Answer(True, None, ())
    wait = next(w for w in made.waits if w.task == task_id)
    return _Answer(False, wait.forecast.start_by if wait.forecast else None, wait.reasons)


def _only_ahead(whole: Snapshot, task: Task, records: Records, now: datetime) -> Snapshot:
    """Lower ranks cannot change what happens to the task, so they need not be planned."""
    order, _, _ = ranked(whole.tasks, records.policy, now)
    place = next(i for i, other in enumerate(order) if other.id == task.id)
    return replace(whole, tasks=order[: place + 1])


def _tries(snapshot: Snapshot, task: Task, reasons: tuple[Reason, ...], now: datetime) -> Iterator[_Try]:
    data = [r for r in reasons if isinstance(r, DataNotReady)]
    if data:
        names = {r.dataset for r in data}
        ready = tuple(replace(d, readiness=Readiness.READY) if d.id in names else d for d in snapshot.datasets)
        yield _Try("ready_data", ", ".join(sorted(names)), replace(snapshot, datasets=ready))
        return
    for reason in reasons:
        yield from _for_reason(snapshot, task, reason, now)
    demand = task.demand
    if demand.types:
        yield _demand(snapshot, task, "any_type", None, replace(demand, types=(), asked_types=""))
    if demand.share is None and demand.nodes == 1 and demand.cards > 1:
        yield _demand(snapshot, task, "fewer_cards", demand.cards // 2, replace(demand, cards=demand.cards // 2))


def _for_reason(snapshot: Snapshot, task: Task, reason: Reason, now: datetime) -> Iterator[_Try]:
    demand = task.demand
    match reason:
        case CardsBusy() if demand.nodes == 1 and 0 < reason.best_free < demand.cards:
            fewer = replace(demand, cards=reason.best_free)
            yield _demand(snapshot, task, "fewer_cards", reason.best_free, fewer)
        case CardsBusy() if demand.vram_mib:
            for vram in _smaller_vram(snapshot, demand):
                yield _demand(snapshot, task, "less_vram", vram, replace(demand, vram_mib=vram))
        case PromisedAhead() if reason.limit_would_fit_s and reason.limit_would_fit_s < (task.limit_s or 1 << 60):
            yield _limit(snapshot, task, _on_grid(reason.limit_would_fit_s))
        case LeaseEnds() if whole_seconds(now, reason.ends_at) > 0:
            yield _limit(snapshot, task, _on_grid(whole_seconds(now, reason.ends_at)))
        case QuotaFull() | QuotaTooSmall():
            held = reason.held_parts if isinstance(reason, QuotaFull) else 0
            cards = -(-(held + reason.need_parts) // PARTS_PER_CARD)
            quotas = tuple(Quota(q.team, cards) if q.team == task.team else q for q in snapshot.quotas)
            yield _Try("more_quota", cards, replace(snapshot, quotas=quotas))
        case VramTooSmall():
            yield _demand(snapshot, task, "less_vram", reason.largest_mib, replace(demand, vram_mib=reason.largest_mib))
        case ShareRoom() if demand.share is not None and 0 < reason.best_free_mib < demand.share.vram_mib:
            share = replace(demand.share, vram_mib=reason.best_free_mib)
            yield _demand(snapshot, task, "smaller_share", reason.best_free_mib, replace(demand, share=share))


def _smaller_vram(snapshot: Snapshot, demand: Demand) -> list[int]:
    """The two next smaller VRAM sizes in the house."""
    sizes = sorted({card.vram_mib for card in snapshot.cards if card.vram_mib < demand.vram_mib}, reverse=True)
    return sizes[:2]


def _on_grid(seconds: int) -> int:
    """A limit that people would write: whole minutes, whole quarters of an hour from two hours on."""
    step = 1 if seconds < 60 else 60 if seconds < 7200 else 900 if seconds < 86_400 else 14_400
    return seconds - seconds % step


def _demand(snapshot: Snapshot, task: Task, change: str, value: int | None, demand: Demand) -> _Try:
    return _Try(change, value, _with(snapshot, replace(task, demand=demand)))


def _limit(snapshot: Snapshot, task: Task, limit_s: int) -> _Try:
    return _Try("shorter_limit", limit_s, _with(snapshot, replace(task, limit_s=limit_s)))


def _with(snapshot: Snapshot, task: Task) -> Snapshot:
    return replace(snapshot, tasks=tuple(task if t.id == task.id else t for t in snapshot.tasks))
