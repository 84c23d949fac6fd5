"""make bench-replay: jobs a replay plays in a second of CPU: the first jobs of a week of Philly on 64 machines of 8.

The baselines in the same run are the plain rules, which count cards and explain nothing. A plan with a reason and a
forecast for every waiting task is made at each event; 'paika:skip' is a plain policy (submit order, who does not fit is
passed over) through the whole planner, the third row plans once a minute. True lengths are known to all. BENCH_JOBS
sets how many jobs are played (13,484 is the whole week). Source of the trace: bench/data/README.md.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
import resource
from collections.abc import Callable
from pathlib import Path
from time import process_time, time

from paika.adapters.trace_csv.reader import CsvTraceReader
from paika.domain.policy import Policy
from paika.simulation.baselines import Rule, play_rule
from paika.simulation.load import Played, cluster_of, load_of, with_lengths
from paika.simulation.policies import POLICIES
from paika.simulation.replay import NAME, play_policy
from paika.simulation.report import report

TRACE = Path(__file__).parent / "data/philly_week_20171008.csv.gz"
JOBS = int(os.environ.get("BENCH_JOBS", "3000"))
CLUSTER = cluster_of(os.environ.get("BENCH_CLUSTER", "64x8:A100-80G"))


def main() -> int:
    """Print the table and one JSON line."""
    trace = CsvTraceReader().read(gzip.decompress(TRACE.read_bytes()), TRACE.name)
    load = load_of(trace.playable[:JOBS], CLUSTER)
    load = with_lengths(load, [1.0] * len(load.works))
    ways: dict[str, Callable[[], Played]] = {
        NAME: lambda: play_policy(load, CLUSTER, Policy()),
        f"{NAME}:skip": lambda: play_policy(load, CLUSTER, POLICIES["skip"]),
        f"{NAME}, every 60 s": lambda: play_policy(load, CLUSTER, Policy(), every_s=60),
        **{rule.value: lambda rule=rule: play_rule(rule, load, CLUSTER) for rule in Rule},  # type: ignore[misc]
    }
    print(
        f"{len(load.works)} jobs of Philly on {CLUSTER.cards} cards, true lengths; Python {platform.python_version()}"
    )
    print(
        f"{'rule':<18} {'CPU s':>8} {'wall s':>8} {'jobs/s':>9} {'÷ paika':>8} {'plans':>7} "
        f"{'mean wait s':>12} {'÷ paika':>8}"
    )
    rows: list[dict[str, float | str]] = []
    for name, way in ways.items():
        begun, began = process_time(), time()
        played = way()
        took, lasted = process_time() - begun, time() - began
        assert not played.left
        wait = report(played, CLUSTER.cards).total.mean_wait_s or 0.0
        row = {
            "cpu_s": round(took, 3),
            "wall_s": round(lasted, 3),
            "jobs_per_s": round(len(load.works) / took, 1),
            "mean_wait_s": round(wait, 1),
        }
        rows.append({"rule": name, "plans": played.plans, **row})
        speed, waits = (float(row[key]) / float(rows[0][key] or 1) for key in ("jobs_per_s", "mean_wait_s"))
        print(
            f"{name:<18} {took:>8.2f} {lasted:>8.2f} {row['jobs_per_s']:>9.1f} {speed:>8.2f} {played.plans:>7} "
            f"{wait:>12.1f} {waits:>8.3f}",
            flush=True,
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        json.dumps({"bench": "replay", "jobs": len(load.works), "cards": CLUSTER.cards, "rows": rows, "peak_mib": peak})
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
