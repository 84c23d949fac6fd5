"""PATH, MARKER and MANIFEST: what lies below the allowed roots, and whether it is all there."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from paika.adapters.patience.within import Patience
from paika.adapters.probe_file.manifest import Verifier
from paika.adapters.probe_file.tally import Tally, TimeIsUp
from paika.domain.dataset import ProbeKind, ProbeResult, ProbeSpec, Readiness

_SPARE = 0.9  # of the time for looking, the rest for telling what was seen


class OutsideRoots(Exception):
    """The path, links resolved, lies below none of the allowed roots."""


class FileProbe:
    """Looks only below `roots` (absolute folders), links resolved. No roots: looks at nothing."""

    kinds = (ProbeKind.PATH, ProbeKind.MARKER, ProbeKind.MANIFEST)

    def __init__(self, roots: Iterable[Path]) -> None:
        self._roots = tuple(Path(os.path.realpath(root)) for root in roots)
        self._patience: Patience[ProbeResult] = Patience()
        self._verifier = Verifier(self.contained)

    def check(self, spec: ProbeSpec) -> ProbeResult:
        """Look once, within the spec's timeout."""
        try:
            return self._patience.within(
                spec.timeout_s,
                f"{spec.kind} {spec.target}",
                lambda: self._look(spec, time.monotonic() + spec.timeout_s * _SPARE),
                lambda: ProbeResult(Readiness.UNKNOWN, None, f"no answer within {spec.timeout_s} s"),
            )
        except OutsideRoots:
            return ProbeResult(Readiness.UNKNOWN, None, "outside the folders that probes may look at")
        except (OSError, ValueError) as fault:
            return ProbeResult(Readiness.UNKNOWN, None, _fault(fault))

    def contained(self, path: str | Path) -> Path:
        """The path with links resolved. Raises OutsideRoots, and OSError for a ring of links."""
        if not os.path.isabs(path):
            raise OutsideRoots
        real = Path(os.path.realpath(path))
        if not any(real == root or root in real.parents for root in self._roots):
            raise OutsideRoots
        return real

    def _look(self, spec: ProbeSpec, deadline: float) -> ProbeResult:
        if spec.kind not in self.kinds:
            return ProbeResult(Readiness.UNKNOWN, None, f"no file probe for {spec.kind}")
        real = self.contained(spec.target)
        if spec.kind is ProbeKind.MARKER:
            return self._marker(real)
        if not os.path.lexists(real):
            return ProbeResult(Readiness.BLOCKED, None, "nothing there")
        if spec.kind is ProbeKind.MANIFEST:
            return self._verifier.verify(real, deadline)
        return self._path(spec, real, deadline)

    def _marker(self, real: Path) -> ProbeResult:
        if real.exists():
            return ProbeResult(Readiness.READY, 100, "marker found")
        if real.parent.is_dir():
            return ProbeResult(Readiness.PREPARING, None, "no marker yet")
        return ProbeResult(Readiness.BLOCKED, None, "the marker's folder is not there")

    def _path(self, spec: ProbeSpec, real: Path, deadline: float) -> ProbeResult:
        tally = Tally(spec.want_bytes, spec.want_files)
        try:
            self._count(real, tally, deadline)
        except TimeIsUp:
            return tally.cut_short()
        return tally.result()

    def _count(self, top: Path, tally: Tally, deadline: float) -> None:
        """Count files below `top`, each folder once however many links lead to it; stop when all wants are met."""
        seen: set[tuple[int, int]] = set()
        stack = [top]
        while stack and not tally.full:
            if time.monotonic() > deadline:
                raise TimeIsUp
            here = stack.pop()
            about = self._stat(here)
            if about is None:
                continue
            if stat.S_ISREG(about.st_mode):
                tally.add(about.st_size)
            if not stat.S_ISDIR(about.st_mode) or (about.st_dev, about.st_ino) in seen:
                continue
            seen.add((about.st_dev, about.st_ino))
            self._enter(here, stack, tally, deadline)

    def _enter(self, folder: Path, stack: list[Path], tally: Tally, deadline: float) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink() or entry.is_dir(follow_symlinks=False):
                    stack.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    tally.add(entry.stat(follow_symlinks=False).st_size)
                if tally.full:
                    return
                if time.monotonic() > deadline:
                    raise TimeIsUp

    def _stat(self, path: Path) -> os.stat_result | None:
        """What a path leads to, None for a link that leads nowhere or out of the roots."""
        try:
            return os.stat(self.contained(path))
        except (OSError, OutsideRoots):
            return None


def _fault(fault: OSError | ValueError) -> str:
    return os.strerror(fault.errno) if isinstance(fault, OSError) and fault.errno else type(fault).__name__
