"""The page What if: edits are put together, each time planned with all before; nothing is written."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from tests.interfaces.api.door import Door
from tests.interfaces.board.test_rows import guest

from paika.interfaces.board.mount import mount_board
from paika.services.plan_twice import TwoPlans
from paika.services.preview_edits import WhatIfs
from paika.services.what_if_form import EDITS, RIGHTS, EditKind

HERE = {"Origin": "http://testserver", "HX-Request": "true"}
A100 = {"types": "A100-80G", "cards": 4, "limit": "2h"}


@pytest.fixture
def door() -> Door:
    """All A100s are taken for an hour; t-2 and t-3 wait for all of them."""
    made = Door()
    mount_board(made.app, made.context)
    made.lab.run(made.lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    for who in ("mia", "max"):
        made.lab.submit(who, name=f"<{who}>", **A100)
    return made


def post(visitor, what: str, edits: list[dict] | None = None, **fields: str):
    asked = {"what": what, "edits": json.dumps(edits or []), **fields}
    return visitor.post("/what-if?lang=en", data=asked, headers=HERE)


def edits_in(text: str) -> list[dict]:
    found = re.search(r'name="edits" value="([^"]*)"', text)
    assert found
    return json.loads(unescape(found[1]))


def test_a_lost_machine_tells_who_slips(door):
    ann, before = guest(door, "ann"), door.lab.records
    assert "Change something" in ann.get("/what-if?lang=en").text
    text = post(ann, "lost_node", whose="n1").text
    for part in ("Who starts later (2)", "&lt;mia&gt;", "would be cut off", "Usable cards", "nothing was written"):
        assert part in text
    assert "<mia>" not in text
    assert edits_in(text) == [{"kind": "lost_node", "of": "n1"}]
    assert (door.lab.records.nodes, door.lab.records.tasks) == (before.nodes, before.tasks)


def test_edits_add_up_and_are_dropped(door):
    mia = guest(door, "mia")
    first = edits_in(post(mia, "new_task", cards="4", types="A100-80G", limit="3h", priority="100").text)
    assert first == [
        {"kind": "new_task", "form": {"cards": "4", "types": "A100-80G", "limit": "3h", "priority": "100"}}
    ]
    text = post(mia, "ready_dataset", first, whose="coco").text
    both = edits_in(text)
    assert [edit["kind"] for edit in both] == ["new_task", "ready_dataset"]
    assert "Who starts later (2)" in text
    again = post(mia, "ready_dataset", both, again="1", whose="")
    assert (again.status_code, edits_in(again.text)) == (200, both)
    text = post(mia, "ready_dataset", both, drop="0").text
    assert edits_in(text) == both[1:]
    assert "Nobody starts later" in text
    assert edits_in(post(mia, "ready_dataset", both[1:], drop="0").text) == []


@pytest.mark.parametrize(
    ("what", "fields", "wrong"),
    [
        ("new_task", {"cards": "many"}, "cards"),
        ("new_task", {"types": "A1000"}, "types"),
        ("lost_node", {"whose": ""}, "whose"),
        ("lost_node", {"whose": "n9"}, "whose"),
        ("policy", {"setting": "age_points_max", "value": "lots"}, "value"),
        ("more_cards", {"cards": "2"}, "type"),
        ("guarantee", {"whose": "vision", "cards": "x"}, "cards"),
        ("booking", {"team": "vision", "cards": "2"}, "ends_at"),
        ("quota", {"whose": "vision", "max_cards": "-1"}, "max_cards"),
        ("moved_task", {"whose": "t-2", "points": "x"}, "points"),
        ("changed_task", {"whose": "t-2", "limit": "x"}, "limit"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(door, what, fields, wrong):
    ready = [{"kind": "ready_dataset", "of": "coco"}]
    ann = guest(door, "ann")
    more = {"owner": "mia"} if what == "new_task" else {}
    for before in ([], ready):
        answer = post(ann, what, before, **fields, **more)
        assert answer.status_code == 422
        assert f'id="w-{wrong}"' in answer.text
        assert edits_in(answer.text) == before
        for key, value in fields.items():
            if key not in ("setting", "team") and value:
                assert f'value="{value}"' in answer.text


@pytest.mark.parametrize(
    ("what", "fields"),
    [
        ("changed_task", {"whose": "t-2", "priority": "90", "preemptible": "true", "tier": "idle"}),
        ("cancelled_task", {"whose": "t-2"}),
        ("moved_task", {"whose": "t-3", "points": "40"}),
        ("booking", {"duration": "4h", "cards": "2", "types": "RTX4090", "team": "text", "together": "1"}),
        ("guarantee", {"whose": "text", "cards": "2", "types": "RTX4090", "together": "2"}),
        ("policy", {"setting": "normal_depth", "value": ""}),
        ("policy", {"setting": "headroom", "value": "1x2:RTX4090"}),
        ("lost_card", {"whose": "a0"}),
        ("node_back", {"whose": "n2"}),
        ("card_back", {"whose": "a0"}),
        ("more_cards", {"cards": "4", "type": "A100-80G", "nodes": "1"}),
        ("quota", {"whose": "vision", "max_cards": ""}),
        ("quota", {"whose": "vision", "max_cards": "2"}),
    ],
)
def test_every_kind_is_planned(door, what, fields):
    answer = post(guest(door, "ann"), what, **fields)
    assert answer.status_code == 200, answer.text
    assert 'class="figures"' in answer.text
    assert edits_in(answer.text)[0]["kind"] == what


@pytest.mark.parametrize("kind", EditKind)
def test_every_kind_has_its_fields(door, kind):
    text = guest(door, "ann").get(f"/what-if/fields?what={kind}&lang=en").text
    assert ('name="whose"' in text) is bool(EDITS[kind].of)
    assert 'name="command"' not in text


def test_each_is_offered_what_he_may_do(door):
    for person in ("ann", "mia", "lea"):
        text = guest(door, person).get("/what-if").text
        actor = door.lab.actor(person)
        for kind in EditKind:
            assert (f'<option value="{kind}"' in text) is actor.may(RIGHTS[kind]), (person, kind)


def test_who_submits_nothing_has_no_such_page(door):
    vic = guest(door, "vic")
    assert "/what-if" not in vic.get("/queue").text
    assert "/what-if" in guest(door, "mia").get("/queue").text
    assert vic.get("/what-if").status_code == 403
    assert post(vic, "lost_node", whose="n1").status_code == 403


def test_what_others_may_do_is_refused_and_the_form_stays(door):
    answer = post(guest(door, "mia"), "new_task", [{"kind": "lost_node", "of": "n1"}], cards="1")
    assert (answer.status_code, edits_in(answer.text)) == (422, [{"kind": "lost_node", "of": "n1"}])
    assert "You may not" in answer.text


def test_a_crowd_is_told_to_come_again(door):
    full = Door(door.lab, what_ifs=WhatIfs(TwoPlans(most=0)))
    mount_board(full.app, full.context)
    answer = post(guest(full, "ann"), "lost_node", whose="n1")
    assert "Try again in a few seconds" in answer.text
    assert 'value="n1"' in answer.text


def test_a_page_of_nobodys_is_refused(door):
    ann = guest(door, "ann")
    for edits in ("{", "5", "[5]"):
        asked = {"what": "lost_node", "whose": "n1", "edits": edits}
        assert ann.post("/what-if", data=asked, headers=HERE).status_code == 422
    elsewhere = {**HERE, "Origin": "http://evil.example"}
    assert ann.post("/what-if", data={"what": "lost_node", "whose": "n1"}, headers=elsewhere).status_code == 403


def test_other_pages_lead_to_it_with_the_noun_filled_in(door):
    text = guest(door, "ann").get("/what-if?what=lost_node&whose=n2").text
    assert re.search(r'<option value="lost_node" selected', text)
    assert 'value="n2"' in text


def check(visitor, **fields: str):
    asked = {"name": "mine", "command": "true", "check": "1", **fields}
    return visitor.post("/submit?lang=en", data=asked, headers=HERE)


def test_the_form_of_a_new_task_tells_where_it_would_land(door):
    mia, before = guest(door, "mia"), door.lab.records.tasks
    text = check(mia, cards="4", types="A100-80G", limit="3h", priority="99").text
    for part in ('id="lands"', "by 10:00", "4 × A100-80G", "Who starts later (2)", "&lt;max&gt;", "3 h"):
        assert part in text
    assert "Nobody starts later" in check(mia, vram="10G").text
    assert door.lab.records.tasks is before


def test_a_check_in_a_crowd_still_checks(door):
    full = Door(door.lab, what_ifs=WhatIfs(TwoPlans(most=0)))
    mount_board(full.app, full.context)
    answer = check(guest(full, "mia"))
    assert answer.status_code == 200
    assert 'class="note good"' in answer.text
    assert "Try again in a few seconds" in answer.text


def test_the_overview_tells_admins_where_a_failing_plan_is_kept(door):
    door.box.set(alarms=("a card is given once: a0",), case="/data/cases/x.json.gz")
    assert "/data/cases/x.json.gz" in guest(door, "ann").get("/?lang=en").text
    assert "/data/cases" not in guest(door, "lea").get("/?lang=en").text
    door.box.set(alarms=())
    assert "/data/cases" not in guest(door, "ann").get("/?lang=en").text
