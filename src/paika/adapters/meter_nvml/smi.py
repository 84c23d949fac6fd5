"""The Meter port on `nvidia-smi` itself, for hosts where the library can't be reached."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from datetime import datetime
from shutil import which

from paika.adapters.meter_nvml.nvidia_smi_xml import read_xml
from paika.domain.card import Vendor
from paika.ports.meter import Look

ARGV = ("nvidia-smi", "-q", "-x")
TIMEOUT_S = 30.0
Run = Callable[[Sequence[str]], str]


def run_tool(argv: Sequence[str]) -> str:
    """What the tool prints, errors after output. Raises OSError, or TimeoutExpired after 30 s."""
    done = subprocess.run(list(argv), capture_output=True, timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL)
    text = done.stdout.decode("utf-8", "replace")
    return text if done.returncode == 0 and text.strip() else text + done.stderr.decode("utf-8", "replace")


class NvidiaSmiMeter:
    """Looks at this host's cards by running the tool; `run` may be another way to get its text (such as ssh)."""

    def __init__(self, node: str, run: Run | None = None) -> None:
        self._node = node
        self._run = run

    def look(self, now: datetime) -> tuple[Look, ...]:
        """One look; nothing at all where the tool is not installed."""
        if self._run is None and which(ARGV[0]) is None:
            return ()
        try:
            text = (self._run or run_tool)(ARGV)
        except (OSError, subprocess.SubprocessError) as error:
            return (Look(self._node, Vendor.NVIDIA, now, failed=str(error)[:300]),)
        return (read_xml(text, self._node, now),)
