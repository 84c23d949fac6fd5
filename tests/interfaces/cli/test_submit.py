"""Tasks come in by the command line: the same verdicts as by the API, once and only once."""

from __future__ import annotations

from typing import Any

import pytest
from tests.interfaces.cli.house import House, Said

NEVER = "999999999999"
C10: list[tuple[str, str, Any]] = [
    ("cards", "0", 0),
    ("cards", "-1", -1),
    ("cards", "1.5", 1.5),
    ("cards", "1e308", 1e308),
    ("cards", "9223372036854775807", 9223372036854775807),
    ("cards", "NaN", "NaN"),
    ("cards", "８", "８"),
    ("cards", " 4 ", " 4 "),
    ("cards", "", None),
    ("cards", "true", "true"),
    ("cards", "4 cards", "4 cards"),
    ("limit", "0", 0),
    ("limit", "-5 minutes", "-5 minutes"),
    ("limit", "1000000000 hours", "1000000000 hours"),
    ("limit", "∞", "∞"),
    ("vram", "80G", "80G"),
    ("vram", "80GiB", "80GiB"),
    ("vram", "80g", "80g"),
    ("vram", "-1", -1),
    ("vram", "0.5", 0.5),
    ("priority", "1000000000000", 10**12),
    ("nodes", "3", 3),
    ("tier", "gold", "gold"),
    ("grace", "x", "x"),
    ("share_bandwidth", "101", 101),
    ("not_before", "yesterday", "yesterday"),
]


def verdict(told: Any) -> Any:
    """What is refused and why, or what came of the value."""
    if "tasks" in told:
        return [{**task, "id": "", "submitted_at": ""} for task in told["tasks"]]
    problems = told.get("problems") or [told]
    return sorted((p["code"], p["field"], p["facts"].get("allowed")) for p in problems)


@pytest.mark.parametrize(("field", "text", "value"), C10)
def test_the_verdict_is_that_of_the_api(house: House, field: str, text: str, value: Any):
    said = house.paika("submit", "--json", "--name", "x", f"--{field.replace('_', '-')}", text, "--", "true")
    answer = house.door.client("mia").post("/tasks", json={"name": "x", "command": ["true"], field: value})
    assert said.code == (0 if answer.status_code == 201 else 4)
    assert verdict(said.json if said.code == 0 else said.refusal) == verdict(answer.json())


def test_bad_values_change_nothing(house: House):
    before = house.lab.records.tasks
    for field, text in (("cards", "-1"), ("cards", NEVER), ("vram", "-1"), ("limit", "0")):
        assert house.paika("submit", "--name", "x", f"--{field}", text, "--", "true").code == 4
    assert house.lab.records.tasks == before


def test_the_command_goes_through_word_by_word(house: House):
    words = ["python", "train.py", "--lr", "1", "--json", "a b", "$HOME", "*", ""]
    said = house.paika("submit", "--json", "--name", "x", "--", *words)
    assert said.json["tasks"][0]["program"]["argv"] == words


def test_lists_and_variables(house: House):
    said = house.paika(
        *("submit", "--json", "--name", "x", "--inputs", "imagenet,coco", "--tags", "a", "--tags", "b"),
        *("--env", "A=x, B=y", "--env", "C=", "--command", "python 'a b.py'", "--preemptible", "是"),
        *("--checkpoint", "yes"),
    )
    task = said.json["tasks"][0]
    assert (task["inputs"], task["tags"], task["preemptible"]) == (["d-1", "d-2"], ["a", "b"], True)
    assert task["checkpoint"] is True
    shown = house.paika("task", "show", task["id"]).out
    assert "saves its work when stopped" in shown
    assert house.paika("task", "edit", task["id"], "--checkpoint", "no", "--json").json["checkpoint"] is False
    assert "saves its work" not in house.paika("task", "show", task["id"]).out
    assert task["program"]["variables"] == {"A": "x, B=y", "C": ""}
    assert task["program"]["argv"] == ["python", "a b.py"]


def test_it_says_the_id_and_the_place(house: House):
    said = house.paika("submit", "-n", "训练", "--look", "0", "--", "true", lang="zh")
    assert said.code == 0
    assert said.out.splitlines()[0].startswith("t-1  训练")
    assert "还没轮到排程" in said.out


def test_the_same_key_submits_once(house: House):
    first = house.paika("submit", "--json", "--name", "x", "--key", "k", "--", "true").json
    again = house.paika("submit", "--json", "--name", "x", "--key", "k", "--", "true").json
    assert first["tasks"] == again["tasks"]
    assert (first["key"], len(house.lab.records.tasks)) == ("k", 1)
    other = house.paika("submit", "--json", "--name", "y", "--key", "k", "--", "true")
    assert (other.code, other.refusal["code"]) == (4, "key.reused")


