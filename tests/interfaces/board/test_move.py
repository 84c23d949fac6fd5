"""The dialog that moves a task: only what was looked at is done, and only by admins."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.interfaces.api.door import Door
from tests.interfaces.board.test_rows import guest

from paika.domain.task import TaskState
from paika.interfaces.board.mount import mount_board

HERE = {"Origin": "http://testserver"}


@pytest.fixture
def door() -> Door:
    """All A100s are taken for an hour; t-2 and t-3 wait for all of them."""
    made = Door()
    mount_board(made.app, made.context)
    made.lab.run(made.lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    for who in ("mia", "max"):
        made.lab.submit(who, name=f"<{who}>", types="A100-80G", cards=4, limit="2h")
    return made


def post(visitor, **fields: str):
    asked = {"points": "30", "reason": "paper", "version": "1", **fields}
    return visitor.post("/tasks/t-3/move?lang=en", data=asked, headers=HERE)


def test_first_it_only_tells_who_slips(door):
    ann = guest(door, "ann")
    assert "/tasks/t-3/ask/move" in ann.get("/tasks/t-3").text
    assert 'name="points"' in ann.get("/tasks/t-3/ask/move").text
    told = post(ann).text
    for part in ("0 → +30 points", "Place 2 → 1", "Who starts later (1)", "&lt;mia&gt;", "2 h", "Move to +30"):
        assert part in told
    assert door.lab.task("t-3").boost == 0


def test_then_it_moves_by_what_was_looked_at(door):
    ann = guest(door, "ann")
    assert post(ann, points="40", looked_at="30").status_code == 200
    assert post(ann, looked_at="30", check="1").status_code == 200
    assert door.lab.task("t-3").boost == 0
    assert post(ann, looked_at="30").status_code == 204
    assert (door.lab.task("t-3").boost, door.lab.task("t-3").boost_why) == (30, "paper")
    page = ann.get("/tasks/t-3?lang=en").text
    assert "+30" in page
    assert "安娜: paper" in page
    changed = post(ann, points="0", looked_at="0", version="1")
    assert changed.status_code == 422
    assert post(ann, points="0", looked_at="0", version="2").status_code == 204
    assert door.lab.task("t-3").boost == 0


@pytest.mark.parametrize(("wrong", "field"), [({"points": "soon"}, "points"), ({"reason": " "}, "reason")])
def test_what_is_wrong_stands_beside_its_field(door, wrong, field):
    answer = post(guest(door, "ann"), looked_at="30", **wrong)
    assert answer.status_code == 422
    assert f'id="w-{field}"' in answer.text
    assert door.lab.task("t-3").boost == 0


@pytest.mark.parametrize("person", ["lea", "mia", "vic"])
def test_others_are_neither_offered_nor_let(door, person):
    visitor = guest(door, person)
    assert "ask/move" not in visitor.get("/tasks/t-3").text
    assert visitor.get("/tasks/t-3/ask/move").status_code == 403
    assert post(visitor).status_code == 403
    assert post(visitor, looked_at="30").status_code == 403
    assert door.lab.task("t-3").boost == 0


def test_what_runs_is_offered_only_the_way_back(door):
    ann, task = guest(door, "ann"), door.lab.task("t-1")
    assert "ask/move" not in ann.get("/tasks/t-1").text
    assert ann.get("/tasks/t-1/ask/move").status_code == 200
    door.lab.put(replace(task, boost=9, boost_by="ann", boost_why="x", version=task.version + 1))
    assert "ask/move" in ann.get("/tasks/t-1").text
    asked = {"points": "0", "reason": "over", "looked_at": "0"}
    assert ann.post("/tasks/t-1/move", data=asked, headers=HERE).status_code == 204
    assert door.lab.task("t-1").boost == 0
    done = door.lab.submit("mia")
    door.lab.put(replace(done, state=TaskState.DONE, boost=9, version=2))
    assert "ask/move" not in ann.get(f"/tasks/{done.id}").text


def test_a_form_from_elsewhere_moves_nothing(door):
    ann = guest(door, "ann")
    asked = {"points": "30", "reason": "x", "looked_at": "30"}
    assert ann.post("/tasks/t-3/move", data=asked, headers={"Origin": "http://evil.example"}).status_code == 403
    assert door.lab.task("t-3").boost == 0
