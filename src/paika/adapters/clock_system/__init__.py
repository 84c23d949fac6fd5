"""The system's clock, never going back within the process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import monotonic


class SystemClock:
    """UTC by the system's clock at the start, carried on by the monotonic clock, corrected when it drifts forward."""

    def __init__(self) -> None:
        self._last = datetime.now(UTC)
        self._mono = monotonic()

    def now(self) -> datetime:
        """This instant; a clock set back by hand holds still until it has caught up, never less than time passed."""
        wall, mono = datetime.now(UTC), monotonic()
        least = self._last + timedelta(seconds=mono - self._mono)
        if wall < least and least - wall < timedelta(seconds=1):
            wall = least
        self._last, self._mono = max(wall, self._last), mono
        return self._last
