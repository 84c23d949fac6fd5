"""Edits from any JSON: read and assumed, or refused; never a fault. Any house that is thought of is planned soundly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lab import Lab
from tests.laws.examples import examples

from paika.domain.problem import Problem
from paika.domain.quota import Quota
from paika.interfaces.wording.catalogue import Lang, words
from paika.services.assume_edits import assume
from paika.services.run_cycle import decide
from paika.services.take_snapshot import take_snapshot
from paika.services.what_if_form import EDITS, MOST_EDITS, RIGHTS, EditKind, edit_schema, read_edits

leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8))
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
WORDS = (
    *("t-1", "t-2", "t-9", "n1", "n2", "a0", "r1", "vision", "text", "d-2", "coco", "A100-80G", "RTX4090"),
    *("2", "8", "-1", "3h", "30m", "idle", "core", "true", "none", "2026-12-02 09:00", "", "1x2:RTX4090"),
)
words_of_edits = st.sampled_from(WORDS)


def fields_of(kind: EditKind) -> st.SearchStrategy[dict[str, Any]]:
    form = EDITS[kind].form
    keys = st.sampled_from(sorted(form.by_key)) if form else st.text(max_size=5)
    return st.dictionaries(keys, st.one_of(words_of_edits, st.integers(-2, 9), leaves), max_size=4)


likely = st.sampled_from(list(EditKind)).flatmap(
    lambda kind: st.fixed_dictionaries(
        {"kind": st.just(kind.value)}, optional={"of": words_of_edits, "form": fields_of(kind)}
    )
)
good = st.one_of(
    st.builds(lambda cards, limit: {"kind": "new_task", "form": {"cards": cards, "limit": f"{limit}h", "owner": "mia"}},
              st.integers(1, 6), st.integers(1, 9)),
    st.builds(lambda node: {"kind": "lost_node", "of": node}, st.sampled_from(["n1", "n2", "far"])),
    st.builds(lambda card: {"kind": "lost_card", "of": card}, st.sampled_from(["a0", "a1", "r0", "x0"])),
    st.builds(lambda node: {"kind": "node_back", "of": node}, st.sampled_from(["n1", "n2"])),
    st.builds(lambda task: {"kind": "cancelled_task", "of": task}, st.sampled_from(["t-1", "t-2", "t-3"])),
    st.builds(lambda task, n: {"kind": "changed_task", "of": task, "form": {"priority": n}},
              st.sampled_from(["t-2", "t-3"]), st.integers(0, 100)),
    st.builds(lambda n, kind: {"kind": "more_cards", "form": {"cards": n, "type": kind}},
              st.integers(1, 5), st.sampled_from(["A100-80G", "RTX4090", "L40S"])),
    st.builds(lambda team, n: {"kind": "quota", "of": team, "form": {"max_cards": n}},
              st.sampled_from(["vision", "text"]), st.sampled_from([None, 0, 1, 4])),
    st.builds(lambda n, team: {"kind": "booking", "form": {"cards": n, "duration": "5h", "team": team}},
              st.integers(1, 3), st.sampled_from(["vision", "text"])),
    st.builds(lambda team, n: {"kind": "guarantee", "of": team, "form": {"cards": n}},
              st.sampled_from(["vision", "text"]), st.integers(1, 3)),
    st.builds(lambda n: {"kind": "policy", "form": {"normal_depth": n, "preempt_for": "core"}}, st.integers(0, 3)),
    st.just({"kind": "ready_dataset", "of": "coco"}),
)  # fmt: skip


def house() -> Lab:
    """A run on two cards, two tasks in the queue, one that waits for data."""
    lab = Lab()
    lab.put(Quota("text", 4))
    lab.run(lab.submit("tim", cards=2, limit="3h", preemptible=True, checkpoint=True), "a0", "a1", preemptible=True)
    lab.submit("mia", cards=4, types="A100-80G", limit="2h")
    lab.submit("max", inputs="coco", limit="1h")
    return lab


@settings(max_examples=examples(300), deadline=None)
@given(st.one_of(anything, likely, st.lists(st.one_of(likely, anything), max_size=4)))
def test_any_json_is_read_and_assumed_or_refused(raw: object):
    lab = house()
    before = lab.records
    try:
        edits = read_edits(raw, "UTC")
        assume(before, edits, lab.actor("ann"), lab.clock.now(), lab.store.task)
    except Problem as problem:
        for one in getattr(problem, "problems", (problem,)):
            assert one.field is None or isinstance(one.field, str)
    assert lab.records is before


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(good, min_size=1, max_size=5))
def test_any_house_that_is_thought_of_is_planned_by_the_rules(raw: list[dict[str, Any]]):
    lab = house()
    now = lab.clock.now()
    try:
        made = assume(lab.records, read_edits(raw, "UTC"), lab.actor("ann"), now, lab.store.task)
    except Problem:
        return  # such as a booking of more than there is left
    records = made.records
    plan, broken = decide(take_snapshot(records, {}, now), records.policy, now)
    assert broken == []
    answered = {wait.task for wait in plan.waits} | {start.task for start in plan.starts}
    open_runs = [run for run in records.runs.values() if not run.ended]
    assert answered == {task.id for task in records.tasks.values()} - {run.task for run in open_runs}
    assert {run.id for run in made.ended}.isdisjoint(run.id for run in open_runs)
    held = {team: sum(run.parts_held for run in open_runs if run.team == team) for team in records.teams}
    changed = {run.team for run in made.ended}
    for team in changed:  # of the others the small lab has no ledger
        assert records.balances[team].held_parts == held[team] - 200


def test_each_kind_has_its_form_its_right_and_its_words():
    assert EDITS.keys() == RIGHTS.keys() == set(EditKind)
    for lang in Lang:
        for kind in EditKind:
            assert {f"whatif.kind.{kind}", f"whatif.about.{kind}"} <= words(lang).keys()
    assert [one["title"] for one in edit_schema()["items"]["oneOf"]] == [kind.value for kind in EditKind]


@pytest.mark.parametrize("count", [0, MOST_EDITS + 1])
def test_so_many_edits_and_no_more(count: int):
    with pytest.raises(Problem):
        read_edits([{"kind": "ready_dataset", "of": "coco"}] * count, "UTC")
    assert len(read_edits([{"kind": "ready_dataset", "of": "coco"}] * MOST_EDITS, "UTC")) == MOST_EDITS
