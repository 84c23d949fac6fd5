"""A snapshot: everything that a plan may look at, at one instant."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from paika.domain.card import Card, CardType, ExternalUse
from paika.domain.dataset import Dataset
from paika.domain.density import Level
from paika.domain.guarantee import Guarantee
from paika.domain.node import Node
from paika.domain.person import Person
from paika.domain.promise import Calibration, Promise
from paika.domain.quota import Quota
from paika.domain.reservation import Reservation
from paika.domain.run import Run
from paika.domain.task import Task
from paika.domain.team import Team


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a kind of task runs on a card type, in thousandths of its reference type; from match records."""

    task_kind: str
    card_type: str
    speed_milli: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Queue and resources at an instant. `runs` are those that hold cards; `tasks` those not yet placed.

    `held_parts` are the ledger's held card parts per team, the figure that quotas are compared with; what idle
    tasks borrow beyond it is not in them. `usage` is each team's decayed card-seconds at the policy's last step.
    `promises` are those of the last plan, `density` its level.
    """

    version: int
    taken_at: datetime
    card_types: tuple[CardType, ...] = ()
    nodes: tuple[Node, ...] = ()
    cards: tuple[Card, ...] = ()
    runs: tuple[Run, ...] = ()
    tasks: tuple[Task, ...] = ()
    datasets: tuple[Dataset, ...] = ()
    people: tuple[Person, ...] = ()
    teams: tuple[Team, ...] = ()
    quotas: tuple[Quota, ...] = ()
    held_parts: dict[str, int] = field(default_factory=dict)
    external: tuple[ExternalUse, ...] = ()
    speeds: tuple[Speed, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    guarantees: tuple[Guarantee, ...] = ()
    promises: tuple[Promise, ...] = ()
    usage: dict[str, int] = field(default_factory=dict)
    density: Level = Level.RELAXED
    calibrations: tuple[Calibration, ...] = ()
