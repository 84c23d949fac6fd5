"""Stopping work so that a task can start: only preemptible runs, only as many as needed, least work lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from paika.domain.plan import Stop
from paika.domain.policy import Policy
from paika.domain.run import EndCause, Run
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task, Tier
from paika.domain.units import SECONDS_PER_HOUR, card_seconds, whole_seconds
from paika.planning.draft import Draft, Limit
from paika.planning.feasible import Fit
from paika.planning.house import Place
from paika.planning.place import Search, Spot, Want
from paika.planning.timeline import bits, lowest

DAY_S = 24 * SECONDS_PER_HOUR
Cost = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Reclaim:
    """A start that stopping these runs makes possible, once the longest grace is over."""

    spot: Spot
    victims: tuple[Run, ...]
    lost_card_s: int


class Victims:
    """The runs that may be stopped, and those that were chosen."""

    def __init__(self, snapshot: Snapshot, draft: Draft, policy: Policy) -> None:
        self.draft = draft
        self.policy = policy
        self.chosen: dict[str, tuple[Run, str]] = {}
        self._runs = snapshot.runs

    @cached_property
    def _on(self) -> dict[str, list[Run]]:
        """Runs by card."""
        found: dict[str, list[Run]] = {}
        for run in self._runs:
            for card in run.cards:
                found.setdefault(card, []).append(run)
        return found

    def may_stop(self, run: Run, idle_only: bool) -> bool:
        """Never core, only with consent, not too young, not again too soon or too often."""
        policy, now = self.policy, self.draft.at
        if run.tier is Tier.CORE or not run.preemptible or run.stop_at is not None or run.stop_cause is not None:
            return False
        if run.id in self.chosen or (idle_only and run.tier is not Tier.IDLE):
            return False
        if not run.checkpoint and not policy.preempt_without_checkpoint:
            return False
        if run.started_at is None or whole_seconds(run.started_at, now) < policy.preempt_after_s:
            return False
        before = run.preempted_at
        if any(whole_seconds(at, now) < policy.preempt_cooldown_s for at in before):
            return False
        return sum(at > now - timedelta(seconds=DAY_S) for at in before) < policy.preempt_per_day

    def reclaim(self, want: Want, fits: Iterable[Fit], idle_only: bool) -> Reclaim | None:
        """The way that costs least: idle runs before normal ones, then least work lost, then fewest runs."""
        best: tuple[Cost, Reclaim] | None = None
        for fit in fits:
            if want.demand.share is not None:
                continue  # a share is never worth a run
            found = self._in_group(want, fit, idle_only)
            if found is not None and (best is None or found[0] < best[0]):
                best = found
        return best[1] if best else None

    def _in_group(self, want: Want, fit: Fit, idle_only: bool) -> tuple[Cost, Reclaim] | None:
        seats = [seat for place in fit.group.places if (seat := self._on_node(want, place, idle_only)) is not None]
        seats.sort(key=lambda seat: (self._cost(seat[1]), seat[0]))
        seats = seats[: want.demand.nodes]
        if len(seats) < want.demand.nodes:
            return None
        victims = tuple({run.id: run for _, runs, _ in seats for run in runs}.values())
        grace = max((run.grace_s for run in victims), default=0)
        spot = Spot(self.draft.now + grace, tuple(sorted((node, mask) for node, _, mask in seats)), fit)
        stiff = tuple(limit for limit in want.limits if not self._eases(limit, victims))
        if self.draft.room_from(stiff, fit.parts, want.times.occupies_s, spot.start) > spot.start:
            return None
        if not victims:
            return None
        cost = self._cost(victims)
        return cost, Reclaim(spot, victims, cost[1])

    def _eases(self, limit: Limit, victims: Iterable[Run]) -> bool:
        """Victims under the same ceiling make room there; the ceiling is looked at again when the cards are free."""
        return any(limit == ("team", run.team) for run in victims)

    def _on_node(self, want: Want, place: Place, idle_only: bool) -> tuple[int, tuple[Run, ...], int] | None:
        """Free cards of one node and the cheapest runs that make enough of them; None if there is no way.

        Cards must be open to the task for its whole time, not only now. A card that several shares use is left alone.
        """
        draft, need = self.draft, want.demand.cards_per_node
        line = draft.lines[place.node].of(want.key)
        cards = draft.house.nodes[place.node].cards
        free = line.free_through(draft.now, want.times.fit_s, want.times.lease_s) & place.ready
        if free.bit_count() >= need:
            return place.node, (), lowest(free, need)
        stoppable: dict[str, tuple[Run, int]] = {}
        for bit in bits(place.ready & ~free):
            users = self._on.get(cards[bit].id, [])
            if len(users) == 1 and self.may_stop(users[0], idle_only):
                stoppable[users[0].id] = (users[0], stoppable.get(users[0].id, (users[0], 0))[1] | 1 << bit)
        usable = self._open_without(want, place, stoppable)
        order = sorted(stoppable.values(), key=lambda pair: (self._cost((pair[0],)), pair[0].id))
        chosen: list[tuple[Run, int]] = []
        for run, mask in order:
            if (_with(free, chosen) & usable).bit_count() >= need:
                break
            if mask & usable:
                chosen.append((run, mask))
        if (_with(free, chosen) & usable).bit_count() < need:
            return None
        for pair in sorted(chosen, key=lambda pair: (self._cost((pair[0],)), pair[0].id), reverse=True):
            rest = [other for other in chosen if other is not pair]
            if (_with(free, rest) & usable).bit_count() >= need:
                chosen = rest
        return place.node, tuple(run for run, _ in chosen), lowest(_with(free, chosen) & usable, need)

    def _open_without(self, want: Want, place: Place, stoppable: dict[str, tuple[Run, int]]) -> int:
        """Cards of the node that would be open to the task for its whole time if all of these were stopped now."""
        draft = self.draft
        line = draft.lines[place.node].of(want.key).copy()
        for run, mask in stoppable.values():
            until = draft.until(run)
            if run.share is None:
                line.give_back(mask, draft.now, until)
            else:
                for bit in bits(mask):
                    line.give_back_share(bit, draft.use_of(run))
        for wall in draft.lines[place.node].walls:
            if wall.shut_to(want.key):
                line.take(wall.mask, wall.start, wall.end)
        return line.free_through(draft.now, want.times.fit_s, want.times.lease_s) & place.ready

    def _cost(self, runs: Iterable[Run]) -> Cost:
        """(non-idle card-seconds, card-seconds lost, runs, cards): smaller is better."""
        lost = [(run, self.lost(run)) for run in runs]
        normal = sum(1 for run, _ in lost if run.tier is not Tier.IDLE)
        return (normal, sum(s for _, s in lost), len(lost), sum(len(run.cards) for run, _ in lost))

    def lost(self, run: Run) -> int:
        """Card-seconds since its start, which are lost unless it saves its work."""
        begun = run.started_at or run.intended_at
        return card_seconds(run.parts_held, whole_seconds(begun, self.draft.at))

    def choose(self, searches: Iterable[Search], task: Task, reclaim: Reclaim) -> None:
        """These runs are to be stopped for the task; the drafts of all these searches lose them."""
        for run in reclaim.victims:
            self.chosen[run.id] = (run, task.id)
            at = self.draft.now + run.grace_s
            for search in searches:
                search.draft.free_up(run, at)
                nodes = {self.draft.house.at[card][0] for card in run.cards if card in self.draft.house.at}
                search.freed(sorted(nodes), at, (("team", run.team), ("person", run.owner)))

    def stops(self) -> tuple[Stop, ...]:
        """What was chosen, by run id."""
        return tuple(
            Stop(run.id, run.version, EndCause.PREEMPTED, task, "", run.grace_s, self.lost(run))
            for run, task in sorted(self.chosen.values(), key=lambda pair: pair[0].id)
        )


def _with(free: int, chosen: Iterable[tuple[Run, int]]) -> int:
    """Cards that are free once these runs are gone."""
    for _, mask in chosen:
        free |= mask
    return free
