"""Records: one consistent view of all that the store keeps open, and the change that leads to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from paika.domain.access import Token
from paika.domain.audit import AuditEntry
from paika.domain.card import Card, CardType
from paika.domain.dataset import Dataset
from paika.domain.guarantee import Guarantee
from paika.domain.ledger import Balance, LedgerEntry
from paika.domain.match import MatchRecord
from paika.domain.node import Node
from paika.domain.person import Person
from paika.domain.plan import ReasonRecord
from paika.domain.policy import Policy
from paika.domain.policy_version import PolicyVersion
from paika.domain.pool import Pool
from paika.domain.problem import VersionConflict
from paika.domain.promise import Outcome
from paika.domain.quota import Quota
from paika.domain.reservation import Reservation
from paika.domain.run import Run
from paika.domain.task import Task
from paika.domain.team import Team

Noun = (
    Card
    | CardType
    | Dataset
    | Guarantee
    | Node
    | Person
    | PolicyVersion
    | Pool
    | Quota
    | Reservation
    | Run
    | Task
    | Team
    | Token
)


@dataclass(frozen=True, slots=True)
class Records:
    """Everything open, at one version. Immutable: a reader keeps what it has, whoever writes.

    `tasks` and `runs` hold only those not ended; the store answers for the others. `balances` are
    by team, `counters` the last number given out per noun.
    """

    version: int = 0
    policy: Policy = Policy()
    policies: Mapping[str, PolicyVersion] = field(default_factory=dict)
    card_types: Mapping[str, CardType] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    pools: Mapping[str, Pool] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)
    teams: Mapping[str, Team] = field(default_factory=dict)
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    guarantees: Mapping[str, Guarantee] = field(default_factory=dict)
    reservations: Mapping[str, Reservation] = field(default_factory=dict)
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
    predecessor is not the current one, so that no write is lost. A removed noun is given as it was read.
    """

    puts: tuple[Noun, ...] = ()
    removed: tuple[Noun, ...] = ()
    policy: Policy | None = None
    ledger: tuple[LedgerEntry, ...] = ()
    matches: tuple[MatchRecord, ...] = ()
    reasons: tuple[ReasonRecord, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    audit: tuple[AuditEntry, ...] = ()
    receipt: Receipt | None = None
    counters: Mapping[str, int] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Nothing to write."""
        return self == Change()


SHELVES: dict[type[Noun], str] = {
    PolicyVersion: "policies",
    CardType: "card_types",
    Node: "nodes",
    Pool: "pools",
    Card: "cards",
    Person: "people",
    Team: "teams",
    Quota: "quotas",
    Guarantee: "guarantees",
    Reservation: "reservations",
    Token: "tokens",
    Dataset: "datasets",
    Task: "tasks",
    Run: "runs",
}
NAMES: dict[type[Noun], str] = {kind: shelf[:-1] for kind, shelf in SHELVES.items()} | {
    Person: "person",
    PolicyVersion: "policy_version",
}


def not_open(records: Records, change: Change) -> tuple[Task | Run, ...]:
    """Tasks and runs of the change that are not open in `records`: new ones and already ended ones."""
    return tuple(
        noun
        for noun in (*change.puts, *change.removed)
        if isinstance(noun, Task | Run) and noun.id not in getattr(records, SHELVES[type(noun)])
    )


def apply(records: Records, change: Change, past: Mapping[tuple[type[Noun], str], int] | None = None) -> Records:
    """The records after `change`; `records` itself if the change is empty.

    `past` holds the versions of the ended tasks and runs among `not_open`.
    Raises VersionConflict for a put that does not follow the current version, or a removal of another.
    """
    if change.empty:
        return records
    return replace(
        records,
        version=records.version + 1,
        policy=change.policy or records.policy,
        balances=_balances(records, change),
        counters=_counters(records, change),
        **_shelves(records, change, past or {}),
    )


def _shelves(records: Records, change: Change, past: Mapping[tuple[type[Noun], str], int]) -> dict[str, Any]:
    touched: dict[str, dict[str, Any]] = {}
    versions = dict(past)
    for noun in change.puts:
        shelf = _opened(touched, records, noun)
        _must_follow(noun, noun.version - 1, shelf, versions)
        if isinstance(noun, Task | Run) and noun.ended:
            shelf.pop(noun.id, None)
            versions[type(noun), noun.id] = noun.version
        else:
            shelf[noun.id] = noun
    for noun in change.removed:
        shelf = _opened(touched, records, noun)
        _must_follow(noun, noun.version, shelf, versions)
        shelf.pop(noun.id, None)
        versions.pop((type(noun), noun.id), None)
    return touched


def _opened(touched: dict[str, dict[str, Any]], records: Records, noun: Noun) -> dict[str, Any]:
    name = SHELVES[type(noun)]
    if name not in touched:
        touched[name] = dict(getattr(records, name))
    return touched[name]


def _must_follow(noun: Noun, read: int, shelf: Mapping[str, Noun], past: Mapping[tuple[type[Noun], str], int]) -> None:
    known = shelf.get(noun.id)
    current = known.version if known is not None else past.get((type(noun), noun.id), 0)
    if read != current:
        raise VersionConflict(field=None, noun=NAMES[type(noun)], id=noun.id, read=read, current=current)


def _balances(records: Records, change: Change) -> Mapping[str, Balance]:
    if not change.ledger:
        return records.balances
    balances = dict(records.balances)
    for entry in change.ledger:
        balances[entry.team] = balances.get(entry.team, Balance()).plus(entry)
    return balances


def _counters(records: Records, change: Change) -> Mapping[str, int]:
    if not change.counters:
        return records.counters
    counters = dict(records.counters)
    for noun, last in change.counters.items():
        counters[noun] = max(last, counters.get(noun, 0))
    return counters
