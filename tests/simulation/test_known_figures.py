"""The plain rules find the figures that others found for the same loads, with a simulator of their own."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest
from tests.simulation.loads import job, load

from paika.simulation.baselines import Rule, play_rule
from paika.simulation.load import cluster_of
from paika.simulation.report import report

DATA = Path(__file__).parents[2] / "bench/data"


def rows(name: str) -> list[dict[str, str]]:
    with gzip.open(DATA / name, "rt", newline="") as file:
        return list(csv.DictReader(file))


JOBS = rows("small_opt_jobs.csv.gz")


@pytest.mark.parametrize("bound", rows("small_opt_bounds.csv.gz"), ids=lambda bound: bound["instance"])
def test_small_instances(bound: dict[str, str]):
    cluster = cluster_of(f"1x{bound['capacity_gpus']}:A100-80G")
    mine = [row for row in JOBS if row["instance"] == bound["instance"]]
    jobs = [job(row["job_id"], float(row["submit_time_s"]), float(row["duration_s"]), int(row["gpus"])) for row in mine]
    made = load(*jobs, cluster=cluster)
    for rule, name in ((Rule.FIFO, "fifo_strict"), (Rule.FIFO_SKIP, "fifo_skip"), (Rule.SJF, "sjf_skip")):
        found = report(play_rule(rule, made, cluster), cluster.cards)
        assert found.total.mean_wait_s == pytest.approx(float(bound[f"{name}_wait"]), abs=0.01), rule
        assert (found.makespan_s or 0) + jobs[0].submit_s == pytest.approx(float(bound[f"{name}_mk"])), rule
