"""What the timeline shows: promises with ranges, bookings, maintenance, leases; and a thousand cards."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from paika.domain.card import Card
from paika.domain.node import Node
from paika.domain.plan import Forecast, Plan, PriorityTerms, Wait
from paika.domain.reason import CardsBusy
from paika.domain.reservation import Purpose, Reservation
from paika.domain.run import Run, RunPart, RunState
from paika.domain.task import Program, Task, TaskState, Tier
from tests.browser.lab import T0, Lab
from tests.browser.scenes import HOUR, PEOPLE, TYPES, busy, founded

WHY = (CardsBusy(1, 1, 0, 0, 4, ()),)


def card(lab: Lab, node: str, index: int) -> Card:
    """A card by its place."""
    return next(one for one in lab.store.read().cards.values() if (one.node, one.index) == (node, index))


def promise(
    lab: Lab, task: str, node: str, indexes: tuple[int, ...], at: datetime, start_from: datetime | None = None
) -> Wait:
    """A wait that the plan starts by `at` on those cards."""
    parts = (RunPart(node, tuple(card(lab, node, index).id for index in indexes)),)
    told = Forecast(at, parts, True, start_from, None if start_from is None else 870)
    return Wait(task, 1, PriorityTerms(50, 0, 0), WHY, told)


def tell(lab: Lab, *waits: Wait) -> None:
    """Put a plan of just these waits in force."""
    made = Plan(lab.store.read().version, 1, lab.clock.at, (), waits)
    lab.live.set(plan=made, waits={wait.task: wait for wait in waits})


def charted(lab: Lab) -> Lab:
    """The busy lab with promises of all kinds, a booking, maintenance and leases within a day."""
    busy(lab)
    minute = timedelta(minutes=1)
    lab.put(
        Reservation(
            "b-1",
            Purpose.BOOKING,
            "speech",
            "sun-yue",
            tuple(card(lab, "ws-4090", n).id for n in (1, 2)),
            2,
            T0 + 150 * minute,
            T0 + 300 * minute,
            "周一语音课",
        ),
        Reservation(
            "b-2",
            Purpose.MAINTENANCE,
            "",
            "admin",
            (card(lab, "gpu-a2", 7).id,),
            1,
            T0 + HOUR,
            T0 + 2 * HOUR,
            "换电源",
        ),
    )
    lab.change(lab.store.read().nodes["gpu-a2"], lease_ends_at=T0 + 4.5 * HOUR)
    tell(
        lab,
        promise(lab, "t-42", "gpu-a1", (0, 1, 2, 3), T0 + 4.2 * HOUR, T0 + 3.8 * HOUR),
        promise(lab, "t-45", "gpu-a1", (4, 5), T0 + 2.2 * HOUR),
        promise(lab, "t-50", "ws-4090", (2,), T0 + HOUR, T0 + 0.5 * HOUR),
    )
    return lab


def thousand(lab: Lab, nodes: int = 125, per_card: int = 5) -> Lab:
    """Eight cards a node, on each card a run and a chain of promises."""
    founded(lab)
    puts: list[object] = []
    waits = []
    for n in range(nodes):
        node, kind = f"gpu-{n:03d}", TYPES[n % len(TYPES)]
        puts.append(Node(node, ("训练池", "推理池", "工作站")[n % 3], "local"))
        for index in range(8):
            one = Card(f"GPU-{n:03d}-{index}", node, index, kind.id, kind.vram_mib)
            puts.append(one)
            at = T0
            for k in range(per_card):
                task, run, at = _one(n * 8 + index, k, one, at)
                puts += [task, run] if run else [task]
                if run is None:
                    parts = (RunPart(node, (one.id,)),)
                    told = Forecast(at - timedelta(seconds=task.limit_s or 0), parts, True, None)
                    waits.append(Wait(task.id, 1, PriorityTerms(50, 0, 0), WHY, told))
    lab.put(*puts)  # type: ignore[arg-type]
    tell(lab, *waits)
    return lab


def _one(row: int, k: int, on: Card, at: datetime) -> tuple[Task, Run | None, datetime]:
    """The k-th task on that card: the first one runs, the others follow each other."""
    person = PEOPLE[1 + (row * 7 + k) % (len(PEOPLE) - 1)]
    lasts = 1800 + 900 * ((row * 5 + k * 3) % 9)
    limit = None if k == 0 and row % 17 == 3 else lasts
    state = TaskState.RUNNING if k == 0 else TaskState.WAITING
    began = T0 - timedelta(minutes=(row * 13) % 25)
    task = Task(
        f"t-{row}-{k}",
        f"sweep-{row:04d}-{k}",
        person.id,
        person.teams[0] if person.teams else "llm",
        T0 - HOUR,
        Program(("true",)),
        tier=(Tier.NORMAL, Tier.NORMAL, Tier.CORE, Tier.IDLE)[(row + k) % 4],
        limit_s=limit,
        state=state,
    )
    if k:
        return task, None, at + timedelta(seconds=lasts)
    run = Run(
        f"r-{row}",
        task.id,
        1,
        "x",
        task.owner,
        task.team,
        task.tier,
        (RunPart(on.node, (on.id,)),),
        100,
        began,
        "local",
        limit_s=limit,
        state=RunState.RUNNING,
        started_at=began,
    )
    return replace(task, attempts=1), run, began + timedelta(seconds=lasts)
