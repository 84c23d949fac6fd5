"""The Python client against a real server, over lines that lose answers too."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.interfaces.api.door import Door
from tests.interfaces.cli.house import House, served

from paika.domain.card import Vendor
from paika.domain.task import TaskState
from paika.interfaces import wire
from paika.interfaces.client import Client, Refused, Unreachable
from paika.ports.engine import Launch, LaunchPart

ROOT = Path(__file__).parents[2]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A served lab; no login of whoever runs the tests."""
    for name in ("PAIKA_URL", "PAIKA_TOKEN", "PAIKA_LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    door = Door()
    with served(door) as url:
        yield House(url, door, tmp_path)


@pytest.fixture
def mia(house: House) -> Iterator[Client]:
    """The client of a member."""
    with Client(house.url, house.secret("mia"), lang="en") as client:
        yield client


class LossyLine(httpx.HTTPTransport):
    """A real line on which the first answers get lost after the server has acted."""

    def __init__(self, lose: int) -> None:
        super().__init__()
        self.lose, self.sent = lose, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        answer = super().handle_request(request)
        if self.lose:
            self.lose -= 1
            answer.read()
            raise httpx.ReadTimeout("no answer in time")
        return answer


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pauses between tries."""
    monkeypatch.setattr(wire, "PAUSE_S", 0.0)


def test_submit_and_look(mia: Client):
    task = mia.submit(name="训练", cards=2, vram="24G", command=["python", "train.py"])
    assert (task["id"], task["demand"]["vram_mib"]) == ("t-1", 24 * 1024)
    assert mia.submit({"name": "b", "command": "true"}, priority=60)["priority"] == 60
    assert [row["id"] for row in mia.tasks()] == [row["id"] for row in mia.queue()["rows"]]
    assert mia.task("t-1")["task"]["name"] == mia.why("t-1")["name"] == "训练"
    assert mia.edit("t-1", {"note": "x"})["note"] == "x"
    assert mia.hold("t-1", "because")["state"] == "held"
    assert mia.release("t-1")["state"] == "waiting"
    with pytest.raises(Refused) as refused:
        mia.preview_move("t-1", 30)
    assert refused.value.code == "access.forbidden"
    thought = {"kind": "new_task", "form": {"cards": 9}}, {"kind": "cancelled_task", "of": "t-1"}
    told = mia.preview(*thought, limit=5)
    assert [subject["after"]["stands"] for subject in told["subjects"]] == ["parked", "gone"]
    with pytest.raises(Refused) as refused:
        mia.preview({"kind": "lost_node", "of": "n1"})
    assert refused.value.code == "access.forbidden"
    with pytest.raises(Refused):
        b"".join(mia.snapshot())
    assert mia.cancel("t-1")["state"] == "cancelled"
    assert [row["id"] for row in mia.tasks("ended")] == ["t-1"]


def test_many_come_in_together_or_not_at_all(mia: Client, house: House):
    with pytest.raises(Refused):
        mia.submit_many([{"name": "a", "command": "true"}, {"name": "b", "command": "true", "cards": -1}])
    assert not house.lab.records.tasks
    made = mia.submit_many({"name": f"n{n}", "command": "true"} for n in range(3))
    assert [task["name"] for task in made] == ["n0", "n1", "n2"]
    assert mia.submit(name="dry", command="true", dry_run=True)["name"] == "dry"
    assert len(house.lab.records.tasks) == 3


def test_iterating_goes_over_all_pages(mia: Client, house: House):
    house.lab.submit_all("mia", [{"name": f"n{n}"} for n in range(1003)])
    assert len({row["id"] for row in mia.tasks()}) == 1003
    assert len(list(mia.tasks(text="n1002"))) == 1


def test_a_refusal_tells_everything(mia: Client):
    with pytest.raises(Refused) as caught:
        mia.submit(name="x", command="true", cards="0")
    refused = caught.value
    assert (refused.code, refused.status) == ("input.several", 422)
    assert refused.problems[0]["field"] == "cards"
    assert "1..4096" in refused.problems[0]["hint"]
    with pytest.raises(Refused) as caught:
        mia.task("t-99")
    assert (caught.value.code, caught.value.status) == ("noun.not_found", 404)
    assert caught.value.hint
    assert str(caught.value).startswith(caught.value.message)


@pytest.mark.parametrize("odd", ["", " ", "../cards", "a/b", "..", ".", "t-1?x=1", "%2e%2e", "名字", "#"])
def test_ids_are_one_segment_whatever_they_hold(mia: Client, odd: str):
    with pytest.raises(Refused) as caught:
        mia.task(odd)
    assert caught.value.status in (404, 422)


def test_words_come_in_the_language_asked_for(house: House):
    said = []
    for lang in ("zh", "en"):
        with Client(house.url, house.secret("mia"), lang=lang) as client, pytest.raises(Refused) as caught:
            client.task("t-99")
        said.append(caught.value.message)
    assert "任务" in said[0]
    assert said[1].isascii()


def test_it_finds_server_and_token_by_itself(house: House, monkeypatch: pytest.MonkeyPatch):
    assert house.paika("login", by=None, stdin=house.secret("lea") + "\n").code == 0
    with Client() as client:
        assert client.get("me")["person"]["id"] == "lea"
    monkeypatch.setenv("PAIKA_URL", house.url)
    monkeypatch.setenv("PAIKA_TOKEN", house.secret("tim"))
    with Client() as client:
        assert client.get("me")["person"]["id"] == "tim"
    with Client(token=house.secret("mia")) as client:
        assert client.get("me")["person"]["id"] == "mia"


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("lost", [1, 2])
def test_a_lost_answer_submits_once(house: House, lost: int):
    line = LossyLine(lost)
    with Client(house.url, house.secret("mia"), transport=line) as client:
        task = client.submit(name="once", command="true")
    assert line.sent == lost + 1
    assert [task["id"]] == list(house.lab.records.tasks)


@pytest.mark.usefixtures("hasty")
def test_when_no_answer_comes_the_key_is_told(house: House):
    with Client(house.url, house.secret("mia"), transport=LossyLine(99), lang="en") as client:
        with pytest.raises(Unreachable) as caught:
            client.submit(name="once", command="true", key="my-key")
        assert (caught.value.code, caught.value.status) == ("client.no_answer", None)
        assert "--key my-key" in caught.value.hint
    with Client(house.url, house.secret("mia")) as client:
        assert client.submit(name="once", command="true", key="my-key")["id"] == "t-1"
    assert len(house.lab.records.tasks) == 1


@pytest.mark.usefixtures("hasty")
def test_what_has_no_key_is_never_repeated(house: House):
    house.lab.submit("mia")
    line = LossyLine(1)
    with Client(house.url, house.secret("mia"), transport=line) as client, pytest.raises(Unreachable):
        client.cancel("t-1")
    assert line.sent == 1
    assert house.lab.task("t-1").state is TaskState.CANCELLED


def test_nobody_there(tmp_path: Path):
    with Client("http://127.0.0.1:9", "x", lang="en") as client, pytest.raises(Unreachable) as caught:
        client.get("me")
    assert caught.value.code == "client.unreachable"


def test_something_else_there(house: House):
    with Client(house.url + "/elsewhere", "x", lang="en") as client, pytest.raises(Refused) as caught:
        client.get("me")
    assert caught.value.status in (None, 404)


def test_wait(mia: Client, house: House):
    task = mia.submit(name="x", command="true")
    with pytest.raises(TimeoutError, match="waiting"):
        mia.wait(task["id"], timeout=0.2, every_s=0.05)
    ender = threading.Timer(0.3, lambda: house.paika("task", "cancel", task["id"]))
    ender.start()
    assert mia.wait(task["id"], timeout=60, every_s=0.05)["state"] == "cancelled"
    ender.join()


def test_logs(mia: Client, house: House):
    task = house.lab.submit("mia", name="训练")
    assert list(mia.logs(task.id)) == []
    run = house.lab.run(task, "a0")
    part = LaunchPart(0, "n1", ("a0",), Vendor.NVIDIA)
    house.lab.engine.start(
        Launch(run.id, run.token, task.id, task.name, "mia", "vision", task.program, (part,), None, "TERM", 30, 1 << 22)
    )
    house.lab.engine.write(run.id, "损失\n".encode() * 100_000)
    assert "".join(mia.logs(task.id)) == "损失\n" * 100_000
    assert b"".join(mia.log_file(task.id)) == "损失\n".encode() * 100_000

    def go_on() -> None:
        time.sleep(0.3)
        house.lab.engine.write(run.id, b"end\n")
        house.lab.engine.end(run.id)

    writer = threading.Thread(target=go_on)
    writer.start()
    assert "".join(mia.logs(task.id, follow=True, every_s=0.05)).endswith("损失\nend\n")
    writer.join()
    with Client(house.url, house.secret("tim")) as client, pytest.raises(Refused) as caught:
        list(client.log_file(task.id))
    assert caught.value.status == 403


def test_data_cards_usage(mia: Client):
    assert [row["id"] for row in mia.datasets(readiness=["preparing"])] == ["d-2"]
    assert mia.mark("d-2", percent=60)["percent"] == 60
    assert mia.mark_ready("d-2", detail="查过了")["readiness"] == "ready"
    assert len(mia.cards(shows=["free"])) == 6
    assert len(mia.cards(card_type="RTX4090", node="n2")) == 2
    assert mia.usage()["total"]["spent_card_seconds"] == 0


def test_import(mia: Client, house: House):
    table = ("t.csv", "任务名,命令,卡数\nx,true,1\n".encode())
    assert len(mia.import_file(table)["accepted"]) == 1
    assert not house.lab.records.tasks
    first = mia.import_file(table, dry_run=False, key="k")
    assert mia.import_file(table, dry_run=False, key="k")["tasks"] == first["tasks"] == ["t-1"]


def test_it_brings_no_server_along():
    code = (
        "import sys, paika.interfaces.client as c\nc.Client('http://127.0.0.1:9', 'x')\n"
        "print([m for m in ('fastapi', 'starlette', 'sqlalchemy', 'uvicorn', 'typer', 'numpy') if m in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, cwd=ROOT
    )
    assert ran.stdout.strip() == "[]"


def test_windows_are_booked_and_floors_set_from_python(house: House) -> None:
    with Client(house.url, house.secret("lea"), lang="en") as paika:
        made = paika.book(starts_at="2026-12-02 09:00", duration="8h", cards=2, key="k")
        assert paika.book(starts_at="2026-12-02 09:00", duration="8h", cards=2, key="k") == made
        assert [row["reservation"]["id"] for row in paika.bookings(since="2026-12-01", state=["booked"])] == ["b-1"]
        assert paika.edit_booking("b-1", {"title": "x"}, if_version="1")["reservation"]["title"] == "x"
        assert paika.booking("b-1")["row"]["shows"] == "booked"
        assert paika.cancel_booking("b-1", "moved", dry_run=True)["dry_run"]
        assert paika.cancel_booking("b-1", "moved")["reservation"]["state"] == "cancelled"
    with Client(house.url, house.secret("mia"), lang="en") as paika:
        assert paika.book(starts_at="2026-12-02 09:00", duration="8h", cards=2)["reservation"]["state"] == "listed"
    with Client(house.url, house.secret("ann"), lang="en") as paika:
        assert paika.approve_booking("b-2")["reservation"]["approved_by"] == "ann"
        granted = paika.set_guarantee("text", {"cards": 2, "types": "A100"})["guarantee"]
        assert [row["guarantee"]["id"] for row in paika.guarantees()] == [granted["id"]]
        with pytest.raises(Refused) as refusal:
            paika.set_guarantee("text", {"cards": 99})
        assert refusal.value.code == "guarantee.no_room"
        assert paika.remove_guarantee(granted["id"])["guarantee"] is None


def test_an_admin_looks_and_moves(house: House, mia: Client):
    mia.submit(name="a", command="true")
    with Client(house.url, house.secret("ann"), lang="en") as ann:
        told = ann.preview_move("t-1", 30, limit=5)
        assert (told["points"], told["later"], house.lab.task("t-1").boost) == (30, [], 0)
        assert ann.move("t-1", 30, "urgent", if_version=str(told["version"]))["boost"] == 30
        with pytest.raises(Refused) as refused:
            ann.move("t-1", 40, "urgent", if_version=str(told["version"]))
    assert refused.value.code == "noun.version_conflict"
