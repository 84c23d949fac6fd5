"""The probe: finds out whether a dataset is ready. Runs off the scheduling path."""

from __future__ import annotations

from typing import Protocol

from paika.domain.dataset import ProbeKind, ProbeResult, ProbeSpec


class Probe(Protocol):
    """Promises: ends within the spec's timeout, does not raise; what it cannot tell is UNKNOWN with a detail."""

    @property
    def kinds(self) -> tuple[ProbeKind, ...]:
        """The kinds it answers for."""
        ...

    def check(self, spec: ProbeSpec) -> ProbeResult:
        """Look once."""
        ...
