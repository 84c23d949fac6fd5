"""Curves of a replay, ready to be drawn: how waits are spread, and cards and queue over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from paika.simulation.load import Served

Curve = list[tuple[float, float]]
STEPS = 100


def wait_curve(served: Sequence[Served]) -> Curve:
    """(wait in s, percent of works that waited no longer), at each whole percent (nearest rank)."""
    waits = sorted(one.wait_s for one in served)
    if not waits:
        return []
    return [(waits[max(0, ceil(len(waits) * p / STEPS) - 1)], p) for p in range(STEPS + 1)]


def cards_over_time(served: Sequence[Served], pieces: int, until_s: int) -> Curve:
    """(middle of a piece in s, mean cards in use there); `pieces` equal pieces from 0 to `until_s`.

    Only last runs count: lost ones are no work.
    """
    spans = ((one.ended_s - one.work.duration_s, one.ended_s, one.work.cards) for one in served)
    return _means(spans, pieces, until_s)


def queue_over_time(served: Sequence[Served], pieces: int, until_s: int) -> Curve:
    """(middle of a piece in s, mean works that wait there for their last start)."""
    return _means(((one.queued_s, one.ended_s - one.work.duration_s, 1) for one in served), pieces, until_s)


def _means(spans: Iterable[tuple[int, int, int]], pieces: int, until_s: int) -> Curve:
    """Means of a sum of spans (from, to, height) over each piece; exact, in one pass over the spans."""
    if until_s <= 0 or pieces <= 0:
        return []
    width = until_s / pieces
    area = [0.0] * (pieces + 1)  # of spans that begin or end within the piece
    change = [0.0] * (pieces + 2)  # of the height that whole pieces have
    for begins, ends, height in spans:
        low, high = max(0, begins), min(ends, until_s)
        if high <= low:
            continue
        first, last = min(int(low / width), pieces - 1), min(int(high / width), pieces - 1)
        if first == last:
            area[first] += height * (high - low)
            continue
        area[first] += height * ((first + 1) * width - low)
        area[last] += height * (high - last * width)
        change[first + 1] += height
        change[last] -= height
    made: Curve = []
    level = 0.0
    for piece in range(pieces):
        level += change[piece]
        made.append(((piece + 0.5) * width, area[piece] / width + level))
    return made
