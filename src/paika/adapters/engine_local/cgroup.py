"""A control group of its own for a part, where the host lets us make one; the standard library alone.

It kills a whole tree at one stroke and tells whether the kernel killed for memory. A run does without where
there is no version 2 hierarchy or it may not be written.
"""

from __future__ import annotations

import contextlib
import os


class Cgroup:
    """One control group. Every call is quiet about a host that does not play along."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @property
    def door(self) -> str:
        """The file into which a process writes itself to come in."""
        return os.path.join(self.folder, "cgroup.procs")

    def kill(self) -> None:
        """Kill all in it, at one stroke."""
        with contextlib.suppress(OSError):
            self._put("cgroup.kill", "1")

    def memory_kills(self) -> int | None:
        """How many the kernel killed in it for memory; None where memory is not delegated to us."""
        with contextlib.suppress(OSError), open(os.path.join(self.folder, "memory.events")) as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("oom_kill "))
        return None

    def remove(self) -> None:
        """Take the empty group away."""
        with contextlib.suppress(OSError):
            os.rmdir(self.folder)

    def _put(self, name: str, text: str) -> None:
        descriptor = os.open(os.path.join(self.folder, name), os.O_WRONLY)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def make(name: str) -> Cgroup | None:
    """A new group below the one we are in, None where that cannot be."""
    with contextlib.suppress(OSError, ValueError):
        home = _home()
        if home is None or not os.access(os.path.join(home, "cgroup.procs"), os.W_OK):
            return None
        folder = os.path.join(home, name)
        os.mkdir(folder, 0o755)
        return Cgroup(folder)
    return None


def _home() -> str | None:
    """Our own place in the version 2 hierarchy, as a folder."""
    with open("/proc/self/cgroup") as file:
        paths = [line[3:].rstrip("\n") for line in file if line.startswith("0::")]
    with open("/proc/self/mountinfo") as file:
        mounts = [line.split() for line in file]
    points = [(m[3], m[4]) for m in mounts if m[m.index("-") + 1] == "cgroup2"]
    if not paths or not points:
        return None
    root, point = points[0]
    inner = os.path.relpath(paths[0], root)
    return None if inner.startswith("..") else os.path.normpath(os.path.join(point, inner))
