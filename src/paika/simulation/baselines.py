"""Plain rules to measure against, on the same machines: cards are counted per machine, nothing is explained.

A work takes the machines with the least free cards that suffice (best fit), gangs all or nothing on one card
type, the cheapest type first. No rule looks at tiers or teams, and none stops a run. A work whose data is not ready
joins the line when it is.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop, heappush
from math import inf
from typing import ClassVar

from paika.domain.problem import Kind, Problem
from paika.simulation.load import Cluster, Feed, Load, Played, Served, Work, by_place

Seat = tuple[str, tuple[int, ...]]  # card type, and the machines of it by number
Shape = tuple[tuple[str, ...], int, int]
Watch = Callable[[int, int], None]  # works ended, works in all


class Rule(StrEnum):
    """The rules.

    FIFO: in submit order; who does not fit stops all behind it.
    FIFO_SKIP: in submit order; who does not fit is passed over.
    EASY: in submit order; the first that does not fit gets the earliest start that the known lengths allow, and
    later ones pass it only if they end before or leave its cards alone (Lifka, "The ANL/IBM SP Scheduling
    System", 1995). Cards are counted per machine here too, for now and for that start.
    SJF: shortest known length first; who does not fit is passed over.
    QSSF: least cards × length first, who does not fit is passed over; after Hu et al., "Characterization and
    Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters", SC'21, whose predicted length is the
    known length here.
    """

    FIFO = "fifo"
    FIFO_SKIP = "fifo-skip"
    EASY = "easy"
    SJF = "sjf"
    QSSF = "qssf"


@dataclass(eq=False)
class UnknownRule(Problem):
    """No such rule to measure against; `rules` are those there are."""

    code: ClassVar[str] = "replay.unknown_rule"
    kind: ClassVar[Kind] = Kind.INVALID
    asked: str
    rules: tuple[str, ...]


def rules_of(asked: str) -> tuple[Rule, ...]:
    """Names joined by commas, each once. Raises UnknownRule."""
    names = dict.fromkeys(name.strip().lower() for name in asked.split(",") if name.strip())
    for name in names:
        if name not in set(Rule):
            raise UnknownRule(field="against", asked=name[:80], rules=tuple(Rule))
    return tuple(Rule(name) for name in names)


class Free:
    """Free cards of every machine, by card type; a level holds the machines with so many free."""

    def __init__(self, cluster: Cluster) -> None:
        self.cards = {t.id: cluster.sizes(t.id) for t in cluster.types}
        self.total = cluster.cards
        self._levels: dict[str, list[dict[int, None]]] = {}
        for card_type, sizes in self.cards.items():
            self._levels[card_type] = [{} for _ in range(max(sizes) + 1)]
            for node, size in enumerate(sizes):
                self._levels[card_type][size][node] = None

    def copy(self) -> Free:
        """The same once more."""
        made = Free.__new__(Free)
        made.cards = {card_type: list(free) for card_type, free in self.cards.items()}
        made.total = self.total
        made._levels = {card_type: [dict(level) for level in levels] for card_type, levels in self._levels.items()}
        return made

    def seat(self, work: Work) -> Seat | None:
        """Where it fits now, fullest machines first."""
        if work.cards > self.total:
            return None
        each = work.cards_per_node
        for card_type in work.types:
            found: list[int] = []
            for level in self._levels[card_type][each:]:
                for node in level:
                    found.append(node)
                    if len(found) == work.nodes:
                        return card_type, tuple(found)
        return None

    def seat_in_both(self, work: Work, later: Free) -> Seat | None:
        """Where it fits both now and in `later`."""
        if work.cards > min(self.total, later.total):
            return None
        each = work.cards_per_node
        for card_type in work.types:
            pairs = enumerate(zip(self.cards[card_type], later.cards[card_type], strict=True))
            fits = sorted((now, node) for node, (now, then) in pairs if min(now, then) >= each)
            if len(fits) >= work.nodes:
                return card_type, tuple(node for _, node in fits[: work.nodes])
        return None

    def seat_sparing(self, work: Work, now: Free) -> Seat:
        """Where it fits, with machines that have little free `now` first; only for a work that fits."""
        each = work.cards_per_node
        for card_type in work.types:
            pairs = enumerate(zip(now.cards[card_type], self.cards[card_type], strict=True))
            fits = sorted((before, then, node) for node, (before, then) in pairs if then >= each)
            if len(fits) >= work.nodes:
                return card_type, tuple(node for _, _, node in fits[: work.nodes])
        raise ValueError(work.id)

    def take(self, work: Work, seat: Seat, sign: int = 1) -> None:
        """Its cards are gone; with `sign` −1 they are back."""
        card_type, nodes = seat
        free, levels, each = self.cards[card_type], self._levels[card_type], sign * work.cards_per_node
        for node in nodes:
            del levels[free[node]][node]
            free[node] -= each
            levels[free[node]][node] = None
        self.total -= sign * work.cards


def play_rule(rule: Rule, load: Load, cluster: Cluster, watch: Watch | None = None) -> Played:
    """Play a load under a rule."""
    return _Play(rule, load, cluster, watch).run()


@dataclass(slots=True)
class _Running:
    """A work on its machines. `told` is when its known length ends, endless if unknown."""

    work: Work
    seat: Seat
    started: int
    told: float


class _Play:
    def __init__(self, rule: Rule, load: Load, cluster: Cluster, watch: Watch | None) -> None:
        self.rule, self.load, self.watch = rule, load, watch
        self.free = Free(cluster)
        self.feed = Feed(load.works)
        self.now = 0
        self.passes = 0
        self.queued: dict[str, int] = {}
        self.served: dict[str, Served] = {}
        self.ends: list[tuple[int, int, _Running]] = []
        self.unready: list[tuple[int, int, Work]] = []
        self.by_told: list[tuple[float, int, _Running]] = []
        self.queue = {
            Rule.FIFO: _Line,
            Rule.EASY: _Easy,
        }.get(rule, _Shapes)(self)

    def run(self) -> Played:
        """From the first submit to the last end."""
        while (now := self._next()) is not None:
            self.now = now
            while self.ends and self.ends[0][0] <= now:
                self._end(heappop(self.ends))
            for at, work in self.feed.due(now):
                self.queued[work.id] = at
                heappush(self.unready, (at + work.unready_s, self.feed.places[work.id], work))
            while self.unready and self.unready[0][0] <= now:
                self.queue.add(heappop(self.unready)[2])
            self.passes += 1
            self.queue.decide()
        left = tuple(work.id for work in self.load.works if work.id not in self.served)
        return Played(self.rule.value, by_place(self.served, self.feed), left, self.passes)

    def _next(self) -> int | None:
        heads = [heap[0][0] for heap in (self.ends, self.unready) if heap]
        coming = self.feed.next_at()
        return min(heads if coming is None else [*heads, coming], default=None)

    def start(self, work: Work, seat: Seat) -> None:
        """It runs from now on."""
        self.free.take(work, seat)
        length = work.length_s
        running = _Running(work, seat, self.now, inf if length is None else self.now + length)
        place = self.feed.places[work.id]
        heappush(self.ends, (self.now + work.duration_s, place, running))
        if self.rule is Rule.EASY:
            insort(self.by_told, (running.told, place, running))

    def _end(self, event: tuple[int, int, _Running]) -> None:
        at, place, running = event
        work = running.work
        self.free.take(work, running.seat, -1)
        self.served[work.id] = Served(
            work, self.queued[work.id], running.started, at, oversized=running.seat[0] != work.types[0]
        )
        self.feed.ended(work, at)
        if self.rule is Rule.EASY:
            self.by_told.remove((running.told, place, running))
        if self.watch is not None:
            self.watch(len(self.served), len(self.load.works))

    def key(self, work: Work) -> tuple[float, int]:
        """The least goes first."""
        length = inf if work.length_s is None else work.length_s
        place = self.feed.places[work.id]
        by = {Rule.SJF: length, Rule.QSSF: length * work.cards}
        return by.get(self.rule, self.queued[work.id]), place


class _Line:
    """One line; only its head may start."""

    def __init__(self, play: _Play) -> None:
        self.play = play
        self.line: dict[str, Work] = {}

    def add(self, work: Work) -> None:
        """At the end."""
        self.line[work.id] = work

    def decide(self) -> None:
        """Start from the head as long as it fits."""
        while self.line:
            head = next(iter(self.line.values()))
            seat = self.play.free.seat(head)
            if seat is None:
                return
            del self.line[head.id]
            self.play.start(head, seat)


class _Easy(_Line):
    """One line; others may pass its head if they do not delay it."""

    def decide(self) -> None:
        """Start from the head, then fill the gap before its start."""
        super().decide()
        if self.line and self.play.free.total:
            head, *others = self.line.values()
            self._fill(head, others)

    def _fill(self, head: Work, others: Iterable[Work]) -> None:
        shadow, spare = self._reserve(head)
        play = self.play
        tight: set[Shape] = set()  # fits nowhere now
        wide: set[Shape] = set()  # fits nowhere beside the head
        for work in others:
            shape = shape_of(work)
            if shape in tight:
                continue
            length = inf if work.length_s is None else work.length_s
            if play.now + length <= shadow:
                seat = play.free.seat(work)
                if seat is None:
                    tight.add(shape)
            else:
                seat = None if shape in wide else play.free.seat_in_both(work, spare)
                if seat is None:
                    wide.add(shape)
                else:
                    spare.take(work, seat)
            if seat is not None:
                del self.line[work.id]
                play.start(work, seat)
                if not play.free.total:
                    return

    def _reserve(self, head: Work) -> tuple[float, Free]:
        """When the head can start by the known lengths, and what is free then beside it."""
        then = self.play.free.copy()
        for told, _, running in self.play.by_told:
            if told == inf:
                break
            then.take(running.work, running.seat, -1)
            if then.seat(head) is not None:
                then.take(head, then.seat_sparing(head, self.play.free))
                return max(told, self.play.now), then
        return inf, then


class _Shapes:
    """Works by shape, each shape with its least first: who is passed over once need not be asked again."""

    def __init__(self, play: _Play) -> None:
        self.play = play
        self.heaps: dict[Shape, list[tuple[tuple[float, int], Work]]] = {}

    def add(self, work: Work) -> None:
        """Among those of its shape."""
        heappush(self.heaps.setdefault(shape_of(work), []), (self.play.key(work), work))

    def decide(self) -> None:
        """Start the least that fits, again and again."""
        open_shapes = [shape for shape, heap in self.heaps.items() if heap]
        while open_shapes and self.play.free.total:
            shape = min(open_shapes, key=lambda one: self.heaps[one][0][0])
            work = self.heaps[shape][0][1]
            seat = self.play.free.seat(work)
            if seat is not None:
                heappop(self.heaps[shape])
                self.play.start(work, seat)
            if seat is None or not self.heaps[shape]:
                open_shapes.remove(shape)


def shape_of(work: Work) -> Shape:
    """What decides where it fits."""
    return work.types, work.nodes, work.cards_per_node
