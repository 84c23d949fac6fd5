"""make bench-quality: how good the decisions are, beside plain rules on the same machines with the same knowledge.

First 20 small instances whose best mean wait CP-SAT knows (it sees all arrivals in advance, no rule does), with true
lengths. Then two teams of Helios Venus, each on its own machines, with lengths that are synthetic: the true one times
1 to 5, the same draw for every rule. Last the first jobs of a week of Philly on 64 machines of 8, lengths drawn alike.
`paika:…` are other policies of the same planner (src/paika/simulation/policies.py). Sources of the
traces: bench/data/README.md.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import resource
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from time import time
from typing import Any

from paika.adapters.trace_csv.reader import CsvTraceReader
from paika.domain.trace import Job
from paika.simulation.baselines import Rule, play_rule
from paika.simulation.load import Cluster, Load, Served, cluster_of, load_of, reordered, with_lengths
from paika.simulation.policies import DEFAULT, POLICIES
from paika.simulation.replay import NAME, play_policy
from paika.simulation.report import allocation, figures, size_class, spread

DATA = Path(__file__).parent / "data"
SEEDS = int(os.environ.get("BENCH_SEEDS", "3"))
LONGEST_FACTOR = 5.0
OURS = (NAME, f"{NAME}:improve", f"{NAME}:easy", f"{NAME}:skip")
SMALL_RULES: tuple[str, ...] = (*OURS, Rule.FIFO_SKIP, Rule.EASY, Rule.SJF)
VENUS_RULES: tuple[str, ...] = (*OURS, Rule.FIFO_SKIP, Rule.EASY, Rule.QSSF)
PHILLY_JOBS = int(os.environ.get("BENCH_JOBS", "3000"))
PHILLY = cluster_of("64x8:A100-80G")
VENUS = {"vcvGl": cluster_of("20x8:A100-80G"), "vcvlY": cluster_of("2x8:A100-80G")}
TOLERANCE_S = 0.01


def rows_of(name: str) -> list[dict[str, str]]:
    """A packed CSV as dictionaries."""
    with gzip.open(DATA / name, "rt", newline="") as file:
        return list(csv.DictReader(file))


def play(rule: str, load: Load, cluster: Cluster) -> tuple[Served, ...]:
    """What became of each work."""
    if rule in OURS:
        played = play_policy(load, cluster, POLICIES[rule.partition(":")[2] or DEFAULT])
    else:
        played = play_rule(Rule(rule), load, cluster)
    assert not played.left, (rule, played.left)
    return played.served


def small() -> list[dict[str, Any]]:
    """One row for each instance: mean waits by rule, and the best known."""
    jobs: dict[str, list[Job]] = {}
    for row in rows_of("small_opt_jobs.csv.gz"):
        job = Job(row["job_id"], float(row["submit_time_s"]), float(row["duration_s"]), int(row["gpus"]))
        jobs.setdefault(row["instance"], []).append(job)
    found = []
    for bound in rows_of("small_opt_bounds.csv.gz"):
        cluster = cluster_of(f"1x{bound['capacity_gpus']}:A100-80G")
        load = load_of(jobs[bound["instance"]], cluster)
        load = with_lengths(load, [1.0] * len(load.works))
        waits = {rule: figures(play(rule, load, cluster)).mean_wait_s or 0.0 for rule in SMALL_RULES}
        for rule, column in ((Rule.FIFO_SKIP, "fifo_skip_wait"), (Rule.SJF, "sjf_skip_wait")):
            assert abs(waits[rule] - float(bound[column])) < TOLERANCE_S, (bound["instance"], rule, waits[rule])
        proven = bound["wait_status"] == "OPTIMAL"
        found.append(
            {"instance": bound["instance"], "best": float(bound["best_avg_wait_s"]), "proven": proven, **waits}
        )
    return found


def show_small(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean and worst ratio to the best known mean wait."""
    proven = sum(row["proven"] for row in rows)
    print(f"{len(rows)} small instances, true lengths: mean wait ÷ best known ({proven} of them proven optimal)")
    print(f"{'rule':<14} {'mean':>7} {'worst':>7} {'Σ ÷ Σ':>7}")
    told = {}
    for rule in SMALL_RULES:
        ratios = [row[rule] / row["best"] for row in rows]
        sums = sum(row[rule] for row in rows) / sum(row["best"] for row in rows)
        told[str(rule)] = {"mean": round(fmean(ratios), 3), "worst": round(max(ratios), 3), "sums": round(sums, 3)}
        print(f"{rule:<14} {fmean(ratios):>7.3f} {max(ratios):>7.3f} {sums:>7.3f}")
    return told


