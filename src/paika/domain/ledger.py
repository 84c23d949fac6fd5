"""The ledger: append-only entries from which every balance is derived."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from paika.domain.run import NOT_THE_TASKS_FAULT, EndCause, Run
from paika.domain.units import card_seconds, whole_seconds


class EntryKind(StrEnum):
    """HOLD and RELEASE move held card parts; SPEND and LOST book card-seconds."""

    HOLD = "hold"
    RELEASE = "release"
    SPEND = "spend"
    LOST = "lost"  # card time that brought the task nothing through no fault of its own


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One line. `parts` (100 a card) is signed: + on hold, - on release; `card_seconds` is never negative."""

    kind: EntryKind
    at: datetime
    run: str
    task: str
    team: str
    person: str
    card_type: str
    parts: int
    card_seconds: int
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Balance:
    """What the ledger says of one team: held card parts now, card-seconds spent and lost in all."""

    held_parts: int = 0
    spent_card_seconds: int = 0
    lost_card_seconds: int = 0

    def plus(self, entry: LedgerEntry) -> Balance:
        """The balance after one more entry."""
        return Balance(
            self.held_parts + entry.parts,
            self.spent_card_seconds + (entry.card_seconds if entry.kind is EntryKind.SPEND else 0),
            self.lost_card_seconds + (entry.card_seconds if entry.kind is EntryKind.LOST else 0),
        )


def run_card_seconds(run: Run) -> int:
    """Card time of an ended run from start to end; 0 if it never started."""
    if run.started_at is None or run.ended_at is None:
        return 0
    return card_seconds(run.parts_held, whole_seconds(run.started_at, run.ended_at))


def hold(run: Run, card_type: str, at: datetime) -> LedgerEntry:
    """The entry that takes a run's card parts."""
    return LedgerEntry(EntryKind.HOLD, at, run.id, run.task, run.team, run.owner, card_type, run.parts_held, 0)


def settle(run: Run, card_type: str, at: datetime) -> tuple[LedgerEntry, ...]:
    """The entries that close an ended run: its parts go back, its card time is booked."""
    cause = (run.cause or EndCause.UNKNOWN).value
    lost = run.cause in NOT_THE_TASKS_FAULT or run.cause is EndCause.PREEMPTED
    kind = EntryKind.LOST if lost else EntryKind.SPEND
    who = (run.id, run.task, run.team, run.owner, card_type)
    return (
        LedgerEntry(EntryKind.RELEASE, at, *who, -run.parts_held, 0, cause),
        LedgerEntry(kind, at, *who, 0, run_card_seconds(run), cause),
    )
