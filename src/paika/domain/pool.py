"""Pools: named sets of nodes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pool:
    """A named set of nodes; nodes point to it by id."""

    id: str
    title: str = ""
    version: int = 1
