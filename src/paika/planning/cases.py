"""What the steps of a plan share: every task on its way through it, judged before anybody is placed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from paika.domain.plan import PriorityTerms
from paika.domain.policy import Policy
from paika.domain.promise import Promise, Slip
from paika.domain.reason import Reason
from paika.domain.run import Run
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task, Tier
from paika.planning import gates
from paika.planning.draft import Draft
from paika.planning.feasible import Fit, Verdict, over_quota, verdict
from paika.planning.floors import Entitled
from paika.planning.house import GroupKey, House, epoch_s_up
from paika.planning.place import Search, Spot, Want
from paika.planning.preempt import Reclaim, Victims

# By tier and points, then by the cards that fit best: the tasks.
Peers = dict[tuple[int, int], dict[GroupKey, list[str]]]


@dataclass(slots=True)
class Case:
    """One task on its way through the plan."""

    task: Task
    gates: tuple[Reason, ...]
    verdict: Verdict
    parked: tuple[Reason, ...]
    rank: int = 0
    tier: int = 0  # its own, or that of its most urgent heir: 0 is core
    terms: PriorityTerms = PriorityTerms(0, 0, 0)
    want: Want | None = None
    entitled: Entitled | None = None
    freed_by: tuple[Run, ...] = ()  # runs that are stopping for it
    reclaim: Reclaim | None = None
    spot: Spot | None = None
    kept: bool = False  # it was promised its spot before, or a later one
    holds: bool = True
    rough_at: int | None = None
    slip: Slip | None = None  # why, should it be told a later start than was promised
    borrowed: bool = False
    before: int = 0  # a spot may be held up to here
    at_latest: int | None = None  # so late a better order may make it, now and later on
    tried: int = -1  # how much had been given back when it was last tried to move it up
    kept_until: int = 0  # bigger cards only from here on
    kept_for: tuple[str, ...] = ()
    limited_ahead: str = ""  # which ceiling (team, person) has room now but not for its whole time

    def again(self, rank: int) -> Case:
        """The same task at another place of the order, not yet placed."""
        return Case(
            self.task,
            self.gates,
            self.verdict,
            self.parked,
            rank=rank,
            tier=self.tier,
            terms=self.terms,
            entitled=self.entitled,
            freed_by=self.freed_by,
        )

    @property
    def open(self) -> bool:
        """It passed its gates and can fit."""
        return not self.gates and not self.parked


@dataclass(slots=True)
class Book:
    """What the steps share. `cases` are in rank order.

    While tasks are placed, `search` looks beside all who were promised a start, and `firm` only beside those that
    were gone through already: whom nobody ahead of may be delayed by. In the end both are full of the same; without
    promises they are one.
    """

    snapshot: Snapshot
    policy: Policy
    draft: Draft
    search: Search
    firm: Search
    victims: Victims
    cases: list[Case]
    promised: Mapping[str, Promise]
    wanted: Peers = field(default_factory=dict)
    held_ahead: dict[Tier, int] = field(default_factory=dict)
    kept: dict[str, Spot] = field(default_factory=dict)  # promised spots of tasks that are not gone through yet
    kept_on: dict[int, list[Case]] = field(default_factory=dict)  # by node, in rank order
    lifted: bool = False  # since those ahead were last offered what lifting frees
    offered: int = 0  # how much had been given back then

    @property
    def now(self) -> int:
        """Epoch seconds of the plan."""
        return self.draft.now

    @property
    def searches(self) -> tuple[Search, ...]:
        """Both, or the one."""
        return (self.search,) if self.search is self.firm else (self.search, self.firm)

    @property
    def horizon(self) -> int:
        """Where exact planning ends."""
        return self.draft.now + self.policy.horizon_s


def judged(snapshot: Snapshot, house: House, policy: Policy, now: datetime) -> dict[str, Case]:
    """Gates and what can ever fit, for every task, by id; equal demands are judged once."""
    look = gates.Lookup(
        {d.id: d for d in snapshot.datasets}, {p.id: p for p in snapshot.people}, {t.id: t for t in snapshot.teams}
    )
    speeds = {(s.task_kind, s.card_type): s.speed_milli for s in snapshot.speeds}
    ceilings = {quota.team: quota.max_cards for quota in snapshot.quotas}
    known: dict[tuple[object, ...], Verdict] = {}
    found: dict[str, Case] = {}
    for task in snapshot.tasks:
        shape = (task.demand, task.kind)
        if shape not in known:
            known[shape] = verdict(task.demand, task.kind, house, speeds, policy)
        parked = known[shape].parked
        if not parked and not may_borrow(task, policy):
            parked = over_quota(least_parts(known[shape].fits), task.team, ceilings.get(task.team))
        found[task.id] = Case(task, gates.shut(task, look, now), known[shape], parked)
    return found


def may_borrow(task: Task, policy: Policy) -> bool:
    """Preemptible idle tasks may use idle cards beyond their team's ceiling."""
    return policy.idle_borrows and task.preemptible and task.tier is Tier.IDLE


def least_parts(fits: tuple[Fit, ...]) -> int:
    """Card parts on the fit that is charged least."""
    return min(fit.parts for fit in fits)


def freed_runs(snapshot: Snapshot) -> dict[str, tuple[Run, ...]]:
    """Runs that are stopping for a task, by the task."""
    found: dict[str, tuple[Run, ...]] = {}
    for run in sorted(snapshot.runs, key=lambda r: r.id):
        if run.stop_for:
            found[run.stop_for] = (*found.get(run.stop_for, ()), run)
    return found


def promised_start(promise: Promise) -> int:
    """Epoch seconds of a promise."""
    return epoch_s_up(promise.start_by)
