"""Tasks through the API."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.interfaces.api.door import Door
from tests.lab import waiting

from paika.domain.access import Scope
from paika.domain.reason import CardsBusy, Holder
from paika.domain.task import TaskState

NAMES = (Path(__file__).parents[2] / "cases/C53/names.txt").read_text("utf-8").splitlines()
FORM = {"name": "train", "command": ["python", "train.py"]}


@pytest.fixture
def door() -> Door:
    return Door()


class TestSubmit:
    def test_one(self, door):
        answer = door.client().post("/tasks", json=FORM | {"显存": "40G", "cards": "２"})
        assert answer.status_code == 201
        (task,) = answer.json()["tasks"]
        assert answer.headers["Location"] == f"/api/v1/tasks/{task['id']}"
        assert (task["demand"]["cards"], task["demand"]["vram_mib"], task["owner"]) == (2, 40960, "mia")
        assert task["submitted_at"] == "2026-12-01T09:00:00Z"

    @pytest.mark.parametrize("wrap", [lambda forms: forms, lambda forms: {"tasks": forms}])
    def test_several_all_or_none(self, door, wrap):
        client = door.client()
        refused = client.post("/tasks", json=wrap([FORM, FORM | {"name": "b", "cards": 0}]))
        assert refused.status_code == 422
        assert refused.json()["problems"][0]["field"] == "tasks[1].cards"
        assert not door.lab.records.tasks
        made = client.post("/tasks", json=wrap([FORM, FORM | {"name": "b", "after": "train"}]))
        assert [task["id"] for task in made.json()["tasks"]] == ["t-1", "t-2"]

    def test_a_dry_run_writes_nothing(self, door):
        answer = door.client().post("/tasks?dry_run=true", json=FORM)
        assert answer.status_code == 200
        assert answer.json()["tasks"][0]["id"] == "t-1"
        assert not door.lab.records.tasks

    @pytest.mark.parametrize(
        "cards", [0, -1, 1.5, 1e308, 9223372036854775807, "NaN", True, "4 cards", [1], {"a": 1}, "∞", 10**400]
    )
    def test_numbers_that_should_never_get_in(self, door, cards):
        answer = door.client().post("/tasks", content=json.dumps(FORM | {"cards": cards}))
        assert answer.status_code == 422
        assert answer.json()["problems"][0]["field"] == "cards" or answer.json()["code"] == "api.not_json"
        assert not door.lab.records.tasks

    @pytest.mark.parametrize(
        "body",
        [
            b'{"name": NaN, "command": "true"}',
            b'{"name": "x", "command": "true", "cards": Infinity}',
            b'{"name": "x", "command": "true", "cards": -Infinity}',
            b'{"name": "x", "command": "true", "name": "y"}',
            b'{"name": "x", "command": "true", "env": {"A": "1", "A": "2"}}',
            b'{"name": "x", "command": "true", "note": "\\ud800"}',
            b'{"name": "x", "command": "true", "cards": ' + b"9" * 5000 + b"}",
            b'{"name": "x", "command": "true"',
            b"\xff\xfe",
            b"[" * 100_000,
            b'"text"',
            b"[1]",
            b"null",
            b'{"tasks": {"name": "x"}, "more": 1}',
        ],
    )
    def test_bodies_that_are_no_tasks(self, door, body):
        answer = door.client().post("/tasks", content=body)
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == ("input.several" if b"more" in body else "api.not_json")
        assert not door.lab.records.tasks

    def test_no_tasks_at_all(self, door):
        for body in ([], {"tasks": []}):
            assert door.client().post("/tasks", json=body).json()["field"] == "tasks"

    def test_a_body_that_is_too_large(self):
        door = Door(max_body_bytes=1000)
        client = door.client()
        assert client.post("/tasks", json=FORM | {"note": "x" * 500}).status_code == 201
        for body in (b"x" * 1001, iter([b"x" * 600, b"x" * 600])):
            answer = client.post("/tasks", content=body)
            assert (answer.status_code, answer.json()["code"]) == (413, "api.body_too_large")


class TestKeys:
    """Field case C27a at this door."""

    def test_the_same_key(self, door):
        client = door.client()
        key = {"Idempotency-Key": "k1"}
        answers = [client.post("/tasks", json=FORM, headers=key) for _ in range(3)]
        assert {answer.status_code for answer in answers} == {201}
        assert {answer.json()["tasks"][0]["id"] for answer in answers} == {"t-1"}
        changed = client.post("/tasks", json=FORM | {"cards": 2}, headers=key)
        assert (changed.status_code, changed.json()["code"]) == (409, "key.reused")
        assert len(door.lab.records.tasks) == 1

    def test_fifty_clients_at_once(self, door):
        secret = door.secret("mia")

        def send(_: int) -> tuple[int, str]:
            headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": "once"}
            answer = door.anybody().post("/tasks", json=FORM, headers=headers)
            return answer.status_code, answer.json()["tasks"][0]["id"]

        with ThreadPoolExecutor(50) as pool:
            assert set(pool.map(send, range(50))) == {(201, "t-1")}
        assert len(door.lab.records.tasks) == 1


class TestDependencies:
    """Field case C20 at this door."""

    def test_a_ring_is_refused_with_the_ring_written_out(self, door):
        forms = [FORM | {"name": a, "after": b} for a, b in (("A", "B"), ("B", "C"), ("C", "A"))]
        answer = door.client().post("/tasks", json=forms)
        assert (answer.status_code, answer.json()["code"]) == (422, "task.dependency_loop")
        assert answer.json()["facts"]["loop"] == ["A", "B", "C", "A"]
        assert "A, B, C, A" in answer.json()["message"]

    def test_a_ring_by_edit_is_refused_too(self, door):
        client = door.client()
        client.post("/tasks", json=[FORM | {"name": "B"}, FORM | {"name": "A", "after": "B"}])
        answer = client.patch("/tasks/t-1", json={"after": "t-2"})
        assert answer.json()["facts"]["loop"] == ["t-1", "t-2", "t-1"]

    def test_unknown_and_dead_parents_are_refused(self, door):
        client = door.client()
        assert client.post("/tasks", json=FORM | {"after": "t-9"}).json()["code"] == "noun.unknown"
        parent = door.lab.submit("mia")
        door.lab.put(replace(parent, state=TaskState.FAILED, version=2))
        answer = client.post("/tasks", json=FORM | {"after": parent.id})
        assert (answer.status_code, answer.json()["code"]) == (409, "task.dependency_dead")

    def test_a_closed_child_says_why(self, door):
        client = door.client()
        client.post("/tasks", json=[FORM, FORM | {"name": "child", "after": "train"}])
        client.post("/tasks/t-1/cancel")
        told = client.get("/tasks/t-2").json()
        assert told["task"]["state"] == "closed"
        assert told["closed_by"]["facts"] == {"parent": "t-1", "outcome": "cancelled", "when": "success"}
        assert "t-1" in told["closed_by"]["message"]


class TestEdit:
    def test_the_tag_of_what_was_read_guards_the_edit(self, door):
        client = door.client()
        client.post("/tasks", json=FORM)
        tag = client.get("/tasks/t-1").headers["ETag"]
        first = client.patch("/tasks/t-1", json={"priority": 60}, headers={"If-Match": tag})
        assert (first.status_code, first.headers["ETag"]) == (200, '"2"')
        second = client.patch("/tasks/t-1", json={"priority": 70}, headers={"If-Match": tag})
        assert (second.status_code, second.json()["code"]) == (412, "noun.version_conflict")
        assert client.patch("/tasks/t-1", json={"priority": 70}, headers={"If-Match": "x"}).status_code == 422
        assert client.patch("/tasks/t-1", json={"priority": 70}, headers={"If-Match": "*"}).status_code == 200
        for act in ("cancel", "hold", "release"):
            late = client.post(f"/tasks/t-1/{act}", json={"reason": "x"}, headers={"If-Match": tag})
            assert late.status_code == 412, act

    def test_hold_release_cancel(self, door):
        client = door.client()
        client.post("/tasks", json=FORM)
        assert client.post("/tasks/t-1/hold").json()["code"] == "field.missing"
        assert client.post("/tasks/t-1/hold", json={"reason": "later"}).json()["state"] == "held"
        assert client.post("/tasks/t-1/release").json()["state"] == "waiting"
        assert client.post("/tasks/t-1/cancel", json={"原因": "不要了"}).json()["state"] == "cancelled"
        assert client.post("/tasks/t-1/hold", json={"reason": "x"}).json()["code"] == "state.illegal_step"
        assert client.get("/tasks/t-404").status_code == 404


class TestLists:
    def test_the_queue_in_order_with_reasons_in_words(self, door):
        for name in ("a", "b", "c"):
            door.lab.submit("mia", name=name)
        busy = CardsBusy(8, 1, 2, 2, 8, (Holder("r", "t-0", "max", 6, None, False),))
        door.box.set(
            plan=door.lab.live(waiting("t-2", 1), waiting("t-1", 2, busy)).plan,
            waits=door.lab.live(waiting("t-2", 1), waiting("t-1", 2, busy)).waits,
        )
        told = door.client("vic", Scope.READ).get("/tasks").json()
        assert [row["id"] for row in told["rows"]] == ["t-2", "t-1", "t-3"]
        reason = told["rows"][1]["reasons"][0]
        assert reason["code"] == "wait.cards"
        assert reason["facts"]["need"] == 8
        assert reason["message"]
        assert reason["facts"]["holders"][0]["owner"] == "max"
        assert told["rows"][2]["reasons"] == []
        assert told["rows"][2]["unseen_since"] == "2026-12-01T09:00:00Z"

    def test_pages_and_filters(self, door):
        for number in range(7):
            door.lab.submit("mia" if number % 2 else "tim", name=f"job {number}")
        client = door.client("mia")
        first = client.get("/tasks?limit=3").json()
        second = client.get("/tasks", params={"limit": 3, "cursor": first["cursor"]}).json()
        third = client.get("/tasks", params={"limit": 3, "cursor": second["cursor"]}).json()
        names = [row["name"] for page in (first, second, third) for row in page["rows"]]
        assert names == [f"job {n}" for n in range(7)]
        assert (first["total"], first["left_out"], third["cursor"]) == (7, 4, None)
        assert client.get("/tasks?mine=true").json()["total"] == 3
        assert client.get("/tasks?text=JOB+3").json()["total"] == 1
        assert client.get("/tasks?tier=core").json()["total"] == 0
        assert client.get("/tasks?cursor=zzz").status_code == 422
        assert client.get("/tasks?limit=0").json()["field"] == "limit"
        for path in ("/tasks?text=%00", "/tasks/t%00", "/datasets/%00/history"):
            assert client.get(path).status_code == 422, path

    def test_what_runs_and_what_has_ended(self, door):
        running, ended = door.lab.submit("mia"), door.lab.submit("mia", env={"SECRET": "s3cret"})
        door.lab.run(running, "a0", limit_s=3600)
        door.lab.put(replace(ended, state=TaskState.DONE, state_since=door.lab.clock.now(), version=2))
        client = door.client("vic")
        (row,) = client.get("/tasks?listing=running").json()["rows"]
        assert (row["cards"], row["ending"]["at"], row["ending"]["by_limit"]) == (["a0"], "2026-12-01T10:00:00Z", True)
        listed = client.get("/tasks?listing=ended")
        assert [row["id"] for row in listed.json()["rows"]] == [ended.id]
        assert "s3cret" not in listed.text


def test_values_of_variables_are_for_those_who_may_change_the_task(door):
    door.lab.submit("mia", env={"WANDB_API_KEY": "s3cret"})
    seen = {who: "s3cret" in door.client(who).get("/tasks/t-1").text for who in ("mia", "lea", "ann", "max", "vic")}
    assert seen == {"mia": True, "lea": True, "ann": True, "max": False, "vic": False}
    assert "WANDB_API_KEY" in door.client("vic").get("/tasks/t-1").text


def test_run_tokens_and_hashes_never_leave(door):
    door.lab.run(door.lab.submit("mia"), "a0")
    client = door.client("ann")
    for path in ("/tasks/t-1", "/tasks/t-1/runs", "/tasks?listing=running", "/cards", "/tokens", "/audit", "/overview"):
        text = client.get(path).text
        assert "secret-token" not in text, path
        assert "secret_sha256" not in text, path


@pytest.mark.parametrize("name", NAMES)
def test_names_that_bite_go_in_and_come_out_unchanged(door, name):
    """Field case C53: JSON gives the name unchanged."""
    client = door.client()
    made = client.post("/tasks", json=FORM | {"name": name, "note": name, "tags": [name]})
    assert made.status_code == 201, made.text
    told = client.get(f"/tasks/{made.json()['tasks'][0]['id']}")
    assert told.json()["task"]["name"] == name.strip()
    assert told.json()["task"]["note"] == name.strip()
    assert told.headers["content-type"] == "application/json"
    assert told.headers["x-content-type-options"] == "nosniff"


class TestImport:
    CSV = "任务名,命令,卡数,备注\n好的,true,1,x\n坏的,true,-1,y\n"

    def test_good_rows_come_in_and_bad_ones_are_named(self, door):
        client = door.client()
        for encoding in ("utf-8-sig", "gbk"):
            files = {"file": ("任务.csv", self.CSV.encode(encoding))}
            dry = client.post("/tasks/import?dry_run=true", files=files).json()
            assert [row["line"] for row in dry["accepted"]] == [2]
            assert not door.lab.records.tasks
        told = client.post("/tasks/import", files=files, headers={"Idempotency-Key": "f"}).json()
        assert told["tasks"] == ["t-1"]
        (bad,) = told["problems"]
        assert (bad["line"], bad["column"], bad["problem"]["code"]) == (3, "卡数", "value.bad")
        again = client.post("/tasks/import", files=files, headers={"Idempotency-Key": "f"}).json()
        assert again["tasks"] == ["t-1"]

    def test_what_rows_say_of_their_data_is_noted_and_what_is_wrong_with_it_told(self, door):
        table = "任务名,命令,数据集,就绪度,预计就绪\na,true,coco,60%,2026-12-02\nb,true,imagenet,50%,2026-11-01\n"
        told = door.client().post("/tasks/import", files={"file": ("a.csv", table.encode())}).json()
        assert told["tasks"] == ["t-1", "t-2"]
        assert door.lab.records.datasets["d-2"].percent == 60
        assert [(note["line"], note["problem"]["field"]) for note in told["notes"]] == [(3, "eta")]
        assert door.lab.records.datasets["d-1"].percent == 100

    def test_a_yaml_list(self, door):
        text = b"tasks:\n  - {name: a, command: 'true'}\n  - {name: b, command: 'true', after: [a]}\n"
        told = door.client().post("/tasks/import", files={"file": ("l.yaml", text)}).json()
        assert told["tasks"] == ["t-1", "t-2"]

    def test_no_file_and_a_file_too_large(self):
        door = Door(max_upload_bytes=2000)
        client = door.client()
        assert client.post("/tasks/import", json={}).json()["code"] == "api.no_upload"
        assert client.post("/tasks/import", files={"other": b"x"}).json()["code"] == "api.no_upload"
        large = client.post("/tasks/import", files={"file": ("a.csv", b"x" * 3000)})
        assert (large.status_code, large.json()["code"]) == (413, "api.body_too_large")
