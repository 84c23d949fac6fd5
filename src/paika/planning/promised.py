"""What the order did with free cards: kept for tasks ahead, or given to tasks behind, gathered in rank order."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from paika.domain.reason import PromisedAhead
from paika.domain.task import Share, Task
from paika.planning.draft import Draft, Span
from paika.planning.house import Place
from paika.planning.timeline import NEVER, bits

MOST_TASKS = 5


class Ahead:
    """Promises of the tasks gone through so far, and those kept from the last plan, whoever has them.

    `changes` counts those that came nearer on some card.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.changes = 0
        self._nearest: dict[tuple[int, int], tuple[int, str]] = {}

    def note(self, spans: Iterable[Span], now_too: bool = False) -> None:
        """These are promised: to the next task in rank order, or from before; then those that start now count too."""
        for span in spans:
            if span.start <= self.draft.now and not now_too:
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


class Behind:
    """Cards that this plan gave to tasks further down: they filled a gap that the ones before them did not fit.

    `changes` counts the starts gone through so far.
    """

    def __init__(self, draft: Draft, tasks: Iterable[Task]) -> None:
        self.draft = draft
        self.changes = 0
        self._whole: dict[int, int] = {}
        self._shares: dict[tuple[int, int], list[Share]] = {}
        self._shared: dict[int, list[int]] = {}
        for task in tasks:
            for span in self._now(task):
                if task.demand.share is None:
                    self._whole[span.node] = self._whole.get(span.node, 0) | span.mask
                else:
                    self._shares.setdefault((span.node, span.mask.bit_length() - 1), []).append(task.demand.share)
        for node, bit in self._shares:
            self._shared.setdefault(node, []).append(bit)

    def pass_by(self, task: Task) -> None:
        """The next task in rank order has been dealt with: it is behind nobody any more."""
        for span in self._now(task):
            self.changes += 1
            if task.demand.share is None:
                self._whole[span.node] &= ~span.mask
            else:
                at = (span.node, span.mask.bit_length() - 1)
                self._shares[at].remove(task.demand.share)
                if not self._shares[at]:
                    self._shared[span.node].remove(at[1])

    def nodes(self) -> AbstractSet[int]:
        """Nodes with cards that were given to those further down."""
        return {
            *(node for node, mask in self._whole.items() if mask),
            *(n for n, found in self._shared.items() if found),
        }

    def whole(self, node: int) -> int:
        """Cards of a node that were given whole."""
        return self._whole.get(node, 0)

    def shared(self, node: int) -> list[int]:
        """Positions of the node's cards that shares were given on."""
        return self._shared.get(node, [])

    def shares(self, node: int, bit: int) -> list[Share]:
        """Shares that were given on a card."""
        return self._shares.get((node, bit), [])

    def _now(self, task: Task) -> list[Span]:
        return [span for span in self.draft.spans.get(task.id, ()) if span.start <= self.draft.now]
