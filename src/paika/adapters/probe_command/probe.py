"""COMMAND: an argv list, run without a shell. Exit 0 is ready, 75 preparing, anything else blocked.

A last line of output that is a number, or holds one with a percent sign, is the percent. The command
gets a bare environment: nothing that the server knows from its own.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress

from paika.domain.dataset import ProbeKind, ProbeResult, ProbeSpec, Readiness

PREPARING = 75  # EX_TEMPFAIL
KEPT_BYTES = 64 * 1024
_STEP_S = 0.1
_PERCENT = re.compile(r"(?:^|.*?[^0-9.])(100|[0-9]{1,2})(?:\.[0-9]+)? ?%.*|(100|[0-9]{1,2})(?:\.[0-9]+)?")
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/"}


class CommandProbe:
    """Runs the spec's argv in `/` with `environment`; when time is up its whole process group is killed."""

    kinds = (ProbeKind.COMMAND,)

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = dict(environment or _ENVIRONMENT)

    def check(self, spec: ProbeSpec) -> ProbeResult:
        """Run it once, within the spec's timeout."""
        if spec.kind not in self.kinds or not spec.argv:
            return _unknown("no command")
        try:
            process = subprocess.Popen(
                spec.argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=self._environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as fault:
            return _unknown(f"cannot be run: {type(fault).__name__}")
        try:
            output = _watched(process, time.monotonic() + spec.timeout_s)
        finally:
            _end(process)
        if output is None:
            return _unknown(f"no answer within {spec.timeout_s} s")
        return _verdict(process.returncode, output)


def _watched(process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
    """The last KEPT_BYTES of output once the process has ended; None when time is up."""
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    kept, open_still = b"", True
    while time.monotonic() < deadline:
        over = _has_ended(process.pid)
        if open_still and select.select([pipe], [], [], 0 if over else _STEP_S)[0]:
            chunk = os.read(pipe, KEPT_BYTES)
            open_still = bool(chunk)
            kept = (kept + chunk)[-KEPT_BYTES:]
        elif over:
            return kept
        elif not open_still:
            time.sleep(_STEP_S / 10)
    return None


def _has_ended(pid: int) -> bool:
    """Whether it has ended. It is not reaped yet, so that its number stays its own until its group is killed."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the group, children that outlive the command too, and reap it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _verdict(code: int, output: bytes) -> ProbeResult:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    said = lines[-1].strip()[:200] if lines else ""
    found = _PERCENT.fullmatch(said)
    percent = int(found[1] or found[2]) if found else None
    if code == 0:
        return ProbeResult(Readiness.READY, 100, said)
    if code == PREPARING:
        return ProbeResult(Readiness.PREPARING, percent, said)
    if code < 0:
        return _unknown(f"killed by signal {-code}")
    return ProbeResult(Readiness.BLOCKED, percent, f"exit {code}: {said}" if said else f"exit {code}")


def _unknown(detail: str) -> ProbeResult:
    return ProbeResult(Readiness.UNKNOWN, None, detail)
