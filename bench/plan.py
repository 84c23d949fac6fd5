"""make bench-plan: seconds a full plan takes, with a reason and a forecast for every task.

`plan` is made from nothing, `again` is the next one, with all promises of the first to keep, after one run ended early.
BENCH_LARGEST=1 adds 100,000 waiting tasks on 10,000 cards.

The baseline in the same run is first-come-first-fit over the same snapshot: it only finds who starts
now, and gives no reason and no forecast. The ratio tells what the answers cost.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from statistics import median
from time import process_time

from worlds import T0, after, cluster

from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.planning.check import check
from paika.planning.planner import plan

SIZES = ((1_000, 64), (1_000, 1_000), (10_000, 64), (10_000, 1_000))
LARGEST = ((100_000, 10_000),)  # with BENCH_LARGEST=1; takes some minutes
ONCE = 100_000  # so many are planned once only


def first_fit(snapshot: Snapshot) -> int:
    """Tasks that plain first-come-first-fit would start: by submit time, first node with enough free cards."""
    vram = {card_type.id: card_type.vram_mib for card_type in snapshot.card_types}
    busy = {card for run in snapshot.runs for card in run.cards}
    free: dict[tuple[str, str], int] = {}
    for card in snapshot.cards:
        if card.id not in busy:
            free[card.node, card.type] = free.get((card.node, card.type), 0) + 1
    started = 0
    for task in sorted(snapshot.tasks, key=lambda t: (t.submitted_at, t.id)):
        need = task.demand.cards_per_node
        fits = [k for k, n in free.items() if n >= need and vram[k[1]] >= task.demand.vram_mib][: task.demand.nodes]
        if len(fits) == task.demand.nodes:
            for key in fits:
                free[key] -= need
            started += 1
    return started


def main() -> int:
    """Print the table and one JSON line."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    policy, rows = Policy(), []
    print("synthetic clusters, seed 7, 93 % busy; CPU seconds, median of", repeats)
    print(
        f"{'waiting':>8} {'cards':>6} {'plan s':>8} {'again s':>8} {'check s':>8} {'first-fit s':>12} {'ratio':>8} "
        f"{'starts':>7} {'forecasts':>10}"
    )
    for waiting, cards in SIZES + (LARGEST if os.environ.get("BENCH_LARGEST") else ()):
        snapshot = cluster(waiting, cards)
        spent: dict[str, list[float]] = {"plan": [], "again": [], "check": [], "first_fit": []}
        for _ in range(repeats if waiting < ONCE else 1):
            begun = process_time()
            made = plan(snapshot, policy, T0)
            planned = process_time()
            broken = check(snapshot, policy, made)
            checked = process_time()
            first_fit(snapshot)
            spent["plan"].append(planned - begun)
            spent["check"].append(checked - planned)
            spent["first_fit"].append(process_time() - checked)
            later = after(snapshot, made)
            begun = process_time()
            plan(later, policy, later.taken_at)
            spent["again"].append(process_time() - begun)
        assert not broken, broken[:3]
        took = {name: median(values) for name, values in spent.items()}
        told = sum(wait.forecast is not None for wait in made.waits)
        ratio = took["plan"] / max(took["first_fit"], 1e-6)
        print(
            f"{waiting:>8} {cards:>6} {took['plan']:>8.3f} {took['again']:>8.3f} {took['check']:>8.3f} "
            f"{took['first_fit']:>12.3f} {ratio:>8.1f} {len(made.starts):>7} {told:>10}",
            flush=True,
        )
        rows.append({"waiting": waiting, "cards": cards, **{k: round(v, 4) for k, v in took.items()}})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"bench": "plan", "rows": rows, "peak_mib": peak}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
