"""Cards, datasets, people, tokens, books and logs through the API."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.interfaces.api.door import Door
from tests.lab import GIB, waiting

from paika.domain.access import Scope
from paika.domain.card import CardReading, Health
from paika.domain.ledger import hold, settle
from paika.domain.records import Change
from paika.domain.run import EndCause, RunState
from paika.domain.task import TaskState
from paika.services import recall_unblock


@pytest.fixture
def door() -> Door:
    return Door()


def test_cards_say_what_they_show_and_who_has_them_until_when(door):
    task = door.lab.submit("mia", limit="2h")
    door.lab.run(task, "a0", limit_s=7200)
    reading = CardReading("a0", door.lab.clock.now(), Health.OK, vram_total_mib=80 * GIB, vram_used_mib=40 * GIB)
    door.box.set(readings={"a0": reading})
    told = door.client("vic", Scope.READ).get("/cards").json()
    cells = {cell["id"]: cell for cell in told["rows"]}
    assert cells["a0"]["shows"] == "running"
    assert cells["a0"]["fill_percent"] == 50
    assert cells["a0"]["occupants"][0]["owner"] == {"id": "mia", "name": "韩梅梅"}
    assert cells["a0"]["occupants"][0]["ending"]["at"] == "2026-12-01T11:00:00Z"
    assert cells["a1"]["shows"] == "free"
    assert cells["a1"]["vram_used_mib"] is None
    assert cells["x0"]["shows"] == "no_engine"
    assert told["totals"][0] == {
        "type": "", "all": 7, "free": 5, "promised": 0, "running": 1, "external": 0, "unfit": 1,
    }  # fmt: skip
    client = door.client("vic")
    assert {cell["id"] for cell in client.get("/cards?node=n2").json()["rows"]} == {"r0", "r1"}
    assert client.get("/cards?type=A100&shows=free").json()["total"] == 3
    assert client.get("/cards/a0").headers["ETag"] == '"1"'
    assert client.get("/cards/nope").json()["code"] == "noun.not_found"
    assert client.get("/cards?shows=green").status_code == 422


def test_nodes_are_drained_and_released(door):
    admin = door.client("ann")
    assert admin.post("/nodes/n1/drain", json={"reason": "move"}).json()["state"] == "drained"
    assert {c["shows"] for n in admin.get("/nodes").json()["rows"] if n["id"] == "n1" for c in n["cells"]} == {
        "draining"
    }
    assert admin.post("/nodes/n1/release").json()["state"] == "up"
    assert admin.post("/cards/a0/drain").json()["code"] == "field.missing"
    assert admin.post("/cards/a0/drain", json={"reason": "fan"}).json()["health"] == "draining"
    assert admin.post("/cards/a0/release").json()["health"] == "ok"


def test_datasets_are_made_marked_and_looked_back_at(door):
    client = door.client()
    made = client.post("/datasets", json={"name": "laion", "readiness": "preparing", "percent": 10})
    assert made.status_code == 201
    key = made.json()["id"]
    door.lab.submit("max", inputs="laion", cards=4)
    (row,) = client.get("/datasets?text=LAION").json()["rows"]
    assert (row["waiting_cards"], row["waiting"][0]["owner"]["id"]) == (4, "max")
    marked = client.patch(f"/datasets/{key}", json={"percent": "60%"}, headers={"If-Match": made.headers["ETag"]})
    assert marked.json()["percent"] == 60
    stale = client.patch(f"/datasets/{key}", json={"readiness": "ready"}, headers={"If-Match": made.headers["ETag"]})
    assert stale.status_code == 412
    client.patch(f"/datasets/{key}", json={"状态": "就绪"})
    history = client.get(f"/datasets/{key}/history").json()["rows"]
    assert [state["percent"] for state in history] == [100, 60, 10]
    probe = client.put(f"/datasets/{key}/probe", json={"probe": "command", "argv": ["true"]})
    assert probe.status_code == 403
    assert client.get("/readiness").json()["can_run"]


def test_people_teams_and_quotas(door):
    admin = door.client("ann")
    assert admin.post("/teams", json={"id": "audio", "name": "声学组"}).status_code == 201
    new = admin.post("/people", json={"id": "eve", "name": "Eve", "role": "成员", "teams": ["audio"]})
    assert (new.status_code, new.json()["role"]) == (201, "member")
    cleared = admin.patch("/people/eve", json={"teams": [], "active": "no", "reason": "left"})
    assert (cleared.json()["teams"], cleared.json()["active"]) == ([], False)
    bad = admin.post("/people", json={"id": "x", "role": "king", "foo": 1}).json()
    assert {problem["field"] for problem in bad["problems"]} == {"name", "role", "foo"}
    assert admin.patch("/people/ann", json={"role": "member"}).json()["code"] == "access.last_admin"
    assert admin.put("/quotas/audio", json={"max_cards": "８"}).json()["max_cards"] == 8
    assert admin.put("/quotas/audio", json={}).json()["code"] == "field.missing"
    assert admin.put("/quotas/audio", json={"max_cards": None}).json()["max_cards"] is None
    for wrong in (-1, True, 1.5, "NaN", 10**12):
        assert admin.put("/quotas/audio", json={"max_cards": wrong}).status_code == 422
    story = admin.get("/audit", params={"noun": "quota", "subject": "audio"}).json()["rows"]
    assert [(line["new"].get("max_cards"), line["door"]) for line in story] == [("", "api"), ("8", "api")]
    assert {row["team"]["id"] for row in admin.get("/teams").json()["rows"]} == {"vision", "text", "audio"}


def test_tokens_are_made_used_and_revoked(door):
    client = door.client("mia", Scope.SUBMIT)
    made = client.post("/tokens", json={"scopes": "read", "expires_at": "2026-12-24", "note": "wall"}).json()
    wall = door.anybody()
    wall.headers["Authorization"] = f"Bearer {made['secret']}"
    assert wall.get("/me").json()["may"] == ["see"]
    assert made["token"]["expires_at"] == "2026-12-24T23:59:59Z"
    assert made["secret"] not in client.get("/tokens").text
    assert client.post("/tokens", json={"scopes": ["king"]}).status_code == 422
    assert client.post(f"/tokens/{made['token']['id']}/revoke").status_code == 200
    assert wall.get("/me").status_code == 401


def test_usage_and_ledger_say_the_same(door):
    lab = door.lab
    run = lab.run(lab.submit("mia"), "a0", "a1")
    ended = replace(run, state=RunState.ENDED, ended_at=lab.clock.move(hours=2), cause=EndCause.DONE, version=2)
    done = replace(lab.task(run.task), state=TaskState.DONE, version=3)
    lines = (hold(run, "A100-80G", run.intended_at), *settle(ended, "A100-80G", lab.clock.now()))
    lab.store.update(lambda _: Change(puts=(done, ended), ledger=lines))
    client = door.client("vic")
    usage = client.get("/usage").json()
    assert usage["total"]["spent_card_seconds"] == 2 * 7200
    assert usage["teams"][0]["who"] == {"id": "vision", "name": "视觉组"}
    assert usage["holdings"][1]["held_parts"] == 0
    ledger = client.get("/ledger?kind=spend").json()
    assert [row["card_seconds"] for row in ledger["rows"]] == [14400]
    assert client.get("/usage?since=2026-12-02").json()["total"]["spent_card_seconds"] == 0
    assert client.get("/usage?since=yesterday").json()["field"] == "since"
    (told,) = client.get("/tasks/t-1/runs").json()["rows"]
    assert (told["card_seconds"], told["cause"]) == (14400, "done")
    assert client.get("/tasks/t-1").json()["cost"]["spent_card_seconds"] == 14400


def test_the_overview_counts(door):
    lab = door.lab
    lab.submit("mia", inputs="coco", milestone="paper", milestone_at="2026-12-05")
    lab.put(replace(lab.records.nodes["n1"], lease_ends_at=lab.clock.now() + timedelta(days=3), version=2))
    told = door.client("vic").get("/overview").json()
    assert told["shows"]["free"] == 6
    assert (told["unready_datasets"], told["tasks_waiting_for_data"], told["unseen"]) == (1, 1, 1)
    assert [due["kind"] for due in told["due"]] == ["lease", "milestone"]
    assert door.client("vic").get("/due").json()["total"] == 2


def test_why_tells_reasons_order_and_promise(door):
    door.lab.submit("mia")
    live = door.lab.live(waiting("t-1", 1, start_by=door.lab.clock.now() + timedelta(hours=1), cards=("a0",)))
    door.box.set(plan=live.plan, waits=live.waits)
    told = door.client("vic").get("/tasks/t-1/why").json()
    assert (told["position"], told["forecast"]["start_by"]) == (1, "2026-12-01T10:00:00Z")
    assert told["reasons"][0]["code"] == "wait.cards"
    cells = {cell["id"]: cell for cell in door.client("vic").get("/cards").json()["rows"]}
    assert cells["a0"]["shows"] == "promised"
    assert cells["a0"]["promised"]["task"]["id"] == "t-1"


def test_why_names_the_cheapest_change_and_works_it_out_once(door, monkeypatch):
    door.lab.submit("mia", inputs="coco")
    asked = []
    real = recall_unblock.cheapest_unblock
    monkeypatch.setattr(recall_unblock, "cheapest_unblock", lambda *what: asked.append(what) or real(*what))
    client = door.client("vic")
    told = [client.get("/tasks/t-1/why").json()["unblock"] for _ in range(3)]
    assert told[0] == told[1] == told[2]
    assert told[0][0]["starts_now"] is True
    assert len(asked) == 1
    assert client.get("/tasks/t-1/why?unblock=false").json()["unblock"] is None


class TestWordsAndFaults:
    def test_the_language_is_the_callers(self, door):
        client = door.client()
        english = client.get("/tasks/t-9").json()
        chinese = client.get("/tasks/t-9", headers={"Accept-Language": "zh-CN,zh;q=0.9"}).json()
        assert english["code"] == chinese["code"] == "noun.not_found"
        assert "There is no task" in english["message"]
        assert "没有编号为" in chinese["message"]
        assert "没有编号为" in client.get("/tasks/t-9?lang=zh").json()["message"]

    def test_a_fault_of_the_servers_own_has_a_number_and_no_secrets(self, door, monkeypatch, capsys):
        def broken(*_: object) -> None:
            raise RuntimeError("the password is hunter2")

        client = door.client()
        monkeypatch.setattr(type(door.lab.store), "usage", broken)
        answer = client.get("/usage")
        assert (answer.status_code, answer.json()["code"]) == (500, "api.incident")
        assert "hunter2" not in answer.text
        number = answer.json()["facts"]["incident"]
        logged = capsys.readouterr()
        assert number in logged.out + logged.err
        assert "hunter2" not in logged.out + logged.err

    def test_headers_keep_browsers_from_guessing(self, door):
        for path in ("/health", "/me", "/nowhere", "/tasks"):
            headers = door.client().get(path).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert "default-src 'none'" in headers["content-security-policy"]
            assert headers["cache-control"] == "no-store"

    def test_wrong_methods_and_addresses(self, door):
        client = door.client()
        assert client.put("/tasks").json()["code"] == "api.no_method"
        assert client.get("/../../etc/passwd").json()["code"] == "api.no_route"
