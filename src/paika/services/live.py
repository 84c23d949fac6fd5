"""What the running server knows beside the records: the last plan, the last looks at cards, its own health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import Any

from paika.domain.card import CardReading, ExternalUse
from paika.domain.plan import Plan, Wait
from paika.domain.promise import Promise, Slip
from paika.domain.snapshot import Speed
from paika.services.score_promises import Accuracy


@dataclass(frozen=True, slots=True)
class CycleStats:
    """How the last cycle went: seconds it took, when, and how many tasks it answered."""

    at: datetime
    seconds: float
    tasks: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Live:
    """Immutable; a reader keeps what it has. `waits` answers by task id, `plan.waits` is in rank order.

    `promises` are those of the last plan, `usage` each team's decayed card-seconds that it was made with,
    `slips` why waiting tasks were promised less than before, `accuracy` how told starts have come true so far,
    `speeds` what it took card types to be worth, `engines` those that answered it (None: no plan yet), `case`
    where the last plan that broke a rule was kept.
    """

    plan: Plan | None = None
    waits: Mapping[str, Wait] = field(default_factory=dict)
    promises: tuple[Promise, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    slips: Mapping[str, Slip] = field(default_factory=dict)
    accuracy: tuple[Accuracy, ...] = ()
    speeds: tuple[Speed, ...] = ()
    engines: frozenset[str] | None = None
    readings: Mapping[str, CardReading] = field(default_factory=dict)
    external: Mapping[str, ExternalUse] = field(default_factory=dict)
    meter_failures: Mapping[str, str] = field(default_factory=dict)
    engine_down_since: datetime | None = None
    alarms: tuple[str, ...] = ()
    case: str = ""
    cycle: CycleStats | None = None
    pids: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    log_bytes: Mapping[str, int] = field(default_factory=dict)


class LiveBox:
    """Holds the newest Live value; replacing a field never loses another writer's."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._live = Live()

    def read(self) -> Live:
        """The newest value."""
        return self._live

    def set(self, **changed: Any) -> None:
        """Replace the named fields."""
        with self._lock:
            self._live = replace(self._live, **changed)
