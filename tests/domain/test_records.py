"""The step from one records value to the next."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import values

from paika.domain.problem import VersionConflict
from paika.domain.quota import Quota
from paika.domain.records import NAMES, SHELVES, Change, Noun, Records, apply, not_open
from paika.domain.run import Run
from paika.domain.task import Program, Task, TaskState
from paika.domain.team import Team

T0 = datetime(2026, 1, 5, 9, tzinfo=UTC)
TASK = Task("t1", "n", "ann", "vision", T0, Program())
DONE = replace(TASK, state=TaskState.DONE, version=2)


def test_every_noun_has_a_shelf_and_a_name() -> None:
    assert set(SHELVES) == set(NAMES) == set(Noun.__args__)
    assert set(SHELVES.values()) < {field.name for field in fields(Records)}
    assert NAMES[Quota] == "quota"


@pytest.mark.parametrize("kind", SHELVES, ids=lambda kind: kind.__name__)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_only_what_a_change_touches_is_copied(kind: type[Any], data: st.DataObject) -> None:
    noun = data.draw(values(kind, version=st.just(1)))
    before = Records()
    after = apply(before, Change(puts=(noun,)))
    touched = {f.name for f in fields(Records) if getattr(after, f.name) is not getattr(before, f.name)}
    gone = isinstance(noun, Task | Run) and noun.ended
    assert touched == {"version", SHELVES[kind]}
    assert getattr(after, SHELVES[kind]) == ({} if gone else {noun.id: noun})
    assert before == Records()


def test_an_empty_change_gives_the_same_value_back() -> None:
    records = Records(version=4)
    assert apply(records, Change()) is records


def test_ended_nouns_are_guarded_by_the_versions_that_the_store_knows() -> None:
    records = Records(teams={"vision": Team("vision", "V")})
    assert not_open(records, Change(puts=(DONE, Team("x", "x")), removed=(TASK,))) == (DONE, TASK)
    edited = replace(DONE, note="good", version=3)
    assert apply(records, Change(puts=(edited,)), {(Task, "t1"): 2}).tasks == {}
    for known in ({}, {(Task, "t1"): 1}, {(Run, "t1"): 2}):
        with pytest.raises(VersionConflict) as refusal:
            apply(records, Change(puts=(edited,)), known)
        assert (refusal.value.noun, refusal.value.read) == ("task", 2)


def test_what_is_removed_must_be_what_was_read() -> None:
    quota = Quota("vision", 4, version=3)
    records = Records(quotas={"vision": quota})
    for stale in (2, 4):
        with pytest.raises(VersionConflict):
            apply(records, Change(removed=(replace(quota, version=stale),)))
    with pytest.raises(VersionConflict):
        apply(records, Change(removed=(quota, quota)))
    assert apply(records, Change(removed=(quota,))).quotas == {}
