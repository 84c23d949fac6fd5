"""Traces: which jobs once came when, how long they ran and on how many cards, to be played again under other rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import count
from typing import ClassVar

from paika.domain.problem import Kind, Problem
from paika.domain.task import Tier


class FlawKind(StrEnum):
    """What is wrong with a line. Only the first two cost the line; the rest is kept as said."""

    FIELDS = "fields"  # too many or too few
    VALUE = "value"  # a field that cannot be read, or lies outside what it can mean
    TWICE = "twice"  # the number stood before: kept under another id
    UNSORTED = "unsorted"  # submitted before the line above: sorted
    OVER_LIMIT = "over_limit"  # ran longer than its limit: kept as it ran
    WAIT = "wait"  # a negative wait: taken as unknown
    NEVER_RAN = "never_ran"  # cancelled before its start: adds nothing
    NO_LENGTH = "no_length"  # nobody knows how long it ran: not played
    NO_CARDS = "no_cards"  # asks for no card, or nobody knows how many: not played
    PART = "part"  # part of a card: counted as a whole one
    PARENT = "parent"  # follows a job that is not in the trace: follows nothing


LOST = frozenset({FlawKind.FIELDS, FlawKind.VALUE})


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something wrong with one line (from 1). `job` is its id as far as it can be read, `detail` what stands there."""

    line: int
    kind: FlawKind
    job: str = ""
    field: str = ""
    detail: str = ""

    @property
    def lost(self) -> bool:
        """Whether the line was left out."""
        return self.kind in LOST


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of a job that ran in several: submitted and run time in seconds."""

    submit_s: float
    duration_s: float


@dataclass(frozen=True, slots=True)
class Job:
    """One line of a trace. Seconds count from the trace's own zero; None is unknown everywhere.

    `cards` are all cards of the job, over `nodes` machines. `types` are names as the trace writes them, () any.
    `limit_s` is a hard limit, `estimate_s` what its user thought. `after` is the job that it follows, `think_s`
    after that one's end. `segments` has more than one piece for a job that was stopped and taken up again. `milli`
    is the part of its one card in thousandths, None for whole cards.
    """

    id: str
    submit_s: float
    duration_s: float | None
    cards: int | None
    nodes: int | None = None
    types: tuple[str, ...] = ()
    team: str | None = None
    user: str | None = None
    tier: Tier | None = None
    limit_s: float | None = None
    estimate_s: float | None = None
    wait_s: float | None = None
    after: str | None = None
    think_s: float | None = None
    started: bool = True
    segments: tuple[Segment, ...] = ()
    milli: int | None = None
    line: int = 0

    @property
    def playable(self) -> bool:
        """It ran, and how long and on how many cards is known."""
        return self.started and self.duration_s is not None and bool(self.cards)

    @property
    def card_seconds(self) -> float | None:
        """Cards × run time; 0 for a job that never ran, None where it cannot be told."""
        if not self.started:
            return 0
        return None if self.duration_s is None or self.cards is None else self.duration_s * self.cards


@dataclass(frozen=True, slots=True)
class Trace:
    """Jobs by submit time, ties in the order of the file. `origin` is the instant of second 0, None if unknown.

    `cards` and `nodes` are what the trace says its cluster had.
    """

    name: str
    jobs: tuple[Job, ...]
    flaws: tuple[Flaw, ...] = ()
    origin: datetime | None = None
    cards: int | None = None
    nodes: int | None = None

    @property
    def playable(self) -> tuple[Job, ...]:
        """Its jobs that can be played again."""
        return tuple(job for job in self.jobs if job.playable)


def free_id(wanted: str, taken: set[str]) -> str:
    """The id with the first number behind it that nobody has."""
    return next(made for n in count(2) if (made := f"{wanted}~{n}") not in taken)


@dataclass(eq=False)
class UnreadableTrace(Problem):
    """The file is no trace at all: `cause` is a word key (missing, encoding, packed, columns, empty, too_big)."""

    code: ClassVar[str] = "trace.unreadable"
    kind: ClassVar[Kind] = Kind.INVALID
    name: str
    cause: str
    detail: str = ""
