"""Exports of sacct: columns by their header, steps, unknowns, zones, and lines that cost one line."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from paika.adapters.trace_sacct.reader import SacctTraceReader
from paika.domain.trace import FlawKind, Job, Trace, UnreadableTrace

HEAD = "JobID|User|Account|Submit|Start|End|TimelimitRaw|AllocTRES|ReqTRES|State|NNodes"
TRES = "billing=8,cpu=8,gres/gpu:a100=16,gres/gpu=16,mem=64G,node=2"


def read(*rows: str, head: str = HEAD, zone: str = "UTC") -> Trace:
    return SacctTraceReader(ZoneInfo(zone)).read("\n".join([head, *rows, ""]).encode(), "s.txt")


def row(job: str = "7", submit: str = "2026-01-05T09:00:00", start: str = "2026-01-05T09:00:30",
        end: str = "2026-01-05T10:00:30", limit: str = "120", alloc: str = TRES, req: str = "",
        state: str = "COMPLETED", nodes: str = "2") -> str:  # fmt: skip
    return "|".join((job, "ann", "vision", submit, start, end, limit, alloc, req, state, nodes))


def test_a_full_line():
    trace = read(row())
    wanted = Job("7", 0, 3600, 16, 2, ("a100",), "vision", "ann", limit_s=7200, wait_s=30, line=2)
    assert (trace.jobs, trace.flaws) == ((wanted,), ())
    assert trace.origin == datetime(2026, 1, 5, 9, tzinfo=UTC)


def test_times_are_read_in_the_zone_given():
    assert read(row(), zone="Asia/Shanghai").origin == datetime(2026, 1, 5, 1, tzinfo=UTC)


def test_a_change_of_clocks_makes_no_run_longer():
    """In Berlin 2026-10-25 two o'clock comes twice: 3 hours by the clock on the wall are 4."""
    job = read(row(submit="2026-10-25T00:30:00", start="2026-10-25T00:30:00", end="2026-10-25T03:30:00"),
               zone="Europe/Berlin").jobs[0]  # fmt: skip
    assert job.duration_s == 4 * 3600


def test_columns_come_in_any_order_and_others_are_left_alone():
    head = "Partition|End|JobID|Start|Submit|ReqTRES|Timelimit|"
    trace = read(
        "gpu|2026-01-05T10:00:00|7_3|2026-01-05T09:00:00|2026-01-05T08:00:00|gres/gpu=4|1-02:00:00|", head=head
    )
    (job,) = trace.jobs
    assert (job.id, job.cards, job.limit_s, job.wait_s, job.user, job.nodes) == ("7_3", 4, 93_600, 3600, None, None)


@pytest.mark.parametrize(
    ("said", "wanted"), [("05:00", 300), ("02:00:00", 7200), ("3-00:00:00", 259_200), ("UNLIMITED", None), ("", None)]
)
def test_limits_in_words(said: str, wanted: float | None):
    line = row(limit=said)
    assert read(line, head=HEAD.replace("TimelimitRaw", "Timelimit")).jobs[0].limit_s == wanted


def test_steps_are_parts_of_their_job():
    trace = read(row(), row("7.batch", nodes="1"), row("7.0"), row("8"))
    assert ([job.id for job in trace.jobs], trace.flaws) == (["7", "8"], ())


@pytest.mark.parametrize(
    ("alloc", "req", "cards", "types"),
    [
        ("cpu=4,gres/gpu=2", "gres/gpu=9", 2, ()),
        ("", "cpu=1,gres/gpu:h800=3", 3, ("h800",)),
        ("gres/gpu:a100=1,gres/gpu:h800=2", "", 3, ("a100", "h800")),
        ("cpu=4", "", 0, ()),
        ("", "", None, ()),
    ],
)
def test_cards(alloc: str, req: str, cards: int | None, types: tuple[str, ...]):
    job = read(row(alloc=alloc, req=req)).jobs[0]
    assert (job.cards, job.types) == (cards, types)


def test_what_is_not_known_is_not_played():
    trace = read(
        row("1", end="Unknown", state="RUNNING"),
        row("2", start="Unknown", end="2026-01-05T09:10:00", state="CANCELLED by 1000", alloc=""),
        row("3", start="None", end="Unknown", state="PENDING"),
    )
    assert [job.playable for job in trace.jobs] == [False] * 3
    kinds = [(flaw.line, flaw.kind, flaw.lost) for flaw in trace.flaws]
    assert kinds == [
        (2, FlawKind.NO_LENGTH, False),
        (3, FlawKind.NEVER_RAN, False),
        (4, FlawKind.NO_LENGTH, False),
    ]


@pytest.mark.parametrize(
    ("bad", "kind", "field"),
    [
        (row("1") + "|x", FlawKind.FIELDS, ""),
        (row("1", submit="yesterday"), FlawKind.VALUE, "Submit"),
        (row("1", submit="Unknown"), FlawKind.VALUE, "Submit"),
        (row("1", end="2026-01-05T08:00:00"), FlawKind.VALUE, "End"),
        (row("1", limit="-4"), FlawKind.VALUE, "TimelimitRaw"),
        (row("1", nodes="two"), FlawKind.VALUE, "NNodes"),
        (row(""), FlawKind.VALUE, "JobID"),
    ],
)
def test_a_bad_line_costs_that_line(bad: str, kind: FlawKind, field: str):
    trace = read(row("0"), bad, row("9"))
    assert [job.id for job in trace.jobs] == ["0", "9"]
    assert [(flaw.line, flaw.kind, flaw.field, flaw.lost) for flaw in trace.flaws] == [(3, kind, field, True)]


def test_odd_lines_are_kept_and_told():
    trace = read(row("7"), row("7"), row("8", submit="2026-01-05T08:00:00"), row("9", limit="30"))
    assert [job.id for job in trace.jobs] == ["8", "7", "7~2", "9"]
    assert [flaw.kind for flaw in trace.flaws] == [FlawKind.TWICE, FlawKind.UNSORTED, FlawKind.OVER_LIMIT]


@pytest.mark.parametrize(("head", "cause"), [("JobID|User", "columns"), ("", "columns"), (HEAD, "empty")])
def test_what_is_no_export(head: str, cause: str):
    with pytest.raises(UnreadableTrace) as refused:
        read(head=head)
    assert refused.value.cause == cause
