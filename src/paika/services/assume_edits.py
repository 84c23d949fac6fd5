"""The records as they would be if the edits were true: nothing is written, rights and rules are those of real acts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from paika.domain.access import Act, Actor
from paika.domain.card import Card, CardType, Health
from paika.domain.dataset import Readiness
from paika.domain.node import Node, NodeState
from paika.domain.policy_form import with_numbers
from paika.domain.problem import NotFound
from paika.domain.quota import Quota
from paika.domain.records import Change, Noun, Records, apply
from paika.domain.reservation import Reservation
from paika.domain.run import EndCause, Run
from paika.domain.task import QUEUED, IllegalStep, Task
from paika.domain.type_names import UnknownCardType, one_type
from paika.ports.engine import ReportState, RunReport
from paika.services.ask_window import card_named, new_wish
from paika.services.book_window import approves, must_ask, placed
from paika.services.change_policy import numbers_here
from paika.services.change_task import cancelled, edited, must_change
from paika.services.dependencies import Find
from paika.services.editing import by_id_or_name, found
from paika.services.follow_runs import follow_runs
from paika.services.grant_guarantee import asked_guarantee, must_fit
from paika.services.move_task import moved, must_move
from paika.services.submit_task import prepare, real_types
from paika.services.what_if_form import (
    CancelledTask,
    CardBack,
    ChangedTask,
    Edit,
    LostCard,
    LostNode,
    MoreCards,
    MovedTask,
    NewBooking,
    NewGuarantee,
    NewPolicy,
    NewQuota,
    NewTask,
    NodeBack,
    ReadyDataset,
    WithdrawnGuarantee,
    of_edit,
)

NODE = "what-if"  # the new machines of MoreCards are called what-if-1, what-if-2, …
_BACK = frozenset({Health.LOST, Health.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Assumed:
    """The records with the edits. `subjects` are the tasks that they are about, `ended` the runs that they end."""

    records: Records
    subjects: tuple[str, ...] = ()
    ended: tuple[Run, ...] = ()
    bookings: tuple[Reservation, ...] = ()


@dataclass(frozen=True, slots=True)
class _World:
    """The records so far, and who thinks what when. `find` tells of tasks that are not open."""

    records: Records
    actor: Actor
    now: datetime
    find: Find
    engines: Collection[str] | None


@dataclass(frozen=True, slots=True)
class _Step:
    change: Change
    subjects: tuple[str, ...] = ()
    ended: tuple[Run, ...] = ()
    bookings: tuple[Reservation, ...] = ()


def assume(
    records: Records,
    edits: Sequence[Edit],
    actor: Actor,
    now: datetime,
    find: Find,
    engines: Collection[str] | None = None,
) -> Assumed:
    """Each edit on what the ones before it made. `engines` are those that answer; None: all.

    Raises what the real acts raise, of the first edit that cannot be, its field under the edit's number.
    """
    made = Assumed(records)
    for number, edit in enumerate(edits):
        world = _World(made.records, actor, now, find, engines)
        with of_edit(number, len(edits)):
            step = _step(world, edit)
            made = Assumed(
                apply(made.records, step.change),
                tuple(dict.fromkeys((*made.subjects, *step.subjects))),
                (*made.ended, *step.ended),
                (*made.bookings, *step.bookings),
            )
    return made


def _step(world: _World, edit: Edit) -> _Step:
    match edit:
        case NewTask() | ChangedTask() | CancelledTask() | MovedTask():
            return _of_task(world, edit)
        case NewBooking():
            return _booking(world, edit)
        case NewGuarantee() | WithdrawnGuarantee() | NewQuota() | NewPolicy():
            return _Step(_of_rules(world, edit))
        case LostNode() | LostCard() | NodeBack() | CardBack() | MoreCards():
            return _of_cards(world, edit)
        case ReadyDataset(dataset):
            return _Step(_ready(world, dataset))


def _of_task(world: _World, edit: NewTask | ChangedTask | CancelledTask | MovedTask) -> _Step:
    if isinstance(edit, NewTask):
        return _new_task(world, edit)
    task = _known(world, edit.task)
    match edit:
        case ChangedTask(_, form, zone):
            must_change(world.actor, task)
            return _changed(task, edited(world.records, world.actor, task, form, zone, _finder(world)))
        case MovedTask(_, points):
            must_move(world.actor, task, points)
            return _changed(task, moved(task, points, world.actor.person, ""))
        case CancelledTask():
            must_change(world.actor, task)
            return _cancelled(world, task)


def _new_task(world: _World, edit: NewTask) -> _Step:
    world.actor.must(Act.SUBMIT_TASK)
    records = world.records
    tasks = prepare(records, world.actor, [edit.draft], world.now, _finder(world))
    counters = {"task": records.counters.get("task", 0) + len(tasks)}
    return _Step(Change(puts=tasks, counters=counters), tuple(task.id for task in tasks))


def _changed(old: Task, new: Task) -> _Step:
    puts = () if new == old else (replace(new, version=old.version + 1),)
    return _Step(Change(puts=puts), (old.id,))


def _cancelled(world: _World, task: Task) -> _Step:
    """A queued task goes at once; one on cards is taken to end now, without the time that stopping takes."""
    if task.state in QUEUED:
        return _Step(Change(puts=cancelled(world.records, task, world.now, "")), (task.id,))
    if task.ended:
        raise IllegalStep(field="of", noun="task", state=task.state.value, event="cancel")
    return _ended(world, (run for run in _open_runs(world) if run.task == task.id), EndCause.CANCELLED, (task.id,))


def _booking(world: _World, edit: NewBooking) -> _Step:
    records, actor = world.records, world.actor
    number = records.counters.get("reservation", 0) + 1
    wish = new_wish(records, actor, edit.form, world.now, f"b-{number}")
    if not approves(actor, wish.purpose, wish.team):
        must_ask(actor, wish)
    booked = placed(records, replace(wish, approved_by=actor.person), world.now, waitlist=False)
    return _Step(Change(puts=(booked,), counters={"reservation": number}), bookings=(booked,))


def _of_rules(world: _World, edit: NewGuarantee | WithdrawnGuarantee | NewQuota | NewPolicy) -> Change:
    records, actor = world.records, world.actor
    actor.must(Act.CHANGE_POLICY if isinstance(edit, NewPolicy) else Act.CHANGE_TEAM)
    match edit:
        case NewGuarantee(team, form):
            asked = asked_guarantee(records, by_id_or_name(records.teams, "team", team, "of"), form)
            known = records.guarantees.get(asked.id)
            must_fit(records, known, asked, world.now)
            return Change(puts=(replace(asked, version=known.version + 1 if known else 1),))
        case WithdrawnGuarantee(key):
            return Change(removed=(found(records.guarantees, "guarantee", key, "of"),))
        case NewQuota(team, max_cards):
            key = by_id_or_name(records.teams, "team", team, "of")
            quota = records.quotas.get(key)
            return Change(puts=(Quota(key, max_cards, quota.version + 1 if quota else 1),))
        case NewPolicy(numbers):
            return Change(policy=with_numbers(records.policy, numbers_here(records, numbers)))


def _of_cards(world: _World, edit: LostNode | LostCard | NodeBack | CardBack | MoreCards) -> _Step:
    world.actor.must(Act.CHANGE_CARD)
    match edit:
        case LostNode(key):
            node = found(world.records.nodes, "node", key, "of")
            hit = (run for run in _open_runs(world) if any(part.node == key for part in run.parts))
            return _ended(world, hit, EndCause.NODE_LOST, puts=(_at(node, NodeState.DOWN),))
        case LostCard(asked):
            card = world.records.cards[card_named(world.records, asked, "of")]
            hit = (run for run in _open_runs(world) if card.id in run.cards)
            return _ended(world, hit, EndCause.LOST_CARD, puts=(_healthy(card, Health.LOST),))
        case NodeBack(key):
            node = found(world.records.nodes, "node", key, "of")
            cards = (card for card in world.records.cards.values() if card.node == key and card.health in _BACK)
            return _Step(Change(puts=(_at(node, NodeState.UP), *(_healthy(card, Health.OK) for card in cards))))
        case CardBack(asked):
            card = world.records.cards[card_named(world.records, asked, "of")]
            return _Step(Change(puts=(_healthy(card, Health.OK),)))
        case MoreCards():
            return _Step(Change(puts=tuple(_more(world, edit))))


def _more(world: _World, edit: MoreCards) -> Iterable[Noun]:
    """New virtual machines on an engine that answers; their cards report what such cards report here."""
    records = world.records
    kind = _type(records, edit.card_type)
    if kind.id not in records.card_types:
        yield replace(kind, version=1)
    alike = [card.vram_mib for card in records.cards.values() if card.type == kind.id]
    first = sum(name.startswith(f"{NODE}-") for name in records.nodes) + 1
    for number in range(first, first + edit.nodes):
        name = f"{NODE}-{number}"
        yield Node(name, edit.pool, _engine(world), virtual=True)
        for index in range(edit.cards // edit.nodes):
            yield Card(f"{name}-{index}", name, index, kind.id, min(alike, default=kind.vram_mib))


def _type(records: Records, asked: str) -> CardType:
    """The card type of that name: one of the house if it has such, else one of the catalogue."""
    try:
        return one_type(asked, records.card_types.values())
    except UnknownCardType:
        return one_type(asked, real_types(records))


def _engine(world: _World) -> str:
    known = sorted({node.engine for node in world.records.nodes.values() if node.engine is not None})
    answering = [name for name in known if world.engines is None or name in world.engines]
    return next(iter((*answering, *sorted(world.engines or ()), *known)), "local")


def _ready(world: _World, asked: str) -> Change:
    world.actor.must(Act.CHANGE_DATASET)
    old = world.records.datasets[by_id_or_name(world.records.datasets, "dataset", asked, "of")]
    return Change(puts=(replace(old, readiness=Readiness.READY, percent=100, eta=None, version=old.version + 1),))


def _ended(
    world: _World,
    runs: Iterable[Run],
    cause: EndCause,
    subjects: tuple[str, ...] = (),
    puts: tuple[Noun, ...] = (),
) -> _Step:
    """These runs end now with that cause, and what follows from it for their tasks and the ledger."""
    hit = tuple(runs)
    reports = [
        RunReport(run.id, run.token, ReportState.ENDED, run.started_at, ended_at=world.now, cause=cause) for run in hit
    ]
    after = follow_runs(world.records, reports, {}, world.now)
    return _Step(replace(after, puts=(*after.puts, *puts)), subjects, hit)


def _open_runs(world: _World) -> tuple[Run, ...]:
    return tuple(run for run in world.records.runs.values() if not run.ended)


def _finder(world: _World) -> Callable[[str], Task | None]:
    return lambda key: world.records.tasks.get(key) or world.find(key)


def _known(world: _World, key: str) -> Task:
    task = _finder(world)(key)
    if task is None:
        raise NotFound(field="of", noun="task", id=key)
    return task


def _at(node: Node, state: NodeState) -> Node:
    return replace(node, state=state, state_cause="", version=node.version + 1)


def _healthy(card: Card, health: Health) -> Card:
    return replace(card, health=health, health_cause="", version=card.version + 1)
