"""The plan in words of the domain: starts, stops, and for everybody else when and why not yet."""

from __future__ import annotations

from datetime import datetime, timedelta

from paika.domain.plan import Forecast, Plan, Start, Wait
from paika.domain.reason import (
    BeingFreed,
    CardsBusy,
    FloorUnmet,
    LeaseEnds,
    PromiseWithdrawn,
    QuotaFull,
    QuotaPromised,
    Reason,
    Reserved,
)
from paika.domain.units import EPOCH
from paika.planning.cases import Book, Case
from paika.planning.explain import Explainer
from paika.planning.forecast import ranged, rough_forecast
from paika.planning.house import run_end
from paika.planning.keep import later
from paika.planning.order import step_at
from paika.planning.place import Spot
from paika.planning.timeline import NEVER


def tell(book: Book) -> Plan:
    """Starts, stops and waits in rank order. Figures in reasons hold after this plan's own starts."""
    starts: list[Start] = []
    waits: list[Wait] = []
    for case in book.cases:
        if case.spot is not None and case.open:
            book.draft.settle(case.task, case.spot.fit.parts if case.holds and not case.borrowed else 0)
    started = [case.task for case in book.cases if _starts_now(book, case)]
    ranks = {case.task.id: case.rank for case in book.cases}
    kept = frozenset(case.task.id for case in book.cases if case.kept)
    explainer = Explainer(book.draft, ranks, kept, started)
    for case in book.cases:
        if case.kept:
            explainer.ahead.note(book.draft.spans.get(case.task.id, ()), now_too=True)
    for case in book.cases:
        if case.open and case.spot is not None and case.spot.start <= book.now:
            starts.append(_start(case, case.spot, book))
        else:
            waits.append(_wait(book, case, explainer))
        if case.open:
            explainer.passed(case.task, case.holds)
    stops = book.victims.stops()
    looks = _next_look(book)
    at = book.draft.at
    return Plan(book.snapshot.version, book.policy.version, at, tuple(starts), tuple(waits), looks, stops)


def _starts_now(book: Book, case: Case) -> bool:
    return case.open and case.spot is not None and case.spot.start <= book.now


def _start(case: Case, spot: Spot, book: Book) -> Start:
    passed = tuple(dict.fromkeys(fit.group.type.id for fit in case.verdict.fits if fit.waste < spot.fit.waste))
    return Start(
        task=case.task.id,
        task_version=case.task.version,
        parts=book.draft.parts_on(spot.masks),
        parts_held=spot.fit.parts,
        card_type=spot.fit.group.type.id,
        oversized=spot.fit.waste > case.verdict.fits[0].waste,
        rank=case.rank,
        types_passed_over=passed,
        borrowed=case.borrowed,
    )


def _wait(book: Book, case: Case, explainer: Explainer) -> Wait:
    reasons = case.gates + case.parked
    if not reasons:
        reasons = explainer.why(case)
        reasons = (*_freeing(book, case), *reasons)
        if case.entitled is not None:
            reasons = (_floor(case, reasons), *reasons)
    told = _forecast(book, case)
    if told is None and case.slip is not None and not case.parked:
        reasons = (*reasons, PromiseWithdrawn(case.slip.was, case.slip.cause, case.slip.subject))
    return Wait(case.task.id, case.rank, case.terms, reasons, told, bool(case.parked))


def _freeing(book: Book, case: Case) -> list[Reason]:
    """Runs that stop for it: those of this plan, or those that were told before."""
    runs = case.reclaim.victims if case.reclaim else case.freed_by
    if not runs:
        return []
    if case.reclaim:
        until = max(book.now + run.grace_s for run in runs)
    else:
        until = max(run_end(run, book.now)[0] for run in runs)
    return [BeingFreed(tuple(run.id for run in runs), book.draft.date(until))]


def _floor(case: Case, reasons: tuple[Reason, ...]) -> FloorUnmet:
    """Why a core task under its team's floor does not start at once."""
    assert case.entitled is not None
    guarantee = case.entitled.guarantee
    because = "capacity"
    kinds: list[tuple[type[Reason] | tuple[type[Reason], ...], str]] = [
        (BeingFreed, "being_freed"),
        ((QuotaFull, QuotaPromised), "quota"),
        (Reserved, "reservation"),
        (LeaseEnds, "lease"),
    ]
    for kind, word in kinds:
        if any(isinstance(reason, kind) for reason in reasons):
            because = word
            break
    else:
        if any(isinstance(reason, CardsBusy) and reason.free >= reason.need for reason in reasons):
            because = "node_fit"
    return FloorUnmet(guarantee.team, guarantee.cards, case.entitled.held_cards, because)


def _forecast(book: Book, case: Case) -> Forecast | None:
    if case.parked:
        return None
    if case.spot is None:
        return None if case.rough_at is None else rough_forecast(book, case, case.rough_at)
    if case.spot.start > book.horizon:
        return rough_forecast(book, case, case.spot.start)
    parts = book.draft.parts_on(case.spot.masks)
    by_limits = all(who.by_limit for part in parts for card in part.cards for who in book.draft.occupants.get(card, ()))
    start_by = EPOCH + timedelta(seconds=case.spot.start)
    latest = None if case.at_latest is None else book.draft.date(case.at_latest)
    told = Forecast(start_by, parts, by_limits, holds=case.holds, slip=later(case.slip, case.spot), at_latest=latest)
    return ranged(told, book.draft.at, book.snapshot.calibrations)


def _next_look(book: Book) -> datetime | None:
    """The next instant at which time alone may change the plan."""
    now, policy = book.draft.at, book.policy
    dates = [at for c in book.cases for at in (c.task.not_before, c.task.retry_at) if at is not None and at > now]
    if book.cases:
        dates.append(EPOCH + timedelta(seconds=step_at(policy, now) + policy.step_s))
    dates += [EPOCH + timedelta(seconds=c.kept_until) for c in book.cases if c.kept_until > book.now]
    dates += [at for r in book.snapshot.reservations for at in (r.starts_at, r.ends_at) if at > now]
    due = [c.spot.start for c in book.cases if c.open and c.spot is not None and book.now < c.spot.start < NEVER]
    dates += [EPOCH + timedelta(seconds=min(due))] if due else []
    return min(dates, default=None)
