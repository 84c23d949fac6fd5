"""The cheapest unblock of a task, planned once for each state of the house and then remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from threading import Lock

from paika.domain.card import ExternalUse
from paika.domain.records import Records
from paika.domain.units import EPOCH
from paika.services.preview_plan import Unblock, cheapest_unblock


class Unblocks:
    """Remembers the latest answers. One is worked out at a time, so that many who ask do not stop the planner."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._lock = Lock()
        self._known: OrderedDict[tuple[int, int, str], tuple[Unblock, ...]] = OrderedDict()

    def of(
        self, records: Records, external: Mapping[str, ExternalUse], task_id: str, now: datetime
    ) -> tuple[Unblock, ...]:
        """As cheapest_unblock; the same answer while neither the records nor the policy's time step has moved on."""
        step = int((now - EPOCH).total_seconds()) // max(1, records.policy.step_s)
        key = (records.version, step, task_id)
        with self._lock:
            if key not in self._known:
                self._known[key] = cheapest_unblock(records, external, task_id, now)
                while len(self._known) > self._most:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]
