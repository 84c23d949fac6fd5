"""Free cards that tasks ahead are to have: the nearest promise on each card, gathered in rank order."""

from __future__ import annotations

from collections.abc import Iterable

from paika.domain.reason import PromisedAhead
from paika.planning.draft import Draft, Span
from paika.planning.house import Place
from paika.planning.timeline import NEVER, bits

MOST_TASKS = 5


class Ahead:
    """Promises of the tasks gone through so far. `changes` counts those that came nearer on some card."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.changes = 0
        self._nearest: dict[tuple[int, int], tuple[int, str]] = {}

    def note(self, spans: Iterable[Span]) -> None:
        """The next task in rank order was promised these."""
        for span in spans:
            if span.start <= self.draft.now:
                continue
            for bit in bits(span.mask):
                entry = (span.start, span.task)
                if entry < self._nearest.get((span.node, bit), (NEVER + 1, "")):
                    self._nearest[span.node, bit] = entry
                    self.changes += 1

    def reason(self, usable: Iterable[tuple[Place, int]], each: int, alone: bool) -> PromisedAhead | None:
        """What of the usable cards is promised to tasks ahead; None if nothing is.

        `each` cards are needed on one node; `alone` says that one node is enough, so that a short hard
        limit could fit before the promises: `limit_would_fit_s` is the longest that would.
        """
        kept: dict[str, int] = {}
        cards, fits_s = 0, 0
        for place, mask in usable:
            nearest = [self._nearest.get((place.node, bit), (NEVER, "")) for bit in bits(mask)]
            promised = [entry for entry in nearest if entry[1]]
            cards += len(promised)
            for start, task in promised:
                kept[task] = min(start, kept.get(task, NEVER))
            if len(nearest) >= each:
                fits_s = max(fits_s, sorted(nearest, reverse=True)[each - 1][0] - self.draft.now)
        if not cards:
            return None
        tasks = sorted(kept, key=lambda task: (kept[task], task))
        would_fit = fits_s if alone and 0 < fits_s < NEVER - self.draft.now else None
        return PromisedAhead(cards, tuple(tasks[:MOST_TASKS]), self.draft.date(min(kept.values())), would_fit)
