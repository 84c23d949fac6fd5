"""Tasks listed, looked at and changed; who is hit is shown before it is done."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from rich.cells import cell_len
from tests.interfaces.cli.house import House
from tests.interfaces.stopped import victim
from tests.lab import T0, waiting

from paika.domain.reason import CardsBusy
from paika.domain.task import TaskState


def plan(house: House) -> None:
    first, second = (house.lab.submit("mia", name=name, cards=2) for name in ("训练七十亿参数模型", "coco 微调"))
    busy = CardsBusy(2, 1, 1, 1, 4, ())
    house.door.box.set(
        **{
            name: getattr(
                house.lab.live(
                    waiting(first.id, 1, busy, start_by=T0 + timedelta(hours=5), cards=("a0", "a1")),
                    waiting(second.id, 2, busy, busy),
                ),
                name,
            )
            for name in ("plan", "waits")
        }
    )


def test_the_queue_tells_place_start_and_first_reason(house: House):
    plan(house)
    said = house.paika("task", "ls", lang="zh").out.splitlines()
    assert said[1].split()[:2] == ["1", "t-1"]
    assert said[2].strip().startswith("└")
    assert said[4].rstrip().endswith("+1") or "…" in said[4]
    assert said[-1].startswith("等待 2")
    assert all(cell_len(line) <= 80 for line in said)


def test_why_tells_all_reasons_with_their_hints(house: House):
    plan(house)
    said = house.paika("why", "t-2").out
    assert said.count("· ") == 2
    told = house.paika("why", "t-2", "--json").json
    assert [reason["code"] for reason in told["reasons"]] == [CardsBusy.code] * 2
    assert told["reasons"][0]["message"] in " ".join(said.split())


def test_a_list_says_what_it_leaves_out(house: House):
    for n in range(35):
        house.lab.submit("mia", name=f"n{n}")
    said = house.paika("task", "ls")
    assert "5 more not shown" in said.out
    assert "--all" in said.out
    assert "more not shown" not in house.paika("task", "ls", "--all").out
    assert "32 more not shown" in house.paika("task", "ls", "--limit", "3").out
    told = house.paika("task", "ls", "--json").json
    assert (len(told["rows"]), told["left_out"]) == (35, 0)
    told = house.paika("task", "ls", "--json", "--limit", "3").json
    assert (len(told["rows"]), told["left_out"], told["total"]) == (3, 32, 35)


def test_lists_go_over_all_pages(house: House):
    house.lab.submit_all("mia", [{"name": f"n{n}"} for n in range(1100)])
    told = house.paika("task", "ls", "--json").json
    assert sorted(row["name"] for row in told["rows"]) == sorted(f"n{n}" for n in range(1100))


def test_filters(house: House):
    house.lab.submit("mia", name="mine")
    house.lab.submit("tim", name="his", tier="idle")

    def names(*args: str) -> list[str]:
        return [row["name"] for row in house.paika("task", "ls", "--json", *args).json["rows"]]

    assert names("--mine") == ["mine"]
    assert names("--tier", "idle", "--tier", "core") == ["his"]
    assert names("--team", "vision") == ["mine"]
    assert names("--text", "HIS") == ["his"]
    assert names("--state", "held") == []


def test_what_runs_and_what_has_ended(house: House):
    task = house.lab.submit("mia", name="训练", cards=2, limit="2h")
    house.lab.run(task, "a0", "a1")
    house.lab.clock.move(hours=1)
    running = house.paika("task", "ls", "--running").out
    assert "2 × A100-80G @ n1" in running
    assert "1 h" in running
    assert "11:00" in running
    gone = house.lab.submit("mia", name="gone")
    house.paika("task", "cancel", gone.id)
    assert "gone" in house.paika("task", "ls", "--ended").out


def test_show_tells_everything_in_eighty_cells(house: House):
    task = house.lab.submit("mia", name="训练" * 40, note="说明" * 100, inputs="coco", cards=2)
    house.lab.run(task, "a0", "a1")
    said = house.paika("task", "show", task.id, lang="zh").out
    assert all(cell_len(line) <= 80 for line in said.splitlines())
    assert "coco 准备中" in said
    assert "t-1.r1" in said


def test_a_waiting_task_is_cancelled_at_once(house: House):
    task = house.lab.submit("mia")
    said = house.paika("task", "cancel", task.id, "--json")
    assert (said.code, said.json["state"]) == (0, "cancelled")


@pytest.mark.parametrize(("reply", "code"), [("n\n", 3), ("", 3), ("y\n", 0)])
def test_cancelling_what_runs_shows_whom_it_hits_and_asks(house: House, reply: str, code: int):
    task = house.lab.submit("max", name="他的训练", cards=2)
    house.lab.submit("mia", name="child", after=task.id)
    house.lab.run(task, "a0", "a1")
    said = house.paika("task", "cancel", task.id, by="lea", stdin=reply)
    assert said.code == code
    for part in ("马克 (max)", "2 × A100-80G @ n1", "child", "他的训练"):
        assert part in said.err
    assert (house.lab.task(task.id).state is TaskState.RUNNING) == (code == 3)
    assert "child" not in said.out


def test_yes_asks_nothing(house: House):
    task = house.lab.submit("mia")
    house.lab.run(task, "a0")
    said = house.paika("task", "cancel", task.id, "--yes")
    assert said.code == 0
    assert said.err == ""
    assert house.lab.task(task.id).state is not TaskState.RUNNING


def test_cancelled_in_json_is_one_object_on_stderr(house: House):
    task = house.lab.submit("mia")
    house.lab.run(task, "a0")
    said = house.paika("task", "cancel", task.id, "--json", stdin="n\n")
    assert said.code == 3
    assert '"code": "cli.cancelled"' in said.err
    assert "{" not in said.out


def test_hold_release_edit(house: House):
    task = house.lab.submit("mia")
    assert house.paika("task", "hold", task.id).code == 4
    assert house.paika("task", "hold", task.id, "--reason", "等导师").code == 0
    assert house.lab.task(task.id).state is TaskState.HELD
    assert house.paika("task", "release", task.id).code == 0
    told = house.paika("task", "edit", task.id, "--priority", "60", "--note", "新", "--json", "--reason", "因为").json
    assert (told["priority"], told["note"]) == (60, "新")
    told = house.paika("task", "edit", task.id, "--clear", "note", "--json").json
    assert told["note"] == ""
    said = house.paika("task", "edit", task.id, "--priority", "1", "--if-version", "1", "--json")
    assert (said.code, said.refusal["status"], said.refusal["code"]) == (4, 412, "noun.version_conflict")


def test_acts_are_kept_as_those_of_the_command_line(house: House):
    task = house.lab.submit("mia")
    house.paika("task", "hold", task.id, "--reason", "x")
    entry = house.paika("audit", "ls", "--json", "--subject", task.id, by="ann").json["rows"][0]
    assert (entry["act"], entry["door"], entry["why"]) == ("hold_task", "cli", "x")


BITES = [
    "\x1b]0;owned\x07",
    "\x1b[2J",
    "\u202egnp.exe",
    "a\u200bb",
    "[red]x[/red]",
    ":smile:",
    "{{7*7}}",
    "=1+1",
    "\x9b31m",
]


@pytest.mark.parametrize("name", BITES)
def test_names_that_bite(house: House, name: str):
    task = house.lab.submit("mia")
    house.lab.put(replace(task, name=name, note=name, tags=(name,), version=2))
    for args in (["task", "ls"], ["task", "show", task.id], ["why", task.id], ["top", "--once"]):
        seen = house.paika(*args).out
        assert not any(sign in seen for sign in "\x1b\x07\x9b\u202e\u200b")
        told = house.paika(*args, "--json")
        assert not any(sign in told.out for sign in "\x1b\x07\x9b\u202e\u200b")
    assert house.paika("task", "show", task.id, "--json").json["task"]["name"] == name


def test_reasons_are_in_the_language_spoken(house: House):
    task = house.lab.submit("mia")
    plan_of = house.lab.live(waiting(task.id, 1, CardsBusy(2, 1, 1, 1, 4, ())))
    house.door.box.set(plan=plan_of.plan, waits=plan_of.waits)
    zh, en = (house.paika("why", task.id, "--json", lang=lang).json["reasons"][0]["message"] for lang in ("zh", "en"))
    assert zh != en
    assert "张卡" in zh
    assert "cards" in en


def test_show_tells_for_whom_a_run_was_stopped_and_who_moved_the_task(house: House):
    victim(house.lab)
    said = house.paika("task", "show", "t-1", lang="zh").out
    assert "为任务 urgent (t-2) 让卡" in said
    assert "本次的工作不保留" in said
    assert "2 次，最近" in said
    assert "+20 安娜 (ann)：paper deadline" in said
