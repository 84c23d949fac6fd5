"""The policy on the board: all numbers in words, versions, and for admins a look before each change."""

from __future__ import annotations

import pytest
from tests.interfaces.api.door import Door
from tests.interfaces.board.test_rows import guest

from paika.domain.policy import Headroom, Policy
from paika.domain.policy_form import POLICY
from paika.interfaces.board.mount import mount_board
from paika.interfaces.board.policy import GROUPS

HERE = {"Origin": "http://testserver"}


@pytest.fixture
def door() -> Door:
    """All A100s are taken for an hour; two tasks wait for all of them."""
    made = Door()
    mount_board(made.app, made.context)
    form = {"types": "A100-80G", "cards": 4, "limit": "2h"}
    made.lab.run(made.lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    made.lab.submit("mia", name="<first>", **form)
    made.lab.submit("max", name="second", **form)
    return made


def post(visitor, path: str, **fields: str):
    return visitor.post(f"{path}?lang=en", data=fields, headers=HERE)


def test_every_number_stands_in_one_group():
    names = [field.key for field in POLICY.fields]
    placed = [name for _, starts in GROUPS for name in names if name.startswith(starts)]
    assert sorted(placed) == sorted(names)


def test_everybody_sees_the_numbers_and_nobody_but_admins_a_form(door):
    text = guest(door, "mia").get("/policy?lang=en").text
    for part in ("Half-life of usage", "fair_half_life_s", "7 d", "no bound", "as installed", "in force"):
        assert part in text
    assert "/policy/edit/" not in text
    assert guest(door, "mia").get("/policy/edit/normal_depth").status_code == 403
    assert "/policy/edit/normal_depth" in guest(door, "ann").get("/policy").text


def test_first_it_only_tells_then_it_is_changed_then_it_is_taken_back(door):
    ann = guest(door, "ann")
    assert 'value="7d"' in ann.get("/policy/edit/fair_half_life_s").text
    told = post(ann, "/policy/edit/improve_rounds", value="5", check="1", version="1")
    assert "nothing is written yet" in told.text
    assert door.lab.records.policy == Policy()
    assert post(ann, "/policy/edit/improve_rounds", value="5", version="1", reason="<calm>").status_code == 204
    assert post(ann, "/policy/edit/headroom", value="1x2:a100-80g!", version="2", reason="bursts").status_code == 204
    now = door.lab.records.policy
    assert (now.version, now.improve_rounds, now.headroom) == (3, 5, (Headroom(1, 2, "", ("A100-80G",), False),))
    text = ann.get("/policy?lang=en").text
    for part in ("&lt;calm&gt;", "usually 0", "1x2:A100-80G!", "/policy/rollback/1", "/policy/rollback/2"):
        assert part in text
    assert "/policy/rollback/3" not in text
    assert "Bring back version 2?" in ann.get("/policy/rollback/2?lang=en").text
    assert post(ann, "/policy/rollback/2", version="3", reason="enough").status_code == 204
    assert door.lab.records.policy == Policy(version=4, improve_rounds=5)
    assert "back to version 2" in ann.get("/policy?lang=en").text


@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        ("/policy/edit/improve_rounds", {"value": "5", "version": "1"}, 'id="w-reason"'),
        ("/policy/edit/improve_rounds", {"value": "many", "version": "1", "reason": "x"}, 'id="w-value"'),
        ("/policy/edit/improve_rounds", {"value": "5", "version": "7", "reason": "x"}, "version"),
        ("/policy/edit/headroom", {"value": "2@nowhere", "version": "1", "reason": "x"}, 'id="w-value"'),
        ("/policy/rollback/1", {"version": "1"}, 'id="w-reason"'),
    ],
)
def test_what_is_refused_is_told_beside_its_field(door, path: str, fields: dict[str, str], said: str):
    answer = post(guest(door, "ann"), path, **fields)
    assert answer.status_code == 422
    assert said in answer.text
    assert door.lab.records.policy == Policy()


@pytest.mark.parametrize("path", ["/policy/edit/nothing", "/policy/rollback/9"])
def test_what_is_not_there(door, path: str):
    assert guest(door, "ann").get(path).status_code == 404
