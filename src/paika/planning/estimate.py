"""What match records teach: how fast a kind of task runs on each card type."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median_low

from paika.domain.match import MatchRecord
from paika.domain.run import EndCause
from paika.domain.snapshot import Speed

ENOUGH = 3  # runs of a kind on a type before their times are believed


def speeds(matches: Iterable[MatchRecord]) -> tuple[Speed, ...]:
    """Speed of each kind on each type it ran on often enough, relative to the type it ran on most, in thousandths.

    A speed is the inverse ratio of median run times of the same number of cards, the number that tells of most
    types; runs that did not end well teach nothing. Kinds seen on one type only get no entry: the catalogue's
    weights serve then.
    """
    found: list[Speed] = []
    for kind, counts in sorted(_run_times(matches).items()):
        times = max(counts.values(), key=lambda by_type: (len(by_type), sum(map(len, by_type.values()))))
        if len(times) < 2:
            continue
        reference = max(times, key=lambda card_type: (len(times[card_type]), card_type))
        base = median_low(times[reference])
        found += [Speed(kind, card_type, base * 1000 // median_low(seen)) for card_type, seen in sorted(times.items())]
    return tuple(found)


def _run_times(matches: Iterable[MatchRecord]) -> dict[str, dict[int, dict[str, list[int]]]]:
    """Seconds of good runs by kind, number of cards and card type, where there are enough of them."""
    seconds: dict[tuple[str, int, str], list[int]] = {}
    for match in matches:
        if match.cause is EndCause.DONE and match.seconds > 0 and match.task_kind:
            seconds.setdefault((match.task_kind, match.cards, match.card_type), []).append(match.seconds)
    found: dict[str, dict[int, dict[str, list[int]]]] = {}
    for (kind, cards, card_type), times in sorted(seconds.items()):
        if len(times) >= ENOUGH:
            found.setdefault(kind, {}).setdefault(cards, {})[card_type] = times
    return found
