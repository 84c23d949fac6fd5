"""Promises are kept: who was told a start gets it again, and is moved only to an earlier one, or for a stated cause."""

from __future__ import annotations

from datetime import timedelta

from paika.domain.promise import Promise, Slip
from paika.domain.units import EPOCH
from paika.planning.cases import Book, Case, promised_start
from paika.planning.draft import Masks
from paika.planning.feasible import Fit
from paika.planning.place import Search, Spot, Want, masks_of
from paika.planning.timeline import NEVER


def keep_promises(book: Book) -> None:
    """In rank order each task takes what it was promised, if all of it may be had, and keeps it from those behind."""
    for case in book.cases:
        if case.open and case.task.id in book.promised:
            assert case.want is not None
            spot = _as_promised(book, case, case.want)
            if spot is not None:
                seat(book.search, case, spot)
                book.kept[case.task.id] = spot
                for node, _ in spot.masks:
                    book.kept_on.setdefault(node, []).append(case)


def _as_promised(book: Book, case: Case, want: Want) -> Spot | None:
    """The promised spot, now if its time has come, if all of it may be had beside those before in rank."""
    promise = book.promised[case.task.id]
    if promise.task_version != case.task.version or case.terms.standing > promise.standing:
        return None
    start = max(book.now, promised_start(promise))
    masks = masks_of(book.draft, [part.cards for part in promise.parts])
    fit = None if masks is None else _fit_of(case, masks)
    if masks is None or fit is None or not book.search.fits_at(want, fit, masks, start):
        return None
    return Spot(start, masks, fit)


def seat(search: Search, case: Case, spot: Spot) -> None:
    """The task is on its cards in the draft of this search."""
    assert case.want is not None
    end = min(NEVER, spot.start + case.want.times.occupies_s)
    search.draft.seat(case.task, spot.masks, spot.start, end, spot.fit.parts, case.want.limits)


def unseat(search: Search, case: Case, spot: Spot) -> None:
    """The task is off its cards again."""
    assert case.want is not None
    search.draft.unseat(case.task, spot.fit.parts, case.want.limits)
    search.freed((node for node, _ in spot.masks), spot.start, case.want.limits)


def make_way(book: Book, case: Case, masks: Masks, start: int, end: int) -> None:
    """Who is behind in rank and was promised any of this gives it up, the lowest rank first where sharing may do."""
    if not book.kept:
        return
    in_the_way = {
        other.task.id: other
        for node, mask in masks
        for other in book.kept_on.get(node, ())
        if other.task.id in book.kept and _overlap(book.kept[other.task.id], other, node, mask, start, end)
    }
    behind = sorted(in_the_way.values(), key=lambda other: -other.rank)
    for other in behind:
        if case.want is None or case.task.demand.share is None or other.task.demand.share is None:
            _give_up(book, other)
    for other in behind:
        if case.spot is None or other.task.id not in book.kept:
            continue
        assert case.want is not None
        if not book.search.cards_at(case.want, case.spot.fit, masks, start):
            _give_up(book, other)


def make_room(book: Book, case: Case, spot: Spot) -> None:
    """The same under the ceilings of a task: those behind it give up what it needs, the lowest rank first."""
    want = case.want
    assert want is not None
    if not want.limits or not book.kept or book.search.room_at(want, spot.fit, spot.start):
        return
    for other in reversed(book.cases):
        if other.task.id in book.kept and other.want is not None and set(other.want.limits) & set(want.limits):
            if book.search.room_at(want, spot.fit, spot.start):
                return
            _give_up(book, other)


def _overlap(spot: Spot, other: Case, node: int, mask: int, start: int, end: int) -> bool:
    assert other.want is not None
    if spot.start >= end or min(NEVER, spot.start + other.want.times.occupies_s) <= start:
        return False
    return any(there == node and cards & mask for there, cards in spot.masks)


def _give_up(book: Book, case: Case) -> None:
    unseat(book.search, case, book.kept.pop(case.task.id))


def _fit_of(case: Case, masks: Masks) -> Fit | None:
    demand = case.task.demand
    if len(masks) != demand.nodes or any(mask.bit_count() != demand.cards_per_node for _, mask in masks):
        return None
    for fit in case.verdict.fits:
        places = {place.node: place.ready for place in fit.group.places}
        if all(mask & ~places.get(node, 0) == 0 for node, mask in masks):
            return fit
    return None


def slip_of(book: Book, case: Case, want: Want) -> Slip | None:
    """Why a task does not get what it was promised, if that is later now; asked before it is placed anew."""
    promise = book.promised.get(case.task.id)
    if promise is None:
        return None
    if promise.task_version != case.task.version:
        return Slip(promise.start_by, "changed", case.task.id)
    cause, subject = _cause(book, promise, want, case)
    return Slip(promise.start_by, cause, subject)


def _cause(book: Book, promise: Promise, want: Want, case: Case) -> tuple[str, str]:
    draft, start = book.firm.draft, max(book.now, promised_start(promise))
    masks = masks_of(draft, [part.cards for part in promise.parts])
    cards = [card for part in promise.parts for card in part.cards]
    if masks is None:
        return "lost_card", next(card for card in cards if card not in draft.house.at)
    shares = case.task.demand.share is not None
    late = _stays(book, cards, start, sharing=False) or ("" if shares else _stays(book, cards, start, sharing=True))
    if late:
        return "overrun", late
    fit = _fit_of(case, masks)
    if fit is None:
        return "lost_card", cards[0]
    higher = _higher(book, masks, start, start + want.times.occupies_s)
    if shares and all(task in book.promised for task in higher):
        late = _stays(book, cards, start, sharing=True)  # those ahead had their places before
        if late:
            return "overrun", late
    if higher:
        return "higher_rank", higher[0]
    for node, mask in masks:
        for wall in draft.lines[node].walls:
            if wall.mask & mask and wall.end > start and wall.shut_to(want.key):
                return ("reservation", wall.reservation.id) if wall.reservation else ("policy", "headroom")
    if not book.firm.room_at(want, fit, start):
        return "quota", case.task.team
    return "unknown", ""


def later(slip: Slip | None, spot: Spot | None) -> Slip | None:
    """The slip, if the new start is later than the promised one or none is known at all."""
    if slip is None or (spot is not None and EPOCH + timedelta(seconds=spot.start) <= slip.was):
        return None
    return slip


def _stays(book: Book, cards: list[str], at: int, sharing: bool) -> str:
    """A run (or else a card that an outsider is on) that is there beyond `at`; "" if there is none."""
    runs = book.firm.draft.runs
    for card in cards:
        for who in book.firm.draft.occupants.get(card, ()):
            shares = who.run is not None and runs[who.run].share is not None
            if who.until > at and shares is sharing:
                return who.run or card
    return ""


def _higher(book: Book, masks: Masks, start: int, end: int) -> list[str]:
    """Tasks placed so far that are to have some of the cards in that time, or keep them for an unknown start."""
    found: list[str] = []
    for task, spans in book.firm.draft.spans.items():
        for span in spans:
            then = span.start >= NEVER or (span.start < end and span.end > start)
            if then and any(node == span.node and mask & span.mask for node, mask in masks):
                found.append(task)
                break
    return found
