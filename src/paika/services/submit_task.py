"""Tasks come in: each gets an owner, a team, its card types and its place behind the tasks it waits for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import ClassVar

from paika.domain.access import Act, Actor, Forbidden
from paika.domain.audit import AuditEntry
from paika.domain.card import CardType
from paika.domain.catalogue import CATALOGUE
from paika.domain.problem import BadValue, FieldMissing, KeyReused, Kind, Problem, Several
from paika.domain.records import Change, Receipt, Records
from paika.domain.task import Dependency, Task, Tier
from paika.domain.task_draft import TaskDraft
from paika.domain.task_form import form_of, read_form
from paika.domain.type_names import resolve_types
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.dependencies import Batch, Find, link, refuse_loops
from paika.services.editing import UnknownNoun, by_id_or_name, nearest
from paika.services.keep_audit import Attempt, refusals_kept

MOST_AT_ONCE = 10_000
KEY_LONGEST = 200
_NOT_AUDITED = frozenset({"env", "script"})  # may hold secrets; the task itself keeps them
_AUDIT_CHARS = 500


@dataclass(eq=False)
class ChooseTeam(Problem):
    """The owner works in several teams, so the task must say for which one it is."""

    code: ClassVar[str] = "task.choose_team"
    kind: ClassVar[Kind] = Kind.INVALID
    teams: tuple[str, ...]


@dataclass(eq=False)
class NoTeam(Problem):
    """The owner works in no team, so nobody's quota could bear the task."""

    code: ClassVar[str] = "task.no_team"
    kind: ClassVar[Kind] = Kind.REFUSED
    person: str


@dataclass(eq=False)
class NotInTeam(Problem):
    """The owner does not work in the team; `teams` are those he works in."""

    code: ClassVar[str] = "task.not_in_team"
    kind: ClassVar[Kind] = Kind.REFUSED
    person: str
    team: str
    teams: tuple[str, ...]


def submit_tasks(
    store: Store, clock: Clock, actor: Actor, drafts: Sequence[TaskDraft], *, key: str | None = None
) -> tuple[Task, ...]:
    """All drafts become tasks, or none does; the tasks in the order of the drafts.

    The same `key` from the same person gets the same answer, whatever became of the tasks since; with
    other drafts it raises KeyReused. Raises one problem, or Several with fields like 'tasks[2].inputs'.
    """
    digest = body_digest(drafts)
    if key is not None and (tasks := answered(store, actor, key, digest)):
        return tasks

    def decide(records: Records) -> Change:
        actor.must(Act.SUBMIT_TASK)
        now = clock.now()
        tasks = prepare(records, actor, drafts, now, store.task)
        receipt = Receipt(actor.person, key, digest, tuple(task.id for task in tasks), now) if key is not None else None
        return Change(
            puts=tasks,
            counters={"task": records.counters.get("task", 0) + len(tasks)},
            audit=tuple(_entry(actor, task, now) for task in tasks),
            receipt=receipt,
        )

    try:
        with refusals_kept(store, clock, actor, Attempt("submit_task", "task", "")):
            before = store.update(decide).counters["task"] - len(drafts)
    except KeyReused:
        if key is not None and (tasks := answered(store, actor, key, digest)):
            return tasks  # somebody else's hand was quicker with the very same
        raise
    return _stored(store, [f"t-{before + n}" for n in range(1, len(drafts) + 1)])


def must_submit(store: Store, clock: Clock, actor: Actor) -> None:
    """Raises Forbidden, and writes the attempt down, unless the actor may submit at all."""
    with refusals_kept(store, clock, actor, Attempt("submit_task", "task", "")):
        actor.must(Act.SUBMIT_TASK)


def read_drafts(raws: Sequence[Mapping[str, object]], zone: str) -> tuple[TaskDraft, ...]:
    """The drafts that forms ask for. Raises Several with every problem, by number where there are several forms."""
    drafts: list[TaskDraft] = []
    problems: list[Problem] = []
    for number, raw in enumerate(raws):
        with _collected(problems, number, len(raws)):
            drafts.append(read_form(raw, zone))
    if problems:
        raise Several(field=None, problems=tuple(problems))
    return tuple(drafts)


def body_digest(drafts: Sequence[TaskDraft]) -> str:
    """SHA-256 of what the drafts ask for, in hex; the same for every way of writing it."""
    written = [form_of(draft) for draft in drafts]
    return sha256(json.dumps(written, sort_keys=True, ensure_ascii=True, default=str).encode()).hexdigest()


def answered(store: Store, actor: Actor, key: str, digest: str) -> tuple[Task, ...]:
    """What this person's key was answered with; () if it is new. Raises KeyReused, BadValue."""
    if not 0 < len(key) <= KEY_LONGEST or not key.isprintable():
        raise BadValue(field="Idempotency-Key", value=key[:80], allowed=f"1..{KEY_LONGEST} characters")
    receipt = store.receipt(actor.person, key)
    if receipt is None:
        return ()
    if receipt.body_sha256 != digest:
        raise KeyReused(field=None, key=key)
    return _stored(store, receipt.tasks)


