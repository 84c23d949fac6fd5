"""Counting bytes and files against what there should be."""

from __future__ import annotations

from dataclasses import dataclass

from paika.domain.dataset import ProbeResult, Readiness


class TimeIsUp(Exception):
    """The look was cut short."""


@dataclass(slots=True)
class Tally:
    """Bytes and files counted so far, and how many there should be (None: not said)."""

    want_bytes: int | None
    want_files: int | None
    size: int = 0
    files: int = 0

    def add(self, size: int) -> None:
        """One more file of `size` bytes."""
        self.files += 1
        self.size += size

    @property
    def _wants(self) -> list[tuple[int, int]]:
        pairs = ((self.size, self.want_bytes), (self.files, self.want_files))
        return [(have, want) for have, want in pairs if want]

    @property
    def full(self) -> bool:
        """Something was asked for and all of it is there."""
        return bool(self._wants) and all(have >= want for have, want in self._wants)

    @property
    def percent(self) -> int | None:
        """The least complete want, rounded down; None if nothing was asked for."""
        return min((min(100, have * 100 // want) for have, want in self._wants), default=None)

    @property
    def detail(self) -> str:
        """What was counted."""
        return f"{self.files} files, {self.size} bytes"

    def result(self) -> ProbeResult:
        """The verdict after everything was counted."""
        if not self.files:
            return ProbeResult(Readiness.BLOCKED, 0 if self._wants else None, "nothing there")
        if self.full or not self._wants:
            return ProbeResult(Readiness.READY, 100, self.detail)
        return ProbeResult(Readiness.PREPARING, self.percent, self.detail)

    def cut_short(self) -> ProbeResult:
        """The verdict when time was up before everything was counted."""
        return ProbeResult(Readiness.UNKNOWN, self.percent, f"time was up after {self.detail}")
