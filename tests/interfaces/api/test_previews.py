"""What-if through the API: one list of edits, planned for real; nothing is written; bad edits name their field."""

from __future__ import annotations

from threading import Event, Thread

import pytest
from tests.interfaces.api.door import Door
from tests.wiring.served import eventually

from paika.services.plan_twice import TwoPlans
from paika.services.preview_edits import WhatIfs
from paika.services.run_cycle import decide

A100 = {"types": "A100-80G", "cards": 4, "limit": "2h"}
NEW = {"kind": "new_task", "form": {**A100, "priority": "１００"}}


def busy(**settings) -> Door:
    """All A100s are taken for an hour; t-2 and t-3 wait for all of them."""
    made = Door(**settings)
    made.lab.run(made.lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    for who in ("mia", "max"):
        made.lab.submit(who, name=who, **A100)
    return made


@pytest.fixture
def door() -> Door:
    return busy()


def test_it_tells_the_task_the_others_and_the_figures(door):
    client, before = door.client("mia"), door.lab.records
    told = client.post("/plan/preview", json={"edits": [NEW]}).json()
    (subject,) = told["subjects"]
    assert (subject["task"]["name"], subject["new"], subject["before"]) == ("what-if", True, None)
    after = subject["after"]
    assert (after["stands"], after["place"], after["start_by"]) == ("waits", 1, "2026-12-01T10:00:00Z")
    assert (after["card_type"], after["parts"][0]["node"]) == ("A100-80G", "n1")
    assert after["reasons"][0]["code"] == "wait.cards"
    assert after["reasons"][0]["message"]
    assert [(slip["task"]["id"], slip["later_s"]) for slip in told["later"]] == [("t-2", 7200), ("t-3", 7200)]
    assert (told["before"]["waiting"], told["after"]["waiting"], told["after"]["cards"]) == (2, 3, 6)
    assert door.lab.records.tasks is before.tasks


def test_one_edit_may_stand_alone_and_lists_are_cut(door):
    client = door.client("mia")
    assert client.post("/plan/preview", json=NEW).json() == client.post("/plan/preview", json=[NEW]).json()
    cut = client.post("/plan/preview", json=NEW, params={"limit": 1}).json()
    assert (len(cut["later"]), cut["later_count"]) == (1, 2)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ([], 422, "edits"),
        ({"edits": "all"}, 422, "edits"),
        ({"edit": [NEW]}, 422, "edit"),
        ([NEW] * 21, 422, "edits"),
        ([{"of": "n1"}], 422, "kind"),
        ([{"kind": "found_node", "of": "n1"}], 422, "kind"),
        ([{"kind": "lost_node"}], 422, "of"),
        ([{"kind": "lost_node", "of": 7}], 422, "of"),
        ([{"kind": "lost_node", "of": "n9"}], 404, "of"),
        ([{"kind": "lost_node", "of": "n1", "form": {"x": 1}}], 422, "form"),
        ([{"kind": "new_task", "of": "t-1", "form": {"cards": 1}}], 422, "of"),
        ([{"kind": "new_task", "form": {"cards": "many"}}], 422, "cards"),
        ([{"kind": "new_task", "form": {"kards": 1}}], 422, "kards"),
        ([{"kind": "new_task", "form": {"owner": "mia", "types": "A1000"}}], 422, "types"),
        ([{"kind": "new_task", "form": 5}], 422, "form"),
        ([{"kind": "changed_task", "of": "t-9", "form": {"priority": 1}}], 404, "of"),
        ([{"kind": "changed_task", "of": "t-2", "form": {}}], 422, "form"),
        ([{"kind": "changed_task", "of": "t-1", "form": {"cards": 1}}], 409, "cards"),
        ([{"kind": "moved_task", "of": "t-2", "form": {"points": 2000}}], 422, "points"),
        ([{"kind": "moved_task", "of": "t-1", "form": {"points": 20}}], 409, None),
        ([{"kind": "booking", "form": {"cards": 2}}], 422, "ends_at"),
        ([{"kind": "booking", "form": {"cards": 9, "duration": "1h", "team": "text"}}], 409, "cards"),
        ([{"kind": "guarantee", "of": "nobody", "form": {"cards": 2}}], 422, "of"),
        ([{"kind": "guarantee", "of": "text", "form": {}}], 422, "cards"),
        ([{"kind": "guarantee", "of": "text", "form": {"cards": 70}}], 409, None),
        ([{"kind": "withdrawn_guarantee", "of": "text"}], 404, "of"),
        ([{"kind": "policy", "form": {"age_points": 1}}], 422, "age_points"),
        ([{"kind": "policy", "form": {"headroom": "8 cards"}}], 422, "headroom"),
        ([{"kind": "policy", "form": {"strict_percent": 10}}], 422, "strict_percent"),
        ([{"kind": "more_cards", "form": {"cards": 8}}], 422, "type"),
        ([{"kind": "more_cards", "form": {"cards": 8, "type": "H1000"}}], 422, "type"),
        ([{"kind": "more_cards", "form": {"cards": 8, "type": "A100-80G", "nodes": 3}}], 422, "nodes"),
        ([{"kind": "quota", "of": "text", "form": {"max_cards": -1}}], 422, "max_cards"),
        ([{"kind": "ready_dataset", "of": "kokos"}], 422, "of"),
        ([{"kind": "lost_card", "of": "a"}], 404, "of"),
    ],
)
def test_bad_edits_name_the_field(door, body, status, field):
    answer = door.client("ann").post("/plan/preview", json=body)
    told = answer.json()
    assert answer.status_code == status, told
    told = told["problems"][0] if told.get("problems") else told
    assert told["field"] == field
    assert told["message"]
    assert told["hint"]


