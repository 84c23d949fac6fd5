"""The log of a task's run, piece by piece, with its gaps told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paika.domain.access import Act, Actor, Forbidden
from paika.domain.person import Role
from paika.domain.problem import NotFound
from paika.domain.run import Run
from paika.domain.task import Task
from paika.ports.engine import Engine
from paika.ports.store import Store

PIECE_BYTES = 256 * 1024
_LONGEST_SIGN = 4  # bytes of one UTF-8 character


@dataclass(frozen=True, slots=True)
class LogView:
    """A piece of a log. Offsets count bytes of the whole output, gaps included.

    `next_offset` asks for what follows; `dropped_before` bytes between the asked offset and `offset` were
    dropped for budget or a full disk. `run` None: the task has not been started; `kept` False: the engine
    has nothing of that run.
    """

    task: str
    run: str | None
    rank: int
    offset: int
    text: str
    next_offset: int
    size: int
    dropped_before: int
    ended: bool
    kept: bool


def read_log(
    store: Store,
    engine: Engine,
    actor: Actor,
    task_id: str,
    *,
    run_id: str = "",
    offset: int | None = None,
    tail_bytes: int = 64 * 1024,
    limit: int = PIECE_BYTES,
    rank: int = 0,
) -> LogView:
    """Up to `limit` bytes from `offset`, or the last `tail_bytes` when offset is None. Never cuts a character.

    Raises NotFound, Forbidden (logs are for the team and for admins).
    """
    task, run = _run(store, actor, task_id, run_id)
    if run is None:
        return LogView(task.id, None, rank, 0, "", 0, 0, 0, task.ended, False)
    start = -max(1, min(tail_bytes, PIECE_BYTES)) if offset is None else max(0, offset)
    chunk = engine.read_log(run.id, run.token, start, max(_LONGEST_SIGN, min(limit, PIECE_BYTES)), rank)
    if chunk is None:
        return LogView(task.id, run.id, rank, 0, "", 0, 0, 0, run.ended, False)
    head = _broken_head(chunk.data) if offset is None and chunk.offset > 0 else 0
    at_end = chunk.offset + len(chunk.data) >= chunk.size
    tail = 0 if at_end and chunk.ended else _broken_tail(chunk.data[head:])
    data = chunk.data[head : len(chunk.data) - tail]
    begin = chunk.offset + head
    return LogView(
        task=task.id,
        run=run.id,
        rank=rank,
        offset=begin,
        text=data.decode("utf-8", "replace"),
        next_offset=begin + len(data),
        size=chunk.size,
        dropped_before=chunk.dropped_before,
        ended=chunk.ended,
        kept=True,
    )


def stream_log(
    store: Store, engine: Engine, actor: Actor, task_id: str, *, run_id: str = "", rank: int = 0
) -> Iterator[bytes]:
    """The whole log as it is now, in pieces; a gap is one line that says how many bytes are missing.

    Rights are checked before the first piece. Raises NotFound, Forbidden.
    """
    _, run = _run(store, actor, task_id, run_id)
    return iter(()) if run is None else _pieces(engine, run, rank)


def may_read_log(actor: Actor, task: Task) -> bool:
    """The owner, his team, and admins."""
    mine = task.owner == actor.person or task.team in (*actor.teams, *actor.leads)
    return actor.may(Act.SEE) and (mine or actor.role is Role.ADMIN)


def _pieces(engine: Engine, run: Run, rank: int) -> Iterator[bytes]:
    offset, size = 0, None
    while size is None or offset < size:
        chunk = engine.read_log(run.id, run.token, offset, PIECE_BYTES, rank)
        if chunk is None:
            return
        size = chunk.size if size is None else size  # what is written meanwhile is for the next download
        if chunk.dropped_before:
            yield f"\n[paika: {chunk.dropped_before} bytes dropped]\n".encode()
        if not chunk.data and chunk.offset <= offset:
            return
        yield chunk.data
        offset = chunk.offset + len(chunk.data)


def _run(store: Store, actor: Actor, task_id: str, run_id: str) -> tuple[Task, Run | None]:
    task = store.task(task_id)
    if task is None:
        raise NotFound(field=None, noun="task", id=task_id)
    if not may_read_log(actor, task):
        raise Forbidden(field=None, act="read_log", role=actor.role.value)
    runs = store.runs_of(task_id)
    if not run_id:
        return task, runs[-1] if runs else None
    found = next((run for run in runs if run.id == run_id), None)
    if found is None:
        raise NotFound(field="run", noun="run", id=run_id)
    return task, found


def _broken_tail(data: bytes) -> int:
    """Bytes of a UTF-8 character at the end whose rest has not come yet."""
    for back in range(1, min(_LONGEST_SIGN, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            needs = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needs and back < len(data) else 0
    return 0


def _broken_head(data: bytes) -> int:
    """Bytes at the start that belong to a character cut off before."""
    for front in range(min(_LONGEST_SIGN - 1, len(data))):
        if data[front] & 0xC0 != 0x80:
            return front
    return min(_LONGEST_SIGN - 1, len(data))
