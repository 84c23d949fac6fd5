"""Stories as data: a TOML file says what happens when, and what must be true then."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from paika.domain.card import Card, Health
from paika.domain.catalogue import CATALOGUE
from paika.domain.dataset import Dataset, Readiness
from paika.domain.guarantee import Guarantee
from paika.domain.node import Node
from paika.domain.person import Person
from paika.domain.policy import Headroom, Policy, PreemptFor
from paika.domain.quota import Quota
from paika.domain.reservation import Purpose, Reservation
from paika.domain.run import EndCause
from paika.domain.snapshot import Snapshot
from paika.domain.task import Demand, Dependency, Estimate, Program, Share, Task, TaskState, Tier, When
from paika.domain.team import Team
from paika.domain.type_names import one_type, resolve_types
from paika.domain.units import EPOCH
from paika.simulation.world import Fate, World

T0 = datetime(2026, 1, 5, 8, tzinfo=UTC)
FILES = sorted(Path(__file__).parent.glob("*.toml"))


def clock(text: str | None) -> datetime | None:
    """'01:30' after the story's start (hours:minutes)."""
    if text is None:
        return None
    hours, minutes = text.split(":")
    return T0 + timedelta(hours=int(hours), minutes=int(minutes))


def seconds(text: str | None) -> int | None:
    """'30m', '2h', '45s'."""
    if text is None:
        return None
    number, unit = re.fullmatch(r"(\d+)([smh])", text).groups()  # type: ignore[union-attr]
    return int(number) * {"s": 1, "m": 60, "h": 3600}[unit]


def world_of(story: dict[str, Any]) -> World:
    """The house that the story starts with."""
    nodes, cards = [], []
    for line in story["nodes"]:
        node = Node(line["id"], line.get("pool", "lab"), line.get("engine", "local") or None,
                    lease_ends_at=clock(line.get("lease")))  # fmt: skip
        nodes.append(node)
        for count, name in line["cards"]:
            type_id = one_type(name, CATALOGUE).id
            kind = next(t for t in CATALOGUE if t.id == type_id)
            for _ in range(count):
                index = sum(c.node == node.id for c in cards)
                health = Health(line.get("health", {}).get(str(index), "ok"))
                cards.append(
                    Card(f"{node.id}-{index}", node.id, index, kind.id, line.get("vram", kind.vram_mib), health)
                )
    teams = story.get("teams", [{"id": "lab"}])
    used = {card.type for card in cards}
    snapshot = Snapshot(
        version=1,
        taken_at=T0,
        card_types=tuple(t for t in CATALOGUE if t.id in used),
        nodes=tuple(nodes),
        cards=tuple(cards),
        people=(Person("ann", "安"), Person("bob", "博")),
        teams=tuple(Team(t["id"], t["id"]) for t in teams),
        quotas=tuple(Quota(t["id"], t.get("quota")) for t in teams),
        guarantees=tuple(guarantee_of(line) for line in story.get("guarantees", [])),
        reservations=tuple(reservation_of(line) for line in story.get("reservations", [])),
        usage={t["id"]: t.get("used", 0) for t in teams},
    )
    return World(snapshot, policy_of(story.get("policy", {})), T0)


def policy_of(lines: dict[str, Any]) -> Policy:
    """The policy with the story's numbers; `headroom` is a list of tables."""
    numbers = dict(lines)
    if "headroom" in numbers:
        numbers["headroom"] = tuple(Headroom(**line) for line in numbers["headroom"])
    if "preempt_for" in numbers:
        numbers["preempt_for"] = PreemptFor(numbers["preempt_for"])
    return replace(Policy(), **numbers)


def guarantee_of(line: dict[str, Any]) -> Guarantee:
    """A floor of the story."""
    return Guarantee(line["team"], line["team"], line["cards"], together=line.get("together", 1))


def reservation_of(line: dict[str, Any]) -> Reservation:
    """A window of the story."""
    starts, ends = clock(line["from"]), clock(line["until"])
    assert starts is not None
    assert ends is not None
    purpose = Purpose(line.get("purpose", "booking"))
    cards = tuple(line["cards"])
    return Reservation(
        line["id"], purpose, line.get("team", ""), "ann", cards, len(cards), starts, ends, task=line.get("task", "")
    )


