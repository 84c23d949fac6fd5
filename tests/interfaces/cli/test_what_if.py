"""`paika plan preview`: what would be if, as the server plans it; nothing is written."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len
from tests.interfaces.cli.house import House

A100 = {"types": "A100-80G", "cards": 4, "limit": "2h"}


@pytest.fixture
def queue(house: House) -> House:
    """All A100s are taken for an hour; t-2 (named at length, with a milestone) and t-3 wait for all of them."""
    lab = house.lab
    lab.run(lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    due = {"milestone": "paper", "milestone_at": "2026-12-01T12:30:00Z"}
    lab.submit("mia", name="训练七十亿参数的大模型第三轮对照实验", **A100, **due)
    lab.submit("max", name="later", **A100)
    return house


def preview(house: House, *args: str, by: str = "ann", **more):
    before = house.lab.records
    said = house.paika("plan", "preview", *args, by=by, **more)
    after = house.lab.records
    assert (after.tasks, after.nodes, after.policy) == (before.tasks, before.nodes, before.policy)
    return said


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("New task", "Place", "by 10:00", "4 × A100-80G @ n1", "Who starts later (2)", "nothing was written")),
        ("zh", ("位次", "最迟 10:00", "2 个任务往后推", "会错过里程碑", "什么都没有写入")),
    ],
)
def test_a_new_task_by_the_fields_of_submit(queue: House, lang: str, words: tuple[str, ...]):
    fields = ("--cards", "4", "--types", "A100-80G", "--limit", "3h", "--priority", "100")
    said = preview(queue, *fields, by="mia", lang=lang)
    assert said.code == 0, said.err
    for word in words:
        assert word in said.out
    assert all(cell_len(line) <= 80 for line in said.out.splitlines()), said.out
    told = preview(queue, *fields, "--json", by="mia").json
    (subject,) = told["subjects"]
    assert (subject["new"], subject["before"], subject["after"]["place"]) == (True, None, 1)
    assert [(slip["task"]["id"], slip["later_s"], slip["misses"]) for slip in told["later"]] == [
        ("t-2", 10800, True),
        ("t-3", 10800, False),
    ]
    assert (told["before"]["waiting"], told["after"]["waiting"]) == (2, 3)


def test_a_lost_machine_and_a_command_behind_dashes(queue: House):
    said = preview(queue, "--lost-node", "n1", "--owner", "mia", "--vram", "20G", "--", "python", "train.py")
    assert said.code == 0, said.err
    for word in ("would be cut off", "starts again", "n2", "Usable cards"):
        assert word in said.out
    told = preview(queue, "--lost-node", "n1", "--json").json
    assert [one["run"]["run"] for one in told["ended"]] == ["t-1.r1"]
    assert {slip["task"]["id"] for slip in told["later"]} == {"t-2", "t-3"}


def test_many_edits_at_once_and_from_a_file(queue: House, tmp_path):
    file = tmp_path / "edits.json"
    file.write_text(json.dumps({"edits": [{"kind": "ready_dataset", "of": "coco"}]}), encoding="utf-8")
    numbers = tmp_path / "policy.json"
    numbers.write_text(json.dumps({"version": 7, "age_points_max": 3, "headroom": []}), encoding="utf-8")
    told = preview(
        queue,
        *("--change", "t-3", "--priority", "90", "--clear", "limit", "--cancel", "t-2", "--move", "t-3=-5"),
        *("--more-cards", "8xA100", "--more-cards", "cards=2 type=RTX4090 nodes=2", "--quota", "vision=6"),
        *("--guarantee", "text cards=1 types=RTX4090", "--book", "from='2026-12-03 09:00' for=8h cards=2 team=text"),
        *("--policy", "normal_depth=", "--policy-file", str(numbers), "--edits", str(file), "--json"),
    ).json
    assert [subject["task"]["id"] for subject in told["subjects"]] == ["t-3", "t-2"]
    assert told["subjects"][1]["after"]["stands"] == "gone"
    assert told["after"]["cards"] == told["before"]["cards"] + 10
    assert len(told["bookings"][0]["reservation"]["cards"]) == 2


@pytest.mark.parametrize(
    ("asked", "code", "field"),
    [
        ((), 4, "edits"),
        (("--quota", "vision"), 2, "quota"),
        (("--move", "t-3"), 2, "moved_task"),
        (("--book", "soon"), 2, "book"),
        (("--policy", "7"), 2, "policy"),
        (("--edits", "/nowhere.json"), 2, None),
        (("--lost-node", "zz"), 4, "of"),
        (("--cards", "many"), 4, "cards"),
        (("--policy", "age_points_max=lots"), 4, "age_points_max"),
        (("--cards", "1", "--owner", "mia", "--lost-node", "zz"), 4, "edits[1].of"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_field(queue: House, asked, code, field):
    said = preview(queue, *asked, "--json")
    assert said.code == code
    refusal = said.refusal
    refusal = refusal["problems"][0] if refusal.get("problems") else refusal
    assert refusal["field"] == field
    assert refusal["message"]
    assert refusal["hint"]


def test_files_that_hold_something_else(queue: House, tmp_path):
    file = tmp_path / "x.json"
    for text in ("{", '"x"', "[1]"):
        file.write_text(text, encoding="utf-8")
        assert preview(queue, "--edits", str(file), "--json").refusal["code"] == "cli.unreadable_edits"
    file.write_text("[]", encoding="utf-8")
    assert preview(queue, "--policy-file", str(file), "--json").refusal["code"] == "cli.unreadable_edits"
    said = preview(queue, "--edits", "-", "--json", stdin='{"kind": "lost_card", "of": "a0"}')
    assert said.json["after"]["cards"] == 5


def test_a_member_looks_at_his_own(queue: House):
    assert preview(queue, "--change", "t-2", "--priority", "60", by="mia").code == 0
    for asked in (("--change", "t-3", "--priority", "60"), ("--cancel", "t-3"), ("--lost-node", "n1")):
        said = preview(queue, *asked, "--json", by="mia")
        assert (said.code, said.refusal["code"]) == (4, "access.forbidden")
