"""The invariants that one plan can break, recomputed from the snapshot alone.

Shares no code with the planner on purpose: it counts cards, ends and quotas in its own plain way.
A violation with `blocks` stops the starts from being applied; the others are alarms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from paika.domain.card import Card, CardType, Health
from paika.domain.dataset import Readiness
from paika.domain.node import NodeState
from paika.domain.plan import Plan, Start, Wait
from paika.domain.policy import Policy
from paika.domain.reason import CardsBusy, DataNotReady, QuotaFull, Reason
from paika.domain.run import Run
from paika.domain.snapshot import Snapshot
from paika.domain.task import TIER_RANK, Demand, Task, TaskState, Tier
from paika.planning.check_kept import kept_from_others, promises_kept


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that the plan breaks, and on what."""

    rule: str
    subject: str
    blocks: bool = True


class _World:
    """The snapshot by id."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.tasks = {t.id: t for t in snapshot.tasks}
        self.cards = {c.id: c for c in snapshot.cards}
        self.nodes = {n.id: n for n in snapshot.nodes}
        self.types: dict[str, CardType] = {t.id: t for t in snapshot.card_types}
        self.runs_on: dict[str, list[Run]] = {}
        for run in snapshot.runs:
            for card in run.cards:
                self.runs_on.setdefault(card, []).append(run)
        self.datasets = {d.id: d for d in snapshot.datasets}
        self.outside = {use.card for use in snapshot.external}

    def usable(self, card: Card) -> bool:
        """Healthy, on a node that is up and has an engine."""
        node = self.nodes.get(card.node)
        return card.health is Health.OK and node is not None and node.state is NodeState.UP and node.engine is not None

    def suits(self, task: Task, card: Card) -> bool:
        """Type, capabilities, pool and VRAM are as asked."""
        demand, card_type = task.demand, self.types.get(card.type)
        node = self.nodes.get(card.node)
        if card_type is None or node is None or (demand.types and card.type not in demand.types):
            return False
        if not set(demand.capabilities) <= set(card_type.capabilities) or (demand.pool and node.pool != demand.pool):
            return False
        return card.vram_mib >= (demand.share.vram_mib if demand.share else demand.vram_mib)

    def leased_for(self, task: Task, card: Card, now: datetime, policy: Policy) -> bool:
        """The card stays ours with room to spare for a run of the task (lengths may be rounded up)."""
        lease, lasts = self.lease_of(card), policy.unknown_run_s if task.occupies_s is None else task.occupies_s
        return lease is None or now + timedelta(seconds=lasts + lasts // 6 + 60) <= lease

    def lease_of(self, card: Card) -> datetime | None:
        """The earlier lease of card and node."""
        ends = [e for e in (card.lease_ends_at, self.nodes[card.node].lease_ends_at) if e is not None]
        return min(ends) if ends else None


def check(snapshot: Snapshot, policy: Policy, plan: Plan) -> list[Violation]:
    """Every rule that the plan breaks; [] for a good plan."""
    world = _World(snapshot)
    found = [
        *_answered(world, plan),
        *_starts(world, plan),
        *_sharing(world, plan, policy),
        *_quotas(world, plan, policy),
    ]
    found += [Violation(rule, subject) for rule, subject in kept_from_others(snapshot, policy, plan)]
    if not found:
        found = [*_promises(world, plan), *_idle_beside_need(world, plan, policy), *_truth(world, plan)]
        found += [Violation(rule, subject, blocks=False) for rule, subject in promises_kept(snapshot, plan)]
    return found


def _answered(world: _World, plan: Plan) -> Iterator[Violation]:
    answers = Counter([s.task for s in plan.starts] + [w.task for w in plan.waits])
    for task in world.tasks:
        if answers[task] != 1:
            yield Violation("every task is answered once", task)
    for stranger in set(answers) - set(world.tasks):
        yield Violation("only waiting tasks are answered", stranger)
    for wait in plan.waits:
        if not wait.reasons:
            yield Violation("a wait has a reason", wait.task, blocks=False)


def _starts(world: _World, plan: Plan) -> Iterator[Violation]:
    now = plan.decided_at
    for start in plan.starts:
        task = world.tasks.get(start.task)
        if task is None:
            continue
        yield from (Violation(rule, task.id) for rule in _gates_broken(world, task, now))
        nodes = [part.node for part in start.parts]
        sizes = {len(part.cards) for part in start.parts}
        if len(set(nodes)) != task.demand.nodes or len(nodes) != task.demand.nodes or len(sizes) != 1:
            yield Violation("a gang has its nodes", task.id)
        if len(set(start.cards)) != task.demand.cards or len(start.cards) != task.demand.cards:
            yield Violation("a task has all its cards or none", task.id)
        for part in start.parts:
            for card_id in part.cards:
                yield from (
                    Violation(rule, f"{task.id} {card_id}")
                    for rule in _card_broken(world, task, part.node, card_id, now)
                )
        if len({world.cards[c].type for c in start.cards if c in world.cards}) > 1:
            yield Violation("a gang runs on one card type", task.id)


def _gates_broken(world: _World, task: Task, now: datetime) -> Iterator[str]:
    ready = {d.id for d in world.snapshot.datasets if d.readiness is Readiness.READY}
    if not set(task.inputs) <= ready:
        yield "an unready task has no cards"
    if task.state not in {TaskState.WAITING, TaskState.PARKED}:
        yield "only waiting tasks start"
    for dependency in task.after:
        want = {"success": ["done"], "failure": ["failed"], "end": ["done", "failed", "cancelled", "closed"]}
        if dependency.outcome is None or dependency.outcome.value not in want[dependency.when.value]:
            yield "a task starts after its parents"
    if any(at is not None and at > now for at in (task.not_before, task.retry_at)):
        yield "not before its time"
    if task.team not in {t.id for t in world.snapshot.teams if t.active}:
        yield "its team is active"
    if task.owner not in {p.id for p in world.snapshot.people if p.active}:
        yield "its owner is active"


def _card_broken(world: _World, task: Task, node: str, card_id: str, now: datetime) -> Iterator[str]:
    card = world.cards.get(card_id)
    if card is None or card.node != node:
        yield "cards lie where the plan says"
        return
    if not world.usable(card):
        yield "only fit cards are given"
    if not world.suits(task, card):
        yield "the card is as asked"
    if card_id in world.outside:
        yield "a card that outsiders use counts as taken"
    lease = world.lease_of(card)
    if lease is not None and task.occupies_s is not None and now + timedelta(seconds=task.occupies_s) > lease:
        yield "no run crosses a lease"


def _sharing(world: _World, plan: Plan, policy: Policy) -> Iterator[Violation]:
    """No card has two whole-card runs; shares stay within VRAM and bandwidth."""
    demands: dict[str, list[Run | Task]] = {}
    for start in plan.starts:
        for card in start.cards:
            if start.task in world.tasks:
                demands.setdefault(card, []).append(world.tasks[start.task])
    for card_id, newcomers in demands.items():
        everyone: list[Run | Task] = [*world.runs_on.get(card_id, ()), *newcomers]
        asked = [user.share if isinstance(user, Run) else user.demand.share for user in everyone]
        shares = [share for share in asked if share is not None]
        if len(shares) < len(everyone):
            if len(everyone) > 1:
                yield Violation("a whole card is given once", card_id)
            continue
        vram = sum(share.vram_mib for share in shares)
        band = [share.bandwidth_percent for share in shares]
        shared = world.cards.get(card_id)
        if shared is not None and vram > shared.vram_mib - policy.vram_safety_mib:
            yield Violation("shares stay within VRAM", card_id)
        if sum(band) > 100:
            yield Violation("shares stay within bandwidth", card_id)
        if sum(part >= policy.bandwidth_heavy_percent for part in band) > 1:
            yield Violation("two bandwidth-heavy shares never meet", card_id)


def _quotas(world: _World, plan: Plan, policy: Policy) -> Iterator[Violation]:
    taken: Counter[str] = Counter()
    for start in plan.starts:
        if start.borrowed:
            task = world.tasks.get(start.task)
            if task is None or not (policy.idle_borrows and task.preemptible and task.tier is Tier.IDLE):
                yield Violation("only preemptible idle tasks borrow", start.task)
        elif start.task in world.tasks:
            taken[world.tasks[start.task].team] += start.parts_held
    for quota in world.snapshot.quotas:
        held = world.snapshot.held_parts.get(quota.team, 0)
        if quota.max_cards is not None and taken[quota.team] and held + taken[quota.team] > quota.max_cards * 100:
            yield Violation("no new start exceeds a quota", quota.team)


def _promises(world: _World, plan: Plan) -> Iterator[Violation]:
    """No start may still hold a card when a higher rank was promised it."""
    promised: dict[str, tuple[datetime, int]] = {}
    for wait in plan.waits:
        if wait.forecast is None or not wait.forecast.holds or _gated(wait):
            continue
        for part in wait.forecast.parts:
            for card in part.cards:
                entry = (wait.forecast.start_by, wait.rank)
                promised[card] = min(promised.get(card, entry), entry)
    for start in plan.starts:
        task = world.tasks[start.task]
        if task.demand.share is not None:
            continue
        for card in start.cards:
            if card not in promised or promised[card][1] > start.rank:
                continue
            if task.limit_s is None or plan.decided_at + timedelta(seconds=task.limit_s) > promised[card][0]:
                yield Violation("no start delays a higher rank's promise", f"{start.task} {card}")


def _gated(wait: Wait) -> bool:
    return any(not r.code.startswith(_CARD_REASONS) for r in wait.reasons)


_CARD_REASONS = ("wait.cards", "wait.promised", "wait.oversize", "wait.share_room", "wait.lease", "wait.unfit",
                 "wait.no_engine", "wait.end_unknown", "wait.quota", "wait.reserved", "wait.headroom",
                 "wait.person_cap", "wait.being_freed", "wait.floor", "wait.withdrawn")  # fmt: skip
_STATED = ("wait.promised", "wait.oversize", "wait.quota", "wait.reserved", "wait.headroom", "wait.person_cap",
           "wait.being_freed")  # fmt: skip


def _idle_beside_need(world: _World, plan: Plan, policy: Policy) -> Iterator[Violation]:
    """Free cards, and cards given to lower tiers, lie beside a task that could use them only for a stated reason."""
    starts: dict[int, list[Start]] = {0: [], 1: [], 2: []}
    for start in plan.starts:
        tier = _urgent_tier(world, start.task)
        for above in range(tier):
            starts[above].append(start)
    free = _free_after(world, plan.starts)
    open_to: dict[int, list[Card]] = {}
    for tier, lower in starts.items():
        kept = {card for start in plan.starts if start not in lower for card in start.cards}
        given = dict.fromkeys(card for start in lower for card in start.cards)
        open_to[tier] = free + [world.cards[c] for c in given if c not in kept and c not in world.runs_on]
    room: dict[tuple[Demand, int, int | None], int] = {}
    for wait in plan.waits:
        task = world.tasks[wait.task]
        if wait.parked or _gated(wait) or task.demand.share or any(r.code.startswith(_STATED) for r in wait.reasons):
            continue
        key = (task.demand, TIER_RANK[task.tier], task.occupies_s)
        if key not in room:
            leased = [card for card in open_to[key[1]] if world.leased_for(task, card, plan.decided_at, policy)]
            room[key] = _nodes_with_room(world, task, leased)
        if room[key] >= task.demand.nodes:
            rule = "cards wait beside a task, or serve a lower tier, only for a stated reason"
            yield Violation(rule, wait.task, blocks=False)


def _urgent_tier(world: _World, task_id: str) -> int:
    """The best tier among a task and all that wait for it."""
    heirs, todo = {task_id}, [task_id]
    while todo:
        parent = todo.pop()
        for task in world.tasks.values():
            if task.id not in heirs and any(d.task == parent and d.outcome is None for d in task.after):
                heirs.add(task.id)
                todo.append(task.id)
    return min(TIER_RANK[world.tasks[heir].tier] for heir in heirs)


def _free_after(world: _World, starts: Iterable[Start]) -> list[Card]:
    given = {card for start in starts for card in start.cards}
    return [
        card
        for card in world.cards.values()
        if card.id not in given and card.id not in world.runs_on and card.id not in world.outside and world.usable(card)
    ]


def _nodes_with_room(world: _World, task: Task, free: list[Card]) -> int:
    by_node = Counter((card.node, card.type, card.vram_mib) for card in free if world.suits(task, card))
    each = task.demand.cards // task.demand.nodes
    per_group: Counter[tuple[str, int]] = Counter()
    for (_, kind, vram), count in by_node.items():
        per_group[kind, vram] += count >= each
    return max(per_group.values(), default=0)


def _truth(world: _World, plan: Plan) -> Iterator[Violation]:
    """Quantities in reasons are those of the snapshot after this plan's starts."""
    free = _free_after(world, plan.starts)
    started: Counter[str] = Counter()
    for start in plan.starts:
        started[world.tasks[start.task].team] += 0 if start.borrowed else start.parts_held
    counted: dict[Demand, int] = {}
    for wait in plan.waits:
        task = world.tasks[wait.task]
        if task.demand not in counted:
            counted[task.demand] = _usable_free(world, task, free)
        for reason in wait.reasons:
            held = world.snapshot.held_parts.get(task.team, 0) + started[task.team]
            if not _true(world, reason, held, counted[task.demand]):
                yield Violation(f"the reason {reason.code} is true", wait.task, blocks=False)


def _usable_free(world: _World, task: Task, free: list[Card]) -> int:
    """Free cards of kinds that could carry the whole demand when all are free."""
    each = task.demand.cards // task.demand.nodes
    whole = Counter((c.node, c.type, c.vram_mib) for c in world.cards.values() if world.suits(task, c))
    able = Counter((kind, vram) for (_, kind, vram), count in whole.items() if count >= each)
    return sum(world.suits(task, card) and able[card.type, card.vram_mib] >= task.demand.nodes for card in free)


def _true(world: _World, reason: Reason, held_parts: int, free: int) -> bool:
    if isinstance(reason, DataNotReady):
        dataset = world.datasets.get(reason.dataset)
        return dataset is None or dataset.readiness.value == reason.readiness != "ready"
    if isinstance(reason, QuotaFull):
        return held_parts == reason.held_parts and held_parts + reason.need_parts > reason.max_cards * 100
    if isinstance(reason, CardsBusy):
        return reason.free == free and reason.best_free <= reason.free
    return True
