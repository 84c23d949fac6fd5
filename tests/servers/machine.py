"""What starting a server needs from the machine: Debian packages, free ports, patience, an end."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

APT = ("apt-get", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Options::=--force-confold", "-y", "-q")
START_PATIENCE_S = 180.0


class ServerMissing(Exception):
    """The server cannot be had on this machine; the text says why."""


@contextmanager
def only_one(name: str) -> Iterator[None]:
    """Hold a machine-wide lock: test workers must not install the same thing at the same time."""
    with (Path(tempfile.gettempdir()) / f"paika-tests-{os.getuid()}-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def debian_packages(*packages: str, present: Callable[[], bool]) -> None:
    """Install the packages unless `present()` says that what they bring is there."""
    if present():
        return
    with only_one("apt"):
        if present():
            return
        if os.geteuid() != 0:
            raise ServerMissing(f"not installed, and only root can: apt-get install {' '.join(packages)}")
        if not _apt("install", "--no-install-recommends", *packages):
            _apt("update")
            _apt("install", "--no-install-recommends", *packages)
    if not present():
        raise ServerMissing(f"apt-get could not install {' '.join(packages)}")


def _apt(*arguments: str) -> bool:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run([*APT, *arguments], env=quiet, capture_output=True, text=True, timeout=900, check=False)
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise ServerMissing(f"apt-get: {fault}") from None
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    return done.returncode == 0


def free_ports(count: int = 1) -> int:
    """The first of `count` neighbouring free ports on loopback."""
    for _ in range(200):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = probe.getsockname()[1]
        if first + count < 65_536 and all(_free(port) for port in range(first, first + count)):
            return int(first)
    raise ServerMissing(f"no {count} neighbouring free ports")


def _free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for `ready()`; raises ServerMissing with the log's end if the process dies or takes too long."""
    give_up = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < give_up and process.poll() is None:
        if ready():
            return
        time.sleep(0.05)
    stop(process)
    raise ServerMissing(f"did not start: {log.read_text(errors='replace')[-1500:]}")


def stop(process: subprocess.Popen[bytes], signal_number: int = 15, patience_s: float = 20.0) -> None:
    """Ask the process to end, then make it."""
    if process.poll() is None:
        process.send_signal(signal_number)
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
