"""The engine without processes keeps the engine's promises."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from tests.ports.engine_promises import TOKEN, EnginePromises, launch

from paika.adapters.in_memory.engine import InMemoryEngine
from paika.domain.run import EndCause
from paika.domain.task import Program
from paika.ports.engine import Engine, EngineUnavailable, ReportState


@dataclass
class SetClock:
    at: datetime = datetime(2026, 1, 5, 9, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


class TestInMemoryEngine(EnginePromises):
    @pytest.fixture
    def engine(self) -> InMemoryEngine:
        self.clock = SetClock()
        self.unreachable = set()
        return InMemoryEngine(self.clock, {"n1", "n2"}, lambda node: node not in self.unreachable)

    def restarted(self, engine: Engine) -> Engine:
        assert isinstance(engine, InMemoryEngine)
        return InMemoryEngine(self.clock, {"n1", "n2"}, lives=engine.lives)

    def pass_time(self, seconds: float) -> None:
        self.clock.at += timedelta(seconds=seconds)

    def now(self) -> datetime:
        return self.clock.at

    def exits(self, code: int) -> Program:
        return Program(argv=("exit", str(code)))

    def dies_of(self, signal: str) -> Program:
        return Program(argv=("signal", signal, "1"))

    def says(self, text: str, seconds: int) -> Program:
        return Program(argv=("say", text, str(seconds)))

    def stubborn(self, seconds: int) -> Program:
        return Program(argv=("stubborn", str(seconds)))

    def test_an_engine_that_is_away_says_so(self, engine: InMemoryEngine) -> None:
        engine.start(launch("r1", self.sleeps(60)))
        engine.answering = False
        for call in (
            lambda: engine.start(launch("r2", self.sleeps(60))),
            lambda: engine.stop("r1", TOKEN, EndCause.CANCELLED),
            lambda: engine.observe({"r1": TOKEN}),
        ):
            with pytest.raises(EngineUnavailable) as refusal:
                call()
            assert refusal.value.code == "engine.unavailable"
        engine.answering = True
        assert self.report(engine).state is ReportState.RUNNING
        assert self.report(engine, "r2").state is ReportState.ABSENT

    def test_what_has_no_script_runs_until_it_is_ended(self, engine: InMemoryEngine) -> None:
        engine.start(launch("r1", Program(argv=("python", "train.py"))))
        self.pass_time(1_000_000)
        assert self.report(engine).state is ReportState.RUNNING
        engine.write("r1", b"epoch 1\n")
        engine.end("r1", EndCause.OUT_OF_MEMORY, exit_code=1)
        report = self.report(engine)
        assert (report.cause, report.exit_code, report.log_bytes) == (EndCause.OUT_OF_MEMORY, 1, 8)
        assert report.ended_at == self.clock.at

    def test_memory_runs_out(self, engine: InMemoryEngine) -> None:
        engine.start(launch("r1", Program(argv=("oom", "10"))))
        self.pass_time(9)
        assert self.report(engine).state is ReportState.RUNNING
        self.pass_time(1)
        assert self.report(engine).cause is EndCause.OUT_OF_MEMORY

    def test_a_run_that_ends_by_itself_within_its_grace_keeps_the_asked_cause(self, engine: InMemoryEngine) -> None:
        engine.start(launch("r1", self.stubborn(10), grace_s=30))
        self.pass_time(5)
        engine.stop("r1", TOKEN, EndCause.PREEMPTED)
        self.pass_time(5)
        report = self.report(engine)
        assert report.cause is EndCause.PREEMPTED
        assert report.ended_at == self.clock.at
