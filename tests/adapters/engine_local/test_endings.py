"""Causes are told from evidence alone."""

from __future__ import annotations

import signal

import pytest

from paika.adapters.engine_local.endings import Ending, Seen, ending


def exited(code: int) -> int:
    return code << 8


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (Seen(exited(0)), Ending("done", 0)),
        (Seen(exited(0), log_tail=b"CUDA out of memory"), Ending("done", 0)),
        (Seen(exited(3)), Ending("exit_code", 3)),
        (Seen(exited(137)), Ending("exit_code", 137, None, "shell_saw_signal: KILL")),
        (Seen(exited(255)), Ending("exit_code", 255)),
        (Seen(signal.SIGSEGV), Ending("signal", None, "SEGV")),
        (Seen(signal.SIGSEGV | 0x80), Ending("signal", None, "SEGV")),
        (Seen(signal.SIGKILL), Ending("signal", None, "KILL", "killed_cause_unknown")),
        (
            Seen(signal.SIGKILL, host_memory_kills=2),
            Ending("signal", None, "KILL", "killed_while_host_out_of_memory: 2"),
        ),
        (Seen(signal.SIGKILL, memory_kills=1), Ending("out_of_memory", None, "KILL", "memory_kills: 1")),
        (Seen(exited(1), memory_kills=0), Ending("exit_code", 1)),
        (Seen(signal.SIGTERM, stopped="preempted"), Ending("preempted", None, "TERM")),
        (Seen(exited(0), stopped="cancelled"), Ending("cancelled", 0)),
        (Seen(exited(1), stopped="limit", log_tail=b"MemoryError"), Ending("limit", 1)),
        (Seen(signal.SIGRTMIN + 3), Ending("signal", None, str(signal.SIGRTMIN + 3))),
    ],
)
def test_an_ending(seen: Seen, expected: Ending) -> None:
    assert ending(seen) == expected


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
        "torch.OutOfMemoryError: CUDA out of memory.",
        "torch.cuda.OutOfMemoryError: x",
        "RuntimeError: NPU out of memory. Tried to allocate",
        "MemoryError",
        "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.28 TiB",
        "terminate called after throwing an instance of 'std::bad_alloc'",
    ],
)
def test_a_line_that_says_memory_ran_out(line: str) -> None:
    tail = f"Traceback (most recent call last):\n{line}\nbye\n".encode()
    assert ending(Seen(exited(1), log_tail=tail)).cause == "out_of_memory"


@pytest.mark.parametrize(
    "line", ["no MemoryError was seen", "except MemoryError:", "ValueError: memory", "OOM policy: on"]
)
def test_a_line_that_says_no_such_thing(line: str) -> None:
    assert ending(Seen(exited(1), log_tail=f"{line}\n".encode())).cause == "exit_code"
