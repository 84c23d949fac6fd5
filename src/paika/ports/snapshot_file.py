"""Snapshots and plans as files: a support case, a what-if, a replay begin with one."""

from __future__ import annotations

from typing import Protocol

from paika.domain.plan import Plan
from paika.domain.snapshot import Snapshot
from paika.domain.support_case import SupportCase


class SnapshotFile(Protocol):
    """Text that another paika of the same or a later version reads back to an equal value."""

    def encode_snapshot(self, snapshot: Snapshot) -> str:
        """The snapshot as JSON."""
        ...

    def decode_snapshot(self, text: str) -> Snapshot:
        """The snapshot in the text. Raises Unreadable."""
        ...

    def encode_case(self, case: SupportCase) -> str:
        """The case as JSON."""
        ...

    def decode_case(self, text: str) -> SupportCase:
        """The case in the text; a bare snapshot is one of the default policy. Raises Unreadable."""
        ...

    def encode_plan(self, plan: Plan) -> str:
        """The plan as JSON."""
        ...

    def decode_plan(self, text: str) -> Plan:
        """The plan in the text. Raises Unreadable."""
        ...
