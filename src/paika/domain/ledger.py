"""The ledger: append-only entries from which every balance is derived."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from paika.domain.run import NOT_THE_TASKS_FAULT, EndCause, Run
from paika.domain.units import card_seconds, whole_seconds


class EntryKind(StrEnum):
    """HOLD and RELEASE move held card parts, BORROW and RETURN those beside the ceiling; SPEND and LOST book time."""

    HOLD = "hold"
    RELEASE = "release"
    BORROW = "borrow"
    RETURN = "return"
    SPEND = "spend"
    LOST = "lost"  # card time that brought the task nothing through no fault of its own


_BESIDE = frozenset({EntryKind.BORROW, EntryKind.RETURN})


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
    """What the ledger says of one team: held and borrowed card parts now, card-seconds spent and lost in all."""

    held_parts: int = 0
    spent_card_seconds: int = 0
    lost_card_seconds: int = 0
    borrowed_parts: int = 0

    def plus(self, entry: LedgerEntry) -> Balance:
        """The balance after one more entry."""
        borrowed = entry.kind in _BESIDE
        return Balance(
            self.held_parts + (0 if borrowed else entry.parts),
            self.spent_card_seconds + (entry.card_seconds if entry.kind is EntryKind.SPEND else 0),
            self.lost_card_seconds + (entry.card_seconds if entry.kind is EntryKind.LOST else 0),
            self.borrowed_parts + (entry.parts if borrowed else 0),
        )


def run_card_seconds(run: Run) -> int:
    """Card time of an ended run from start to end; 0 if it never started."""
    if run.started_at is None or run.ended_at is None:
        return 0
    return card_seconds(run.parts_held, whole_seconds(run.started_at, run.ended_at))


def decayed(card_seconds: int, age_s: int, half_life_s: int) -> int:
    """Card time that `age_s` seconds have worn down: halved every half-life, rounded down, nothing after 40 of them.

    Whole halvings are exact; between two of them the value falls in a straight line, so that the result
    needs no floating point and is the same on every machine.
    """
    halvings, rest = divmod(max(0, age_s), half_life_s)
    if halvings >= 40:
        return 0
    top = card_seconds >> halvings
    return top - top * rest // (2 * half_life_s)


def hold(run: Run, card_type: str, at: datetime) -> LedgerEntry:
    """The entry that takes a run's card parts."""
    kind = EntryKind.BORROW if run.borrowed else EntryKind.HOLD
    return LedgerEntry(kind, at, run.id, run.task, run.team, run.owner, card_type, run.parts_held, 0)


def settle(run: Run, card_type: str, at: datetime) -> tuple[LedgerEntry, ...]:
    """The entries that close an ended run: its parts go back, its card time is booked.

    Time is lost that brought the task nothing through no fault of its own; a preempted run that saves its
    work when told to stop has not lost it.
    """
    cause = (run.cause or EndCause.UNKNOWN).value
    lost = run.cause in NOT_THE_TASKS_FAULT or (run.cause is EndCause.PREEMPTED and not run.checkpoint)
    kind = EntryKind.LOST if lost else EntryKind.SPEND
    who = (run.id, run.task, run.team, run.owner, card_type)
    return (
        LedgerEntry(EntryKind.RETURN if run.borrowed else EntryKind.RELEASE, at, *who, -run.parts_held, 0, cause),
        LedgerEntry(kind, at, *who, 0, run_card_seconds(run), cause),
    )
