"""Nodes: hosts with cards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class NodeState(StrEnum):
    """UP takes new runs; DRAINED keeps what runs; DOWN and UNKNOWN take nothing."""

    UP = "up"
    DRAINED = "drained"
    DOWN = "down"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Node:
    """A host. `engine` names the engine that can start runs there; None means shown, not schedulable."""

    id: str
    pool: str
    engine: str | None
    virtual: bool = False
    state: NodeState = NodeState.UP
    state_cause: str = ""
    lease_ends_at: datetime | None = None
    note: str = ""
    version: int = 1
