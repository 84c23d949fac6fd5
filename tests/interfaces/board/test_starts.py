"""Starts on the board: ranges with their hit rate, slips, the history of promises, and published hit rates."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.interfaces.api.door import Door
from tests.interfaces.board.test_rows import guest
from tests.lab import T0, waiting
from tests.ports.store_examples import put

from paika.domain.plan import ReasonRecord
from paika.domain.promise import Outcome, Promise, Slip
from paika.interfaces.board.mount import mount_board
from paika.services.score_promises import accuracy


@pytest.fixture
def door() -> Door:
    made = Door()
    mount_board(made.app, made.context)
    task = made.lab.submit("mia", name="job")
    wait = waiting(task.id, 1, start_by=T0 + timedelta(hours=2), cards=("a0",))
    ranged = replace(wait.forecast, start_from=T0 + timedelta(hours=1), hit_permille=820)
    wait = replace(wait, forecast=ranged, terms=replace(wait.terms, entitled=True))
    live = made.lab.live(wait)
    made.box.set(plan=live.plan, waits=live.waits, slips={task.id: Slip(T0, "overrun", "r-7")})
    promise = Promise(task.id, 1, T0 + timedelta(hours=1), ())
    put(made.lab.store, reasons=(ReasonRecord(task.id, T0, wait.reasons, promise),))
    return made


@pytest.mark.parametrize("path", ["/queue", "/tasks/t-1"])
def test_a_range_its_hit_rate_and_why_it_is_late(door, path):
    page = guest(door, "mia").get(f"{path}?lang=en").text
    assert "10:00–11:00" in page
    assert "82 % of such ranges held" in page
    assert "because run r-7 overran" in page
    assert "goes first" in page
    assert "上次同类命中 82%" in guest(door, "mia").get(f"{path}?lang=zh").text


def test_the_task_tells_what_it_was_told(door):
    assert "Told: by 10:00 at the latest" in guest(door, "mia").get("/tasks/t-1?lang=en").text


def test_hit_rates_are_published_once_there_are_enough(door):
    page = guest(door, "mia").get("/queue?lang=en").text
    assert "Not enough history yet" in page
    assert 'id="accuracy-3600"' not in page
    door.box.set(accuracy=accuracy([Outcome(f"t-{n}", T0, 7200, 60 * n, n % 4 != 0) for n in range(20)]))
    page = guest(door, "mia").get("/queue?lang=en").text
    assert "75 %" in page
    assert page.count("not enough history yet") == 4
    assert "17 min later" in page
