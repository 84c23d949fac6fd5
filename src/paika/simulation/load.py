"""What a replay is given and what it finds: machines, jobs in whole seconds, and when each was served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import ceil

from paika.domain.card import CardType
from paika.domain.catalogue import CATALOGUE
from paika.domain.problem import BadValue, Several
from paika.domain.task import Tier
from paika.domain.trace import Job
from paika.domain.type_names import UnknownCardType, one_type, resolve_types

_PIECE = re.compile(r"\s*(\d{1,5})\s*[x×*]\s*(\d{1,3})\s*[:：]\s*(.+?)\s*")
MOST_NODES = 20_000
MOST_CARDS_ON_A_NODE = 64
CLUSTER_LIKE = "64x8:A100-80G,4x8:H800"


@dataclass(frozen=True, slots=True)
class Machines:
    """Equal machines: so many, with so many cards of one type each."""

    count: int
    cards: int
    type: CardType


@dataclass(frozen=True, slots=True)
class Cluster:
    """The machines that a trace is played on."""

    machines: tuple[Machines, ...]

    @property
    def cards(self) -> int:
        """All cards."""
        return sum(kind.count * kind.cards for kind in self.machines)

    @property
    def types(self) -> tuple[CardType, ...]:
        """The card types in it, the cheapest first."""
        known = {kind.type.id: kind.type for kind in self.machines}
        return tuple(sorted(known.values(), key=lambda t: (t.weight_milli, t.id)))

    def sizes(self, card_type: str) -> list[int]:
        """Cards of each machine of a type."""
        return [kind.cards for kind in self.machines if kind.type.id == card_type for _ in range(kind.count)]


def cluster_of(asked: str) -> Cluster:
    """'64x8:A100-80G': machines × cards : type, pieces joined by commas. Raises BadValue, UnknownCardType."""
    made = []
    for piece in asked.split(","):
        found = _PIECE.fullmatch(piece)
        if found is None or not 1 <= int(found[1]) <= MOST_NODES or not 1 <= int(found[2]) <= MOST_CARDS_ON_A_NODE:
            raise BadValue(field="cluster", value=asked[:80], allowed=CLUSTER_LIKE)
        made.append(Machines(int(found[1]), int(found[2]), one_type(found[3], CATALOGUE, "cluster")))
    return Cluster(tuple(made))


@dataclass(frozen=True, slots=True)
class Work:
    """A job to play. Seconds count from the first submit; `nodes` and `types` (ids, cheapest first) suit the cluster.

    `limit_s` and `estimate_s` are what a rule may know of its length, `duration_s` is what really happens. `vram_mib`
    is the need on each card (0: not stated); its data is ready `unready_s` after its coming.
    """

    id: str
    submit_s: int
    duration_s: int
    cards: int
    nodes: int
    types: tuple[str, ...]
    team: str
    user: str
    tier: Tier = Tier.NORMAL
    limit_s: int | None = None
    estimate_s: int | None = None
    after: str | None = None
    think_s: int = 0
    vram_mib: int = 0
    unready_s: int = 0

    @property
    def length_s(self) -> int | None:
        """How long a rule takes it to last: limit, else estimate, else unknown."""
        return self.limit_s if self.limit_s is not None else self.estimate_s

    @property
    def cards_per_node(self) -> int:
        """Cards on each of its machines."""
        return self.cards // self.nodes


@dataclass(frozen=True, slots=True)
class Load:
    """Works in submit order. `left` are ids of jobs that can never fit the cluster."""

    works: tuple[Work, ...]
    left: tuple[str, ...] = ()


def load_of(jobs: Sequence[Job], cluster: Cluster) -> Load:
    """The playable ones among `jobs`, in whole seconds (rounded up), each spread over as few machines as it fits."""
    playable = [job for job in jobs if job.playable]
    first = min((job.submit_s for job in playable), default=0)
    works: list[Work] = []
    left: list[str] = []
    for job in playable:
        work = _work(job, cluster, first)
        if work is None:
            left.append(job.id)
        else:
            works.append(work)
    return Load(tuple(works), tuple(left))


def _work(job: Job, cluster: Cluster, first: float) -> Work | None:
    """The job as the cluster can run it; None if it never fits."""
    assert job.cards is not None
    assert job.duration_s is not None
    spread = _spread(job, cluster)
    if spread is None:
        return None
    nodes, types = spread
    return Work(
        id=job.id,
        submit_s=ceil(job.submit_s - first),
        duration_s=ceil(job.duration_s),
        cards=job.cards,
        nodes=nodes,
        types=types,
        team=job.team or "",
        user=job.user or "",
        tier=job.tier or Tier.NORMAL,
        limit_s=_least_one(job.limit_s),
        estimate_s=_least_one(job.estimate_s),
        after=job.after,
        think_s=ceil(job.think_s or 0),
    )


def _least_one(seconds: float | None) -> int | None:
    return None if seconds is None else max(1, ceil(seconds))


def _spread(job: Job, cluster: Cluster) -> tuple[int, tuple[str, ...]] | None:
    """As many machines as the trace says, else as few as it fits, evenly; and the types that have them."""
    assert job.cards is not None
    if job.cards > cluster.cards:
        return None
    allowed = _types(job, cluster)
    stated = [job.nodes] if job.nodes and job.cards % job.nodes == 0 else []
    for nodes in (*stated, *(n for n in range(1, job.cards + 1) if job.cards % n == 0)):
        each = job.cards // nodes
        types = tuple(t for t in allowed if sum(size >= each for size in cluster.sizes(t)) >= nodes)
        if types:
            return nodes, types
    return None


def _types(job: Job, cluster: Cluster) -> tuple[str, ...]:
    have = tuple(card_type.id for card_type in cluster.types)
    if not job.types:
        return have
    named: set[str] = set()
    for name in job.types:
        try:
            named.update(resolve_types(name, cluster.types))
        except (UnknownCardType, Several):
            continue  # a model that this cluster does not have
    return tuple(type_id for type_id in have if type_id in named)


def with_lengths(load: Load, factors: Sequence[float]) -> Load:
    """Every work with a limit of its true length × its factor, whatever was known; `factors` go by place."""
    works = zip(load.works, factors, strict=True)
    return replace(load, works=tuple(replace(w, limit_s=max(1, ceil(w.duration_s * f))) for w, f in works))


def with_tiers(load: Load, tiers: Sequence[Tier]) -> Load:
    """Every work in the tier of its place."""
    return replace(load, works=tuple(replace(w, tier=t) for w, t in zip(load.works, tiers, strict=True)))


def with_vram(load: Load, cluster: Cluster, needs_mib: Sequence[int]) -> Load:
    """Every work with a need of VRAM, at most what its largest card type has, and on such types only."""
    sizes = {t.id: t.vram_mib for t in cluster.types}
    works = []
    for work, asked in zip(load.works, needs_mib, strict=True):
        need = min(asked, max(sizes[t] for t in work.types))
        works.append(replace(work, vram_mib=need, types=tuple(t for t in work.types if sizes[t] >= need)))
    return replace(load, works=tuple(works))


def with_readiness(load: Load, delays_s: Sequence[int]) -> Load:
    """Every work with data that is ready so many seconds after its coming."""
    return replace(load, works=tuple(replace(w, unready_s=d) for w, d in zip(load.works, delays_s, strict=True)))


def reordered(load: Load, dice: Sequence[float]) -> Load:
    """Works submitted within one second in the order of their dice; nothing else moves."""
    mixed = sorted(zip(load.works, dice, strict=True), key=lambda pair: (pair[0].submit_s, pair[1]))
    return replace(load, works=tuple(work for work, _ in mixed))


class Feed:
    """Hands works out when they come: at their submit, and after the job they follow, its think time later."""

    def __init__(self, works: Iterable[Work]) -> None:
        self._heap: list[tuple[int, int, Work]] = []
        self._children: dict[str, list[Work]] = {}
        listed = list(works)
        self.places = {work.id: place for place, work in enumerate(listed)}
        for work in listed:
            if work.after is not None and work.after in self.places:
                self._children.setdefault(work.after, []).append(work)
            else:
                self._push(work, work.submit_s)

    def next_at(self) -> int | None:
        """When the next one comes."""
        return self._heap[0][0] if self._heap else None

    def due(self, now: int) -> list[tuple[int, Work]]:
        """Those that have come by `now`, with the second at which they did."""
        came = []
        while self._heap and self._heap[0][0] <= now:
            at, _, work = heappop(self._heap)
            came.append((at, work))
        return came

    def ended(self, work: Work, at: int) -> None:
        """Its followers come."""
        for child in self._children.pop(work.id, ()):
            self._push(child, max(child.submit_s, at + child.think_s))

    def _push(self, work: Work, at: int) -> None:
        heappush(self._heap, (at, self.places[work.id], work))


@dataclass(frozen=True, slots=True)
class Served:
    """A work and what became of it, in seconds of the replay. It may have been stopped for others on the way.

    `started_s` is its first start, `ended_s` its last end; `lost_card_s` the card time of runs that were stopped.
    `oversized`: its last run had a dearer card type than the cheapest that would have done.
    """

    work: Work
    queued_s: int
    started_s: int
    ended_s: int
    stops: int = 0
    lost_card_s: int = 0
    oversized: bool = False

    @property
    def wait_s(self) -> int:
        """Seconds from its coming to its end that were not its own run: waiting, and runs that were lost."""
        return self.ended_s - self.queued_s - self.work.duration_s


@dataclass(frozen=True, slots=True)
class Played:
    """What a rule made of a load. `left` are works that never ended, `plans` how often it decided."""

    rule: str
    served: tuple[Served, ...]
    left: tuple[str, ...] = ()
    plans: int = 0


def by_place(served: Mapping[str, Served], feed: Feed) -> tuple[Served, ...]:
    """In the order of the load."""
    return tuple(sorted(served.values(), key=lambda one: feed.places[one.work.id]))
