"""Texts by which nvidia-smi says that it gives nothing at all."""

from __future__ import annotations

import re

_FAILS = re.compile(
    r"failed to initialize nvml|no devices were found|unable to determine the device handle"
    r"|nvidia-smi has failed|driver/library version mismatch|couldn't communicate with the nvidia driver"
    r"|command not found|no such file or directory",
    re.IGNORECASE,
)
LONGEST = 300


def failure(text: str) -> str | None:
    """The tool's words when it failed as a whole, on one line; None when it did not. No output is a failure."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "no output"
    if any(_FAILS.search(line) for line in lines):
        first = next(n for n, line in enumerate(lines) if _FAILS.search(line))
        return " ".join(lines[first : first + 2])[:LONGEST]
    return None
