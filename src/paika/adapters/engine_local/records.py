"""The files of a run, shared by engine and supervisors; the standard library alone.

    runs/RUN/run.json         what was ordered: token, number of parts, boot id, time
    runs/RUN/starter          locked by the server while it starts the run
    runs/RUN/decision         claim: 'go', or 'no EPOCH DETAIL'; no program runs before 'go'
    runs/RUN/stop             claim: the asked cause
    runs/RUN/failed           claim: the rank of the part that ended badly first
    runs/RUN/RANK/order.json  what the supervisor needs; removed at the end, it holds the environment
    runs/RUN/RANK/alive       locked by the supervisor as long as it lives; its mtime is a heartbeat
    runs/RUN/RANK/ready.json, started.json, exit.json, stopping (claim), script, log/

A *claim* is a symbolic link that points nowhere: making one is a single atomic and exclusive step
that brings its text along. A *record* is a JSON file whose room was reserved before the run began,
so that a full disk cannot keep it from being written.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Mapping
from typing import Any

RUN, STARTER, DECISION, STOP, FAILED = "run.json", "starter", "decision", "stop", "failed"
ORDER, ALIVE, READY, STARTED, EXIT = "order.json", "alive", "ready.json", "started.json", "exit.json"
STOPPING, SCRIPT = "stopping", "script"
RESERVED = (READY, STARTED, EXIT)
GO = "go"
RECORD_BYTES = 4096
TEXT_CHARS = 1000

Facts = Mapping[str, Any]


def claim(path: str, text: str) -> bool:
    """Make the claim if nobody has; True if it is ours. Raises OSError on a full or broken disk."""
    try:
        os.symlink(text.replace("\0", "?")[:TEXT_CHARS] or "-", path)
    except FileExistsError:
        return False
    return True


def claimed(path: str) -> str | None:
    """The text of a claim, None if there is none."""
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return None


def refusal(at: float, detail: str) -> str:
    """The text of a decision against the start."""
    return f"no {at:.6f} {detail}"


def refused(decision: str) -> tuple[float, str]:
    """(epoch seconds, detail) of a decision against the start."""
    _, at, detail = (*decision.split(" ", 2), "")[:3]
    return float(at), detail


def reserve(folder: str) -> None:
    """Set room aside for the records of a part."""
    for name in RESERVED:
        write(os.path.join(folder, f"{name}.room"), b" " * RECORD_BYTES)


def write(path: str, data: bytes, mode: int = 0o600) -> None:
    """A new private file. Raises FileExistsError, or OSError on a full disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def encoded(facts: Facts) -> bytes:
    """A record as it stands in its file."""
    return json.dumps(facts).encode()


def publish(folder: str, name: str, facts: Facts, durable: bool = False) -> None:
    """Fill the reserved room in place, then rename it: readers see all of the record or none."""
    room = os.path.join(folder, f"{name}.room")
    data = encoded(facts).ljust(RECORD_BYTES)
    descriptor = os.open(room, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        _write_all(descriptor, data)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(room, os.path.join(folder, name))
    if durable:
        sync(folder)


def sync(folder: str) -> None:
    """Make the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(folder: str, name: str) -> dict[str, Any] | None:
    """A record, None if it was not published."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            facts: dict[str, Any] = json.load(file)
            return facts
    except (FileNotFoundError, NotADirectoryError):
        return None


def hold(path: str) -> int:
    """Create a file and lock it: a descriptor whose last copy to be closed frees the lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def is_held(path: str) -> bool:
    """Somebody alive holds the lock of this file."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def touched_at(path: str) -> float | None:
    """When the file was last written or touched, epoch seconds; None if it is not there."""
    with contextlib.suppress(FileNotFoundError):
        return os.stat(path).st_mtime
    return None
