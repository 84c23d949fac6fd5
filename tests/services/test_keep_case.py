"""Failing plans are kept seldom, and nothing leaves with them that nobody else should read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from tests.lab import T0, Lab
from tests.laws.examples import examples
from tests.laws.worlds import T0 as MONDAY
from tests.laws.worlds import policies, snapshots

from paika.adapters.in_memory.case_shelf import InMemoryCaseShelf
from paika.adapters.snapshot_json import JsonSnapshotFile
from paika.domain.access import Forbidden, Scope
from paika.domain.dataset import ProbeKind, ProbeSpec
from paika.domain.guarantee import Guarantee
from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.domain.support_case import Fault, bare
from paika.planning.check import Violation
from paika.planning.planner import plan
from paika.services.keep_case import CaseKeeper, faults_of
from paika.services.live import Live
from paika.services.replay_snapshot import replay_case
from paika.services.save_case import save_case

SECRET = "s3cret"
GIVEN, WIDE = Violation("a card is given once", "a0"), Violation("a wait has a reason", "t-1", blocks=False)


@settings(max_examples=examples(150), deadline=None)
@given(snapshots(), policies)
def test_the_plan_of_a_bare_snapshot_is_the_very_same(snapshot: Snapshot, policy: Policy):
    assert plan(bare(snapshot), policy, MONDAY) == plan(snapshot, policy, MONDAY)


def secretive() -> Lab:
    """A lab with a secret in every free text and every value that runs or opens something."""
    lab = Lab()
    form = {"command": ["run", f"--key={SECRET}"], "env": {"KEY": SECRET}, "workdir": f"/{SECRET}", "note": SECRET}
    lab.run(lab.submit("mia", **form, cards=4), "a0", "a1", "a2", "a3", token=SECRET, detail=SECRET)
    lab.submit("max", **form, tags=SECRET, milestone=SECRET)
    lab.submit("max", script=f"run {SECRET}", command=None, environment=f"venv:/{SECRET}")
    records = lab.records
    probe = ProbeSpec(ProbeKind.URL, f"https://x/{SECRET}")
    lab.put(
        replace(records.datasets["d-1"], probe=probe, detail=SECRET, name=SECRET, version=2),
        replace(records.people["tim"], name=SECRET, version=2),
        replace(records.teams["text"], note=SECRET, name=SECRET, version=2),
        replace(records.nodes["n1"], note=SECRET, state_cause=SECRET, version=2),
        replace(records.cards["a0"], note=SECRET, health_cause=SECRET, version=2),
        Guarantee("text", "text", 1, note=SECRET),
    )
    return lab


def test_nothing_that_nobody_else_should_read_leaves():
    lab = secretive()
    case = save_case(lab.records, Live(), lab.actor("ann"), lab.clock.now(), "1.2")
    text = JsonSnapshotFile().encode_case(case)
    assert SECRET not in text
    assert JsonSnapshotFile().decode_case(text) == case
    assert len(case.snapshot.tasks) == 2
    assert replay_case(case).sound


@pytest.mark.parametrize(("person", "scope"), [("mia", Scope.ADMIN), ("lea", Scope.ADMIN), ("ann", Scope.MANAGE)])
def test_only_admins_save_it(person: str, scope: Scope):
    lab = Lab()
    with pytest.raises(Forbidden):
        save_case(lab.records, Live(), lab.actor(person, scope), T0)


def test_a_bare_snapshot_file_is_a_case_too():
    lab = Lab()
    task = lab.submit("mia")
    case = save_case(lab.records, Live(), lab.actor("ann"), T0)
    again = JsonSnapshotFile().decode_case(JsonSnapshotFile().encode_snapshot(case.snapshot))
    assert (again.at, again.policy, again.faults) == (T0, Policy(), ())
    assert [start.task for start in replay_case(again).made.starts] == [task.id]


def test_the_same_faults_are_kept_once_an_hour():
    shelf, snapshot = InMemoryCaseShelf(), Snapshot(1, T0)
    keeper = CaseKeeper(shelf)

    def keep(minutes: int, *broken: Violation) -> bool:
        return keeper.keep(snapshot, Policy(), T0 + timedelta(minutes=minutes), broken) is not None

    assert [keep(0), keep(0, GIVEN), keep(30, GIVEN), keep(31, WIDE), keep(32, GIVEN, WIDE)] == [
        *(False, True, False, True, True)
    ]
    assert [keep(59, replace(GIVEN, subject="a1")), keep(61, GIVEN), keep(62, GIVEN)] == [False, True, False]
    assert len(shelf.names()) == 4


def test_faults_that_block_come_first_and_each_once():
    assert faults_of([WIDE, GIVEN, WIDE]) == (
        Fault("a card is given once", "a0"),
        Fault("a wait has a reason", "t-1", False),
    )
