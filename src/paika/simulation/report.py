"""Figures of a replay. All times are in seconds; what cannot be told (of no works, of no time) is None."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, sqrt

from paika.domain.task import Tier
from paika.simulation.load import Played, Served

SHORT_S = 10  # bound of the bounded slowdown, as Feitelson and Rudolph set it
SIZES = ((1, "1"), (8, "2-8"), (64, "9-64"))


def mean(values: Sequence[float]) -> float | None:
    """Σ values ÷ how many."""
    return sum(values) / len(values) if values else None


def percentile(values: Iterable[float], percent: int) -> float | None:
    """Nearest rank: the smallest value that at least `percent` % of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)] if ordered else None


def card_weighted_wait(served: Sequence[Served]) -> float | None:
    """Σ cards × wait ÷ Σ cards, in seconds: what a wanted card waited."""
    cards = sum(one.work.cards for one in served)
    return sum(one.work.cards * one.wait_s for one in served) / cards if cards else None


def bounded_slowdown(one: Served) -> float:
    """max(1, (wait + run time) ÷ max(run time, 10 s)), a pure number."""
    run_s = one.work.duration_s
    return max(1.0, (one.wait_s + run_s) / max(run_s, SHORT_S))


def allocation(served: Sequence[Served], cards: int) -> float | None:
    """Card-seconds of works inside the submit window ÷ (cards × window), in percent.

    The window goes from the first coming to the last. Lost runs are no work and do not count. Only the last run of
    a work is known; it is the work's duration before its end.
    """
    if not served:
        return None
    begins, ends = min(one.queued_s for one in served), max(one.queued_s for one in served)
    if begins == ends or not cards:
        return None
    inside = sum(
        one.work.cards * max(0, min(one.ended_s, ends) - max(one.ended_s - one.work.duration_s, begins))
        for one in served
    )
    return 100 * inside / (cards * (ends - begins))


def idle_while_waiting(served: Sequence[Served], cards: int) -> float | None:
    """Free card-seconds while at least one work waits for its (last) start ÷ (cards × submit window), in percent.

    Some of it cannot be helped: three free cards do not serve a work of four.
    """
    if not served or not cards:
        return None
    begins, ends = min(one.queued_s for one in served), max(one.queued_s for one in served)
    if begins == ends:
        return None
    steps: list[tuple[int, int, int]] = []  # second, change in cards used, change in works that wait
    for one in served:
        start = one.ended_s - one.work.duration_s
        steps += [(one.queued_s, 0, 1), (start, one.work.cards, -1), (one.ended_s, -one.work.cards, 0)]
    idle = used = waiting = 0
    at = begins
    for second, more_used, more_waiting in sorted(steps):
        until = min(second, ends)
        if waiting and until > at:
            idle += (cards - used) * (until - at)
        at, used, waiting = max(at, until), used + more_used, waiting + more_waiting
    return 100 * idle / (cards * (ends - begins))


def oversized(served: Sequence[Served]) -> float | None:
    """Card-seconds on a dearer card type than the cheapest that would have done ÷ all card-seconds, in percent."""
    total = sum(one.work.cards * one.work.duration_s for one in served)
    dear = sum(one.work.cards * one.work.duration_s for one in served if one.oversized)
    return 100 * dear / total if total else None


def inversions(served: Sequence[Served]) -> int:
    """Works that were passed: one of the same or a lower tier that came later started before, though it asks for as
    many machines or more with as many cards each or more, and for no other card types.

    Not each is a fault: a shorter work may have filled a gap that this one did not fit in time.
    """
    shapes: dict[tuple[int, int, int, tuple[str, ...]], list[tuple[int, int]]] = {}
    ranks = {tier: n for n, tier in enumerate(Tier)}
    for one in served:
        shape = (ranks[one.work.tier], one.work.nodes, one.work.cards_per_node, one.work.types)
        shapes.setdefault(shape, []).append((one.queued_s, one.started_s))
    first_start = {shape: _earliest_from(pairs) for shape, pairs in shapes.items()}

    def passed(one: Served) -> bool:
        work = one.work
        for (rank, nodes, each, types), (comings, starts) in first_start.items():
            if rank < ranks[work.tier] or nodes < work.nodes or each < work.cards_per_node or types != work.types:
                continue
            at = bisect_right(comings, one.queued_s)
            if at < len(starts) and starts[at] < one.started_s:
                return True
        return False

    return sum(passed(one) for one in served if one.wait_s)