TASK_WORDS = {
    "id", "owner", "team", "tier", "priority", "boost", "cards", "on_nodes", "vram", "types", "share", "pool", "after",
    "estimate", "limit", "inputs", "not_before", "preemptible", "checkpoint", "grace", "state", "runs", "ends", "times",
    "milestone",
}  # fmt: skip


def task_of(line: dict[str, Any], world: World) -> tuple[Task, Fate]:
    """A task of the story and its fate."""
    assert set(line) <= TASK_WORDS, f"a story cannot say {sorted(set(line) - TASK_WORDS)} of a task"
    share = Share(line["share"][0], line["share"][1]) if "share" in line else None
    types = resolve_types(line["types"], CATALOGUE) if "types" in line else ()
    after = []
    for name in line.get("after", []):
        parent, _, when = name.partition(":")
        known = world.tasks.get(parent)
        after.append(Dependency(parent, When(when or "success"), known.state if known and known.ended else None))
    estimate = seconds(line.get("estimate"))
    task = Task(
        id=line["id"],
        name=line["id"],
        owner=line.get("owner", "ann"),
        team=line.get("team", "lab"),
        submitted_at=world.now,
        program=Program(argv=("true",)),
        demand=Demand(
            cards=line.get("cards", 1),
            nodes=line.get("on_nodes", 1),
            vram_mib=line.get("vram", 0),
            types=types,
            asked_types=line.get("types", ""),
            share=share,
            pool=line.get("pool", ""),
        ),
        tier=Tier(line.get("tier", "normal")),
        priority=line.get("priority", 50),
        estimate=Estimate(estimate, estimate, estimate) if estimate else None,
        limit_s=seconds(line.get("limit")),
        inputs=tuple(line.get("inputs", ())),
        after=tuple(after),
        not_before=clock(line.get("not_before")),
        preemptible=line.get("preemptible", False),
        checkpoint=line.get("checkpoint", False),
        grace_s=line.get("grace", 30),
        boost=line.get("boost", 0),
        milestone_at=clock(line.get("milestone")),
        state=TaskState(line.get("state", "waiting")),
    )
    return task, Fate(seconds(line.get("runs")), EndCause(line.get("ends", "done")))


def dataset_of(line: dict[str, Any]) -> Dataset:
    """A dataset of the story."""
    return Dataset(line["id"], line["id"], Readiness(line["readiness"]), line.get("percent"), clock(line.get("eta")),
                   owner=line.get("owes", ""))  # fmt: skip


def play(path: Path) -> None:
    """Play a story; every plan on the way is checked, every expectation compared."""
    story = tomllib.loads(path.read_text(encoding="utf-8"))
    world = world_of(story)
    for step in story["step"]:
        at = clock(step["at"])
        assert at is not None
        world.advance_to(at)
        world.set_datasets(dataset_of(line) for line in step.get("data", []))
        for name in step.get("end", []):
            world.fates[name] = Fate(0)
        for name in step.get("cancel", []):
            world.cancel(name)
        for line in _expanded(step.get("submit", [])):
            task, fate = task_of(line, world)
            world.submit(task, fate)
        world.decide()
        expect(world, step.get("expect", {}), f"{path.stem} at {step['at']}")


