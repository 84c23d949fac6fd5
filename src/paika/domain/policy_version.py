"""A version of the policy: its numbers, who made it, when and why. The newest one is in force."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from paika.domain.policy import Policy


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """`number` is the policy's version. `at` is None for the one that was there before anybody changed anything.

    `back_to` names the version whose numbers it brought back. It is never changed: a rollback is a new version.
    """

    id: str
    policy: Policy
    at: datetime | None
    person: str
    why: str
    back_to: int | None = None
    version: int = 1

    @property
    def number(self) -> int:
        """Which version of the policy it is."""
        return self.policy.version


def id_of(number: int) -> str:
    """The id under which a version is kept; ids sort as versions do."""
    return f"{number:08d}"
