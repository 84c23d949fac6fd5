"""A task moved in the order through the API: first who slips, then the move, then nothing of it."""

from __future__ import annotations

import pytest
from tests.interfaces.api.door import Door

A100 = {"types": "A100-80G", "cards": 4, "limit": "2h"}
WHY = "paper deadline"


@pytest.fixture
def door() -> Door:
    """All A100s are taken for an hour; t-2 and t-3 wait for all of them."""
    made = Door()
    made.lab.run(made.lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    for who in ("mia", "max"):
        made.lab.submit(who, name=who, **A100)
    return made


def test_who_slips_is_told_and_nothing_written(door):
    before = door.lab.records
    answer = door.client("ann").get("/tasks/t-3/move", params={"points": "30"})
    told = answer.json()
    assert (told["points_before"], told["points"], told["place_before"], told["place_after"]) == (0, 30, 2, 1)
    assert (told["moved"]["before"], told["moved"]["after"]) == ("2026-12-01T12:00:00Z", "2026-12-01T10:00:00Z")
    (slips,) = told["later"]
    assert (slips["task"], slips["later_s"], slips["tier"]) == ({"id": "t-2", "name": "mia"}, 7200, "normal")
    assert answer.headers["etag"] == f'"{told["version"]}"'
    assert door.lab.records.tasks == before.tasks
    assert door.client("ann").get("/tasks/t-3/move", params={"points": 30, "limit": 1}).json()["later_count"] == 1


def test_the_move_and_the_way_back(door):
    client = door.client("ann")
    moved = client.post("/tasks/t-3/move", json={"points": 30, "reason": WHY}, headers={"If-Match": '"1"'})
    assert (moved.status_code, moved.json()["boost"], moved.json()["boost_why"]) == (200, 30, WHY)
    assert client.get("/tasks/t-3").json()["boost_by"] == {"id": "ann", "name": "安娜"}
    stale = client.post("/tasks/t-3/move", json={"points": 40, "reason": WHY}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (412, "noun.version_conflict")
    back = client.post("/tasks/t-3/move", json={"加减分": "0", "原因": "算了"}).json()
    assert (back["boost"], back["boost_by"]) == (0, "")
    story = client.get("/audit", params={"noun": "task", "subject": "t-3"}).json()["rows"]
    assert [(line["act"], line["why"]) for line in story][:2] == [("move_task", "算了"), ("move_task", WHY)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reason": WHY}, "points"),
        ({"points": 2000, "reason": WHY}, "points"),
        ({"points": "soon", "reason": WHY}, "points"),
        ({"points": 30}, "reason"),
        ({"points": 30, "reason": "x" * 201}, "reason"),
        ({"points": 30, "reason": WHY, "boost": 1}, "boost"),
    ],
)
def test_bad_moves_name_the_field(door, body, field):
    answer = door.client("ann").post("/tasks/t-3/move", json=body)
    assert answer.status_code == 422
    told = answer.json()
    assert field in {told["field"], *(problem["field"] for problem in told.get("problems", ()))}
    assert door.lab.task("t-3").boost == 0


def test_what_runs_or_is_not_there_is_not_moved(door):
    client = door.client("ann")
    for ask in (
        lambda task: client.post(f"/tasks/{task}/move", json={"points": 1, "reason": WHY}),
        lambda task: client.get(f"/tasks/{task}/move", params={"points": 1}),
    ):
        assert (ask("t-1").status_code, ask("t-1").json()["code"]) == (409, "task.not_in_order")
        assert ask("t-9").status_code == 404
    assert client.get("/tasks/t-3/move", params={"points": "much"}).status_code == 422
    assert client.get("/tasks/t-3/move").status_code == 422
