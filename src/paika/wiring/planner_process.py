"""Long queues are planned in a process of their own, so that readers do not wait for the interpreter's lock.

Two Python processes talk in pickles over pipes that nobody else holds. The child ends when its pipe does,
so it never outlives the server, however that ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from typing import IO, Any

import structlog

from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.services.run_cycle import Decided, decide

PIECE = 100  # rows that are packed without a pause
LONG = 500  # waiting tasks from which the way to another process pays
log = structlog.get_logger("paika.planner")


class PlannerProcess:
    """Decides like `decide`; short queues here, long ones in the child. If the child fails, it is done here."""

    def __init__(self, long: int = LONG) -> None:
        self._long = long
        self._child: subprocess.Popen[bytes] | None = None

    def __call__(self, snapshot: Snapshot, policy: Policy, now: datetime) -> Decided:
        """A plan and what is wrong with it. For one thread at a time."""
        if len(snapshot.tasks) < self._long:
            return decide(snapshot, policy, now)
        try:
            return self._ask(snapshot, policy, now)
        except (OSError, EOFError, pickle.UnpicklingError) as fault:
            log.warning("planner_process_failed", cause=str(fault) or type(fault).__name__)
            self.close()
            return decide(snapshot, policy, now)

    def close(self) -> None:
        """End the child, if there is one; a later call makes another."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()

    def _ask(self, snapshot: Snapshot, policy: Policy, now: datetime) -> Decided:
        child = self._child = self._child or _spawn()
        assert child.stdin is not None
        assert child.stdout is not None
        _send(child.stdin, (replace(snapshot, tasks=()), policy, now), snapshot.tasks)
        (made, broken), waits = _receive(child.stdout)
        return replace(made, waits=waits), broken


def _send(pipe: IO[bytes], head: object, rows: tuple[Any, ...]) -> None:
    """The head, then the rows in pieces: between two of them the interpreter may serve somebody else.

    One pickler for all of it, so that what rows share stays shared.
    """
    pickler = pickle.Pickler(pipe, pickle.HIGHEST_PROTOCOL)
    pickler.dump((head, len(rows)))
    for start in range(0, len(rows), PIECE):
        pickler.dump(rows[start : start + PIECE])
    pipe.flush()


def _receive(pipe: IO[bytes]) -> tuple[Any, tuple[Any, ...]]:
    """The head and all rows. Raises EOFError at the end of the pipe."""
    unpickler = pickle.Unpickler(pipe)  # noqa: S301 - between us and our own child, over a pipe of our own
    head, count = unpickler.load()
    rows: list[Any] = []
    while len(rows) < count:
        rows += unpickler.load()
    return head, tuple(rows)


def _spawn() -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "paika.wiring.planner_process"]
    # A session of its own: Ctrl-C in the terminal is for the server, which then ends the child.
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)  # noqa: S603


def main() -> None:
    """The child: plan what comes in until nothing more does. A fault ends it, and its words are on stderr."""
    os.nice(5)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints by mistake must not stand among the answers
    questions = sys.stdin.buffer
    while True:
        try:
            (snapshot, policy, now), tasks = _receive(questions)
        except EOFError:
            return
        made, broken = decide(replace(snapshot, tasks=tasks), policy, now)
        _send(answers, (replace(made, waits=()), broken), made.waits)


if __name__ == "__main__":
    main()
