"""How told starts have come true, published."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from paika.services.live import Live
from paika.services.score_promises import NEEDED, Accuracy, accuracy


@dataclass(frozen=True, slots=True)
class AccuracyView:
    """Every lead with what is known of it; `needed` outcomes must be seen before a lead teaches a range."""

    at: datetime
    needed: int
    rows: tuple[Accuracy, ...]

    @property
    def known(self) -> bool:
        """Whether any lead has seen enough."""
        return any(row.early_s is not None for row in self.rows)


def see_accuracy(live: Live, now: datetime) -> AccuracyView:
    """As of the last plan; all unknown before the first."""
    return AccuracyView(now, NEEDED, live.accuracy or accuracy(()))
