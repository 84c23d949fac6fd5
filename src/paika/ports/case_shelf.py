"""A shelf of support cases: failing plans are put there, a bounded number of them."""

from __future__ import annotations

from typing import Protocol

from paika.domain.support_case import SupportCase


class CaseShelf(Protocol):
    """Holds at most a fixed number of cases. The first of each kind of fault and the newest ones stay the longest."""

    def put(self, case: SupportCase) -> str | None:
        """Where the case is now, in words for an admin; None if it cannot be kept. Never raises for a full disk."""
        ...

    def names(self) -> tuple[str, ...]:
        """The cases on the shelf, oldest first."""
        ...

    def read(self, name: str) -> SupportCase | None:
        """The case of that name; None if there is none."""
        ...


def too_many(cases: list[tuple[str, str]], most: int) -> list[str]:
    """Which of (name, kind), oldest first, are to go so that `most` stay: older repeats of a kind, then the oldest."""
    kept, gone = list(cases), []
    while len(kept) > most:
        seen: set[str] = set()
        repeats = [case for case in kept if case[1] in seen or seen.add(case[1])]  # type: ignore[func-returns-value]
        gone.append((repeats or kept)[0][0])
        kept = [case for case in kept if case[0] != gone[-1]]
    return gone
