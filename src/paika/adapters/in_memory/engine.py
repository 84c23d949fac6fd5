"""An engine without processes: runs are scripted by their argv and driven by the clock it is given.

    ("sleep", "30")            ends well after 30 s
    ("exit", "3", "10")        ends with code 3 after 10 s (at once without the third word)
    ("signal", "SEGV", "10")   is killed by a signal after 10 s
    ("oom", "10")              runs out of memory after 10 s
    ("stubborn", "30")         as sleep, but heeds no stop signal: it takes all of its grace
    ("say", "text", "30")      writes the text, then ends well after 30 s
    anything else, or a script runs until somebody ends it

A command or folder that begins with `/no/` does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from threading import RLock

from paika.domain.run import EndCause
from paika.ports.clock import Clock
from paika.ports.engine import EngineUnavailable, Launch, LogChunk, ReportState, RunReport

NOWHERE = "/no/"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ends by itself `after_s` after its start; None: never."""

    after_s: float | None = None
    cause: EndCause = EndCause.DONE
    exit_code: int | None = 0
    signal: str | None = None
    stubborn: bool = False
    says: bytes = b""


@dataclass(slots=True)
class Life:
    """What became of one launch."""

    launch: Launch
    started_at: datetime | None
    outcome: Outcome
    pid: int
    refused: str = ""
    refused_at: datetime | None = None
    stop_at: datetime | None = None
    stop_cause: EndCause = EndCause.CANCELLED
    written: bytearray = field(default_factory=bytearray)


@dataclass(frozen=True, slots=True)
class End:
    """An end that will have come at `at` unless something else comes first; `asked_at` is when it began."""

    at: datetime
    asked_at: datetime
    cause: EndCause
    exit_code: int | None = None
    signal: str | None = None


class InMemoryEngine:
    """The Engine port on a clock. `lives` outlive it if handed on: that is its data folder.

    `answering` set to False makes the whole engine unavailable.
    """

    def __init__(
        self,
        clock: Clock,
        nodes: Collection[str] | None = None,
        reachable: Callable[[str], bool] = lambda node: True,
        lives: dict[str, Life] | None = None,
        name: str = "memory",
    ) -> None:
        self._clock = clock
        self._nodes = nodes
        self._reachable = reachable
        self._name = name
        self._lock = RLock()
        self._refused: dict[tuple[str, str], datetime] = {}
        self._pids = count(100_000)
        self.lives: dict[str, Life] = {} if lives is None else lives
        self.answering = True

    @property
    def name(self) -> str:
        """What runs are marked with."""
        return self._name

    def start(self, launch: Launch) -> None:
        """See ports.engine."""
        self._answer()
        with self._lock:
            known = self.lives.get(launch.run)
            if known is not None:
                if known.launch.token != launch.token:
                    self._refused[launch.run, launch.token] = self._clock.now()
                return
            now, refused = self._clock.now(), self._refusal(launch)
            life = Life(launch, None if refused else now, outcome(launch.program.argv), next(self._pids), refused)
            life.refused_at = now if refused else None
            life.written += b"" if refused else life.outcome.says
            self.lives[launch.run] = life

    def stop(self, run: str, token: str, cause: EndCause) -> None:
        """See ports.engine."""
        self._answer()
        with self._lock:
            life = self._life(run, token)
            if life is not None and life.stop_at is None and self._end(life, self._clock.now()) is None:
                life.stop_at, life.stop_cause = self._clock.now(), cause

    def observe(self, runs: Mapping[str, str]) -> tuple[RunReport, ...]:
        """See ports.engine."""
        self._answer()
        with self._lock:
            return tuple(self._report(run, token) for run, token in runs.items())

    def read_log(self, run: str, token: str, offset: int, limit: int, rank: int = 0) -> LogChunk | None:
        """See ports.engine. All parts write the same."""
        life = self._life(run, token)
        if life is None or not 0 <= rank < len(life.launch.parts):
            return None
        size = len(life.written)
        at = min(max(0, size + offset) if offset < 0 else offset, size)
        ended = self._report(run, token).state is ReportState.ENDED
        return LogChunk(at, bytes(life.written[at : at + max(limit, 0)]), size, 0, ended)

    def forget(self, run: str, token: str) -> None:
        """See ports.engine."""
        with self._lock:
            if self._life(run, token) is not None and self._report(run, token).state is ReportState.ENDED:
                del self.lives[run]

    # What tests and demonstrations steer it by

    def write(self, run: str, text: bytes) -> None:
        """The run says something."""
        self.lives[run].written += text

    def end(
        self, run: str, cause: EndCause = EndCause.DONE, exit_code: int | None = 0, signal: str | None = None
    ) -> None:
        """The run ends by itself, now."""
        life = self.lives[run]
        assert life.started_at is not None, "it never started"
        after_s = (self._clock.now() - life.started_at).total_seconds()
        life.outcome = replace(life.outcome, after_s=after_s, cause=cause, exit_code=exit_code, signal=signal)

    # Inside

    def _answer(self) -> None:
        if not self.answering:
            raise EngineUnavailable(field=None, engine=self._name, detail="switched off")

    def _refusal(self, launch: Launch) -> str:
        program = launch.program
        for part in launch.parts:
            if self._nodes is not None and part.node not in self._nodes:
                return f"node_not_here: {part.node}"
            if not self._reachable(part.node):
                return f"node_unreachable: {part.node}"
        if program.workdir.startswith(NOWHERE):
            return f"workdir_missing: {program.workdir}"
        if not program.script and (not program.argv or program.argv[0].startswith(NOWHERE)):
            return f"command_not_found: {program.argv[0] if program.argv else ''}"
        return ""

    def _life(self, run: str, token: str) -> Life | None:
        life = self.lives.get(run)
        return life if life is not None and life.launch.token == token else None

    def _end(self, life: Life, now: datetime) -> End | None:
        """The end that has come by now."""
        if life.started_at is None:
            assert life.refused_at is not None, "neither started nor refused"
            return End(life.refused_at, life.refused_at, EndCause.START_FAILED)
        ends = _ends(life, life.started_at)
        if not ends:
            return None
        # The cause is of whatever began first; a program that ends within its grace ends it early.
        first = min(ends, key=lambda end: (end.asked_at, end.at))
        soonest = min(ends, key=lambda end: end.at)
        end = replace(first, at=soonest.at, exit_code=soonest.exit_code, signal=soonest.signal)
        return end if end.at <= now else None

    def _report(self, run: str, token: str) -> RunReport:
        life, now = self._life(run, token), self._clock.now()
        if life is None:
            at = self._refused.get((run, token))
            if at is None:
                return RunReport(run, token, ReportState.ABSENT)
            detail, cause = "run_id_taken", EndCause.START_FAILED
            return RunReport(run, token, ReportState.ENDED, ended_at=at, cause=cause, detail=detail)
        end = self._end(life, now)
        known = RunReport(run, token, ReportState.RUNNING, life.started_at, log_bytes=len(life.written))
        if end is not None:
            return replace(
                known,
                state=ReportState.ENDED,
                ended_at=end.at,
                cause=end.cause,
                exit_code=end.exit_code,
                signal=end.signal,
                detail=life.refused,
            )
        state = ReportState.STOPPING if _is_stopping(life, now) else ReportState.RUNNING
        return replace(known, state=state, pids=(life.pid,))


