"""Why a task waits: typed values with numbers. Compare types and fields, never text.

`gate` reasons stand before any card is looked at; `park` reasons say that the task can never fit as
it is; the others speak of cards. Times are None when unknown; unknown is never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds cards that would help: a run of paika's (run, task, owner) or an outsider (`run` None)."""

    run: str | None
    task: str | None
    owner: str
    cards: int
    until: datetime | None
    until_is_limit: bool


@dataclass(frozen=True, slots=True)
class Reason:
    """Base of all reasons."""

    code: ClassVar[str]
    parks: ClassVar[bool] = False


# -- gates ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Held(Reason):
    """A person holds the task back."""

    code: ClassVar[str] = "wait.held"
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class ParentNotEnded(Reason):
    """It runs after a task that has not ended in the way asked for."""

    code: ClassVar[str] = "wait.parent"
    parent: str
    when: str


@dataclass(frozen=True, slots=True)
class NotBefore(Reason):
    """It was asked not to start earlier."""

    code: ClassVar[str] = "wait.not_before"
    at: datetime


@dataclass(frozen=True, slots=True)
class RetryLater(Reason):
    """Its last start failed through no fault of its own; the next try comes at `at`."""

    code: ClassVar[str] = "wait.retry"
    at: datetime
    failed_starts: int


@dataclass(frozen=True, slots=True)
class DataNotReady(Reason):
    """An input is not ready. `owes` is who owes it."""

    code: ClassVar[str] = "wait.data"
    dataset: str
    readiness: str
    percent: int | None
    eta: datetime | None
    owes: str


@dataclass(frozen=True, slots=True)
class TeamInactive(Reason):
    """Its team is switched off."""

    code: ClassVar[str] = "wait.team_inactive"
    team: str


@dataclass(frozen=True, slots=True)
class PersonInactive(Reason):
    """Its owner is switched off."""

    code: ClassVar[str] = "wait.person_inactive"
    person: str


@dataclass(frozen=True, slots=True)
class QuotaFull(Reason):
    """The team's ceiling leaves too little. Parts are hundredths of a card."""

    code: ClassVar[str] = "wait.quota"
    team: str
    max_cards: int
    held_parts: int
    need_parts: int
    holders: tuple[Holder, ...]


@dataclass(frozen=True, slots=True)
class QuotaPromised(Reason):
    """The team is under its ceiling now, but the rest is promised to tasks ahead within the run's time."""

    code: ClassVar[str] = "wait.quota_promised"
    team: str
    max_cards: int
    tasks: tuple[str, ...]
    first_at: datetime | None


# -- never as it is ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NoSuchCard(Reason):
    """No card in the house is of an allowed type (with the capabilities and pool asked for)."""

    code: ClassVar[str] = "park.no_such_card"
    parks: ClassVar[bool] = True
    asked: str
    have: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VramTooSmall(Reason):
    """No allowed card has the VRAM; `largest_mib` is the most that one has."""

    code: ClassVar[str] = "park.vram"
    parks: ClassVar[bool] = True
    need_mib: int
    largest_mib: int
    largest_type: str


@dataclass(frozen=True, slots=True)
class NodeTooSmall(Reason):
    """No machine has so many allowed cards of one type together."""

    code: ClassVar[str] = "park.node_too_small"
    parks: ClassVar[bool] = True
    need: int
    largest: int
    node: str


@dataclass(frozen=True, slots=True)
class TooFewNodes(Reason):
    """Fewer machines can carry a part than the gang has parts."""

    code: ClassVar[str] = "park.too_few_nodes"
    parks: ClassVar[bool] = True
    need: int
    have: int
    cards_each: int


@dataclass(frozen=True, slots=True)
class QuotaTooSmall(Reason):
    """It asks for more than the team may ever hold."""

    code: ClassVar[str] = "park.quota"
    parks: ClassVar[bool] = True
    team: str
    max_cards: int
    need_parts: int


@dataclass(frozen=True, slots=True)
class CannotShare(Reason):
    """The share asks for more than any allowed card can give to shares."""

    code: ClassVar[str] = "park.share"
    parks: ClassVar[bool] = True
    need_mib: int
    largest_mib: int


