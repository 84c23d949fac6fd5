"""Whether floors, reservations and lease losses fit what the house has, at every future instant, in units that fit.

Cards are counted where they lie: `together` cards of a floor are a block on one machine, of one card type. A
reservation of a whole team leaves its cards to that team's own floor; every other one takes them from all floors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from paika.domain.card import Card, Health
from paika.domain.guarantee import Guarantee, NoRoomForGuarantee
from paika.domain.node import NodeState
from paika.domain.records import Records
from paika.domain.reservation import Purpose, Reservation

Group = tuple[str, str, datetime | None]
MOST_STEPS = 600  # of the search for a place; beyond them a set of floors counts as not fitting


@dataclass(frozen=True, slots=True)
class Place:
    """Cards of one type on one machine: `free` for every floor, and `own` for the floors of one team alone."""

    card_type: str
    free: int
    own: tuple[tuple[str, int], ...] = ()

    def room(self, team: str) -> int:
        """Cards that the team's floor may use here."""
        return self.free + dict(self.own).get(team, 0)

    def without(self, cards: int, team: str) -> Place:
        """The place with so many cards given to the team, its own first."""
        own = dict(self.own)
        first = min(cards, own.get(team, 0))
        own[team] = own.get(team, 0) - first
        left = tuple(sorted((name, count) for name, count in own.items() if count))
        return Place(self.card_type, self.free - (cards - first), left)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A floor that does not fit at an instant: `room` of its `cards` find a place beside all others."""

    at: datetime
    guarantee: Guarantee
    room: int

    def problem(self) -> NoRoomForGuarantee:
        """It as a refusal."""
        asked = self.guarantee
        return NoRoomForGuarantee(
            field=None,
            guarantee=asked.id,
            team=asked.team,
            at=self.at,
            cards=asked.cards,
            together=asked.together,
            room=self.room,
        )


def check_capacity(
    records: Records,
    guarantees: Iterable[Guarantee],
    reservations: Iterable[Reservation],
    now: datetime,
    *,
    within: tuple[datetime, datetime] | None = None,
) -> tuple[Shortfall, ...]:
    """Every floor that does not fit, at each instant from `now` on at which a lease or reservation begins or ends.

    `within` looks only at instants of a window. Each floor is told what is left for it beside those that are
    given before it.
    """
    floors = tuple(floor for floor in guarantees if floor.cards)
    kept = tuple(one for one in reservations if one.keeps(now))
    if not floors:
        return ()
    found: list[Shortfall] = []
    known: dict[frozenset[tuple[Place, int]], tuple[tuple[Guarantee, int], ...]] = {}
    house = Usable.of(records, now)
    for at in instants(records, kept, now, within):
        places = house.places(kept, at)
        key = frozenset(places.items())
        if key not in known:
            known[key] = tuple(_short(floors, places))
        found += [Shortfall(at, floor, room) for floor, room in known[key]]
    return tuple(found)


def instants(
    records: Records,
    reservations: Iterable[Reservation],
    now: datetime,
    within: tuple[datetime, datetime] | None = None,
) -> tuple[datetime, ...]:
    """`now` and every later instant at which a lease ends or a reservation begins or ends, in order."""
    first, last = within or (now, None)
    leases = {noun.lease_ends_at for shelf in (records.cards, records.nodes) for noun in shelf.values()}
    edges = {edge for one in reservations for edge in (one.starts_at, one.ends_at)}
    ahead = {at for at in leases | edges if at is not None and at > first and (last is None or at < last)}
    return tuple(sorted(ahead | {max(first, now)}))


@dataclass(frozen=True, slots=True)
class Usable:
    """Cards that floors may count on, by type, machine and end of lease; `group` tells it of each card."""

    counts: Counter[Group]
    group: Mapping[str, Group]

    @classmethod
    def of(cls, records: Records, now: datetime) -> Usable:
        """The usable cards of these records."""
        group: dict[str, Group] = {}
        for card in records.cards.values():
            if usable(records, card, now):
                group[card.id] = card.type, card.node, lease_end(records, card)
        return cls(Counter(group.values()), group)

    def places(self, reservations: Iterable[Reservation], at: datetime) -> Counter[Place]:
        """What floors may use at that instant, less the reserved cards. Machines that are alike are counted."""
        taken: dict[Group, int] = {}
        own: dict[tuple[str, str], Counter[str]] = {}
        for one in reservations:
            if not one.starts_at <= at < one.ends_at:
                continue
            serves = one.purpose is Purpose.BOOKING and not one.task
            for card in one.cards:
                group = self.group.get(card)
                if group is None or not _leased(group, at):
                    continue
                taken[group] = taken.get(group, 0) + 1
                if serves:
                    own.setdefault(group[:2], Counter())[one.team] += 1
        free: dict[tuple[str, str], int] = {}
        for group, count in self.counts.items():
            if _leased(group, at):
                free[group[:2]] = free.get(group[:2], 0) + count - taken.get(group, 0)
        return Counter(Place(key[0], count, tuple(sorted(own.get(key, {}).items()))) for key, count in free.items())


def _leased(group: Group, at: datetime) -> bool:
    return group[2] is None or group[2] > at


def lease_end(records: Records, card: Card) -> datetime | None:
    """When the lease of the card or of its machine ends, whichever is first; None: never, as far as is known."""
    node = records.nodes.get(card.node)
    ends = [end for end in (card.lease_ends_at, node.lease_ends_at if node else None) if end is not None]
    return min(ends, default=None)


def usable(records: Records, card: Card, at: datetime) -> bool:
    """Whether a floor may count on the card at that instant, as far as is known now."""
    node = records.nodes.get(card.node)
    if node is None or node.engine is None or node.state is not NodeState.UP or card.health is not Health.OK:
        return False
    end = lease_end(records, card)
    return end is None or end > at


def _short(floors: Sequence[Guarantee], places: Counter[Place]) -> Iterator[tuple[Guarantee, int]]:
    """Floors that do not fit beside those before them, with the cards of theirs that do."""
    fitting: list[Guarantee] = []
    for floor in floors:
        if fits((*fitting, floor), places):
            fitting.append(floor)
            continue
        low, high = 0, -(-floor.cards // floor.together)  # so many blocks fit, so many do not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits((*fitting, _of(floor, middle)), places) else (low, middle)
        fitting.append(_of(floor, low))
        yield floor, low * floor.together


def _of(floor: Guarantee, blocks: int) -> Guarantee:
    return Guarantee(floor.id, floor.team, blocks * floor.together, floor.card_types, floor.together)


def fits(floors: Iterable[Guarantee], places: Counter[Place]) -> bool:
    """Whether all floors find their blocks at once. Blocks are searched for, single cards counted exactly."""
    wide: list[tuple[Guarantee, int]] = []
    singles: list[Guarantee] = []
    for floor in floors:
        if floor.together > 1:
            wide.append((floor, -(-floor.cards // floor.together)))
        elif floor.cards:
            singles.append(floor)
    wide.sort(key=lambda asked: (-asked[0].together, len(asked[0].card_types) or 1 << 30, asked[0].id))
    return _Search(tuple(singles), [MOST_STEPS]).blocks(tuple(wide), places)


@dataclass(frozen=True, slots=True)
class _Search:
    singles: tuple[Guarantee, ...]
    steps: list[int]

    def blocks(self, wide: tuple[tuple[Guarantee, int], ...], places: Counter[Place]) -> bool:
        """Place blocks of the first floor somewhere and go on, until one way is found for all."""
        if not wide:
            return singles_fit(self.singles, places)
        (floor, count), rest = wide[0], wide[1:]
        if count == 0:
            return self.blocks(rest, places)
        for place, each, machines in _ways(floor, count, places):
            self.steps[0] -= 1
            if self.steps[0] < 0:
                return False
            left = Counter(places)
            left[place] -= machines
            left[place.without(each * floor.together, floor.team)] += machines
            if self.blocks(((floor, count - each * machines), *rest), +left):
                return True
        return False


def _ways(floor: Guarantee, count: int, places: Counter[Place]) -> Iterator[tuple[Place, int, int]]:
    """(a machine, blocks on each, machines alike): first fill machines, tightest first, then one block at a time."""
    able = [place for place in places if _allowed(floor, place) and place.room(floor.team) >= floor.together]
    able.sort(key=lambda place: (place.room(floor.team), place.card_type, place.free, place.own))
    for place in able:
        each = min(count, place.room(floor.team) // floor.together)
        machines = min(places[place], count // each)
        yield place, each, machines
    for place in able:
        if (min(count, place.room(floor.team) // floor.together), min(places[place], count)) != (1, 1):
            yield place, 1, 1


def singles_fit(floors: Sequence[Guarantee], places: Counter[Place]) -> bool:
    """Whether floors of single cards fit: a flow from floors to card types, exact."""
    room: Counter[tuple[str, str]] = Counter()
    for place, machines in places.items():
        room[place.card_type, ""] += place.free * machines
        for team, count in place.own:
            room[place.card_type, team] += count * machines
    used: dict[tuple[str, str], Counter[str]] = {key: Counter() for key in room}
    by_id = {floor.id: floor for floor in floors}
    for floor in floors:
        left = floor.cards
        while left:
            path = _path(floor, by_id, room, used)
            if path is None:
                return False
            left -= _push(path, left, room, used)
    return True


Key = tuple[str, str]


def _reach(floor: Guarantee, room: Mapping[Key, int]) -> list[Key]:
    """The kinds of cards that a floor may use: its own team's first."""
    kinds = [key for key in room if key[1] in ("", floor.team) and (not floor.card_types or key[0] in floor.card_types)]
    return sorted(kinds, key=lambda key: (not key[1], key[0]))


