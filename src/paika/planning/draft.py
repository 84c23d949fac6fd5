"""The one mutable thing in planning: timelines of all nodes and ceilings while a plan is being made."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from paika.domain.policy import Policy
from paika.domain.reason import Holder
from paika.domain.run import Run, RunPart
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task, Tier
from paika.domain.units import EPOCH, PARTS_PER_CARD
from paika.planning.entitle import Ceiling, first_under_all
from paika.planning.house import House, epoch_s_up, run_end
from paika.planning.reserve import Line, Passes, Wall
from paika.planning.timeline import NEVER, NodeTimeline, ShareUse

Masks = tuple[tuple[int, int], ...]
Limit = tuple[str, str]  # (team or person, its id)


@dataclass(frozen=True, slots=True)
class Span:
    """Cards of one node that a task is planned on, from start to end in epoch seconds."""

    task: str
    node: int
    mask: int
    start: int
    end: int


class Occupant(NamedTuple):
    """Who holds a card now and until when (NEVER: unknown). `run` and `task` are None for outsiders."""

    run: str | None
    task: str | None
    owner: str
    until: int
    by_limit: bool


class Draft:
    """Free time of every card, and who is on it now.

    `seat` and `unseat` only move time about; `settle` tells who is on the cards once all is decided.
    """

    def __init__(self, snapshot: Snapshot, policy: Policy, now: datetime, house: House, cap: int | None = None) -> None:
        self.policy = policy
        self.at = now
        self.now = epoch_s_up(now)
        self.house = house
        self.lines = [Line(NodeTimeline(self.now, n.vram_mib, n.lease_ends)) for n in house.nodes]
        self.passes = Passes(snapshot, bool(policy.headroom))
        self.occupants: dict[str, list[Occupant]] = {}
        self.spans: dict[str, list[Span]] = {}
        self.team_later: dict[str, list[tuple[int, str]]] = {}
        self.ceilings = {quota.team: quota.max_cards for quota in snapshot.quotas}
        self.teams = {
            team.id: Ceiling(self.now, snapshot.held_parts.get(team.id, 0), _parts(self.ceilings.get(team.id)))
            for team in snapshot.teams
        }
        self.cap = cap
        self.persons = {person.id: Ceiling(self.now, 0, _parts(cap)) for person in snapshot.people} if cap else {}
        self.team_runs: dict[str, list[tuple[Run, Occupant]]] = {}
        self.runs = {run.id: run for run in snapshot.runs}
        self._board_all(snapshot.runs)
        for use in snapshot.external:
            self._bar(use.card, ", ".join(use.users))

    def add_walls(self, walls: list[tuple[int, Wall]]) -> None:
        """Reservations and headroom, before anything is searched."""
        for node, wall in walls:
            self.lines[node].add_wall(wall)

    def copy(self) -> Draft:
        """The same house with the same time taken, to be planned apart. Who is on the cards now is shared."""
        twin = copy(self)
        twin.lines = [line.copy() for line in self.lines]
        twin.teams = {key: ceiling.copy() for key, ceiling in self.teams.items()}
        twin.persons = {key: ceiling.copy() for key, ceiling in self.persons.items()}
        twin.spans = {key: list(spans) for key, spans in self.spans.items()}
        return twin

    def limits_of(self, task: Task) -> tuple[Limit, ...]:
        """The ceilings that a task counts against."""
        found: list[Limit] = [("team", task.team)]
        if task.tier is not Tier.CORE:
            found.append(("person", task.owner))
        return tuple(limit for limit in found if self._ceiling(limit) is not None)

    def _ceiling(self, limit: Limit) -> Ceiling | None:
        kind, key = limit
        ceiling = self.teams.get(key) if kind == "team" else self.persons.get(key)
        return None if ceiling is None or ceiling.ceiling is None else ceiling

    def room_from(self, limits: tuple[Limit, ...], parts: int, lasts_s: int, after: int) -> int:
        """First instant from `after` on at which all of these leave room for so long; NEVER if there is none."""
        if not limits:
            return after
        return first_under_all([self.ceiling(limit) for limit in limits], parts, lasts_s, after)

    def ceiling(self, limit: Limit) -> Ceiling:
        """A team's or a person's ceiling; KeyError if there is none."""
        kind, key = limit
        return (self.teams if kind == "team" else self.persons)[key]

    def _board_all(self, runs: Iterable[Run]) -> None:
        """Runs are on their cards; whole cards of a node are taken at once."""
        whole: dict[int, list[tuple[int, int]]] = {}
        shares: list[tuple[int, int, ShareUse]] = []
        at, occupants = self.house.at, self.occupants
        for run in runs:
            who, known = self._count(run), [card for part in run.parts for card in part.cards if card in at]
            for card in known:
                occupants.setdefault(card, []).append(who)
            if run.share is None:
                for node, bit in [at[card] for card in known]:
                    whole.setdefault(node, []).append((who.until, 1 << bit))
            else:
                shares += [(*at[card], self.use_of(run)) for card in known]
        for node, uses in whole.items():
            self.lines[node].base.take_until(uses)
        for node, bit, use in shares:
            self.lines[node].take_share(bit, use)

    def _count(self, run: Run) -> Occupant:
        """A run counts under its ceilings; who it is on its cards."""
        until, by_limit = run_end(run, self.now)
        who = Occupant(run.id, run.task, run.owner, until, by_limit)
        self.team_runs.setdefault(run.team, []).append((run, who))
        if run.team in self.ceilings and run.team in self.teams and not run.borrowed:
            self.teams[run.team].add(-run.parts_held, until, NEVER)
        if run.owner in self.persons and run.tier is not Tier.CORE:
            self.persons[run.owner].add(run.parts_held, self.now, until)
        return who

    def _bar(self, card: str, users: str) -> None:
        if card in self.house.at:
            node, bit = self.house.at[card]
            self.occupants.setdefault(card, []).append(Occupant(None, None, users, NEVER, False))
            self.lines[node].take(1 << bit, self.now, NEVER)

    # -- planned tasks ---------------------------------------------------------------------------

    def seat(self, task: Task, masks: Masks, start: int, end: int, parts: int, limits: tuple[Limit, ...]) -> None:
        """Give the task its cards from start to end, its parts counted under `limits`; masks are (node, cards)."""
        for node, mask in masks:
            if task.demand.share is None:
                self.lines[node].take(mask, start, end)
            else:
                self.lines[node].take_share(mask.bit_length() - 1, _use(task, start, end))
            self.spans.setdefault(task.id, []).append(Span(task.id, node, mask, start, end))
        self.charge(limits, parts, start, end)

    def unseat(self, task: Task, parts: int, limits: tuple[Limit, ...]) -> None:
        """Take the task off its cards again."""
        spans = self.spans.pop(task.id)
        for span in spans:
            if task.demand.share is None:
                self.lines[span.node].give_back(span.mask, span.start, span.end)
            else:
                use = _use(task, span.start, span.end)
                self.lines[span.node].give_back_share(span.mask.bit_length() - 1, use)
        self.charge(limits, -parts, spans[0].start, spans[0].end)

    def charge(self, limits: tuple[Limit, ...], parts: int, start: int, end: int) -> None:
        """Parts (negative for a release) count under these ceilings from start to end."""
        for limit in limits:
            self.ceiling(limit).add(parts, start, end)

    def keep(self, task: Task, node: int, mask: int) -> None:
        """Free cards are kept for a task whose start nobody can tell; lower ranks leave them alone."""
        self.lines[node].take(mask, self.now, NEVER)
        self.spans.setdefault(task.id, []).append(Span(task.id, node, mask, NEVER, NEVER))

    def let_go(self, task: Task) -> list[tuple[int, int]]:
        """What was kept for a task is free again, as (node, mask)."""
        kept = [(span.node, span.mask) for span in self.spans.pop(task.id, ())]
        for node, mask in kept:
            self.lines[node].give_back(mask, self.now, NEVER)
        return kept

    def free_up(self, run: Run, at: int) -> None:
        """The run will be stopped and its cards are free from `at` on."""
        until, _ = run_end(run, self.now)
        if at >= until:
            return
        for card in run.cards:
            if card not in self.house.at:
                continue
            node, bit = self.house.at[card]
            if run.share is None:
                self.lines[node].give_back(1 << bit, at, until)
            else:
                use = self.use_of(run)
                self.lines[node].give_back_share(bit, use)
                if at > self.now:
                    self.lines[node].take_share(bit, replace(use, end=at))
        if run.team in self.teams and not run.borrowed:
            self.teams[run.team].add(-run.parts_held, at, until)
        if run.owner in self.persons and run.tier is not Tier.CORE:
            self.persons[run.owner].add(-run.parts_held, at, until)

    def until(self, run: Run) -> int:
        """When the run ends as far as is known; NEVER otherwise."""
        return run_end(run, self.now)[0]

    def use_of(self, run: Run) -> ShareUse:
        """What a sharing run takes of its card."""
        assert run.share is not None
        return ShareUse(self.now, self.until(run), run.share.vram_mib, run.share.bandwidth_percent)

    def settle(self, task: Task, parts: int) -> None:
        """All is decided: who starts now is on its cards, and later starts of teams are known."""
        for span in self.spans.get(task.id, ()):
            if span.start <= self.now:
                self._occupy(task, span)
        spans = self.spans.get(task.id)
        if parts and spans and self.now < spans[0].start < NEVER:
            self.team_later.setdefault(task.team, []).append((spans[0].start, task.id))

    def _occupy(self, task: Task, span: Span) -> None:
        who = Occupant(None, task.id, task.owner, span.end, task.limit_s is not None)
        for bit, card in enumerate(self.house.nodes[span.node].cards):
            if span.mask >> bit & 1:
                self.occupants.setdefault(card.id, []).append(who)

    def date(self, at: int) -> datetime | None:
        """Epoch seconds as an instant; None for NEVER."""
        return None if at >= NEVER else EPOCH + timedelta(seconds=at)

    def parts_on(self, masks: Masks) -> tuple[RunPart, ...]:
        """Masks as run parts with card ids, nodes in order."""
        return tuple(
            RunPart(
                self.house.nodes[node].node.id,
                tuple(card.id for bit, card in enumerate(self.house.nodes[node].cards) if mask >> bit & 1),
            )
            for node, mask in sorted(masks)
        )


def _use(task: Task, start: int, end: int) -> ShareUse:
    share = task.demand.share
    assert share is not None
    return ShareUse(start, end, share.vram_mib, share.bandwidth_percent)


def _parts(max_cards: int | None) -> int | None:
    return None if max_cards is None else max_cards * PARTS_PER_CARD


def holder_of(who: Occupant, cards: int, when: datetime | None) -> Holder:
    """An occupant as a reason tells it."""
    return Holder(run=who.run, task=who.task, owner=who.owner, cards=cards, until=when, until_is_limit=who.by_limit)