def _expanded(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A line with `times = n` stands for n tasks, id-1 .. id-n."""
    found = []
    for line in lines:
        times = line.get("times")
        found += [line] if times is None else [line | {"id": f"{line['id']}-{i}"} for i in range(1, times + 1)]
    return found


EXPECT_WORDS = {
    "running", "not_running", "only_running", "waiting", "facts", "start_by", "start_by_at_most", "holds", "slip",
    "stopped", "borrowed", "fair", "level", "state", "on", "same_card", "order", "lifted_to",
}  # fmt: skip


def expect(world: World, wanted: dict[str, Any], where: str) -> None:
    """Compare what the story says with what is."""
    assert set(wanted) <= EXPECT_WORDS, f"{where}: a story cannot expect {sorted(set(wanted) - EXPECT_WORDS)}"
    waits = world.waits()
    for name in wanted.get("running", []):
        assert name in world.runs, f"{where}: {name} does not run; {waits.get(name)}"
    for name in wanted.get("not_running", []):
        assert name not in world.runs, f"{where}: {name} runs"
    if "only_running" in wanted:
        assert sorted(world.runs) == sorted(wanted["only_running"]), where
    for name, codes in wanted.get("waiting", {}).items():
        assert name in waits, f"{where}: {name} does not wait"
        said = [reason.code for reason in waits[name].reasons]
        assert set(codes) <= set(said), f"{where}: {name} says {waits[name].reasons}"
    for name, facts in wanted.get("facts", {}).items():
        found = [r for r in waits[name].reasons if all(_same(getattr(r, k, None), v) for k, v in facts.items())]
        assert found, f"{where}: {name} says {waits[name].reasons}, wanted {facts}"
    for name, by in wanted.get("start_by", {}).items():
        forecast = waits[name].forecast
        told = None if forecast is None else forecast.start_by
        assert told == (clock(by) if by != "unknown" else None), f"{where}: {name} is told {told}"
    expect_of_forecasts(world, wanted, where)
    expect_of_stops(world, wanted, where)
    for name, state in wanted.get("state", {}).items():
        assert world.tasks[name].state.value == state, f"{where}: {name} is {world.tasks[name].state}"
    for name, card_type in wanted.get("on", {}).items():
        cards = {card.id: card.type for card in world.snapshot.cards}
        assert {cards[c] for c in world.runs[name].cards} == {card_type}, f"{where}: {world.runs[name].cards}"
    for names in wanted.get("same_card", []):
        assert len({world.runs[n].cards for n in names}) == 1, where
    if "order" in wanted:
        ranks = [waits[name].rank for name in wanted["order"]]
        assert ranks == sorted(ranks), f"{where}: ranks {dict(zip(wanted['order'], ranks, strict=True))}"
    for name, lifted in wanted.get("lifted_to", {}).items():
        assert waits[name].terms.total == lifted, f"{where}: {waits[name].terms}"


def expect_of_forecasts(world: World, wanted: dict[str, Any], where: str) -> None:
    """Promises, what holds a place, and why one moved later."""
    told = {name: wait.forecast for name, wait in world.waits().items() if wait.forecast is not None}
    for name, at in wanted.get("start_by_at_most", {}).items():
        latest = clock(at)
        assert latest is not None
        assert told[name].start_by <= latest, f"{where}: {name}: {told[name]}"
    for name, holds in wanted.get("holds", {}).items():
        assert told[name].holds is holds, f"{where}: {name} is told {told[name]}"
    for name, expected in wanted.get("slip", {}).items():
        slip = told[name].slip
        assert slip is not None, f"{where}: {name} is told {told[name]}"
        assert [slip.cause, slip.subject] == expected, f"{where}: {name} slipped: {slip}"


def expect_of_stops(world: World, wanted: dict[str, Any], where: str) -> None:
    """Who was stopped, who borrows, the points of teams and the level of the day."""
    if "stopped" in wanted:
        runs = {run.id: run.task for run in [*world.runs.values(), *world.ended]}
        assert [runs[stop.run] for _, stop in world.stops] == wanted["stopped"], f"{where}: {world.stops}"
    for name in wanted.get("borrowed", []):
        assert world.runs[name].borrowed, where
    for name, points in wanted.get("fair", {}).items():
        assert world.waits()[name].terms.fair == points, f"{where}: {world.waits()[name].terms}"
    if "level" in wanted:
        assert world.plan is not None
        assert world.plan.density is not None
        assert world.plan.density.level.value == wanted["level"], f"{where}: {world.plan.density}"


def _same(got: object, wanted: object) -> bool:
    if isinstance(got, datetime) and isinstance(wanted, str):
        return got == clock(wanted)
    if isinstance(got, tuple):
        return list(got) == wanted
    return got == wanted


def minutes_of(at: datetime) -> int:
    """Minutes since the story's start."""
    return int((at - T0).total_seconds()) // 60


assert EPOCH < T0
