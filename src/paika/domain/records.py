"""Records: one consistent view of all that the store keeps open, and the change that leads to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from paika.domain.access import Token
from paika.domain.audit import AuditEntry
from paika.domain.card import Card, CardType
from paika.domain.dataset import Dataset
from paika.domain.ledger import Balance, LedgerEntry
from paika.domain.match import MatchRecord
from paika.domain.node import Node
from paika.domain.person import Person
from paika.domain.plan import ReasonRecord
from paika.domain.policy import Policy
from paika.domain.pool import Pool
from paika.domain.quota import Quota
from paika.domain.run import Run
from paika.domain.task import Task
from paika.domain.team import Team

Noun = Card | CardType | Dataset | Node | Person | Pool | Quota | Run | Task | Team | Token


@dataclass(frozen=True, slots=True)
class Records:
    """Everything open, at one version. Immutable: a reader keeps what it has, whoever writes.

    `tasks` and `runs` hold only those not ended; the store answers for the others. `balances` are
    by team, `counters` the last number given out per noun.
    """

    version: int = 0
    policy: Policy = Policy()
    card_types: Mapping[str, CardType] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    pools: Mapping[str, Pool] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)
    teams: Mapping[str, Team] = field(default_factory=dict)
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    tokens: Mapping[str, Token] = field(default_factory=dict)
    datasets: Mapping[str, Dataset] = field(default_factory=dict)
    tasks: Mapping[str, Task] = field(default_factory=dict)
    runs: Mapping[str, Run] = field(default_factory=dict)
    balances: Mapping[str, Balance] = field(default_factory=dict)
    counters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was answered to a submit with an idempotency key: the same key gets the same answer."""

    person: str
    key: str
    body_sha256: str
    tasks: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """What one act writes, all or nothing. A put replaces the noun of the same id.

    Each put carries the version after the change (1 for a new noun); the store refuses a put whose
    predecessor is not the current one, so that no write is lost.
    """

    puts: tuple[Noun, ...] = ()
    removed: tuple[Noun, ...] = ()
    policy: Policy | None = None
    ledger: tuple[LedgerEntry, ...] = ()
    matches: tuple[MatchRecord, ...] = ()
    reasons: tuple[ReasonRecord, ...] = ()
    audit: tuple[AuditEntry, ...] = ()
    receipt: Receipt | None = None
    counters: Mapping[str, int] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Nothing to write."""
        return self == Change()