def test_of_several_edits_the_field_tells_which(door):
    client = door.client("ann")
    bad = [{"kind": "lost_node", "of": "n1"}, {"kind": "policy", "form": {"age_points_max": "x", "no_show_s": "y"}}]
    told = client.post("/plan/preview", json=bad).json()
    fields = [problem["field"] for problem in told["problems"]]
    assert fields == ["edits[1].age_points_max", "edits[1].no_show_s"]
    told = client.post("/plan/preview", json=[bad[0], {"kind": "lost_node", "of": "n9"}]).json()
    assert told["field"] == "edits[1].of"


def test_bodies_of_other_kinds_are_refused(door):
    client = door.client("ann")
    for body in (5, "x", [5], None):
        assert client.post("/plan/preview", json=body).status_code == 422


MINE = ("new_task", "changed_task", "cancelled_task", "booking", "ready_dataset")
WAYS = {
    "new_task": {"form": {"cards": 1}},
    "changed_task": {"of": "t-2", "form": {"priority": 9}},
    "cancelled_task": {"of": "t-2"},
    "moved_task": {"of": "t-2", "form": {"points": 9}},
    "booking": {"form": {"cards": 1, "duration": "1h", "types": "RTX4090"}},
    "guarantee": {"of": "text", "form": {"cards": 1}},
    "policy": {"form": {"normal_depth": None}},
    "lost_node": {"of": "n1"},
    "lost_card": {"of": "a0"},
    "node_back": {"of": "n1"},
    "card_back": {"of": "a0"},
    "more_cards": {"form": {"cards": 2, "type": "A100-80G"}},
    "quota": {"of": "vision", "form": {"max_cards": 1}},
    "ready_dataset": {"of": "coco"},
}


@pytest.mark.parametrize("kind", WAYS)
def test_who_may_do_it_may_look_at_it(door, kind):
    edit = [{"kind": kind, **WAYS[kind]}]
    people = ("ann", "mia", "max", "vic")
    let = {who: door.client(who).post("/plan/preview", json=edit).status_code for who in people}
    admin = {"new_task": 409, "booking": 422}.get(kind, 200)  # the admin is in no team, so none can bear it
    assert (let["ann"], let["mia"], let["vic"]) == (admin, 200 if kind in MINE else 403, 403)
    assert let["max"] == (403 if kind in ("changed_task", "cancelled_task") else let["mia"])


def test_a_member_learns_no_more_than_the_queue_shows(door):
    lab = door.lab
    lab.submit("max", name="secret", env={"KEY": "s3cret"}, command=["run", "--pass=s3cret"], note="s3cret", cards=4)
    told = door.client("mia").post("/plan/preview", json=[NEW]).text
    assert "s3cret" not in told
    assert "t-4" in told


def test_a_crowd_of_askers_is_sent_away_and_others_are_served():
    """One preview is worked out, one waits; the third is told to come again, and pages are served meanwhile."""
    begun, goes_on = Event(), Event()

    def slow(*asked):
        begun.set()
        assert goes_on.wait(30)
        return decide(*asked)

    door = busy(what_ifs=WhatIfs(TwoPlans(slow, most=2)))
    client, answers = door.client("mia"), []

    def ask() -> None:
        answers.append(client.post("/plan/preview", json=NEW).status_code)

    threads = [Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    eventually(lambda: door.context.what_ifs.plans._inside == 2)
    refused = client.post("/plan/preview", json=NEW)
    assert (refused.status_code, refused.json()["code"]) == (503, "preview.busy")
    assert client.get("/tasks").status_code == 200
    goes_on.set()
    for thread in threads:
        thread.join(30)
    assert answers == [200, 200]
    assert client.post("/plan/preview", json=NEW).status_code == 200


def test_where_a_failing_plan_is_kept_is_told_to_admins(door):
    door.box.set(alarms=("a card is given once: a0",), case="/data/cases/x.json.gz")
    told = {who: door.client(who).get("/overview").json()["case"] for who in ("ann", "lea", "mia", "vic")}
    assert told == {"ann": "/data/cases/x.json.gz", "lea": "", "mia": "", "vic": ""}
