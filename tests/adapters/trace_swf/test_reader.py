"""Case C42: an old trace with holes. Each test is a line of its right answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from paika.adapters.trace_swf.reader import SwfTraceReader
from paika.domain.trace import FlawKind, Job, Segment, Trace, UnreadableTrace

CASE = Path(__file__).parents[2] / "cases/C42"


def read(name: str, *, absolute: bool = False) -> Trace:
    return SwfTraceReader(absolute=absolute).read((CASE / name).read_bytes(), name)


TRACE = read("trace.swf")


def job(number: str) -> Job:
    return next(job for job in TRACE.jobs if job.id == number)


def flaws(kind: FlawKind) -> list[tuple[str, int]]:
    return [(flaw.job, flaw.line) for flaw in TRACE.flaws if flaw.kind is kind]


def test_a_plain_job_has_its_start_end_and_processor_seconds():
    one = job("1")
    assert TRACE.origin is not None
    assert one.wait_s is not None
    start = TRACE.origin + timedelta(seconds=one.submit_s + one.wait_s)
    assert start == datetime.fromtimestamp(1735689610, UTC)
    assert start + timedelta(seconds=one.duration_s or 0) == datetime.fromtimestamp(1735689710, UTC)
    assert (one.cards, one.card_seconds) == (4, 400)
    assert (one.user, one.team, one.limit_s) == ("u5", "g2", 3600)


def test_what_was_cancelled_before_its_start_never_ran_and_adds_nothing():
    assert (job("3").started, job("3").playable, job("3").card_seconds) == (False, False, 0)
    assert flaws(FlawKind.NEVER_RAN) == [("3", 13)]


def test_a_run_over_its_limit_is_kept_and_flagged():
    assert job("4").duration_s == 3700
    assert flaws(FlawKind.OVER_LIMIT) == [("4", 14)]


def test_unsorted_lines_are_sorted():
    order = [one.id for one in TRACE.jobs]
    assert order.index("5") < order.index("3")
    assert ("5", 15) in flaws(FlawKind.UNSORTED)


def test_a_run_of_no_length_is_kept():
    assert (job("6").playable, job("6").card_seconds) == (True, 0)


def test_a_negative_wait_is_unknown():
    assert job("7").wait_s is None
    assert flaws(FlawKind.WAIT) == [("7", 17)]


def test_minus_one_is_unknown():
    assert (job("8").cards, job("8").limit_s) == (16, None)


def test_a_number_that_stands_twice_is_told_and_nothing_is_lost():
    assert flaws(FlawKind.TWICE) == [("10", 21)]
    assert sorted(one.submit_s for one in TRACE.jobs if one.id.startswith("10")) == [240, 240.5]


def test_pieces_of_one_run_are_one_job():
    assert [one.id for one in TRACE.jobs if one.id.startswith("12")] == ["12"]
    assert job("12").segments == (Segment(300, 500), Segment(800, 500))
    assert (job("12").submit_s, job("12").duration_s) == (300, 1000)


def test_a_job_follows_another_after_some_thought():
    assert (job("13").after, job("13").think_s) == ("1", 60)


def test_lines_with_a_field_too_few_or_too_many_are_named_and_the_rest_is_read():
    assert flaws(FlawKind.FIELDS) == [("14", 25), ("15", 26)]
    assert [flaw.job for flaw in TRACE.flaws if flaw.lost] == ["14", "15"]
    assert len(TRACE.jobs) == 13


def test_the_sum():
    assert sum(job(number).card_seconds or 0 for number in "124") == 16_800


def test_the_header_tells_the_cluster():
    assert (TRACE.nodes, TRACE.cards) == (8, 64)


def test_an_unknown_start_is_not_guessed():
    trace = read("trace_unknown_start.swf")
    assert (trace.origin, trace.nodes, trace.cards) == (None, None, None)
    assert (trace.jobs[0].submit_s, trace.jobs[0].wait_s, trace.jobs[0].cards) == (1612345678, 0, 8)


def test_seconds_since_1970_only_on_request():
    trace = read("trace_unknown_start.swf", absolute=True)
    assert trace.origin == datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("word", ["x", "nan", "inf", "-2", "1e300"])
def test_a_value_that_cannot_be_costs_its_line_only(word: str):
    good = "1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1"
    bad = f"2 0 0 {word} 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1"
    trace = SwfTraceReader().read(f"{good}\n{bad}\n".encode(), "x")
    assert [one.id for one in trace.jobs] == ["1"]
    assert [(flaw.line, flaw.kind, flaw.field) for flaw in trace.flaws] == [(2, FlawKind.VALUE, "run")]


def test_a_parent_that_is_not_there_is_told():
    trace = SwfTraceReader().read(b"1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 77 5\n", "x")
    assert trace.jobs[0].after is None
    assert [(flaw.kind, flaw.detail) for flaw in trace.flaws] == [(FlawKind.PARENT, "77")]


def test_what_is_no_trace_is_refused():
    with pytest.raises(UnreadableTrace):
        SwfTraceReader().read(b"; nothing\nhello world\n", "x")
