"""The local engine: runs on this host, each part under a supervisor that outlives the server.

The server keeps nothing in memory that matters: what it knows of a run stands in the run's folder, so a
restarted server, or a second one on the same host and folder, sees and stops the same runs.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from paika.adapters.engine_local import endings, identity, logbook, processes, records
from paika.adapters.engine_local.accounts import AccountOf, as_the_server
from paika.adapters.engine_local.cgroup import Cgroup
from paika.adapters.engine_local.detail import Detail
from paika.adapters.engine_local.launching import Host, Layout, lay_out, spawn_supervisor
from paika.adapters.engine_local.report import PartSeen, instant, together
from paika.domain.problem import BadValue
from paika.domain.run import EndCause
from paika.ports.engine import EngineUnavailable, Launch, LogChunk, ReportState, RunReport

SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
START_TIMEOUT_S = 120.0
PASSING, GONE = ".new-", ".gone-"


class LocalEngine:
    """Engine of this host. `data` is the folder of its runs, on a local disk; `nodes` are the ids that mean
    this host, its virtual nodes included; `reachable` says whether a node's agent answers just now.

    `environ` is where a task's few inherited variables come from (the server's own by default); `cgroups` lets
    each part have a control group of its own where the host allows it. `account_of` tells whose rights a task has.
    """

    def __init__(
        self,
        data: Path,
        nodes: Collection[str],
        reachable: Callable[[str], bool] = lambda node: True,
        *,
        environ: Mapping[str, str] | None = None,
        start_timeout_s: float = START_TIMEOUT_S,
        cgroups: bool = True,
        account_of: AccountOf = as_the_server,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._runs = data.absolute() / "runs"
        self._runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = dict(os.environ if environ is None else environ)
        self._host = Host(nodes, own, processes.boot_id(), start_timeout_s, cgroups, account_of)
        self._reachable = reachable
        self._clock = clock
        self._passing = itertools.count()
        self._children: set[int] = set()
        self._orders: dict[str, records.Facts] = {}
        self._written: dict[tuple[str, str], records.Facts] = {}
        self._ended: dict[tuple[str, str], RunReport] = {}
        self._lock = threading.Lock()
        self._sweep()

    @property
    def name(self) -> str:
        """What runs are marked with."""
        return "local"

    def start(self, launch: Launch) -> None:
        """See ports.engine. A run id is used once; with another token it is refused."""
        for field, value in (("run", launch.run), ("token", launch.token)):
            if not SAFE.fullmatch(value):
                raise BadValue(field=field, value=value, allowed=SAFE.pattern)
        self._reap()
        with self._answering():
            if self._folder(launch.run).exists():
                self._refuse_reuse(launch)
                return
            layout = self._laid_out(launch)
            try:
                if self._name(layout, launch):
                    self._spawn(layout, launch)
            finally:
                layout.close()

    def stop(self, run: str, token: str, cause: EndCause) -> None:
        """See ports.engine."""
        order = self._order(run, token)
        if order is None or self._over(run, order):
            return
        with self._answering():
            records.claim(os.fspath(self._folder(run) / records.STOP), cause.value)
        self._wake(run, order)

    def observe(self, runs: Mapping[str, str]) -> tuple[RunReport, ...]:
        """See ports.engine. Looks at the host's process table once, if at all."""
        self._reap()
        looked: list[processes.Table] = []

        def table() -> processes.Table:
            if not looked:
                looked.append(processes.Table())
            return looked[0]

        with self._answering():
            return tuple(self._report(run, token, table) for run, token in runs.items())

    def read_log(self, run: str, token: str, offset: int, limit: int, rank: int = 0) -> LogChunk | None:
        """See ports.engine."""
        order = self._order(run, token)
        if order is None or not 0 <= rank < order["ranks"]:
            return None
        part = self._folder(run) / str(rank)
        decision = records.claimed(os.fspath(self._folder(run) / records.DECISION))
        ended = (part / records.EXIT).exists() or decision not in (None, records.GO)
        if not (part / "log").is_dir():
            return LogChunk(0, b"", 0, 0, ended)
        piece = logbook.read(os.fspath(part / "log"), offset, limit)
        return LogChunk(piece.offset, piece.data, piece.size, piece.dropped_before, ended)

    def forget(self, run: str, token: str) -> None:
        """See ports.engine. A run that has not ended is left as it is."""
        if self._order(run, token) is None:
            return
        (report,) = self.observe({run: token})
        if report.state is not ReportState.ENDED:
            return
        gone = self._runs / f"{GONE}{os.getpid()}-{next(self._passing)}-{run}"
        with suppress(FileNotFoundError):
            os.rename(self._folder(run), gone)
        with self._lock:
            self._orders.pop(run, None)
            self._ended.pop((run, token), None)
        for part in gone.glob(f"*/{records.STARTED}"):
            started = records.read(os.fspath(part.parent), records.STARTED)
            if started is not None and started["cgroup"] is not None:
                Cgroup(started["cgroup"]).remove()
        shutil.rmtree(gone, ignore_errors=True)

    # Starting

    def _laid_out(self, launch: Launch) -> Layout:
        passing = self._runs / f"{PASSING}{os.getpid()}-{next(self._passing)}-{launch.run}"
        try:
            return lay_out(os.fspath(passing), launch, self._host, self._clock())
        except BaseException:
            shutil.rmtree(passing, ignore_errors=True)
            raise

    def _name(self, layout: Layout, launch: Launch) -> bool:
        """Give the folder its name, which only one can have; False if another was first."""
        try:
            os.rename(layout.folder, self._folder(launch.run))
        except OSError as trouble:
            shutil.rmtree(layout.folder, ignore_errors=True)
            if trouble.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
            self._refuse_reuse(launch)
            return False
        records.sync(os.fspath(self._runs))
        return True

    def _refuse_reuse(self, launch: Launch) -> None:
        """The id is taken: fine if by the same token, else remembered as a start that failed."""
        folder = self._folder(launch.run)
        order = records.read(os.fspath(folder), records.RUN)
        if order is not None and order["token"] != launch.token:
            records.claim(
                os.fspath(folder / f"refused.{launch.token}"), records.refusal(self._clock(), Detail.RUN_ID_TAKEN)
            )

    def _spawn(self, layout: Layout, launch: Launch) -> None:
        folder = self._folder(launch.run)
        for part in sorted(launch.parts, key=lambda part: part.rank):
            if part.rank not in layout.alive:
                return  # refused while it was laid out
            if not self._reachable(part.node):
                self._decide_against(folder, Detail.NODE_UNREACHABLE.of(part.node))
                return
            try:
                pid = spawn_supervisor(folder / str(part.rank), layout.alive[part.rank], self._host.environ)
            except OSError as trouble:
                self._decide_against(folder, Detail.SUPERVISOR_NOT_STARTED.of(trouble.strerror))
                return
            with self._lock:
                self._children.add(pid)

    def _decide_against(self, folder: Path, detail: str) -> None:
        records.claim(os.fspath(folder / records.DECISION), records.refusal(self._clock(), detail))

    # Looking

    def _report(self, run: str, token: str, table: Callable[[], processes.Table]) -> RunReport:
        known = self._ended.get((run, token))
        if known is not None:
            return known
        order = self._order(run, token)
        report = self._stranger(run, token) if order is None else self._seen(run, order, table)
        if report.state is ReportState.ENDED:
            with self._lock:
                self._ended[run, token] = report
                for rank in range(order["ranks"] if order is not None else 0):
                    part = os.fspath(self._folder(run) / str(rank))
                    self._written.pop((part, records.READY), None)
                    self._written.pop((part, records.STARTED), None)
        return report

    def _stranger(self, run: str, token: str) -> RunReport:
        if SAFE.fullmatch(run) and SAFE.fullmatch(token):
            refusal = records.claimed(os.fspath(self._folder(run) / f"refused.{token}"))
            if refusal is not None:
                return _refused(run, token, refusal, None)
        return RunReport(run, token, ReportState.ABSENT)

    def _seen(self, run: str, order: records.Facts, table: Callable[[], processes.Table]) -> RunReport:
        folder, token = self._folder(run), str(order["token"])
        decision = records.claimed(os.fspath(folder / records.DECISION)) or self._settled(folder, order)
        stop = records.claimed(os.fspath(folder / records.STOP))
        if decision is None:
            return RunReport(run, token, ReportState.STOPPING if stop else ReportState.STARTING)
        if decision != records.GO:
            return _refused(run, token, decision, stop)
        parts = [self._part(folder, rank, order, table) for rank in range(order["ranks"])]
        failed = records.claimed(os.fspath(folder / records.FAILED))
        return together(run, token, parts, stopping=stop is not None or failed is not None)

    def _settled(self, folder: Path, order: records.Facts) -> str | None:
        """A start that nobody carries on any more is decided against; None while somebody does."""
        if records.is_held(os.fspath(folder / records.STARTER)):
            return None
        alive = [records.is_held(os.fspath(folder / str(rank) / records.ALIVE)) for rank in range(order["ranks"])]
        late = self._clock() - float(order["at"]) > 2 * self._host.start_timeout_s
        if all(alive) and not late:
            return None
        stop = records.claimed(os.fspath(folder / records.STOP))
        detail = Detail.STOPPED_BEFORE_START if stop else Detail.START_INTERRUPTED
        try:
            self._decide_against(folder, detail)
        except OSError:  # a full disk; where no supervisor is left, none can start any more
            return None if any(alive) else records.refusal(self._clock(), detail)
        return records.claimed(os.fspath(folder / records.DECISION))

    def _part(self, folder: Path, rank: int, order: records.Facts, table: Callable[[], processes.Table]) -> PartSeen:
        path, part = folder / str(rank), os.fspath(folder / str(rank))
        alive = records.is_held(os.fspath(path / records.ALIVE))  # first: the record is written before it lets go
        ended: records.Facts | None = records.read(part, records.EXIT)
        started = self._once(part, records.STARTED)
        pids: set[int] = set()
        if ended is None and alive:
            pid = identity.live(self._once(part, records.READY), str(order["token"]))
            pids = table().below(pid) if pid is not None else set()
        elif ended is None:
            pids, ended = self._lost(folder, rank, order, started)
        stopping = records.claimed(os.fspath(path / records.STOPPING)) is not None
        written, dropped = logbook.sums(os.fspath(path / "log"))
        return PartSeen(started, ended, stopping, frozenset(pids), written, dropped)

    def _lost(
        self, folder: Path, rank: int, order: records.Facts, started: records.Facts | None
    ) -> tuple[set[int], records.Facts | None]:
        """A part without its supervisor: what it left is killed; once nothing is left, its end is recorded."""
        part = folder / str(rank)
        with suppress(OSError):
            records.claim(os.fspath(folder / records.FAILED), str(rank))
        self._wake(folder.name, order)
        rebooted = order["boot"] != self._host.boot
        if not rebooted:
            marks = {"PAIKA_RUN_TOKEN": str(order["token"]), "PAIKA_RANK": str(rank)}
            left = processes.Table().carriers(marks)
            if started is not None and started["cgroup"] is not None:
                Cgroup(started["cgroup"]).kill()
            if left:
                processes.send(left, signal.SIGKILL)
                return left, None
        end = {
            "cause": endings.NODE_LOST if rebooted else endings.UNKNOWN,
            "exit_code": None,
            "signal": None,
            "detail": Detail.HOST_RESTARTED if rebooted else Detail.SUPERVISOR_LOST,
            "started_at": started["at"] if started is not None else None,
            "ended_at": records.touched_at(os.fspath(part / records.ALIVE)) if rebooted else self._clock(),
        }
        records.publish(os.fspath(part), records.EXIT, end, durable=True)
        if started is not None and started["cgroup"] is not None:
            Cgroup(started["cgroup"]).remove()
        return set(), end

    # Small things

    def _folder(self, run: str) -> Path:
        return self._runs / run

    def _order(self, run: str, token: str) -> records.Facts | None:
        """What was ordered under this id and token; None if nothing was."""
        if not SAFE.fullmatch(run):
            return None
        order = self._orders.get(run) or records.read(os.fspath(self._folder(run)), records.RUN)
        if order is None or order["token"] != token:
            return None
        with self._lock:
            self._orders[run] = order
        return order

    def _once(self, part: str, name: str) -> records.Facts | None:
        """A record that never changes once it is there."""
        facts = self._written.get((part, name)) or records.read(part, name)
        if facts is not None:
            with self._lock:
                self._written[part, name] = facts
        return facts

    def _over(self, run: str, order: records.Facts) -> bool:
        folder = self._folder(run)
        decision = records.claimed(os.fspath(folder / records.DECISION))
        if decision not in (None, records.GO):
            return True
        return all((folder / str(rank) / records.EXIT).exists() for rank in range(order["ranks"]))

    def _wake(self, run: str, order: records.Facts) -> None:
        for rank in range(order["ranks"]):
            identity.wake(os.fspath(self._folder(run) / str(rank)), str(order["token"]))

    def _reap(self) -> None:
        """Supervisors that we started and that ended leave the process table."""
        with self._lock:
            for pid in tuple(self._children):
                try:
                    ended = os.waitpid(pid, os.WNOHANG)[0] == pid
                except ChildProcessError:
                    ended = True
                if ended:
                    self._children.discard(pid)

    def _sweep(self) -> None:
        """Remove what a crash left half laid out or half forgotten."""
        for folder in self._runs.iterdir():
            if folder.name.startswith(GONE) or (
                folder.name.startswith(PASSING) and not records.is_held(os.fspath(folder / records.STARTER))
            ):
                shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except OSError as trouble:
            raise EngineUnavailable(field=None, engine=self.name, detail=str(trouble)) from trouble


def _refused(run: str, token: str, decision: str, stop: str | None) -> RunReport:
    at, detail = records.refused(decision)
    asked = stop if stop is not None and detail == Detail.STOPPED_BEFORE_START else endings.START_FAILED
    return RunReport(run, token, ReportState.ENDED, ended_at=instant(at), cause=EndCause(asked), detail=detail)
