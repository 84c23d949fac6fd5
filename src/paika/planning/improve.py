"""A better order inside tiers, if the policy asks for one: the mean wait gets shorter, nobody waits longer than a cap.

Local search over the rank list, with the same placing as decoder. A move is taken only if it lowers the sum of all
starts and makes nobody later than `improve_delay_cap_s` beyond the start that the plain order gives, nor than a
promise says that was made under this rule before. The better order then is the order: ranks are told by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from paika.domain.promise import Slip
from paika.domain.units import EPOCH
from paika.planning.cases import Book, Case
from paika.planning.house import epoch_s
from paika.planning.keep import later

Order = tuple[Case, ...]
Decode = Callable[[Order], Book]


def improved(book: Book, decode: Decode) -> Book:
    """The book of the best order found in the policy's number of tries, or this one."""
    tries = _Tries(book, decode)
    for order in _rough_orders(book):
        tries.take(order)
    while tries.left and _one_round(tries):
        pass
    note_latest(book, tries.best, tries.latest)
    return tries.best if tries.best is book else _told(book, tries.best)


def note_latest(plain: Book, best: Book, latest: dict[str, int]) -> None:
    """How late a better order may make each promise, now and later on."""
    for case in best.cases:
        if case.spot is not None and case.task.id in latest:
            case.at_latest = max(latest[case.task.id], case.spot.start)


class _Tries:
    """The best book so far, and how many more orders may be tried."""

    def __init__(self, book: Book, decode: Decode) -> None:
        self.best, self.left = book, book.policy.improve_rounds
        self.latest = {case.task.id: _latest(book, case) for case in book.cases if case.open and case.spot is not None}
        self._decode, self._cost, self._seen = decode, _cost(book), {_ids(book.cases)}

    def take(self, order: Order) -> bool:
        """Whether an order that was not tried yet is better; then it is the best one now."""
        if not self.left or _ids(order) in self._seen:
            return False
        self._seen.add(_ids(order))
        self.left -= 1
        book = self._decode(order)
        cost = _cost(book)
        if cost >= self._cost or not self._in_time(book):
            return False
        self.best, self._cost = book, cost
        return True

    def _in_time(self, book: Book) -> bool:
        starts = {case.task.id: case.spot.start for case in book.cases if case.open and case.spot is not None}
        return all(task in starts and starts[task] <= latest for task, latest in self.latest.items())


def _latest(book: Book, case: Case) -> int:
    """Epoch seconds: the plain start and the cap, or what an earlier promise allows."""
    assert case.spot is not None
    latest = case.spot.start + book.policy.improve_delay_cap_s
    promise = book.promised.get(case.task.id)
    if case.kept and promise is not None and promise.at_latest is not None:
        latest = min(latest, max(case.spot.start, epoch_s(promise.at_latest)))
    return latest


def _cost(book: Book) -> int:
    """Seconds that all open tasks wait together; one without a start counts as waiting for two horizons."""
    none = 2 * book.policy.horizon_s
    return sum(none if case.spot is None else case.spot.start - book.now for case in book.cases if case.open)


def _ids(order: Sequence[Case]) -> tuple[str, ...]:
    return tuple(case.task.id for case in order)


# -- orders ----------------------------------------------------------------------------------------


def _rough_orders(book: Book) -> Iterator[Order]:
    """As the plain plan starts them, and least card time first."""
    yield _sorted(book.cases, lambda case: (case.spot.start if case.spot else book.horizon, case.rank))
    yield _sorted(book.cases, lambda case: (_work(case), case.rank))


def _sorted(cases: Sequence[Case], key: Callable[[Case], tuple[int, ...]]) -> Order:
    """The movable cases of each tier in another order, on the places that they have among the others."""
    order = list(cases)
    for places in _movable(cases):
        for place, case in zip(places, sorted((cases[place] for place in places), key=key), strict=True):
            order[place] = case
    return tuple(order)


def _one_round(tries: _Tries) -> bool:
    """Each case is moved before each one ahead of it in its tier, nearest first, while that helps anybody."""
    found = False
    for places in _movable(tries.best.cases):
        for behind in range(1, len(places)):
            for ahead in range(behind - 1, -1, -1):
                if not tries.left:
                    return found
                if tries.take(_moved(tries.best.cases, places, behind, ahead)):
                    found = True
                    break
    return found


def _moved(cases: Sequence[Case], places: Sequence[int], behind: int, ahead: int) -> Order:
    order = list(cases)
    row = [cases[place] for place in places]
    row.insert(ahead, row.pop(behind))
    for place, case in zip(places, row, strict=True):
        order[place] = case
    return tuple(order)


def _movable(cases: Sequence[Case]) -> list[list[int]]:
    """By tier the places of those whom only points put in order: open, under no floor, and nobody stops for them."""
    found: dict[int, list[int]] = {}
    for place, case in enumerate(cases):
        if case.open and case.entitled is None and not case.freed_by and case.reclaim is None:
            found.setdefault(case.tier, []).append(place)
    return [places for _, places in sorted(found.items())]


def _work(case: Case) -> int:
    """Card seconds; who tells no length comes last."""
    lasts = case.task.occupies_s
    return 1 << 60 if lasts is None else lasts * case.task.demand.cards


# -- telling ---------------------------------------------------------------------------------------


def _told(plain: Book, best: Book) -> Book:
    """The better book, with what the order did to each case against the plain one."""
    before = {case.task.id: case for case in plain.cases}
    for case in best.cases:
        was = before[case.task.id]
        case.terms = replace(case.terms, improved=was.rank - case.rank)
        promise = plain.promised.get(case.task.id)
        if promise is not None:
            because = later(was.slip, was.spot)
            moves = case.spot is not None and EPOCH.timestamp() + case.spot.start > promise.start_by.timestamp()
            case.slip = because or (Slip(promise.start_by, "improved") if moves and was.kept else was.slip)
    return best
