"""Commands that say how ready a dataset is."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from tests.ports.probe_promises import ProbePromises

from paika.adapters.probe_command.probe import CommandProbe
from paika.domain.dataset import ProbeKind, ProbeSpec, Readiness


def sh(script: str, timeout_s: int = 20) -> ProbeSpec:
    return ProbeSpec(ProbeKind.COMMAND, argv=("/bin/sh", "-c", script), timeout_s=timeout_s)


class TestCommandProbe(ProbePromises):
    @pytest.fixture
    def probe(self) -> CommandProbe:
        return CommandProbe()

    @pytest.fixture
    def ready(self) -> ProbeSpec:
        return sh("echo fine")

    @pytest.fixture
    def endless(self) -> ProbeSpec:
        return sh("sleep 1000", 1)


@pytest.mark.parametrize(
    ("script", "readiness", "percent", "detail"),
    [
        ("exit 0", Readiness.READY, 100, ""),
        ("echo 45; exit 75", Readiness.PREPARING, 45, "45"),
        ("echo start; echo 'copied 45.9%'; exit 75", Readiness.PREPARING, 45, "copied 45.9%"),
        ("echo '45 of 100 files'; exit 75", Readiness.PREPARING, None, "45 of 100 files"),
        ("echo 145; exit 75", Readiness.PREPARING, None, "145"),
        ("exit 75", Readiness.PREPARING, None, ""),
        ("echo no such set >&2; exit 3", Readiness.BLOCKED, None, "exit 3: no such set"),
        ("kill -9 $$", Readiness.UNKNOWN, None, "killed by signal 9"),
    ],
)
def test_verdicts(script, readiness, percent, detail):
    result = CommandProbe().check(sh(script))
    assert (result.readiness, result.percent, result.detail) == (readiness, percent, detail)


def test_what_cannot_be_run_is_unknown():
    spec = ProbeSpec(ProbeKind.COMMAND, argv=("/no/such/program",))
    assert CommandProbe().check(spec).readiness is Readiness.UNKNOWN
    assert CommandProbe().check(ProbeSpec(ProbeKind.COMMAND)).readiness is Readiness.UNKNOWN


def test_nothing_of_the_server_s_environment_is_passed_on(monkeypatch):
    monkeypatch.setenv("PAIKA_SECRET", "hush")
    result = CommandProbe().check(sh('echo "[$PAIKA_SECRET]"'))
    assert result.detail == "[]"


def test_arguments_are_not_read_by_a_shell(tmp_path: Path):
    spec = ProbeSpec(ProbeKind.COMMAND, argv=("/bin/echo", f"$(touch {tmp_path}/x); `id`"))
    assert CommandProbe().check(spec).detail == f"$(touch {tmp_path}/x); `id`"
    assert not (tmp_path / "x").exists()


def test_much_output_neither_blocks_nor_fills_the_memory():
    script = f"{sys.executable} -c \"print('x' * 50_000_000); print('70%')\"; exit 75"
    assert CommandProbe().check(sh(script, 60)).percent == 70


@pytest.mark.parametrize("script", ["sleep 1000 & echo $! > {pid}; wait", "sleep 1000 & echo $! > {pid}; exit 0"])
def test_the_whole_group_is_gone_afterwards(tmp_path: Path, script):
    CommandProbe().check(sh(script.format(pid=tmp_path / "pid"), 2))
    child = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and alive(child):
        time.sleep(0.02)
    assert not alive(child)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")
