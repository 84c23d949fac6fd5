"""Walls in time: cards that reservations, maintenance and headroom keep from some tasks, and who may pass them.

A node with walls shows each kind of task its own timeline; what is planned is taken from all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from paika.domain.reservation import Reservation
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task, Tier
from paika.planning.house import House, epoch_s, epoch_s_up
from paika.planning.timeline import NEVER, NodeTimeline, ShareUse

PassKey = tuple[bool, str, str]


@dataclass(frozen=True, slots=True)
class Wall:
    """Cards of one node kept from start to end in epoch seconds; `reservation` None means headroom for core tasks."""

    mask: int
    start: int
    end: int
    reservation: Reservation | None

    def shut_to(self, key: PassKey) -> bool:
        """Whether tasks with such a pass stay outside."""
        if self.reservation is None:
            return not key[0]
        return not self.reservation.open_to(key[1], key[2])


class Passes:
    """What of a task decides which walls it may pass: its tier, and its team or itself if cards are booked for them."""

    def __init__(self, snapshot: Snapshot, headroom: bool) -> None:
        self._headroom = headroom
        self._teams = {r.team for r in snapshot.reservations if not r.task}
        self._tasks = {r.task for r in snapshot.reservations if r.task}

    def of(self, task: Task) -> PassKey:
        """The task's pass."""
        return (
            self._headroom and task.tier is Tier.CORE,
            task.team if task.team in self._teams else "",
            task.id if task.id in self._tasks else "",
        )


class Line:
    """One node over time: what is physically free (`base`), and what is open to the bearer of a pass."""

    def __init__(self, base: NodeTimeline) -> None:
        self.base = base
        self.walls: list[Wall] = []
        self._views: dict[PassKey, NodeTimeline] = {}
        self._shut: dict[PassKey, list[Wall]] = {}

    def copy(self) -> Line:
        """The same node, to be planned apart."""
        twin = Line(self.base.copy())
        twin.walls = list(self.walls)
        return twin

    def add_wall(self, wall: Wall) -> None:
        """Before anybody asks what is open."""
        self.walls.append(wall)

    def of(self, key: PassKey) -> NodeTimeline:
        """The timeline as the bearer sees it."""
        if not self.walls:
            return self.base
        view = self._views.get(key)
        if view is None:
            shut = [wall for wall in self.walls if wall.shut_to(key)]
            if not shut:
                return self.base
            view = self._views[key] = self.base.copy()
            self._shut[key] = shut
            _build(view, shut)
        return view

    def take(self, mask: int, start: int, end: int) -> None:
        """Whole cards are used from start to end."""
        self.base.take(mask, start, end)
        for view in self._views.values():
            view.take(mask, start, end)

    def give_back(self, mask: int, start: int, end: int) -> None:
        """They are not used then after all; walls stay."""
        self.base.give_back(mask, start, end)
        for key, view in self._views.items():
            view.give_back(mask, start, end)
            _build(view, [wall for wall in self._shut[key] if wall.mask & mask and wall.start < end])

    def take_share(self, card: int, use: ShareUse) -> None:
        """Part of a card is used."""
        self.base.take_share(card, use)
        for view in self._views.values():
            view.take_share(card, use)

    def give_back_share(self, card: int, use: ShareUse) -> None:
        """It is not used after all."""
        self.base.give_back_share(card, use)
        for view in self._views.values():
            view.give_back_share(card, use)


def _build(view: NodeTimeline, walls: list[Wall]) -> None:
    for wall in walls:
        view.take(wall.mask, wall.start, wall.end)


def reserved_walls(snapshot: Snapshot, house: House, at: datetime, now: int) -> list[tuple[int, Wall]]:
    """Walls of the reservations that keep cards now or later, as (node position, wall)."""
    found: list[tuple[int, Wall]] = []
    for reservation in sorted(snapshot.reservations, key=lambda r: (r.starts_at, r.id)):
        if not reservation.keeps(at):
            continue
        masks: dict[int, int] = {}
        for card in reservation.cards:
            if card in house.at:
                node, bit = house.at[card]
                masks[node] = masks.get(node, 0) | 1 << bit
        start, end = max(now, epoch_s(reservation.starts_at)), min(NEVER, epoch_s_up(reservation.ends_at))
        if end > now:
            found += [(node, Wall(mask, start, end, reservation)) for node, mask in sorted(masks.items())]
    return found