def test_each_submit_has_a_key_of_its_own(house: House):
    keys = {house.paika("submit", "--json", "--name", "x", "--", "true").json["key"] for _ in range(2)}
    assert len(keys) == 2
    assert len(house.lab.records.tasks) == 2


def test_a_dry_run_tells_where_it_would_land_and_who_would_slip(house: House):
    lab = house.lab
    lab.run(lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    lab.submit("max", name="patient", types="A100-80G", cards=4, limit="2h")
    form = ("--name", "urgent", "--cards", "4", "--types", "A100", "--limit", "3h", "--priority", "99", "--dry-run")
    said = house.paika("submit", *form, "--", "true")
    assert said.code == 0, said.err
    for word in ("urgent", "by 10:00", "4 × A100-80G @ n1", "Who starts later (1)", "patient", "3 h"):
        assert word in said.out
    told = house.paika("submit", *form, "--json", "--", "true").json
    assert [slip["task"]["name"] for slip in told["preview"]["later"]] == ["patient"]
    assert len(lab.records.tasks) == 2


def test_a_dry_run_in_a_crowd_still_checks(house: House):
    house.door.context.what_ifs.plans.most = 0
    said = house.paika("submit", "--name", "x", "--dry-run", "--", "true")
    assert (said.code, "Try again in a few seconds" in said.err) == (0, True)
    assert house.paika("submit", "--name", "x", "--dry-run", "--json", "--", "true").json["preview"] is None


def test_a_dry_run_submits_nothing(house: House):
    said = house.paika("submit", "--name", "x", "--cards", "2", "--dry-run", "--", "true")
    assert said.code == 0
    assert "2 ×" in said.out
    assert not house.lab.records.tasks


def listed(house: House, *args: str, file: str = "", text: str = "", **more: Any) -> Said:
    path = house.home / file
    path.write_text(text, encoding="utf-8")
    return house.paika(*args, str(path), **more)


GOOD = "tasks:\n  - {name: prep, command: python prep.py}\n  - {name: train, command: a, cards: 2, after: [prep]}\n"
BAD = GOOD + "  - {name: bad, command: a, cards: -1}\n"


def test_a_file_comes_in_as_a_whole(house: House):
    said = listed(house, "submit", "-f", file="tasks.yaml", text=GOOD)
    assert said.code == 0
    assert sorted(task.name for task in house.lab.records.tasks.values()) == ["prep", "train"]


def test_a_file_with_one_bad_task_does_not_come_in(house: House):
    said = listed(house, "submit", "-f", file="tasks.yaml", text=BAD)
    assert said.code == 4
    assert not house.lab.records.tasks
    assert "4" in said.out
    assert "Nothing was submitted" in said.out


def test_a_file_from_standard_input(house: House):
    assert house.paika("submit", "-f", "-", stdin=GOOD).code == 0
    assert len(house.lab.records.tasks) == 2


def test_a_file_goes_with_no_fields(house: House):
    said = listed(house, "submit", "--json", "--cards", "2", "-f", file="tasks.yaml", text=GOOD)
    assert (said.code, said.refusal["code"]) == (2, "cli.file_and_fields")


def test_an_import_is_a_preview_unless_it_is_applied(house: House):
    said = listed(house, "task", "import", file="t.csv", text="任务名,命令,卡数\nx,true,1\ny,true,-1\n", lang="zh")
    assert said.code == 0
    assert "--apply" in said.out
    assert "y" not in {task.name for task in house.lab.records.tasks.values()}
    said = listed(house, "task", "import", "--apply", file="t.csv", text="任务名,命令,卡数\nx,true,1\ny,true,-1\n")
    assert [task.name for task in house.lab.records.tasks.values()] == ["x"]
    assert said.code == 0
    assert "-1" in said.out


def test_an_import_in_json_is_complete(house: House):
    rows = "".join(f"n{n},true,-1\n" for n in range(60))
    told = listed(house, "task", "import", "--json", file="t.csv", text="name,command,cards\n" + rows).json
    assert len(told["problems"]) == 60
    seen = listed(house, "task", "import", file="t.csv", text="name,command,cards\n" + rows)
    assert "40 more not shown" in seen.out
    assert seen.code == 4


def test_a_script_from_a_file(house: House):
    path = house.home / "run.sh"
    path.write_text("cd /data\npython a.py | tee log\n", encoding="utf-8")
    told = house.paika("submit", "--json", "--name", "x", "--script-file", str(path)).json
    assert told["tasks"][0]["program"]["script"] == "cd /data\npython a.py | tee log"


def test_a_file_that_is_no_text_is_refused_and_breaks_nothing(house: House):
    path = house.home / "run.sh"
    path.write_bytes(b"\xff\xfe\x00")
    assert house.paika("submit", "--name", "x", "--script-file", str(path)).code == 4
