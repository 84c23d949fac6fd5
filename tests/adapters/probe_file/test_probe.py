"""Files and folders below allowed roots."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from tests.ports.probe_promises import ProbePromises

from paika.adapters.probe_file import probe as module
from paika.adapters.probe_file.probe import FileProbe
from paika.domain.dataset import ProbeKind, ProbeSpec, Readiness


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def probe(root: Path) -> FileProbe:
    return FileProbe([root])


class TestFileProbe(ProbePromises):
    @pytest.fixture
    def probe(self, root: Path) -> FileProbe:
        return FileProbe([root])

    @pytest.fixture
    def ready(self, root: Path) -> ProbeSpec:
        (root / "a").write_bytes(b"12345")
        return ProbeSpec(ProbeKind.PATH, str(root), want_bytes=5, want_files=1)

    @pytest.fixture
    def endless(self, root: Path, monkeypatch) -> ProbeSpec:
        """A folder whose listing hangs, as that of a dead mount does."""
        os.mkfifo(root / "pipe")
        monkeypatch.setattr(module.os, "scandir", lambda _: os.open(root / "pipe", os.O_RDONLY))
        return ProbeSpec(ProbeKind.PATH, str(root), timeout_s=1)


def path_of(root: Path, **wants: int) -> ProbeSpec:
    return ProbeSpec(ProbeKind.PATH, str(root), timeout_s=20, **wants)


def test_percent_is_that_of_the_least_complete_want(probe, root):
    for number in range(3):
        (root / f"{number}").write_bytes(b"x" * 10)
    result = probe.check(path_of(root, want_bytes=60, want_files=4))
    assert (result.readiness, result.percent, result.detail) == (Readiness.PREPARING, 50, "3 files, 30 bytes")


def test_nothing_there_and_nothing_in_it(probe, root):
    assert probe.check(path_of(root / "none")).readiness is Readiness.BLOCKED
    assert probe.check(path_of(root)).readiness is Readiness.BLOCKED


def test_paths_outside_the_roots_are_not_looked_at(probe, root, tmp_path):
    (tmp_path / "secret").write_text("x")
    (root / "link").symlink_to(tmp_path / "secret")
    for target in (tmp_path / "secret", root / "link", root / ".." / "secret", Path("/etc/hostname")):
        result = probe.check(ProbeSpec(ProbeKind.MARKER, str(target)))
        assert result.readiness is Readiness.UNKNOWN
        assert "outside" in result.detail


def test_links_that_lead_out_are_not_counted(probe, root, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "big").write_bytes(b"x" * 1000)
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "in").write_bytes(b"x")
    assert probe.check(path_of(root)).detail == "1 files, 1 bytes"


def test_rings_of_links_end(probe, root):
    (root / "sub").mkdir()
    (root / "sub" / "up").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "sub" / "file").write_bytes(b"xy")
    assert probe.check(path_of(root)).detail == "1 files, 2 bytes"


def test_a_huge_tree_is_cut_short_with_what_was_counted(probe, root, monkeypatch):
    for number in range(50):
        (root / f"{number}").write_bytes(b"x")
    clock = iter(range(10_000))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    result = probe.check(path_of(root, want_files=100))
    assert result.readiness is Readiness.UNKNOWN
    assert result.percent is not None
    assert 0 < result.percent < 50
    assert "time was up" in result.detail


def test_a_marker(probe, root):
    spec = ProbeSpec(ProbeKind.MARKER, str(root / "DONE"))
    assert probe.check(spec).readiness is Readiness.PREPARING
    (root / "DONE").touch()
    assert probe.check(spec).readiness is Readiness.READY
    assert probe.check(ProbeSpec(ProbeKind.MARKER, str(root / "no" / "DONE"))).readiness is Readiness.BLOCKED


def manifest(root: Path, files: dict[str, bytes]) -> ProbeSpec:
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in files.items()]
    (root / "SHA256SUMS").write_text("# made by hand\n" + "\n".join(lines) + "\n")
    return ProbeSpec(ProbeKind.MANIFEST, str(root / "SHA256SUMS"), timeout_s=20)


def test_a_manifest_is_verified_and_a_second_look_hashes_nothing(probe, root):
    spec = manifest(root, {"a": b"1" * 1000, "子 目录/b": b"2"})
    (root / "a").write_bytes(b"1" * 1000)
    result = probe.check(spec)
    assert (result.readiness, result.percent) == (Readiness.PREPARING, 50)
    assert "子 目录/b" in result.detail
    (root / "子 目录").mkdir()
    (root / "子 目录" / "b").write_bytes(b"2")
    assert probe.check(spec).readiness is Readiness.READY
    hashed = probe._verifier.hashed_bytes
    assert hashed == 1001
    assert probe.check(spec).readiness is Readiness.READY
    assert probe._verifier.hashed_bytes == hashed
    (root / "a").write_bytes(b"3" * 1000)
    result = probe.check(spec)
    assert (result.readiness, result.percent, result.detail) == (Readiness.BLOCKED, 50, "sha256 differs: a")


def test_a_manifest_goes_on_where_time_was_up(probe, root, monkeypatch):
    content = bytes(5 * 1024 * 1024)
    spec = manifest(root, {"a": content})
    (root / "a").write_bytes(content)
    ticks = iter([0.0] + [100.0] * 3)
    monkeypatch.setattr(module.time, "monotonic", lambda: next(ticks, 0.0))
    assert probe.check(spec).readiness is Readiness.UNKNOWN
    assert probe.check(spec).readiness is Readiness.READY
    assert probe._verifier.hashed_bytes == len(content)


@pytest.mark.parametrize("line", ["nonsense", "0" * 63 + "  a", ""])
def test_a_manifest_that_is_none_is_said_so(probe, root, line):
    (root / "m").write_text(line)
    assert probe.check(ProbeSpec(ProbeKind.MANIFEST, str(root / "m"))).readiness is Readiness.BLOCKED


def test_a_manifest_may_not_lead_out(probe, root, tmp_path):
    (tmp_path / "x").write_bytes(b"1")
    for name in ("../x", str(tmp_path / "x")):
        result = probe.check(manifest(root, {name: b"1"}))
        assert result.readiness is Readiness.UNKNOWN
        assert "outside" in result.detail


def test_without_roots_nothing_is_looked_at(root):
    assert FileProbe([]).check(path_of(root)).readiness is Readiness.UNKNOWN
