"""In order, each open task takes its spot: as promised, else its earliest start. Then all move up where they can."""

from __future__ import annotations

from datetime import timedelta

from paika.domain.policy import PreemptFor
from paika.domain.task import TIER_RANK, Tier
from paika.domain.units import EPOCH
from paika.planning.cases import Book, Case, least_parts, may_borrow
from paika.planning.house import GroupKey
from paika.planning.keep import make_room, make_way, seat, slip_of, unseat
from paika.planning.place import Search, Spot, Want
from paika.planning.timeline import NEVER, lowest

MOST_ROUNDS = 8


def place(book: Book, case: Case) -> None:
    """Give an open task its spot, if one may be held for it or starts now."""
    want = case.want
    assert want is not None
    if case.task.id in book.kept:
        _keep_or_better(book, case, want)
        return
    case.slip = slip_of(book, case, want)
    if want.limits:
        case.limited_ahead = _limited_by(book.firm, case, want)
    before = case.before = _may_hold_until(book, case)
    spot = best_spot(book, book.firm, case, book.now, before)
    if spot is not None and spot.start <= book.now and _was_freed(book, want, spot):
        _lift_all(book, case.rank)  # what lifting freed is for those ahead first
        spot = best_spot(book, book.firm, case, book.now, before)
    spot = _reclaimed(book, case, want, spot)
    if spot is None and may_borrow(case.task, book.policy):
        spot = _borrowed(book, case, want)
    if spot is not None:
        _seat(book, case, spot)
    elif before >= NEVER:
        _hold_for_unknown_end(book, case)
    if spot is None:
        case.tried = book.search.news


def _was_freed(book: Book, want: Want, spot: Spot) -> bool:
    """Whether the spot may be one that lifting made possible, and that those ahead were not offered yet."""
    return book.lifted and book.search.touched(spot, want.limits, book.offered)


def _keep_or_better(book: Book, case: Case, want: Want) -> None:
    """A promised task takes an earlier start beside all who were promised one, else the promised one."""
    case.kept = True
    spot = book.kept[case.task.id]
    better = _reclaimed(book, case, want, spot)
    if better is not spot and better is not None:
        unseat(book.search, case, book.kept.pop(case.task.id))
        _seat(book, case, better)
        return
    case.spot = spot
    if spot.start > book.now:
        book.held_ahead[case.task.tier] = book.held_ahead.get(case.task.tier, 0) + 1
        _lift(book, case)
    del book.kept[case.task.id]
    if book.firm is not book.search:
        seat(book.firm, case, case.spot)


def _seat(book: Book, case: Case, spot: Spot) -> None:
    assert case.want is not None
    case.spot = spot
    make_way(book, case, spot.masks, spot.start, min(NEVER, spot.start + case.want.times.occupies_s))
    make_room(book, case, spot)
    for search in book.searches:
        seat(search, case, spot)
    if spot.start > book.now:
        book.held_ahead[case.task.tier] = book.held_ahead.get(case.task.tier, 0) + 1


def _limited_by(search: Search, case: Case, want: Want) -> str:
    """The ceiling that leaves no room for the whole of a run from now on."""
    least = least_parts(case.verdict.fits)
    for limit in want.limits:
        if search.draft.room_from((limit,), least, want.times.occupies_s, search.draft.now) > search.draft.now:
            return limit[0]
    return ""


def _may_hold_until(book: Book, case: Case) -> int:
    """Core tasks hold a place however far away; others up to the policy's depth and inside the exact horizon."""
    tier, policy = case.task.tier, book.policy
    if tier is Tier.CORE:
        return NEVER
    depth = policy.normal_depth if tier is Tier.NORMAL else policy.idle_depth
    if depth is not None and book.held_ahead.get(tier, 0) >= depth:
        return book.now + 1
    return book.horizon


