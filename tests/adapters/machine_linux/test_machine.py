"""The machine as Linux tells of it: this one, and made-up file trees of others."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from paika.adapters.machine_linux.machine import LinuxMachine

BOOT = "proc/sys/kernel/random/boot_id"


def tree(root: Path, files: dict[str, str]) -> LinuxMachine:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return LinuxMachine(root)


def test_this_machine_answers() -> None:
    here = LinuxMachine()
    assert here.python() == sys.version_info[:3]
    assert here.boot_id()
    assert here.clock_synced() in (True, False, None)
    assert isinstance(here.cgroup().controllers, tuple)


def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_above(tmp_path: Path) -> None:
    facts = LinuxMachine().folder(str(tmp_path / "not" / "yet"))
    assert (facts.exists, facts.writable) == (False, True)
    assert facts.free_bytes
    assert facts.filesystem
    assert not (tmp_path / "not").exists()
    assert LinuxMachine().folder(str(tmp_path)).exists


def test_a_file_in_the_way_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    facts = LinuxMachine().folder(str(tmp_path / "data"))
    assert (facts.exists, facts.writable) == (False, False)


def test_the_deepest_mount_tells_the_file_system(tmp_path: Path) -> None:
    folder = tmp_path / "my data" / "paika"
    folder.mkdir(parents=True)
    mount = str(tmp_path / "my data").replace(" ", "\\040")
    mounts = (
        f"40 22 0:50 / {mount} rw shared:7 - nfs4 filer:/x rw\n"
        f"41 22 0:51 / {tmp_path}/my rw - xfs /dev/b rw\n"
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "odd line\n"
    )
    machine = tree(tmp_path / "root", {"proc/self/mountinfo": mounts})
    assert machine.folder(str(folder)).filesystem == "nfs4"
    assert machine.folder(str(tmp_path)).filesystem == "ext4"


def test_control_groups(tmp_path: Path) -> None:
    assert not tree(tmp_path / "v1", {"proc/self/cgroup": "4:memory:/x\n"}).cgroup().unified
    files = {
        "sys/fs/cgroup/cgroup.controllers": "cpu memory pids",
        "proc/self/cgroup": "0::/user/paika\n",
        "sys/fs/cgroup/user/paika/cgroup.controllers": "memory pids",
        "sys/fs/cgroup/user/paika/cgroup.procs": "",
    }
    facts = tree(tmp_path / "v2", files).cgroup()
    assert (facts.unified, facts.writable, facts.controllers) == (True, True, ("memory", "pids"))
    del files["sys/fs/cgroup/user/paika/cgroup.controllers"]
    gone = tree(tmp_path / "gone", files).cgroup()
    assert (gone.unified, gone.writable) == (True, False)


def test_what_is_not_there_is_unknown(tmp_path: Path) -> None:
    machine = LinuxMachine(tmp_path)
    assert machine.boot_id() is None
    assert machine.folder(str(tmp_path)).filesystem is None
    assert tree(tmp_path, {BOOT: "abc\n"}).boot_id() == "abc"


def test_a_port_in_use_is_not_free() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert not LinuxMachine().port_free(taken.getsockname()[1])
    assert LinuxMachine().port_free(taken_port := _some_free_port()), taken_port


@pytest.mark.parametrize("port", [-1, 70000])
def test_a_port_that_does_not_exist_is_not_free(port: int) -> None:
    assert not LinuxMachine().port_free(port)


def _some_free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