def _earliest_from(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Comings in order, and for each the earliest start of it and all that came after."""
    pairs.sort()
    starts = list(accumulate((start for _, start in reversed(pairs)), min))
    return [coming for coming, _ in pairs], starts[::-1]


def size_class(one: Served) -> str:
    """Works by cards: 1, 2-8, 9-64, more."""
    return next((name for most, name in SIZES if one.work.cards <= most), "65+")


@dataclass(frozen=True, slots=True)
class Figures:
    """Of some works: how many, and their waits in seconds; `slowdown` is the mean bounded slowdown."""

    works: int
    mean_wait_s: float | None
    p95_wait_s: float | None
    card_wait_s: float | None
    slowdown: float | None


def figures(served: Sequence[Served]) -> Figures:
    """The figures of some works."""
    waits = [one.wait_s for one in served]
    return Figures(
        works=len(served),
        mean_wait_s=mean(waits),
        p95_wait_s=percentile(waits, 95),
        card_wait_s=card_weighted_wait(served),
        slowdown=mean([bounded_slowdown(one) for one in served]),
    )


@dataclass(frozen=True, slots=True)
class Report:
    """One rule's figures. `makespan_s` is last end − first coming, `allocation` and `idle` (free though
    somebody waits) in percent of the submit window, `oversized` in percent of the card time.

    `tiers`, `teams` and `sizes` have the same figures for parts of the works. `left` works never ended.
    """

    rule: str
    total: Figures
    tiers: dict[str, Figures]
    teams: dict[str, Figures]
    sizes: dict[str, Figures]
    allocation: float | None
    idle: float | None
    oversized: float | None
    inversions: int
    makespan_s: int | None
    stops: int
    lost_card_s: int
    left: int
    plans: int


def report(played: Played, cards: int) -> Report:
    """The figures of what was played on so many cards."""
    served = played.served
    ranks = {tier.value: n for n, tier in enumerate(Tier)}
    tiers = _by(served, lambda one: one.work.tier.value)
    sizes = _by(served, size_class)
    names = [name for _, name in SIZES] + ["65+"]
    span = max(one.ended_s for one in served) - min(one.queued_s for one in served) if served else None
    return Report(
        rule=played.rule,
        total=figures(served),
        tiers={name: tiers[name] for name in sorted(tiers, key=lambda name: ranks[name])},
        teams=_by(served, lambda one: one.work.team),
        sizes={name: sizes[name] for name in names if name in sizes},
        allocation=allocation(served, cards),
        idle=idle_while_waiting(served, cards),
        oversized=oversized(served),
        inversions=inversions(served),
        makespan_s=span,
        stops=sum(one.stops for one in served),
        lost_card_s=sum(one.lost_card_s for one in served),
        left=len(played.left),
        plans=played.plans,
    )


def _by(served: Iterable[Served], name: Callable[[Served], str]) -> dict[str, Figures]:
    groups: dict[str, list[Served]] = {}
    for one in served:
        groups.setdefault(name(one), []).append(one)
    return {key: figures(groups[key]) for key in sorted(groups)}


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over several orders: mean, least, most, and the standard deviation (None from a single order)."""

    mean: float
    least: float
    most: float
    deviation: float | None


def spread(values: Sequence[float | None]) -> Spread | None:
    """Over orders; None if there is none, or if one of them has no figure. The deviation divides by n − 1."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    middle = sum(known) / len(known)
    squares = sum((value - middle) ** 2 for value in known)
    deviation = sqrt(squares / (len(known) - 1)) if len(known) > 1 else None
    return Spread(middle, min(known), max(known), deviation)


@dataclass(frozen=True, slots=True)
class Difference:
    """How a figure differs from another rule's in the same orders: mean, and its standard error (None of one order).

    `noise`: the mean lies within two standard errors of 0; None where one order tells nothing.
    """

    mean: float
    error: float | None
    noise: bool | None


def paired(values: Sequence[float | None], base: Sequence[float | None]) -> Difference | None:
    """Differences of the same orders: mean and deviation ÷ √n. None if an order has no figure."""
    if len(values) != len(base) or None in values or None in base:
        return None
    found = spread([a - b for a, b in zip(values, base, strict=True) if a is not None and b is not None])
    if found is None:
        return None
    error = None if found.deviation is None else found.deviation / sqrt(len(values))
    return Difference(found.mean, error, None if error is None else abs(found.mean) <= 2 * error)
