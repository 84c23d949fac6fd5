"""A shelf of support cases that forgets all when the process ends."""

from __future__ import annotations

from paika.domain.support_case import SupportCase
from paika.ports.case_shelf import too_many


class InMemoryCaseShelf:
    """The CaseShelf port in memory. `fails` makes it as a full disk is."""

    def __init__(self, most: int = 20) -> None:
        self._most, self._cases = most, dict[str, SupportCase]()
        self.fails = False

    def put(self, case: SupportCase) -> str | None:
        """The name that it got."""
        if self.fails:
            return None
        name = f"{case.at:%Y%m%dT%H%M%SZ}-{_kind(case)}"
        self._cases[name] = case
        for gone in too_many([(key, _kind(self._cases[key])) for key in self.names()], self._most):
            del self._cases[gone]
        return name

    def names(self) -> tuple[str, ...]:
        """The names, oldest first."""
        return tuple(sorted(self._cases))

    def read(self, name: str) -> SupportCase | None:
        """The case of that name."""
        return self._cases.get(name)


def _kind(case: SupportCase) -> str:
    return case.faults[0].rule if case.faults else "saved"
