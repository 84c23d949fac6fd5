"""A small lab to tell stories in: people, teams, machines with cards, a clock that moves when told to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from typing import Any

from paika.adapters.in_memory.engine import InMemoryEngine
from paika.adapters.in_memory.store import InMemoryStore
from paika.domain.access import Actor, Scope
from paika.domain.card import Card, CardType, Vendor
from paika.domain.dataset import Dataset, Readiness
from paika.domain.node import Node
from paika.domain.person import Person, Role
from paika.domain.plan import Forecast, Plan, PriorityTerms, Wait
from paika.domain.reason import CardsBusy, Reason
from paika.domain.records import Change, Records
from paika.domain.run import Run, RunPart, RunState
from paika.domain.task import Task, TaskState
from paika.domain.task_draft import TaskDraft
from paika.domain.task_form import read_form
from paika.domain.team import Team
from paika.ports.store import Store
from paika.services.live import Live
from paika.services.submit_task import submit_tasks

T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
GIB = 1024

PEOPLE = (
    Person("ann", "安娜", Role.ADMIN),
    Person("lea", "李雷", Role.LEAD, ("vision",), ("vision",)),
    Person("leo", "Leo", Role.LEAD, ("text",), ("text",)),
    Person("mia", "韩梅梅", Role.MEMBER, ("vision",)),
    Person("max", "马克", Role.MEMBER, ("vision",)),
    Person("tim", "Tim", Role.MEMBER, ("text",)),
    Person("two", "Two Teams", Role.MEMBER, ("text", "vision")),
    Person("vic", "访客", Role.VIEWER, ("vision",)),
    Person("lone", "No Team", Role.MEMBER),
)
TEAMS = (Team("vision", "视觉组"), Team("text", "Text"))
TYPES = (
    CardType("A100-80G", "A100", Vendor.NVIDIA, 80 * GIB, 2039, 1300, ("bf16",)),
    CardType("RTX4090", "RTX4090", Vendor.NVIDIA, 24 * GIB, 1008, 600, ("bf16", "fp8")),
)
NODES = (Node("n1", "main", "memory"), Node("n2", "main", "memory"), Node("far", "main", None))
CARDS = (
    *(Card(f"a{n}", "n1", n, "A100-80G", 80 * GIB) for n in range(4)),
    *(Card(f"r{n}", "n2", n, "RTX4090", 24 * GIB) for n in range(2)),
    Card("x0", "far", 0, "RTX4090", 24 * GIB),
)
DATASETS = (
    Dataset("d-1", "imagenet", Readiness.READY, 100),
    Dataset("d-2", "coco", Readiness.PREPARING, 40, eta=T0 + timedelta(hours=3), owner="mia"),
)


class MovedClock:
    """A clock that a test moves."""

    def __init__(self, at: datetime = T0) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def move(self, **span: float) -> datetime:
        self.at += timedelta(**span)
        return self.at


class CountedIds:
    """Ids that count, so that a story can be told twice."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def token(self, size_bytes: int = 16) -> str:
        return sha256(str(next(self._numbers)).encode()).hexdigest().ljust(2 * size_bytes, "0")[: 2 * size_bytes]


class Lab:
    """The store with everybody in it, and shorthands for what they do."""

    def __init__(self, store: Store | None = None) -> None:
        self.clock = MovedClock()
        self.ids = CountedIds()
        self.store = store or InMemoryStore()
        self.engine = InMemoryEngine(self.clock)
        self.store.update(lambda _: Change(puts=(*TEAMS, *PEOPLE, *TYPES, *NODES, *CARDS, *DATASETS)))

    @property
    def records(self) -> Records:
        return self.store.read()

    def put(self, *nouns: Any) -> None:
        self.store.update(lambda _: Change(puts=nouns))

    def actor(self, person: str, *scopes: Scope, door: str = "api") -> Actor:
        known = self.records.people[person]
        return Actor(person, known.role, scopes or (Scope.ADMIN,), known.teams, known.leads, door, "127.0.0.1")

    def submit(self, person: str = "mia", *, key: str | None = None, **form: object) -> Task:
        return self.submit_all(person, [form], key=key)[0]

    def submit_all(
        self, person: str, forms: Sequence[dict[str, object]], *, key: str | None = None
    ) -> tuple[Task, ...]:
        drafts = [draft(**form) for form in forms]
        return submit_tasks(self.store, self.clock, self.actor(person), drafts, key=key)

    def task(self, task_id: str) -> Task:
        task = self.store.task(task_id)
        assert task is not None
        return task

    def run(self, task: Task, *cards: str, state: RunState = RunState.RUNNING, **more: Any) -> Run:
        """Put the task on cards, as the engine would have it after some time."""
        now = self.clock.now()
        nodes: dict[str, tuple[str, ...]] = {}
        for card in cards:
            node = self.records.cards[card].node
            nodes[node] = (*nodes.get(node, ()), card)
        states = {RunState.INTENDED: TaskState.STARTING, RunState.STARTING: TaskState.STARTING}
        run = Run(
            id=f"{task.id}.r1",
            task=task.id,
            attempt=1,
            token="secret-token",
            owner=task.owner,
            team=task.team,
            tier=task.tier,
            parts=tuple(RunPart(node, held) for node, held in nodes.items()),
            parts_held=100 * len(cards),
            intended_at=now,
            engine="memory",
            limit_s=task.limit_s,
            high_s=task.estimate.high_s if task.estimate else None,
            state=state,
            started_at=None if state in states else now,
        )
        run = replace(run, **more)
        now_at = states[state] if state in states else TaskState(state.value)
        self.put(replace(task, state=now_at, state_since=now, attempts=1, version=task.version + 1), run)
        return run

    def live(self, *waits: Wait, **more: Any) -> Live:
        plan = Plan(self.records.version, 1, self.clock.now(), (), waits)
        return Live(plan=plan, waits={wait.task: wait for wait in waits}, **more)


def draft(**form: object) -> TaskDraft:
    """A draft of a task that only says hello, with what is given."""
    return read_form({"name": "hello", "command": ["echo", "hello"], **form}, "UTC")


def waiting(
    task: str,
    rank: int,
    *reasons: Reason,
    start_by: datetime | None = None,
    cards: tuple[str, ...] = (),
    node: str = "n1",
) -> Wait:
    """What a plan says of a task that waits."""
    forecast = None if start_by is None else Forecast(start_by, (RunPart(node, cards),), True)
    why = reasons or (CardsBusy(1, 1, 0, 0, 4, ()),)
    return Wait(task, rank, PriorityTerms(50, 0, 0), why, forecast)
