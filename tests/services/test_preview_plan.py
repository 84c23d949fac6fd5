"""The cheapest change is really planned: each answer is what happens when it is made."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from paika.domain.card import Card
from paika.domain.catalogue import CATALOGUE
from paika.domain.dataset import Dataset, Readiness
from paika.domain.ledger import Balance
from paika.domain.node import Node
from paika.domain.person import Person
from paika.domain.quota import Quota
from paika.domain.records import Records
from paika.domain.run import Run, RunPart, RunState
from paika.domain.task import Demand, Program, Task, Tier
from paika.domain.team import Team
from paika.services.preview_plan import Unblock, cheapest_unblock

NOW = datetime(2026, 3, 2, 10, tzinfo=UTC)
A100 = next(t for t in CATALOGUE if t.id == "A100-80G")
SMALL = next(t for t in CATALOGUE if t.id == "RTX 4090")


def task(task_id: str = "t-1", **fields: object) -> Task:
    base = Task(task_id, task_id, "ann", "lab", NOW, Program(argv=("true",)), limit_s=3600)
    return replace(base, **fields)  # type: ignore[arg-type]


def run_on(*cards: str, limit_s: int | None = 7200) -> Run:
    return Run(
        id="r-1",
        task="t-0",
        attempt=1,
        token="x",
        owner="ann",
        team="lab",
        tier=Tier.NORMAL,
        parts=(RunPart("n1", cards),),
        parts_held=100 * len(cards),
        intended_at=NOW,
        engine="local",
        limit_s=limit_s,
        state=RunState.RUNNING,
        started_at=NOW,
    )


def house(*tasks: Task, runs: tuple[Run, ...] = (), **shelves: object) -> Records:
    """n1 has four A100s, n2 one RTX 4090."""
    cards = [Card(f"a{i}", "n1", i, A100.id, A100.vram_mib) for i in range(4)]
    cards.append(Card("s0", "n2", 0, SMALL.id, SMALL.vram_mib))
    records = Records(
        version=1,
        card_types={A100.id: A100, SMALL.id: SMALL},
        nodes={n: Node(n, "lab", "local") for n in ("n1", "n2")},
        cards={card.id: card for card in cards},
        people={"ann": Person("ann", "Ann")},
        teams={"lab": Team("lab", "Lab")},
        tasks={t.id: t for t in tasks},
        runs={run.id: run for run in runs},
        balances={"lab": Balance(held_parts=sum(run.parts_held for run in runs))},
    )
    return replace(records, **shelves)  # type: ignore[arg-type]


def ways(records: Records, task_id: str = "t-1") -> dict[str, Unblock]:
    return {way.change: way for way in cheapest_unblock(records, {}, task_id, NOW)}


def test_fewer_cards_start_it_now() -> None:
    records = house(task(demand=Demand(cards=4)), runs=(run_on("a0"),))
    assert ways(records)["fewer_cards"] == Unblock("fewer_cards", 3, True, None)


def test_another_type_starts_it_now() -> None:
    asked = Demand(cards=1, types=(A100.id,), asked_types="A100")
    records = house(task(demand=asked), runs=(run_on("a0", "a1", "a2", "a3"),))
    assert ways(records)["any_type"].starts_now


def test_ready_data_starts_it_now_and_nothing_else_is_tried() -> None:
    late = Dataset("d-1", "corpus", Readiness.PREPARING, 40, NOW + timedelta(hours=3), "bob")
    found = ways(house(task(inputs=("d-1",)), datasets={"d-1": late}))
    assert found == {"ready_data": Unblock("ready_data", "d-1", True, None)}


def test_a_shorter_limit_fits_before_a_promise() -> None:
    wide = task("t-0", demand=Demand(cards=4), priority=90)
    records = house(
        wide, task("t-1", demand=Demand(types=(A100.id,)), limit_s=6 * 3600), runs=(run_on("a0", limit_s=3600),)
    )
    way = ways(records)["shorter_limit"]
    assert (way.value, way.starts_now) == (3600, True)


def test_quota_is_named_by_the_cards_it_would_have_to_be() -> None:
    records = house(task(demand=Demand(cards=2)), runs=(run_on("a0"),), quotas={"lab": Quota("lab", 2)})
    assert ways(records)["more_quota"] == Unblock("more_quota", 3, True, None)


def test_less_vram_unparks_it() -> None:
    assert ways(house(task(demand=Demand(vram_mib=90_000))))["less_vram"] == Unblock("less_vram", 81_920, True, None)


def test_who_starts_anyway_or_is_not_queued_needs_nothing() -> None:
    assert ways(house(task())) == {}
    assert ways(house(task()), "t-9") == {}


def test_lower_ranks_do_not_matter() -> None:
    """The same answer with and without a crowd behind the task."""
    crowd = [task(f"t-{n}", priority=1, submitted_at=NOW + timedelta(seconds=n)) for n in range(2, 8)]
    wanted = task(demand=Demand(cards=4))
    alone, among = house(wanted, runs=(run_on("a0"),)), house(wanted, *crowd, runs=(run_on("a0"),))
    assert ways(alone) == ways(among)