def jobs_of(name: str) -> tuple[Job, ...]:
    """The playable jobs of a trace."""
    return CsvTraceReader().read(gzip.decompress((DATA / f"{name}.csv.gz").read_bytes()), name).playable


def venus() -> list[tuple[str, Sequence[Job], Cluster]]:
    """Each team on its own machines."""
    jobs = jobs_of("helios_venus_2vc_202009")
    return [(team, [job for job in jobs if job.team == team], cluster) for team, cluster in VENUS.items()]


def philly() -> list[tuple[str, Sequence[Job], Cluster]]:
    """All teams on the same machines."""
    return [("philly", jobs_of("philly_week_20171008")[:PHILLY_JOBS], PHILLY)]


def compared(loads: Sequence[tuple[str, Sequence[Job], Cluster]], seed: int) -> dict[str, dict[str, Any]]:
    """Figures by rule and part. The seed draws lengths and the order within a second."""
    parts: dict[str, dict[str, list[Served]]] = {}
    found: dict[str, dict[str, Any]] = {}
    for name, jobs, cluster in loads:
        dice = Random(seed)
        load = load_of(jobs, cluster)
        assert not load.left
        load = with_lengths(load, [dice.uniform(1.0, LONGEST_FACTOR) for _ in load.works])
        load = reordered(load, [dice.random() if seed else 0.0 for _ in load.works])
        for rule in VENUS_RULES:
            served = play(rule, load, cluster)
            found.setdefault(rule, {})[f"allocation {name}"] = allocation(served, cluster.cards)
            of_rule = parts.setdefault(rule, {})
            for one in served:
                for part in ("all", *((name,) if len(loads) > 1 else ()), f"{size_class(one)} cards"):
                    of_rule.setdefault(part, []).append(one)
    for rule, by_part in parts.items():
        for part, served_there in by_part.items():
            got = figures(served_there)
            found[rule][part] = got.mean_wait_s
            if part == "all":
                found[rule] |= {"p95": got.p95_wait_s, "slowdown": got.slowdown, "by cards": got.card_wait_s}
    return found


def show(what: str, runs: Sequence[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """Mean over seeds ± deviation, and the ratio to paika."""
    print(f"\n{what}, {len(runs)} seeds; lengths synthetic, × 1 to 5")
    print("mean waits in s (allocation in %, slowdown a number), mean ± deviation over seeds; in brackets ÷ paika")
    rules = VENUS_RULES
    print(f"{'':<17}", *(f"{rule:>24}" for rule in rules))
    told: dict[str, Any] = {}
    for part in runs[0][NAME]:
        ours = fmean(run[NAME][part] for run in runs)
        cells = []
        for rule in rules:
            found = spread([run[rule][part] for run in runs])
            assert found is not None
            told.setdefault(str(rule), {})[part] = round(found.mean, 3)
            ratio = f"({found.mean / ours:.2f})" if ours else ""
            cells.append(f"{found.mean:>9.1f} ±{found.deviation or 0:>6.1f} {ratio:>7}")
        print(f"{part:<17}", *cells)
    return told


def main(seeds: Iterable[int] = range(SEEDS)) -> int:
    """Print the tables and one JSON line."""
    began = time()
    told_small = show_small(small())
    seeds = list(seeds)
    told_venus = show("Helios Venus, two teams on their own machines", [compared(venus(), seed) for seed in seeds])
    told_philly = show(
        f"Philly, first {PHILLY_JOBS} jobs of a week on {PHILLY.cards} cards", [compared(philly(), n) for n in seeds]
    )
    told = {"small_opt": told_small, "venus": told_venus, "philly": told_philly, "seeds": len(seeds)}
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(f"\nCPU {usage.ru_utime:.0f} s, wall {time() - began:.0f} s")
    print(json.dumps({"bench": "quality", **told}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
