"""Lays a run's folder out, whole, before it gets its name: the name is the start lock."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paika.adapters.engine_local import __main__ as entry
from paika.adapters.engine_local import child, environment, logbook, processes, records
from paika.adapters.engine_local.accounts import AccountOf, as_the_server
from paika.adapters.engine_local.detail import Detail
from paika.ports.engine import Launch, LaunchPart

SUPERVISOR_INHERITS = ("PATH", "HOME", "LD_LIBRARY_PATH", "TZ")


@dataclass(slots=True)
class Layout:
    """A folder that is ready to be named; the locks are held by the descriptors."""

    folder: str
    starter: int
    alive: dict[int, int] = field(default_factory=dict)

    def close(self) -> None:
        """Let go of all locks that no supervisor took over; the starter's last."""
        for descriptor in (*self.alive.values(), self.starter):
            os.close(descriptor)
        self.alive = {}


@dataclass(frozen=True, slots=True)
class Host:
    """What a launch needs to know of here: whence the environment comes, which nodes are this host."""

    nodes: Collection[str]
    environ: Mapping[str, str]
    boot: str
    start_timeout_s: float
    cgroups: bool
    account_of: AccountOf = as_the_server


def lay_out(folder: str, launch: Launch, host: Host, at: float) -> Layout:
    """All files of the run under a passing name. Raises OSError; the caller then removes the folder."""
    os.mkdir(folder, 0o700)
    facts = {"run": launch.run, "token": launch.token, "ranks": len(launch.parts), "boot": host.boot, "at": at}
    layout = Layout(folder, records.hold(os.path.join(folder, records.STARTER)))
    try:
        records.publish(folder, records.RUN, facts, durable=True)
        orders = _orders(launch, host)
        for order in orders:
            rank = int(str(order["rank"]))
            layout.alive[rank] = _lay_out_part(os.path.join(folder, str(rank)), order, launch.program.script)
    except child.StartFailed as trouble:
        records.claim(os.path.join(folder, records.DECISION), records.refusal(at, str(trouble)))
    except BaseException:
        layout.close()
        raise
    return layout


def _lay_out_part(folder: str, order: Mapping[str, object], script: str) -> int:
    os.mkdir(folder, 0o700)
    records.reserve(folder)
    logbook.prepare(os.path.join(folder, "log"))
    records.write(os.path.join(folder, records.ORDER), records.encoded(order))
    if order["script"]:
        path = os.path.join(folder, records.SCRIPT)
        records.write(path, script.encode(errors="surrogateescape"))
        if isinstance(account := order["account"], Mapping):
            os.chown(path, int(account["uid"]), int(account["gid"]))
    return records.hold(os.path.join(folder, records.ALIVE))


def _orders(launch: Launch, host: Host) -> list[dict[str, object]]:
    """The order of each part. Raises StartFailed for what can be seen to be wrong from here."""
    if sorted(part.rank for part in launch.parts) != list(range(len(launch.parts))) or not launch.parts:
        raise child.StartFailed(Detail.RANKS_UNFIT)
    strange = [part.node for part in launch.parts if part.node not in host.nodes]
    if strange:
        raise child.StartFailed(Detail.NODE_NOT_HERE.of(strange[0]))
    if processes.signal_number(launch.stop_signal) is None:
        raise child.StartFailed(Detail.SIGNAL_UNKNOWN.of(launch.stop_signal))
    _check_text(launch)
    return [_order(launch, part, host) for part in sorted(launch.parts, key=lambda part: part.rank)]


def _check_text(launch: Launch) -> None:
    """Whatever the kernel or a file cannot take as it stands."""
    program = launch.program
    if any("\0" in text for text in (*program.argv, program.workdir)):
        raise child.StartFailed(Detail.TEXT_UNFIT)
    try:
        "".join((*program.argv, program.script, program.workdir)).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise child.StartFailed(Detail.TEXT_UNFIT) from None


def _order(launch: Launch, part: LaunchPart, host: Host) -> dict[str, object]:
    account = host.account_of(launch.owner)
    own = {**host.environ, **(account.variables if account else {})}
    variables = environment.environment(launch, part, own)
    return {
        "run": launch.run,
        "token": launch.token,
        "rank": part.rank,
        "ranks": len(launch.parts),
        "argv": list(launch.program.argv),
        "script": bool(launch.program.script) and not launch.program.argv,
        "workdir": launch.program.workdir or variables.get("HOME", "/"),
        "environment": variables,
        "account": {"uid": account.uid, "gid": account.gid, "groups": list(account.groups)} if account else None,
        "limit_s": launch.limit_s,
        "stop_signal": launch.stop_signal,
        "grace_s": launch.grace_s,
        "log_budget_bytes": launch.log_budget_bytes,
        "start_timeout_s": host.start_timeout_s,
        "cgroup": host.cgroups,
    }


def spawn_supervisor(part: Path, lock: int, environ: Mapping[str, str]) -> int:
    """Start the supervisor of a part in a session of its own; its process number. Raises OSError."""
    errors = os.fspath(part / "supervisor.err")
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-X", "utf8", os.path.abspath(entry.__file__), os.fspath(part)],
        {key: environ[key] for key in SUPERVISOR_INHERITS if key in environ},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, errors, os.O_WRONLY | os.O_CREAT, 0o600),
            (os.POSIX_SPAWN_DUP2, lock, 3),
        ],
        setsid=True,
        setsigmask=(),
    )