def _path(
    floor: Guarantee, by_id: Mapping[str, Guarantee], room: Counter[Key], used: dict[Key, Counter[str]]
) -> list[tuple[str, Key]] | None:
    """Moves that end at free cards: (floor, kind it takes from); all but the last push another floor on."""
    waiting: list[tuple[Guarantee, list[tuple[str, Key]]]] = [(floor, [])]
    seen: set[Key] = set()
    for mover, moves in waiting:
        for key in _reach(mover, room):
            if key in seen:
                continue
            seen.add(key)
            taken = [*moves, (mover.id, key)]
            if room[key] > used[key].total():
                return taken
            waiting += [(by_id[other], taken) for other, count in used[key].items() if count and other != mover.id]
    return None


def _push(moves: list[tuple[str, Key]], most: int, room: Counter[Key], used: dict[Key, Counter[str]]) -> int:
    """Carry out the moves with as many cards as every step allows; how many that were."""
    last = moves[-1][1]
    step = min(most, room[last] - used[last].total())
    for (_, key), (pushed, _) in pairwise(moves):
        step = min(step, used[key][pushed])
    for (_, key), (pushed, _) in pairwise(moves):
        used[key][pushed] -= step
    for mover, key in moves:
        used[key][mover] += step
    return step


def _allowed(floor: Guarantee, place: Place) -> bool:
    return not floor.card_types or place.card_type in floor.card_types
