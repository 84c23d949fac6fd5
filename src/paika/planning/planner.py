"""plan(snapshot, policy, now) -> Plan: who starts now on which cards, and why everybody else waits.

Pure: no clock, no chance, no I/O. Same arguments, same plan, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from paika.domain.plan import Plan, PriorityTerms
from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.planning.cases import Book, Case, Peers, freed_runs, judged, least_parts
from paika.planning.density import cap_of, density_of
from paika.planning.draft import Draft
from paika.planning.fairness import fair_points
from paika.planning.floors import entitled
from paika.planning.forecast import look_ahead
from paika.planning.headroom import headroom_walls
from paika.planning.house import house_of
from paika.planning.improve import improved
from paika.planning.keep import keep_promises
from paika.planning.order import ahead_of_all, ranked
from paika.planning.place import Search
from paika.planning.placing import compress, place
from paika.planning.preempt import Victims
from paika.planning.reserve import reserved_walls
from paika.planning.telling import tell


def plan(snapshot: Snapshot, policy: Policy, now: datetime) -> Plan:
    """Decide who starts and who is stopped, and tell everyone else when and why not yet."""
    # 1. Gates and what can ever fit, for every task.
    house = house_of(snapshot)
    cases = judged(snapshot, house, policy, now)

    # 2. How dense the ready work is, which sets the rules of the day.
    ready = [(case.task, least_parts(case.verdict.fits)) for case in cases.values() if case.open]
    density = density_of(ready, house, policy, snapshot.density)

    # 3. Order: tier, effective priority, submit time, id; a parent goes as early as its most urgent child.
    order, peers = _ordered(snapshot, policy, now, cases)

    # 4. Walls: what reservations, maintenance and headroom keep from whom.
    draft = Draft(snapshot, policy, now, house, cap_of(density.level, policy))
    outside = frozenset(use.card for use in snapshot.external)
    draft.add_walls(reserved_walls(snapshot, house, now, draft.now))
    draft.add_walls(headroom_walls(snapshot, house, policy, density.level, draft.now, outside))
    untouched = draft.copy() if policy.improve_rounds else draft

    # 5. What was promised is kept: only somebody new and ahead in the order takes it away again.
    book = _book(snapshot, policy, draft, order, peers)
    book.promised = {promise.task: promise for promise in snapshot.promises}
    if book.promised:
        book.firm = Search(draft.copy(), book.search.wants)
        book.victims.draft = book.firm.draft
        keep_promises(book)

    # 6. In order, each open task takes its earliest spot: now, or held for later. Who was promised one moves up only.
    _place_all(book)
    if policy.improve_rounds:

        def decode(cases: Sequence[Case]) -> Book:
            again = [case.again(rank) for rank, case in enumerate(cases, start=1)]
            return _place_all(_book(snapshot, policy, untouched.copy(), again, peers))

        book = improved(book, decode)

    # 7. Who holds nothing is told when it may start: beyond the depth, beyond the horizon, behind a dated gate.
    look_ahead(book)

    # 8. Freeze, and say why.
    return replace(tell(book), density=density)


def _ordered(snapshot: Snapshot, policy: Policy, now: datetime, cases: dict[str, Case]) -> tuple[list[Case], Peers]:
    """The cases in rank order; inside a tier first those whose cards are being freed, then those under a floor."""
    order, terms, tiers = ranked(snapshot.tasks, policy, now, fair_points(snapshot.teams, snapshot.usage, policy))
    types = {card.id: card.type for card in snapshot.cards}
    open_ones = (
        (task, tuple(fit.group.type.id for fit in cases[task.id].verdict.fits)) for task in order if cases[task.id].open
    )
    floors = entitled(snapshot, open_ones, types)
    freed = {task: runs for task, runs in freed_runs(snapshot).items() if task in cases and cases[task].open}
    if floors or freed:
        order = ahead_of_all(order, tiers, freed, floors)
    found: list[Case] = []
    peers: Peers = {}
    for rank, task in enumerate(order, start=1):
        case = cases[task.id]
        case.rank, case.tier = rank, tiers[task.id]
        case.entitled, case.freed_by = floors.get(task.id), freed.get(task.id, ())
        case.terms = replace(
            terms[task.id], entitled=case.entitled is not None, standing=_standing(case, cases, terms, tiers)
        )
        found.append(case)
        if case.open:
            equals = peers.setdefault((tiers[task.id], case.terms.total), {})
            equals.setdefault(case.verdict.fits[0].group.key, []).append(task.id)
    return found, peers


def _book(snapshot: Snapshot, policy: Policy, draft: Draft, order: list[Case], peers: Peers) -> Book:
    """The cases before anybody is placed, on a draft of their own."""
    search = Search(draft)
    for case in order:
        if case.open:
            case.want = search.wants.of(case.task)
    return Book(
        snapshot=snapshot,
        policy=policy,
        draft=draft,
        search=search,
        firm=search,
        victims=Victims(snapshot, draft, policy),
        cases=order,
        promised={},
        wanted=peers,
    )


def _place_all(book: Book) -> Book:
    for case in book.cases:
        if case.open:
            place(book, case)
    compress(book)
    return book


def _standing(case: Case, cases: dict[str, Case], terms: dict[str, PriorityTerms], tiers: dict[str, int]) -> int:
    """Tier, then floor, then points: its own or its most urgent heir's, without what time adds."""
    task = case.task
    points = task.priority + task.boost
    heir = terms[task.id].lifted_by
    if heir is not None:
        points = max(points, cases[heir].task.priority + cases[heir].task.boost)
    return (2 - tiers[task.id]) * 100_000 + (10_000 if case.entitled or case.freed_by else 0) + points
