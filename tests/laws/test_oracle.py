"""Each start of a plan is the earliest there is, on the kind of card that wastes least: judged by brute force."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.examples import examples
from tests.laws.oracle import Board, instant
from tests.laws.worlds import POLICY, T0, snapshots

from paika.domain.card import Health
from paika.domain.plan import Plan
from paika.domain.policy import PreemptFor
from paika.domain.snapshot import Snapshot
from paika.domain.task import Task
from paika.planning.planner import plan

# Everybody holds a place, nobody is stopped, borrows, or waits for a smaller card.
PLAIN = replace(
    POLICY,
    idle_depth=1000,
    preempt_for=PreemptFor.NOBODY,
    hold_for_unknown_end=False,
    oversize_after_s=0,
    idle_borrows=False,
    horizon_s=10**9,
)
GATES = ("wait.held", "wait.parent", "wait.not_before", "wait.retry", "wait.data", "wait.team_", "wait.person_inactive")


Row = tuple[int, Task, int, tuple[str, ...]]


def rows_of(snapshot: Snapshot, made: Plan) -> list[Row]:
    """Everybody who passed the gates, in the order of the plan: rank, task, start (-1: none told), cards."""
    tasks = {task.id: task for task in snapshot.tasks}
    rows: list[Row] = [(s.rank, tasks[s.task], instant(T0), s.cards) for s in made.starts]
    for wait in made.waits:
        if wait.parked or any(reason.code.startswith(GATES) for reason in wait.reasons):
            continue
        told = wait.forecast
        cards = tuple(card for part in told.parts for card in part.cards) if told else ()
        rows.append((wait.rank, tasks[wait.task], instant(told.start_by) if told else -1, cards))
    return sorted(rows, key=lambda row: row[0])


def judge(snapshot: Snapshot, made: Plan) -> None:
    """Go through a plan made from nothing in its order, beside the oracle."""
    board = Board(snapshot, PLAIN, instant(T0))
    kinds = {card.id: (card.type, card.vram_mib) for card in snapshot.cards}
    for _, task, start, cards in rows_of(snapshot, made):
        found = board.earliest(task)
        if found is None:
            assert start == -1, f"{task.id} is told {start - instant(T0)} s, and cannot be"
            continue
        at, able = found
        assert start == at, f"{task.id} could start after {at - instant(T0)} s, and is told {start - instant(T0)} s"
        assert board.has(task, cards, start), f"{task.id} cannot have {cards}"
        wasted = board.waste(task, kinds[cards[0]])
        assert wasted == min(board.waste(task, kind) for kind in able), f"{task.id} wastes {kinds[cards[0]]} of {able}"
        board.put(task, cards, start)


@settings(max_examples=examples(300), deadline=None)
@given(snapshots())
def test_every_start_is_the_earliest_on_the_least_wasteful_cards(snapshot: Snapshot) -> None:
    judge(snapshot, plan(snapshot, PLAIN, T0))


@settings(max_examples=examples(60, 5), deadline=None)
@given(snapshots(most_tasks=30))
def test_so_it_is_in_long_queues(snapshot: Snapshot) -> None:
    judge(snapshot, plan(snapshot, PLAIN, T0))


@settings(max_examples=examples(200, 2), deadline=None)
@given(snapshots(), st.data())
def test_with_promises_all_stands_together_and_nobody_could_move_up(snapshot: Snapshot, data: st.DataObject) -> None:
    """After some runs ended early and a card was lost: every spot can be had, and none earlier beside the others."""
    first = plan(snapshot, PLAIN, T0)
    told = first.promises({task.id: task.version for task in snapshot.tasks})
    started = {start.task for start in first.starts}
    runs = tuple(run for run in snapshot.runs if data.draw(st.booleans()))
    held = {team.id: sum(run.parts_held for run in runs if run.team == team.id) for team in snapshot.teams}
    lost = data.draw(st.sampled_from([None, None, *sorted(card.id for card in snapshot.cards)]))
    now = replace(
        snapshot,
        promises=told,
        runs=runs,
        held_parts=held,
        tasks=tuple(task for task in snapshot.tasks if task.id not in started),
        cards=tuple(replace(card, health=Health.LOST) if card.id == lost else card for card in snapshot.cards),
    )
    rows = rows_of(now, plan(now, PLAIN, T0))
    board = Board(now, PLAIN, instant(T0))
    for _, task, start, cards in rows:
        if start >= 0:
            assert board.has(task, cards, start), f"{task.id} cannot have {cards}"
            board.put(task, cards, start)
    for _, task, start, _ in rows:
        rest = Board(now, PLAIN, instant(T0))
        for _, other, at, cards in rows:
            if other is not task and at >= 0:
                rest.put(other, cards, at)
        found = rest.earliest(task)
        assert found is None or 0 <= start <= found[0], f"{task.id} could start {found}, and is told {start}"
