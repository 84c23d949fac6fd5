"""plan(snapshot, policy, now) -> Plan: who starts now on which cards, and why everybody else waits.

Pure: no clock, no chance, no I/O. Same arguments, same plan, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from paika.domain.plan import Forecast, Plan, PriorityTerms, Start, Wait
from paika.domain.policy import Policy
from paika.domain.reason import Reason
from paika.domain.snapshot import Snapshot
from paika.domain.task import TIER_RANK, Task, Tier
from paika.domain.units import EPOCH
from paika.planning import gates
from paika.planning.draft import Draft
from paika.planning.explain import Explainer
from paika.planning.feasible import Fit, Verdict, over_quota, verdict
from paika.planning.order import ranked, step_at
from paika.planning.place import Search, Spot, Times, times_of
from paika.planning.timeline import NEVER, lowest


@dataclass(slots=True)
class _Case:
    """One task on its way through the plan."""

    task: Task
    rank: int
    terms: PriorityTerms
    gates: tuple[Reason, ...]
    verdict: Verdict
    spot: Spot | None = None
    kept_until: int = 0  # bigger cards only from here on
    kept_for: tuple[str, ...] = ()
    quota_ahead: bool = False  # under its ceiling now, but not for its whole time, as tasks ahead are promised it
    parked: tuple[Reason, ...] = ()


@dataclass(slots=True)
class _Book:
    """What the steps share."""

    draft: Draft
    search: Search
    policy: Policy
    cases: list[_Case] = field(default_factory=list)
    wanted: dict[tuple[int, int], dict[tuple[str, int], list[str]]] = field(default_factory=dict)


def plan(snapshot: Snapshot, policy: Policy, now: datetime) -> Plan:
    """Decide who starts, and tell everyone else why not."""
    draft = Draft(snapshot, policy, now)
    book = _Book(draft, Search(draft), policy)

    # 1. Order: tier, effective priority, submit time, id; a parent goes as early as its most urgent child.
    order, terms, tiers = ranked(snapshot.tasks, policy, now)

    # 2. Gates and what can ever fit, for every task.
    _open_cases(book, snapshot, order, terms, tiers)

    # 3. In order, each task that passed takes its earliest spot: now, or promised later.
    for case in book.cases:
        if not case.gates and not case.parked:
            _place(book, case)

    # 4. Who waits behind a dated gate gets a forecast that holds nothing.
    shadows = {case.task.id: _shadow(book, case) for case in book.cases if case.gates and not case.parked}

    # 5. Freeze, and say why.
    return _freeze(book, snapshot, shadows)


def _open_cases(
    book: _Book,
    snapshot: Snapshot,
    order: tuple[Task, ...],
    terms: dict[str, PriorityTerms],
    tiers: dict[str, int],
) -> None:
    look = gates.Lookup(
        {d.id: d for d in snapshot.datasets}, {p.id: p for p in snapshot.people}, {t.id: t for t in snapshot.teams}
    )
    speeds = {(s.task_kind, s.card_type): s.speed_milli for s in snapshot.speeds}
    known: dict[tuple[object, ...], Verdict] = {}
    for rank, task in enumerate(order, start=1):
        shape = (task.demand, task.kind)
        if shape not in known:
            known[shape] = verdict(task.demand, task.kind, book.draft.house, speeds, book.policy)
        case = _Case(task, rank, terms[task.id], gates.shut(task, look, book.draft.at), known[shape])
        case.parked = case.verdict.parked or _quota_park(book, task, case.verdict.fits)
        book.cases.append(case)
        if not case.gates and not case.parked:
            peers = book.wanted.setdefault((tiers[task.id], case.terms.total), {})
            peers.setdefault(case.verdict.fits[0].group.key, []).append(task.id)


def _quota_park(book: _Book, task: Task, fits: tuple[Fit, ...]) -> tuple[Reason, ...]:
    least = min(fit.parts for fit in fits)
    return over_quota(least, task.team, book.draft.ceilings.get(task.team))


def _place(book: _Book, case: _Case) -> None:
    """Take the earliest spot, least waste first; a bigger card only where the rules allow it."""
    task, times = case.task, times_of(case.task, book.policy)
    team = book.draft.teams.get(task.team)
    if team is not None:
        least = min(fit.parts for fit in case.verdict.fits)
        case.quota_ahead = team.earliest(least, times.occupies_s, book.draft.now) > book.draft.now
    case.spot = _best_spot(book, case, times, book.draft.now)
    if case.spot is None:
        _hold_for_unknown_end(book, case)
        return
    end = min(NEVER, case.spot.start + times.occupies_s)
    book.draft.place(task, case.spot.masks, case.spot.start, end, case.spot.fit.parts)


def _best_spot(book: _Book, case: _Case, times: Times, after: int) -> Spot | None:
    best: Spot | None = None
    for i, fit in enumerate(case.verdict.fits):
        start = after if i == 0 else max(after, _oversize_from(book, case, fit))
        if best is not None and best.start <= start:
            continue
        spot = book.search.earliest(case.task, fit, times, start, best.start if best else NEVER)
        if spot is not None and (best is None or spot.start < best.start):
            best = spot
    return best


def _oversize_from(book: _Book, case: _Case, fit: Fit) -> int:
    """From when on a bigger card may be taken: at once, unless peers need just that card."""
    if fit.waste <= case.verdict.fits[0].waste:
        return 0
    tier = TIER_RANK[case.task.tier]
    peers = book.wanted.get((tier, case.terms.total), {}).get(fit.group.key, [])
    if not peers:
        return 0
    allowed = case.task.submitted_at + timedelta(seconds=book.policy.oversize_after_s)
    case.kept_until = max(case.kept_until, int((allowed - EPOCH).total_seconds()))
    case.kept_for = tuple(peers[:5])
    return case.kept_until


def _hold_for_unknown_end(book: _Book, case: _Case) -> None:
    """A core task whose start nobody can tell keeps the free cards it would use, so that it is not starved."""
    task, draft = case.task, book.draft
    if not book.policy.hold_for_unknown_end or task.tier is not Tier.CORE or task.demand.share is not None:
        return
    fit, team = case.verdict.fits[0], draft.teams.get(task.team)
    if team is not None and team.earliest(fit.parts, times_of(task, book.policy).occupies_s, draft.now) > draft.now:
        return  # over its quota it holds nothing
    group = fit.group
    free = sorted(
        ((draft.lines[p.node].free_at(draft.now) & p.ready, p.node) for p in group.places),
        key=lambda found: (-found[0].bit_count(), found[1]),
    )
    for mask, node in free[: task.demand.nodes]:
        keep = lowest(mask, task.demand.cards_per_node)
        if keep:
            draft.keep(task, node, keep)


def _shadow(book: _Book, case: _Case) -> Spot | None:
    """When a task behind a dated gate could start; it holds nothing, so lower ranks may come before."""
    opens = gates.opens_at(case.gates)
    if opens is None:
        return None
    return _best_spot(
        book, case, times_of(case.task, book.policy), max(book.draft.now, int((opens - EPOCH).total_seconds()) + 1)
    )


def _freeze(book: _Book, snapshot: Snapshot, shadows: dict[str, Spot | None]) -> Plan:
    starts: list[Start] = []
    waits: list[Wait] = []
    explainer = Explainer(book.draft, {case.task.id: case.rank for case in book.cases})
    for case in book.cases:
        if case.spot is not None and case.spot.start <= book.draft.now:
            starts.append(_start(book, case, case.spot))
            continue
        spot = case.spot or shadows.get(case.task.id)
        reasons = case.gates + case.parked
        if not reasons:
            kept = (case.kept_for, case.kept_until) if case.kept_for else None
            reasons = explainer.why(case.task, case.verdict.fits, case.spot, kept, case.quota_ahead)
        explainer.passed(case.task)
        forecast = None if spot is None or case.parked else _forecast(book, spot)
        waits.append(Wait(case.task.id, case.rank, case.terms, reasons, forecast, bool(case.parked)))
    looks = _next_look(book, snapshot)
    return Plan(snapshot.version, book.policy.version, book.draft.at, tuple(starts), tuple(waits), looks)


def _start(book: _Book, case: _Case, spot: Spot) -> Start:
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
    )


def _forecast(book: _Book, spot: Spot) -> Forecast:
    by_limits = all(
        who.by_limit
        for part in book.draft.parts_on(spot.masks)
        for card in part.cards
        for who in book.draft.occupants.get(card, ())
    )
    return Forecast(EPOCH + timedelta(seconds=spot.start), book.draft.parts_on(spot.masks), by_limits)


def _next_look(book: _Book, snapshot: Snapshot) -> datetime | None:
    """The next instant at which time alone may change the plan."""
    now = book.draft.at
    dates = [at for task in snapshot.tasks for at in (task.not_before, task.retry_at) if at is not None and at > now]
    if snapshot.tasks:
        dates.append(EPOCH + timedelta(seconds=step_at(book.policy, now) + book.policy.step_s))
    dates += [EPOCH + timedelta(seconds=c.kept_until) for c in book.cases if c.kept_until > book.draft.now]
    return min(dates, default=None)
