"""An old load played again: under the planner, and under plain rules on the same machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from paika.domain.policy import Policy
from paika.domain.problem import BadValue
from paika.domain.task import Tier
from paika.domain.trace import Flaw, FlawKind, Trace
from paika.domain.units import MIB_PER_GIB
from paika.simulation.baselines import Rule, Watch, play_rule
from paika.simulation.load import (
    Cluster,
    Load,
    Played,
    load_of,
    reordered,
    with_lengths,
    with_readiness,
    with_tiers,
    with_vram,
)
from paika.simulation.replay import play_policy
from paika.simulation.report import Difference, Report, paired, report

MOST_ORDERS = 100
LONGEST_FACTOR = 5.0
TIER_SHARES = {Tier.CORE: 20, Tier.NORMAL: 50, Tier.IDLE: 30}
UNREADY_PERCENT = 20
MEAN_DELAY_S = 7200
VRAM_SHARES = {8: 25, 16: 25, 24: 20, 40: 20, 70: 10}  # GiB on each card

Progress = Callable[[str, int, int, int], None]  # rule, order, works ended, works in all


class Lengths(StrEnum):
    """What the rules know of a job's length before it runs."""

    TRACE = "trace"  # the limits and estimates of the trace, if it has any
    EXACT = "exact"  # its true length, as an oracle would
    SYNTHETIC = "synthetic"  # its true length times a factor of 1 to 5, drawn from a seed


@dataclass(frozen=True, slots=True)
class Question:
    """What to play and how. `orders` is how many orders of jobs within one submit second: the file's, then shuffled.

    `length_seed` is for synthetic lengths; with seeds of their own tiers, readiness and needs of VRAM are drawn too.
    Order n adds n to each seed, so that a spread tells of these draws as well. `most` takes only the first jobs.
    With `every_s` the planner decides only every so many seconds.
    """

    cluster: Cluster
    rules: tuple[Rule, ...] = ()
    lengths: Lengths = Lengths.TRACE
    length_seed: int = 0
    tier_seed: int | None = None
    readiness_seed: int | None = None
    vram_seed: int | None = None
    orders: int = 1
    most: int | None = None
    every_s: int | None = None

    @property
    def synthetic(self) -> tuple[str, ...]:
        """What is drawn by chance: lengths, tiers, readiness, vram."""
        seeds = {"tiers": self.tier_seed, "readiness": self.readiness_seed, "vram": self.vram_seed}
        drawn = tuple(name for name, seed in seeds.items() if seed is not None)
        return ("lengths", *drawn) if self.lengths is Lengths.SYNTHETIC else drawn


@dataclass(frozen=True, slots=True)
class Given:
    """What there is to play. `offered` is card time of the load ÷ (cards × submit window), in percent.

    `left` are ids of jobs that can never fit; `flaws` what is wrong with lines; None is unknown.
    """

    name: str
    jobs: int
    works: int
    cards: int
    window_s: int
    card_s: int
    offered: float | None
    left: tuple[str, ...]
    flaws: tuple[Flaw, ...]
    known_lengths: int

    @property
    def counted(self) -> dict[FlawKind, int]:
        """How many flaws of each kind."""
        return dict(Counter(flaw.kind for flaw in self.flaws))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of it. `reports` by rule, one for each order; those of the planner first. `played` are first orders."""

    question: Question
    given: Given
    reports: dict[str, tuple[Report, ...]]
    played: dict[str, Played]

    @property
    def base(self) -> str:
        """The rule that the others are compared with: the first."""
        return next(iter(self.reports))

    def difference(self, rule: str) -> Difference | None:
        """The mean wait of a rule less that of the base, order by order."""
        ours, base = (tuple(one.total.mean_wait_s for one in self.reports[name]) for name in (rule, self.base))
        return paired(ours, base)


def load_to_play(trace: Trace, question: Question, order: int = 0) -> Load:
    """The jobs of the trace with what the question says of lengths, tiers, readiness and VRAM."""
    load = load_of(trace.playable[: question.most], question.cluster)
    count = len(load.works)

    def dice(seed: int) -> Random:
        return Random(seed + order)  # noqa: S311

    if question.lengths is Lengths.EXACT:
        load = with_lengths(load, [1.0] * count)
    elif question.lengths is Lengths.SYNTHETIC:
        lengths = dice(question.length_seed)
        load = with_lengths(load, [lengths.uniform(1.0, LONGEST_FACTOR) for _ in range(count)])
    if question.tier_seed is not None:
        tiers = tuple(TIER_SHARES), tuple(TIER_SHARES.values())
        load = with_tiers(load, dice(question.tier_seed).choices(*tiers, k=count))
    if question.vram_seed is not None:
        sizes = tuple(gib * MIB_PER_GIB for gib in VRAM_SHARES), tuple(VRAM_SHARES.values())
        load = with_vram(load, question.cluster, dice(question.vram_seed).choices(*sizes, k=count))
    if question.readiness_seed is not None:
        delays = dice(question.readiness_seed)
        load = with_readiness(load, [_delay(delays) for _ in range(count)])
    return load


def _delay(dice: Random) -> int:
    late = dice.randrange(100) < UNREADY_PERCENT
    return max(1, round(dice.expovariate(1 / MEAN_DELAY_S))) if late else 0


def what_is_given(trace: Trace, load: Load, question: Question) -> Given:
    """The load in figures, before anything is played."""
    works, cards = load.works, question.cluster.cards
    window = max((work.submit_s for work in works), default=0) - min((work.submit_s for work in works), default=0)
    card_s = sum(work.cards * work.duration_s for work in works)
    return Given(
        name=trace.name,
        jobs=len(trace.jobs),
        works=len(works),
        cards=cards,
        window_s=window,
        card_s=card_s,
        offered=100 * card_s / (cards * window) if window else None,
        left=load.left,
        flaws=trace.flaws,
        known_lengths=sum(work.length_s is not None for work in works),
    )


def orders_of(trace: Trace, question: Question) -> tuple[Load, ...]:
    """The file's own order, and others that differ within one submit second. Raises BadValue."""
    if not 1 <= question.orders <= MOST_ORDERS:
        raise BadValue(field="seeds", value=str(question.orders), allowed=f"1..{MOST_ORDERS}")
    made = []
    for n in range(question.orders):
        load, dice = load_to_play(trace, question, n), Random(n)  # noqa: S311
        made.append(reordered(load, [dice.random() for _ in load.works]) if n else load)
    return tuple(made)


def replay_trace(
    trace: Trace,
    question: Question,
    policies: Mapping[str, Policy],
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Play it under each policy and each rule, in each order; with `dry_run` only say what is given."""
    given = what_is_given(trace, load_to_play(trace, question), question)
    orders = () if dry_run else orders_of(trace, question)
    cluster, every_s = question.cluster, question.every_s
    reports: dict[str, tuple[Report, ...]] = {}
    first: dict[str, Played] = {}

    def play(name: str, load: Load, watch: Watch | None) -> Played:
        if name in policies:
            return play_policy(load, cluster, policies[name], name=name, every_s=every_s, watch=watch)
        return play_rule(Rule(name), load, cluster, watch)

    for name in (*policies, *(rule.value for rule in question.rules)) if orders else ():
        made = []
        for n, load in enumerate(orders):
            played = play(name, load, _watch(progress, name, n))
            first.setdefault(name, played)
            made.append(report(played, cluster.cards))
        reports[name] = tuple(made)
    return Comparison(question, given, reports, first)


def _watch(progress: Progress | None, rule: str, order: int) -> Watch | None:
    if progress is None:
        return None
    return lambda done, total: progress(rule, order, done, total)
