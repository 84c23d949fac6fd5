"""Synthetic clusters for the benches: one seed, one cluster. Labelled synthetic wherever it is printed."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from paika.domain.card import Card
from paika.domain.catalogue import CATALOGUE
from paika.domain.node import Node
from paika.domain.person import Person
from paika.domain.plan import Plan, Start
from paika.domain.quota import Quota
from paika.domain.run import Run, RunPart, RunState
from paika.domain.snapshot import Snapshot
from paika.domain.task import Demand, Estimate, Program, Share, Task, Tier
from paika.domain.team import Team

T0 = datetime(2026, 1, 5, 9, tzinfo=UTC)
TYPES = ("RTX 4090", "A100-40G", "A100-80G", "H20", "H800", "910B3")
CARDS_PER_NODE = 8
PROGRAM = Program(argv=("python", "train.py"))
HOURS = (0.5, 1, 2, 4, 8, 12, 24, 48)
TEAMS = 10


def cluster(waiting: int, cards: int, seed: int = 7, busy: float = 0.93) -> Snapshot:
    """A snapshot with `waiting` tasks over `cards` cards, `busy` of them running: gangs, shares, quotas, six types."""
    dice = random.Random(seed)
    types = tuple(next(t for t in CATALOGUE if t.id == name) for name in TYPES)
    nodes = [Node(f"n{i:04d}", "lab", "local") for i in range(cards // CARDS_PER_NODE)]
    deck: list[Card] = []
    runs: list[Run] = []
    held: dict[str, int] = {}
    for i, node in enumerate(nodes):
        kind = types[i % len(types)]
        deck += [Card(f"{node.id}-{c}", node.id, c, kind.id, kind.vram_mib) for c in range(CARDS_PER_NODE)]
        at = 0
        while at < CARDS_PER_NODE:
            size = min(dice.choice((1, 1, 1, 2, 4, 8)), CARDS_PER_NODE - at)
            if dice.random() < busy:
                run = _run(dice, f"r-{len(runs)}", node.id, tuple(f"{node.id}-{c}" for c in range(at, at + size)))
                runs.append(run)
                held[run.team] = held.get(run.team, 0) + run.parts_held
            at += size
    teams = tuple(Team(f"team{i}", f"team{i}") for i in range(TEAMS))
    ceiling = max(8, cards // TEAMS * 2)
    return Snapshot(
        version=1,
        taken_at=T0,
        card_types=types,
        nodes=tuple(nodes),
        cards=tuple(deck),
        runs=tuple(runs),
        tasks=tuple(_task(dice, f"t-{i}") for i in range(waiting)),
        people=tuple(Person(f"p{i}", f"p{i}") for i in range(50)),
        teams=teams,
        quotas=tuple(Quota(team.id, ceiling) for team in teams),
        held_parts=held,
    )


def after(snapshot: Snapshot, made: Plan) -> Snapshot:
    """A second later: who was to start runs, one run has ended early, the others hold what they were promised."""
    now, waiting = snapshot.taken_at + timedelta(seconds=1), {task.id: task for task in snapshot.tasks}
    ended, *runs = snapshot.runs
    held = dict(snapshot.held_parts) | {ended.team: snapshot.held_parts[ended.team] - ended.parts_held}
    for start in made.starts:
        task = waiting.pop(start.task)
        held[task.team] = held.get(task.team, 0) + (0 if start.borrowed else start.parts_held)
        run = _started(task, start, now)
        runs.append(run)
    promises = made.promises({task.id: task.version for task in waiting.values()})
    return replace(
        snapshot,
        version=snapshot.version + 1,
        taken_at=now,
        runs=tuple(runs),
        tasks=tuple(waiting.values()),
        held_parts=held,
        promises=promises,
    )


def _started(task: Task, start: Start, now: datetime) -> Run:
    return Run(
        id=f"r-{task.id}",
        task=task.id,
        attempt=1,
        token="",
        owner=task.owner,
        team=task.team,
        tier=task.tier,
        parts=start.parts,
        parts_held=start.parts_held,
        intended_at=now,
        engine="local",
        share=task.demand.share,
        limit_s=task.limit_s,
        high_s=task.estimate.high_s if task.estimate else None,
        state=RunState.RUNNING,
        started_at=now,
        borrowed=start.borrowed,
    )


def _run(dice: random.Random, run_id: str, node: str, cards: tuple[str, ...]) -> Run:
    hours = dice.choice(HOURS)
    return Run(
        id=run_id,
        task=f"old-{run_id}",
        attempt=1,
        token="",
        owner=f"p{dice.randrange(50)}",
        team=f"team{dice.randrange(TEAMS)}",
        tier=Tier.NORMAL,
        parts=(RunPart(node, cards),),
        parts_held=100 * len(cards),
        intended_at=T0,
        engine="local",
        limit_s=int(hours * 3600) if dice.random() < 0.8 else None,
        high_s=int(hours * 3600),
        state=RunState.RUNNING,
        started_at=T0 - timedelta(seconds=int(hours * 3600 * dice.random())),
    )


def _task(dice: random.Random, task_id: str) -> Task:
    high = int(dice.choice(HOURS) * 3600)
    share = Share(dice.choice((6000, 10_000)), dice.choice((20, 30, 40))) if dice.random() < 0.08 else None
    gang = share is None and dice.random() < 0.04
    cards = 1 if share else dice.choice((16, 32)) if gang else dice.choice((1, 1, 1, 1, 2, 4, 8))
    return Task(
        id=task_id,
        name=task_id,
        owner=f"p{dice.randrange(50)}",
        team=f"team{dice.randrange(TEAMS)}",
        submitted_at=T0 - timedelta(seconds=dice.randrange(7 * 86_400)),
        program=PROGRAM,
        demand=Demand(
            cards=cards,
            nodes=cards // CARDS_PER_NODE if gang else 1,
            vram_mib=0 if share else dice.choice((0, 20_000, 40_000, 60_000)),
            share=share,
        ),
        tier=dice.choice((Tier.CORE, Tier.NORMAL, Tier.NORMAL, Tier.NORMAL, Tier.IDLE)),
        priority=dice.choice((30, 50, 50, 50, 70)),
        estimate=Estimate(high // 2, high // 2, high),
        limit_s=high if dice.random() < 0.8 else None,
    )