def _ends(life: Life, started_at: datetime) -> list[End]:
    """All ends that lie ahead of a run; the one whose cause comes first is the one that counts."""
    ends = []
    own = life.outcome
    if own.after_s is not None:
        at = started_at + timedelta(seconds=own.after_s)
        ends.append(End(at, at, own.cause, own.exit_code, own.signal))
    grace = timedelta(seconds=life.launch.grace_s if own.stubborn else 0)
    name = "KILL" if own.stubborn else life.launch.stop_signal
    if life.launch.limit_s is not None:
        at = started_at + timedelta(seconds=life.launch.limit_s)
        ends.append(End(at + grace, at, EndCause.LIMIT, None, name))
    if life.stop_at is not None:
        ends.append(End(life.stop_at + grace, life.stop_at, life.stop_cause, None, name))
    return ends


def _is_stopping(life: Life, now: datetime) -> bool:
    limit_s, started_at = life.launch.limit_s, life.started_at
    over = limit_s is not None and started_at is not None and now >= started_at + timedelta(seconds=limit_s)
    return over or life.stop_at is not None


def outcome(argv: tuple[str, ...]) -> Outcome:
    """What this module's first lines say of an argv."""
    match argv:
        case ("sleep", seconds):
            return Outcome(float(seconds))
        case ("stubborn", seconds):
            return Outcome(float(seconds), stubborn=True)
        case ("say", text, seconds):
            return Outcome(float(seconds), says=text.encode())
        case ("exit", code, *rest):
            cause = EndCause.DONE if code == "0" else EndCause.EXIT_CODE
            return Outcome(float(rest[0]) if rest else 0.0, cause, int(code))
        case ("signal", name, seconds):
            return Outcome(float(seconds), EndCause.SIGNAL, None, name)
        case ("oom", seconds):
            return Outcome(float(seconds), EndCause.OUT_OF_MEMORY, 1)
    return Outcome()