def prepare(records: Records, actor: Actor, drafts: Sequence[TaskDraft], now: datetime, find: Find) -> tuple[Task, ...]:
    """The tasks that the drafts would become, with the next free ids. Writes nothing; raises as submit_tasks does."""
    if not 0 < len(drafts) <= MOST_AT_ONCE:
        raise BadValue(field="tasks", value=str(len(drafts)), allowed=f"1..{MOST_AT_ONCE}")
    first = records.counters.get("task", 0) + 1
    ids = [f"t-{first + n}" for n in range(len(drafts))]
    batch = Batch.of([draft.name for draft in drafts], ids)
    tasks: list[Task] = []
    problems: list[Problem] = []
    for number, (task_id, draft) in enumerate(zip(ids, drafts, strict=True)):
        with _collected(problems, number, len(drafts)):
            tasks.append(_task(records, actor, task_id, draft, batch, now, find))
    _raise_all(problems)
    edges = {task.id: [dependency.task for dependency in task.after] for task in tasks}
    refuse_loops(edges, {task.id: task.name for task in tasks})
    return tuple(tasks)


def resolved(records: Records, draft: TaskDraft) -> TaskDraft:
    """The draft with card types and datasets as ids. Raises Several with all that is unknown."""
    problems: list[Problem] = []
    types: tuple[str, ...] = ()
    inputs: list[str] = []
    with _collected(problems):
        types = resolve_types(draft.demand.asked_types, real_types(records))
    for asked in draft.inputs:
        with _collected(problems):
            inputs.append(by_id_or_name(records.datasets, "dataset", asked, "inputs"))
    pools = {*records.pools, *(node.pool for node in records.nodes.values())}
    if draft.demand.pool and draft.demand.pool not in pools:
        asked = draft.demand.pool
        problems.append(UnknownNoun(field="pool", noun="pool", asked=asked, nearest=nearest(asked, sorted(pools))))
    _raise_all(problems)
    return replace(draft, demand=replace(draft.demand, types=types), inputs=tuple(dict.fromkeys(inputs)))


def real_types(records: Records) -> tuple[CardType, ...]:
    """Types that a request may name: those of the house, then the catalogue's others, which no card here has yet."""
    own = tuple(records.card_types.values())
    return (*own, *(card_type for card_type in CATALOGUE if card_type.id not in records.card_types))


def must_place(records: Records, actor: Actor, owner: str, team: str, tier: Tier) -> None:
    """Raises Forbidden or NotInTeam unless the actor may put such a task there for that owner."""
    leads = team in actor.leads and actor.may(Act.CHANGE_TEAM_TASK)
    over_all = actor.may(Act.CHANGE_ANY_TASK)
    known = records.people.get(owner)
    if known is None or not (team in known.teams or (over_all and owner == actor.person)):
        teams = known.teams if known else ()
        raise NotInTeam(field="team", person=owner, team=team, teams=teams)
    if owner != actor.person and not (leads or over_all):
        raise Forbidden(field="owner", act="submit_for_others", role=actor.role.value)
    if tier is Tier.CORE:
        actor.must(Act.MAKE_CORE_TASK)
        if not (team in actor.leads or actor.may(Act.CHANGE_ANY_TASK)):
            raise Forbidden(field="tier", act=Act.MAKE_CORE_TASK.value, role=actor.role.value)


def _task(
    records: Records, actor: Actor, task_id: str, asked: TaskDraft, batch: Batch, now: datetime, find: Find
) -> Task:
    owner = by_id_or_name(records.people, "person", asked.owner, "owner") if asked.owner else actor.person
    team = _team(records, owner, asked.team)
    must_place(records, actor, owner, team, asked.tier)
    problems: list[Problem] = []
    draft = asked
    after: tuple[Dependency, ...] = ()
    with _collected(problems):
        draft = resolved(records, asked)
    with _collected(problems):
        after = link(asked.after, batch, find, records.tasks)
    _raise_all(problems)
    return Task(
        id=task_id,
        submitted_at=now,
        state_since=now,
        **own_fields(draft) | {"owner": owner, "team": team, "after": after},  # type: ignore[arg-type]
    )


def own_fields(draft: TaskDraft) -> dict[str, object]:
    """The fields of a draft by name, for a Task of the same."""
    return {name: getattr(draft, name) for name in TaskDraft.__slots__}


def _team(records: Records, owner: str, asked: str) -> str:
    if asked:
        return by_id_or_name(records.teams, "team", asked, "team")
    person = records.people.get(owner)
    if person is None:
        raise FieldMissing(field="owner")
    if not person.teams:
        raise NoTeam(field="team", person=owner)
    if len(person.teams) > 1:
        raise ChooseTeam(field="team", teams=person.teams)
    return person.teams[0]


@contextmanager
def _collected(problems: list[Problem], number: int = 0, of: int = 1) -> Iterator[None]:
    """Keep the block's problem for later, its field under the task's number; refusals of rights go at once."""
    try:
        yield
    except Several as several:
        problems.extend(_numbered(problem, number, of) for problem in several.problems)
    except Problem as problem:
        if problem.kind is Kind.FORBIDDEN:
            raise
        problems.append(_numbered(problem, number, of))


def _raise_all(problems: Sequence[Problem]) -> None:
    if problems:
        raise problems[0] if len(problems) == 1 else Several(field=None, problems=tuple(problems))


def _numbered(problem: Problem, number: int, of: int) -> Problem:
    if of > 1:
        problem.field = f"tasks[{number}]" + (f".{problem.field}" if problem.field else "")
    return problem


def _stored(store: Store, ids: Sequence[str]) -> tuple[Task, ...]:
    found = [store.task(key) for key in ids]
    return tuple(task for task in found if task is not None)


def _entry(actor: Actor, task: Task, now: datetime) -> AuditEntry:
    written: Mapping[str, object] = form_of(task)
    new = {name: str(value)[:_AUDIT_CHARS] for name, value in written.items() if name not in _NOT_AUDITED}
    return AuditEntry(now, actor.person, actor.door, actor.address, "submit_task", "task", task.id, {}, new)
