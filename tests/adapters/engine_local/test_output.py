"""A task that only writes: budgets, endless output, full disks."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ports.engine_promises import PATIENCE_S, TOKEN, launch

from paika.adapters.engine_local import records
from paika.adapters.engine_local.engine import LocalEngine
from paika.domain.run import EndCause
from paika.domain.task import Program
from paika.ports.engine import EngineUnavailable, ReportState, RunReport

MIB = 1 << 20


def ended(engine: LocalEngine, run: str = "r1") -> RunReport:
    deadline = time.monotonic() + PATIENCE_S
    while (report := engine.observe({run: TOKEN})[0]).state is not ReportState.ENDED:
        assert time.monotonic() < deadline, report
        time.sleep(0.02)
    return report


def size_on_disk(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def bash(text: str) -> Program:
    return Program(argv=("bash", "-c", text))


def test_endless_output_stays_within_its_budget(tmp_path: Path) -> None:
    engine = LocalEngine(tmp_path, {"n1"})
    engine.start(launch("r1", bash("yes 0123456789"), limit_s=1, log_budget_bytes=2 * MIB))
    report = ended(engine)
    assert report.cause is EndCause.LIMIT
    assert report.log_bytes > 2 * MIB
    assert size_on_disk(tmp_path / "runs" / "r1" / "0" / "log") <= 2 * MIB + 16
    assert report.log_bytes - report.log_dropped_bytes <= 2 * MIB
    first = engine.read_log("r1", TOKEN, 0, 22)
    assert first is not None
    assert first.data == b"0123456789\n" * 2
    last = engine.read_log("r1", TOKEN, -100_000, 200_000)
    assert last is not None
    assert (last.size, len(last.data), last.dropped_before) == (report.log_bytes, 100_000, 0)
    assert last.data[:11].startswith(b"0123456789\n"[last.offset % 11 :])


def test_six_mib_without_a_line_end_and_binary_output(tmp_path: Path) -> None:
    engine = LocalEngine(tmp_path, {"n1"})
    engine.start(launch("r1", bash(f"head -c {6 * MIB} /dev/zero"), log_budget_bytes=8 * MIB))
    report = ended(engine)
    assert (report.cause, report.log_bytes, report.log_dropped_bytes) == (EndCause.DONE, 6 * MIB, 0)
    chunk = engine.read_log("r1", TOKEN, 5 * MIB, 2 * MIB)
    assert chunk is not None
    assert chunk.data == bytes(MIB)
    engine.start(launch("r2", Program(argv=("printf", r"\377\000\200"))))
    ended(engine, "r2")
    chunk = engine.read_log("r2", TOKEN, 0, 10)
    assert chunk is not None
    assert chunk.data == b"\xff\x00\x80"


def test_a_supervisor_keeps_its_size_while_output_pours(tmp_path: Path) -> None:
    engine = LocalEngine(tmp_path, {"n1"})
    engine.start(launch("r1", bash("head -c 200000000 /dev/zero; sleep 300"), log_budget_bytes=MIB))
    deadline = time.monotonic() + PATIENCE_S
    while engine.observe({"r1": TOKEN})[0].log_bytes < 200_000_000:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    facts = records.read(os.fspath(tmp_path / "runs" / "r1" / "0"), records.READY)
    assert facts is not None
    status = Path(f"/proc/{facts['pid']}/status").read_text()
    peak_kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    engine.stop("r1", TOKEN, EndCause.CANCELLED)
    ended(engine)
    assert peak_kib < 64 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB of its own."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"NOT TRIED: a full disk needs the right to mount: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_costs_log_lines_and_nothing_else(small_disk: Path) -> None:
    engine = LocalEngine(small_disk, {"n1"})
    text = "yes line | head -c 3000000; echo wrote > /dev/null; sleep 0.5; exit 5"
    engine.start(launch("r1", bash(text), log_budget_bytes=64 * MIB))
    report = ended(engine)
    assert (report.cause, report.exit_code, report.log_bytes) == (EndCause.EXIT_CODE, 5, 3_000_000)
    assert 1_500_000 < report.log_dropped_bytes < 3_000_000
    assert os.statvfs(small_disk).f_bavail <= 2  # 4 KiB blocks; the order was removed at the end
    end = engine.read_log("r1", TOKEN, -100, 100)
    assert end is not None
    assert (end.offset, end.data, end.dropped_before, end.ended) == (3_000_000, b"", 100, True)
    again = LocalEngine(small_disk, {"n1"})
    assert again.observe({"r1": TOKEN}) == (report,)


def test_a_run_can_be_stopped_on_a_full_disk(small_disk: Path) -> None:
    engine = LocalEngine(small_disk, {"n1"})
    engine.start(launch("r1", bash("yes line"), log_budget_bytes=64 * MIB))
    deadline = time.monotonic() + PATIENCE_S
    while not engine.observe({"r1": TOKEN})[0].log_dropped_bytes:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    engine.stop("r1", TOKEN, EndCause.CANCELLED)
    assert ended(engine).cause is EndCause.CANCELLED
    engine.forget("r1", TOKEN)
    assert engine.observe({"r1": TOKEN})[0].state is ReportState.ABSENT


def test_nothing_starts_where_its_records_have_no_room(small_disk: Path) -> None:
    engine = LocalEngine(small_disk, {"n1"})
    filler = small_disk / "filler"
    filler.write_bytes(bytes(MIB - 16_384))
    with pytest.raises(EngineUnavailable):
        engine.start(launch("r1", bash("echo ran")))
    assert list((small_disk / "runs").iterdir()) == []
    assert engine.observe({"r1": TOKEN})[0].state is ReportState.ABSENT
    filler.unlink()
    engine.start(launch("r1", bash("echo ran")))
    assert ended(engine).cause is EndCause.DONE
