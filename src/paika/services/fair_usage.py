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

BUCKETS_PER_HALF_LIFE = 8
HALF_LIVES = 10  # what is older counts less than a thousandth


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
    """Asks the ledger once for what is past, and then only for the bucket under way, once for each policy step."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._past: dict[int, dict[str, int]] = {}
        self._width = 0
        self._step: tuple[int, Policy] | None = None
        self._used: dict[str, int] = {}

    def at(self, runs: Iterable[Run], policy: Policy, now: datetime) -> dict[str, int]:
        """Decayed card-seconds per team: ended runs worn down, open runs in full. The same all through a policy step,
        so that priorities do not move with every run that ends."""
        step = step_at(policy, now)
        if self._step != (step, policy):
            total = Counter(self._ended(policy, step, now))
            total.update(in_use(runs, _date(step)))
            self._used, self._step = dict(total), (step, policy)
        return self._used

    def _ended(self, policy: Policy, step: int, now: datetime) -> dict[str, int]:
        width = max(SECONDS_PER_HOUR, policy.fair_half_life_s // BUCKETS_PER_HALF_LIFE)
        if width != self._width:
            self._past, self._width = {}, width
        current = step - step % width
        wanted = range(current - HALF_LIVES * policy.fair_half_life_s // width * width, current, width)
        for start in wanted:
            if start not in self._past:
                self._past[start] = self._asked(_date(start), _date(start + width))
        for start in [start for start in self._past if start not in wanted]:
            del self._past[start]
        recent = self._asked(_date(current), now)
        return worn_down({**self._past, current: recent}, width, step, policy.fair_half_life_s)

    def _asked(self, start: datetime, end: datetime) -> dict[str, int]:
        spent: Counter[str] = Counter()
        for row in self._store.usage(start, end):
            spent[row.team] += row.spent_card_seconds
        return {team: amount for team, amount in spent.items() if amount}


def _date(at: int) -> datetime:
    return EPOCH + timedelta(seconds=at)
