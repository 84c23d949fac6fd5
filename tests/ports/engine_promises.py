"""What every engine promises. Inherit, supply the hooks; the promises are the tests."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from paika.domain.card import Vendor
from paika.domain.run import EndCause
from paika.domain.task import Program
from paika.ports.engine import Engine, Launch, LaunchPart, ReportState, RunReport

PATIENCE_S = 60.0
TOKEN = f"t-{os.getpid()}"  # test processes side by side must not take each other's runs for theirs


def launch(run: str, program: Program, nodes: tuple[str, ...] = ("n1",), **changes: object) -> Launch:
    """An order for one virtual card on each node."""
    parts = tuple(LaunchPart(r, node, (f"{node}-card",), Vendor.VIRTUAL, (r,)) for r, node in enumerate(nodes))
    order = Launch(
        run=run,
        token=TOKEN,
        task="task-1",
        name="train",
        owner="ann",
        team="vision",
        program=program,
        parts=parts,
        limit_s=None,
        stop_signal="TERM",
        grace_s=1,
        log_budget_bytes=1 << 20,
    )
    return replace(order, **changes)  # type: ignore[arg-type]


class EnginePromises:
    """The hooks first. `unreachable` holds the nodes whose agent does not answer."""

    unreachable: set[str]

    @pytest.fixture
    def engine(self) -> Iterator[Engine]:
        """An engine with nodes n1 and n2 and nothing on them."""
        raise NotImplementedError

    def restarted(self, engine: Engine) -> Engine:
        """The server died and came back: another object, the same runs."""
        raise NotImplementedError

    def pass_time(self, seconds: float) -> None:
        """Let time go by."""
        time.sleep(seconds)

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleeps(self, seconds: int) -> Program:
        return Program(argv=("sleep", str(seconds)))

    def exits(self, code: int) -> Program:
        raise NotImplementedError

    def dies_of(self, signal: str) -> Program:
        raise NotImplementedError

    def says(self, text: str, seconds: int) -> Program:
        raise NotImplementedError

    def stubborn(self, seconds: int) -> Program:
        """Heeds no stop signal."""
        raise NotImplementedError

    def report(self, engine: Engine, run: str = "r1", token: str = TOKEN) -> RunReport:
        (report,) = engine.observe({run: token})
        assert (report.run, report.token) == (run, token)
        return report

    def until(self, engine: Engine, state: ReportState, run: str = "r1", token: str = TOKEN) -> RunReport:
        """The first report in this state."""
        deadline = self.now().timestamp() + PATIENCE_S
        while (report := self.report(engine, run, token)).state is not state:
            assert report.state is not ReportState.ENDED, report
            assert self.now().timestamp() < deadline, report
            self.pass_time(0.02)
        return report

    def ended(self, engine: Engine, run: str = "r1", token: str = TOKEN) -> RunReport:
        return self.until(engine, ReportState.ENDED, run, token)

    # Starting

    def test_a_run_never_heard_of_is_absent(self, engine: Engine) -> None:
        report = self.report(engine, "nobody")
        assert (report.state, report.cause, report.started_at, report.pids) == (ReportState.ABSENT, None, None, ())

    def test_a_run_is_reported_running_with_its_start_and_processes(self, engine: Engine) -> None:
        before = self.now()
        engine.start(launch("r1", self.sleeps(60)))
        report = self.until(engine, ReportState.RUNNING)
        assert report.started_at is not None
        assert before <= report.started_at <= self.now()
        assert (report.ended_at, report.cause) == (None, None)
        assert report.pids

    def test_a_second_start_is_a_no_op(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(60)))
        first = self.until(engine, ReportState.RUNNING)
        engine.start(launch("r1", self.sleeps(60)))
        self.pass_time(0.3)
        again = self.report(engine)
        assert (again.started_at, again.pids) == (first.started_at, first.pids)

    def test_a_run_that_ended_does_not_start_again(self, engine: Engine) -> None:
        engine.start(launch("r1", self.exits(3)))
        first = self.ended(engine)
        engine.start(launch("r1", self.exits(3)))
        self.pass_time(0.3)
        assert self.report(engine) == first

    def test_starts_from_many_threads_start_once(self, engine: Engine) -> None:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(engine.start, [launch("r1", self.says("once\n", 60))] * 8))
        self.until(engine, ReportState.RUNNING)
        self.pass_time(0.5)
        assert len(self.report(engine).pids) == 1
        chunk = engine.read_log("r1", TOKEN, 0, 100)
        assert chunk is not None
        assert chunk.data == b"once\n"

    def test_a_run_id_with_another_token_is_refused_and_harms_nobody(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(60)))
        self.until(engine, ReportState.RUNNING)
        assert self.report(engine, token="other").state is ReportState.ABSENT
        engine.start(launch("r1", self.sleeps(60), token="other"))
        report = self.ended(engine, token="other")
        assert (report.cause, report.detail) == (EndCause.START_FAILED, "run_id_taken")
        engine.stop("r1", "other", EndCause.CANCELLED)
        self.pass_time(0.3)
        assert self.report(engine).state is ReportState.RUNNING
        assert engine.read_log("r1", "another", 0, 10) is None

    @pytest.mark.parametrize(
        ("program", "detail"),
        [
            (Program(argv=("/no/such/command", "x")), "command_not_found: /no/such/command"),
            (Program(argv=("sleep", "1"), workdir="/no/such/folder"), "workdir_missing: /no/such/folder"),
            (Program(), "command_not_found: "),
        ],
    )
    def test_what_cannot_start_says_why(self, engine: Engine, program: Program, detail: str) -> None:
        engine.start(launch("r1", program))
        report = self.ended(engine)
        assert (report.cause, report.detail, report.started_at) == (EndCause.START_FAILED, detail, None)
        assert report.ended_at is not None

    # Ending

    def test_a_good_end(self, engine: Engine) -> None:
        engine.start(launch("r1", self.exits(0)))
        report = self.ended(engine)
        assert (report.cause, report.exit_code, report.signal, report.pids) == (EndCause.DONE, 0, None, ())
        assert report.started_at is not None
        assert report.ended_at is not None
        assert report.started_at <= report.ended_at <= self.now()

    def test_an_exit_code(self, engine: Engine) -> None:
        engine.start(launch("r1", self.exits(3)))
        report = self.ended(engine)
        assert (report.cause, report.exit_code, report.signal) == (EndCause.EXIT_CODE, 3, None)

    def test_a_signal_of_its_own(self, engine: Engine) -> None:
        engine.start(launch("r1", self.dies_of("SEGV")))
        report = self.ended(engine)
        assert (report.cause, report.exit_code, report.signal) == (EndCause.SIGNAL, None, "SEGV")

    def test_the_limit_ends_it(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(60), limit_s=1))
        report = self.ended(engine)
        assert report.cause is EndCause.LIMIT
        assert report.started_at is not None
        assert report.ended_at is not None
        assert (report.ended_at - report.started_at).total_seconds() >= 1

    @pytest.mark.parametrize("cause", [EndCause.CANCELLED, EndCause.PREEMPTED, EndCause.LOST_CARD, EndCause.RECLAIMED])
    def test_a_stop_ends_it_with_the_asked_cause(self, engine: Engine, cause: EndCause) -> None:
        engine.start(launch("r1", self.sleeps(60)))
        self.until(engine, ReportState.RUNNING)
        engine.stop("r1", TOKEN, cause)
        report = self.ended(engine)
        assert (report.cause, report.signal, report.pids) == (cause, "TERM", ())

    def test_the_stop_signal_is_the_runs_own(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(60), stop_signal="USR1"))
        self.until(engine, ReportState.RUNNING)
        engine.stop("r1", TOKEN, EndCause.PREEMPTED)
        assert self.ended(engine).signal == "USR1"

    def test_who_heeds_no_signal_is_killed_after_the_grace(self, engine: Engine) -> None:
        engine.start(launch("r1", self.stubborn(60)))
        self.until(engine, ReportState.RUNNING)
        self.pass_time(0.3)
        asked_at = self.now()
        engine.stop("r1", TOKEN, EndCause.CANCELLED)
        self.until(engine, ReportState.STOPPING)
        report = self.ended(engine)
        assert (report.cause, report.signal) == (EndCause.CANCELLED, "KILL")
        assert report.ended_at is not None
        assert (report.ended_at - asked_at).total_seconds() >= 1

    def test_a_stop_can_be_asked_often_and_the_first_cause_counts(self, engine: Engine) -> None:
        engine.start(launch("r1", self.stubborn(60)))
        self.until(engine, ReportState.RUNNING)
        for cause in (EndCause.PREEMPTED, EndCause.CANCELLED, EndCause.PREEMPTED):
            engine.stop("r1", TOKEN, cause)
        report = self.ended(engine)
        assert report.cause is EndCause.PREEMPTED
        engine.stop("r1", TOKEN, EndCause.CANCELLED)
        assert self.report(engine) == report

    def test_a_stop_at_once_after_the_start(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(60)))
        engine.stop("r1", TOKEN, EndCause.CANCELLED)
        assert self.ended(engine).cause is EndCause.CANCELLED

    def test_a_stop_after_the_end_changes_nothing(self, engine: Engine) -> None:
        engine.start(launch("r1", self.exits(0)))
        report = self.ended(engine)
        engine.stop("r1", TOKEN, EndCause.CANCELLED)
        assert self.report(self.restarted(engine)) == report

    def test_stopping_a_run_that_is_absent_leaves_it_absent(self, engine: Engine) -> None:
        engine.stop("nobody", TOKEN, EndCause.CANCELLED)
        assert self.report(engine, "nobody").state is ReportState.ABSENT
        engine.start(launch("nobody", self.exits(0)))
        assert self.ended(engine, "nobody").cause is EndCause.DONE

    # Outliving the server

    def test_a_restarted_server_sees_and_stops_what_runs(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(60)))
        before = self.until(engine, ReportState.RUNNING)
        other = self.restarted(engine)
        assert self.report(other) == before
        other.start(launch("r1", self.sleeps(60)))
        assert self.report(other).pids == before.pids
        other.stop("r1", TOKEN, EndCause.CANCELLED)
        report = self.ended(other)
        assert (report.cause, report.started_at) == (EndCause.CANCELLED, before.started_at)
        assert self.report(engine) == report

    def test_an_end_while_the_server_was_away_has_its_true_time(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(1)))
        self.until(engine, ReportState.RUNNING)
        self.pass_time(2.5)
        report = self.ended(self.restarted(engine))
        assert report.started_at is not None
        assert report.ended_at is not None
        assert (report.ended_at - report.started_at).total_seconds() >= 1
        assert report.ended_at < self.now()

    # Several parts

    def test_all_parts_run_and_the_run_ends_when_all_have(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(1), nodes=("n1", "n2")))
        self.until(engine, ReportState.RUNNING)
        report = self.ended(engine)
        assert (report.cause, report.exit_code) == (EndCause.DONE, 0)

    def test_a_part_that_cannot_start_keeps_all_from_running(self, engine: Engine) -> None:
        self.unreachable.add("n2")
        engine.start(launch("r1", self.says("ran\n", 60), nodes=("n1", "n2")))
        report = self.ended(engine)
        assert (report.cause, report.detail) == (EndCause.START_FAILED, "node_unreachable: n2")
        assert (report.started_at, report.pids, report.log_bytes) == (None, (), 0)
        self.unreachable.clear()
        engine.start(launch("r1", self.says("ran\n", 60), nodes=("n1", "n2")))
        self.pass_time(0.3)
        assert self.report(engine) == report

    def test_a_node_that_is_not_the_engines_keeps_all_from_running(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(60), nodes=("n1", "elsewhere")))
        report = self.ended(engine)
        assert (report.cause, report.detail) == (EndCause.START_FAILED, "node_not_here: elsewhere")

    def test_a_stop_ends_all_parts(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(60), nodes=("n1", "n2")))
        self.until(engine, ReportState.RUNNING)
        engine.stop("r1", TOKEN, EndCause.NODE_LOST)
        report = self.ended(engine)
        assert (report.cause, report.pids) == (EndCause.NODE_LOST, ())

    # Many, logs, forgetting

    def test_one_look_reports_many(self, engine: Engine) -> None:
        for number in range(4):
            engine.start(launch(f"r{number}", self.exits(number)))
        for number in range(4):
            self.ended(engine, f"r{number}")
        reports = engine.observe({f"r{number}": TOKEN for number in (2, 0, 3, 1, 9)})
        assert [r.run for r in reports] == ["r2", "r0", "r3", "r1", "r9"]
        assert [r.exit_code for r in reports] == [2, 0, 3, 1, None]

    def test_the_log_is_read_by_offset_and_from_its_end(self, engine: Engine) -> None:
        engine.start(launch("r1", self.says("0123456789", 1)))
        self.until(engine, ReportState.RUNNING)
        self.ended(engine)
        read = lambda offset, limit: engine.read_log("r1", TOKEN, offset, limit)  # noqa: E731
        first, middle, last, past = read(0, 4), read(4, 100), read(-3, 100), read(50, 4)
        assert first is not None
        assert middle is not None
        assert last is not None
        assert past is not None
        assert (first.offset, first.data, first.size, first.dropped_before) == (0, b"0123", 10, 0)
        assert (middle.offset, middle.data) == (4, b"456789")
        assert (last.offset, last.data) == (7, b"789")
        assert (past.offset, past.data, past.ended) == (10, b"", True)
        assert self.report(engine).log_bytes == 10

    def test_the_log_of_a_run_that_goes_on_has_not_ended(self, engine: Engine) -> None:
        engine.start(launch("r1", self.says("a", 60)))
        self.until(engine, ReportState.RUNNING)
        chunk = engine.read_log("r1", TOKEN, 0, 10)
        assert chunk is not None
        assert not chunk.ended
        assert engine.read_log("nobody", TOKEN, 0, 10) is None
        assert engine.read_log("r1", TOKEN, 0, 10, rank=7) is None

    def test_only_an_ended_run_is_forgotten(self, engine: Engine) -> None:
        engine.start(launch("r1", self.sleeps(60)))
        self.until(engine, ReportState.RUNNING)
        engine.forget("r1", TOKEN)
        assert self.report(engine).state is ReportState.RUNNING
        engine.stop("r1", TOKEN, EndCause.CANCELLED)
        self.ended(engine)
        engine.forget("r1", "other")
        assert self.report(engine).state is ReportState.ENDED
        engine.forget("r1", TOKEN)
        engine.forget("r1", TOKEN)
        assert self.report(engine).state is ReportState.ABSENT
        assert engine.read_log("r1", TOKEN, 0, 10) is None
