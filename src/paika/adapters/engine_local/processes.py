"""Processes as /proc shows them; the standard library alone."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

DEAD = "ZX"


@dataclass(frozen=True, slots=True)
class Process:
    """A line of the process table; `start_ticks` tells two holders of one number apart."""

    pid: int
    parent: int
    state: str
    start_ticks: int

    @property
    def live(self) -> bool:
        """It is not a mere entry that waits to be reaped."""
        return self.state not in DEAD


def boot_id() -> str:
    """Changes with every boot of the host."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def look(pid: int) -> Process | None:
    """The process of this number, None if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name, in brackets, may itself hold brackets and spaces.
    rest = text[text.rindex(b")") + 2 :].split()
    return Process(pid, int(rest[1]), rest[0].decode(), int(rest[19]))


class Table:
    """All processes of the host, looked at in one pass."""

    def __init__(self) -> None:
        found = (look(int(name)) for name in os.listdir("/proc") if name.isdigit())
        self._processes = {process.pid: process for process in found if process is not None}
        self._children: dict[int, list[int]] = {}
        for process in self._processes.values():
            self._children.setdefault(process.parent, []).append(process.pid)

    def __iter__(self) -> Iterator[Process]:
        return iter(self._processes.values())

    def below(self, *roots: int) -> set[int]:
        """Numbers of all live descendants of `roots`, the roots left out."""
        found: set[int] = set()
        todo = list(roots)
        while todo:
            for pid in self._children.get(todo.pop(), ()):
                if pid not in found:
                    found.add(pid)
                    todo.append(pid)
        return {pid for pid in found if self._processes[pid].live}

    def carriers(self, marks: Mapping[str, str]) -> set[int]:
        """Live processes that were begun with all these variables, and their descendants."""
        wanted = {f"{key}={value}".encode() for key, value in marks.items()}
        found = {process.pid for process in self if process.live and wanted <= _environment(process.pid)}
        return found | self.below(*found)


def _environment(pid: int) -> set[bytes]:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return set(file.read().split(b"\0"))
    return set()


def send(pids: Iterable[int], number: int) -> set[int]:
    """Signal each; the numbers of those that we may not signal."""
    forbidden = set()
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
        except PermissionError:
            forbidden.add(pid)
    return forbidden


def signal_name(number: int) -> str:
    """'KILL' for 9; the number itself for one without a name."""
    try:
        return signal.Signals(number).name.removeprefix("SIG")
    except ValueError:
        return str(number)


def signal_number(name: str) -> int | None:
    """9 for 'KILL' or 'SIGKILL'; None for what is no signal."""
    short = name.upper().removeprefix("SIG")
    return next((number.value for number in signal.Signals if number.name == f"SIG{short}"), None)


def out_of_memory_kills() -> int | None:
    """How often the kernel killed for memory on this host since boot; None if it does not tell."""
    with contextlib.suppress(OSError), open("/proc/vmstat") as file:
        for line in file:
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return None
