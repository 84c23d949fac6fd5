"""An old load played again: under the planner, and under plain rules on the same machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from paika.domain.policy import Policy
from paika.domain.problem import BadValue
from paika.domain.task import Tier
from paika.domain.trace import Flaw, FlawKind, Trace
from paika.simulation.baselines import Rule, Watch, play_rule
from paika.simulation.load import Cluster, Load, load_of, reordered, with_lengths, with_tiers
from paika.simulation.replay import NAME, play_policy
from paika.simulation.report import Report, report

MOST_ORDERS = 100
LONGEST_FACTOR = 5.0
TIER_SHARES = {Tier.CORE: 20, Tier.NORMAL: 50, Tier.IDLE: 30}

Progress = Callable[[str, int, int, int], None]  # rule, order, works ended, works in all


class Lengths(StrEnum):
    """What the rules know of a job's length before it runs."""

    TRACE = "trace"  # the limits and estimates of the trace, if it has any
    EXACT = "exact"  # its true length, as an oracle would
    SYNTHETIC = "synthetic"  # its true length times a factor of 1 to 5, drawn from a seed


@dataclass(frozen=True, slots=True)
class Question:
    """What to play and how. `orders` is how many orders of jobs within one submit second: the file's, then shuffled.

    `length_seed` is for synthetic lengths; with a `tier_seed` tiers are drawn too. `most` takes only the first
    jobs. With `every_s` the planner decides only every so many seconds.
    """

    cluster: Cluster
    rules: tuple[Rule, ...] = ()
    lengths: Lengths = Lengths.TRACE
    length_seed: int = 0
    tier_seed: int | None = None
    orders: int = 1
    most: int | None = None
    every_s: int | None = None


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
    """What came of it. `reports` by rule, one for each order; the planner's own first."""

    question: Question
    given: Given
    reports: dict[str, tuple[Report, ...]]


def load_to_play(trace: Trace, question: Question) -> Load:
    """The jobs of the trace with what the question says of lengths and tiers."""
    load = load_of(trace.playable[: question.most], question.cluster)
    if question.lengths is Lengths.EXACT:
        load = with_lengths(load, [1.0] * len(load.works))
    elif question.lengths is Lengths.SYNTHETIC:
        dice = Random(question.length_seed)  # noqa: S311
        load = with_lengths(load, [dice.uniform(1.0, LONGEST_FACTOR) for _ in load.works])
    if question.tier_seed is not None:
        dice = Random(question.tier_seed)  # noqa: S311
        drawn = dice.choices(tuple(TIER_SHARES), tuple(TIER_SHARES.values()), k=len(load.works))
        load = with_tiers(load, drawn)
    return load


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


def orders_of(load: Load, count: int) -> tuple[Load, ...]:
    """The file's own order, and others that differ within one submit second. Raises BadValue."""
    if not 1 <= count <= MOST_ORDERS:
        raise BadValue(field="seeds", value=str(count), allowed=f"1..{MOST_ORDERS}")
    shuffled = []
    for seed in range(1, count):
        dice = Random(seed)  # noqa: S311
        shuffled.append(reordered(load, [dice.random() for _ in load.works]))
    return (load, *shuffled)


def replay_trace(
    trace: Trace, question: Question, policy: Policy, *, dry_run: bool = False, progress: Progress | None = None
) -> Comparison:
    """Play it under the policy and under each rule, in each order; with `dry_run` only say what is given."""
    load = load_to_play(trace, question)
    given = what_is_given(trace, load, question)
    orders = () if dry_run else orders_of(load, question.orders)
    cluster, reports = question.cluster, {}
    if orders:
        reports[NAME] = tuple(
            report(play_policy(one, cluster, policy, every_s=question.every_s, watch=_watch(progress, NAME, n)),
                   cluster.cards)
            for n, one in enumerate(orders)
        )  # fmt: skip
    for rule in question.rules if orders else ():
        reports[rule.value] = tuple(
            report(play_rule(rule, one, cluster, _watch(progress, rule.value, n)), cluster.cards)
            for n, one in enumerate(orders)
        )
    return Comparison(question, given, reports)


def _watch(progress: Progress | None, rule: str, order: int) -> Watch | None:
    if progress is None:
        return None
    return lambda done, total: progress(rule, order, done, total)
