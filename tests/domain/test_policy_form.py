"""The policy's numbers as people write them: all of them or some, and what the policy itself says is read back."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.worlds import policies

from paika.adapters.codec.nouns import encode
from paika.domain.policy import Headroom, Policy, PreemptFor
from paika.domain.policy_form import POLICY, read_numbers, with_numbers
from paika.domain.problem import BadValue, Several
from paika.interfaces.api.render import plain
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import Speaker

OTHER = Policy(
    normal_depth=3,
    headroom=(Headroom(1, 8, "main", ("A100-80G",)), Headroom(2, refill=False)),
    preempt_for=PreemptFor.CORE,
    hold_for_unknown_end=False,
    tight_cards_per_person=4,
)


def read(policy: Policy, **raw: object) -> Policy:
    return with_numbers(policy, read_numbers(raw, "UTC"))


def test_every_number_has_a_field():
    assert {field.name for field in fields(Policy)} - set(POLICY.by_key) == {"version"}


@pytest.mark.parametrize("written", [lambda p: json.loads(encode(p)), lambda p: plain(p, Speaker(Lang.EN, UTC))])
def test_what_the_policy_says_of_itself_is_read_back(written: Any):
    for policy in (Policy(), OTHER):
        assert read(Policy(version=4), **written(policy)) == replace(policy, version=5)


@given(policies)
def test_any_policy_is_read_back(policy: Policy):
    if policy.strict_percent >= policy.tight_percent:
        assert read(policy, **json.loads(encode(policy))) == replace(policy, version=policy.version + 1)


@pytest.mark.parametrize(
    ("raw", "changed"),
    [
        ({"step_s": "10m"}, {"step_s": 600}),
        ({"no_show_s": 90}, {"no_show_s": 90}),
        ({"normal_depth": ""}, {"normal_depth": None}),
        ({"normal_depth": "２"}, {"normal_depth": 2}),
        ({"idle_borrows": "否"}, {"idle_borrows": False}),
        ({"preempt_for": "CORE"}, {"preempt_for": PreemptFor.CORE}),
        ({"headroom": "1x8@main:A100-80G+H20; 2!"}, {"headroom": (
            Headroom(1, 8, "main", ("A100-80G", "H20")), Headroom(2, refill=False),
        )}),
        ({"headroom": []}, {"headroom": ()}),
        ({"headroom": ""}, {"headroom": ()}),
        ({"age_points_max": ""}, {}),
    ],
)  # fmt: skip
def test_some_numbers_change_and_the_others_stay(raw: dict[str, object], changed: dict[str, Any]):
    assert read(OTHER, **raw) == replace(OTHER, version=2, **changed)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"age_points_max": -1}, "age_points_max"),
        ({"age_points_max": 1.5}, "age_points_max"),
        ({"step_s": 0}, "step_s"),
        ({"preempt_for": "all"}, "preempt_for"),
        ({"idle_borrows": "perhaps"}, "idle_borrows"),
        ({"age": 3}, "age"),
        ({"headroom": "eight"}, "headroom"),
        ({"headroom": "1x0"}, "headroom"),
        ({"headroom": [{"together": 8}]}, "headroom"),
        ({"headroom": [{"units": 1, "cards": 8}]}, "headroom"),
        ({"headroom": 7}, "headroom"),
        ({"headroom": "1;" * 51}, "headroom"),
    ],
)
def test_what_is_no_number_names_its_field(raw: dict[str, object], field: str):
    with pytest.raises(Several) as refused:
        read_numbers(raw, "UTC")
    assert [problem.field for problem in refused.value.problems] == [field]


def test_strict_is_never_below_tight():
    with pytest.raises(BadValue) as refused:
        read(Policy(), tight_percent=500)
    assert refused.value.field == "strict_percent"


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str):
    with suppress(Several):
        assert isinstance(read_numbers({"headroom": text}, "UTC").get("headroom", ()), tuple)
