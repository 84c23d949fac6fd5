"""make bench-pack: how full the cards get when pods of Alibaba come at 130 % of all cards and never leave.

Each pod that fits nowhere is turned away; what counts is the part of all cards that is given out in the end. The
planner of the house is asked once for each pod, with everything that it looks at; the heuristics beside it decide on
the same machines in the same order. All count cards and parts of a card; processors and memory of the hosts count for
none. Second table: the pods that want a part of a card, alone, on cards without end: how many cards are touched.
Source of the traces: bench/data/README.md; FGD after Weng et al., "Beware of Fragmentation", USENIX ATC'23.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from time import process_time, time

from paika.domain.card import Card, CardType, Vendor
from paika.domain.node import Node
from paika.domain.person import Person
from paika.domain.policy import Policy
from paika.domain.run import Run, RunState
from paika.domain.snapshot import Snapshot
from paika.domain.task import Demand, Program, Share, Task
from paika.domain.team import Team
from paika.planning.planner import plan

DATA = Path(__file__).parent / "data"
SEEDS = int(os.environ.get("BENCH_SEEDS", "3"))
WHOLE = 1000
T0 = datetime(2026, 1, 5, 9, tzinfo=UTC)
PROGRAM = Program(argv=("true",))
POLICY = replace(Policy(), vram_safety_mib=0, oversize_after_s=0)  # thousandths of a card stand for MiB here


@dataclass(frozen=True, slots=True)
class Pod:
    """What a pod asks: so many cards on one machine, of each so many thousandths."""

    id: str
    cards: int
    milli: int


Left = tuple[int, ...]  # thousandths left on each card of a machine
Seat = tuple[int, tuple[int, ...]]  # machine, cards of it
Rule = Callable[[Pod, list[Left]], Seat | None]


def rows_of(name: str) -> list[dict[str, str]]:
    """A packed CSV as dictionaries."""
    with gzip.open(DATA / f"{name}.csv.gz", "rt", newline="") as file:
        return list(csv.DictReader(file))


def pods() -> dict[str, Pod]:
    """By the last four digits of their ids; those without a card are left out."""
    found = (
        Pod(row["job_id"], int(row["gpus"]), int(row["gpu_milli"])) for row in rows_of("openb_mini10_pods_default")
    )
    return {pod.id[-4:].lstrip("0") or "0": pod for pod in found if pod.cards}


def arrivals(column: str, known: dict[str, Pod]) -> list[Pod]:
    """The pods in the order of one seed; some come twice, as other pods of the same kind."""
    numbers = (row[column] for row in rows_of("openb_mini10_arrival_order_tune13"))
    return [replace(known[number], id=f"p{n:05d}") for n, number in enumerate(numbers) if number in known]


def cards_for(pod: Pod, left: Left) -> tuple[int, ...] | None:
    """The cards of a machine that a pod takes: the fullest that still has room."""
    able = sorted((free, card) for card, free in enumerate(left) if free >= pod.milli)
    return tuple(card for _, card in able[: pod.cards]) if len(able) >= pod.cards else None


def after(pod: Pod, left: Left, cards: Iterable[int]) -> Left:
    """What is left then."""
    taken = frozenset(cards)
    return tuple(free - pod.milli if card in taken else free for card, free in enumerate(left))


def first_fit(pod: Pod, machines: list[Left]) -> Seat | None:
    """The first machine, and on it the first cards, with room."""
    for node, left in enumerate(machines):
        able = [card for card, free in enumerate(left) if free >= pod.milli]
        if len(able) >= pod.cards:
            return node, tuple(able[: pod.cards])
    return None


def _by(score: Callable[[Pod, Left, tuple[int, ...]], float]) -> Rule:
    def rule(pod: Pod, machines: list[Left]) -> Seat | None:
        seats = ((node, cards) for node, left in enumerate(machines) if (cards := cards_for(pod, left)))
        return min(seats, key=lambda seat: (score(pod, machines[seat[0]], seat[1]), seat[0]), default=None)

    return rule


def best_card(pod: Pod, left: Left, cards: tuple[int, ...]) -> float:
    """Least left on the cards taken, then least left on the machine."""
    return (sum(left[card] for card in cards) - pod.cards * pod.milli) * 100 + sum(left) / WHOLE


def fragments(kinds: dict[tuple[int, int], float]) -> Callable[[Pod, Left, tuple[int, ...]], float]:
    """FGD: how much more of a machine an average pod cannot use afterwards."""

    @cache
    def lost(left: Left) -> float:
        total = 0.0
        for (cards, milli), part in kinds.items():
            room = sum(free >= milli for free in left)
            useless = sum(left) if room < cards else sum(free for free in left if free < milli)
            total += part * useless
        return total

    def score(pod: Pod, left: Left, cards: tuple[int, ...]) -> float:
        return lost(tuple(sorted(after(pod, left, cards)))) - lost(tuple(sorted(left)))

    return score


def heuristics(known: Iterable[Pod]) -> dict[str, Rule]:
    """The rules to measure against."""
    counted = Counter((pod.cards, pod.milli) for pod in known)
    kinds = {kind: count / counted.total() for kind, count in counted.items()}
    return {
        "first fit": first_fit,
        "best fit": _by(lambda pod, left, cards: sum(left) - pod.cards * pod.milli),
        "best card": _by(best_card),
        "worst fit": _by(lambda pod, left, cards: -sum(left)),
        "fgd": _by(fragments(kinds)),
    }


def packed(rule: Rule, order: Sequence[Pod], machines: list[Left]) -> tuple[int, int]:
    """Thousandths of cards given out, and pods turned away, by one rule."""
    given = turned = 0
    for pod in order:
        seat = rule(pod, machines)
        if seat is None:
            turned += 1
            continue
        machines[seat[0]] = after(pod, machines[seat[0]], seat[1])
        given += pod.cards * pod.milli
    return given, turned


class Planned:
    """The planner of the house as a rule: one plan for each pod, with all runs so far."""

    def __init__(self, sizes: Sequence[int]) -> None:
        kind = CardType("openb", "openb", Vendor.VIRTUAL, WHOLE, None, 1000)
        nodes = tuple(Node(f"n{n:04d}", "lab", "bench") for n in range(len(sizes)))
        cards = tuple(
            Card(f"{node.id}-{c}", node.id, c, kind.id, WHOLE) for node, size in zip(nodes, sizes, strict=True)
            for c in range(size)
        )  # fmt: skip
        self.runs: list[Run] = []
        self.house = Snapshot(
            1, T0, (kind,), nodes, cards, people=(Person("p", "p"),), teams=(Team("t", "t"),)
        )  # fmt: skip
        self.places = {node.id: n for n, node in enumerate(nodes)}

    def __call__(self, pod: Pod, machines: list[Left]) -> Seat | None:
        share = Share(pod.milli, pod.milli // 10) if pod.milli < WHOLE else None
        task = Task(pod.id, pod.id, "p", "t", T0, PROGRAM, Demand(pod.cards, share=share))
        made = plan(replace(self.house, runs=tuple(self.runs), tasks=(task,)), POLICY, T0)
        if not made.starts:
            return None
        start = made.starts[0]
        run = Run(
            f"r-{pod.id}", pod.id, 1, "", "p", "t", task.tier, start.parts, start.parts_held, T0, "bench",
            share=share, state=RunState.RUNNING, started_at=T0,
        )  # fmt: skip
        self.runs.append(run)
        (part,) = start.parts
        return self.places[part.node], tuple(int(card.rpartition("-")[2]) for card in part.cards)


def main() -> int:
    """Print both tables and one JSON line."""
    known = pods()
    sizes = [int(row["gpus"]) for row in rows_of("openb_mini10_nodes")]
    names = ["paika", *heuristics(known.values())]
    columns = [f"seed{42 + n}" for n in range(SEEDS)]
    full: dict[str, list[float]] = {name: [] for name in names}
    turned: dict[str, list[int]] = {name: [] for name in names}
    cpu = dict.fromkeys(names, 0.0)
    wall = dict.fromkeys(names, 0.0)
    shared: dict[str, list[int]] = {name: [] for name in names}
    floor: list[int] = []
    for column in columns:
        order = arrivals(column, known)
        parts = [pod for pod in order if pod.milli < WHOLE]
        floor.append(-(-sum(pod.milli for pod in parts) // WHOLE))
        for name in names:
            rules = heuristics(known.values())
            begun, began = process_time(), time()
            given, away = packed(rules.get(name) or Planned(sizes), order, [(WHOLE,) * size for size in sizes])
            cpu[name] += process_time() - begun
            wall[name] += time() - began
            full[name].append(100 * given / (WHOLE * sum(sizes)))
            turned[name].append(away)
            plenty = [8] * (floor[-1] // 4)
            machines: list[Left] = [(WHOLE,) * size for size in plenty]
            assert packed(rules.get(name) or Planned(plenty), parts, machines)[1] == 0
            shared[name].append(sum(free < WHOLE for left in machines for free in left))
    offered = fmean(
        sum(p.cards * p.milli for p in arrivals(c, known)) / (10 * sum(sizes)) for c in columns
    )  # fmt: skip
    print(f"openb mini: {len(sizes)} machines, {sum(sizes)} cards, pods for {offered:.0f} % of them, "
          f"{SEEDS} orders; Python {platform.python_version()}")  # fmt: skip
    print(f"{'rule':<10} {'given out %':>16} {'turned away':>12} {'shares: cards':>14} {'÷ bound':>8}"
          f" {'CPU s':>7} {'wall s':>7}")  # fmt: skip
    rows = []
    for name in names:
        spread = stdev(full[name]) if SEEDS > 1 else 0.0
        cards, bound = fmean(shared[name]), fmean(floor)
        print(f"{name:<10} {fmean(full[name]):>9.2f} ± {spread:>4.2f} {fmean(turned[name]):>12.1f} {cards:>14.1f}"
              f" {cards / bound:>8.3f} {cpu[name]:>7.2f} {wall[name]:>7.2f}")  # fmt: skip
        rows.append({
            "rule": name, "given_percent": round(fmean(full[name]), 3), "turned_away": round(fmean(turned[name]), 1),
            "share_cards": round(cards, 1), "cpu_s": round(cpu[name], 2), "wall_s": round(wall[name], 2),
        })  # fmt: skip
    print(json.dumps({"bench": "pack", "cards": sum(sizes), "offered_percent": round(offered, 1), "orders": SEEDS,
                      "share_cards_bound": fmean(floor), "rows": rows}))  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
