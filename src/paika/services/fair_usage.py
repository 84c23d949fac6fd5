"""What each team has used of the cards lately, worn down by time: the figure behind the fair-share points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from paika.domain.ledger import decayed
from paika.domain.policy import Policy
from paika.domain.run import Run
from paika.domain.units import EPOCH, SECONDS_PER_HOUR, card_seconds, whole_seconds
from paika.planning.order import step_at
from paika.ports.store import Store

HALF_LIVES = 10  # what is older counts less than a thousandth
LATE_S = 86_400  # ends that engines report so late still find their hour


def worn_down(buckets: Mapping[int, Mapping[str, int]], width_s: int, at: int, half_life_s: int) -> dict[str, int]:
    """Card-seconds per team, each bucket aged from its end. `buckets` go by their start in epoch seconds."""
    total: Counter[str] = Counter()
    for start, spent in buckets.items():
        age = max(0, at - start - width_s)
        for team, amount in spent.items():
            total[team] += decayed(amount, age, half_life_s)
    return dict(total)


def in_use(runs: Iterable[Run], at: datetime) -> dict[str, int]:
    """Card-seconds that open runs have used until `at`; they count in full."""
    total: Counter[str] = Counter()
    for run in runs:
        if run.started_at is not None and not run.ended:
            total[run.team] += card_seconds(run.parts_held, whole_seconds(run.started_at, at))
    return dict(total)


class FairUsage:
    """Asks the ledger once for all that counts, and then once for each policy step for its last day."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hours: dict[int, dict[str, int]] = {}
        self._from: int | None = None
        self._step: tuple[int, Policy] | None = None
        self._used: dict[str, int] = {}

    def at(self, runs: Iterable[Run], policy: Policy, now: datetime) -> dict[str, int]:
        """Decayed card-seconds per team: ended runs worn down, open runs in full. The same all through a policy step,
        so that priorities do not move with every run that ends."""
        step = step_at(policy, now)
        if self._step != (step, policy):
            self._look(step - HALF_LIVES * policy.fair_half_life_s, step)
            total = Counter(worn_down(self._hours, SECONDS_PER_HOUR, step, policy.fair_half_life_s))
            total.update(in_use(runs, _date(step)))
            self._used, self._step = dict(total), (step, policy)
        return self._used

    def _look(self, oldest: int, step: int) -> None:
        """Bring the hours from `oldest` on up to date; a longer half-life asks for older ones too."""
        oldest -= oldest % SECONDS_PER_HOUR
        late = step - LATE_S - (step - LATE_S) % SECONDS_PER_HOUR
        since = oldest if self._from is None or oldest < self._from else max(oldest, late)
        self._hours = {hour: spent for hour, spent in self._hours.items() if oldest <= hour < since}
        for row in self._store.usage_by_hour(_date(since)):
            hour = int((row.hour_start - EPOCH).total_seconds())
            self._hours.setdefault(hour, {})[row.team] = row.card_seconds
        self._from = oldest


def _date(at: int) -> datetime:
    return EPOCH + timedelta(seconds=at)
