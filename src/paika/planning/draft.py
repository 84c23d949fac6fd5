"""The one mutable thing in planning: timelines of all nodes and teams while a plan is being made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from paika.domain.policy import Policy
from paika.domain.reason import Holder
from paika.domain.run import Run, RunPart
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task
from paika.domain.units import EPOCH, PARTS_PER_CARD
from paika.planning.entitle import TeamUse
from paika.planning.house import House, epoch_s_up, house_of, lease_end, run_end
from paika.planning.timeline import NEVER, NodeTimeline, ShareUse


@dataclass(frozen=True, slots=True)
class Span:
    """Cards of one node that a task is planned on, from start to end in epoch seconds."""

    task: str
    node: int
    mask: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Occupant:
    """Who holds a card now and until when (NEVER: unknown). `run` and `task` are None for outsiders."""

    run: str | None
    task: str | None
    owner: str
    until: int
    by_limit: bool


class Draft:
    """Free time of every card, and who is on it now. Only ever gets fuller: earliest starts only move later."""

    def __init__(self, snapshot: Snapshot, policy: Policy, now: datetime) -> None:
        self.policy = policy
        self.at = now
        self.now = epoch_s_up(now)
        self.house: House = house_of(snapshot)
        self.lines = [
            NodeTimeline(self.now, [c.vram_mib for c in n.cards], [lease_end(n.node, c) for c in n.cards])
            for n in self.house.nodes
        ]
        self.occupants: dict[str, list[Occupant]] = {}
        self.spans: list[Span] = []
        self.team_later: dict[str, list[tuple[int, str]]] = {}
        ceilings = {quota.team: quota.max_cards for quota in snapshot.quotas}
        self.ceilings = ceilings
        self.teams = {
            team.id: TeamUse(self.now, snapshot.held_parts.get(team.id, 0), _parts(ceilings.get(team.id)))
            for team in snapshot.teams
        }
        self.team_runs: dict[str, list[tuple[Run, Occupant]]] = {}
        for run in snapshot.runs:
            self._seat(run)
        for use in snapshot.external:
            self._bar(use.card, ", ".join(use.users))

    def _seat(self, run: Run) -> None:
        until, by_limit = run_end(run, self.now)
        who = Occupant(run.id, run.task, run.owner, until, by_limit)
        self.team_runs.setdefault(run.team, []).append((run, who))
        if run.team in self.teams:
            self.teams[run.team].add(-run.parts_held, until, NEVER)
        for card in run.cards:
            if card not in self.house.at:
                continue
            node, bit = self.house.at[card]
            self.occupants.setdefault(card, []).append(who)
            if run.share is None:
                self.lines[node].take(1 << bit, self.now, until)
            else:
                use = ShareUse(self.now, until, run.share.vram_mib, run.share.bandwidth_percent)
                self.lines[node].take_share(bit, use)

    def _bar(self, card: str, users: str) -> None:
        if card in self.house.at:
            node, bit = self.house.at[card]
            self.occupants.setdefault(card, []).append(Occupant(None, None, users, NEVER, False))
            self.lines[node].take(1 << bit, self.now, NEVER)

    def place(self, task: Task, masks: tuple[tuple[int, int], ...], start: int, end: int, parts: int) -> None:
        """Give the task its cards from start to end; each mask is (node position, cards)."""
        for node, mask in masks:
            if task.demand.share is None:
                self.lines[node].take(mask, start, end)
            else:
                share = task.demand.share
                use = ShareUse(start, end, share.vram_mib, share.bandwidth_percent)
                self.lines[node].take_share(mask.bit_length() - 1, use)
            self.spans.append(Span(task.id, node, mask, start, end))
            if start <= self.now:
                self._occupy(task, node, mask, end)
        if parts and task.team in self.teams:
            self.teams[task.team].add(parts, start, end)
            if start > self.now:
                self.team_later.setdefault(task.team, []).append((start, task.id))

    def keep(self, task: Task, node: int, mask: int) -> None:
        """Free cards are kept for a task whose start nobody can tell; lower ranks leave them alone."""
        self.lines[node].take(mask, self.now, NEVER)
        self.spans.append(Span(task.id, node, mask, NEVER, NEVER))

    def _occupy(self, task: Task, node: int, mask: int, end: int) -> None:
        who = Occupant(None, task.id, task.owner, end, task.limit_s is not None)
        for bit, card in enumerate(self.house.nodes[node].cards):
            if mask >> bit & 1:
                self.occupants.setdefault(card.id, []).append(who)

    def date(self, at: int) -> datetime | None:
        """Epoch seconds as an instant; None for NEVER."""
        return None if at >= NEVER else EPOCH + timedelta(seconds=at)

    def parts_on(self, masks: tuple[tuple[int, int], ...]) -> tuple[RunPart, ...]:
        """Masks as run parts with card ids, nodes in order."""
        return tuple(
            RunPart(
                self.house.nodes[node].node.id,
                tuple(card.id for bit, card in enumerate(self.house.nodes[node].cards) if mask >> bit & 1),
            )
            for node, mask in sorted(masks)
        )


def _parts(max_cards: int | None) -> int | None:
    return None if max_cards is None else max_cards * PARTS_PER_CARD


def holder_of(who: Occupant, cards: int, when: datetime | None) -> Holder:
    """An occupant as a reason tells it."""
    return Holder(run=who.run, task=who.task, owner=who.owner, cards=cards, until=when, until_is_limit=who.by_limit)
