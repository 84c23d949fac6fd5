"""The Meter port on `npu-smi info`; never tried on the device."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from datetime import datetime
from shutil import which

from paika.adapters.meter_npu.npu_smi import read_table
from paika.domain.card import Vendor
from paika.ports.meter import Look

ARGV = ("npu-smi", "info")
TIMEOUT_S = 30.0
Run = Callable[[Sequence[str]], str]


class ToolFailed(Exception):
    """The tool ended with an error; its words are the message."""


def run_tool(argv: Sequence[str]) -> str:
    """What the tool prints. Raises OSError, TimeoutExpired after 30 s, or ToolFailed."""
    done = subprocess.run(list(argv), capture_output=True, timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        words = (done.stdout + b" " + done.stderr).decode("utf-8", "replace")
        raise ToolFailed(" ".join(words.split())[:300] or f"exit {done.returncode}")
    return done.stdout.decode("utf-8", "replace")


class NpuSmiMeter:
    """Looks at this host's Ascend cards by running the tool; `run` may be another way to get its text."""

    def __init__(self, node: str, run: Run | None = None) -> None:
        self._node = node
        self._run = run

    def look(self, now: datetime) -> tuple[Look, ...]:
        """One look; nothing at all where the tool is not installed."""
        if self._run is None and which(ARGV[0]) is None:
            return ()
        try:
            text = (self._run or run_tool)(ARGV)
        except (OSError, subprocess.SubprocessError, ToolFailed) as error:
            return (Look(self._node, Vendor.ASCEND, now, failed=str(error)[:300]),)
        return (read_table(text, self._node, now),)
