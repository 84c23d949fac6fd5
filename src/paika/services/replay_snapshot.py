"""A support case planned anew: what broke then may be seen again, or be sound by now."""

from __future__ import annotations

from dataclasses import dataclass

from paika.domain.plan import Plan
from paika.domain.support_case import Fault, SupportCase
from paika.services.keep_case import faults_of
from paika.services.run_cycle import decide


@dataclass(frozen=True, slots=True)
class Replayed:
    """A case planned anew: the plan, and every rule that it breaks today."""

    case: SupportCase
    made: Plan
    faults: tuple[Fault, ...]

    @property
    def sound(self) -> bool:
        """The plan breaks no rule."""
        return not self.faults


def replay_case(case: SupportCase) -> Replayed:
    """Plan and check it with the very functions of the server."""
    made, broken = decide(case.snapshot, case.policy, case.at)
    return Replayed(case, made, faults_of(broken))
