"""Cards, nodes, datasets, people, books, this machine: each verb does what it says."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from tests.interfaces.cli.house import House

from paika.domain.card import Card, Health
from paika.domain.dataset import Readiness
from paika.domain.problem import BadValue
from paika.interfaces.cli.cards import shortened
from paika.services.examine_machine import Finding, Level


def test_cards_tell_who_has_them_until_when(house: House):
    house.lab.run(house.lab.submit("mia", name="训练", cards=2, limit="2h"), "a0", "a1")
    said = house.paika("card", "ls", lang="zh").out
    line = next(line for line in said.splitlines() if " a0 " in line)
    assert "韩梅梅 训练" in line
    assert line.rstrip().endswith("至 11:00")
    assert "空闲 4" in said
    assert {row["id"] for row in house.paika("card", "ls", "--shows", "running", "--json").json["rows"]} == {"a0", "a1"}
    assert len(house.paika("card", "ls", "--type", "RTX4090", "--node", "n2", "--json").json["rows"]) == 2


def test_cards_go_out_and_come_back(house: House):
    assert house.paika("card", "drain", "a0", by="ann").code == 4
    assert house.paika("card", "drain", "a0", "--reason", "换风扇", by="ann").code == 0
    assert house.lab.records.cards["a0"].health is Health.DRAINING
    assert house.paika("card", "undrain", "a0", by="ann").code == 0
    assert house.lab.records.cards["a0"].health is Health.OK
    assert house.paika("card", "drain", "a0", "--reason", "x", by="mia").code == 4
    assert house.paika("node", "drain", "n1", "--reason", "x", by="ann").code == 0
    assert house.paika("node", "undrain", "n1", by="ann").code == 0


def test_a_long_id_may_be_begun(house: House):
    ids = [f"GPU-8f3a{n}-4c1d-aaaa-bbbb-0123456789ab" for n in (1, 2)]
    house.lab.put(*(Card(key, "n1", 4 + n, "A100-80G", 81920) for n, key in enumerate(ids)))
    assert house.paika("card", "show", "GPU-8f3a1", "--json").json["id"] == ids[0]
    assert house.paika("card", "show", "GPU-8f3a1-4c…", "--json").json["id"] == ids[0]
    assert house.paika("card", "show", "GPU-8f3a").code == 4
    assert house.paika("card", "show", "").code == 4
    said = house.paika("card", "ls").out
    assert all(cell_len(line) <= 80 for line in said.splitlines())


def test_shortened_ids_stay_different():
    ids = ["GPU-aaaaaaaaaaaa-1-xxxxxxxx", "GPU-aaaaaaaaaaaa-2-xxxxxxxx", "a0"]
    short = shortened(ids)
    assert len({text.rstrip("…") for text in short.values()}) == 3
    assert short["a0"] == "a0"
    assert all(key.startswith(text.rstrip("…")) for key, text in short.items())


def test_datasets(house: House):
    task = house.lab.submit("mia", name="训练", inputs="coco", cards=2)
    said = house.paika("readiness", lang="zh").out
    assert task.id in said
    assert "coco" in said
    assert "韩梅梅 (mia)" in said
    assert house.paika("dataset", "create", "--name", "新数据", "--readiness", "准备中", "--percent", "40%").code == 0
    assert house.paika("dataset", "mark", "d-2", "--percent", "101").code == 4
    assert house.paika("dataset", "mark", "d-2", "--readiness", "ready").code == 0
    assert house.lab.records.datasets["d-2"].readiness is Readiness.READY
    assert house.paika("dataset", "mark", "d-2", "--readiness", "blocked", "--if-version", "1").code == 4
    assert house.paika("dataset", "history", "d-2", "--json").json["total"] >= 1
    assert "coco" in house.paika("dataset", "ls", "--text", "coco").out


def test_people_teams_and_quotas(house: House):
    for args in (
        ["team", "create", "--id", "speech", "--name", "语音组"],
        ["team", "edit", "speech", "--note", "新组"],
        ["person", "create", "--id", "sun", "--name", "孙悦", "--teams", "speech", "--teams", "vision"],
        ["person", "edit", "sun", "--role", "组长", "--leads", "speech"],
        ["quota", "set", "speech", "4"],
    ):
        assert house.paika(*args, by="mia").code == 4, args
        assert house.paika(*args, by="ann").code == 0, args
    records = house.lab.records
    assert records.people["sun"].teams == ("speech", "vision")
    assert records.quotas["speech"].max_cards == 4
    assert "0 / 4" in house.paika("team", "ls").out
    assert house.paika("quota", "set", "speech", "none", by="ann").code == 0
    assert house.lab.records.quotas["speech"].max_cards is None
    for bad in ("-1", "1.5", "x"):
        assert house.paika("quota", "set", "speech", "--json", "--", bad, by="ann").refusal["exit_code"] == 4


def test_tokens_are_shown_once(house: House):
    said = house.paika("token", "create", "--scopes", "submit", "--note", "notebook")
    secret = said.out.strip()
    assert secret.startswith("paika_")
    assert "this once" in said.err
    assert secret not in house.paika("token", "ls", "--json").out
    token = secret.split("_")[1]
    assert house.paika("token", "revoke", token, stdin="n\n").code == 3
    said = house.paika("token", "revoke", token, stdin="y\n")
    assert said.code == 0
    assert "notebook" in said.err
    assert house.paika("whoami", by=None, PAIKA_TOKEN=secret).code == 4
    assert house.paika("token", "create", "--scopes", "gold").code == 4


def test_the_books(house: House):
    house.lab.submit("mia")
    assert "0.0" in house.paika("usage").out
    assert house.paika("usage", "--since", "yesterday").code == 4
    told = house.paika("audit", "ls", "--noun", "task", "--json", by="ann").json
    assert [row["act"] for row in told["rows"]] == ["submit_task"]
    assert house.paika("audit", "ls", by="mia").code == 4
    for n in range(40):
        house.lab.submit("mia", name=f"n{n}")
    said = house.paika("audit", "ls", "--noun", "task", by="ann").out
    assert "11 more not shown" in said
    assert len(house.paika("audit", "ls", "--noun", "task", "--all", "--json", by="ann").json["rows"]) == 41


@pytest.mark.parametrize(("level", "code"), [(Level.OK, 0), (Level.WARN, 0), (Level.FAIL, 1)])
def test_doctor(house: House, level: Level, code: int):
    problem = BadValue(field="cards", value="x", allowed="1..4")
    house.local.findings = (Finding("doctor.inventory_bad", level, {"problems": 1}, (problem,)),)
    said = house.paika("doctor", "--data", "/x", lang="zh")
    assert said.code == code
    assert "清单里有 1 处错误" in said.out
    assert "cards" in said.out
    told = house.paika("doctor", "--json").json
    assert (told["ok"], told["findings"][0]["level"]) == (code == 0, level.value)
    assert str(house.local.asked[0][1]["data"]) == "/x"


def test_local_commands_get_what_was_said(house: House):
    house.paika("server", "start", "--port", "99", "--virtual", "4xA100-80G")
    house.paika("demo", "--once")
    (_, start), (_, demo) = house.local.asked
    assert start == {
        "data": None, "config": None, "host": None, "port": 99, "inventory": None, "virtual": "4xA100-80G"
    }  # fmt: skip
    assert demo == {"once": True, "port": None, "data": None, "keep": False}


def test_teams_have_a_weight_below_a_parent(house: House):
    made = house.paika(
        "team", "create", "--id", "ocr", "--name", "OCR", "--weight", "30", "--parent", "vision", by="ann"
    )
    assert made.code == 0
    assert (house.lab.records.teams["ocr"].weight, house.lab.records.teams["ocr"].parent) == (30, "vision")
    said = next(line for line in house.paika("team", "ls").out.splitlines() if line.strip().startswith("ocr"))
    assert {"30", "vision"} <= set(said.split())
    assert house.paika("team", "edit", "ocr", "--weight", "70", by="ann").code == 0
    assert house.lab.records.teams["ocr"].weight == 70
    ring = house.paika("team", "edit", "vision", "--parent", "ocr", by="ann")
    assert ring.code == 4
    assert "vision, ocr, vision" in ring.err
