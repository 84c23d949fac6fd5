"""A task that was stopped for others or moved by an admin: its page and the API say so."""

from __future__ import annotations

import pytest
from tests.interfaces.api.door import Door
from tests.interfaces.board.test_rows import guest
from tests.interfaces.stopped import victim

from paika.domain.run import EndCause
from paika.interfaces.board.mount import mount_board

HERE = {"Origin": "http://testserver"}


@pytest.mark.parametrize(("checkpoint", "kept"), [(True, "saves its work"), (False, "work of this run is lost")])
def test_the_page_tells_for_whom_and_what_became_of_the_work(checkpoint, kept):
    door = Door()
    mount_board(door.app, door.context)
    victim(door.lab, checkpoint=checkpoint)
    page = guest(door, "mia").get("/tasks/t-1?lang=en").text
    assert "gave its cards to task urgent" in page
    assert kept in page
    assert "2 times, last at 07:00" in page
    assert "+20" in page
    assert "安娜: paper deadline" in page


def test_a_run_that_was_done_before_it_was_stopped_gave_nothing_up():
    door = Door()
    mount_board(door.app, door.context)
    victim(door.lab, cause=EndCause.DONE)
    assert "gave its cards" not in guest(door, "mia").get("/tasks/t-1?lang=en").text


def test_a_task_that_nobody_stopped_or_moved_says_nothing_of_it():
    door = Door()
    mount_board(door.app, door.context)
    door.lab.submit("mia")
    page = guest(door, "mia").get("/tasks/t-1?lang=en").text
    assert "Preempted in the last day" not in page
    assert "Moved by an admin" not in page


def test_the_api_names_them():
    door = Door()
    victim(door.lab)
    told = door.client("mia").get("/tasks/t-1").json()
    assert told["boost_by"] == {"id": "ann", "name": "安娜"}
    assert told["preempted"] == ["2026-12-01T04:00:00Z", "2026-12-01T07:00:00Z"]
    assert told["runs"][0]["stop_for"] == {"id": "t-2", "name": "urgent"}


def test_the_edit_of_a_waiting_task_says_whether_it_may_be_stopped_and_saves_its_work():
    door = Door()
    mount_board(door.app, door.context)
    task = door.lab.submit("mia", preemptible=True)
    visitor = guest(door, "mia")
    assert "Saves its work" in visitor.get("/tasks/t-1/ask/edit?lang=en").text
    asked = {"version": str(task.version), "preemptible": "false", "checkpoint": "true", "priority": "50"}
    assert visitor.post("/tasks/t-1/edit", data=asked, headers=HERE).status_code == 204
    now = door.lab.task("t-1")
    assert (now.preemptible, now.checkpoint) == (False, True)
    assert "saves its work when stopped" in visitor.get("/tasks/t-1?lang=en").text
    door.lab.run(now, "a0")
    assert "Saves its work" not in visitor.get("/tasks/t-1/ask/edit?lang=en").text


def test_the_form_of_a_new_task_asks_whether_it_saves_its_work():
    door = Door()
    mount_board(door.app, door.context)
    visitor = guest(door, "mia")
    assert 'name="checkpoint"' in visitor.get("/submit?lang=zh").text
    asked = {"name": "saves", "command": "true", "checkpoint": "true"}
    assert visitor.post("/submit", data=asked, headers=HERE, follow_redirects=False).headers["location"] == "/tasks/t-1"
    assert door.lab.task("t-1").checkpoint
