"""Teams: who shares cards and a quota."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from paika.domain.problem import Kind, Problem

EQUAL_WEIGHT = 100
MOST_WEIGHT = 10_000


@dataclass(frozen=True, slots=True)
class Team:
    """A group of people. An inactive team's tasks stay behind the gate.

    `weight` is its part among the teams under the same `parent` ("" is the top level).
    """

    id: str
    name: str
    active: bool = True
    note: str = ""
    weight: int = EQUAL_WEIGHT
    parent: str = ""
    version: int = 1


@dataclass(eq=False)
class TeamRing(Problem):
    """Teams that stand below each other in a ring; `ring` names it from the bottom up, the first again at the end."""

    code: ClassVar[str] = "team.ring"
    kind: ClassVar[Kind] = Kind.INVALID
    ring: tuple[str, ...]
