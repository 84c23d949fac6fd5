"""Random small worlds for the planner's laws. Small ranges on purpose: ties and shortages must be common."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from paika.domain.card import Card, CardType, ExternalUse, Health, Vendor
from paika.domain.dataset import Dataset, Readiness
from paika.domain.guarantee import Guarantee
from paika.domain.node import Node, NodeState
from paika.domain.person import Person
from paika.domain.policy import Headroom, Policy, PreemptFor
from paika.domain.quota import Quota
from paika.domain.reservation import Purpose, Reservation
from paika.domain.run import Run, RunPart, RunState
from paika.domain.snapshot import Snapshot
from paika.domain.task import Demand, Dependency, Estimate, Program, Share, Task, TaskState, Tier, When
from paika.domain.team import Team
from paika.domain.units import share_parts

T0 = datetime(2026, 1, 5, 9, tzinfo=UTC)
SMALL = CardType("S24", "S", Vendor.VIRTUAL, 24_576, 900, 300)
LARGE = CardType("L80", "L", Vendor.VIRTUAL, 81_920, 2000, 1000, capabilities=("bf16",))
TYPES = (SMALL, LARGE)
PROGRAM = Program(argv=("true",))
POLICY = Policy(vram_safety_mib=1024, oversize_after_s=600)
STILL = replace(POLICY, age_points_per_hour=0, slack_points_max=0, fair_points_max=0)  # ranks do not move with time


@st.composite
def nodes_and_cards(draw: st.DrawFn, calm: bool) -> tuple[tuple[Node, ...], tuple[Card, ...]]:
    nodes: list[Node] = []
    cards: list[Card] = []
    for n in range(draw(st.integers(1, 3))):
        node = Node(
            f"n{n}",
            "lab",
            draw(st.sampled_from(["local"] * 6 + [None])),
            state=draw(st.sampled_from([NodeState.UP] * 7 + [NodeState.DRAINED])),
            lease_ends_at=draw(st.sampled_from([None, None, T0 + timedelta(hours=2)])),
        )
        if calm:
            node = replace(node, engine="local", state=NodeState.UP)
        nodes.append(node)
        for i in range(draw(st.integers(2 if calm else 1, 4))):
            kind = draw(st.sampled_from(TYPES))
            health = draw(st.sampled_from([Health.OK] * 6 + [Health.LOST, Health.UNKNOWN]))
            cards.append(Card(f"n{n}-{i}", f"n{n}", i, kind.id, kind.vram_mib, Health.OK if calm else health))
    return tuple(nodes), tuple(cards)


demands = st.one_of(
    st.builds(
        Demand,
        cards=st.sampled_from([1, 1, 1, 1, 2, 2, 3, 4]),
        vram_mib=st.sampled_from([0, 0, 0, 20_000, 40_000, 90_000]),
        types=st.sampled_from([(), (), ("S24",), ("L80",), ("S24", "L80")]),
    ),
    st.builds(lambda n, each: Demand(cards=n * each, nodes=n), st.integers(2, 3), st.integers(1, 2)),
    st.builds(
        lambda vram, band: Demand(share=Share(vram, band)),
        st.sampled_from([8_000, 12_000, 12_000, 30_000, 100_000]),
        st.sampled_from([10, 40, 45, 60]),
    ),
)
lengths = st.sampled_from([(None, None), (None, 3600), (1800, None), (1800, 900), (7200, 3600), (86_400, None)])


@st.composite
def tasks(draw: st.DrawFn, number: int, calm: bool) -> Task:
    """A task; in a calm world no gate is shut, so that cards and quotas decide."""
    limit, high = draw(lengths)
    after: tuple[Dependency, ...] = ()
    if number and not calm and draw(st.integers(0, 4)) == 0:
        outcome = draw(st.sampled_from([None, TaskState.DONE]))
        after = (Dependency(f"t{draw(st.integers(0, number - 1))}", When.SUCCESS, outcome),)
    task = Task(
        id=f"t{number}",
        name=f"t{number}",
        owner=draw(st.sampled_from(["ann"] * 6 + ["bob"] * 6 + ["gone"])),
        team=draw(st.sampled_from(["red"] * 9 + ["blue"] * 5 + ["off"])),
        submitted_at=T0 - timedelta(minutes=draw(st.sampled_from([0, 5, 5, 600]))),
        program=PROGRAM,
        demand=draw(demands),
        tier=draw(st.sampled_from(list(Tier))),
        priority=draw(st.sampled_from([50, 50, 10, 90])),
        estimate=None if high is None else Estimate(high // 2, high // 2, high),
        limit_s=limit,
        inputs=draw(st.sampled_from([()] * 9 + [("ready",), ("ready",), ("late",), ("ready", "late"), ("nowhere",)])),
        after=after,
        not_before=draw(st.sampled_from([None] * 9 + [T0 + timedelta(minutes=30), T0 - timedelta(minutes=1)])),
        state=draw(st.sampled_from([TaskState.WAITING] * 12 + [TaskState.HELD, TaskState.PARKED])),
        milestone_at=draw(st.sampled_from([None, None, T0 + timedelta(days=2)])),
        preemptible=draw(st.booleans()),
        checkpoint=draw(st.booleans()),
        boost=draw(st.sampled_from([0, 0, 0, 25, -25])),
    )
    if not calm:
        return task
    team = "red" if task.team == "off" else task.team
    return replace(task, owner="ann", team=team, inputs=(), not_before=None, state=TaskState.WAITING)


@st.composite
def snapshots(draw: st.DrawFn, most_tasks: int = 9) -> Snapshot:
    calm = draw(st.booleans())
    nodes, cards = draw(nodes_and_cards(calm))
    runs: list[Run] = []
    outside: list[ExternalUse] = []
    held = {"red": 0, "blue": 0, "off": 0}
    for card in cards:
        seat = draw(st.sampled_from(["free"] * 5 + ["whole", "whole", "share", "share", "share", "outside"]))
        if seat == "outside":
            outside.append(ExternalUse(card.id, T0, 1000, ("root",), (7,)))
        elif seat != "free":
            share = Share(8_000, draw(st.sampled_from([20, 60]))) if seat == "share" else None
            limit, high = draw(lengths)
            parts = share_parts(8_000, card.vram_mib, share.bandwidth_percent) if share else 100
            team = draw(st.sampled_from(["red", "blue"]))
            held[team] += parts
            started = T0 - timedelta(minutes=draw(st.sampled_from([1, 20, 45, 200])))
            runs.append(
                Run(
                    id=f"r-{card.id}",
                    task=f"old-{card.id}",
                    attempt=1,
                    token="x",
                    owner="bob",
                    team=team,
                    tier=draw(st.sampled_from([Tier.NORMAL, Tier.IDLE, Tier.IDLE, Tier.CORE])),
                    parts=(RunPart(card.node, (card.id,)),),
                    parts_held=parts,
                    intended_at=started,
                    engine="local",
                    share=share,
                    limit_s=limit,
                    high_s=high,
                    state=RunState.RUNNING,
                    started_at=started,
                    preemptible=draw(st.booleans()),
                    checkpoint=draw(st.booleans()),
                    preempted_at=draw(st.sampled_from([(), (), (), (T0 - timedelta(minutes=70),)])),
                    grace_s=draw(st.sampled_from([5, 60])),
                )
            )
    count = draw(st.integers(1, most_tasks))
    queued = tuple(draw(tasks(number, calm)) for number in range(count))
    quotas = (Quota("red", draw(st.sampled_from([None, 0, 1, 1, 2, 3]))), Quota("blue", None))
    datasets = (
        Dataset("ready", "ready", Readiness.READY, 100),
        Dataset("late", "late", Readiness.PREPARING, 40, eta=draw(st.sampled_from([None, T0 + timedelta(hours=1)]))),
    )
    people = (Person("ann", "Ann"), Person("bob", "Bob"), Person("gone", "Gone", active=False))
    teams = (Team("red", "Red"), Team("blue", "Blue"), Team("off", "Off", active=False))
    return Snapshot(
        7,
        T0,
        TYPES,
        nodes,
        cards,
        tuple(runs),
        queued,
        datasets,
        people,
        teams,
        quotas,
        held,
        tuple(outside),
        reservations=draw(reservations(tuple(card.id for card in cards))),
        guarantees=draw(guarantees),
        usage=draw(st.sampled_from([{}, {"red": 3600, "blue": 60}])),
    )


@st.composite
def reservations(draw: st.DrawFn, cards: tuple[str, ...]) -> tuple[Reservation, ...]:
    """Windows that do not overlap on a card: running, future and past ones."""
    found: list[Reservation] = []
    free = list(cards)
    for number in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        taken = [card for card in free if draw(st.booleans())]
        if not taken:
            continue
        free = [card for card in free if card not in taken]
        start, end = draw(st.sampled_from([(-60, 30), (20, 120), (60, 600), (-90, -10)]))
        purpose = draw(st.sampled_from([Purpose.BOOKING, Purpose.BOOKING, Purpose.MAINTENANCE]))
        found.append(
            Reservation(
                f"b{number}",
                purpose,
                "" if purpose is Purpose.MAINTENANCE else draw(st.sampled_from(["red", "blue"])),
                "ann",
                tuple(taken),
                len(taken),
                T0 + timedelta(minutes=start),
                T0 + timedelta(minutes=end),
                task=draw(st.sampled_from(["", "", "t0"])) if purpose is Purpose.BOOKING else "",
            )
        )
    return tuple(found)


guarantees = st.sampled_from(
    [
        (),
        (),
        (Guarantee("red", "red", 2, together=2),),
        (Guarantee("blue", "blue", 1), Guarantee("red/L80", "red", 4, ("L80",), together=4)),
    ]
)
headrooms = st.sampled_from(
    [(), (), (), (Headroom(1),), (Headroom(1, together=2),), (Headroom(1, card_types=("L80",), refill=False),)]
)
policies = st.builds(
    replace,
    st.just(POLICY),
    normal_depth=st.sampled_from([None, None, 0, 1]),
    idle_depth=st.sampled_from([0, 0, 2]),
    headroom=headrooms,
    preempt_for=st.sampled_from(list(PreemptFor)),
    preempt_without_checkpoint=st.booleans(),
    strict_cards_per_person=st.sampled_from([None, None, 1, 2]),
    strict_percent=st.sampled_from([1, 300]),
    idle_borrows=st.booleans(),
    horizon_s=st.sampled_from([72 * 3600, 3600]),
)
