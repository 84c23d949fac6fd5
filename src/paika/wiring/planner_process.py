"""Long queues are planned in a process of their own, so that readers do not wait for the interpreter's lock.

Two Python processes talk in pickles over pipes that nobody else holds. Each remembers what it told the other, and
sends only what is new: most tasks and most answers are the same from one plan to the next. The child ends when its
pipe does, so it never outlives the server, however that ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import IO, Any

import structlog

from paika.domain.plan import Wait
from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task
from paika.services.run_cycle import Decided, decide

PIECE = 100  # rows that are packed without a pause
LONG = 500  # waiting tasks from which the way to another process pays
log = structlog.get_logger("paika.planner")


class PlannerProcess:
    """Decides like `decide`; short queues here, long ones in the child. If the child fails, it is done here."""

    def __init__(self, long: int = LONG) -> None:
        self._long = long
        self._child: subprocess.Popen[bytes] | None = None
        self._told, self._heard = _Told(), _Heard()
        self._shown: dict[str, tuple[Wait, Wait]] = {}

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
        except BaseException:
            self.close()  # who was told what is no longer sure
            raise

    def close(self) -> None:
        """End the child, if there is one; a later call makes another."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()

    def _ask(self, snapshot: Snapshot, policy: Policy, now: datetime) -> Decided:
        if self._child is None:
            self._child, self._told, self._heard = _spawn(), _Told(), _Heard()
        child, told = self._child, self._told
        assert child.stdin is not None
        assert child.stdout is not None
        head = (replace(snapshot, tasks=(), promises=()), policy, now)
        _send(child.stdin, head, told.news("tasks", snapshot.tasks), told.news("promises", snapshot.promises))
        (made, broken, ranks), waits = _receive(child.stdout, self._heard)
        return replace(made, waits=self._ranked(waits, ranks)), broken

    def _ranked(self, waits: Sequence[Wait], ranks: Sequence[int]) -> tuple[Wait, ...]:
        """Ranks travel apart, because a newcomer shifts all after it; who keeps the rank stays the very same object."""
        before, self._shown = self._shown, {}
        for bare, rank in zip(waits, ranks, strict=True):
            known = before.get(bare.task)
            if known is None or known[0] is not bare or known[1].rank != rank:
                known = bare, replace(bare, rank=rank)
            self._shown[bare.task] = known
        return tuple(wait for _, wait in self._shown.values())


class _Told:
    """What the other side knows already, list by list: only rows that are new or differ are sent."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Any]] = {}

    def news(self, name: str, rows: Sequence[Any]) -> _News:
        """The order of all rows by key, and those that the other side does not have as they are."""
        known = self._known.get(name, {})
        now = {_key(row): row for row in rows}
        changed = [row for key, row in now.items() if (old := known.get(key)) is not row and old != row]
        self._known[name] = now
        return name, list(now), changed


class _Heard:
    """The same from the other side: lists whole again, unchanged rows being the very objects of the time before."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Any]] = {}

    def rows(self, name: str, order: Sequence[str], changed: Iterable[Any]) -> tuple[Any, ...]:
        """All rows of the list in order."""
        known = self._known.get(name, {}) | {_key(row): row for row in changed}
        self._known[name] = {key: known[key] for key in order}
        return tuple(self._known[name].values())


_News = tuple[str, list[str], list[Any]]


def _key(row: Any) -> str:
    return row.id if isinstance(row, Task) else row.task


def _send(pipe: IO[bytes], head: object, *lists: _News) -> None:
    """The head, then the changed rows of each list in pieces: between two the interpreter may serve somebody else.

    One pickler for all of it, so that what rows share stays shared.
    """
    pickler = pickle.Pickler(pipe, pickle.HIGHEST_PROTOCOL)
    pickler.dump((head, [(name, order, len(changed)) for name, order, changed in lists]))
    for _, _, changed in lists:
        for start in range(0, len(changed), PIECE):
            pickler.dump(changed[start : start + PIECE])
    pipe.flush()


def _receive(pipe: IO[bytes], heard: _Heard) -> tuple[Any, ...]:
    """The head, and every list whole. Raises EOFError at the end of the pipe."""
    unpickler = pickle.Unpickler(pipe)  # noqa: S301 - between us and our own child, over a pipe of our own
    head, lists = unpickler.load()
    found = []
    for name, order, count in lists:
        changed: list[Any] = []
        while len(changed) < count:
            changed += unpickler.load()
        found.append(heard.rows(name, order, changed))
    return head, *found


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
    told, heard = _Told(), _Heard()
    while True:
        try:
            (snapshot, policy, now), tasks, promises = _receive(questions, heard)
        except EOFError:
            return
        made, broken = decide(replace(snapshot, tasks=tasks, promises=promises), policy, now)
        ranks = [wait.rank for wait in made.waits]
        waits = told.news("waits", [replace(wait, rank=0) for wait in made.waits])
        _send(answers, (replace(made, waits=()), broken, ranks), waits)


if __name__ == "__main__":
    main()
