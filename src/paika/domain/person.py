"""People: members of teams with a site role."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Site roles, weakest first. A lead leads the teams named in `Person.leads`."""

    VIEWER = "viewer"
    MEMBER = "member"
    LEAD = "lead"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a name. `teams` are the ids of teams he works in, `leads` those he leads."""

    id: str
    name: str
    role: Role = Role.MEMBER
    teams: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    active: bool = True
    version: int = 1
