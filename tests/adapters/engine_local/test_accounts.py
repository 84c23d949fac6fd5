"""A server that is root runs tasks as their owners' Unix accounts, and nobody else's."""

from __future__ import annotations

import os
import pwd
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.ports.engine_promises import PATIENCE_S, TOKEN, launch

from paika.adapters.engine_local import processes
from paika.adapters.engine_local.accounts import MappedAccounts
from paika.adapters.engine_local.child import StartFailed
from paika.adapters.engine_local.engine import LocalEngine
from paika.domain.run import EndCause
from paika.domain.task import Program
from paika.ports.engine import ReportState, RunReport

NOBODY = pwd.getpwnam("nobody")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change accounts: not tried here")


@pytest.fixture
def engine(tmp_path: Path) -> LocalEngine:
    """An engine that knows one account: ann is nobody."""
    return LocalEngine(tmp_path / "data", {"n1"}, account_of=MappedAccounts({"ann": "nobody", "su": "root"}))


def report(engine: LocalEngine) -> RunReport:
    return engine.observe({"r1": TOKEN})[0]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def run(engine: LocalEngine, program: Program, owner: str = "ann") -> RunReport:
    engine.start(replace(launch("r1", program), owner=owner))
    until(lambda: report(engine).state is ReportState.ENDED)
    return report(engine)


def said(engine: LocalEngine) -> str:
    chunk = engine.read_log("r1", TOKEN, 0, 10_000)
    assert chunk is not None
    return chunk.data.decode()


@as_root
def test_a_command_runs_with_the_accounts_rights(engine: LocalEngine) -> None:
    end = run(engine, Program(argv=("sh", "-c", "id -u; id -g; echo $USER; cat /etc/shadow"), workdir="/"))
    assert end.cause is EndCause.EXIT_CODE
    lines = said(engine).splitlines()
    assert lines[:3] == [str(NOBODY.pw_uid), str(NOBODY.pw_gid), "nobody"]
    assert "Permission denied" in lines[3]


@as_root
def test_a_script_is_readable_though_its_folder_is_shut(engine: LocalEngine) -> None:
    end = run(engine, Program(script="id -u\necho second line\n", workdir="/"))
    assert (end.cause, said(engine)) == (EndCause.DONE, f"{NOBODY.pw_uid}\nsecond line\n")


@as_root
def test_a_folder_that_the_account_may_not_enter_is_told(engine: LocalEngine, tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    shut.mkdir(mode=0o700)
    end = run(engine, Program(argv=("true",), workdir=str(shut)))
    assert end.cause is EndCause.START_FAILED
    assert end.detail.startswith("workdir_forbidden")


@as_root
@pytest.mark.parametrize(("owner", "detail"), [("bob", "account_unmapped: bob"), ("su", "account_is_root: root")])
def test_who_has_no_account_runs_nothing(engine: LocalEngine, owner: str, detail: str) -> None:
    end = run(engine, Program(argv=("true",), workdir="/"), owner)
    assert (end.cause, end.detail) == (EndCause.START_FAILED, detail)


def sleepers(engine: LocalEngine) -> list[int]:
    """Processes of the run that have become the program."""
    return [p for p in report(engine).pids if Path(f"/proc/{p}/comm").read_text().strip() == "sleep"]


@as_root
def test_it_dies_with_its_supervisor_all_the_same(engine: LocalEngine) -> None:
    engine.start(replace(launch("r1", Program(argv=("sleep", "600"), workdir="/")), owner="ann"))
    until(lambda: bool(sleepers(engine)))
    (pid,) = sleepers(engine)
    supervisor = processes.look(pid)
    assert supervisor is not None
    parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text())


def test_an_account_that_is_not_there_is_told() -> None:
    with pytest.raises(StartFailed, match="account_missing: no-such-account"):
        MappedAccounts({"ann": "no-such-account"})("ann")
