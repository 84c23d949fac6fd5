"""The inventory: what a lab says it has, before any meter has looked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from paika.domain.card import Card, CardType
from paika.domain.node import Node
from paika.domain.person import Person
from paika.domain.pool import Pool
from paika.domain.problem import Kind, Problem
from paika.domain.quota import Quota
from paika.domain.team import Team


@dataclass(frozen=True, slots=True)
class Inventory:
    """Nouns as declared, all at version 1. People, teams and quotas may be left out.

    `made_ids` are the ids of cards that were declared without a UUID; `listed` are the nodes whose cards
    are declared at all (the cards of the others are found by a meter). `weighed` and `placed` are the teams whose
    weight and parent are declared; those of the others stay as people set them.
    """

    pools: tuple[Pool, ...] = ()
    nodes: tuple[Node, ...] = ()
    cards: tuple[Card, ...] = ()
    card_types: tuple[CardType, ...] = ()
    teams: tuple[Team, ...] = ()
    people: tuple[Person, ...] = ()
    quotas: tuple[Quota, ...] = ()
    made_ids: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()
    weighed: frozenset[str] = frozenset()
    placed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that loading an inventory does. `act` is added, changed, removed or drained; texts as audited."""

    act: str
    noun: str
    id: str
    old: tuple[tuple[str, str], ...] = ()
    new: tuple[tuple[str, str], ...] = ()


@dataclass(eq=False)
class UnreadableInventory(Problem):
    """The file is no such list at all. `line` counts from 1, None meaning the whole file; `detail` is the parser's."""

    code: ClassVar[str] = "inventory.unreadable"
    kind: ClassVar[Kind] = Kind.INVALID
    line: int | None
    detail: str


@dataclass(eq=False)
class WrongShape(Problem):
    """A list, a mapping or a plain value stands where another of these is meant."""

    code: ClassVar[str] = "inventory.wrong_shape"
    kind: ClassVar[Kind] = Kind.INVALID
    wanted: str


@dataclass(eq=False)
class KeyTwice(Problem):
    """The same key stands twice in one mapping, so that one of its values would be lost."""

    code: ClassVar[str] = "inventory.key_twice"
    kind: ClassVar[Kind] = Kind.INVALID
    key: str


@dataclass(eq=False)
class UnknownName(Problem):
    """The file names a pool or a team that stands nowhere; `nearest` are those that do."""

    code: ClassVar[str] = "inventory.unknown_name"
    kind: ClassVar[Kind] = Kind.INVALID
    noun: str
    id: str
    nearest: tuple[str, ...]
