"""The clock: time is an argument, and this is where it comes from."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Aware UTC times that never go back within a process."""

    def now(self) -> datetime:
        """This instant, in UTC."""
        ...
