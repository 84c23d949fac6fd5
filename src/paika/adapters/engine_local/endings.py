"""Why a part ended, told from what was seen; pure, the standard library alone.

A detail is a word, or `word: fact`; the words are translated under `engine.detail.WORD`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from paika.adapters.engine_local.detail import Detail
from paika.adapters.engine_local.processes import signal_name

DONE, EXIT_CODE, SIGNAL, LIMIT = "done", "exit_code", "signal", "limit"
OUT_OF_MEMORY, START_FAILED, UNKNOWN, NODE_LOST = "out_of_memory", "start_failed", "unknown", "node_lost"
SIBLING = "sibling"  # stopped because another part of the run ended badly; never the run's own cause

LOG_TAIL_BYTES = 64 * 1024
OUT_OF_MEMORY_MARKS = re.compile(
    rb"CUDA out of memory|torch(\.cuda)?\.OutOfMemoryError|NPU out of memory|CUBLAS_STATUS_ALLOC_FAILED"
    rb"|cudaErrorMemoryAllocation|RESOURCE_EXHAUSTED: Out of memory|^(numpy\..*)?_?(Array)?MemoryError\b"
    rb"|^MemoryError|std::bad_alloc",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a supervisor saw: the wait status, why it stopped the part, the log's end, memory kills.

    `memory_kills` counts those inside the part's own group, `host_memory_kills` those on the whole host
    during the run; None means that nobody tells.
    """

    status: int
    stopped: str | None = None
    log_tail: bytes = b""
    memory_kills: int | None = None
    host_memory_kills: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """What the exit record says of it."""

    cause: str
    exit_code: int | None = None
    signal: str | None = None
    detail: str = ""


def ending(seen: Seen) -> Ending:
    """The cause that the evidence supports, and no more than that."""
    number = seen.status & 0x7F
    code = None if number else seen.status >> 8
    name = signal_name(number) if number else None
    if seen.stopped is not None:
        return Ending(seen.stopped, code, name, seen.detail)
    if code == 0:
        return Ending(DONE, code, None, seen.detail)
    if seen.memory_kills:
        return Ending(OUT_OF_MEMORY, code, name, Detail.MEMORY_KILLS.of(seen.memory_kills))
    mark = OUT_OF_MEMORY_MARKS.search(seen.log_tail)
    if mark:
        return Ending(OUT_OF_MEMORY, code, name, Detail.LOG_SAYS.of(mark.group().decode(errors="replace")))
    if code is not None:
        return Ending(EXIT_CODE, code, None, seen.detail or _shell_hint(code))
    return Ending(SIGNAL, None, name, _why_killed(seen) if name == "KILL" else seen.detail)


def _shell_hint(code: int) -> str:
    return Detail.SHELL_SAW_SIGNAL.of(signal_name(code - 128)) if 128 < code <= 128 + 64 else ""


def _why_killed(seen: Seen) -> str:
    if seen.host_memory_kills:
        return Detail.KILLED_WHILE_HOST_OUT_OF_MEMORY.of(seen.host_memory_kills)
    return Detail.KILLED_CAUSE_UNKNOWN
