"""What only the program as a whole can do on this machine, as the command line asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from paika.services.examine_machine import Finding
    from paika.services.replay_snapshot import Replayed
    from paika.services.replay_trace import Comparison, Progress


class LocalCommands(Protocol):
    """Commands that need no server, or are one. They may raise Problem; exit codes are those of exits.py."""

    def serve(
        self,
        *,
        data: Path | None,
        config: Path | None,
        host: str | None,
        port: int | None,
        inventory: Path | None,
        virtual: str | None,
    ) -> int:
        """Run a server here until it is stopped; its exit code."""
        ...

    def demo(self, *, once: bool, port: int | None, data: Path | None, keep: bool) -> int:
        """Play the demo lab; its exit code."""
        ...

    def examine(self, *, data: Path | None, config: Path | None, inventory: Path | None) -> Sequence[Finding]:
        """Whether paika can do its work on this machine; changes nothing."""
        ...

    def replay_snapshot(self, file: Path) -> Replayed:
        """Plan a support case anew and check it. Raises problems of the file."""
        ...

    def replay(
        self,
        *,
        trace: Path,
        cluster: str,
        policy: str | None,
        against: str | None,
        seeds: int | None,
        jobs: int | None,
        estimates: str | None,
        tiers: int | None,
        readiness: int | None,
        vram: int | None,
        every: int | None,
        absolute: bool,
        order: str | None,
        zone: str | None,
        dry_run: bool,
        progress: Progress | None,
    ) -> Comparison:
        """Play a trace again, under the planner and other rules."""
        ...
