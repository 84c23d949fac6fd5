"""Failing plans are kept as support cases: seldom the same one, so that a fault in every cycle fills no disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.domain.support_case import Fault, SupportCase, bare
from paika.planning.check import Violation
from paika.ports.case_shelf import CaseShelf

SAME_AGAIN_S = 3600  # the same rules broken are kept once in this time
MOST_FAULTS = 100


@dataclass(slots=True)
class CaseKeeper:
    """Puts failing plans on the shelf. `version` is that of paika."""

    shelf: CaseShelf
    version: str = ""
    _last: dict[frozenset[str], datetime] = field(default_factory=dict)

    def keep(self, snapshot: Snapshot, policy: Policy, now: datetime, broken: Iterable[Violation]) -> str | None:
        """Where the case is; None if nothing is broken, it was kept a short while ago, or it cannot be kept."""
        faults = faults_of(broken)
        rules = frozenset(fault.rule for fault in faults)
        last = self._last.get(rules)
        if not faults or (last is not None and 0 <= (now - last).total_seconds() < SAME_AGAIN_S):
            return None
        self._last[rules] = now
        return self.shelf.put(SupportCase(now, bare(snapshot), policy, faults[:MOST_FAULTS], self.version))


def faults_of(broken: Iterable[Violation]) -> tuple[Fault, ...]:
    """Violations as faults, those that block first, each once."""
    found = dict.fromkeys(Fault(one.rule, one.subject, one.blocks) for one in broken)
    return tuple(sorted(found, key=lambda fault: not fault.blocks))
