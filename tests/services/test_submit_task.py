"""Tasks come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab import Lab, draft

from paika.adapters.in_memory.store import InMemoryStore
from paika.adapters.store_sql.store import SqlStore
from paika.domain.access import Forbidden, Scope
from paika.domain.problem import BadValue, KeyReused, Several
from paika.domain.task import DependencyDead, DependencyLoop, TaskState, Tier, When
from paika.domain.type_names import UnknownCardType
from paika.ports.store import AuditQuery, Store
from paika.services.dependencies import ParentAmbiguous
from paika.services.editing import UnknownNoun
from paika.services.submit_task import ChooseTeam, NoTeam, NotInTeam, read_drafts, submit_tasks


@pytest.fixture(params=["memory", "sqlite"])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    makers: dict[str, Callable[[], Store]] = {
        "memory": InMemoryStore,
        "sqlite": lambda: SqlStore(f"sqlite:///{tmp_path}/paika.db"),
    }
    store = makers[request.param]()
    yield Lab(store)
    store.close()


def test_a_task_gets_an_id_its_owner_the_only_team_and_its_card_types(lab):
    task = lab.submit("mia", types="A100", cards="８", inputs="imagenet")
    assert (task.id, task.owner, task.team) == ("t-1", "mia", "vision")
    assert task.demand.types == ("A100-80G", "A100-40G")
    assert task.demand.asked_types == "A100"
    assert task.demand.cards == 8
    assert task.inputs == ("d-1",)
    assert task.state is TaskState.WAITING
    assert lab.records.tasks["t-1"] == task
    assert lab.submit("tim").id == "t-2"


def test_unknown_names_are_all_told_at_once_with_the_nearest(lab):
    with pytest.raises(Several) as caught:
        lab.submit("mia", types="H10", inputs="imagnet", pool="mian", after="t-9")
    found = {(type(problem), problem.field) for problem in caught.value.problems}
    assert found == {
        (UnknownCardType, "types"),
        (UnknownNoun, "inputs"),
        (UnknownNoun, "pool"),
        (UnknownNoun, "after"),
    }
    nearest = {problem.field: problem.nearest for problem in caught.value.problems}
    assert nearest["inputs"] == ("imagenet",)
    assert nearest["pool"] == ("main",)
    assert not lab.records.tasks


def test_a_real_type_that_the_house_lacks_is_taken_and_waits_for_such_a_card(lab):
    assert lab.submit("mia", types="L40S").demand.types == ("L40S",)


def test_a_batch_is_all_or_nothing_and_tells_which_one(lab):
    with pytest.raises(Several) as caught:
        lab.submit_all("mia", [{}, {"inputs": "nowhere", "types": "H10"}])
    assert {problem.field for problem in caught.value.problems} == {"tasks[1].inputs", "tasks[1].types"}
    assert not lab.records.tasks
    assert lab.records.counters.get("task", 0) == 0


def test_forms_of_a_batch_are_read_with_their_numbers():
    with pytest.raises(Several) as caught:
        read_drafts([{"name": "a", "command": "true"}, {"name": "b", "command": "true", "cards": "-1"}], "UTC")
    assert [problem.field for problem in caught.value.problems] == ["tasks[1].cards"]


class TestTeams:
    def test_one_who_works_in_two_must_choose(self, lab):
        with pytest.raises(ChooseTeam) as caught:
            lab.submit("two")
        assert caught.value.teams == ("text", "vision")
        assert lab.submit("two", team="视觉组").team == "vision"

    def test_one_without_a_team_cannot_submit(self, lab):
        with pytest.raises(NoTeam):
            lab.submit("lone")

    def test_nobody_submits_for_a_team_he_is_not_in(self, lab):
        with pytest.raises(NotInTeam):
            lab.submit("tim", team="vision")

    def test_an_admin_may_run_his_own_work_in_any_team(self, lab):
        assert lab.submit("ann", team="text").owner == "ann"


class TestRights:
    def test_a_viewer_submits_nothing_and_the_attempt_is_written_down(self, lab):
        with pytest.raises(Forbidden):
            lab.submit("vic")
        (entry,) = lab.store.audit(AuditQuery()).rows
        assert (entry.person, entry.act, entry.result) == ("vic", "submit_task", "access.forbidden")

    def test_a_read_token_submits_nothing(self, lab):
        with pytest.raises(Forbidden):
            submit_tasks(lab.store, lab.clock, lab.actor("mia", Scope.READ), [draft()])

    @pytest.mark.parametrize(
        ("who", "owner", "allowed"),
        [
            ("mia", "max", False),
            ("lea", "mia", True),
            ("lea", "tim", False),
            ("ann", "tim", True),
            ("mia", "mia", True),
        ],
    )
    def test_only_leads_and_admins_submit_for_others(self, lab, who, owner, allowed):
        if allowed:
            assert lab.submit(who, owner=owner).owner == owner
        else:
            with pytest.raises(Forbidden):
                lab.submit(who, owner=owner)
            assert not lab.records.tasks

    @pytest.mark.parametrize(("who", "allowed"), [("mia", False), ("lea", True)])
    def test_core_work_is_for_leads_to_name(self, lab, who, allowed):
        if allowed:
            assert lab.submit(who, tier="core").tier is Tier.CORE
        else:
            with pytest.raises(Forbidden):
                lab.submit(who, tier="core")

    def test_a_lead_names_core_work_only_in_the_team_he_leads(self, lab):
        lea = lab.records.people["lea"]
        lab.put(replace(lea, teams=("vision", "text"), version=2))
        with pytest.raises(Forbidden):
            lab.submit("lea", tier="core", team="text")


class TestDependencies:
    def test_by_name_within_the_batch_by_id_outside(self, lab):
        first = lab.submit("mia", name="first")
        prep, train = lab.submit_all(
            "mia", [{"name": "prep", "after": first.id}, {"name": "train", "after": "prep:end"}]
        )
        assert prep.after[0].task == first.id
        assert (train.after[0].task, train.after[0].when) == (prep.id, When.END)

    def test_a_ring_in_one_file_is_refused_written_out(self, lab):
        forms = [{"name": "A", "after": "B"}, {"name": "B", "after": "C"}, {"name": "C", "after": "A"}]
        with pytest.raises(DependencyLoop) as caught:
            lab.submit_all("mia", forms)
        assert caught.value.loop == ("A", "B", "C", "A")

    def test_a_task_that_needs_itself_is_refused(self, lab):
        with pytest.raises(DependencyLoop) as caught:
            lab.submit("mia", name="A", after="A")
        assert caught.value.loop == ("A", "A")

    def test_an_unknown_parent_is_refused(self, lab):
        with pytest.raises(UnknownNoun):
            lab.submit("mia", after="t-77")

    def test_a_name_that_two_have_is_refused(self, lab):
        with pytest.raises(ParentAmbiguous):
            lab.submit_all("mia", [{"name": "x"}, {"name": "x", "priority": 1}, {"name": "y", "after": "x"}])

    def test_a_child_of_a_parent_that_failed_an_hour_ago_is_refused(self, lab):
        parent = lab.submit("mia")
        lab.put(replace(parent, state=TaskState.FAILED, version=2))
        with pytest.raises(DependencyDead) as caught:
            lab.submit("mia", after=parent.id)
        assert (caught.value.parent, caught.value.outcome) == (parent.id, "failed")
        assert lab.submit("mia", after=f"{parent.id}:failure").after[0].met

    def test_a_parent_that_is_done_counts_at_once(self, lab):
        parent = lab.submit("mia")
        lab.put(replace(parent, state=TaskState.DONE, version=2))
        assert lab.submit("mia", after=parent.id).after[0].met


class TestKeys:
    """Field case C27a: sent twice because the answer was late."""

    def test_the_same_key_gets_the_same_answer_even_when_the_task_has_ended(self, lab):
        first = lab.submit("mia", key="k-1")
        lab.put(replace(first, state=TaskState.DONE, version=2))
        assert lab.submit("mia", key="k-1").id == first.id
        assert not lab.records.tasks

    def test_another_body_under_the_same_key_is_refused(self, lab):
        lab.submit("mia", key="k-1")
        with pytest.raises(KeyReused):
            lab.submit("mia", key="k-1", cards=2)
        assert len(lab.records.tasks) == 1

    def test_another_way_to_write_the_same_is_the_same(self, lab):
        assert lab.submit("mia", key="k", cards="８").id == lab.submit("mia", key="k", 卡数=8).id

    def test_a_key_belongs_to_a_person(self, lab):
        assert lab.submit("mia", key="k").id != lab.submit("max", key="k").id

    def test_fifty_at_once_make_one_task(self, lab):
        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda _: lab.submit("mia", key="once").id, range(50)))
        assert set(answers) == {"t-1"}
        assert len(lab.records.tasks) == 1

    def test_fifty_at_once_with_two_bodies_make_one_task_and_conflicts(self, lab):
        def send(number: int) -> str:
            try:
                return lab.submit("mia", key="once", cards=1 + number % 2).id
            except KeyReused:
                return "refused"

        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(send, range(50)))
        assert answers.count("t-1") == answers.count("refused") == 25

    def test_a_key_has_a_length(self, lab):
        with pytest.raises(BadValue):
            lab.submit("mia", key="x" * 201)


def test_the_audit_line_has_no_secrets(lab):
    lab.submit("mia", env={"WANDB_API_KEY": "s3cret"})
    (entry,) = lab.store.audit(AuditQuery("task")).rows
    assert "s3cret" not in repr(entry)
