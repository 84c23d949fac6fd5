"""Metamorphic laws: what must stay when the same world is told in another way, or gets a little better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.examples import examples
from tests.laws.worlds import POLICY, T0, policies, snapshots

from paika.domain.card import Card
from paika.domain.node import Node
from paika.domain.plan import Plan
from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.planning.planner import plan

WEEKS = st.sampled_from([timedelta(weeks=1), timedelta(weeks=52), timedelta(weeks=-9)])


def shifted(value: Any, by: timedelta) -> Any:
    """The same value with all its instants moved."""
    if isinstance(value, datetime):
        return value + by
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: shifted(getattr(value, f.name), by) for f in fields(value) if f.init})
    if isinstance(value, tuple):
        return tuple(shifted(one, by) for one in value)
    if isinstance(value, Mapping):
        return {key: shifted(one, by) for key, one in value.items()}
    return value


@settings(max_examples=examples(150), deadline=None)
@given(snapshots(), policies, WEEKS)
def test_the_same_week_later_is_the_same_plan_later(snapshot: Snapshot, policy: Policy, by: timedelta) -> None:
    assert plan(shifted(snapshot, by), policy, T0 + by) == shifted(plan(snapshot, policy, T0), by)


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The same value with other names for some things, wherever they are named."""
    if isinstance(value, str):
        return names.get(value, value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: renamed(getattr(value, f.name), names) for f in fields(value) if f.init})
    if isinstance(value, tuple):
        return tuple(renamed(one, names) for one in value)
    if isinstance(value, Mapping):
        return {names.get(key, key): renamed(one, names) for key, one in value.items()}
    return value


@settings(max_examples=examples(150), deadline=None)
@given(snapshots(), policies)
def test_names_of_people_and_teams_decide_nothing(snapshot: Snapshot, policy: Policy) -> None:
    """Names are data: others of the same things, in whatever order they sort, give the same plan."""
    names = {"ann": "zoe", "bob": "amy", "red": "violet", "blue": "amber"}
    made, other = plan(snapshot, policy, T0), plan(renamed(snapshot, names), policy, T0)
    assert [(s.task, s.parts) for s in other.starts] == [(s.task, s.parts) for s in made.starts]
    assert [(w.task, w.rank, w.forecast) for w in other.waits] == [
        (w.task, w.rank, renamed(w.forecast, names)) for w in made.waits
    ]


def first_start(made: Plan) -> tuple[str, datetime | None]:
    """The task of the first rank that could be placed at all, and when it starts."""
    rows = [(s.rank, s.task, made.decided_at) for s in made.starts]
    rows += [(w.rank, w.task, w.forecast.start_by) for w in made.waits if w.forecast is not None and w.forecast.holds]
    _, task, at = min(rows, default=(0, "", None))
    return task, at


@settings(max_examples=examples(200), deadline=None)
@given(snapshots(), st.sampled_from(["S24", "L80"]))
def test_an_empty_machine_makes_the_first_rank_no_later(snapshot: Snapshot, kind: str) -> None:
    calm = replace(POLICY, headroom=())
    made = plan(snapshot, calm, T0)
    task, before = first_start(made)
    if before is None:
        return
    card_type = next(t for t in snapshot.card_types if t.id == kind)
    cards = tuple(Card(f"new-{i}", "zz", i, kind, card_type.vram_mib) for i in range(2))
    richer = replace(snapshot, nodes=(*snapshot.nodes, Node("zz", "lab", "local")), cards=(*snapshot.cards, *cards))
    again = plan(richer, calm, T0)
    starts = {s.task: T0 for s in again.starts} | {w.task: w.forecast.start_by for w in again.waits if w.forecast}
    parked = {w.task for w in made.waits if w.parked}
    ahead = {
        w.task
        for w in again.waits
        if w.rank < next((r.rank for r in (*again.starts, *again.waits) if r.task == task), 0)
    }
    if ahead & parked:
        return  # who could never fit before may now, and comes first
    assert starts[task] <= before
