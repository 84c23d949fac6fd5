"""Match records: how one kind of task did on one card type."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from paika.domain.run import EndCause


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """The measured outcome of one run. Peaks are None when no meter saw the run."""

    run: str
    task_kind: str
    card_type: str
    cards: int
    seconds: int
    cause: EndCause
    peak_vram_mib: int | None
    mean_busy_percent: int | None
    oversized: bool
    at: datetime
