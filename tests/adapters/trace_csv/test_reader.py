"""The neutral CSV: columns, unknowns, and bad rows that cost one row."""

from __future__ import annotations

import pytest

from paika.adapters.trace_csv.reader import CsvTraceReader
from paika.domain.task import Tier
from paika.domain.trace import FlawKind, Job, Trace, UnreadableTrace

HEAD = (
    "job_id,user,team,submit_time_s,duration_s,gpus,gpu_milli,gpu_type,cpu_milli,mem_mib,"
    "priority,deadline_s,state,nodes_hint"
)


def read(*rows: str, head: str = HEAD) -> Trace:
    return CsvTraceReader().read("\n".join([head, *rows, ""]).encode(), "t.csv")


def test_a_full_row():
    trace = read("765565,uJ,vcl,5842,46520,16,,V100|T4,,,,,CANCELED,2")
    job = Job("765565", 5842, 46520, 16, 2, ("V100", "T4"), "vcl", "uJ", line=2)
    assert trace.jobs == (job,)
    assert trace.flaws == ()
    assert trace.origin is None


def test_empty_cells_are_unknown():
    job = read("p1,,,0,,1,,,,,,,,").jobs[0]
    assert (job.user, job.team, job.duration_s, job.nodes, job.tier, job.limit_s) == (None,) * 6
    assert not job.playable


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("p1,,,x,5,1,,,,,,,,", "submit_time_s"),
        ("p1,,,,5,1,,,,,,,,", "submit_time_s"),
        ("p1,,,0,-5,1,,,,,,,,", "duration_s"),
        ("p1,,,0,nan,1,,,,,,,,", "duration_s"),
        ("p1,,,0,5,1.5,,,,,,,,", "gpus"),
        (",,,0,5,1,,,,,,,,", "job_id"),
        ("p1,,,0,5,1,x,,,,,,,", "gpu_milli"),
    ],
)
def test_a_bad_cell_costs_its_row_only(row: str, field: str):
    trace = read(row, "p2,,,1,5,1,,,,,,,,")
    assert [job.id for job in trace.jobs] == ["p2"]
    assert [(flaw.line, flaw.kind, flaw.field, flaw.lost) for flaw in trace.flaws] == [(2, FlawKind.VALUE, field, True)]


def test_a_row_of_another_length_is_named():
    trace = read("p1,,,0,5", "p2,,,1,5,1,,,,,,,,")
    assert [(flaw.line, flaw.kind, flaw.job) for flaw in trace.flaws] == [(2, FlawKind.FIELDS, "p1")]


def test_odd_rows_are_kept_and_told():
    trace = read("a,,,10,5,1,460,,,,,,,", "b,,,5,5,0,,,,,,,,", "a,,,10,5,1,,,,,,,,")
    assert [job.id for job in trace.jobs] == ["b", "a", "a~2"]
    kinds = [(flaw.line, flaw.kind) for flaw in trace.flaws]
    assert kinds == [
        (2, FlawKind.PART),
        (3, FlawKind.UNSORTED),
        (3, FlawKind.NO_CARDS),
        (4, FlawKind.TWICE),
    ]
    assert [job.id for job in trace.playable] == ["a", "a~2"]


def test_our_own_columns():
    head = "job_id,submit_time_s,duration_s,gpus,nodes,tier,limit_s,estimate_s"
    trace = read("a,0,50,16,2,core,40,30", head=head)
    job = trace.jobs[0]
    assert (job.nodes, job.tier, job.limit_s, job.estimate_s) == (2, Tier.CORE, 40, 30)
    assert [flaw.kind for flaw in trace.flaws] == [FlawKind.OVER_LIMIT]


@pytest.mark.parametrize(
    ("data", "cause"), [(b"a,b\n1,2\n", "columns"), (b"", "columns"), (b"\xff\xfe\x00x", "encoding")]
)
def test_what_is_no_trace_is_refused(data: bytes, cause: str):
    with pytest.raises(UnreadableTrace) as refused:
        CsvTraceReader().read(data, "t")
    assert refused.value.cause == cause
