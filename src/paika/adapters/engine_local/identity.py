"""Who a supervisor is: boot id, process number, start time, run token; the standard library alone."""

from __future__ import annotations

import os
import signal

from paika.adapters.engine_local import processes, records


def mine(token: str) -> dict[str, object]:
    """The identity of this process."""
    me = processes.look(os.getpid())
    assert me is not None, "we are running"
    return {"boot": processes.boot_id(), "pid": me.pid, "start_ticks": me.start_ticks, "token": token}


def live(facts: records.Facts | None, token: str) -> int | None:
    """The process number, if the very process of these facts still lives; else None."""
    if facts is None or facts["token"] != token or facts["boot"] != processes.boot_id():
        return None
    process = processes.look(int(facts["pid"]))
    if process is None or not process.live or process.start_ticks != facts["start_ticks"]:
        return None
    return process.pid


def wake(part: str, token: str) -> None:
    """Let the supervisor of a part folder look at its files now instead of within a second."""
    pid = live(records.read(part, records.READY), token)
    if pid is not None:
        processes.send((pid,), signal.SIGUSR1)
