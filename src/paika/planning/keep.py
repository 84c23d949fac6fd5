"""Promises are kept: who was told a start gets it again, and is moved only to an earlier one, or for a stated cause."""

from __future__ import annotations

from datetime import timedelta

from paika.domain.promise import Promise, Slip
from paika.domain.units import EPOCH
from paika.planning.cases import Book, Case, promised_start
from paika.planning.draft import Masks
from paika.planning.entitle import first_under_all
from paika.planning.feasible import Fit
from paika.planning.place import Spot, Want, masks_of
from paika.planning.timeline import NEVER

MOST_ROUNDS = 8


def as_promised(book: Book, case: Case, want: Want) -> Spot | None:
    """The promised spot if it still lies ahead and all of it may be had; those before in rank are seated already."""
    promise = book.promised.get(case.task.id)
    if promise is None or promise.task_version != case.task.version or case.terms.standing > promise.standing:
        return None
    start = promised_start(promise)
    masks = masks_of(book.draft, [part.cards for part in promise.parts])
    if start <= book.now or masks is None:
        return None
    fit = _fit_of(case, masks)
    if fit is None or not book.search.fits_at(want, fit, masks, start):
        return None
    return Spot(start, masks, fit)


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
    draft, start = book.draft, max(book.now, promised_start(promise))
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
    if want.limits and first_under_all(want.limits, fit.parts, want.times.occupies_s, start) > start:
        return "quota", case.task.team
    return "unknown", ""


def later(slip: Slip | None, spot: Spot | None) -> Slip | None:
    """The slip, if the new start is later than the promised one or none is known at all."""
    if slip is None or (spot is not None and EPOCH + timedelta(seconds=spot.start) <= slip.was):
        return None
    return slip


def _stays(book: Book, cards: list[str], at: int, sharing: bool) -> str:
    """A run (or else a card that an outsider is on) that is there beyond `at`; "" if there is none."""
    runs = book.draft.runs
    for card in cards:
        for who in book.draft.occupants.get(card, ()):
            shares = who.run is not None and runs[who.run].share is not None
            if who.until > at and shares is sharing:
                return who.run or card
    return ""


def _higher(book: Book, masks: Masks, start: int, end: int) -> list[str]:
    """Tasks placed so far that are to have some of the cards in that time, or keep them for an unknown start."""
    found: list[str] = []
    for task, spans in book.draft.spans.items():
        for span in spans:
            then = span.start >= NEVER or (span.start < end and span.end > start)
            if then and any(node == span.node and mask & span.mask for node, mask in masks):
                found.append(task)
                break
    return found
