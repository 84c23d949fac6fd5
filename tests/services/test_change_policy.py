"""The policy is changed by admins, for a reason, and every version stays."""

from __future__ import annotations

import pytest
from tests.lab import Lab

from paika.domain.access import Forbidden
from paika.domain.policy import Headroom, Policy
from paika.domain.problem import BadValue, FieldMissing, NotFound, Problem, Several, VersionConflict
from paika.ports.store import AuditQuery
from paika.services.change_policy import NumberChanged, roll_back_policy, see_policy_versions, set_policy
from paika.services.editing import UnknownNoun


@pytest.fixture
def lab() -> Lab:
    return Lab()


def put(lab: Lab, raw: dict[str, object], person: str = "ann", why: str = "busy month", **more) -> Policy:
    return set_policy(lab.store, lab.clock, lab.actor(person), raw, "Asia/Shanghai", why=why, **more)


def back(lab: Lab, to: int, person: str = "ann", why: str = "calm again", **more) -> Policy:
    return roll_back_policy(lab.store, lab.clock, lab.actor(person), to, why=why, **more)


def test_each_version_is_kept_with_who_when_why_and_what(lab):
    put(lab, {"age_points_max": "６０", "preempt_after_s": "30m"})
    put(lab, {"normal_depth": 3})
    assert lab.records.policy == Policy(version=3, age_points_max=60, preempt_after_s=1800, normal_depth=3)
    newest, second, first = see_policy_versions(lab.records)
    assert newest.changed == (NumberChanged("normal_depth", None, 3),)
    assert second.changed == (NumberChanged("age_points_max", 40, 60), NumberChanged("preempt_after_s", 900, 1800))
    assert [row.current for row in (newest, second, first)] == [True, False, False]
    assert (second.version.person, second.version.why, second.version.at) == ("ann", "busy month", lab.clock.now())
    assert (first.version.policy, first.version.at, first.changed) == (Policy(), None, ())
    line = lab.store.audit(AuditQuery("policy", "2")).rows[0]
    assert (line.act, line.why, line.new["age_points_max"]) == ("set_policy", "busy month", "60")


def test_before_any_change_there_is_one_version(lab):
    (only,) = see_policy_versions(lab.records)
    assert (only.version.policy, only.current) == (Policy(), True)


def test_going_back_is_a_new_version(lab):
    put(lab, {"normal_depth": 3})
    put(lab, {"idle_depth": 2, "normal_depth": ""})
    now = back(lab, 2)
    assert now == Policy(version=4, normal_depth=3)
    newest = see_policy_versions(lab.records)[0]
    assert (newest.version.back_to, newest.version.why) == (2, "calm again")
    assert back(lab, 1) == Policy(version=5)


def test_the_same_numbers_make_no_version(lab):
    put(lab, {"age_points_max": 60})
    put(lab, {"age_points_max": 60})
    back(lab, 2)
    assert [row.version.number for row in see_policy_versions(lab.records)] == [2, 1]


def test_headrooms_are_named_as_the_house_knows_them(lab):
    made = put(lab, {"headroom": "1x2:a100-80g"})
    assert made.headroom == (Headroom(1, 2, "", ("A100-80G",)),)
    with pytest.raises(UnknownNoun) as unknown:
        put(lab, {"headroom": "1@nowhere"})
    assert (unknown.value.field, unknown.value.noun) == ("headroom", "pool")


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        (lambda lab: put(lab, {"normal_depth": 3}, "lea"), Forbidden),
        (lambda lab: back(lab, 1, "mia"), Forbidden),
        (lambda lab: put(lab, {"normal_depth": 3}, why="  "), FieldMissing),
        (lambda lab: back(lab, 1, why=""), FieldMissing),
        (lambda lab: put(lab, {"normal_depth": 3}, why="x" * 201), BadValue),
        (lambda lab: put(lab, {}), FieldMissing),
        (lambda lab: put(lab, {"normal_deepth": 3}), Several),
        (lambda lab: put(lab, {"age_points_max": -1}), Several),
        (lambda lab: put(lab, {"strict_percent": 10}), BadValue),
        (lambda lab: put(lab, {"normal_depth": 3}, if_version=7), VersionConflict),
        (lambda lab: back(lab, 9), NotFound),
    ],
)
def test_what_is_refused_leaves_the_policy_alone(lab, act, problem: type[Problem]):
    with pytest.raises(problem):
        act(lab)
    assert lab.records.policy == Policy()
    assert not lab.records.policies


def test_refusals_for_rights_are_on_record(lab):
    with pytest.raises(Forbidden):
        put(lab, {"normal_depth": 3}, "lea")
    line = lab.store.audit(AuditQuery("policy", "policy")).rows[0]
    assert (line.act, line.person, line.result) == ("set_policy", "lea", "access.forbidden")
