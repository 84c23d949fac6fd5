"""Where traces come from."""

from __future__ import annotations

from typing import Protocol

from paika.domain.trace import Trace


class TraceReader(Protocol):
    """Reads one format. A bad line costs that line and is named among the trace's flaws."""

    def read(self, data: bytes, name: str) -> Trace:
        """The trace in unpacked `data`. Raises UnreadableTrace when it is no such file at all."""
        ...
