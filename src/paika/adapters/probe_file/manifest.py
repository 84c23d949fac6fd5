"""Manifests of 'sha256  relative/path' lines, verified bit by bit: what was hashed once is not hashed again."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paika.adapters.probe_file.tally import TimeIsUp
from paika.domain.dataset import ProbeResult, Readiness

MAX_MANIFEST_BYTES = 64 * 1024 * 1024
REMEMBERED = 200_000
CHUNK = 1024 * 1024
_LINE = re.compile(r"\\?([0-9a-fA-F]{64}) [ *](.+)")

_Key = tuple[str, int, int]


class Verifier:
    """Remembers digests by (path, size, mtime_ns), and how far a big file was hashed when time was up."""

    def __init__(self, contained: Callable[[str | Path], Path]) -> None:
        self._contained = contained
        self._digests: OrderedDict[_Key, str] = OrderedDict()
        self._halfway: dict[_Key, tuple[Any, int]] = {}
        self.hashed_bytes = 0

    def verify(self, manifest: Path, deadline: float) -> ProbeResult:
        """READY when every file is there with its digest. Raises OutsideRoots for a path that leads out."""
        if not manifest.is_file() or manifest.stat().st_size > MAX_MANIFEST_BYTES:
            return ProbeResult(Readiness.BLOCKED, None, "the manifest is no file, or too big")
        wanted: list[tuple[str, str]] = []
        for number, line in enumerate(manifest.read_text("utf-8", "surrogateescape").splitlines(), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            found = _LINE.fullmatch(line)
            if found is None:
                return ProbeResult(Readiness.BLOCKED, None, f"line {number} is no 'sha256  path'")
            wanted.append((found[1].lower(), found[2]))
        if not wanted:
            return ProbeResult(Readiness.BLOCKED, None, "the manifest is empty")
        return self._all(manifest.parent, wanted, deadline)

    def _all(self, folder: Path, wanted: list[tuple[str, str]], deadline: float) -> ProbeResult:
        good, missing, wrong = 0, "", ""
        for digest, name in wanted:
            try:
                same = self._digest(self._contained(folder / name), deadline) == digest
            except TimeIsUp:
                percent = good * 100 // len(wanted)
                return ProbeResult(Readiness.UNKNOWN, percent, f"time was up after {good} of {len(wanted)} files")
            except (FileNotFoundError, NotADirectoryError):
                missing = missing or name
                continue
            good += same
            wrong = wrong or ("" if same else name)
        percent = good * 100 // len(wanted)
        if good == len(wanted):
            return ProbeResult(Readiness.READY, 100, f"{good} files verified")
        if missing:
            return ProbeResult(Readiness.PREPARING, percent, f"{good} of {len(wanted)} files, missing: {missing[:100]}")
        return ProbeResult(Readiness.BLOCKED, percent, f"sha256 differs: {wrong[:100]}")

    def _digest(self, path: Path, deadline: float) -> str:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            raise FileNotFoundError(path)
        key = (str(path), about.st_size, about.st_mtime_ns)
        if key in self._digests:
            self._digests.move_to_end(key)
            return self._digests[key]
        hasher, offset = self._halfway.pop(key, (None, 0))
        hasher = hasher or hashlib.sha256()
        with path.open("rb") as file:
            file.seek(offset)
            while chunk := file.read(CHUNK):
                hasher.update(chunk)
                offset += len(chunk)
                self.hashed_bytes += len(chunk)
                if time.monotonic() > deadline:
                    self._halfway = {key: (hasher, offset)}  # the next look goes on here
                    raise TimeIsUp
        self._digests[key] = digest = str(hasher.hexdigest())
        while len(self._digests) > REMEMBERED:
            self._digests.popitem(last=False)
        return digest
