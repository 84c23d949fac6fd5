"""The Machine port on Linux: /proc, /sys and a few calls that change nothing."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import socket
import sys
from pathlib import Path

from paika.ports.machine import CgroupFacts, FolderFacts

LOOPBACK = "127.0.0.1"
_STATUS_AT = 40  # offset of `status` in struct timex where long has 64 bits
_UNSYNCED = 0x40
_ESCAPED = re.compile(r"\\([0-7]{3})")


class LinuxMachine:
    """`root` is '/', or a copy of the files of another machine."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def python(self) -> tuple[int, int, int]:
        """The version that runs."""
        return (sys.version_info.major, sys.version_info.minor, sys.version_info.micro)

    def folder(self, path: str) -> FolderFacts:
        """Facts of the folder; rights, file system and room are those of the nearest folder that exists."""
        wanted = Path(os.path.abspath(path))
        nearest = next(one for one in (wanted, *wanted.parents) if one.exists())
        try:
            free: int | None = shutil.disk_usage(nearest).free
        except OSError:
            free = None
        writable = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
        return FolderFacts(wanted.is_dir(), writable, self._filesystem(nearest), free)

    def _filesystem(self, folder: Path) -> str | None:
        try:
            place = Path(os.path.realpath(folder))
            mounts = self._text("proc/self/mountinfo").splitlines()
        except OSError:
            return None
        found = [(mount, kind) for mount, kind in map(_mount, mounts) if place.is_relative_to(mount)]
        best = max((len(mount) for mount, _ in found), default=0)
        return next((kind for mount, kind in reversed(found) if len(mount) == best and kind), None)

    def cgroup(self) -> CgroupFacts:
        """Control groups v2 below the one that this process is in."""
        mounted = self._root / "sys/fs/cgroup"
        if not (mounted / "cgroup.controllers").exists():
            return CgroupFacts(False, False, ())
        try:
            lines = self._text("proc/self/cgroup").splitlines()
            own = next(line.removeprefix("0::") for line in lines if line.startswith("0::"))
            here = mounted / own.strip().lstrip("/")
            controllers = tuple((here / "cgroup.controllers").read_text().split())
        except (OSError, StopIteration):
            return CgroupFacts(True, False, ())
        writable = os.access(here, os.W_OK | os.X_OK) and os.access(here / "cgroup.procs", os.W_OK)
        return CgroupFacts(True, writable, controllers)

    def boot_id(self) -> str | None:
        """The kernel's id of this boot."""
        try:
            return self._text("proc/sys/kernel/random/boot_id").strip() or None
        except OSError:
            return None

    def clock_synced(self) -> bool | None:
        """The kernel's own mark; None where it can't be read."""
        if ctypes.sizeof(ctypes.c_long) != 8:
            return None
        buffer = ctypes.create_string_buffer(1024)  # all zero: a read, no setting
        try:
            if ctypes.CDLL(None, use_errno=True).adjtimex(buffer) < 0:
                return None
        except (OSError, AttributeError):
            return None
        return not int.from_bytes(buffer.raw[_STATUS_AT : _STATUS_AT + 4], sys.byteorder) & _UNSYNCED

    def port_free(self, port: int) -> bool:
        """Try to bind the port on loopback, and let go of it."""
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind((LOOPBACK, port))
            except (OSError, OverflowError):
                return False
            return True

    def _text(self, name: str) -> str:
        return (self._root / name).read_text(encoding="utf-8", errors="replace")


def _mount(line: str) -> tuple[str, str | None]:
    """Mount point and file system of a line of mountinfo; an odd line is a mount point of nothing."""
    before, _, after = line.partition(" - ")
    fields = before.split()
    kinds = after.split()
    if len(fields) < 5 or not kinds:
        return ("/", None)
    return _ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields[4]), kinds[0]