def best_spot(book: Book, search: Search, case: Case, after: int, before: int = NEVER) -> Spot | None:
    """Earliest start, least waste first; a bigger card only where the rules allow it."""
    assert case.want is not None
    best: Spot | None = None
    least, peers = case.verdict.fits[0].waste, _peers(book, case)
    for fit in case.verdict.fits:
        start = after
        if fit.waste > least and fit.group.key in peers:
            start = max(after, _oversize_from(book, case, peers[fit.group.key]))
        limit = before if best is None else min(before, best.start)
        if start >= limit:
            continue
        spot = search.earliest(case.want, fit, start, limit)
        if spot is not None and (best is None or spot.start < best.start):
            best = spot
    return best


def _peers(book: Book, case: Case) -> dict[GroupKey, list[str]]:
    """Tasks of the same tier and points, by the cards that fit them best."""
    return book.wanted.get((TIER_RANK[case.task.tier], case.terms.total), {})


def _oversize_from(book: Book, case: Case, peers: list[str]) -> int:
    """From when on cards bigger than needed may be taken that peers need."""
    allowed = case.task.submitted_at + timedelta(seconds=book.policy.oversize_after_s)
    case.kept_until = max(case.kept_until, int((allowed - EPOCH).total_seconds()))
    case.kept_for = tuple(peers[:5])
    return case.kept_until


# -- reclaiming and borrowing ----------------------------------------------------------------------


def _reclaimed(book: Book, case: Case, want: Want, plain: Spot | None) -> Spot | None:
    """Stop others for an entitled task, or for a core task if the policy says so and it gains more than is lost."""
    policy = book.policy
    if (plain is not None and plain.start <= book.now) or case.freed_by or policy.preempt_for is PreemptFor.NOBODY:
        return plain
    if case.entitled is None and (policy.preempt_for is not PreemptFor.CORE or case.task.tier is not Tier.CORE):
        return plain
    found = book.victims.reclaim(want, case.verdict.fits, idle_only=case.entitled is None)
    if found is None or (plain is not None and plain.start <= found.spot.start):
        return plain
    if case.entitled is None and plain is not None:
        gained = (plain.start - found.spot.start) * case.task.demand.cards
        if gained <= found.lost_card_s:
            return plain
    book.victims.choose(book.searches, case.task, found)
    book.lifted = True
    case.reclaim = found
    return found.spot


def _borrowed(book: Book, case: Case, want: Want) -> Spot | None:
    """A start now on idle cards, beside the team's ceiling; the person's cap stays."""
    limits = tuple(limit for limit in want.limits if limit[0] != "team")
    if limits == want.limits:
        return None
    free = book.search.wants.make(want.demand, want.times, want.key, limits)
    case.want = free
    spot = best_spot(book, book.firm, case, book.now, book.now + 1)
    case.borrowed = spot is not None
    case.want = free if spot is not None else want
    return spot


def _hold_for_unknown_end(book: Book, case: Case) -> None:
    """A core task whose start nobody can tell keeps the free cards it would use, so that it is not starved."""
    task, draft, want = case.task, book.firm.draft, case.want
    assert want is not None
    if not book.policy.hold_for_unknown_end or task.demand.share is not None:
        return
    fit = case.verdict.fits[0]
    if not book.firm.room_at(want, fit, draft.now):
        return  # over its ceiling it holds nothing
    free = sorted(
        ((draft.lines[p.node].of(want.key).free_at(draft.now) & p.ready, p.node) for p in fit.group.places),
        key=lambda found: (-found[0].bit_count(), found[1]),
    )
    for mask, node in free[: task.demand.nodes]:
        keep = lowest(mask, task.demand.cards_per_node)
        if keep:
            make_way(book, case, ((node, keep),), book.now, NEVER)
            for search in book.searches:
                search.draft.keep(task, node, keep)


# -- moving up -------------------------------------------------------------------------------------


