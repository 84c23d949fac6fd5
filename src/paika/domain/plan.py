"""A plan: who starts now on which cards, and for everybody else when and why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from paika.domain.density import Density
from paika.domain.promise import Promise, Slip
from paika.domain.reason import Reason
from paika.domain.run import EndCause, RunPart


@dataclass(frozen=True, slots=True)
class PriorityTerms:
    """Effective priority, term by term, in points. `lifted_by` is the task that needs this one sooner.

    `fair` is the team's fair-share deficit, `boost` what an admin added or took. `entitled` core tasks stand
    under their team's floor and go before the other core tasks. `standing` is the tier and the points that time
    does not change: a task that gained in it goes before promises made to lower ranks, one that only aged does not.
    `improved` counts the places that the search for a better order moved it up (negative: down).
    """

    base: int
    age: int
    slack: int
    lifted_by: str | None = None
    lifted_to: int | None = None
    fair: int = 0
    boost: int = 0
    entitled: bool = False
    standing: int = 0
    improved: int = 0

    @property
    def total(self) -> int:
        """The sum, or what a more urgent dependent lifts it to."""
        own = self.base + self.age + self.slack + self.fair + self.boost
        return max(own, self.lifted_to) if self.lifted_to is not None else own


@dataclass(frozen=True, slots=True)
class Start:
    """A task that starts now, on exact cards, with its cause: why these cards."""

    task: str
    task_version: int
    parts: tuple[RunPart, ...]
    parts_held: int
    card_type: str
    oversized: bool
    rank: int
    types_passed_over: tuple[str, ...] = ()
    borrowed: bool = False

    @property
    def cards(self) -> tuple[str, ...]:
        """All card ids in the order of the parts."""
        return tuple(card for part in self.parts for card in part.cards)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The latest start if nobody higher arrives and no run overruns; `by_limits` if only hard limits carry it.

    `start_from` opens the range that past starts teach, None before enough are known; `hit_permille` of such
    ranges held. `holds` keeps the cards from lower ranks. `rough` starts lie beyond the exact horizon and name
    no cards. `slip` tells why it is later than promised, `at_latest` how late a better order may still make it.
    """

    start_by: datetime
    parts: tuple[RunPart, ...]
    by_limits: bool
    start_from: datetime | None = None
    hit_permille: int | None = None
    holds: bool = True
    rough: bool = False
    slip: Slip | None = None
    at_latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """A task that does not start now. `reasons` is never empty; `rank` counts from 1 over all waiting tasks.

    `forecast` is None when no start can be told; `shape` groups tasks that the planner judged together.
    """

    task: str
    rank: int
    terms: PriorityTerms
    reasons: tuple[Reason, ...]
    forecast: Forecast | None
    parked: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """A run to stop now: for a task that gets its cards, or because a reservation of them has begun (`task` "").

    `lost_card_s` is what the run has done since its start, lost unless it saves its work within `grace_s`.
    """

    run: str
    run_version: int
    cause: EndCause
    task: str
    reservation: str
    grace_s: int
    lost_card_s: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer for every waiting task. `next_look_at` is the next instant at which time alone may change it."""

    read_version: int
    policy_version: int
    decided_at: datetime
    starts: tuple[Start, ...]
    waits: tuple[Wait, ...]
    next_look_at: datetime | None = None
    stops: tuple[Stop, ...] = ()
    density: Density | None = None

    def promises(self, versions: Mapping[str, int]) -> tuple[Promise, ...]:
        """What the waiting tasks were told to get, given the version of each task that was planned."""
        return tuple(
            Promise(wait.task, versions[wait.task], told.start_by, told.parts, wait.terms.standing, told.at_latest)
            for wait in self.waits
            if (told := wait.forecast) is not None and told.holds and not told.rough and wait.task in versions
        )


@dataclass(frozen=True, slots=True)
class ReasonRecord:
    """Reasons and promise of one task from `at` until the next record; the history that `paika why` shows.

    `start_from` opens the range that was told with the promise; `slip` says why it was later than the one before.
    """

    task: str
    at: datetime
    reasons: tuple[Reason, ...]
    promise: Promise | None = None
    start_from: datetime | None = None
    slip: Slip | None = None
