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

    A speed is the inverse ratio of median run times of the same number of cards; runs that did not end
    well teach nothing. Kinds seen on one type only get no entry: the catalogue's weights serve then.
    """
    seconds: dict[tuple[str, int], dict[str, list[int]]] = {}
    for match in matches:
        if match.cause is EndCause.DONE and match.seconds > 0 and match.task_kind:
            seconds.setdefault((match.task_kind, match.cards), {}).setdefault(match.card_type, []).append(match.seconds)
    found: dict[tuple[str, str], int] = {}
    for (kind, _), by_type in sorted(seconds.items()):
        known = {card_type: times for card_type, times in by_type.items() if len(times) >= ENOUGH}
        if len(known) < 2:
            continue
        reference = max(known, key=lambda card_type: (len(known[card_type]), card_type))
        base = median_low(known[reference])
        for card_type, times in known.items():
            found.setdefault((kind, card_type), base * 1000 // median_low(times))
    return tuple(Speed(kind, card_type, speed) for (kind, card_type), speed in sorted(found.items()))