def compress(book: Book) -> None:
    """Move tasks to earlier starts that lifting and stopping made possible, those ahead first.

    Who was promised a start moves while everybody else stays; who was not is placed once more, in the order.
    """
    book.firm = book.search
    if not book.lifted:
        return
    for case in book.cases:
        if case.open and not case.kept and _may_move_up(book, case):
            assert case.spot is not None
            unseat(book.search, case, case.spot)
            book.held_ahead[case.task.tier] -= 1
            case.spot, case.tried = None, -1
    for case in book.cases:
        _offer(book, case)
    _lift_all(book, len(book.cases) + 1)


def _may_move_up(book: Book, case: Case) -> bool:
    return case.spot is not None and case.spot.start > book.now and case.reclaim is None


def _lift_all(book: Book, before_rank: int) -> None:
    """Offer those ahead of a rank what was freed, until nobody moves."""
    for _ in range(MOST_ROUNDS):
        book.lifted, book.offered = False, book.search.news
        for case in book.cases[: before_rank - 1]:
            _offer(book, case)
        if not book.lifted:
            return


def _offer(book: Book, case: Case) -> None:
    """A task takes an earlier start, or one at all, if there is one beside all the others."""
    old = case.spot
    if case.open and old is None:
        _try_again(book, case)
    elif _may_move_up(book, case) and _lift(book, case) and book.firm is not book.search:
        assert old is not None
        assert case.spot is not None
        unseat(book.firm, case, old)
        seat(book.firm, case, case.spot)


def _try_again(book: Book, case: Case) -> None:
    """A task without a spot may find one now."""
    search, want = book.search, case.want
    assert want is not None
    tried, case.tried = case.tried, search.news
    if tried == search.news:
        return
    kept = search.draft.let_go(case.task)
    if kept:
        for other in book.searches:
            if other is not search:
                other.draft.let_go(case.task)
            other.freed([node for node, _ in kept], book.now)
    spot = best_spot(book, search, case, book.now, case.before)
    if spot is not None:
        _seat(book, case, spot)
        return
    for other in book.searches:
        for node, mask in kept:
            other.draft.keep(case.task, node, mask)


def _lift(book: Book, case: Case) -> bool:
    """Move a task to an earlier start, if there is one beside all the others."""
    search, old, want = book.search, case.spot, case.want
    assert old is not None
    assert want is not None
    tried, case.tried = case.tried, search.news
    if tried >= 0 and not _worth_a_try(book, case, old, tried):
        return False
    end = min(NEVER, old.start + want.times.occupies_s)
    search.draft.charge(want.limits, -old.fit.parts, old.start, end)  # it is not in its own way
    if want.limits:
        case.limited_ahead = _limited_by(search, case, want)
    better = best_spot(book, search, case, book.now, old.start)
    search.draft.unseat(case.task, 0, ())
    nodes = [node for node, _ in old.masks]
    if want.demand.nodes > 1:
        search.freed(nodes, old.start, want.limits)
    after = book.now
    if old.fit.waste > case.verdict.fits[0].waste and old.fit.group.key in (peers := _peers(book, case)):
        after = max(after, _oversize_from(book, case, peers[old.fit.group.key]))
    better = search.earlier_there(want, old.fit, old.masks, after, better.start if better else old.start) or better
    seat(search, case, better or old)
    if better is not None and want.demand.nodes == 1:
        search.freed(nodes, old.start, want.limits)
    case.tried = search.news
    if better is None:
        return False
    case.spot = better
    if better.start <= book.now:
        book.held_ahead[case.task.tier] -= 1
    book.lifted = True
    return True


def _worth_a_try(book: Book, case: Case, old: Spot, tried: int) -> bool:
    """A quick look at what was given back since it was last tried."""
    search, want = book.search, case.want
    assert want is not None
    if tried == search.news:
        return False
    if search.may_help(want, case.verdict.fits, old, tried):
        return True
    return best_spot(book, search, case, book.now, old.start) is not None