# -- cards ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardsBusy(Reason):
    """Too few fitting cards are free together. `fitting` are in the house and fit, `free` of them are free.

    `best_free` is the most that is free on one machine. `holders` hold the rest, earliest end first.
    """

    code: ClassVar[str] = "wait.cards"
    need: int
    nodes: int
    free: int
    best_free: int
    fitting: int
    holders: tuple[Holder, ...]


@dataclass(frozen=True, slots=True)
class PromisedAhead(Reason):
    """Free fitting cards are promised to others, ahead in the order or told before; `first_at` is the first start."""

    code: ClassVar[str] = "wait.promised"
    cards: int
    tasks: tuple[str, ...]
    first_at: datetime | None
    limit_would_fit_s: int | None


@dataclass(frozen=True, slots=True)
class KeptForBigger(Reason):
    """Only bigger cards than needed are free, and tasks that need them wait; allowed from `allowed_at`."""

    code: ClassVar[str] = "wait.oversize"
    card_type: str
    fitting_type: str
    wanted_by: tuple[str, ...]
    allowed_at: datetime


@dataclass(frozen=True, slots=True)
class ShareRoom(Reason):
    """No card has room beside the shares it carries: the best one has this much left."""

    code: ClassVar[str] = "wait.share_room"
    need_mib: int
    need_bandwidth_percent: int
    best_free_mib: int
    best_free_bandwidth_percent: int
    holders: tuple[Holder, ...]


@dataclass(frozen=True, slots=True)
class LeaseEnds(Reason):
    """Free fitting cards whose lease ends before the run would."""

    code: ClassVar[str] = "wait.lease"
    cards: int
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class CardsUnfit(Reason):
    """Fitting cards that cannot take work: lost, needing a reset, draining, unknown, node not up."""

    code: ClassVar[str] = "wait.unfit"
    cards: int
    health: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoEngine(Reason):
    """Fitting cards lie on nodes that no engine can start work on."""

    code: ClassVar[str] = "wait.no_engine"
    cards: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EndsUnknown(Reason):
    """Runs on fitting cards have neither limit nor estimate, so no start can be promised."""

    code: ClassVar[str] = "wait.end_unknown"
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reserved(Reason):
    """Fitting cards are kept for a reservation or maintenance that the run would run into.

    `limit_would_fit_s` is the longest hard limit that ends before it, None when even that does not help.
    """

    code: ClassVar[str] = "wait.reserved"
    cards: int
    reservation: str
    purpose: str
    team: str
    starts_at: datetime
    ends_at: datetime
    limit_would_fit_s: int | None


@dataclass(frozen=True, slots=True)
class HeadroomKept(Reason):
    """Free fitting cards are headroom, which only core tasks may use."""

    code: ClassVar[str] = "wait.headroom"
    cards: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BeingFreed(Reason):
    """Runs are being stopped so that this task can start; their cards are held for it."""

    code: ClassVar[str] = "wait.being_freed"
    runs: tuple[str, ...]
    until: datetime | None


@dataclass(frozen=True, slots=True)
class FloorUnmet(Reason):
    """A core task under its team's floor does not start at once; `because` says what stands in the way.

    One of capacity, node_fit, reservation, lease, quota, being_freed.
    """

    code: ClassVar[str] = "wait.floor"
    team: str
    floor_cards: int
    held_cards: int
    because: str


@dataclass(frozen=True, slots=True)
class IdleClosed(Reason):
    """So much work waits that the idle tier takes nothing new."""

    code: ClassVar[str] = "wait.idle_closed"
    pressure_percent: int | None


@dataclass(frozen=True, slots=True)
class PersonCap(Reason):
    """While much work waits, a person may hold only so many cards below core. Parts are hundredths of a card.

    With `ahead` there is room now, but it is promised to tasks of the same person that go before.
    """

    code: ClassVar[str] = "wait.person_cap"
    person: str
    max_cards: int
    held_parts: int
    need_parts: int
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class PromiseWithdrawn(Reason):
    """It was promised a start, and now none can be told at all; `cause` and `subject` say what came between.

    `cause` is one of a slip's: overrun, lost_card, higher_rank, policy, changed, reservation, quota, unknown.
    """

    code: ClassVar[str] = "wait.withdrawn"
    was: datetime
    cause: str
    subject: str


# -- the planner itself --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlanRefused(Reason):
    """The plan that would have started it broke `rules`, so nothing of it was started."""

    code: ClassVar[str] = "wait.plan_refused"
    rules: tuple[str, ...]
