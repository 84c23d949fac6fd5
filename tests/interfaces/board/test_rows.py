"""Rows of the queue are kept from one look to the next: what a page shows is always what would be made anew."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.interfaces.api.door import Door, TestClient
from tests.lab import waiting

from paika.domain.reason import CardsBusy, DataNotReady, Holder
from paika.domain.task import TaskState
from paika.interfaces.board.mount import mount_board
from paika.interfaces.wording import say

WHY = (
    CardsBusy(1, 1, 0, 0, 4, (Holder("r-1", "t-9", "mia", 1, None, False),)),
    DataNotReady("d-2", "preparing", 40, None, "mia"),
)


@pytest.fixture
def door() -> Door:
    made = Door()
    mount_board(made.app, made.context)
    for number in range(3):
        made.lab.submit("mia", name=f"job {number}", inputs=["coco"])
    made.box.set(**shown(made, waiting("t-1", 1, *WHY), waiting("t-2", 2, WHY[0])))
    return made


def shown(door: Door, *waits):
    live = door.lab.live(*waits)
    return {"plan": live.plan, "waits": live.waits}


def guest(door: Door, person: str) -> TestClient:
    client = TestClient(door.app, base_url="http://testserver")
    form = {"secret": door.secret(person), "next": "/queue"}
    assert client.post("/login", data=form, headers={"Origin": "http://testserver"}).status_code == 200
    return client


def page(client: TestClient, monkeypatch, path: str = "/queue") -> str:
    """The page with what was kept, which is the page made anew."""
    kept = client.get(path).text
    with monkeypatch.context() as patch:
        patch.setattr(say, "_MEMORIES", {})
        assert client.get(path).text == kept
    assert "\0" not in kept
    return kept


def test_whatever_changes_is_shown(door, monkeypatch):
    mia, lab = guest(door, "mia"), door.lab
    first, second = door.box.read().plan.waits
    pages = [page(mia, monkeypatch)]
    for change in (
        lambda: lab.clock.move(minutes=5),
        lambda: lab.clock.move(days=1),
        lambda: door.box.set(**shown(door, replace(second, rank=1), replace(first, rank=2))),
        lambda: door.box.set(**shown(door, replace(second, rank=1, terms=replace(second.terms, age=9)), first)),
        lambda: door.box.set(**shown(door, replace(first, reasons=WHY[1:]))),
        lambda: lab.put(replace(lab.records.people["mia"], name="Meimei", version=2)),
        lambda: lab.put(replace(lab.records.datasets["d-2"], name="coco 2", version=2)),
        lambda: lab.put(replace(lab.task("t-2"), state=TaskState.HELD, held_by="mia", version=2)),
    ):
        change()
        pages.append(page(mia, monkeypatch))
    assert len(set(pages)) == len(pages)
    assert page(mia, monkeypatch, "/") == mia.get("/").text


def test_each_guest_sees_his_own(door, monkeypatch):
    pages = [page(guest(door, person), monkeypatch) for person in ("mia", "max", "lea", "ann")]
    assert ['class="mine"' in one for one in pages] == [True, False, False, False]
    assert ["/ask/cancel" in one for one in pages] == [True, False, True, True]
    mia = guest(door, "mia")
    assert page(mia, monkeypatch, "/queue?lang=en") != page(mia, monkeypatch, "/queue?lang=zh")


def test_names_cannot_take_the_place_of_what_is_filled_in(door, monkeypatch):
    door.lab.put(replace(door.lab.task("t-1"), name="\0position\0 \0stamp\0 <b>", version=2))
    assert "⟦U+0000⟧position⟦U+0000⟧" in page(guest(door, "mia"), monkeypatch)
