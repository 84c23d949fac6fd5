"""Which cards a reservation gets: those named, or the best of those that fit; and what stands in its way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from paika.domain.card import Card
from paika.domain.records import Records
from paika.domain.reservation import (
    LeaseEndsInside,
    Purpose,
    Reservation,
    ReservationClash,
    ReservationOverQuota,
    ReservationState,
    TooFewToBook,
    WindowFull,
)
from paika.domain.run import Run
from paika.services.check_capacity import Shortfall, check_capacity, lease_end, usable
from paika.services.seen import ending

MOST_LOOKED_AHEAD = 20
Nodes = dict[str, list[str]]  # cards by machine, those that runs hold past the start last


def place(records: Records, wish: Reservation, now: datetime, prefer: Iterable[str] = ()) -> Reservation:
    """The wish, booked on exact cards from now or its start on. `prefer` are cards to keep if they will do.

    Raises ReservationClash, WindowFull, TooFewToBook, LeaseEndsInside, ReservationOverQuota, NoRoomForGuarantee.
    """
    start = max(wish.starts_at, now)
    asked = replace(wish, starts_at=start, state=ReservationState.BOOKED, state_since=now, state_cause="")
    if asked.purpose is Purpose.BOOKING:
        _must_keep_quota(records, asked, now)
    refusal: Shortfall | None = None
    for cards in _ways(records, asked, now, frozenset(prefer)):
        booked = replace(asked, cards=cards)
        broken = () if asked.purpose is Purpose.MAINTENANCE else floors_broken(records, booked, now)
        if not broken:
            return booked
        refusal = refusal or broken[0]
    assert refusal is not None  # there is at least one way, or _ways has raised
    raise refusal.problem()


def floors_broken(records: Records, booked: Reservation, now: datetime) -> tuple[Shortfall, ...]:
    """Floors that fit less well in its window with the reservation than without it."""
    others = [one for one in records.reservations.values() if one.id != booked.id]
    floors, within = [records.guarantees[key] for key in sorted(records.guarantees)], (booked.starts_at, booked.ends_at)
    found = check_capacity(records, floors, [*others, booked], now, within=within)
    if not found:
        return ()
    before = check_capacity(records, floors, others, now, within=within)
    return tuple(short for short in found if short.room < _room_before(before, short))


def _room_before(before: Iterable[Shortfall], short: Shortfall) -> int:
    """What the floor had at that instant: the last that was said of it; all of it if nothing was."""
    same = [b.room for b in before if b.guarantee.id == short.guarantee.id and b.at == short.at]
    return same[0] if same else short.guarantee.cards


def clashing(records: Records, cards: Iterable[str], wish: Reservation, now: datetime) -> list[Reservation]:
    """Other reservations that keep some of the cards in the window, earliest first."""
    wanted = set(cards)
    found = [
        one
        for one in records.reservations.values()
        if one.id != wish.id
        and one.keeps(now)
        and one.overlaps(wish.starts_at, wish.ends_at)
        and not wanted.isdisjoint(one.cards)
    ]
    return sorted(found, key=lambda one: (one.starts_at, one.id))


def held_past(records: Records, wish: Reservation, now: datetime) -> dict[str, Run]:
    """Card -> a run of others that is expected to hold it past the start, or for nobody knows how long."""
    start = max(wish.starts_at, now)
    held: dict[str, Run] = {}
    for run in records.runs.values():
        if run.ended or wish.open_to(run.team, run.task):
            continue
        end = ending(run, now)
        if end.at is None or end.overrun or end.at > start:
            held.update(dict.fromkeys(run.cards, run))
    return held


def _ways(records: Records, wish: Reservation, now: datetime, prefer: frozenset[str]) -> Iterator[tuple[str, ...]]:
    if wish.asked_cards:
        _must_outlast(records, wish.asked_cards, wish.ends_at)
        clashes = clashing(records, wish.asked_cards, wish, now)
        if clashes:
            raise _clash(wish, clashes)
        yield wish.asked_cards
        return
    fitting = [card for card in records.cards.values() if _fits(records, card, wish, now)]
    kinds = sorted({card.type for card in fitting}, key=lambda kind: (_weight(records, kind), kind))
    have = _most(fitting, wish)
    if have < wish.wanted:
        raise TooFewToBook(field="cards", wanted=wish.wanted, together=wish.together, have=have)
    lasting = [card for card in fitting if _lasts(records, card, wish.ends_at)]
    if _most(lasting, wish) < wish.wanted:
        short = sorted(set(fitting) - set(lasting), key=lambda card: (_lease(records, card), card.id))
        raise LeaseEndsInside(field="ends_at", cards=(short[0].id,), ends_at=_lease(records, short[0]))
    ways = _free_ways(records, lasting, kinds, wish, now, prefer)
    if not ways:
        raise _full(records, lasting, wish, now)
    yield from ways


def _free_ways(
    records: Records, lasting: list[Card], kinds: list[str], wish: Reservation, now: datetime, prefer: frozenset[str]
) -> list[tuple[str, ...]]:
    """Choices of cards, best first: few held past the start, one card type, the cheapest type."""
    free = _unbooked(records, lasting, wish, now)
    held = Counter(dict.fromkeys(held_past(records, wish, now), 1))
    ways: list[tuple[int, int, tuple[str, ...]]] = []
    for order, kind in enumerate(kinds):
        cards = _picked([card for card in free if card.type == kind], records, wish, held, prefer)
        if cards is not None:
            ways.append((sum(held[card] for card in cards), order, cards))
    mixed = _picked(free, records, wish, held, prefer) if len(kinds) > 1 else None
    if mixed is not None:
        ways.append((len(records.cards), len(kinds), mixed))
    kept = {way: len(prefer.intersection(way[2])) for way in ways}
    return [way[2] for way in sorted(ways, key=lambda way: (-kept[way], way[0], way[1]))]


def _unbooked(records: Records, cards: Iterable[Card], wish: Reservation, now: datetime) -> list[Card]:
    known = list(cards)
    taken = {card for one in clashing(records, (c.id for c in known), wish, now) for card in one.cards}
    return [card for card in known if card.id not in taken]


@dataclass(frozen=True, slots=True)
class _Machine:
    node: str
    blocks: tuple[tuple[str, ...], ...]  # the best first
    clean: int  # so many of them are held by nobody past the start
    all: int  # cards of the machine


def _picked(
    free: Iterable[Card], records: Records, wish: Reservation, held: Mapping[str, int], prefer: frozenset[str]
) -> tuple[str, ...] | None:
    """`wanted` of the cards in blocks of `together` on one machine and of one type; None if there are too few.

    Cards that nobody holds past the start come first, then machines that are taken whole, then those of which least
    is left over.
    """
    machines = _machines(free, records, wish, held, prefer)
    left, chosen = wish.wanted // wish.together, list[str]()
    while left and machines:

        def take(machine: _Machine, left: int = left) -> int:
            return min(left, machine.clean or len(machine.blocks))

        def order(machine: _Machine, left: int = left) -> tuple[bool, int, bool, int, str]:
            cards = take(machine, left) * wish.together
            kept = sum(card in prefer for block in machine.blocks[: take(machine, left)] for card in block)
            over = len(machine.blocks) * wish.together - cards
            return not machine.clean, -kept, cards < machine.all, over, machine.node

        best = min(machines, key=order)
        taken = take(best)
        chosen += [card for block in best.blocks[:taken] for card in block]
        left -= taken
        rest = replace(best, blocks=best.blocks[taken:], clean=max(0, best.clean - taken))
        machines = [machine for machine in machines if machine is not best] + ([rest] if rest.blocks else [])
    return None if left else tuple(chosen)


def _machines(
    free: Iterable[Card], records: Records, wish: Reservation, held: Mapping[str, int], prefer: frozenset[str]
) -> list[_Machine]:
    whole = Counter(card.node for card in records.cards.values())
    groups: dict[tuple[str, str], list[Card]] = {}
    for card in free:
        groups.setdefault((card.node, card.type), []).append(card)
    machines: list[_Machine] = []
    for (node, _), cards in sorted(groups.items()):
        cards.sort(key=lambda c: (c.id not in prefer, held.get(c.id, 0), -1 if c.index is None else c.index, c.id))
        ids = [card.id for card in cards]
        blocks = [tuple(ids[n : n + wish.together]) for n in range(0, len(ids), wish.together)]
        full = tuple(block for block in blocks if len(block) == wish.together)
        clean = sum(not any(held.get(card) for card in block) for block in full)
        if full:
            ranked = sorted(full, key=lambda block: any(held.get(card) for card in block))
            machines.append(_Machine(node, tuple(ranked), clean, whole[node]))
    return machines


def _full(records: Records, lasting: list[Card], wish: Reservation, now: datetime) -> WindowFull:
    others = clashing(records, [card.id for card in lasting], wish, now)
    room = _most(_unbooked(records, lasting, wish, now), wish)
    span = wish.ends_at - wish.starts_at
    ends = sorted({one.ends_at for one in records.reservations.values() if one.keeps(now)})
    later = [replace(wish, starts_at=end, ends_at=end + span) for end in ends if end > wish.starts_at]
    fits_at = next((w.starts_at for w in later[:MOST_LOOKED_AHEAD] if _would_fit(records, lasting, w, now)), None)
    names = tuple(one.id for one in others)
    return WindowFull(
        field="cards", wanted=wish.wanted, together=wish.together, room=room, others=names, fits_at=fits_at
    )


def _would_fit(records: Records, cards: list[Card], wish: Reservation, now: datetime) -> bool:
    lasting = [card for card in cards if _lasts(records, card, wish.ends_at)]
    return _most(_unbooked(records, lasting, wish, now), wish) >= wish.wanted


def _most(cards: Iterable[Card], wish: Reservation) -> int:
    """How many of the cards lie in whole blocks."""
    counts = Counter((card.node, card.type) for card in cards)
    return sum(count // wish.together * wish.together for count in counts.values())


def _fits(records: Records, card: Card, wish: Reservation, now: datetime) -> bool:
    if wish.card_types and card.type not in wish.card_types:
        return False
    node = records.nodes.get(card.node)
    return usable(records, card, now) and node is not None and wish.pool in ("", node.pool)


def _lasts(records: Records, card: Card, until: datetime) -> bool:
    end = lease_end(records, card)
    return end is None or end >= until


def _lease(records: Records, card: Card) -> datetime:
    end = lease_end(records, card)
    assert end is not None
    return end


def _weight(records: Records, kind: str) -> int:
    known = records.card_types.get(kind)
    return known.weight_milli if known else 0


def _must_outlast(records: Records, cards: Iterable[str], until: datetime) -> None:
    short = [records.cards[card] for card in cards if not _lasts(records, records.cards[card], until)]
    if short:
        first = min(_lease(records, card) for card in short)
        names = tuple(card.id for card in short if _lease(records, card) == first)
        raise LeaseEndsInside(field="ends_at", cards=names, ends_at=first)


def _clash(wish: Reservation, clashes: list[Reservation]) -> ReservationClash:
    first = clashes[0]
    return ReservationClash(
        field="card_ids",
        reservation=first.id,
        purpose=first.purpose.value,
        team=first.team,
        cards=tuple(card for card in wish.asked_cards if card in first.cards),
        starts_at=first.starts_at,
        ends_at=first.ends_at,
        others=tuple(one.id for one in clashes),
    )


def _must_keep_quota(records: Records, wish: Reservation, now: datetime) -> None:
    """Raises ReservationOverQuota where the team's bookings of one instant would be more than it may hold."""
    quota = records.quotas.get(wish.team)
    if quota is None or quota.max_cards is None:
        return
    own = [
        one
        for one in records.reservations.values()
        if one.id != wish.id
        and one.team == wish.team
        and one.purpose is Purpose.BOOKING
        and one.keeps(now)
        and one.overlaps(wish.starts_at, wish.ends_at)
    ]
    for at in sorted({wish.starts_at, *(one.starts_at for one in own if one.starts_at > wish.starts_at)}):
        booked = sum(len(one.cards) for one in own if one.starts_at <= at < one.ends_at)
        if booked + wish.wanted > quota.max_cards:
            raise ReservationOverQuota(
                field="cards", team=wish.team, max_cards=quota.max_cards, booked=booked, asked=wish.wanted, at=at
            )
