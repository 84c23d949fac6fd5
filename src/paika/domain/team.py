"""Teams: who shares cards and a quota."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Team:
    """A group of people. An inactive team's tasks stay behind the gate.

    `weight` is its part among the teams under the same `parent` ("" is the top level).
    """

    id: str
    name: str
    active: bool = True
    note: str = ""
    weight: int = 100
    parent: str = ""
    version: int = 1
